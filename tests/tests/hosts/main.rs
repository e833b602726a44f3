//! The other hosts of the component: each passes its own tests, and the servers among them, and a page, play the corpus
//! of transcripts.
//!
//! Every host is one test, so that they run side by side and nothing waits for a lock. Where Node or Python is missing,
//! its test says so and passes, unless `BACKBURNER_ALL_HOSTS` is 1.

mod composition;
mod conversation;
mod corpus;
mod embedding;
mod node;
mod python;
mod wasmtime;
