//! Theorem 6: the counting formula of a kernel, and the decision whether counters satisfy it.
//!
//! Unknowns are how often each alternative of the [slotted](super::slots) grammar is used (Verma, Seidl, Schwentick). They must
//! balance: each rule is expanded as often as it is used. They must be connected: every rule expanded is reached from the
//! start. And their letters must fit the operations counted. A letter in slot s serves any operation whose interval holds s;
//! since intervals are convex, Hall's condition needs only be stated for ranges of slots: from u to v there are at least as many letters
//! as operations that lie inside, and in all exactly as many as there are. A pending operation may serve as any return of its
//! method from its first slot on, or not at all.
//!
//! Invariant: the size of the formula depends on the grammar and on k, never on how many operations were counted.

use std::collections::HashMap;
use std::sync::Mutex;

use super::super::label::Label;
use super::super::solver::{self, BRANCHES_MAX, Constraint, Halt, Objection, Relation};
use super::super::triangle::Triangle;
use super::grammar::Grammar;
use super::slots::{PRODUCTIONS_MAX, Slotted, slotted};
use super::walk::{Automaton, walk};
use crate::Budget;

/// The largest k: beyond it grammars get too large to be of use.
pub const K_MAX: usize = 8;

/// How many cases are looked at to leave a demand out of a violation.
const SHRINKING_BRANCHES_MAX: usize = 3;

/// The formula of a kernel for histories of length at most k.
#[derive(Clone, Debug)]
pub struct Formula {
    pub(super) grammar: Grammar,
    pub(super) slotted: Slotted,
    /// Labels that differ in their results only: what a pending call may return.
    pub(super) calls: Vec<Vec<usize>>,
    /// What is walked through where there are few operations, if that is wanted.
    pub(super) automaton: Option<Automaton>,
    k: usize,
    known: Known,
}

/// Counters that were decided before: histories of one test, and beginnings of one history, mostly have the same few.
#[derive(Debug, Default)]
struct Known(Mutex<HashMap<KernelCounts, Decision>>);

/// How many of them are kept.
const KNOWN_MAX: usize = 50_000;

impl Clone for Known {
    fn clone(&self) -> Self {
        Known::default()
    }
}

impl Known {
    fn get(&self, counts: &KernelCounts) -> Option<Decision> {
        self.0.lock().ok()?.get(counts).cloned()
    }

    fn insert(&self, counts: &KernelCounts, decision: &Decision) {
        if let Ok(mut known) = self.0.lock()
            && known.len() < KNOWN_MAX
        {
            known.insert(counts.clone(), decision.clone());
        }
    }
}

/// Why a kernel has no formula here.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// k is larger than [`K_MAX`].
    K,
    /// The grammar cut into k + 1 slots has too many alternatives.
    Productions,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TooLarge::K => write!(f, "k should be at most {K_MAX}"),
            TooLarge::Productions => {
                write!(f, "the kernel has more than {PRODUCTIONS_MAX} alternatives at this k; a smaller k would do")
            }
        }
    }
}

impl std::error::Error for TooLarge {}

/// The operations of a history of length at most k, counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelCounts {
    /// By label: how many returned, by interval.
    pub complete: Vec<Triangle>,
    /// By call: how many have not, by first slot.
    pub pending: Vec<Vec<u64>>,
}

/// A part of the formula that speaks about the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// From slot `first` to slot `last` take effect at least the operations of that label that lie inside.
    Inside {
        /// The label, by number.
        label: usize,
        /// The first slot.
        first: usize,
        /// The last slot.
        last: usize,
    },
    /// In all take effect exactly the operations of that label, and the pending ones that became such.
    InAll {
        /// The label, by number.
        label: usize,
    },
    /// At most the pending calls that began in that slot become anything.
    Pending {
        /// The call, by number.
        call: usize,
        /// Their first slot.
        first: usize,
    },
}

/// Whether counters satisfy the formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Some serial execution of the kernel explains them.
    Satisfied,
    /// None does: these demands alone cannot all be met. As far as it could be told quickly, none of them could be left out.
    Violated(Vec<Demand>),
}

impl Formula {
    /// The formula of the kernel for histories of length at most k.
    pub fn new(grammar: Grammar, k: usize) -> Result<Formula, TooLarge> {
        if k > K_MAX {
            return Err(TooLarge::K);
        }
        let slotted = slotted(&grammar, k).ok_or(TooLarge::Productions)?;
        let mut calls: Vec<Vec<usize>> = Vec::new();
        let same = |a: &Label, b: &Label| a.method == b.method && a.argument == b.argument;
        for (i, label) in grammar.labels.iter().enumerate() {
            match calls.iter_mut().find(|call| same(&grammar.labels[call[0]], label)) {
                Some(call) => call.push(i),
                None => calls.push(vec![i]),
            }
        }
        Ok(Formula { grammar, slotted, calls, automaton: None, k, known: Known::default() })
    }

    /// The same formula. Where its kernel is a finite automaton and there are few operations, serial executions are tried before it is solved: for many
    /// small histories.
    pub fn with_walks(mut self) -> Formula {
        self.automaton = Automaton::new(&self.slotted);
        self
    }

    /// The k that the formula was made for.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The kernel that the formula was made of.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The label with that number.
    pub fn label(&self, label: usize) -> &Label {
        &self.grammar.labels[label]
    }

    /// The call with that number, as a pending label.
    pub fn call(&self, call: usize) -> Label {
        self.label(self.calls[call][0]).pending()
    }

    /// How many unknowns the formula has, before anything is known of the history.
    pub fn size(&self) -> usize {
        self.slotted.productions.len()
    }

    /// Counters that are all zero.
    pub fn no_counts(&self) -> KernelCounts {
        KernelCounts {
            complete: vec![Triangle::new(self.k); self.grammar.labels.len()],
            pending: vec![vec![0; self.k + 1]; self.calls.len()],
        }
    }

    /// The number of a label, if the kernel has it.
    pub fn find(&self, label: &Label) -> Option<usize> {
        self.grammar.labels.iter().position(|known| known == label)
    }

    /// The number of a call, if the kernel has it.
    pub fn find_call(&self, method: &str, argument: &crate::Value) -> Option<usize> {
        let same = |label: &Label| label.method == method && label.argument == *argument;
        self.calls.iter().position(|call| same(self.label(call[0])))
    }

    /// Whether the counters satisfy the formula.
    pub fn decide(&self, counts: &KernelCounts, budget: &Budget) -> Result<Decision, Halt> {
        if let Some(known) = self.known.get(counts) {
            return Ok(known);
        }
        let decision = self.decide_anew(counts, budget)?;
        self.known.insert(counts, &decision);
        Ok(decision)
    }

    fn decide_anew(&self, counts: &KernelCounts, budget: &Budget) -> Result<Decision, Halt> {
        match walk(self, counts) {
            Some(true) => Ok(Decision::Satisfied),
            Some(false) => {
                let system = System::new(self, counts);
                Ok(system.violated((0..system.demands.len()).collect(), budget))
            }
            None => self.solve(counts, budget),
        }
    }

    fn solve(&self, counts: &KernelCounts, budget: &Budget) -> Result<Decision, Halt> {
        let system = System::new(self, counts);
        let all: Vec<usize> = (0..system.demands.len()).collect();
        if system.is_satisfiable(&all, BRANCHES_MAX, budget)? {
            return Ok(Decision::Satisfied);
        }
        Ok(system.violated(all, budget))
    }
}

/// The formula with the history's numbers in it. Alternatives with a letter that nothing can serve as are left out.
struct System<'f> {
    slotted: &'f Slotted,
    /// The alternatives that are left; variable number i is how often the i-th of them is used.
    used: Vec<usize>,
    variables: usize,
    /// Variables of alternatives without letters: how the word is cut. Once these are whole, the others mostly are.
    silent: Vec<usize>,
    flow: Vec<Constraint>,
    demands: Vec<(Demand, Constraint)>,
}

impl<'f> System<'f> {
    fn new(formula: &'f Formula, counts: &KernelCounts) -> Self {
        let k = formula.k;
        let slotted = &formula.slotted;
        let call_of = |label: usize| {
            formula.calls.iter().position(|call| call.contains(&label)).expect("every label belongs to a call")
        };
        let pending = |label: usize| &counts.pending[call_of(label)];
        let occurs = |label: usize| counts.complete[label].total(0, k) > 0 || pending(label).iter().any(|&n| n > 0);
        let possible: Vec<bool> = (0..formula.grammar.labels.len()).map(occurs).collect();
        let used: Vec<usize> = (0..slotted.productions.len())
            .filter(|&i| slotted.productions[i].letters.iter().all(|&(label, _)| possible[label]))
            .collect();
        let is_silent = |&variable: &usize| slotted.productions[used[variable]].letters.is_empty();
        let silent = (0..used.len()).filter(is_silent).collect();
        let mut system = System { slotted, variables: used.len(), used, silent, flow: Vec::new(), demands: Vec::new() };
        system.balance();
        let complete: u64 = counts.complete.iter().map(|triangle| triangle.total(0, k)).sum();
        system.entered(complete + counts.pending.iter().flatten().sum::<u64>());
        // By label and first slot: how many pending calls became that label.
        let mut became: Vec<Vec<Option<usize>>> = vec![vec![None; k + 1]; possible.len()];
        for (label, became) in became.iter_mut().enumerate() {
            for (slot, became) in became.iter_mut().enumerate().filter(|(slot, _)| pending(label)[*slot] > 0) {
                let _ = slot;
                *became = Some(system.variables);
                system.variables += 1;
            }
        }
        let letters = system.letters(formula);
        for label in (0..possible.len()).filter(|&label| possible[label]) {
            system.demand_label(label, &counts.complete[label], &letters[label], &became[label]);
        }
        for (call, labels) in formula.calls.iter().enumerate() {
            for (first, &number) in counts.pending[call].iter().enumerate().filter(|(_, number)| **number > 0) {
                let terms = labels.iter().filter_map(|&label| Some((became[label][first]?, 1))).collect();
                let constraint = Constraint { terms, relation: Relation::AtMost, bound: whole(number) };
                system.demands.push((Demand::Pending { call, first }, constraint));
            }
        }
        system
    }

    /// Each rule is expanded as often as it is used; the start is used once more.
    fn balance(&mut self) {
        let mut terms: Vec<Vec<(usize, i64)>> = vec![Vec::new(); self.slotted.rules.len()];
        for (variable, &i) in self.used.iter().enumerate() {
            let production = &self.slotted.productions[i];
            terms[production.rule].push((variable, 1));
            for &rule in &production.uses {
                terms[rule].push((variable, -1));
            }
        }
        let bound = |rule: usize| i64::from(rule == 0);
        self.flow = terms
            .into_iter()
            .enumerate()
            .map(|(rule, terms)| Constraint { terms, relation: Relation::Equal, bound: bound(rule) })
            .filter(|constraint| !constraint.terms.is_empty() || constraint.bound != 0)
            .collect();
    }

    /// A rule that leads to itself balances by itself. Its letters are at most as many as there are operations, and none unless
    /// another rule leads to it: stated at once, this spares most of the objections.
    fn entered(&mut self, operations: u64) {
        for rule in 1..self.slotted.rules.len() {
            let mut terms = Vec::new();
            let mut loops = false;
            for (variable, &i) in self.used.iter().enumerate() {
                let production = &self.slotted.productions[i];
                if production.rule == rule && !production.letters.is_empty() {
                    loops |= production.uses.contains(&rule);
                    terms.push((variable, -1));
                } else if production.rule != rule && production.uses.contains(&rule) {
                    terms.push((variable, whole(operations)));
                }
            }
            if loops {
                self.flow.push(Constraint { terms, relation: Relation::AtLeast, bound: 0 });
            }
        }
    }

    /// By label and slot: the variables whose alternatives have the letter there, once for each time they have it.
    fn letters(&self, formula: &Formula) -> Vec<Vec<Vec<usize>>> {
        let mut letters = vec![vec![Vec::new(); formula.k + 1]; formula.grammar.labels.len()];
        for (variable, &i) in self.used.iter().enumerate() {
            for &(label, slot) in &self.slotted.productions[i].letters {
                letters[label][slot].push(variable);
            }
        }
        letters
    }

    fn demand_label(&mut self, label: usize, counts: &Triangle, letters: &[Vec<usize>], became: &[Option<usize>]) {
        let k = letters.len() - 1;
        for first in 0..=k {
            for last in first..=k {
                let inside = counts.total(first, last);
                let late: Vec<usize> =
                    if last == k { became[first..].iter().flatten().copied().collect() } else { Vec::new() };
                let all = first == 0 && last == k;
                if !all && inside == 0 && late.is_empty() {
                    continue;
                }
                let positive = letters[first..=last].iter().flatten().map(|&variable| (variable, 1));
                let terms = positive.chain(late.into_iter().map(|variable| (variable, -1))).collect();
                let relation = if all { Relation::Equal } else { Relation::AtLeast };
                let demand = if all { Demand::InAll { label } } else { Demand::Inside { label, first, last } };
                self.demands.push((demand, Constraint { terms, relation, bound: whole(inside) }));
            }
        }
    }

    fn is_satisfiable(&self, demands: &[usize], branches_max: usize, budget: &Budget) -> Result<bool, Halt> {
        let demands = demands.iter().map(|&demand| &self.demands[demand].1);
        let constraints: Vec<&Constraint> = self.flow.iter().chain(demands).collect();
        let system = solver::System { variables: self.variables, first: &self.silent, constraints: &constraints };
        solver::solve(&system, |solution| self.disconnected(solution), branches_max, budget)
            .map(|solution| solution.is_some())
    }

    fn violated(&self, demands: Vec<usize>, budget: &Budget) -> Decision {
        let needed = self.shrink(demands, budget);
        Decision::Violated(needed.into_iter().map(|demand| self.demands[demand].0).collect())
    }

    /// Leaves out demands as long as the others cannot be met: many at a time first, one at a time at the end. Where it cannot be told
    /// in a moment whether some are needed, they are kept.
    fn shrink(&self, mut needed: Vec<usize>, budget: &Budget) -> Vec<usize> {
        let mut size = needed.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < needed.len() {
                let end = (at + size).min(needed.len());
                let without = [&needed[..at], &needed[end..]].concat();
                match self.is_satisfiable(&without, SHRINKING_BRANCHES_MAX, budget) {
                    Ok(false) => needed = without,
                    Ok(true) | Err(Halt::Branches | Halt::Overflow) => at = end,
                    Err(Halt::Limit(_)) => return needed,
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        needed
    }

    /// When rules are expanded that the start does not reach: take those that hang together with one of them. Either none of these is
    /// expanded, or some alternative of another rule leads to them.
    fn disconnected(&self, solution: &[i128]) -> Option<Objection> {
        let productions = |variable: usize| &self.slotted.productions[self.used[variable]];
        let mut reached = vec![false; self.slotted.rules.len()];
        reached[0] = true;
        let active: Vec<usize> = (0..self.used.len()).filter(|&variable| solution[variable] > 0).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &variable in &active {
                let uses = if reached[productions(variable).rule] { &productions(variable).uses[..] } else { &[] };
                for &rule in uses {
                    changed |= !std::mem::replace(&mut reached[rule], true);
                }
            }
        }
        // One piece of what is not reached: the rules that hang together with the first of them.
        let astray = active.iter().find(|&&variable| !reached[productions(variable).rule])?;
        let mut apart = vec![false; reached.len()];
        apart[productions(*astray).rule] = true;
        let mut changed = true;
        while changed {
            changed = false;
            for &variable in active.iter().filter(|&&variable| !reached[productions(variable).rule]) {
                let production = productions(variable);
                let rules = || production.uses.iter().copied().chain([production.rule]);
                if rules().any(|rule| apart[rule]) {
                    for rule in rules().filter(|&rule| !reached[rule]) {
                        changed |= !std::mem::replace(&mut apart[rule], true);
                    }
                }
            }
        }
        let inside = (0..self.used.len()).filter(|&variable| apart[productions(variable).rule]);
        let entering = (0..self.used.len()).filter(|&variable| {
            let production = productions(variable);
            !apart[production.rule] && production.uses.iter().any(|&rule| apart[rule])
        });
        let sum = |variables: Vec<usize>, relation, bound| {
            vec![Constraint { terms: variables.into_iter().map(|variable| (variable, 1)).collect(), relation, bound }]
        };
        Some([sum(entering.collect(), Relation::AtLeast, 1), sum(inside.collect(), Relation::AtMost, 0)])
    }
}

/// A number of operations, of which a history has fewer than 2³¹.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
