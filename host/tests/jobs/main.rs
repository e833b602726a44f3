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
mod modes;
mod moments;
mod output;
mod privacy;
mod privilege;
mod prompts;
mod questions;
mod shells;
mod shortage;
mod stopping;
mod terminal;
mod unlisted;
