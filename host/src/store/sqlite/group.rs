//! Commits that meet in one process and are written together: one synchronisation of the disk for all.
//!
//! Knows no SQL. The first to come leads: it writes its own commit and those that came meanwhile. Whoever
//! comes while it writes waits; when it is done, one of them leads the rest.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::super::{Change, Error};

/// The meeting place of all commits of one store in one process.
#[derive(Debug, Default)]
pub(super) struct Group {
    queue: Mutex<Queue>,
    turned: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    /// Whether somebody leads now.
    is_led: bool,
    next_ticket: u64,
    waiting: Vec<Waiting>,
    /// What came of the commits that somebody else wrote, until their owners take it.
    results: BTreeMap<u64, Result<(), Error>>,
}

/// A commit that somebody else is to write. Its changes are copies: the leader may outrun their owner.
#[derive(Debug)]
pub(super) struct Waiting {
    ticket: u64,
    changes: Vec<Change>,
}

impl Waiting {
    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// What became of a commit that entered.
pub(super) enum Turn<'g> {
    /// Nobody has written it: its owner has to, and what waits with it.
    Lead(Leader<'g>),
    /// Somebody else has written it.
    Done(Result<(), Error>),
}

impl Group {
    /// Waits until somebody has written these changes, or until it is the caller's turn to lead.
    pub(super) fn enter(&self, changes: &[Change]) -> Turn<'_> {
        let mut queue = self.queue();
        if !queue.is_led {
            return self.lead(&mut queue);
        }
        let ticket = queue.join(changes);
        loop {
            queue = self
                .turned
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(result) = queue.results.remove(&ticket) {
                return Turn::Done(result);
            }
            if !queue.is_led {
                queue.waiting.retain(|commit| commit.ticket != ticket);
                return self.lead(&mut queue);
            }
        }
    }

    fn lead(&self, queue: &mut Queue) -> Turn<'_> {
        queue.is_led = true;
        Turn::Lead(Leader {
            group: self,
            unanswered: Vec::new(),
        })
    }

    /// How many commits wait to be written by somebody else.
    #[cfg(test)]
    pub(super) fn waiting_count(&self) -> usize {
        self.queue().waiting.len()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // The queue is whole at any moment at which another thread could have panicked.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn join(&mut self, changes: &[Change]) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting.push(Waiting {
            ticket,
            changes: changes.to_vec(),
        });
        ticket
    }
}

/// The right and the duty to write; it passes on when this is dropped.
pub(super) struct Leader<'g> {
    group: &'g Group,
    /// The tickets of the commits that were taken and have no result yet.
    unanswered: Vec<u64>,
}

impl Leader<'_> {
    /// Takes over all commits that wait now.
    pub(super) fn gather(&mut self) -> Vec<Waiting> {
        let waiting = std::mem::take(&mut self.group.queue().waiting);
        self.unanswered
            .extend(waiting.iter().map(|commit| commit.ticket));
        waiting
    }

    /// Gives the results to their owners: the first is the leader's own, the others are in the order of
    /// `waiting`.
    pub(super) fn finish(
        mut self,
        waiting: &[Waiting],
        results: Vec<Result<(), Error>>,
    ) -> Result<(), Error> {
        let mut results = results.into_iter();
        let own = results
            .next()
            .expect("the first result is that of the leader's own commit");
        self.unanswered.clear();
        let tickets = waiting.iter().map(|commit| commit.ticket);
        self.group.queue().results.extend(tickets.zip(results));
        own
    }

    /// Fails the leader's own commit and all that wait: none of them could be tried.
    pub(super) fn fail(mut self, error: Error) -> Result<(), Error> {
        let waiting = self.gather();
        let results = vec![Err(error); waiting.len() + 1];
        self.finish(&waiting, results)
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        let mut queue = self.group.queue();
        for ticket in self.unanswered.drain(..) {
            // Only after a panic of the leader; without an answer its followers would wait for ever.
            queue
                .results
                .insert(ticket, Err(Error::Other(Arc::new(LeaderPanicked))));
        }
        queue.is_led = false;
        self.group.turned.notify_all();
    }
}

/// The thread that wrote for others panicked; its transaction was taken back.
#[derive(Debug, thiserror::Error)]
#[error("the thread that made the commit panicked")]
struct LeaderPanicked;

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::super::super::Expectation;
    use super::*;

    fn change(key: &str) -> [Change; 1] {
        [Change::Remove {
            key: key.to_owned(),
            expect: Expectation::Anything,
        }]
    }

    fn lead<'g>(group: &'g Group, key: &str) -> Leader<'g> {
        match group.enter(&change(key)) {
            Turn::Lead(leader) => leader,
            Turn::Done(result) => panic!("nobody else leads, yet there is {result:?}"),
        }
    }

    /// What becomes of a commit that somebody else takes.
    fn follow(group: &Group, key: &str) -> Result<(), Error> {
        match group.enter(&change(key)) {
            Turn::Done(result) => result,
            Turn::Lead(_) => panic!("its commit was taken by another"),
        }
    }

    /// Waits until a follower has joined, which takes it an unknown time.
    fn await_follower(group: &Group) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while group.waiting_count() == 0 {
            assert!(Instant::now() < deadline, "nobody joined {group:?}");
            thread::yield_now();
        }
    }

    #[test]
    fn each_commit_gets_its_own_result() {
        let group = Group::default();
        let mut leader = lead(&group, "a");
        thread::scope(|scope| {
            let follower = scope.spawn(|| follow(&group, "b"));
            await_follower(&group);
            let waiting = leader.gather();
            assert_eq!(waiting[0].changes()[0].key(), "b");
            let conflict = Error::Conflict {
                key: "b".to_owned(),
            };
            assert!(leader.finish(&waiting, vec![Ok(()), Err(conflict)]).is_ok());
            let result = follower.join().expect("the follower does not panic");
            assert!(matches!(result, Err(Error::Conflict { key }) if key == "b"));
        });
    }

    #[test]
    fn a_follower_leads_when_nobody_took_its_commit() {
        let group = Group::default();
        let leader = lead(&group, "a");
        thread::scope(|scope| {
            let follower = scope.spawn(|| matches!(group.enter(&change("b")), Turn::Lead(_)));
            await_follower(&group);
            drop(leader);
            assert!(follower.join().expect("the follower does not panic"));
        });
        assert_eq!(group.waiting_count(), 0);
    }

    #[test]
    fn a_leader_that_vanishes_fails_those_it_took() {
        let group = Group::default();
        let mut leader = lead(&group, "a");
        thread::scope(|scope| {
            let follower = scope.spawn(|| follow(&group, "b"));
            await_follower(&group);
            assert_eq!(leader.gather().len(), 1);
            drop(leader);
            let result = follower.join().expect("the follower does not panic");
            assert!(matches!(result, Err(Error::Other(_))));
        });
    }
}
