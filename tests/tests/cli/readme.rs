//! The README's own commands, as somebody types them who has just read it: the built binary stands in for
//! `cargo run --release --`, and the data directory is the test's.

use std::process::{Command, Stdio};

use backburner::data_dir;
use backburner_tests::{CONFIG, NO_CONFIG, RUN, TestDir, binary, readme_commands};

use super::{Done, done, task_id};

/// A command of the README that runs the program with this subcommand, for a shell.
fn command(subcommand: &str) -> String {
    let begin = format!("{RUN} {subcommand} ");
    let commands = readme_commands();
    let command = commands.iter().find(|command| command.starts_with(&begin));
    let command = command.unwrap_or_else(|| panic!("no {begin}: {commands:?}"));
    let program = format!("'{}'", binary().display());
    command.replacen(RUN, &program, 1)
}

/// A shell that runs this line.
pub(super) fn shell(dir: &TestDir, line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line])
        .env(data_dir::VARIABLE, dir.data())
        .env(CONFIG, NO_CONFIG)
        .current_dir(dir.path())
        .stdin(Stdio::null());
    shell
}

pub(super) fn typed(dir: &TestDir, line: &str) -> Done {
    done(shell(dir, line).output().expect("there is a shell"))
}

/// What the command of the README writes.
const OUTPUT: &str = "step 1\nstep 2\nstep 3\n";

/// What is shown while it runs, but for how long it has.
fn progress(step: u32) -> String {
    format!("; last line: step {step}")
}

#[test]
fn the_first_command_shows_progress_and_the_result_and_how_to_fetch_it_again() {
    let dir = TestDir::new();
    let run = typed(&dir, &command("run"));
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), OUTPUT));
    let lines: Vec<&str> = run.stderr.lines().collect();
    let first = |is_it: &dyn Fn(&str) -> bool| lines.iter().position(|line| is_it(line));
    let is_progress = |line: &str| line.starts_with("running for ");
    let shown = |step| first(&|line| is_progress(line) && line.ends_with(&progress(step)));
    // Where lines stay, not each state gets one, and on a busy machine the first one comes before the first step.
    let steps: Vec<usize> = (1..=3).filter_map(shown).collect();
    assert!(!steps.is_empty() && steps.is_sorted(), "{run:?}");
    let is_whole = |line: &str| {
        let ends = (1..=3).map(progress).chain(["; no output yet".to_owned()]);
        ends.into_iter().any(|end| line.ends_with(&end))
    };
    let whole = lines
        .iter()
        .all(|line| !is_progress(line) || is_whole(line));
    assert!(whole, "each says what was written last: {run:?}");
    let begun = first(&is_progress);
    let ended = first(&|line| line.starts_with("exit code 0"));
    assert!(begun.is_some() && ended > begun, "{run:?}");
    assert!(ended > steps.last().copied(), "{run:?}");
    let id = task_id(&run);
    let again = lines.last().copied().unwrap_or_default();
    assert!(
        again.contains(" show ") && again.ends_with(&format!(" {id}")),
        "{run:?}"
    );
    // Both that of the README, and what is printed to be copied.
    for line in [command("show").replace("ID", &id), again.to_owned()] {
        let shown = typed(&dir, &line);
        assert_eq!((shown.status, shown.stdout.as_str()), (Some(0), OUTPUT));
        assert!(shown.stderr.contains("exit code 0"), "{line}: {shown:?}");
    }
}

#[test]
fn on_a_terminal_progress_is_written_in_its_place_and_taken_away_in_the_end() {
    const ANEW: &str = "\r\u{1b}[K";
    let dir = TestDir::new();
    // It makes a terminal for the shell. The line is in a variable, which no shell has to quote.
    let mut script = Command::new("script");
    script
        .args([
            "--quiet",
            "--return",
            "--command",
            "eval \"$LINE\"",
            "/dev/null",
        ])
        .env("SHELL", "/bin/sh")
        .env("LINE", command("run"))
        .env(data_dir::VARIABLE, dir.data())
        .env(CONFIG, NO_CONFIG)
        .current_dir(dir.path())
        .stdin(Stdio::null());
    let screen = done(script.output().expect("util-linux has it"));
    assert_eq!(screen.status, Some(0), "{screen:?}");
    let (_, after) = screen
        .stdout
        .split_once(ANEW)
        .expect("something is shown in its place");
    let states: Vec<&str> = after.split(ANEW).collect();
    let (last, states) = states
        .split_last()
        .expect("a split gives one part at least");
    let steps = (1..=3).filter(|step| states.iter().any(|state| state.ends_with(&progress(*step))));
    assert!(steps.count() >= 2, "{screen:?}");
    assert!(
        !states.iter().any(|state| state.contains('\n')),
        "one line: {screen:?}"
    );
    let output = OUTPUT.replace('\n', "\r\n");
    assert!(last.starts_with(&output), "the line is gone: {screen:?}");
}
