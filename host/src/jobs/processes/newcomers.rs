//! Processes that are started while the table of all processes is read, and may be in no table at all.
//!
//! Knows numbers and their order, and asks others what is behind one. Whoever looks for the processes of a job that
//! each start the next one and end has to look here: a table takes longer to read than some of them live.
//!
//! Why nothing is missed: take the newest number before the table is read. A process that lives when it has been read
//! and was there before has been met in it. Any other one has a greater number, and so have all that are started later.
//! So look at these in their order, and again at those that came meanwhile, until there are none. Whoever is not found
//! so was not there yet at its turn, or not any more. Not yet: then the process that was starting it lived, which had
//! its own turn before, in the table or by its smaller number, and was found. Not any more: then what it has started
//! can be seen and has a greater number, and its turn comes. So when no number is new, nothing lives that was not
//! found.
//!
//! Two things are left out. A process shows no environment while it executes another program: it is looked at again,
//! but not for ever. And where the numbers begin anew nothing follows from their order.

use std::io;

use super::super::limits::{NEW_NUMBERS, UNCLEAR_LOOKS};
use super::Seen;

/// What is behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glance {
    /// A process that is looked for.
    Wanted(Seen),
    /// Any other one, a thread, or nothing.
    Other,
    /// A process that does not show yet what it is.
    Unclear,
}

/// What one turn through the new numbers came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// This was found. The rest has not been looked at.
    Found(Seen),
    /// Nothing was found, and there may be new numbers by now.
    Passed,
    /// Nothing was found, and something has to be looked at again in a moment.
    Unclear,
    /// There was no new number: nothing lives that was not found before.
    Quiet,
    /// Nobody knows which numbers are new: they have begun anew, or are too many.
    Lost,
}

/// The numbers that were given out since a certain moment.
#[derive(Debug)]
pub(crate) struct Newcomers {
    /// The last one that was looked at; `None` where the system does not say which is the newest.
    last: Option<i32>,
    /// Those of unclear processes, and how often each was looked at, in their order.
    unclear: Vec<(i32, u32)>,
}

impl Newcomers {
    /// All from now on, where this is the newest number.
    pub(crate) fn since(newest: Option<i32>) -> Self {
        Self {
            last: newest,
            unclear: Vec::new(),
        }
    }

    /// Adds what was unclear in the table, in the order of the numbers.
    pub(crate) fn add_unclear(&mut self, pids: &[i32]) {
        self.unclear.extend(pids.iter().map(|pid| (*pid, 1)));
    }

    /// Looks at every number that is new or unclear, where `newest` is the newest one by now.
    ///
    /// # Errors
    /// Those of `glance`.
    pub(crate) fn turn(
        &mut self,
        newest: Option<i32>,
        glance: impl Fn(i32) -> io::Result<Glance>,
    ) -> io::Result<Turn> {
        let (first, newest) = match (self.last, newest) {
            (Some(last), Some(newest)) => (last.saturating_add(1), newest),
            // None is new.
            _ => (1, 0),
        };
        if newest < first - 1 || newest - first >= NEW_NUMBERS {
            return Ok(Turn::Lost);
        }
        if newest < first && self.unclear.is_empty() {
            return Ok(Turn::Quiet);
        }
        let unclear = std::mem::take(&mut self.unclear);
        for (pid, looks) in unclear
            .into_iter()
            .chain((first..=newest).map(|pid| (pid, 0)))
        {
            match glance(pid)? {
                Glance::Wanted(seen) => return Ok(Turn::Found(seen)),
                Glance::Unclear if looks < UNCLEAR_LOOKS => self.unclear.push((pid, looks + 1)),
                Glance::Unclear | Glance::Other => {}
            }
        }
        self.last = self.last.map(|last| last.max(newest));
        Ok(if self.unclear.is_empty() {
            Turn::Passed
        } else {
            Turn::Unclear
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::Stage;
    use super::*;

    fn seen(pid: i32) -> Seen {
        Seen {
            pid,
            parent: 1,
            group: pid,
            session: pid,
            start_ticks: 0,
            stage: Stage::Whole,
        }
    }

    /// A turn in which the processes of these numbers are what is given, and which of all numbers were looked at.
    fn turn(newcomers: &mut Newcomers, newest: i32, known: &[(i32, Glance)]) -> (Turn, Vec<i32>) {
        let looked_at = RefCell::new(Vec::new());
        let glance = |pid| {
            looked_at.borrow_mut().push(pid);
            let known = known.iter().find(|(known, _)| *known == pid);
            Ok(known.map_or(Glance::Other, |(_, glance)| *glance))
        };
        let turn = newcomers.turn(Some(newest), glance);
        (turn.expect("no look fails"), looked_at.into_inner())
    }

    #[test]
    fn every_new_number_has_its_turn_until_there_is_none() {
        let mut newcomers = Newcomers::since(Some(100));
        assert_eq!(
            turn(&mut newcomers, 103, &[]),
            (Turn::Passed, vec![101, 102, 103])
        );
        assert_eq!(turn(&mut newcomers, 104, &[]), (Turn::Passed, vec![104]));
        assert_eq!(turn(&mut newcomers, 104, &[]), (Turn::Quiet, vec![]));
    }

    #[test]
    fn without_a_new_number_it_is_quiet_at_once() {
        let mut newcomers = Newcomers::since(Some(100));
        assert_eq!(turn(&mut newcomers, 100, &[]), (Turn::Quiet, vec![]));
        let nobody = |_| panic!("there is no number");
        let mut unknown = Newcomers::since(None);
        assert_eq!(
            unknown.turn(None, nobody).expect("no look fails"),
            Turn::Quiet
        );
    }

    #[test]
    fn what_is_wanted_is_found() {
        let mut newcomers = Newcomers::since(Some(100));
        let wanted = (102, Glance::Wanted(seen(102)));
        let (found, _) = turn(&mut newcomers, 103, &[wanted]);
        assert_eq!(found, Turn::Found(seen(102)));
    }

    #[test]
    fn what_is_unclear_is_looked_at_again_and_first() {
        let mut newcomers = Newcomers::since(Some(100));
        newcomers.add_unclear(&[7]);
        let unclear = [(7, Glance::Unclear), (101, Glance::Unclear)];
        assert_eq!(
            turn(&mut newcomers, 101, &unclear),
            (Turn::Unclear, vec![7, 101])
        );
        assert_eq!(
            turn(&mut newcomers, 102, &unclear),
            (Turn::Unclear, vec![7, 101, 102])
        );
        let clear = [(101, Glance::Wanted(seen(101)))];
        let (found, looked_at) = turn(&mut newcomers, 102, &clear);
        assert_eq!((found, looked_at), (Turn::Found(seen(101)), vec![7, 101]));
    }

    #[test]
    fn what_stays_unclear_does_not_take_for_ever() {
        let mut newcomers = Newcomers::since(Some(100));
        let unclear = [(101, Glance::Unclear)];
        for _ in 0..UNCLEAR_LOOKS {
            assert_eq!(turn(&mut newcomers, 101, &unclear).0, Turn::Unclear);
        }
        assert_eq!(turn(&mut newcomers, 101, &unclear).0, Turn::Passed);
        assert_eq!(turn(&mut newcomers, 101, &unclear).0, Turn::Quiet);
    }

    #[test]
    fn nothing_follows_where_the_numbers_begin_anew_or_are_too_many() {
        for newest in [99, 100 + NEW_NUMBERS + 1] {
            let mut newcomers = Newcomers::since(Some(100));
            assert_eq!(turn(&mut newcomers, newest, &[]), (Turn::Lost, vec![]));
        }
        let mut newcomers = Newcomers::since(Some(100));
        assert_eq!(turn(&mut newcomers, 100 + NEW_NUMBERS, &[]).0, Turn::Passed);
    }
}
