//! A task as its owner is told of it: by `tasks/get` and by notifications alike.
//!
//! *Source:* SEP-2663, Tasks, Detailed Task.

use super::asking::{View, Viewer, view};
use super::durable::Loaded;
use super::record::{Facts, Terminal};
use super::settle::{Clock, Settled, settle};
use super::{Durable, status_message, wire};
use crate::imports::World;
use crate::input::Requests;
use crate::outcome::Context;
use crate::rpc::RpcError;

/// What is known of a task now.
#[derive(Debug)]
pub(crate) enum Detail {
    /// It goes on, and this is to be seen of it.
    Working(Durable<Facts>, View),
    /// It has ended.
    Ended(Durable<Facts>, Terminal),
}

/// Finds out what is known of a task, for this viewer.
///
/// # Errors
/// Those of [`settle`], and [`RpcError::ExpiredTask`].
pub(crate) fn detail(
    world: &mut impl World,
    cx: &Context,
    loaded: Loaded,
    viewer: Viewer<'_>,
) -> Result<Detail, RpcError> {
    Ok(match settle(world, (cx.now, Clock::Fresh), loaded)? {
        Settled::Terminal(facts, terminal) => Detail::Ended(facts, terminal),
        Settled::Starting(facts, _) => {
            let view = View {
                message: status_message::starting(&facts, cx.now).to_owned(),
                requests: Requests::default(),
            };
            Detail::Working(facts, view)
        }
        Settled::Working(facts, progress) => {
            let view = view(world, &facts.id, &progress, viewer);
            Detail::Working(facts, view)
        }
        Settled::Expired => return Err(RpcError::ExpiredTask),
    })
}

impl Detail {
    /// The `DetailedTask` at `now`, in milliseconds since 1970.
    pub(crate) fn wire(&self, now: u64) -> wire::Task<'_> {
        match self {
            Self::Working(facts, view) => wire::viewed(facts, now, view),
            Self::Ended(facts, terminal) => wire::ended(facts, terminal),
        }
    }
}
