//! Working at several things at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many things are worked at at the same time: they mostly wait, and more of them would make each other late.
const THREADS: usize = 4;

/// What `work` has to say of these, in several threads and so in any order.
pub fn in_threads<T: Sync>(items: &[T], work: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let said = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let more = work(item);
                    said.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .extend(more);
                }
            });
        }
    });
    said.into_inner().unwrap_or_else(PoisonError::into_inner)
}
