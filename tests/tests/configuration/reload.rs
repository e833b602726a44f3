//! What becomes of a file's changes while servers run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use backburner_tests::{Client, PATIENCE, Server, Setup, TestDir, run_call};
use serde_json::json;

use super::{file, limit, limit_of, until_limit, until_said, with_file, write};

/// What a server says when it has taken up a change.
const NEW: &str = "was read anew";

/// What it says when it has not.
const KEPT: &str = "what held before goes on to hold";

fn server(dir: &TestDir) -> Server {
    write(&file(dir), &limit_of(7));
    let mut server = Server::start_with(dir, &with_file(&file(dir)));
    assert_eq!(limit(&mut server), 7);
    server
}

/// Puts another file in the place of one.
fn replace(path: &Path, text: &str) {
    let other = path.with_extension("new");
    write(&other, text);
    fs::rename(other, path).expect("there is room");
}

#[test]
fn a_file_that_is_written_or_replaced_holds_at_once() {
    let dir = TestDir::new();
    let mut server = server(&dir);
    write(&file(&dir), &limit_of(8));
    until_limit(&mut server, 8);
    replace(&file(&dir), &limit_of(9));
    until_limit(&mut server, 9);
    until_said(&server, NEW, 2);
    let exit = server.close();
    assert!(exit.status.success(), "{exit:?}");
    assert!(!exit.stderr.contains(KEPT), "{exit:?}");
}

#[test]
fn a_broken_file_is_told_with_its_place_and_the_last_good_one_holds() {
    let dir = TestDir::new();
    let mut server = server(&dir);
    write(&file(&dir), "syncLimitMs = = 8000\n");
    until_said(&server, KEPT, 1);
    let place = format!("{}:1:15: ", file(&dir).display());
    assert!(server.stderr().contains(&place), "{}", server.stderr());
    write(&file(&dir), "syncLimitMs = 'soon'\n");
    until_said(&server, KEPT, 2);
    assert!(
        server.stderr().contains(":1:1: /syncLimitMs: "),
        "{}",
        server.stderr()
    );
    write(&file(&dir), "");
    until_said(&server, "is empty", 1);
    assert_eq!(limit(&mut server), 7);
    write(&file(&dir), &limit_of(9));
    until_limit(&mut server, 9);
}

#[test]
fn a_file_that_is_gone_holds_until_it_is_back() {
    let dir = TestDir::new();
    let mut server = server(&dir);
    fs::remove_file(file(&dir)).expect("it is there");
    until_said(&server, "there is no such file", 1);
    assert_eq!(limit(&mut server), 7);
    write(&file(&dir), &limit_of(8));
    until_limit(&mut server, 8);
    // One that comes back at once was never missed.
    fs::remove_file(file(&dir)).expect("it is there");
    write(&file(&dir), &limit_of(9));
    until_limit(&mut server, 9);
    until_said(&server, "there is no such file", 1);
}

#[test]
fn a_file_that_is_being_written_piece_by_piece_holds_when_it_is_whole() {
    use std::io::Write as _;
    let dir = TestDir::new();
    let mut server = server(&dir);
    fs::remove_file(file(&dir)).expect("it is there");
    let mut writer = fs::File::create(file(&dir)).expect("there is room");
    // Each piece alone is a right file, and without the limit.
    for _ in 0..3 {
        writer.write_all(b"# a piece\n").expect("there is room");
        assert_eq!(server.receive_within(Duration::from_millis(300)), None);
        assert_eq!(limit(&mut server), 7);
    }
    writer
        .write_all(limit_of(8).as_bytes())
        .expect("there is room");
    drop(writer);
    until_limit(&mut server, 8);
    until_said(&server, NEW, 1);
}

#[test]
fn a_swapped_link_on_the_way_to_the_file_is_noticed() {
    let dir = TestDir::new();
    for (name, seconds) in [("..1", 7), ("..2", 8)] {
        fs::create_dir(dir.path().join(name)).expect("there is room");
        write(
            &dir.path().join(name).join("backburner.toml"),
            &limit_of(seconds),
        );
    }
    symlink("..1", dir.path().join("..data")).expect("there is room");
    symlink("..data/backburner.toml", file(&dir)).expect("there is room");
    let mut server = Server::start_with(&dir, &with_file(&file(&dir)));
    assert_eq!(limit(&mut server), 7);
    symlink("..2", dir.path().join("..data_tmp")).expect("there is room");
    fs::rename(dir.path().join("..data_tmp"), dir.path().join("..data")).expect("there is room");
    fs::remove_dir_all(dir.path().join("..1")).expect("it is there");
    until_limit(&mut server, 8);
}

#[test]
fn two_servers_follow_the_same_file() {
    let dir = TestDir::new();
    let mut first = server(&dir);
    let mut second = server(&dir);
    write(&file(&dir), &limit_of(8));
    until_limit(&mut first, 8);
    until_limit(&mut second, 8);
    first.close();
    write(&file(&dir), &limit_of(9));
    until_limit(&mut second, 9);
}

#[test]
fn an_option_wins_also_over_a_change() {
    let dir = TestDir::new();
    write(&file(&dir), &limit_of(7));
    let mut setup: Setup = with_file(&file(&dir));
    setup.flags.extend(["--sync-limit", "3"].map(str::to_owned));
    let mut server = Server::start_with(&dir, &setup);
    assert_eq!(limit(&mut server), 3);
    write(&file(&dir), &limit_of(8));
    until_said(&server, NEW, 1);
    assert_eq!(limit(&mut server), 3);
}

#[test]
fn a_call_that_waits_and_a_job_that_runs_go_on_over_changes() {
    let dir = TestDir::new();
    let mut server = server(&dir);
    write(&file(&dir), &limit_of(3600));
    until_limit(&mut server, 3600);
    let gate = dir.path().join("gate");
    let line = format!(
        "until [ -e '{}' ]; do sleep 0.05; done; exit 7",
        gate.display()
    );
    let waiting = server.post("tools/call", &run_call(&line), Client::Plain);
    let task = server.result("tools/call", &run_call(&line), Client::Tasks);
    write(&file(&dir), "syncLimitMs = 8000\ndirectLimitMs = 0\n");
    until_limit(&mut server, 8);
    write(&gate, "");
    let reply = server.reply(&json!(waiting));
    let facts = &reply["result"]["structuredContent"];
    assert_eq!(facts["exitCode"], 7, "{reply}");
    let id = task["taskId"]
        .as_str()
        .expect("it takes longer than a moment");
    let ended = server.ended_task(id);
    assert_eq!(
        ended["result"]["structuredContent"]["exitCode"], 7,
        "{ended}"
    );
}

#[test]
fn no_request_is_lost_while_the_file_changes_all_the_time() {
    let dir = TestDir::new();
    let mut server = server(&dir);
    for seconds in 10..15 {
        replace(&file(&dir), &limit_of(seconds));
        let mut requests = 0;
        while limit(&mut server) != seconds || requests < 20 {
            server.assert_alive();
            requests += 1;
        }
    }
    assert_eq!(server.close().unread_lines, Vec::<String>::new());
}

#[test]
fn a_server_that_follows_a_file_ends_with_its_input() {
    let dir = TestDir::new();
    let mut server = server(&dir);
    write(&file(&dir), &limit_of(8));
    server.close_stdin();
    let exit = server.wait_exit(PATIENCE);
    assert!(exit.status.success(), "{exit:?}");
}
