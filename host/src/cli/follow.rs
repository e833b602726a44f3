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
        // A secret has no key that a client sees. Of a job that is being stopped the server says no more that it waits.
        let message = task.message();
        let secret = told.data_dir.as_deref();
        let secret = secret.filter(|_| message.contains(WAITS_FOR_SECRET));
        let secret = secret.and_then(|data_dir| Secret::key(data_dir, id));
        let shown = match &secret {
            Some(_) => without_command(&message),
            None => message,
        };
        if told.note(question::keys(&task.whole).into_iter().chain(secret)) {
            progress.clear();
            // In one piece, so that nothing of another process comes between; the command in a line of its own, since
            // it is to be copied.
            let how = format!("{shown}; answer by: {}", told.answer_command);
            let details = question::details(&task.questions, &shown);
            let lines: Vec<String> = [Some(how), details].into_iter().flatten().collect();
            terminal::say(&lines.join("\n"));
            progress.said(&shown);
        }
        progress.show(&shown);
        if let Err(interruption) = client.pause(interval(&task)) {
            return Ok(Followed::Left(interruption));
        }
    }
}

/// How the server begins to say that a job waits for a secret.
const WAITS_FOR_SECRET: &str = "waits for a secret: ";

/// What stands around the command by which a secret is given, where the server says it.
const AROUND_COMMAND: [&str; 2] = [
    "; a person types it in a terminal by `",
    "`, and no client is asked for it",
];

/// The server's words without the command by which a secret is given: it is told as that of any answer.
fn without_command(message: &str) -> String {
    let [before, after] = AROUND_COMMAND;
    let parts = message.split_once(before).and_then(|(what, command)| {
        let (_, rest) = command.split_once(after)?;
        Some(format!("{what}{rest}"))
    });
    parts.unwrap_or_else(|| message.to_owned())
}

fn interval(task: &Task) -> Duration {
    let wished = task.poll_interval_ms.unwrap_or(USUAL_INTERVAL_MS);
    Duration::from_millis(wished.clamp(*INTERVALS_MS.start(), *INTERVALS_MS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_by_which_a_secret_is_given_is_told_once() {
        let said = "l: waits for a secret: Word:; a person types it in a terminal by `b answer a`, and no client is asked \
                    for it; running for 1 s";
        assert!(said.contains(WAITS_FOR_SECRET));
        let shown = "l: waits for a secret: Word:; running for 1 s";
        assert_eq!(without_command(said), shown);
        assert_eq!(without_command(shown), shown);
    }
}
