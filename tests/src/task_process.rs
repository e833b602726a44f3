//! The processes of a task's job, as Linux shows them.

use std::fs;

use backburner::jobs::supervisor::TASK_VARIABLE;

use crate::proc::command_lines;

/// Everything that runs with the task's id in its environment, supervisor excluded, with its command line.
///
/// # Panics
/// Where there is no `/proc`.
#[must_use]
pub fn processes_of_task(id: &str) -> Vec<(u32, String)> {
    let wanted = format!("{TASK_VARIABLE}={id}");
    let mut found = command_lines();
    found.retain(|(pid, _)| {
        // Unreadable means that it ended since; what has ended and is not reaped has no environment.
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == wanted.as_bytes())
    });
    found
}

/// The supervisors that run, with the id of their task.
///
/// # Panics
/// Where there is no `/proc`.
#[must_use]
pub fn supervisors() -> Vec<(u32, String)> {
    let found = command_lines().into_iter();
    found
        .filter_map(|(pid, line)| Some((pid, line.split_once(" supervise ")?.1.to_owned())))
        .collect()
}

/// The supervisor of a task's job; `None` where none runs.
///
/// # Panics
/// Where there is no `/proc`.
#[must_use]
pub fn supervisor_of_task(id: &str) -> Option<u32> {
    let mut found = supervisors().into_iter();
    found.find_map(|(pid, of)| (of == id).then_some(pid))
}
