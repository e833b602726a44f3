//! Which file a server has.

use std::fs;
use std::path::{Path, PathBuf};

use backburner_tests::foreign::can_test;
use backburner_tests::{CONFIG, Server, TestDir};

use super::{command, done, limit, limit_of, write};

/// A project in a home, and as many files as there are places.
struct Scene {
    dir: TestDir,
    /// Where the person is.
    working: PathBuf,
    /// From the one that counts least.
    files: Vec<PathBuf>,
}

impl Scene {
    fn new() -> Self {
        let dir = TestDir::new();
        let root = dir.path().canonicalize().expect("it is there");
        let working = root.join("home/project/sub");
        fs::create_dir_all(&working).expect("there is room");
        fs::create_dir_all(root.join("home/project/.git")).expect("there is room");
        let config = if cfg!(target_os = "macos") {
            "home/Library/Application Support/backburner"
        } else {
            "config/backburner"
        };
        let places = [config, "home/project", "home/project/sub"];
        let files = places.map(|place| root.join(place).join("backburner.toml"));
        // Above the project, so that it never counts.
        write(&root.join("home/backburner.toml"), &limit_of(50));
        Self {
            dir,
            working,
            files: files.into(),
        }
    }

    /// What `check` says of the file, with these arguments and this variable.
    fn checked(&self, variable: &Path, arguments: &[&str]) -> String {
        let mut command = command(&self.dir, &self.working);
        let checked = done(command.env(CONFIG, variable).arg("check").args(arguments));
        assert_eq!(checked.status, Some(0), "{checked:?}");
        checked.stdout
    }

    /// What a server waits that is started without another word.
    fn limit(&self) -> u32 {
        let mut command = command(&self.dir, &self.working);
        let mut server = Server::spawn(command.arg("serve"));
        let limit = limit(&mut server);
        server.close();
        limit
    }
}

#[test]
fn the_nearest_file_counts_and_no_other() {
    let scene = Scene::new();
    let none = scene.checked(Path::new(""), &[]);
    assert!(none.starts_with("no configuration file"), "{none}");
    assert_eq!(scene.limit(), 30);
    for (file, seconds) in scene.files.iter().zip(51..) {
        fs::create_dir_all(file.parent().expect("it is somewhere")).expect("there is room");
        write(file, &limit_of(seconds));
        let checked = scene.checked(Path::new(""), &[]);
        let expected = format!("{}: right\n", file.display());
        assert!(checked.starts_with(&expected), "{checked}");
        assert_eq!(scene.limit(), seconds);
    }
}

#[test]
fn a_file_that_is_named_counts_before_one_that_is_found() {
    let scene = Scene::new();
    write(&scene.files[2], "");
    let [variable, option] = ["variable", "option"].map(|name| scene.dir.path().join(name));
    write(&variable, "");
    write(&option, "");
    let checked = scene.checked(&variable, &[]);
    assert!(
        checked.starts_with(&format!("{}: right", variable.display())),
        "{checked}"
    );
    let named = option.to_str().expect("the paths of tests are UTF-8");
    let checked = scene.checked(&variable, &["--config", named]);
    assert!(checked.starts_with(&format!("{named}: right")), "{checked}");
    // A relative name is one of the current directory.
    let checked = scene.checked(Path::new("../sub/backburner.toml"), &[]);
    assert!(
        checked.contains("/sub/../sub/backburner.toml: right"),
        "{checked}"
    );
}

#[test]
fn the_name_of_nothing_is_no_file() {
    let scene = Scene::new();
    write(&scene.files[2], "no TOML");
    let nothing = Path::new("/dev/null");
    for (variable, arguments) in [
        (nothing, &[][..]),
        (Path::new(""), &["--config", "/dev/null"]),
    ] {
        let checked = scene.checked(variable, arguments);
        assert!(checked.starts_with("no configuration file"), "{checked}");
    }
}

#[test]
fn a_file_of_somebody_else_is_passed_over_and_the_server_says_so() {
    let is_root = rustix::process::geteuid().is_root();
    if !can_test(
        "a file of another user",
        (!is_root).then_some("the right to make one, as root"),
    ) {
        return;
    }
    let scene = Scene::new();
    write(&scene.files[2], &limit_of(52));
    std::os::unix::fs::chown(&scene.files[2], Some(12_345), None).expect("root may do this");
    write(&scene.files[1], &limit_of(51));
    let mut command = command(&scene.dir, &scene.working);
    let mut server = Server::spawn(command.arg("serve"));
    assert_eq!(limit(&mut server), 51);
    let said = server.close().stderr;
    let words = format!("{}: belongs to another user", scene.files[2].display());
    assert!(said.contains(&words), "{said}");
}
