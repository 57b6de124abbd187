//! The monitor against trying every order (small histories) and against the exact checkers (long ones).
//!
//! `SELVEDGE_MONITOR` histories are drawn for each object. The large run:
//!
//! ```text
//! SELVEDGE_MONITOR=1000000 cargo test --release -p selvedge-history --test it monitor
//! ```

mod missed;
mod stacks;
mod work;
mod writers;

use std::collections::HashMap;

use selvedge_history::check::check;
use selvedge_history::monitor::register::RegisterRule;
use selvedge_history::monitor::{Called, Monitor, Refused, Rule, Settings, Span, Violation};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Outcome, Value, Verdict};

use crate::notation::{Draft, Event, What};
use crate::random::Rng;
use crate::{brute, random};

fn histories(default: u64) -> u64 {
    let number = std::env::var("SELVEDGE_MONITOR").ok();
    number.map_or(default, |number| number.parse().expect("SELVEDGE_MONITOR is a number"))
}

/// Feeds the events to the monitor. All of them fit.
fn feed(monitor: &mut Monitor, events: &[Event]) -> Vec<Violation> {
    for Event { thread, what } in events {
        let thread = Value::Int(*thread as i64);
        match what {
            What::Call(called) => {
                let (method, object) = (&*called.method, &*called.object);
                let (key, argument) = (called.key.clone(), called.argument.clone());
                monitor.call(&thread, Called { method, object, key, argument })
            }
            What::End(outcome) => monitor.outcome(&thread, outcome.clone()),
        }
        .unwrap_or_else(|refused| panic!("{refused}"));
    }
    let found: Vec<Violation> = monitor.found().collect();
    assert_eq!(monitor.counts().violations, found.len() as u64);
    found
}

/// No alarm and no doubt means that it is right, whatever the kind and whatever nobody knows the outcome of.
#[test]
fn without_a_doubt_nothing_is_missed() {
    for kind in Kind::ALL {
        let (mut sure, mut pending, mut missed) = (0, 0, 0);
        for seed in 0..histories(300) {
            let mut draft = random::draft(kind, 1_000_000 + seed);
            draft.stuck = false;
            let settings = Settings { initial: draft.initial.clone(), ..Settings::default() };
            let mut monitor = Monitor::new(kind, settings).expect("the initial value fits");
            let found = feed(&mut monitor, &draft.events);
            let right = brute::linearizable(&draft.log(), kind);
            if found.is_empty() && monitor.doubts().is_empty() {
                assert!(right, "{kind} seed {seed}: missed in\n  {draft}");
                sure += 1;
                pending += u64::from(draft.pending() > 0);
            }
            missed += u64::from(found.is_empty() && !right);
        }
        println!("{kind}: {sure} sure, {pending} of them with unknown outcomes; {missed} missed with a doubt");
        assert!(sure > 0, "{kind}");
    }
}

/// The rule that is left for a register when there are too many ways to follow them.
#[test]
fn the_rule_for_registers_alone_is_exact() {
    let (mut right, mut wrong, mut pending) = (0, 0, 0);
    for seed in 0..histories(3_000) {
        let mut draft = random::draft(Kind::Register, 2_000_000 + seed);
        draft.stuck = false;
        let elsewhere = |event: &Event| match &event.what {
            What::Call(called) => !called.object.is_empty() || !called.key.is_nil(),
            What::End(_) => false,
        };
        if draft.events.iter().any(elsewhere) {
            continue;
        }
        let mut rule = RegisterRule::new(draft.initial.clone().unwrap_or_default());
        let mut open: HashMap<usize, (u64, Option<Value>)> = HashMap::new();
        let mut alarms = Vec::new();
        for (at, Event { thread, what }) in (1..).zip(&draft.events) {
            match what {
                What::Call(called) => {
                    let written = (called.method == "write").then(|| called.argument.clone());
                    match &written {
                        Some(value) => rule.call_write(at, *thread as u32, value),
                        None => rule.call_read(at),
                    }
                    open.insert(*thread, (at, written));
                }
                What::End(outcome) => {
                    let (call, written) = open.remove(thread).expect("it is open");
                    match (written, outcome) {
                        (Some(value), Outcome::Return(_)) => rule.ret_write(at, &value),
                        (Some(value), Outcome::Fail) => rule.fail_write(*thread as u32, call, &value, &mut alarms),
                        (Some(_), Outcome::Unknown) => {}
                        (None, Outcome::Return(value)) => {
                            rule.ret_read(Span { thread: *thread as u32, call, ret: at }, value, &mut alarms);
                        }
                        (None, _) => rule.drop_read(call),
                    }
                }
            }
        }
        let linearizable = brute::linearizable(&draft.log(), Kind::Register);
        assert!(alarms.is_empty() || !linearizable, "seed {seed}: {:?} in\n  {draft}", alarms[0]);
        if rule.unchecked() == 0 {
            assert_eq!(alarms.is_empty(), linearizable, "seed {seed}: missed in\n  {draft}");
            *if linearizable { &mut right } else { &mut wrong } += 1;
            pending += u64::from(draft.pending() > 0);
        }
    }
    println!("register rule: {right} right, {wrong} wrong, {pending} with pending operations");
    assert!(right > 50 && wrong > 50 && pending > 50, "{right} {wrong} {pending}");
}

fn watch(draft: &Draft, kind: Kind) -> (Vec<Violation>, u64) {
    watch_at(draft, kind, None)
}

fn watch_at(draft: &Draft, kind: Kind, k: Option<usize>) -> (Vec<Violation>, u64) {
    let settings = Settings { initial: draft.initial.clone(), k, ..Settings::default() };
    let mut monitor = Monitor::new(kind, settings).expect("the initial value fits");
    let found = feed(&mut monitor, &draft.events);
    let counts = monitor.counts();
    (found, counts.unchecked + counts.repeated)
}

/// Nothing right is reported; with nothing unchecked and nothing pending, `exact` ones miss nothing. Answers how many were seen of how many.
fn compare(kind: Kind, default: u64, exact: bool, exact_pending: bool) -> (u64, u64) {
    let (mut seen, mut wrong) = (0, 0);
    // Of those with distinct values, nothing pending and nothing observed.
    let mut plain = (0, 0);
    for seed in 0..histories(default) {
        let mut draft = random::draft(kind, seed);
        // That something blocked without need is not for a monitor to see.
        draft.stuck = false;
        let right = brute::linearizable(&draft.log(), kind);
        let (found, unchecked) = watch(&draft, kind);
        assert!(found.is_empty() || !right, "{kind} seed {seed}: {} in\n  {draft}", found[0]);
        if exact && unchecked == 0 && (exact_pending || draft.pending() == 0) {
            assert_eq!(found.is_empty(), right, "{kind} seed {seed}:\n  {draft}");
        }
        assert!(found.iter().all(|violation| !violation.operations.is_empty()));
        seen += u64::from(!found.is_empty());
        wrong += u64::from(!right);
        if unchecked == 0 && draft.pending() == 0 {
            plain = (plain.0 + u64::from(!found.is_empty()), plain.1 + u64::from(!right));
        }
    }
    println!("{kind}: {seen} of {wrong} violations seen; {} of {} where every operation was checked", plain.0, plain.1);
    (seen, wrong)
}

macro_rules! compare {
    ($($name:ident: $kind:ident, $default:expr, $exact:expr, $exact_pending:expr, $share:expr;)*) => {$(
        #[test]
        fn $name() {
            let (seen, wrong) = compare(Kind::$kind, $default, $exact, $exact_pending);
            assert!(wrong > 20 && 100 * seen >= $share * wrong, "{seen} of {wrong}");
        }
    )*};
}

compare! {
    queues_are_exact: Queue, 1_500, true, false, 60;
    stacks_are_exact: Stack, 1_500, true, false, 60;
    priority_queues_are_exact: PriorityQueue, 1_000, true, false, 60;
    priority_queues_min_are_exact: PriorityQueueMin, 500, true, false, 60;
    bags_are_exact: Bag, 800, true, false, 40;
    registers_are_exact: Register, 1_000, true, false, 40;
    sets_are_exact: Set, 800, true, true, 99;
    mutexes_are_exact: Mutex, 500, true, true, 99;
    rwlocks_are_exact: RwLock, 600, true, true, 99;
    semaphores_are_exact: Semaphore, 600, true, true, 99;
    counters_are_exact: Counter, 600, true, true, 99;
    cas_registers_are_exact: CasRegister, 600, true, true, 99;
    maps_are_exact: Map, 600, true, true, 99;
    deques_are_exact: Deque, 600, true, true, 99;
    multi_registers_are_exact: MultiRegister, 600, true, true, 60;
}

/// A queue of distinct values without pending operations: sometimes wrong.
fn queue(rng: &mut Rng) -> Draft {
    let (inserts, threads) = (1 + rng.below(4), 1 + rng.below(4));
    let wild = [10, 40, 90][rng.below(3)];
    let mut calls: Vec<Option<usize>> = (1..=inserts).map(Some).collect();
    calls.extend((0..rng.below(5)).map(|_| None));
    for i in (1..calls.len()).rev() {
        calls.swap(i, rng.below(i + 1));
    }
    let mut text: Vec<String> = Vec::new();
    let mut open: Vec<Option<(Option<usize>, Option<String>)>> = vec![None; threads];
    let mut inside: Vec<usize> = Vec::new();
    while !calls.is_empty() || open.iter().any(Option::is_some) {
        let thread = rng.below(threads);
        let name = char::from(b'A' + thread as u8);
        match open[thread].take() {
            None => {
                let Some(call) = calls.pop() else { continue };
                text.push(call.map_or(format!("{name} deq"), |value| format!("{name} enq {value}")));
                open[thread] = Some((call, None));
            }
            Some((_, Some(answer))) => text.push(format!("{name} ->{answer}")),
            Some((Some(value), None)) => {
                inside.push(value);
                open[thread] = Some((Some(value), Some(String::new())));
            }
            Some((None, None)) => {
                let at = if rng.percent(wild) && !inside.is_empty() { rng.below(inside.len()) } else { 0 };
                let missed = rng.percent(wild / 2);
                let answer =
                    if inside.is_empty() || missed { String::new() } else { format!(" {}", inside.remove(at)) };
                let twice = rng.percent(wild / 8).then(|| format!(" {}", 1 + rng.below(inserts)));
                open[thread] = Some((None, Some(twice.unwrap_or(answer))));
            }
        }
    }
    Draft::parse(&text.join("; "))
}

#[test]
fn the_rules_for_queues_are_exact() {
    let mut rng = Rng::new(5);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..histories(2_000) {
        let draft = queue(&mut rng);
        if draft.log().history.len() > 8 {
            continue;
        }
        let linearizable = brute::linearizable(&draft.log(), Kind::Queue);
        let (found, unchecked) = watch(&draft, Kind::Queue);
        assert_eq!(unchecked, 0, "{draft}");
        assert_eq!(found.is_empty(), linearizable, "{draft}");
        // What holds for every collection holds for a queue.
        assert!(!linearizable || watch(&draft, Kind::Bag).0.is_empty(), "{draft}");
        *if linearizable { &mut right } else { &mut wrong } += 1;
    }
    println!("queues: {right} right without an alarm, {wrong} wrong with one");
    assert!(right > 200 && wrong > 200, "{right} {wrong}");
}

/// A_k: nothing right is reported, and the more pasts are told apart the more is seen; all of FIFO order with as many pasts as there are.
#[test]
fn counters_raise_no_false_alarm() {
    let mut seen = [0; 6];
    let mut wrong = 0;
    for seed in 0..histories(2_000) {
        let mut draft = random::draft(Kind::Queue, seed);
        draft.stuck = false;
        let right = brute::linearizable(&draft.log(), Kind::Queue);
        wrong += u32::from(!right);
        for (k, seen) in seen.iter_mut().enumerate() {
            let (found, _) = watch_at(&draft, Kind::Queue, Some(k));
            assert!(found.is_empty() || !right, "seed {seed} k={k}: {} in\n  {draft}", found[0]);
            *seen += u32::from(!found.is_empty());
        }
    }
    let mut rng = Rng::new(7);
    for _ in 0..histories(1_000) {
        let draft = queue(&mut rng);
        let overtaken = |found: &[Violation]| {
            found.iter().any(|violation| violation.rule == Rule::Overtaken && violation.operations.len() == 4)
        };
        let (exact, _) = watch(&draft, Kind::Queue);
        let (counted, _) = watch_at(&draft, Kind::Queue, Some(100));
        assert!(!overtaken(&exact) || overtaken(&counted), "{draft}");
    }
    println!("counters: {seen:?} of {wrong} violations seen at k=0..5");
    assert!(seen.is_sorted() && seen[0] > 0 && seen[4] > seen[1], "{seen:?}");
}

/// What a long run of some collection did, with faults now and then: events by thread.
struct Long {
    kind: Kind,
    rng: Rng,
    threads: usize,
    fault: usize,
    inside: Vec<i64>,
    next: i64,
    /// By thread: the call that is open, and its answer once it has taken effect.
    open: Vec<Option<(Option<i64>, Option<Value>)>>,
    events: Vec<Event>,
}

impl Long {
    fn new(kind: Kind, seed: u64, fault: usize) -> Self {
        let mut rng = Rng::new(seed);
        let threads = 2 + rng.below(4);
        Long { kind, rng, threads, fault, inside: vec![], next: 0, open: vec![None; threads], events: vec![] }
    }

    fn step(&mut self) {
        let thread = self.rng.below(self.threads);
        match self.open[thread].take() {
            None => {
                let insert = self.rng.percent(50).then(|| {
                    self.next += 1;
                    // Priorities are distinct and in no order.
                    self.next * 7919 % 1_000_003
                });
                let (into, out) = match self.kind {
                    Kind::Queue => ("enq", "deq"),
                    Kind::Stack => ("push", "pop"),
                    _ => ("insert", "poll"),
                };
                let method = if insert.is_some() { into } else { out }.to_owned();
                let argument = insert.map_or(Value::Nil, Value::Int);
                let called = crate::notation::Called { object: String::new(), key: Value::Nil, method, argument };
                self.events.push(Event { thread, what: What::Call(called) });
                self.open[thread] = Some((insert, None));
            }
            Some((_, Some(answer))) => {
                self.events.push(Event { thread, what: What::End(Outcome::Return(answer)) });
            }
            Some((Some(value), None)) => {
                self.inside.push(value);
                self.open[thread] = Some((Some(value), Some(Value::Nil)));
            }
            Some((None, None)) => {
                let answer = self.take();
                self.open[thread] = Some((None, Some(answer.map_or(Value::Nil, Value::Int))));
            }
        }
    }

    fn take(&mut self) -> Option<i64> {
        let most = self.inside.iter().copied().max();
        let mut at = match self.kind {
            Kind::Queue => 0,
            Kind::Stack => self.inside.len().saturating_sub(1),
            _ => self.inside.iter().position(|value| Some(*value) == most).unwrap_or(0),
        };
        if self.inside.is_empty() || (self.fault > 0 && self.rng.below(self.fault) == 0) {
            return None;
        }
        if self.fault > 0 && self.rng.below(self.fault) == 0 {
            at = self.rng.below(self.inside.len());
        }
        Some(self.inside.remove(at))
    }

    /// Lets every operation return.
    fn finish(&mut self) {
        for thread in 0..self.threads {
            while self.open[thread].is_some() {
                let answered = matches!(self.open[thread], Some((_, Some(_))));
                if !answered {
                    let (call, _) = self.open[thread].take().expect("it is open");
                    if let Some(value) = call {
                        self.inside.push(value);
                    }
                    let answer = if call.is_some() { None } else { self.take() };
                    self.open[thread] = Some((call, Some(answer.map_or(Value::Nil, Value::Int))));
                    continue;
                }
                let (_, answer) = self.open[thread].take().expect("it is open");
                let answer = answer.expect("it has one");
                self.events.push(Event { thread, what: What::End(Outcome::Return(answer)) });
            }
        }
    }
}

/// Long histories against the checkers for recorded ones, which share no code with the monitor.
fn compare_long(kind: Kind, runs: u64, steps: usize, least: u64) {
    let (mut seen, mut wrong) = (0, 0);
    for seed in 0..runs {
        let mut long = Long::new(kind, seed, [0, 400, 60][seed as usize % 3]);
        (0..steps).for_each(|_| long.step());
        long.finish();
        let draft = Draft { initial: None, events: long.events, stuck: false };
        let answer = check(&draft.log(), kind, None, &Budget::new()).expect("it fits");
        let right = matches!(answer.verdict, Verdict::Pass(_));
        assert!(right || matches!(answer.verdict, Verdict::Fail(_)), "the checker decides");
        let (found, unchecked) = watch(&draft, kind);
        assert!(found.is_empty() || !right, "{kind} seed {seed}: {}", found[0]);
        assert_eq!(unchecked, 0);
        assert_eq!(found.is_empty(), right, "{kind} seed {seed}: missed");
        seen += u64::from(!found.is_empty());
        wrong += u64::from(!right);
    }
    println!("long {kind}: {seen} of {wrong} violations seen");
    assert!(wrong > runs / 6 && 100 * seen >= least * wrong, "{seen} of {wrong}");
}

#[test]
fn long_queues_against_the_checker() {
    compare_long(Kind::Queue, 60, 400, 100);
}

#[test]
fn long_stacks_against_the_checker() {
    compare_long(Kind::Stack, 60, 400, 100);
}

#[test]
fn long_priority_queues_against_the_checker() {
    compare_long(Kind::PriorityQueue, 60, 400, 100);
}

#[test]
fn memory_does_not_grow_with_the_number_of_operations() {
    for kind in [Kind::Queue, Kind::Stack, Kind::PriorityQueue] {
        let mut long = Long::new(kind, 3, 0);
        let mut monitor = Monitor::new(kind, Settings::default()).unwrap();
        let mut most = [0; 2];
        for round in 0..200 {
            (0..1_000).for_each(|_| long.step());
            // The walk of the number of values inside is no memory of the monitor's.
            while long.inside.len() > 60 {
                long.finish();
                let thread = 0;
                let called = What::Call(crate::notation::Called {
                    object: String::new(),
                    key: Value::Nil,
                    method: match kind {
                        Kind::Queue => "deq",
                        Kind::Stack => "pop",
                        _ => "poll",
                    }
                    .to_owned(),
                    argument: Value::Nil,
                });
                let answer = long.take().map_or(Value::Nil, Value::Int);
                long.events.push(Event { thread, what: called });
                long.events.push(Event { thread, what: What::End(Outcome::Return(answer)) });
            }
            assert_eq!(feed(&mut monitor, &std::mem::take(&mut long.events)), []);
            let half = usize::from(round >= 100);
            most[half] = most[half].max(monitor.entries());
        }
        assert!(most[1] < 2 * most[0] && most[1] < 1_000, "{kind}: {most:?}");
    }
}

fn check_events(kind: Kind, text: &str, expect: &[Rule]) {
    let draft = Draft::parse(text);
    let found: Vec<Rule> = watch(&draft, kind).0.iter().map(|violation| violation.rule).collect();
    assert_eq!(found, expect, "{text}");
}

#[test]
fn each_rule_is_reported_once() {
    use Rule::{FromBelow, NotEmpty, NotFirst, NotInside, Overtaken, Stale};
    let seq = |calls: &str| -> String {
        calls
            .split("; ")
            .map(|call| {
                let (call, result) = call.split_once(" -> ").unwrap_or((call, ""));
                format!("A {call}; A ->{}{result}; ", if result.is_empty() { "" } else { " " })
            })
            .collect::<String>()
            .trim_end_matches("; ")
            .to_owned()
    };
    check_events(Kind::Queue, &seq("enq 1; enq 2; deq -> 2; deq -> 1"), &[Overtaken]);
    check_events(Kind::Queue, &seq("enq 1; enq 2; deq -> 2; deq; deq"), &[Overtaken]);
    check_events(Kind::Queue, &seq("enq 1; deq -> 1; deq -> 1"), &[NotInside]);
    check_events(Kind::Queue, &seq("deq -> 7"), &[NotInside]);
    check_events(Kind::Queue, &seq("enq 1; deq; deq -> 1"), &[NotEmpty]);
    check_events(Kind::Stack, &seq("push 1; push 2; pop -> 1; pop -> 2"), &[FromBelow]);
    check_events(Kind::PriorityQueue, &seq("insert 1; insert 2; poll -> 1; poll -> 2"), &[NotFirst]);
    check_events(Kind::PriorityQueueMin, &seq("insert 1; insert 2; poll -> 2; poll -> 1"), &[NotFirst]);
    check_events(Kind::Register, &seq("write 1; write 2; read -> 1; read -> 2"), &[Stale]);
    check_events(Kind::Queue, &seq("enq 1; enq 2; deq -> 1; deq -> 2; deq; enq 1; deq -> 1"), &[]);
    // Nobody knows what the first removal took: one value may be missing, not two.
    check_events(Kind::Queue, "A deq; A ?; B enq 1; B ->; B enq 2; B ->; B deq; B -> 2; B deq; B ->", &[]);
    check_events(
        Kind::Queue,
        "A deq; A ?; B enq 0; B ->; B enq 1; B ->; B enq 2; B ->; B deq; B -> 2; B deq; B ->",
        &[Overtaken],
    );
}

/// An operation that the object does not have may have done anything.
#[test]
fn what_is_not_known_raises_no_alarm() {
    let mut monitor = Monitor::new(Kind::Queue, Settings::default()).unwrap();
    let (a, b) = (Value::from("a"), Value::from("b"));
    let call = |monitor: &mut Monitor, thread: &Value, method: &str, argument: Value| {
        monitor.call(thread, Called { method, argument, ..Called::default() })
    };
    call(&mut monitor, &a, "enq", Value::Int(1)).unwrap();
    monitor.outcome(&a, Outcome::Return(Value::Nil)).unwrap();
    assert!(matches!(call(&mut monitor, &a, "clear", Value::Nil), Err(Refused::Misuse { .. })));
    call(&mut monitor, &b, "deq", Value::Nil).unwrap();
    monitor.outcome(&b, Outcome::Return(Value::Int(9))).unwrap();
    monitor.outcome(&a, Outcome::Return(Value::Nil)).unwrap();
    call(&mut monitor, &b, "deq", Value::Nil).unwrap();
    monitor.outcome(&b, Outcome::Return(Value::Nil)).unwrap();
    assert_eq!(monitor.counts().violations, 0);
    let counts = monitor.counts();
    assert!(counts.unchecked > 0 && counts.restarts == 2 && counts.refused == 1, "{counts:?}");
    // What comes in from now on is watched again.
    for value in [5, 6] {
        call(&mut monitor, &a, "enq", Value::Int(value)).unwrap();
        monitor.outcome(&a, Outcome::Return(Value::Nil)).unwrap();
    }
    call(&mut monitor, &b, "deq", Value::Nil).unwrap();
    monitor.outcome(&b, Outcome::Return(Value::Int(6))).unwrap();
    assert_eq!(monitor.found().map(|violation| violation.rule).collect::<Vec<_>>(), [Rule::Overtaken]);
    assert_eq!(monitor.outcome(&b, Outcome::Fail), Err(Refused::OutcomeWithoutCall));
}
