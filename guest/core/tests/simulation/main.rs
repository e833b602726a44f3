//! Random clients on several servers that crash, fail and jump in time, and one check for each promise.
//!
//! A run is decided by its seed. A failure prints it; `SEED=<n> cargo test --test simulation` repeats that
//! run alone. Some runs are new each time. What is injected: failing imports, unclear failures, a disk that stays full for the
//! rest of a call, crashes before and after any import, another server's whole call between any two imports,
//! servers that are configured anew while requests are open, clocks that jump in both directions and differ between
//! servers, supervisors that are killed, jobs whose files are deleted, connections that are cut.

mod clients;
mod confirming;
mod promises;
#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};

use clients::Simulation;
use support::coverage::assert_each_failed_and_crashed;
use support::faults::Import;

/// How many runs there are that are always the same, where no seed is given.
const RUNS: u64 = 100;

/// How many of these are made twice.
const TWICE: u64 = 5;

/// How many runs there are beside them that nobody has seen before.
const FRESH_RUNS: u64 = 10;

/// How many things happen in a run.
const STEPS: u64 = 100;

/// What has to be reached for the checks to mean anything.
const STATES: [&str; 7] = [
    "cancelled",
    "completed",
    "confirmed",
    "expired",
    "failed",
    "input_required",
    "working",
];

/// What takes a job of which nothing is known for minutes, under a request that meets it first: too rare to count on.
const RARE: [(&str, Import); 6] = [
    ("resume call/1", Import::Stop),
    ("resume held/1", Import::Read),
    ("resume held/1", Import::Stop),
    ("resume listen/1", Import::Stop),
    ("subscriptions/listen", Import::Stop),
    ("tasks/get", Import::Stop),
];

#[test]
fn every_promise_is_kept_whatever_fails() {
    if let Some(seed) = given() {
        run(seed);
        return;
    }
    let mut seen = BTreeSet::new();
    let mut covered = BTreeSet::new();
    for seed in 0..RUNS {
        let run = run(seed);
        seen.extend(run.promises.seen);
        covered.extend(run.covered);
    }
    let seen = Vec::from_iter(seen);
    assert_eq!(seen, STATES, "the runs do not reach every state");
    assert_each_failed_and_crashed(&covered, &RARE);
}

#[test]
fn a_seed_decides_a_run() {
    for seed in (0..TWICE).filter(|_| given().is_none()) {
        run(seed).assert_same(&run(seed));
    }
}

#[test]
fn every_promise_is_kept_in_runs_that_were_never_made_before() {
    for _ in (0..FRESH_RUNS).filter(|_| given().is_none()) {
        // Its keys are random in each process, and others each time.
        run(RandomState::new().hash_one(()));
    }
}

/// The seed of the only run that somebody wants.
fn given() -> Option<u64> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the seed of a failed run is given by a person"
    )]
    let seed = std::env::var("SEED").ok();
    seed.map(|seed| seed.parse().expect("SEED is a number"))
}

/// Makes a run to its end.
fn run(seed: u64) -> Simulation {
    let on_failure = Announce(seed);
    let mut simulation = Simulation::new(seed);
    for _ in 0..STEPS {
        simulation.step();
    }
    simulation.finish();
    std::mem::forget(on_failure);
    simulation
}

/// Says how to repeat a run when it is dropped, which a run that succeeds prevents.
struct Announce(u64);

impl Drop for Announce {
    #[expect(clippy::print_stderr, reason = "a failed test speaks to a person")]
    fn drop(&mut self) {
        eprintln!("the run failed; repeat it with SEED={}", self.0);
    }
}
