//! Runs the host conformance kit against the implementations of this project, and against broken ones: a kit that
//! finds nothing wrong with those would say nothing of any other.

mod asking;
mod faulty_jobs;
mod faulty_store;
mod meeting;

use std::collections::BTreeSet;
use std::sync::Arc;

use backburner::data_dir::DataDir;
use backburner::jobs::SupervisedJobs;
use backburner::store::{MemoryStore, SqliteStore};
use backburner_tests::conformance::{Check, Need, Opened, Subject, checks};
use backburner_tests::fake::Machine;
use backburner_tests::{TestDir, binary};

use self::asking::{Asking, write_scripts};

/// The native host's own store and jobs in this directory, as each of its servers opens them.
fn open_native(dir: &TestDir) -> (SqliteStore, Asking) {
    let data = DataDir::open(&dir.data()).expect("the data directory can be made");
    let store = SqliteStore::open(&data.path().join("store.db")).expect("the store can be made");
    let jobs = SupervisedJobs::open(data.dir(), data.path(), binary().to_owned());
    let jobs = jobs.expect("the jobs can be made");
    (store, Asking::new(jobs, dir.path()))
}

/// A directory for [`open_native`].
fn native_dir() -> TestDir {
    let dir = TestDir::new();
    write_scripts(dir.path());
    dir
}

/// What the native host offers: everything, and the view of all descendants only where the system has it.
fn native_offers() -> Vec<Need> {
    let mut offers = vec![
        Need::LastingStore,
        Need::Processes,
        Need::LastingJobs,
        Need::Questions,
        Need::Terminals,
    ];
    if cfg!(target_os = "linux") {
        offers.push(Need::Descendants);
    }
    offers
}

fn native() -> Subject {
    let dir = native_dir();
    Subject {
        open: Box::new(move || -> Opened {
            let (store, jobs) = open_native(&dir);
            (Arc::new(store), Arc::new(jobs))
        }),
        offers: native_offers(),
    }
}

/// A store and jobs that are in this process only, and jobs that only pretend to be processes.
fn in_memory() -> Subject {
    let (store, jobs) = (Arc::new(MemoryStore::new()), Machine::new().jobs);
    Subject {
        open: Box::new(move || (Arc::clone(&store) as _, Arc::clone(&jobs) as _)),
        offers: Vec::new(),
    }
}

/// Runs all checks that the subject can run, and gives how many those are.
fn assert_conforms(subject: &Subject) -> usize {
    let runnable: Vec<Check> = checks()
        .into_iter()
        .filter(|check| subject.can_run(check))
        .collect();
    let breaches = subject.breaches(&runnable);
    assert!(
        breaches.is_empty(),
        "{} of {} promises are not kept:\n  {}\n",
        breaches.len(),
        runnable.len(),
        breaches.join("\n  ")
    );
    runnable.len()
}

/// The checks that no broken implementation here can fail, and why.
const WITHOUT_FAULT: [(&str, &str); 1] = [(
    "jobs/names",
    "what is no UUID does not reach an implementation of the trait: the host's adapter refuses it",
)];

#[test]
fn every_check_finds_a_fault() {
    let checks = checks();
    let all: BTreeSet<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    let mut found: BTreeSet<&str> = faulty_store::found().into_iter().collect();
    found.extend(faulty_jobs::found());
    for (check, reason) in WITHOUT_FAULT {
        assert!(
            found.insert(check),
            "{check} finds a fault, so not: {reason}"
        );
    }
    let missing: Vec<_> = all.difference(&found).collect();
    assert!(
        missing.is_empty(),
        "nobody knows whether these can fail: {missing:?}"
    );
    let unknown: Vec<_> = found.difference(&all).collect();
    assert!(unknown.is_empty(), "there are no such checks: {unknown:?}");
}

#[test]
fn the_native_host_keeps_every_promise() {
    let run = assert_conforms(&native());
    if cfg!(target_os = "linux") {
        assert_eq!(run, checks().len(), "nothing is left out");
    }
}

#[test]
fn the_store_in_memory_keeps_every_promise_but_that_it_lasts() {
    let run = assert_conforms(&in_memory());
    assert!(run >= 20, "{run} checks need nothing but a store and names");
}

#[test]
fn every_check_has_a_name_of_its_own_and_a_promise() {
    let checks = checks();
    let names: BTreeSet<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names.len(), checks.len());
    for check in &checks {
        let interface = check.name.split('/').next().unwrap_or_default();
        assert!(["store", "jobs"].contains(&interface), "{}", check.name);
        assert!(check.promise.ends_with('.'), "{}", check.promise);
    }
}

#[test]
fn what_is_no_check_and_what_is_no_ticket_fails() {
    let found = in_memory().run("store/no-such-check");
    assert!(found.is_err_and(|reason| reason.contains("no-such-check")));
    for ticket in ["", "nonsense", "{}"] {
        let found = in_memory().resume(ticket);
        assert!(
            found.is_err_and(|reason| reason.contains("ticket")),
            "{ticket:?}"
        );
    }
}
