//! A disk of its own for a test, and what becomes of jobs whose files cannot be written any more.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use backburner::jobs::{End, Jobs, Loss, StartError, State};

use crate::lab::{Lab, fresh_id, shell, wait_for_end};

/// A disk of one megabyte.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where this user may not mount.
    pub(crate) fn mount() -> Option<Self> {
        let path = std::env::temp_dir().join(format!("backburner-disk-{}", fresh_id()));
        fs::create_dir(&path).expect("the name is new");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"])
            .arg(&path)
            .stderr(Stdio::null())
            .status();
        let disk = Self(path);
        if mounted.is_ok_and(|status| status.success()) {
            return Some(disk);
        }
        // Past the captured output. Nothing can be done where even this cannot be written.
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN: a disk of its own, since this user may not mount one"
        );
        None
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A shell line that lets it be only read, `ro`, or written too, `rw`.
    fn remount_line(&self, how: &str) -> String {
        format!("mount -o remount,{how} '{}'", self.0.display())
    }

    fn remount(&self, how: &str) {
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", &self.remount_line(how)]).status();
        assert!(status.is_ok_and(|status| status.success()), "{how}");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Where nothing was mounted there is nothing to unmount. Lazily, since a supervisor that is about
        // to disappear is still in it.
        let _unmounted = Command::new("umount")
            .arg("--lazy")
            .arg(&self.0)
            .stderr(Stdio::null())
            .status();
        let _removed = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_start_on_a_file_system_that_can_only_be_read_is_refused() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let lab = Lab::on(disk.path());
    disk.remount("ro");
    let id = fresh_id();
    let refused = lab.jobs.start(id, &shell("true"));
    let Err(StartError::Files(error)) = refused else {
        panic!("it cannot be started: {refused:?}");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    let seen = lab.jobs.inspect(id).expect("it can be inspected");
    assert_eq!(seen, State::Unknown);
    disk.remount("rw");
    lab.jobs
        .start(id, &shell("true"))
        .expect("the id is still free");
    assert_eq!(lab.outcome(id).end, End::Exited { code: 0 });
}

/// Starts a job whose supervisor cannot write, and sees that it ends without executing the command. `mend` lets others
/// write again.
fn assert_not_executed(lab: &Lab, mend: impl FnOnce()) {
    let ran = std::env::temp_dir().join(format!("backburner-ran-{}", fresh_id()));
    // A directory needs none of what a file may not have.
    let id = lab.start(&shell(&format!("mkdir '{}'", ran.display())));
    wait_for_end(&lab.jobs, id);
    mend();
    let kind = Loss::Supervisor;
    assert_eq!(lab.outcome(id).end, End::Lost { kind });
    assert!(fs::remove_dir(&ran).is_err(), "it has run");
}

#[test]
fn a_command_whose_end_could_not_be_written_is_not_executed() {
    // Of the supervisor alone, and fails as a disk does on which nothing can be written.
    let lab = Lab::with_prelude("ulimit -f 0");
    assert_not_executed(&lab, || {});
}

#[test]
fn a_command_on_a_file_system_that_can_only_be_read_by_now_is_not_executed() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let lab = Lab::on_with_prelude(disk.path(), &disk.remount_line("ro"));
    assert_not_executed(&lab, || disk.remount("rw"));
}
