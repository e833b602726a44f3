//! The signals that ask this program to end: which ones it takes, and which came first. Knows nothing of what is left
//! then.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The number of the signal that came first; 0 where none has come.
static FIRST: AtomicU8 = AtomicU8::new(0);

/// A person wants to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub(super) struct Interruption {
    /// The number of the signal.
    pub(super) signal: u8,
}

impl Interruption {
    /// The first one since the program was started; `None` where there was none.
    pub(super) fn first() -> Option<Self> {
        match FIRST.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(Self { signal }),
        }
    }
}

/// Keeps the signals from ending the program at once, from now on.
///
/// # Errors
/// Where the system does not allow it.
pub(super) fn take() -> io::Result<Signals> {
    Signals::new([SIGINT, SIGTERM])
}

/// Gives each signal that comes to `tell`. Does not return.
pub(super) fn forward(mut signals: Signals, tell: impl Fn(Interruption)) {
    for signal in signals.forever() {
        let signal = u8::try_from(signal).expect("the signals that are taken have small numbers");
        // Only the first one finds the 0.
        let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
        tell(Interruption { signal });
    }
}
