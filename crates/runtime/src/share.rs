//! A search that several processes share.
//!
//! The process that began it hands out parts and counts what comes back ([`Ledger`]); each part is searched by a [`Worker`].
//!
//! Invariant: parts are counted in the order of the one search that they are of, whoever was first.

mod ledger;

use selvedge_explore::{Bounded, Coverage, Dfs, Dpor, Part, Pct, Random, Strategy};

use selvedge_protocol::{CoverageRecord, Settings, TestReport, wire};

use self::ledger::{Answer, Ended, Errand, Ledger, Phase};
use crate::apart::{self, Limits, Lost, Watched};
use crate::control::with;
use crate::memory::reset::Snapshot;
use crate::session::{Allowed, PCT_STEPS, Test, search};
use crate::worker::{self, PATIENCE, Worker};
use crate::{exchange, journal, sys};

/// For this part of a slice a search goes on alone: most are over by then.
pub const ALONE: f64 = 0.3;

/// Goes on with a search that was begun alone: `rest` is what is left of the phase that it was in.
pub fn explore(
    test: &Test,
    settings: &Settings,
    globals: &Snapshot,
    until: f64,
    mut report: TestReport,
    rest: Vec<Part>,
) -> TestReport {
    let (phase, cut) = with(|control| {
        report.history_texts = control.search.histories.seen().iter().cloned().collect();
        report.redundant += control.search.strategy.redundant();
        report.unfair += control.search.strategy.unfair();
        match control.search.strategy.so_far() {
            Some(Coverage::Preemptions(bound)) => {
                report.bound = Some(bound);
                (bound as usize + 1, control.search.strategy.cut())
            }
            _ => (0, control.search.strategy.cut()),
        }
    });
    let mut ledger = Ledger::new(settings, report, phase, rest, cut);
    let mut workers: Vec<Worker> = Vec::new();
    let mut watched: Vec<Watched> = Vec::new();
    let mut lost = false;
    loop {
        let over = lost || sys::now() > until || exchange::stopped();
        while !over && workers.len() < settings.jobs as usize {
            let Some((id, errand)) = ledger.hand_out() else { break };
            let work = || wire::encode(&work(test, settings, globals, until, &errand));
            let Some(worker) = Worker::start(id, work) else {
                lost = true;
                break;
            };
            workers.push(worker);
            watched.push(Watched::new(Limits { until, patience: f64::INFINITY, memory_max: settings.memory_max }));
        }
        if workers.is_empty() {
            break;
        }
        for at in (0..workers.len()).rev() {
            if !ledger.expects(workers[at].id()) {
                let _ = workers.swap_remove(at).dismiss();
                watched.swap_remove(at);
            }
        }
        worker::wait(&workers, PATIENCE);
        journal::tick();
        for at in (0..workers.len()).rev() {
            let over = workers[at].listen() && (workers[at].has_answered() || workers[at].has_ended());
            let cut = if over { None } else { watched[at].cut(&workers[at]) };
            if over || cut.is_some() {
                let worker = workers.swap_remove(at);
                watched.swap_remove(at);
                let (id, done) = (worker.id(), worker.dismiss());
                match done.answer().and_then(|text| wire::decode_bytes::<Answer>(text).ok()) {
                    Some(answer) => ledger.answer(id, answer),
                    None => {
                        let report = apart::report_of(test, settings, &Lost { done, cut }, Some(globals));
                        lost |= report.findings.is_empty() && report.unknowns.is_empty();
                        ledger.answer(id, Answer::new(report, vec![], false, Ended::Early));
                    }
                }
            }
        }
    }
    TestReport { worker_lost: lost, ..ledger.finish() }
}

/// What a worker does.
fn work(test: &Test, settings: &Settings, globals: &Snapshot, until: f64, errand: &Errand) -> Answer {
    let mut report = TestReport::new(&test.name);
    let began = sys::now();
    journal::expect_end(until);
    let Some(strategy) = strategy(settings, errand) else {
        return Answer::new(report, vec![], false, Ended::Diverged);
    };
    with(|control| {
        control.search.histories.forget();
        control.search.retries.enable(settings.retries && strategy.turns_races());
        control.search.strategy = strategy;
    });
    let allowed = Allowed { runs_max: errand.runs_max, until, share_at: began + settings.slice, looks_first: false };
    let coverage = search(test, settings, globals, &allowed, &mut report);
    report.cpu_seconds = sys::cpu();
    with(|control| {
        report.redundant = control.search.strategy.redundant();
        report.unfair = control.search.strategy.unfair();
        report.history_texts = control.search.histories.seen().iter().cloned().collect();
        let (rest, ended) = match coverage {
            Some(Coverage::Partial) if report.unfair > 0 => (vec![], Ended::Early),
            Some(Coverage::Partial) => (vec![], Ended::Diverged),
            Some(_) => (vec![], Ended::Complete),
            None => (control.search.strategy.rest().unwrap_or_default(), Ended::Early),
        };
        report.coverage = coverage.map_or(CoverageRecord::Partial, CoverageRecord::from);
        Answer::new(report, rest, control.search.strategy.cut(), ended)
    })
}

fn strategy(settings: &Settings, errand: &Errand) -> Option<Box<dyn Strategy>> {
    let runs = || match errand.part {
        Some(Part::Runs { first, count }) => Some((first, count)),
        _ => None,
    };
    let part = errand.part.as_ref();
    Some(match errand.phase {
        Phase::Dfs => Box::new(Dfs::of_part(part?)?),
        Phase::Bounded(bound) => Box::new(Bounded::of_part(bound, part?)?),
        Phase::Dpor => Box::new(Dpor::new()),
        Phase::Random => {
            let (first, count) = runs()?;
            Box::new(Random::new(settings.seed, first, count))
        }
        Phase::Pct => {
            let (first, count) = runs()?;
            Box::new(Pct::new(settings.seed, first, count, settings.depth, PCT_STEPS))
        }
    })
}
