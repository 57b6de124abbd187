//! What follows for states when threads are alike: exchanging threads, telling what a thread does, and whether its next steps are its
//! own business.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::super::eval::Words;
use super::super::program::{Ex, ExId, Node, NodeId, Parts, Program, Seen, St};
use super::{Alike, Way};

/// How far the text is followed for the first step of a process.
const FAR: u32 = 50;

impl Alike {
    /// Puts what thread `order[i]` has in the place of thread i.
    pub fn permute(&self, program: &Program, words: &mut Words, order: &[u32]) {
        let start = program.process_start(words);
        let Some(parts) = self.parts(program, words, start) else { return };
        let mut next = Words::from_slice(words);
        for &(base, stride) in &self.rows {
            for (place, &from) in order.iter().enumerate() {
                let row = base + stride * from as usize;
                next[base + stride * place..base + stride * (place + 1)].copy_from_slice(&words[row..row + stride]);
            }
        }
        next.truncate(start + 2);
        for (place, &from) in order.iter().enumerate() {
            let (begin, end) = parts[from as usize];
            let at = next.len();
            next.extend_from_slice(&words[begin..end]);
            self.rename(program, &mut next, at, place as i32);
        }
        *words = next;
    }

    /// A number for what a thread is doing, whichever thread it is.
    pub fn key(&self, program: &Program, words: &[i32], thread: usize) -> u64 {
        let start = program.process_start(words);
        let Some(parts) = self.parts(program, words, start) else { return 0 };
        let (begin, end) = parts[thread];
        let mut own = Words::from_slice(&words[begin..end]);
        self.rename(program, &mut own, 0, 0);
        for &(base, stride) in &self.rows {
            own.extend_from_slice(&words[base + stride * thread..base + stride * (thread + 1)]);
        }
        FixedState::with_seed(5).hash_one(&own[..])
    }

    /// The threads whose next steps are silent and touch nothing of others.
    pub fn alone(&self, program: &Program, words: &[i32], threads: &mut Vec<u32>) {
        let start = program.process_start(words);
        let Some(parts) = self.parts(program, words, start).filter(|_| !self.atomic) else { return };
        for (thread, &(begin, _)) in parts.iter().enumerate() {
            let (at, node) = first_node(program, words, begin);
            // Termination within a sequence is a silent step.
            let ends = at > begin && matches!(program.node(node), Node::Skip);
            if ends || self.is_noted(node, Way::Silent) {
                threads.push(thread as u32);
            }
        }
    }

    /// Whether all next steps of a thread are calls, or all are returns, that touch nothing of others.
    pub fn apart(&self, program: &Program, words: &[i32], thread: u32) -> bool {
        let start = program.process_start(words);
        let Some(parts) = self.parts(program, words, start) else { return false };
        parts.get(thread as usize).is_some_and(|&(begin, _)| {
            let (_, node) = first_node(program, words, begin);
            self.is_noted(node, Way::Call) || self.is_noted(node, Way::Return)
        })
    }

    fn is_noted(&self, node: NodeId, way: Way) -> bool {
        self.own[way as usize][node.0 as usize] == Some(true)
    }

    /// Where the parts begin and end; nothing once they have terminated together.
    fn parts(&self, program: &Program, words: &[i32], start: usize) -> Option<Vec<(usize, usize)>> {
        if !matches!(program.node(NodeId(words[start] as u32)), Node::InterleaveRun) {
            return None;
        }
        let mut at = start + 2;
        let mut parts = Vec::with_capacity(self.threads);
        for _ in 0..self.threads {
            let end = walk(program, words, at, &mut |_, _| {});
            parts.push((at, end));
            at = end;
        }
        Some(parts)
    }

    /// Writes another number of the thread into the part at a position.
    fn rename(&self, program: &Program, words: &mut Words, at: usize, thread: i32) {
        let mut places: Vec<usize> = Vec::new();
        walk(program, words, at, &mut |node, env| {
            let roles = &self.roles[node.0 as usize];
            places.extend((0..roles.len()).filter(|&slot| roles[slot]).map(|slot| env + slot));
        });
        places.into_iter().for_each(|place| words[place] = thread);
    }

    /// Finds out whether all first steps of a node are of one way and touch nothing but the thread's own rows. Each node is looked at once;
    /// what refers to itself, or is too far away, is not.
    pub(super) fn note_own(&mut self, program: &Program, node: NodeId, way: Way, depth: u32) -> bool {
        let at = node.0 as usize;
        if let Some(known) = self.own[way as usize][at] {
            return known;
        }
        self.own[way as usize][at] = Some(false);
        let own = depth < FAR && self.begins(program, node, way) && {
            firsts(program, node).iter().all(|&first| self.note_own(program, first, way, depth + 1))
        };
        self.own[way as usize][at] = Some(own);
        own
    }

    /// Whether a node itself does nothing but steps of one way on its own rows; what it goes on with before a step is not looked at.
    fn begins(&self, program: &Program, node: NodeId, way: Way) -> bool {
        let own = |id: ExId| self.is_own(program, id);
        let ranges = |parts: &Parts| match parts {
            Parts::Each(_) => true,
            Parts::Indexed(indices, ..) => indices.iter().flatten().all(|&(low, high)| own(low) && own(high)),
        };
        match program.node(node) {
            Node::Event { seen, block, .. } => {
                let fits = match (seen, way) {
                    (Seen::Tau, Way::Silent) => true,
                    (Seen::Event(name, args), Way::Call | Way::Return) => {
                        self.names[usize::from(way == Way::Return)].contains(name)
                            && args.iter().all(|&(arg, _)| own(arg))
                    }
                    _ => false,
                };
                fits && block.is_none_or(|block| self.touches_own(program, &program.blocks[block as usize]))
            }
            // These decide in a silent step of their own.
            Node::If(condition, ..) | Node::IfBlocking(condition, _) => way == Way::Silent && own(*condition),
            Node::Case(cases, _) => way == Way::Silent && cases.iter().all(|&(condition, _)| own(condition)),
            Node::Internal(parts) => way == Way::Silent && ranges(parts),
            Node::IfAtomic(condition, ..) | Node::Guard(condition, _) => own(*condition),
            Node::General(parts) => ranges(parts),
            Node::Call { args, .. } => args.iter().all(|&arg| own(arg)),
            _ => false,
        }
    }

    /// Whether an expression reads nothing but the thread's own rows.
    fn is_own(&self, program: &Program, id: ExId) -> bool {
        let own = |id: ExId| self.is_own(program, id);
        match &program.exprs[id.0 as usize] {
            Ex::Const(_) | Ex::Local(_) | Ex::Bound(_) => true,
            Ex::Element { base, index, .. } => self.is_row(*base) && own(*index),
            Ex::Elements { base, at, .. } => self.is_row(*base) && at.iter().all(|&(index, _)| own(index)),
            Ex::Not(inner) | Ex::Neg(inner, _) => own(*inner),
            Ex::And(a, b) | Ex::Or(a, b) | Ex::Bin(_, a, b, _) => own(*a) && own(*b),
            Ex::Global(_) | Ex::Query { .. } | Ex::Messages { .. } => false,
        }
    }

    fn is_row(&self, base: u32) -> bool {
        self.rows.iter().any(|row| row.0 == base as usize)
    }

    fn touches_own(&self, program: &Program, block: &[St]) -> bool {
        let own = |id: ExId| self.is_own(program, id);
        block.iter().all(|statement| match statement {
            St::SetElement { base, at, value, .. } => {
                self.is_row(*base) && at.iter().all(|&(index, _)| own(index)) && own(*value)
            }
            St::SetLocal(_, value) | St::Return(value) => own(*value),
            St::If(condition, then, otherwise) => {
                own(*condition) && self.touches_own(program, then) && self.touches_own(program, otherwise)
            }
            St::While(condition, body, _) => own(*condition) && self.touches_own(program, body),
            St::Set { .. } | St::Change { .. } => false,
        })
    }
}

/// Where a process stands, within sequences.
fn first_node(program: &Program, words: &[i32], begin: usize) -> (usize, NodeId) {
    let mut at = begin;
    let mut node = NodeId(words[at] as u32);
    while let Node::SequenceRun(_) = program.node(node) {
        at += 1 + program.env_len(node);
        node = NodeId(words[at] as u32);
    }
    (at, node)
}

/// The nodes whose first steps are those of a node.
fn firsts(program: &Program, node: NodeId) -> Vec<NodeId> {
    match program.node(node) {
        Node::IfAtomic(_, then, otherwise) => vec![then.node, otherwise.node],
        Node::Guard(_, next) => vec![next.node],
        Node::General(Parts::Each(list)) => list.iter().map(|closure| closure.node).collect(),
        Node::General(Parts::Indexed(_, closure, _)) => vec![closure.node],
        Node::Call { def, .. } => vec![program.defs[*def as usize].body.node],
        _ => Vec::new(),
    }
}

/// Visits the nodes of a running process, each with where its environment begins; answers where the process ends.
fn walk(program: &Program, words: &[i32], at: usize, visit: &mut impl FnMut(NodeId, usize)) -> usize {
    let mut left = 1;
    let mut at = at;
    while left > 0 {
        let node = NodeId(words[at] as u32);
        visit(node, at + 1);
        at += 1 + program.env_len(node);
        left -= 1;
        match program.node(node) {
            Node::SequenceRun(_) | Node::HideRun(_) | Node::AtomicRun => left += 1,
            Node::InterruptRun => left += 2,
            Node::InterleaveRun | Node::ParallelRun(_) | Node::ExternalRun => {
                left += words[at] as usize;
                at += 1;
            }
            _ => {}
        }
    }
    at
}
