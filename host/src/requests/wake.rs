//! When a request that is kept open has to go on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use crate::clock::now_ms;
use crate::engine::{Pending, Wake};
use crate::jobs::Jobs;
use crate::limits::UNWATCHED_LOOK;

/// What ends the waiting of one request before its time.
#[derive(Debug)]
pub(crate) struct Interruptions {
    /// Resolves when the client takes the request back.
    pub(crate) cancelled: oneshot::Receiver<()>,
    /// The end of how many of its jobs may be waited for, each of which takes a descriptor. Where that is 0 the request
    /// is answered as at shutdown, unless it was taken back already.
    pub(crate) room: usize,
    /// Says true when the server is about to end.
    pub(crate) shutdown: watch::Receiver<bool>,
    /// Tells of new configurations, where the request heeds them.
    pub(crate) configured: Option<watch::Receiver<u64>>,
}

/// Waits for what a request waits for, and says which of it came: an interruption; or one of the jobs has ended, or asks, or
/// the deadline has come, which is not looked for before `pause` has passed.
pub(crate) async fn next_wake(
    jobs: &Arc<dyn Jobs>,
    pending: &Pending,
    interruptions: &mut Interruptions,
    (pause, asks): (Option<Duration>, Change),
) -> Wake {
    let Interruptions {
        cancelled,
        room,
        shutdown,
        configured,
    } = interruptions;
    tokio::select! {
        biased;
        Ok(()) = cancelled => Wake::Cancelled,
        () = std::future::ready(()), if *room == 0 => Wake::Shutdown,
        _ = shutdown.wait_for(|ending| *ending) => Wake::Shutdown,
        () = changed(configured) => Wake::Configured,
        why = due(jobs, pending, *room, (pause, asks)) => why,
    }
}

/// Resolves when there is another configuration; never where nobody wants to know.
async fn changed(configured: &mut Option<watch::Receiver<u64>>) {
    let is_told = match configured {
        Some(configured) => configured.changed().await.is_ok(),
        None => false,
    };
    if !is_told {
        std::future::pending::<()>().await;
    }
}

async fn due(
    jobs: &Arc<dyn Jobs>,
    pending: &Pending,
    room: usize,
    (pause, asks): (Option<Duration>, Change),
) -> Wake {
    let (watched, unwatched) = pending.split_at(room);
    if let Some(pause) = pause {
        tokio::time::sleep(pause).await;
    }
    let left = Duration::from_millis(pending.deadline.saturating_sub(now_ms()));
    tokio::select! {
        biased;
        () = any(jobs, watched, |jobs, id| jobs.ended(id)) => Wake::JobEnded,
        () = asks => Wake::JobEnded,
        () = tokio::time::sleep(left) => Wake::Deadline,
        // Nobody tells of their ends, so whoever wakes looks for them.
        () = tokio::time::sleep(UNWATCHED_LOOK), if !unwatched.is_empty() => Wake::JobEnded,
    }
}

/// What comes of jobs, as a wake-up.
pub(crate) type Change = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Resolves when what one of a request's jobs asks has changed after this call, where that is seen.
pub(crate) fn asks(jobs: &Arc<dyn Jobs>, pending: &Pending, room: usize) -> Change {
    let (watched, _) = pending.split_at(room);
    Box::pin(any(jobs, watched, |jobs, id| jobs.asks(id)))
}

impl Pending {
    /// The jobs of which so many may be waited for, and the others.
    fn split_at(&self, room: usize) -> (&[String], &[String]) {
        self.jobs.split_at(room.min(self.jobs.len()))
    }
}

/// Resolves when this has come for one of the jobs; never where there is none. It begins at once. Whoever wakes looks at
/// the job, so that is also what becomes of one for which it cannot be waited without a panic.
fn any(
    jobs: &Arc<dyn Jobs>,
    ids: &[String],
    change: fn(&dyn Jobs, Uuid) -> Change,
) -> impl Future<Output = ()> + use<> {
    let ids = ids.iter().filter_map(|id| id.parse::<Uuid>().ok());
    let begin = || ids.map(|id| change(&**jobs, id)).collect::<Vec<_>>();
    let begun = catch_unwind(AssertUnwindSafe(begin));
    async {
        let Ok(mut changes) = begun else {
            return;
        };
        let first = std::future::poll_fn(move |cx| {
            let look = || changes.iter_mut().any(|it| it.as_mut().poll(cx).is_ready());
            match catch_unwind(AssertUnwindSafe(look)) {
                Ok(false) => Poll::Pending,
                Ok(true) | Err(_) => Poll::Ready(()),
            }
        });
        first.await;
    }
}
