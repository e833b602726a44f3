//! How many descriptors the requests have that are kept open.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Room for a request that is kept open: a descriptor for each job of it whose end is noticed at once. Given back when
/// this is dropped.
#[derive(Debug)]
pub(crate) struct Room(OwnedSemaphorePermit);

impl Room {
    /// Room for a request and one job; `None` where there is none.
    pub(super) fn take(all: &Arc<Semaphore>) -> Option<Self> {
        Arc::clone(all).try_acquire_owned().ok().map(Self)
    }

    /// Takes as much as so many jobs need, and gives back what they do not. Of what others have left it takes no more
    /// than half: one that waits for many jobs must not keep the next one from waiting for its own.
    pub(super) fn fit(&mut self, jobs: usize) {
        let (has, needs) = (self.0.num_permits(), jobs.max(1));
        if has >= needs {
            drop(self.0.split(has - needs));
            return;
        }
        let all = Arc::clone(self.0.semaphore());
        let more = (needs - has).min(all.available_permits() / 2);
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        // Fails where others have taken it meanwhile.
        if let Ok(more) = all.try_acquire_many_owned(more) {
            self.0.merge(more);
        }
    }

    /// The end of how many jobs is noticed at once.
    pub(super) fn jobs(&self) -> usize {
        self.0.num_permits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_as_much_room_as_its_jobs_need_and_gives_it_back() {
        let all = Arc::new(Semaphore::new(20));
        let mut room = Room::take(&all).expect("there is some");
        for (jobs, has) in [(0, 1), (1, 1), (7, 7), (3, 3), (9, 9), (0, 1)] {
            room.fit(jobs);
            assert_eq!((room.jobs(), all.available_permits()), (has, 20 - has));
        }
        drop(room);
        assert_eq!(all.available_permits(), 20);
    }

    #[test]
    fn requests_for_many_jobs_leave_room_for_others() {
        let all = Arc::new(Semaphore::new(20));
        let mut many: Vec<Room> = (0..5)
            .map(|_| {
                let mut room = Room::take(&all).expect("there is some left");
                room.fit(100);
                room
            })
            .collect();
        let jobs: Vec<usize> = many.iter().map(Room::jobs).collect();
        assert_eq!(jobs, [10, 5, 3, 1, 1]);
        // What is given back is taken by whoever needs it next.
        many.remove(0);
        many[0].fit(100);
        assert_eq!(many[0].jobs(), 10);
        assert!(all.available_permits() > 0, "there is some left");
    }

    #[test]
    fn where_nothing_is_left_there_is_no_room() {
        let all = Arc::new(Semaphore::new(1));
        let _room = Room::take(&all).expect("there is some");
        assert!(Room::take(&all).is_none());
    }
}
