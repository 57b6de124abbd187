//! Whatever the numbers of threads: the same programs with numbers beyond the first word of a set, and around its end.

use std::collections::BTreeSet;

use selvedge_explore::{Bounded, Dfs, Dpor, Pct, Random, Rng, Strategy, Threads};

use crate::brute::see;
use crate::machine::{Op, Program};
use crate::random_programs::{Maker, any};

/// The same program with so many threads that do nothing between the first and the others.
fn wide(program: &Program, between: usize) -> Program {
    let moved = |op: &Op| match *op {
        Op::Spawn(thread) if thread > 0 => Op::Spawn(thread + between),
        Op::Join(thread) if thread > 0 => Op::Join(thread + between),
        op => op,
    };
    let mut threads: Vec<Vec<Op>> = program.threads.iter().map(|ops| ops.iter().map(moved).collect()).collect();
    threads.splice(1..1, vec![vec![]; between]);
    let initial = if program.initial == 1 { 1 } else { program.initial + between };
    Program { threads, initial, ..program.clone() }
}

/// What a search comes to, as far as it does not depend on numbers of threads.
fn seen(program: &Program, between: usize, strategy: &mut dyn Strategy) -> impl PartialEq + std::fmt::Debug + use<> {
    let seen = see(&wide(program, between), strategy, 400);
    let outcomes = seen.outcomes.into_iter().map(|mut outcome| {
        outcome.registers.drain(1..=between);
        (outcome.memory, outcome.registers, outcome.stuck, outcome.truncated)
    });
    let outcomes: BTreeSet<_> = outcomes.collect();
    (outcomes, seen.classes.len(), seen.runs, seen.complete, seen.redundant, seen.coverage)
}

#[test]
fn numbers_of_threads_do_not_matter() {
    for number in 0..200 {
        let program = any(&mut Maker { rng: Rng::for_run(23, number) });
        let strategies: [fn() -> Box<dyn Strategy>; 5] = [
            || Box::new(Dfs::new()),
            || Box::new(Dpor::new()),
            || Box::new(Bounded::new(2)),
            || Box::new(Random::new(3, 0, 50)),
            || Box::new(Pct::new(3, 0, 50, 3, 20)),
        ];
        for strategy in strategies {
            let few = seen(&program, 0, &mut *strategy());
            for between in [Threads::WORD - 2, Threads::WORD + 6, 450] {
                assert!(few == seen(&program, between, &mut *strategy()), "{between} between, in\n{program:?}");
            }
        }
    }
}
