//! What wins over what, and where a refused member is.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::*;

/// A file with this text.
fn file(text: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("there is room");
    let path = directory.path().join("backburner.toml");
    fs::write(&path, text).expect("there is room");
    (directory, path)
}

fn options(options: &Value) -> Map<String, Value> {
    options.as_object().expect("a test gives an object").clone()
}

fn refused(at: &str) -> BadConfig {
    BadConfig {
        at: at.to_owned(),
        reason: "why".to_owned(),
    }
}

#[test]
fn options_win_over_the_file_and_the_file_over_defaults() {
    let (directory, path) = file("graceMs = 1\nsyncLimitMs = 2\nterminals = false\n");
    let source = Source::new(
        Some(path.clone()),
        options(&json!({"graceMs": 3, "directLimitMs": 4})),
    );
    let mut loaded = source.load().expect("it is right");
    loaded.set_default("terminals", true.into());
    loaded.set_default("outputLimitBytes", 4096.into());
    let found: Value = serde_json::from_str(&loaded.json()).expect("it is JSON");
    let expected = json!({
        "graceMs": 3, "syncLimitMs": 2, "directLimitMs": 4, "terminals": false, "outputLimitBytes": 4096,
        "baseDirectory": directory.path(), "configurationFile": path,
    });
    assert_eq!(found, expected);
}

#[test]
fn without_a_file_the_options_are_all_and_nothing_is_relative() {
    let loaded = Source::new(None, options(&json!({"graceMs": 3}))).load();
    assert_eq!(loaded.expect("it is right").json(), r#"{"graceMs":3}"#);
}

#[test]
fn what_the_component_refuses_is_found_in_the_file() {
    let (_directory, path) = file("# first\n[run]\ncwd = 1\n");
    let source = Source::new(Some(path.clone()), options(&json!({"graceMs": 3})));
    let loaded = source.load().expect("it is TOML");
    for (at, words) in [
        ("/run/cwd", "3:1: /run/cwd: why"),
        ("/run", "2:2: /run: why"),
        ("", "1:1: why"),
        ("/none", "1:1: /none: why"),
    ] {
        let expected = format!("{}:{words}", path.display());
        assert_eq!(loaded.explain(refused(at)).to_string(), expected, "{at}");
    }
    let of_option = loaded.explain(refused("/graceMs")).to_string();
    assert_eq!(of_option, "the configuration is refused: /graceMs: why");
}

#[test]
fn without_a_file_a_refusal_names_none() {
    let loaded = Source::default().load().expect("nothing is right");
    let words = loaded.explain(refused("/graceMs")).to_string();
    assert_eq!(words, "the configuration is refused: /graceMs: why");
}

#[test]
fn what_the_server_sets_itself_is_no_member_of_a_file() {
    for name in OWN_MEMBERS {
        let (_directory, path) = file(&format!("graceMs = 1\n{name} = '/x'\n"));
        let refused = Source::new(Some(path.clone()), Map::new()).load();
        let refused = refused.expect_err("it is refused").to_string();
        let expect = format!(
            "{}:2:1: /{name}: there is no such member in a file",
            path.display()
        );
        assert!(refused.starts_with(&expect), "{refused}");
    }
}

#[test]
fn the_members_that_are_listed_are_those_of_a_file() {
    let (_directory, path) = file("x = 1\n");
    let loaded = Source::new(Some(path), Map::new())
        .load()
        .expect("it is TOML");
    let reason = "there is no member `x` here, there are `graceMs`, `showCommand`, `workingDirectory`, `run`, `tools`";
    let (at, reason) = ("/x".to_owned(), reason.to_owned());
    let words = loaded.explain(BadConfig { at, reason }).to_string();
    assert!(
        words.ends_with("there are `graceMs`, `run`, `tools`"),
        "{words}"
    );
}
