//! Right objects of which not everything is seen: events that cannot be read, a monitor that comes late, operations that the object does not have, and outcomes that
//! nobody knows. None of that may raise an alarm, and what is wrong is seen again later.

use selvedge_history::monitor::{Called, Missed, Monitor, Settings, Violation};
use selvedge_history::object::Kind;
use selvedge_history::{Outcome, Value};

use super::histories;
use crate::random::Rng;

const KINDS: [Kind; 5] = [Kind::Queue, Kind::Stack, Kind::PriorityQueue, Kind::Bag, Kind::Register];

#[derive(Clone, Debug)]
enum What {
    Call(&'static str, Value),
    End(Outcome),
}

#[derive(Clone, Debug)]
struct Event {
    thread: usize,
    what: What,
}

/// An operation that has been called: what it puts in, unless it takes out or is strange; and its answer once it has taken effect.
#[derive(Clone, Debug)]
struct Open {
    puts: Option<i64>,
    strange: bool,
    answer: Option<Value>,
}

/// An object that does what it should, used by threads in random order. No value is put in twice.
struct Object {
    kind: Kind,
    rng: Rng,
    inside: Vec<i64>,
    next: i64,
    open: Vec<Option<Open>>,
    /// Operations whose outcome nobody knows: they take effect some day, or never.
    unknown: Vec<Open>,
    events: Vec<Event>,
    /// In how many of a hundred cases an operation is strange, or its outcome unknown.
    odd: usize,
    /// In how many of a hundred cases it takes out what it should not.
    wrong: usize,
}

impl Object {
    fn new(kind: Kind, seed: u64, wrong: usize) -> Self {
        let mut rng = Rng::new(seed);
        let threads = 2 + rng.below(5);
        let odd = [0, 0, 4, 10][rng.below(4)];
        let (inside, unknown, events) = (Vec::new(), Vec::new(), Vec::new());
        Object { kind, rng, inside, next: 0, open: vec![None; threads], unknown, events, odd, wrong }
    }

    fn names(&self) -> [&'static str; 2] {
        match self.kind {
            Kind::Queue => ["enq", "deq"],
            Kind::Stack => ["push", "pop"],
            Kind::PriorityQueue => ["insert", "poll"],
            Kind::Bag => ["add", "remove"],
            _ => ["write", "read"],
        }
    }

    fn take(&mut self) -> Value {
        if self.inside.is_empty() {
            return Value::Nil;
        }
        let most = self.inside.iter().copied().max();
        let any = self.rng.below(self.inside.len());
        let at = match self.kind {
            _ if self.rng.percent(self.wrong) => any,
            Kind::Queue => 0,
            Kind::Stack => self.inside.len() - 1,
            Kind::PriorityQueue => self.inside.iter().position(|value| Some(*value) == most).expect("there is one"),
            Kind::Bag => any,
            _ => return Value::Int(*self.inside.last().expect("there is one")),
        };
        Value::Int(self.inside.remove(at))
    }

    fn put(&mut self, value: i64) {
        self.inside.push(value);
    }

    fn effect(&mut self, mut open: Open) -> Open {
        let answer = match open.puts {
            _ if open.strange => {
                // It does whatever it likes.
                if self.kind != Kind::Register && self.rng.percent(50) {
                    self.inside.clear();
                }
                self.next += 1;
                self.put(self.next);
                Value::Nil
            }
            Some(value) => {
                self.put(value);
                Value::Nil
            }
            None => self.take(),
        };
        open.answer = Some(answer);
        open
    }

    fn step(&mut self) {
        if !self.unknown.is_empty() && self.rng.percent(10) {
            let at = self.rng.below(self.unknown.len());
            let open = self.unknown.swap_remove(at);
            self.effect(open);
        }
        let thread = self.rng.below(self.open.len());
        let what = match self.open[thread].take() {
            None => {
                self.next += 1;
                let puts = self.rng.percent(50).then_some(self.next * 7919 % 1_000_003);
                let strange = self.rng.percent(self.odd / 4);
                self.open[thread] = Some(Open { puts, strange, answer: None });
                let name = if strange { "tidy_up" } else { self.names()[usize::from(puts.is_none())] };
                What::Call(name, puts.map_or(Value::Nil, Value::Int))
            }
            Some(open) if open.answer.is_none() && !self.rng.percent(self.odd) => {
                self.open[thread] = Some(self.effect(open));
                return;
            }
            Some(open) if open.answer.is_none() || self.rng.percent(self.odd) => {
                if open.answer.is_none() {
                    self.unknown.push(open);
                }
                What::End(Outcome::Unknown)
            }
            Some(open) => What::End(Outcome::Return(open.answer.unwrap_or_default())),
        };
        self.events.push(Event { thread, what });
    }
}

fn tell(monitor: &mut Monitor, event: &Event) {
    let thread = Value::Int(event.thread as i64);
    // What does not fit is counted.
    let _ = match &event.what {
        What::Call(method, argument) => {
            monitor.call(&thread, Called { method, argument: argument.clone(), ..Called::default() })
        }
        What::End(outcome) => monitor.outcome(&thread, outcome.clone()),
    };
}

/// Watches the events, of which some are not seen.
fn watch(kind: Kind, events: &[Event], k: Option<usize>, rng: &mut Rng) -> (Vec<Violation>, Monitor) {
    let (attach, trouble) = (rng.percent(25), rng.below(4));
    let mut monitor = Monitor::new(kind, Settings { attach, k, ..Settings::default() }).expect("it fits");
    let (mut left_out, often) = (if attach { rng.below(events.len()) } else { 0 }, [0, 3, 10][rng.below(3)]);
    for event in events {
        if left_out > 0 {
            left_out -= 1;
        } else if rng.percent(often) {
            // In most histories one kind of trouble alone, so that none is excused by another.
            match if trouble < 3 { trouble } else { rng.below(3) } {
                0 => {
                    left_out = rng.below(6);
                    monitor.start_over(Missed::Many);
                }
                1 => monitor.start_over(Missed::Some(1)),
                // Nothing was missed, but nobody knows in which order things happened.
                _ => {
                    tell(&mut monitor, event);
                    monitor.start_over(Missed::Some(0));
                }
            }
        } else {
            tell(&mut monitor, event);
        }
    }
    (monitor.found().collect(), monitor)
}

#[test]
fn what_was_missed_is_no_alarm() {
    for kind in KINDS {
        let ks = if kind == Kind::Queue { &[None, Some(0), Some(2), Some(50)][..] } else { &[None] };
        for seed in 0..histories(2_000) {
            let mut object = Object::new(kind, 4_000_000 + seed, 0);
            let steps = 10 + object.rng.below(120);
            (0..steps).for_each(|_| object.step());
            for k in ks {
                let (found, _) = watch(kind, &object.events, *k, &mut Rng::new(seed));
                assert!(found.is_empty(), "{kind} seed {seed} k {k:?}: {}\n{:#?}", found[0], object.events);
            }
        }
    }
}

/// A removal that was open when checking started over, or whose call could not be read, takes what comes in next.
#[test]
fn removals_that_are_open_take_what_comes_in_later() {
    let kinds = [(Kind::Queue, "enq", "deq"), (Kind::Stack, "push", "pop"), (Kind::Bag, "add", "remove")];
    for (kind, put, take) in kinds {
        for (unreadable, late) in [(false, false), (false, true), (true, false)] {
            let mut monitor = Monitor::new(kind, Settings::default()).expect("it fits");
            let call = |thread, method, argument| Event { thread, what: What::Call(method, argument) };
            let end = |thread, value| Event { thread, what: What::End(Outcome::Return(value)) };
            if !unreadable {
                tell(&mut monitor, &call(0, take, Value::Nil));
            }
            monitor.start_over(Missed::Some(u64::from(unreadable)));
            let done = [call(1, put, Value::Int(1)), end(1, Value::Nil)];
            done.iter().for_each(|event| tell(&mut monitor, event));
            let taken = end(0, Value::Int(1));
            if !unreadable && !late {
                tell(&mut monitor, &taken);
            }
            let after = [
                [call(1, put, Value::Int(2)), end(1, Value::Nil)],
                [call(1, take, Value::Nil), end(1, Value::Int(2))],
                [call(1, take, Value::Nil), end(1, Value::Nil)],
            ];
            after.iter().flatten().for_each(|event| tell(&mut monitor, event));
            if late {
                tell(&mut monitor, &taken);
            }
            assert_eq!(monitor.found().count(), 0, "{kind}, unreadable {unreadable}, late {late}");
        }
    }
}

/// One line that cannot be read does not make the monitor blind.
#[test]
fn what_is_wrong_after_something_was_missed_is_seen() {
    for kind in [Kind::Queue, Kind::Stack, Kind::PriorityQueue] {
        for (attach, missed, least) in [(false, Missed::Some(1), 80), (true, Missed::Many, 40)] {
            let (mut seen, runs) = (0, 200);
            for seed in 0..runs {
                let mut object = Object::new(kind, 5_000_000 + seed, 15);
                object.odd = 0;
                (0..400).for_each(|_| object.step());
                let mut monitor = Monitor::new(kind, Settings { attach, ..Settings::default() }).expect("it fits");
                monitor.start_over(missed);
                object.events.iter().for_each(|event| tell(&mut monitor, event));
                seen += u64::from(monitor.found().count() > 0);
            }
            println!("{kind}, attached {attach}: {seen} of {runs} seen");
            let least = if kind == Kind::PriorityQueue && attach { 0 } else { least };
            assert!(100 * seen >= least * runs, "{kind}, attached {attach}: {seen} of {runs}");
        }
    }
}
