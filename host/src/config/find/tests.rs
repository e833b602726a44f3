//! Which file is found, in directories that are made for it.

use std::os::unix::fs::{chown, symlink};

use tempfile::TempDir;

use super::*;

/// Somebody who is nobody here.
const STRANGER: u32 = 12_345;

/// A tree of directories; the current one is `home/project/sub/deep`.
struct Scene {
    root: TempDir,
    around: Surroundings,
}

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("there is room");
        // As `getcwd` has it.
        let path = root.path().canonicalize().expect("it is there");
        let working = path.join("home/project/sub/deep");
        fs::create_dir_all(&working).expect("there is room");
        let around = Surroundings {
            variable: None,
            working: Some(working),
            home: Some(path.join("home")),
            config_home: Some(path.join("config").into()),
            user: rustix::process::geteuid().as_raw(),
        };
        Self { root, around }
    }

    fn path(&self, name: &str) -> PathBuf {
        let root = self.root.path().canonicalize().expect("it is there");
        root.join(name)
    }

    fn write(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let directory = path.parent().expect("it is in the tree");
        fs::create_dir_all(directory).expect("there is room");
        fs::write(&path, "").expect("there is room");
        path
    }

    fn found(&self) -> Found {
        self.around.find(None).expect("nothing is relative")
    }

    fn assert_finds(&self, name: &str) {
        assert_eq!(self.found().file, Some(self.path(name)));
    }
}

/// The user's own file.
#[cfg(not(target_os = "macos"))]
const USERS: &str = "config/backburner/backburner.toml";
#[cfg(target_os = "macos")]
const USERS: &str = "home/Library/Application Support/backburner/backburner.toml";

#[test]
fn the_first_that_is_there_is_the_one() {
    let mut scene = Scene::new();
    assert_eq!(scene.found().file, None);
    for name in [
        USERS,
        "home/backburner.toml",
        "home/project/backburner.toml",
        "home/project/sub/deep/backburner.toml",
    ] {
        scene.write(name);
        scene.assert_finds(name);
    }
    // What is named need not be there to count.
    scene.around.variable = Some("/of/the/variable".into());
    assert_eq!(scene.found().file, Some("/of/the/variable".into()));
    let explicit = scene.around.find(Some(Path::new("/of/the/option")));
    let explicit = explicit.expect("it is absolute");
    assert_eq!(explicit.file, Some("/of/the/option".into()));
    assert_eq!((explicit.missing, explicit.foreign), (vec![], vec![]));
}

#[test]
fn what_was_looked_for_is_told() {
    let scene = Scene::new();
    let names = [
        "home/project/sub/deep/backburner.toml",
        "home/project/sub/backburner.toml",
        "home/project/backburner.toml",
        "home/backburner.toml",
        USERS,
    ];
    let expected: Vec<PathBuf> = names.iter().map(|name| scene.path(name)).collect();
    assert_eq!(scene.found().missing, expected);
}

#[test]
fn nothing_is_looked_for_above_the_home_directory() {
    let mut scene = Scene::new();
    scene.write("backburner.toml");
    assert_eq!(scene.found().file, None);
    // By whatever name it is known.
    let link = scene.path("link");
    symlink("home", &link).expect("there is room");
    scene.around.home = Some(link);
    assert_eq!(scene.found().file, None);
}

#[test]
fn nothing_is_looked_for_above_the_top_of_a_project() {
    for git in ["home/project/.git/config", "home/project/.git"] {
        let scene = Scene::new();
        scene.write("home/backburner.toml");
        scene.assert_finds("home/backburner.toml");
        scene.write(git);
        assert_eq!(scene.found().file, None, "{git}");
        scene.write("home/project/backburner.toml");
        scene.assert_finds("home/project/backburner.toml");
    }
}

#[test]
fn a_directory_of_somebody_else_ends_the_search_and_what_is_in_it_is_said_and_not_used() {
    let mut scene = Scene::new();
    scene.write("home/project/sub/backburner.toml");
    scene.write("home/backburner.toml");
    scene.write(USERS);
    // For somebody else all of them are strange; only root can give a single one away.
    if scene.around.user == 0 {
        scene.assert_finds("home/project/sub/backburner.toml");
        chown(scene.path("home/project/sub"), Some(STRANGER), None).expect("root may do this");
        scene.assert_finds(USERS);
        let passed_over = scene.path("home/project/sub/backburner.toml");
        assert_eq!(scene.found().foreign, [passed_over]);
    }
    scene.around.user = STRANGER + 1;
    let found = scene.found();
    let missing = found
        .missing
        .iter()
        .chain(&found.foreign)
        .chain(&found.file);
    assert!(
        missing.clone().all(|it| *it == scene.path(USERS)),
        "{found:?}"
    );
    assert_eq!(missing.count(), 1);
}

#[test]
fn a_file_of_somebody_else_is_passed_over_and_named() {
    let scene = Scene::new();
    if scene.around.user != 0 {
        return;
    }
    let file = scene.write("home/project/backburner.toml");
    chown(&file, Some(STRANGER), None).expect("root may do this");
    scene.write("home/backburner.toml");
    let found = scene.found();
    assert_eq!(found.file, Some(scene.path("home/backburner.toml")));
    assert_eq!(found.foreign, [file]);
}

#[test]
fn a_link_is_found_also_where_it_leads_nowhere_and_a_directory_is_not() {
    let scene = Scene::new();
    scene.write("home/backburner.toml");
    let directory = scene.path("home/project/sub/backburner.toml");
    fs::create_dir(&directory).expect("there is room");
    scene.assert_finds("home/backburner.toml");
    let found = scene.found();
    assert_eq!(found.not_files, [directory.as_path()]);
    assert!(!found.missing.contains(&directory), "{found:?}");
    symlink("none", scene.path("home/project/backburner.toml")).expect("there is room");
    scene.assert_finds("home/project/backburner.toml");
    symlink(
        "/dev/null",
        scene.path("home/project/sub/deep/backburner.toml"),
    )
    .expect("there is room");
    scene.assert_finds("home/project/backburner.toml");
}

#[test]
fn the_name_of_nothing_stands_for_no_file() {
    let mut scene = Scene::new();
    scene.write("home/project/backburner.toml");
    let explicit = scene.around.find(Some(Path::new("/dev/null")));
    assert_eq!(explicit.expect("it is absolute"), Found::default());
    scene.around.variable = Some("/dev/null".into());
    assert_eq!(scene.found(), Found::default());
}

#[test]
fn a_relative_name_is_that_of_the_current_directory() {
    let working = env::current_dir().expect("a test has a working directory");
    let found = Scene::new().around.find(Some(Path::new("a/b.toml")));
    let file = found.expect("there is a working directory").file;
    assert_eq!(file, Some(working.join("a/b.toml")));
}

#[cfg(not(target_os = "macos"))]
#[test]
fn the_users_directory_is_where_xdg_says() {
    let mut scene = Scene::new();
    scene.around.working = None;
    for wrong in [None, Some("config".into())] {
        scene.around.config_home = wrong;
        let file = "home/.config/backburner/backburner.toml";
        assert_eq!(scene.found().missing, [scene.path(file)]);
    }
    scene.around.home = None;
    assert_eq!(scene.found(), Found::default());
}
