//! One matrix: phase 1 (serial runs) fills the observation, phase 2 (every schedule, [`Phase2`]) is held against it. Line-Up figure 5.
//!
//! Invariant: phase 2 starts only when phase 1 saw every serial run; what phase 2 refuses is then no false alarm.

use std::ops::ControlFlow;
use std::rc::Rc;

use selvedge_explore::{Bounded, Coverage, Dpor, End, Replay, Serial, Stop};
use selvedge_lineup::{
    CallId, Criterion, Ending, Matrix, Nondeterminism, Observation, Recorded, ResultId, Tally, Unexplained,
};
use selvedge_protocol::{
    Cause, CoverageRecord, Finding, FindingKind, ObjectKind, ObjectTrouble, Phase, Refusal, Search, Settings,
    Shortfall, schedule_from_text,
};
use serde::{Deserialize, Serialize};

use super::body;
use super::object::Object;
use super::phase2::Phase2;
use crate::control::{Control, with};
use crate::finding::Failure;
use crate::memory::reset::Snapshot;
use crate::run;
use crate::session::{self, Test};
use crate::{exchange, finding, plain_steps, sys};

/// What is wrong with a matrix.
pub struct Found {
    /// What.
    pub kind: ObjectKind,
    /// The run that shows it.
    pub finding: Finding,
    /// Its history, when operations are what is wrong.
    pub history: Option<Recorded>,
    /// Why that is not explained.
    pub unexplained: Option<Unexplained>,
    /// Why it is refused, where the criterion says more than that.
    pub refusal: Option<Box<Refusal>>,
    /// The two serial histories that differ.
    pub nondeterminism: Option<Box<Nondeterminism>>,
    /// All serial histories.
    pub observation: Rc<Observation>,
    /// What was covered of the schedules, when the search went on after it.
    pub coverage: CoverageRecord,
    /// How many preemptions it takes, when every schedule with fewer was looked at before.
    pub preemptions: Option<u32>,
    /// The threads of the matrix.
    pub threads: Vec<usize>,
    /// Where it went wrong, if that is a place.
    pub pc: u64,
    /// Whether the end of a thread was an operation of its own.
    pub exits: bool,
}

/// What came of all serial runs.
enum Serially {
    /// The histories.
    Seen(Observation),
    /// The object has threads that the strategy does not go through.
    Threads,
    /// What the end of a thread does depends on when it comes.
    Ends,
}

/// What came of a matrix.
pub enum Outcome {
    /// Everything that was asked for was seen, and is explained.
    Pass(CoverageRecord),
    /// Something is wrong.
    Fail(Box<Found>),
    /// A limit was reached.
    Unknown(Shortfall),
    /// A run ended at something that is not controlled.
    Uncontrolled(Box<Finding>),
    /// The object cannot be tested.
    Wrong(ObjectTrouble),
}

/// Later by some odd amount, and with another seed.
const SHIFT: u64 = 86_400_123_456_789;

/// How many serial runs an object with threads of its own may take.
const TURNS_MAX: u64 = 100_000;

/// So many serial orders are worth a word when there was no time for them.
const ORDERS_MANY: u64 = 10_000;

/// What it cost, over all matrices or for one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Numbers {
    /// Serial histories in which everything returned.
    pub serial_full: u64,
    /// Serial histories that end in an operation that blocks.
    pub serial_stuck: u64,
    /// Distinct histories of phase 2.
    pub histories: u64,
    /// Those of them that were stuck.
    pub stuck: u64,
    /// What the criterion counted.
    pub tally: Tally,
    /// Runs of phase 1.
    pub serial_runs: u64,
    /// Runs of phase 2.
    pub runs: u64,
    /// Runs of searches that started over, which count for nothing.
    pub cut: u64,
    /// Steps.
    pub points: u64,
    /// Processor time of phase 1.
    pub serial_seconds: f64,
    /// Processor time of phase 2.
    pub seconds: f64,
}

/// What all matrices of an object have in common.
pub struct Bench<'a> {
    /// The object.
    pub object: Rc<Object>,
    /// Variables as they were.
    pub globals: &'a Snapshot,
    /// How to search.
    pub settings: &'a Settings,
    /// What histories are held against.
    pub criterion: &'a mut dyn Criterion,
    /// When everything ends.
    pub deadline: f64,
    /// How many runs phase 2 of a matrix may take after its bound was reached.
    pub beyond: u64,
    /// How many runs each search may take, when a matrix is only tried: what it shows counts, what it does not show says nothing.
    pub trial: Option<u64>,
    /// Whether to go on when somebody asked to stop: something was found, and is still to be shown.
    pub insists: bool,
    /// Whether phase 2 goes on after a history that is refused, to count them.
    pub counts: bool,
    /// Whether the end of a thread is an operation of its own in phase 2, as phase 1 had it.
    pub exits: bool,
}

/// The runs of a matrix: never registered, so it has no name of its own.
fn test(object: &Object) -> Test {
    Test { name: object.name.clone(), body: body::run, argument: std::ptr::null_mut() }
}

impl Bench<'_> {
    /// Sets the runtime up for runs of a matrix.
    pub fn arrange(&self, object: &Rc<Object>, matrix: &Matrix, serial: bool) {
        with(|control| {
            control.search.settings = self.settings.clone();
            // One after the other, nothing races: a specification need not synchronise.
            control.search.spares_races = serial;
            control.search.lineup.object = Some(object.clone());
            control.search.lineup.matrix = Rc::new(matrix.clone());
            control.search.lineup.serial = serial;
            control.search.lineup.turns = false;
            control.search.lineup.exits = !serial && self.exits;
        });
    }

    /// Whether there is no time left, or somebody asked to stop.
    pub fn out_of_time(&self) -> bool {
        sys::now() > self.deadline || exchange::stopped() && !self.insists
    }

    /// What to say when the search was ended from outside.
    pub fn cut_short(&self, when: Phase) -> Outcome {
        Outcome::Unknown(if exchange::stopped() { Shortfall::Interrupted(when) } else { Shortfall::Time(when) })
    }

    /// Phase 1. The observation, or why there is none.
    pub fn observe(&mut self, matrix: &Matrix, numbers: &mut Numbers) -> Result<Rc<Observation>, Outcome> {
        self.exits = false;
        if !self.criterion.needs_serial() {
            return Ok(Rc::new(Observation::new()));
        }
        let began = sys::cpu();
        plain_steps::begin(&self.settings.plain_steps);
        let object = self.object.reference.clone().unwrap_or_else(|| self.object.clone());
        let seen = self.serial(&object, matrix, numbers);
        numbers.serial_seconds += sys::cpu() - began;
        let (seen, exits) = seen.map_err(|outcome| too_large(matrix, outcome))?;
        if exits && !self.criterion.has_exits() {
            return Err(Outcome::Unknown(Shortfall::ExitsWithQuasi));
        }
        self.exits = exits;
        numbers.serial_full += seen.full();
        numbers.serial_stuck += seen.stuck();
        Ok(Rc::new(seen))
    }

    /// All serial runs of an object, and whether the end of a thread is an operation of its own in them.
    ///
    /// Where the object has threads of its own, what they do between two steps of an operation, and between operations, makes serial
    /// runs differ too: a lock makes operations come one after the other, and the reduction goes through all schedules that are left.
    ///
    /// A thread ends at once after its last call, unless that end touches something that a later operation touches too: then it comes at
    /// every place after the last call. When no result depends on the place, ends are left out of the histories: a serial order of
    /// the calls can always be completed with them, because "before" is an interval order.
    fn serial(
        &mut self,
        object: &Rc<Object>,
        matrix: &Matrix,
        numbers: &mut Numbers,
    ) -> Result<(Observation, bool), Outcome> {
        let test = test(object);
        let (mut turns, mut exits) = (false, false);
        loop {
            self.arrange(object, matrix, true);
            with(|control| {
                control.search.retries.enable(false);
                (control.search.lineup.turns, control.search.lineup.exits) = (turns, exits);
                // Threads of the object's own may race with operations, and where that is allowed the order matters.
                control.search.spares_races = !turns || self.settings.races;
                control.search.strategy = if turns { Box::new(Dpor::new()) } else { Box::new(Serial::new()) };
            });
            let before = *numbers;
            let seen = self.serial_runs(&test, numbers);
            if seen.as_ref().is_err_and(starts_over) && !self.out_of_time() {
                let runs = numbers.serial_runs - before.serial_runs;
                *numbers = Numbers { cut: before.cut + runs, ..before };
                continue;
            }
            with(|control| (control.search.lineup.turns, control.search.lineup.exits) = (false, false));
            match seen? {
                Serially::Threads if turns => return Err(Outcome::Unknown(Shortfall::PhaseOneEndless)),
                Serially::Threads => turns = true,
                Serially::Ends => exits = true,
                Serially::Seen(observation) if !exits => return Ok((observation, false)),
                Serially::Seen(observation) => {
                    let calls: Vec<usize> = (0..=matrix.columns.len()).map(|at| matrix.column(at).count()).collect();
                    return Ok(match observation.without_exits(&calls) {
                        Some(observation) => (observation, false),
                        None => (observation, true),
                    });
                }
            }
        }
    }

    /// Whether every call does the same at another time and with other random numbers: alone, and once more after itself. What does
    /// not would look like a violation.
    pub fn steady(&mut self, initial: &[CallId]) -> Result<(), Outcome> {
        let object = self.object.clone();
        for call in object.calls.ids() {
            let matrix = Matrix { initial: initial.to_vec(), ..Matrix::new(vec![vec![call, call]]) };
            let mut seen = Vec::new();
            for shift in [0, 0, SHIFT] {
                with(|control| control.search.lineup.shift = shift);
                let observation = self.serial(&object, &matrix, &mut Numbers::default());
                with(|control| control.search.lineup.shift = 0);
                // What else is wrong shows again, in its place.
                match observation {
                    Ok((observation, _)) => seen.push(observation.histories()),
                    Err(Outcome::Wrong(why)) => return Err(Outcome::Wrong(why)),
                    Err(_) => break,
                }
            }
            if seen.windows(2).any(|two| two[0] != two[1]) {
                return Err(Outcome::Wrong(ObjectTrouble::Unsteady(object.calls.name(call).to_owned())));
            }
        }
        Ok(())
    }

    /// Every run of the strategy, unless it turns out that others are needed.
    fn serial_runs(&mut self, test: &Test, numbers: &mut Numbers) -> Result<Serially, Outcome> {
        let mut observation = Observation::new();
        let turns = with(|control| control.search.lineup.turns);
        let from = numbers.serial_runs;
        loop {
            match with(|control| control.search.strategy.start()) {
                ControlFlow::Break(Coverage::Exhaustive) => return Ok(Serially::Seen(observation)),
                ControlFlow::Break(_) => return Err(uncontrolled(Phase::One)),
                ControlFlow::Continue(()) => {}
            }
            if numbers.serial_runs.is_multiple_of(64) && self.out_of_time() {
                return Err(self.cut_short(Phase::One));
            }
            if turns && numbers.serial_runs - from >= TURNS_MAX {
                return Err(Outcome::Unknown(Shortfall::OwnThreads(TURNS_MAX)));
            }
            let end = run::run_once(test, self.globals);
            exchange::count();
            numbers.serial_runs += 1;
            let (own, ends) = with(|control| {
                numbers.points += control.run.trace.len() as u64;
                finish(control, end);
                let run::Run { recorder, trace, .. } = &control.run;
                let shown = if turns { recorder.ends_show(trace) } else { recorder.ends_matter(trace) };
                let ends = !control.search.lineup.exits && shown;
                (control.run.created > control.run.recorder.threads.len() + 1, ends)
            });
            if own && !turns {
                return Ok(Serially::Threads);
            }
            if ends {
                return Ok(Serially::Ends);
            }
            if end == End::Stopped(Stop::Redundant) {
                continue;
            }
            with(|control| serial_end(control, end, test, numbers.serial_runs))?;
            let history = with(|control| control.run.recorder.serial_history());
            if let Err(nondeterminism) = observation.insert(&history) {
                return Err(self.nondeterministic(nondeterminism, observation, test, numbers.serial_runs));
            }
        }
    }

    /// Two serial histories differ. When nothing was decided differently, something is not under control.
    fn nondeterministic(&self, found: Box<Nondeterminism>, observation: Observation, test: &Test, run: u64) -> Outcome {
        let decided = with(|control| {
            let own = control.run.created > control.run.recorder.threads.len() + 1;
            own || (0..control.run.trace.len()).any(|at| !control.run.trace.picks(at).is_empty())
        });
        if !decided {
            let call = with(|control| {
                let column = usize::from(found.other.column);
                let place = found.prefix.iter().filter(|operation| operation.column == found.other.column).count();
                let call = control.search.lineup.call_at(column, place);
                call.map(|call| self.object.calls.name(call).to_owned())
            });
            return Outcome::Wrong(ObjectTrouble::NotRepeated(call));
        }
        let finding =
            with(|control| finding::of_failure(control, Failure::new(Cause::SerialRunsDiffer, 0), &test.name, run));
        Outcome::Fail(Box::new(Found {
            kind: ObjectKind::Nondeterministic,
            finding,
            history: None,
            unexplained: None,
            refusal: None,
            nondeterminism: Some(found),
            observation: Rc::new(observation),
            coverage: CoverageRecord::Partial,
            preemptions: None,
            threads: with(|control| control.run.recorder.threads.clone()),
            pc: 0,
            exits: with(|control| control.search.lineup.exits),
        }))
    }

    /// What a sequence of calls does serially: each with its result, the last without one when it blocks.
    pub fn sequence(
        &mut self,
        calls: &[CallId],
        numbers: &mut Numbers,
    ) -> Result<Vec<(CallId, Option<ResultId>)>, Outcome> {
        let object = self.object.reference.clone().unwrap_or_else(|| self.object.clone());
        let (seen, _) = self.serial(&object, &Matrix::new(vec![calls.to_vec()]), numbers)?;
        let mut histories = seen.histories().into_iter();
        match (histories.next(), histories.next()) {
            (Some(history), None) if history.iter().all(|operation| operation.choices.is_empty()) => {
                Ok(calls.iter().copied().zip(history.into_iter().map(|operation| operation.result)).collect())
            }
            _ => Err(Outcome::Wrong(ObjectTrouble::ManyOutcomes)),
        }
    }

    /// Phase 2.
    pub fn explore(&mut self, matrix: &Matrix, observation: Rc<Observation>, numbers: &mut Numbers) -> Outcome {
        let began = sys::cpu();
        let mut outcome = self.search_with_steps(matrix, &observation, numbers);
        // Results say more than a data race, which ends the runs that have it. So once more, without looking for races.
        if matches!(&outcome, Outcome::Fail(found) if found.kind == ObjectKind::Race) {
            with(|control| (control.search.settings.races, control.search.spares_races) = (false, true));
            let without = self.search(&observation, numbers);
            with(|control| control.search.spares_races = false);
            if matches!(without, Outcome::Fail(_)) {
                outcome = without;
            }
        }
        numbers.seconds += sys::cpu() - began;
        outcome
    }

    /// Search after search, until one has seen no plain access that should have been a step and was none.
    fn search_with_steps(&mut self, matrix: &Matrix, observation: &Rc<Observation>, numbers: &mut Numbers) -> Outcome {
        plain_steps::begin(&self.settings.plain_steps);
        let before = *numbers;
        loop {
            self.arrange(&self.object.clone(), matrix, false);
            let outcome = self.search(observation, numbers);
            if !starts_over(&outcome) || self.out_of_time() {
                return outcome;
            }
            let (runs, cut) = (numbers.runs - before.runs, numbers.cut);
            *numbers = Numbers { cut: cut + runs, serial_runs: numbers.serial_runs, ..before };
        }
    }

    fn search(&mut self, observation: &Rc<Observation>, numbers: &mut Numbers) -> Outcome {
        let mut strategies = match session::strategies(self.settings) {
            Ok(strategies) => strategies,
            Err(trouble) => return Outcome::Wrong(ObjectTrouble::Search(trouble)),
        };
        let bounded = matches!(self.settings.search, Search::Bounded | Search::Portfolio);
        if bounded && self.settings.replay.is_none() {
            strategies[0] = Box::new(Bounded::new(self.settings.preemptions).of_operations());
        }
        let (test, observation) = (test(&self.object), observation.clone());
        let outcome = Phase2::new(test, self, observation, numbers).run(strategies);
        numbers.tally += self.criterion.take_tally();
        outcome
    }
}

/// Whether a search ended at plain accesses that become steps, so that it has to start over.
fn starts_over(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Uncontrolled(found) => plain_steps::grow([&found.cause]),
        _ => false,
    }
}

/// Notes how many serial orders a matrix has, when there was no time for all of them.
fn too_large(matrix: &Matrix, outcome: Outcome) -> Outcome {
    let orders = matrix.orders();
    match outcome {
        Outcome::Unknown(why) if !exchange::stopped() && orders >= ORDERS_MANY => {
            Outcome::Unknown(Shortfall::Orders { why: Box::new(why), orders })
        }
        outcome => outcome,
    }
}

impl Bench<'_> {
    /// The same run once more, with a note of who called each step. When something else comes out, the finding stays as it was.
    pub fn trace_back(&mut self, matrix: &Matrix, found: &mut Found) {
        let Ok(schedule) = schedule_from_text(&found.finding.schedule) else { return };
        if found.kind == ObjectKind::Nondeterministic {
            return;
        }
        self.exits = found.exits;
        plain_steps::begin(&found.finding.settings.plain_steps);
        self.arrange(&self.object.clone(), matrix, false);
        with(|control| {
            control.search.retries.enable(false);
            control.search.traces_back = true;
            control.search.strategy = Box::new(Replay::new(schedule));
        });
        if with(|control| control.search.strategy.start()).is_continue() {
            run::run_once(&test(&self.object), self.globals);
        }
        let again = with(|control| {
            let Finding { kind, cause, test, run, .. } = &found.finding;
            let failure = Failure { kind: *kind, cause: cause.clone(), pc: found.pc };
            let again = finding::of_failure(control, failure, test, *run);
            control.search.traces_back = false;
            again
        });
        if again.schedule == found.finding.schedule && again.steps.len() == found.finding.steps.len() {
            found.finding = Finding { settings: found.finding.settings.clone(), ..again };
        }
    }
}

/// Tells the strategy that the run has ended.
pub fn finish(control: &mut Control, end: End) {
    control.tell_strategy(end);
}

/// The object does not repeat itself.
pub fn uncontrolled(when: Phase) -> Outcome {
    Outcome::Unknown(Shortfall::Diverged(when))
}

/// Whether a serial run has a history, or what it has instead.
fn serial_end(control: &Control, end: End, test: &Test, run: u64) -> Result<(), Outcome> {
    match end {
        End::Complete => Ok(()),
        End::Stuck | End::Stopped(Stop::Blocked) if control.run.recorder.any_open() => Ok(()),
        End::Stopped(Stop::Diverged(_)) => Err(uncontrolled(Phase::One)),
        End::Endless | End::Truncated => {
            let steps = control.search.settings.steps_max;
            Err(Outcome::Unknown(Shortfall::SerialEndless(steps)))
        }
        End::Stuck | End::Stopped(_) | End::Failed => {
            let failure = match &control.run.failure {
                Some(failure) if end == End::Failed => failure.clone(),
                _ => finding::stuck(control),
            };
            if !failure.kind.is_violation() {
                return Err(Outcome::Uncontrolled(Box::new(finding::of_failure(control, failure, &test.name, run))));
            }
            if control.run.recorder.instance == 0 {
                return Err(Outcome::Wrong(ObjectTrouble::Constructor(failure.cause)));
            }
            Err(Outcome::Fail(Box::new(bad_end(control, failure, test, run))))
        }
    }
}

/// A run that ended badly in a way that has nothing to do with results.
pub fn bad_end(control: &Control, failure: Failure, test: &Test, run: u64) -> Found {
    let kind = kind_of(failure.kind);
    let ending = if kind == ObjectKind::Stuck { Ending::Stuck } else { Ending::Cut };
    Found {
        pc: failure.pc,
        kind,
        finding: finding::of_failure(control, failure, &test.name, run),
        history: Some(control.run.recorder.recorded(ending)),
        unexplained: None,
        refusal: None,
        nondeterminism: None,
        observation: Rc::new(Observation::new()),
        coverage: CoverageRecord::Partial,
        preemptions: bound(control),
        threads: control.run.recorder.threads.clone(),
        exits: control.search.lineup.exits,
    }
}

/// The bound of a search that goes through all of them, from none on.
pub fn bound(control: &Control) -> Option<u32> {
    match control.search.strategy.so_far() {
        Some(Coverage::Preemptions(below)) => Some(below + 1),
        _ => None,
    }
}

fn kind_of(kind: FindingKind) -> ObjectKind {
    match kind {
        FindingKind::DataRace => ObjectKind::Race,
        FindingKind::UseAfterFree | FindingKind::DoubleFree | FindingKind::OutOfBounds => ObjectKind::Memory,
        FindingKind::Panic => ObjectKind::Panic,
        FindingKind::Deadlock | FindingKind::LostWakeup | FindingKind::Livelock => ObjectKind::Stuck,
        _ => ObjectKind::Crash,
    }
}
