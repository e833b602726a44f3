//! Waiting for something to become true.

use std::time::{Duration, Instant};

use serde_json::Value;

/// How long anything that should happen at once may take. Generous, since it is only ever used up by a failure:
/// test machines are shared, and debug builds are slow.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The pause between two looks. Short beside what it waits for, long beside the cost of a look.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks again and again until `look` gives `Ok`, and gives its value.
///
/// `look` gives the present state as `Err`, for the message.
///
/// # Panics
/// When `patience` has passed, with `what` and the last state.
pub fn until<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + patience;
    loop {
        match look() {
            Ok(value) => return value,
            Err(state) if Instant::now() >= deadline => {
                panic!("waited {patience:?} for {what}; the last state was: {state}")
            }
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Looks at a task until it is not `working` any more, and gives it.
///
/// # Panics
/// Where it still is after [`PATIENCE`].
pub fn until_ended(mut task: impl FnMut() -> Value) -> Value {
    until(PATIENCE, "a task to end", || {
        let task = task();
        if task["status"] == "working" {
            Err(task.to_string())
        } else {
            Ok(task)
        }
    })
}
