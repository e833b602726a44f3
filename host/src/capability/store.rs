//! The import `store`, on whatever [`Store`](crate::store::Store) the server was made with.

use crate::bindings::backburner::server::{store as wit, types};
use crate::engine::State;
use crate::store::{Change, Entry, Error, Expectation, Versioned};

impl types::Host for State {}

impl wit::Host for State {
    fn get(&mut self, key: String) -> Result<Option<wit::Versioned>, wit::Error> {
        let found = self.on_host(|state| state.store.get(&key))?;
        Ok(found.map(wit::Versioned::from))
    }

    fn scan(
        &mut self,
        prefix: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<Vec<wit::Entry>, wit::Error> {
        let entries = self.on_host(|state| state.store.scan(&prefix, after.as_deref(), limit))?;
        Ok(entries.into_iter().map(wit::Entry::from).collect())
    }

    fn commit(&mut self, changes: Vec<wit::Change>) -> Result<(), wit::Error> {
        let changes: Vec<Change> = changes.into_iter().map(Change::from).collect();
        Ok(self.on_host(|state| state.store.commit(&changes))?)
    }
}

impl From<Versioned> for wit::Versioned {
    fn from(it: Versioned) -> Self {
        Self {
            value: it.value,
            version: it.version,
        }
    }
}

impl From<Entry> for wit::Entry {
    fn from(it: Entry) -> Self {
        Self {
            key: it.key,
            value: it.value,
            version: it.version,
        }
    }
}

impl From<wit::Change> for Change {
    fn from(it: wit::Change) -> Self {
        match it {
            wit::Change::Put(put) => Self::Put {
                key: put.key,
                value: put.value,
                expect: put.expect.into(),
            },
            wit::Change::Remove(remove) => Self::Remove {
                key: remove.key,
                expect: remove.expect.into(),
            },
        }
    }
}

impl From<wit::Expectation> for Expectation {
    fn from(it: wit::Expectation) -> Self {
        match it {
            wit::Expectation::Anything => Self::Anything,
            wit::Expectation::Absent => Self::Absent,
            wit::Expectation::WrittenBy(version) => Self::WrittenBy(version),
        }
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        let kind = match error {
            Error::Conflict { .. } => wit::ErrorKind::Conflict,
            Error::NoSpace(_) => wit::ErrorKind::NoSpace,
            Error::TooLarge { .. } => wit::ErrorKind::TooLarge,
            // A person has to look at what became of the files; trying again cannot help.
            Error::Corrupt(_) | Error::Lost { .. } => wit::ErrorKind::Corrupt,
            Error::Invalid(_)
            | Error::FileSize(_)
            | Error::Newer { .. }
            | Error::Busy(_)
            | Error::Stopped { .. }
            | Error::ReadOnly(_)
            | Error::Slow(_)
            | Error::Unopened(_)
            | Error::Closed
            | Error::Other(_) => wit::ErrorKind::Other,
        };
        Self {
            kind,
            detail: error.detail(),
        }
    }
}
