//! The rules that take one event at a time, and algorithm 1, against what looks at the whole history.

use std::collections::HashMap;

use selvedge_history::counting::online::{PermitMonitor, QueueMonitor, RegisterMonitor};
use selvedge_history::counting::{Counting, Representation};
use selvedge_history::object::Kind;
use selvedge_history::{Event, History, OpId, ThreadId, Value};

use crate::notation::{Draft, What};
use crate::random::Rng;
use crate::{brute, random};

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

/// The number of alarms that the queue's rules raise on a history.
fn alarms(draft: &Draft, mut monitor: QueueMonitor<Value>) -> usize {
    let log = draft.log();
    let mut alarms = 0;
    for mark in log.history.marks() {
        let operation = log.history.operation(mark.op());
        let op = u64::from(mark.op().0);
        let insert = !operation.input.argument.is_nil();
        alarms += match (mark.is_return(), insert) {
            (false, true) => monitor.call_insert(op, operation.input.argument.clone()).map(|()| 0),
            (false, false) => monitor.call_remove(op).map(|()| 0),
            (true, true) => monitor.ret_insert(op).map(|alarms| alarms.len()),
            (true, false) => {
                let value = operation.output().filter(|value| !value.is_nil()).cloned();
                monitor.ret_remove(op, value).map(|alarms| alarms.len())
            }
        }
        .expect("the history is well-formed");
    }
    assert_eq!(monitor.unchecked(), 0);
    alarms
}

#[test]
fn the_rules_for_queues_are_exact() {
    let mut rng = Rng::new(5);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..super::histories(3_000) {
        let draft = queue(&mut rng);
        if draft.log().history.len() > 8 {
            continue;
        }
        let linearizable = brute::linearizable(&draft.log(), Kind::Queue);
        assert_eq!(alarms(&draft, QueueMonitor::queue()) == 0, linearizable, "{draft}");
        // What holds for every collection holds for a queue.
        assert!(!linearizable || alarms(&draft, QueueMonitor::collection()) == 0, "{draft}");
        *if linearizable { &mut right } else { &mut wrong } += 1;
    }
    println!("queues: {right} right without an alarm, {wrong} wrong with one");
    assert!(right > 300 && wrong > 300, "{right} {wrong}");
}

/// Each value is written (or locked) once in these histories, or they are left out.
fn has_distinct_values(draft: &Draft) -> bool {
    let mut values: Vec<&Value> = Vec::new();
    draft.events.iter().all(|event| match &event.what {
        What::Call(called) if !called.argument.is_nil() => {
            let new = !values.contains(&&called.argument) && draft.initial.as_ref() != Some(&called.argument);
            values.push(&called.argument);
            new && called.object.is_empty() && called.key.is_nil()
        }
        What::Call(called) => called.object.is_empty() && called.key.is_nil(),
        What::End(_) => true,
    })
}

#[test]
fn the_rules_for_registers_raise_no_false_alarm() {
    let (mut raised, mut wrong) = (0, 0);
    for seed in 0..super::histories(3_000) {
        let draft = random::draft(Kind::Register, seed);
        if !has_distinct_values(&draft) {
            continue;
        }
        let log = draft.log();
        let mut monitor = RegisterMonitor::new(log.initial.clone().unwrap_or_default());
        let mut alarmed = false;
        for mark in log.history.marks() {
            let operation = log.history.operation(mark.op());
            let op = u64::from(mark.op().0);
            let value = operation.input.argument.clone();
            match (mark.is_return(), !value.is_nil()) {
                (false, true) => monitor.call_write(op, value).unwrap(),
                (false, false) => monitor.call_read(op).unwrap(),
                (true, true) => monitor.ret_write(op).unwrap(),
                (true, false) => {
                    alarmed |= monitor.ret_read(op, operation.output().unwrap().clone()).unwrap().is_some()
                }
            }
        }
        let linearizable = brute::linearizable(&log, Kind::Register);
        assert!(!alarmed || !linearizable, "{draft}");
        raised += u32::from(alarmed);
        wrong += u32::from(!linearizable);
    }
    println!("registers: alarms on {raised} of {wrong} violations");
    assert!(raised * 2 > wrong && raised > 20, "{raised} of {wrong}");
}

#[test]
fn the_rules_for_mutexes_raise_no_false_alarm() {
    let (mut raised, mut wrong) = (0, 0);
    for seed in 0..super::histories(3_000) {
        let draft = random::draft(Kind::Mutex, seed);
        if !has_distinct_values(&draft) {
            continue;
        }
        let log = draft.log();
        let mut monitor = PermitMonitor::mutex();
        let mut alarmed = false;
        for mark in log.history.marks() {
            let operation = log.history.operation(mark.op());
            let op = u64::from(mark.op().0);
            let release = log.name(operation.input.method) == "release";
            match (mark.is_return(), release, operation.output()) {
                (false, true, _) => monitor.call_release(),
                (false, false, _) => monitor.call_acquire(),
                (true, true, _) => alarmed |= monitor.ret_release(op).is_some(),
                (true, false, Some(Value::Bool(false))) => monitor.ret_refused(),
                (true, false, _) => alarmed |= monitor.ret_acquire(op).is_some(),
            }
        }
        let linearizable = brute::linearizable(&log, Kind::Mutex);
        assert!(!alarmed || !linearizable, "{draft}");
        raised += u32::from(alarmed);
        wrong += u32::from(!linearizable);
    }
    println!("mutexes: alarms on {raised} of {wrong} violations");
    assert!(raised > 20, "{raised} of {wrong}");
}

/// A queue that runs for long keeps nothing of what is over.
#[test]
fn memory_does_not_grow_with_the_number_of_operations() {
    let mut monitor: QueueMonitor<u64> = QueueMonitor::queue();
    let mut register: RegisterMonitor<u64> = RegisterMonitor::new(0);
    let (mut most, mut most_register) = (0, 0);
    for i in 1..200_000u64 {
        monitor.call_insert(2 * i, i).unwrap();
        monitor.call_remove(2 * i + 1).unwrap();
        assert_eq!(monitor.ret_insert(2 * i).unwrap(), []);
        assert_eq!(monitor.ret_remove(2 * i + 1, Some(i)).unwrap(), []);
        register.call_write(i, i).unwrap();
        register.ret_write(i).unwrap();
        register.call_read(i).unwrap();
        assert_eq!(register.ret_read(i, i).unwrap(), None);
        most = most.max(monitor.entries());
        most_register = most_register.max(register.entries());
    }
    assert!(most <= 8 && most_register <= 64, "{most} {most_register}");
}

/// Algorithm 1 has after every event what the definition of A_k has.
#[test]
fn algorithm_1_counts_what_the_definition_counts() {
    let mut rng = Rng::new(11);
    for _ in 0..super::histories(400) {
        let k = rng.below(5);
        let mut counting: Counting<(u32, bool)> = Counting::new(k);
        let mut events: Vec<Event<u32, ()>> = Vec::new();
        let mut open: HashMap<u32, u32> = HashMap::new();
        for op in 0..30u64 {
            let thread = rng.below(4) as u32;
            match open.remove(&thread) {
                Some(label) => {
                    events.push(Event::Return { thread: ThreadId(thread), output: () });
                    counting.ret(u64::from(thread), (label, false)).unwrap();
                }
                None => {
                    let label = rng.below(3) as u32;
                    open.insert(thread, label);
                    events.push(Event::Call { thread: ThreadId(thread), input: label });
                    counting.call(u64::from(thread), (label, true)).unwrap();
                }
            }
            let end = if open.is_empty() { selvedge_history::End::Complete } else { selvedge_history::End::Truncated };
            let history = History::new(events.iter().cloned(), end).unwrap();
            let label =
                |_: OpId, operation: &selvedge_history::Operation<u32, ()>| (operation.input, operation.ret.is_none());
            assert!(*counting.representation() == Representation::of(&history, k, label), "k={k} after event {op}");
        }
    }
}
