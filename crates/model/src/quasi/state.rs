//! A state of the relaxed specification, and its internal step: some thread's operation takes effect.
//!
//! The exact and finite construction (`docs/quasi-refinement.md`): a legal run *u* of the object and the run *w* that the threads see
//! advance together, one operation each, of the same class. What u did and w has not shown is *owed*; what w has shown and u has
//! not done is *ahead*. Each such entry must be settled in time; there are always as many owed as ahead.
//! Invariant: every state kept is live, which means that some continuation settles everything.

use std::sync::atomic::{AtomicBool, Ordering};

use selvedge_history::Traffic;
use smallvec::SmallVec;

use crate::object::{Call, Criterion, Guard, Measure, ModelObject, Operation, Value};
use crate::store::Set;

/// An operation that one of the two runs has and the other has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) class: u8,
    pub(crate) operation: Operation,
    /// By distance: within how many operations of the class it must be settled. Strict, for an entry ahead: how many
    /// operations not shown before it may still be done before it.
    pub(crate) left: u8,
}

/// Entries, mostly few.
pub(crate) type Entries = SmallVec<[Entry; 2]>;
/// A number for each class.
pub(crate) type Late = SmallVec<[u8; 8]>;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Phase {
    Idle,
    Pending(Call),
    /// It took effect. The method only tells whether the result is data.
    Done(u32, Value),
}

/// A state of the relaxed specification.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SpecState<T> {
    pub(crate) object: T,
    /// By distance in ascending order; strict in the order in which u did them.
    pub(crate) owed: Entries,
    /// By distance in ascending order; strict in the order in which w showed them.
    pub(crate) ahead: Entries,
    /// Strict: for each class, how often the first one due was overtaken.
    pub(crate) late: Late,
    pub(crate) threads: SmallVec<[Phase; 3]>,
}

impl<T> SpecState<T> {
    /// The calls that have not taken effect.
    fn pending(&self) -> Vec<Call> {
        let pending = |phase: &Phase| match *phase {
            Phase::Pending(call) => Some(call),
            _ => None,
        };
        self.threads.iter().filter_map(pending).collect()
    }
}

/// The rules by which states follow each other.
pub(crate) struct Rules<'a, T: ModelObject> {
    pub(crate) object: &'a T,
    pub(crate) criterion: &'a Criterion,
    calls: Vec<Call>,
    /// In free mode: every operation of the object.
    universe: Vec<Operation>,
    /// Looking ahead took too much; the answer is not known.
    pub(crate) gave_up: AtomicBool,
    /// A relaxed operation came from a call that the object does not list, so that u cannot be guessed.
    pub(crate) moved_unknown: AtomicBool,
}

/// How many states a look ahead without guard may visit.
const LOOK_MAX: usize = 200_000;

impl<'a, T: ModelObject> Rules<'a, T> {
    pub(crate) fn new(object: &'a T, criterion: &'a Criterion) -> Self {
        let mut rules = Rules {
            object,
            criterion,
            calls: object.calls(),
            universe: Vec::new(),
            gave_up: AtomicBool::new(false),
            moved_unknown: AtomicBool::new(false),
        };
        if criterion.guard == Guard::Free && criterion.relaxation.classes() > 0 {
            rules.universe = rules.all_operations();
        }
        rules
    }

    /// Every operation that the object can ever do.
    fn all_operations(&self) -> Vec<Operation> {
        let mut seen: Set<T::State> = Set::default();
        let mut stack = vec![self.object.initial()];
        let mut universe: Set<Operation> = Set::default();
        while let Some(state) = stack.pop() {
            if seen.len() > LOOK_MAX {
                self.gave_up.store(true, Ordering::Relaxed);
                break;
            }
            if !seen.insert(state.clone()) {
                continue;
            }
            for (operation, next) in self.operations(&state) {
                universe.insert(operation);
                stack.push(next);
            }
        }
        let mut universe: Vec<Operation> = universe.into_iter().collect();
        universe.sort_unstable();
        universe
    }

    pub(crate) fn initial(&self, threads: u32) -> SpecState<T::State> {
        let late = match self.criterion.measure {
            Measure::Strict => Late::from_elem(0, self.criterion.relaxation.classes()),
            Measure::Distance => Late::new(),
        };
        SpecState {
            object: self.object.initial(),
            owed: Entries::new(),
            ahead: Entries::new(),
            late,
            threads: SmallVec::from_elem(Phase::Idle, threads as usize),
        }
    }

    fn operations(&self, state: &T::State) -> Vec<(Operation, T::State)> {
        let mut all = Vec::new();
        let mut results = Vec::new();
        for call in &self.calls {
            results.clear();
            self.object.apply(state, call, &mut results);
            all.extend(results.drain(..).map(|(result, next)| (call.with(result), next)));
        }
        all
    }

    /// What the object can do next within a class.
    fn operations_of(&self, state: &T::State, class: u8) -> Vec<(Operation, T::State)> {
        let mut all = self.operations(state);
        all.retain(|(operation, _)| self.criterion.relaxation.class(operation).is_some_and(|found| found.0 == class));
        all
    }

    /// Every state after the pending operation of `thread` takes effect, with the result wanted if one is.
    pub(crate) fn effects(
        &self,
        spec: &SpecState<T::State>,
        thread: usize,
        wanted: Option<Value>,
        out: &mut Vec<SpecState<T::State>>,
    ) {
        let Phase::Pending(call) = spec.threads[thread] else { return };
        let method = call.method;
        let fits =
            |operation: &Operation| operation.call() == call && wanted.is_none_or(|wanted| wanted == operation.result);
        let mut results = Vec::new();
        self.object.apply(&spec.object, &call, &mut results);
        for (result, object) in results {
            let operation = call.with(result);
            if fits(&operation) && self.criterion.relaxation.class(&operation).is_none() {
                let mut next = SpecState { object, ..spec.clone() };
                next.threads[thread] = Phase::Done(method, result);
                if self.is_caused(&next, &operation) && self.live(&next) {
                    out.push(next);
                }
            }
        }
        for (class, factor) in self.classes_of_call(spec, call, wanted) {
            if !self.calls.contains(&call) {
                self.moved_unknown.store(true, Ordering::Relaxed);
            }
            for (done, object) in self.operations_of(&spec.object, class) {
                let step = Advance { class, factor, done, thread, method };
                let shown = match wanted {
                    Some(result) => vec![call.with(result)],
                    None => self.candidates(spec, &object, &step, &fits),
                };
                for operation in shown {
                    self.advance(spec, &object, &step, operation, out);
                }
            }
        }
    }

    /// The classes that operations of this call may be in: what the object answers now, what it can answer later, what is owed.
    fn classes_of_call(&self, spec: &SpecState<T::State>, call: Call, wanted: Option<Value>) -> Vec<(u8, u8)> {
        let relaxation = &self.criterion.relaxation;
        if let Some(result) = wanted {
            return relaxation.class(&call.with(result)).into_iter().collect();
        }
        let mut classes = Vec::new();
        let fits = |operation: &Operation| operation.call() == call;
        let now = self.operations(&spec.object);
        let owed = spec.owed.iter().map(|entry| entry.operation);
        let possible = now.into_iter().map(|(operation, _)| operation).chain(owed).chain(self.universe.iter().copied());
        for operation in possible.filter(fits) {
            classes.extend(relaxation.class(&operation).filter(|class| !classes.contains(class)));
        }
        if self.criterion.guard == Guard::Causal {
            // An answer that only comes up later, after operations of some class that may move.
            for class in 0..relaxation.classes() as u8 {
                for operation in self.within_reach(&spec.object, &spec.pending(), class) {
                    if fits(&operation) {
                        classes.extend(relaxation.class(&operation).filter(|class| !classes.contains(class)));
                    }
                }
            }
        }
        classes
    }

    /// Operations of a class that the object can do after at most as many operations of relaxed classes as their factors allow, and
    /// after pending calls took effect. Some of them may come too late; `live` tells.
    fn within_reach(&self, object: &T::State, pending: &[Call], class: u8) -> Vec<Operation> {
        let mut found: Set<Operation> = Set::default();
        let mut level: Set<T::State> = Set::default();
        level.insert(object.clone());
        let reach: usize = (0..self.criterion.relaxation.classes() as u8).map(|class| self.factor(class)).sum();
        for _ in 0..=reach + pending.len() {
            let mut next: Set<T::State> = Set::default();
            for state in &level {
                for (operation, after) in self.operations(state) {
                    if let Some((of, _)) = self.criterion.relaxation.class(&operation) {
                        if of == class {
                            found.insert(operation);
                        }
                        next.insert(after);
                    }
                }
                next.extend(pending.iter().flat_map(|&call| self.exact(state, call)));
            }
            level = next;
        }
        let mut found: Vec<Operation> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// The other states after a call that takes effect without moving.
    fn exact(&self, object: &T::State, call: Call) -> Vec<T::State> {
        let mut results = Vec::new();
        self.object.apply(object, &call, &mut results);
        let stays = |result| self.criterion.relaxation.class(&call.with(result)).is_none();
        let changed = results.into_iter().filter(|(result, next)| next != object && stays(*result));
        changed.map(|(_, next)| next).collect()
    }

    fn factor(&self, class: u8) -> usize {
        self.criterion.relaxation.factor(class) as usize
    }

    /// What w may show while u does `step.done`.
    fn candidates(
        &self,
        spec: &SpecState<T::State>,
        after: &T::State,
        step: &Advance,
        fits: &dyn Fn(&Operation) -> bool,
    ) -> Vec<Operation> {
        let mut shown = vec![step.done];
        shown.extend(spec.owed.iter().map(|entry| entry.operation));
        match self.criterion.guard {
            Guard::Causal => shown.extend(self.within_reach(after, &spec.pending(), step.class)),
            Guard::Free => shown.extend(self.universe.iter().copied()),
        }
        let class = |operation: &Operation| self.criterion.relaxation.class(operation).map(|found| found.0);
        shown.retain(|operation| fits(operation) && class(operation) == Some(step.class));
        shown.sort_unstable();
        shown.dedup();
        shown
    }

    /// u does `step.done`, w shows `shown`: every way to account for it.
    fn advance(
        &self,
        spec: &SpecState<T::State>,
        object: &T::State,
        step: &Advance,
        shown: Operation,
        out: &mut Vec<SpecState<T::State>>,
    ) {
        let of_class = |entries: &[Entry], operation: Operation| -> Vec<Option<usize>> {
            let found = entries.iter().enumerate();
            let found = found.filter(|(_, entry)| entry.class == step.class && entry.operation == operation);
            // Equal entries with equal patience need to be tried once.
            let mut places: Vec<Option<usize>> = vec![None];
            for (place, entry) in found {
                let twin = |known: &Option<usize>| known.is_some_and(|known| entries[known] == *entry);
                if self.criterion.measure == Measure::Strict || !places.iter().any(twin) {
                    places.push(Some(place));
                }
            }
            places
        };
        let mut accounts: Vec<Account> = Vec::new();
        if shown == step.done {
            accounts.push(Account::Same);
        }
        for settles in of_class(&spec.ahead, step.done) {
            for pays in of_class(&spec.owed, shown) {
                if shown != step.done || settles.is_some() || pays.is_some() {
                    accounts.push(Account::Apart { pays, settles });
                }
            }
        }
        for account in accounts {
            let next = match self.criterion.measure {
                Measure::Distance => by_distance(spec, step, shown, &account),
                Measure::Strict => strictly(spec, step, shown, &account),
            };
            let Some(Open { owed, ahead, late }) = next else { continue };
            let mut threads = spec.threads.clone();
            threads[step.thread] = Phase::Done(step.method, shown.result);
            let next = SpecState { object: object.clone(), owed, ahead, late, threads };
            if self.is_caused(&next, &shown) && self.live(&next) {
                out.push(next);
            }
        }
    }

    /// Causal: whether what w has just taken out was put in by w before, or by a call that is pending. u may be ahead of w with an
    /// insertion that nobody has called yet.
    fn is_caused(&self, next: &SpecState<T::State>, shown: &Operation) -> bool {
        let object = self.object;
        let Some(value) = object.takes(&shown.call(), &shown.result) else { return true };
        if self.criterion.guard == Guard::Free || (next.owed.is_empty() && next.ahead.is_empty()) {
            return true;
        }
        let moved = |entries: &[Entry]| -> isize {
            let count =
                |Entry { operation, .. }: &Entry| match object.traffic(&operation.call(), Some(&operation.result)) {
                    Traffic::In(moved) if *moved == value => 1,
                    Traffic::Out(moved) if *moved == value => -1,
                    _ => 0,
                };
            entries.iter().map(count).sum()
        };
        let pending = next.pending().iter().filter(|call| object.brings(call, None) == Some(value)).count();
        let inside = object.inside(&next.object, value);
        // What u holds, without what it has that w has not, with what w has that it has not.
        (inside + pending) as isize - moved(&next.owed) + moved(&next.ahead) >= 0
    }

    /// Whether some continuation settles everything. What is owed is shown first come, first served; in the meantime everything
    /// new is shown as it is done. So it is enough that u can do in time what is ahead, and that what is owed has room.
    fn live(&self, spec: &SpecState<T::State>) -> bool {
        if spec.ahead.is_empty() {
            return true;
        }
        if self.criterion.measure == Measure::Distance {
            let mut room: Vec<(u8, u8)> = spec.owed.iter().map(|entry| (entry.class, entry.left)).collect();
            room.sort_unstable();
            let mut place = 0;
            for (at, &(class, left)) in room.iter().enumerate() {
                place = if at > 0 && room[at - 1].0 == class { place + 1 } else { 1 };
                if left < place {
                    return false;
                }
            }
        }
        match self.criterion.guard {
            Guard::Causal => self.settles(&spec.object, &spec.ahead, &spec.pending()),
            Guard::Free => self.settles_somehow(&spec.object, &spec.ahead),
        }
    }

    /// Whether operations of the classes with something ahead can settle all of it, and calls that are pending: what w has shown may
    /// need an insertion that was called but has not taken effect. The depth is bounded by what is left and by the calls.
    fn settles(&self, object: &T::State, ahead: &[Entry], pending: &[Call]) -> bool {
        if ahead.is_empty() {
            return true;
        }
        let mut classes: Vec<u8> = ahead.iter().map(|entry| entry.class).collect();
        classes.dedup();
        classes.sort_unstable();
        classes.dedup();
        classes.into_iter().any(|class| {
            self.operations_of(object, class).into_iter().any(|(operation, next)| {
                self.after(ahead, class, operation).into_iter().any(|ahead| self.settles(&next, &ahead, pending))
            })
        }) || (0..pending.len()).any(|at| {
            let rest = [&pending[..at], &pending[at + 1..]].concat();
            self.exact(object, pending[at]).into_iter().any(|next| self.settles(&next, ahead, &rest))
        })
    }

    /// The entries ahead after u did an operation; none when one of them can no longer be settled in time.
    fn after(&self, ahead: &[Entry], class: u8, operation: Operation) -> Vec<Entries> {
        let matching = |(_, entry): &(usize, &Entry)| entry.class == class && entry.operation == operation;
        match self.criterion.measure {
            Measure::Distance => {
                // Among equal ones the most urgent is settled.
                let settled = ahead.iter().enumerate().filter(matching).min_by_key(|(_, entry)| entry.left);
                let settled = settled.map(|(place, _)| place);
                aged(ahead, class, settled).into_iter().collect()
            }
            Measure::Strict => {
                let places: Vec<usize> = ahead.iter().enumerate().filter(matching).map(|(place, _)| place).collect();
                let places: Vec<Option<usize>> =
                    if places.is_empty() { vec![None] } else { places.into_iter().map(Some).collect() };
                places.into_iter().filter_map(|settled| overtaken(ahead, class, settled)).collect()
            }
        }
    }

    /// As `settles`, by any operations.
    fn settles_somehow(&self, object: &T::State, ahead: &[Entry]) -> bool {
        let mut seen: Set<(T::State, Entries)> = Set::default();
        let mut stack = vec![(object.clone(), Entries::from_slice(ahead))];
        while let Some((object, ahead)) = stack.pop() {
            if ahead.is_empty() {
                return true;
            }
            if seen.len() > LOOK_MAX {
                self.gave_up.store(true, Ordering::Relaxed);
                return false;
            }
            if !seen.insert((object.clone(), ahead.clone())) {
                continue;
            }
            for (operation, next) in self.operations(&object) {
                match self.criterion.relaxation.class(&operation) {
                    None => stack.push((next, ahead.clone())),
                    Some((class, _)) => {
                        let after = self.after(&ahead, class, operation);
                        stack.extend(after.into_iter().map(|ahead| (next.clone(), ahead)));
                    }
                }
            }
        }
        false
    }
}

/// One operation of u, and whose operation w shows meanwhile.
struct Advance {
    class: u8,
    factor: u8,
    done: Operation,
    thread: usize,
    method: u32,
}

/// How an advance is accounted for.
enum Account {
    /// u does what w shows.
    Same,
    /// What is shown pays something owed, or is ahead; what is done settles something ahead, or is owed.
    Apart { pays: Option<usize>, settles: Option<usize> },
}

/// The obligations after an advance.
struct Open {
    owed: Entries,
    ahead: Entries,
    late: Late,
}

/// The entries without the one settled, every other of the class one step older; `None` when one has run out.
fn aged(entries: &[Entry], class: u8, settled: Option<usize>) -> Option<Entries> {
    let rest = entries.iter().enumerate().filter(|(place, _)| Some(*place) != settled);
    rest.map(|(_, entry)| {
        let left = if entry.class == class { entry.left - 1 } else { entry.left };
        (left > 0).then_some(Entry { left, ..*entry })
    })
    .collect()
}

/// Strict: the entries ahead after u did one of them, or something not shown yet. Those shown before it have been waiting for it.
fn overtaken(ahead: &[Entry], class: u8, settled: Option<usize>) -> Option<Entries> {
    let rest = ahead.iter().enumerate().filter(|(place, _)| Some(*place) != settled);
    rest.map(|(place, entry)| {
        let waits = entry.class == class && settled.is_none_or(|settled| place < settled);
        let left = if waits { entry.left.checked_sub(1)? } else { entry.left };
        Some(Entry { left, ..*entry })
    })
    .collect()
}

fn by_distance<T>(spec: &SpecState<T>, step: &Advance, shown: Operation, account: &Account) -> Option<Open> {
    let (pays, settles) = match account {
        Account::Same => (None, None),
        Account::Apart { pays, settles } => (*pays, *settles),
    };
    let mut owed = aged(&spec.owed, step.class, pays)?;
    let mut ahead = aged(&spec.ahead, step.class, settles)?;
    if let Account::Apart { .. } = account {
        let entry = |operation| Entry { class: step.class, operation, left: step.factor };
        if settles.is_none() {
            owed.push(entry(step.done));
        }
        if pays.is_none() {
            ahead.push(entry(shown));
        }
        owed.sort_unstable();
        ahead.sort_unstable();
    }
    Some(Open { owed, ahead, late: Late::new() })
}

fn strictly<T>(spec: &SpecState<T>, step: &Advance, shown: Operation, account: &Account) -> Option<Open> {
    let of_class = |entry: &&Entry| entry.class == step.class;
    let class = step.class as usize;
    let due_before = spec.owed.iter().filter(of_class).count();
    let (mut owed, mut late) = (spec.owed.clone(), spec.late.clone());
    let first = spec.owed.iter().position(|entry| entry.class == step.class);
    let entry = |operation, left| Entry { class: step.class, operation, left };
    let mut ahead;
    let overtakes = match account {
        Account::Same => {
            ahead = overtaken(&spec.ahead, step.class, None)?;
            if due_before > step.factor as usize {
                return None;
            }
            first.is_some()
        }
        Account::Apart { pays, settles } => {
            ahead = overtaken(&spec.ahead, step.class, *settles)?;
            if settles.is_none() {
                owed.push(entry(step.done, 0));
            }
            match pays {
                Some(place) => {
                    let rank = spec.owed[..*place].iter().filter(of_class).count();
                    if rank > step.factor as usize {
                        return None;
                    }
                    owed.remove(*place);
                    rank > 0
                }
                None => {
                    let due = owed.iter().filter(of_class).count();
                    ahead.push(entry(shown, step.factor.checked_sub(due as u8)?));
                    true
                }
            }
        }
    };
    late[class] = if overtakes { late[class] + 1 } else { 0 };
    (late[class] <= step.factor).then_some(Open { owed, ahead, late })
}

/// Whether whatever can follow `less` can follow `more`: the same but for how long obligations may stay open.
pub(crate) fn more_patient<T: Eq>(more: &SpecState<T>, less: &SpecState<T>) -> bool {
    let entries = |more: &[Entry], less: &[Entry]| {
        more.len() == less.len()
            && more.iter().zip(less).all(|(more, less)| {
                more.class == less.class && more.operation == less.operation && more.left >= less.left
            })
    };
    more.threads == less.threads
        && entries(&more.owed, &less.owed)
        && entries(&more.ahead, &less.ahead)
        && more.late.iter().zip(&less.late).all(|(more, less)| more <= less)
        && more.object == less.object
}
