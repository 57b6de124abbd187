//! Programs whose number of classes is known from elsewhere (GenMC without its loop transformations).

use std::collections::BTreeSet;

use selvedge_explore::{Coverage, Dpor};

use crate::brute::{Seen, see};
use crate::machine::{Addr, Op, Outcome, Program, Val};

const HEAD: Addr = Addr::Var(0);
const TAIL: Addr = Addr::Var(1);
/// Variables 2 and up: the next node of each node.
const NEXT: usize = 2;

/// Push, then pop, on Treiber's stack; node numbers are values. Registers: 0 the head, 1 success, 2 own node, 3 next.
fn treiber(node: i64) -> Vec<Op> {
    vec![
        Op::Set(2, Val::C(node)),
        Op::Load(0, HEAD),
        Op::Poke(Addr::At(NEXT, 2), Val::R(0)),
        Op::Cas(1, HEAD, Val::R(0), Val::R(2)),
        Op::IfZero(1, 1),
        Op::Load(0, HEAD),
        Op::IfZero(0, 10),
        Op::Peek(3, Addr::At(NEXT, 0)),
        Op::Cas(1, HEAD, Val::R(0), Val::R(3)),
        Op::IfZero(1, 5),
    ]
}

/// Enqueue, then dequeue, on the queue of Michael and Scott. Registers: 0 head or own node, 1 tail, 2 next, 3 test, 4 flag.
fn michael_scott(node: i64) -> Vec<Op> {
    use Op::*;
    vec![
        Set(0, Val::C(node)),
        Load(1, TAIL),                                   // 1
        Load(2, Addr::At(NEXT, 1)),                      // 2
        Load(3, TAIL),                                   // 3
        Equal(3, 1, 6),                                  // 4: still the tail
        Jump(1),                                         // 5
        IfZero(2, 9),                                    // 6
        Cas(4, TAIL, Val::R(1), Val::R(2)),              // 7: help
        Jump(1),                                         // 8
        Cas(4, Addr::At(NEXT, 1), Val::C(0), Val::R(0)), // 9
        IfZero(4, 1),                                    // 10
        Cas(4, TAIL, Val::R(1), Val::R(0)),              // 11
        Load(0, HEAD),                                   // 12
        Load(1, TAIL),                                   // 13
        Load(2, Addr::At(NEXT, 0)),                      // 14
        Load(3, HEAD),                                   // 15
        Equal(3, 0, 18),                                 // 16
        Jump(12),                                        // 17
        Equal(0, 1, 21),                                 // 18: head is tail
        Cas(4, HEAD, Val::R(0), Val::R(2)),              // 19
        IfNotZero(4, 24, 12),                            // 20
        IfZero(2, 24),                                   // 21: empty
        Cas(4, TAIL, Val::R(1), Val::R(2)),              // 22
        Jump(12),                                        // 23
    ]
}

fn check(program: &Program, runs: u64) {
    let seen = see(program, &mut Dpor::new(), u64::MAX);
    assert_eq!(seen.coverage, Some(Coverage::Exhaustive));
    assert_eq!((seen.runs, seen.redundant), (runs, 0));
    assert_eq!(seen.classes.len() as u64, runs, "a class was seen twice");
}

fn stack(threads: usize) -> Program {
    Program::new((1..=threads as i64).map(treiber).collect(), NEXT + threads + 1)
}

fn queue() -> Program {
    let mut program = Program::new((1..=2).map(michael_scott).collect(), NEXT + 4);
    // Node 3 is the dummy, so that 0 can mean "no node".
    program.memory[0] = 3;
    program.memory[1] = 3;
    program
}

#[test]
fn treiber_two_threads() {
    check(&stack(2), 46);
}

#[test]
fn treiber_three_threads() {
    check(&stack(3), 68_892);
}

#[test]
fn michael_scott_two_threads() {
    check(&queue(), 222);
}

/// The same stack, with pops that wait where they would only try again: what a search needs that recognises such loops.
#[test]
fn treiber_without_failed_pops() {
    for (threads, runs, complete) in [(2, 30, 22), (3, 8268, 4812)] {
        let all = see(&stack(threads), &mut Dpor::new(), u64::MAX);
        let mut program = stack(threads);
        for ops in &mut program.threads {
            ops[8] = Op::CasOrWait(HEAD, Val::R(0), Val::R(3));
            ops[9] = Op::Set(1, Val::C(1));
        }
        let seen = see(&program, &mut Dpor::new(), u64::MAX);
        assert_eq!((seen.runs, seen.redundant, seen.complete), (runs, 0, complete));
        assert_eq!(seen.classes.len() as u64, runs);
        // What was popped, and what is left; the other registers are dead.
        let result = |outcome: &Outcome| {
            let popped: Vec<i64> = outcome.registers.iter().map(|registers| registers[0]).collect();
            (!outcome.stuck).then(|| (outcome.memory.clone(), popped))
        };
        let results = |seen: &Seen| seen.outcomes.iter().filter_map(result).collect::<BTreeSet<_>>();
        assert_eq!(results(&seen), results(&all), "no outcome is lost");
    }
}

/// The same queue, with everything that only leads back to the beginning of a loop replaced by waiting.
#[test]
fn michael_scott_without_failed_rounds() {
    let mut program = queue();
    for ops in &mut program.threads {
        ops[3] = Op::LoadOrWait(TAIL, Val::R(1));
        ops[4] = Op::Jump(6);
        ops[7] = Op::CasOrWait(TAIL, Val::R(1), Val::R(2));
        ops[9] = Op::CasOrWait(Addr::At(NEXT, 1), Val::C(0), Val::R(0));
        ops[10] = Op::Jump(11);
        ops[15] = Op::LoadOrWait(HEAD, Val::R(0));
        ops[16] = Op::Jump(18);
        ops[19] = Op::CasOrWait(HEAD, Val::R(0), Val::R(2));
        ops[20] = Op::Jump(24);
        ops[22] = Op::CasOrWait(TAIL, Val::R(1), Val::R(2));
    }
    let seen = see(&program, &mut Dpor::new(), u64::MAX);
    println!("{} {} {}", seen.runs, seen.redundant, seen.complete);
    assert_eq!((seen.runs, seen.redundant), (64, 0));
}
