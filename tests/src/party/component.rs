//! The component in wasmtime, as the product embeds it.

use std::sync::Arc;

use backburner::engine::{Context, Pending, Pool, Step, Wake};

use super::in_process::{Engine, InProcess};
use crate::fake::Machine;

/// A server that is the component, on a new machine.
///
/// # Panics
/// Where the component does not load or refuses `config`.
#[must_use]
pub fn component(config: &str) -> InProcess {
    InProcess::new(make, config)
}

fn make(machine: &Machine, config: &str) -> Box<dyn Engine> {
    let pool = Pool::new(
        Arc::clone(&machine.store) as Arc<_>,
        Arc::clone(&machine.jobs) as Arc<_>,
        config.to_owned(),
    );
    Box::new(pool.expect("the embedded component starts"))
}

impl Engine for Pool {
    fn message(&self, cx: &Context, body: &str) -> Step {
        Pool::message(self, || cx.clone(), body)
    }

    fn resume(&self, cx: &Context, pending: &Pending, why: Wake, body: &str) -> Step {
        Pool::resume(self, || cx.clone(), pending, why, body)
    }
}
