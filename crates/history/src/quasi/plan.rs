//! A history prepared for the search: labels, classes, and bounds on where each operation can stand in its class.
//!
//! Invariant: [`Plan::earliest`] of an operation is the number of operations of its class that certainly come before it in
//! every linearization. Linear in the number of events times the number of classes.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::label::{Label, Labels};
use super::numbered::{Element, Input, Object, Output};
use super::{Causality, Classing, Rules, pick};
use crate::{History, Mark};

type Map<K, V> = HashMap<K, V, RandomState>;

/// An operation as the search sees it.
pub(super) struct Planned {
    pub call: u32,
    /// `u32::MAX` while pending.
    pub ret: u32,
    /// `None` while pending.
    pub label: Option<Label>,
    /// The class; of a pending operation, the one unless it finds nothing.
    pub class: u16,
    /// Not a step of its own: see [`FirstInFirstOut`](super::machine::FirstInFirstOut).
    pub is_silent: bool,
    /// How many operations of its class certainly come before it.
    pub earliest: u32,
}

/// Calls and removals of one value, for the rule that a value does not leave before it came.
#[derive(Default)]
pub(super) struct Traffic {
    /// Positions of the calls that may put it in, ascending.
    pub called: Vec<u32>,
    /// Positions of the returns of operations that took it out, ascending.
    pub removed: Vec<u32>,
}

/// A history to find orders of.
pub(super) struct Subject<'a> {
    pub history: &'a History<Input, Output>,
    /// What it is the beginning of: without the causal guard, what follows puts in no more than this does, and values that this
    /// never puts in. `None` where anything may follow.
    pub whole: Option<&'a History<Input, Output>>,
}

/// A history with everything that the search looks up.
pub(super) struct Plan<'a> {
    pub spec: &'a Object<'a>,
    pub history: &'a History<Input, Output>,
    pub classing: &'a Classing<Input>,
    pub rules: &'a Rules,
    pub ops: Vec<Planned>,
    /// The operations that are open at each return, that of the return itself included; those that return only.
    open: Vec<Box<[u32]>>,
    /// Operations that never return, in the order of their calls.
    pub pending: Vec<u32>,
    /// By class: operations that return, in the order of their calls.
    members: Vec<Vec<u32>>,
    /// By class and position: the first member that has not returned.
    unreturned: Vec<Vec<u32>>,
    /// By class and position: how many members have returned.
    returned: Vec<Vec<u32>>,
    traffic: Map<Element, Traffic>,
    /// The values that operations of the history take out or show and that may be put in after its end, each with how often.
    pub needed: Vec<(Element, u32)>,
    /// By position, where insertions are no steps of their own: whether somebody might find nothing there.
    nothing: Vec<bool>,
    /// No value is put in twice.
    pub is_distinct: bool,
    /// Where values are put in twice: everything that a pending operation may turn out to have done.
    pub guesses: Map<u32, Vec<Label>>,
    /// Calls that may come after the end, with their class if they find something and if they find nothing.
    pub afterwards: Vec<(Input, (u16, u16))>,
}

impl<'a> Plan<'a> {
    pub fn new(
        spec: &'a Object<'a>,
        Subject { history, whole }: Subject<'a>,
        classing: &'a Classing<Input>,
        rules: &'a Rules,
        silent: bool,
        labels: &mut Labels,
    ) -> Self {
        let mut ops = Vec::with_capacity(history.len());
        let mut traffic: Map<Element, Traffic> = Map::default();
        for (i, operation) in history.operations().iter().enumerate() {
            let classes = classing.of[i];
            let class = pick(spec, operation.input, operation.output().copied(), classes);
            let label = operation.output().map(|output| labels.closed(spec, &operation.input, output, class));
            let brings = spec.brings(&operation.input, operation.output());
            let is_silent = silent && brings.is_some();
            if let Some(value) = brings {
                traffic.entry(value).or_default().called.push(operation.call);
            }
            if let Some((value, true)) = label.and_then(|label| labels.get(label).needs) {
                traffic.entry(value).or_default().removed.push(operation.end());
            }
            let (call, ret) = (operation.call, operation.end());
            ops.push(Planned { call, ret, label, class, is_silent, earliest: 0 });
        }
        for one in traffic.values_mut() {
            one.removed.sort_unstable();
        }
        let is_distinct = traffic.values().all(|one| one.called.len() <= 1);
        let pending =
            (0..ops.len() as u32).filter(|&op| ops[op as usize].label.is_none() && !ops[op as usize].is_silent);
        let pending = pending.collect();
        let mut plan = Plan {
            spec,
            history,
            classing,
            rules,
            ops,
            open: Vec::new(),
            pending,
            members: vec![Vec::new(); rules.factors.len()],
            unreturned: vec![Vec::new(); rules.factors.len()],
            returned: vec![Vec::new(); rules.factors.len()],
            traffic,
            needed: Vec::new(),
            nothing: Vec::new(),
            is_distinct,
            guesses: Map::default(),
            afterwards: Vec::new(),
        };
        if !is_distinct {
            plan.guess(labels);
        }
        plan.walk();
        plan.look_ahead();
        if rules.causality == Causality::Free {
            plan.note_needed(whole, labels);
        }
        if silent {
            plan.note_nothing();
        }
        plan
    }

    /// Notes what may be put in after the end where nothing ties a value to its insertion: what `whole`, of which the history is
    /// the beginning, still puts in, and what it never puts in once; without `whole` anything. So a value that came out more often than it was put in is
    /// not explained by somebody who might put it in again, and every prefix of a history that has orders has them too.
    fn note_needed(&mut self, whole: Option<&History<Input, Output>>, labels: &Labels) {
        // By value: in all, and after the end of this history.
        let mut put_in: Map<Element, (u32, u32)> = Map::default();
        for (i, operation) in whole.map_or(&[][..], History::operations).iter().enumerate() {
            if let Some(value) = self.spec.brings(&operation.input, operation.output()) {
                let (all, later) = put_in.entry(value).or_default();
                *all += 1;
                *later += u32::from(i >= self.history.len());
            }
        }
        let shown = self.ops.iter().filter_map(|op| labels.get(op.label?).needs);
        let mut values: Vec<Element> = shown.map(|(value, _)| value).collect();
        values.sort_unstable();
        values.dedup();
        let once = if whole.is_some() { 1 } else { u32::MAX };
        let times = |value: &Element| put_in.get(value).map_or(once, |&(_, later)| later);
        self.needed = values.into_iter().map(|value| (value, times(&value))).collect();
        self.needed.retain(|&(_, times)| times > 0);
    }

    /// Fills in what pending operations may have done: what they answer when there is nothing, or one of the values alone.
    fn guess(&mut self, labels: &mut Labels) {
        let mut states = vec![self.spec.initial()];
        for operation in self.history.operations() {
            if self.spec.brings(&operation.input, None).is_some() {
                self.spec.step(&self.spec.initial(), &operation.input, None, &mut states);
            }
        }
        for &op in &self.pending {
            let input = &self.history.operations()[op as usize].input;
            let mut results = Vec::new();
            for state in &states {
                self.spec.answers(state, input, &mut results);
            }
            let label = |output: &Output| {
                let class = pick(self.spec, *input, Some(*output), self.classing.of[op as usize]);
                labels.closed(self.spec, input, output, class)
            };
            let mut guesses: Vec<Label> = results.iter().map(label).collect();
            guesses.sort_unstable();
            guesses.dedup();
            self.guesses.insert(op, guesses);
        }
    }

    /// Notes, for each return, whether an operation that finds nothing could take effect there or be executed there by the
    /// legal run. Saying so too often costs time only.
    fn note_nothing(&mut self) {
        let finds_nothing = |op: &usize| {
            let operation = &self.history.operations()[*op];
            operation.output().is_some_and(|output| self.spec.finds_nothing(&operation.input, output))
        };
        let mut nothing: Vec<(u32, u32, u16)> = (0..self.ops.len())
            .filter(finds_nothing)
            .map(|op| (self.ops[op].ret, self.ops[op].earliest, self.ops[op].class))
            .collect();
        nothing.sort_unstable();
        // From each on, the least place in its class.
        for i in (0..nothing.len().saturating_sub(1)).rev() {
            nothing[i].1 = nothing[i].1.min(nothing[i + 1].1);
        }
        let first_pending = self.pending.first().map_or(u32::MAX, |&op| self.ops[op as usize].call);
        for at in 0..self.events() {
            let to_come = &nothing[nothing.partition_point(|&(ret, ..)| ret < at)..];
            let near = |&(_, earliest, class): &(u32, u32, u16)| {
                let reach = self.rules.reach(class);
                let emitted = self.returned(class, at) + self.open(at).len() as u32;
                earliest <= emitted.saturating_add(reach)
            };
            let ends = (0..self.members.len() as u16).any(|class| {
                let left = self.total(class) - self.returned(class, at);
                let reach = self.rules.reach(class);
                self.rules.factors[class as usize] > 0 && left <= reach.saturating_add(self.open(at).len() as u32)
            });
            self.nothing.push(to_come.first().is_some_and(near) || first_pending < at || ends);
        }
    }

    /// Whether somebody might find nothing just before event `at`.
    pub fn may_find_nothing(&self, at: u32) -> bool {
        self.nothing.get(at as usize).copied().unwrap_or(false)
    }

    /// Fills in what depends on the position.
    fn walk(&mut self) {
        let marks = self.history.marks();
        let mut open: Vec<u32> = Vec::new();
        for (i, op) in self.ops.iter().enumerate().filter(|(_, op)| op.label.is_some() && !op.is_silent) {
            self.members[op.class as usize].push(i as u32);
        }
        let classes = self.members.len();
        let mut first = vec![0usize; classes];
        let mut done = vec![0u32; classes];
        let mut has_returned = vec![false; self.ops.len()];
        for mark in marks.iter().map(Some).chain([None]) {
            for class in 0..classes {
                let members = &self.members[class];
                while members.get(first[class]).is_some_and(|&op| has_returned[op as usize]) {
                    first[class] += 1;
                }
                self.unreturned[class].push(first[class] as u32);
                self.returned[class].push(done[class]);
            }
            let Some(mark) = mark else { break };
            let op = mark.op().0;
            let planned = &mut self.ops[op as usize];
            if planned.is_silent {
                let open = if mark.is_return() { &open[..] } else { &[] };
                self.open.push(open.into());
            } else if mark.is_return() {
                self.open.push(open.clone().into_boxed_slice());
                open.retain(|&other| other != op);
                done[planned.class as usize] += 1;
                has_returned[op as usize] = true;
            } else {
                self.open.push(Box::default());
                planned.earliest = done[planned.class as usize];
                if planned.label.is_some() {
                    open.push(op);
                }
            }
        }
    }

    /// The calls that may come after the end: those without arguments, and those made before that may bring nothing.
    fn look_ahead(&mut self) {
        let mut known: Map<(Input, (u16, u16)), ()> = Map::default();
        let spec = self.spec;
        let probes = self.classing.probes.iter().cloned();
        let made = self.history.operations().iter().zip(&self.classing.of);
        let made = made.filter(|(operation, _)| may_bring_nothing(spec, &operation.input));
        let made = made.map(|(operation, &classes)| (operation.input, classes));
        for call in probes.chain(made) {
            if known.insert(call, ()).is_none() {
                self.afterwards.push(call);
            }
        }
    }

    pub fn events(&self) -> u32 {
        self.history.marks().len() as u32
    }

    pub fn mark(&self, at: u32) -> Mark {
        self.history.marks()[at as usize]
    }

    /// The operations open at the return that is event `at`.
    pub fn open(&self, at: u32) -> &[u32] {
        self.open.get(at as usize).map_or(&[], |open| open)
    }

    /// How many operations of the class have returned before event `at`.
    pub fn returned(&self, class: u16, at: u32) -> u32 {
        self.returned[class as usize][at as usize]
    }

    /// How many operations of the class return at all.
    pub fn total(&self, class: u16) -> u32 {
        self.members[class as usize].len() as u32
    }

    /// Operations of the class that return at event `at` or later, in the order of their calls, as long as no more than
    /// `place` of their class certainly come before.
    pub fn ahead(&self, class: u16, at: u32, place: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.unreturned[class as usize][at as usize] as usize;
        let members = self.members[class as usize][from..].iter().copied();
        members
            .take_while(move |&op| self.ops[op as usize].earliest <= place)
            .filter(move |&op| self.ops[op as usize].ret >= at)
    }

    /// Whether the rule that values do not leave before they came lets this operation take effect before event `at`.
    /// `lin` are operations that have taken effect and not returned.
    pub fn is_caused(&self, labels: &Labels, label: Label, at: u32, lin: &[(u32, Label)]) -> bool {
        if self.rules.causality == Causality::Free {
            return true;
        }
        let Some((value, taken)) = &labels.get(label).needs else { return true };
        let Some(traffic) = self.traffic.get(value) else { return false };
        let called = traffic.called.partition_point(|&call| call < at);
        if !taken {
            return called > 0;
        }
        let removed = traffic.removed.partition_point(|&ret| ret < at);
        let open = lin.iter().map(|&(_, label)| label);
        let open = open.filter(|&other| labels.get(other).needs.as_ref() == Some(&(*value, true))).count();
        called > removed + open
    }
}

/// Whether the call may put in nothing; asked where its value is inside already.
fn may_bring_nothing(spec: &Object<'_>, input: &Input) -> bool {
    if spec.brings(input, None).is_none() {
        return true;
    }
    let (mut after, mut results) = (Vec::new(), Vec::new());
    spec.step(&spec.initial(), input, None, &mut after);
    for state in &after {
        spec.answers(state, input, &mut results);
    }
    results.iter().any(|output| spec.brings(input, Some(output)).is_none())
}
