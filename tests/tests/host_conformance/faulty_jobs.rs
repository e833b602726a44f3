//! Jobs that break one promise each, and the checks that say so.

mod faulty;

use std::sync::{Arc, Mutex, PoisonError};

use backburner_tests::conformance::{Opened, Subject};
use backburner_tests::in_threads;

use self::faulty::{Faulty, Shared};
use super::{native_dir, native_offers, open_native};

/// What is wrong with jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A second start succeeds.
    AllowsSecondStart,
    /// A job that is stopped before its start is not remembered.
    ForgetsEarlyStops,
    /// An exit status from 128 on is taken for a signal.
    TakesStatusForSignal,
    /// A program that cannot be executed is an error of the shell.
    HidesMissingPrograms,
    /// Times are in seconds.
    CountsSeconds,
    /// A duration is not known.
    HasNoDuration,
    /// Limits are numbers of 32 bits.
    WrapsLimits,
    /// A first variable wins.
    KeepsFirstVariable,
    /// Standard input is trimmed.
    TrimsInput,
    /// A directory that does not exist is some other error.
    HidesBadDirectory,
    /// What is no UTF-8 is replaced.
    ReplacesBytes,
    /// All output is standard output.
    MixesStreams,
    /// Output is read from its beginning, whatever the offset.
    IgnoresOffset,
    /// What is dropped is not counted.
    HidesDropped,
    /// A job that runs has written nothing yet.
    HasNoProgress,
    /// Nobody has any grace.
    HasNoGrace,
    /// A grace of 0 is one of some seconds.
    AlwaysHasGrace,
    /// Nothing says why a job was stopped.
    HidesCause,
    /// No leftovers are named.
    HidesLeftovers,
    /// A job seems to say something of itself that it does not.
    AsksByItself,
    /// An answer to a question that is not open is an error.
    RefusesAnswers,
    /// A job that runs can be forgotten, or so it says.
    ForgetsRunning,
    /// When they are opened again, nothing is known.
    ForgetsAll,
    /// A signal's name has no prefix.
    CutsSignalNames,
    /// Whoever saw that an id is unknown may start it.
    RacesStarts,
    /// An id that nobody named has ended.
    KnowsAll,
    /// A program and its arguments are a line for the shell.
    SplitsArguments,
    /// A job runs where the host does.
    IgnoresDirectory,
    /// A spec that cannot be carried out is some other error.
    HidesBadSpec,
    /// Little of the output is kept, whatever the limit.
    KeepsLittle,
    /// A timeout is half as long.
    TimesOutEarly,
    /// What is nobody's any more timed out.
    ConfusesLimits,
    /// A stop after the end is the reason of the end.
    BlamesLateStops,
    /// A job that is to stop is said to have ended, whatever runs.
    PretendsToStop,
    /// What was forgotten is still there.
    NeverForgets,
    /// Jobs end with the host.
    DiesWithHost,
    /// A question is still told after its end.
    KeepsQuestions,
    /// The first answer waits for a second one, which reaches the job.
    LastAnswerWins,
    /// All questions have one key.
    ReusesKeys,
    /// More questions are told than may be.
    TellsTooMany,
    /// An answer that is too long is thrown away without a word.
    LosesLongAnswers,
    /// Percentages are tens.
    RoundsReports,
    /// What does not end in its grace is killed by a host that somebody asks about it, and by nobody else.
    KillsByItself,
    /// An answer is handed on by the host that took it, when somebody asks it about the job; one that is too long at once.
    AnswersLater,
    /// That there is no terminal is some other error.
    HidesLackOfTerminals,
    /// No job has a terminal.
    HasNoTerminals,
    /// A line that is to be typed is thrown away.
    TypesNothing,
    /// A line that is too long is thrown away without a word.
    LosesLongLines,
    /// All prompts have one key.
    ReusesPromptKeys,
    /// No prompt is hidden.
    ShowsSecrets,
    /// A line for a hidden prompt is typed.
    TakesHiddenLines,
    /// A prompt is still told after its end.
    KeepsPrompts,
    /// Every job seems to wait at a terminal.
    PromptsByItself,
    /// A line for a prompt that is not open is an error.
    RefusesLines,
    /// A control character in a line is left out.
    DropsControls,
    /// A line is typed by the host that took it, when somebody asks it about the job.
    TypesLater,
    /// A spec of more than 1 MiB is refused.
    RefusesLargeSpecs,
    /// All leftovers are named, and more.
    NamesTooMany,
    /// Command lines are told to their end.
    TellsWholeCommands,
}

/// Each fault, and the checks that have to find it.
const FAULTS: [(Fault, &[&str]); 59] = [
    (Fault::AllowsSecondStart, &["jobs/once"]),
    (Fault::ForgetsEarlyStops, &["jobs/stopped-before-start"]),
    (Fault::TakesStatusForSignal, &["jobs/exit-status"]),
    (Fault::HidesMissingPrograms, &["jobs/not-started"]),
    (Fault::CountsSeconds, &["jobs/times"]),
    (Fault::HasNoDuration, &["jobs/times"]),
    (Fault::WrapsLimits, &["jobs/greatest-numbers"]),
    (Fault::KeepsFirstVariable, &["jobs/environment"]),
    (Fault::TrimsInput, &["jobs/stdin"]),
    (Fault::HidesBadDirectory, &["jobs/bad-directory"]),
    (Fault::ReplacesBytes, &["jobs/bytes"]),
    (Fault::MixesStreams, &["jobs/arrival"]),
    (Fault::IgnoresOffset, &["jobs/offsets"]),
    (Fault::HidesDropped, &["jobs/output-limit"]),
    (Fault::HasNoProgress, &["jobs/progress"]),
    (
        Fault::HasNoGrace,
        &["jobs/grace", "jobs/killed-after-grace"],
    ),
    (Fault::AlwaysHasGrace, &["jobs/no-grace"]),
    (Fault::HidesCause, &["jobs/cancelled"]),
    (Fault::HidesLeftovers, &["jobs/leftovers", "jobs/daemon"]),
    (Fault::AsksByItself, &["jobs/asks-nothing"]),
    (Fault::RefusesAnswers, &["jobs/answers-to-nothing"]),
    (Fault::ForgetsRunning, &["jobs/forget-running"]),
    (
        Fault::ForgetsAll,
        &["jobs/outcome-lasts", "jobs/never-started-lasts"],
    ),
    (Fault::CutsSignalNames, &["jobs/signal"]),
    (Fault::RacesStarts, &["jobs/once-in-a-crowd"]),
    (Fault::KnowsAll, &["jobs/unknown"]),
    (Fault::SplitsArguments, &["jobs/command"]),
    (Fault::IgnoresDirectory, &["jobs/directory"]),
    (Fault::HidesBadSpec, &["jobs/bad-spec"]),
    (Fault::KeepsLittle, &["jobs/large-output"]),
    (Fault::TimesOutEarly, &["jobs/timeout"]),
    (Fault::ConfusesLimits, &["jobs/lifetime"]),
    (Fault::BlamesLateStops, &["jobs/never-changes"]),
    (Fault::PretendsToStop, &["jobs/group", "jobs/descendants"]),
    (
        Fault::NeverForgets,
        &["jobs/forget", "jobs/forget-never-started"],
    ),
    (
        Fault::DiesWithHost,
        &[
            "jobs/goes-on",
            "jobs/ends-alone",
            "jobs/timeout-alone",
            "jobs/question-lasts",
        ],
    ),
    (Fault::KeepsQuestions, &["jobs/asks", "jobs/withdrawn"]),
    (Fault::LastAnswerWins, &["jobs/first-answer-stays"]),
    (Fault::ReusesKeys, &["jobs/question-keys"]),
    (Fault::TellsTooMany, &["jobs/question-limit"]),
    (Fault::LosesLongAnswers, &["jobs/answer-limit"]),
    (Fault::RoundsReports, &["jobs/reports"]),
    (Fault::KillsByItself, &["jobs/stop-lasts"]),
    (Fault::AnswersLater, &["jobs/answer-lasts"]),
    (Fault::HidesLackOfTerminals, &["jobs/interactive"]),
    (Fault::HasNoTerminals, &["jobs/interactive", "jobs/prompt"]),
    (Fault::TypesNothing, &["jobs/prompt", "jobs/prompt-keys"]),
    (Fault::LosesLongLines, &["jobs/prompt"]),
    (Fault::ReusesPromptKeys, &["jobs/prompt-keys"]),
    (Fault::ShowsSecrets, &["jobs/hidden-prompt"]),
    (Fault::TakesHiddenLines, &["jobs/hidden-prompt"]),
    (Fault::KeepsPrompts, &["jobs/prompt"]),
    (Fault::PromptsByItself, &["jobs/asks-nothing"]),
    (Fault::RefusesLines, &["jobs/lines-for-nothing"]),
    (Fault::DropsControls, &["jobs/prompt"]),
    (Fault::TypesLater, &["jobs/line-lasts"]),
    (Fault::RefusesLargeSpecs, &["jobs/spec-size"]),
    (Fault::NamesTooMany, &["jobs/leftover-limits"]),
    (Fault::TellsWholeCommands, &["jobs/leftover-limits"]),
];

/// Each fault, with one of the checks that have to find it.
fn cases() -> Vec<(Fault, &'static str)> {
    let pairs = |(fault, checks): &(Fault, &[&'static str])| {
        let fault = *fault;
        let pairs = checks.iter().map(move |check| (fault, *check));
        pairs.collect::<Vec<_>>()
    };
    FAULTS.iter().flat_map(pairs).collect()
}

/// The checks that find a fault of jobs.
pub(crate) fn found() -> Vec<&'static str> {
    cases().into_iter().map(|(_, check)| check).collect()
}

fn subject(fault: Fault) -> Subject {
    // All of them are kept until the end: what is forgotten is not what is deleted.
    let dirs = Mutex::new(vec![native_dir()]);
    let shared = Arc::new(Shared::default());
    Subject {
        open: Box::new(move || -> Opened {
            let mut dirs = dirs.lock().unwrap_or_else(PoisonError::into_inner);
            if fault == Fault::ForgetsAll {
                dirs.push(native_dir());
            }
            let (store, jobs) = open_native(dirs.last().expect("there is one from the beginning"));
            let jobs = Faulty::new(jobs, fault, Arc::clone(&shared));
            (Arc::new(store), Arc::new(jobs))
        }),
        offers: native_offers(),
    }
}

#[test]
fn each_fault_of_jobs_is_found() {
    let missed = in_threads(&cases(), |(fault, check)| missed(*fault, check));
    assert!(missed.is_empty(), "{missed:?}");
}

/// How a check failed to find a fault; that it could not be run says nothing of the jobs.
fn missed(fault: Fault, check: &str) -> Option<String> {
    match subject(fault).run(check) {
        Ok(()) => Some(format!("{fault:?} passes {check}")),
        Err(reason) if reason.starts_with("the kit") => {
            Some(format!("{fault:?} breaks {check}: {reason}"))
        }
        Err(_found) => None,
    }
}
