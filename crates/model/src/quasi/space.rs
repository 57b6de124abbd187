//! Pairs of an implementation state and a set of specification states, as the search sees them.
//!
//! Invariant: with renaming on, the data values of a pair are 1, 2, 3, ... in the order in which the implementation state shows them,
//! then those that only the set has; with thread symmetry on, threads stand in an order of what they are doing. Both are
//! applied to the two halves alike, so a pair stands for all its renamings.
//!
//! Operations are made as short as they can be (`Reductions::intervals`). A run in which a call comes later, just before its operation's
//! first step, or a return earlier, just after the last, is a run too when nobody else looks at calls and returns; its history orders more
//! operations and has no other results. An order that explains it explains the first one, so only such runs are followed.
//! A call without a first step can be left out, a missing return can be added. The state then notes who has just called: this actor goes next.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::sets::{EMPTY, Sets};
use crate::limits::Reductions;
use crate::object::{Call, Implementation, ModelObject, ObjectEvent, Value};
use crate::search::{Space, Steps};
use crate::store::Map;
use crate::system::{Action, Fault, Label};

/// Exchanges of threads are tried only up to so many.
const EXCHANGES_MAX: usize = 24;

pub(crate) struct Pairs<'a, I: Implementation, T: ModelObject> {
    pub(crate) implementation: &'a I,
    pub(crate) sets: Sets<'a, T>,
    pub(crate) reductions: Reductions,
    renames: bool,
    exchanges: bool,
    /// Bytes in what workers keep for themselves.
    noted: AtomicU64,
    /// Whether somebody ever went alone, and whether an operation was ever made shorter.
    went_alone: AtomicBool,
    shortened: AtomicBool,
}

/// The last step is one that the specification does not allow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong;

pub(crate) struct Scratch<S> {
    initial: Vec<S>,
    pub(crate) next: Vec<(Action, S)>,
    alone: Vec<u32>,
    /// By set and label.
    moves: Map<(u32, Label), u32>,
    renamed: HashTable<Renamed>,
    /// By set and number of values, when everything keeps its name.
    kept: Map<(u32, u32), u32>,
    values: Vec<Value>,
    pub(crate) canonical: Canonical,
}

/// A pair that is left, in its own names.
pub(crate) struct Here<'b, S> {
    bytes: &'b [u8],
    /// Nothing before the first step.
    state: Option<&'b S>,
    /// Who has just called.
    called: Option<u32>,
    set: u32,
}

/// A set in other names, as it was computed once.
struct Renamed {
    from: u32,
    order: Box<[Value]>,
    threads: Box<[u32]>,
    set: u32,
}

/// A pair in the names of its representative, and how those came about.
#[derive(Default)]
pub(crate) struct Canonical {
    pub(crate) bytes: Vec<u8>,
    /// Value `order[i]` is now i + 1.
    pub(crate) order: Vec<Value>,
    /// Thread `threads[i]` is now i.
    pub(crate) threads: Vec<u32>,
}

impl<'a, I: Implementation, T: ModelObject> Pairs<'a, I, T> {
    pub(crate) fn new(implementation: &'a I, sets: Sets<'a, T>, reductions: Reductions) -> Self {
        let renames = reductions.renaming && implementation.renames();
        let exchanges = reductions.threads && implementation.threads_alike();
        let (went_alone, shortened) = (AtomicBool::new(false), AtomicBool::new(false));
        let noted = AtomicU64::new(0);
        Pairs { implementation, sets, reductions, renames, exchanges, noted, went_alone, shortened }
    }

    /// The reductions in effect.
    pub(crate) fn reduced(&self) -> Reductions {
        Reductions {
            antichain: self.reductions.antichain,
            patience: self.sets.compares_patience(),
            renaming: self.renames,
            threads: self.exchanges,
            partial_order: self.went_alone.load(Ordering::Relaxed),
            intervals: self.shortened.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn renames(&self) -> bool {
        self.renames
    }

    pub(crate) fn exchanges(&self) -> bool {
        self.exchanges
    }

    /// The packed state of a node, and who has just called.
    pub(crate) fn split<'b>(&self, bytes: &'b [u8]) -> (&'b [u8], Option<u32>) {
        match bytes.split_last() {
            Some((called, state)) if self.reductions.intervals => (state, called.checked_sub(1).map(u32::from)),
            _ => (bytes, None),
        }
    }

    /// Who has just called after a step: the caller, and it stays that while its steps are nobody else's business.
    pub(crate) fn called_after(&self, state: &I::State, called: Option<u32>, action: Action) -> Option<u32> {
        let actor = action.actor;
        if !self.reductions.intervals || actor >= u32::from(u8::MAX) {
            return None;
        }
        let stays = match self.implementation.event(action.label).filter(|_| action.label != Label::TAU) {
            Some(ObjectEvent::Call { .. }) => self.implementation.apart(state, actor),
            Some(ObjectEvent::Return { .. }) => false,
            None => {
                let mut alone = Vec::new();
                if called == Some(actor) {
                    self.implementation.alone(state, &mut alone);
                }
                alone.contains(&actor)
            }
        };
        stays.then_some(actor)
    }

    /// The actor that must go next for operations to be short: who has just called, else one that can return.
    fn next_actor(&self, here: &Here<'_, I::State>, next: &[(Action, I::State)]) -> Option<u32> {
        let state = here.state.filter(|_| self.reductions.intervals)?;
        let returns = |&&(action, _): &&(Action, I::State)| {
            action.label != Label::TAU
                && matches!(self.implementation.event(action.label), Some(ObjectEvent::Return { .. }))
                && self.implementation.apart(state, action.actor)
        };
        here.called.or_else(|| next.iter().find(returns).map(|step| step.0.actor))
    }

    /// The steps out of a pair in its own names. What is offered to calls is a value that neither half holds.
    pub(crate) fn raw_steps(&self, scratch: &mut Scratch<I::State>, state: &[u8], set: u32) -> Result<I::State, Fault> {
        let mut unpacked = self.implementation.unpack(state);
        if self.implementation.takes_offers() {
            let fresh = self.fresh(&unpacked, set, &mut scratch.values);
            self.implementation.offer(&mut unpacked, fresh);
        }
        scratch.next.clear();
        self.implementation.successors(&unpacked, &mut scratch.next)?;
        Ok(unpacked)
    }

    pub(crate) fn fresh(&self, state: &I::State, set: u32, values: &mut Vec<Value>) -> Value {
        values.clear();
        self.implementation.values(state, &mut |value| values.push(value));
        self.sets
            .with_values(set, |more| (1..).find(|value| !values.contains(value) && !more.contains(value)))
            .unwrap_or(Value::MAX)
    }

    /// The set after a step, in the names of the node it leaves.
    pub(crate) fn set_after(&self, moves: &mut Map<(u32, Label), u32>, set: u32, label: Label) -> Result<u32, Fault> {
        if label == Label::TAU {
            return Ok(set);
        }
        if let Some(&known) = moves.get(&(set, label)) {
            return Ok(known);
        }
        let Some(event) = self.implementation.event(label) else { return Ok(set) };
        if let ObjectEvent::Call { thread, .. } = event
            && !self.sets.is_idle(set, thread)
        {
            let message = format!("thread {thread} calls before its last call has returned");
            return Err(Fault { message, place: None });
        }
        if let (ObjectEvent::Return { thread, .. }, Some(method)) = (event, self.implementation.returns_from(label))
            && let Some(called) = self.sets.method_at(set, thread).filter(|&called| called != method)
        {
            let name = |method| self.sets.object().method_name(&Call { method, argument: 0 });
            let message = format!("thread {thread} returns from {} but has called {}", name(method), name(called));
            return Err(Fault { message, place: None });
        }
        let after = self.sets.after(set, event);
        moves.insert((set, label), after);
        Ok(after)
    }

    /// Finds the representative of a state and of who has just called; the set follows by `set_renamed`.
    pub(crate) fn canonical(&self, state: &I::State, called: Option<u32>, out: &mut Canonical) {
        let threads = self.implementation.threads();
        out.threads.clear();
        out.threads.extend(0..threads);
        if !self.exchanges {
            self.name(state, called, out);
            return;
        }
        let mut keyed: Vec<(u64, u32)> =
            (0..threads).map(|thread| (self.implementation.thread_key(state, thread), thread)).collect();
        keyed.sort_unstable();
        out.threads.clear();
        out.threads.extend(keyed.iter().map(|&(_, thread)| thread));
        self.name(state, called, out);
        if keyed.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            return;
        }
        let mut other = Canonical::default();
        for order in exchanges(&keyed).into_iter().skip(1) {
            other.threads = order;
            self.name(state, called, &mut other);
            if other.bytes < out.bytes {
                std::mem::swap(&mut other, out);
            }
        }
    }

    /// Renames values for the order of threads given, and packs.
    fn name(&self, state: &I::State, called: Option<u32>, out: &mut Canonical) {
        let system = self.implementation;
        let mut next = state.clone();
        if self.exchanges {
            system.permute(&mut next, &out.threads);
        }
        out.order.clear();
        if self.renames {
            let order = &mut out.order;
            system.values(&next, &mut |value| {
                if !order.contains(&value) {
                    order.push(value);
                }
            });
            let order = &out.order;
            if order.iter().enumerate().any(|(place, &value)| value != place as Value + 1) {
                let name = |value: Value| {
                    order.iter().position(|&known| known == value).map_or(value, |place| place as Value + 1)
                };
                system.rename(&mut next, &name);
            }
        }
        out.bytes.clear();
        system.pack(&next, &mut out.bytes);
        if self.reductions.intervals {
            out.bytes.push(called.map_or(0, |actor| 1 + self.actor_after(actor, &out.threads) as u8));
        }
    }

    /// The set in the names of a representative.
    pub(crate) fn set_renamed(&self, scratch: &mut Scratch<I::State>, set: u32) -> u32 {
        if set == EMPTY || !(self.renames || self.exchanges) {
            return set;
        }
        let Canonical { order, threads, .. } = &scratch.canonical;
        // Most steps change no names, and orders are long.
        let keeps = order.iter().zip(1..).all(|(&value, name)| value == name)
            && threads.iter().zip(0..).all(|(&thread, place)| thread == place);
        let key = (set, order.len() as u32);
        if keeps && let Some(&known) = scratch.kept.get(&key) {
            return known;
        }
        let hasher = FixedState::with_seed(3);
        let hash = hasher.hash_one((set, order.as_slice(), threads.as_slice()));
        let same = |known: &Renamed| known.from == set && *known.order == **order && *known.threads == **threads;
        if let Some(found) = scratch.renamed.find(hash, same).filter(|_| !keeps) {
            return found.set;
        }
        let order: Box<[Value]> = order.as_slice().into();
        let threads: Box<[u32]> = threads.as_slice().into();
        let renamed =
            if self.renames { self.sets.renamed(set, &order, &threads) } else { self.sets.exchanged(set, &threads) };
        if keeps {
            self.noted.fetch_add(24, Ordering::Relaxed);
            scratch.kept.insert(key, renamed);
            return renamed;
        }
        let rehash = |known: &Renamed| hasher.hash_one((known.from, &*known.order, &*known.threads));
        self.noted.fetch_add(48 + 4 * (order.len() + threads.len()) as u64, Ordering::Relaxed);
        scratch.renamed.insert_unique(hash, Renamed { from: set, order, threads, set: renamed }, rehash);
        renamed
    }

    /// Where an actor stands after threads were exchanged.
    pub(crate) fn actor_after(&self, actor: u32, threads: &[u32]) -> u32 {
        if !self.exchanges {
            return actor;
        }
        threads.iter().position(|&thread| thread == actor).map_or(actor, |place| place as u32)
    }

    /// Adds step number `at`; tells whether its target is larger than where it leaves.
    fn push(
        &self,
        scratch: &mut Scratch<I::State>,
        at: usize,
        here: &Here<'_, I::State>,
        out: &mut Steps<Wrong>,
    ) -> Result<bool, Fault> {
        let (action, next) = &scratch.next[at];
        let action = *action;
        let after = self.set_after(&mut scratch.moves, here.set, action.label)?;
        let called = here.state.and_then(|state| self.called_after(state, here.called, action));
        let mut canonical = std::mem::take(&mut scratch.canonical);
        self.canonical(next, called, &mut canonical);
        scratch.canonical = canonical;
        let after = self.set_renamed(scratch, after);
        let canonical = &scratch.canonical;
        let actor = self.actor_after(action.actor, &canonical.threads);
        let step = out.push(action, actor, after, |bytes| bytes.extend_from_slice(&canonical.bytes));
        if after == EMPTY {
            out.wrong_step(step, Wrong);
        }
        Ok(canonical.bytes.as_slice() > here.bytes)
    }

    /// Adds the steps of one actor that is alone, if that suffices: it must get anywhere, see `reduce`.
    fn pushed_alone(
        &self,
        scratch: &mut Scratch<I::State>,
        here: &Here<'_, I::State>,
        out: &mut Steps<Wrong>,
    ) -> Result<bool, Fault> {
        let mut alone = std::mem::take(&mut scratch.alone);
        alone.clear();
        if let Some(state) = here.state {
            self.implementation.alone(state, &mut alone);
        }
        let mut found = false;
        for &actor in &alone {
            out.clear();
            let (mut forward, mut internal) = (false, true);
            for at in 0..scratch.next.len() {
                let action = scratch.next[at].0;
                if action.actor == actor {
                    internal &= self.is_internal(action.label);
                    forward |= self.push(scratch, at, here, out)?;
                }
            }
            found = forward && internal;
            if found {
                break;
            }
        }
        scratch.alone = alone;
        Ok(found)
    }

    fn is_internal(&self, label: Label) -> bool {
        label == Label::TAU || self.implementation.event(label).is_none()
    }
}

/// Every order of threads in which equal keys are exchanged; only the first when they are too many.
fn exchanges(keyed: &[(u64, u32)]) -> Vec<Vec<u32>> {
    let mut orders: Vec<Vec<u32>> = vec![Vec::new()];
    for group in keyed.chunk_by(|a, b| a.0 == b.0) {
        let mut longer = Vec::new();
        for arrangement in arrangements(group) {
            longer.extend(orders.iter().map(|order| [order.as_slice(), &arrangement].concat()));
        }
        orders = longer;
        if orders.len() > EXCHANGES_MAX {
            return vec![keyed.iter().map(|&(_, thread)| thread).collect()];
        }
    }
    orders
}

fn arrangements(group: &[(u64, u32)]) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for &(_, thread) in group {
        if all.len() > EXCHANGES_MAX {
            break;
        }
        let insert = |order: &Vec<u32>| {
            let order = order.clone();
            (0..=order.len()).rev().map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, thread);
                longer
            })
        };
        all = all.iter().flat_map(insert).collect();
    }
    all
}

impl<I: Implementation, T: ModelObject> Space for Pairs<'_, I, T> {
    type Scratch = Scratch<I::State>;
    type Reason = Wrong;
    const TAGGED: bool = true;

    fn scratch(&self) -> Self::Scratch {
        Scratch {
            initial: Vec::new(),
            next: Vec::new(),
            alone: Vec::new(),
            moves: Map::default(),
            renamed: HashTable::new(),
            kept: Map::default(),
            values: Vec::new(),
            canonical: Canonical::default(),
        }
    }

    fn roots(&self, scratch: &mut Self::Scratch, out: &mut Steps<Wrong>) -> Result<(), Fault> {
        scratch.initial.clear();
        self.implementation.initial(&mut scratch.initial)?;
        let begin = Action { label: Label::TAU, actor: 0 };
        scratch.next.clear();
        scratch.next.extend(scratch.initial.drain(..).map(|state| (begin, state)));
        let set = self.sets.initial(self.implementation.threads());
        let here = Here { bytes: &[], state: None, called: None, set };
        for at in 0..scratch.next.len() {
            self.push(scratch, at, &here, out)?;
        }
        Ok(())
    }

    fn expand(&self, scratch: &mut Self::Scratch, bytes: &[u8], set: u32, out: &mut Steps<Wrong>) -> Result<(), Fault> {
        let (packed, called) = self.split(bytes);
        let unpacked = self.raw_steps(scratch, packed, set)?;
        let here = Here { bytes, state: Some(&unpacked), called, set };
        let only = match self.next_actor(&here, &scratch.next) {
            Some(actor) => {
                self.shortened.store(true, Ordering::Relaxed);
                Some(actor)
            }
            None if self.reductions.partial_order => {
                if self.pushed_alone(scratch, &here, out)? {
                    self.went_alone.store(true, Ordering::Relaxed);
                    return Ok(());
                }
                None
            }
            None => None,
        };
        out.clear();
        for at in 0..scratch.next.len() {
            if only.is_none_or(|actor| actor == scratch.next[at].0.actor) {
                self.push(scratch, at, &here, out)?;
            }
        }
        Ok(())
    }

    fn covers(&self, small: u32, large: u32) -> bool {
        if self.reductions.antichain { self.sets.covers(small, large) } else { small == large }
    }

    fn bytes(&self) -> u64 {
        self.sets.bytes() + self.noted.load(Ordering::Relaxed)
    }

    fn limit(&self) -> Option<crate::Limit> {
        self.sets.trouble().is_err().then_some(crate::Limit::States)
    }
}
