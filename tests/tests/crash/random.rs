//! Randomness that a seed repeats.

use std::time::{SystemTime, UNIX_EPOCH};

use backburner_tests::say;

/// A generator of numbers that look random: splitmix64, which needs no more than a counter.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end - 1`. The small bias does no harm here.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// The seed of this run: that of the variable `SEED`, else a new one. It is printed, to repeat a run that failed.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("SEED").ok();
    let seed = given.map(|text| text.parse().expect("SEED is a number"));
    let seed = seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |since| since.subsec_nanos().into())
    });
    say(&format!("SEED={seed} repeats this run"));
    seed
}
