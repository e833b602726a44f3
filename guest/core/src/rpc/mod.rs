//! JSON-RPC 2.0 as the protocol profiles it: reading messages, writing replies, error codes. Knows no method.

pub(crate) mod error;
pub(crate) mod incoming;
pub(crate) mod members;
pub(crate) mod notice;
pub(crate) mod refuse;
pub(crate) mod reply;

pub(crate) use error::RpcError;
pub(crate) use incoming::{Id, Incoming, Notification, Request};
