//! Drives the host conformance kit: the component that checks a store and jobs against the promises of the WIT.
//!
//! **Knows** how to wait, to restart a host and to make a crowd of one, as `wit/conformance.wit` asks of a driver.
//! **Does not know** what is checked: that is in the kit, `tests/conformance`.

mod bindings;
mod component_store;
mod driver;
mod instance;
mod store_bindings;

use std::path::Path;
use std::sync::Arc;

use backburner::jobs::Jobs;
use backburner::store::Store;

use crate::pool::in_threads;
use bindings::exports::backburner::server::conformance as wit;

pub use component_store::ComponentStore;
pub use wit::{Check, Need};

/// A store and jobs, opened.
pub type Opened = (Arc<dyn Store>, Arc<dyn Jobs>);

/// The implementation that is checked.
pub struct Subject {
    /// Opens store and jobs as a new process would: the same ones each time.
    pub open: Box<dyn Fn() -> Opened + Sync>,
    /// What it offers of what checks may need.
    pub offers: Vec<Need>,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject")
            .field("offers", &self.offers)
            .finish_non_exhaustive()
    }
}

impl Subject {
    /// Whether it offers all that a check needs.
    #[must_use]
    pub fn can_run(&self, check: &Check) -> bool {
        check.needs.iter().all(|need| self.offers.contains(need))
    }

    /// Runs one check.
    ///
    /// # Errors
    /// In words: which promise is not kept, or what went wrong with the kit.
    pub fn run(&self, name: &str) -> Result<(), String> {
        driver::play(self, name)
    }

    /// Goes on with a check where nothing has to be waited for.
    ///
    /// # Errors
    /// As [`Subject::run`], and where the ticket is none.
    pub fn resume(&self, ticket: &str) -> Result<(), String> {
        driver::take_part(self, ticket)
    }

    /// Runs all of these checks, several at the same time, and gives what was not kept: a line for each.
    #[must_use]
    pub fn breaches(&self, checks: &[Check]) -> Vec<String> {
        in_threads(checks, |check| {
            let reason = self.run(&check.name).err()?;
            Some(format!("{}: {reason}\n    {}", check.name, check.promise))
        })
    }
}

/// All checks of the kit.
///
/// # Panics
/// Where the kit does not load or start.
#[must_use]
pub fn checks() -> Vec<Check> {
    instance::checks().expect("the kit lists its checks, whatever it is about to check")
}

/// The kit, as a component for whoever has another runtime.
#[must_use]
pub fn kit() -> &'static Path {
    Path::new(concat!(env!("OUT_DIR"), "/conformance.wasm"))
}
