//! The other strategies: what they find, and that everything they find comes again.

use std::ops::ControlFlow;

use selvedge_explore::{
    Bounded, Choice, ChoicePoint, Coverage, Decision, Dfs, Dpor, End, Pct, Random, Replay, Run, Serial, Stop, Strategy,
    Threads,
};

use crate::brute::see;
use crate::machine::{Addr, Op, Outcome, Program, Val, explore};

fn lost_update() -> Program {
    let increment = || {
        vec![
            Op::Load(0, Addr::Var(0)),
            Op::Set(1, Val::C(1)),
            Op::IfZero(0, 4),
            Op::Set(1, Val::C(2)),
            Op::Store(Addr::Var(0), Val::R(1)),
        ]
    };
    Program::new(vec![increment(), increment()], 1)
}

fn lost(outcome: &Outcome) -> bool {
    outcome.memory[0] == 1
}

fn replays(program: &Program, strategy: &mut dyn Strategy, runs_max: u64, bad: impl Fn(&Outcome) -> bool) -> u64 {
    let mut failures = Vec::new();
    explore(program, strategy, runs_max, |outcome, trace, _| {
        if bad(outcome) {
            failures.push((trace.schedule(), outcome.clone()));
        }
    });
    for (schedule, expect) in &failures {
        let mut replay = Replay::new(schedule.clone());
        let mut again = Vec::new();
        let (coverage, runs) = explore(program, &mut replay, 10, |outcome, trace, end| {
            assert!(!matches!(end, End::Stopped(_)));
            assert_eq!(&trace.schedule(), schedule);
            again.push(outcome.clone());
        });
        assert_eq!((coverage, runs), (Some(Coverage::Replayed), 1));
        assert_eq!(again, std::slice::from_ref(expect));
    }
    failures.len() as u64
}

#[test]
fn every_strategy_finds_the_lost_update_and_replays_it() {
    let program = lost_update();
    assert_eq!(replays(&program, &mut Dfs::new(), 1000, lost), 4, "of the 6 schedules");
    assert_eq!(replays(&program, &mut Bounded::new(0), 1000, lost), 0, "it needs a preemption");
    assert!(replays(&program, &mut Bounded::new(1), 1000, lost) > 0);
    assert!(replays(&program, &mut Dpor::new(), 1000, lost) > 0);
    assert!(replays(&program, &mut Random::new(1, 0, 100), 1000, lost) > 10);
    assert!(replays(&program, &mut Pct::new(1, 0, 100, 2, 4), 1000, lost) > 10);
}

#[test]
fn pct_without_change_points_does_not_preempt() {
    assert_eq!(replays(&lost_update(), &mut Pct::new(1, 0, 200, 1, 4), 1000, lost), 0);
}

#[test]
fn bounds_grow_until_nothing_is_left_out() {
    let mut bounded = Bounded::new(100);
    let seen = see(&lost_update(), &mut bounded, 1000);
    assert_eq!(seen.coverage, Some(Coverage::Exhaustive));
    assert_eq!(bounded.runs_by_bound(), [2, 4, 6]);
    assert_eq!(see(&lost_update(), &mut Bounded::new(1), 1000).coverage, Some(Coverage::Preemptions(1)));
}

#[test]
fn a_replay_of_another_program_says_so() {
    let mut schedule = Vec::new();
    explore(&lost_update(), &mut Dfs::new(), 1, |_, trace, _| schedule = trace.schedule());
    let other = Program::new(vec![vec![Op::Load(0, Addr::Var(0))]], 1);
    let mut replay = Replay::new(schedule.clone());
    let (_, runs) = explore(&other, &mut replay, 10, |_, _, _| {});
    assert_eq!(runs, 1);
    assert!(replay.diverged(), "the schedule is longer than the run");
    schedule.truncate(1);
    let mut replay = Replay::new(schedule);
    explore(&lost_update(), &mut replay, 10, |_, _, _| {});
    assert!(replay.diverged(), "the run is longer than the schedule");
}

#[test]
fn random_runs_do_not_depend_on_who_makes_them() {
    let program = lost_update();
    let outcomes = |first, count| {
        let mut outcomes = Vec::new();
        explore(&program, &mut Random::new(42, first, count), 1000, |_, trace, _| outcomes.push(trace.schedule()));
        outcomes
    };
    let mut halves = outcomes(0, 30);
    halves.extend(outcomes(30, 30));
    assert_eq!(halves, outcomes(0, 60));
}

/// Two threads that spin with yields while a third has not yet set what they wait for: no strategy may run forever.
#[test]
fn spinning_with_yield_ends() {
    let spin = || vec![Op::Load(0, Addr::Var(0)), Op::Yield, Op::IfZero(0, 0)];
    let set = vec![Op::Load(1, Addr::Var(1)), Op::Store(Addr::Var(0), Val::C(1))];
    let program = Program::new(vec![spin(), spin(), set], 2);
    for strategy in
        [&mut Bounded::new(2) as &mut dyn Strategy, &mut Random::new(3, 0, 500), &mut Pct::new(3, 0, 500, 3, 20)]
    {
        let seen = see(&program, strategy, 100_000);
        assert!(seen.coverage.is_some());
        assert!(seen.outcomes.iter().all(|outcome| !outcome.truncated && !outcome.stuck));
    }
    let first = explore(&program, &mut Dpor::new(), 1, |outcome, _, _| assert!(!outcome.truncated));
    assert_eq!(first.1, 1);
}

#[test]
fn a_program_that_does_not_repeat_itself_is_noticed() {
    let programs = [
        lost_update(),
        Program::new(vec![vec![Op::Load(0, Addr::Var(0))], vec![Op::Store(Addr::Var(1), Val::C(2))]], 2),
    ];
    for strategy in [&mut Dfs::new() as &mut dyn Strategy, &mut Dpor::new()] {
        let mut coverage = None;
        for run in 0..1000 {
            let (ended, _) = explore(&programs[usize::from(run == 1)], strategy, 1, |_, _, _| {});
            coverage = coverage.or(ended);
        }
        assert_eq!(coverage, Some(Coverage::Partial));
    }
}

/// A thread that makes so many operations, each with two accesses of a variable inside.
fn operations(count: usize) -> Vec<Op> {
    let operation = [Op::Call, Op::Load(0, Addr::Var(0)), Op::Store(Addr::Var(0), Val::R(0)), Op::Return(Val::C(1))];
    operation.iter().copied().cycle().take(4 * count).collect()
}

#[test]
fn serial_runs_are_the_orders_of_whole_operations() {
    for (sizes, orders) in [(vec![1], 1), (vec![2, 2], 6), (vec![3, 1, 2], 60), (vec![3, 3, 3], 1680)] {
        // The first thread prepares and does nothing here.
        let threads = std::iter::once(vec![]).chain(sizes.iter().map(|&count| operations(count))).collect();
        let (coverage, runs) = explore(&Program::new(threads, 1), &mut Serial::new(), 10_000, |_, trace, end| {
            assert_eq!(end, End::Complete);
            let switched_inside =
                (1..trace.len()).any(|at| at % 4 != 0 && trace.step(at).thread != trace.step(at - 1).thread);
            assert!(!switched_inside, "{:?}", trace.schedule());
        });
        assert_eq!((coverage, runs), (Some(Coverage::Exhaustive), orders), "{sizes:?}");
    }
}

#[test]
fn a_serial_run_ends_with_the_operation_that_waits() {
    let takes = || vec![Op::Call, Op::Lock(0), Op::Return(Val::C(1))];
    let program = Program { locks: 1, ..Program::new(vec![vec![], takes(), takes(), takes()], 1) };
    let (coverage, runs) = explore(&program, &mut Serial::new(), 100, |_, trace, end| {
        assert_eq!(end, End::Stopped(Stop::Blocked), "the third could go");
        assert_eq!(trace.len(), 4, "one operation, and the call of another");
    });
    assert_eq!((coverage, runs), (Some(Coverage::Exhaustive), 6));
}

/// A strategy that is asked in the short way wherever that is possible; and how often it answered.
struct Shortly<S> {
    strategy: S,
    answers: u64,
}

impl<S: Strategy> Strategy for Shortly<S> {
    fn start(&mut self) -> ControlFlow<Coverage> {
        self.strategy.start()
    }

    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision {
        if at.held.is_empty()
            && at.pending.iter().all(|pending| pending.thread.index() < Threads::WORD)
            && let Some(thread) = self.strategy.choose_among(at.ready.word(), at.current())
        {
            self.answers += 1;
            return Decision::Run(thread);
        }
        self.strategy.choose(at)
    }

    fn pick(&mut self, options: u32) -> u32 {
        self.strategy.pick(options)
    }

    fn finish(&mut self, run: &Run<'_>) {
        self.strategy.finish(run);
    }
}

fn schedules(program: &Program, strategy: &mut dyn Strategy) -> (Vec<Vec<Choice>>, Option<Coverage>) {
    let mut all = Vec::new();
    let (coverage, _) = explore(program, strategy, 5000, |_, trace, _| all.push(trace.schedule()));
    (all, coverage)
}

/// Asked in the short way, a strategy makes the same runs in the same order. `answers` says whether it knows the short way.
fn asked_shortly<S: Strategy>(program: &Program, make: impl Fn() -> S, answers: bool) {
    let mut shortly = Shortly { strategy: make(), answers: 0 };
    let (runs, coverage) = schedules(program, &mut shortly);
    assert!(runs.len() > 1);
    assert_eq!((runs, coverage), schedules(program, &mut make()));
    assert_eq!(shortly.answers > 0, answers);
}

#[test]
fn a_short_question_gets_the_same_answer() {
    let yields = vec![Op::Yield, Op::Store(Addr::Var(0), Val::C(3)), Op::Load(0, Addr::Var(0))];
    let mut threads = lost_update().threads;
    threads.push(yields);
    for program in [lost_update(), Program::new(threads, 1)] {
        asked_shortly(&program, Dfs::new, true);
        asked_shortly(&program, || Bounded::new(1), true);
        asked_shortly(&program, || Bounded::new(3), true);
        asked_shortly(&program, || Random::new(7, 0, 300), true);
        asked_shortly(&program, || Bounded::new(2).of_operations(), false);
        asked_shortly(&program, Dpor::new, false);
        asked_shortly(&program, || Pct::new(1, 0, 100, 2, 4), false);
    }
}
