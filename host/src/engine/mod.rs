//! Runs the component: which instance answers which message, and what becomes of one that misbehaves.
//!
//! Knows that messages are text, that an instance may trap, and that a request may have to wait. Does not know
//! what a message says: it never looks into one.

mod code;
pub(crate) mod config;
mod instance;
mod pool;
mod ticker;

pub(crate) use code::load_ahead;
pub use instance::{Context, Notice, Pending, State, Step, Wake, linker};
pub use pool::{BadConfig, Pool, PoolError};
