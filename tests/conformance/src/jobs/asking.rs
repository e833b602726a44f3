//! What a job asks and is answered, where jobs can ask.
//!
//! How a job asks is the host's own matter, so the driver gives the programs: see `need` in `wit/conformance.wit`.

use super::{
    Spec, StopReason, happened_alone, leave_alone, output, plausible, progress, shell, start, stop,
    wit, written,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, breach, ensure, same};
use crate::limits::{
    ALONE_MS, ANSWER_BYTES_MAX, FORM_BYTES_MAX, KEY_CHARS_MAX, QUESTIONS_MAX, UNANSWERED_MS,
};
use crate::run::Run;

use wit::Question;

const NEEDS: &[Need] = &[Need::Processes, Need::Questions];

const LASTING_NEEDS: &[Need] = &[
    Need::Processes,
    Need::Questions,
    Need::LastingStore,
    Need::LastingJobs,
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/asks",
        promise: "What a job asks is among its questions until it is answered, and then the answer reaches who asked.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, ASKS_ONCE)),
            Step::Do(answer_and_look),
            Step::Do(|run| end(run, "yes\n")),
        ],
    },
    Check {
        name: "jobs/first-answer-stays",
        promise: "The first answer to a question stays: a second one changes nothing and is no error.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, ASKS_ONCE)),
            Step::Do(answer_twice),
            Step::Do(|run| end(run, "first\n")),
        ],
    },
    Check {
        name: "jobs/question-keys",
        promise: "Each question has a key of its own, which is never used again: an old answer is none to a new question.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, ASKS_THRICE)),
            Step::Do(answer_all),
            Step::Do(|run| end(run, "1\n2\n3\n")),
        ],
    },
    Check {
        name: "jobs/withdrawn",
        promise: "Questions are told oldest first, and one whose asker has ended is not told any more.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, WITHDRAWS)),
            Step::Do(answer_the_gate),
            Step::Do(answer_the_killer),
            Step::Do(look_after_death),
        ],
    },
    Check {
        name: "jobs/question-limit",
        promise: "At most 32 questions of a job are told.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, ASKS_MUCH)),
            Step::Do(judge_number),
        ],
    },
    Check {
        name: "jobs/answer-limit",
        promise: "An answer of 1 MiB reaches who asked; a longer one fails, and the question stays open.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, COUNTS)),
            Step::Do(answer_at_length),
            Step::Do(judge_length),
        ],
    },
    Check {
        name: "jobs/question-lasts",
        promise: "A question stays open across a restart, with its key, and can be answered after it.",
        needs: LASTING_NEEDS,
        steps: &[
            Step::Do(|run| begin(run, ASKS_ONCE)),
            Step::Do(remember_question),
            Step::Restart { ms: 0 },
            Step::Do(answer_remembered),
            Step::Do(|run| end(run, "later\n")),
        ],
    },
    Check {
        name: "jobs/answer-lasts",
        promise: "An answer reaches who asked, whatever becomes of the host that took it.",
        needs: LASTING_NEEDS,
        steps: &[
            Step::Do(|run| begin(run, ASKS_ONCE)),
            Step::Do(answer_and_leave),
            Step::Restart { ms: ALONE_MS },
            Step::Do(judge_answered),
            Step::Do(|run| end(run, "yes\n")),
        ],
    },
    Check {
        name: "jobs/reports",
        promise: "What a job last said of itself is its report, also while it asks.",
        needs: NEEDS,
        steps: &[
            Step::Do(|run| begin(run, REPORTS)),
            Step::Do(judge_first_report),
            Step::Do(judge_last_report),
        ],
    },
];

const ASKS_ONCE: &str = "sh \"$KIT_ASK\" 'which one?'; exec sleep 60";

const ASKS_THRICE: &str =
    "for number in 1 2 3; do sh \"$KIT_ASK\" \"which $number?\"; done; exec sleep 60";

/// A question that is withdrawn as soon as another one is answered, which is asked when the first one has been seen.
const WITHDRAWS: &str = "sh \"$KIT_ASK\" 'the victim' & victim=$!; sh \"$KIT_ASK\" 'the gate'; \
                         sh \"$KIT_ASK\" 'the killer'; kill $victim; wait $victim; echo killed; exec sleep 60";

/// More questions than are told, at the same time.
const ASKS_MUCH: &str = "number=0; while [ $number -lt 34 ]; do number=$((number + 1)); \
                         sh \"$KIT_ASK\" \"which $number?\" 2>/dev/null & done; wait; exec sleep 60";

const COUNTS: &str = "echo $(sh \"$KIT_ASK\" 'how much?' | wc -c); exec sleep 60";

const REPORTS: &str = "sh \"$KIT_PROGRESS\" 42 'first part'; sh \"$KIT_ASK\" 'go on?' >/dev/null; \
                       sh \"$KIT_PROGRESS\" 43 'second part'; exec sleep 60";

/// Stopped without grace: what a job of these does at its end is not what is looked at.
fn begin(run: &mut Run, line: &str) -> Result<(), Halt> {
    let spec = Spec {
        timeout_ms: Some(UNANSWERED_MS),
        grace_ms: 0,
        ..shell(line)
    };
    start(&run.job(0), &spec)
}

/// Waits for what the job has to write, and stops it.
fn end(run: &mut Run, text: &str) -> Result<(), Halt> {
    let id = run.job(0);
    written(&id, text)?;
    same("its questions", &progress(&id)?.questions, &Vec::new())?;
    stop(&id, StopReason::Cancelled)
}

/// Something has to come that nothing announces.
fn not_yet<T>(what: &str) -> Result<T, Halt> {
    Err(Halt::Wait {
        jobs: Vec::new(),
        what: what.to_owned(),
    })
}

/// The open questions, of which each has to be well formed, once there are so many.
fn asked(run: &Run, count: usize) -> Result<Vec<Question>, Halt> {
    let questions = progress(&run.job(0))?.questions;
    for question in &questions {
        well_formed(run, question)?;
    }
    if questions.len() < count {
        return not_yet(&format!("{count} questions; there are {}", questions.len()));
    }
    Ok(questions)
}

fn well_formed(run: &Run, question: &Question) -> Result<(), Halt> {
    let is_known = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let key = &question.key;
    ensure(
        (1..=KEY_CHARS_MAX).contains(&key.len()) && key.chars().all(is_known),
        || format!("a question's key is {key:?}"),
    )?;
    ensure((1..=FORM_BYTES_MAX).contains(&question.form.len()), || {
        format!("a question's form has {} bytes", question.form.len())
    })?;
    plausible(run, "the moment of a question", question.asked_at)
}

/// The only question, which has to have this in its form.
fn the_question(run: &Run, message: &str) -> Result<Question, Halt> {
    let mut questions = asked(run, 1)?;
    let last = questions.pop();
    match last {
        Some(question) if questions.is_empty() && question.form.contains(message) => Ok(question),
        other => breach(format!(
            "a job that asks {message:?} asks {other:?} after {} others",
            questions.len()
        )),
    }
}

/// An answer that gives this text.
fn saying(text: &str) -> String {
    format!(r#"{{"action":"accept","content":{{"answer":"{text}"}}}}"#)
}

fn answer(id: &str, key: &str, text: &str) -> Result<(), Halt> {
    let answered = wit::answer(id, key, &saying(text));
    answered.or_else(|failure| breach(format!("`answer` failed: {}", failure.detail)))
}

fn answer_and_look(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let key = the_question(run, "which one?")?.key;
    answer(&id, &key, "yes")?;
    let left = progress(&id)?.questions;
    same("its questions after the answer", &left, &Vec::new())
}

fn answer_twice(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let key = the_question(run, "which one?")?.key;
    answer(&id, &key, "first")?;
    answer(&id, &key, "second")
}

/// Answers one question after the other. What is remembered are the keys that were seen.
fn answer_all(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let mut seen: Vec<String> = run
        .remembered()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    while seen.len() < 3 {
        let number = seen.len() + 1;
        let question = the_question(run, &format!("which {number}?"))?;
        ensure(!seen.contains(&question.key), || {
            format!(
                "question {number} has the key {} of an earlier one",
                question.key
            )
        })?;
        for earlier in &seen {
            answer(&id, earlier, "late")?;
        }
        answer(&id, &question.key, &number.to_string())?;
        seen.push(question.key);
        run.remember(seen.join(" "));
    }
    Ok(())
}

fn answer_the_gate(run: &mut Run) -> Result<(), Halt> {
    let questions = asked(run, 2)?;
    match questions.iter().find(|it| it.form.contains("the gate")) {
        Some(question) => answer(&run.job(0), &question.key, "yes"),
        None => breach(format!("nobody asks as the gate: {questions:?}")),
    }
}

fn answer_the_killer(run: &mut Run) -> Result<(), Halt> {
    let questions = asked(run, 2)?;
    match questions.as_slice() {
        [first, second]
            if first.form.contains("the victim")
                && second.form.contains("the killer")
                && first.asked_at <= second.asked_at =>
        {
            answer(&run.job(0), &second.key, "yes")
        }
        _ => breach(format!(
            "wanted the victim and then the killer: {questions:?}"
        )),
    }
}

fn look_after_death(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    // What the shell says of whom it killed is its own matter.
    let text = output(&id)?.of(super::Stream::Stdout);
    if text != b"yes\nyes\nkilled\n" {
        progress(&id)?;
        return not_yet("a job to kill who asks");
    }
    same("its questions", &progress(&id)?.questions, &Vec::new())?;
    stop(&id, StopReason::Cancelled)
}

fn judge_number(run: &mut Run) -> Result<(), Halt> {
    let questions = asked(run, QUESTIONS_MAX)?;
    same(
        "how many questions are told",
        &questions.len(),
        &QUESTIONS_MAX,
    )?;
    let mut keys: Vec<&str> = questions.iter().map(|it| it.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    same("how many keys they have", &keys.len(), &QUESTIONS_MAX)?;
    stop(&run.job(0), StopReason::Cancelled)
}

/// The longest text of an answer.
fn longest() -> usize {
    ANSWER_BYTES_MAX - saying("").len()
}

fn answer_at_length(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let key = the_question(run, "how much?")?.key;
    let too_long = saying(&"a".repeat(longest() + 1));
    ensure(wit::answer(&id, &key, &too_long).is_err(), || {
        "an answer of more than 1 MiB was taken".to_owned()
    })?;
    let still = the_question(run, "how much?")?.key;
    same("the key after an answer that failed", &still, &key)?;
    answer(&id, &key, &"a".repeat(longest()))
}

fn judge_length(run: &mut Run) -> Result<(), Halt> {
    end(run, &format!("{}\n", longest() + 1))
}

fn remember_question(run: &mut Run) -> Result<(), Halt> {
    let question = the_question(run, "which one?")?;
    run.remember(format!("{question:?}"));
    Ok(())
}

fn answer_remembered(run: &mut Run) -> Result<(), Halt> {
    let question = the_question(run, "which one?")?;
    let found = format!("{question:?}");
    same(
        "a question after a restart",
        found.as_str(),
        run.remembered(),
    )?;
    answer(&run.job(0), &question.key, "later")
}

fn answer_and_leave(run: &mut Run) -> Result<(), Halt> {
    let key = the_question(run, "which one?")?.key;
    answer(&run.job(0), &key, "yes")?;
    leave_alone(run);
    Ok(())
}

fn judge_answered(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    // Looked at first: where the answer is lost, there is nothing to wait for.
    let open = progress(&id)?.questions;
    same("its questions after the restart", &open, &Vec::new())?;
    written(&id, "yes\n")?;
    let fragments = output(&id)?.fragments;
    let first = fragments.first().map_or(u64::MAX, |it| it.at);
    happened_alone(run, "a job told what it had been answered", first)
}

fn judge_first_report(run: &mut Run) -> Result<(), Halt> {
    let key = the_question(run, "go on?")?.key;
    judge_report(run, 42, "first part")?;
    answer(&run.job(0), &key, "yes")
}

fn judge_last_report(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let report = progress(&id)?.report;
    if report.is_some_and(|it| it.percent == Some(42)) {
        return not_yet("a job to say more of itself");
    }
    judge_report(run, 43, "second part")?;
    stop(&id, StopReason::Cancelled)
}

fn judge_report(run: &Run, percent: u8, text: &str) -> Result<(), Halt> {
    let Some(report) = progress(&run.job(0))?.report else {
        return breach("a job said how far it is, and there is no report");
    };
    same(
        "the percentage of a report",
        &report.percent,
        &Some(percent),
    )?;
    same("the text of a report", report.text.as_str(), text)?;
    plausible(run, "the moment of a report", report.at)
}
