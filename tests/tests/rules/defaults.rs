//! Rules about defaults: what the help and the README of the WIT say is what the component has.

use std::process::Command;

use backburner_tests::{binary, workspace};

use super::assert_none;

/// A limit: its option, how many of its units are one of the option's, its member of the configuration, and its field in
/// the component.
const LIMITS: [(&str, u64, &str, &str); 4] = [
    ("--sync-limit", 1000, "syncLimitMs", "sync_limit_ms"),
    ("--direct-limit", 1, "directLimitMs", "direct_limit_ms"),
    ("--grace", 1000, "graceMs", "grace_ms"),
    (
        "--output-limit",
        1,
        "outputLimitBytes",
        "output_limit_bytes",
    ),
];

fn read(path: &str) -> String {
    std::fs::read_to_string(workspace().join(path)).expect("the project's files can be read")
}

/// The number that a text begins with, blanks and underscores between its digits left out.
fn number(text: &str) -> Option<u64> {
    let digits = text
        .chars()
        .filter(|character| !matches!(character, ' ' | '_'));
    let digits: String = digits.take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// What the component has where it is not told: a number, or a product of some.
fn of_component(source: &str, field: &str) -> Option<u64> {
    let (_, defaults) = source.split_once("impl Default for Config")?;
    let (_, value) = defaults.split_once(&format!("{field}: "))?;
    let (value, _) = value.split_once(',')?;
    value.split(" * ").map(number).product()
}

/// What the help says of an option.
fn of_help(help: &str, option: &str) -> Option<u64> {
    let (_, text) = help.split_once(&format!("{option} <"))?;
    let own = text.split("\n      --").next()?;
    // It is wrapped anywhere.
    let words: Vec<&str> = own.split_whitespace().collect();
    number(words.join(" ").split_once("[default: ")?.1)
}

/// What the table of the README of the WIT says of a member.
fn of_readme(readme: &str, member: &str) -> Option<u64> {
    let begin = format!("| `{member}` | ");
    let row = readme.lines().find_map(|line| line.strip_prefix(&begin))?;
    number(row.split(" | ").nth(1)?)
}

#[test]
fn the_defaults_that_are_told_are_those_of_the_component() {
    let help = Command::new(binary()).args(["serve", "--help"]).output();
    let help = help.expect("the binary can be started").stdout;
    let help = String::from_utf8(help).expect("help is UTF-8");
    let (source, readme) = (read("guest/core/src/config/mod.rs"), read("wit/README.md"));
    let mut problems = Vec::new();
    for (option, unit, member, field) in LIMITS {
        let has = of_component(&source, field);
        let told = of_help(&help, option).map(|number| number * unit);
        let written = of_readme(&readme, member);
        if has.is_none() || told != has || written != has {
            problems.push(format!(
                "{member}: {has:?}; {option}: {told:?}; WIT: {written:?}"
            ));
        }
    }
    assert_none("a default is the same everywhere", &problems);
}
