//! What cannot be seen through the trait: how connections are set up, a disk that is full, and files that go away.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Barrier;

use super::super::Expectation;
use super::*;

fn store() -> (tempfile::TempDir, SqliteStore) {
    let directory = tempfile::TempDir::new().expect("there is a directory for temporary files");
    let store = SqliteStore::open(&directory.path().join("store.sqlite"))
        .expect("a new store can be opened");
    (directory, store)
}

fn set(key: &str, value: &str) -> Change {
    Change::Put {
        key: key.to_owned(),
        value: value.to_owned(),
        expect: Expectation::Anything,
    }
}

fn pragma<T: rusqlite::types::FromSql>(store: &SqliteStore, name: &str) -> T {
    let connection = store.pool.take().expect("there is a connection");
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .expect("the pragma exists")
}

#[test]
fn a_connection_is_power_safe_and_small() {
    let (_directory, store) = store();
    assert_eq!(pragma::<String>(&store, "journal_mode"), "wal");
    assert_eq!(pragma::<i64>(&store, "synchronous"), 2, "2 is FULL");
    assert_eq!(pragma::<i64>(&store, "fullfsync"), 1);
    assert_eq!(pragma::<i64>(&store, "mmap_size"), 0);
    assert_eq!(pragma::<i64>(&store, "cache_size"), -1024);
    assert_eq!(pragma::<i64>(&store, "secure_delete"), 1);
}

#[test]
fn one_thread_uses_one_connection() {
    let (_directory, store) = store();
    store.commit(&[set("a", "1")]).expect("the commit succeeds");
    store.get("a").expect("the read succeeds");
    store.scan("", None, 10).expect("the scan succeeds");
    let connection = store.pool.take().expect("there is a connection");
    connection
        .pragma_update(None, "cache_size", -7)
        .expect("the pragma exists");
    drop(connection);
    assert_eq!(
        pragma::<i64>(&store, "cache_size"),
        -7,
        "it was the only one"
    );
}

#[test]
fn a_read_does_not_wait_for_a_write() {
    let (_directory, store) = store();
    store
        .commit(&[set("a", "before")])
        .expect("the commit succeeds");
    let writer = store.pool.take().expect("there is a connection");
    let transaction = statement::begin(&writer, BUSY_TIMEOUT, || None).expect("nobody else writes");
    transaction
        .execute("UPDATE entry SET value = 'within'", [])
        .expect("there is room");
    let found = store
        .get("a")
        .expect("the read succeeds")
        .expect("the key exists");
    assert_eq!(found.value, "before");
}

/// Allows the file no page more than it has. Holds for one connection: the test keeps to one thread.
fn fill_disk(store: &SqliteStore) {
    let pages: i64 = pragma(store, "page_count");
    let connection = store.pool.take().expect("there is a connection");
    let set = format!("PRAGMA max_page_count = {pages}");
    connection
        .query_row(&set, [], |_| Ok(()))
        .expect("the pragma exists");
}

#[test]
fn a_full_disk_is_no_space_and_changes_nothing() {
    let (_directory, store) = store();
    store.commit(&[set("a", "1")]).expect("the commit succeeds");
    fill_disk(&store);
    let result = store.commit(&[set("a", "2"), set("b", &"v".repeat(100_000))]);
    assert!(matches!(result, Err(Error::NoSpace(_))), "{result:?}");
    let found = store
        .get("a")
        .expect("the read succeeds")
        .expect("the key exists");
    assert_eq!(found.value, "1");
}

#[test]
fn on_a_full_disk_a_commit_that_fits_succeeds_beside_one_that_does_not() {
    let (_directory, store) = store();
    store.commit(&[set("a", "1")]).expect("the commit succeeds");
    fill_disk(&store);
    let connection = store.pool.take().expect("there is a connection");
    let large = [set("b", &"v".repeat(100_000))];
    let small = [set("a", "2")];
    let begun = statement::begin(&connection, BUSY_TIMEOUT, || None).expect("nobody else writes");
    let results = store.write(&connection, begun, &[&small, &large, &small]);
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    assert!(matches!(results[1], Err(Error::NoSpace(_))), "{results:?}");
}

/// What SQLite says.
fn sqlite_error(code: i32) -> Error {
    SqlError::SqliteFailure(ffi::Error::new(code), None).into()
}

/// A store whose reserve is kept, and what brings something new and what does not.
fn store_with_reserve() -> (tempfile::TempDir, SqliteStore, [Change; 2]) {
    let (directory, store) = store();
    store.reserve.keep().expect("there is room");
    let new = Change::Put {
        key: "new".to_owned(),
        value: "v".repeat(NOTE_BYTES),
        expect: Expectation::Absent,
    };
    (directory, store, [new, set("old", "1")])
}

fn has_reserve(directory: &tempfile::TempDir) -> bool {
    directory.path().join("store.sqlite-reserve").exists()
}

#[test]
fn the_reserve_is_for_what_brings_nothing_new() {
    let (directory, store, [new, old]) = store_with_reserve();
    // There is room when the reserve is gone.
    let attempt = || {
        if has_reserve(&directory) {
            Err(sqlite_error(ffi::SQLITE_FULL))
        } else {
            Ok(())
        }
    };
    let refused = store.on_full_disk(std::slice::from_ref(&new), attempt);
    assert!(matches!(refused, Err(Error::NoSpace(_))), "{refused:?}");
    assert!(has_reserve(&directory));
    store
        .on_full_disk(&[old], attempt)
        .expect("there is room for it");
    assert!(!has_reserve(&directory));
    store
        .on_full_disk(&[new], || Ok(()))
        .expect("there is room for both");
    assert!(has_reserve(&directory), "it is kept again before");
}

#[test]
fn a_note_is_nothing_new_and_a_task_is() {
    let put = |key: &str, value: &str| Change::Put {
        key: key.to_owned(),
        value: value.to_owned(),
        expect: Expectation::Absent,
    };
    let half = "v".repeat(NOTE_BYTES / 2);
    assert!(!is_new(&[put("used-state/17", r#"{"refused":true}"#)]));
    assert!(!is_new(&[put("k", &half)]));
    assert!(is_new(&[put("k", &half), put("l", &half)]));
    assert!(is_new(&[put("k", ""), set("l", &half.repeat(2))]));
    assert!(!is_new(&[set("l", &half.repeat(3))]));
}

#[test]
fn a_commit_whose_beginning_finds_no_room_has_the_reserve() {
    let (directory, store, [new, old]) = store_with_reserve();
    let connection = store.pool.take().expect("there is a connection");
    let begun = Err(sqlite_error(ffi::SQLITE_FULL));
    let results = store.written(&connection, begun, &[&[new], &[old]]);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    drop(connection);
    assert!(store.get("old").expect("it can be read").is_some());
    assert!(has_reserve(&directory), "there was room");
    let connection = store.pool.take().expect("there is a connection");
    let begun = Err(Error::Busy(Arc::new(sqlite_error(ffi::SQLITE_BUSY))));
    let results = store.written(&connection, begun, &[&[set("old", "2")]]);
    assert!(matches!(results[0], Err(Error::Busy(_))), "{results:?}");
}

#[test]
fn the_reserve_stays_where_it_is_not_room_that_lacks() {
    let (directory, store, [_, old]) = store_with_reserve();
    for code in [
        ffi::SQLITE_CANTOPEN,
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
    ] {
        let old = std::slice::from_ref(&old);
        let failed = store.on_full_disk(old, || Err::<(), _>(sqlite_error(code)));
        assert!(failed.is_err(), "{code}");
        assert!(has_reserve(&directory), "{code}");
    }
}

#[test]
fn what_fails_on_a_disk_that_can_only_be_read_says_so() {
    for code in [
        ffi::SQLITE_CANTOPEN,
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
    ] {
        let told = on_disk(sqlite_error(code), Disk::ReadOnly);
        assert!(matches!(told, Error::ReadOnly(_)), "{code}: {told:?}");
        let told = on_disk(sqlite_error(code), Disk::Writable);
        assert!(!matches!(told, Error::ReadOnly(_)), "{code}: {told:?}");
    }
    let told = on_disk(sqlite_error(ffi::SQLITE_CORRUPT), Disk::ReadOnly);
    assert!(matches!(told, Error::Corrupt(_)), "{told:?}");
}

#[test]
fn what_can_only_be_read_says_so() {
    let (directory, store) = store();
    store.commit(&[set("a", "1")]).expect("the commit succeeds");
    let path = directory.path().join("store.sqlite");
    let reading = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY);
    let refused = reading
        .expect("the file is there")
        .execute("DELETE FROM entry", ());
    let error = Error::from(refused.expect_err("it can only be read"));
    assert!(matches!(error, Error::ReadOnly(_)), "{error:?}");
}

#[test]
fn a_conflict_fails_only_its_own_commit() {
    let (_directory, store) = store();
    let connection = store.pool.take().expect("there is a connection");
    let absent = |key: &str| Change::Put {
        key: key.to_owned(),
        value: "1".to_owned(),
        expect: Expectation::Absent,
    };
    let begun = statement::begin(&connection, BUSY_TIMEOUT, || None).expect("nobody else writes");
    let both = [absent("b"), absent("a")];
    let results = store.write(&connection, begun, &[&[absent("a")], &both, &[absent("b")]]);
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    assert!(
        matches!(&results[1], Err(Error::Conflict { key }) if key == "a"),
        "{results:?}"
    );
}

#[test]
fn commits_that_meet_share_transactions() {
    const THREADS: usize = 8;
    let (_directory, store) = store();
    let holder = store.pool.take().expect("there is a connection");
    let lock = statement::begin(&holder, BUSY_TIMEOUT, || None).expect("nobody else writes");
    let barrier = Barrier::new(THREADS + 1);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let (store, barrier) = (&store, &barrier);
            scope.spawn(move || {
                barrier.wait();
                store
                    .commit(&[set(&number.to_string(), "1")])
                    .expect("the commit succeeds");
            });
        }
        barrier.wait();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while store.group.waiting_count() < THREADS - 1 {
            assert!(std::time::Instant::now() < deadline, "{:?}", store.group);
            std::thread::yield_now();
        }
        drop(lock);
    });
    let entries = store.scan("", None, 100).expect("the scan succeeds");
    assert_eq!(entries.len(), THREADS);
}

/// Something that is done to the files of an open store, which is called `store.sqlite`, in their directory.
type Harm = fn(&Path) -> io::Result<()>;

const HARMS: [(&str, Harm); 10] = [
    ("all deleted", |directory| fs::remove_dir_all(directory)),
    ("all moved", |directory| {
        fs::rename(directory, directory.with_extension("moved"))
    }),
    ("database deleted", |directory| {
        fs::remove_file(directory.join("store.sqlite"))
    }),
    ("database emptied", |directory| {
        File::create(directory.join("store.sqlite")).map(drop)
    }),
    ("database replaced", |directory| {
        replace(&directory.join("store.sqlite"))
    }),
    ("log deleted", |directory| {
        fs::remove_file(directory.join("store.sqlite-wal"))
    }),
    ("log emptied", |directory| {
        File::create(directory.join("store.sqlite-wal")).map(drop)
    }),
    ("log replaced", |directory| {
        replace(&directory.join("store.sqlite-wal"))
    }),
    ("index deleted", |directory| {
        fs::remove_file(directory.join("store.sqlite-shm"))
    }),
    ("index replaced", |directory| {
        replace(&directory.join("store.sqlite-shm"))
    }),
];

/// Puts a copy of a file in its place.
fn replace(file: &Path) -> io::Result<()> {
    let copy = file.with_extension("copy");
    fs::copy(file, &copy)?;
    fs::rename(&copy, file)
}

/// A store in a directory that may be done harm to, and what both are in.
fn store_to_harm() -> (tempfile::TempDir, PathBuf, SqliteStore) {
    let around = tempfile::TempDir::new().expect("there is a directory for temporary files");
    let directory = around.path().join("data");
    fs::create_dir(&directory).expect("the directory can be written");
    let mut store =
        SqliteStore::open(&directory.join("store.sqlite")).expect("a new store can be opened");
    store.files.look_always();
    store.commit(&[set("a", "1")]).expect("the commit succeeds");
    (around, directory, store)
}

#[test]
fn a_store_whose_files_went_fails_every_call() {
    for (harm, harm_files) in HARMS {
        let (_around, directory, store) = store_to_harm();
        harm_files(&directory).expect("the files are ours");
        let read = store.get("a");
        assert!(matches!(read, Err(Error::Lost { .. })), "{harm}: {read:?}");
        let scan = store.scan("", None, 10);
        assert!(matches!(scan, Err(Error::Lost { .. })), "{harm}: {scan:?}");
        let commit = store.commit(&[set("a", "2")]);
        assert!(
            matches!(commit, Err(Error::Lost { .. })),
            "{harm}: {commit:?}"
        );
    }
}

#[test]
fn a_commit_that_finds_the_files_gone_writes_nothing() {
    for (harm, harm_files) in HARMS {
        let (_around, directory, store) = store_to_harm();
        harm_files(&directory).expect("the files are ours");
        let commit = store.commit(&[set("a", "2")]);
        assert!(
            matches!(commit, Err(Error::Lost { .. })),
            "{harm}: {commit:?}"
        );
        // As SQLite still has it, past all checks; where the database was replaced, it may see neither.
        let connection = store.pool.take().expect("there is a connection");
        let found = statement::get(&connection, "a").ok().flatten();
        assert_ne!(
            found.map(|found| found.value).as_deref(),
            Some("2"),
            "{harm}"
        );
    }
}

#[test]
fn a_log_that_is_shorter_than_it_was_is_lost() {
    let (_around, directory, store) = store_to_harm();
    store.commit(&[set("a", "2")]).expect("the commit succeeds");
    let log = File::options()
        .write(true)
        .open(directory.join("store.sqlite-wal"))
        .expect("the file is ours");
    let bytes = log.metadata().expect("it is open").len();
    log.set_len(bytes - 1).expect("the file is ours");
    let commit = store.commit(&[set("a", "3")]);
    assert!(matches!(commit, Err(Error::Lost { .. })), "{commit:?}");
}

#[test]
fn a_log_that_is_begun_anew_is_not_lost() {
    let (_around, directory, store) = store_to_harm();
    let log = directory.join("store.sqlite-wal");
    let salt = || fs::read(&log).expect("the file is ours")[16..24].to_vec();
    let before = salt();
    // More than a checkpoint waits for, several times. SQLite writes no page that stays as it was.
    for letter in 'a'..='z' {
        let change = set("a", &letter.to_string().repeat(1 << 19));
        store.commit(&[change]).expect("the commit succeeds");
    }
    assert_ne!(salt(), before);
}

#[test]
fn a_commit_believes_no_earlier_look() {
    let (directory, store) = store();
    store.commit(&[set("a", "1")]).expect("the commit succeeds");
    fs::remove_file(directory.path().join("store.sqlite")).expect("the file is ours");
    let commit = store.commit(&[set("a", "2")]);
    assert!(matches!(commit, Err(Error::Lost { .. })), "{commit:?}");
}

#[test]
fn a_commit_during_which_the_files_went_is_not_acknowledged() {
    for (harm, harm_files) in HARMS {
        let (_around, directory, store) = store_to_harm();
        let connection = store.pool.take().expect("there is a connection");
        let begun = store.begin(&connection);
        assert!(begun.is_ok(), "{harm}: {begun:?}");
        harm_files(&directory).expect("the files are ours");
        let results = store.written(&connection, begun, &[&[set("a", "2")], &[set("b", "2")]]);
        assert_eq!(results.len(), 2);
        for result in results {
            assert!(
                matches!(result, Err(Error::Lost { .. })),
                "{harm}: {result:?}"
            );
        }
    }
}

#[test]
fn a_lost_store_says_what_went_and_what_to_do() {
    let (_around, directory, store) = store_to_harm();
    fs::remove_dir_all(&directory).expect("the files are ours");
    let error = store.get("a").expect_err("the store is lost").to_string();
    assert!(error.contains("data/store.sqlite was deleted"), "{error}");
    assert!(error.contains("start the server again"), "{error}");
}

#[test]
fn a_store_that_went_and_came_back_stays_lost_until_it_is_opened_again() {
    let (around, directory, store) = store_to_harm();
    let elsewhere = around.path().join("elsewhere");
    fs::rename(&directory, &elsewhere).expect("the files are ours");
    assert!(matches!(store.get("a"), Err(Error::Lost { .. })));
    fs::rename(&elsewhere, &directory).expect("the files are ours");
    let commit = store.commit(&[set("a", "2")]);
    assert!(matches!(commit, Err(Error::Lost { .. })), "{commit:?}");
    let again = SqliteStore::open(&directory.join("store.sqlite")).expect("the store is there");
    let found = again.get("a").expect("the read succeeds");
    assert_eq!(found.map(|found| found.value).as_deref(), Some("1"));
}

/// SQLite removes the log, by its name, when the last connection of a database is closed.
#[test]
fn a_lost_store_leaves_the_one_in_its_place_alone_when_it_is_closed() {
    let (_around, directory, old) = store_to_harm();
    fs::remove_dir_all(&directory).expect("the files are ours");
    fs::create_dir(&directory).expect("the directory can be written");
    let new = SqliteStore::open(&directory.join("store.sqlite")).expect("there is none yet");
    new.commit(&[set("a", "new")]).expect("the commit succeeds");
    drop(old);
    new.commit(&[set("b", "new")]).expect("the commit succeeds");
    assert_eq!(new.scan("", None, 10).expect("the scan succeeds").len(), 2);
}

#[test]
fn a_store_in_a_directory_behind_a_link_keeps_its_files() {
    let (around, directory, store) = store_to_harm();
    drop(store);
    let link = around.path().join("link");
    symlink(&directory, &link).expect("the directory can be written");
    let store = SqliteStore::open(&link.join("store.sqlite")).expect("the store can be opened");
    store.commit(&[set("a", "2")]).expect("the commit succeeds");
}

#[test]
fn a_lock_that_is_not_released_is_told_and_commits_go_on_when_it_is() {
    let (_directory, mut store) = store();
    store.patience = Duration::ZERO;
    let hung = store.pool.take().expect("there is a connection");
    let lock = statement::begin(&hung, BUSY_TIMEOUT, || None).expect("nobody else writes");
    let result = store.commit(&[set("a", "1")]);
    let Err(error @ Error::Busy(_)) = &result else {
        panic!("the store is locked, yet there is {result:?}");
    };
    let words = error.to_string();
    assert!(words.contains("locked by another process"), "{words}");
    assert!(words.contains("stopped"), "{words}");
    assert!(store.get("a").expect("the read succeeds").is_none());
    drop(lock);
    store.commit(&[set("a", "2")]).expect("the commit succeeds");
}
