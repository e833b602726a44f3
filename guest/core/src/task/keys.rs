//! The keys of the store. What is under them is said in [`super::record`].
//!
//! | key | value |
//! |---|---|
//! | `task/<id>` | the task's record, later its tombstone |
//! | `live/<id>` | that nobody has written down the task's end yet |
//! | `owner/<principal>/<time>/<id>` | whose the task is, by creation: for lists of one's own |
//! | `expiry/<time>/<id>` | when something has to go: the task, later its tombstone |
//! | `key/<principal>/<key>` | which task an idempotency key of `run` stands for: its id as JSON text |
//! | `misfit/<id>` | why the last answer to a question of the task did not fit |
//! | `toolkey/<principal>/<tool>/<key>` | the same for a key of a configured tool |
//! | `sweep/live` | where the last sweep of `live/` stopped |
//! | `secret/request-state` | the key with which servers sign what clients carry for them |
//! | `used-state/<time>/<id>` | that a confirmation was used or refused, until a sweep at this time or later |
//!
//! Times have 20 digits, so that keys sort as numbers do. A principal is escaped, so that it ends at the
//! next `/` whatever characters it has; an idempotency key comes last and needs no escaping. The name of a tool has no
//! character that would; where it leaves no room for a key, a digest stands for it.

use std::fmt::Write;

use sha2::{Digest as _, Sha256};

use super::TaskId;
use crate::limits::{ESCAPED_PRINCIPAL_BYTES, IDEMPOTENCY_KEY_BYTES, STORE_KEY_BYTES};
use crate::rpc::RpcError;

/// The prefix of all live tasks.
pub(crate) const LIVE: &str = "live/";

/// The prefix of everything that expires.
pub(crate) const EXPIRY: &str = "expiry/";

/// Where the last sweep of [`LIVE`] stopped.
pub(crate) const SWEEP_LIVE: &str = "sweep/live";

/// Where the key is with which servers sign what clients carry for them.
pub(crate) const REQUEST_STATE_SECRET: &str = "secret/request-state";

/// The prefix of all confirmations that were used.
pub(crate) const USED_STATE: &str = "used-state/";

/// Where it says that a confirmation of this name was used, until `time`, in milliseconds since 1970.
pub(crate) fn used_state(time: u64, name: &str) -> String {
    format!("{USED_STATE}{time:020}/{name}")
}

/// Reads the time back from [`used_state`]; `None` where the key is not ours.
pub(crate) fn parse_used_state(key: &str) -> Option<u64> {
    let (time, _) = key.strip_prefix(USED_STATE)?.split_once('/')?;
    time.parse().ok()
}

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
        format!("{}{time:020}/{}", self.tasks(), id.as_str())
    }

    /// The prefix of all tasks of this owner.
    pub(crate) fn tasks(&self) -> String {
        format!("owner/{}/", self.0)
    }

    /// How many bytes an idempotency key of this owner may have in calls of this configured tool, or of `run`.
    pub(crate) fn idempotency_key_bytes(&self, tool: Option<&str>) -> usize {
        STORE_KEY_BYTES.saturating_sub(self.idempotency_keys(tool).len())
    }

    /// Where it says which task an idempotency key of this configured tool, or of `run`, stands for; `None` where the
    /// key is too long.
    pub(crate) fn idempotency_key(&self, tool: Option<&str>, key: &str) -> Option<String> {
        let is_short = key.len() <= self.idempotency_key_bytes(tool);
        is_short.then(|| format!("{}{key}", self.idempotency_keys(tool)))
    }

    fn idempotency_keys(&self, tool: Option<&str>) -> String {
        let Some(tool) = tool else {
            return format!("key/{}/", self.0);
        };
        let named = format!("toolkey/{}/{tool}/", self.0);
        if named.len() + IDEMPOTENCY_KEY_BYTES <= STORE_KEY_BYTES || tool.len() <= DIGEST_CHARS {
            return named;
        }
        format!("toolkey/{}/{}/", self.0, digest(tool))
    }
}

/// How long what [`digest`] makes is, in characters.
const DIGEST_CHARS: usize = 33;

/// What stands for the name of a tool where that is too long. No name begins like it.
fn digest(tool: &str) -> String {
    let hash = Sha256::digest(tool.as_bytes());
    let half = hash[..16].iter().map(|byte| format!("{byte:02x}"));
    format!("~{}", half.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Owner;

    #[test]
    fn a_key_has_room_whatever_the_principal_and_the_tool_are_called() {
        for principal in ["user".to_owned(), "p".repeat(256), "p".repeat(400)] {
            let owner = Owner::new(&principal).expect("it can be recorded");
            for tool in [
                None,
                Some("t".repeat(33)),
                Some("t".repeat(34)),
                Some("t".repeat(128)),
            ] {
                let tool = tool.as_deref();
                let room = owner.idempotency_key_bytes(tool);
                assert!(room >= 69, "{} {tool:?}: {room}", principal.len());
                let longest = "k".repeat(room);
                let key = owner.idempotency_key(tool, &longest).expect("it has room");
                assert_eq!(key.len(), 512);
                assert_eq!(owner.idempotency_key(tool, &format!("{longest}k")), None);
            }
        }
    }

    #[test]
    fn each_tool_has_keys_of_its_own_however_long_its_name_is() {
        let owner = Owner::new(&"p".repeat(400)).expect("it can be recorded");
        let names: Vec<String> = (0..20)
            .map(|it| format!("{}{it:02}", "t".repeat(126)))
            .collect();
        let keys: BTreeSet<_> = names
            .iter()
            .map(|name| owner.idempotency_key(Some(name), "k").expect("it is short"))
            .collect();
        assert_eq!(keys.len(), names.len());
        let short = Owner::new("user").expect("it can be recorded");
        let key = short.idempotency_key(Some(&names[0]), "k");
        assert_eq!(key, Some(format!("toolkey/user/{}/k", names[0])));
    }
}
