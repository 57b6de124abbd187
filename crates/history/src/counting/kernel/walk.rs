//! Few operations of a finite automaton: trying serial executions takes less time than solving the formula.
//!
//! A walk goes through the [slotted](super::slots) automaton. A letter in slot s stands for an operation whose interval holds s. Among those
//! of one label the one that ends first is taken, a pending one only when no other fits: since slots never go down, and a pending
//! one may be left out, no other choice leaves more. So what is left of the operations depends on the letters alone, and each pair of a rule and what is left is tried once.
//!
//! Invariant: an answer is that of the formula; beyond [`OPERATIONS_MAX`] or [`TRIED_MAX`] there is none.

use std::collections::HashSet;

use super::formula::{Formula, KernelCounts};
use super::slots::Slotted;

/// How many operations are tried.
const OPERATIONS_MAX: u64 = 16;

/// How many pairs of a rule and what is left.
const TRIED_MAX: usize = 4_000;

/// A finite automaton, by rule: the alternatives.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    alternatives: Vec<Vec<usize>>,
    /// By rule: whether the word may end there.
    ends: Vec<bool>,
}

impl Automaton {
    /// `None` if it is none: some alternative uses two rules, or has two letters.
    pub fn new(slotted: &Slotted) -> Option<Self> {
        if slotted.productions.iter().any(|production| production.uses.len() > 1 || production.letters.len() > 1) {
            return None;
        }
        let mut alternatives = vec![Vec::new(); slotted.rules.len()];
        // What is pushed last is tried first: letters before later slots.
        for (i, production) in slotted.productions.iter().enumerate().rev() {
            alternatives[production.rule].push(i);
        }
        for alternatives in &mut alternatives {
            alternatives.sort_by_key(|&i| !slotted.productions[i].letters.is_empty());
        }
        let mut ends = vec![false; slotted.rules.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for production in slotted.productions.iter().filter(|production| production.letters.is_empty()) {
                if production.uses.iter().all(|&rule| ends[rule]) {
                    changed |= !std::mem::replace(&mut ends[production.rule], true);
                }
            }
        }
        Some(Automaton { alternatives, ends })
    }
}

/// Operations that are alike.
struct Alike {
    /// A label, or a call for pending ones.
    what: usize,
    first: usize,
    last: usize,
}

/// Whether some serial execution explains the counters, if that is found out quickly.
pub(super) fn walk(formula: &Formula, counts: &KernelCounts) -> Option<bool> {
    let automaton = formula.automaton.as_ref()?;
    let k = formula.k();
    let (mut complete, mut pending, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for (label, triangle) in counts.complete.iter().enumerate() {
        let from = complete.len();
        complete.extend(triangle.intervals().map(|(first, last, count)| (Alike { what: label, first, last }, count)));
        complete[from..].sort_by_key(|(alike, _)| alike.last);
    }
    for (call, firsts) in counts.pending.iter().enumerate() {
        let some = firsts.iter().enumerate().filter(|(_, count)| **count > 0);
        pending.extend(some.map(|(first, &count)| (Alike { what: call, first, last: k }, count)));
    }
    if complete.iter().chain(&pending).try_fold(0u64, |sum, (_, count)| sum.checked_add(*count))? > OPERATIONS_MAX {
        return None;
    }
    left.extend(complete.iter().chain(&pending).map(|(_, count)| *count as u8));
    let mut call_of = vec![0; counts.complete.len()];
    for (call, labels) in formula.calls.iter().enumerate() {
        labels.iter().for_each(|&label| call_of[label] = call);
    }
    // Which of the operations left a letter stands for.
    let serves = |left: &[u8], label: usize, slot: usize| {
        let fits = |(alike, _): &(Alike, u64), what| alike.what == what && alike.first <= slot && slot <= alike.last;
        let returned = (0..complete.len()).find(|&i| left[i] > 0 && fits(&complete[i], label));
        let open = |i: &usize| left[complete.len() + i] > 0 && fits(&pending[*i], call_of[label]);
        returned.or_else(|| (0..pending.len()).find(open).map(|i| complete.len() + i))
    };
    let mut tried: HashSet<(usize, Vec<u8>)> = HashSet::new();
    let mut todo = vec![(0, left)];
    while let Some((rule, left)) = todo.pop() {
        if automaton.ends[rule] && left[..complete.len()].iter().all(|&left| left == 0) {
            return Some(true);
        }
        let slot = formula.slotted.rules[rule].first;
        let is_late = complete.iter().zip(&left).any(|((alike, _), left)| *left > 0 && alike.last < slot);
        if is_late || !tried.insert((rule, left.clone())) {
            continue;
        }
        if tried.len() > TRIED_MAX {
            return None;
        }
        for &i in &automaton.alternatives[rule] {
            let production = &formula.slotted.productions[i];
            let mut left = left.clone();
            if let Some(&(label, slot)) = production.letters.first() {
                let Some(served) = serves(&left, label, slot) else { continue };
                left[served] -= 1;
            }
            match production.uses.first() {
                Some(&next) => todo.push((next, left)),
                None if left[..complete.len()].iter().all(|&left| left == 0) => return Some(true),
                None => {}
            }
        }
    }
    Some(false)
}
