//! How far the linearization and the legal run are apart at one moment, class by class.
//!
//! While both grow operation by operation, a *window* keeps what one has and the other has not: `owed` (the legal run has
//! executed it, the linearization has not emitted it) and `promised` (the other way round). Invariant: both have the same
//! length. Where the same label stands in both roles, the oldest entry is matched first; by exchange this loses nothing.
//!
//! *Distance*: an entry carries how many more steps of its class it may wait, 1 to the factor (docs/semantics.md,
//! *Exact construction*). *Strict*: what is emitted must be one of the first K+1 of what the legal run executes and the
//! linearization has not emitted yet, and the first of those is passed over at most K times in a row. There `owed` is in the
//! order of the legal run; `promised` is in the order of emission, and an entry carries how many operations not yet emitted
//! may still be executed before it, and whether one must be (it was not the first).

use super::Order;
use super::label::{Label, Labels};

/// What is owed and promised in one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Window {
    pub owed: Vec<(Label, u32)>,
    pub promised: Vec<(Label, u32)>,
    /// Strict only: how often the head has been passed over.
    pub late: u32,
}

/// What one step made of a window.
pub(super) struct Exchanged {
    pub window: Window,
    /// The promise that the legal run kept.
    pub kept: Option<Label>,
}

/// Strict: the entry was not the head when it was emitted, so something must be executed before it.
const MUST_WAIT: u32 = 1 << 31;

impl Window {
    pub fn is_empty(&self) -> bool {
        self.owed.is_empty() && self.promised.is_empty()
    }

    /// Every window after the linearization emits `x` and the legal run executes `y`.
    pub fn exchange(&self, labels: &Labels, order: Order, factor: u32, x: Label, y: Label) -> Vec<Exchanged> {
        // A promise of the exact label first; else one whose result was left open may be kept by it.
        let mut kept: Vec<Option<usize>> = Vec::new();
        for (i, &(promise, _)) in self.promised.iter().enumerate() {
            let first = !self.promised[..i].iter().any(|&(earlier, _)| earlier == promise);
            if first && labels.keeps(promise, y) {
                kept.push(Some(i));
            }
        }
        if !self.promised.iter().any(|&(promise, _)| promise == y) {
            kept.push(None);
        }
        let step = |kept| match order {
            Order::Distance => self.by_distance(factor, x, y, kept).into_iter().collect(),
            Order::Strict => self.strictly(factor, x, y, kept),
        };
        kept.into_iter().flat_map(step).collect()
    }

    fn by_distance(&self, factor: u32, x: Label, y: Label, kept: Option<usize>) -> Option<Exchanged> {
        let mut next = Window::default();
        let paid = oldest(&self.owed, x);
        let direct = x == y && paid.is_none() && kept.is_none();
        let age = |entries: &[(Label, u32)], gone: Option<usize>, into: &mut Vec<(Label, u32)>| {
            for (i, &(label, left)) in entries.iter().enumerate() {
                if Some(i) == gone {
                    continue;
                }
                if left <= 1 {
                    return false;
                }
                into.push((label, left - 1));
            }
            true
        };
        if !age(&self.owed, paid, &mut next.owed) || !age(&self.promised, kept, &mut next.promised) {
            return None;
        }
        if !direct {
            if (kept.is_none() || paid.is_none()) && factor == 0 {
                return None;
            }
            if kept.is_none() {
                next.owed.push((y, factor));
            }
            if paid.is_none() {
                next.promised.push((x, factor));
            }
        }
        next.owed.sort_unstable();
        next.promised.sort_unstable();
        let kept = kept.map(|i| self.promised[i].0);
        Some(Exchanged { window: next, kept })
    }

    fn strictly(&self, factor: u32, x: Label, y: Label, kept: Option<usize>) -> Vec<Exchanged> {
        let mut next = self.clone();
        match kept {
            Some(i) if next.promised[i].1 & MUST_WAIT != 0 => return Vec::new(),
            Some(i) => {
                next.promised.remove(i);
                // Those emitted before `y` was saw it as one that was not emitted; those after did not.
                if !wait_one_less(&mut next.promised[..i]) {
                    return Vec::new();
                }
            }
            None => {
                if !wait_one_less(&mut next.promised) {
                    return Vec::new();
                }
                next.owed.push((y, 0));
            }
        }
        let kept = kept.map(|i| self.promised[i].0);
        let done = |window| Exchanged { window, kept };
        if let Some(place) = next.owed.iter().position(|&(label, _)| label == x) {
            next.owed.remove(place);
            let fits = place as u32 <= factor && next.pass_over(place > 0, factor);
            return if fits { vec![done(next)] } else { Vec::new() };
        }
        let before = next.owed.len() as u32;
        let mut all = Vec::new();
        if before == 0 {
            let mut head = next.clone();
            head.late = 0;
            head.promised.push((x, 0));
            all.push(done(head));
        }
        if before <= factor && next.pass_over(true, factor) {
            let waits = if before == 0 { MUST_WAIT } else { 0 };
            if before > 0 || factor > 0 {
                next.promised.push((x, (factor - before) | waits));
                all.push(done(next));
            }
        }
        all
    }

    /// Notes that the head was emitted or passed over.
    fn pass_over(&mut self, passed: bool, factor: u32) -> bool {
        self.late = if passed { self.late + 1 } else { 0 };
        self.late <= factor
    }
}

/// The entry of that label that has the least time left.
fn oldest(entries: &[(Label, u32)], label: Label) -> Option<usize> {
    let fitting = entries.iter().enumerate().filter(|(_, entry)| entry.0 == label);
    fitting.min_by_key(|(_, entry)| entry.1).map(|(i, _)| i)
}

/// One more operation was executed before these; `false` when that is one too many.
fn wait_one_less(entries: &mut [(Label, u32)]) -> bool {
    for (_, slack) in entries {
        *slack &= !MUST_WAIT;
        if *slack == 0 {
            return false;
        }
        *slack -= 1;
    }
    true
}
