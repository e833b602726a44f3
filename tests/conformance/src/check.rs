//! What a check is.

use crate::bindings::exports::backburner::server::conformance as wit;
use crate::expect::Halt;
use crate::run::Run;

pub(crate) use wit::Need;

/// One promise and how it is checked.
pub(crate) struct Check {
    /// Its name: the interface, a slash, and what is checked.
    pub(crate) name: &'static str,
    /// What the host promises, as a sentence.
    pub(crate) promise: &'static str,
    /// What the host has to offer.
    pub(crate) needs: &'static [Need],
    /// What is done, in this order. The check passes after the last one.
    pub(crate) steps: &'static [Step],
}

/// A part of a check, after which the instance may be another one.
pub(crate) enum Step {
    /// Do something; where that has to wait, it is done again from its beginning.
    Do(fn(&mut Run) -> Result<(), Halt>),
    /// Have the host begin again, and let some time pass meanwhile.
    Restart {
        /// How long no host runs, in milliseconds.
        ms: u64,
    },
    /// Have several instances do something at the same time.
    Crowd {
        /// How many.
        size: u32,
        /// What each of them does, without waiting; the number is its own, from 0.
        member: fn(&mut Run, u32) -> Result<(), Halt>,
    },
}

impl Check {
    /// What the driver is told of it.
    pub(crate) fn describe(&self) -> wit::Check {
        wit::Check {
            name: self.name.to_owned(),
            promise: self.promise.to_owned(),
            needs: self.needs.to_vec(),
        }
    }
}
