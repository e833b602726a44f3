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

#[test]
fn all_three_runners_play_the_whole_corpus() {
    let files = below("tests/tests");
    let runner = files
        .iter()
        .find(|file| file.path == "tests/tests/transcripts.rs");
    let text = &runner.expect("the runners are there").text;
    let problems: Vec<String> = ["check(in_core)", "check(in_component)", "check(in_binary)"]
        .iter()
        .filter(|call| !text.contains(**call))
        .map(|call| format!("{call} is missing"))
        .collect();
    assert_none(
        "a transcript is played against core, component and binary",
        &problems,
    );
}
