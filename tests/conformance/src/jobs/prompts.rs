//! What a job waits for at its terminal, where jobs have some.

use super::{
    Spec, Stream, happened_alone, leave_alone, output, plausible, progress, shell, start, stop, wit,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, breach, ensure, same};
use crate::limits::{
    ALONE_MS, KEY_CHARS_MAX, LINE_CHARS_MAX, PROMPT_CHARS_MAX, UNANSWERED_MS, UNTYPED_MS,
};
use crate::run::Run;

use wit::{Prompt, StopReason};

const NEEDS: &[Need] = &[Need::Processes, Need::Terminals];

const LASTING_NEEDS: &[Need] = &[
    Need::Processes,
    Need::Terminals,
    Need::LastingStore,
    Need::LastingJobs,
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/prompt",
        promise: "What an interactive job waits for at its terminal is its prompt, and the first line is typed there, with \
                  blanks for control characters.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, READS)),
            Step::Do(enter_twice),
            Step::Do(judge_typed),
        ],
    },
    Check {
        name: "jobs/line-lasts",
        promise: "A line is typed, whatever becomes of the host that took it.",
        needs: LASTING_NEEDS,
        steps: &[
            Step::Do(|run| begin(run, READS)),
            Step::Do(enter_and_leave),
            Step::Restart { ms: ALONE_MS },
            Step::Do(judge_typed_alone),
        ],
    },
    Check {
        name: "jobs/prompt-keys",
        promise: "Each prompt has a key of its own: an old line is none for a new prompt. No line is the end of the file.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, READS_TWICE)),
            Step::Do(enter_first),
            Step::Do(enter_late_and_end),
            Step::Do(judge_ended),
        ],
    },
    Check {
        name: "jobs/hidden-prompt",
        promise: "Where the terminal does not show what is typed, the prompt is hidden, and `enter` does not take a line.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, HIDES)),
            Step::Do(enter_hidden),
            Step::Do(judge_untyped),
        ],
    },
];

const READS: &str = "test -t 0 && test -t 1 && test -t 2 || exit 9; printf 'which one? '; read -r x; \
                     echo \"<$x>\" >&2; exec sleep 60";

const READS_TWICE: &str =
    "printf 'again? '; read -r a; printf 'again? '; read -r b || echo \"<$a>end\"; exec sleep 60";

const HIDES: &str = "stty -echo; printf 'word? '; read -r x; echo \"<$x>\"; exec sleep 60";

fn begin(run: &mut Run, line: &str) -> Result<(), Halt> {
    let spec = Spec {
        interactive: true,
        timeout_ms: Some(UNANSWERED_MS),
        grace_ms: 0,
        ..shell(line)
    };
    start(&run.job(0), &spec)
}

fn not_yet<T>(what: &str) -> Result<T, Halt> {
    Err(Halt::Wait {
        jobs: Vec::new(),
        what: what.to_owned(),
    })
}

/// The prompt, which has to be well formed and have this text, once there is one.
fn prompt(run: &Run, text: &str) -> Result<Prompt, Halt> {
    let Some(prompt) = progress(&run.job(0))?.prompt else {
        return not_yet("a prompt");
    };
    let is_known = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let key = &prompt.key;
    ensure(
        (1..=KEY_CHARS_MAX).contains(&key.len()) && key.chars().all(is_known),
        || format!("a prompt's key is {key:?}"),
    )?;
    let length = prompt.text.chars().count();
    ensure(length <= PROMPT_CHARS_MAX, || {
        format!("a prompt has {length} characters")
    })?;
    same("the text of a prompt", prompt.text.as_str(), text)?;
    plausible(run, "the moment of a prompt", prompt.asked_at)?;
    Ok(prompt)
}

fn enter(id: &str, key: &str, line: Option<&str>) -> Result<(), Halt> {
    enter_blindly(id, key, line)?;
    let told = progress(id)?.prompt;
    ensure(told.is_none_or(|told| told.key != key), || {
        "a prompt is still told for which a line was taken".to_owned()
    })
}

fn enter_blindly(id: &str, key: &str, line: Option<&str>) -> Result<(), Halt> {
    let entered = wit::enter(id, key, line);
    entered.or_else(|failure| breach(format!("`enter` failed: {}", failure.detail)))
}

fn enter_twice(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let found = prompt(run, "which one?")?;
    same("whether it is hidden", &found.hidden, &false)?;
    let too_long = "a".repeat(LINE_CHARS_MAX + 1);
    ensure(
        wit::enter(&id, &found.key, Some(&too_long)).is_err(),
        || "a line of more than 1000 characters was taken".to_owned(),
    )?;
    same(
        "the key after a line that failed",
        prompt(run, "which one?")?.key.as_str(),
        found.key.as_str(),
    )?;
    enter(&id, &found.key, Some("th\tis"))?;
    enter(&id, &found.key, Some("other"))
}

fn enter_and_leave(run: &mut Run) -> Result<(), Halt> {
    let key = prompt(run, "which one?")?.key;
    enter_blindly(&run.job(0), &key, Some("th\tis"))?;
    leave_alone(run);
    Ok(())
}

fn judge_typed_alone(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    // Looked at first: where the line is lost, there is nothing to wait for.
    same(
        "its prompt after the restart",
        &progress(&id)?.prompt,
        &None,
    )?;
    let fragments = output(&id)?.fragments;
    let last = fragments.last().map_or(u64::MAX, |it| it.at);
    judge_typed(run)?;
    happened_alone(run, "a line was typed", last)
}

/// What a terminal adds to the output is its own matter.
fn judge_typed(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let written = output(&id)?;
    let text = String::from_utf8_lossy(&written.of(Stream::Stdout)).into_owned();
    ensure(!text.contains("other"), || {
        format!("a second line was typed: {text:?}")
    })?;
    let Some((_, typed)) = text.split_once('<') else {
        progress(&id)?;
        return not_yet("what was typed");
    };
    let Some((typed, _)) = typed.split_once('>') else {
        return not_yet("the rest of what was typed");
    };
    same("what was typed", typed, "th is")?;
    let errors = written.of(Stream::Stderr);
    same("what is not of one stream", &errors.len(), &0)?;
    stop(&id, StopReason::Cancelled)
}

fn enter_first(run: &mut Run) -> Result<(), Halt> {
    let found = prompt(run, "again?")?;
    enter(&run.job(0), &found.key, Some("one"))?;
    run.remember(found.key);
    Ok(())
}

fn enter_late_and_end(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let found = prompt(run, "again?")?;
    ensure(found.key != run.remembered(), || {
        format!("a prompt has the key {} of an earlier one", found.key)
    })?;
    enter(&id, run.remembered(), Some("late"))?;
    enter(&id, &found.key, None)
}

fn judge_ended(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let text = output(&id)?.of(Stream::Stdout);
    let text = String::from_utf8_lossy(&text);
    if !text.contains("<one>end") {
        progress(&id)?;
        return not_yet("the end of what it reads");
    }
    ensure(!text.contains("late"), || {
        format!("an old line was typed: {text:?}")
    })?;
    stop(&id, StopReason::Cancelled)
}

fn enter_hidden(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let found = prompt(run, "word?")?;
    same("whether it is hidden", &found.hidden, &true)?;
    enter_blindly(&id, &found.key, Some("this"))?;
    let until = run.now().saturating_add(UNTYPED_MS);
    run.remember(format!("{until} {}", found.key));
    Ok(())
}

/// It is still waited for, under the same key, for a while.
fn judge_untyped(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let text = output(&id)?.of(Stream::Stdout);
    let text = String::from_utf8_lossy(&text);
    ensure(!text.contains('<'), || {
        format!("a line for a hidden prompt was typed: {text:?}")
    })?;
    let (until, key) = run.remembered().split_once(' ').unwrap_or_default();
    let still = prompt(run, "word?")?.key;
    same("the key of a hidden prompt", still.as_str(), key)?;
    if until.parse().is_ok_and(|until: u64| run.now() < until) {
        return not_yet("a hidden prompt to stay");
    }
    stop(&id, StopReason::Cancelled)
}
