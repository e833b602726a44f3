//! The component of `tests/composition` as the store of a host, so that the kit can check it.
//!
//! Composed with another component it does the same: here the host stands between the two, since the kit makes several
//! instances on one store.

#![expect(
    unsafe_code,
    reason = "code from elsewhere has no safe form, wherever it comes from"
)]

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backburner::engine::{State, linker};
use backburner::store::{Change, Entry, Error, Expectation, MemoryStore, Store, Versioned};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::store_bindings::MemoryStore as Bindings;
use super::store_bindings::exports::backburner::server::store as wit;
use crate::fake::Machine;

/// What the build script compiled ahead of time.
const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/memory_store.cwasm"));

/// A store that is an instance of a component.
pub struct ComponentStore(Mutex<Instance>);

struct Instance {
    store: wasmtime::Store<State>,
    bindings: Bindings,
}

impl fmt::Debug for ComponentStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentStore").finish_non_exhaustive()
    }
}

impl ComponentStore {
    /// An empty one.
    ///
    /// # Panics
    /// Where the component does not load.
    #[expect(
        clippy::new_without_default,
        reason = "it does something: it loads a component"
    )]
    #[must_use]
    pub fn new() -> Self {
        let instance = instance().expect("the build script makes a component that exports a store");
        Self(Mutex::new(instance))
    }

    fn instance(&self) -> MutexGuard<'_, Instance> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn instance() -> wasmtime::Result<Instance> {
    let engine = Engine::default();
    // SAFETY: the bytes were written by `Engine::precompile_component` in this crate's build script and are part
    // of this program, so they can be trusted as much as its own code; settings that do not fit are an error.
    let component = unsafe { Component::deserialize(&engine, CODE) }?;
    // For WASI alone: it imports no store and no jobs.
    let state = State::new(Arc::new(MemoryStore::new()), Machine::new().jobs);
    let mut store = wasmtime::Store::new(&engine, state);
    let bindings = Bindings::instantiate(&mut store, &component, &linker(&engine)?)?;
    Ok(Instance { store, bindings })
}

/// What a call of the component gave, or that it trapped.
fn told<T>(result: wasmtime::Result<Result<T, wit::Error>>) -> Result<T, Error> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.into()),
        Err(_trap) => Err(Error::Invalid("the component trapped")),
    }
}

impl Store for ComponentStore {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let Instance { store, bindings } = &mut *self.instance();
        let found = told(bindings.backburner_server_store().call_get(store, key))?;
        Ok(found.map(|it| Versioned {
            value: it.value,
            version: it.version,
        }))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        let Instance { store, bindings } = &mut *self.instance();
        let store_of = bindings.backburner_server_store();
        let found = told(store_of.call_scan(store, prefix, after, limit))?;
        let entries = found.into_iter().map(|it| Entry {
            key: it.key,
            value: it.value,
            version: it.version,
        });
        Ok(entries.collect())
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        let Instance { store, bindings } = &mut *self.instance();
        let changes: Vec<wit::Change> = changes.iter().map(wit::Change::from).collect();
        told(
            bindings
                .backburner_server_store()
                .call_commit(store, &changes),
        )
    }
}

impl From<&Change> for wit::Change {
    fn from(it: &Change) -> Self {
        let expect = match it.expect() {
            Expectation::Anything => wit::Expectation::Anything,
            Expectation::Absent => wit::Expectation::Absent,
            Expectation::WrittenBy(version) => wit::Expectation::WrittenBy(version),
        };
        let key = it.key().to_owned();
        match it {
            Change::Put { value, .. } => Self::Put(wit::Put {
                key,
                value: value.clone(),
                expect,
            }),
            Change::Remove { .. } => Self::Remove(wit::Remove { key, expect }),
        }
    }
}

impl From<wit::Error> for Error {
    fn from(error: wit::Error) -> Self {
        match error.kind {
            wit::ErrorKind::Conflict => Self::Conflict { key: error.detail },
            wit::ErrorKind::TooLarge => Self::TooLarge {
                what: "something with a length",
                found: 0,
                limit: 0,
            },
            // This component has no disk.
            wit::ErrorKind::NoSpace | wit::ErrorKind::Corrupt | wit::ErrorKind::Other => {
                Self::Invalid("the component refuses the commit")
            }
        }
    }
}
