//! What the real binary lets its jobs, other users and other processes see of itself, and what it leaves behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use backburner_tests::{
    Client, PATIENCE, Server, Setup, TestDir, children, command_lines, processes_of_task, run_call,
    until,
};
use serde_json::json;

/// A server that has answered once.
fn warm(dir: &TestDir) -> Server {
    let mut server = Server::start(dir);
    server.assert_alive();
    server
}

#[test]
fn a_job_that_reads_its_input_does_not_read_the_servers() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let result = server.result("tools/call", &run_call("cat; echo end"), Client::Plain);
    assert_eq!(result["structuredContent"]["outputBytes"], 4, "{result}");
    server.assert_alive();
}

#[test]
fn the_clients_streams_are_not_the_standard_streams_of_a_server_that_serves() {
    let dir = TestDir::new();
    let server = warm(&dir);
    let open = |number: u32| {
        let name = format!("/proc/{}/fd/{number}", server.pid());
        fs::read_link(name).expect("a process of ours can be looked at")
    };
    // Both were pipes of their own at the start.
    assert_eq!(open(1), open(2), "what is printed goes to standard error");
    assert_eq!(
        open(0),
        Path::new("/dev/null"),
        "nobody else reads messages"
    );
}

#[test]
fn a_job_inherits_no_descriptor_of_the_server() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let result = server.result(
        "tools/call",
        &run_call("for fd in /proc/self/fd/*; do echo \"${fd##*/}\"; done"),
        Client::Plain,
    );
    let text = result["content"][0]["text"]
        .as_str()
        .expect("there is text");
    let listed: Vec<u32> = text
        .lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect();
    // The shell itself opens the directory to list it, as the lowest free one.
    let inherited: Vec<_> = listed.iter().filter(|fd| **fd > 3).collect();
    assert!(listed.contains(&2) && inherited.is_empty(), "{text}");
}

#[test]
fn a_job_has_no_controlling_terminal_and_its_own_session() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let command =
        "(: < /dev/tty) 2>/dev/null && echo terminal || echo none; cut -d' ' -f6 /proc/self/stat";
    let result = server.result("tools/call", &run_call(command), Client::Plain);
    let text = result["content"][0]["text"]
        .as_str()
        .expect("there is text");
    assert!(text.contains("none"), "{text}");
    let session = text
        .lines()
        .filter_map(|line| line.trim().parse::<u32>().ok())
        .next_back();
    assert_ne!(
        session.expect("the job prints its session"),
        session_of(server.pid()),
        "{text}"
    );
}

fn session_of(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    let (_, rest) = stat.rsplit_once(')').expect("the name is in parentheses");
    rest.split_whitespace()
        .nth(3)
        .and_then(|word| word.parse().ok())
        .expect("the session is the sixth field")
}

#[test]
fn the_data_directory_is_private_whatever_the_umask_is() {
    for umask in ["0", "0777", "0277", "0700"] {
        let dir = TestDir::new();
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("umask {umask}; exec \"$@\""), "sh"])
            .arg(backburner_tests::binary())
            .arg("--data-dir")
            .arg(dir.data())
            .args(["serve", "--direct-limit", "0"]);
        let mut server = Server::spawn(&mut command);
        let id = server.run("echo secret; sleep 0.2");
        assert_private(&dir);
        server.ended_task(&id);
        assert_private(&dir);
    }
}

/// Every directory 0700, every file 0600.
fn assert_private(dir: &TestDir) {
    let mut directories = vec![dir.data()];
    while let Some(directory) = directories.pop() {
        assert_eq!(mode(&directory), Some(0o700), "{}", directory.display());
        for entry in fs::read_dir(&directory).expect("it is ours") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                directories.push(path);
            } else if let Some(mode) = mode(&path) {
                assert_eq!(mode, 0o600, "{} is {mode:o}", path.display());
            }
        }
    }
}

/// The permissions; `None` for a symbolic link, which has none, and for what is gone meanwhile.
fn mode(path: &std::path::Path) -> Option<u32> {
    let metadata = fs::symlink_metadata(path)
        .ok()
        .filter(|metadata| !metadata.is_symlink())?;
    Some(metadata.permissions().mode() & 0o7777)
}

#[test]
fn an_unusable_data_directory_is_an_error_on_standard_error_only() {
    let dir = TestDir::new();
    fs::write(dir.data(), "a file").expect("the test's directory can be written");
    let output = Setup::default()
        .command(&dir)
        .stdin(Stdio::null())
        .output()
        .expect("the binary can be started");
    assert!(!output.status.success(), "{}", output.status);
    assert!(
        output.status.code().is_some(),
        "it exits, and no signal ends it: {}",
        output.status
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        words.contains(&dir.data().display().to_string()),
        "it names the directory: {words}"
    );
}

#[test]
fn the_data_directory_is_taken_from_the_environment_where_no_flag_names_one() {
    let dir = TestDir::new();
    let mut command = backburner_tests::program();
    command
        .arg("serve")
        .env("BACKBURNER_DIR", dir.data())
        .env("HOME", dir.path());
    let mut server = Server::spawn(&mut command);
    server.assert_alive();
    server.close();
    let mut again = Server::start(&dir);
    again.assert_alive();
    assert_private(&dir);
}

#[test]
fn a_flag_names_the_data_directory_whatever_the_environment_says() {
    let dir = TestDir::new();
    let mut command = backburner_tests::program();
    command
        .args(["serve", "--data-dir"])
        .arg(dir.data())
        .env("BACKBURNER_DIR", dir.path().join("other"));
    let mut server = Server::spawn(&mut command);
    server.assert_alive();
    server.close();
    assert_private(&dir);
    assert!(!dir.path().join("other").exists(), "it is not looked at");
}

#[cfg(target_os = "linux")]
#[test]
fn the_data_directory_is_the_users_state_directory_where_nobody_names_one() {
    let dir = TestDir::new();
    let mut command = backburner_tests::program();
    command
        .arg("serve")
        .env_remove("BACKBURNER_DIR")
        .env("XDG_STATE_HOME", dir.path())
        .env("HOME", "/nonexistent");
    let mut server = Server::spawn(&mut command);
    server.assert_alive();
    server.close();
    assert!(dir.path().join("backburner/backburner.db").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_home_directory_that_is_relative_is_none() {
    let dir = TestDir::new();
    let output = backburner_tests::program()
        .arg("serve")
        .env_remove("BACKBURNER_DIR")
        .env_remove("XDG_STATE_HOME")
        .env("HOME", "home")
        .current_dir(dir.path())
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the program can be run");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{words}");
    assert!(words.contains("no home directory is known"), "{words}");
    assert!(!dir.path().join("home").exists(), "nothing is made there");
}

#[test]
fn a_job_finds_the_tasks_of_its_server() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let first = server.result("tools/call", &run_call("echo here it is"), Client::Plain);
    let id = first["structuredContent"]["taskId"]
        .as_str()
        .expect("an id");
    let program = backburner_tests::binary().display();
    let show = run_call(&format!("'{program}' show {id}"));
    let shown = server.result("tools/call", &show, Client::Plain);
    let text = shown["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("here it is"), "{shown}");
}

#[test]
fn a_client_without_tasks_is_given_a_command_that_shows_its_task() {
    let dir = TestDir::new();
    let mut server = Server::start_with(&dir, &Setup::flags(&["--sync-limit", "0"]));
    let gate = dir.path().join("gate");
    let line = format!(
        "until [ -e '{}' ]; do sleep 0.05; done; echo opened",
        gate.display()
    );
    let result = server.result("tools/call", &run_call(&line), Client::Plain);
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let before = text.split_once("` shows it").map(|(before, _)| before);
    let (_, command) = before.and_then(|text| text.rsplit_once('`')).expect(text);
    fs::write(gate, "").expect("the test's directory can be written");
    // Whatever the variable says: the command names the directory.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .env("BACKBURNER_DIR", "/nowhere");
    until(PATIENCE, "the command to show the result", || {
        let output = shell.output().expect("there is a shell");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        if shown.contains("opened") {
            Ok(())
        } else {
            Err(format!("{command}: {output:?}"))
        }
    });
}

#[test]
fn the_values_of_variables_are_neither_in_process_listings_nor_in_replies_nor_in_logs() {
    let dir = TestDir::new();
    let mut server = Server::start_with(&dir, &Setup::flags(&["--direct-limit", "0"]));
    let secret = "correct-horse-battery-staple";
    let command = format!("test ${{#TOKEN}} = {}; sleep 60", secret.len());
    let params = json!({ "command": command, "env": { "TOKEN": secret }, "stdin": secret });
    let id = server.call(&params);
    let running = until(PATIENCE, "the job to run", || {
        let lines = command_lines();
        let own = processes_of_task(&id);
        if own.iter().any(|(_, line)| line.contains("sleep 60")) {
            Ok(lines)
        } else {
            Err(format!("{lines:?}"))
        }
    });
    let shown: Vec<_> = running
        .iter()
        .filter(|(_, line)| line.contains(secret))
        .collect();
    assert!(shown.is_empty(), "a process listing shows it: {shown:?}");
    let mut replies = server.task(&id).to_string();
    // A refused call has to say which variable is wrong, and not what it was.
    let wrong = json!({ "command": "true", "env": { "A=B": secret, "C": [secret] } });
    let call = json!({ "name": "run", "arguments": wrong });
    replies += &server
        .request("tools/call", &call, Client::Tasks)
        .to_string();
    server.result("tasks/cancel", &json!({ "taskId": id }), Client::Tasks);
    replies += &server.ended_task(&id).to_string();
    assert!(!replies.contains(secret), "a reply shows it: {replies}");
    assert!(!server.close().stderr.contains(secret), "a log shows it");
}

#[test]
fn a_server_leaves_no_process_behind_but_supervisors() {
    let dir = TestDir::new();
    let mut server = Server::start_with(&dir, &Setup::flags(&["--direct-limit", "0"]));
    let id = server.run("echo done");
    server.ended_task(&id);
    until(PATIENCE, "the server to have no child any more", || {
        let left = children(server.pid());
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{left:?}"))
        }
    });
    server.assert_alive();
}
