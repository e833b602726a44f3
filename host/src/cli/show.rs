//! `backburner show`: what became of a task, asked of a fresh server.

use std::path::Path;
use std::process::ExitCode;

use super::client::Client;
use super::task::{JobResult, Task};
use super::{ShowOptions, terminal};

/// Shows a task.
///
/// # Errors
/// Where there is no such task, or the server does not answer.
pub(super) fn show(data_dir: Option<&Path>, options: &ShowOptions) -> anyhow::Result<ExitCode> {
    let mut client = Client::start(data_dir)?;
    let task = Task::fetch(&mut client, &options.id)?;
    let data = if options.json {
        format!("{:#}", task.whole)
    } else {
        page(&task)
    };
    terminal::print(&data)?;
    Ok(ExitCode::SUCCESS)
}

/// The task for a person: its state, and its result where it has one.
fn page(task: &Task) -> String {
    let state = format!(
        "task {}: {}\n{}\ncreated {}, last updated {}",
        task.task_id,
        task.status.name(),
        task.message(),
        task.created_at,
        task.last_updated_at,
    );
    match task.result.as_ref().map(JobResult::text) {
        Some(text) => format!("{state}\n\n{text}"),
        None => state,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_has_the_state_and_then_the_result() {
        let task = json!({
            "taskId": "a", "status": "completed", "statusMessage": "exited with code 0",
            "createdAt": "then", "lastUpdatedAt": "now",
            "result": {"content": [{"type": "text", "text": "exit code 0\n\nhello\n"}]},
        });
        let task = Task::parse(task).expect("it is a task");
        let expected = "task a: completed\nexited with code 0\ncreated then, last updated now\n\n\
            exit code 0\n\nhello\n";
        assert_eq!(page(&task), expected);
    }

    #[test]
    fn a_page_of_a_failed_task_says_why() {
        let task = json!({
            "taskId": "a", "status": "failed", "createdAt": "then", "lastUpdatedAt": "now",
            "error": {"code": -32603, "message": "the machine was restarted"},
        });
        let page = page(&Task::parse(task).expect("it is a task"));
        assert!(
            page.starts_with("task a: failed\nthe machine was restarted\n"),
            "{page}"
        );
    }
}
