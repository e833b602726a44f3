//! The core natively, without a component.

use std::borrow::Cow;
use std::cell::RefCell;

use backburner::engine::{Context, Notice, Pending, Step, Wake};
use backburner_core as core;

use super::in_process::{Engine, InProcess};
use crate::fake::{CoreWorld, Machine};

/// A server that is the core, on a new machine.
///
/// # Panics
/// Where the core refuses `config`.
#[must_use]
pub fn core(config: &str) -> InProcess {
    InProcess::new(make, config)
}

/// As [`core()`], with another server for each message and each time that a request goes on: whatever a server kept
/// beside its configuration would be missed.
///
/// # Panics
/// Where the core refuses `config`.
#[must_use]
pub fn fresh_core(config: &str) -> InProcess {
    InProcess::new(make_fresh, config)
}

struct Native {
    source: Source,
    world: RefCell<CoreWorld>,
}

/// Where the server for a call comes from.
enum Source {
    /// It is the one of the call before.
    Kept(core::Server),
    /// It is made from this configuration.
    Fresh(String),
}

impl Source {
    fn server(&self) -> Cow<'_, core::Server> {
        match self {
            Self::Kept(server) => Cow::Borrowed(server),
            Self::Fresh(config) => Cow::Owned(configured(config)),
        }
    }
}

fn configured(config: &str) -> core::Server {
    core::Server::configure(config).expect("the configuration is accepted")
}

fn make(machine: &Machine, config: &str) -> Box<dyn Engine> {
    Native::boxed(machine, Source::Kept(configured(config)))
}

fn make_fresh(machine: &Machine, config: &str) -> Box<dyn Engine> {
    Native::boxed(machine, Source::Fresh(config.to_owned()))
}

impl Native {
    fn boxed(machine: &Machine, source: Source) -> Box<dyn Engine> {
        Box::new(Self {
            source,
            world: RefCell::new(CoreWorld::new(machine)),
        })
    }
}

impl Engine for Native {
    fn message(&self, cx: &Context, body: &str) -> Step {
        let mut world = self.world.borrow_mut();
        let server = self.source.server();
        step(server.message(&mut *world, &context(cx), body))
    }

    fn resume(&self, cx: &Context, pending: &Pending, why: Wake, _body: &str) -> Step {
        let why = match why {
            Wake::JobEnded => core::Wake::JobEnded,
            Wake::Deadline => core::Wake::Deadline,
            Wake::Configured => core::Wake::Configured,
            Wake::Cancelled => core::Wake::Cancelled,
            Wake::Shutdown => core::Wake::Shutdown,
        };
        let mut world = self.world.borrow_mut();
        let server = self.source.server();
        step(server.resume(&mut *world, &context(cx), &pending.ticket, why))
    }
}

fn context(cx: &Context) -> core::Context {
    core::Context {
        now: cx.now,
        principal: cx.principal.clone(),
    }
}

fn step(outcome: core::Outcome) -> Step {
    match outcome {
        core::Outcome::Nothing => Step::Nothing,
        core::Outcome::Reply(reply) => Step::Reply(reply),
        core::Outcome::Wait(it) => Step::Wait(pending(it)),
        core::Outcome::Notify {
            messages,
            pending: it,
        } => Step::Notify(Notice {
            messages,
            pending: pending(it),
        }),
        core::Outcome::Cancel { request } => Step::Cancel(request),
    }
}

fn pending(it: core::Pending) -> Pending {
    Pending {
        request: it.request,
        ticket: it.ticket,
        jobs: it.jobs,
        deadline: it.deadline,
        until_configured: it.until_configured,
    }
}
