//! How often something was looked at, for the tests which see that a long line costs no more than its length.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Counts this many.
pub(super) fn add(steps: usize) {
    STEPS.set(STEPS.get() + steps);
}

/// How many steps this takes.
pub(super) fn of(act: impl FnOnce()) -> usize {
    STEPS.set(0);
    act();
    STEPS.get()
}

/// Sees that twice as much takes about twice as many steps. `act` does something with so much of it.
pub(super) fn grow_with_length(what: &str, length: usize, act: impl Fn(usize)) {
    let once = of(|| act(length));
    let twice = of(|| act(2 * length));
    assert!(once > 0, "{what}: nothing is counted");
    assert!(
        twice <= 2 * once + once / 4 + 1_000,
        "{what}: {once} steps, then {twice}"
    );
}
