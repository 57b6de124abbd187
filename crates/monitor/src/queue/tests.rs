//! Calls and returns of several threads in random order, against the rule as it is written down: all pairs of values, with the moments of their calls and returns.

use super::*;
use crate::draw::Draw;

const THREADS: usize = 4;

#[derive(Clone, Copy)]
enum Open {
    Nothing,
    Insert(usize),
    Remove { exit: Exit, called: u64 },
}

/// A value's way: moments of calls and returns.
struct Value {
    stamp: NonZeroU64,
    put: (u64, Option<u64>),
    /// When its first removal returned.
    removed: Option<u64>,
}

struct Script {
    watch: Watch,
    open: [Open; THREADS],
    values: Vec<Value>,
    inside: Vec<usize>,
    now: u64,
    told: usize,
}

impl Script {
    fn new() -> Self {
        let (values, inside) = (Vec::new(), Vec::new());
        Script { watch: Watch::new(), open: [Open::Nothing; THREADS], values, inside, now: 0, told: 0 }
    }

    fn step(&mut self, thread: usize, draw: &mut Draw) {
        self.now += 1;
        let own = self.watch.of(thread);
        self.open[thread] = match self.open[thread] {
            Open::Nothing if self.inside.is_empty() || draw.below(2) == 0 => {
                self.values.push(Value { stamp: self.watch.enter(own), put: (self.now, None), removed: None });
                self.inside.push(self.values.len() - 1);
                Open::Insert(self.values.len() - 1)
            }
            Open::Nothing => Open::Remove { exit: self.watch.leave(own), called: self.now },
            Open::Insert(value) => {
                self.watch.entered(own, self.values[value].stamp);
                self.values[value].put.1 = Some(self.now);
                Open::Nothing
            }
            Open::Remove { exit, called } => {
                self.remove(thread, exit, called, draw);
                Open::Nothing
            }
        };
    }

    fn remove(&mut self, thread: usize, exit: Exit, called: u64, draw: &mut Draw) {
        let again = self.values.iter().rposition(|value| value.removed.is_some_and(|removed| removed < called));
        let (value, expected) = match (draw.below(12), again) {
            (0, Some(again)) => (again, vec!["not-inside"]),
            // Others took what was there: not asked here.
            _ if self.inside.is_empty() => return self.watch.of(thread).track.left_nothing(),
            (1..4, _) => self.first_time(draw.below(self.inside.len()), called),
            _ => self.first_time(0, called),
        };
        self.watch.left(self.watch.of(thread), exit, self.values[value].stamp.get());
        let report = self.watch.findings.report(false);
        let found: Vec<&str> = report.violations()[self.told..].iter().map(|violation| violation.rule).collect();
        assert_eq!((found, report.unchecked()), (expected, 0), "at moment {}", self.now);
        self.told = report.violations().len();
    }

    /// Takes a value out; whether another had come out when that began which was put in after this one was inside.
    fn first_time(&mut self, place: usize, called: u64) -> (usize, Vec<&'static str>) {
        let value = self.inside.remove(place);
        let overtakes = |other: &Value| {
            other.removed.is_some_and(|removed| removed < called)
                && self.values[value].put.1.is_some_and(|returned| returned < other.put.0)
        };
        let expected = if self.values.iter().any(overtakes) { vec!["overtaken"] } else { Vec::new() };
        self.values[value].removed = Some(self.now);
        (value, expected)
    }
}

#[test]
fn every_value_that_is_overtaken_is_found_and_no_other() {
    let mut draw = Draw::new(61);
    let mut rules = std::collections::BTreeMap::<&str, u64>::new();
    for _ in 0..600 {
        let mut script = Script::new();
        (0..160).for_each(|_| script.step(draw.below(THREADS), &mut draw));
        for violation in script.watch.findings.report(false).violations() {
            *rules.entry(violation.rule).or_default() += 1;
        }
    }
    assert_eq!(rules.keys().copied().collect::<Vec<_>>(), ["not-inside", "overtaken"]);
    assert!(rules.values().all(|number| *number > 1_000), "{rules:?}");
}

/// An insertion moves the clock before it is added up: whoever asks in between must not compare sums.
#[test]
fn an_insertion_that_has_returned_in_part_is_no_alarm() {
    let watch = Watch::new();
    let (one, other) = (watch.of(0), watch.of(1));
    let stamp = watch.enter(one);
    let exit = watch.leave(other);
    watch.left(other, exit, stamp.get());
    let returned = watch.clock.ret();
    let report = watch.report();
    assert_eq!((report.violations(), report.verdict()), (&[][..], super::super::Verdict::Unknown));
    one.track.entered(stamp.get(), returned);
    assert_eq!(watch.report().verdict(), super::super::Verdict::NothingWrong);
}

/// More insertions that overlap than are remembered: of those that are forgotten it is known that later ones of their thread came after them.
#[test]
fn what_is_forgotten_is_no_alarm_and_what_came_after_it_is() {
    let watch = Watch::new();
    let (one, other) = (watch.of(0), watch.of(1));
    // Each insertion of one overlaps with two of the other.
    let mut stamps = Vec::new();
    for _ in 0..10_000 {
        let stamp = watch.enter(one);
        let between = watch.enter(other);
        watch.entered(other, between);
        watch.entered(one, stamp);
        stamps.push((stamp, between));
    }
    let take = |stamp: NonZeroU64| watch.left(one, watch.leave(one), stamp.get());
    take(stamps[0].1);
    take(stamps[0].0);
    assert_eq!(watch.findings.report(false).total(), 0, "they overlapped");
    take(stamps[9_999].0);
    take(stamps[1].0);
    let report = watch.findings.report(false);
    assert_eq!(report.violations().iter().map(|violation| violation.rule).collect::<Vec<_>>(), ["overtaken"]);
}
