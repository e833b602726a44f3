//! What cannot be seen through the trait: how connections are set up, and a disk that is full.

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
    let transaction = statement::begin(&writer).expect("nobody else writes");
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
    let begun = statement::begin(&connection).expect("nobody else writes");
    let results = write(&connection, begun, &[&small, &large, &small]);
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    assert!(matches!(results[1], Err(Error::NoSpace(_))), "{results:?}");
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
    let begun = statement::begin(&connection).expect("nobody else writes");
    let both = [absent("b"), absent("a")];
    let results = write(&connection, begun, &[&[absent("a")], &both, &[absent("b")]]);
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
    let lock = statement::begin(&holder).expect("nobody else writes");
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
