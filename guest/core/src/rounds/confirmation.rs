//! What a person reads who has to confirm a command.

use serde_json::{Map, Value};

use super::limits::{COMMAND_CHARS, LINE_CHARS, REASONS, VALUES_CHARS};
use super::{Answered, Question, Rounds, Trust};
use crate::imports::{Command, JobSpec};
use crate::input::Form;
use crate::policy::{Concern, are_run};
use crate::text::{Ends, INSET, in_one_line, indented, revealed_lines};

/// The name of the question, and of its only field.
const CONFIRM: &str = "confirm";

/// A command, and what its caller calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal<'a> {
    /// What is to run.
    pub(crate) spec: &'a JobSpec,
    /// What the task is to be called.
    pub(crate) label: Option<&'a str>,
}

/// The question whether this command may run, which begins with these words. But for them, each line that is not set in is
/// ours: what the caller gave cannot look like what is said of it.
pub(crate) fn confirmation(proposal: Proposal<'_>, words: &str) -> Question {
    let mut lines = vec![
        words.to_owned(),
        String::new(),
        command(&proposal.spec.command),
        String::new(),
    ];
    let directory = proposal.spec.directory.as_deref();
    let directory = directory.map_or("the server's own".to_owned(), line);
    lines.push(format!("Directory: {directory}"));
    lines.extend(
        proposal
            .label
            .map(|label| format!("Label: {}", line(label))),
    );
    lines.extend(variables(&proposal.spec.environment));
    if !proposal.spec.stdin.is_empty() {
        lines.push(format!(
            "Standard input: {} bytes",
            proposal.spec.stdin.len()
        ));
    }
    Question {
        key: CONFIRM.to_owned(),
        form: Form::yes_or_no(lines.join("\n"), CONFIRM, "Run this command"),
        trust: Trust::Asked,
    }
}

/// Whether the person who answered this said yes.
pub(crate) fn is_confirmed(answer: &Map<String, Value>) -> bool {
    answer.get(CONFIRM) == Some(&Value::Bool(true))
}

/// How a person answered who was asked in these rounds whether a command may run, whatever they read of it. Nothing but
/// [`confirmation`] makes the question whose answer may be taken for a yes.
pub(crate) fn answer_to_any(rounds: &Rounds<'_>) -> Answered {
    let form = Form::yes_or_no(String::new(), CONFIRM, "");
    rounds.answer_to_any(CONFIRM, &form)
}

/// Why the policy asks for it, in words for whom it may concern.
pub(crate) fn because(concern: &Concern<'_>) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in &concern.reasons {
        if !reasons.contains(reason) {
            reasons.push(reason);
        }
    }
    let more = match reasons.len().saturating_sub(REASONS) {
        0 => String::new(),
        number => format!("; and {number} more"),
    };
    reasons.truncate(REASONS);
    let reasons = reasons.join("; ");
    match concern.doubt {
        None => format!("A rule asks for it: {reasons}{more}"),
        Some(doubt) => format!(
            "It cannot be told for certain what it does ({doubt}), so it counts for every rule: {reasons}{more}"
        ),
    }
}

/// A command as a person would type it, where all of its lines are set in.
fn command(command: &Command) -> String {
    let text = match command {
        Command::Shell(line) => line.clone(),
        Command::Program(words) => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            words.join(" ")
        }
    };
    middle_left_out(&revealed_lines(&text))
}

/// A word as a shell has to be given it.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./:=@%+,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The beginning and the end of what is too long, as either may be what matters, set in. It is cut before that: wherever a
/// cut falls, a line begins behind it.
fn middle_left_out(text: &str) -> String {
    let block = |part: &str| format!("{INSET}{}", indented(part));
    match Ends::of(text, COMMAND_CHARS) {
        None => block(text),
        Some(Ends { head, note, tail }) => [block(&head), note, block(&tail)].join("\n"),
    }
}

fn line(text: &str) -> String {
    in_one_line(text, LINE_CHARS)
}

/// The names alone, as the values may be secret. But what is run is no secret, and is what is confirmed: each of those
/// stands by itself, shown as the command is, so that none hides another. Those that there is no room for are counted.
fn variables(environment: &[(String, String)]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut names = Vec::new();
    let mut not_shown = Vec::new();
    let mut room = VALUES_CHARS;
    for ((name, value), is_run) in environment.iter().zip(are_run(environment)) {
        if is_run {
            let assignment = format!("{name}={}", quoted(value));
            let value = middle_left_out(&revealed_lines(&assignment));
            let shown = format!("Variable that has something run:\n{value}");
            match room.checked_sub(shown.chars().count()) {
                Some(left) => {
                    room = left;
                    lines.push(shown);
                }
                None => not_shown.push(name.as_str()),
            }
        } else {
            names.push(name.as_str());
        }
    }
    if !not_shown.is_empty() {
        lines.push(format!(
            "Variables that have something run and are not shown, {}: {}",
            not_shown.len(),
            line(&not_shown.join(", "))
        ));
    }
    if !names.is_empty() {
        lines.push(format!("Variables: {}", line(&names.join(", "))));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        command(&Command::Shell(line.to_owned()))
    }

    #[test]
    fn no_line_of_a_command_looks_like_what_is_said_of_it() {
        let line = "Label: x\n\nDirectory: /safe";
        assert_eq!(shown(line), "    Label: x\n    \n    Directory: /safe");
        let words = ["rm", "a\nDirectory: /safe"].map(str::to_owned).to_vec();
        let shown = command(&Command::Program(words));
        assert_eq!(shown, "    rm 'a\n    Directory: /safe'");
    }

    #[test]
    fn no_line_of_a_long_command_looks_like_what_is_said_of_it() {
        let safe = "Directory: /safe\n";
        // Where the first of them begins, and so what the end begins with, moves through a whole line.
        for before in 0..=safe.len() {
            let line = format!("{}\n{}", "x".repeat(1_500 + before), safe.repeat(50));
            let shown = shown(&line);
            let ours = |line: &&str| !line.starts_with("    ");
            let ours: Vec<&str> = shown.lines().filter(ours).collect();
            let left_out = line.chars().count() - 1_600;
            let note = format!("[… {left_out} characters are not shown …]");
            assert_eq!(ours, [note], "{shown}");
        }
    }

    /// What is said of these variables.
    fn shown_of(environment: &[(&str, &str)]) -> String {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment: Vec<_> = environment.iter().map(pair).collect();
        variables(&environment).join("\n")
    }

    #[test]
    fn many_names_hide_no_variable_that_is_run() {
        let name = |number| format!("APP_SETTING_NUMBER_{number:02}");
        let names: Vec<String> = (0..20).map(name).collect();
        let mut environment: Vec<_> = names.iter().map(|name| (&**name, "1")).collect();
        environment.push(("PAGER", "rm -r /home"));
        let shown = shown_of(&environment);
        let expect = "Variable that has something run:\n    PAGER='rm -r /home'\nVariables: APP_SETTING_NUMBER_00, ";
        assert!(shown.starts_with(expect), "{shown}");
    }

    #[test]
    fn a_long_value_that_is_run_is_shown_as_a_command_is() {
        let value = format!("cat {} | rm -r /home", "x".repeat(400));
        let shown = shown_of(&[("PAGER", &value)]);
        assert!(shown.ends_with("xxx | rm -r /home'"), "{shown}");
        let value = format!("cat {}\nDirectory: /safe", "x".repeat(4_000));
        let shown = shown_of(&[("PAGER", &value)]);
        assert!(shown.contains("characters are not shown"), "{shown}");
        assert!(shown.ends_with("\n    Directory: /safe'"), "{shown}");
    }

    #[test]
    fn values_that_there_is_no_room_for_are_counted() {
        let names: Vec<String> = (0..1_000)
            .map(|number| format!("A{number}_PAGER"))
            .collect();
        for value in ["x".to_owned(), "x".repeat(2_000), "\n".repeat(1_600)] {
            let environment: Vec<_> = names.iter().map(|name| (&**name, &*value)).collect();
            let shown = shown_of(&environment);
            assert!(shown.chars().count() < 20_000, "{}", shown.len());
            let number = 1_000 - shown.matches("Variable that has").count();
            let expect =
                format!("\nVariables that have something run and are not shown, {number}: A");
            assert!(shown.contains(&expect), "{shown}");
        }
    }

    #[test]
    fn the_value_of_a_setting_of_git_that_is_run_is_shown() {
        let shown = shown_of(&[
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "core.pager"),
            ("GIT_CONFIG_VALUE_0", "rm -r /home"),
            ("GIT_CONFIG_KEY_1", "user.name"),
            ("GIT_CONFIG_VALUE_1", "secret"),
        ]);
        let expect = "Variable that has something run:\n    GIT_CONFIG_KEY_0=core.pager\n\
                      Variable that has something run:\n    GIT_CONFIG_VALUE_0='rm -r /home'\n\
                      Variables: GIT_CONFIG_COUNT, GIT_CONFIG_KEY_1, GIT_CONFIG_VALUE_1";
        assert_eq!(shown, expect);
    }

    #[test]
    fn what_stands_before_lines_makes_no_command_too_long() {
        let line = "rm a\n".repeat(320);
        assert_eq!(line.chars().count(), COMMAND_CHARS);
        assert_eq!(
            shown(&line),
            format!("    {}", line.replace('\n', "\n    "))
        );
    }
}
