//! Trees over a line of gaps, for the stack algorithm: how many values cover a gap, which gaps are free, which ranges
//! contain one.
//!
//! Each gap becomes free once and each range is found once, so all operations together take O(n log n).

/// How many ranges cover each gap; ranges can be released, and gaps that become free are handed out once.
pub(super) struct CoverTree {
    /// Number of leaves, a power of two; the root is node 1.
    leaves: usize,
    /// The least cover below a node, without what its ancestors add.
    least: Vec<i32>,
    /// What is added to everything below a node.
    add: Vec<i32>,
}

/// The cover of gaps that were handed out or do not exist: never free again.
const GONE: i32 = i32::MAX / 2;

impl CoverTree {
    pub fn new(gaps: u32, ranges: impl Iterator<Item = std::ops::Range<u32>>) -> Self {
        let leaves = (gaps as usize).next_power_of_two().max(1);
        let mut change = vec![0i32; gaps as usize + 1];
        for range in ranges.filter(|range| !range.is_empty()) {
            change[range.start as usize] += 1;
            change[range.end as usize] -= 1;
        }
        let mut least = vec![GONE; 2 * leaves];
        let mut cover = 0;
        for gap in 0..gaps as usize {
            cover += change[gap];
            least[leaves + gap] = cover;
        }
        for node in (1..leaves).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        CoverTree { leaves, least, add: vec![0; leaves] }
    }

    /// Hands out every free gap.
    pub fn take_free(&mut self, free: &mut Vec<u32>) {
        self.collect(1, 0, free);
    }

    /// One range less covers these gaps; hands out those that become free.
    pub fn release(&mut self, range: std::ops::Range<u32>, free: &mut Vec<u32>) {
        if !range.is_empty() {
            let range = range.start as usize..range.end as usize;
            self.release_below(1, 0, self.leaves, 0, &range, free);
        }
    }

    fn release_below(
        &mut self,
        node: usize,
        start: usize,
        len: usize,
        above: i32,
        range: &std::ops::Range<usize>,
        free: &mut Vec<u32>,
    ) {
        if range.start <= start && start + len <= range.end {
            self.least[node] -= 1;
            if node < self.leaves {
                self.add[node] -= 1;
            }
            if self.least[node] + above == 0 {
                self.collect(node, above, free);
            }
            return;
        }
        let half = len / 2;
        let below = above + self.add[node];
        if range.start < start + half {
            self.release_below(2 * node, start, half, below, range, free);
        }
        if range.end > start + half {
            self.release_below(2 * node + 1, start + half, half, below, range, free);
        }
        self.pull(node);
    }

    fn collect(&mut self, node: usize, above: i32, free: &mut Vec<u32>) {
        if self.least[node] + above != 0 {
            return;
        }
        if node >= self.leaves {
            free.push((node - self.leaves) as u32);
            self.least[node] = GONE;
            return;
        }
        let below = above + self.add[node];
        self.collect(2 * node, below, free);
        self.collect(2 * node + 1, below, free);
        self.pull(node);
    }

    fn pull(&mut self, node: usize) {
        self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.add[node];
    }
}

/// A growing set of gaps with the nearest member on either side: words of 64 bits, level upon level.
pub(super) struct GapSet {
    levels: Vec<Vec<u64>>,
}

impl GapSet {
    pub fn new(gaps: u32) -> Self {
        let mut levels = Vec::new();
        let mut len = gaps as usize;
        loop {
            len = len.div_ceil(64).max(1);
            levels.push(vec![0u64; len]);
            if len == 1 {
                return GapSet { levels };
            }
        }
    }

    pub fn insert(&mut self, gap: u32) {
        let mut index = gap as usize;
        for level in &mut self.levels {
            level[index / 64] |= 1 << (index % 64);
            index /= 64;
        }
    }

    /// The greatest member that is not greater than `gap`.
    pub fn last_up_to(&self, gap: u32) -> Option<u32> {
        let mut index = gap as usize;
        for (height, level) in self.levels.iter().enumerate() {
            let word = *level.get(index / 64)? & (u64::MAX >> (63 - index % 64));
            if word != 0 {
                let mut found = index / 64 * 64 + 63 - word.leading_zeros() as usize;
                for below in self.levels[..height].iter().rev() {
                    found = found * 64 + 63 - below[found].leading_zeros() as usize;
                }
                return Some(found as u32);
            }
            index = (index / 64).checked_sub(1)?;
        }
        None
    }

    /// The least member that is not less than `gap`.
    pub fn first_from(&self, gap: u32) -> Option<u32> {
        let mut index = gap as usize;
        for (height, level) in self.levels.iter().enumerate() {
            let word = *level.get(index / 64)? & (u64::MAX << (index % 64));
            if word != 0 {
                let mut found = index / 64 * 64 + word.trailing_zeros() as usize;
                for below in self.levels[..height].iter().rev() {
                    found = found * 64 + below[found].trailing_zeros() as usize;
                }
                return Some(found as u32);
            }
            index = index / 64 + 1;
        }
        None
    }
}

/// Ranges of gaps, of which those that contain a given gap can be found and taken out.
pub(super) struct Ranges {
    /// The ranges by number, in the order of their first gaps.
    order: Vec<u32>,
    /// By gap: how many ranges begin up to it.
    begun: Vec<u32>,
    leaves: usize,
    /// The greatest last gap (plus one) below each node, 0 for ranges taken out.
    greatest: Vec<u32>,
}

impl Ranges {
    /// Ranges with their first and last gap; one whose first is greater than its last contains nothing.
    pub fn new(gaps: u32, ranges: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut begun = vec![0u32; gaps as usize + 1];
        let mut count = 0;
        for (first, _) in ranges.clone() {
            begun[first as usize] += 1;
            count += 1;
        }
        let mut total = 0;
        for slot in &mut begun {
            total += std::mem::replace(slot, total);
        }
        let leaves = usize::next_power_of_two(count).max(1);
        let mut order = vec![0u32; count];
        let mut greatest = vec![0u32; 2 * leaves];
        for (number, (first, last)) in ranges.enumerate() {
            let place = &mut begun[first as usize];
            order[*place as usize] = number as u32;
            greatest[leaves + *place as usize] = last.saturating_add(1);
            *place += 1;
        }
        for node in (1..leaves).rev() {
            greatest[node] = greatest[2 * node].max(greatest[2 * node + 1]);
        }
        Ranges { order, begun, leaves, greatest }
    }

    /// Takes out every range that contains the gap.
    pub fn take_containing(&mut self, gap: u32, mut taken: impl FnMut(u32)) {
        let end = self.begun[gap as usize] as usize;
        self.take_below(1, 0, self.leaves, end, gap, &mut taken);
    }

    fn take_below(&mut self, node: usize, start: usize, len: usize, end: usize, gap: u32, taken: &mut impl FnMut(u32)) {
        if start >= end || self.greatest[node] <= gap {
            return;
        }
        if node >= self.leaves {
            self.greatest[node] = 0;
            taken(self.order[node - self.leaves]);
            return;
        }
        let half = len / 2;
        self.take_below(2 * node, start, half, end, gap, taken);
        self.take_below(2 * node + 1, start + half, half, end, gap, taken);
        self.greatest[node] = self.greatest[2 * node].max(self.greatest[2 * node + 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small deterministic source of numbers.
    fn numbers(seed: u64) -> impl FnMut(u32) -> u32 {
        let mut random = crate::generate::Random::new(seed);
        move |below| random.below(u64::from(below)) as u32
    }

    #[test]
    fn releasing_hands_out_each_gap_once_when_it_becomes_free() {
        for seed in 0..200 {
            let mut number = numbers(seed);
            let gaps = 1 + number(40);
            let ranges: Vec<std::ops::Range<u32>> = (0..number(12))
                .map(|_| {
                    let start = number(gaps);
                    start..start + number(gaps - start + 1)
                })
                .collect();
            let mut tree = CoverTree::new(gaps, ranges.iter().cloned());
            let mut free = Vec::new();
            tree.take_free(&mut free);
            for released in 0..=ranges.len() {
                let mut expected: Vec<u32> =
                    (0..gaps).filter(|gap| !ranges[released..].iter().any(|range| range.contains(gap))).collect();
                let mut found = free.clone();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "seed {seed}, {released} released");
                if let Some(range) = ranges.get(released) {
                    tree.release(range.clone(), &mut free);
                }
            }
        }
    }

    #[test]
    fn the_nearest_members_are_found_on_both_sides() {
        for seed in 0..50 {
            let mut number = numbers(seed);
            let gaps = [1, 63, 64, 65, 5000, 300_000][number(6) as usize];
            let mut set = GapSet::new(gaps);
            let mut members = std::collections::BTreeSet::new();
            for _ in 0..number(30) {
                let gap = number(gaps);
                set.insert(gap);
                members.insert(gap);
            }
            for _ in 0..200 {
                let gap = number(gaps);
                assert_eq!(set.last_up_to(gap), members.range(..=gap).next_back().copied(), "seed {seed}");
                assert_eq!(set.first_from(gap), members.range(gap..).next().copied(), "seed {seed}");
            }
        }
    }

    #[test]
    fn ranges_are_taken_once_by_a_gap_inside() {
        for seed in 0..200 {
            let mut number = numbers(seed);
            let gaps = 1 + number(30);
            let mut ranges: Vec<(u32, u32)> = (0..number(20)).map(|_| (number(gaps), number(gaps))).collect();
            let mut tree = Ranges::new(gaps, ranges.clone().into_iter());
            for _ in 0..10 {
                let gap = number(gaps);
                let mut taken = Vec::new();
                tree.take_containing(gap, |range| taken.push(range));
                taken.sort_unstable();
                let expected: Vec<u32> = (0..ranges.len() as u32)
                    .filter(|&i| ranges[i as usize].0 <= gap && gap <= ranges[i as usize].1)
                    .collect();
                assert_eq!(taken, expected, "seed {seed}");
                for range in taken {
                    ranges[range as usize] = (1, 0);
                }
            }
        }
    }
}
