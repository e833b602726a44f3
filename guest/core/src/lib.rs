//! The Model Context Protocol with its Tasks extension, and the life of tasks, as pure logic.
//!
//! **Knows** JSON-RPC, protocol revision 2026-07-28, what a task is, the tool `run`, and tools that the configuration
//! describes. **Does not know** transports, connections, processes, files, databases, time or randomness: what it needs of
//! those is an argument or comes through the traits of [`imports`]. Every call is a function of its arguments and of what
//! its imports return, so the same calls give the same answers, under a simulator as in production.
//!
//! The way in is [`Server`]: one [`Server::message`] for every message of a client, one [`Server::resume`] for every
//! [`Outcome::Wait`] and [`Outcome::Notify`], and [`Server::sweep`] now and then. A `Server` holds configuration and nothing
//! else; all state is in the store, in the jobs, or in a [`Pending`]'s ticket.

pub mod imports;

mod config;
mod input;
mod json;
mod limits;
mod meta;
mod methods;
mod outcome;
mod policy;
mod rounds;
mod rpc;
mod server;
mod task;
mod text;
mod tool;
mod wording;

pub use config::ConfigError;
pub use outcome::{Context, Outcome, Pending, Refusal, Wake};
pub use server::Server;
