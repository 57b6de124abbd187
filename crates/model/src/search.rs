//! The one search loop: breadth first, level by level, over nodes that are bytes and a tag.
//!
//! Every check is a `Space`: what a node is, which steps leave it, what is wrong with it. The bytes are a packed state of a
//! system; the tag is what the check keeps beside it (a set of specification states, a state of an automaton). Nodes belong to
//! workers by the hash of their bytes; a worker expands its own nodes and posts what it finds to the owners, and all of them
//! finish a level before the next begins. So the first violation found is a shortest one, whatever the number of workers.
//!
//! Complexity: every node is expanded once; memory is `Store`'s plus four bytes a node (sixteen with tags).

mod shard;
mod worker;

#[cfg(test)]
mod tests;

use std::sync::Mutex;

use crate::limits::{Limit, Settings, Watch};
use crate::store::hash_bytes;
use crate::system::{Action, Fault};

pub(crate) use shard::Shard;

/// No parent: a node the search began with.
pub(crate) const ROOT: u32 = u32::MAX;

/// What is searched.
pub(crate) trait Space: Sync {
    /// Buffers of one worker.
    type Scratch: Send;
    /// What is wrong, when something is.
    type Reason: Clone + Send;
    /// Whether tags are used. Without them all are zero and cost nothing.
    const TAGGED: bool;

    /// Whether both nodes and steps can be wrong: then a wrong step is reported only after the rest of its level was looked at
    /// for a wrong node, which is shorter.
    fn mixed(&self) -> bool {
        false
    }

    /// New buffers.
    fn scratch(&self) -> Self::Scratch;
    /// The nodes to begin with.
    fn roots(&self, scratch: &mut Self::Scratch, out: &mut Steps<Self::Reason>) -> Result<(), Fault>;
    /// The steps out of a node, and what is wrong with it or with one of them.
    fn expand(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u8],
        tag: u32,
        out: &mut Steps<Self::Reason>,
    ) -> Result<(), Fault>;
    /// Whether everything wrong beyond `large` is wrong beyond `small`, after as few steps, at the same state.
    fn covers(&self, small: u32, large: u32) -> bool {
        small == large
    }
    /// Memory that the space itself uses.
    fn bytes(&self) -> u64 {
        0
    }
    /// A limit that the space itself has reached.
    fn limit(&self) -> Option<Limit> {
        None
    }
}

/// One step, as the search sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    from: u32,
    to: u32,
    /// The tag of the node it leads to.
    pub(crate) tag: u32,
    /// The step, in the names of the node it leaves.
    pub(crate) action: Action,
    /// Its actor, in the names of the node it leads to; they differ when threads are exchanged.
    pub(crate) actor: u32,
}

/// What is wrong, and whether with the node or with a step.
#[derive(Clone, Debug)]
pub(crate) struct Found<R> {
    pub(crate) reason: R,
    /// The number of the wrong step.
    pub(crate) step: Option<usize>,
}

/// The steps out of a node.
pub(crate) struct Steps<R> {
    bytes: Vec<u8>,
    steps: Vec<Step>,
    pub(crate) found: Option<Found<R>>,
}

impl<R> Default for Steps<R> {
    fn default() -> Self {
        Steps { bytes: Vec::new(), steps: Vec::new(), found: None }
    }
}

impl Step {
    /// The same step, by somebody else.
    pub(crate) fn by(self, actor: u32) -> Step {
        Step { actor, ..self }
    }
}

impl<R> Steps<R> {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.steps.clear();
        self.found = None;
    }

    /// Adds a step whose target `pack` writes; returns its number.
    pub(crate) fn push(&mut self, action: Action, actor: u32, tag: u32, pack: impl FnOnce(&mut Vec<u8>)) -> usize {
        let from = self.bytes.len() as u32;
        pack(&mut self.bytes);
        self.steps.push(Step { from, to: self.bytes.len() as u32, tag, action, actor });
        self.steps.len() - 1
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn bytes(&self, step: &Step) -> &[u8] {
        &self.bytes[step.from as usize..step.to as usize]
    }

    /// Notes what is wrong with the node. The first thing noted stays.
    pub(crate) fn wrong_node(&mut self, reason: R) {
        if self.found.as_ref().is_none_or(|found| found.step.is_some()) {
            self.found = Some(Found { reason, step: None });
        }
    }

    /// Notes what is wrong with a step. The first thing noted stays.
    pub(crate) fn wrong_step(&mut self, step: usize, reason: R) {
        if self.found.is_none() {
            self.found = Some(Found { reason, step: Some(step) });
        }
    }
}

/// A step of a path that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathStep {
    pub(crate) action: Action,
    /// The actor in the names of the node that the step leads to.
    pub(crate) actor: u32,
    /// The packed state it leads to.
    pub(crate) state: Vec<u8>,
    pub(crate) tag: u32,
}

/// A way from a beginning to what is wrong.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) root: (Vec<u8>, u32),
    pub(crate) steps: Vec<PathStep>,
}

/// How a search ended.
#[derive(Clone, Debug)]
pub(crate) enum End<R> {
    /// Everything was seen.
    Exhausted,
    /// Something is wrong; the path leads to it, the wrong step included.
    Found(Path, R),
    /// A state has no meaning.
    Fault(Path, Fault),
    /// A limit was reached.
    Limit(Limit),
}

/// What a search did.
pub(crate) struct Outcome<R> {
    pub(crate) end: End<R>,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) bytes: u64,
    /// Levels that were begun.
    pub(crate) depth: u32,
    pub(crate) shards: Vec<Shard>,
}

/// What stopped a search, before the path to it is known.
enum Halt<R> {
    Found(Found<R>),
    Fault(Fault),
}

struct Stopped<R> {
    length: u32,
    node: u32,
    halt: Halt<R>,
}

/// Searches `space` to the end, to the first violation, to `depth_max` levels or to a limit.
pub(crate) fn search<S: Space>(
    space: &S,
    settings: &Settings,
    watch: Watch<'_>,
    depth_max: Option<u32>,
) -> Outcome<S::Reason> {
    let jobs = settings.jobs.clamp(1, 64);
    let hash_only = settings.hash_only && !S::TAGGED;
    let shared = worker::Shared::new(space, jobs, watch, depth_max);
    let shards: Vec<Mutex<Shard>> = (0..jobs).map(|_| Mutex::new(Shard::new(hash_only))).collect();
    if jobs == 1 {
        worker::work(&shared, &shards, 0);
    } else {
        std::thread::scope(|scope| {
            for me in 0..jobs {
                let (shared, shards) = (&shared, &shards);
                scope.spawn(move || worker::work(shared, shards, me));
            }
        });
    }
    let shards: Vec<Shard> =
        shards.into_iter().map(|shard| shard.into_inner().unwrap_or_else(|poison| poison.into_inner())).collect();
    let (stopped, limit, transitions, depth) = shared.finish();
    let end = match (stopped, limit) {
        (Some(stopped), _) => end_of(space, &shards, stopped),
        (None, Some(limit)) => End::Limit(limit),
        (None, None) => End::Exhausted,
    };
    let states = shards.iter().map(|shard| u64::from(shard.count())).sum();
    let bytes = shards.iter().map(Shard::bytes).sum::<u64>() + space.bytes();
    Outcome { end, states, transitions, bytes, depth, shards }
}

fn end_of<S: Space>(space: &S, shards: &[Shard], stopped: Stopped<S::Reason>) -> End<S::Reason> {
    let mut scratch = space.scratch();
    let mut out = Steps::default();
    if stopped.node == ROOT {
        // The very first states could not be computed.
        return match stopped.halt {
            Halt::Fault(fault) => End::Fault(Path { root: (Vec::new(), 0), steps: Vec::new() }, fault),
            Halt::Found(found) => End::Found(Path { root: (Vec::new(), 0), steps: Vec::new() }, found.reason),
        };
    }
    let mut path = path_to(space, shards, stopped.node, &mut scratch, &mut out);
    match stopped.halt {
        Halt::Fault(fault) => End::Fault(path, fault),
        Halt::Found(found) => {
            if let Some(step) = found.step {
                let (state, tag) = path.end();
                out.clear();
                let _ = space.expand(&mut scratch, &state, tag, &mut out);
                if let Some(step) = out.steps.get(step) {
                    path.steps.push(path_step(&out, step));
                }
            }
            End::Found(path, found.reason)
        }
    }
}

impl Path {
    /// The node it leads to.
    pub(crate) fn end(&self) -> (Vec<u8>, u32) {
        self.steps.last().map_or_else(|| self.root.clone(), |step| (step.state.clone(), step.tag))
    }
}

impl Path {
    /// The packed state it leads to.
    pub(crate) fn end_state(&self) -> Vec<u8> {
        self.end().0
    }
}

fn path_step<R>(out: &Steps<R>, step: &Step) -> PathStep {
    PathStep { action: step.action, actor: step.actor, state: out.bytes(step).to_vec(), tag: step.tag }
}

/// The path to a node: its ancestors are known by number, the steps between them are found by taking them again.
pub(crate) fn path_to<S: Space>(
    space: &S,
    shards: &[Shard],
    node: u32,
    scratch: &mut S::Scratch,
    out: &mut Steps<S::Reason>,
) -> Path {
    let jobs = shards.len() as u32;
    let mut trail = Vec::new();
    let mut at = node;
    while at != ROOT {
        trail.push(at);
        at = shards[(at % jobs) as usize].parent(at / jobs);
    }
    trail.reverse();
    let matches = |global: u32, bytes: &[u8], tag: u32| {
        let shard = &shards[(global % jobs) as usize];
        shard.is(global / jobs, hash_bytes(bytes), bytes, tag)
    };
    out.clear();
    let _ = space.roots(scratch, out);
    let first = trail.first().copied().unwrap_or(0);
    let root = out.steps.iter().find(|step| matches(first, out.bytes(step), step.tag));
    let root = root.map_or((Vec::new(), 0), |step| (out.bytes(step).to_vec(), step.tag));
    let mut path = Path { root, steps: Vec::new() };
    for &next in trail.iter().skip(1) {
        let (state, tag) = path.end();
        out.clear();
        let _ = space.expand(scratch, &state, tag, out);
        // A node that is there has a step leading to it; not finding it would be our bug, and the path ends early.
        let Some(step) = out.steps.iter().find(|step| matches(next, out.bytes(step), step.tag)) else { break };
        path.steps.push(path_step(out, step));
    }
    path
}
