//! What a bounded search leaves out when only operations matter: on random programs, every outcome of the whole search must have one that
//! is as strict among those of the reduced search, with the same bound. Programs that yield are not among them: after a yield nothing is left
//! out.

use std::collections::BTreeSet;

use selvedge_explore::{Bounded, Rng};

use crate::brute::see;
use crate::machine::{Addr, Op, Outcome, Program, Val};

/// Whether both are the same but for the order of operations, and the first orders all that the second does.
fn as_strict(one: &Outcome, other: &Outcome) -> bool {
    let all = |outcome: &Outcome| (outcome.memory.clone(), outcome.registers.clone(), outcome.stuck, outcome.truncated);
    let operations = one.history.iter().zip(&other.history);
    let mut ordered = operations.map(|((result, before), (other_result, other_before))| {
        result == other_result && before.iter().zip(other_before).all(|(more, less)| more >= less)
    });
    all(one) == all(other) && one.history.len() == other.history.len() && ordered.all(|fits| fits)
}

fn step(rng: &mut Rng) -> Vec<Op> {
    let addr = Addr::Var(rng.below(2) as usize);
    let (register, small) = (rng.below(2) as usize, Val::C(rng.below(3) as i64));
    match rng.below(8) {
        0 | 1 => vec![Op::Load(register, addr)],
        2 => vec![Op::Store(addr, small)],
        3 => vec![Op::Add(register, addr, Val::C(1))],
        4 => vec![Op::Cas(register, addr, small, Val::C(1))],
        5 => vec![Op::Lock(0), Op::Load(register, addr), Op::Unlock(0)],
        6 => vec![Op::Lock(0), Op::Signal(0), Op::Unlock(0)],
        _ => vec![Op::Lock(0), Op::Wait(0, 0), Op::Unlock(0)],
    }
}

/// Two or three threads with one or two operations of up to three steps.
fn program(rng: &mut Rng) -> Program {
    let threads = 2 + usize::from(rng.below(3) == 0);
    let operation = |rng: &mut Rng| {
        let steps = 1 + rng.below(if threads == 2 { 3 } else { 2 });
        let inside: Vec<Op> = (0..steps).flat_map(|_| step(rng)).collect();
        [vec![Op::Call], inside, vec![Op::Return(Val::R(0))]].concat()
    };
    let column = |rng: &mut Rng| {
        let mut ops = operation(rng);
        if threads == 2 && rng.below(2) == 0 {
            ops.extend(operation(rng));
        }
        ops
    };
    let columns = (0..threads).map(|_| column(rng)).collect();
    Program { locks: 1, conditions: 1, ..Program::new(columns, 2) }
}

#[test]
fn nothing_that_is_stricter_is_left_out() {
    let (mut all_runs, mut reduced_runs, mut programs) = (0, 0, 0);
    for number in 0..1_000 {
        let program = program(&mut Rng::for_run(11, number));
        let bound = (number % 4) as u32;
        let all = see(&program, &mut Bounded::new(bound), 30_000);
        if all.coverage.is_none() {
            continue;
        }
        programs += 1;
        let reduced = see(&program, &mut Bounded::new(bound).of_operations(), 60_000);
        assert!(reduced.coverage.is_some(), "{program:?}");
        let known: &BTreeSet<Outcome> = &reduced.outcomes;
        assert!(known.is_subset(&all.outcomes), "bound {bound}, {program:?}");
        for outcome in &all.outcomes {
            assert!(
                known.contains(outcome) || known.iter().any(|other| as_strict(other, outcome)),
                "bound {bound}: {outcome:?} in\n{program:?}"
            );
        }
        all_runs += all.runs;
        reduced_runs += reduced.runs;
    }
    println!("{programs} programs: {all_runs} runs, {reduced_runs} without what is left out");
    assert!(programs > 600 && reduced_runs * 2 < all_runs, "{programs} {reduced_runs} {all_runs}");
}
