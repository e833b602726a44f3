//! From what a client calls a task to the task, for its owner alone.

use super::TaskId;
use super::durable::{Found, Loaded, load_own};
use super::record::Tombstone;
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
        Found::Task(loaded) if loaded.facts.have_expired(cx.now) => Err(RpcError::ExpiredTask),
        Found::Task(loaded) => Ok(loaded),
        Found::Tombstone(tombstone, _) => Err(why_gone(cx, &tombstone)),
        Found::Nothing => Err(RpcError::UnknownTask),
    }
}

fn why_gone(cx: &Context, tombstone: &Tombstone) -> RpcError {
    // Whether a sweep came by in time must not show, so a tombstone counts for its days and no longer.
    let is_remembered = cx.now < tombstone.removal_at();
    if tombstone.principal == cx.principal && is_remembered {
        RpcError::ExpiredTask
    } else {
        RpcError::UnknownTask
    }
}
