//! Kernels that have the name of a built-in object against that object, by trying every order.

use std::collections::HashMap;

use selvedge_history::counting::Prefixes;
use selvedge_history::counting::kernel::{Formula, Grammar, builtin, check};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Log, Value};

use crate::{brute, random};

/// The kernel by its name, as the command line has it.
fn grammar(kind: Kind, log: &Log) -> String {
    match kind {
        Kind::Mutex => builtin::MUTEX.to_owned(),
        Kind::RwLock => builtin::RWLOCK.to_owned(),
        Kind::Semaphore => {
            let permits = log.initial.as_ref().and_then(Value::as_int).unwrap_or(1);
            builtin::semaphore(permits.unsigned_abs())
        }
        _ => unreachable!("no kernel has the name of this object"),
    }
}

/// Every violation that the kernel shows is one of the object; and where the history is no longer than k, the other way round too.
fn agrees(kind: Kind, histories: u64) {
    let mut formulas: HashMap<(String, usize), Formula> = HashMap::new();
    let (mut both, mut right, mut undecided) = (0, 0, 0);
    for seed in 0..super::histories(histories) {
        let draft = random::draft(kind, seed);
        let log = draft.log();
        let wrong = !brute::linearizable(&log, kind);
        // That something blocked without need is not for counting to see.
        if draft.stuck {
            continue;
        }
        let k = 1 + seed as usize % 2;
        let grammar = grammar(kind, &log);
        let formula = formulas
            .entry((grammar.clone(), k))
            .or_insert_with(|| Formula::new(Grammar::parse(&grammar).expect("a grammar"), k).expect("k is small"));
        // What a log leaves out (nil for an answer of true or false) the kernel does not know, and says so.
        let Ok(answer) = check(&log, formula, Prefixes::AtMost(usize::MAX), &Budget::new()) else {
            undecided += 1;
            continue;
        };
        assert!(answer.violation.is_none() || wrong, "{kind} seed {seed} k={k}: no violation, but seen in\n  {draft}");
        if answer.halt.is_some() {
            undecided += 1;
        } else if answer.length <= k {
            assert_eq!(answer.violation.is_some(), wrong, "{kind} seed {seed} k={k}: not seen in\n  {draft}");
            *(if wrong { &mut both } else { &mut right }) += 1;
        }
    }
    println!("{kind}: {right} right and {both} wrong by both, {undecided} undecided");
    assert!(both > 0 && right > 0, "{kind}: {right} right and {both} wrong by both, {undecided} undecided");
}

#[test]
fn the_mutex_is_the_object() {
    agrees(Kind::Mutex, 60);
}

#[test]
fn the_readers_writer_lock_is_the_object() {
    agrees(Kind::RwLock, 90);
}

#[test]
fn the_semaphore_is_the_object() {
    agrees(Kind::Semaphore, 110);
}
