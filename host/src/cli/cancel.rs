//! `backburner cancel`: ask that a job be stopped, and wait until it is.

use std::process::ExitCode;

use serde_json::json;

use super::earlier::Earlier;
use super::follow::{Followed, follow};
use super::terminal::Telling;
use super::{CancelOptions, Place, show_command, terminal};

/// Cancels a task and waits for its end, which may be another where the job was quicker.
///
/// # Errors
/// Where there is no such task, the server does not answer, the person does not want to wait, or it cannot be printed.
pub(super) fn cancel(place: Place<'_>, options: &CancelOptions) -> anyhow::Result<ExitCode> {
    let id = &options.id;
    let earlier = Earlier::new(place.data_dir, id)?;
    let mut client = earlier.server(place.config)?;
    client
        .request("tasks/cancel", json!({"taskId": id}))
        .map_err(|error| earlier.explain_and_advise(error.into()))?;
    match follow(&mut client, place.data_dir, id, Telling::Usual)
        .map_err(|error| earlier.explain_and_advise(error))?
    {
        Followed::Ended(task) => {
            let printed = terminal::print(&format!("task {id}: {}", task.status.name()));
            terminal::say(&task.message());
            printed?;
            Ok(ExitCode::SUCCESS)
        }
        Followed::Left(interruption) => {
            terminal::say(&format!(
                "the job is being stopped; to see it: {}",
                show_command(place.data_dir, id)
            ));
            Err(interruption.into())
        }
    }
}
