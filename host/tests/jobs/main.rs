//! The jobs engine with real supervisors and real processes.

mod chain;
mod clocks;
mod damage;
mod disk;
mod durability;
mod ending;
mod forgery;
mod headless;
mod inside;
mod lab;
mod output;
mod privacy;
mod questions;
mod shortage;
mod stopping;
mod unlisted;
