//! The native host of backburner: supplies the component with durable storage and supervised processes, and
//! carries its messages over stdio.
//!
//! Knows processes, files and connections. Does not know the Model Context Protocol: messages are text that goes
//! in and out of the component; only the command line, which is a client, reads any.

mod bindings;
mod blocking;
mod capability;
pub mod cli;
mod clock;
#[cfg(feature = "component")]
pub mod component;
pub mod config;
pub mod data_dir;
pub mod engine;
mod environment;
mod file;
pub mod jobs;
mod limits;
mod log;
mod requests;
pub mod serve;
mod server;
mod shell_word;
pub mod store;
mod stream;
pub mod transport;

pub use server::{BadPrincipal, Builder, Client, Exchange, Principal, Said, Server};
