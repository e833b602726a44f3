//! The core's imports, each a call of the host's function of the same name.

use backburner_core::imports::{
    Change, Entropy, Entry, Failure, Fragment, JobSpec, JobState, Jobs, StartError, StopReason,
    Store, StoreError, Versioned,
};

use crate::bindings::backburner::server::{jobs, store};

/// The embedding host. Has no state: every call goes through the imports.
pub(crate) struct Host;

impl Store for Host {
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let found = store::get(key)?;
        Ok(found.map(Versioned::from))
    }

    fn scan(
        &mut self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        let entries = store::scan(prefix, after, limit)?;
        Ok(entries.into_iter().map(Entry::from).collect())
    }

    fn commit(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        let changes: Vec<store::Change> = changes.into_iter().map(store::Change::from).collect();
        Ok(store::commit(&changes)?)
    }
}

impl Jobs for Host {
    fn start(&mut self, id: &str, spec: &JobSpec) -> Result<(), StartError> {
        Ok(jobs::start(id, &spec.into())?)
    }

    fn stop(&mut self, id: &str, reason: StopReason) -> Result<(), Failure> {
        Ok(jobs::stop(id, reason.into())?)
    }

    fn inspect(&mut self, id: &str) -> Result<JobState, Failure> {
        Ok(jobs::inspect(id)?.into())
    }

    fn answer(&mut self, id: &str, key: &str, answer: &str) -> Result<(), Failure> {
        Ok(jobs::answer(id, key, answer)?)
    }

    fn enter(&mut self, id: &str, key: &str, line: Option<&str>) -> Result<(), Failure> {
        Ok(jobs::enter(id, key, line)?)
    }

    fn read(&mut self, id: &str, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        let fragments = jobs::read(id, offset, limit)?;
        Ok(fragments.into_iter().map(Fragment::from).collect())
    }

    fn forget(&mut self, id: &str) -> Result<(), Failure> {
        Ok(jobs::forget(id)?)
    }
}

impl Entropy for Host {
    fn random_bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("wasi:random cannot fail: its function has no error");
        bytes
    }
}
