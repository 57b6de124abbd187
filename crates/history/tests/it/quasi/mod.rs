//! Quasi linearizability: the paper's examples, and the library against its algorithms and against the definition.
//!
//! `reference` is Round-Up's algorithms 1 and 2; `brute` is the definition of docs/semantics.md, in all its readings. The default
//! run is small. The large one:
//!
//! ```text
//! SELVEDGE_QUASI_FULL=1 cargo test --release -p selvedge-history --test it quasi
//! ```

mod brute;
mod certificates;
mod least;
mod others;
mod paper;
mod reference;
mod small;

use selvedge_history::quasi::{Causality, Order, Reading, Rules};

use crate::random::Rng;
use small::{Did, Op, Relaxed, SHAPES, Shape, library};

fn is_full() -> bool {
    std::env::var_os("SELVEDGE_QUASI_FULL").is_some()
}

/// The rules under which the paper's algorithms decide.
fn as_printed() -> Rules {
    Rules { reading: Reading::Closed, causality: Causality::Free, ..Rules::default() }
}

#[track_caller]
fn agrees_with_reference(reference: &mut reference::Reference, shape: Shape, ops: &[Op]) {
    for k in 0..=3 {
        let expected = reference.check_quasi_linearizability(ops, k);
        let answer = library(shape, ops, Relaxed::All(k as u32), &as_printed());
        assert_eq!(answer, expected, "{shape:?}, K={k}: {ops:?}");
    }
}

#[test]
fn all_small_histories_are_decided_as_the_paper_does() {
    let most = if is_full() { 5 } else { 3 };
    let mut seen = 0u64;
    for shape in SHAPES {
        let mut reference = reference::Reference::new(shape);
        for n in 1..=most {
            small::every(n, &mut |ops| {
                agrees_with_reference(&mut reference, shape, ops);
                seen += 1;
            });
        }
    }
    println!("{seen} histories, K = 0..3");
    assert!(seen > 1000);
}

#[test]
fn random_histories_are_decided_as_the_paper_does() {
    let (histories, most) = if is_full() { (100_000, 9) } else { (1_500, 6) };
    for (i, shape) in SHAPES.into_iter().enumerate() {
        let mut rng = Rng::new(7 + i as u64);
        for _ in 0..histories / 3 {
            let ops = small::random(&mut rng, most, 3, 0);
            // The memory of the reference is for one history: it would grow without end.
            agrees_with_reference(&mut reference::Reference::new(shape), shape, &ops);
        }
    }
}

/// Every reading on one history. What passes closed passes as a prefix, so brute force is asked only where it might not.
fn agrees_with_definition(shape: Shape, ops: &[Op], most: u32) {
    for causality in [Causality::Causal, Causality::Free] {
        // Without the guard a continuation may hold insertions too, and brute force takes too long for more.
        let most = if causality == Causality::Free && ops.len() > 3 { most.min(1) } else { most };
        for order in [Order::Distance, Order::Strict] {
            for k in 0..=most {
                let each = [Relaxed::All(k), Relaxed::PutTake(0, k), Relaxed::Each(0, k, 0), Relaxed::Each(k, 1, 1)];
                for relaxed in each {
                    let mut expected = false;
                    for reading in [Reading::Closed, Reading::Prefix] {
                        let rules = Rules { factors: Vec::new(), reading, causality, order };
                        expected = expected || brute::holds(shape, ops, relaxed, &rules);
                        let answer = library(shape, ops, relaxed, &rules);
                        assert_eq!(answer, expected, "{shape:?}, {relaxed:?}, {rules:?}: {ops:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn small_histories_are_decided_by_the_definition() {
    let most = if is_full() { 4 } else { 3 };
    for shape in SHAPES {
        let mut turn = 0;
        for n in 1..=most {
            small::every(n, &mut |ops| {
                turn += 1;
                if if is_full() { n < 4 || turn % 11 == 0 } else { turn % 29 == 0 } {
                    agrees_with_definition(shape, ops, 2);
                }
            });
        }
    }
}

#[test]
fn random_histories_are_decided_by_the_definition() {
    let (histories, most) = if is_full() { (1_000, 5) } else { (25, 4) };
    for (i, shape) in SHAPES.into_iter().enumerate() {
        let mut rng = Rng::new(100 + i as u64);
        for _ in 0..histories {
            let mut ops = small::random(&mut rng, most, 3, 1);
            if rng.percent(30) {
                small::spoil(&mut rng, &mut ops);
            }
            agrees_with_definition(shape, &ops, if ops.len() > 4 { 1 } else { 2 });
        }
    }
}

/// What is pending may have taken effect with any result or not at all, and no continuation brings its value instead.
#[test]
fn pending_operations_are_decided_by_the_definition() {
    let (histories, ops_max, most) = if is_full() { (1_500, 4, 3) } else { (20, 3, 2) };
    let mut seen = 0;
    for (i, shape) in SHAPES.into_iter().enumerate() {
        let mut rng = Rng::new(200 + i as u64);
        while seen < histories * (i + 1) {
            let mut ops = small::random(&mut rng, ops_max, 3, 3);
            if rng.percent(30) {
                small::spoil(&mut rng, &mut ops);
            }
            if ops.iter().any(Op::is_pending) {
                agrees_with_definition(shape, &ops, if ops.len() > 3 { most.min(2) } else { most });
                seen += 1;
            }
        }
    }
    println!("{seen} histories with pending operations");
}

/// A pending insertion does not come a second time: `enq(1)` pending, `deq→1` twice.
#[test]
fn a_pending_insertion_happens_once() {
    let put = Op { thread: 0, did: Did::Put(1), call: 0, ret: usize::MAX };
    let take = |i: usize| Op { thread: 1, did: Did::Take(Some(1)), call: 2 * i - 1, ret: 2 * i };
    for shape in SHAPES {
        for k in 0..=3 {
            for relaxed in [Relaxed::All(k), Relaxed::PutTake(k, k), Relaxed::PutTake(k, 0), Relaxed::PutTake(0, k)] {
                for order in [Order::Distance, Order::Strict] {
                    let rules = Rules { order, ..Rules::default() };
                    assert!(library(shape, &[put, take(1)], relaxed, &rules), "{shape:?} {relaxed:?} {order:?}");
                    assert!(
                        !library(shape, &[put, take(1), take(2)], relaxed, &rules),
                        "{shape:?} {relaxed:?} {order:?}"
                    );
                }
            }
        }
    }
}
