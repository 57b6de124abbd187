//! How much is looked at, however many operations stay open. Counted, since time depends on the machine.

use selvedge_history::Value;
use selvedge_history::monitor::register::RegisterRule;
use selvedge_history::monitor::{Called, Monitor, Settings, Span};
use selvedge_history::object::Kind;

/// Twice as many threads that all have something open are twice as much work.
#[test]
fn threads_that_all_have_something_open() {
    let swept = |threads: i64| {
        let mut monitor = Monitor::new(Kind::Queue, Settings::default()).expect("it fits");
        for thread in 0..threads {
            let called = Called { method: "enq", argument: Value::Int(thread), ..Called::default() };
            monitor.call(&Value::Int(thread), called).expect("it fits");
        }
        assert_eq!(monitor.counts().open, threads as u64);
        monitor.swept()
    };
    for threads in [80_000, 160_000, 320_000] {
        assert!(swept(threads) <= 2 * threads as u64, "{threads} threads: {}", swept(threads));
    }
}

/// A read that stays open makes the others no slower, whether what it overlaps is read or only written.
#[test]
fn one_read_that_stays_open() {
    for reads in [true, false] {
        let looks = |is_open: bool| {
            let mut rule = RegisterRule::new(0);
            let mut alarms = Vec::new();
            let mut at = 0;
            let mut now = || {
                at += 1;
                at
            };
            if is_open {
                rule.call_read(now());
            }
            for value in 1..30_000 {
                rule.call_write(now(), 0, &value);
                rule.ret_write(now(), &value);
                if reads || value % 100 == 0 {
                    let call = now();
                    rule.call_read(call);
                    rule.ret_read(Span { thread: 1, call, ret: now() }, &value, &mut alarms);
                }
            }
            assert_eq!((alarms, rule.unchecked()), (Vec::new(), 0));
            rule.looks()
        };
        let [without, with] = [false, true].map(looks);
        assert!(with < 300_000 && without < 300_000, "{with} with it, {without} without");
    }
}

/// The ways of a register are given up when one read that stays open makes them many: what is left is the rule.
#[test]
fn ways_of_a_register_with_one_read_that_stays_open() {
    let mut monitor = Monitor::new(Kind::Register, Settings::default()).expect("it fits");
    let (open, other) = (Value::Int(0), Value::Int(1));
    monitor.call(&open, Called { method: "read", ..Called::default() }).expect("it fits");
    let mut most = 0;
    for value in 0..3_000 {
        let called = Called { method: "write", argument: Value::Int(value), ..Called::default() };
        monitor.call(&other, called).expect("it fits");
        monitor.outcome(&other, selvedge_history::Outcome::Return(Value::Nil)).expect("it fits");
        most = most.max(monitor.ways());
    }
    assert!(most < 1_000, "{most} ways");
    // What was read is judged by the rule: a value that was never written.
    monitor.outcome(&open, selvedge_history::Outcome::Return(Value::Int(-1))).expect("it fits");
    assert_eq!(monitor.found().count(), 1);
}
