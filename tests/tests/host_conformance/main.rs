//! Runs the host conformance kit against the implementations of this project, and against broken ones: a kit that
//! finds nothing wrong with those would say nothing of any other.

mod faulty_jobs;
mod faulty_store;

use std::sync::Arc;

use backburner::data_dir::DataDir;
use backburner::jobs::SupervisedJobs;
use backburner::store::{MemoryStore, SqliteStore};
use backburner_tests::conformance::{Check, Need, Opened, Subject, checks};
use backburner_tests::fake::Machine;
use backburner_tests::{TestDir, binary};

/// The native host's own store and jobs in this directory, as each of its servers opens them.
fn open_native(dir: &TestDir) -> (SqliteStore, SupervisedJobs) {
    let data = DataDir::open(&dir.data()).expect("the data directory can be made");
    let store = SqliteStore::open(&data.path().join("store.db")).expect("the store can be made");
    let jobs = SupervisedJobs::open(data.dir(), data.path(), binary().to_owned());
    (store, jobs.expect("the jobs can be made"))
}

/// What the native host offers: everything, and the view of all descendants only where the system has it.
fn native_offers() -> Vec<Need> {
    let mut offers = vec![Need::LastingStore, Need::Processes, Need::LastingJobs];
    if cfg!(target_os = "linux") {
        offers.push(Need::Descendants);
    }
    offers
}

fn native() -> Subject {
    let dir = TestDir::new();
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
    let names: std::collections::BTreeSet<&str> =
        checks.iter().map(|check| check.name.as_str()).collect();
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
}
