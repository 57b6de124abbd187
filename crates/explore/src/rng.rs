//! Random numbers that are the same everywhere: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
//!
//! For schedules, test matrices, and programs that tests make up. `selvedge_history::generate::Random`, for histories, is the same
//! ten lines: the two crates know nothing of each other.

/// A generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The generator of the run with that number, for that seed. Runs do not depend on one another, so they can be
    /// shared out among workers in any way.
    pub fn for_run(seed: u64, run: u64) -> Self {
        let mut rng = Rng(seed ^ run.wrapping_mul(0xd1b5_4a32_d192_ed03));
        rng.next();
        rng
    }

    /// The next number.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0. The bias is below 2⁻³² for bounds that fit 32 bits.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
