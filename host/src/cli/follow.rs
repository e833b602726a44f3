//! Waiting for a task's end, as a client does it: by asking again when the server says.

use std::time::Duration;

use super::client::{Client, Interruption};
use super::task::Task;
use super::terminal::Progress;

/// How often to ask where the server does not say.
const USUAL_INTERVAL_MS: u64 = 1000;

/// The bounds within which the server's wish is followed: not a busy loop, and an end that is noticed.
const INTERVALS_MS: std::ops::RangeInclusive<u64> = 20..=60_000;

/// How following came to its end.
pub(super) enum Followed {
    /// The task has ended.
    Ended(Box<Task>),
    /// The person did not want to wait.
    Left(Interruption),
}

/// Follows a task and shows how far it is.
///
/// # Errors
/// Where the server does not answer.
pub(super) fn follow(client: &mut Client, id: &str) -> anyhow::Result<Followed> {
    let mut progress = Progress::default();
    let followed = follow_showing(&mut progress, client, id);
    progress.clear();
    followed
}

fn follow_showing(
    progress: &mut Progress,
    client: &mut Client,
    id: &str,
) -> anyhow::Result<Followed> {
    loop {
        let task = Task::fetch(client, id)?;
        if task.status.is_terminal() {
            return Ok(Followed::Ended(Box::new(task)));
        }
        progress.show(&task.message());
        if let Err(interruption) = client.pause(interval(&task)) {
            return Ok(Followed::Left(interruption));
        }
    }
}

fn interval(task: &Task) -> Duration {
    let wished = task.poll_interval_ms.unwrap_or(USUAL_INTERVAL_MS);
    Duration::from_millis(wished.clamp(*INTERVALS_MS.start(), *INTERVALS_MS.end()))
}
