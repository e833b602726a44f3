//! Work that blocks, done apart from the thread that everything is waited for on.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::oneshot;

/// Threads for calls of the component, or for writing to a client: never for both, as a client that does not read holds
/// up whoever writes to it. They end when this is dropped and the work is done.
///
/// The runtime has threads for this too, but panics where the system has none to give. Here the first one is there
/// before anything depends on it, and where no more can be had, the work waits for those that are there.
pub(crate) struct Blocking {
    shared: Arc<Shared>,
    /// How many threads there may be.
    most: usize,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    added: Condvar,
}

#[derive(Default)]
struct Queue {
    work: VecDeque<Work>,
    threads: usize,
    /// How many threads have nothing to do.
    idle: usize,
    /// Whether no more work comes.
    dropped: bool,
}

type Work = Box<dyn FnOnce() + Send>;

impl Blocking {
    /// Starts the first of at most `most` threads.
    ///
    /// # Errors
    /// Where the system has none to give.
    pub(crate) fn start(most: usize) -> io::Result<Self> {
        let blocking = Self {
            shared: Arc::default(),
            most,
        };
        blocking.shared.queue().threads = 1;
        start_thread(&blocking.shared)?;
        Ok(blocking)
    }

    /// Has work done and gives its result; `None` where it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, done) = oneshot::channel();
        self.add(Box::new(move || {
            // Fails where nobody waits for the result any more.
            let _ = sender.send(work());
        }));
        done.await.ok()
    }

    fn add(&self, work: Work) {
        let mut queue = self.shared.queue();
        queue.work.push_back(work);
        self.shared.added.notify_one();
        if queue.work.len() > queue.idle && queue.threads < self.most {
            queue.threads += 1;
            drop(queue);
            if start_thread(&self.shared).is_err() {
                // The first one is there, and comes to this work in time.
                self.shared.queue().threads -= 1;
            }
        }
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        self.shared.queue().dropped = true;
        self.shared.added.notify_all();
    }
}

fn start_thread(shared: &Arc<Shared>) -> io::Result<()> {
    let shared = Arc::clone(shared);
    let thread = thread::Builder::new().name("blocking".into());
    thread.spawn(move || work(&shared)).map(|_never_joined| ())
}

fn work(shared: &Shared) {
    let mut queue = shared.queue();
    loop {
        if let Some(work) = queue.work.pop_front() {
            drop(queue);
            // The panic itself has been reported, and whoever waits for the result learns that there is none.
            let _reported = catch_unwind(AssertUnwindSafe(work));
            queue = shared.queue();
        } else if queue.dropped {
            return;
        } else {
            queue.idle += 1;
            queue = shared
                .added
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing panics while it is changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::{Duration, Instant};

    use super::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("it needs nothing").block_on(work)
    }

    #[test]
    fn work_that_waits_for_other_work_meets_it() {
        let blocking = Blocking::start(3).expect("a test has threads");
        let meeting = Arc::new(Barrier::new(3));
        let meet = || {
            let meeting = Arc::clone(&meeting);
            blocking.run(move || meeting.wait().is_leader())
        };
        let (a, b, c) = block_on(async { tokio::join!(meet(), meet(), meet()) });
        let leaders = [a, b, c].map(|met| met.expect("nothing panics"));
        assert_eq!(leaders.into_iter().filter(|leader| *leader).count(), 1);
    }

    #[test]
    fn one_thread_does_all_work_where_there_may_be_no_more() {
        let blocking = Blocking::start(1).expect("a test has threads");
        let thread = || blocking.run(|| thread::current().id());
        let (a, b, c) = block_on(async { tokio::join!(thread(), thread(), thread()) });
        assert!(a.is_some() && a == b && b == c);
    }

    #[test]
    fn the_threads_end_when_nobody_can_give_them_work_any_more() {
        let blocking = Blocking::start(1).expect("a test has threads");
        let shared = Arc::clone(&blocking.shared);
        assert_eq!(block_on(blocking.run(|| 1)), Some(1));
        drop(blocking);
        let deadline = Instant::now() + Duration::from_secs(60);
        while Arc::strong_count(&shared) > 1 {
            assert!(Instant::now() < deadline, "a thread lives on");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_panic_costs_its_own_result_and_no_thread() {
        let blocking = Blocking::start(1).expect("a test has threads");
        let panicked = block_on(blocking.run(|| panic!("a test wants this")));
        assert_eq!(panicked, None::<()>);
        assert_eq!(block_on(blocking.run(|| 1)), Some(1));
    }
}
