//! The clock that interrupts a guest that does not come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};

use wasmtime::Engine;

use crate::limits::{EPOCH_TICK, IDLE_TICKS};

/// Advances the engine's epoch while guests run, and sleeps while none does: an idle server wakes nobody.
#[derive(Clone)]
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

struct Shared {
    running: AtomicUsize,
    parked: AtomicBool,
}

/// A guest is running for as long as this lives.
pub(crate) struct Running<'a>(&'a Shared);

impl Ticker {
    /// Starts the thread that ticks. It ends with the process.
    pub(crate) fn start(engine: Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            running: AtomicUsize::new(0),
            parked: AtomicBool::new(false),
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

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tick(engine: &Engine, shared: &Shared) {
    let mut idle = 0;
    loop {
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

fn park(shared: &Shared) {
    shared.parked.store(true, Ordering::SeqCst);
    while shared.running.load(Ordering::SeqCst) == 0 {
        thread::park();
    }
    shared.parked.store(false, Ordering::SeqCst);
}
