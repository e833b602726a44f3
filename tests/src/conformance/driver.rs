//! One check from its beginning to its end.

use std::thread;
use std::time::Duration;

use tokio::task::JoinSet;
use uuid::Uuid;

use super::Subject;
use super::instance::{Instance, now};
use super::wit::{Pause, Progress};

/// Runs a check of this name.
pub(super) fn play(subject: &Subject, name: &str) -> Result<(), String> {
    let mut instance = instance(subject)?;
    let mut progress = instance.begin(name).map_err(|error| trapped(&error))?;
    loop {
        let ticket = match progress {
            Progress::Passed => return Ok(()),
            Progress::Failed(breach) => return Err(breach.reason),
            Progress::Wait(pause) => {
                wait(&instance, &pause);
                pause.ticket
            }
            Progress::Restart(restart) => {
                drop(instance);
                sleep_until(restart.not_before);
                instance = self::instance(subject)?;
                restart.ticket
            }
            Progress::Crowd(crowd) => {
                gather(subject, &crowd.members)?;
                crowd.ticket
            }
        };
        progress = instance.resume(&ticket).map_err(|error| trapped(&error))?;
    }
}

fn instance(subject: &Subject) -> Result<Instance, String> {
    Instance::new(subject).map_err(|error| format!("the kit does not start: {error:#}"))
}

fn trapped(error: &wasmtime::Error) -> String {
    format!("the kit trapped: {error:#}")
}

/// Each member in a thread of its own.
fn gather(subject: &Subject, members: &[String]) -> Result<(), String> {
    thread::scope(|scope| {
        let threads: Vec<_> = members
            .iter()
            .map(|ticket| scope.spawn(|| take_part(subject, ticket)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|it| it.join().unwrap_or_else(|_panic| Err("it panicked".into())))
    })
}

pub(super) fn take_part(subject: &Subject, ticket: &str) -> Result<(), String> {
    match instance(subject)?
        .resume(ticket)
        .map_err(|error| trapped(&error))?
    {
        Progress::Passed => Ok(()),
        Progress::Failed(breach) => Err(breach.reason),
        other => Err(format!("a member of a crowd cannot have {other:?}")),
    }
}

fn sleep_until(moment: u64) {
    thread::sleep(Duration::from_millis(moment.saturating_sub(now())));
}

/// Waits as the kit asks: until one of the jobs has ended or the deadline has come.
fn wait(instance: &Instance, pause: &Pause) {
    if pause.jobs.is_empty() {
        return sleep_until(pause.deadline);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let left = Duration::from_millis(pause.deadline.saturating_sub(now()));
    runtime.expect("a runtime can be made").block_on(async {
        let mut ends = JoinSet::new();
        for id in &pause.jobs {
            let id = Uuid::parse_str(id).expect("a job's name is a UUID");
            ends.spawn(instance.jobs().ended(id));
        }
        // Whichever it was, the kit looks for itself.
        let _end_or_deadline = tokio::time::timeout(left, ends.join_next()).await;
    });
}
