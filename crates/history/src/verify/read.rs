//! What a recorded call means: the verifier's own reading of keys, methods, arguments and results.
//!
//! Invariant: a log that is read here holds only calls that the object has and results that they can have at all;
//! anything else is refused before any claim is looked at.

use std::borrow::Cow;

use super::simulate::{Action, Answer, Hold, Kind, Side, Step};
use crate::{Call, Value};

type Read = Result<Action, &'static str>;

const METHOD: &str = "the object has no such method";

/// Reads a call, or says what is wrong with it.
pub(crate) fn action(kind: Kind, method: &str, key: &Value, argument: &Value) -> Read {
    let argument = &*without_key(kind, key, argument);
    let method = &*plain(method);
    match kind {
        Kind::Queue | Kind::Stack | Kind::Bag => collection(kind, method, argument),
        Kind::PriorityQueue | Kind::PriorityQueueMin => priority_queue(kind, method, argument),
        Kind::Deque => deque(method, argument),
        Kind::Set => set(method, argument),
        Kind::Map => map(method, argument),
        Kind::Register | Kind::CasRegister => register(kind, method, argument),
        Kind::MultiRegister => transaction(method, argument),
        Kind::Counter => counter(method, argument),
        Kind::Mutex | Kind::RwLock | Kind::Semaphore => lock(kind, method, argument),
    }
}

/// Which of several independent objects a call is on. A map's calls may have their key as the first of their arguments.
pub(super) fn key(kind: Kind, call: &Call) -> &Value {
    match (kind, &call.key, &call.argument) {
        (Kind::Map, Value::Nil, Value::List(items)) => items.first().unwrap_or(&Value::Nil),
        (Kind::Map, Value::Nil, argument) => argument,
        (_, key, _) => key,
    }
}

fn without_key<'v>(kind: Kind, key: &Value, argument: &'v Value) -> Cow<'v, Value> {
    match (kind, key, argument) {
        (Kind::Map, Value::Nil, Value::List(items)) => match &items[..] {
            [] | [_] => Cow::Owned(Value::Nil),
            [_, argument] => Cow::Borrowed(argument),
            [_, rest @ ..] => Cow::Owned(Value::list(rest)),
        },
        (Kind::Map, Value::Nil, _) => Cow::Owned(Value::Nil),
        (_, _, argument) => Cow::Borrowed(argument),
    }
}

/// Whether a call can have such a result at all.
pub(super) fn fits(kind: Kind, action: &Action, result: &Value) -> bool {
    use Action::*;
    match action {
        Insert(..) | Write(_) | Append(_) | Count(_, Answer::Nothing) | Acquire(_) | Release(_) => {
            matches!(result, Value::Nil | Value::Bool(true))
        }
        Add(_) | Discard(_) | Cas(..) => matches!(result, Value::Nil | Value::Bool(_)),
        Contains(_) | Exists | TryAcquire(_) => matches!(result, Value::Bool(_)),
        Count(..) => matches!(result, Value::Int(_)),
        Read if kind == Kind::Counter => matches!(result, Value::Int(_)),
        Remove(_) | Peek(_) if matches!(kind, Kind::PriorityQueue | Kind::PriorityQueueMin) => {
            matches!(result, Value::Nil | Value::Int(_) | Value::Text(_))
        }
        Transact(steps) => match result {
            Value::Nil => true,
            Value::List(rows) => rows.len() == steps.len() && steps.iter().zip(&**rows).all(same_step),
            _ => false,
        },
        Remove(_) | Peek(_) | Read | Erase | Take => true,
    }
}

fn same_step((step, row): (&Step, &Value)) -> bool {
    match (step, row.as_list()) {
        (Step::Read(key), Some([word, other, _])) => matches!(word.as_text(), Some("r" | "read")) && key == other,
        (Step::Write(key, value), Some([word, other, written])) => {
            matches!(word.as_text(), Some("w" | "write")) && key == other && value == written
        }
        _ => false,
    }
}

/// A method's name in lower case with underscores: `tryLock`, `try-lock` and `:try_lock` are one method.
fn plain(method: &str) -> Cow<'_, str> {
    let method = method.strip_prefix(':').unwrap_or(method);
    if !method.contains(|c: char| c == '-' || c.is_ascii_uppercase()) {
        return Cow::Borrowed(method);
    }
    let mut name = String::new();
    let mut previous = '_';
    for c in method.chars() {
        if c.is_ascii_uppercase() && (previous.is_ascii_lowercase() || previous.is_ascii_digit()) {
            name.push('_');
        }
        name.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
        previous = c;
    }
    Cow::Owned(name)
}

fn value(argument: &Value) -> Result<Value, &'static str> {
    if argument.is_nil() { Err("it takes a value, and there is none") } else { Ok(argument.clone()) }
}

fn without(argument: &Value, action: Action) -> Read {
    if argument.is_nil() { Ok(action) } else { Err("it takes no argument") }
}

fn collection(kind: Kind, method: &str, argument: &Value) -> Read {
    let insert = || Ok(Action::Insert(Side::Back, value(argument)?));
    match (kind, method) {
        (Kind::Queue, "enq" | "enqueue" | "add" | "offer" | "put" | "push" | "send") => insert(),
        (Kind::Queue, "deq" | "dequeue" | "remove" | "poll" | "take" | "pop" | "recv" | "receive") => {
            without(argument, Action::Remove(Side::Front))
        }
        (Kind::Queue, "peek" | "front") => without(argument, Action::Peek(Side::Front)),
        (Kind::Stack, "push" | "add" | "put") => insert(),
        (Kind::Stack, "pop" | "remove" | "take") => without(argument, Action::Remove(Side::Back)),
        (Kind::Stack, "peek" | "top") => without(argument, Action::Peek(Side::Back)),
        (Kind::Bag, "add" | "put" | "insert" | "push" | "offer" | "enq" | "enqueue" | "send") => insert(),
        (Kind::Bag, "remove" | "take" | "poll" | "pop" | "deq" | "dequeue" | "remove_any" | "recv") => {
            without(argument, Action::Remove(Side::Front))
        }
        (Kind::Bag, "contains" | "has" | "member") => Ok(Action::Contains(value(argument)?)),
        _ => Err(METHOD),
    }
}

fn priority_queue(kind: Kind, method: &str, argument: &Value) -> Read {
    let (largest, stem) = match (method.strip_suffix("_max"), method.strip_suffix("_min")) {
        (Some(stem), _) => (Some(true), stem),
        (_, Some(stem)) => (Some(false), stem),
        (None, None) => (None, method),
    };
    if largest.is_some_and(|largest| largest != (kind == Kind::PriorityQueue)) {
        return Err(METHOD);
    }
    match (stem, largest.is_some()) {
        ("insert" | "add" | "push" | "offer" | "put" | "enq" | "enqueue" | "send", false) => match argument {
            Value::Int(_) | Value::Text(_) => Ok(Action::Insert(Side::Back, argument.clone())),
            _ => Err("it takes an integer or a text"),
        },
        ("poll" | "pop" | "remove" | "delete" | "extract", _) | ("take" | "deq" | "dequeue", false) => {
            without(argument, Action::Remove(Side::Front))
        }
        ("peek", _) | ("top" | "front", false) | ("find" | "get", true) => without(argument, Action::Peek(Side::Front)),
        ("max", _) if kind == Kind::PriorityQueue => without(argument, Action::Peek(Side::Front)),
        ("min", _) if kind == Kind::PriorityQueueMin => without(argument, Action::Peek(Side::Front)),
        _ => Err(METHOD),
    }
}

fn deque(method: &str, argument: &Value) -> Read {
    let insert = |side| Ok(Action::Insert(side, value(argument)?));
    match method {
        "push_front" | "add_first" | "offer_first" | "put_first" | "push_left" | "push_first" | "add_front" => {
            insert(Side::Front)
        }
        "push_back" | "add_last" | "offer_last" | "put_last" | "push_right" | "push_last" | "add_back" => {
            insert(Side::Back)
        }
        "pop_front" | "remove_first" | "poll_first" | "take_first" | "pop_left" | "pop_first" | "remove_front" => {
            without(argument, Action::Remove(Side::Front))
        }
        "pop_back" | "remove_last" | "poll_last" | "take_last" | "pop_right" | "pop_last" | "remove_back" => {
            without(argument, Action::Remove(Side::Back))
        }
        "peek_front" | "front" | "peek_first" | "get_first" | "peek_left" => {
            without(argument, Action::Peek(Side::Front))
        }
        "peek_back" | "back" | "peek_last" | "get_last" | "peek_right" => without(argument, Action::Peek(Side::Back)),
        _ => Err(METHOD),
    }
}

fn set(method: &str, argument: &Value) -> Read {
    match method {
        "add" | "insert" | "put" => Ok(Action::Add(value(argument)?)),
        "remove" | "delete" | "erase" | "del" => Ok(Action::Discard(value(argument)?)),
        "contains" | "has" | "member" | "is_member" | "exists" | "find" | "search" | "lookup" => {
            Ok(Action::Contains(value(argument)?))
        }
        _ => Err(METHOD),
    }
}

fn map(method: &str, argument: &Value) -> Read {
    match method {
        "get" | "lookup" => without(argument, Action::Read),
        "put" | "set" | "insert" => Ok(Action::Write(value(argument)?)),
        "append" if argument.as_text().is_some() => Ok(Action::Append(argument.clone())),
        "append" => Err("it takes a text"),
        "remove" | "delete" | "del" | "erase" => without(argument, Action::Erase),
        "take" | "get_and_remove" => without(argument, Action::Take),
        "contains" | "contains_key" | "has" | "has_key" | "exists" => without(argument, Action::Exists),
        _ => Err(METHOD),
    }
}

fn register(kind: Kind, method: &str, argument: &Value) -> Read {
    match method {
        "read" | "r" | "get" | "load" => without(argument, Action::Read),
        "write" | "w" | "set" | "put" | "store" => Ok(Action::Write(value(argument)?)),
        "cas" | "compare_and_set" | "compare_and_swap" | "compare_exchange" if kind == Kind::CasRegister => {
            match argument.as_list() {
                Some([old, new]) => Ok(Action::Cas(old.clone(), new.clone())),
                _ => Err("it takes a list of the old and the new value"),
            }
        }
        _ => Err(METHOD),
    }
}

fn transaction(method: &str, argument: &Value) -> Read {
    const STEPS: &str = "it takes a list of steps, `[read key]` or `[write key value]`";
    if !matches!(method, "txn" | "transaction") {
        return Err(METHOD);
    }
    let step = |step: &Value| {
        let step = step.as_list().ok_or(STEPS)?;
        match (step.first().and_then(Value::as_text), step) {
            (Some("r" | "read"), [_, key] | [_, key, _]) => Ok(Step::Read(key.clone())),
            (Some("w" | "write"), [_, key, value]) if !value.is_nil() => Ok(Step::Write(key.clone(), value.clone())),
            _ => Err(STEPS),
        }
    };
    argument.as_list().ok_or(STEPS)?.iter().map(step).collect::<Result<_, _>>().map(Action::Transact)
}

fn counter(method: &str, argument: &Value) -> Read {
    let number = || argument.as_int().ok_or("it takes an integer");
    let or_one = || if argument.is_nil() { Ok(1) } else { number() };
    let (by, answer) = match method {
        "get" | "read" | "load" | "value" => return without(argument, Action::Read),
        "inc" | "increment" | "incr" => (or_one()?, Answer::Nothing),
        "dec" | "decrement" | "decr" => (or_one()?.wrapping_neg(), Answer::Nothing),
        "add" | "increase" => (number()?, Answer::Nothing),
        "sub" | "subtract" | "decrease" => (number()?.wrapping_neg(), Answer::Nothing),
        "fetch_add" | "get_and_add" => (number()?, Answer::Before),
        "add_and_get" | "add_fetch" => (number()?, Answer::After),
        _ => return step_by_one(method).ok_or(METHOD).and_then(|action| without(argument, action)),
    };
    Ok(Action::Count(by, answer))
}

fn step_by_one(method: &str) -> Option<Action> {
    let (by, answer) = match method {
        "fetch_inc" | "get_and_increment" | "get_and_inc" | "fetch_and_increment" | "fetch_increment" => {
            (1, Answer::Before)
        }
        "fetch_dec" | "get_and_decrement" | "get_and_dec" | "fetch_and_decrement" | "fetch_decrement" => {
            (-1, Answer::Before)
        }
        "inc_and_get" | "increment_and_get" | "inc_fetch" => (1, Answer::After),
        "dec_and_get" | "decrement_and_get" | "dec_fetch" => (-1, Answer::After),
        _ => return None,
    };
    Some(Action::Count(by, answer))
}

fn lock(kind: Kind, method: &str, argument: &Value) -> Read {
    use Hold::{Exclusive, Shared};
    let action = match (kind, method) {
        (Kind::Mutex, "acquire" | "lock") | (Kind::Semaphore, "acquire" | "wait" | "down" | "p") => {
            Action::Acquire(Exclusive)
        }
        (Kind::Mutex, "release" | "unlock") | (Kind::Semaphore, "release" | "signal" | "post" | "up" | "v") => {
            Action::Release(Exclusive)
        }
        (Kind::Mutex, "try_acquire" | "try_lock") | (Kind::Semaphore, "try_acquire" | "try_wait" | "try_down") => {
            Action::TryAcquire(Exclusive)
        }
        (Kind::RwLock, "read_acquire" | "read_lock" | "acquire_read" | "lock_read" | "lock_shared" | "rdlock") => {
            Action::Acquire(Shared)
        }
        (Kind::RwLock, "read_release" | "read_unlock" | "release_read" | "unlock_read" | "unlock_shared") => {
            Action::Release(Shared)
        }
        (
            Kind::RwLock,
            "write_acquire" | "write_lock" | "acquire_write" | "lock_write" | "lock_exclusive" | "wrlock",
        ) => Action::Acquire(Exclusive),
        (Kind::RwLock, "write_release" | "write_unlock" | "release_write" | "unlock_write" | "unlock_exclusive") => {
            Action::Release(Exclusive)
        }
        (Kind::RwLock, "try_read_acquire" | "try_read_lock" | "try_acquire_read" | "try_lock_shared" | "try_read") => {
            Action::TryAcquire(Shared)
        }
        (
            Kind::RwLock,
            "try_write_acquire" | "try_write_lock" | "try_acquire_write" | "try_lock_exclusive" | "try_write",
        ) => Action::TryAcquire(Exclusive),
        _ => return Err(METHOD),
    };
    without(argument, action)
}
