//! The clock that interrupts a guest that does not come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};

use wasmtime::Engine;

use crate::limits::{EPOCH_TICK, IDLE_TICKS};

/// Advances the engine's epoch while guests run, and sleeps while none does: an idle server wakes nobody. Its thread
/// ends when this is dropped.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

struct Shared {
    running: AtomicUsize,
    parked: AtomicBool,
    dropped: AtomicBool,
}

/// A guest is running for as long as this lives.
pub(crate) struct Running<'a>(&'a Shared);

impl Ticker {
    /// Starts the thread that ticks.
    pub(crate) fn start(engine: Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            running: AtomicUsize::new(0),
            parked: AtomicBool::new(false),
            dropped: AtomicBool::new(false),
        });
        let thread = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("epoch".into())
                .stack_size(64 * 1024)
                .spawn(move || tick(&engine, &shared))?
                .thread()
                .clone()
        };
        Ok(Self { shared, thread })
    }

    /// Says that a guest starts to run.
    pub(crate) fn running(&self) -> Running<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        // Sequentially consistent on both sides: either this sees that the thread parked, or the thread sees
        // the guest and does not park.
        if self.shared.parked.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        Running(&self.shared)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.dropped.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tick(engine: &Engine, shared: &Shared) {
    let mut idle = 0;
    while !shared.dropped.load(Ordering::SeqCst) {
        idle = if shared.running.load(Ordering::SeqCst) == 0 {
            idle + 1
        } else {
            0
        };
        if idle > IDLE_TICKS {
            park(shared);
            idle = 0;
        }
        thread::sleep(EPOCH_TICK);
        engine.increment_epoch();
    }
}

/// Sleeps until a guest runs, or none ever will again.
fn park(shared: &Shared) {
    shared.parked.store(true, Ordering::SeqCst);
    while shared.running.load(Ordering::SeqCst) == 0 && !shared.dropped.load(Ordering::SeqCst) {
        thread::park();
    }
    shared.parked.store(false, Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < deadline, "waited in vain for {what}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn assert_ends_when_dropped(ticker: Ticker) {
        let shared = Arc::clone(&ticker.shared);
        drop(ticker);
        wait_until("the thread to end", || Arc::strong_count(&shared) == 1);
    }

    fn started() -> Ticker {
        Ticker::start(Engine::default()).expect("a test has threads")
    }

    #[test]
    fn the_thread_of_a_ticker_that_is_dropped_ends() {
        assert_ends_when_dropped(started());
    }

    #[test]
    fn the_thread_ends_also_where_it_sleeps_because_nothing_runs() {
        let ticker = started();
        wait_until("the thread to sleep", || {
            ticker.shared.parked.load(Ordering::SeqCst)
        });
        assert_ends_when_dropped(ticker);
    }
}
