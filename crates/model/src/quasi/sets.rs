//! Sets of states of the relaxed specification, numbered; what happens to them at calls and returns; renaming.
//!
//! Operations take effect only just before a return needs it: a call merely waits, and at the return of thread t others may take effect
//! first, t last. Any other run can be put into this shape, because taking effect commutes with calls and returns of
//! other threads. So sets stay small: nothing is closed in advance.

use std::hash::BuildHasher;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use foldhash::fast::FixedState;

use super::state::{Entry, Phase, Rules, Spec, more_patient};
use crate::answer::Trouble;
use crate::object::{ObjectEvent, SequentialObject, Value};
use crate::store::{Map, Set};

/// The number of the set without states.
pub(crate) const EMPTY: u32 = u32::MAX;

/// Sets of specification states.
pub(crate) struct Sets<'a, T: SequentialObject> {
    rules: Rules<'a, T>,
    patience: bool,
    sets: RwLock<Vec<Members<T::State>>>,
    known: Mutex<Known<T::State>>,
}

struct Members<S> {
    /// In ascending order.
    specs: Arc<[Spec<S>]>,
    /// A bit for each, that does not depend on patience.
    sign: u64,
    /// The data values in use, in ascending order.
    values: Box<[Value]>,
}

/// A renaming of a set: the order of values in the implementation, and of threads.
type Renaming = (u32, Box<[Value]>, Box<[u32]>);

struct Known<S> {
    numbers: Map<Arc<[Spec<S>]>, u32>,
    moves: Map<(u32, ObjectEvent), u32>,
    renamed: Map<Renaming, u32>,
    bytes: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, T: SequentialObject> Sets<'a, T> {
    pub(crate) fn new(rules: Rules<'a, T>, patience: bool) -> Self {
        let known =
            Known { numbers: Map::default(), moves: Map::default(), renamed: Map::default(), bytes: 0 };
        Sets { rules, patience, sets: RwLock::new(Vec::new()), known: Mutex::new(known) }
    }

    pub(crate) fn initial(&self, threads: u32) -> u32 {
        self.number(vec![self.rules.initial(threads)])
    }

    pub(crate) fn count(&self) -> u64 {
        self.sets.read().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        lock(&self.known).bytes
    }

    /// Why nothing can be said, if that is so.
    pub(crate) fn trouble(&self) -> Result<(), Trouble> {
        if self.rules.gave_up.load(Ordering::Relaxed) {
            return Err(Trouble::Unsupported { why: "the object has too many states to look ahead without guard" });
        }
        if self.rules.moved_unknown.load(Ordering::Relaxed) {
            return Err(Trouble::Unsupported {
                why: "operations that bring data can only be relaxed when the object lists their calls",
            });
        }
        Ok(())
    }

    fn members(&self, set: u32) -> Arc<[Spec<T::State>]> {
        self.sets.read().unwrap_or_else(PoisonError::into_inner)[set as usize].specs.clone()
    }

    /// The data values in use in a set.
    pub(crate) fn with_values<R>(&self, set: u32, look: impl FnOnce(&[Value]) -> R) -> R {
        look(&self.sets.read().unwrap_or_else(PoisonError::into_inner)[set as usize].values)
    }

    /// The set after an event, or `EMPTY`.
    pub(crate) fn after(&self, set: u32, event: ObjectEvent) -> u32 {
        if let Some(&known) = lock(&self.known).moves.get(&(set, event)) {
            return known;
        }
        let members = self.members(set);
        let next = match event {
            ObjectEvent::Call { thread, method, argument } => call(&members, thread as usize, method, argument),
            ObjectEvent::Return { thread, result } => self.returns(&members, thread as usize, Some(result)),
        };
        let after = if next.is_empty() { EMPTY } else { self.number(next) };
        let mut known = lock(&self.known);
        known.bytes += 40;
        known.moves.insert((set, event), after);
        after
    }

    /// The object that is specified.
    pub(crate) fn object(&self) -> &T {
        self.rules.object
    }

    /// The method that a thread is at. All states of a set agree on it.
    pub(crate) fn method_at(&self, set: u32, thread: u32) -> Option<u32> {
        let members = self.members(set);
        match members.first()?.threads.get(thread as usize)? {
            Phase::Idle => None,
            Phase::Pending(method, _) | Phase::Done(method, _) => Some(*method),
        }
    }

    /// The set with thread `threads[i]` in place i.
    pub(crate) fn exchanged(&self, set: u32, threads: &[u32]) -> u32 {
        let members = self.members(set);
        self.number(members.iter().map(|spec| self.rename(spec, &|value| value, threads)).collect())
    }

    /// Whether a thread may call now: in no state it is still at its last call.
    pub(crate) fn is_idle(&self, set: u32, thread: u32) -> bool {
        self.members(set).iter().all(|spec| spec.threads.get(thread as usize) == Some(&Phase::Idle))
    }

    /// The results that a thread's call could return now.
    pub(crate) fn results(&self, set: u32, thread: u32) -> Vec<Value> {
        let mut results = Vec::new();
        let members = self.members(set);
        for spec in self.before_return(&members, thread as usize) {
            let mut out = Vec::new();
            self.rules.effects(&spec, thread as usize, None, &mut out);
            results.extend(out.iter().filter_map(|spec| done(spec, thread as usize)));
        }
        results.extend(members.iter().filter_map(|spec| done(spec, thread as usize)));
        results.sort_unstable();
        results.dedup();
        results
    }

    /// The states in which the thread's operation is pending, and those after others took effect.
    fn before_return(&self, members: &[Spec<T::State>], thread: usize) -> Vec<Spec<T::State>> {
        let pending = |spec: &&Spec<T::State>| matches!(spec.threads[thread], Phase::Pending(..));
        let mut all: Vec<Spec<T::State>> = members.iter().filter(pending).cloned().collect();
        let mut seen: Set<Spec<T::State>> = all.iter().cloned().collect();
        let mut at = 0;
        let mut out = Vec::new();
        while at < all.len() {
            let spec = all[at].clone();
            at += 1;
            for other in (0..spec.threads.len()).filter(|&other| other != thread) {
                self.rules.effects(&spec, other, None, &mut out);
            }
            for next in out.drain(..) {
                if seen.insert(next.clone()) {
                    all.push(next);
                }
            }
        }
        all
    }

    fn returns(&self, members: &[Spec<T::State>], thread: usize, result: Option<Value>) -> Vec<Spec<T::State>> {
        let mut next: Vec<Spec<T::State>> = Vec::new();
        for spec in self.before_return(members, thread) {
            self.rules.effects(&spec, thread, result, &mut next);
        }
        let fits = |spec: &&Spec<T::State>| done(spec, thread).is_some_and(|done| result.is_none_or(|r| r == done));
        next.extend(members.iter().filter(fits).cloned());
        for spec in &mut next {
            spec.threads[thread] = Phase::Idle;
        }
        next
    }

    /// Whether whatever the states of `small` allow, those of `large` allow.
    pub(crate) fn covers(&self, small: u32, large: u32) -> bool {
        if small == large {
            return true;
        }
        let sets = self.sets.read().unwrap_or_else(PoisonError::into_inner);
        let (small, large) = (&sets[small as usize], &sets[large as usize]);
        if small.sign & !large.sign != 0 {
            return false;
        }
        small.specs.iter().all(|spec| {
            large.specs.binary_search(spec).is_ok()
                || (self.patience && large.specs.iter().any(|other| more_patient(other, spec)))
        })
    }

    fn number(&self, mut specs: Vec<Spec<T::State>>) -> u32 {
        specs.sort_unstable();
        specs.dedup();
        if self.patience {
            drop_impatient(&mut specs);
        }
        let specs: Arc<[Spec<T::State>]> = specs.into();
        let mut known = lock(&self.known);
        if let Some(&number) = known.numbers.get(&specs) {
            return number;
        }
        let mut values = Vec::new();
        specs.iter().for_each(|spec| self.visit(spec, &mut |value| values.push(value)));
        values.sort_unstable();
        values.dedup();
        let sign = specs.iter().fold(0, |sign, spec| sign | 1 << (shape_hash(spec) % 64));
        known.bytes += specs.iter().map(spec_bytes).sum::<u64>() + 96;
        let mut sets = self.sets.write().unwrap_or_else(PoisonError::into_inner);
        let number = sets.len() as u32;
        sets.push(Members { specs: specs.clone(), sign, values: values.into() });
        known.numbers.insert(specs, number);
        number
    }

    /// The set with value `order[i]` called i + 1, every other value called by a larger number, and thread `threads[i]` in
    /// place i.
    pub(crate) fn renamed(&self, set: u32, order: &[Value], threads: &[u32]) -> u32 {
        let key: Renaming = (set, order.into(), threads.into());
        if let Some(&known) = lock(&self.known).renamed.get(&key) {
            return known;
        }
        let members = self.members(set);
        let order = self.whole_order(&members, order);
        let name = |value: Value| match order.iter().position(|&known| known == value) {
            Some(place) => place as Value + 1,
            None => value,
        };
        let specs = members.iter().map(|spec| self.rename(spec, &name, threads)).collect();
        let renamed = self.number(specs);
        let mut known = lock(&self.known);
        known.bytes += 48 + 4 * order.len() as u64;
        known.renamed.insert(key, renamed);
        renamed
    }

    /// The order by which `renamed` names every value of a set.
    pub(crate) fn order_of(&self, set: u32, order: &[Value]) -> Vec<Value> {
        if set == EMPTY { order.to_vec() } else { self.whole_order(&self.members(set), order) }
    }

    /// Adds the values that only the set has, in an order that depends on their roles and not on their names, as far as a
    /// look at the places they stand in can tell.
    fn whole_order(&self, members: &[Spec<T::State>], order: &[Value]) -> Vec<Value> {
        let mut roles: Vec<(u64, Value)> = Vec::new();
        let hasher = FixedState::with_seed(11);
        for spec in members {
            let mut local: Vec<Value> = order.to_vec();
            let mut places = Vec::new();
            self.visit(spec, &mut |value| {
                let place = local.iter().position(|&known| known == value).unwrap_or_else(|| {
                    local.push(value);
                    local.len() - 1
                });
                places.push(place);
            });
            if local.len() == order.len() {
                continue;
            }
            let shape = hasher.hash_one((&places, shape_of_phases(spec), spec.owed.len(), spec.ahead.len()));
            for &value in &local[order.len()..] {
                let at = local.iter().position(|&known| known == value);
                let role = hasher.hash_one((shape, at));
                match roles.iter_mut().find(|known| known.1 == value) {
                    Some(known) => known.0 = known.0.wrapping_add(role),
                    None => roles.push((role, value)),
                }
            }
        }
        roles.sort_unstable();
        order.iter().copied().chain(roles.into_iter().map(|(_, value)| value)).collect()
    }

    fn rename(&self, spec: &Spec<T::State>, name: &dyn Fn(Value) -> Value, order: &[u32]) -> Spec<T::State> {
        let object = self.rules.object;
        let mut next = spec.clone();
        object.rename(&mut next.object, name);
        for entry in next.owed.iter_mut().chain(&mut next.ahead) {
            let operation = &mut entry.operation;
            if object.argument_is_data(operation.method) {
                operation.argument = name(operation.argument);
            }
            if object.result_is_data(operation.method, operation.result) {
                operation.result = name(operation.result);
            }
        }
        if next.late.is_empty() {
            next.owed.sort_unstable();
            next.ahead.sort_unstable();
        }
        for (place, phase) in next.threads.iter_mut().enumerate() {
            *phase = match spec.threads[order.get(place).map_or(place, |&from| from as usize)] {
                Phase::Pending(method, value) if object.argument_is_data(method) => Phase::Pending(method, name(value)),
                Phase::Done(method, value) if object.result_is_data(method, value) => Phase::Done(method, name(value)),
                phase => phase,
            };
        }
        next
    }

    /// Visits the data of a state, always in the same order of places.
    fn visit(&self, spec: &Spec<T::State>, visit: &mut dyn FnMut(Value)) {
        let object = self.rules.object;
        object.values(&spec.object, visit);
        for Entry { operation, .. } in spec.owed.iter().chain(&spec.ahead) {
            if object.argument_is_data(operation.method) {
                visit(operation.argument);
            }
            if object.result_is_data(operation.method, operation.result) {
                visit(operation.result);
            }
        }
        for phase in &spec.threads {
            match *phase {
                Phase::Pending(method, value) if object.argument_is_data(method) => visit(value),
                Phase::Done(method, value) if object.result_is_data(method, value) => visit(value),
                _ => {}
            }
        }
    }
}

fn call<S: Clone>(members: &[Spec<S>], thread: usize, method: u32, argument: Value) -> Vec<Spec<S>> {
    let idle = members.iter().filter(|spec| spec.threads.get(thread) == Some(&Phase::Idle));
    idle.map(|spec| {
        let mut next = spec.clone();
        next.threads[thread] = Phase::Pending(method, argument);
        next
    })
    .collect()
}

fn done<S>(spec: &Spec<S>, thread: usize) -> Option<Value> {
    match spec.threads[thread] {
        Phase::Done(_, result) => Some(result),
        _ => None,
    }
}

/// Keeps of states that differ only in patience the most patient.
fn drop_impatient<S: Eq + Clone>(specs: &mut Vec<Spec<S>>) {
    let mut at = 0;
    while at < specs.len() {
        let beaten = specs.iter().enumerate().any(|(other, more)| other != at && more_patient(more, &specs[at]));
        if beaten {
            specs.remove(at);
        } else {
            at += 1;
        }
    }
}

fn shape_of_phases<S>(spec: &Spec<S>) -> Vec<u8> {
    let shape = |phase: &Phase| match phase {
        Phase::Idle => 0,
        Phase::Pending(..) => 1,
        Phase::Done(..) => 2,
    };
    spec.threads.iter().map(shape).collect()
}

/// A hash that does not depend on patience.
fn shape_hash<S: std::hash::Hash>(spec: &Spec<S>) -> u64 {
    let operations: Vec<_> = spec.owed.iter().chain(&spec.ahead).map(|entry| entry.operation).collect();
    FixedState::with_seed(7).hash_one((&spec.object, operations, &spec.threads))
}

fn spec_bytes<S>(spec: &Spec<S>) -> u64 {
    let entries = (spec.owed.len() + spec.ahead.len()) * size_of::<Entry>();
    let threads = spec.threads.len() * size_of::<Phase>();
    // The object's own heap is not known; a queue of some values is assumed.
    (size_of::<Spec<S>>() + entries + threads + spec.late.len() + 32) as u64
}
