//! How many of some numbers in a row are greater than another, in O(log² n).

/// The numbers, and runs of 2, 4, 8 ... of them in ascending order.
pub(super) struct Counter {
    levels: Vec<Vec<u32>>,
}

impl Counter {
    /// O(n log n).
    pub fn new(numbers: Vec<u32>) -> Self {
        let mut levels = vec![numbers];
        let mut run = 1;
        while run < levels[0].len() {
            let mut level = levels.last().expect("the first level").clone();
            run *= 2;
            for run in level.chunks_mut(run) {
                run.sort_unstable();
            }
            levels.push(level);
        }
        Counter { levels }
    }

    /// How many of the numbers at `first..end` are greater than `than`.
    pub fn greater(&self, first: usize, end: usize, than: u32) -> u32 {
        let (mut at, mut count) = (first, 0);
        while at < end {
            // The longest run that begins here and does not go beyond the end.
            let aligned = if at == 0 { usize::MAX } else { at.trailing_zeros() as usize };
            let fitting = (end - at).ilog2() as usize;
            let height = aligned.min(fitting).min(self.levels.len() - 1);
            let run = &self.levels[height][at..at + (1 << height)];
            count += (run.len() - run.partition_point(|&number| number <= than)) as u32;
            at += 1 << height;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_a_plain_loop_counts() {
        let mut random = crate::generate::Random::new(1);
        for _ in 0..300 {
            let len = random.below(70) as usize;
            let numbers: Vec<u32> = (0..len).map(|_| random.below(20) as u32).collect();
            let counter = Counter::new(numbers.clone());
            for _ in 0..40 {
                let first = random.below(len as u64 + 1) as usize;
                let end = first + random.below((len - first) as u64 + 1) as usize;
                let than = random.below(20) as u32;
                let expected = numbers[first..end].iter().filter(|&&number| number > than).count();
                assert_eq!(counter.greater(first, end, than) as usize, expected, "{numbers:?} {first}..{end} > {than}");
            }
        }
    }
}
