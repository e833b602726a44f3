//! What a waiting `tools/call` has to know when it goes on, as text that the host keeps meanwhile.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::listen::Listening;
use crate::imports::Progress;
use crate::limits::{PATIENCE_MS, TELL_AGAIN_MS};
use crate::meta::Client;
use crate::outcome::{Outcome, Pending};
use crate::rpc::Id;
use crate::rpc::notice::{Measure, Told};
use crate::task::TaskId;

/// All that remains of the call. The tag is the format's number: another version of the server may go on
/// with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Ticket {
    /// A call of the tool `run`, whose job was started.
    #[serde(rename = "call/1")]
    Call(WaitingCall),
    /// One whose job may not be started yet.
    #[serde(rename = "held/1")]
    Held(HeldCall),
    /// A subscription.
    #[serde(rename = "listen/1")]
    Listen(Listening),
}

/// A `tools/call` that waits for its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitingCall {
    /// The request's id.
    pub(crate) request: Id,
    /// The task whose job it waits for.
    pub(crate) task: TaskId,
    /// Whether it may be answered with a task.
    pub(crate) client: Client,
    /// Until when it waits, in milliseconds since 1970; the greatest number for as long as it takes.
    pub(crate) deadline: u64,
    /// Whether the task is that of an earlier call with the same idempotency key, so that nothing was run for this
    /// one.
    pub(crate) is_repeated: bool,
    /// Where the job was not known yet: when to look again since it can start no more then, or since nobody knew at the
    /// last look until when it can, in milliseconds since 1970. Where the call
    /// waits as long as it takes: when to look at the job in any case. `None` otherwise.
    pub(crate) start_by: Option<u64>,
    /// Where the task could not be looked at: when to look again, in milliseconds since 1970, whether or not its job
    /// has ended.
    pub(crate) look_at: Option<u64>,
    /// Where its client wants to hear how far it is: the token, and what was last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<Reported>,
}

/// What the client of a call was told of its progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reported {
    /// What the client calls its progress: a string or an integer, as a request's id.
    pub(crate) token: Id,
    /// What was told last, in whole ones of the measure; 0 where nothing was.
    pub(crate) value: u64,
    /// How many times more it was told since, while that stood still. An earlier version told a thousandth more each
    /// time, which is never more than what is told now.
    #[serde(default, skip_serializing_if = "is_zero", alias = "thousandths")]
    pub(crate) repeats: u64,
    /// What that was.
    pub(crate) measure: Measure,
    /// When to tell more, in milliseconds since 1970.
    pub(crate) next_at: u64,
}

/// A `tools/call` that waits for its idempotency key, of which nothing is recorded yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldCall {
    /// The request's id.
    pub(crate) request: Id,
    /// What it asks for: its parameters as they came.
    pub(crate) params: Box<RawValue>,
    /// Whether it may be answered with a task.
    pub(crate) client: Client,
    /// Until when it waits, in milliseconds since 1970.
    pub(crate) deadline: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Reported {
    /// What was told last.
    fn told(&self) -> Told {
        Told {
            value: self.value,
            repeats: self.repeats,
            measure: self.measure,
        }
    }

    /// How far a job is that runs, and always further than what was told: a client may take one of which it hears
    /// nothing for dead. A percentage that stands still approaches the next one. A job that runs has not done all,
    /// whatever it says: its 100 is told as 99, since nothing could follow 100. `None` where nothing is further.
    pub(crate) fn further(&self, progress: &Progress) -> Option<Told> {
        let whole = |value, measure| Told {
            value,
            repeats: 0,
            measure,
        };
        let told = self.told();
        let percent = progress.report.as_ref().and_then(|it| it.percent);
        let percent = percent.map(|it| whole(u64::from(it).min(99), Measure::Percent));
        let otherwise = match told.measure {
            // A second is told each second: the job begins a little later than the call, and a look may be early.
            Measure::Seconds => {
                let seconds = progress.running_ms.saturating_add(500) / 1000;
                whole(seconds.max(told.value.saturating_add(1)), Measure::Seconds)
            }
            Measure::Percent => Told {
                repeats: told.repeats.saturating_add(1),
                ..told
            },
        };
        let is_further = |it: &Told| {
            // An earlier version told all of 100, behind which there is nothing.
            let is_below_all = it.measure == Measure::Seconds || it.number() < 100.0;
            // Also of what stands still: after months of it a step is too small for a floating-point number.
            is_below_all && it.number() > told.number()
        };
        percent
            .filter(is_further)
            .or(Some(otherwise).filter(is_further))
    }
}

impl Ticket {
    /// Reads a ticket; `None` where it is not one of this server's.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self)
            .expect("strings, numbers and JSON alone, whose serializers do not fail")
    }
}

impl WaitingCall {
    /// The same call, where the task is an earlier one's.
    pub(crate) fn repeated(self) -> Self {
        Self {
            is_repeated: true,
            ..self
        }
    }

    /// The same call, where it is time to tell its client how far it is, and that was done.
    pub(crate) fn told(&self, now: u64, further: Option<Told>) -> Self {
        let tell = |it: &Reported| {
            let told = further.unwrap_or_else(|| it.told());
            Reported {
                token: it.token.clone(),
                value: told.value,
                repeats: told.repeats,
                measure: told.measure,
                next_at: now.saturating_add(TELL_AGAIN_MS),
            }
        };
        Self {
            progress: self.progress.as_ref().map(tell),
            ..self.clone()
        }
    }

    /// Whether it is time to tell its client how far it is.
    pub(crate) fn is_to_tell(&self, now: u64) -> bool {
        self.progress.as_ref().is_some_and(|it| it.next_at <= now)
    }

    /// When it goes on if nothing happens, in milliseconds since 1970.
    fn wakes_at(&self) -> u64 {
        let look_at = self.look_at.or(self.start_by);
        let report_at = self.progress.as_ref().map(|it| it.next_at);
        let moments = [Some(self.deadline), look_at, report_at];
        moments.into_iter().flatten().min().unwrap_or(self.deadline)
    }

    /// When to look at the job in any case, in milliseconds since 1970; `None` where there is a deadline. A look before
    /// that, as for each report of progress, puts it off no further.
    pub(crate) fn patient_until(&self, now: u64) -> Option<u64> {
        let latest = now.saturating_add(PATIENCE_MS);
        let is_to_come = |at: &u64| now < *at && *at <= latest;
        (self.deadline == u64::MAX).then(|| self.start_by.filter(is_to_come).unwrap_or(latest))
    }

    /// Keeps the request open until the job has ended, or it is time to look again at what could not be told before.
    pub(crate) fn wait(self) -> Outcome {
        let task = self.task.as_str().to_owned();
        Outcome::Wait(Pending {
            request: self.request.to_json(),
            jobs: match self.look_at {
                None => vec![task],
                // A job that has ended would wake the call at once.
                Some(_) => Vec::new(),
            },
            deadline: self.wakes_at(),
            until_configured: false,
            ticket: Ticket::Call(self).to_text(),
        })
    }
}

impl HeldCall {
    /// Keeps the request open until the job of this task has ended.
    pub(crate) fn wait(self, task: &TaskId) -> Outcome {
        Outcome::Wait(Pending {
            request: self.request.to_json(),
            jobs: vec![task.as_str().to_owned()],
            deadline: self.deadline,
            until_configured: false,
            ticket: Ticket::Held(self).to_text(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of a job that has run for so long, after these seconds were told.
    fn seconds(told: u64, running_ms: u64) -> Option<u64> {
        let number: Box<RawValue> = serde_json::from_str("1").expect("it is JSON");
        let reported = Reported {
            token: Id::parse(&number).expect("it is an id"),
            value: told,
            repeats: 0,
            measure: Measure::Seconds,
            next_at: 0,
        };
        let progress = Progress {
            started_at: 0,
            running_ms,
            output_bytes: 0,
            last_output_at: None,
            stopping: None,
            questions: Vec::new(),
            prompt: None,
            report: None,
        };
        reported.further(&progress).map(|told| told.value)
    }

    #[test]
    fn a_second_is_told_each_second_also_of_a_job_that_began_late() {
        assert_eq!(seconds(0, 990), Some(1));
        assert_eq!(seconds(0, 300), Some(1));
        assert_eq!(seconds(1, 1300), Some(2));
        assert_eq!(seconds(0, 3_600_000), Some(3600));
        assert_eq!(seconds(3600, 3_601_400), Some(3601));
    }
}
