//! Numbers for tests that look random and are the same in every run.

/// A linear congruential generator with the multiplier of Knuth's MMIX.
pub(crate) struct Lcg(u64);

impl Lcg {
    /// Starts a sequence; equal seeds give equal sequences.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed);
        // The first numbers of neighbouring seeds are alike.
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    /// A number from 0 to one less than `bound`, which is at least 1.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
        const INCREMENT: u64 = 1_442_695_040_888_963_407;
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        // Only the high bits have a long period.
        let high = usize::try_from(self.0 >> 33).expect("31 bits fit into a usize");
        high % bound
    }

    /// One of `choices`, which has at least one.
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
