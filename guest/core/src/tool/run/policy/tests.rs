//! What calls may say, and what holds where they do not.

use serde_json::{Value, json};

use super::{Arguments, Policy};
use crate::config::{ConfigError, Node};

fn read(config: &Value) -> Result<Option<Policy>, ConfigError> {
    Policy::read(&Node::root(config), Some("/base"), None)
}

fn policy(config: &Value) -> Policy {
    let policy = read(config).expect("a valid configuration");
    policy.expect("it is not switched off")
}

fn call(policy: &Policy, arguments: &Value) -> Result<Arguments, String> {
    Arguments::parse(arguments.as_object(), policy)
}

fn refusal(policy: &Policy, arguments: &Value) -> String {
    call(policy, arguments).expect_err("a call that is not allowed")
}

#[test]
fn it_can_be_switched_off() {
    assert_eq!(read(&json!({"enabled": false})), Ok(None));
    assert_eq!(read(&json!({"enabled": true})), Ok(Some(Policy::default())));
    assert_eq!(read(&json!({})), Ok(Some(Policy::default())));
}

#[test]
fn defaults_hold_where_a_call_does_not_say() {
    let policy = policy(&json!({"cwd": "sub", "timeoutSeconds": 1.5, "ttlSeconds": 60}));
    let silent = call(&policy, &json!({"command": "true"})).expect("a valid call");
    assert_eq!(silent.directory.as_deref(), Some("/base/sub"));
    let said_by = silent.directory_said_by.as_deref();
    assert_eq!(said_by, Some("`run.cwd` in the server's configuration"));
    assert_eq!(
        (silent.timeout_ms, silent.ttl_ms),
        (Some(1_500), Some(60_000))
    );
    let all = json!({"command": "true", "cwd": "/x", "timeoutSeconds": 9, "ttlSeconds": 99});
    let outspoken = call(&policy, &all).expect("a valid call");
    assert_eq!(outspoken.directory.as_deref(), Some("/x"));
    assert_eq!(outspoken.directory_said_by, None);
    assert_eq!(
        (outspoken.timeout_ms, outspoken.ttl_ms),
        (Some(9_000), Some(99_000))
    );
}

#[test]
fn a_bound_is_the_default_where_there_is_no_other() {
    let policy = policy(&json!({"maxTimeoutSeconds": 10, "maxTtlSeconds": 100}));
    let silent = call(&policy, &json!({"command": "true"})).expect("a valid call");
    assert_eq!(
        (silent.timeout_ms, silent.ttl_ms),
        (Some(10_000), Some(100_000))
    );
}

#[test]
fn nothing_beyond_a_bound_is_run() {
    let policy = policy(&json!({"maxTimeoutSeconds": 10, "maxTtlSeconds": 100}));
    let text = refusal(&policy, &json!({"command": "true", "timeoutSeconds": 10.5}));
    assert!(
        text.contains("`timeoutSeconds` is 10.5, it has to be at most 10"),
        "{text}"
    );
    let text = refusal(&policy, &json!({"command": "true", "ttlSeconds": 101}));
    assert!(
        text.contains("`ttlSeconds` is 101, it has to be at most 100"),
        "{text}"
    );
    assert!(
        call(
            &policy,
            &json!({"command": "true", "timeoutSeconds": 10, "ttlSeconds": 100})
        )
        .is_ok()
    );
}

#[test]
fn a_call_works_in_the_allowed_directories_and_below() {
    let policy = policy(&json!({"directories": ["/a", "b"]}));
    let silent = call(&policy, &json!({"command": "true"})).expect("a valid call");
    assert_eq!(silent.directory.as_deref(), Some("/a"));
    for inside in ["/a", "/a/x", "/base/b/../b/c"] {
        assert!(
            call(&policy, &json!({"command": "true", "cwd": inside})).is_ok(),
            "{inside}"
        );
    }
    for outside in ["/", "/ab", "/a/..", "/base"] {
        let text = refusal(&policy, &json!({"command": "true", "cwd": outside}));
        assert!(
            text.contains("`cwd` is") && text.contains("/a, /base/b"),
            "{text}"
        );
    }
}

#[test]
fn directories_are_shown_as_they_are_compared() {
    let policy = policy(&json!({"directories": [".", "./b/../c/", "/x/."]}));
    let silent = call(&policy, &json!({"command": "true"})).expect("a valid call");
    assert_eq!(silent.directory.as_deref(), Some("/base"));
    let text = refusal(&policy, &json!({"command": "true", "cwd": "/"}));
    assert!(text.contains("below it: /base, /base/c, /x"), "{text}");
    let own = super::super::definition(&policy).to_string();
    assert!(own.contains("Default: /base. It has to be"), "{own}");
    let within = Policy::read(
        &Node::root(&json!({"directories": ["."], "cwd": "./sub/"})),
        Some("/base"),
        None,
    );
    let policy = within.expect("it is within").expect("it is on");
    let silent = call(&policy, &json!({"command": "true"})).expect("a valid call");
    assert_eq!(silent.directory.as_deref(), Some("/base/sub"));
}

#[test]
fn a_refusal_names_what_says_so() {
    let config = json!({"maxTimeoutSeconds": 10, "maxTtlSeconds": 100, "directories": ["/a"]});
    let read = |file| Policy::read(&Node::root(&config), None, file);
    for (file, shown) in [
        (None, "the server's configuration"),
        (Some("/b/c.toml"), "/b/c.toml"),
    ] {
        let policy = read(file).expect("it is valid").expect("it is on");
        for (member, value, by) in [
            ("timeoutSeconds", json!(11), "maxTimeoutSeconds"),
            ("ttlSeconds", json!(101), "maxTtlSeconds"),
            ("cwd", json!("/"), "directories"),
        ] {
            let text = refusal(&policy, &json!({"command": "true", member: value}));
            let words = format!(", as `run.{by}` in {shown} says. Nothing was run.");
            assert!(text.contains(&words), "{text}");
        }
    }
}

#[test]
fn what_contradicts_itself_is_refused_with_its_place() {
    let check = |config: &Value, at: &str| {
        assert_eq!(
            read(config).expect_err("a wrong configuration").at,
            at,
            "{config}"
        );
    };
    check(&json!([]), "");
    check(&json!({"enable": false}), "/enable");
    check(&json!({"enabled": "no"}), "/enabled");
    check(&json!({"directories": []}), "/directories");
    check(&json!({"directories": ["/a", 1]}), "/directories/1");
    check(&json!({"directories": ["/a"], "cwd": "/b"}), "/cwd");
    check(
        &json!({"timeoutSeconds": 11, "maxTimeoutSeconds": 10}),
        "/timeoutSeconds",
    );
    check(&json!({"maxTimeoutSeconds": 0}), "/maxTimeoutSeconds");
    check(&json!({"ttlSeconds": 0.5}), "/ttlSeconds");
    check(&json!({"maxTtlSeconds": 31_536_001}), "/maxTtlSeconds");
    let relative = json!({"cwd": "sub"});
    let error = Policy::read(&Node::root(&relative), None, None).expect_err("there is no base");
    assert!(error.reason.contains("baseDirectory"), "{error}");
}
