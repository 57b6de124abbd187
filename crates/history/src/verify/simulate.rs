//! Every object once more, one call at a time: what the verifier takes for the truth.
//!
//! Invariant: nothing here is shared with the specifications that the checkers use. Where those keep one state after
//! the other, these change in place, so that a linearization of a million operations is replayed in one pass. Queue,
//! stack and deque are one row of values with two ends; priority queues and bags are one sorted heap of values.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::Value;

/// The objects that the verifier knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Queue,
    Stack,
    Deque,
    /// Largest first.
    PriorityQueue,
    /// Smallest first.
    PriorityQueueMin,
    Bag,
    Set,
    /// One key of a map.
    Map,
    Register,
    CasRegister,
    MultiRegister,
    Counter,
    Mutex,
    RwLock,
    Semaphore,
}

impl Kind {
    /// Every kind with its name, as certificates and histories write it.
    pub(crate) const ALL: [(&'static str, Kind); 15] = [
        ("queue", Kind::Queue),
        ("stack", Kind::Stack),
        ("deque", Kind::Deque),
        ("priority-queue", Kind::PriorityQueue),
        ("priority-queue-min", Kind::PriorityQueueMin),
        ("bag", Kind::Bag),
        ("set", Kind::Set),
        ("map", Kind::Map),
        ("register", Kind::Register),
        ("cas-register", Kind::CasRegister),
        ("multi-register", Kind::MultiRegister),
        ("counter", Kind::Counter),
        ("mutex", Kind::Mutex),
        ("rwlock", Kind::RwLock),
        ("semaphore", Kind::Semaphore),
    ];

    pub(crate) fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub(crate) fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// An end of a row of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Front,
    Back,
}

/// What an operation on a counter answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Nothing,
    Before,
    After,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Hold {
    Shared,
    Exclusive,
}

/// One step of a transaction on several registers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Read(Value),
    Write(Value, Value),
}

/// A call, with its argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// Puts a value into a collection; only a row has sides.
    Insert(Side, Value),
    Remove(Side),
    Peek(Side),
    /// Puts an element into a set.
    Add(Value),
    Discard(Value),
    Contains(Value),
    /// Reads a register, a key or a counter.
    Read,
    Write(Value),
    /// Replaces the first value by the second.
    Cas(Value, Value),
    /// Adds a text to the end of a key's text.
    Append(Value),
    /// Takes a key's value away. The result recorded is the value, or whether there was one, or nothing.
    Erase,
    /// Takes a key's value away and answers it.
    Take,
    /// Whether a key has a value.
    Exists,
    Transact(Vec<Step>),
    Count(i64, Answer),
    Acquire(Hold),
    TryAcquire(Hold),
    Release(Hold),
}

/// An object in some state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    Row(VecDeque<Value>),
    Heap(Kind, BTreeMap<Value, u64>),
    Set(BTreeSet<Value>),
    /// One value, nil while there is none; and whether it is that of a map's key.
    Cell(Value, bool),
    /// The registers whose value is known, and what the others hold, where that is known.
    Cells(BTreeMap<Value, Value>, Option<Value>),
    Counter(i64),
    Lock {
        shared: u64,
        exclusive: bool,
    },
    Permits(i64),
}

impl Object {
    /// An object before its first operation; `None` when it cannot start with that initial value.
    pub(crate) fn new(kind: Kind, initial: Option<&Value>) -> Option<Object> {
        let stated = initial.filter(|value| !value.is_nil());
        let number = |default| stated.map_or(Some(default), Value::as_int);
        Some(match kind {
            Kind::Register | Kind::CasRegister | Kind::Map => {
                Object::Cell(stated.cloned().unwrap_or_default(), kind == Kind::Map)
            }
            Kind::MultiRegister => Object::Cells(BTreeMap::new(), initial.cloned()),
            Kind::Counter => Object::Counter(number(0)?),
            Kind::Semaphore => Object::Permits(number(1).filter(|permits| *permits >= 0)?),
            _ if stated.is_some() => return None,
            Kind::Queue | Kind::Stack | Kind::Deque => Object::Row(VecDeque::new()),
            Kind::PriorityQueue | Kind::PriorityQueueMin | Kind::Bag => Object::Heap(kind, BTreeMap::new()),
            Kind::Set => Object::Set(BTreeSet::new()),
            Kind::Mutex | Kind::RwLock => Object::Lock { shared: 0, exclusive: false },
        })
    }

    /// Performs a call and answers its result, `None` when it cannot return (it blocks; nothing has changed then).
    /// `seen` is the result recorded; it decides only where the object has a choice: which value a bag gives
    /// out, and what a register holds of which nothing is known.
    pub(crate) fn perform(&mut self, action: &Action, seen: Option<&Value>) -> Option<Value> {
        match self {
            Object::Row(row) => on_row(row, action),
            Object::Heap(kind, heap) => on_heap(*kind, heap, action, seen),
            Object::Set(set) => match action {
                Action::Add(value) => Some(Value::Bool(set.insert(value.clone()))),
                Action::Discard(value) => Some(Value::Bool(set.remove(value))),
                Action::Contains(value) => Some(Value::Bool(set.contains(value))),
                _ => None,
            },
            Object::Cell(cell, _) => on_cell(cell, action),
            Object::Cells(known, others) => on_cells(known, others.as_ref(), action, seen),
            Object::Counter(count) => on_counter(count, action),
            Object::Lock { shared, exclusive } => on_lock(shared, exclusive, action),
            Object::Permits(permits) => on_permits(permits, action),
        }
    }

    /// Performs a call that is said to have returned `seen`; the error is what it would have returned instead, nothing
    /// when it would have blocked. Logs may leave the results of some calls out, and these then fit anything.
    pub(crate) fn accepts(&mut self, action: &Action, seen: &Value) -> Result<(), Option<Value>> {
        use Action::*;
        let absent = matches!(self, Object::Cell(Value::Nil, true));
        let answer = self.perform(action, Some(seen)).ok_or(None)?;
        let agrees = match action {
            Insert(..) | Write(_) | Append(_) | Count(_, Answer::Nothing) | Acquire(_) | Release(_) => true,
            Add(_) | Discard(_) | Erase | Transact(_) if seen.is_nil() => true,
            Cas(..) if seen.is_nil() => answer == Value::Bool(true),
            Read if absent => seen.is_nil() || seen.as_text() == Some(""),
            Erase if *seen == Value::Bool(true) => !absent,
            Erase if absent => *seen == Value::Bool(false),
            Transact(steps) => same_reads(steps, &answer, seen),
            _ => answer == *seen,
        };
        if agrees { Ok(()) } else { Err(Some(answer)) }
    }

    /// Whether a call would block now.
    pub(crate) fn blocks(&self, action: &Action) -> bool {
        self.clone().perform(action, None).is_none()
    }

    /// Every state after a call that returned `seen`, or anything at all where nothing is known.
    pub(crate) fn after(&self, action: &Action, seen: Option<&Value>) -> Vec<Object> {
        let one = |seen: Option<&Value>| {
            let mut next = self.clone();
            let possible = match seen {
                Some(seen) => next.accepts(action, seen).is_ok(),
                None => next.perform(action, None).is_some(),
            };
            possible.then_some(next)
        };
        match (self, action) {
            (Object::Heap(Kind::Bag, heap), Action::Remove(_)) if seen.is_none() && !heap.is_empty() => {
                heap.keys().filter_map(|value| one(Some(value))).collect()
            }
            _ => one(seen).into_iter().collect(),
        }
    }
}

fn on_row(row: &mut VecDeque<Value>, action: &Action) -> Option<Value> {
    let found = match action {
        Action::Insert(Side::Front, value) => {
            row.push_front(value.clone());
            None
        }
        Action::Insert(Side::Back, value) => {
            row.push_back(value.clone());
            None
        }
        Action::Remove(Side::Front) => row.pop_front(),
        Action::Remove(Side::Back) => row.pop_back(),
        Action::Peek(Side::Front) => row.front().cloned(),
        Action::Peek(Side::Back) => row.back().cloned(),
        _ => return None,
    };
    Some(found.unwrap_or_default())
}

fn on_heap(kind: Kind, heap: &mut BTreeMap<Value, u64>, action: &Action, seen: Option<&Value>) -> Option<Value> {
    if let Action::Insert(_, value) = action {
        *heap.entry(value.clone()).or_default() += 1;
        return Some(Value::Nil);
    }
    if let Action::Contains(value) = action {
        return Some(Value::Bool(heap.contains_key(value)));
    }
    let chosen = seen.filter(|value| kind == Kind::Bag && heap.contains_key(value));
    let next = match kind {
        Kind::PriorityQueue => heap.last_key_value(),
        _ => heap.first_key_value(),
    };
    let Some(value) = chosen.cloned().or_else(|| next.map(|(value, _)| value.clone())) else {
        return Some(Value::Nil);
    };
    match action {
        Action::Remove(_) => match heap.get_mut(&value) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(heap.remove(&value)),
        },
        Action::Peek(_) => {}
        _ => return None,
    }
    Some(value)
}

fn on_cell(cell: &mut Value, action: &Action) -> Option<Value> {
    let answer = match action {
        Action::Read | Action::Take | Action::Erase => cell.clone(),
        Action::Exists => Value::Bool(!cell.is_nil()),
        Action::Cas(old, _) => Value::Bool(cell == old),
        Action::Write(_) | Action::Append(_) => Value::Nil,
        _ => return None,
    };
    match action {
        Action::Write(value) => *cell = value.clone(),
        Action::Cas(old, new) if cell == old => *cell = new.clone(),
        Action::Take | Action::Erase => *cell = Value::Nil,
        // Nothing can be appended to what is no text.
        Action::Append(tail) if cell.is_nil() => *cell = tail.clone(),
        Action::Append(tail) => *cell = Value::text([cell.as_text()?, tail.as_text()?].concat()),
        _ => {}
    }
    Some(answer)
}

/// Answers the list of what each step read or wrote.
fn on_cells(
    known: &mut BTreeMap<Value, Value>,
    others: Option<&Value>,
    action: &Action,
    seen: Option<&Value>,
) -> Option<Value> {
    let Action::Transact(steps) = action else { return None };
    let mut values = Vec::with_capacity(steps.len());
    for (i, step) in steps.iter().enumerate() {
        values.push(match step {
            Step::Write(key, value) => {
                known.insert(key.clone(), value.clone());
                value.clone()
            }
            Step::Read(key) => match (known.get(key).or(others), seen.filter(|seen| !seen.is_nil())) {
                (Some(value), _) => value.clone(),
                (None, Some(seen)) => {
                    let value = recorded(seen, i).cloned().unwrap_or_default();
                    known.insert(key.clone(), value.clone());
                    value
                }
                (None, None) => Value::Nil,
            },
        });
    }
    Some(Value::list(values))
}

/// What the transaction's `i`-th step is recorded to have read or written: the last of `[read key value]`.
fn recorded(result: &Value, i: usize) -> Option<&Value> {
    result.as_list()?.get(i)?.as_list()?.get(2)
}

fn same_reads(steps: &[Step], answer: &Value, seen: &Value) -> bool {
    let (Some(answers), Some(rows)) = (answer.as_list(), seen.as_list()) else { return false };
    rows.len() == steps.len()
        && steps.iter().zip(answers).enumerate().all(|(i, (step, answer))| match step {
            Step::Read(_) => recorded(seen, i) == Some(answer),
            Step::Write(..) => true,
        })
}

fn on_counter(count: &mut i64, action: &Action) -> Option<Value> {
    let before = *count;
    let answer = match action {
        Action::Read => Answer::Before,
        Action::Count(by, answer) => {
            *count = count.wrapping_add(*by);
            *answer
        }
        _ => return None,
    };
    Some(match answer {
        Answer::Nothing => Value::Nil,
        Answer::Before => Value::Int(before),
        Answer::After => Value::Int(*count),
    })
}

fn on_lock(shared: &mut u64, exclusive: &mut bool, action: &Action) -> Option<Value> {
    let (Action::Acquire(hold) | Action::TryAcquire(hold) | Action::Release(hold)) = action else { return None };
    let free = !*exclusive && (*hold == Hold::Shared || *shared == 0);
    match (action, hold) {
        (Action::Release(_), Hold::Shared) => *shared = shared.checked_sub(1)?,
        (Action::Release(_), Hold::Exclusive) if *exclusive => *exclusive = false,
        (Action::Acquire(_) | Action::TryAcquire(_), Hold::Shared) if free => *shared += 1,
        (Action::Acquire(_) | Action::TryAcquire(_), Hold::Exclusive) if free => *exclusive = true,
        (Action::TryAcquire(_), _) => return Some(Value::Bool(false)),
        _ => return None,
    }
    Some(if matches!(action, Action::TryAcquire(_)) { Value::Bool(true) } else { Value::Nil })
}

fn on_permits(permits: &mut i64, action: &Action) -> Option<Value> {
    let free = *permits > 0;
    match action {
        Action::Acquire(_) if free => *permits -= 1,
        Action::Release(_) => *permits = permits.checked_add(1)?,
        Action::TryAcquire(_) => {
            *permits -= i64::from(free);
            return Some(Value::Bool(free));
        }
        _ => return None,
    }
    Some(Value::Nil)
}
