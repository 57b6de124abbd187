//! The worked examples of Round-Up, and those of docs/semantics.md.

use selvedge_history::quasi::{Causality, Order, Reading, Rules};

use super::reference::{State, backtrack_run, compute_quasi_permutations, compute_sequentializations, first_run};
use super::small::{Did, Op, Relaxed, Shape, is_legal, library};
use super::{as_printed, reference};

/// Operations one after the other.
fn serial(dids: &[Did]) -> Vec<Op> {
    let op = |(i, &did)| Op { thread: 0, did, call: 2 * i, ret: 2 * i + 1 };
    dids.iter().enumerate().map(op).collect()
}

fn put(value: i64) -> Did {
    Did::Put(value)
}

fn take(value: i64) -> Did {
    Did::Take(Some(value))
}

fn puts_then(values: i64, out: &[i64]) -> Vec<Op> {
    let puts = (1..=values).map(put);
    serial(&puts.chain(out.iter().copied().map(take)).collect::<Vec<_>>())
}

/// The library and, where it speaks about it, the reference.
#[track_caller]
fn check(ops: &[Op], relaxed: Relaxed, rules: &Rules, expected: bool) {
    assert_eq!(library(Shape::Queue, ops, relaxed, rules), expected, "{relaxed:?} {rules:?} {ops:?}");
    if let (Relaxed::All(k), true) = (relaxed, *rules == as_printed()) {
        let mut reference = reference::Reference::new(Shape::Queue);
        assert_eq!(reference.check_quasi_linearizability(ops, k as usize), expected, "reference, K={k}: {ops:?}");
    }
}

/// Figure 1: 1 and 2 are put in; then enq(3) runs beside enq(4) and deq; then three more come out.
fn figure_1(deqs: [i64; 4]) -> Vec<Op> {
    let mut ops = serial(&[put(1), put(2)]);
    let op = |thread, did, call, ret| Op { thread, did, call, ret };
    ops.extend([op(1, put(3), 4, 9), op(2, put(4), 5, 6), op(2, take(deqs[0]), 7, 8)]);
    let rest = deqs[1..].iter().enumerate();
    ops.extend(rest.map(|(i, &value)| op(0, take(value), 10 + 2 * i, 11 + 2 * i)));
    ops
}

#[test]
fn figure_2_has_three_legal_serial_histories() {
    let ops = figure_1([1, 2, 3, 4]);
    let serial = compute_sequentializations(&ops);
    assert_eq!(serial.len(), 3);
    // What comes out of each of them, when nothing else tells.
    let mut out: Vec<Vec<i64>> = Vec::new();
    for order in serial {
        for deqs in [[1, 2, 3, 4], [1, 2, 4, 3]] {
            let ops = figure_1(deqs);
            let run: Vec<Did> = order.iter().map(|&i| ops[i].did).collect();
            if is_legal(Shape::Queue, &run) {
                out.push(deqs.to_vec());
            }
        }
    }
    out.sort();
    assert_eq!(out, [vec![1, 2, 3, 4], vec![1, 2, 4, 3], vec![1, 2, 4, 3]]);
    for (deqs, is_linearizable) in
        [([1, 2, 3, 4], true), ([1, 2, 4, 3], true), ([3, 2, 1, 4], false), ([2, 1, 3, 4], false)]
    {
        check(&figure_1(deqs), Relaxed::All(0), &as_printed(), is_linearizable);
    }
    // 3, 2, 1, 4 needs 3 to come out two places early.
    check(&figure_1([3, 2, 1, 4]), Relaxed::PutTake(0, 1), &Rules::default(), false);
    check(&figure_1([3, 2, 1, 4]), Relaxed::PutTake(0, 2), &Rules::default(), true);
    check(&figure_1([2, 1, 3, 4]), Relaxed::PutTake(0, 1), &Rules::default(), true);
}

#[test]
fn figure_3_one_is_linearizable_and_four_are_1_quasi() {
    for (out, linearizable) in
        [([1, 2, 3, 4], true), ([2, 1, 3, 4], false), ([1, 2, 4, 3], false), ([2, 1, 4, 3], false)]
    {
        for rules in [as_printed(), Rules::default(), Rules { order: Order::Strict, ..Rules::default() }] {
            check(&puts_then(4, &out), Relaxed::All(0), &rules, linearizable);
            check(&puts_then(4, &out), Relaxed::All(1), &rules, true);
            check(&puts_then(4, &out), Relaxed::PutTake(0, 1), &rules, true);
        }
    }
    // Without the window of figure 4, 1 is overtaken again and again.
    check(&puts_then(4, &[2, 3, 4, 1]), Relaxed::PutTake(0, 1), &Rules::default(), false);
    check(&puts_then(4, &[2, 3]), Relaxed::PutTake(0, 1), &Rules::default(), false);
    check(&puts_then(4, &[2, 3]), Relaxed::PutTake(0, 2), &Rules::default(), true);
}

#[test]
fn the_search_of_figure_7_finds_histories_0_1_and_2() {
    let mut all = compute_quasi_permutations(3, 1);
    all.push(vec![0, 1, 2]);
    all.sort();
    assert_eq!(all, [[0, 1, 2], [0, 2, 1], [1, 0, 2]]);
    let six = [[1, 2, 3], [2, 1, 3], [1, 3, 2], [3, 1, 2], [2, 3, 1], [3, 2, 1]];
    for (i, out) in six.iter().enumerate() {
        for order in [Order::Distance, Order::Strict] {
            let rules = Rules { order, reading: Reading::Closed, ..Rules::default() };
            check(&puts_then(3, out), Relaxed::PutTake(0, 1), &rules, i < 3);
        }
    }
}

/// The enabled events of a state with their lateness, numbered from 1 as in the paper.
fn enabled(state: &State) -> Vec<(usize, i64)> {
    let mut all: Vec<(usize, i64)> = state.enabled.iter().map(|&(event, lateness)| (event + 1, lateness)).collect();
    all.sort_unstable();
    all
}

#[test]
fn examples_1_to_4_show_what_is_enabled_and_how_late_it_is() {
    let mut stack = first_run(3, 1);
    let newly: Vec<Vec<usize>> =
        stack.iter().map(|state| state.newly_enabled.iter().map(|entry| entry.0 + 1).collect()).collect();
    assert_eq!(newly, [vec![1, 2], vec![3], vec![]]);
    let events = |state: &State| enabled(state).into_iter().map(|entry| entry.0).collect::<Vec<_>>();
    assert_eq!(stack.iter().map(events).collect::<Vec<_>>(), [vec![1, 2], vec![2, 3], vec![3]]);
    assert_eq!(stack.iter().map(|state| state.done.clone()).collect::<Vec<_>>(), [[0], [1], [2]]);
    assert_eq!(backtrack_run(&mut stack, 1), Some(vec![0, 2, 1]));
    assert_eq!(backtrack_run(&mut stack, 1), Some(vec![1, 0, 2]));
    assert_eq!(enabled(&stack[0]), [(1, 0), (2, -1)]);
    assert_eq!(enabled(&stack[1]), [(1, 1), (3, -1)]);
    assert_eq!(enabled(&stack[2]), [(3, 0)]);
    assert_eq!(stack[0].done, [0, 1]);
    assert_eq!(backtrack_run(&mut stack, 1), None);
    // Example 3: k steps early to k steps late.
    let stack = first_run(9, 3);
    for (i, state) in stack.iter().enumerate().take(5).skip(1) {
        let lateness = state.enabled.iter().find(|entry| entry.0 == 4).map(|entry| entry.1);
        assert_eq!(lateness, Some(i as i64 - 4));
    }
}

#[test]
fn out_of_thin_air_and_its_cure() {
    let thin = puts_then_345(&[4]);
    // Insertions are exact: with everything in one class, enq(3) and enq(4) could change places.
    check(&thin, Relaxed::PutTake(0, 1), &as_printed(), false);
    check(&thin, Relaxed::All(1), &as_printed(), true);
    // As the beginning of something longer it is fine, and with the rest drained it is so by itself.
    check(&thin, Relaxed::All(1), &Rules::default(), true);
    check(&thin, Relaxed::PutTake(0, 1), &Rules::default(), true);
    check(&puts_then_345(&[4, 3, 5]), Relaxed::PutTake(0, 1), &as_printed(), true);
    check(&puts_then_345(&[4, 5, 3]), Relaxed::PutTake(0, 1), &as_printed(), false);
    // A value that nobody ever puts in is wrong in every reading.
    for reading in [Reading::Prefix, Reading::Closed] {
        let rules = Rules { reading, ..Rules::default() };
        check(&puts_then_345(&[9]), Relaxed::All(3), &rules, false);
    }
}

fn puts_then_345(out: &[i64]) -> Vec<Op> {
    let puts = [3, 4, 5].map(put);
    serial(&puts.into_iter().chain(out.iter().copied().map(take)).collect::<Vec<_>>())
}

#[test]
fn the_three_holes_of_definition_4() {
    let free = Rules { causality: Causality::Free, ..Rules::default() };
    let backwards = serial(&[take(1), put(1)]);
    // Nothing ties the classes together in print; here the word of classes does.
    check(&backwards, Relaxed::PutTake(0, 0), &as_printed(), false);
    check(&backwards, Relaxed::PutTake(0, 1), &as_printed(), false);
    check(&backwards, Relaxed::All(1), &as_printed(), true);
    // A value may not be returned before it is inserted, unless that is asked for.
    check(&backwards, Relaxed::All(1), &Rules::default(), false);
    check(&backwards, Relaxed::All(1), &free, true);
    check(&backwards, Relaxed::PutTake(0, 1), &free, true);
    // A queue that is not drained.
    let open = puts_then(2, &[2]);
    check(&open, Relaxed::PutTake(0, 1), &as_printed(), false);
    check(&open, Relaxed::PutTake(0, 1), &Rules::default(), true);
}

#[test]
fn distance_and_strict_part_at_two() {
    let strict = Rules { order: Order::Strict, reading: Reading::Closed, ..Rules::default() };
    let distance = Rules { reading: Reading::Closed, ..Rules::default() };
    let parting = puts_then(6, &[1, 4, 2, 5, 6, 3]);
    check(&parting, Relaxed::PutTake(0, 2), &strict, true);
    check(&parting, Relaxed::PutTake(0, 2), &distance, false);
    check(&parting, Relaxed::PutTake(0, 3), &distance, true);
    // A permutation that windows of 2K+1 miss.
    check(&puts_then(6, &[2, 4, 1, 6, 3, 5]), Relaxed::PutTake(0, 2), &distance, true);
    check(&puts_then(6, &[2, 4, 1, 6, 3, 5]), Relaxed::PutTake(0, 1), &distance, false);
}
