//! Starting the job of a recorded task, and taking the record back where that fails.
//!
//! Only the call that made the record starts its job, once: nobody else can know whether it has run, as what is kept
//! of a job may be deleted behind the server's back.

use super::durable::{Found, Loaded, load};
use super::idempotency;
use super::keys::{self, Owner};
use super::record::{Facts, Live, State};
use crate::imports::{Change, Expectation, JobSpec, StartError, StartErrorKind, Store, World};
use crate::rpc::RpcError;

/// Starts the job of a task that this call has just recorded.
///
/// # Errors
/// [`StartError`] where the job was not started and never will be; the task is gone, unless somebody was told of it
/// or the store failed: then it is a failed one before long.
pub(crate) fn start(
    world: &mut impl World,
    facts: &Facts,
    spec: &JobSpec,
) -> Result<(), StartError> {
    match world.start(facts.id.as_str(), spec) {
        Ok(()) => Ok(()),
        // The task was cancelled, or its start came too late: the job knows, here it is all the same.
        Err(error) if error.kind == StartErrorKind::AlreadyKnown => Ok(()),
        Err(error) => {
            // Where this fails the record stays, without a job: whoever reads it next says that there is no trace of
            // it. The reason why the job was not started is the better answer.
            let _ = take_back(world, facts);
            Err(error)
        }
    }
}

/// Removes a task that nobody was told of.
fn take_back(store: &mut impl Store, facts: &Facts) -> Result<(), RpcError> {
    let Found::Task(loaded) = load(store, &facts.id)? else {
        return Ok(());
    };
    if matches!(loaded.state, State::Live(Live { shared: false, .. })) {
        let changes = removals(store, &loaded)?;
        store.commit(changes)?;
    }
    Ok(())
}

fn removals(store: &mut impl Store, loaded: &Loaded) -> Result<Vec<Change>, RpcError> {
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
    Ok(changes)
}
