//! Commits that meet in one process and are written together: one synchronisation of the disk for all.
//!
//! Knows no SQL. The first to come leads: it writes its own commit and those that came meanwhile. Whoever
//! comes while it writes waits; when it is done, one of them leads the rest.
//!
//! Who waits here keeps a thread from everything else. So that not all of them wait for a process that stands still
//! with the lock, or for a disk that does, a few do, for as long as they may, and whoever comes beyond them gives up
//! earlier.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::limits::{CROWD_PATIENCE, PATIENT_COMMITS};
use super::super::{Change, Error};

/// The meeting place of all commits of one store in one process.
#[derive(Debug)]
pub(super) struct Group {
    queue: Mutex<Queue>,
    turned: Condvar,
    /// How long nobody may have got the lock before a commit beyond [`PATIENT_COMMITS`] gives up.
    crowd_patience: Duration,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            queue: Mutex::default(),
            turned: Condvar::new(),
            crowd_patience: CROWD_PATIENCE,
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    /// Whether somebody leads now.
    is_led: bool,
    /// How many threads are here, the one that leads included.
    inside: usize,
    /// Since when it is tried to write without getting the lock; `None` where the last one who led got it.
    locked_out_since: Option<Instant>,
    /// Since when the one who leads has the lock and writes; `None` where nobody does.
    written_since: Option<Instant>,
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
        let is_patient = queue.inside < PATIENT_COMMITS;
        queue.inside += 1;
        if !queue.is_led {
            return self.lead(&mut queue);
        }
        let ticket = queue.join(changes);
        loop {
            if let Some(result) = queue.results.remove(&ticket) {
                queue.inside -= 1;
                return Turn::Done(result);
            }
            if !queue.is_led {
                queue.withdraw(ticket);
                return self.lead(&mut queue);
            }
            let patience = self.patience_left(&queue);
            if !is_patient && patience.is_zero() && queue.withdraw(ticket) {
                queue.inside -= 1;
                return Turn::Done(Err(queue.refusal()));
            }
            // What was withdrawn too late is being written: that takes no lock, and ends.
            let is_limited = !is_patient && !patience.is_zero();
            queue = self.wait(queue, is_limited.then_some(patience));
        }
    }

    fn wait<'q>(
        &self,
        queue: MutexGuard<'q, Queue>,
        limit: Option<Duration>,
    ) -> MutexGuard<'q, Queue> {
        match limit {
            Some(limit) => {
                let waited = self.turned.wait_timeout(queue, limit);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => {
                let waited = self.turned.wait(queue);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    /// How much longer a commit beyond [`PATIENT_COMMITS`] waits.
    fn patience_left(&self, queue: &Queue) -> Duration {
        let since = queue.written_since.or(queue.locked_out_since);
        let waited = since.map(|since| since.elapsed());
        self.crowd_patience
            .saturating_sub(waited.unwrap_or_default())
    }

    fn lead(&self, queue: &mut Queue) -> Turn<'_> {
        queue.is_led = true;
        queue.locked_out_since.get_or_insert_with(Instant::now);
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

    /// Takes a commit back that nobody writes yet; whether it was one.
    fn withdraw(&mut self, ticket: u64) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|commit| commit.ticket != ticket);
        self.waiting.len() < before
    }

    /// What a commit is told that does not wait any longer.
    fn refusal(&self) -> Error {
        match self.written_since {
            Some(_) => Error::Slow(Arc::new(Crowded)),
            None => Error::Busy(Arc::new(Crowded)),
        }
    }
}

/// The right and the duty to write; it passes on when this is dropped.
pub(super) struct Leader<'g> {
    group: &'g Group,
    /// The tickets of the commits that were taken and have no result yet.
    unanswered: Vec<u64>,
}

impl Leader<'_> {
    /// Says that it has the lock: what takes long from now on is not another process's doing.
    pub(super) fn begin_to_write(&self) {
        let mut queue = self.group.queue();
        queue.locked_out_since = None;
        queue.written_since = Some(Instant::now());
    }

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
        let mut queue = self.group.queue();
        queue.results.extend(tickets.zip(results));
        if !matches!(own, Err(Error::Busy(_) | Error::Stopped { .. })) {
            queue.locked_out_since = None;
        }
        drop(queue);
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
        queue.written_since = None;
        queue.inside -= 1;
        self.group.turned.notify_all();
    }
}

/// So many commits wait for the same already that this one does not.
#[derive(Debug, thiserror::Error)]
#[error("other calls of this server wait already")]
struct Crowded;

/// The thread that wrote for others panicked; its transaction was taken back.
#[derive(Debug, thiserror::Error)]
#[error("the thread that made the commit panicked")]
struct LeaderPanicked;

#[cfg(test)]
mod tests {
    use std::thread;

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
        await_followers(group, 1);
    }

    fn await_followers(group: &Group, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while group.waiting_count() < count {
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

    /// A group of which nobody waits beyond the patient ones.
    fn impatient() -> Group {
        Group {
            crowd_patience: Duration::ZERO,
            ..Group::default()
        }
    }

    /// Has as many commits wait as are patient, beside the leader's, and gives what becomes of them when the leader
    /// ends.
    fn with_crowd(group: &Group, meanwhile: impl FnOnce(Leader<'_>)) -> Vec<Result<(), Error>> {
        let leader = lead(group, "leader");
        thread::scope(|scope| {
            let crowd: Vec<_> = (1..PATIENT_COMMITS)
                .map(|number| scope.spawn(move || follow(group, &number.to_string())))
                .collect();
            await_followers(group, crowd.len());
            meanwhile(leader);
            let results = crowd.into_iter().map(thread::ScopedJoinHandle::join);
            results
                .map(|result| result.expect("no follower panics"))
                .collect()
        })
    }

    #[test]
    fn a_commit_beyond_the_patient_ones_gives_up_and_those_get_their_results() {
        let group = impatient();
        let results = with_crowd(&group, |mut leader| {
            let beyond = follow(&group, "beyond");
            assert!(matches!(beyond, Err(Error::Busy(_))), "{beyond:?}");
            let waiting = leader.gather();
            assert_eq!(waiting.len(), PATIENT_COMMITS - 1, "it was taken back");
            let results = vec![Ok(()); waiting.len() + 1];
            leader.finish(&waiting, results).expect("it is told so");
        });
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert_eq!(group.queue().inside, 0);
    }

    #[test]
    fn a_commit_beyond_the_patient_ones_waits_while_others_get_the_lock() {
        let group = Group::default();
        with_crowd(&group, |mut leader| {
            thread::scope(|scope| {
                let beyond = scope.spawn(|| follow(&group, "beyond"));
                await_followers(&group, PATIENT_COMMITS);
                let waiting = leader.gather();
                let results = vec![Ok(()); waiting.len() + 1];
                leader.finish(&waiting, results).expect("it is told so");
                let beyond = beyond.join().expect("no follower panics");
                assert!(beyond.is_ok(), "{beyond:?}");
            });
        });
    }

    #[test]
    fn patience_begins_anew_only_when_somebody_got_the_lock() {
        let group = Group::default();
        for locked_out in [Error::Busy(Arc::new(Crowded)), Error::Stopped { pid: 1 }] {
            let expected = locked_out.to_string();
            let refused = lead(&group, "a").fail(locked_out);
            let words = refused.map_err(|error| error.to_string());
            assert_eq!(words, Err(expected));
            assert!(group.queue().locked_out_since.is_some());
        }
        lead(&group, "b")
            .finish(&[], vec![Ok(())])
            .expect("it is told so");
        assert!(group.queue().locked_out_since.is_none());
    }

    #[test]
    fn a_commit_that_does_not_wait_for_a_slow_disk_is_not_told_of_a_lock() {
        let group = impatient();
        with_crowd(&group, |mut leader| {
            leader.begin_to_write();
            assert!(group.queue().locked_out_since.is_none(), "it has the lock");
            // Whoever waits now is taken along by the next one.
            let beyond = follow(&group, "beyond");
            let Err(error @ Error::Slow(_)) = beyond else {
                panic!("the disk is slow, yet there is {beyond:?}");
            };
            assert!(!error.detail().contains("lock"), "{}", error.detail());
            let waiting = leader.gather();
            let results = vec![Ok(()); waiting.len() + 1];
            leader.finish(&waiting, results).expect("it is told so");
        });
        assert!(group.queue().written_since.is_none());
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
