//! `backburner check`.

use std::fs;

use backburner_tests::{TestDir, readme_blocks};

use super::{backburner, command, done, file, write};

#[test]
fn a_right_file_is_named_with_the_tools_that_a_client_gets() {
    let dir = TestDir::new();
    for text in ["# nothing yet\n", "graceMs = 1000\n"] {
        write(&file(&dir), text);
        let checked = backburner(&dir, &["check"]);
        assert_eq!((checked.status, checked.stderr.as_str()), (Some(0), ""));
        let path = file(&dir).display().to_string();
        let expected = format!("{path}: right\ntools:\n  run");
        assert!(checked.stdout.starts_with(&expected), "{checked:?}");
    }
    assert!(!dir.data().exists(), "nothing is made");
}

#[test]
fn the_files_that_the_readme_shows_are_right() {
    let files = readme_blocks("toml");
    assert!(files.len() >= 3, "the README shows three: {files:?}");
    for text in files {
        let dir = TestDir::new();
        write(&file(&dir), &text);
        let checked = backburner(&dir, &["check"]);
        assert_eq!(checked.status, Some(0), "{text}: {checked:?}");
    }
}

#[test]
fn a_data_directory_that_cannot_be_used_does_not_matter() {
    let dir = TestDir::new();
    write(&file(&dir), "");
    write(&dir.data(), "a file");
    assert_eq!(backburner(&dir, &["check"]).status, Some(0));
}

/// Asserts that a file is refused at a place, by `check` and by a server.
fn assert_refused(text: &[u8], place: &str) {
    let dir = TestDir::new();
    fs::write(file(&dir), text).expect("there is room");
    let words = format!("{}:{place}: ", file(&dir).display());
    let checked = backburner(&dir, &["check"]);
    let shown = String::from_utf8_lossy(text);
    assert_eq!(
        (checked.status, checked.stdout.as_str()),
        (Some(2), ""),
        "{shown}: {checked:?}"
    );
    assert!(checked.stderr.starts_with(&words), "{shown}: {checked:?}");
    assert_eq!(checked.stderr.lines().count(), 1, "{checked:?}");
    let served = backburner(&dir, &["serve"]);
    assert_eq!((served.status, served.stdout.as_str()), (Some(2), ""));
    assert_eq!(served.stderr, format!("backburner: {}", checked.stderr));
}

#[test]
fn each_mistake_is_named_with_its_line_and_column() {
    for (text, place) in [
        (&b"graceMs = 1\nname = = 2\n"[..], "2:8"),
        (b"graceMs = 1\ngraceMs = 2\n", "2:1"),
        (b"[run]\nenabled = yes\n", "2:11"),
        (b"[run\n", "1:5"),
        (b"[[tools]]\nname = 'a\n", "2:10"),
        (b"[[tools]]\n[[tools]]\nsince = 2026-07-28\n", "3:9"),
        (b"graceMs = inf\n", "1:11"),
        (b"syncLimitMs = 1\ngraceMs = \n", "2:11"),
        (b"graceMs = 1\nshowCommand = 'x'\n", "2:1"),
        (b"graceMs = 99999999999999999999\n", "1:11"),
        (b"# \xff\n", "1:3"),
    ] {
        assert_refused(text, place);
    }
}

#[test]
fn a_named_file_that_cannot_be_read_is_an_error() {
    let dir = TestDir::new();
    for (name, words) in [("none.toml", "there is no such file"), (".", "is no file")] {
        let path = dir.path().join(name);
        let path = path.to_str().expect("the paths of tests are UTF-8");
        for verb in ["check", "serve", "run"] {
            let arguments = ["--config", path, verb, "true"];
            let arguments = &arguments[..if verb == "run" { 4 } else { 3 }];
            let refused = backburner(&dir, arguments);
            assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""));
            assert!(refused.stderr.contains(words), "{verb}: {refused:?}");
            assert_eq!(refused.stderr.lines().count(), 1, "{verb}: {refused:?}");
        }
    }
    assert!(
        !dir.data().exists(),
        "a server that is not started makes nothing"
    );
}

#[test]
fn without_a_file_the_defaults_are_right_and_the_places_are_named() {
    let dir = TestDir::new();
    let project = dir.path().join("project");
    fs::create_dir_all(project.join(".git")).expect("there is room");
    let checked = done(command(&dir, &project).arg("check"));
    assert_eq!(checked.status, Some(0), "{checked:?}");
    assert!(
        checked.stdout.contains("no configuration file"),
        "{checked:?}"
    );
    assert!(checked.stdout.contains("\n  run"), "{checked:?}");
    let place = project.canonicalize().expect("it is there");
    let words = format!("{}: is not there", place.join("backburner.toml").display());
    assert!(checked.stderr.contains(&words), "{checked:?}");
}

#[test]
fn an_empty_file_is_right_and_what_a_running_server_makes_of_it_is_said() {
    let dir = TestDir::new();
    for text in ["", "\n"] {
        write(&file(&dir), text);
        let checked = backburner(&dir, &["check"]);
        assert_eq!(checked.status, Some(0), "{checked:?}");
        let words = format!("{}:1:1: note: the file is empty: ", file(&dir).display());
        assert!(checked.stderr.starts_with(&words), "{checked:?}");
        assert_eq!(checked.stderr.lines().count(), 1, "{checked:?}");
    }
}

#[test]
fn a_directory_in_the_place_of_the_file_is_said_to_be_one() {
    let dir = TestDir::new();
    let project = dir.path().join("project");
    fs::create_dir_all(project.join(".git")).expect("there is room");
    fs::create_dir(project.join("backburner.toml")).expect("there is room");
    let checked = done(command(&dir, &project).arg("check"));
    assert_eq!(checked.status, Some(0), "{checked:?}");
    let place = project.canonicalize().expect("it is there");
    let place = place.join("backburner.toml").display().to_string();
    let words = format!("{place}: is no file, and is not used\n");
    assert!(checked.stderr.contains(&words), "{checked:?}");
    assert!(!checked.stderr.contains(&format!("{place}: is not there")));
}

#[test]
fn a_file_that_leaves_no_tool_says_why() {
    let dir = TestDir::new();
    write(&file(&dir), "[run]\nenabled = false\n");
    let checked = backburner(&dir, &["check"]);
    assert_eq!(checked.status, Some(0), "{checked:?}");
    let words = "\nno tools: `run` is switched off by `enabled = false`";
    assert!(checked.stdout.contains(words), "{checked:?}");
}

#[test]
fn a_run_that_is_switched_off_is_told_with_the_file_that_does_it() {
    let dir = TestDir::new();
    let others = "[[tools]]\nname = 'a'\ndescription = 'd'\nprogram = ['true']\n";
    write(&file(&dir), &format!("run.enabled = false\n{others}"));
    let run = backburner(&dir, &["run", "true"]);
    assert_eq!(run.status, Some(125), "{run:?}");
    let words = format!(
        "backburner: `run` is switched off: {} has `enabled = false`",
        file(&dir).display()
    );
    assert!(run.stderr.starts_with(&words), "{run:?}");
    assert!(!run.stderr.contains("unknown tool"), "{run:?}");
    let without = backburner(&dir, &["run", "--config", "/dev/null", "true"]);
    assert_eq!(without.status, Some(0), "{without:?}");
}

#[test]
fn a_terminal_that_is_switched_off_is_told_with_the_file_that_does_it() {
    let dir = TestDir::new();
    write(&file(&dir), "terminals = false\n");
    let run = backburner(&dir, &["run", "--interactive", "true"]);
    assert_eq!(run.status, Some(125), "{run:?}");
    let words = format!(
        "there is no `--interactive`, since terminals are switched off: `terminals` is false in {}; nothing was run",
        file(&dir).display()
    );
    assert!(run.stderr.contains(&words), "{run:?}");
}

#[test]
fn a_program_that_is_not_there_is_noted_and_no_error() {
    let dir = TestDir::new();
    let tool = |name: &str, program: &str| {
        format!("[[tools]]\nname = '{name}'\ndescription = 'd'\nprogram = ['{program}']\n")
    };
    let text = [
        tool("a", "sh"),
        tool("b", "backburner-no-such-program"),
        tool("c", "./c.sh"),
    ];
    write(&file(&dir), &text.concat());
    let checked = backburner(&dir, &["check"]);
    assert_eq!(checked.status, Some(0), "{checked:?}");
    assert!(checked.stdout.contains("\n  c"), "{checked:?}");
    let path = file(&dir).display().to_string();
    let lines: Vec<&str> = checked.stderr.lines().collect();
    let [named, relative] = lines[..] else {
        panic!("there are two: {checked:?}");
    };
    let words = "/tools/1/program/0: note: there is no program \"backburner-no-such-program\" on the PATH here";
    assert!(
        named.starts_with(&format!("{path}:8:12: {words}")),
        "{checked:?}"
    );
    let words = "/tools/2/program/0: note: there is no program /";
    assert!(
        relative.starts_with(&format!("{path}:12:12: {words}")),
        "{checked:?}"
    );
}
