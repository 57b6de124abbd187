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
    /// Whether removals take out what they should not.
    is_wrong: bool,
}

impl Script {
    fn new(is_wrong: bool) -> Self {
        crate::threads::pretend(THREADS);
        let (values, inside) = (Vec::new(), Vec::new());
        Script { watch: Watch::new(), open: [Open::Nothing; THREADS], values, inside, now: 0, told: 0, is_wrong }
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
        let chance = if self.is_wrong { draw.below(12) } else { 11 };
        let (value, expected) = match (chance, again) {
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
        let mut script = Script::new(true);
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
    crate::threads::pretend(THREADS);
    let watch = Watch::new();
    let (one, other) = (watch.of(0), watch.of(1));
    let stamp = watch.enter(one);
    let exit = watch.leave(other);
    watch.left(other, exit, stamp.get());
    let returned = watch.clock.ret();
    let report = watch.report();
    assert_eq!((report.violations(), report.verdict()), (&[][..], super::super::Verdict::Unknown));
    one.track.entered_apart(stamp.get(), returned);
    assert_eq!(watch.report().verdict(), super::super::Verdict::NothingWrong);
}

/// More insertions that overlap than are remembered: of those that are forgotten it is known that later ones of their thread came after them.
#[test]
fn what_is_forgotten_is_no_alarm_and_what_came_after_it_is() {
    crate::threads::pretend(THREADS);
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

/// What is added up by rows and by rounds of a ring is the sum over all values.
#[test]
fn sums_are_those_of_the_values() {
    let mut draw = Draw::new(8);
    for steps in [0, 1, 5, 40, 160, 30_000] {
        let mut script = Script::new(steps == 160);
        // Now and then one thread goes on alone, so that its insertions are a row.
        let mut thread = 0;
        for _ in 0..steps {
            thread = if draw.below(6) == 0 { draw.below(THREADS) } else { thread };
            script.step(thread, &mut draw);
        }
        for thread in 0..THREADS {
            if !matches!(script.open[thread], Open::Nothing) {
                assert!(script.watch.at_rest().is_none_or(|totals| totals.put < script.values.len() as u64));
                script.step(thread, &mut draw);
            }
        }
        let sum = |values: &mut dyn Iterator<Item = &Value>| {
            values.fold((0, 0u64), |(number, sum), value| {
                (number + 1, sum.wrapping_add(crate::cubes::cube(value.stamp.get())))
            })
        };
        let totals = script.watch.at_rest().expect("nothing is open");
        assert_eq!((totals.put, totals.put_sum), sum(&mut script.values.iter()));
        let removed = sum(&mut script.values.iter().filter(|value| value.removed.is_some()));
        assert_eq!((totals.taken, totals.removed_sum), removed);
    }
}

/// As many values are out as insertions have returned, but one of them is that of an insertion that is open: the other is inside, and an empty answer is false.
#[test]
fn an_empty_answer_is_not_confirmed_by_the_value_of_an_open_insertion() {
    crate::threads::pretend(THREADS);
    for is_false in [true, false] {
        let watch = Watch::new();
        let (slow, quick, taker) = (watch.of(0), watch.of(1), watch.of(2));
        let first = watch.enter(slow);
        let second = watch.enter(quick);
        if is_false {
            watch.entered(quick, second);
        }
        watch.left(taker, watch.leave(taker), first.get());
        watch.found_empty(taker, watch.leave(taker));
        if !is_false {
            watch.entered(quick, second);
        }
        watch.entered(slow, first);
        watch.left(taker, watch.leave(taker), second.get());
        let report = watch.report();
        let expected = if is_false { super::super::Verdict::Unknown } else { super::super::Verdict::NothingWrong };
        assert_eq!((report.violations(), report.verdict()), (&[][..], expected));
    }
}

/// An insertion that panics may have put its value in at any time until then, whatever its thread does next.
#[test]
fn an_insertion_that_panics_is_not_known_to_be_before_others() {
    crate::threads::pretend(THREADS);
    let watch = Watch::new();
    let (one, other) = (watch.of(0), watch.of(1));
    let panicked = watch.enter(one);
    for _ in 0..2 {
        let stamp = watch.enter(other);
        watch.entered(other, stamp);
        watch.left(other, watch.leave(other), stamp.get());
    }
    watch.unwound_push(one, panicked);
    watch.entered(one, watch.enter(one));
    watch.left(other, watch.leave(other), panicked.get());
    let report = watch.report();
    assert_eq!((report.violations(), report.verdict()), (&[][..], super::super::Verdict::Unknown));
}
