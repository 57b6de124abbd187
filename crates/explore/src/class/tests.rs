//! The classes of random interleavings against the definition: the same steps of every thread, and the same order of every two that are
//! dependent.

use super::*;
use crate::access::{Access, dependent};
use crate::rng::Rng;

const KINDS: [Kind; 5] = [Kind::Read, Kind::Await, Kind::Write, Kind::Update, Kind::Acquire];

/// What each thread does, access by access.
type Program = Vec<Vec<Access>>;

fn program(rng: &mut Rng) -> Program {
    let words = 1 + rng.below(4);
    let access = |rng: &mut Rng| {
        let kind = KINDS[rng.below(KINDS.len() as u64) as usize];
        let size = if rng.below(5) == 0 { 16 } else { 8 };
        Access::new(0x1000 + 8 * rng.below(words), size, kind)
    };
    let thread = |rng: &mut Rng| (0..1 + rng.below(4)).map(|_| access(rng)).collect();
    (0..2 + rng.below(2)).map(|_| thread(rng)).collect()
}

/// The threads in the order of a random schedule.
fn schedule(rng: &mut Rng, program: &Program) -> Vec<usize> {
    let mut order: Vec<usize> = (0..program.len()).flat_map(|thread| vec![thread; program[thread].len()]).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, rng.below(at as u64 + 1) as usize);
    }
    order
}

fn trace(program: &Program, order: &[usize]) -> Trace {
    let mut trace = Trace::new();
    let mut made = vec![0; program.len()];
    for &thread in order {
        trace.access(program[thread][made[thread]]);
        trace.step_done(Thread(thread as u8), None, false);
        made[thread] += 1;
    }
    trace
}

/// Whether every two dependent steps of different threads come in the same order in both.
fn equivalent(program: &Program, one: &[usize], other: &[usize]) -> bool {
    let place = |order: &[usize], thread: usize, number: usize| {
        let places = order.iter().enumerate().filter(|(_, who)| **who == thread);
        places.map(|(at, _)| at).nth(number).expect("every thread makes all its steps")
    };
    let steps: Vec<(usize, usize)> =
        (0..program.len()).flat_map(|thread| (0..program[thread].len()).map(move |at| (thread, at))).collect();
    steps.iter().all(|&(a, i)| {
        let apart = |&&(b, j): &&(usize, usize)| a < b && dependent(&program[a][i], &program[b][j]);
        let before = |order: &[usize], b, j| place(order, a, i) < place(order, b, j);
        steps.iter().filter(apart).all(|&(b, j)| before(one, b, j) == before(other, b, j))
    })
}

fn class(trace: &Trace) -> u64 {
    Places::new().class::<false>(trace, 0)
}

#[test]
fn classes_are_those_of_the_definition() {
    let rng = &mut Rng::for_run(11, 1);
    let (mut same, mut different) = (0, 0);
    for _ in 0..1500 {
        let program = program(rng);
        // This one goes on from run to run, as in a search.
        let mut places = Places::new();
        let orders: Vec<Vec<usize>> = (0..4).map(|_| schedule(rng, &program)).collect();
        for (one, other) in orders.iter().zip(&orders[1..]) {
            let expected = equivalent(&program, one, other);
            let (one, other) = (trace(&program, one), trace(&program, other));
            let equal = places.class::<true>(&one, 0) == places.class::<true>(&other, 0);
            assert_eq!([places.class::<true>(&one, 0), places.class::<true>(&other, 0)], [class(&one), class(&other)]);
            assert_eq!(equal, expected, "{program:?} {one:?} {other:?}");
            same += u32::from(equal && one.steps() != other.steps());
            different += u32::from(!equal);
        }
    }
    assert!(same > 300 && different > 300, "{same} {different}");
}

#[test]
fn what_threads_do_belongs_to_the_class() {
    let step = |kind, size, yielded, pick: Option<u32>| {
        let mut trace = Trace::new();
        trace.access(Access::new(0x1000, size, kind));
        pick.into_iter().for_each(|chosen| trace.pick(crate::trace::Pick { chosen, options: 2 }));
        trace.step_done(Thread(0), None, yielded);
        class(&trace)
    };
    let all = [
        step(Kind::Read, 8, false, None),
        step(Kind::Write, 8, false, None),
        step(Kind::Write, 16, false, None),
        step(Kind::Read, 8, false, Some(0)),
        step(Kind::Read, 8, false, Some(1)),
        class(&Trace::new()),
    ];
    let distinct: std::collections::HashSet<u64> = all.into();
    assert_eq!(distinct.len(), all.len());
    assert_eq!(all[0], step(Kind::Read, 8, true, None), "who gives up a turn learns nothing by it");
}

#[test]
fn picks_are_told_apart_from_run_to_run() {
    let mut places = Places::new();
    let run = |chosen: [u32; 2]| {
        let mut trace = Trace::new();
        for chosen in chosen {
            trace.access(Access::new(0x1000, 8, Kind::Update));
            trace.pick(crate::trace::Pick { chosen, options: 2 });
            trace.step_done(Thread(0), None, false);
        }
        trace
    };
    for chosen in [[0, 0], [0, 1], [1, 1], [0, 1], [0, 0]] {
        assert_eq!(places.class::<true>(&run(chosen), 0), class(&run(chosen)), "{chosen:?}");
    }
}

/// A run of one thread that writes that word.
fn writes(word: u64) -> Trace {
    let mut trace = Trace::new();
    trace.access(Access::new(word << 3, 8, Kind::Write));
    trace.step_done(Thread(0), None, false);
    trace
}

#[test]
fn only_what_was_looked_at_without_a_finding_is_known() {
    let mut classes = Classes::new(false);
    let [one, other, third] = [1, 2, 3].map(writes);
    assert_eq!(classes.judge(&one, End::Complete), Look::Again);
    classes.learn(&one, End::Complete, true);
    classes.learn(&other, End::Complete, false);
    classes.learn(&third, End::Failed, true);
    assert_eq!(classes.judge(&one, End::Complete), Look::Enough);
    assert_eq!(classes.judge(&one, End::Stopped(Stop::Unfair)), Look::Enough);
    for end in [End::Stuck, End::Truncated, End::Failed, End::Stopped(Stop::Diverged(0))] {
        assert_eq!(classes.judge(&one, end), Look::Again, "{end:?}");
    }
    assert_eq!(classes.judge(&other, End::Complete), Look::Again);
    assert_eq!(classes.judge(&third, End::Complete), Look::Again);
}

#[test]
fn runs_are_spared_where_classes_come_again() {
    let mut classes = Classes::new(false);
    for word in 0..WINDOW {
        assert!(classes.expects());
        classes.judge(&writes(100 + u64::from(word)), End::Complete);
    }
    let again = writes(7);
    classes.learn(&again, End::Complete, true);
    for _ in 1..WINDOW {
        assert!(!classes.expects());
        classes.learn(&again, End::Complete, true);
    }
    assert!(classes.expects());
}
