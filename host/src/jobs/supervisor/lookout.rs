//! When a job with a terminal is looked at. Knows no clock and no job: time is an argument.

use super::super::limits::{
    DOUBT_MS, HEARD_LOOK_MS, LOOK_AT_MOST_MS, SILENCE_MS, UNSEEN_SILENCE_MS,
};

/// Times are of the clock that does not jump, in milliseconds.
#[derive(Debug)]
pub(super) struct Lookout {
    silent_since_ms: u64,
    /// When to look next; `None` for never again.
    at_ms: Option<u64>,
    /// How long the last pause was.
    pause_ms: u64,
    /// Whether the last look did not find what was found before.
    doubts: bool,
}

/// What was heard of a job, or done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It wrote, and is not known to wait.
    Wrote,
    /// It wrote although it was seen to wait.
    WroteAsked,
    /// What it waited for was typed, or was thrown away.
    Answered,
}

impl Lookout {
    /// Begins with a job that has just been started.
    pub(super) fn new(now_ms: u64) -> Self {
        Self {
            silent_since_ms: now_ms,
            at_ms: Some(now_ms + SILENCE_MS),
            pause_ms: SILENCE_MS,
            doubts: false,
        }
    }

    /// When to look; `None` for never.
    pub(super) fn at_ms(&self) -> Option<u64> {
        self.at_ms
    }

    /// How long nothing has been heard.
    pub(super) fn silent_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.silent_since_ms)
    }

    /// Begins anew after this.
    pub(super) fn hear(&mut self, news: News, now_ms: u64) {
        self.silent_since_ms = now_ms;
        self.pause_ms = SILENCE_MS;
        self.at_ms = self.at_ms.map(|at_ms| match news {
            News::Wrote | News::Answered => now_ms + SILENCE_MS,
            // Not later than it was to be: it may go on writing.
            News::WroteAsked => at_ms.min(now_ms + HEARD_LOOK_MS),
        });
    }

    /// Whether one look more has to agree that the job does not wait any more for what it was seen to wait for.
    pub(super) fn doubt(&mut self, now_ms: u64) -> bool {
        let is_first = !self.doubts;
        self.doubts = is_first;
        if is_first {
            self.at_ms = self.at_ms.map(|_| now_ms + DOUBT_MS);
        }
        is_first
    }

    /// Goes on after a look, later each time; but not later than when silence alone says something.
    pub(super) fn go_on(&mut self, now_ms: u64) {
        self.doubts = false;
        let telling_ms = self.silent_since_ms + UNSEEN_SILENCE_MS;
        self.pause_ms = (self.pause_ms * 2).min(LOOK_AT_MOST_MS);
        let mut at_ms = now_ms + self.pause_ms;
        if telling_ms > now_ms {
            at_ms = at_ms.min(telling_ms);
        }
        self.at_ms = self.at_ms.map(|_| at_ms);
    }

    /// Looks no more.
    pub(super) fn close(&mut self) {
        self.at_ms = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When it looks, so many times.
    fn looks(lookout: &mut Lookout, times: usize) -> Vec<u64> {
        let mut looks = Vec::new();
        for _ in 0..times {
            let at_ms = lookout.at_ms().expect("it looks again");
            lookout.go_on(at_ms);
            looks.push(at_ms);
        }
        looks
    }

    #[test]
    fn a_silent_job_is_looked_at_less_and_less_and_when_silence_says_something() {
        let mut lookout = Lookout::new(100);
        let expect = [1_100, 3_100, 4_100, 12_100, 27_100, 42_100];
        assert_eq!(looks(&mut lookout, 6), expect);
        assert_eq!(lookout.silent_ms(4_100), UNSEEN_SILENCE_MS);
    }

    #[test]
    fn what_it_writes_begins_it_anew() {
        let mut lookout = Lookout::new(0);
        looks(&mut lookout, 5);
        lookout.hear(News::Wrote, 50_000);
        assert_eq!(lookout.silent_ms(50_500), 500);
        assert_eq!(looks(&mut lookout, 3), [51_000, 53_000, 54_000]);
        lookout.hear(News::WroteAsked, 60_000);
        assert_eq!(looks(&mut lookout, 2), [60_200, 62_200]);
    }

    #[test]
    fn two_looks_have_to_agree_that_it_waits_no_more() {
        let mut lookout = Lookout::new(0);
        assert!(lookout.doubt(2_000));
        assert_eq!(lookout.at_ms(), Some(2_050));
        assert!(!lookout.doubt(2_050));
        // What was found again in between is no doubt any more.
        assert!(lookout.doubt(3_000));
        lookout.go_on(3_050);
        assert!(lookout.doubt(6_000));
    }

    #[test]
    fn a_closed_one_looks_no_more() {
        let mut lookout = Lookout::new(0);
        lookout.close();
        lookout.hear(News::Wrote, 1);
        lookout.go_on(2);
        lookout.doubt(3);
        assert_eq!(lookout.at_ms(), None);
    }
}
