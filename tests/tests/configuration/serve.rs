//! How a server, and a client of it, begin with a file.

use backburner_tests::{CONFIG, Server, TestDir};

use super::{backburner, command, file, limit, limit_of, with_file, write};

#[test]
fn an_option_wins_over_the_file_and_the_file_over_the_default() {
    let dir = TestDir::new();
    write(&file(&dir), &limit_of(7));
    let mut setup = with_file(&file(&dir));
    let mut server = Server::start_with(&dir, &setup);
    assert_eq!(limit(&mut server), 7);
    setup.flags.extend(["--sync-limit", "3"].map(str::to_owned));
    let mut server = Server::start_with(&dir, &setup);
    assert_eq!(limit(&mut server), 3);
    write(&file(&dir), "# nothing\n");
    let mut server = Server::start_with(&dir, &with_file(&file(&dir)));
    assert_eq!(limit(&mut server), 30);
}

#[test]
fn what_the_component_refuses_is_said_with_the_file_and_nothing_is_served() {
    let dir = TestDir::new();
    for wrong in ["graceMs = 'soon'", "noSuchMember = 1", "graceMs = -1"] {
        write(&file(&dir), &format!("{wrong}\n"));
        let path = file(&dir).display().to_string();
        let member = wrong.split(' ').next().unwrap_or_default();
        for verb in [&["check"][..], &["serve"], &["run", "true"]] {
            let refused = backburner(&dir, verb);
            assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""));
            let said = refused.stderr.trim_start_matches("backburner: ");
            assert!(said.starts_with(&format!("{path}:1:1: ")), "{refused:?}");
            assert!(said.contains(member), "{refused:?}");
            assert_eq!(said.lines().count(), 1, "{refused:?}");
        }
    }
}

#[test]
fn a_task_is_shown_and_cancelled_whatever_is_wrong_with_the_file() {
    let dir = TestDir::new();
    write(&file(&dir), "");
    let run = backburner(&dir, &["run", "--detach", "sleep 60"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let id = run.stdout.trim();
    write(&file(&dir), "no TOML");
    for verb in ["show", "cancel"] {
        let done = backburner(&dir, &[verb, id]);
        assert_eq!(done.status, Some(0), "{done:?}");
    }
    // Unless a person wants it so.
    let path = file(&dir);
    let path = path.to_str().expect("the paths of tests are UTF-8");
    let refused = backburner(&dir, &["show", id, "--config", path]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
}

#[test]
fn a_server_without_a_word_is_one_with_the_file() {
    let dir = TestDir::new();
    write(&file(&dir), &limit_of(7));
    let mut command = command(&dir, dir.path());
    let mut server = Server::spawn(command.env(CONFIG, file(&dir)));
    assert_eq!(limit(&mut server), 7);
}
