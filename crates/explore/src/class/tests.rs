//! The classes of random interleavings against the definition: the same steps of every thread, and the same order of every two that are
//! dependent.

use super::*;
use crate::access::{Access, Kind, Thread, dependent};
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

/// A trace without steps, of which the class is known.
fn signed(follows: bool) -> Trace {
    let mut trace = Trace::new();
    trace.sign(Some(follows));
    trace.renew(0);
    trace
}

fn trace(program: &Program, order: &[usize]) -> Trace {
    let mut trace = signed(false);
    run(&mut trace, program, order);
    trace
}

/// The next run of a trace.
fn run(trace: &mut Trace, program: &Program, order: &[usize]) {
    let mut made = vec![0; program.len()];
    for &thread in order {
        trace.access(program[thread][made[thread]]);
        trace.step_done(Thread(thread as u16), None, false);
        trace.amend(followed(&program[thread][made[thread]]));
        made[thread] += 1;
    }
}

/// Something that follows from a step: it says no more than the step, whose word it reads.
fn followed(access: &Access) -> Access {
    Access { kind: Kind::Read, ..*access }
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
    super::class(trace).expect("it was signed")
}

#[test]
fn classes_are_those_of_the_definition() {
    let rng = &mut Rng::for_run(11, 1);
    let (mut same, mut different) = (0, 0);
    for _ in 0..1500 {
        let program = program(rng);
        let orders: Vec<Vec<usize>> = (0..4).map(|_| schedule(rng, &program)).collect();
        for (one, other) in orders.iter().zip(&orders[1..]) {
            let expected = equivalent(&program, one, other);
            let (one, other) = (trace(&program, one), trace(&program, other));
            let equal = class(&one) == class(&other);
            assert_eq!(equal, expected, "{program:?} {one:?} {other:?}");
            same += u32::from(equal && one.steps() != other.steps());
            different += u32::from(!equal);
        }
    }
    assert!(same > 300 && different > 300, "{same} {different}");
}

#[test]
fn runs_that_begin_as_the_last_one_have_the_same_class_as_alone() {
    let rng = &mut Rng::for_run(12, 1);
    let mut kept_in_all = 0;
    for follows in [true, false] {
        for _ in 0..500 {
            let program = program(rng);
            let mut going_on = signed(follows);
            let mut last: Vec<usize> = Vec::new();
            for _ in 0..6 {
                // The last run again, up to some step, and then anything.
                let mut order = schedule(rng, &program);
                let most = rng.below(last.len() as u64 + 1) as usize;
                if rng.below(4) > 0 {
                    order = mended(&last[..most], &order);
                }
                let in_common = order.iter().zip(&last).take_while(|(one, other)| one == other).count();
                let kept = rng.below(in_common as u64 + 1) as usize;
                going_on.renew(kept);
                run(&mut going_on, &program, &order);
                assert_eq!(class(&going_on), class(&trace(&program, &order)), "{program:?} {order:?} {kept}");
                kept_in_all += kept;
                last = order;
            }
        }
    }
    assert!(kept_in_all > 1000, "{kept_in_all}");
}

/// The order with that beginning, and what is left of the other.
fn mended(beginning: &[usize], order: &[usize]) -> Vec<usize> {
    let mut rest = order.to_vec();
    for thread in beginning {
        let at = rest.iter().position(|other| other == thread).expect("both are orders of one program");
        rest.remove(at);
    }
    [beginning, &rest].concat()
}

#[test]
fn of_a_run_that_ends_before_what_was_kept_no_class_is_known() {
    let (program, mut trace) = (vec![vec![Access::new(0x1000, 8, Kind::Update); 3]], signed(true));
    run(&mut trace, &program, &[0; 3]);
    trace.renew(2);
    run(&mut trace, &program, &[0]);
    assert_eq!(super::class(&trace), None);
    trace.renew(1);
    run(&mut trace, &program, &[0; 3]);
    assert_eq!(class(&trace), class(&self::trace(&program, &[0; 3])));
}

#[test]
fn of_a_trace_that_is_not_signed_no_class_is_known() {
    let program = vec![vec![Access::new(0x1000, 8, Kind::Update); 3]];
    let mut trace = Trace::new();
    run(&mut trace, &program, &[0; 3]);
    assert_eq!(super::class(&trace), None);
    // What was there before is no part of what is signed.
    trace.sign(Some(true));
    trace.renew(2);
    run(&mut trace, &program, &[0; 3]);
    assert_eq!(class(&trace), class(&self::trace(&program, &[0; 3])));
    trace.sign(None);
    assert_eq!((super::class(&trace), trace.len()), (None, 3));
}

#[test]
fn what_threads_do_belongs_to_the_class() {
    let picks = |thread, chosen| {
        let mut trace = signed(false);
        trace.pick(crate::trace::Pick { chosen, options: 2 });
        trace.step_done(Thread(thread), None, false);
        class(&trace)
    };
    let step = |kind, size, yielded, pick: Option<u32>| {
        let mut trace = signed(false);
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
        class(&signed(false)),
        picks(0, 0),
        picks(0, 1),
        picks(3, 0),
        picks(3, 1),
    ];
    let distinct: std::collections::HashSet<u64> = all.into();
    assert_eq!(distinct.len(), all.len());
    assert_eq!(all[0], step(Kind::Read, 8, true, None), "who gives up a turn learns nothing by it");
}

#[test]
fn picks_are_told_apart_from_run_to_run() {
    let run = |trace: &mut Trace, chosen: [u32; 2]| {
        for chosen in chosen {
            trace.access(Access::new(0x1000, 8, Kind::Update));
            trace.pick(crate::trace::Pick { chosen, options: 2 });
            trace.step_done(Thread(0), None, false);
        }
        class(trace)
    };
    let mut trace = signed(true);
    let mut last = [2, 2];
    let classes = [[0, 0], [0, 1], [1, 1], [0, 1], [0, 0]].map(|chosen| {
        trace.renew(usize::from(last[0] == chosen[0]));
        last = chosen;
        let class = run(&mut trace, chosen);
        assert_eq!(class, run(&mut signed(true), chosen), "{chosen:?}");
        class
    });
    assert_eq!(std::collections::HashSet::from(classes).len(), 3);
    assert_eq!(classes[0], classes[4]);
}

/// A run of one thread that writes that word.
fn writes(word: u64) -> Trace {
    let mut trace = signed(false);
    trace.access(Access::new(word << 3, 8, Kind::Write));
    trace.step_done(Thread(0), None, false);
    trace
}

#[test]
fn only_what_was_looked_at_without_a_finding_is_known() {
    let mut classes = Classes::new();
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
    let mut classes = Classes::new();
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

/// An atomic object of more bytes than any instruction touches is one all the same.
#[test]
fn wide_objects_are_told_apart() {
    let [read, write] = [Kind::Read, Kind::Write].map(|kind| vec![Access::new(0x1000, 24, kind)]);
    let program = vec![read, write];
    let [one, other] = [[0, 1], [1, 0]].map(|order| class(&trace(&program, &order)));
    assert_ne!(one, other);
    let by_thread = |order: [usize; 2]| {
        let mut trace = signed(true);
        for thread in order {
            trace.access_of(Thread(thread as u16), program[thread][0]);
            trace.step_done(Thread(thread as u16), None, false);
        }
        class(&trace)
    };
    assert_ne!(by_thread([0, 1]), by_thread([1, 0]));
    // The end of a block belongs to the step before it.
    let ends = |order: [usize; 2]| {
        let mut trace = signed(false);
        for thread in order {
            trace.access(Access::new(0x2000 + 8 * thread as u64, 8, Kind::Write));
            trace.access(Access::new(0x1000, 24, Kind::Write));
            trace.step_done(Thread(thread as u16), None, false);
        }
        class(&trace)
    };
    assert_eq!(ends([0, 1]), ends([1, 0]));
    // So it does where it is said later.
    let later = |order: [usize; 2]| {
        let mut trace = signed(false);
        for thread in order {
            trace.access_of(Thread(thread as u16), Access::new(0x2000 + 8 * thread as u64, 8, Kind::Write));
            trace.step_done(Thread(thread as u16), None, false);
            trace.amend(Access::new(0x1000, 24, Kind::Write));
        }
        class(&trace)
    };
    assert_eq!([later([0, 1]), later([1, 0])], [ends([0, 1]); 2]);
}
