//! Explanations that were cut short say so.

use super::*;
use crate::object::queue::{Input, Queue};
use crate::{Recorder, ThreadId, Value};

/// Four values in, then out as given, one after the other; then a removal that is pending.
fn history(out: &[i64]) -> History<Input, Value> {
    let thread = ThreadId(0);
    let mut recorder = Recorder::new();
    for value in 1..=4 {
        recorder.call(thread, Input::Enq(Value::Int(value))).unwrap();
        recorder.ret(thread, Value::Nil).unwrap();
    }
    for &value in out {
        recorder.call(thread, Input::Deq).unwrap();
        recorder.ret(thread, Value::Int(value)).unwrap();
    }
    recorder.call(thread, Input::Deq).unwrap();
    recorder.finish(None).unwrap()
}

#[track_caller]
fn explained(out: &[i64], factor: u32, effort: Effort, budget: &Budget) -> Reason<Input, Value> {
    let history = history(out);
    let class = |op: &crate::Operation<Input, Value>| if op.input == Input::Deq { (1, 1) } else { (0, 0) };
    let of = history.operations().iter().map(class).collect();
    let classing = Classing { of, probes: vec![(Input::Deq, (1, 1))], insertion: (0, 0) };
    let rules = Rules { factors: vec![0, factor], ..Rules::default() };
    let numbered = Numbered::new(&Queue, &history);
    let (history, classing) = (numbered.history(&history), numbered.classing(&classing));
    let asked =
        Asked { spec: &numbered, history: &history, classing: &classing, rules: &rules, goes_on: false, budget };
    numbered.reason(asked.explain(&rules, 9, effort, &mut 0))
}

#[test]
fn what_is_found_is_told() {
    let reason = explained(&[1, 4, 2, 3], 1, EFFORT, &Budget::new());
    let Reason::Unplaced { operation: OpId(5), events: 12, is_shortest: true, before: Some(_), excess, .. } = reason
    else {
        panic!("{reason:?}")
    };
    let expected = Excess { factor: 2, class: 1, operation: Some(OpId(5)), place: 1, legal: 3 };
    assert_eq!(excess, Some(expected));
    let reason = explained(&[1, 7, 2, 3], 0, EFFORT, &Budget::new());
    assert!(matches!(reason, Reason::Unplaced { events: 12, excess: None, not_enough: Some(4), .. }), "{reason:?}");
}

#[test]
fn a_search_for_a_larger_factor_that_is_cut_short_is_unknown() {
    let reason = explained(&[1, 4, 2, 3], 1, Effort { factor: 1, ..EFFORT }, &Budget::new());
    let Reason::Unplaced { events: 12, is_shortest: true, excess: None, not_enough: None, .. } = reason else {
        panic!("{reason:?}")
    };
}

#[test]
fn a_search_for_the_shortest_prefix_that_is_cut_short_claims_no_operation() {
    let is_cut = |reason: &Reason<Input, Value>| {
        // The last return of the history: the call after it changes nothing.
        matches!(reason, Reason::Unplaced { operation: OpId(7), events: 16, is_shortest: false, before: None, .. })
    };
    let reason = explained(&[1, 4, 2, 3], 1, Effort { prefix: 1, ..EFFORT }, &Budget::new());
    assert!(is_cut(&reason), "{reason:?}");
    let budget = Budget::new();
    budget.spend(Limit::Time);
    let reason = explained(&[1, 4, 2, 3], 1, EFFORT, &budget);
    assert!(is_cut(&reason), "{reason:?}");
    assert!(matches!(reason, Reason::Unplaced { excess: None, not_enough: None, .. }), "{reason:?}");
}
