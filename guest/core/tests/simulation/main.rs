//! Random clients on several servers that crash, fail and jump in time, and one check for each promise.
//!
//! A run is decided by its seed. A failure prints it; `SEED=<n> cargo test --test simulation` repeats that
//! run alone. What is injected: failing imports, unclear failures, a disk that stays full for the
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

use clients::Simulation;

/// How many runs there are where no seed is given.
const RUNS: u64 = 250;

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

#[test]
fn every_promise_is_kept_whatever_fails() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the seed of a failed run is given by a person"
    )]
    let seed = std::env::var("SEED")
        .ok()
        .map(|seed| seed.parse().expect("SEED is a number"));
    match seed {
        Some(seed) => {
            run(seed);
        }
        None => {
            let seen: BTreeSet<_> = (0..RUNS).flat_map(run).collect();
            assert_eq!(
                Vec::from_iter(seen),
                STATES,
                "the runs do not reach every state"
            );
        }
    }
}

/// Gives what the run has reached of [`STATES`].
fn run(seed: u64) -> BTreeSet<String> {
    let on_failure = Announce(seed);
    let mut simulation = Simulation::new(seed);
    for _ in 0..STEPS {
        simulation.step();
    }
    simulation.finish();
    std::mem::forget(on_failure);
    simulation.promises.seen
}

/// Says how to repeat a run when it is dropped, which a run that succeeds prevents.
struct Announce(u64);

impl Drop for Announce {
    #[expect(clippy::print_stderr, reason = "a failed test speaks to a person")]
    fn drop(&mut self) {
        eprintln!("the run failed; repeat it with SEED={}", self.0);
    }
}
