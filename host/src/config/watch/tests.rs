//! That each way to change a file is noticed, whatever its name leads through.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use tempfile::TempDir;

use super::*;

/// How long anything may take that should happen soon.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long nothing has to happen to be believed: longer than a change takes to be over.
const NOTHING: Duration = Duration::from_millis(2500);

/// A file that is watched.
struct Scene {
    directory: TempDir,
    file: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("there is room");
        let file = directory.path().join("project/file");
        fs::create_dir(directory.path().join("project")).expect("there is room");
        fs::write(&file, "old").expect("there is room");
        Self { directory, file }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str) {
        fs::write(self.path(name), "new").expect("there is room");
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).expect("it is there");
    }

    fn link(&self, target: &str, name: &str) {
        symlink(target, self.path(name)).expect("there is room");
    }

    /// Tells when the file has changed, from now on.
    fn watch(&self) -> Receiver<()> {
        wait_for(Watch::start(&self.file))
    }

    /// Asserts that it is noticed when somebody does this.
    fn assert_noticed(&self, what: impl FnOnce()) {
        let noticed = self.watch();
        what();
        noticed.recv_timeout(PATIENCE).expect("it is noticed");
    }
}

fn wait_for(mut watch: Watch) -> Receiver<()> {
    let (sender, noticed) = channel();
    thread::spawn(move || {
        watch.changed();
        // Nobody may have waited for it.
        let _ = sender.send(());
    });
    noticed
}

#[test]
fn a_file_that_is_written_anew_is_noticed() {
    let scene = Scene::new();
    scene.assert_noticed(|| scene.write("project/file"));
}

#[test]
fn a_file_that_is_put_in_its_place_is_noticed() {
    let scene = Scene::new();
    scene.write("project/file~");
    scene.assert_noticed(|| scene.rename("project/file~", "project/file"));
    scene.write("elsewhere");
    scene.assert_noticed(|| scene.rename("elsewhere", "project/file"));
}

#[test]
fn a_file_that_is_written_under_another_name_is_noticed() {
    let scene = Scene::new();
    fs::hard_link(&scene.file, scene.path("elsewhere")).expect("there is room");
    scene.assert_noticed(|| scene.write("elsewhere"));
}

#[test]
fn a_file_that_is_deleted_or_comes_back_is_noticed() {
    let scene = Scene::new();
    scene.assert_noticed(|| fs::remove_file(&scene.file).expect("it is there"));
    scene.assert_noticed(|| scene.write("project/file"));
}

#[test]
fn a_directory_that_is_replaced_is_noticed_at_every_step() {
    let scene = Scene::new();
    scene.assert_noticed(|| scene.rename("project", "before"));
    scene.assert_noticed(|| fs::create_dir(scene.path("project")).expect("there is room"));
    scene.assert_noticed(|| scene.write("project/file"));
    scene.assert_noticed(|| fs::remove_dir_all(scene.path("project")).expect("it is there"));
    scene.assert_noticed(|| scene.rename("before", "project"));
}

#[test]
fn a_link_that_is_swapped_on_the_way_is_noticed() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("project/..1")).expect("there is room");
    fs::create_dir_all(scene.path("project/..2")).expect("there is room");
    scene.write("project/..1/file");
    scene.write("project/..2/file");
    scene.link("..1", "project/..data");
    fs::remove_file(&scene.file).expect("it is there");
    scene.link("..data/file", "project/file");
    scene.assert_noticed(|| {
        scene.link("..2", "project/..new");
        scene.rename("project/..new", "project/..data");
    });
    scene.assert_noticed(|| scene.write("project/..2/file"));
    // Also one that nothing of the file's own directory tells of.
    let mut scene = scene;
    scene.link("project", "link");
    scene.file = scene.path("link/file");
    fs::create_dir(scene.path("other")).expect("there is room");
    scene.assert_noticed(|| {
        scene.link("other", "link~");
        scene.rename("link~", "link");
    });
}

#[test]
fn a_change_is_over_when_the_writer_is_ready() {
    let scene = Scene::new();
    fs::remove_file(&scene.file).expect("it is there");
    let noticed = scene.watch();
    let mut writer = File::create(&scene.file).expect("there is room");
    for _ in 0..3 {
        writer.write_all(b"a piece").expect("there is room");
        let early = noticed.recv_timeout(CONFIG_UNSETTLED / 5);
        assert_eq!(early, Err(RecvTimeoutError::Timeout));
    }
    drop(writer);
    noticed.recv_timeout(PATIENCE).expect("it is noticed");
}

#[cfg(target_os = "linux")]
#[test]
fn other_files_of_the_directory_wake_nobody() {
    let scene = Scene::new();
    let noticed = scene.watch();
    scene.write("project/other");
    scene.rename("project/other", "project/another");
    fs::remove_file(scene.path("project/another")).expect("it is there");
    fs::read(&scene.file).expect("it is there");
    let early = noticed.recv_timeout(NOTHING);
    assert_eq!(early, Err(RecvTimeoutError::Timeout));
}

#[test]
fn where_nobody_tells_of_changes_they_are_noticed_all_the_same() {
    let scene = Scene::new();
    let assert_noticed = |what: &dyn Fn()| {
        let noticed = wait_for(Watch::looking(&scene.file, None));
        what();
        noticed.recv_timeout(PATIENCE).expect("it is noticed");
    };
    assert_noticed(&|| scene.write("project/file"));
    assert_noticed(&|| fs::remove_file(&scene.file).expect("it is there"));
    assert_noticed(&|| scene.write("project/file"));
    scene.write("elsewhere");
    assert_noticed(&|| scene.rename("elsewhere", "project/file"));
}
