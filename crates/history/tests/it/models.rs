//! What each object does, written from the meaning of its methods and apart from the library's specifications.
//!
//! A model says what may come out: every result that a log may show for a call in a state, and the state after each. No
//! outcome means that the call blocks. It knows the whole log, with all objects and keys.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_history::Value;
use selvedge_history::object::Kind;

use crate::notation::Called;

pub trait Model {
    type State: Clone;

    /// Every state in which a log with these calls may begin, where those among them that returned have their results.
    fn starts(&self, calls: &[(&Called, Option<&Value>)]) -> Vec<Self::State>;

    fn outcomes(&self, state: &Self::State, call: &Called) -> Vec<(Value, Self::State)>;
}

pub trait Visitor {
    type Answer;
    fn visit<M: Model>(self, model: M) -> Self::Answer;
}

/// The model of a kind, for logs of any number of objects and keys.
pub fn with_model<V: Visitor>(kind: Kind, initial: Option<Value>, visitor: V) -> V::Answer {
    let nil = initial.clone().unwrap_or_default();
    match kind {
        Kind::Queue => visitor.visit(Many(one(Vec::new(), |s: &Vec<Value>, c: &Called| queue(s, c)))),
        Kind::Stack => visitor.visit(Many(one(Vec::new(), |s: &Vec<Value>, c: &Called| stack(s, c)))),
        Kind::Deque => visitor.visit(Many(one(Vec::new(), |s: &Vec<Value>, c: &Called| deque(s, c)))),
        Kind::PriorityQueue => {
            visitor.visit(Many(one(Vec::new(), |s: &Vec<Value>, c: &Called| priority_queue(s, c, true))))
        }
        Kind::PriorityQueueMin => {
            visitor.visit(Many(one(Vec::new(), |s: &Vec<Value>, c: &Called| priority_queue(s, c, false))))
        }
        Kind::Set => visitor.visit(Many(one(BTreeSet::new(), set))),
        Kind::Bag => visitor.visit(Many(one(Vec::new(), |s: &Vec<Value>, c: &Called| bag(s, c)))),
        Kind::Map => visitor.visit(Many(one(BTreeMap::new(), move |s, c| map(s, c, &nil)))),
        Kind::Register | Kind::CasRegister => visitor.visit(Many(one(nil, register))),
        Kind::MultiRegister => visitor.visit(Many(Registers { initial })),
        Kind::Counter => visitor.visit(Many(one(nil.as_int().unwrap_or(0), counter))),
        Kind::Mutex => visitor.visit(Many(one(1, |s, c| semaphore(s, c, 1)))),
        Kind::RwLock => visitor.visit(Many(one((0, 0), rwlock))),
        Kind::Semaphore => visitor.visit(Many(one(nil.as_int().unwrap_or(1), |s, c| semaphore(s, c, i64::MAX)))),
        kind => panic!("there is no model of {kind:?}"),
    }
}

type Outcomes<S> = Vec<(Value, S)>;

/// Several objects of the same kind side by side, by object and key.
struct Many<M>(M);

impl<M: Model> Model for Many<M> {
    type State = BTreeMap<(String, Value), M::State>;

    fn starts(&self, calls: &[(&Called, Option<&Value>)]) -> Vec<Self::State> {
        let name = |call: &Called| (call.object.clone(), call.key.clone());
        let names: BTreeSet<_> = calls.iter().map(|(call, _)| name(call)).collect();
        let mut starts = vec![BTreeMap::new()];
        for this in names {
            let own: Vec<_> = calls.iter().copied().filter(|(call, _)| name(call) == this).collect();
            starts = each_with(&starts, &this, &self.0.starts(&own));
        }
        starts
    }

    fn outcomes(&self, all: &Self::State, call: &Called) -> Outcomes<Self::State> {
        let name = (call.object.clone(), call.key.clone());
        let with = |state: M::State| {
            let mut all = all.clone();
            all.insert(name.clone(), state);
            all
        };
        self.0.outcomes(&all[&name], call).into_iter().map(|(result, after)| (result, with(after))).collect()
    }
}

/// Each of the maps with each of the values under the key.
fn each_with<K: Ord + Clone, V: Clone>(maps: &[BTreeMap<K, V>], key: &K, values: &[V]) -> Vec<BTreeMap<K, V>> {
    let with = |map: &BTreeMap<K, V>, value: &V| {
        let mut map = map.clone();
        map.insert(key.clone(), value.clone());
        map
    };
    maps.iter().flat_map(|map| values.iter().map(move |value| with(map, value))).collect()
}

/// An object with one known beginning.
struct One<S, F> {
    start: S,
    outcomes: F,
}

fn one<S: Clone, F: Fn(&S, &Called) -> Outcomes<S>>(start: S, outcomes: F) -> One<S, F> {
    One { start, outcomes }
}

impl<S: Clone, F: Fn(&S, &Called) -> Outcomes<S>> Model for One<S, F> {
    type State = S;

    fn starts(&self, _: &[(&Called, Option<&Value>)]) -> Vec<S> {
        vec![self.start.clone()]
    }

    fn outcomes(&self, state: &S, call: &Called) -> Outcomes<S> {
        (self.outcomes)(state, call)
    }
}

/// A call without a result: logs have nil or true for it.
fn done<S: Clone>(after: S) -> Outcomes<S> {
    vec![(Value::Nil, after.clone()), (Value::Bool(true), after)]
}

fn plus(state: &[Value], at: usize, value: &Value) -> Vec<Value> {
    let mut after = state.to_vec();
    after.insert(at, value.clone());
    after
}

/// What taking the value at that place gives; nil where nothing is there.
fn taken(state: &[Value], at: usize) -> Outcomes<Vec<Value>> {
    let mut after = state.to_vec();
    if at < state.len() { vec![(after.remove(at), after)] } else { vec![(Value::Nil, after)] }
}

fn seen(state: &[Value], at: usize) -> Outcomes<Vec<Value>> {
    vec![(state.get(at).cloned().unwrap_or_default(), state.to_vec())]
}

fn queue(state: &[Value], call: &Called) -> Outcomes<Vec<Value>> {
    match &*call.method {
        "enq" | "offer" => done(plus(state, state.len(), &call.argument)),
        "deq" | "poll" => taken(state, 0),
        "peek" => seen(state, 0),
        other => panic!("queue has no {other}"),
    }
}

fn stack(state: &[Value], call: &Called) -> Outcomes<Vec<Value>> {
    match &*call.method {
        "push" => done(plus(state, 0, &call.argument)),
        "pop" => taken(state, 0),
        "top" => seen(state, 0),
        other => panic!("stack has no {other}"),
    }
}

fn deque(state: &[Value], call: &Called) -> Outcomes<Vec<Value>> {
    let last = state.len().saturating_sub(1);
    match &*call.method {
        "push_front" => done(plus(state, 0, &call.argument)),
        "push_back" => done(plus(state, state.len(), &call.argument)),
        "pop_front" => taken(state, 0),
        "pop_back" => taken(state, last),
        "peek_front" => seen(state, 0),
        "peek_back" => seen(state, last),
        other => panic!("deque has no {other}"),
    }
}

/// In no order; what comes out is searched for.
fn priority_queue(state: &[Value], call: &Called, largest_first: bool) -> Outcomes<Vec<Value>> {
    let before = |a: &Value, b: &Value| match (a, b) {
        (Value::Int(a), Value::Int(b)) => (a > b) == largest_first && a != b,
        (Value::Text(a), Value::Text(b)) => (a.as_bytes() > b.as_bytes()) == largest_first && a != b,
        _ => panic!("numbers or texts, not both"),
    };
    let best = (0..state.len()).find(|&i| state.iter().all(|other| !before(other, &state[i]))).unwrap_or(0);
    match &*call.method {
        "insert" => done(plus(state, 0, &call.argument)),
        "poll" => taken(state, best),
        "peek" => seen(state, best),
        other => panic!("priority queue has no {other}"),
    }
}

fn set(state: &BTreeSet<Value>, call: &Called) -> Outcomes<BTreeSet<Value>> {
    let mut after = state.clone();
    let answer = match &*call.method {
        "add" => after.insert(call.argument.clone()),
        "remove" => after.remove(&call.argument),
        "contains" => return vec![(Value::Bool(state.contains(&call.argument)), after)],
        other => panic!("set has no {other}"),
    };
    vec![(Value::Bool(answer), after.clone()), (Value::Nil, after)]
}

fn bag(state: &[Value], call: &Called) -> Outcomes<Vec<Value>> {
    match &*call.method {
        "add" => done(plus(state, 0, &call.argument)),
        "remove" if state.is_empty() => taken(state, 0),
        "remove" => {
            let mut outcomes: Outcomes<Vec<Value>> = (0..state.len()).flat_map(|i| taken(state, i)).collect();
            for (_, after) in &mut outcomes {
                after.sort();
            }
            outcomes.sort();
            outcomes.dedup();
            outcomes
        }
        "contains" => vec![(Value::Bool(state.contains(&call.argument)), state.to_vec())],
        other => panic!("bag has no {other}"),
    }
}

/// All keys, or one where the log has the key beside the argument. Keys that nobody touched hold `initial`.
fn map(state: &BTreeMap<Value, Value>, call: &Called, initial: &Value) -> Outcomes<BTreeMap<Value, Value>> {
    let (key, argument) = match (&call.key, &call.argument) {
        (Value::Nil, Value::List(both)) => (both[0].clone(), both[1].clone()),
        (Value::Nil, key) => (key.clone(), Value::Nil),
        (key, argument) => (key.clone(), argument.clone()),
    };
    let old = state.get(&key).unwrap_or(initial).clone();
    let with = |value: Value| {
        let mut after = state.clone();
        after.insert(key.clone(), value);
        after
    };
    match (&*call.method, &old) {
        ("get", Value::Nil) => vec![(Value::Nil, state.clone()), (Value::text(""), state.clone())],
        ("get", _) => vec![(old.clone(), state.clone())],
        ("put", _) => done(with(argument)),
        ("append", Value::Nil) => done(with(argument)),
        ("append", Value::Text(text)) => done(with(Value::text(format!("{text}{argument}")))),
        ("append", _) => Vec::new(),
        ("remove", Value::Nil) => [Value::Bool(false), Value::Nil].map(|result| (result, with(Value::Nil))).to_vec(),
        ("remove", _) => [Value::Bool(true), Value::Nil, old].map(|result| (result, with(Value::Nil))).to_vec(),
        ("take", _) => vec![(old, with(Value::Nil))],
        ("contains", _) => vec![(Value::Bool(old != Value::Nil), state.clone())],
        (other, _) => panic!("map has no {other}"),
    }
}

fn register(state: &Value, call: &Called) -> Outcomes<Value> {
    match (&*call.method, &call.argument) {
        ("read", _) => vec![(state.clone(), state.clone())],
        ("write", value) => done(value.clone()),
        ("cas", Value::List(both)) if *state == both[0] => done(both[1].clone()),
        ("cas", _) => vec![(Value::Bool(false), state.clone())],
        (other, _) => panic!("register has no {other}"),
    }
}

/// Registers of which each holds a definite value from the start, stated or not.
struct Registers {
    initial: Option<Value>,
}

/// The steps of a transaction: read or write, key, value.
fn steps(transaction: &Value) -> Vec<Vec<Value>> {
    let steps = transaction.as_list().expect("a list of steps");
    steps.iter().map(|step| step.as_list().expect("a step").to_vec()).collect()
}

impl Model for Registers {
    type State = BTreeMap<Value, Value>;

    /// Every way to give each key one of the values that its reads returned, or another one.
    fn starts(&self, calls: &[(&Called, Option<&Value>)]) -> Vec<Self::State> {
        let keys: BTreeSet<Value> =
            calls.iter().flat_map(|(call, _)| steps(&call.argument)).map(|step| step[1].clone()).collect();
        let results: Vec<Vec<Value>> =
            calls.iter().filter_map(|call| call.1).filter(|result| !result.is_nil()).flat_map(steps).collect();
        let mut starts = vec![BTreeMap::new()];
        for key in keys {
            let mut values = BTreeSet::from([Value::from("a value that nobody saw")]);
            values
                .extend(results.iter().filter(|step| step[0] == "read".into() && step[1] == key).map(|s| s[2].clone()));
            let values = self.initial.clone().map_or(values.into_iter().collect(), |initial| vec![initial]);
            starts = each_with(&starts, &key, &values);
        }
        starts
    }

    fn outcomes(&self, state: &Self::State, call: &Called) -> Outcomes<Self::State> {
        let mut after = state.clone();
        let mut results = Vec::new();
        for mut step in steps(&call.argument) {
            match step[0].as_text() {
                Some("read") => step[2] = after[&step[1]].clone(),
                Some("write") => drop(after.insert(step[1].clone(), step[2].clone())),
                other => panic!("no step {other:?}"),
            }
            results.push(Value::list(step));
        }
        vec![(Value::list(results), after.clone()), (Value::Nil, after)]
    }
}

fn counter(state: &i64, call: &Called) -> Outcomes<i64> {
    let by = |n: i64| *state + n;
    let n = call.argument.as_int().unwrap_or(1);
    match &*call.method {
        "inc" => done(by(1)),
        "dec" => done(by(-1)),
        "add" => done(by(n)),
        "get" => vec![(Value::Int(*state), *state)],
        "fetch_add" => vec![(Value::Int(*state), by(n))],
        "add_and_get" => vec![(Value::Int(by(n)), by(n))],
        "increment_and_get" => vec![(Value::Int(by(1)), by(1))],
        other => panic!("counter has no {other}"),
    }
}

/// A mutex is a semaphore that never has more than one permit.
fn semaphore(permits: &i64, call: &Called, permits_max: i64) -> Outcomes<i64> {
    match &*call.method {
        "acquire" if *permits > 0 => done(permits - 1),
        "release" if *permits < permits_max => done(permits + 1),
        "acquire" | "release" => Vec::new(),
        "try_acquire" if *permits > 0 => vec![(Value::Bool(true), permits - 1)],
        "try_acquire" => vec![(Value::Bool(false), 0)],
        other => panic!("no method {other}"),
    }
}

/// How many read and how many write.
fn rwlock(&(readers, writers): &(u8, u8), call: &Called) -> Outcomes<(u8, u8)> {
    let may_read = writers == 0;
    let may_write = writers == 0 && readers == 0;
    match &*call.method {
        "read_lock" if may_read => done((readers + 1, writers)),
        "write_lock" if may_write => done((readers, 1)),
        "read_unlock" if readers > 0 => done((readers - 1, writers)),
        "write_unlock" if writers > 0 => done((readers, 0)),
        "read_lock" | "write_lock" | "read_unlock" | "write_unlock" => Vec::new(),
        "try_read_lock" if may_read => vec![(Value::Bool(true), (readers + 1, writers))],
        "try_write_lock" if may_write => vec![(Value::Bool(true), (readers, 1))],
        "try_read_lock" | "try_write_lock" => vec![(Value::Bool(false), (readers, writers))],
        other => panic!("readers-writer lock has no {other}"),
    }
}
