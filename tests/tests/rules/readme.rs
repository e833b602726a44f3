//! Rules about the README: it says what the program can do, and what its architecture promises.

use std::collections::BTreeSet;
use std::process::Command;

use backburner_tests::{RUN, binary, component, readme_commands, workspace};

use super::assert_none;

/// What the invariants of the design are about, in their order.
const INVARIANTS: [&str; 9] = [
    "never parses a JSON-RPC body",
    "what its imports return",
    "survive a power failure",
    "terminal state",
    "started once",
    "one principal",
    "Nothing but MCP messages",
    "holds no truth",
    "Several server processes",
];

fn readme() -> String {
    std::fs::read_to_string(workspace().join("README.md")).expect("there is a README")
}

fn help(arguments: &[&str]) -> String {
    let output = Command::new(binary())
        .args(arguments)
        .arg("--help")
        .output();
    let output = output.expect("the binary can be started");
    assert!(
        output.status.success(),
        "{arguments:?} --help ends with {}",
        output.status
    );
    String::from_utf8(output.stdout).expect("help is UTF-8")
}

/// The subcommands that `--help` shows.
fn subcommands() -> Vec<String> {
    let help = help(&[]);
    let section = help
        .split_once("Commands:")
        .expect("the help lists commands")
        .1;
    let lines = section
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("  "));
    let names = lines
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The long flags that a help lists; what its prose mentions does not count.
fn flags(help: &str) -> BTreeSet<String> {
    let lists = help
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-'));
    // What follows two blanks is prose.
    let names = lists.flat_map(|line| line.split("  ").next().unwrap_or_default().split(' '));
    let flags = names.filter(|name| name.starts_with("--") && name.len() > 2);
    flags
        .map(|flag| flag.trim_end_matches([',', '=']).to_owned())
        .collect()
}

#[test]
fn the_readme_names_every_subcommand_and_flag() {
    let readme = readme();
    let mut problems = Vec::new();
    let mut wanted = flags(&help(&[]));
    for name in subcommands() {
        if !readme.contains(&format!("backburner {name}")) && !readme.contains(&format!("`{name}"))
        {
            problems.push(format!("the subcommand {name}"));
        }
        wanted.extend(flags(&help(&[&name])));
    }
    // Every program has these two.
    wanted.retain(|flag| flag != "--help" && flag != "--version");
    let missing = wanted.iter().filter(|flag| !readme.contains(flag.as_str()));
    problems.extend(missing.map(|flag| format!("the flag {flag}")));
    assert_none("the README names what the program has", &problems);
}

/// The names in the first column of the table below a heading.
fn members<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let (_, section) = text.split_once(heading).expect("the heading is there");
    let lines = section.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    // Every second part is between two backticks.
    cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect()
}

#[test]
fn the_readme_names_every_member_of_run_and_of_tools() {
    let readme = readme();
    let wit = std::fs::read_to_string(workspace().join("wit/README.md")).expect("there is one");
    let tables = [
        ("### `run`", "member of `[run]`"),
        ("### `tools`", "member of `[[tools]]`"),
    ];
    let mut problems = Vec::new();
    for (heading, table) in tables {
        let named = members(&readme, &format!("\n| {table} | what it is |\n"));
        let missing = members(&wit, &format!("\n{heading}\n"))
            .into_iter()
            .filter(|it| !named.contains(it));
        problems.extend(missing.map(|member| format!("the {table} {member}")));
    }
    assert_none("the README names what a file may have", &problems);
}

/// The lines of the script for CI, each word apart.
fn ci_lines() -> Vec<Vec<String>> {
    let script = workspace().join(".ci/run");
    let text = std::fs::read_to_string(script).expect("there is a script for CI");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    text.lines().map(words).collect()
}

#[test]
fn the_readme_has_a_command_that_runs_and_one_that_tests_and_ci_calls_the_latter() {
    let commands = readme_commands();
    let [run, show, test] = &commands[..] else {
        panic!("a command that runs, one that shows, and one that tests: {commands:?}");
    };
    assert!(run.starts_with(&format!("{RUN} run ")), "{run}");
    assert_eq!(*show, format!("{RUN} show ID"));
    assert!(test.starts_with("cargo test "), "{test}");
    let words: Vec<&str> = test.split_whitespace().collect();
    // Further flags leave nothing out; another package or a name of a test in place of a flag would.
    let is_called = ci_lines().iter().any(|line| {
        let rest = line.get(..words.len()).filter(|begin| *begin == words);
        let flags = line.iter().skip(words.len());
        rest.is_some()
            && flags
                .take_while(|word| *word != "2>&1")
                .all(|word| word == "--no-fail-fast")
    });
    assert!(is_called, "`.ci/run` does not call `{test}`");
}

#[test]
fn the_readme_has_the_invariants() {
    let readme = readme();
    let lower = readme.to_lowercase();
    let heading = lower
        .lines()
        .position(|line| line.starts_with('#') && line.contains("invariants"));
    let heading = heading.expect("the README has a heading for the invariants");
    let section = readme
        .lines()
        .skip(heading + 1)
        .take_while(|line| !line.starts_with('#'));
    let numbered = section.filter_map(|line| {
        let (number, text) = line.split_once(". ")?;
        number.trim().parse::<usize>().is_ok().then_some(text)
    });
    let numbered: Vec<&str> = numbered.collect();
    assert_eq!(numbered.len(), INVARIANTS.len(), "each one has a number");
    let other = INVARIANTS.iter().zip(numbered);
    let other = other.filter(|(about, text)| !text.contains(**about));
    let other: Vec<String> = other
        .map(|(about, text)| format!("{about}: {text}"))
        .collect();
    assert_none("each invariant is said, in its order", &other);
}

/// By how many percent the figures may differ from what is built: a change of a comment changes no table.
const DIFFERENCE_PERCENT: u64 = 2;

#[test]
fn the_readmes_say_how_large_the_component_is() {
    let built = std::fs::metadata(component()).expect("it was built").len();
    let mut problems = Vec::new();
    for path in ["README.md", "host/node/README.md", "host/python/README.md"] {
        let text = std::fs::read_to_string(workspace().join(path)).expect("there is one");
        let rows = text
            .lines()
            .filter(|line| line.starts_with("| the component |"));
        let said: Vec<u64> = rows.filter_map(first_number).collect();
        if said.is_empty() || said.iter().any(|said| !is_about(*said, built)) {
            problems.push(format!("{path}: {said:?} bytes, and it has {built}"));
        }
    }
    assert_none("the component is as large as the tables say", &problems);
}

/// The first number of a line, whose digits stand in groups of three.
fn first_number(line: &str) -> Option<u64> {
    let number = &line[line.find(|it: char| it.is_ascii_digit())?..];
    let end = number.find(|it: char| !it.is_ascii_digit() && it != ' ')?;
    number[..end].replace(' ', "").parse().ok()
}

fn is_about(said: u64, built: u64) -> bool {
    said.abs_diff(built) * 100 <= built * DIFFERENCE_PERCENT
}

#[test]
fn every_help_says_what_its_command_is_for() {
    let mut problems = Vec::new();
    for name in subcommands() {
        let help = help(&[&name]);
        let first = help.lines().next().unwrap_or_default();
        if first.is_empty() || first.starts_with("Usage") {
            problems.push(name);
        }
    }
    assert_none("a help begins with a sentence", &problems);
}

#[test]
fn every_json_example_of_the_readme_can_be_read() {
    let readme = readme();
    let examples: Vec<&str> = readme
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("```")?.0))
        .collect();
    assert!(examples.len() > 5, "there are some: {}", examples.len());
    let wrong = examples.iter().filter_map(|example| {
        let read = serde_json::from_str::<serde_json::Value>(example);
        read.err().map(|error| format!("{error}: {example}"))
    });
    assert_none("an example is JSON", &wrong.collect::<Vec<_>>());
}
