//! Programs in other languages: what they need of a machine, and where they are installed and run.
//!
//! **Knows** npm, Python's environments, and how to run a step to its end. **Does not know** what is tested with them:
//! that is in `tests/tests/hosts` and `tests/tests/clients`.

pub mod javascript;
pub mod npm;
pub mod pages;
pub mod python;
pub mod python_host;
pub mod wasmtime;

mod called;
mod note;
mod tools;
mod workbench;

pub use tools::{can_test, works};
pub use workbench::{Ended, Workbench};
