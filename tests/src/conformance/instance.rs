//! The kit in wasmtime, on the imports that the product gives to its own component.

#![expect(
    unsafe_code,
    reason = "code from elsewhere has no safe form, wherever it comes from"
)]

use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use backburner::engine::{State, linker};
use backburner::jobs::Jobs;
use backburner::store::MemoryStore;
use wasmtime::component::Component;
use wasmtime::{Engine, Result, Store};

use super::bindings::{HostConformance, HostConformancePre};
use super::wit::{Check, Progress};
use super::{Opened, Subject};
use crate::fake::Machine;

/// What the build script compiled ahead of time.
const KIT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/conformance.cwasm"));

/// An instance of the kit, on a store and jobs that were opened for it.
pub(super) struct Instance {
    store: Store<State>,
    kit: HostConformance,
    jobs: Arc<dyn Jobs>,
}

impl Instance {
    /// Opens the subject and makes one.
    pub(super) fn new(subject: &Subject) -> Result<Self> {
        Self::on((subject.open)())
    }

    fn on((store, jobs): Opened) -> Result<Self> {
        let kit = kit()?;
        let mut store = Store::new(kit.engine(), State::new(store, Arc::clone(&jobs)));
        let kit = kit.instantiate(&mut store)?;
        Ok(Self { store, kit, jobs })
    }

    /// The jobs that it checks, for whoever waits for one.
    pub(super) fn jobs(&self) -> &Arc<dyn Jobs> {
        &self.jobs
    }

    /// Begins a check.
    pub(super) fn begin(&mut self, name: &str) -> Result<Progress> {
        self.kit
            .backburner_server_conformance()
            .call_begin(&mut self.store, name, now())
    }

    /// Goes on with a check.
    pub(super) fn resume(&mut self, ticket: &str) -> Result<Progress> {
        self.kit
            .backburner_server_conformance()
            .call_resume(&mut self.store, ticket, now())
    }
}

/// The checks of the kit, of which no import knows anything.
pub(super) fn checks() -> Result<Vec<Check>> {
    let mut instance = Instance::on((Arc::new(MemoryStore::new()), Machine::new().jobs))?;
    instance
        .kit
        .backburner_server_conformance()
        .call_checks(&mut instance.store)
}

/// The present, in milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = since.expect("it is after 1970").as_millis();
    u64::try_from(ms).expect("it is before the end of time")
}

/// The kit, linked, once for all instances.
fn kit() -> Result<&'static HostConformancePre<State>> {
    static KIT: OnceLock<HostConformancePre<State>> = OnceLock::new();
    if let Some(kit) = KIT.get() {
        return Ok(kit);
    }
    let kit = load()?;
    Ok(KIT.get_or_init(|| kit))
}

fn load() -> Result<HostConformancePre<State>> {
    let engine = Engine::default();
    // SAFETY: the bytes were written by `Engine::precompile_component` in this crate's build script and are part
    // of this program, so they can be trusted as much as its own code; settings that do not fit are an error.
    let component = unsafe { Component::deserialize(&engine, KIT) }?;
    HostConformancePre::new(linker(&engine)?.instantiate_pre(&component)?)
}
