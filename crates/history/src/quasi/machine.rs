//! The legal run's side of the search: states of the specification, numbered, and what leads from one to the next.
//!
//! [`Stepwise`] follows any specification. [`FirstInFirstOut`] follows a queue whose insertions are exact, and leaves the
//! order of insertions that overlap open: its state is the set of values already taken out, and taking one out is legal
//! when no value that certainly came before it is still inside. Invariant of the latter: an order of the insertions
//! that extends their precedence and in which values are taken out exists, and each of them can take effect before the
//! first event that needs it. So sequences that differ only in an order that nobody has seen are one state, which is
//! what keeps long histories small.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::label::{Label, Labels};
use super::numbered::{Element, Input, Object, Output, State, Table};
use crate::History;

type Map<K, V> = HashMap<K, V, RandomState>;

/// A state of the specification, numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StateId(pub u32);

/// What follows a specification from state to state. Events are counted in the history: `at` is the number of those that
/// have passed.
pub(super) trait Machine {
    fn start(&mut self) -> StateId;

    /// Pushes every state after the operation.
    fn apply(&mut self, labels: &Labels, state: StateId, at: u32, label: Label, next: &mut Vec<StateId>);

    /// Pushes every result that the call may have.
    fn results(&self, state: StateId, at: u32, input: &Input, results: &mut Vec<Output>);

    /// How many values must at least be taken out before this one can be. Holds for values put in once.
    fn ahead(&self, state: StateId, value: &Element) -> usize;

    /// The insertion whose value left between the two states, where insertions are not steps of their own.
    fn taken(&self, before: StateId, after: StateId) -> Option<u32>;
}

/// Any specification, one step at a time.
pub(super) struct Stepwise<'a> {
    spec: &'a Object<'a>,
    /// States in the order in which this search met them.
    arena: Table<State>,
    known: Map<(StateId, Label), Box<[StateId]>>,
}

impl<'a> Stepwise<'a> {
    pub fn new(spec: &'a Object<'a>) -> Self {
        Stepwise { spec, arena: Table::new(), known: Map::default() }
    }
}

impl Machine for Stepwise<'_> {
    fn start(&mut self) -> StateId {
        StateId(self.arena.number(self.spec.initial()))
    }

    fn apply(&mut self, labels: &Labels, state: StateId, _: u32, label: Label, next: &mut Vec<StateId>) {
        if let Some(known) = self.known.get(&(state, label)) {
            next.extend_from_slice(known);
            return;
        }
        let meaning = labels.get(label);
        let mut after = Vec::new();
        self.spec.step(self.arena.get(state.0), &meaning.input, meaning.output.as_ref(), &mut after);
        let mut ids: Vec<StateId> = after.into_iter().map(|state| StateId(self.arena.number(state))).collect();
        ids.sort_unstable_by_key(|id| id.0);
        ids.dedup();
        next.extend_from_slice(&ids);
        self.known.insert((state, label), ids.into_boxed_slice());
    }

    fn results(&self, state: StateId, _: u32, input: &Input, results: &mut Vec<Output>) {
        self.spec.answers(self.arena.get(state.0), input, results);
    }

    fn ahead(&self, state: StateId, value: &Element) -> usize {
        self.spec.ahead(self.arena.get(state.0), value)
    }

    fn taken(&self, _: StateId, _: StateId) -> Option<u32> {
        None
    }
}

/// An insertion of a queue.
struct Insertion {
    op: u32,
    call: u32,
    ret: u32,
    value: Element,
}

/// Which insertions the legal run has taken out again: all before `base`, and `more` (ascending).
#[derive(Clone, PartialEq, Eq, Hash)]
struct Gone {
    base: u32,
    more: Box<[u32]>,
}

impl Gone {
    fn has(&self, insertion: u32) -> bool {
        insertion < self.base || self.more.binary_search(&insertion).is_ok()
    }

    fn with(&self, insertion: u32) -> Gone {
        let mut more = self.more.to_vec();
        more.insert(more.partition_point(|&other| other < insertion), insertion);
        let run = more.iter().zip(self.base..).take_while(|(has, next)| **has == *next).count();
        more.drain(..run);
        Gone { base: self.base + run as u32, more: more.into_boxed_slice() }
    }
}

/// A queue whose insertions take effect in any order that their precedence allows.
pub(super) struct FirstInFirstOut<'a> {
    spec: &'a Object<'a>,
    /// In the order of the calls.
    insertions: Vec<Insertion>,
    by_value: Map<Element, Vec<u32>>,
    empty: Output,
    output: Map<Element, Output>,
    arena: Table<Gone>,
}

impl<'a> FirstInFirstOut<'a> {
    /// `None` where the history has operations that do more than put in and take out.
    pub fn new(spec: &'a Object<'a>, history: &History<Input, Output>) -> Option<Self> {
        let mut empty = Vec::new();
        let removal = spec.calls().into_iter().next()?;
        spec.answers(&spec.initial(), &removal, &mut empty);
        let mut output = Map::default();
        let mut insertions = Vec::new();
        for (op, operation) in history.operations().iter().enumerate() {
            if let Some(value) = spec.brings(&operation.input, operation.output()) {
                let (call, ret) = (operation.call, operation.end());
                insertions.push(Insertion { op: op as u32, call, ret, value });
            } else if operation.input != removal {
                return None;
            } else if let Some(result) = operation.output() {
                match spec.takes(&operation.input, result) {
                    Some(value) => drop(output.insert(value, *result)),
                    None if spec.finds_nothing(&operation.input, result) => {}
                    None => return None,
                }
            }
        }
        let mut by_value: Map<Element, Vec<u32>> = Map::default();
        for (i, insertion) in insertions.iter().enumerate() {
            by_value.entry(insertion.value).or_default().push(i as u32);
            if !output.contains_key(&insertion.value) {
                let mut state = Vec::new();
                spec.step(&spec.initial(), &history.operations()[insertion.op as usize].input, None, &mut state);
                let mut results = Vec::new();
                spec.answers(state.first()?, &removal, &mut results);
                output.insert(insertion.value, results.pop()?);
            }
        }
        let empty = empty.pop()?;
        Some(FirstInFirstOut { spec, insertions, by_value, empty, output, arena: Table::new() })
    }

    /// Whether nothing that is still inside certainly came before.
    fn is_first(&self, gone: &Gone, insertion: u32) -> bool {
        let call = self.insertions[insertion as usize].call;
        (gone.base..insertion).all(|other| gone.has(other) || self.insertions[other as usize].ret > call)
    }

    /// Whether everything that was certainly put in has been taken out.
    fn is_empty(&self, gone: &Gone, at: u32) -> bool {
        let inserted = (gone.base..).zip(&self.insertions[gone.base as usize..]);
        let mut called = inserted.take_while(|(_, insertion)| insertion.call < at);
        called.all(|(i, insertion)| insertion.ret >= at || gone.has(i))
    }
}

impl Machine for FirstInFirstOut<'_> {
    fn start(&mut self) -> StateId {
        StateId(self.arena.number(Gone { base: 0, more: Box::default() }))
    }

    fn apply(&mut self, labels: &Labels, state: StateId, at: u32, label: Label, next: &mut Vec<StateId>) {
        let meaning = labels.get(label);
        let gone = self.arena.get(state.0).clone();
        let Some(output) = &meaning.output else { return };
        match self.spec.takes(&meaning.input, output) {
            None if self.is_empty(&gone, at) => next.push(state),
            None => {}
            Some(value) => {
                let Some(same) = self.by_value.get(&value) else { return };
                let from = same.partition_point(|&insertion| insertion < gone.base);
                let mut found = Vec::new();
                for &insertion in &same[from..] {
                    if self.insertions[insertion as usize].call >= at {
                        break;
                    }
                    if !gone.has(insertion) && self.is_first(&gone, insertion) {
                        found.push(insertion);
                    }
                }
                next.extend(found.into_iter().map(|insertion| StateId(self.arena.number(gone.with(insertion)))));
            }
        }
    }

    fn results(&self, state: StateId, at: u32, _: &Input, results: &mut Vec<Output>) {
        let gone = self.arena.get(state.0);
        if self.is_empty(gone, at) {
            results.push(self.empty);
        }
        // Past the first return of something inside, nothing that is called later comes first.
        let mut latest = u32::MAX;
        for (i, insertion) in (gone.base..).zip(&self.insertions[gone.base as usize..]) {
            if insertion.call >= at || insertion.call > latest {
                break;
            }
            if !gone.has(i) {
                latest = latest.min(insertion.ret);
                let output = &self.output[&insertion.value];
                if !results.contains(output) {
                    results.push(*output);
                }
            }
        }
    }

    fn ahead(&self, state: StateId, value: &Element) -> usize {
        let gone = self.arena.get(state.0);
        let Some(&insertion) = self.by_value.get(value).and_then(|same| same.first()) else { return 0 };
        let call = self.insertions[insertion as usize].call;
        (gone.base..insertion).filter(|&other| !gone.has(other) && self.insertions[other as usize].ret < call).count()
    }

    fn taken(&self, before: StateId, after: StateId) -> Option<u32> {
        let (before, after) = (self.arena.get(before.0), self.arena.get(after.0));
        let mut new = (before.base..after.base).chain(after.more.iter().copied());
        new.find(|&insertion| !before.has(insertion)).map(|insertion| self.insertions[insertion as usize].op)
    }
}
