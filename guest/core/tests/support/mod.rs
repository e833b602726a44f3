//! A world in memory for the core: store, jobs and entropy with virtual time, and a host around a server.
//!
//! Nothing here sleeps, reads a clock or uses a file: time is [`FakeWorld::clock`], and moves when a test
//! moves it. Each test binary takes it in as a module of its own, and uses a part of it.

pub(crate) mod coverage;
pub(crate) mod faults;
pub(crate) mod host;
pub(crate) mod interference;
pub(crate) mod jobs;
pub(crate) mod messages;
pub(crate) mod random;
pub(crate) mod store;
pub(crate) mod tools;
pub(crate) mod truth;
pub(crate) mod world;

pub(crate) use host::Host;
pub(crate) use world::FakeWorld;
