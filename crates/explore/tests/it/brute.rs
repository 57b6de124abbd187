//! The oracle: every schedule by depth-first search, sorted into classes by a happens-before of its own making.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_explore::{Access, Coverage, Dfs, Dpor, Kind, Strategy, Trace};

use crate::machine::{Outcome, Program, explore};

/// A class of equivalent schedules: for each event its thread, its number in the thread, its picks, and how many
/// events of each thread come before it.
pub type Class = BTreeSet<(u16, usize, Vec<u32>, Vec<usize>)>;

fn reads(access: &Access) -> bool {
    access.kind == Kind::Read || access.kind == Kind::Await
}

fn shares(access: &Access) -> bool {
    access.kind == Kind::AcquireShared || access.kind == Kind::ReleaseShared
}

/// Written again on purpose: the test must not agree with a wrong relation because it uses it.
fn ordered(a: &Access, b: &Access) -> bool {
    if a.object != b.object || a.size == 0 || b.size == 0 {
        return false;
    }
    match (a.kind, b.kind) {
        (Kind::Call | Kind::Return, Kind::Call | Kind::Return) => a.kind != b.kind,
        _ => !(reads(a) && reads(b) || shares(a) && shares(b)),
    }
}

pub fn class(trace: &Trace) -> Class {
    let threads = 1 + trace.steps().iter().map(|step| step.thread.index()).max().unwrap_or(0);
    let mut clocks: Vec<Vec<usize>> = Vec::new();
    let mut class = Class::new();
    for at in 0..trace.len() {
        let step = trace.step(at);
        let mut clock = vec![0; threads];
        for (before, earlier) in clocks.iter().enumerate() {
            let other = trace.step(before);
            let related = other.thread == step.thread
                || other.created == Some(step.thread)
                || trace.accesses(before).iter().any(|a| trace.accesses(at).iter().any(|b| ordered(a, b)));
            if related {
                for (mine, theirs) in clock.iter_mut().zip(earlier) {
                    *mine = (*mine).max(*theirs);
                }
            }
        }
        let number = clock[step.thread.index()];
        clock[step.thread.index()] += 1;
        let picks = trace.picks(at).iter().map(|pick| pick.chosen).collect();
        class.insert((step.thread.0, number, picks, clock.clone()));
        clocks.push(clock);
    }
    class
}

/// What a search saw: how often each class, and every outcome.
#[derive(Default)]
pub struct Seen {
    pub classes: BTreeMap<Class, u64>,
    pub outcomes: BTreeSet<Outcome>,
    pub runs: u64,
    pub complete: u64,
    pub redundant: u64,
    pub coverage: Option<Coverage>,
}

pub fn see(program: &Program, strategy: &mut dyn Strategy, runs_max: u64) -> Seen {
    let mut seen = Seen::default();
    let (coverage, runs) = explore(program, strategy, runs_max, |outcome, trace, _| {
        *seen.classes.entry(class(trace)).or_default() += 1;
        seen.outcomes.insert(outcome.clone());
        seen.complete += u64::from(!outcome.stuck && !outcome.truncated);
    });
    seen.coverage = coverage;
    seen.runs = runs;
    seen.redundant = strategy.redundant();
    seen
}

/// Compares the reduction with every schedule. False when there are too many schedules to look at all of them.
/// `exact` demands one run a class and none given up.
pub fn compare(program: &Program, runs_max: u64, exact: bool) -> bool {
    let all = see(program, &mut Dfs::new(), runs_max);
    if all.coverage.is_none() {
        return false;
    }
    assert_eq!(all.coverage, Some(Coverage::Exhaustive));
    let reduced = see(program, &mut Dpor::new(), runs_max);
    assert_eq!(reduced.coverage, Some(Coverage::Exhaustive), "{program:?}");
    assert!(
        reduced.outcomes == all.outcomes,
        "outcomes: {} of {} in\n{program:?}",
        reduced.outcomes.len(),
        all.outcomes.len()
    );
    assert!(
        reduced.classes.keys().eq(all.classes.keys()),
        "classes: {} of {} in\n{program:?}",
        reduced.classes.len(),
        all.classes.len()
    );
    if exact {
        assert_eq!(reduced.redundant, 0, "given up in\n{program:?}");
        assert_eq!(reduced.runs, all.classes.len() as u64, "repeated in\n{program:?}");
    }
    true
}
