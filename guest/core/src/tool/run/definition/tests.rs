//! The definition agrees with what the tool accepts and gives.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Policy, definition};
use crate::tool::Terminals;
use crate::tool::run::schema_check::{misfit, unknown_keywords};
use crate::tool::run::{ARGUMENT_NAMES, Arguments};

fn check_valid(arguments: &Value) {
    let found = misfit(&definition(&Policy::default())["inputSchema"], arguments);
    assert_eq!(found, None, "{arguments:.200}");
    let parsed = Arguments::parse(arguments.as_object(), &Policy::default());
    assert!(parsed.is_ok(), "{arguments:.200}: {parsed:?}");
}

fn check_invalid(arguments: &Value) {
    let found = misfit(&definition(&Policy::default())["inputSchema"], arguments);
    assert_ne!(found, None, "{arguments:.200}");
    let parsed = Arguments::parse(arguments.as_object(), &Policy::default());
    assert!(parsed.is_err(), "{arguments:.200}: {parsed:?}");
}

#[test]
fn the_schema_names_exactly_the_arguments() {
    let named = |terminals: Terminals| {
        let definition = definition(&Policy::default().with(terminals));
        let properties = definition["inputSchema"]["properties"].as_object();
        let names = properties.expect("there are properties").keys().cloned();
        names.collect::<BTreeSet<String>>()
    };
    let mut known: BTreeSet<String> = ARGUMENT_NAMES.map(str::to_owned).into();
    assert_eq!(named(Terminals::There), known);
    known.remove("interactive");
    assert_eq!(named(Terminals::Lacking), known);
}

#[test]
fn everything_in_both_schemas_is_described() {
    let definition = definition(&Policy::default().with(Terminals::There));
    for schema in ["inputSchema", "outputSchema"] {
        let schema = &definition[schema];
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(unknown_keywords(schema), [""; 0]);
        for (name, property) in schema["properties"]
            .as_object()
            .expect("there are properties")
        {
            let description = property["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.'), "{name}: {description:?}");
            assert!(!description.contains("  "), "{name}: {description:?}");
        }
    }
}

#[test]
fn it_says_what_it_is() {
    let definition = definition(&Policy::default());
    assert_eq!(definition["name"], "run");
    let hints = json!({
        "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true,
    });
    assert_eq!(definition["annotations"], hints);
    let description = definition["description"].as_str().expect("there is one");
    for word in [
        "task",
        "survives",
        "32 KiB",
        "timeoutSeconds",
        "label",
        "idempotencyKey",
        "foreground",
    ] {
        assert!(description.contains(word), "{word}");
    }
}

#[test]
fn schema_and_tool_agree_on_what_is_valid() {
    check_valid(&json!({"command": "ls"}));
    check_valid(&json!({"command": "ls", "args": [], "cwd": "/", "env": {"A": ""}, "stdin": ""}));
    check_valid(&json!({"command": "ls", "timeoutSeconds": 0.1, "ttlSeconds": 1, "label": "x"}));
    check_invalid(&json!({}));
    check_invalid(&json!({"command": " "}));
    check_invalid(&json!({"command": "ls", "shell": true}));
    check_invalid(&json!({"command": "ls", "args": [1]}));
    check_invalid(&json!({"command": "ls", "cwd": "src"}));
    check_invalid(&json!({"command": "ls", "env": {"": ""}}));
    check_invalid(&json!({"command": "ls", "env": {"A=B": ""}}));
    check_invalid(&json!({"command": "ls", "env": {"A": 1}}));
    for seconds in [json!(0), json!(2_678_401), json!("1")] {
        check_invalid(&json!({"command": "ls", "timeoutSeconds": seconds}));
    }
    for seconds in [json!(0.5), json!(31_536_001)] {
        check_invalid(&json!({"command": "ls", "ttlSeconds": seconds}));
    }
    check_invalid(&json!({"command": "ls", "label": "x".repeat(101)}));
    check_invalid(&json!({"command": "ls", "idempotencyKey": ""}));
}
