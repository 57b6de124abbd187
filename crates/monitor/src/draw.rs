//! Random numbers for tests, the same ones each time.

use selvedge_history::generate::Random;

/// A generator.
pub struct Draw(Random);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Draw(Random::new(seed))
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.0.next() % end as u64) as usize
    }
}
