//! Among the shortest counterexamples, one with the fewest context switches.
//!
//! A second search, level by level, over nodes that also carry who made the last step; for each the fewest switches on a way
//! to it. It is exact: nothing is left out but what lies deeper than the counterexample. Where it would take many times
//! the first search, it gives up and the first counterexample stays.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::limits::Watch;
use crate::search::{Path, PathStep, Space, Step, Steps};
use crate::system::Action;

/// Nobody has made a step yet.
const NOBODY: u32 = u32::MAX;

struct Node {
    state: Box<[u8]>,
    tag: u32,
    /// Who made the last step, in the names of this node.
    actor: u32,
    switches: u32,
    parent: u32,
    /// The step that leads here, in the names of the parent.
    action: Action,
}

#[derive(Default)]
struct Levels {
    nodes: Vec<Node>,
    /// Nodes by everything, of the level being made.
    known: HashTable<u32>,
    /// Nodes by state and tag: one for each.
    seen: HashTable<u32>,
    /// Where the level being made begins.
    begin: u32,
    hasher: FixedState,
}

impl Levels {
    /// Whether an earlier level has this state and tag; if not, notes that this one does. Coming back to an earlier node
    /// cannot be part of a shortest way.
    fn is_old(&mut self, state: &[u8], tag: u32) -> bool {
        let hash = self.hasher.hash_one((state, tag));
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        let same = |&at: &u32| nodes[at as usize].tag == tag && *nodes[at as usize].state == *state;
        if let Some(&at) = self.seen.find(hash, same) {
            return at < self.begin;
        }
        let rehash = |&at: &u32| hasher.hash_one((&*nodes[at as usize].state, nodes[at as usize].tag));
        self.seen.insert_unique(hash, nodes.len() as u32, rehash);
        false
    }

    /// Adds a node of the level being made, or a better way to it.
    fn add(&mut self, state: &[u8], step: &Step, switches: u32, parent: u32) {
        let (tag, actor) = (step.tag, step.actor);
        if self.is_old(state, tag) {
            return;
        }
        let hash = self.hasher.hash_one((state, tag, actor));
        let nodes = &mut self.nodes;
        let same = |&at: &u32| {
            let node = &nodes[at as usize];
            node.tag == tag && node.actor == actor && *node.state == *state
        };
        if let Some(&at) = self.known.find(hash, same) {
            let node = &mut nodes[at as usize];
            if switches < node.switches {
                (node.switches, node.parent, node.action) = (switches, parent, step.action);
            }
            return;
        }
        let at = nodes.len() as u32;
        nodes.push(Node { state: state.into(), tag, actor, switches, parent, action: step.action });
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        self.known.insert_unique(hash, at, |&at| {
            let node = &nodes[at as usize];
            hasher.hash_one((&*node.state, node.tag, node.actor))
        });
    }
}

/// A path of `length` steps to something wrong, with as few context switches as any; `None` when that takes too much work.
pub(crate) fn fewest_switches<S: Space>(
    space: &S,
    length: usize,
    states: u64,
    watch: Watch<'_>,
) -> Option<(Path, S::Reason)> {
    let nodes_max = (states.saturating_mul(8) + 200_000).min(20_000_000) as usize;
    let mut scratch = space.scratch();
    let mut out = Steps::default();
    let mut levels = Levels::default();
    space.roots(&mut scratch, &mut out).ok()?;
    for step in out.steps() {
        levels.add(out.bytes(step), &step.by(NOBODY), 0, NOBODY);
    }
    // The best so far: switches, node, and the wrong step if it is one.
    let mut best: Option<(u32, u32, Option<PathStep>, S::Reason)> = None;
    let mut from = 0;
    for depth in 0..=length {
        let to = levels.nodes.len();
        levels.known.clear();
        levels.begin = to as u32;
        for at in from..to {
            if at % 1024 == 0 && (levels.nodes.len() > nodes_max || watch.check(0, 0).is_err()) {
                return None;
            }
            let node = &levels.nodes[at];
            let (state, last, switches) = (node.state.clone(), node.actor, node.switches);
            out.clear();
            space.expand(&mut scratch, &state, node.tag, &mut out).ok()?;
            if let Some(found) = &out.found {
                let step = found.step.map(|step| &out.steps()[step]);
                let cost = switches + step.map_or(0, |step| switch(last, step.action.actor));
                if depth + usize::from(step.is_some()) == length && best.as_ref().is_none_or(|best| cost < best.0) {
                    let step = step.map(|step| PathStep {
                        action: step.action,
                        actor: step.actor,
                        state: out.bytes(step).to_vec(),
                        tag: step.tag,
                    });
                    best = Some((cost, at as u32, step, found.reason.clone()));
                }
                continue;
            }
            if depth < length {
                for step in out.steps() {
                    levels.add(out.bytes(step), step, switches + switch(last, step.action.actor), at as u32);
                }
            }
        }
        from = to;
    }
    let (_, node, last, reason) = best?;
    Some((path(&levels, node, last), reason))
}

fn switch(last: u32, actor: u32) -> u32 {
    u32::from(last != NOBODY && last != actor)
}

fn path(levels: &Levels, mut at: u32, last: Option<PathStep>) -> Path {
    let mut steps: Vec<PathStep> = last.into_iter().collect();
    loop {
        let Node { state, tag, actor, parent, action, .. } = &levels.nodes[at as usize];
        if *parent == NOBODY {
            steps.reverse();
            return Path { root: (state.to_vec(), *tag), steps };
        }
        steps.push(PathStep { action: *action, actor: *actor, state: state.to_vec(), tag: *tag });
        at = *parent;
    }
}
