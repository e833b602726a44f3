//! Starting the job of a recorded task, and taking the record back where that fails.

use super::durable::{Found, Loaded, load};
use super::keys::{self, Owner};
use super::record::{Facts, Live, State};
use super::{Durable, idempotency};
use crate::imports::{Change, Expectation, JobSpec, StartError, StartErrorKind, Store, World};
use crate::rpc::RpcError;

/// What became of an attempt to start a job.
#[derive(Debug)]
pub(crate) enum Started {
    /// It was started, by this attempt or another one.
    Job(Durable<Facts>),
    /// It was not, for this reason, and the task is gone.
    Refused(StartError),
}

/// Starts the job of a task whose record names this attempt as the last one.
///
/// # Errors
/// [`RpcError::Store`] where the job did not start and the record cannot be read; the task is then
/// repaired later.
pub(crate) fn start(
    world: &mut impl World,
    facts: Durable<Facts>,
    attempt: u32,
    spec: &JobSpec,
) -> Result<Started, RpcError> {
    match world.start(facts.id.as_str(), spec) {
        Ok(()) => Ok(Started::Job(facts)),
        // Another server was quicker, or the task was cancelled: the job knows, here it is all the same.
        Err(error) if error.kind == StartErrorKind::AlreadyKnown => Ok(Started::Job(facts)),
        Err(error) => take_back(world, &facts, attempt, error),
    }
}

/// Removes a task that nobody was told of, unless somebody else has tried to start it since: then the
/// task is theirs to keep or to take back.
fn take_back(
    store: &mut impl Store,
    facts: &Facts,
    attempt: u32,
    error: StartError,
) -> Result<Started, RpcError> {
    let Found::Task(loaded) = load(store, &facts.id)? else {
        return Ok(Started::Refused(error));
    };
    let is_ours =
        matches!(loaded.state, State::Live(Live { attempt: last, .. }) if last == attempt);
    if !is_ours {
        return Ok(Started::Job(loaded.facts));
    }
    // Where this fails the record stays, without a job: whoever reads it next says that there is no trace of it.
    let changes = removals(store, &loaded)?;
    let _ = store.commit(changes);
    Ok(Started::Refused(error))
}

fn removals(store: &mut impl Store, loaded: &Loaded) -> Result<Vec<Change>, RpcError> {
    let facts = &loaded.facts;
    let owner = Owner::new(&facts.principal)?;
    let mut changes = vec![Change::Remove {
        key: keys::task(&facts.id),
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
