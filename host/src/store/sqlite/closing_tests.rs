//! What is in which file when a store was closed, and what of a copy can be opened.

use std::fs;
use std::path::PathBuf;

use super::super::Expectation;
use super::file::{INDEX, LOG, beside};
use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("there is room");
    let database = directory.path().join("store.sqlite");
    (directory, database)
}

fn open(database: &Path) -> SqliteStore {
    SqliteStore::open(database).unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

fn set(key: &str, value: &str) -> Change {
    Change::Put {
        key: key.to_owned(),
        value: value.to_owned(),
        expect: Expectation::Anything,
    }
}

fn value(store: &SqliteStore, key: &str) -> Option<String> {
    let found = store.get(key).expect("the read succeeds");
    found.map(|found| found.value)
}

#[test]
fn a_store_that_was_closed_is_in_its_database_alone() {
    let (_directory, database) = place();
    let store = open(&database);
    store.commit(&[set("a", "1")]).expect("there is room");
    assert!(beside(&database, LOG).exists());
    store.close();
    for suffix in [LOG, INDEX] {
        assert!(!beside(&database, suffix).exists(), "{suffix}");
    }
    assert_eq!(value(&open(&database), "a").as_deref(), Some("1"));
}

#[test]
fn a_connection_that_is_in_use_when_the_store_is_closed_is_the_last_one() {
    let (_directory, database) = place();
    let store = open(&database);
    store.commit(&[set("a", "1")]).expect("there is room");
    let in_use = store.pool.take().expect("there is a connection");
    store.close();
    assert!(beside(&database, LOG).exists());
    drop(in_use);
    assert!(!beside(&database, LOG).exists());
}

#[test]
fn a_store_that_was_closed_refuses_calls_and_makes_no_files() {
    let (_directory, database) = place();
    let store = open(&database);
    store.close();
    let results = [store.commit(&[set("a", "1")]), store.get("a").map(drop)];
    for result in results {
        assert!(matches!(result, Err(Error::Closed)), "{result:?}");
    }
    assert!(!beside(&database, LOG).exists());
}

#[test]
fn a_store_that_is_closed_beside_another_leaves_it_the_log() {
    let (_directory, database) = place();
    let (one, other) = (open(&database), open(&database));
    one.commit(&[set("a", "1")]).expect("there is room");
    one.close();
    other.commit(&[set("b", "2")]).expect("there is room");
    assert_eq!(value(&other, "a").as_deref(), Some("1"));
    other.close();
    assert!(!beside(&database, LOG).exists());
}

#[test]
fn a_store_whose_log_was_changed_writes_nothing_of_it_when_it_is_closed() {
    let (_directory, database) = place();
    let store = open(&database);
    store.commit(&[set("a", "1")]).expect("there is room");
    let before = fs::read(&database).expect("it is ours");
    let log = fs::File::options()
        .write(true)
        .open(beside(&database, LOG))
        .expect("it is ours");
    // A gap, in which SQLite would find pages of zeros.
    let bytes = log.metadata().expect("it is open").len();
    log.set_len(0).expect("it is ours");
    log.set_len(bytes).expect("it is ours");
    store.close();
    drop(store);
    assert_eq!(fs::read(&database).expect("it is ours"), before);
    open(&database);
}

#[test]
fn a_copy_without_a_log_gets_one() {
    let (directory, database) = place();
    let store = open(&database);
    store.commit(&[set("a", "1")]).expect("there is room");
    let copy = directory.path().join("copy.sqlite");
    let connection = store.pool.take().expect("there is a connection");
    connection
        .execute("VACUUM INTO ?1", [copy.to_str().expect("it is text")])
        .expect("there is room");
    let copied = open(&copy);
    assert_eq!(value(&copied, "a").as_deref(), Some("1"));
    copied.commit(&[set("a", "2")]).expect("there is room");
    assert_eq!(value(&open(&copy), "a").as_deref(), Some("2"));
}

#[test]
fn what_was_removed_is_not_in_the_files_of_a_store_that_was_closed() {
    const SECRET: &str = "correct horse battery staple";
    let (_directory, database) = place();
    let store = open(&database);
    // In a page of its own, and in one that it shares.
    let long = SECRET.repeat(1000);
    store
        .commit(&[
            set("long", &long),
            set("short", SECRET),
            set("kept", "kept"),
        ])
        .expect("there is room");
    store.close();
    let has = |text: &str| {
        let bytes = fs::read(&database).expect("it is ours");
        bytes
            .windows(text.len())
            .any(|found| found == text.as_bytes())
    };
    assert!(has(SECRET) && has("kept"));
    let store = open(&database);
    let remove = |key: &str| Change::Remove {
        key: key.to_owned(),
        expect: Expectation::Anything,
    };
    store
        .commit(&[remove("long"), remove("short")])
        .expect("there is room");
    store.close();
    assert!(!has(SECRET) && has("kept"));
    assert!(!beside(&database, LOG).exists());
}
