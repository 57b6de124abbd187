//! The steps of a compiled model.
//!
//! A process is a row of words, each node before its parts. A step replaces pieces of that row (*splices*) and maybe runs
//! a block on the data. Operators around a process change the steps of their parts in place: hiding takes away the label,
//! a choice cuts off what was not chosen, parallel composition joins steps with the same label. Only steps that are left
//! at the end are carried out. The rules are those of the operational semantics of CSP#.
//!
//! Invariant: the steps of a state depend on the state alone; all buffers are scratch.

mod alphabet;
mod build;
mod join;
mod leaf;

use smallvec::SmallVec;

pub(in crate::language) use alphabet::Memo;
pub(super) use build::{DONE, apply, parts};
pub(super) use join::{is_together, members};

use super::eval::{Evaluated, Words};
use super::program::{Closure, Node, NodeId, Program, Source};
use crate::system::Label;

/// The values of an environment.
pub(super) type Env = SmallVec<[i32; 12]>;

/// How deep processes may nest, and how often they may be called before they take a step.
pub(super) const DEPTH_MAX: u32 = 400;
/// How many words a state may have.
pub(super) const WORDS_MAX: usize = 1 << 16;

/// A row of words or of splices in the scratch space.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Range {
    start: u32,
    len: u32,
}

impl Range {
    fn of<T>(self, list: &[T]) -> &[T] {
        &list[self.start as usize..(self.start + self.len) as usize]
    }
}

/// What is put in the place of some words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Nothing,
    Words(Range),
    Node(NodeId, Range),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Splice {
    start: u32,
    end: u32,
    target: Target,
}

/// A block with the values it sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockRun {
    block: u32,
    env: Range,
    bound: Range,
}

/// What a step does to the data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effect {
    /// A segment, and what is put at its end; nothing is taken from its beginning.
    channel: Option<(u32, Option<Range>)>,
    blocks: [Option<BlockRun>; 2],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub label: Label,
    pub actor: u32,
    /// Parallel composition joins it with others.
    sync: bool,
    /// An atomic process takes part in it: it goes before the steps of others.
    pub atomic: bool,
    effect: Option<u32>,
    splices: Range,
}

/// One side of a communication without a buffer.
#[derive(Clone, Copy, Debug)]
struct Half {
    channel: u32,
    /// The message, of the side that sends.
    sent: Option<Range>,
    /// The side that receives.
    node: NodeId,
    env: Range,
    /// The splice that gets the receiver's target, counted from the first.
    main: u32,
    actor: u32,
    atomic: bool,
    block: Option<BlockRun>,
    splices: Range,
}

/// Buffers that are used again for every state.
#[derive(Default)]
pub(super) struct Scratch {
    pub moves: Vec<Move>,
    halves: Vec<Half>,
    splices: Vec<Splice>,
    words: Vec<i32>,
    effects: Vec<Effect>,
}

impl Scratch {
    pub fn clear(&mut self) {
        self.moves.clear();
        self.halves.clear();
        self.splices.clear();
        self.words.clear();
        self.effects.clear();
    }

    fn keep(&mut self, words: &[i32]) -> Range {
        let start = self.words.len() as u32;
        self.words.extend_from_slice(words);
        Range { start, len: words.len() as u32 }
    }

    fn splice(&mut self, start: usize, end: usize, target: Target) -> Range {
        let at = self.splices.len() as u32;
        self.splices.push(Splice { start: start as u32, end: end as u32, target });
        Range { start: at, len: 1 }
    }

    /// The splices with others around them.
    fn around(&mut self, inner: Range, before: &[Splice], after: &[Splice]) -> Range {
        let start = self.splices.len() as u32;
        self.splices.extend_from_slice(before);
        self.splices.extend_from_within(inner.start as usize..(inner.start + inner.len) as usize);
        self.splices.extend_from_slice(after);
        Range { start, len: self.splices.len() as u32 - start }
    }
}

/// The environment of a closure.
pub(super) fn env_of(closure: &Closure, env: &[i32], bound: &[i32]) -> Env {
    let value = |source: &Source| match *source {
        Source::Env(at) => env[at as usize],
        Source::Bound(at) => bound[at as usize],
        Source::Const(value) => value,
    };
    closure.env.iter().map(value).collect()
}

/// A walk over the process of one state, collecting its moves.
pub(super) struct Walk<'a> {
    pub program: &'a Program,
    pub memo: &'a Memo,
    /// The words that positions refer to.
    pub state: &'a [i32],
    /// The words that expressions read.
    pub data: &'a [i32],
    pub scratch: &'a mut Scratch,
    pub actor: u32,
    pub level: u32,
    pub depth: u32,
}

impl Walk<'_> {
    /// Collects the moves of the running process at a position; answers where it ends.
    pub fn running(&mut self, at: usize) -> Evaluated<usize> {
        let program = self.program;
        let id = NodeId(self.state[at] as u32);
        let body = at + 1 + program.env_len(id);
        let env = &self.state[at + 1..body];
        match program.node(id) {
            Node::SequenceRun(second) => self.sequence(at, body, second, env),
            Node::InterleaveRun => self.interleave(at, body),
            Node::ParallelRun(parts) => self.parallel(at, body, id, parts, env),
            Node::ExternalRun => self.external(at, body),
            Node::InterruptRun => self.interrupt(at, body),
            Node::HideRun(events) => self.hide(at, body, id, events, env),
            Node::AtomicRun => self.atomic(at, body),
            _ => {
                self.leaf(id, env, at, body)?;
                Ok(body)
            }
        }
    }

    /// Goes one level deeper.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Evaluated<T>) -> Evaluated<T> {
        if self.depth >= DEPTH_MAX {
            return unbounded();
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn sequence(&mut self, at: usize, body: usize, second: &Closure, env: &[i32]) -> Evaluated<usize> {
        let from = self.scratch.moves.len();
        let end = self.deeper(|this| this.running(body))?;
        for index in from..self.scratch.moves.len() {
            if self.scratch.moves[index].label == Label::TICK {
                let env = self.scratch.keep(&env_of(second, env, &[]));
                let splices = self.scratch.splice(at, end, Target::Node(second.node, env));
                let step = &mut self.scratch.moves[index];
                (step.label, step.sync, step.splices) = (Label::TAU, false, splices);
            }
        }
        Ok(end)
    }

    fn hide(
        &mut self,
        at: usize,
        body: usize,
        id: NodeId,
        events: &[super::program::Events],
        env: &[i32],
    ) -> Evaluated<usize> {
        let from = self.scratch.moves.len();
        let end = self.deeper(|this| this.running(body))?;
        let hidden = self.memo.hidden(self.program, id, events, env)?;
        for index in from..self.scratch.moves.len() {
            let step = &mut self.scratch.moves[index];
            if hidden.contains(&step.label) {
                (step.label, step.sync) = (Label::TAU, false);
            }
        }
        self.end_ticks(from, at, end);
        Ok(end)
    }

    /// Whoever terminates leaves nothing of what is around it.
    fn end_ticks(&mut self, from: usize, at: usize, end: usize) {
        for index in from..self.scratch.moves.len() {
            if self.scratch.moves[index].label == Label::TICK {
                self.scratch.moves[index].splices = self.done(at, end);
            }
        }
    }

    fn done(&mut self, at: usize, end: usize) -> Range {
        self.scratch.splice(at, end, Target::Node(build::DONE, Range::default()))
    }

    /// Every step of an atomic process goes first, its first one too.
    fn atomic(&mut self, at: usize, body: usize) -> Evaluated<usize> {
        let (from, half) = (self.scratch.moves.len(), self.scratch.halves.len());
        let end = self.deeper(|this| this.running(body))?;
        self.scratch.moves[from..].iter_mut().for_each(|step| step.atomic = true);
        self.scratch.halves[half..].iter_mut().for_each(|half| half.atomic = true);
        self.end_ticks(from, at, end);
        Ok(end)
    }

    /// Steps that are seen decide for one of the parts; the others stay as they are.
    fn external(&mut self, at: usize, body: usize) -> Evaluated<usize> {
        let count = self.state[body] as usize;
        let mut parts: SmallVec<[(usize, usize, usize, usize); 4]> = SmallVec::new();
        let mut end = body + 1;
        for _ in 0..count {
            let (from, half, start) = (self.scratch.moves.len(), self.scratch.halves.len(), end);
            end = self.deeper(|this| this.running(start))?;
            parts.push((from, half, start, end));
        }
        let (mut last, mut last_half) = (self.scratch.moves.len(), self.scratch.halves.len());
        for &(from, half, start, stop) in parts.iter().rev() {
            self.decide(from..last, half..last_half, (at, start), (stop, end));
            (last, last_half) = (from, half);
        }
        Ok(end)
    }

    /// Cuts off what stands before and after a part, for its visible steps.
    fn decide(
        &mut self,
        moves: std::ops::Range<usize>,
        halves: std::ops::Range<usize>,
        before: (usize, usize),
        after: (usize, usize),
    ) {
        let cut =
            |(start, end): (usize, usize)| Splice { start: start as u32, end: end as u32, target: Target::Nothing };
        for index in moves {
            let step = self.scratch.moves[index];
            if step.label == Label::TICK {
                self.scratch.moves[index].splices = self.done(before.0, after.1);
            } else if step.label != Label::TAU {
                let splices = self.scratch.around(step.splices, &[cut(before)], &[cut(after)]);
                self.scratch.moves[index].splices = splices;
            }
        }
        for index in halves {
            let splices = self.scratch.halves[index].splices;
            self.scratch.halves[index].splices = self.scratch.around(splices, &[cut(before)], &[cut(after)]);
            self.scratch.halves[index].main += 1;
        }
    }

    /// The first goes on until the second is seen to begin.
    fn interrupt(&mut self, at: usize, body: usize) -> Evaluated<usize> {
        let from = self.scratch.moves.len();
        let middle = self.deeper(|this| this.running(body))?;
        let (second, half) = (self.scratch.moves.len(), self.scratch.halves.len());
        let end = self.deeper(|this| this.running(middle))?;
        let (last, last_half) = (self.scratch.moves.len(), self.scratch.halves.len());
        self.decide(second..last, half..last_half, (at, middle), (end, end));
        self.end_ticks(from, at, end);
        Ok(end)
    }
}

/// The fault of a process that calls itself without a step in between, or nests without bound.
pub(super) fn unbounded<T>() -> Evaluated<T> {
    Err(Box::new(crate::system::Fault {
        message: format!(
            "unbounded recursion: processes nest or call each other more than {DEPTH_MAX} deep in one state"
        ),
        place: None,
    }))
}

/// The fault of a state that grows.
pub(super) fn too_large<T>() -> Evaluated<T> {
    Err(Box::new(crate::system::Fault {
        message: format!("unbounded recursion: the state grows beyond {WORDS_MAX} words"),
        place: None,
    }))
}

/// Writes a process that begins.
pub(super) fn begin(program: &Program, node: NodeId, env: &[i32], out: &mut Words) -> Evaluated<()> {
    build::instantiate(program, node, env, out, 0)
}
