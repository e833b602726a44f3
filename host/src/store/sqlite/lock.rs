//! How long SQLite waits for a lock that another connection has.

use std::cell::Cell;
use std::time::Duration;

use super::super::limits::{BUSY_TIMEOUT, LOOK_EVERY};

thread_local! {
    /// How long this thread waits before SQLite gives up. It is told each number of attempts, and nothing of its
    /// connection.
    static LIMIT: Cell<Duration> = const { Cell::new(BUSY_TIMEOUT) };
}

/// Called by SQLite each time that it finds a lock taken. SQLite has no way to be woken; its own schedule
/// sleeps up to 100 ms, hundreds of times longer than a commit takes, so ours begins finer.
pub(super) fn wait_for_lock(attempts: i32) -> bool {
    let Some(delay) = delay_before(attempts, LIMIT.get()) else {
        return false;
    };
    std::thread::sleep(delay);
    true
}

/// Does what may have to wait for a lock, so that it fails after [`LOOK_EVERY`] already: for a caller that looks who
/// has the lock, and then tries again.
pub(super) fn until_next_look<T>(attempt: impl FnOnce() -> T) -> T {
    /// Puts the limit back, also where the attempt panics.
    struct Shorter;
    impl Drop for Shorter {
        fn drop(&mut self) {
            LIMIT.set(BUSY_TIMEOUT);
        }
    }
    LIMIT.set(LOOK_EVERY);
    let _shorter = Shorter;
    attempt()
}

/// How long to wait after so many attempts failed: fine steps at first, `None` after `limit`.
fn delay_before(attempts: i32, limit: Duration) -> Option<Duration> {
    const FINE: Duration = Duration::from_micros(500);
    const FINE_ATTEMPTS: u32 = 40;
    const COARSE: Duration = Duration::from_millis(10);
    let attempts = u32::try_from(attempts).unwrap_or(0);
    if attempts < FINE_ATTEMPTS {
        return Some(FINE);
    }
    let waited = FINE * FINE_ATTEMPTS + COARSE * (attempts - FINE_ATTEMPTS);
    (waited < limit).then_some(COARSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_waited_for_as_long_as_the_limit_says() {
        for limit in [BUSY_TIMEOUT, LOOK_EVERY] {
            let waited: Duration = (0..).map_while(|it| delay_before(it, limit)).sum();
            assert!(waited >= limit, "only {waited:?} of {limit:?}");
            assert!(
                waited < limit + Duration::from_secs(1),
                "as long as {waited:?} of {limit:?}"
            );
        }
    }
}
