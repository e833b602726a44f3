//! Programs of others that speak MCP, against the real binary: the published conformance suite, the official client in
//! TypeScript with the official Tasks package, and the official client in Python. The Rust one is in `rmcp_client`. The
//! suite's scenarios of Tasks also run against the hosts in JavaScript and Python.
//!
//! Their own sources are in `tests/clients`. Where Node or Python is missing, a test says so and passes, unless
//! `BACKBURNER_ALL_HOSTS` is 1.

mod bridge;
mod checks;
mod expectations;
mod javascript;
mod other_host;
mod packages;
mod python;
mod python_host;
mod suite;
mod typescript;
