//! Sets of states of the relaxed specification, numbered; what happens to them at calls and returns; renaming.
//!
//! Operations take effect only just before a return needs it: a call merely waits, and at the return of thread t others may take effect
//! first, t last. Any other run can be put into this shape, because taking effect commutes with calls and returns of
//! other threads. So sets stay small: nothing is closed in advance.

use std::hash::BuildHasher;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use foldhash::fast::FixedState;

use super::state::{Entry, Phase, Rules, SpecState, more_patient};
use crate::answer::Trouble;
use crate::object::{Call, ModelObject, ObjectEvent, Value};
use crate::store::{Map, Set};

/// The number of the set without states.
pub(crate) const EMPTY: u32 = u32::MAX;

/// A specification state by number, after the number of what is left of it without patience.
type Member = (u32, u32);

/// Sets of specification states.
pub(crate) struct Sets<'a, T: ModelObject> {
    rules: Rules<'a, T>,
    patience: bool,
    tables: RwLock<Tables<T::State>>,
    known: Mutex<Known<T::State>>,
}

/// What is read all the time.
struct Tables<S> {
    sets: Vec<Members>,
    specs: Vec<Arc<SpecState<S>>>,
}

struct Members {
    /// In ascending order.
    members: Arc<[Member]>,
    /// A bit for each, that does not depend on patience.
    sign: u64,
    /// The data values in use, in ascending order.
    values: Box<[Value]>,
}

/// The order of values and of threads by which a set is renamed.
type Names = (Box<[Value]>, Box<[u32]>);

/// What has been computed.
struct Known<S> {
    specs: Map<Arc<SpecState<S>>, Member>,
    shapes: Map<SpecState<S>, u32>,
    sets: Map<Arc<[Member]>, u32>,
    moves: Map<(u32, ObjectEvent), u32>,
    names: Map<Names, u32>,
    /// By specification state and names.
    renamed: Map<(u32, u32), Member>,
    bytes: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, T: ModelObject> Sets<'a, T> {
    pub(crate) fn new(rules: Rules<'a, T>, patience: bool) -> Self {
        let known = Known {
            specs: Map::default(),
            shapes: Map::default(),
            sets: Map::default(),
            moves: Map::default(),
            names: Map::default(),
            renamed: Map::default(),
            bytes: 0,
        };
        // Without relaxation nothing has patience to compare.
        let patience = patience && rules.criterion.relaxation.classes() > 0;
        let tables = RwLock::new(Tables { sets: Vec::new(), specs: Vec::new() });
        Sets { rules, patience, tables, known: Mutex::new(known) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables<T::State>> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether states are compared by how long obligations may stay open.
    pub(crate) fn compares_patience(&self) -> bool {
        self.patience
    }

    pub(crate) fn initial(&self, threads: u32) -> u32 {
        self.number(vec![self.rules.initial(threads)])
    }

    pub(crate) fn count(&self) -> u64 {
        self.read().sets.len() as u64
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

    fn members(&self, set: u32) -> Vec<Arc<SpecState<T::State>>> {
        let tables = self.read();
        tables.sets[set as usize].members.iter().map(|member| tables.specs[member.1 as usize].clone()).collect()
    }

    /// The data values in use in a set.
    pub(crate) fn with_values<R>(&self, set: u32, look: impl FnOnce(&[Value]) -> R) -> R {
        look(&self.read().sets[set as usize].values)
    }

    /// The set after an event, or `EMPTY`.
    pub(crate) fn after(&self, set: u32, event: ObjectEvent) -> u32 {
        if let Some(&known) = lock(&self.known).moves.get(&(set, event)) {
            return known;
        }
        let members = self.members(set);
        let next = match event {
            ObjectEvent::Call { thread, method, argument } => {
                call(&members, thread as usize, Call { method, argument })
            }
            ObjectEvent::Return { thread, result } => self.returns(&members, thread as usize, result),
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
            Phase::Pending(Call { method, .. }) | Phase::Done(method, _) => Some(*method),
        }
    }

    /// The set with thread `threads[i]` in place i.
    pub(crate) fn exchanged(&self, set: u32, threads: &[u32]) -> u32 {
        let members = self.members(set);
        let exchanged = members.iter().map(|spec| self.rename(spec, &|value| value, threads)).collect();
        self.number(exchanged)
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
    fn before_return(&self, members: &[Arc<SpecState<T::State>>], thread: usize) -> Vec<SpecState<T::State>> {
        let pending = |spec: &&Arc<SpecState<T::State>>| matches!(spec.threads[thread], Phase::Pending(..));
        let mut all: Vec<SpecState<T::State>> = members.iter().filter(pending).map(|spec| (**spec).clone()).collect();
        let mut seen: Set<SpecState<T::State>> = all.iter().cloned().collect();
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

    fn returns(&self, members: &[Arc<SpecState<T::State>>], thread: usize, result: Value) -> Vec<SpecState<T::State>> {
        let mut next: Vec<SpecState<T::State>> = Vec::new();
        for spec in self.before_return(members, thread) {
            self.rules.effects(&spec, thread, Some(result), &mut next);
        }
        let fits = members.iter().filter(|spec| done(spec, thread) == Some(result));
        next.extend(fits.map(|spec| (**spec).clone()));
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
        let tables = self.read();
        let (small, large) = (&tables.sets[small as usize], &tables.sets[large as usize]);
        if small.sign & !large.sign != 0 {
            return false;
        }
        // Both are in ascending order of shapes: one walk finds the candidates for each.
        let mut rest = &large.members[..];
        small.members.iter().all(|&(shape, spec)| {
            rest = &rest[rest.partition_point(|other| other.0 < shape)..];
            let alike = rest.iter().take_while(|other| other.0 == shape);
            alike.into_iter().any(|&(_, other)| {
                other == spec
                    || (self.patience && more_patient(&tables.specs[other as usize], &tables.specs[spec as usize]))
            })
        })
    }

    fn number(&self, specs: Vec<SpecState<T::State>>) -> u32 {
        let members = specs.into_iter().map(|spec| self.member(spec)).collect();
        self.number_members(members)
    }

    /// The number of a specification state.
    fn member(&self, spec: SpecState<T::State>) -> Member {
        let mut known = lock(&self.known);
        if let Some(&member) = known.specs.get(&spec) {
            return member;
        }
        let shapes = known.shapes.len() as u32;
        let shape = *known.shapes.entry(without_patience(&spec)).or_insert(shapes);
        known.bytes += 2 * spec_bytes(&spec) + 24;
        let spec = Arc::new(spec);
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let member = (shape, tables.specs.len() as u32);
        tables.specs.push(spec.clone());
        known.specs.insert(spec, member);
        member
    }

    fn number_members(&self, mut members: Vec<Member>) -> u32 {
        members.sort_unstable();
        members.dedup();
        if self.patience {
            self.drop_impatient(&mut members);
        }
        let mut known = lock(&self.known);
        if let Some(&number) = known.sets.get(members.as_slice()) {
            return number;
        }
        let members: Arc<[Member]> = members.into();
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let mut values = Vec::new();
        for &(_, spec) in &*members {
            self.visit(&tables.specs[spec as usize], &mut |value| values.push(value));
        }
        values.sort_unstable();
        values.dedup();
        let sign = members.iter().fold(0, |sign, member| sign | 1 << (member.0 % 64));
        known.bytes += 8 * members.len() as u64 + 4 * values.len() as u64 + 96;
        let number = tables.sets.len() as u32;
        tables.sets.push(Members { members: members.clone(), sign, values: values.into() });
        known.sets.insert(members, number);
        number
    }

    /// Keeps of states that differ only in patience the most patient.
    fn drop_impatient(&self, members: &mut Vec<Member>) {
        let tables = self.read();
        let all = members.clone();
        members.retain(|&(shape, spec)| {
            let alike = all[all.partition_point(|other| other.0 < shape)..].iter().take_while(|other| other.0 == shape);
            let mut others = alike.filter(|other| other.1 != spec);
            !others.any(|other| more_patient(&tables.specs[other.1 as usize], &tables.specs[spec as usize]))
        });
    }

    /// The set with value `order[i]` called i + 1, every other value called by a larger number, and thread `threads[i]` in
    /// place i.
    pub(crate) fn renamed(&self, set: u32, order: &[Value], threads: &[u32]) -> u32 {
        let members = self.read().sets[set as usize].members.clone();
        let order = self.order_of(set, order);
        let names = {
            let mut known = lock(&self.known);
            let key: Names = (order.as_slice().into(), threads.into());
            let next = known.names.len() as u32;
            *known.names.entry(key).or_insert(next)
        };
        let place = |value: Value| order.iter().position(|&known| known == value);
        let name = |value: Value| place(value).map_or(value, |place| place as Value + 1);
        let rename = |&(_, spec): &Member| {
            if let Some(&renamed) = lock(&self.known).renamed.get(&(spec, names)) {
                return renamed;
            }
            let unnamed = self.read().specs[spec as usize].clone();
            let renamed = self.member(self.rename(&unnamed, &name, threads));
            let mut known = lock(&self.known);
            known.bytes += 20;
            known.renamed.insert((spec, names), renamed);
            renamed
        };
        self.number_members(members.iter().map(rename).collect())
    }

    /// The order by which `renamed` names every value of a set.
    pub(crate) fn order_of(&self, set: u32, order: &[Value]) -> Vec<Value> {
        let has_more = |set: &Members| set.values.iter().any(|value| !order.contains(value));
        if set == EMPTY || !has_more(&self.read().sets[set as usize]) {
            return order.to_vec();
        }
        self.whole_order(&self.members(set), order)
    }

    /// Adds the values that only the set has, in an order that depends on their roles and not on their names, as far as a
    /// look at the places they stand in can tell.
    fn whole_order(&self, members: &[Arc<SpecState<T::State>>], order: &[Value]) -> Vec<Value> {
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

    fn rename(&self, spec: &SpecState<T::State>, name: &dyn Fn(Value) -> Value, order: &[u32]) -> SpecState<T::State> {
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
                Phase::Pending(call) if object.argument_is_data(call.method) => {
                    Phase::Pending(Call { argument: name(call.argument), ..call })
                }
                Phase::Done(method, value) if object.result_is_data(method, value) => Phase::Done(method, name(value)),
                phase => phase,
            };
        }
        next
    }

    /// Visits the data of a state, always in the same order of places.
    fn visit(&self, spec: &SpecState<T::State>, visit: &mut dyn FnMut(Value)) {
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
                Phase::Pending(call) if object.argument_is_data(call.method) => visit(call.argument),
                Phase::Done(method, value) if object.result_is_data(method, value) => visit(value),
                _ => {}
            }
        }
    }
}

fn call<S: Clone>(members: &[Arc<SpecState<S>>], thread: usize, call: Call) -> Vec<SpecState<S>> {
    let idle = members.iter().filter(|spec| spec.threads.get(thread) == Some(&Phase::Idle));
    idle.map(|spec| {
        let mut next = (**spec).clone();
        next.threads[thread] = Phase::Pending(call);
        next
    })
    .collect()
}

fn done<S>(spec: &SpecState<S>, thread: usize) -> Option<Value> {
    match spec.threads[thread] {
        Phase::Done(_, result) => Some(result),
        _ => None,
    }
}

fn shape_of_phases<S>(spec: &SpecState<S>) -> Vec<u8> {
    let shape = |phase: &Phase| match phase {
        Phase::Idle => 0,
        Phase::Pending(..) => 1,
        Phase::Done(..) => 2,
    };
    spec.threads.iter().map(shape).collect()
}

/// What is left of a state when it does not matter how long obligations may stay open.
fn without_patience<S: Clone>(spec: &SpecState<S>) -> SpecState<S> {
    let mut shape = spec.clone();
    shape.owed.iter_mut().chain(&mut shape.ahead).for_each(|entry| entry.left = 0);
    shape.late.fill(0);
    shape
}

fn spec_bytes<S>(spec: &SpecState<S>) -> u64 {
    let entries = [&spec.owed, &spec.ahead].into_iter().filter(|entries| entries.spilled());
    let entries = entries.map(|entries| entries.len() * size_of::<Entry>()).sum::<usize>();
    let threads = if spec.threads.spilled() { spec.threads.len() * size_of::<Phase>() } else { 0 };
    // The object's own heap is not known; a queue of some values is assumed.
    (size_of::<SpecState<S>>() + entries + threads + 32) as u64
}
