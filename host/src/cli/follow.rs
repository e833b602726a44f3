//! Waiting for a task's end, as a client does it: by asking again when the server tells that there is something new, and
//! at the latest when it wants to be asked.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::client::{Client, Interruption};
use super::task::Task;
use super::terminal::{Progress, Telling};
use super::{answer_command, question, terminal};

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

/// Follows a task and shows how far it is, unless that is not wanted; what it asks is said in any case.
///
/// # Errors
/// Where the server does not answer.
pub(super) fn follow(
    client: &mut Client,
    data_dir: Option<&Path>,
    id: &str,
    telling: Telling,
) -> anyhow::Result<Followed> {
    let mut progress = Progress::new(telling);
    let answer_command = answer_command(data_dir, id);
    let followed = follow_showing(&mut progress, client, (id, &answer_command));
    progress.clear();
    followed
}

fn follow_showing(
    progress: &mut Progress,
    client: &mut Client,
    (id, answer_command): (&str, &str),
) -> anyhow::Result<Followed> {
    // Its answers are notifications. A server that has none answers with an error, which nobody waits for: then the
    // task is asked for now and then.
    let filter = json!({"notifications": {"taskIds": [id]}});
    client.post("subscriptions/listen", filter)?;
    let mut told = BTreeSet::new();
    loop {
        let task = Task::fetch(client, id)?;
        if task.status.is_terminal() {
            return Ok(Followed::Ended(Box::new(task)));
        }
        // Once for each question, since a key is never used again.
        let open = question::keys(&task.whole);
        if !open.is_subset(&told) {
            progress.clear();
            let details = question::details(&task.whole).map(|it| format!("\n{it}"));
            // In one piece, so that nothing of another process comes between.
            terminal::say(&format!(
                "{}; answer by: {answer_command}{}",
                task.message(),
                details.unwrap_or_default()
            ));
            progress.said(&task.message());
            told.extend(open);
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
