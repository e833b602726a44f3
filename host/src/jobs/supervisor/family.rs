//! The command and everything that descends from it: who has ended, who is left, and how to stop them.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process_group, wait};

use super::super::limits::LEFTOVERS;
use super::super::model::Process;
use super::super::processes::{self, Seen};

/// Whether anything of the job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// The command, or something that descends from it.
    Something,
    /// Nothing, for ever: the kernel says that there is no child any more.
    Nothing,
}

/// All processes of a job. Since the supervisor is a subreaper, each of them is its child or will be.
pub(super) struct Family {
    command: Pid,
    status: Option<ExitStatus>,
    /// What was killed the last time.
    killed: Vec<Seen>,
}

/// Whether a killing met anything that the one before it had not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It did, or that is not known.
    New,
    /// All of it had been killed before and is still there.
    Known,
}

impl Family {
    /// The family of a command that has just been executed as the leader of its own group.
    pub(super) fn new(command: Pid) -> Self {
        Self {
            command,
            status: None,
            killed: Vec::new(),
        }
    }

    /// How the command ended; `None` while it runs.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Takes leave of everything that has ended. The command's own status is kept.
    pub(super) fn reap(&mut self) -> Left {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.command => {
                    self.status = Some(ExitStatus::from_raw(status.as_raw()));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Err(Errno::CHILD) => return self.left_of_group(),
                Ok(None) | Err(_) => return Left::Something,
            }
        }
    }

    /// Asks everything to end, also what is suspended.
    ///
    /// # Errors
    /// As [`Family::terminate_rest`]: the command's group was asked.
    pub(super) fn terminate(&self) -> io::Result<()> {
        self.signal_group(Signal::TERM);
        self.signal_group(Signal::CONT);
        self.terminate_rest()
    }

    /// Asks everything to end that is not in the command's group.
    ///
    /// # Errors
    /// Where that cannot be found out, say since no file can be opened at the moment: nothing was asked.
    pub(super) fn terminate_rest(&self) -> io::Result<()> {
        for seen in self.outside_of_group()? {
            processes::signal(&seen, Signal::TERM);
            processes::signal(&seen, Signal::CONT);
        }
        Ok(())
    }

    /// Kills everything that there is now. What is forked meanwhile may need another call.
    pub(super) fn kill(&mut self) -> Met {
        let killed = processes::freeze_and_kill(|| processes::descendants(getpid()));
        self.signal_group(Signal::KILL);
        let Ok(killed) = killed else { return Met::New };
        let is_known = |seen: &Seen| self.killed.iter().any(|known| known.is_process(seen));
        let met = if killed.iter().all(is_known) {
            Met::Known
        } else {
            Met::New
        };
        self.killed = killed;
        met
    }

    /// What is left, for people; nothing where that cannot be found out.
    pub(super) fn leftovers(&self) -> Vec<Process> {
        let left = processes::descendants(getpid()).unwrap_or_default();
        let left = left.into_iter().take(LEFTOVERS);
        left.map(|seen| Process {
            pid: u32::try_from(seen.pid).unwrap_or_default(),
            command: processes::command_line(&seen),
        })
        .collect()
    }

    /// Signals the command's group, in one step that no fork in it escapes.
    fn signal_group(&self, signal: Signal) {
        // Group 0 and group 1 mean "my own" and "everybody" to the system call.
        let is_group = self.command.as_raw_nonzero().get() > 1;
        // Once the command's status has been taken, its number may belong to others; then each member is
        // signalled for itself, where the system lets us find them.
        let is_ours = self.status.is_none() || cfg!(not(target_os = "linux"));
        if is_group && is_ours {
            let _gone = kill_process_group(self.command, signal);
        }
    }

    fn outside_of_group(&self) -> io::Result<Vec<Seen>> {
        let mut found = processes::descendants(getpid())?;
        let group = self.command.as_raw_nonzero().get();
        found.retain(|seen| self.status.is_some() || seen.group != group);
        Ok(found)
    }

    #[cfg(target_os = "linux")]
    #[expect(
        clippy::unused_self,
        reason = "other systems have to look at the group"
    )]
    fn left_of_group(&self) -> Left {
        Left::Nothing
    }

    /// Without a subreaper the command is the only child, and others of its group may be left.
    #[cfg(not(target_os = "linux"))]
    fn left_of_group(&self) -> Left {
        match rustix::process::test_kill_process_group(self.command) {
            Err(Errno::SRCH) => Left::Nothing,
            _ => Left::Something,
        }
    }
}
