//! `backburner ask` and `backburner progress`: what a process of a job types to ask a person something, and to say how
//! far the job is. No client and no server has a part in it: the job's own files do.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use uuid::Uuid;

use super::form::{Form, Printed};
use super::inside_arguments::{AskOptions, ProgressOptions};
use super::response::{Action, Response};
use super::{exit_code, terminal, wrong_usage};
use crate::clock::now_ms;
use crate::data_dir::{self, DataDir};
use crate::environment::variable;
use crate::jobs::RunningJob;
use crate::jobs::supervisor::TASK_VARIABLE;

/// The person declined.
const DECLINED: u8 = 1;

/// The person dismissed the question, or nobody answered.
const UNANSWERED: u8 = 2;

/// Asks, waits, and prints the answer.
///
/// # Errors
/// Where this is no job, or its files cannot be used.
pub(super) fn ask(data_dir: Option<&Path>, options: &AskOptions) -> anyhow::Result<ExitCode> {
    // A limit on the size of files is then an error of the write like any other.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    let deadline = options.deadline.map(|wait| Instant::now() + wait);
    let form = Form::of(options, now_ms()).map_err(anyhow::Error::msg)?;
    let asker = inside(data_dir)?
        .ask(form.text())
        .context("the question cannot be asked")?;
    let answer = match asker.wait(deadline)? {
        Some(answer) => answer,
        None => {
            let default = form.default_content();
            // Nothing is written as null.
            let default = default.map(|content| Response::accept(Some(content)));
            asker.conclude(&serde_json::to_string(&default)?)?
        }
    };
    // It is not open any more, also where the answer cannot be printed.
    drop(asker);
    let answer: Option<Response> =
        serde_json::from_str(&answer).context("the answer cannot be read")?;
    let Some(answer) = answer else {
        return Ok(UNANSWERED.into());
    };
    Ok(match answer.action {
        Action::Accept => {
            let printed = if options.json {
                Printed::Json
            } else {
                Printed::Bare
            };
            if let Some(text) = form.printed(answer.content.as_ref(), printed) {
                terminal::print(&text)?;
            }
            exit_code::SUCCESS.into()
        }
        Action::Decline => DECLINED.into(),
        Action::Cancel => UNANSWERED.into(),
    })
}

/// Says how far the job is.
///
/// # Errors
/// Where this is no job, or its files cannot be used.
pub(super) fn progress(
    data_dir: Option<&Path>,
    options: &ProgressOptions,
) -> anyhow::Result<ExitCode> {
    let (percent, text) = report(&options.words).map_err(|why| wrong_usage("progress", why))?;
    let reported = inside(data_dir)?.report(percent, text);
    reported.context("it cannot be noted how far the job is")?;
    Ok(exit_code::SUCCESS.into())
}

/// The job that this process is a part of.
fn inside(data_dir: Option<&Path>) -> anyhow::Result<RunningJob> {
    let id = task_id(variable(TASK_VARIABLE).as_deref()).map_err(anyhow::Error::msg)?;
    let is_told = data_dir.is_some() || variable(data_dir::VARIABLE).is_some();
    let data_dir = DataDir::resolve(data_dir.map(Path::to_owned))?;
    RunningJob::open(&data_dir, id).with_context(|| {
        let untold = format!(
            ", which is the default since {} is not set, as it is in a job",
            data_dir::VARIABLE
        );
        let untold = if is_told { "" } else { &untold };
        format!("looked for this job in {}{untold}", data_dir.display())
    })
}

/// The task whose job this is, by what the environment says of it, or why there is none.
fn task_id(variable: Option<&OsStr>) -> Result<Uuid, String> {
    let told = variable.ok_or_else(|| {
        format!(
            "this is no job: {TASK_VARIABLE} is not set; use it in a command that `backburner run` runs"
        )
    })?;
    let id = told.to_str().and_then(|told| Uuid::try_parse(told).ok());
    id.ok_or_else(|| {
        format!(
            "this is no job: {TASK_VARIABLE} is {told:?}, which is the id of no task; leave it as it is in a command that \
             `backburner run` runs"
        )
    })
}

/// A percentage, a text, or both. Several words are one text, as for `echo`.
fn report(words: &[String]) -> Result<(Option<u8>, String), String> {
    let (first, rest) = words
        .split_first()
        .ok_or("give a percentage, a text, or both")?;
    Ok(match percent(first)? {
        Some(percent) => (Some(percent), rest.join(" ")),
        None => (None, words.join(" ")),
    })
}

/// What a word says that is a number; `None` where it is none.
fn percent(word: &str) -> Result<Option<u8>, String> {
    let word = word.trim();
    let number = word.strip_suffix('%').unwrap_or(word).trim_end();
    let Ok(number) = number.parse::<f64>() else {
        return Ok(None);
    };
    if !(0.0..=100.0).contains(&number) {
        return Err(format!(
            "{word:?} is no percentage: give 0 to 100, or quote a text that begins with a number as one word"
        ));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is at least 0 and at most 100"
    )]
    let percent = number as u8;
    Ok(Some(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Option<(Option<u8>, String)> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        report(&words).ok()
    }

    #[test]
    fn a_report_is_a_percentage_a_text_or_both() {
        let said = |percent, text: &str| Some((percent, text.to_owned()));
        assert_eq!(read(&["40", "a"]), said(Some(40), "a"));
        assert_eq!(read(&["99.9%"]), said(Some(99), ""));
        assert_eq!(read(&["40 %"]), said(Some(40), ""));
        assert_eq!(read(&["a b"]), said(None, "a b"));
        assert_eq!(read(&["a", "b"]), said(None, "a b"));
        assert_eq!(read(&["40", "a", "101"]), said(Some(40), "a 101"));
        assert_eq!(read(&["3 of 7"]), said(None, "3 of 7"));
        assert_eq!(read(&[""]), said(None, ""));
    }

    #[test]
    fn a_number_that_is_no_percentage_is_no_text() {
        for word in [
            "101", "100.1", "101%", "-1", "-0.1", "nan", "NaN", "inf", "-inf", "infinity", "1e9",
        ] {
            for words in [&[word][..], &[word, "a"]] {
                assert_eq!(read(words), None, "{words:?}");
            }
        }
    }

    #[test]
    fn a_task_that_is_not_named_and_one_that_is_named_wrongly_are_told_apart() {
        let error = |told: Option<&str>| task_id(told.map(OsStr::new)).expect_err("it is none");
        assert!(error(None).contains("BACKBURNER_TASK_ID is not set"));
        let wrong = error(Some("foo"));
        assert!(
            wrong.contains(r#"BACKBURNER_TASK_ID is "foo", which is the id of no task"#),
            "{wrong}"
        );
    }
}
