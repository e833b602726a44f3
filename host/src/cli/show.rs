//! `backburner show`: what became of a task, asked of a fresh server.

use std::process::ExitCode;

use super::earlier::Earlier;
use super::task::{Status, Task};
use super::{Place, ShowOptions, answer_command, question, terminal};

/// Shows a task.
///
/// # Errors
/// Where there is no such task, the server does not answer, or it cannot be printed.
pub(super) fn show(place: Place<'_>, options: &ShowOptions) -> anyhow::Result<ExitCode> {
    let earlier = Earlier::new(place.data_dir, &options.id)?;
    let mut client = earlier.server(place.config)?;
    let task =
        Task::fetch(&mut client, &options.id).map_err(|error| earlier.explain_and_advise(error))?;
    if options.json {
        terminal::print(&format!("{:#}", task.whole))?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::say(&state(&task));
    if task.status == Status::InputRequired {
        if let Some(details) = question::details(&task.questions, &task.message()) {
            terminal::say(&details);
        }
        terminal::say(&format!(
            "answer by: {}",
            answer_command(place.data_dir, &options.id)
        ));
    }
    if let Some(output) = task.output() {
        output.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The task for a person, but for what its command wrote.
fn state(task: &Task) -> String {
    format!(
        "task {}: {}\n{}\ncreated {}, last updated {}",
        task.task_id,
        task.status.name(),
        task.summary(),
        task.created_at,
        task.last_updated_at,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_has_everything_but_the_output() {
        let task = json!({
            "taskId": "a", "status": "completed", "statusMessage": "exit code 0",
            "createdAt": "then", "lastUpdatedAt": "now",
            "result": {"content": [{"type": "text", "text": "exit code 0\n\nhello\n"}]},
        });
        let task = Task::parse(task).expect("it is a task");
        let expected = "task a: completed\nexit code 0\ncreated then, last updated now";
        assert_eq!(state(&task), expected);
    }

    #[test]
    fn the_state_of_a_failed_task_says_why() {
        let task = json!({
            "taskId": "a", "status": "failed", "createdAt": "then", "lastUpdatedAt": "now",
            "error": {"code": -32603, "message": "the machine was restarted"},
        });
        let state = state(&Task::parse(task).expect("it is a task"));
        assert!(
            state.starts_with("task a: failed\nthe machine was restarted\n"),
            "{state}"
        );
    }
}
