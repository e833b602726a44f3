//! The stores keep the contract of the WIT, and the SQLite one also among processes, crashes and damage.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use backburner::store::{Error, MemoryStore, OpenError, SqliteStore, Store};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tempfile::TempDir;

#[path = "store/contract.rs"]
mod contract;

use contract::{increment, set, value};

/// What a process that this test started is to do; the file is the other variable.
const ROLE: &str = "BACKBURNER_TEST_ROLE";
const FILE: &str = "BACKBURNER_TEST_FILE";

/// How long anything that should happen at once may take, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn directory() -> (TempDir, PathBuf) {
    let directory = TempDir::new().expect("there is a directory for temporary files");
    let file = directory.path().join("store.sqlite");
    (directory, file)
}

fn open(file: &Path) -> SqliteStore {
    SqliteStore::open(file).unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

/// Starts this test program again, to do one thing in a process of its own.
fn start(role: &str, file: &Path) -> Child {
    Command::new(std::env::current_exe().expect("a test knows its own program"))
        .args(["--exact", "child_process", "--nocapture"])
        .env(ROLE, role)
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test program starts again")
}

fn assert_success(child: Child) {
    let output = child
        .wait_with_output()
        .expect("the child can be waited for");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// Not a test of its own: what the processes do that other tests start.
#[test]
fn child_process() {
    let (Ok(role), Some(file)) = (std::env::var(ROLE), std::env::var_os(FILE)) else {
        return;
    };
    let store = open(Path::new(&file));
    match role.as_str() {
        "increment" => (0..50).for_each(|_| increment(&store, "counter")),
        "write pairs" => write_pairs(&store),
        other => panic!("no such role: {other}"),
    }
}

/// Writes pairs of equal values for ever, and says each that is certain.
fn write_pairs(store: &dyn Store) {
    for number in 0_u64.. {
        let text = number.to_string();
        store
            .commit(&[
                set("pair/a", &text),
                set("pair/b", &text),
                set("fill", &"x".repeat(60_000)),
            ])
            .expect("the commit succeeds");
        writeln!(std::io::stdout(), "certain {text}").expect("the parent reads");
    }
}

/// Makes each check of the contract a test of each store.
macro_rules! keeps_the_contract {
    ($($check:ident,)*) => {
        mod memory {
            $(#[test]
            fn $check() {
                crate::contract::$check(&crate::MemoryStore::new());
            })*
        }
        mod sqlite {
            $(#[test]
            fn $check() {
                let (_directory, file) = crate::directory();
                crate::contract::$check(&crate::open(&file));
            })*
        }
    };
}

keeps_the_contract! {
    a_key_that_was_never_written_is_absent,
    a_value_comes_back_unchanged,
    a_removed_key_is_absent,
    removing_an_absent_key_is_no_error,
    expectations_hold_or_conflict,
    a_conflict_changes_nothing,
    expectations_see_the_state_before_the_first_change,
    a_version_never_comes_back,
    a_writing_changes_the_version_of_its_keys_alone,
    a_version_that_cannot_exist_conflicts,
    an_empty_commit_succeeds,
    a_scan_is_in_the_order_of_bytes,
    a_scan_gives_the_prefix_and_nothing_else,
    a_prefix_may_end_in_the_last_code_point,
    a_scan_goes_on_after_the_last_entry,
    the_limit_of_a_scan_is_clamped,
    a_scan_stops_when_it_has_many_bytes,
    keys_keep_their_limits,
    values_keep_their_limit,
    commits_keep_their_limit,
    a_commit_names_a_key_once,
    keys_that_cannot_be_written_are_absent,
    a_refused_commit_changes_nothing,
    increments_of_8_threads_are_all_counted,
    commits_of_8_threads_are_whole,
}

#[test]
fn two_handles_see_each_others_commits() {
    let (_directory, file) = directory();
    let (one, other) = (open(&file), open(&file));
    for round in 0..10 {
        let text = round.to_string();
        one.commit(&[set("a", &text)]).expect("the commit succeeds");
        assert_eq!(value(&other, "a"), Some(text.clone()));
        other
            .commit(&[set("b", &text)])
            .expect("the commit succeeds");
        assert_eq!(value(&one, "b"), Some(text));
    }
}

#[test]
fn what_was_committed_is_there_when_the_store_is_opened_again() {
    let (_directory, file) = directory();
    open(&file)
        .commit(&[set("a", "1")])
        .expect("the commit succeeds");
    let store = open(&file);
    assert_eq!(value(&store, "a").as_deref(), Some("1"));
}

#[test]
fn sixteen_processes_open_a_new_store_at_once_and_lose_nothing() {
    let (_directory, file) = directory();
    let children: Vec<Child> = (0..16).map(|_| start("increment", &file)).collect();
    for child in children {
        assert_success(child);
    }
    assert_eq!(value(&open(&file), "counter").as_deref(), Some("800"));
}

#[test]
fn a_process_killed_in_mid_commit_leaves_all_of_it_or_nothing() {
    let (_directory, file) = directory();
    for certain in [1, 3, 7, 20, 50] {
        let mut child = start("write pairs", &file);
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut said = lines
            .map_while(Result::ok)
            .filter(|line| line.starts_with("certain "));
        let last = said
            .nth(certain)
            .expect("the child writes on until it is killed");
        child.kill().expect("the child can be killed");
        child.wait().expect("the child can be waited for");

        let store = open(&file);
        let (a, b) = (value(&store, "pair/a"), value(&store, "pair/b"));
        assert_eq!(a, b, "half a commit is there");
        let number = |text: &str| text.parse::<u64>().expect("only numbers are written");
        let last = number(last.trim_start_matches("certain "));
        assert!(
            a.is_some_and(|a| number(&a) >= last),
            "a commit that was certain is lost"
        );
    }
}

/// A child process that does not outlive its test, even where that fails.
struct Mortal(Child);

impl Drop for Mortal {
    fn drop(&mut self) {
        // Both fail only where it has ended before, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a process that writes all the time, and stops it while it has the lock.
fn stopped_in_mid_commit(file: &Path) -> Mortal {
    let mut child = Mortal(start("write pairs", file));
    let pid = Pid::from_child(&child.0);
    let mut said = BufReader::new(child.0.stdout.take().expect("it is piped")).lines();
    let deadline = Instant::now() + PATIENCE;
    loop {
        // It has gone on since it was stopped before; where it has said something, it is about to write again.
        let line = said.next().expect("the child writes until it is killed");
        if !line.expect("the child says text").starts_with("certain ") {
            continue;
        }
        kill_process(pid, Signal::STOP).expect("the child is ours");
        waitpid(Some(pid), WaitOptions::UNTRACED).expect("the child is ours");
        if is_locked(file) {
            return child;
        }
        assert!(Instant::now() < deadline, "it never stops in a commit");
        kill_process(pid, Signal::CONT).expect("the child is ours");
    }
}

fn is_locked(file: &Path) -> bool {
    let connection = rusqlite::Connection::open(file).expect("the file is a database");
    connection
        .busy_timeout(Duration::ZERO)
        .expect("the connection is open");
    connection
        .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
        .is_err()
}

#[test]
fn a_process_that_stops_in_mid_commit_holds_up_no_reads_and_is_named_to_commits_until_it_goes_on_or_ends()
 {
    for end in [Signal::CONT, Signal::KILL] {
        let (_directory, file) = directory();
        drop(open(&file));
        let stopped = stopped_in_mid_commit(&file);
        let store = open(&file);
        assert!(value(&store, "pair/a").is_some(), "reads do not wait");
        let begin = Instant::now();
        let refused = store.commit(&[set("other", "0")]);
        let waited = begin.elapsed();
        let Err(Error::Stopped { pid }) = refused else {
            panic!("{refused:?} after {waited:?}");
        };
        assert_eq!(pid, stopped.0.id());
        kill_process(Pid::from_child(&stopped.0), end).expect("the child is ours");
        store
            .commit(&[set("other", "1")])
            .expect("the lock is free, or soon will be");
        assert_eq!(value(&store, "other").as_deref(), Some("1"));
    }
}

#[test]
fn the_files_are_private_whatever_was_there() {
    let (directory, file) = directory();
    fs::write(&file, "").expect("the file can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("the file is ours");
    let store = open(&file);
    store.commit(&[set("a", "1")]).expect("the commit succeeds");
    let files = fs::read_dir(directory.path()).expect("the directory can be read");
    let mut modes = BTreeMap::new();
    for entry in files {
        let entry = entry.expect("the directory can be read");
        let metadata = entry.metadata().expect("the file is there");
        let suffix = entry.file_name().to_string_lossy().into_owned();
        let suffix = suffix.replacen("store.sqlite", "", 1);
        modes.insert(suffix, metadata.permissions().mode() & 0o777);
    }
    let private = ["", "-reserve", "-shm", "-wal"].map(|suffix| (suffix.to_owned(), 0o600));
    assert_eq!(modes, BTreeMap::from(private), "the files and their modes");
}

/// Changes a store's file as another program would.
fn tamper(file: &Path, statements: &str) {
    let connection = rusqlite::Connection::open(file).expect("the file is a database");
    connection
        .execute_batch(statements)
        .expect("the statements are right");
}

#[test]
fn a_newer_schema_is_refused_with_what_to_do() {
    let (_directory, file) = directory();
    drop(open(&file));
    tamper(&file, "PRAGMA user_version = 1000");
    match SqliteStore::open(&file) {
        Err(OpenError::Unusable {
            source: source @ Error::Newer { found: 1000, .. },
            ..
        }) => {
            let text = source.to_string();
            assert!(text.contains("install the newer backburner"), "{text}");
        }
        other => panic!("it was to be refused, not {other:?}"),
    }
}

#[test]
fn a_schema_that_becomes_newer_stops_writing() {
    let (_directory, file) = directory();
    let store = open(&file);
    store.commit(&[set("a", "1")]).expect("the commit succeeds");
    tamper(&file, "PRAGMA user_version = 1000");
    let result = store.commit(&[set("a", "2")]);
    assert!(matches!(result, Err(Error::Newer { .. })), "{result:?}");
}

#[test]
fn another_programs_database_is_left_alone() {
    for statements in [
        "CREATE TABLE t (a)",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 1000",
        "PRAGMA application_id = 7; PRAGMA user_version = 1000",
    ] {
        let (_directory, file) = directory();
        tamper(&file, statements);
        let before = fs::read(&file).expect("the file can be read");
        let result = SqliteStore::open(&file);
        assert!(
            matches!(result, Err(OpenError::Foreign { .. })),
            "{statements}: {result:?}"
        );
        assert_eq!(
            fs::read(&file).expect("the file can be read"),
            before,
            "{statements}"
        );
    }
}

#[test]
fn a_file_that_is_no_database_is_corrupt() {
    let (_directory, file) = directory();
    fs::write(
        &file,
        "this is not a database, and longer than a header of one is: ".repeat(100),
    )
    .expect("the file can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("the file is ours");
    let result = SqliteStore::open(&file);
    let is_corrupt = matches!(
        result,
        Err(OpenError::Unusable {
            source: Error::Corrupt(_),
            ..
        })
    );
    assert!(is_corrupt, "{result:?}");
}

#[test]
fn a_damaged_page_is_corrupt_and_no_panic() {
    let (_directory, file) = directory();
    let store = open(&file);
    for number in 0..200 {
        let key = format!("key/{number:03}");
        store
            .commit(&[set(&key, &"v".repeat(1000))])
            .expect("the commit succeeds");
    }
    drop(store);
    let mut bytes = fs::read(&file).expect("the file can be read");
    // Everything but the first page, which holds the schema.
    bytes[4096..].fill(0xa5);
    fs::write(&file, bytes).expect("the file can be written");

    let store = open(&file);
    let read = store.get("key/100");
    assert!(matches!(read, Err(Error::Corrupt(_))), "{read:?}");
    let scanned = store.scan("key/", None, 1000);
    assert!(matches!(scanned, Err(Error::Corrupt(_))), "{scanned:?}");
    let written = store.commit(&[set("key/100", "new")]);
    assert!(matches!(written, Err(Error::Corrupt(_))), "{written:?}");
}

#[test]
fn a_missing_directory_is_an_error_that_names_the_file() {
    let (directory, _) = directory();
    let file = directory.path().join("missing").join("store.sqlite");
    let error = SqliteStore::open(&file).expect_err("there is no such directory");
    assert!(
        error.to_string().contains("missing/store.sqlite"),
        "{error}"
    );
}
