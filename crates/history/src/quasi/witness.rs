//! Both orders, read off the steps of a search that found them.
//!
//! Invariant: `run` is a permutation of the places of the linearization that maps every class to itself; matching the oldest
//! entry of a label first is what the windows did, so every operation is within reach of its place.

use super::numbered::{Input, Output};
use super::search::{Emitted, Found, Searched};
use crate::OpId;

/// An operation of the linearization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed<I, O> {
    /// One of the history.
    Operation(OpId),
    /// One that would come after the end of the history.
    Later(I, O),
}

/// A linearization and a legal run that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders<I, O> {
    /// The linearization, with a continuation at its end where one was needed.
    pub linearization: Vec<Placed<I, O>>,
    /// The legal run: at each place, which place of the linearization the operation has there.
    pub run: Vec<u32>,
    /// The class of each operation of the linearization.
    pub classes: Vec<u16>,
    /// The results given to pending operations.
    pub results: Vec<(OpId, O)>,
}

impl<I, O> Orders<I, O> {
    /// Which entry of the linearization stands furthest from its place in the legal run, counted in its class, and how far;
    /// of several one of the history. Only those for which `counts` says so.
    pub fn furthest(&self, counts: impl Fn(u16) -> bool) -> Option<(usize, u32)> {
        let off = self.places().into_iter().map(|(place, legal)| place.abs_diff(legal)).enumerate();
        let off = off.filter(|&(i, _)| counts(self.classes[i]));
        off.max_by_key(|&(i, off)| (off, matches!(self.linearization[i], Placed::Operation(_))))
    }

    /// By place of the linearization: the place in its class there, and in the legal run.
    pub fn places(&self) -> Vec<(u32, u32)> {
        let classes = self.classes.iter().map(|&class| class as usize + 1).max().unwrap_or(0);
        let mut count = vec![0u32; classes];
        let mut places = vec![(0, 0); self.classes.len()];
        for (i, &class) in self.classes.iter().enumerate() {
            let place = count[class as usize];
            count[class as usize] += 1;
            places[i].0 = place;
            places[self.run[i] as usize].1 = place;
        }
        places
    }
}

/// Reads the steps of a search that found orders; `None` where it found none.
pub(super) fn orders(searched: &Searched<'_>) -> Option<Orders<Input, Output>> {
    let Found::Orders(steps) = &searched.found else { return None };
    let labels = &searched.labels;
    let run = matched(searched)?;
    let mut orders = Orders { linearization: Vec::new(), run: Vec::new(), classes: Vec::new(), results: Vec::new() };
    let mut insertions = Insertions::new(searched);
    let mut place_of = vec![0u32; steps.len()];
    let mut executed = vec![0usize; steps.len()];
    for (i, &j) in run.iter().enumerate() {
        executed[j] = i;
    }
    for (i, step) in steps.iter().enumerate() {
        let taken = searched.machine.taken(step.before, step.after);
        insertions.place(step.at, taken, &mut orders);
        place_of[i] = orders.linearization.len() as u32;
        let meaning = labels.get(steps[executed[i]].y);
        let (input, output) = (meaning.input, meaning.output?);
        orders.linearization.push(match step.emitted {
            Emitted::Op(op) => {
                if searched.plan.ops[op as usize].label.is_none() {
                    orders.results.push((OpId(op), output));
                }
                Placed::Operation(OpId(op))
            }
            Emitted::Later => Placed::Later(input, output),
        });
        orders.classes.push(labels.get(step.x).class);
        orders.run.push(u32::MAX);
    }
    insertions.place_rest(&mut orders);
    for (i, place) in place_of.iter().enumerate() {
        orders.run[*place as usize] = place_of[run[i]];
    }
    Some(orders)
}

/// At each step, which step's operation the legal run executes there.
fn matched(searched: &Searched<'_>) -> Option<Vec<usize>> {
    let Found::Orders(steps) = &searched.found else { return None };
    let mut run: Vec<usize> = (0..steps.len()).collect();
    let (mut owed, mut promised): (Vec<(_, usize)>, Vec<(_, usize)>) = (Vec::new(), Vec::new());
    for (i, step) in steps.iter().enumerate() {
        let paid = owed.iter().position(|&(label, _)| label == step.x);
        if step.x == step.y && paid.is_none() && step.kept.is_none() {
            continue;
        }
        match paid {
            Some(place) => run[owed.remove(place).1] = i,
            None => promised.push((step.x, i)),
        }
        match step.kept {
            Some(kept) => {
                let place = promised.iter().position(|&(label, _)| label == kept)?;
                run[i] = promised.remove(place).1;
            }
            None => owed.push((step.y, i)),
        }
    }
    Some(run)
}

/// Insertions that were no steps of their own: the order in which their values were taken out is theirs.
struct Insertions<'s, 'a> {
    searched: &'s Searched<'a>,
    order: Vec<u32>,
    rank: Vec<u32>,
    placed: usize,
    /// By return, ascending: those that must stand before what comes later.
    returns: Vec<(u32, u32)>,
    returned: usize,
}

impl<'s, 'a> Insertions<'s, 'a> {
    fn new(searched: &'s Searched<'a>) -> Self {
        let ops = &searched.plan.ops;
        let mut order: Vec<u32> = Vec::new();
        if let Found::Orders(steps) = &searched.found {
            order.extend(steps.iter().filter_map(|step| searched.machine.taken(step.before, step.after)));
        }
        let mut rank = vec![u32::MAX; ops.len()];
        for (i, &op) in order.iter().enumerate() {
            rank[op as usize] = i as u32;
        }
        let silent = (0..ops.len() as u32).filter(|&op| ops[op as usize].is_silent && ops[op as usize].label.is_some());
        let mut returns: Vec<(u32, u32)> = silent.map(|op| (ops[op as usize].ret, op)).collect();
        returns.sort_unstable();
        for &(_, op) in &returns {
            if rank[op as usize] == u32::MAX {
                rank[op as usize] = order.len() as u32;
                order.push(op);
            }
        }
        Insertions { searched, order, rank, placed: 0, returns, returned: 0 }
    }

    /// Places all that must stand before a step at event `at` that takes out what `taken` brought.
    fn place(&mut self, at: u32, taken: Option<u32>, orders: &mut Orders<Input, Output>) {
        let mut until = taken.map_or(0, |op| self.rank[op as usize] as usize + 1);
        while self.returns.get(self.returned).is_some_and(|&(ret, _)| ret < at) {
            until = until.max(self.rank[self.returns[self.returned].1 as usize] as usize + 1);
            self.returned += 1;
        }
        while self.placed < until {
            let op = self.order[self.placed];
            self.placed += 1;
            let planned = &self.searched.plan.ops[op as usize];
            if planned.label.is_none() {
                let input = &self.searched.plan.history.operations()[op as usize].input;
                let mut results = Vec::new();
                self.searched.plan.spec.answers(&self.searched.plan.spec.initial(), input, &mut results);
                orders.results.extend(results.pop().map(|output| (OpId(op), output)));
            }
            orders.classes.push(planned.class);
            orders.run.push(orders.linearization.len() as u32);
            orders.linearization.push(Placed::Operation(OpId(op)));
        }
    }

    fn place_rest(&mut self, orders: &mut Orders<Input, Output>) {
        if let Some(&last) = self.order.last() {
            let last = self.rank[last as usize];
            self.place(0, Some(self.order[last as usize]), orders);
        }
    }
}
