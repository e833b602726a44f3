//! When a job is stopped, how, and when it is over: a state machine without a clock, a file or a process.
//!
//! ```text
//! Running ──stop──▶ Ending ──grace──▶ Killing
//!    │                ▲
//!    └─command ended─▶ Lingering ──too long──┘      nothing left, in any state: over
//! ```

use super::super::limits::{KILL_AGAIN_AT_MOST_MS, KILL_AGAIN_MS, LINGER_MS};
use super::super::model::{Spec, StopCause};

/// What the supervisor has to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing before the next event or deadline.
    Wait,
    /// Ask everything that runs to end.
    Terminate,
    /// Ask what is not in the command's group, which could not be found the first time.
    TerminateRest,
    /// Kill everything that runs.
    Kill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The command runs.
    Running,
    /// The command ended by itself and something else runs, for now.
    Lingering { until_ms: u64 },
    /// What runs has been asked to end, or all but some of it, which is to be asked at `ask_ms`.
    Ending { until_ms: u64, ask_ms: Option<u64> },
    /// What runs is being killed, again after a pause that grows.
    Killing { again_ms: u64, pause_ms: u64 },
}

/// The life of one job. All times are on the clock that does not jump.
#[derive(Debug)]
pub(super) struct Life {
    phase: Phase,
    grace_ms: u64,
    timeout_at_ms: Option<u64>,
    lifetime_at_ms: Option<u64>,
    stopped: Option<StopCause>,
    has_leftovers: bool,
}

impl Life {
    /// A job that was started at `started_ms` and whose command runs.
    pub(super) fn new(spec: &Spec, started_ms: u64) -> Self {
        let at = |after: Option<u64>| after.map(|ms| started_ms.saturating_add(ms));
        Self {
            phase: Phase::Running,
            grace_ms: spec.grace_ms,
            timeout_at_ms: at(spec.timeout_ms),
            lifetime_at_ms: at(spec.lifetime_ms),
            stopped: None,
            has_leftovers: false,
        }
    }

    /// Why the job was stopped; `None` where its command ended by itself, or still may.
    pub(super) fn stopped(&self) -> Option<StopCause> {
        self.stopped
    }

    /// Whether the command runs and nobody has stopped it.
    pub(super) fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    /// Whether something outlived the command that had ended by itself, and is being stopped.
    pub(super) fn has_leftovers(&self) -> bool {
        self.has_leftovers
    }

    /// Why the job is to be stopped now because of the time alone; the caller settles it with everybody
    /// else who may have had a cause, and calls [`Life::stop`].
    pub(super) fn overdue(&self, now_ms: u64) -> Option<StopCause> {
        if !self.is_running() {
            return None;
        }
        let (at_ms, cause) = self.first_deadline()?;
        (now_ms >= at_ms).then_some(cause)
    }

    fn first_deadline(&self) -> Option<(u64, StopCause)> {
        let timeout = self.timeout_at_ms.map(|at_ms| (at_ms, StopCause::TimedOut));
        let lifetime = self.lifetime_at_ms.map(|at_ms| (at_ms, StopCause::Expired));
        timeout
            .into_iter()
            .chain(lifetime)
            .min_by_key(|(at_ms, _)| *at_ms)
    }

    /// The command has ended and others may run.
    pub(super) fn command_ended(&mut self, now_ms: u64) {
        if self.is_running() {
            self.phase = Phase::Lingering {
                until_ms: now_ms + LINGER_MS,
            };
        }
    }

    /// Somebody wants the job to stop. The first cause stays; a command that ended by itself was not
    /// stopped, and only what it left behind is hurried.
    pub(super) fn stop(&mut self, cause: StopCause, now_ms: u64) -> Action {
        match self.phase {
            Phase::Running => {
                self.stopped = Some(cause);
                self.end(now_ms)
            }
            Phase::Lingering { .. } => self.end_leftovers(now_ms),
            Phase::Ending { .. } | Phase::Killing { .. } => Action::Wait,
        }
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now_ms: u64) -> Action {
        match self.phase {
            Phase::Lingering { until_ms } if now_ms >= until_ms => self.end_leftovers(now_ms),
            Phase::Ending {
                until_ms: at_ms, ..
            }
            | Phase::Killing {
                again_ms: at_ms, ..
            } if now_ms >= at_ms => self.kill(now_ms),
            Phase::Ending {
                until_ms,
                ask_ms: Some(ask_ms),
            } if now_ms >= ask_ms => {
                let ask_ms = None;
                self.phase = Phase::Ending { until_ms, ask_ms };
                Action::TerminateRest
            }
            _ => Action::Wait,
        }
    }

    /// What is not in the command's group could not be found, and was not asked to end.
    pub(super) fn rest_unasked(&mut self, now_ms: u64) {
        if let Phase::Ending { ask_ms, .. } = &mut self.phase {
            *ask_ms = Some(now_ms + KILL_AGAIN_MS);
        }
    }

    /// Something has changed among what is left: where it is being killed, that is soon worth another try.
    pub(super) fn changed(&mut self, now_ms: u64) {
        if let Phase::Killing { again_ms, pause_ms } = &mut self.phase {
            *pause_ms = KILL_AGAIN_MS;
            *again_ms = (*again_ms).min(now_ms + KILL_AGAIN_MS);
        }
    }

    /// When to call [`Life::tick`] again, if nothing else happens before.
    pub(super) fn wake_at_ms(&self) -> Option<u64> {
        match self.phase {
            Phase::Running => self.first_deadline().map(|(at_ms, _)| at_ms),
            Phase::Lingering { until_ms } => Some(until_ms),
            Phase::Ending { until_ms, ask_ms } => {
                Some(ask_ms.map_or(until_ms, |ms| ms.min(until_ms)))
            }
            Phase::Killing { again_ms, .. } => Some(again_ms),
        }
    }

    fn end_leftovers(&mut self, now_ms: u64) -> Action {
        self.has_leftovers = true;
        self.end(now_ms)
    }

    fn end(&mut self, now_ms: u64) -> Action {
        if self.grace_ms == 0 {
            return self.kill(now_ms);
        }
        self.phase = Phase::Ending {
            until_ms: now_ms.saturating_add(self.grace_ms),
            ask_ms: None,
        };
        Action::Terminate
    }

    fn kill(&mut self, now_ms: u64) -> Action {
        let pause_ms = match self.phase {
            Phase::Killing { pause_ms, .. } => (pause_ms * 2).min(KILL_AGAIN_AT_MOST_MS),
            _ => KILL_AGAIN_MS,
        };
        self.phase = Phase::Killing {
            again_ms: now_ms + pause_ms,
            pause_ms,
        };
        Action::Kill
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_000;

    fn life(grace_ms: u64, timeout_ms: Option<u64>, lifetime_ms: Option<u64>) -> Life {
        let spec = Spec {
            timeout_ms,
            lifetime_ms,
            grace_ms,
            ..Spec::of_line("")
        };
        Life::new(&spec, START)
    }

    #[test]
    fn a_stopped_job_is_terminated_and_after_its_grace_killed_again_and_again() {
        let mut life = life(500, None, None);
        assert_eq!(life.wake_at_ms(), None);
        assert_eq!(life.stop(StopCause::Cancelled, 2_000), Action::Terminate);
        assert_eq!(life.wake_at_ms(), Some(2_500));
        assert_eq!(life.tick(2_499), Action::Wait);
        assert_eq!(life.tick(2_500), Action::Kill);
        assert_eq!(life.tick(2_501), Action::Wait);
        assert_eq!(life.tick(2_500 + KILL_AGAIN_MS), Action::Kill);
        assert_eq!(life.stopped(), Some(StopCause::Cancelled));
    }

    #[test]
    fn what_cannot_be_killed_is_tried_less_and_less_often_until_something_changes() {
        let mut life = life(0, None, None);
        let mut now_ms = 2_000;
        life.stop(StopCause::Cancelled, now_ms);
        let mut pause = |life: &mut Life| {
            let at_ms = life.wake_at_ms().expect("it is tried again");
            assert_eq!(life.tick(at_ms), Action::Kill);
            at_ms - std::mem::replace(&mut now_ms, at_ms)
        };
        let pauses: Vec<u64> = (0..8).map(|_| pause(&mut life)).collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
        life.changed(now_ms);
        assert_eq!(life.wake_at_ms(), Some(now_ms + KILL_AGAIN_MS));
        life.changed(now_ms + 1);
        assert_eq!(life.wake_at_ms(), Some(now_ms + KILL_AGAIN_MS));
    }

    #[test]
    fn what_could_not_be_asked_to_end_is_asked_within_its_grace() {
        let mut life = life(120, None, None);
        life.stop(StopCause::Cancelled, 2_000);
        life.rest_unasked(2_000);
        let ask_ms = 2_000 + KILL_AGAIN_MS;
        assert_eq!(life.wake_at_ms(), Some(ask_ms));
        assert_eq!(life.tick(ask_ms - 1), Action::Wait);
        assert_eq!(life.tick(ask_ms), Action::TerminateRest);
        assert_eq!(life.tick(ask_ms), Action::Wait);
        assert_eq!(life.wake_at_ms(), Some(2_120));
        // As often as it takes, and no longer than the grace.
        for unasked_ms in [ask_ms, 2_119] {
            life.rest_unasked(unasked_ms);
        }
        assert_eq!(life.wake_at_ms(), Some(2_120));
        assert_eq!(life.tick(2_120), Action::Kill);
        life.rest_unasked(2_120);
        assert_eq!(life.tick(2_121), Action::Wait);
    }

    #[test]
    fn without_a_grace_it_is_killed_at_once() {
        assert_eq!(
            life(0, None, None).stop(StopCause::ShutDown, 2_000),
            Action::Kill
        );
    }

    #[test]
    fn the_first_cause_stays() {
        let mut life = life(500, None, None);
        life.stop(StopCause::TimedOut, 2_000);
        assert_eq!(life.stop(StopCause::Cancelled, 2_001), Action::Wait);
        assert_eq!(life.stopped(), Some(StopCause::TimedOut));
    }

    #[test]
    fn the_earlier_of_timeout_and_lifetime_is_the_cause() {
        assert_eq!(
            life(1, Some(10), Some(20)).overdue(START + 10),
            Some(StopCause::TimedOut)
        );
        assert_eq!(
            life(1, Some(30), Some(20)).overdue(START + 20),
            Some(StopCause::Expired)
        );
        assert_eq!(life(1, Some(10), None).overdue(START + 9), None);
        assert_eq!(life(1, Some(u64::MAX), None).overdue(u64::MAX - 1), None);
    }

    #[test]
    fn a_deadline_does_not_touch_a_command_that_has_ended() {
        let mut life = life(500, Some(10), None);
        life.command_ended(START + 5);
        assert_eq!(life.overdue(START + 20), None);
        assert_eq!(life.stopped(), None);
    }

    #[test]
    fn what_outlives_the_command_lingers_and_is_then_ended() {
        let mut life = life(500, None, None);
        life.command_ended(2_000);
        assert_eq!(life.tick(2_000 + LINGER_MS - 1), Action::Wait);
        assert!(!life.has_leftovers());
        assert_eq!(life.tick(2_000 + LINGER_MS), Action::Terminate);
        assert!(life.has_leftovers());
        assert_eq!(life.stopped(), None, "the command ended by itself");
    }

    #[test]
    fn a_stop_hurries_leftovers_and_is_not_their_commands_cause() {
        let mut life = life(500, None, None);
        life.command_ended(2_000);
        assert_eq!(life.stop(StopCause::Cancelled, 2_001), Action::Terminate);
        assert_eq!(life.stopped(), None);
    }

    #[test]
    fn a_command_that_ends_while_it_is_stopped_leaves_the_others_their_grace() {
        let mut life = life(500, None, None);
        life.stop(StopCause::Cancelled, 2_000);
        life.command_ended(2_100);
        assert_eq!(life.wake_at_ms(), Some(2_500));
        assert!(!life.has_leftovers());
    }
}
