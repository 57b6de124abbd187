//! The visited set: packed states in an arena, found through an open-addressing table.
//!
//! Invariant: two states are the same exactly when their bytes are; the hash only finds candidates (unless the store was
//! asked to keep nothing but hashes). States are numbered in the order of insertion, so a breadth-first search needs no
//! queue: the states not yet expanded are the last ones.
//!
//! Memory a state: its bytes, four more when lengths differ, and 8 bytes / load factor (0.5 to 0.75) in the table.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;

/// A hash map whose order does not differ from run to run.
pub(crate) type Map<K, V> = hashbrown::HashMap<K, V, FixedState>;
/// A hash set whose order does not differ from run to run.
pub(crate) type Set<K> = hashbrown::HashSet<K, FixedState>;

/// The hash of a packed state.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0x5e1f_edce).build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

/// The table grows when more than three quarters of it are taken, by half: the space of a state stays below 16 bytes.
const SLOTS_FIRST: usize = 1 << 10;

/// Packed states, each once.
pub(crate) struct Store {
    arena: Vec<u8>,
    /// Length of every state while all are equally long.
    stride: Option<usize>,
    /// Where each state ends (low 32 bits), once lengths differ.
    ends: Vec<u32>,
    /// The states at whose end the low 32 bits had wrapped.
    wraps: Vec<u32>,
    /// Low half: state number plus one. High half: part of the hash.
    table: Vec<u64>,
    count: u32,
    /// With nothing but hashes kept: those, and how many states have been dropped from the arena.
    hashes: Option<Vec<u64>>,
    dropped: u32,
    dropped_bytes: u64,
}

impl Store {
    /// An empty store; `hash_only` keeps 64 bits of each state once `forget` lets go of it.
    pub(crate) fn new(hash_only: bool) -> Self {
        Store {
            arena: Vec::new(),
            stride: None,
            ends: Vec::new(),
            wraps: Vec::new(),
            table: vec![0; SLOTS_FIRST],
            count: 0,
            hashes: hash_only.then(Vec::new),
            dropped: 0,
            dropped_bytes: 0,
        }
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> u32 {
        self.count
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        let hashes = self.hashes.as_ref().map_or(0, Vec::len);
        (self.arena.len() + 4 * self.ends.len() + 8 * self.table.len() + 8 * hashes) as u64
    }

    /// The bytes of a state that was not forgotten.
    pub(crate) fn get(&self, id: u32) -> &[u8] {
        match self.stride {
            Some(stride) => {
                let from = (id - self.dropped) as usize * stride;
                &self.arena[from..from + stride]
            }
            None => {
                let from = if id == 0 { 0 } else { self.end(id - 1) };
                let (from, to) = (from - self.dropped_bytes, self.end(id) - self.dropped_bytes);
                &self.arena[from as usize..to as usize]
            }
        }
    }

    fn end(&self, id: u32) -> u64 {
        let wrapped = self.wraps.iter().take_while(|&&at| at <= id).count() as u64;
        (wrapped << 32) | u64::from(self.ends[id as usize])
    }

    fn slot(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.table.len() as u128) >> 64) as usize
    }

    /// Loads what a lookup of `hash` will need. Many of these in a row wait for memory together; the sum keeps them.
    pub(crate) fn touch(&self, hash: u64) -> u64 {
        self.table[self.slot(hash)]
    }

    /// Loads the first bytes of the state that a slot read by `touch` leads to.
    pub(crate) fn touch_state(&self, slot: u64) -> u8 {
        let id = (slot as u32).wrapping_sub(1);
        match self.stride {
            Some(stride) if id >= self.dropped => {
                self.arena.get((id - self.dropped) as usize * stride).copied().unwrap_or(0)
            }
            _ => 0,
        }
    }

    fn same(&self, id: u32, hash: u64, bytes: &[u8]) -> bool {
        match &self.hashes {
            Some(hashes) => hashes[id as usize] == hash,
            None => self.get(id) == bytes,
        }
    }

    /// The number of a state, if it is there.
    pub(crate) fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        self.probe(hash, bytes).ok()
    }

    /// `Ok` with the state's number, or `Err` with the free slot where it belongs.
    fn probe(&self, hash: u64, bytes: &[u8]) -> Result<u32, usize> {
        let mut at = self.slot(hash);
        loop {
            let slot = self.table[at];
            if slot == 0 {
                return Err(at);
            }
            if (slot >> 32) as u32 == hash as u32 {
                let id = slot as u32 - 1;
                if self.same(id, hash, bytes) {
                    return Ok(id);
                }
            }
            at += 1;
            if at == self.table.len() {
                at = 0;
            }
        }
    }

    /// Adds a state unless it is there. `None` when the numbers have run out.
    pub(crate) fn insert(&mut self, hash: u64, bytes: &[u8]) -> Option<(u32, bool)> {
        let at = match self.probe(hash, bytes) {
            Ok(id) => return Some((id, false)),
            Err(at) => at,
        };
        if self.count >= u32::MAX - 1 {
            return None;
        }
        let id = self.count;
        self.table[at] = (hash << 32) | u64::from(id + 1);
        self.append(bytes);
        if let Some(hashes) = &mut self.hashes {
            hashes.push(hash);
        }
        if self.count as usize * 4 > self.table.len() * 3 {
            self.grow();
        }
        Some((id, true))
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.count == 0 {
            self.stride = Some(bytes.len());
        } else if let Some(stride) = self.stride.filter(|&stride| stride != bytes.len()) {
            self.stride = None;
            for id in 0..self.count {
                self.note_end((u64::from(id) + 1) * stride as u64);
            }
        }
        self.arena.extend_from_slice(bytes);
        if self.stride.is_none() {
            self.note_end(self.dropped_bytes + self.arena.len() as u64);
        }
        self.count += 1;
    }

    fn note_end(&mut self, end: u64) {
        if end >> 32 > self.wraps.len() as u64 {
            self.wraps.push(self.ends.len() as u32);
        }
        self.ends.push(end as u32);
    }

    /// The old table goes before the new one comes; the hashes are computed again, in the order of the arena.
    fn grow(&mut self) {
        let slots = self.table.len() + self.table.len() / 2;
        self.table = Vec::new();
        self.table = vec![0; slots];
        for id in 0..self.count {
            let hash = match &self.hashes {
                Some(hashes) => hashes[id as usize],
                None => hash_bytes(self.get(id)),
            };
            let mut at = self.slot(hash);
            while self.table[at] != 0 {
                at += 1;
                if at == slots {
                    at = 0;
                }
            }
            self.table[at] = (hash << 32) | u64::from(id + 1);
        }
    }

    /// The hash of a state, when hashes are all that is kept.
    pub(crate) fn kept_hash(&self, id: u32) -> Option<u64> {
        self.hashes.as_ref().map(|hashes| hashes[id as usize])
    }

    /// Lets go of the bytes of every state before `id`, when hashes are all that is to be kept.
    pub(crate) fn forget(&mut self, id: u32) {
        if self.hashes.is_none() || id <= self.dropped {
            return;
        }
        let bytes = match self.stride {
            Some(stride) => (id - self.dropped) as usize * stride,
            None => (self.end(id - 1) - self.dropped_bytes) as usize,
        };
        self.arena.drain(..bytes);
        self.dropped = id;
        self.dropped_bytes += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn check(states: &[Vec<u8>], hash_only: bool) {
        let mut store = Store::new(hash_only);
        let mut model: HashMap<Vec<u8>, u32> = HashMap::new();
        for state in states {
            let next = model.len() as u32;
            let id = *model.entry(state.clone()).or_insert(next);
            let expect = Some((id, id == next));
            assert_eq!(store.insert(hash_bytes(state), state), expect);
        }
        assert_eq!(store.len() as usize, model.len());
        for (state, &id) in &model {
            assert_eq!(store.get(id), &state[..]);
            assert_eq!(store.find(hash_bytes(state), state), Some(id));
        }
        assert_eq!(store.find(hash_bytes(b"never"), b"never"), None);
    }

    fn numbers(count: u32, shape: impl Fn(u32) -> Vec<u8>) -> Vec<Vec<u8>> {
        (0..count).map(|i| shape(i.wrapping_mul(0x9E37_79B9) % (count / 2))).collect()
    }

    #[test]
    fn states_of_one_length_are_kept_apart() {
        check(&numbers(20_000, |i| i.to_le_bytes().to_vec()), false);
    }

    #[test]
    fn states_of_many_lengths_are_kept_apart() {
        check(&numbers(20_000, |i| vec![1; (i % 700) as usize]), false);
        check(&numbers(5_000, |i| [i.to_le_bytes().to_vec(), vec![0; (i % 5) as usize]].concat()), true);
        check(&[vec![], vec![0], vec![], vec![0, 0]], false);
    }

    #[test]
    fn equal_hashes_do_not_make_equal_states() {
        let mut store = Store::new(false);
        assert_eq!(store.insert(7, b"a"), Some((0, true)));
        assert_eq!(store.insert(7, b"b"), Some((1, true)));
        assert_eq!(store.find(7, b"b"), Some(1));
        assert_eq!(store.find(7, b"c"), None);
    }

    #[test]
    fn what_is_forgotten_is_still_visited() {
        let mut store = Store::new(true);
        for i in 0..100u32 {
            let bytes = vec![i as u8; 1 + (i % 3) as usize];
            store.insert(hash_bytes(&bytes), &bytes);
        }
        store.forget(60);
        assert_eq!(store.get(60), &[60u8; 1][..]);
        assert_eq!(store.get(99), &[99u8; 1][..]);
        assert_eq!(store.insert(hash_bytes(&[3u8]), &[3u8]), Some((3, false)));
    }

    #[test]
    fn a_state_costs_no_more_than_it_says() {
        let mut store = Store::new(false);
        for i in 0..200_000u64 {
            let bytes = [i.to_le_bytes(), i.to_be_bytes()].concat();
            store.insert(hash_bytes(&bytes), &bytes);
            if i > 10_000 {
                assert!(store.bytes() <= (i + 1) * 33, "{} bytes for {i} states", store.bytes());
            }
        }
    }
}
