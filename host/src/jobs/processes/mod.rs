//! Other processes: which there are, whose children they are, and how to signal one that is certainly the
//! one that was seen.
//!
//! A process id says nothing by itself, since it is given out again. A [`Seen`] carries when the process
//! was started too, and is only signalled while both still belong together.

use std::io;

use rustix::process::{Pid, Signal};

mod newcomers;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "portable.rs"]
mod system;

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod waiting;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "unseen.rs"]
mod waiting;

pub(crate) use newcomers::{Glance, Newcomers, Turn};
pub(crate) use system::{
    all, are_listed, command_line, glance, look, namespace, newest, recognize, signal, supervises,
};
pub(crate) use waiting::wait_for_terminal;

/// A process as it was seen at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Its process id.
    pub(crate) pid: i32,
    /// The process id of its parent.
    pub(crate) parent: i32,
    /// Its process group.
    pub(crate) group: i32,
    /// Its session.
    pub(crate) session: i32,
    /// When the kernel started it, in ticks since boot.
    pub(crate) start_ticks: u64,
    /// How much of it runs.
    pub(crate) stage: Stage,
}

impl Seen {
    /// Whether both are the same process, at two moments.
    pub(crate) fn is_process(&self, other: &Self) -> bool {
        (self.pid, self.start_ticks) == (other.pid, other.start_ticks)
    }
}

/// How much of a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its main thread, and whatever others it has.
    Whole,
    /// Other threads only. The kernel shows its main thread, and with it the process, as ended.
    Headless,
    /// Nothing: it only waits for its parent to notice.
    Zombie,
    /// Something that is the kernel's own, and has no memory.
    Kernel,
}

/// A terminal, as the system knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// Its number.
    pub(crate) number: rustix::fs::Dev,
    /// The number of the file system that it is in: there are several with terminals of the same numbers.
    pub(crate) of: rustix::fs::Dev,
}

/// What the job of this supervisor is seen to do at its terminal. The greater one of two is what counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(
    not(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )),
    expect(dead_code, reason = "nobody sees there what a process waits for")
)]
pub(crate) enum Wait {
    /// None of its processes waits for what is typed.
    Elsewhere,
    /// Nobody can see whether one does.
    Unseen,
    /// One of them waits for what is typed or for something else.
    Watches,
    /// One of them reads what is typed, and does nothing meanwhile.
    Reads,
}

/// Every process below `root` that has not ended.
///
/// # Errors
/// As [`all`].
pub(crate) fn descendants(root: Pid) -> io::Result<Vec<Seen>> {
    let everything = all()?;
    let roots = [root.as_raw_nonzero().get()];
    let mut below = below(&everything, &roots);
    below.retain(|seen| seen.stage != Stage::Zombie);
    Ok(below)
}

/// The processes among `everything` whose ancestors include one of `roots`.
pub(crate) fn below(everything: &[Seen], roots: &[i32]) -> Vec<Seen> {
    let mut known = roots.to_vec();
    let mut found = Vec::new();
    let mut from = 0;
    while from < known.len() {
        let parent = known[from];
        for seen in everything.iter().filter(|seen| seen.parent == parent) {
            if !known.contains(&seen.pid) {
                known.push(seen.pid);
                found.push(*seen);
            }
        }
        from += 1;
    }
    found
}

/// Stops every process that `find` gives, until it finds no new one, and then kills them all.
///
/// A stopped process cannot fork, so what is found after the last round has no children that were missed.
///
/// # Errors
/// That of `find`: what it had given before is killed.
pub(crate) fn freeze_and_kill(
    mut find: impl FnMut() -> io::Result<Vec<Seen>>,
) -> io::Result<Vec<Seen>> {
    let mut frozen = Vec::new();
    let all_found = freeze(&mut frozen, &mut find);
    for seen in &frozen {
        signal(seen, Signal::KILL);
    }
    all_found.map(|()| frozen)
}

/// Stops every process that `find` gives, until it finds no new one.
fn freeze(
    frozen: &mut Vec<Seen>,
    find: &mut impl FnMut() -> io::Result<Vec<Seen>>,
) -> io::Result<()> {
    for _round in 0..super::limits::FREEZE_ROUNDS {
        let mut fresh = find()?;
        fresh.retain(|seen| !frozen.iter().any(|known: &Seen| known.is_process(seen)));
        if fresh.is_empty() {
            break;
        }
        for seen in &fresh {
            signal(seen, Signal::STOP);
        }
        frozen.extend(fresh);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use rustix::io::Errno;

    use super::*;

    fn seen(pid: i32, parent: i32) -> Seen {
        Seen {
            pid,
            parent,
            group: pid,
            session: pid,
            start_ticks: 0,
            stage: Stage::Whole,
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_stopped_is_killed_where_the_rest_cannot_be_found() {
        let sleep = std::process::Command::new("sleep").arg("100").spawn();
        let mut child = sleep.expect("it exists");
        let pid = i32::try_from(child.id()).expect("process ids are small");
        let mut rounds = [Ok(look(pid).expect("there is /proc")), Err(Errno::MFILE)].into_iter();
        let failed = freeze_and_kill(|| {
            let round = rounds.next().expect("it ends with the error");
            Ok(round?.into_iter().collect())
        });
        let error = failed.expect_err("the table was not read to its end");
        assert_eq!(Errno::from_io_error(&error), Some(Errno::MFILE));
        assert!(!child.wait().expect("it is ours").success());
    }

    #[test]
    fn descendants_are_found_in_any_order_of_the_table() {
        let table = [
            seen(9, 8),
            seen(8, 7),
            seen(3, 1),
            seen(7, 5),
            seen(5, 1),
            seen(1, 0),
        ];
        let mut pids: Vec<i32> = below(&table, &[5]).iter().map(|seen| seen.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [7, 8, 9]);
    }

    #[test]
    fn a_table_that_was_read_while_it_changed_does_not_loop() {
        let table = [seen(2, 3), seen(3, 2), seen(4, 4)];
        assert_eq!(below(&table, &[2]).len(), 1);
    }
}
