//! Crashes, with the real binary: whatever is killed at whatever instant, no acknowledged task is lost, none runs
//! twice, and every exit code is true.

mod clean_end;
mod deaths;
mod fleet;
mod full_disk;
mod hostile;
mod killed_calls;
mod lost_store;
mod power;
mod questions;
mod races;
mod random;
mod reports;
mod scene;
mod sharing;
mod steps_of_create;
mod steps_of_end;
mod watching;
