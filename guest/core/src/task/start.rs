//! Starting the job of a recorded task, and what becomes of the record where that fails.
//!
//! Only the call that made the record starts its job, once: nobody else can know whether it has run, as what is kept
//! of a job may be deleted behind the server's back.

use super::durable::{Found, Loaded, load};
use super::idempotency;
use super::keys::{self, Owner};
use super::order::Order;
use super::record::{Ending, Facts, Live, State, TaskError, Terminal};
use super::settle::end;
use crate::imports::{
    Change, Expectation, StartError, StartErrorKind, StopReason, Store, StoreErrorKind, World,
};
use crate::limits::CONFLICT_ATTEMPTS;
use crate::rpc::RpcError;
use crate::wording::{self, Unstarted};

/// What became of the start.
#[derive(Debug)]
pub(crate) enum Start {
    /// The job was started.
    Started,
    /// Somebody else decided over the task before: its owner cancelled it, or its start came too late. The job was not
    /// started, and the record or the job says which of them.
    Overtaken,
    /// The job was not started, and never will be.
    Failed(StartError, Remains),
}

/// What is left of a task whose job was not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remains {
    /// Nothing: it is as if nobody had asked, and its idempotency key is free.
    Nothing,
    /// The task, which has failed, and for which its idempotency key stands.
    Task,
}

/// Starts the job of a task that this order made, whose call came at `now`.
pub(crate) fn start(world: &mut impl World, now: u64, facts: &Facts, order: &Order) -> Start {
    match world.start(facts.id.as_str(), &order.spec) {
        Ok(()) => Start::Started,
        Err(error) if error.kind == StartErrorKind::AlreadyKnown => Start::Overtaken,
        Err(error) => {
            let call = Unstarted {
                key_is_used: facts.idempotency_key.is_some(),
                is_unplaced: order.is_unplaced(),
                directory_said_by: order.directory_said_by.as_deref(),
            };
            let message = wording::not_run(&error, call, facts.about());
            let remains = give_up(world, facts, &failed(now, message));
            Start::Failed(error, remains)
        }
    }
}

/// The end of a task whose job could not be started. Only who gets the task by its idempotency key reads it.
fn failed(now: u64, message: String) -> Terminal {
    Terminal {
        ended_at: now,
        status_message: message.clone(),
        ending: Ending::Failed(TaskError::internal(message)),
    }
}

/// Removes the task, or has it end like this where somebody was told of it, or where it cannot be removed.
fn give_up(world: &mut impl World, facts: &Facts, terminal: &Terminal) -> Remains {
    for _ in 0..CONFLICT_ATTEMPTS {
        match attempt(world, facts, terminal) {
            Err(error) if is_conflict(&error) => {}
            Ok(Remains::Nothing) => return Remains::Nothing,
            // Where nothing can be written, the record stays as it is, and whoever reads it next says that there is no
            // trace of its job. The reason why it was not started is the better answer to this call.
            Ok(Remains::Task) | Err(_) => break,
        }
    }
    // Not before the end is written down: a job that was stopped before it was started is taken for one whose server
    // died, and that is what would be recorded of it. After it, it wakes who waits for the job. Where it fails they
    // wake later.
    let _ = world.stop(facts.id.as_str(), StopReason::Cancelled);
    Remains::Task
}

/// What [`give_up`] does, once.
///
/// # Errors
/// [`StoreErrorKind::Conflict`] where somebody else wrote in between, and any other where nothing can be written.
fn attempt(
    store: &mut impl Store,
    facts: &Facts,
    terminal: &Terminal,
) -> Result<Remains, RpcError> {
    let Found::Task(loaded) = load(store, &facts.id)? else {
        return Ok(Remains::Nothing);
    };
    match loaded.state {
        State::Terminal(_) => return Ok(Remains::Task),
        State::Live(Live { shared: false, .. }) => match remove(store, &loaded) {
            Ok(()) => return Ok(Remains::Nothing),
            Err(error) if is_conflict(&error) => return Err(error),
            Err(_) => {}
        },
        State::Live(Live { shared: true, .. }) => {}
    }
    end(store, &loaded.facts, terminal, loaded.version)?;
    Ok(Remains::Task)
}

fn is_conflict(error: &RpcError) -> bool {
    matches!(error, RpcError::Store(error) if error.kind == StoreErrorKind::Conflict)
}

/// Removes a task that nobody was told of.
fn remove(store: &mut impl Store, loaded: &Loaded) -> Result<(), RpcError> {
    let facts = &loaded.facts;
    let owner = Owner::new(&facts.principal)?;
    let mut changes = vec![Change::Remove {
        key: keys::task(&facts.id),
        // Whoever shares the task meanwhile keeps it.
        expect: Expectation::WrittenBy(loaded.version),
    }];
    let mut indexes = vec![
        keys::live(&facts.id),
        owner.task(facts.created_at, &facts.id),
    ];
    indexes.extend(
        facts
            .expires_at()
            .map(|moment| keys::expiry(moment, &facts.id)),
    );
    changes.extend(idempotency::release(store, facts)?);
    changes.extend(indexes.into_iter().map(|key| Change::Remove {
        key,
        expect: Expectation::Anything,
    }));
    store.commit(changes)?;
    Ok(())
}
