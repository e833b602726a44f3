//! Tasks: their records, how they come to be, what state they are in, and when they go.
//!
//! Knows the store's keys and the records' formats; knows no JSON-RPC message. A task's state is its
//! record together with what its job says: as long as nobody has written down the end, the job decides.

pub(crate) mod asking;
pub(crate) mod begin;
pub(crate) mod call_result;
pub(crate) mod cancel;
pub(crate) mod derive;
pub(crate) mod detail;
pub(crate) mod durable;
pub(crate) mod expire;
pub(crate) mod id;
mod idempotency;
pub(crate) mod keys;
pub(crate) mod lookup;
pub(crate) mod misfit;
pub(crate) mod order;
mod page;
pub(crate) mod permit;
pub(crate) mod poll_interval;
pub(crate) mod record;
pub(crate) mod settle;
pub(crate) mod spec;
pub(crate) mod start;
pub(crate) mod status_message;
pub(crate) mod sweep;
pub(crate) mod wire;

pub(crate) use durable::Durable;
pub(crate) use id::TaskId;
pub(crate) use record::TaskError;
