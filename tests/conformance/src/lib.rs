//! The host conformance kit: a component that checks whether a host keeps the promises of `store` and `jobs`.
//!
//! Knows the contract, and how to tell from outside whether it is kept. Does not know any implementation. It has no
//! clock and waits for nothing: a check is a list of steps, and where the next one has to wait for a job, a moment or
//! a new host process, the kit gives the driver a ticket that holds all that it knows. See `wit/conformance.wit`.

mod bindings;
mod check;
mod expect;
mod jobs;
mod limits;
mod run;
mod store;
mod ticket;

use bindings::exports::backburner::server::conformance as wit;

use crate::check::Check;
use crate::run::Run;
use crate::ticket::Ticket;

/// What the component exports.
pub(crate) struct Kit;

impl wit::Guest for Kit {
    fn checks() -> Vec<wit::Check> {
        all().map(Check::describe).collect()
    }

    fn begin(name: String, now: u64) -> wit::Progress {
        match find(&name) {
            Some(check) => Run::begin(check, now).advance(),
            None => failed(format!("there is no check `{name}`")),
        }
    }

    fn resume(ticket: String, now: u64) -> wit::Progress {
        let known = Ticket::parse(&ticket).and_then(|ticket| Some((find(&ticket.check)?, ticket)));
        match known {
            Some((check, ticket)) => Run::resume(check, ticket, now).advance(),
            None => failed("the driver gave back a ticket that is none".to_owned()),
        }
    }
}

fn all() -> impl Iterator<Item = &'static Check> {
    store::CHECKS.iter().chain(jobs::CHECKS).copied().flatten()
}

fn find(name: &str) -> Option<&'static Check> {
    all().find(|check| check.name == name)
}

fn failed(reason: String) -> wit::Progress {
    wit::Progress::Failed(wit::Breach { reason })
}
