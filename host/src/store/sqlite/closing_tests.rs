//! What of a copy can be opened.

use std::path::PathBuf;

use super::super::Expectation;
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
