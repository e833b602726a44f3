//! The component itself, for whoever runs it elsewhere, passes it on, or wants to know which one this is.
//!
//! With the feature `component` only: a server runs what was compiled from it, and does not need it.

/// A WASI 0.2 component of the world `backburner:server/server`, before it was compiled for any machine.
pub const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/component.wasm"));

/// The SHA-256 of [`BYTES`], as 64 lower-case hexadecimal digits. The same sources and compiler give the same one
/// everywhere.
pub const SHA256: &str = env!("COMPONENT_SHA256");
