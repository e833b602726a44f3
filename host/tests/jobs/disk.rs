//! What becomes of jobs whose files cannot be written any more.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use backburner::jobs::{End, Jobs, Loss, StartError, State};
use backburner::store::{Error, OpenError, SqliteStore};

use crate::lab::{Lab, fresh_id, shell, wait_for_end};
use crate::privilege::SmallDisk;

/// How large a disk is.
const SIZE: &str = "1m";

/// A shell line that lets the disk at this path be only read, `ro`, or written too, `rw`.
fn remount_line(path: &Path, how: &str) -> String {
    format!("mount -o remount,{how} '{}'", path.display())
}

fn remount(path: &Path, how: &str) {
    let status = Command::new("sh")
        .args(["-c", &remount_line(path, how)])
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{how}");
}

#[test]
fn a_start_on_a_file_system_that_can_only_be_read_is_refused() {
    let place = tempfile::tempdir().expect("there is room");
    let place = place.path();
    let Some(_disk) = SmallDisk::mount(place, SIZE) else {
        return;
    };
    let lab = Lab::on(place);
    remount(place, "ro");
    let id = fresh_id();
    let refused = lab.jobs.start(id, &shell("true"));
    let Err(StartError::Files(error)) = refused else {
        panic!("it cannot be started: {refused:?}");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    let seen = lab.jobs.inspect(id).expect("it can be inspected");
    assert_eq!(seen, State::Unknown);
    remount(place, "rw");
    lab.jobs
        .start(id, &shell("true"))
        .expect("the id is still free");
    assert_eq!(lab.outcome(id).end, End::Exited { code: 0 });
}

#[test]
fn a_start_on_a_file_system_without_inodes_says_what_lacks() {
    let place = tempfile::tempdir().expect("there is room");
    let place = place.path();
    let Some(_disk) = SmallDisk::mount(place, "1m,nr_inodes=40") else {
        return;
    };
    let lab = Lab::on(place);
    let mut names = 0..1_000;
    let full = names.find_map(|name| File::create(place.join(name.to_string())).err());
    let full = full.expect("there are 40 at most");
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let refused = lab.jobs.start(fresh_id(), &shell("true"));
    let refused = refused.expect_err("it has no files");
    assert!(matches!(refused, StartError::NoSpace), "{refused:?}");
    let words = refused.to_string();
    assert!(
        words.contains("no inodes") && words.contains("df -i"),
        "{words}"
    );
}

#[test]
fn a_store_on_a_file_system_that_can_only_be_read_says_so() {
    let place = tempfile::tempdir().expect("there is room");
    let place = place.path();
    let Some(_disk) = SmallDisk::mount(place, "8m") else {
        return;
    };
    let open = || SqliteStore::open(&place.join("store.sqlite"));
    drop(open().expect("there is room"));
    remount(place, "ro");
    let refused = open().expect_err("it has to write its log");
    let is_told = matches!(&refused, OpenError::Unusable { source, .. } if matches!(source, Error::ReadOnly(_)));
    assert!(is_told, "{refused:?}");
    remount(place, "rw");
    open().expect("it can be written again");
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
    let place = tempfile::tempdir().expect("there is room");
    let place = place.path();
    let Some(_disk) = SmallDisk::mount(place, SIZE) else {
        return;
    };
    let lab = Lab::on_with_prelude(place, &remount_line(place, "ro"));
    assert_not_executed(&lab, || remount(place, "rw"));
}
