//! A search in a copy of the process: what kills that copy, or never ends in it, takes nothing away from what is known.
//!
//! The copy says what it finds when it finds it, and notes every decision in a journal. When it ends without an answer, is still busy when the time is up, or
//! takes too much memory, the decisions of its last run are made again in one more copy, up to the last: that is the finding. Then the last one is made, too. Where
//! that ends the copy in the same way, the code under test is to blame; where it does not, somebody else may be, and the answer is *unknown*.
//!
//! Invariant: no code under test runs in the process that waits, so its time limit holds whatever that code does.

use std::ops::ControlFlow;

use selvedge_explore::{Choice, End, Pick, Replay, Stop};
use selvedge_protocol::{
    Cause, CoverageRecord, Finding, Memory, ObjectReport, Out, Phase, Place, PlainSteps, Search, Settings, Shortfall,
    TestReport, wire,
};

use crate::control::with;
use crate::finding::Failure;
use crate::memory::reset::Snapshot;
use crate::run::{renew, run_once};
use crate::session::{self, Test};
use crate::worker::{self, Done, Line, Worker, say};
use crate::{exchange, finding, journal, plain_steps, sys};

/// How often a copy is looked at, in milliseconds.
const TICK: usize = 20;
/// How long it may take to answer when the time is up.
const MOMENT: f64 = 0.5;
/// The same for one that goes on making steps: it may be about to show what it has found.
const PATIENCE: f64 = 1.0;
/// The same for an object, of which smaller matrices are tried.
const PATIENCE_OBJECT: f64 = 10.0;
/// How long the schedule of a copy that has ended may take once more.
const AGAIN: f64 = 5.0;

/// What a copy may take.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Until this moment, if it does not say itself when its time is up.
    pub until: f64,
    /// And so much longer while it makes steps.
    pub patience: f64,
    /// So much memory.
    pub memory_max: Option<u64>,
}

/// Why a copy was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The time was up; it made no steps, and waited in this system call if it was in one.
    Still(Option<i64>),
    /// The time was up, or somebody asked to stop.
    Time,
    /// It took more memory than this.
    Memory(u64),
}

/// A copy that ended without an answer.
pub struct Lost {
    /// What is left of it.
    pub done: Done,
    /// Why it was ended, if it was.
    pub cut: Option<Cut>,
}

/// Looks after some copies: which have made no steps for how long.
pub struct Watched {
    limits: Limits,
    moves: u64,
    moved: f64,
    asked: Option<f64>,
}

impl Watched {
    /// A copy that begins now.
    pub fn new(limits: Limits) -> Self {
        Watched { limits, moves: 0, moved: sys::now(), asked: None }
    }

    /// Why the copy has to be ended, if it has to.
    pub fn cut(&mut self, worker: &Worker) -> Option<Cut> {
        let (now, moves) = (sys::now(), worker.journal().moves());
        if moves != self.moves {
            (self.moves, self.moved) = (moves, now);
        }
        if let Some(max) = self.limits.memory_max.filter(|&max| worker.memory() > max) {
            return Some(Cut::Memory(max));
        }
        if exchange::stopped() {
            self.asked.get_or_insert(now);
        }
        let until = self.limits.until.min(worker.journal().end());
        let late = now - self.asked.map_or(until, |asked| asked.min(until));
        let still = now - self.moved > MOMENT;
        match (late > MOMENT && still, late > self.limits.patience.max(MOMENT)) {
            (true, _) => Some(Cut::Still(worker.system_call())),
            (_, true) => Some(Cut::Time),
            _ => None,
        }
    }
}

/// Waits for a copy.
fn wait(mut worker: Worker, limits: Limits) -> Result<Done, Lost> {
    let mut watched = Watched::new(limits);
    let cut = loop {
        worker::wait(std::slice::from_ref(&worker), TICK);
        journal::tick();
        if worker.listen() && (worker.has_answered() || worker.has_ended()) {
            break None;
        }
        if let Some(cut) = watched.cut(&worker) {
            // Its answer may have come meanwhile.
            worker.listen();
            break Some(cut);
        }
    };
    let done = worker.dismiss();
    if done.answer().is_some() { Ok(done) } else { Err(Lost { done, cut }) }
}

/// Searches the schedules of a test.
pub fn explore(test: &Test, settings: &Settings) -> TestReport {
    // A debugger is to see the code under test.
    if settings.stop_at_failure {
        return session::search_all(test, settings);
    }
    let limits = Limits { until: f64::INFINITY, patience: PATIENCE, memory_max: settings.memory_max };
    match Worker::start(0, || wire::encode(&session::search_all(test, settings))) {
        None => session::search_all(test, settings),
        Some(worker) => match wait(worker, limits) {
            Ok(done) => {
                done.answer().and_then(|text| wire::decode_bytes(text).ok()).unwrap_or_else(|| lost_whole(test))
            }
            Err(lost) => report_of(test, settings, &lost, None),
        },
    }
}

/// Nothing is known of a search, not even what ended it.
fn lost_whole(test: &Test) -> TestReport {
    TestReport { worker_lost: true, ..TestReport::new(&test.name) }
}

/// What is known of a search that ended without an answer. Where this process searches itself, everything as it was before that.
pub fn report_of(test: &Test, settings: &Settings, lost: &Lost, globals: Option<&Snapshot>) -> TestReport {
    let mut report = TestReport::new(&test.name);
    let (runs, points) = lost.done.journal.runs();
    (report.runs, report.points, report.bound) = (runs, points, lost.done.journal.bound());
    report.cpu_seconds = lost.done.cpu_seconds;
    report.coverage = match (settings.search, report.bound) {
        (Search::Random | Search::Pct, _) => CoverageRecord::Sampled(runs),
        (Search::Bounded | Search::Portfolio, Some(bound)) => CoverageRecord::Preemptions(bound),
        _ => CoverageRecord::Partial,
    };
    for line in lost.done.lines(Line::Finding) {
        if let Ok(found) = wire::decode_bytes::<Finding>(line) {
            report.keep(found);
        }
    }
    if lost.cut.is_none() && lost.done.journal.ended_itself() {
        // The runtime has said why on standard error.
        return TestReport { worker_lost: true, coverage: CoverageRecord::Partial, ..report };
    }
    let places = places_of(&lost.done, settings);
    report.plain_steps = PlainSteps { places: places.clone(), runs_before: 0 };
    if let Some(found) = show(test, settings, lost, places, globals) {
        report.runs += 1;
        report.keep(Finding { run: report.runs, ..found });
    }
    report
}

fn places_of(done: &Done, settings: &Settings) -> Vec<Place> {
    let told = done.lines(Line::PlainSteps).last().and_then(|line| wire::decode_bytes(line).ok());
    told.unwrap_or_else(|| settings.plain_steps.clone())
}

/// Why nothing can be said of what a search was at.
fn cause(lost: &Lost) -> Option<Cause> {
    Some(match lost.cut {
        None => Cause::Out(Out::Ended(lost.done.death)),
        Some(Cut::Memory(max)) => Cause::Memory { max, of: Memory::Process },
        Some(Cut::Still(Some(call))) => Cause::Out(Out::WaitsInCall(call)),
        Some(Cut::Still(None)) => Cause::Out(Out::Computes),
        Some(Cut::Time) => return None,
    })
}

/// The finding that the last run of a search makes; none where only the time was up.
fn show(
    test: &Test,
    settings: &Settings,
    lost: &Lost,
    places: Vec<Place>,
    globals: Option<&Snapshot>,
) -> Option<Finding> {
    let cause = cause(lost)?;
    let Some(choices) = lost.done.journal.choices() else { return Some(bare(test, cause)) };
    let errand = Errand { test, settings, globals, choices, places, cause: cause.clone(), again: lost.cut.is_none() };
    let seconds = if lost.cut.is_none() { AGAIN } else { MOMENT };
    let limits = Limits { until: sys::now() + seconds, patience: 0.0, memory_max: settings.memory_max };
    let done = match wait(Worker::start(0, || errand.make())?, limits) {
        Ok(done) => Lost { done, cut: Some(Cut::Time) },
        Err(lost) => lost,
    };
    let found = done.done.lines(Line::Finding).last().and_then(|line| wire::decode_bytes::<Finding>(line).ok());
    let Some(mut found) = found else { return Some(bare(test, cause)) };
    if lost.cut.is_none() && done.cut.is_none() && done.done.death == lost.done.death && found.cause == cause {
        found.cause = Cause::Died(lost.done.death);
    }
    found.kind =
        if found.cause == cause || matches!(found.cause, Cause::Died(_)) { found.cause.kind() } else { found.kind };
    Some(found)
}

/// A finding without a schedule.
fn bare(test: &Test, cause: Cause) -> Finding {
    with(|control| finding::of_failure(control, Failure::new(cause, 0), &test.name, 0))
}

/// The last run of a search once more.
struct Errand<'a> {
    test: &'a Test,
    settings: &'a Settings,
    globals: Option<&'a Snapshot>,
    choices: Vec<Choice>,
    places: Vec<Place>,
    cause: Cause,
    /// Whether to make its last step, too.
    again: bool,
}

impl Errand<'_> {
    /// Makes it. What is found is said before anything is done that may end the process.
    fn make(&self) -> String {
        let own = if self.globals.is_none() { Some(Snapshot::new(false)) } else { None };
        let Some(globals) = self.globals.or(own.as_ref()) else { return String::new() };
        session::arrange(self.settings);
        plain_steps::begin(&self.places);
        if let Some(found) = self.find(globals) {
            say(Line::Finding, &wire::encode(&found));
        }
        if self.again {
            repeat(self.test, globals, self.choices.clone(), false);
        }
        String::new()
    }

    /// The run up to its last decision.
    fn find(&self, globals: &Snapshot) -> Option<Finding> {
        let name = &self.test.name;
        let is_step = |choice: &Choice| matches!(choice, Choice::Run(_));
        let Some(last) = self.choices.iter().rposition(is_step) else {
            // It made no step. What it does before is not begun here.
            renew(globals);
            let created = with(|control| control.create(self.test.body, self.test.argument).is_ok());
            let failure = Failure::new(self.cause.clone(), 0);
            return created.then(|| with(|control| finding::of_failure(control, failure, name, 0)));
        };
        let end = repeat(self.test, globals, self.choices[..last].to_vec(), true);
        with(|control| {
            let steps = self.choices[..last].iter().filter(|choice| is_step(choice)).count();
            if end != End::Stopped(Stop::Diverged(steps)) {
                // What it did earlier is looked at once more, and may be a finding of its own.
                return finding::of_run(control, end, name, 0).filter(|found| found.kind.is_violation());
            }
            let Choice::Run(thread) = self.choices[last] else { return None };
            control.run.current = thread.index();
            control.run.under_way = true;
            for choice in &self.choices[last + 1..] {
                if let Choice::Pick(chosen) = *choice {
                    control.run.trace.pick(Pick { chosen, options: chosen + 1 });
                }
            }
            let failure = Failure::new(self.cause.clone(), control.fiber().pc);
            control.fail(failure.clone());
            Some(finding::of_failure(control, failure, name, 0))
        })
    }
}

/// Makes these decisions, and no more.
fn repeat(test: &Test, globals: &Snapshot, choices: Vec<Choice>, traces_back: bool) -> End {
    let started = with(|control| {
        control.search.traces_back = traces_back;
        control.search.retries.enable(false);
        control.search.strategy = Box::new(Replay::new(choices));
        control.search.strategy.start()
    });
    match started {
        ControlFlow::Continue(()) => run_once(test, globals),
        ControlFlow::Break(_) => End::Complete,
    }
}

/// Tests an object: `check` does, in a copy.
pub fn check(name: &str, settings: &Settings, check: impl Fn() -> ObjectReport) -> ObjectReport {
    if settings.stop_at_failure {
        return check();
    }
    let limits = Limits { until: f64::INFINITY, patience: PATIENCE_OBJECT, memory_max: settings.memory_max };
    let Some(worker) = Worker::start(0, || wire::encode(&check())) else { return check() };
    let (done, limit) = match wait(worker, limits) {
        Ok(done) => (done, Shortfall::WorkerLost),
        Err(lost) => {
            let limit = match (lost.cut, cause(&lost)) {
                (None, _) if lost.done.journal.ended_itself() => Shortfall::WorkerLost,
                (None, _) => Shortfall::Died(lost.done.death),
                (_, Some(cause)) => Shortfall::Uncontrolled(cause),
                (_, None) => Shortfall::Time(Phase::Two),
            };
            (lost.done, limit)
        }
    };
    if let Some(report) = done.answer().and_then(|text| wire::decode_bytes(text).ok()) {
        return report;
    }
    let known = done.lines(Line::Object).last().and_then(|line| wire::decode_bytes::<ObjectReport>(line).ok());
    let mut report = known.unwrap_or_else(|| ObjectReport::new(name));
    report.cpu_seconds = done.cpu_seconds;
    report.complete = false;
    report.limit = Some(limit);
    report
}
