//! When a request that is kept open has to go on.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use crate::clock::now_ms;
use crate::engine::{Pending, Wake};
use crate::jobs::Jobs;

/// Waits for what a request waits for, and says which of it came: the client takes the request back, by `cancelled`; the
/// server is about to end, when `shutdown` says true; one of the jobs has ended; the deadline.
pub(crate) async fn next_wake(
    jobs: &Arc<dyn Jobs>,
    pending: &Pending,
    cancelled: &mut oneshot::Receiver<()>,
    shutdown: &mut watch::Receiver<bool>,
) -> Wake {
    let left = Duration::from_millis(pending.deadline.saturating_sub(now_ms()));
    tokio::select! {
        biased;
        Ok(()) = cancelled => Wake::Cancelled,
        _ = shutdown.wait_for(|ending| *ending) => Wake::Shutdown,
        () = any_ended(jobs, &pending.jobs) => Wake::JobEnded,
        () = tokio::time::sleep(left) => Wake::Deadline,
    }
}

/// Resolves when one of the jobs does not run any more; never where there is none.
async fn any_ended(jobs: &Arc<dyn Jobs>, ids: &[String]) {
    let mut ended: Vec<_> = ids
        .iter()
        .filter_map(|id| id.parse::<Uuid>().ok())
        .map(|id| jobs.ended(id))
        .collect();
    let first = std::future::poll_fn(move |cx| {
        if ended.iter_mut().any(|job| pin!(job).poll(cx).is_ready()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    first.await;
}
