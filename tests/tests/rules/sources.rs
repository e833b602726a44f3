//! Rules about Rust sources.

use backburner_tests::workspace;

use super::assert_none;
use super::code::{bare, functions, is_word};
use super::files::{File, below, rust_below};

/// The most lines of a file; 400 are the aim.
const FILE_LINES_MAX: usize = 700;

/// The most lines of a function; 40 are the aim.
const FUNCTION_LINES_MAX: usize = 70;

/// What the core has no right to: its time, randomness and storage are arguments.
const NOT_IN_CORE: [&str; 5] = ["fs", "net", "process", "thread", "env"];

/// Words that are enough to be wrong in the core.
const NO_WORD_IN_CORE: [&str; 6] = [
    "Instant",
    "SystemTime",
    "HashMap",
    "HashSet",
    "tokio",
    "wit_bindgen",
];

/// What reading a message would take.
const NO_WORD_IN_HOST: [&str; 2] = ["serde", "serde_json"];
const NO_TEXT_IN_HOST: [&str; 3] = ["\"jsonrpc\"", "\"method\"", "\"params\""];

/// Who reads and writes JSON of the host's own: the files of a job, and the configuration of the component. The command
/// line is a client, and reads what servers say.
const JSON_IN_HOST: [&str; 4] = [
    "host/src/jobs/model.rs",
    "host/src/jobs/directory.rs",
    "host/src/config/",
    "host/src/cli/",
];

/// What would be more than a conversion: a decision, a repetition, or text that is read or written.
const NOT_IN_GUEST: [&str; 12] = [
    "if",
    "else",
    "for",
    "while",
    "loop",
    "return",
    "format!",
    "serde",
    "serde_json",
    "parse",
    "contains",
    "starts_with",
];

/// What hides a test, or says that something is not done.
const NOWHERE: [&str; 5] = [
    "todo!",
    "unimplemented!",
    "#[ignore",
    "#[should_panic",
    "dbg!",
];

/// What opens a file by its path.
const BY_PATH: [&str; 7] = [
    "std::fs",
    "std::{fs",
    "File::open",
    "File::options",
    "File::create",
    "File::create_new",
    "OpenOptions",
];

#[test]
fn files_and_functions_are_short() {
    let mut problems = Vec::new();
    for file in rust_below(".") {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            problems.push(format!("{}: {lines} lines", file.path));
        }
        let long = functions(&file.text)
            .into_iter()
            .filter(|it| it.length > FUNCTION_LINES_MAX);
        problems.extend(long.map(|it| {
            format!(
                "{}:{}: `{}` has {} lines",
                file.path, it.line, it.name, it.length
            )
        }));
    }
    assert_none("a file has at most 700 lines and a function 70", &problems);
}

#[test]
fn nothing_is_hidden_or_put_off() {
    let problems: Vec<String> = rust_below(".")
        .iter()
        .flat_map(|file| found(file, &bare(&file.text), &NOWHERE))
        .collect();
    assert_none("no test is hidden and nothing is left to do", &problems);
}

#[test]
fn the_core_has_no_world_of_its_own() {
    let mut problems = Vec::new();
    for file in rust_below("guest/core/src") {
        let code = bare(&file.text);
        problems.extend(found(&file, &code, &NO_WORD_IN_CORE));
        for module in NOT_IN_CORE {
            problems.extend(found(&file, &code, &[&format!("std::{module}")]));
        }
        problems.extend(grouped_imports(&file, &code));
    }
    assert_none(
        "the core is a function of its arguments and imports",
        &problems,
    );
}

/// `use std::{fs, io}` and its like.
fn grouped_imports(file: &File, code: &str) -> Vec<String> {
    let statements = code.split(';').map(str::trim_start);
    let of_std = statements.filter_map(|it| it.split_once("use std::{").map(|(_, rest)| rest));
    let words = of_std.flat_map(|rest| rest.split(|character| !is_word(character)));
    let wrong = words.filter(|word| NOT_IN_CORE.contains(word));
    wrong
        .map(|word| format!("{}: uses std::{word}", file.path))
        .collect()
}

#[test]
fn the_host_never_reads_a_body() {
    // Tests say what they like.
    let files = rust_below("host/src").into_iter().filter(|file| {
        let is_own = JSON_IN_HOST.iter().any(|own| file.path.starts_with(own));
        !is_own && !file.path.ends_with("tests.rs")
    });
    let problems: Vec<String> = files
        .flat_map(|file| {
            let text = before_tests(&file.text);
            let mut problems = found(&file, &bare(text), &NO_WORD_IN_HOST);
            problems.extend(found(&file, text, &NO_TEXT_IN_HOST));
            problems
        })
        .collect();
    assert_none("the host knows no message", &problems);
}

#[test]
fn the_files_of_jobs_are_reached_by_their_directory_alone() {
    let mut problems = Vec::new();
    for file in rust_below("host/src/jobs") {
        // What it looks at is `/proc`.
        if file.path.starts_with("host/src/jobs/processes/") || file.path.ends_with("tests.rs") {
            continue;
        }
        let lines = before_tests(&file.text).lines();
        let of_the_system = ["\"/proc/", "\"/dev/null\""];
        let is_allowed = |line: &str| {
            of_the_system.iter().any(|it| line.contains(it)) || line == "use std::fs::File;"
        };
        let lines = lines.map(|line| if is_allowed(line) { "" } else { line });
        let code = bare(&Vec::from_iter(lines).join("\n"));
        problems.extend(found(&file, &code, &BY_PATH));
    }
    assert_none("cap-std opens them, and no path leads elsewhere", &problems);
}

#[test]
fn the_guest_converts_and_does_nothing_else() {
    let mut problems = Vec::new();
    for file in rust_below("guest/src") {
        let code = bare(&file.text);
        // What is implemented for something repeats nothing.
        let lines = code.lines();
        let lines = lines.map(|line| if line.starts_with("impl ") { "" } else { line });
        let code = Vec::from_iter(lines).join("\n");
        problems.extend(found(&file, &code, &NOT_IN_GUEST));
        let decisions = code.lines().filter(|line| decides(line));
        problems.extend(decisions.map(|line| format!("{}: {}", file.path, line.trim())));
    }
    assert_none("all logic is in the core", &problems);
}

/// Whether a line compares, calculates, or has a `match` arm that takes whatever is left or has a condition.
fn decides(line: &str) -> bool {
    let operators = [
        "==", "!=", "<=", ">=", " < ", " > ", "&&", "||", " + ", " - ", "_ =>",
    ];
    operators.iter().any(|it| line.contains(it))
}

#[test]
fn what_decides_is_told_from_what_converts() {
    let check = |line: &str, expected: bool| assert_eq!(decides(line), expected, "{line}");
    check("a => Self::B(a.into()),", false);
    check("fn a(b: Option<C>) -> Result<D, E> {", false);
    check("with(|server| server.f(&cx.into()))", false);
    check("let a = b.len() > 3;", true);
    check("_ => Self::Other,", true);
    check("a && b", true);
}

/// A source without the tests at its end.
fn before_tests(text: &str) -> &str {
    text.rsplit_once("#[cfg(test)]\nmod tests")
        .map_or(text, |(code, _tests)| code)
}

#[test]
fn every_limit_says_why() {
    let files = rust_below(".")
        .into_iter()
        .filter(|file| file.path.ends_with("/limits.rs"));
    let mut problems = Vec::new();
    for file in files {
        let lines: Vec<&str> = file.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let is_limit = line.trim_start().starts_with("pub") && line.contains("const ");
            // Attributes may stand between a limit and its reason.
            let above = lines[..index]
                .iter()
                .rfind(|line| !line.trim_start().starts_with("#["));
            let is_documented = above.is_some_and(|line| line.trim_start().starts_with("///"));
            if is_limit && !is_documented {
                problems.push(format!("{}:{}: {line}", file.path, index + 1));
            }
        }
    }
    assert_none("a limit has a reason", &problems);
}

#[test]
fn no_file_names_a_place_on_somebodys_machine() {
    let mut places = vec![workspace().display().to_string()];
    // A home as short as `/` is in every path.
    let home = std::env::var("HOME").ok().filter(|home| home.len() > 1);
    places.extend(home.map(|home| format!("{}/", home.trim_end_matches('/'))));
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let problems: Vec<String> = below(".")
        .iter()
        .flat_map(|file| found(file, &file.text, &places))
        .collect();
    assert_none("the project builds anywhere", &problems);
}

/// Where any of `words` is in `text`, as a whole word where it begins and ends like one.
fn found(file: &File, text: &str, words: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let wrong = words.iter().filter(|word| has(line, word));
        problems.extend(wrong.map(|word| format!("{}:{}: {word}", file.path, index + 1)));
    }
    problems
}

fn has(line: &str, word: &str) -> bool {
    let is_inside = |inner: Option<char>, outer: Option<char>| {
        inner.is_some_and(is_word) && outer.is_some_and(is_word)
    };
    line.match_indices(word).any(|(place, _)| {
        let before = line[..place].chars().next_back();
        let after = line[place + word.len()..].chars().next();
        !is_inside(word.chars().next(), before) && !is_inside(word.chars().next_back(), after)
    })
}
