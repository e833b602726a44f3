//! The owner's cancellation of a task.

use super::durable::{Loaded, write};
use super::lookup::own;
use super::record::{Facts, Live, State, TaskRecord};
use crate::imports::{Expectation, JobState, StopReason, StoreErrorKind, World};
use crate::limits::CONFLICT_ATTEMPTS;
use crate::outcome::Context;
use crate::rpc::RpcError;

/// Has the task's job stopped; nothing happens where it has ended.
///
/// # Errors
/// [`RpcError::Store`], [`RpcError::Jobs`], and those of [`own`] where the task goes meanwhile.
pub(crate) fn cancel(world: &mut impl World, cx: &Context, loaded: Loaded) -> Result<(), RpcError> {
    let id = loaded.facts.id.clone();
    let mut loaded = loaded;
    for _ in 0..CONFLICT_ATTEMPTS {
        let live = match loaded.state {
            State::Live(live) => live,
            State::Terminal(_) => return Ok(()),
        };
        let needs_mark = !live.cancel_requested && world.inspect(id.as_str())? == JobState::Unknown;
        if !needs_mark || mark(world, &loaded, live)? == Marked::Yes {
            world.stop(id.as_str(), StopReason::Cancelled)?;
            return Ok(());
        }
        loaded = own(world, cx, &id)?;
    }
    Err(RpcError::Internal(
        "other servers keep changing this task: try again",
    ))
}

/// Whether the record says it now.
#[derive(PartialEq, Eq)]
enum Marked {
    Yes,
    /// Somebody else wrote in between.
    Conflict,
}

/// Writes down that the owner cancelled a task whose job is not known: once stopped, it looks just like one
/// that a crashed server never started, and only the record tells them apart.
fn mark(world: &mut impl World, loaded: &Loaded, live: Live) -> Result<Marked, RpcError> {
    let record = TaskRecord {
        facts: Facts::clone(&loaded.facts),
        state: State::Live(Live {
            cancel_requested: true,
            ..live
        }),
    };
    match write(
        world,
        record,
        Expectation::WrittenBy(loaded.version),
        Vec::new(),
    ) {
        Ok(_) => Ok(Marked::Yes),
        Err(error) if error.kind == StoreErrorKind::Conflict => Ok(Marked::Conflict),
        Err(error) => Err(error.into()),
    }
}
