//! Random numbers that are the same for a seed in every version: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
//!
//! Histories and what is tested on them are drawn with this one. Schedules, and programs to run, are drawn with
//! `selvedge_explore::Rng`, which is the same ten lines: this crate and that one know nothing of each other, and ten lines
//! are no reason to.

/// A source of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A source that draws the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0. The upper half of the product, so nearly uniform for small bounds.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut random = Random::new(0);
        assert_eq!(random.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.next(), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(random.next(), 0x06c4_5d18_8009_454f);
        let mut random = Random::new(1);
        let drawn: Vec<u64> = (0..8).map(|_| random.below(10)).collect();
        assert_eq!(drawn, [5, 7, 9, 4, 4, 7, 8, 5]);
    }

    #[test]
    fn a_bound_is_kept_and_reached() {
        let mut random = Random::new(7);
        let drawn: Vec<u64> = (0..1_000).map(|_| random.below(3)).collect();
        assert!(drawn.iter().all(|&n| n < 3));
        assert!((0..3).all(|n| drawn.contains(&n)));
        assert!(!random.chance(0) && random.chance(100));
    }
}
