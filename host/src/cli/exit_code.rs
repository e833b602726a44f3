//! The exit status of the program: what the job's end is to a shell. Pure.

use super::client::Interruption;
use super::task::{JobResult, Status, Task};
use crate::jobs::supervisor::signal_name;

/// All went well.
pub(super) const SUCCESS: u8 = 0;

/// The command line was wrong; also clap's.
pub(super) const USAGE: u8 = 2;

/// The job was stopped because its timeout passed; as `timeout` does it.
const TIMED_OUT: u8 = 124;

/// backburner itself failed, or the end of the job is not known; as `timeout` and `env` do it.
pub(super) const FAILURE: u8 = 125;

/// The task was cancelled. A number of its own, beside those of `timeout`: what a shell shows for SIGTERM, by which
/// jobs are cancelled, is also that of a job that somebody else terminated.
const CANCELLED: u8 = 123;

/// The exit status that stands for a task that has ended.
pub(super) fn of_task(task: &Task) -> u8 {
    match (task.status, &task.result) {
        (Status::Completed, Some(result)) => of_result(result),
        (Status::Cancelled, _) => CANCELLED,
        (Status::Completed, None)
        | (Status::Failed | Status::Working | Status::InputRequired, _) => FAILURE,
    }
}

fn of_result(result: &JobResult) -> u8 {
    let Some(facts) = &result.structured_content else {
        return FAILURE;
    };
    if facts.timed_out {
        return TIMED_OUT;
    }
    if facts.cancelled {
        return CANCELLED;
    }
    match (facts.exit_code, &facts.signal) {
        // It was stopped for another reason and still said 0: it did not do what it was to do.
        (Some(0), _) if result.is_error => FAILURE,
        (Some(code), _) => code,
        (None, Some(signal)) => of_signal(signal),
        (None, None) => FAILURE,
    }
}

/// The exit status of a program that was asked to leave what it followed, where it cannot die of the signal.
pub(super) fn of_interruption(interruption: Interruption) -> u8 {
    128_u8.saturating_add(interruption.signal)
}

/// 128 and the number of the signal, as in a shell.
fn of_signal(name: &str) -> u8 {
    match number(name) {
        Some(number) => 128_u8.saturating_add(number),
        None => FAILURE,
    }
}

/// The number of the signal that a supervisor of this platform calls so.
fn number(name: &str) -> Option<u8> {
    // From 32 on they are real-time signals, which have none.
    let named = (1..=31_u8).find(|number| signal_name((*number).into()) == name);
    // One without a name of its own is called `SIG` and its number.
    let unnamed = || name.strip_prefix("SIG")?.parse().ok();
    named.or_else(unnamed).filter(|number: &u8| *number < 128)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(status: &str, facts: &Value) -> u8 {
        let task = json!({
            "taskId": "a", "status": status,
            "result": {"content": [], "isError": facts["exitCode"] != 0, "structuredContent": facts},
        });
        of_task(&Task::parse(task).expect("it is a task"))
    }

    #[test]
    fn an_exit_code_is_passed_on() {
        assert_eq!(of("completed", &json!({"exitCode": 0})), 0);
        assert_eq!(of("completed", &json!({"exitCode": 7})), 7);
        assert_eq!(of("completed", &json!({"exitCode": 255})), 255);
    }

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!(of("completed", &json!({"signal": "SIGKILL"})), 137);
        assert_eq!(of("completed", &json!({"signal": "SIGSEGV"})), 139);
        assert_eq!(of("completed", &json!({"signal": "SIGTERM"})), 143);
        assert_eq!(of("completed", &json!({"signal": "SIG64"})), 192);
    }

    #[test]
    fn every_name_that_a_supervisor_gives_a_signal_stands_for_its_number() {
        for signal in 1..=64_u8 {
            let name = signal_name(signal.into());
            let status = of("completed", &json!({ "signal": name }));
            assert_eq!(status, 128 + signal, "{name}");
        }
    }

    #[test]
    fn the_reason_of_a_stop_is_stronger_than_how_the_command_then_ended() {
        assert_eq!(
            of("completed", &json!({"exitCode": 0, "timedOut": true})),
            124
        );
        assert_eq!(
            of("completed", &json!({"signal": "SIGTERM", "timedOut": true})),
            124
        );
        assert_eq!(of("cancelled", &json!({"exitCode": 0})), 123);
        let facts = json!({"signal": "SIGTERM", "cancelled": true});
        assert_eq!(of("completed", &facts), 123);
    }

    #[test]
    fn an_unknown_end_is_a_failure() {
        assert_eq!(of("failed", &json!({})), 125);
        assert_eq!(of("completed", &json!({"state": "not_started"})), 125);
        assert_eq!(of("completed", &json!({"signal": "no signal"})), 125);
    }

    #[test]
    fn a_command_that_was_stopped_and_said_0_did_not_succeed() {
        let task = json!({
            "taskId": "a", "status": "completed",
            "result": {"content": [], "isError": true, "structuredContent": {"exitCode": 0}},
        });
        assert_eq!(of_task(&Task::parse(task).expect("it is a task")), 125);
    }
}
