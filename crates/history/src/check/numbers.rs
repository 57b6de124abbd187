//! Small numbers for the values of a part, so that algorithms can use arrays.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::spans::NEVER;
use crate::Value;

/// The value numbers of a part: an array where the values are integers close together, else a hash table.
pub(super) enum Numbers<'a> {
    Dense { low: i64, table: Vec<u32> },
    Sparse(HashMap<&'a Value, u32, RandomState>),
}

impl<'a> Numbers<'a> {
    /// Numbers for values among `values`; no other value may be asked for. `count` is about how many there are.
    pub fn new(values: impl Iterator<Item = &'a Value>, count: usize) -> Self {
        let mut range: Option<(i64, i64)> = None;
        for value in values {
            let Value::Int(int) = *value else {
                return Numbers::Sparse(HashMap::default());
            };
            range = Some(range.map_or((int, int), |(low, high)| (low.min(int), high.max(int))));
        }
        match range {
            Some((low, high)) if high.abs_diff(low) < 4 * count as u64 + 64 => {
                Numbers::Dense { low, table: vec![NEVER; high.abs_diff(low) as usize + 1] }
            }
            _ => Numbers::Sparse(HashMap::default()),
        }
    }

    /// The number of a value; `new` is taken when it has none yet.
    pub fn get(&mut self, value: &'a Value, new: u32) -> u32 {
        let slot = match (self, value) {
            (Numbers::Dense { low, table }, Value::Int(int)) => &mut table[int.abs_diff(*low) as usize],
            (Numbers::Sparse(table), value) => table.entry(value).or_insert(NEVER),
            (Numbers::Dense { .. }, _) => unreachable!("dense tables hold integers only"),
        };
        if *slot == NEVER {
            *slot = new;
        }
        *slot
    }
}
