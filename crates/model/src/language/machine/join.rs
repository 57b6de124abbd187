//! Interleaving and parallel composition: communication without buffers, shared events, termination together.

use smallvec::SmallVec;

use super::super::eval::Evaluated;
use super::super::program::{NodeId, Parts};
use super::{Move, Range, Splice, Walk};
use crate::system::Label;

/// Marks an actor that is several at once; the lower bits say which of the outermost processes.
const TOGETHER: u32 = 1 << 31;

/// Who makes a step that two make together.
pub(super) fn together(a: u32, b: u32) -> u32 {
    let mask = |actor: u32| match actor {
        _ if actor & TOGETHER != 0 => actor,
        0 => 0,
        _ => 1 << ((actor & 0xff) - 1).min(30),
    };
    if a == b { a } else { TOGETHER | mask(a) | mask(b) }
}

/// Whether an actor is several at once.
pub(in super::super) fn is_together(actor: u32) -> bool {
    actor & TOGETHER != 0
}

/// The outermost processes of an actor, counted from zero.
pub(in super::super) fn members(actor: u32) -> Vec<u32> {
    match actor {
        0 => Vec::new(),
        _ if actor & TOGETHER == 0 => vec![(actor & 0xff) - 1],
        _ => (0..31).filter(|bit| actor & (1 << bit) != 0).collect(),
    }
}

/// Where the parts' moves and halves begin; the last entry is where they end.
type Bounds = SmallVec<[(usize, usize); 8]>;

impl Walk<'_> {
    /// Collects the moves of the parts. Answers where each part's begin, where the last part ends, and, if all parts can
    /// terminate, whether an atomic one is among them.
    fn components(&mut self, body: usize) -> Evaluated<(Bounds, usize, Option<bool>)> {
        let count = self.state[body] as usize;
        let mut bounds = Bounds::new();
        let (actor, level) = (self.actor, self.level);
        let (mut end, mut all_end) = (body + 1, Some(false));
        for index in 0..count {
            let from = self.scratch.moves.len();
            bounds.push((from, self.scratch.halves.len()));
            if level < 3 {
                self.actor = actor | ((index as u32 + 1).min(255) << (8 * level));
            }
            self.level = level + 1;
            let start = end;
            end = self.deeper(|this| this.running(start))?;
            let moves = &mut self.scratch.moves;
            let before = moves.len();
            let (mut kept, mut first) = (from, false);
            for at in from..before {
                if moves[at].label == Label::TICK {
                    first |= moves[at].atomic;
                } else {
                    moves[kept] = moves[at];
                    kept += 1;
                }
            }
            moves.truncate(kept);
            all_end = all_end.filter(|_| kept != before).map(|before| before || first);
        }
        (self.actor, self.level) = (actor, level);
        bounds.push((self.scratch.moves.len(), self.scratch.halves.len()));
        Ok((bounds, end, all_end))
    }

    pub(super) fn interleave(&mut self, at: usize, body: usize) -> Evaluated<usize> {
        let (bounds, end, all_end) = self.components(body)?;
        self.communicate(&bounds)?;
        self.terminate_together(all_end, at, end);
        Ok(end)
    }

    fn terminate_together(&mut self, all_end: Option<bool>, at: usize, end: usize) {
        if let Some(atomic) = all_end {
            let splices = self.done(at, end);
            let step = Move { label: Label::TICK, actor: self.actor, sync: false, atomic, effect: None, splices };
            self.scratch.moves.push(step);
        }
    }

    /// Pairs senders and receivers of different parts.
    fn communicate(&mut self, bounds: &Bounds) -> Evaluated<()> {
        let (first, last) = (bounds[0].1, bounds[bounds.len() - 1].1);
        if first == last {
            return Ok(());
        }
        let part = |half: usize| bounds.partition_point(|&(_, start)| start <= half);
        for sender in first..last {
            for receiver in first..last {
                let (a, b) = (self.scratch.halves[sender], self.scratch.halves[receiver]);
                let meets = a.sent.is_some() && b.sent.is_none() && a.channel == b.channel;
                if meets && part(sender) != part(receiver) {
                    self.meet(sender, receiver)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn parallel(
        &mut self,
        at: usize,
        body: usize,
        id: NodeId,
        parts: &Parts,
        env: &[i32],
    ) -> Evaluated<usize> {
        let (bounds, end, all_end) = self.components(body)?;
        let shared = self.memo.shared(self.program, id, parts, env)?;
        // Steps that wait for others, with the part that makes them.
        let mut waiting: Vec<(u16, Move)> = Vec::new();
        let (first, last) = (bounds[0].0, bounds[bounds.len() - 1].0);
        let mut part = 0;
        let mut kept = first;
        for index in first..last {
            while index >= bounds[part + 1].0 {
                part += 1;
            }
            let step = self.scratch.moves[index];
            let waits = step.sync && shared.get(&step.label).is_some_and(|who| who.contains(&(part as u16)));
            if waits {
                waiting.push((part as u16, step));
            } else {
                self.scratch.moves[kept] = step;
                kept += 1;
            }
        }
        self.scratch.moves.truncate(kept);
        for index in 0..waiting.len() {
            let label = waiting[index].1.label;
            if waiting[..index].iter().all(|(_, step)| step.label != label) {
                self.synchronise(&waiting, &shared[&label], label);
            }
        }
        self.communicate(&bounds)?;
        self.terminate_together(all_end, at, end);
        Ok(end)
    }

    /// Every combination of one step of each part that shares the label.
    fn synchronise(&mut self, waiting: &[(u16, Move)], who: &[u16], label: Label) {
        let choices: Vec<Vec<Move>> = who
            .iter()
            .map(|part| waiting.iter().filter(|(p, step)| p == part && step.label == label).map(|(_, s)| *s).collect())
            .collect();
        if choices.iter().any(Vec::is_empty) {
            return;
        }
        let mut picked = vec![0; choices.len()];
        loop {
            let mut splices: SmallVec<[Splice; 8]> = SmallVec::new();
            let mut joined = choices[0][picked[0]];
            for (list, &at) in choices.iter().zip(&picked) {
                let step = list[at];
                splices.extend_from_slice(step.splices.of(&self.scratch.splices));
                joined.actor = together(joined.actor, step.actor);
                joined.atomic |= step.atomic;
            }
            joined.splices = self.scratch.around(Range::default(), &splices, &[]);
            self.scratch.moves.push(joined);
            let Some(at) = (0..picked.len()).rfind(|&at| picked[at] + 1 < choices[at].len()) else { return };
            picked[at] += 1;
            picked[at + 1..].fill(0);
        }
    }
}
