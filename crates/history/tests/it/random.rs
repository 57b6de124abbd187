//! Small histories at random: correct ones, ones of an object with faults, and ones with something changed.
//!
//! A correct history comes from threads that share an object of `models` which does one thing at a time, at some moment
//! between call and return. One with faults sometimes answers from a state of the past, or does not block. The
//! same seed gives the same history.

use selvedge_history::generate::Random;
use selvedge_history::object::Kind;
use selvedge_history::{Outcome, Value};

use crate::models::{self, Model};
use crate::notation::{Called, Draft, Event, What};

/// A generator of numbers.
#[derive(Clone, Debug)]
pub struct Rng(Random);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng(Random::new(seed))
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.0.next() % n as u64) as usize
    }

    /// True in that many of a hundred cases.
    pub fn percent(&mut self, n: usize) -> bool {
        self.below(100) < n
    }

    fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What a history is made of.
struct Plan {
    threads: usize,
    calls: Vec<Called>,
    initial: Option<Value>,
    /// How many operations may stay pending.
    pending_max: usize,
    /// In how many of a hundred cases the object answers from a state of the past, or returns though it should block.
    faults: usize,
    /// In how many of a hundred cases the thread that did the last step does the next: more makes less overlap.
    persistence: usize,
}

/// A history of at most 8 operations with at most 3 pending ones.
pub fn draft(kind: Kind, seed: u64) -> Draft {
    let mut rng = Rng::new(seed);
    let plan = plan(kind, &mut rng);
    let mut draft = models::with_model(kind, plan.initial.clone(), Simulation { rng: &mut rng, plan });
    if rng.percent(75) {
        for _ in 0..1 + rng.below(4) {
            mutate(kind, &mut rng, &mut draft);
        }
    }
    let blocks = matches!(kind, Kind::Mutex | Kind::RwLock | Kind::Semaphore);
    draft.stuck &= draft.pending() > 0;
    draft.stuck |= draft.pending() > 0 && rng.percent(if blocks { 25 } else { 5 });
    draft
}

fn plan(kind: Kind, rng: &mut Rng) -> Plan {
    let operations = 8 - rng.below(8).min(rng.below(8));
    let distinct = rng.percent(60);
    let looks = rng.percent(35);
    let several = if rng.percent(15) { rng.below(3) } else { 0 };
    let keys_in_arguments = kind == Kind::Map && rng.percent(30);
    let calls = (0..operations)
        .map(|i| {
            let object = if several == 1 { rng.word(&["a", "b"]) } else { "" };
            let (method, argument) = match in_turn(kind, rng, i) {
                Some(method) => (method, Value::Nil),
                None => call(kind, rng, distinct.then_some(i as i64 + 1), looks),
            };
            let key = if several == 2 || kind == Kind::Map { Value::from(rng.word(&["x", "y"])) } else { Value::Nil };
            let mut called = Called { object: object.to_owned(), key, method: method.to_owned(), argument };
            if keys_in_arguments {
                move_key(&mut called);
            }
            called
        })
        .collect();
    let pending_max = if rng.percent(40) { 1 + rng.below(3) } else { 0 };
    let initial = if rng.percent(30) { initial(kind, rng) } else { None };
    let faults = if rng.percent(40) { 30 } else { 0 };
    let persistence = *rng.pick(&[0, 30, 70]);
    Plan { threads: 1 + rng.below(4).max(rng.below(4)), calls, initial, pending_max, faults, persistence }
}

/// For locks, mostly an acquisition and a release by turns: otherwise nearly every history would end stuck.
fn in_turn(kind: Kind, rng: &mut Rng, i: usize) -> Option<&'static str> {
    let pair = match kind {
        Kind::Mutex | Kind::Semaphore => ["acquire", "release"],
        Kind::RwLock => [["read_lock", "read_unlock"], ["write_lock", "write_unlock"]][i / 2 % 2],
        _ => return None,
    };
    rng.percent(75).then_some(pair[i % 2])
}

fn initial(kind: Kind, rng: &mut Rng) -> Option<Value> {
    match kind {
        Kind::Register | Kind::CasRegister | Kind::MultiRegister => Some(Value::Int(rng.below(3) as i64)),
        Kind::Map => Some(Value::from(rng.word(&["", "a", "ab"]))),
        Kind::Counter => Some(Value::Int(rng.below(5) as i64 - 2)),
        Kind::Semaphore => Some(Value::Int(rng.below(4) as i64)),
        _ => None,
    }
}

/// Writes the key of a map as the first of the arguments.
fn move_key(called: &mut Called) {
    let key = std::mem::take(&mut called.key);
    let argument = std::mem::take(&mut called.argument);
    called.argument = if argument.is_nil() { key } else { Value::list([key, argument]) };
}

/// One of `insert` with a value, or one of the others without.
fn collection(rng: &mut Rng, value: i64, insert: &[&'static str], other: &[&'static str]) -> (&'static str, Value) {
    if rng.percent(50) { (rng.word(insert), Value::Int(value)) } else { (rng.word(other), Value::Nil) }
}

/// A method and an argument. `distinct` is a value that no other call of the history has.
fn call(kind: Kind, rng: &mut Rng, distinct: Option<i64>, looks: bool) -> (&'static str, Value) {
    let value = distinct.unwrap_or(1 + rng.below(2) as i64);
    let small = 1 + rng.below(2) as i64;
    let nil = Value::Nil;
    match kind {
        Kind::Queue if looks => collection(rng, value, &["enq"], &["deq", "deq", "peek"]),
        Kind::Queue => collection(rng, value, &["enq", "enq", "offer"], &["deq", "deq", "poll"]),
        Kind::Stack if looks => collection(rng, value, &["push"], &["pop", "pop", "top"]),
        Kind::Stack => collection(rng, value, &["push"], &["pop"]),
        Kind::Deque => {
            let out = &["pop_front", "pop_back", "pop_front", "pop_back", "peek_front", "peek_back"];
            collection(rng, value, &["push_front", "push_back"], out)
        }
        Kind::PriorityQueue | Kind::PriorityQueueMin => {
            let value = distinct.map_or(value, |value| value * 3 % 8);
            collection(rng, value, &["insert"], if looks { &["poll", "poll", "peek"] } else { &["poll"] })
        }
        Kind::Set => match (rng.word(&["add", "add", "remove", "contains"]), distinct) {
            ("add", Some(value)) => ("add", Value::Int(value)),
            (method, Some(_)) => (method, Value::Int(1 + rng.below(5) as i64)),
            (method, None) => (method, Value::Int(small)),
        },
        Kind::Bag => match rng.below(5) {
            0 | 1 => ("add", Value::Int(value)),
            2 | 3 => ("remove", nil),
            _ => ("contains", Value::Int(small)),
        },
        Kind::Map => match rng.below(8) {
            0 | 1 => ("get", nil),
            2 => ("put", Value::Int(value)),
            3 => ("put", Value::from(rng.word(&["", "a"]))),
            4 => ("append", Value::text(distinct.map_or("a".to_owned(), |value| value.to_string()))),
            5 => ("remove", nil),
            6 => ("take", nil),
            _ => ("contains", nil),
        },
        Kind::Register => collection(rng, value, &["write"], &["read"]),
        Kind::CasRegister => match rng.below(3) {
            0 => ("read", nil),
            1 => ("write", Value::Int(value)),
            _ => ("cas", Value::list([Value::Int(rng.below(3) as i64), Value::Int(small)])),
        },
        Kind::MultiRegister => ("txn", transaction(rng, value)),
        Kind::Counter => match rng.below(7) {
            0 => ("inc", nil),
            1 => ("dec", nil),
            2 => ("add", Value::Int(small + 1)),
            3 => ("fetch_add", Value::Int(small)),
            4 => ("add_and_get", Value::Int(-small)),
            5 => ("increment_and_get", nil),
            _ => ("get", nil),
        },
        Kind::Mutex | Kind::Semaphore => (rng.word(&["acquire", "acquire", "release", "release", "try_acquire"]), nil),
        Kind::RwLock => {
            const PLAIN: &[&str] = &["read_lock", "read_unlock", "write_lock", "write_unlock"];
            (rng.word(&[PLAIN, PLAIN, &["try_read_lock", "try_write_lock"]].concat()), nil)
        }
        kind => panic!("no calls of {kind:?} are drawn"),
    }
}

fn transaction(rng: &mut Rng, value: i64) -> Value {
    let steps: Vec<Value> = (0..1 + rng.below(2))
        .map(|_| {
            let key = Value::from(rng.word(&["x", "y"]));
            let write = rng.percent(45);
            let argument = if write { Value::Int(value) } else { Value::Nil };
            Value::list([Value::from(if write { "write" } else { "read" }), key, argument])
        })
        .collect();
    Value::list(steps)
}

/// A result that the call may have in some history, right or not. Most often it is a value that the history has: others
/// are too easily found wrong.
fn result(kind: Kind, rng: &mut Rng, called: &Called, draft: &Draft) -> Value {
    let argument = |event: &Event| match &event.what {
        What::Call(called) => called.argument.as_int(),
        What::End(_) => None,
    };
    let arguments: Vec<i64> = draft.events.iter().filter_map(argument).collect();
    let known = !arguments.is_empty() && rng.percent(85);
    let int = Value::Int(if known { *rng.pick(&arguments) } else { 1 + rng.below(4) as i64 });
    let truth = Value::Bool(rng.percent(50));
    match (kind, &*called.method) {
        (Kind::Set, "add" | "remove") if rng.percent(15) => Value::Nil,
        (_, "contains" | "cas" | "try_acquire" | "try_read_lock" | "try_write_lock") => truth,
        (Kind::Set, _) => truth,
        (Kind::Counter, "get" | "fetch_add" | "add_and_get" | "increment_and_get") => {
            Value::Int(rng.below(8) as i64 - 3)
        }
        (_, "txn") => {
            filled(&called.argument, || if rng.percent(10) { Value::Nil } else { Value::Int(rng.below(4) as i64) })
        }
        (Kind::Map, "remove") if rng.percent(40) => truth,
        (Kind::Map, "get" | "take" | "remove") if rng.percent(40) => Value::from(rng.word(&["", "a", "aa", "1", "12"])),
        (_, "deq" | "poll" | "peek" | "pop" | "top" | "read" | "get" | "take" | "remove")
        | (Kind::Deque, "pop_front" | "pop_back" | "peek_front" | "peek_back") => {
            if rng.percent(25) {
                Value::Nil
            } else {
                int
            }
        }
        _ => {
            if rng.percent(20) {
                Value::Bool(true)
            } else {
                Value::Nil
            }
        }
    }
}

/// The transaction with the values read filled in.
fn filled(transaction: &Value, mut read: impl FnMut() -> Value) -> Value {
    let mut fill = |step: &Value| {
        let mut step = step.as_list().expect("a step").to_vec();
        if step[0] == Value::from("read") {
            step[2] = read();
        }
        Value::list(step)
    };
    let steps: Vec<Value> = transaction.as_list().expect("a list of steps").iter().map(&mut fill).collect();
    Value::list(steps)
}

/// A result that tells the models which values registers may hold at first.
fn told(called: &Called, value: i64) -> Value {
    if called.method == "txn" { filled(&called.argument, || Value::Int(value)) } else { Value::Nil }
}

struct Simulation<'a> {
    rng: &'a mut Rng,
    plan: Plan,
}

/// An operation that was called; the result once it has taken effect.
struct Running {
    called: Called,
    result: Option<Value>,
}

impl models::Visitor for Simulation<'_> {
    type Answer = Draft;

    fn visit<M: Model>(self, model: M) -> Draft {
        let Simulation { rng, plan } = self;
        let told: Vec<(&Called, Value)> =
            plan.calls.iter().flat_map(|c| (0..3).map(move |i| (c, told(c, i)))).collect();
        let told: Vec<_> = told.iter().map(|(called, result)| (*called, Some(result))).collect();
        let mut states = vec![rng.pick(&model.starts(&told)).clone()];
        let mut left = plan.calls.iter().rev().cloned().collect::<Vec<_>>();
        let mut threads: Vec<Option<Running>> = (0..plan.threads).map(|_| None).collect();
        let mut crashed: Vec<Running> = Vec::new();
        let mut draft = Draft { initial: plan.initial, ..Draft::default() };
        let mut crashes = plan.pending_max;
        let mut thread = 0;
        for _ in 0..200 {
            if !rng.percent(plan.persistence) {
                thread = rng.below(plan.threads + 1);
            }
            let Some(slot) = threads.get_mut(thread) else {
                if let Some(i) = (!crashed.is_empty()).then(|| rng.below(crashed.len())) {
                    take_effect(rng, &model, &mut states, &mut crashed[i], plan.faults);
                }
                continue;
            };
            let event = match slot.take() {
                None => left.pop().map(|called| {
                    *slot = Some(Running { called: called.clone(), result: None });
                    What::Call(called)
                }),
                Some(running) if crashes > 0 && rng.percent(8) => {
                    crashes -= 1;
                    crashed.push(running);
                    Some(What::End(Outcome::Unknown))
                }
                Some(Running { result: Some(result), .. }) => Some(What::End(Outcome::Return(result))),
                Some(mut running) => {
                    take_effect(rng, &model, &mut states, &mut running, plan.faults);
                    *slot = Some(running);
                    None
                }
            };
            draft.events.extend(event.map(|what| Event { thread, what }));
        }
        // Whoever is still running after so many turns is blocked.
        draft.stuck = crashed.is_empty() && draft.pending() > 0 && rng.percent(80);
        while draft.pending() > 3 {
            drop_last_call(&mut draft);
        }
        cut_short(rng, &mut draft, plan.pending_max);
        draft
    }
}

/// Does what was called, once. The last of the states is the present one.
fn take_effect<M: Model>(rng: &mut Rng, model: &M, states: &mut Vec<M::State>, running: &mut Running, faults: usize) {
    if running.result.is_some() {
        return;
    }
    let present = states.last().expect("an initial state").clone();
    let faulty = rng.percent(faults);
    let outcomes = model.outcomes(&present, &running.called);
    if outcomes.is_empty() {
        running.result = faulty.then_some(Value::Nil);
        return;
    }
    let (mut result, after) = rng.pick(&outcomes).clone();
    if faulty {
        let stale = model.outcomes(rng.pick(states), &running.called);
        if !stale.is_empty() {
            result = rng.pick(&stale).0.clone();
        }
    }
    running.result = Some(result);
    states.push(after);
}

/// Removes the last call, which has no return.
fn drop_last_call(draft: &mut Draft) {
    let open = |i: &usize| {
        let thread = draft.events[*i].thread;
        matches!(draft.events[*i].what, What::Call(_)) && draft.events[i + 1..].iter().all(|e| e.thread != thread)
    };
    let last = (0..draft.events.len()).rev().find(open).expect("an open call");
    draft.events.remove(last);
}

/// Sometimes stops recording early.
fn cut_short(rng: &mut Rng, draft: &mut Draft, pending_max: usize) {
    if pending_max > 0 && !draft.stuck && rng.percent(50) {
        let mut cut = draft.clone();
        cut.events.truncate(draft.events.len() - rng.below(draft.events.len().min(5)));
        if cut.pending() <= 3 {
            *draft = cut;
        }
    }
}

/// The places of returns, with their calls and results.
fn returns(draft: &Draft) -> Vec<(usize, Called, Value)> {
    let call_of = |at: usize| match &draft.events[call_before(draft, at)].what {
        What::Call(called) => called.clone(),
        other => panic!("a return after {other:?}"),
    };
    let result = |(i, event): (usize, &Event)| match &event.what {
        What::End(Outcome::Return(value)) => Some((i, call_of(i), value.clone())),
        _ => None,
    };
    draft.events.iter().enumerate().filter_map(result).collect()
}

fn mutate(kind: Kind, rng: &mut Rng, draft: &mut Draft) {
    let returns = returns(draft);
    if returns.is_empty() {
        return;
    }
    let (at, called, _) = rng.pick(&returns).clone();
    match rng.below(12) {
        0..=3 => draft.events[at].what = What::End(Outcome::Return(result(kind, rng, &called, draft))),
        4 | 5 => swap_results(rng, draft, &returns),
        6..=8 => shift(rng, draft),
        9 => call_another(kind, rng, draft, at),
        _ if draft.pending() < 3 && rng.percent(60) => draft.events[at].what = What::End(Outcome::Unknown),
        _ => {
            let call = call_before(draft, at);
            draft.events.remove(at);
            draft.events.remove(call);
        }
    }
}

/// The call that returns at that place.
fn call_before(draft: &Draft, at: usize) -> usize {
    let thread = draft.events[at].thread;
    draft.events[..at].iter().rposition(|event| event.thread == thread).expect("its call")
}

/// Replaces the operation that returns at that place by another one, on the same object.
fn call_another(kind: Kind, rng: &mut Rng, draft: &mut Draft, at: usize) {
    let call_at = call_before(draft, at);
    let What::Call(called) = &mut draft.events[call_at].what else { panic!("no call") };
    let (method, argument) = call(kind, rng, None, true);
    if kind == Kind::Map && called.key.is_nil() {
        let key = called.argument.as_list().map_or(&called.argument, |both| &both[0]).clone();
        *called = Called { key, argument, method: method.to_owned(), ..called.clone() };
        move_key(called);
    } else {
        *called = Called { argument, method: method.to_owned(), ..called.clone() };
    }
    let called = called.clone();
    let result = result(kind, rng, &called, draft);
    draft.events[at].what = What::End(Outcome::Return(result));
}

/// Exchanges the results of two calls of the same method. Transactions must also be the same.
fn swap_results(rng: &mut Rng, draft: &mut Draft, returns: &[(usize, Called, Value)]) {
    let (at, called, value) = rng.pick(returns);
    let same = |other: &&(usize, Called, Value)| {
        other.1.method == called.method && (called.method != "txn" || other.1.argument == called.argument)
    };
    let others: Vec<_> = returns.iter().filter(same).filter(|other| other.2 != *value).collect();
    if !others.is_empty() {
        let (other_at, _, other_value) = rng.pick(&others);
        draft.events[*at].what = What::End(Outcome::Return(other_value.clone()));
        draft.events[*other_at].what = What::End(Outcome::Return(value.clone()));
    }
}

/// Moves an event past some of its neighbours, but never past one of its own thread.
fn shift(rng: &mut Rng, draft: &mut Draft) {
    let mut at = rng.below(draft.events.len());
    let later = rng.percent(50);
    for _ in 0..1 + rng.below(6) {
        let to = if later { at + 1 } else { at.wrapping_sub(1) };
        match draft.events.get(to) {
            Some(other) if other.thread != draft.events[at].thread => {
                draft.events.swap(at, to);
                at = to;
            }
            _ => break,
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for kind in Kind::ALL {
        for seed in 0..50 {
            assert_eq!(draft(kind, seed).to_string(), draft(kind, seed).to_string());
        }
        let different: std::collections::BTreeSet<String> =
            (0..200).map(|seed| draft(kind, seed).to_string()).collect();
        assert!(different.len() > 150, "{kind}: {}", different.len());
    }
}

#[test]
fn histories_stay_within_their_bounds() {
    for kind in Kind::ALL {
        let drafts: Vec<Draft> = (0..1_000).map(|seed| draft(kind, seed)).collect();
        let mut sizes = Vec::new();
        for draft in &drafts {
            let log = draft.log();
            assert!(log.history.len() <= 8 && log.history.pending() <= 3 && log.threads() <= 4, "{kind}: {draft}");
            sizes.push((log.history.len(), log.history.pending(), log.threads()));
        }
        let many = |what: &str, count: usize| assert!(count > 10, "{kind}: only {count} histories with {what}");
        let sizes = |test: fn(&(usize, usize, usize)) -> bool| sizes.iter().filter(|size| test(size)).count();
        many("eight operations", sizes(|size| size.0 == 8));
        many("everything complete", sizes(|size| size.1 == 0));
        many("three pending", sizes(|size| size.1 == 3));
        many("four threads", sizes(|size| size.2 == 4));
        many("a stuck end", drafts.iter().filter(|draft| draft.stuck).count());
        let nil = |event: &Event| matches!(&event.what, What::End(Outcome::Return(value)) if value.is_nil());
        many("a nil result", drafts.iter().filter(|draft| draft.events.iter().any(nil)).count());
    }
}
