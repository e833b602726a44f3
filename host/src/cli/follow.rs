//! Waiting for a task's end, as a client does it: by asking again when the server tells that there is something new,
//! and at the latest when it wants to be asked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::client::{Client, Interruption};
use super::secret::Secret;
use super::task::Task;
use super::terminal::{Progress, Telling};
use super::{answer_command, question, terminal};
use crate::data_dir::DataDir;

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
    let told = Told {
        answer_command: answer_command(data_dir, id),
        data_dir: DataDir::resolve(data_dir.map(Path::to_owned)).ok(),
        keys: BTreeSet::new(),
    };
    let followed = follow_showing(&mut progress, client, id, told);
    progress.clear();
    followed
}

/// What a person is told of what a job asks.
struct Told {
    answer_command: String,
    /// `None` where that is not known, and no secret is either.
    data_dir: Option<PathBuf>,
    /// Of what is told already. None of them is ever used again.
    keys: BTreeSet<String>,
}

impl Told {
    /// Notes the keys of what is open. Whether there is one that was not told.
    fn note(&mut self, open: impl IntoIterator<Item = String>) -> bool {
        let before = self.keys.len();
        self.keys.extend(open);
        self.keys.len() > before
    }
}

fn follow_showing(
    progress: &mut Progress,
    client: &mut Client,
    id: &str,
    mut told: Told,
) -> anyhow::Result<Followed> {
    // Its answers are notifications. A server that has none answers with an error, which nobody waits for: then the
    // task is asked for now and then.
    let filter = json!({"notifications": {"taskIds": [id]}});
    client.post("subscriptions/listen", filter)?;
    loop {
        let task = Task::fetch(client, id)?;
        if task.status.is_terminal() {
            return Ok(Followed::Ended(Box::new(task)));
        }
        // A secret has no key that a client sees.
        let secret = told.data_dir.as_deref();
        let secret = secret.and_then(|data_dir| Secret::key(data_dir, id));
        if told.note(question::keys(&task.whole).into_iter().chain(secret)) {
            progress.clear();
            // In one piece, so that nothing of another process comes between; the command in a line of its own, since
            // it is to be copied.
            let how = format!("{}; answer by: {}", task.message(), told.answer_command);
            let details = question::details(&task.questions);
            let lines: Vec<String> = [Some(how), details].into_iter().flatten().collect();
            terminal::say(&lines.join("\n"));
            progress.said(&task.message());
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
