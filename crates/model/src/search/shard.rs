//! The nodes of one worker: packed states, each with the tags it was seen with.
//!
//! Invariant: nodes are numbered level by level, so those not expanded yet are the last ones; a node's parent has a smaller
//! level.

use super::Space;
use crate::store::Store;

const NONE: u32 = u32::MAX;
/// The tag of a node that another one has made superfluous before it was expanded.
const DEAD: u32 = u32::MAX;

struct Node {
    state: u32,
    tag: u32,
    parent: u32,
    /// The next node of the same state.
    next: u32,
}

pub(crate) struct Shard {
    states: Store,
    /// Without tags: the parent of each state.
    parents: Vec<u32>,
    /// With tags: the nodes, and for each state the first of its nodes.
    nodes: Vec<Node>,
    heads: Vec<u32>,
    dead: u32,
    /// Nodes from here on belong to the level that is not expanded yet.
    pub(super) level: u32,
    tagged: bool,
}

impl Shard {
    pub(super) fn new(hash_only: bool) -> Self {
        Shard {
            states: Store::new(hash_only),
            parents: Vec::new(),
            nodes: Vec::new(),
            heads: Vec::new(),
            dead: 0,
            level: 0,
            tagged: false,
        }
    }

    /// How many nodes are numbered.
    pub(crate) fn numbered(&self) -> u32 {
        if self.tagged { self.nodes.len() as u32 } else { self.states.len() }
    }

    /// How many nodes count.
    pub(crate) fn count(&self) -> u32 {
        self.numbered() - self.dead
    }

    /// How many different states.
    pub(crate) fn states(&self) -> u32 {
        self.states.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        let nodes = self.nodes.len() * size_of::<Node>();
        self.states.bytes() + (4 * self.parents.len() + 4 * self.heads.len() + nodes) as u64
    }

    pub(crate) fn parent(&self, node: u32) -> u32 {
        if self.tagged { self.nodes[node as usize].parent } else { self.parents[node as usize] }
    }

    /// A node's state and tag, unless it need not be expanded.
    pub(crate) fn node(&self, node: u32) -> Option<(&[u8], u32)> {
        if !self.tagged {
            return Some((self.states.get(node), 0));
        }
        let Node { state, tag, .. } = self.nodes[node as usize];
        (tag != DEAD).then(|| (self.states.get(state), tag))
    }

    /// The number of a state, if it is there.
    pub(crate) fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        self.states.find(hash, bytes)
    }

    /// Whether the node is this one.
    pub(super) fn is(&self, node: u32, hash: u64, bytes: &[u8], tag: u32) -> bool {
        if let Some(kept) = self.states.kept_hash(node) {
            return kept == hash;
        }
        self.node(node) == Some((bytes, tag))
    }

    pub(super) fn touch(&self, hash: u64) -> u64 {
        self.states.touch(hash)
    }

    pub(super) fn touch_state(&self, slot: u64) -> u8 {
        self.states.touch_state(slot)
    }

    /// The level under way is done: what was added meanwhile is the next. In a store of hashes older states go.
    pub(super) fn next_level(&mut self) {
        self.states.forget(self.level);
        self.level = self.numbered();
    }

    /// Adds a node unless it is there or covered. `None` when the numbers have run out.
    pub(super) fn insert<S: Space>(
        &mut self,
        space: &S,
        hash: u64,
        bytes: &[u8],
        tag: u32,
        parent: u32,
    ) -> Option<bool> {
        let (state, new) = self.states.insert(hash, bytes)?;
        if !S::TAGGED {
            if new {
                self.parents.push(parent);
            }
            return Some(new);
        }
        self.tagged = true;
        if new {
            self.heads.push(NONE);
        }
        if self.nodes.len() as u32 >= u32::MAX - 1 {
            return None;
        }
        let mut at = self.heads[state as usize];
        while at != NONE {
            let node = &self.nodes[at as usize];
            if space.covers(node.tag, tag) {
                return Some(false);
            }
            at = node.next;
        }
        self.drop_covered(space, state, tag);
        let next = self.heads[state as usize];
        self.heads[state as usize] = self.nodes.len() as u32;
        self.nodes.push(Node { state, tag, parent, next });
        Some(true)
    }

    /// Takes the nodes that the new tag covers out of the list of its state. One of the level that is being filled is not
    /// expanded any more; one of an earlier level may be shorter, and stays.
    fn drop_covered<S: Space>(&mut self, space: &S, state: u32, tag: u32) {
        let mut before = NONE;
        let mut at = self.heads[state as usize];
        while at != NONE {
            let Node { tag: other, next, .. } = self.nodes[at as usize];
            if space.covers(tag, other) {
                match before {
                    NONE => self.heads[state as usize] = next,
                    _ => self.nodes[before as usize].next = next,
                }
                if at >= self.level {
                    self.nodes[at as usize].tag = DEAD;
                    self.dead += 1;
                }
            } else {
                before = at;
            }
            at = next;
        }
    }
}
