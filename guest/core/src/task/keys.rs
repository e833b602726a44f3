//! The keys of the store. What is under them is said in [`super::record`].
//!
//! | key | value |
//! |---|---|
//! | `task/<id>` | the task's record, later its tombstone |
//! | `live/<id>` | that nobody has written down the task's end yet |
//! | `owner/<principal>/<time>/<id>` | whose the task is, by creation |
//! | `expiry/<time>/<id>` | when something has to go: the task, later its tombstone |
//! | `key/<principal>/<key>` | which task an idempotency key stands for: its id as JSON text |
//! | `misfit/<id>` | why the last answer to a question of the task did not fit |
//! | `sweep/live` | where the last sweep of `live/` stopped |
//!
//! Times have 20 digits, so that keys sort as numbers do. A principal is escaped, so that it ends at the
//! next `/` whatever characters it has; an idempotency key comes last and needs no escaping.

use std::fmt::Write;

use super::TaskId;
use crate::limits::{ESCAPED_PRINCIPAL_BYTES, STORE_KEY_BYTES};
use crate::rpc::RpcError;

/// The prefix of all live tasks.
pub(crate) const LIVE: &str = "live/";

/// The prefix of everything that expires.
pub(crate) const EXPIRY: &str = "expiry/";

/// Where the last sweep of [`LIVE`] stopped.
pub(crate) const SWEEP_LIVE: &str = "sweep/live";

/// Where the record of a task is.
pub(crate) fn task(id: &TaskId) -> String {
    format!("task/{}", id.as_str())
}

/// Where it says that a task has no recorded end.
pub(crate) fn live(id: &TaskId) -> String {
    format!("{LIVE}{}", id.as_str())
}

/// Where it says why the last answer to a question of a task did not fit.
pub(crate) fn misfit(id: &TaskId) -> String {
    format!("misfit/{}", id.as_str())
}

/// Where it says that something of a task goes at `time`, in milliseconds since 1970.
pub(crate) fn expiry(time: u64, id: &TaskId) -> String {
    format!("{EXPIRY}{time:020}/{}", id.as_str())
}

/// Reads the id back from [`live`]; `None` where the key is not ours.
pub(crate) fn parse_live(key: &str) -> Option<TaskId> {
    TaskId::parse(key.strip_prefix(LIVE)?)
}

/// Reads the time and the id back from [`expiry`]; `None` where the key is not ours.
pub(crate) fn parse_expiry(key: &str) -> Option<(u64, TaskId)> {
    let (time, id) = key.strip_prefix(EXPIRY)?.split_once('/')?;
    Some((time.parse().ok()?, TaskId::parse(id)?))
}

/// A principal as part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner(String);

impl Owner {
    /// Escapes `%`, `/` and control characters by percent-encoding.
    ///
    /// # Errors
    /// [`RpcError::Internal`] where the principal does not fit a key, which the host's promise of at most
    /// 256 bytes excludes for all but absurd ones.
    pub(crate) fn new(principal: &str) -> Result<Self, RpcError> {
        let mut escaped = String::with_capacity(principal.len());
        for character in principal.chars() {
            if matches!(character, '%' | '/') || character.is_ascii_control() {
                write!(escaped, "%{:02X}", u32::from(character))
                    .expect("writing to a string does not fail");
            } else {
                escaped.push(character);
            }
        }
        if escaped.len() > ESCAPED_PRINCIPAL_BYTES {
            return Err(RpcError::Internal(
                "the caller's principal is too long to be recorded",
            ));
        }
        Ok(Self(escaped))
    }

    /// Where it says that a task of this owner was created at `time`, in milliseconds since 1970.
    pub(crate) fn task(&self, time: u64, id: &TaskId) -> String {
        format!("owner/{}/{time:020}/{}", self.0, id.as_str())
    }

    /// How many bytes an idempotency key of this owner may have.
    pub(crate) fn idempotency_key_bytes(&self) -> usize {
        STORE_KEY_BYTES - "key//".len() - self.0.len()
    }

    /// Where it says which task an idempotency key stands for; `None` where the key is too long.
    pub(crate) fn idempotency_key(&self, key: &str) -> Option<String> {
        (key.len() <= self.idempotency_key_bytes()).then(|| format!("key/{}/{key}", self.0))
    }
}
