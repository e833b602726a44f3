//! Rules about the corpus of transcripts.

use backburner_tests::transcript::corpus;

use super::assert_none;
use super::files::below;

/// How many replies the corpus expects at least, so that it does not shrink unnoticed.
const EXPECTATIONS_MIN: usize = 200;

#[test]
fn every_file_is_a_transcript_and_expects_something() {
    let files = below("tests/transcripts");
    let mut problems = Vec::new();
    for file in &files {
        if !file.path.ends_with(".transcript") {
            problems.push(format!("{}: no runner plays it", file.path));
        }
        if expectations(&file.text) == 0 {
            problems.push(format!("{}: it expects nothing", file.path));
        }
        if file.text.lines().any(|line| line.trim_end() == "<") {
            problems.push(format!("{}: an expectation is not written", file.path));
        }
    }
    assert_none("the corpus is whole", &problems);
    assert_eq!(corpus().len(), files.len());
    let total: usize = files.iter().map(|file| expectations(&file.text)).sum();
    assert!(total >= EXPECTATIONS_MIN, "{total} expectations");
}

fn expectations(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("< ")).count()
}

/// Where the whole corpus is played against something, and how that is said there.
const RUNNERS: [(&str, &str); 13] = [
    ("tests/tests/transcripts.rs", "check(in_core)"),
    ("tests/tests/transcripts.rs", "check(in_fresh_core)"),
    ("tests/tests/transcripts.rs", "check(in_component)"),
    ("tests/tests/transcripts.rs", "check(in_library)"),
    ("tests/tests/transcripts.rs", "check(in_binary)"),
    (
        "host/examples/axum/src/functions/tests/corpus.rs",
        "check(with_functions)",
    ),
    (
        "tests/tests/hosts/node.rs",
        "assert_answers_as_the_native_host(&javascript::setup(",
    ),
    (
        "tests/tests/hosts/node.rs",
        "assert_answers_as_the_native_host(&javascript::in_memory(",
    ),
    (
        "tests/tests/hosts/node.rs",
        "assert_answers_as_the_native_host(&pages.setup(",
    ),
    (
        "tests/tests/hosts/python.rs",
        "assert_answers_as_the_native_host(&python_host::setup(",
    ),
    (
        "tests/tests/hosts/python.rs",
        "assert_answers_as_the_native_host(&in_memory(&component()",
    ),
    (
        "tests/tests/hosts/python.rs",
        "assert_answers_as_the_native_host(&in_memory(&composition)",
    ),
    ("tests/tests/hosts/wasmtime.rs", "in corpus()"),
];

#[test]
fn all_runners_play_the_whole_corpus() {
    let mut files = below("tests/tests");
    files.extend(below("host/examples"));
    let plays = |(path, call): &(&str, &str)| {
        files
            .iter()
            .any(|file| file.path == *path && file.text.contains(call))
    };
    let problems: Vec<String> = RUNNERS
        .iter()
        .filter(|runner| !plays(runner))
        .map(|(path, call)| format!("{path}: {call} is missing"))
        .collect();
    assert_none(
        "a transcript is played against core, component, library, binary, the other hosts, a page and the command line",
        &problems,
    );
}

#[test]
fn ci_leaves_no_host_out() {
    let script = below(".ci").into_iter().find(|file| file.path == ".ci/run");
    let script = script.expect("there is a script for CI").text;
    let (before, _) = script.split_once("cargo test").expect("it runs the tests");
    assert!(
        before.contains("export BACKBURNER_ALL_HOSTS=1\n"),
        "{before}"
    );
}
