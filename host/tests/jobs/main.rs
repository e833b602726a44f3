//! The jobs engine with real supervisors and real processes.

mod chain;
mod damage;
mod durability;
mod ending;
mod headless;
mod inside;
mod lab;
mod moments;
mod output;
mod privacy;
mod privilege;
mod questions;
mod shells;
mod shortage;
mod stopping;
mod unlisted;
