//! Calls and returns of several threads in random order, to the counters of this crate and to those that read events.

use selvedge_history::monitor::Span;
use selvedge_history::monitor::counters::Counters;

use super::*;
use crate::draw::Draw;

const THREADS: usize = 3;

#[derive(Clone, Copy)]
enum Open {
    Nothing,
    Insert { stamp: u64, at: u64 },
    Remove { begun: Begun, first: u64 },
}

/// A queue that answers as it likes, watched twice.
struct Twice {
    watch: Watch,
    twin: Counters<u64>,
    open: [Open; THREADS],
    inside: Vec<u64>,
    out: Vec<u64>,
    now: u64,
    told: usize,
}

impl Twice {
    fn new(k: usize) -> Self {
        let open = [Open::Nothing; THREADS];
        let (inside, out) = (Vec::new(), Vec::new());
        crate::threads::pretend(open.len());
        Twice { watch: Watch::new(k), twin: Counters::new(k), open, inside, out, now: 0, told: 0 }
    }

    /// The next event of this thread.
    fn step(&mut self, thread: usize, draw: &mut Draw) {
        self.now += 1;
        match self.open[thread] {
            Open::Nothing => self.call(thread, draw),
            Open::Insert { stamp, at } => {
                self.watch.entered(thread, stamp);
                self.twin.ret_insert(self.now, at, &stamp);
                self.open[thread] = Open::Nothing;
            }
            Open::Remove { begun, first } => self.ret_remove(thread, begun, first, draw),
        }
    }

    fn call(&mut self, thread: usize, draw: &mut Draw) {
        let first = self.twin.call();
        self.open[thread] = if draw.below(2) == 0 {
            let stamp = self.watch.enter(thread);
            self.twin.call_insert(first, self.now, thread as u32, &stamp);
            self.inside.push(stamp);
            Open::Insert { stamp, at: self.now }
        } else {
            let begun = self.watch.leave(thread);
            Open::Remove { begun, first }
        };
    }

    fn ret_remove(&mut self, thread: usize, begun: Begun, first: u64, draw: &mut Draw) {
        let value = match draw.below(20) {
            0 => self.out.last().copied(),
            1..4 => None,
            4..8 if !self.inside.is_empty() => Some(self.inside.remove(draw.below(self.inside.len()))),
            _ if !self.inside.is_empty() => Some(self.inside.remove(0)),
            _ => None,
        };
        match value {
            Some(stamp) => self.watch.left(begun, stamp),
            None => self.watch.found_empty(begun),
        }
        self.out.extend(value);
        self.open[thread] = Open::Nothing;
        let mut alarms = Vec::new();
        let span = Span { thread: thread as u32, call: self.now, ret: self.now };
        self.twin.ret_remove(first, span, value.as_ref(), &mut alarms);
        let twin: Vec<&str> = alarms.iter().map(|alarm| alarm.rule.name()).collect();
        let report = self.watch.findings.report(false);
        let found: Vec<&str> = report.violations()[self.told..].iter().map(|violation| violation.rule).collect();
        assert_eq!(found, twin, "at event {}", self.now);
        self.told += found.len();
        assert_eq!(report.unchecked(), 0);
    }
}

#[test]
fn the_same_is_found_as_in_events() {
    let mut draw = Draw::new(6);
    let mut rules = std::collections::BTreeMap::<&str, u64>::new();
    for round in 0..180 {
        let mut twice = Twice::new(round % 6);
        for _ in 0..450 {
            twice.step(draw.below(THREADS), &mut draw);
        }
        for violation in twice.watch.findings.report(false).violations() {
            *rules.entry(violation.rule).or_default() += 1;
        }
    }
    assert_eq!(rules.keys().copied().collect::<Vec<_>>(), ["not-empty", "not-inside", "overtaken"]);
    assert!(rules.values().all(|number| *number > 150), "{rules:?}");
}

/// More removals by one thread than it remembers, while another one is open all the time.
#[test]
fn rings_are_used_again() {
    let mut draw = Draw::new(7);
    let mut twice = Twice::new(3);
    twice.step(2, &mut draw);
    for _ in 0..4_000 {
        twice.step(draw.below(2), &mut draw);
    }
    assert!(twice.told > 100, "{}", twice.told);
}

#[test]
fn an_operation_that_panics_does_not_make_two_values_one() {
    crate::threads::pretend(2);
    let watch = Watch::new(2);
    let first = watch.enter(0);
    watch.lost(first);
    assert_ne!(first, watch.enter(0));
    assert_eq!(watch.findings.report(false).unchecked(), 1);
}
