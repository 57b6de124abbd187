//! Counters by interval: one for each [i, j] with 0 ≤ i ≤ j ≤ k.

/// How many operations have each interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Triangle {
    k: usize,
    /// Row by row: [0,0] [0,1] ... [0,k] [1,1] ...
    counts: Vec<u64>,
}

impl Triangle {
    /// Counters that are all zero, for intervals inside [0, k].
    pub fn new(k: usize) -> Self {
        Triangle { k, counts: vec![0; (k + 1) * (k + 2) / 2] }
    }

    /// Counters row by row: [0,0] [0,1] ... [0,k] [1,1] ...
    pub(super) fn from_counts(k: usize, counts: &[u32]) -> Self {
        debug_assert_eq!(counts.len(), (k + 1) * (k + 2) / 2);
        Triangle { k, counts: counts.iter().map(|&count| u64::from(count)).collect() }
    }

    fn place(&self, i: usize, j: usize) -> usize {
        debug_assert!(i <= j && j <= self.k);
        i * (self.k + 1) - i * i.saturating_sub(1) / 2 + (j - i)
    }

    /// The k of its intervals.
    pub fn k(&self) -> usize {
        self.k
    }

    /// How many operations have the interval [i, j]; 0 outside of [0, k].
    pub fn get(&self, i: usize, j: usize) -> u64 {
        if i <= j && j <= self.k { self.counts[self.place(i, j)] } else { 0 }
    }

    /// Counts one more operation with the interval [i, j], which must lie inside [0, k].
    pub fn increment(&mut self, i: usize, j: usize) {
        let place = self.place(i, j);
        self.counts[place] += 1;
    }

    /// Counts one operation less with the interval [i, j]. It must have been counted before.
    pub fn decrement(&mut self, i: usize, j: usize) {
        let place = self.place(i, j);
        self.counts[place] = self.counts[place].checked_sub(1).expect("what is taken away was counted");
    }

    /// How many operations have an interval inside [i, j]: `total` of figure 4.
    pub fn total(&self, i: usize, j: usize) -> u64 {
        let j = j.min(self.k);
        (i..=j).map(|first| self.counts[self.place(first, first)..=self.place(first, j)].iter().sum::<u64>()).sum()
    }

    /// Whether no operation is counted.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|&count| count == 0)
    }

    /// The least first slot and the greatest last slot of all operations.
    pub fn hull(&self) -> Option<(usize, usize)> {
        let mut hull: Option<(usize, usize)> = None;
        for (i, j, _) in self.intervals() {
            let (first, last) = hull.get_or_insert((i, j));
            (*first, *last) = ((*first).min(i), (*last).max(j));
        }
        hull
    }

    /// The greatest first slot and the least last slot of all operations.
    pub fn core(&self) -> Option<(usize, usize)> {
        self.intervals().map(|(i, j, _)| (i, j)).reduce(|(first, last), (i, j)| (first.max(i), last.min(j)))
    }

    /// The intervals that occur, each with the number of its operations.
    pub fn intervals(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        let (mut i, mut j) = (0, 0);
        let all = self.counts.iter().map(move |&count| {
            let interval = (i, j, count);
            (i, j) = if j < self.k { (i, j + 1) } else { (i + 1, i + 1) };
            interval
        });
        all.filter(|(_, _, count)| *count > 0)
    }

    /// Merges the two oldest slots: [i, j] becomes [i - 1, j - 1], where 0 stays 0 (the shift of section 6.2). With `open`, the
    /// last slot stays k: what has not ended lasts up to the present.
    pub fn shift(&mut self, open: bool) {
        // In this order each counter moves to one that has moved already. The first row keeps its first slot.
        if !open {
            for j in 1..=self.k {
                let count = std::mem::take(&mut self.counts[j]);
                self.counts[j - 1] += count;
            }
        }
        let mut from = self.k + 1;
        for i in 1..=self.k {
            // The row before begins so much earlier, with one more.
            let back = self.k + 2 - i - usize::from(open);
            for _ in i..=self.k {
                let count = std::mem::take(&mut self.counts[from]);
                self.counts[from - back] += count;
                from += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interval_has_a_counter_of_its_own() {
        for k in 0..6 {
            let mut triangle = Triangle::new(k);
            for i in 0..=k {
                for j in i..=k {
                    assert_eq!(triangle.get(i, j), 0);
                    triangle.increment(i, j);
                }
            }
            assert!(triangle.counts.iter().all(|&count| count == 1));
            assert_eq!(triangle.total(0, k), triangle.counts.len() as u64);
            assert_eq!(triangle.get(0, k + 1), 0);
        }
    }

    /// Everywhere and for every k what the definition says.
    #[test]
    fn shifting_moves_each_interval_as_defined() {
        for (k, open) in (0..6).flat_map(|k| [(k, false), (k, true)]) {
            for i in 0..=k {
                for j in i..=k {
                    let mut triangle = Triangle::new(k);
                    triangle.increment(i, j);
                    triangle.shift(open);
                    let last = if open { j } else { j.saturating_sub(1) };
                    assert_eq!(triangle.intervals().collect::<Vec<_>>(), [(i.saturating_sub(1), last, 1)], "{i} {j}");
                    assert_eq!(triangle.total(0, last), 1);
                }
            }
        }
    }

    #[test]
    fn shifting_merges_the_oldest_slots() {
        let mut triangle = Triangle::new(2);
        for (i, j) in [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)] {
            triangle.increment(i, j);
        }
        triangle.shift(false);
        assert_eq!(triangle.intervals().collect::<Vec<_>>(), [(0, 0, 3), (0, 1, 1), (1, 1, 1)]);
        let mut open = Triangle::new(2);
        open.increment(0, 2);
        open.increment(2, 2);
        open.shift(true);
        assert_eq!(open.intervals().collect::<Vec<_>>(), [(0, 2, 1), (1, 2, 1)]);
    }
}
