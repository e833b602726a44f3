//! What a machine may lack.

use std::process::{Command, Stdio};

use crate::say::say;

/// The variable that makes what is missing a failure. CI sets it, so that nothing is left out there.
const ALL_HOSTS: &str = "BACKBURNER_ALL_HOSTS";

/// Whether something can be tested that needs more of a machine than every one has, such as another language. Where it
/// cannot, this says what is not run, past the test's captured output.
///
/// # Panics
/// Where something is missing and all of it was asked for.
#[must_use]
pub fn can_test(what: &str, missing: Option<&str>) -> bool {
    let is_required = std::env::var_os(ALL_HOSTS).is_some_and(|value| value == "1");
    match verdict(what, missing, is_required) {
        Verdict::Test => true,
        Verdict::LeaveOut(words) => {
            say(&words);
            false
        }
        Verdict::Fail(words) => panic!("{words}"),
    }
}

/// Whether a program can be started and ends well.
#[must_use]
pub fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Test,
    LeaveOut(String),
    Fail(String),
}

fn verdict(what: &str, missing: Option<&str>, is_required: bool) -> Verdict {
    match missing {
        None => Verdict::Test,
        Some(lack) if is_required => Verdict::Fail(format!(
            "{what} cannot be tested: {lack} is missing; provide it, or unset {ALL_HOSTS}"
        )),
        Some(lack) => Verdict::LeaveOut(format!(
            "NOT RUN: the tests of {what}, since {lack} is missing; {ALL_HOSTS}=1 makes that a failure"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_and_fails_only_where_all_hosts_are_asked_for() {
        assert_eq!(verdict("a host", None, true), Verdict::Test);
        let left_out = verdict("a host", Some("a tool"), false);
        assert!(
            matches!(&left_out, Verdict::LeaveOut(words) if words.contains("NOT RUN") && words.contains("a tool")),
            "{left_out:?}"
        );
        let failed = verdict("a host", Some("a tool"), true);
        assert!(
            matches!(&failed, Verdict::Fail(words) if words.contains("a tool is missing")),
            "{failed:?}"
        );
    }

    #[test]
    fn a_program_that_is_not_there_does_not_work() {
        assert!(!works("backburner-no-such-program", &[]));
        assert!(works("sh", &["-c", "exit 0"]));
        assert!(!works("sh", &["-c", "exit 1"]));
    }
}
