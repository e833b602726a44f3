//! The promises of the WIT interface `store`, as checks that every implementation has to pass.
//!
//! Each check gets an empty store, and is listed in `store.rs`.

use backburner::store::{
    CHANGES_MAX, Change, Entry, Error, Expectation, KEY_BYTES_MAX, SCAN_BYTES_MAX, Store,
    VALUE_BYTES_MAX,
};

/// A change that writes.
pub(crate) fn put(key: &str, value: &str, expect: Expectation) -> Change {
    Change::Put {
        key: key.to_owned(),
        value: value.to_owned(),
        expect,
    }
}

/// A change that writes whatever is there.
pub(crate) fn set(key: &str, value: &str) -> Change {
    put(key, value, Expectation::Anything)
}

fn remove(key: &str, expect: Expectation) -> Change {
    Change::Remove {
        key: key.to_owned(),
        expect,
    }
}

fn write(store: &dyn Store, changes: &[Change]) {
    store.commit(changes).expect("the commit succeeds");
}

/// The value of a key, where it exists.
pub(crate) fn value(store: &dyn Store, key: &str) -> Option<String> {
    store
        .get(key)
        .expect("the read succeeds")
        .map(|found| found.value)
}

fn version(store: &dyn Store, key: &str) -> u64 {
    store
        .get(key)
        .expect("the read succeeds")
        .expect("the key exists")
        .version
}

fn keys(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.key.as_str()).collect()
}

fn scan(store: &dyn Store, prefix: &str, after: Option<&str>, limit: u32) -> Vec<Entry> {
    store.scan(prefix, after, limit).expect("the scan succeeds")
}

fn assert_conflict(store: &dyn Store, changes: &[Change], on: &str) {
    match store.commit(changes) {
        Err(Error::Conflict { key }) => assert_eq!(key, on),
        other => panic!("a conflict on `{on}` was expected, not {other:?}"),
    }
}

pub(crate) fn a_key_that_was_never_written_is_absent(store: &dyn Store) {
    assert_eq!(value(store, "a"), None);
    assert_eq!(scan(store, "", None, 1000), Vec::new());
}

pub(crate) fn a_value_comes_back_unchanged(store: &dyn Store) {
    let all = "{\"text\":\"ä€😀\\u0000\"}\r\n\0 end";
    write(store, &[set("ключ/😀", all), set("empty", "")]);
    assert_eq!(value(store, "ключ/😀").as_deref(), Some(all));
    assert_eq!(value(store, "empty").as_deref(), Some(""));
    let entries = scan(store, "ключ", None, 10);
    assert_eq!(entries[0].value, all);
    assert_eq!(entries[0].version, version(store, "ключ/😀"));
}

pub(crate) fn a_removed_key_is_absent(store: &dyn Store) {
    write(store, &[set("a", "1")]);
    write(store, &[remove("a", Expectation::Anything)]);
    assert_eq!(value(store, "a"), None);
}

pub(crate) fn removing_an_absent_key_is_no_error(store: &dyn Store) {
    write(store, &[remove("a", Expectation::Anything)]);
    write(store, &[remove("a", Expectation::Absent)]);
    assert_conflict(store, &[remove("a", Expectation::WrittenBy(1))], "a");
}

pub(crate) fn expectations_hold_or_conflict(store: &dyn Store) {
    write(store, &[put("a", "1", Expectation::Absent)]);
    assert_conflict(store, &[put("a", "2", Expectation::Absent)], "a");
    let first = version(store, "a");
    write(store, &[put("a", "2", Expectation::WrittenBy(first))]);
    assert_conflict(store, &[put("a", "3", Expectation::WrittenBy(first))], "a");
    assert_conflict(store, &[remove("a", Expectation::WrittenBy(first))], "a");
    assert_eq!(value(store, "a").as_deref(), Some("2"));
    write(
        store,
        &[remove("a", Expectation::WrittenBy(version(store, "a")))],
    );
    assert_eq!(value(store, "a"), None);
}

pub(crate) fn a_conflict_changes_nothing(store: &dyn Store) {
    write(store, &[set("b", "1"), set("c", "1")]);
    let changes = [
        set("a", "new"),
        remove("b", Expectation::Anything),
        put("c", "new", Expectation::Absent),
        set("d", "new"),
    ];
    assert_conflict(store, &changes, "c");
    assert_eq!(keys(&scan(store, "", None, 10)), ["b", "c"]);
    assert_eq!(value(store, "c").as_deref(), Some("1"));
}

pub(crate) fn expectations_see_the_state_before_the_first_change(store: &dyn Store) {
    write(store, &[set("a", "1")]);
    let found = version(store, "a");
    write(
        store,
        &[
            remove("a", Expectation::WrittenBy(found)),
            put("b", "1", Expectation::Absent),
        ],
    );
    assert_eq!(keys(&scan(store, "", None, 10)), ["b"]);
}

pub(crate) fn a_version_never_comes_back(store: &dyn Store) {
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..20 {
        write(store, &[set("a", "same")]);
        assert!(seen.insert(version(store, "a")), "a version came back");
        write(store, &[remove("a", Expectation::Anything)]);
    }
}

pub(crate) fn a_writing_changes_the_version_of_its_keys_alone(store: &dyn Store) {
    write(store, &[set("a", "1"), set("b", "1")]);
    let (a, b) = (version(store, "a"), version(store, "b"));
    write(store, &[set("a", "1")]);
    assert_ne!(version(store, "a"), a);
    assert_eq!(version(store, "b"), b);
}

pub(crate) fn a_version_that_cannot_exist_conflicts(store: &dyn Store) {
    write(store, &[set("a", "1")]);
    assert_conflict(store, &[put("a", "2", Expectation::WrittenBy(0))], "a");
    assert_conflict(
        store,
        &[put("a", "2", Expectation::WrittenBy(u64::MAX))],
        "a",
    );
}

pub(crate) fn an_empty_commit_succeeds(store: &dyn Store) {
    write(store, &[]);
    assert_eq!(scan(store, "", None, 10), Vec::new());
}

pub(crate) fn a_scan_is_in_the_order_of_bytes(store: &dyn Store) {
    let sorted = [
        "A", "B", "a", "a/", "a/1", "a0", "b", "\u{7f}", "ä", "\u{d7ff}", "\u{e000}", "😀",
    ];
    for key in sorted.iter().rev() {
        write(store, &[set(key, "")]);
    }
    assert_eq!(keys(&scan(store, "", None, 100)), sorted);
}

pub(crate) fn a_scan_gives_the_prefix_and_nothing_else(store: &dyn Store) {
    for key in [
        "task", "task/", "task/1", "task/2", "task0", "Task/1", "tas", "task%", "task_",
    ] {
        write(store, &[set(key, "")]);
    }
    assert_eq!(
        keys(&scan(store, "task/", None, 100)),
        ["task/", "task/1", "task/2"]
    );
    assert_eq!(keys(&scan(store, "task/1", None, 100)), ["task/1"]);
    assert_eq!(keys(&scan(store, "task/3", None, 100)), [""; 0]);
    assert_eq!(keys(&scan(store, "task%", None, 100)), ["task%"]);
}

pub(crate) fn a_prefix_may_end_in_the_last_code_point(store: &dyn Store) {
    let last = "\u{10ffff}";
    let inside = [
        format!("a{last}"),
        format!("a{last}x"),
        format!("a{last}{last}"),
    ];
    for key in inside
        .iter()
        .map(String::as_str)
        .chain(["a", "b", "a\u{10fffe}", last])
    {
        write(store, &[set(key, "")]);
    }
    assert_eq!(keys(&scan(store, &format!("a{last}"), None, 100)), inside);
    assert_eq!(keys(&scan(store, last, None, 100)), [last]);
    assert_eq!(
        keys(&scan(store, &format!("{last}{last}"), None, 100)),
        [""; 0]
    );
}

pub(crate) fn a_scan_goes_on_after_the_last_entry(store: &dyn Store) {
    for key in ["a/1", "a/2", "a/3", "b/1"] {
        write(store, &[set(key, "")]);
    }
    let first = scan(store, "a/", None, 2);
    assert_eq!(keys(&first), ["a/1", "a/2"]);
    assert_eq!(keys(&scan(store, "a/", Some("a/2"), 2)), ["a/3"]);
    assert_eq!(keys(&scan(store, "a/", Some("a/3"), 2)), [""; 0]);
    // What is given need not exist, nor lie within the prefix.
    assert_eq!(keys(&scan(store, "a/", Some("a/1x"), 9)), ["a/2", "a/3"]);
    assert_eq!(keys(&scan(store, "a/", Some(""), 9)), ["a/1", "a/2", "a/3"]);
    assert_eq!(keys(&scan(store, "a/", Some("z"), 9)), [""; 0]);
}

pub(crate) fn the_limit_of_a_scan_is_clamped(store: &dyn Store) {
    let names: Vec<String> = (0..1001).map(|n| format!("{n:04}")).collect();
    for some in names.chunks(CHANGES_MAX) {
        let changes: Vec<Change> = some.iter().map(|name| set(name, "")).collect();
        write(store, &changes);
    }
    assert_eq!(scan(store, "", None, 0).len(), 1);
    assert_eq!(scan(store, "", None, 3).len(), 3);
    assert_eq!(scan(store, "", None, 1000).len(), 1000);
    assert_eq!(scan(store, "", None, u32::MAX).len(), 1000);
}

pub(crate) fn a_scan_stops_when_it_has_many_bytes(store: &dyn Store) {
    let value = "v".repeat(VALUE_BYTES_MAX);
    for name in 'a'..='f' {
        write(store, &[set(&name.to_string(), &value)]);
    }
    let page = scan(store, "", None, 1000);
    let bytes: usize = page.iter().map(|entry| entry.value.len()).sum();
    assert!(
        !page.is_empty() && bytes <= SCAN_BYTES_MAX + VALUE_BYTES_MAX,
        "{bytes} bytes"
    );
    let last = page.last().map(|entry| entry.key.as_str());
    assert_eq!(page.len() + scan(store, "", last, 1000).len(), 6);
}

pub(crate) fn keys_keep_their_limits(store: &dyn Store) {
    let longest = "k".repeat(KEY_BYTES_MAX);
    write(store, &[set(&longest, "1")]);
    assert_eq!(value(store, &longest).as_deref(), Some("1"));
    // 257 characters, 514 bytes.
    for long in [format!("{longest}k"), "ä".repeat(257)] {
        for change in [set(&long, ""), remove(&long, Expectation::Anything)] {
            let result = store.commit(&[change]);
            assert!(matches!(result, Err(Error::TooLarge { .. })), "{result:?}");
        }
    }
    for bad in ["", "\0", "a\0b"] {
        for change in [set(bad, ""), remove(bad, Expectation::Anything)] {
            let result = store.commit(&[change]);
            assert!(matches!(result, Err(Error::Invalid(_))), "{result:?}");
        }
    }
}

pub(crate) fn values_keep_their_limit(store: &dyn Store) {
    let greatest = "v".repeat(VALUE_BYTES_MAX);
    write(store, &[set("a", &greatest)]);
    assert_eq!(value(store, "a").as_deref(), Some(greatest.as_str()));
    let result = store.commit(&[set("a", &format!("{greatest}v"))]);
    assert!(matches!(result, Err(Error::TooLarge { .. })), "{result:?}");
}

pub(crate) fn commits_keep_their_limit(store: &dyn Store) {
    let most: Vec<Change> = (0..CHANGES_MAX)
        .map(|n| set(&format!("{n:02}"), ""))
        .collect();
    write(store, &most);
    assert_eq!(scan(store, "", None, 1000).len(), CHANGES_MAX);
    let more: Vec<Change> = (0..=CHANGES_MAX)
        .map(|n| set(&format!("m{n:02}"), ""))
        .collect();
    let result = store.commit(&more);
    assert!(matches!(result, Err(Error::TooLarge { .. })), "{result:?}");
}

pub(crate) fn a_commit_names_a_key_once(store: &dyn Store) {
    let result = store.commit(&[set("a", "1"), remove("a", Expectation::Anything)]);
    assert!(matches!(result, Err(Error::Invalid(_))), "{result:?}");
}

pub(crate) fn keys_that_cannot_be_written_are_absent(store: &dyn Store) {
    write(store, &[set("a", "1")]);
    for key in ["", "\0", "a\0", &"k".repeat(KEY_BYTES_MAX + 1)] {
        assert_eq!(value(store, key), None);
    }
    assert_eq!(scan(store, "a\0", None, 10), Vec::new());
}

pub(crate) fn a_refused_commit_changes_nothing(store: &dyn Store) {
    store
        .commit(&[set("a", "1"), set("", "1")])
        .expect_err("an empty key is refused");
    assert_eq!(value(store, "a"), None);
}

/// Adds one to the number under a key, and tries again when somebody else did so meanwhile.
pub(crate) fn increment(store: &dyn Store, key: &str) {
    loop {
        let found = store.get(key).expect("the read succeeds");
        let (number, expect) = match found {
            Some(found) => {
                let number: u64 = found.value.parse().expect("only numbers are written");
                (number, Expectation::WrittenBy(found.version))
            }
            None => (0, Expectation::Absent),
        };
        match store.commit(&[put(key, &(number + 1).to_string(), expect)]) {
            Ok(()) => return,
            Err(Error::Conflict { .. }) => {}
            Err(error) => panic!("an increment failed: {}", error.detail()),
        }
    }
}

pub(crate) fn increments_of_8_threads_are_all_counted(store: &dyn Store) {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    increment(store, "counter");
                }
            });
        }
    });
    assert_eq!(value(store, "counter").as_deref(), Some("1600"));
}

pub(crate) fn commits_of_8_threads_are_whole(store: &dyn Store) {
    write(store, &[set("pair/a", "0"), set("pair/b", "0")]);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for round in 0..50 {
                    let both = format!("{thread}.{round}");
                    write(store, &[set("pair/a", &both), set("pair/b", &both)]);
                    let pair = scan(store, "pair/", None, 2);
                    assert_eq!(pair[0].value, pair[1].value, "half a commit was seen");
                }
            });
        }
    });
}
