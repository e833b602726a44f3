//! How messages come and go. Knows framing and connections; never looks into a message.

mod connection;
mod input;
mod output;
pub mod stdio;
mod waits;
