//! The signals that ask this program to end: which ones it takes, and which came first. Knows nothing of what is left
//! then.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
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
    // A hangup that the program is to survive, as with `nohup`, goes on to be ignored. Where that cannot be known it is
    // left to the system, which does the right thing and says nothing.
    let hangup = (is_ignored(SIGHUP) == Some(false)).then_some(SIGHUP);
    // So does Ctrl-C where a script started the program in the background (POSIX, Asynchronous Lists): it is for what
    // runs in front. Where that cannot be known it is taken: nothing else would tell a person that the job goes on.
    let interrupt = (is_ignored(SIGINT) != Some(true)).then_some(SIGINT);
    Signals::new([SIGTERM].into_iter().chain(interrupt).chain(hangup))
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

/// Whether who started this program has it ignore a signal; `None` where the system does not say.
fn is_ignored(signal: i32) -> Option<bool> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    is_ignored_in(&status, signal)
}

/// *Source:* proc_pid_status(5), `SigIgn`: a mask in hexadecimal digits, whose lowest bit is signal 1.
fn is_ignored_in(status: &str, signal: i32) -> Option<bool> {
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    let bit = u32::try_from(signal).ok()?.checked_sub(1)?;
    Some(mask.checked_shr(bit)? & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_which_signals_are_ignored() {
        let status = |mask: &str| format!("Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\n");
        let nohup = status("0000000000001001");
        assert_eq!(is_ignored_in(&nohup, SIGHUP), Some(true));
        assert_eq!(is_ignored_in(&nohup, SIGINT), Some(false));
        assert_eq!(is_ignored_in(&nohup, SIGTERM), Some(false));
        assert_eq!(is_ignored_in(&status("none"), SIGHUP), None);
        assert_eq!(is_ignored_in("", SIGHUP), None);
    }
}
