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
    let mut found = command_lines();
    found.retain(|(pid, _)| task_of_process(*pid).as_deref() == Some(id));
    found
}

/// The id of the task to whose job a process belongs; `None` for all others, and for one that has ended.
#[must_use]
pub fn task_of_process(pid: u32) -> Option<String> {
    // What has ended and is not reaped has no environment.
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut entries = environment.split(|byte| *byte == 0);
    let id = entries.find_map(|entry| {
        let value = entry.strip_prefix(TASK_VARIABLE.as_bytes())?;
        value.strip_prefix(b"=")
    });
    Some(String::from_utf8_lossy(id?).into_owned())
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
