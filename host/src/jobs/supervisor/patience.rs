//! For how long an outcome that cannot be written is tried again.
//!
//! It knows errors and times, and no file.

use std::io;

use rustix::io::Errno;

use super::super::limits::{LOST_PATIENCE_MS, UNSTARTED_PATIENCE_MS};

/// What an outcome is worth to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    /// How a command ended, or that it could not be executed: waits for as long as anybody can still make room for it.
    End,
    /// That no command was executed since its end could not be written.
    Reason,
}

/// Whether anybody else would find an outcome that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The job's directory has a path.
    There,
    /// It has none: it was deleted, or its file system was taken away from its place while this process has it open.
    Cut,
}

/// What is left of the time for one outcome.
#[derive(Debug)]
pub(super) struct Patience {
    worth: Worth,
    /// Since when every attempt failed in a way that this is bounded for, on the clock that does not jump.
    since_ms: Option<u64>,
}

impl Patience {
    /// All that there is for an outcome.
    pub(super) fn of(worth: Worth) -> Self {
        Self {
            worth,
            since_ms: None,
        }
    }

    /// Whether it is no use to try again, now that another attempt has failed like this.
    pub(super) fn is_over(&mut self, error: &io::Error, reach: Reach, now_ms: u64) -> bool {
        // The whole directory was deleted: there is nobody left to tell. Where only a file was, it is made anew.
        if reach == Reach::Cut && error.kind() == io::ErrorKind::NotFound {
            return true;
        }
        let limit_ms = match self.worth {
            Worth::Reason => UNSTARTED_PATIENCE_MS,
            Worth::End if reach == Reach::Cut || is_gone(error) => LOST_PATIENCE_MS,
            Worth::End => {
                self.since_ms = None;
                return false;
            }
        };
        let since_ms = *self.since_ms.get_or_insert(now_ms);
        now_ms.saturating_sub(since_ms) >= limit_ms
    }
}

/// Whether an error means that the file system is not there any more, as opposed to one that has no room, can only be
/// read for now, or finds this process short of something: then a person may help, and the outcome is waited with.
fn is_gone(error: &io::Error) -> bool {
    let gone = [
        Errno::STALE,
        Errno::IO,
        Errno::NXIO,
        Errno::NODEV,
        Errno::NOTCONN,
        Errno::CONNABORTED,
        Errno::CONNREFUSED,
        Errno::CONNRESET,
        Errno::SHUTDOWN,
        Errno::HOSTDOWN,
        Errno::HOSTUNREACH,
        Errno::TIMEDOUT,
    ];
    gone.map(|errno| Some(errno.raw_os_error()))
        .contains(&error.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For how long the same error is put up with, if it is not for ever.
    fn limit_ms(patience: &mut Patience, errno: Errno, reach: Reach) -> Option<u64> {
        let times = (0..10_000).map(|second| second * 1000);
        times
            .into_iter()
            .find(|now_ms| patience.is_over(&errno.into(), reach, *now_ms))
    }

    #[test]
    fn an_end_is_waited_with_for_ever_unless_its_file_system_is_gone() {
        let limit_of = |errno| limit_ms(&mut Patience::of(Worth::End), errno, Reach::There);
        for errno in [
            Errno::NOSPC,
            Errno::DQUOT,
            Errno::ROFS,
            Errno::ACCESS,
            Errno::MFILE,
        ] {
            assert_eq!(limit_of(errno), None, "{errno}");
        }
        for errno in [Errno::STALE, Errno::IO, Errno::NOTCONN] {
            assert_eq!(limit_of(errno), Some(LOST_PATIENCE_MS), "{errno}");
        }
    }

    #[test]
    fn room_on_a_file_system_that_nobody_gets_to_is_not_waited_for() {
        for errno in [Errno::NOSPC, Errno::ROFS] {
            let limit = limit_ms(&mut Patience::of(Worth::End), errno, Reach::Cut);
            assert_eq!(limit, Some(LOST_PATIENCE_MS), "{errno}");
        }
    }

    #[test]
    fn only_a_directory_that_was_deleted_is_given_up_at_once_and_not_a_file_that_was() {
        for worth in [Worth::End, Worth::Reason] {
            let limit = limit_ms(&mut Patience::of(worth), Errno::NOENT, Reach::Cut);
            assert_eq!(limit, Some(0), "{worth:?}");
        }
        let limit = limit_ms(&mut Patience::of(Worth::End), Errno::NOENT, Reach::There);
        assert_eq!(limit, None);
    }

    #[test]
    fn a_file_system_that_comes_back_in_between_has_all_its_time_again() {
        let mut patience = Patience::of(Worth::End);
        let (stale, full) = (Errno::STALE.into(), Errno::NOSPC.into());
        assert!(!patience.is_over(&stale, Reach::There, 0));
        assert!(!patience.is_over(&full, Reach::There, LOST_PATIENCE_MS));
        assert!(!patience.is_over(&stale, Reach::There, LOST_PATIENCE_MS + 1));
        assert!(!patience.is_over(&stale, Reach::There, 2 * LOST_PATIENCE_MS));
        assert!(patience.is_over(&stale, Reach::There, 2 * LOST_PATIENCE_MS + 1));
    }

    #[test]
    fn a_reason_is_not_waited_with_for_long() {
        for errno in [Errno::NOSPC, Errno::ROFS, Errno::STALE] {
            let limit = limit_ms(&mut Patience::of(Worth::Reason), errno, Reach::There);
            assert_eq!(limit, Some(UNSTARTED_PATIENCE_MS), "{errno}");
        }
    }
}
