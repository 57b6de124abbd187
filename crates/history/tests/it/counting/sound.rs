//! Whatever counting reports is a violation: approximate answers against trying every order.
//!
//! Past [`MEASURED`] histories k is drawn too, and only right histories are looked at: what counting says of wrong ones cannot be a false alarm.
//! Histories are those of `random`: distinct and repeated values, pending operations, several objects, stuck ends. How much is seen at which k
//! is printed; `docs/counting.md` has the numbers of a large run.

use std::collections::BTreeMap;

use selvedge_history::counting::{Approximator, Prefixes};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Log};

use crate::{brute, random};

/// So many histories say how much is seen at which k, if `SELVEDGE_COUNTING_MEASURED` does not say another number.
const MEASURED: u64 = 20_000;

/// Whether counting sees something wrong; the name of the formula.
fn seen(counting: &mut Approximator, log: &Log, prefixes: Prefixes) -> Option<&'static str> {
    let answer = counting.look(log, None, prefixes, &Budget::new()).expect("the log fits the object");
    assert_eq!(answer.halt, None);
    answer.violation.map(|violation| {
        assert!(!violation.operations.is_empty() || !violation.demands.is_empty(), "a violation shows operations");
        violation.formula
    })
}

/// Draws histories, and panics when counting reports what is right. Small runs have too few violations to say how many are seen.
fn sound(kind: Kind, ks: &[usize], default: u64) {
    let (from, to) = (super::number("SELVEDGE_COUNTING_FROM").unwrap_or(0), super::histories(default));
    let total = to.saturating_sub(from);
    let measured_max = super::number("SELVEDGE_COUNTING_MEASURED").unwrap_or(MEASURED);
    let (mut violations, mut right) = (0, 0);
    let mut counting: Vec<Approximator> = ks.iter().map(|&k| Approximator::new(kind, k).expect("k is small")).collect();
    let mut whole: BTreeMap<usize, u64> = BTreeMap::new();
    let mut beginnings: BTreeMap<usize, u64> = BTreeMap::new();
    let mut by_formula: BTreeMap<(&str, usize), u64> = BTreeMap::new();
    for seed in from..to {
        let draft = random::draft(kind, seed);
        let log = draft.log();
        let wrong = !brute::linearizable(&log, kind);
        // That something blocked without need is not for counting to see.
        let visible = wrong && !draft.stuck;
        right += u64::from(!wrong);
        let measured = seed < measured_max;
        if !measured && wrong {
            continue;
        }
        violations += u64::from(visible);
        let ks = ks.iter().zip(&mut counting);
        let drawn = seed as usize % ks.len();
        for (_, (&k, counting)) in ks.enumerate().filter(|(at, _)| measured || *at == drawn) {
            // Where nothing is wrong nothing may be seen anywhere; where something is, it is of interest where it shows.
            let any = seen(counting, &log, Prefixes::AtMost(usize::MAX));
            assert!(any.is_none() || wrong, "{kind} seed {seed} k={k}: {any:?} in\n  {draft}");
            if let (true, Some(formula)) = (visible, any) {
                *beginnings.entry(k).or_default() += 1;
                *by_formula.entry((formula, k)).or_default() += 1;
                *whole.entry(k).or_default() += u64::from(seen(counting, &log, Prefixes::Whole).is_some());
            }
        }
    }
    let share = |counts: &BTreeMap<usize, u64>, k: usize| {
        100.0 * *counts.get(&k).unwrap_or(&0) as f64 / (violations.max(1)) as f64
    };
    for &k in ks {
        let (whole, beginnings) = (share(&whole, k), share(&beginnings, k));
        println!(
            "{kind} k={k}: {right} of {total} right; of {violations} violations {whole:.1}% in the whole, {beginnings:.1}% in beginnings"
        );
    }
    println!("{kind} by formula: {by_formula:?}");
    if total.min(measured_max) < 1_000 || from > 0 {
        return;
    }
    let most = ks.iter().map(|k| beginnings.get(k).copied().unwrap_or(0)).max().unwrap_or(0);
    assert!(violations * 20 > total.min(measured_max) && most * 4 > violations, "{kind}: {most} of {violations} seen");
}

macro_rules! sound {
    ($($name:ident: $kind:ident, $ks:expr, $default:expr;)*) => {$(
        #[test]
        fn $name() {
            sound(Kind::$kind, &$ks, $default);
        }
    )*};
}

sound! {
    sound_on_queues: Queue, [0, 1, 2, 3, 4], 150;
    sound_on_stacks: Stack, [0, 1, 2, 3, 4], 150;
    sound_on_priority_queues: PriorityQueue, [0, 1, 2, 3, 4], 100;
    sound_on_priority_queues_min: PriorityQueueMin, [0, 1, 2, 3, 4], 60;
    sound_on_bags: Bag, [0, 1, 2, 3, 4], 60;
    sound_on_sets: Set, [0, 1, 2, 3, 4], 30;
    sound_on_registers: Register, [0, 1, 2, 3, 4], 20;
    sound_on_mutexes: Mutex, [0, 1, 2, 3, 4], 30;
    sound_on_rwlocks: RwLock, [0, 1, 2, 3, 4], 60;
    sound_on_semaphores: Semaphore, [0, 1, 2, 3, 4], 60;
}
