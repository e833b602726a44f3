//! One run of a check: its steps one after the other, as far as they come without waiting.

use crate::bindings::exports::backburner::server::conformance as wit;
use crate::check::{Check, Step};
use crate::expect::Halt;
use crate::failed;
use crate::limits::{LOOK_MS, PATIENCE_MS};
use crate::ticket::Ticket;

/// A run, between the call that goes on with it and the progress that the call gives.
pub(crate) struct Run {
    check: &'static Check,
    now: u64,
    ticket: Ticket,
}

impl Run {
    /// A new run, with keys and job ids that no other has.
    pub(crate) fn begin(check: &'static Check, now: u64) -> Self {
        let mut seed = [0; 16];
        getrandom::fill(&mut seed).expect("wasi:random cannot fail: its function has no error");
        let ticket = Ticket {
            check: check.name.to_owned(),
            step: 0,
            member: None,
            seed: u128::from_be_bytes(seed),
            until: now.saturating_add(PATIENCE_MS),
            memo: String::new(),
        };
        Self { check, now, ticket }
    }

    /// A run that was interrupted.
    pub(crate) fn resume(check: &'static Check, ticket: Ticket, now: u64) -> Self {
        Self { check, now, ticket }
    }

    /// Goes on until the check is over or has to wait.
    pub(crate) fn advance(mut self) -> wit::Progress {
        if let Some(number) = self.ticket.member {
            return self.take_part(number);
        }
        while let Some(step) = self.check.steps.get(self.ticket.step) {
            let progress = match step {
                Step::Do(work) => match work(&mut self) {
                    Ok(()) => {
                        self.step_is_done();
                        continue;
                    }
                    Err(halt) => self.halted(halt),
                },
                Step::Restart { ms } => {
                    self.step_is_done();
                    wit::Progress::Restart(wit::Restart {
                        not_before: self.now.saturating_add(*ms),
                        ticket: self.ticket.to_string(),
                    })
                }
                Step::Crowd { size, .. } => self.gather(*size),
            };
            return progress;
        }
        wit::Progress::Passed
    }

    /// A member of a crowd does its part.
    fn take_part(&mut self, number: u32) -> wit::Progress {
        let Some(Step::Crowd { member, .. }) = self.check.steps.get(self.ticket.step) else {
            return failed("the driver gave back a ticket that is none".to_owned());
        };
        match member(self, number) {
            Ok(()) => wit::Progress::Passed,
            Err(halt) => self.halted(halt),
        }
    }

    fn gather(&mut self, size: u32) -> wit::Progress {
        let member = |number| {
            let ticket = Ticket {
                member: Some(number),
                ..self.ticket.clone()
            };
            ticket.to_string()
        };
        let members = (0..size).map(member).collect();
        self.step_is_done();
        wit::Progress::Crowd(wit::Crowd {
            members,
            ticket: self.ticket.to_string(),
        })
    }

    fn step_is_done(&mut self) {
        self.ticket.step += 1;
        self.ticket.until = self.now.saturating_add(PATIENCE_MS);
    }

    fn halted(&self, halt: Halt) -> wit::Progress {
        match halt {
            Halt::Breach(reason) => failed(reason),
            Halt::Wait { what, .. } if self.now >= self.ticket.until => {
                failed(format!("waited {} s for {what}", PATIENCE_MS / 1000))
            }
            Halt::Wait { jobs, .. } => {
                let deadline = if jobs.is_empty() {
                    self.now.saturating_add(LOOK_MS).min(self.ticket.until)
                } else {
                    self.ticket.until
                };
                wit::Progress::Wait(wit::Pause {
                    jobs,
                    deadline,
                    ticket: self.ticket.to_string(),
                })
            }
        }
    }

    /// The present, in milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// A key of this run. All of them begin with `key("")`.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("check/{:032x}/{name}", self.ticket.seed)
    }

    /// The id of a job of this run: a UUID of version 4.
    pub(crate) fn job(&self, number: u8) -> String {
        let mut bytes = self.ticket.seed.to_be_bytes();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        bytes[15] = number;
        let hex = format!("{:032x}", u128::from_be_bytes(bytes));
        let [a, b, c, d, e] = [
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..],
        ];
        format!("{a}-{b}-{c}-{d}-{e}")
    }

    /// Keeps what this step saw, for a later one.
    pub(crate) fn remember(&mut self, what: String) {
        self.ticket.memo = what;
    }

    /// What an earlier step saw.
    pub(crate) fn remembered(&self) -> &str {
        &self.ticket.memo
    }
}
