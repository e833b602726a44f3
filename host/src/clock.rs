//! The wall clock, as the WIT wants it.

use std::time::{SystemTime, UNIX_EPOCH};

/// The present, in milliseconds since 1970; 0 on a machine whose clock stands before that.
pub(crate) fn now_ms() -> u64 {
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since_1970.as_millis()).expect("u64 milliseconds last for 584 million years")
}
