//! A search that is taken apart makes the same runs in the same order as one that is not.

use selvedge_explore::{Bounded, Choice, Coverage, Dfs, Dpor, Part, Pct, Random, Replay, Rng, Strategy};

use crate::machine::{Addr, Op, Program, Val, explore};

type Schedules = Vec<Vec<Choice>>;

fn program(rng: &mut Rng) -> Program {
    let mut thread = |length: u64| -> Vec<Op> {
        (0..length)
            .map(|_| match rng.below(4) {
                0 => Op::Load(0, Addr::Var(rng.below(2) as usize)),
                1 => Op::Store(Addr::Var(rng.below(2) as usize), Val::C(1)),
                2 => Op::Yield,
                _ => Op::Add(1, Addr::Var(0), Val::C(1)),
            })
            .collect()
    };
    Program::new(vec![thread(3), thread(2), thread(2)], 2)
}

/// Makes so many runs with the strategy, and answers what is left.
fn some(
    program: &Program,
    strategy: &mut dyn Strategy,
    runs: u64,
    seen: &mut Schedules,
) -> (Option<Coverage>, Vec<Part>) {
    let (coverage, _) = explore(program, strategy, runs, |_, trace, _| seen.push(trace.schedule()));
    (coverage, if coverage.is_some() { vec![] } else { strategy.rest().expect("it can be taken apart") })
}

/// Searches part after part, each cut short after a few runs and taken apart again.
fn in_parts(
    program: &Program,
    make: &dyn Fn(&Part) -> Box<dyn Strategy>,
    parts: Vec<Part>,
    rng: &mut Rng,
) -> (Schedules, bool) {
    let (mut seen, mut cut) = (Vec::new(), false);
    let mut left: Vec<Part> = parts.into_iter().rev().collect();
    while let Some(part) = left.pop() {
        let mut strategy = make(&part);
        let (_, rest) = some(program, &mut *strategy, 1 + rng.below(5), &mut seen);
        cut |= strategy.cut();
        left.extend(rest.into_iter().rev());
    }
    (seen, cut)
}

#[test]
fn a_tree_in_parts_is_the_same_tree() {
    let mut preempted = 0;
    for number in 0..150 {
        let rng = &mut Rng::for_run(11, number);
        let program = program(rng);
        let mut whole = Vec::new();
        some(&program, &mut Dfs::new(), u64::MAX, &mut whole);
        let make = |part: &Part| -> Box<dyn Strategy> { Box::new(Dfs::of_part(part).expect("a tree")) };
        assert_eq!(in_parts(&program, &make, vec![Part::whole_tree()], rng).0, whole, "program {number}");
        for bound in 0..3 {
            let mut bounded = Bounded::between(bound, bound);
            let mut whole = Vec::new();
            let (coverage, _) = some(&program, &mut bounded, u64::MAX, &mut whole);
            let make = |part: &Part| -> Box<dyn Strategy> { Box::new(Bounded::of_part(bound, part).expect("a tree")) };
            let (seen, cut) = in_parts(&program, &make, vec![Part::whole_tree()], rng);
            assert_eq!(seen, whole, "program {number}, bound {bound}");
            assert_eq!(cut, coverage == Some(Coverage::Preemptions(bound)), "program {number}, bound {bound}");
            preempted += u32::from(cut);
        }
    }
    assert!(preempted > 100, "bounds keep something out of most programs: {preempted}");
}

#[test]
fn runs_by_number_in_parts_are_the_same_runs() {
    let rng = &mut Rng::for_run(12, 0);
    let program = program(rng);
    for count in [1, 2, 31, 32, 33, 100] {
        let (mut random, mut pct) = (Vec::new(), Vec::new());
        some(&program, &mut Random::new(5, 0, count), u64::MAX, &mut random);
        some(&program, &mut Pct::new(5, 0, count, 3, 10), u64::MAX, &mut pct);
        let numbers = |part: &Part| match *part {
            Part::Runs { first, count } => (first, count),
            Part::Tree { .. } => panic!("runs were shared out"),
        };
        let make = |part: &Part| -> Box<dyn Strategy> {
            let (first, count) = numbers(part);
            Box::new(Random::new(5, first, count))
        };
        assert_eq!(in_parts(&program, &make, Part::of_runs(0, count), rng).0, random);
        let make = |part: &Part| -> Box<dyn Strategy> {
            let (first, count) = numbers(part);
            Box::new(Pct::new(5, first, count, 3, 10))
        };
        assert_eq!(in_parts(&program, &make, Part::of_runs(0, count), rng).0, pct);
    }
    assert!(Dfs::of_part(&Part::Runs { first: 0, count: 1 }).is_none());
}

#[test]
fn what_cannot_be_taken_apart_says_so() {
    assert_eq!(Dpor::new().rest(), None);
    assert_eq!(Replay::new(vec![]).rest(), None);
    assert_eq!(Part::of_runs(3, 3), []);
    let all: u64 =
        Part::of_runs(7, 1007).iter().map(|part| if let Part::Runs { count, .. } = part { *count } else { 0 }).sum();
    assert_eq!(all, 1000);
}

/// A part of another program, or of one that changed, ends as diverged instead of searching something else.
#[test]
fn a_part_that_does_not_fit_is_noticed() {
    let program = program(&mut Rng::for_run(13, 1));
    for ranks in [vec![99], vec![0; 500]] {
        let mut dfs = Dfs::of_part(&Part::Tree { ranks, fixed: 0 }).expect("a tree");
        let (coverage, _) = explore(&program, &mut dfs, 10, |_, _, _| {});
        assert_eq!(coverage, Some(Coverage::Partial));
        assert!(dfs.diverged(), "also where the run has come to its end");
    }
    let mut fits = Dfs::new();
    explore(&program, &mut fits, 10, |_, _, _| {});
    assert!(!fits.diverged());
}
