//! From what a client calls a task to the task, for its owner alone.

use super::TaskId;
use super::durable::{Found, Loaded, load_own};
use super::record::remembered_until;
use crate::imports::Store;
use crate::outcome::Context;
use crate::rpc::RpcError;

/// Reads the task that `text` names.
///
/// # Errors
/// [`RpcError::UnknownTask`] where there is none, or none of this principal's: one error, so that nobody
/// learns of another one's tasks; [`RpcError::ExpiredTask`] for its owner; [`RpcError::Store`], for whom its record
/// may belong to.
pub(crate) fn lookup(store: &mut impl Store, cx: &Context, text: &str) -> Result<Loaded, RpcError> {
    let id = TaskId::parse(text).ok_or(RpcError::UnknownTask)?;
    own(store, cx, &id)
}

/// Reads the task with this id.
///
/// # Errors
/// As [`lookup`].
pub(crate) fn own(store: &mut impl Store, cx: &Context, id: &TaskId) -> Result<Loaded, RpcError> {
    match load_own(store, &cx.principal, id)? {
        Found::Task(loaded) if loaded.facts.principal != cx.principal => Err(RpcError::UnknownTask),
        Found::Task(loaded) => match loaded.facts.expires_at() {
            Some(moment) if moment <= cx.now => Err(why_gone(cx, moment)),
            _ => Ok(loaded),
        },
        Found::Tombstone(tombstone, _) if tombstone.principal != cx.principal => {
            Err(RpcError::UnknownTask)
        }
        Found::Tombstone(tombstone, _) => Err(why_gone(cx, tombstone.expired_at)),
        Found::Nothing => Err(RpcError::UnknownTask),
    }
}

/// Whether a sweep came by, and when, must not show: that a task expired is remembered for its days and no longer.
fn why_gone(cx: &Context, expired_at: u64) -> RpcError {
    if cx.now < remembered_until(expired_at) {
        RpcError::ExpiredTask
    } else {
        RpcError::UnknownTask
    }
}
