//! One matrix: phase 1 (serial runs) fills the observation, phase 2 (every schedule) is held against it. Line-Up figure 5.
//!
//! Invariant: phase 2 starts only when phase 1 saw every serial run; what phase 2 refuses is then no false alarm.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use selvedge_driver::{CoverageRecord, Finding, FindingKind, ObjectKind, Settings, schedule_from_text};
use selvedge_explore::{Coverage, Dpor, End, Replay, Run, Serial, Stop, Strategy};
use selvedge_lineup::{
    CallId, Case, Criterion, Ending, Judgement, Matrix, Nondeterminism, Observation, PANICKED, Recorded, Unexplained,
};

use super::body;
use super::object::Object;
use crate::control::{Control, Failure, Left, with};
use crate::memory::reset::Snapshot;
use crate::session::{self, Test};
use crate::{exchange, finding, sys};

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
    /// The two serial histories that differ.
    pub nondeterminism: Option<Box<Nondeterminism>>,
    /// All serial histories.
    pub observation: Rc<Observation>,
    /// How many preemptions it takes, when every schedule with fewer was looked at before.
    pub preemptions: Option<u32>,
    /// The threads of the matrix.
    pub threads: Vec<usize>,
    /// Where it went wrong, if that is a place.
    pub pc: u64,
}

/// What came of a matrix.
pub enum Outcome {
    /// Everything that was asked for was seen, and is explained.
    Pass(CoverageRecord),
    /// Something is wrong.
    Fail(Box<Found>),
    /// A limit was reached.
    Unknown(String),
    /// The object cannot be tested.
    Wrong(String),
}

/// Later by some odd amount, and with another seed.
const SHIFT: u64 = 86_400_123_456_789;

/// What it cost, over all matrices or for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Serial histories in which everything returned.
    pub serial_full: u64,
    /// Serial histories that end in an operation that blocks.
    pub serial_stuck: u64,
    /// Distinct histories of phase 2.
    pub histories: u64,
    /// Those of them that were stuck.
    pub stuck: u64,
    /// Runs of phase 1.
    pub serial_runs: u64,
    /// Runs of phase 2.
    pub runs: u64,
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
}

/// The runs of a matrix: never registered, so it has no name of its own.
fn test(object: &Object) -> Test {
    Test { name: object.name.clone(), body: body::run, argument: std::ptr::null_mut() }
}

impl Bench<'_> {
    /// Sets the runtime up for runs of a matrix.
    fn arrange(&self, object: &Rc<Object>, matrix: &Matrix, serial: bool) {
        with(|control| {
            control.settings = self.settings.clone();
            // One after the other, nothing races: a specification need not synchronise.
            control.settings.races &= !serial;
            control.lineup.object = Some(object.clone());
            control.lineup.matrix = Rc::new(matrix.clone());
            control.lineup.serial = serial;
        });
    }

    fn out_of_time(&self) -> bool {
        sys::now() > self.deadline || exchange::stopped()
    }

    /// What to say when the search was ended from outside.
    fn cut_short(&self, when: &str) -> Outcome {
        let why = if exchange::stopped() { "interrupted" } else { "the time was up" };
        Outcome::Unknown(format!("{why} in {when}"))
    }

    /// Phase 1. The observation, or why there is none.
    pub fn observe(&mut self, matrix: &Matrix, numbers: &mut Numbers) -> Result<Rc<Observation>, Outcome> {
        let began = sys::cpu();
        let object = self.object.reference.clone().unwrap_or_else(|| self.object.clone());
        let seen = self.serial(&object, matrix, numbers);
        numbers.serial_seconds += sys::cpu() - began;
        let seen = seen?;
        numbers.serial_full += seen.full();
        numbers.serial_stuck += seen.stuck();
        Ok(Rc::new(seen))
    }

    /// All serial runs of an object.
    fn serial(&mut self, object: &Rc<Object>, matrix: &Matrix, numbers: &mut Numbers) -> Result<Observation, Outcome> {
        self.arrange(object, matrix, true);
        with(|control| {
            control.retries.enable(false);
            control.strategy = Box::new(Serial::new());
        });
        self.serial_runs(&test(object), numbers)
    }

    /// Whether every call does the same at another time and with other random numbers: alone, and once more after itself. What does
    /// not would look like a violation.
    pub fn steady(&mut self, initial: &[CallId]) -> Result<(), Outcome> {
        let object = self.object.clone();
        for call in object.calls.ids() {
            let matrix = Matrix { initial: initial.to_vec(), ..Matrix::new(vec![vec![call, call]]) };
            let mut seen = Vec::new();
            for shift in [0, 0, SHIFT] {
                with(|control| control.lineup.shift = shift);
                let observation = self.serial(&object, &matrix, &mut Numbers::default());
                with(|control| control.lineup.shift = 0);
                // What else is wrong shows again, in its place.
                match observation {
                    Ok(observation) => seen.push(observation.histories()),
                    Err(Outcome::Wrong(why)) => return Err(Outcome::Wrong(why)),
                    Err(_) => break,
                }
            }
            if seen.windows(2).any(|two| two[0] != two[1]) {
                let name = object.calls.name(call);
                return Err(Outcome::Wrong(format!(
                    "`{name}` does not do the same again after the same calls: its result depends on time, random \
                     numbers, addresses or something else that is not controlled"
                )));
            }
        }
        Ok(())
    }

    fn serial_runs(&mut self, test: &Test, numbers: &mut Numbers) -> Result<Observation, Outcome> {
        let mut observation = Observation::new();
        loop {
            match with(|control| control.strategy.start()) {
                ControlFlow::Break(Coverage::Exhaustive) => return Ok(observation),
                ControlFlow::Break(_) => return Err(uncontrolled("phase 1")),
                ControlFlow::Continue(()) => {}
            }
            if numbers.serial_runs.is_multiple_of(64) && self.out_of_time() {
                return Err(self.cut_short("phase 1"));
            }
            let end = session::run_once(test, self.globals);
            exchange::count();
            numbers.serial_runs += 1;
            with(|control| {
                numbers.points += control.trace.len() as u64;
                finish(control, end);
                serial_end(control, end, test, numbers.serial_runs)
            })?;
            let history = with(|control| control.lineup.serial_history());
            if let Err(nondeterminism) = observation.insert(&history) {
                return Err(self.nondeterministic(nondeterminism, observation, test, numbers.serial_runs));
            }
        }
    }

    /// Two serial histories differ. When nothing was decided differently, something is not under control.
    fn nondeterministic(&self, found: Box<Nondeterminism>, observation: Observation, test: &Test, run: u64) -> Outcome {
        let decided = with(|control| {
            let own = control.created > control.lineup.threads.len() + 1;
            own || (0..control.trace.len()).any(|at| !control.trace.picks(at).is_empty())
        });
        if !decided {
            let call = with(|control| {
                let column = usize::from(found.other.column);
                let place = found.prefix.iter().filter(|operation| operation.column == found.other.column).count();
                let call = control.lineup.call_at(column, place);
                call.map_or("an operation".into(), |call| self.object.calls.name(call).to_owned())
            });
            return Outcome::Wrong(format!(
                "{call} does not do the same again after the same calls: it depends on something that is not \
                 controlled, such as time, random numbers or addresses"
            ));
        }
        let finding = with(|control| {
            let message = "serial runs of the same calls differ".into();
            let failure = Failure { kind: FindingKind::Nondeterministic, message, pc: 0 };
            finding::of_failure(control, failure, &test.name, run)
        });
        Outcome::Fail(Box::new(Found {
            kind: ObjectKind::Nondeterministic,
            finding,
            history: None,
            unexplained: None,
            nondeterminism: Some(found),
            observation: Rc::new(observation),
            preemptions: None,
            threads: with(|control| control.lineup.threads.clone()),
            pc: 0,
        }))
    }

    /// Phase 2.
    pub fn explore(&mut self, matrix: &Matrix, observation: Rc<Observation>, numbers: &mut Numbers) -> Outcome {
        let began = sys::cpu();
        self.arrange(&self.object.clone(), matrix, false);
        let mut outcome = self.search(&observation, numbers);
        // Results say more than a data race, which ends the runs that have it. So once more, without looking for races.
        if matches!(&outcome, Outcome::Fail(found) if found.kind == ObjectKind::Race) {
            with(|control| control.settings.races = false);
            let without = self.search(&observation, numbers);
            if matches!(without, Outcome::Fail(_)) {
                outcome = without;
            }
        }
        numbers.seconds += sys::cpu() - began;
        outcome
    }

    fn search(&mut self, observation: &Rc<Observation>, numbers: &mut Numbers) -> Outcome {
        let strategies = match session::strategies(self.settings) {
            Ok(strategies) => strategies,
            Err(error) => return Outcome::Wrong(error),
        };
        let (test, observation) = (test(&self.object), observation.clone());
        Phase2 { test, bench: self, observation, seen: HashSet::new(), numbers }.run(strategies)
    }
}

impl Bench<'_> {
    /// The same run once more, with a note of who called each step. When something else comes out, the finding stays as it was.
    pub fn trace_back(&mut self, matrix: &Matrix, found: &mut Found) {
        let Ok(schedule) = schedule_from_text(&found.finding.schedule) else { return };
        if found.kind == ObjectKind::Nondeterministic || found.finding.kind == FindingKind::Uncontrolled {
            return;
        }
        self.arrange(&self.object.clone(), matrix, false);
        with(|control| {
            control.retries.enable(false);
            control.callers = Some(Vec::new());
            control.strategy = Box::new(Replay::new(schedule));
        });
        if with(|control| control.strategy.start()).is_continue() {
            session::run_once(&test(&self.object), self.globals);
        }
        let again = with(|control| {
            let Finding { kind, message, test, run, .. } = &found.finding;
            let failure = Failure { kind: *kind, message: message.clone(), pc: found.pc };
            let again = finding::of_failure(control, failure, test, *run);
            control.callers = None;
            again
        });
        if again.schedule == found.finding.schedule && again.steps.len() == found.finding.steps.len() {
            found.finding = Finding { settings: found.finding.settings.clone(), ..again };
        }
    }
}

fn finish(control: &mut Control, end: End) {
    let run = Run { trace: &control.trace, pending: &control.pending, end };
    control.strategy.finish(&run);
}

fn uncontrolled(when: &str) -> Outcome {
    Outcome::Wrong(format!(
        "the same schedule did something else in {when}: the object depends on something that is not controlled, such as \
         time, random numbers or addresses"
    ))
}

/// Whether a serial run has a history, or what it has instead.
fn serial_end(control: &Control, end: End, test: &Test, run: u64) -> Result<(), Outcome> {
    match end {
        End::Complete => Ok(()),
        End::Stuck | End::Stopped(Stop::Blocked) if control.lineup.any_open() => Ok(()),
        End::Stopped(Stop::Diverged(_)) => Err(uncontrolled("phase 1")),
        End::Truncated => {
            let steps = control.settings.steps_max;
            Err(Outcome::Unknown(format!("a serial run went on for {steps} steps without an end")))
        }
        End::Stuck | End::Stopped(_) | End::Failed => {
            let failure = match &control.failure {
                Some(failure) if end == End::Failed => failure.clone(),
                _ => finding::stuck(control),
            };
            if control.lineup.instance == 0 {
                return Err(Outcome::Wrong(format!("the constructor does not work: {}", failure.message)));
            }
            Err(Outcome::Fail(Box::new(bad_end(control, failure, test, run))))
        }
    }
}

/// A run that ended badly in a way that has nothing to do with results.
fn bad_end(control: &Control, failure: Failure, test: &Test, run: u64) -> Found {
    Found {
        pc: failure.pc,
        kind: kind_of(failure.kind),
        finding: finding::of_failure(control, failure, &test.name, run),
        history: Some(control.lineup.recorded(Ending::Stuck)),
        unexplained: None,
        nondeterminism: None,
        observation: Rc::new(Observation::new()),
        preemptions: bound(control),
        threads: control.lineup.threads.clone(),
    }
}

/// The bound of a search that goes through all of them, from none on.
fn bound(control: &Control) -> Option<u32> {
    match control.strategy.so_far() {
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

/// The search of one matrix.
struct Phase2<'a, 'b> {
    test: Test,
    bench: &'a mut Bench<'b>,
    observation: Rc<Observation>,
    /// The histories that were judged.
    seen: HashSet<Box<[u8]>>,
    numbers: &'a mut Numbers,
}

impl Phase2<'_, '_> {
    fn run(mut self, strategies: Vec<Box<dyn Strategy>>) -> Outcome {
        let mut reached = None;
        for (number, strategy) in strategies.into_iter().enumerate() {
            with(|control| {
                control.retries.enable(control.settings.retries && strategy.turns_races());
                control.strategy = strategy;
            });
            let from = self.numbers.runs;
            // What comes after the bound may take as long as everything before it, and a little more.
            let runs_max = if number == 0 { self.bench.settings.runs_max } else { from.max(self.bench.beyond) };
            let coverage = match self.search(from, runs_max) {
                Ok(coverage) => coverage,
                Err(outcome) => return outcome,
            };
            reached = match (coverage, reached) {
                (Some(Coverage::Partial) | None, Some(before)) => Some(before),
                (Some(Coverage::Partial), None) => {
                    return Outcome::Unknown("runs that were not fair had to be left out".into());
                }
                (Some(coverage), _) => Some(coverage),
                (None, None) if self.numbers.runs - from >= runs_max => {
                    return Outcome::Unknown(format!("a matrix took more than {runs_max} runs"));
                }
                (None, None) => return self.bench.cut_short("phase 2"),
            };
            if !matches!(coverage, Some(Coverage::Preemptions(_))) {
                break;
            }
        }
        Outcome::Pass(reached.map_or(CoverageRecord::Partial, CoverageRecord::from))
    }

    /// Runs until the strategy is done; nothing when a limit ended it.
    fn search(&mut self, from: u64, runs_max: u64) -> Result<Option<Coverage>, Outcome> {
        let mut key = Vec::new();
        loop {
            if let ControlFlow::Break(coverage) = with(|control| control.strategy.start()) {
                return Ok(Some(coverage));
            }
            let done = self.numbers.runs - from;
            if done >= runs_max || done.is_multiple_of(16) && self.bench.out_of_time() {
                return Ok(None);
            }
            let end = session::run_once(&self.test, self.bench.globals);
            exchange::count();
            self.numbers.runs += 1;
            let left = with(|control| {
                self.numbers.points += control.trace.len() as u64;
                // What the search took for granted about loops is not so: it starts over.
                if control.left == Left::Restart {
                    control.strategy = Box::new(Dpor::new());
                } else {
                    finish(control, end);
                }
                control.left
            });
            // A run whose threads could only try again shows nothing that other runs do not.
            if !matches!(left, Left::Restart | Left::Blocked) {
                self.look(end, &mut key)?;
            }
        }
    }

    /// What the run that has just ended shows.
    fn look(&mut self, end: End, key: &mut Vec<u8>) -> Result<(), Outcome> {
        let ending = match end {
            End::Complete => Ending::Full,
            End::Stuck | End::Truncated if with(|control| control.lineup.any_open()) => Ending::Stuck,
            End::Stopped(Stop::Redundant | Stop::Blocked | Stop::Unfair) => return Ok(()),
            End::Stopped(Stop::Diverged(_)) => return Err(uncontrolled("phase 2")),
            End::Stuck | End::Truncated | End::Failed => return Err(self.ended_badly(end)),
        };
        with(|control| control.lineup.key(ending, key));
        if self.seen.contains(key.as_slice()) {
            return Ok(());
        }
        self.seen.insert(key.as_slice().into());
        self.numbers.histories += 1;
        self.numbers.stuck += u64::from(ending == Ending::Stuck);
        let history = with(|control| control.lineup.recorded(ending));
        let object = self.bench.object.clone();
        let judgement = with(|control| {
            self.bench.criterion.judge(&Case {
                matrix: &control.lineup.matrix,
                calls: &object.calls,
                results: &control.lineup.results,
                observation: &self.observation,
                history: &history,
            })
        });
        match judgement {
            Judgement::Allowed => Ok(()),
            Judgement::Undecided => Err(Outcome::Unknown("a history could not be decided".into())),
            Judgement::Refused(unexplained) => Err(self.refuse(history, unexplained, end)),
        }
    }

    fn ended_badly(&self, end: End) -> Outcome {
        let run = self.numbers.runs;
        with(|control| {
            let failure = match (&control.failure, end) {
                (Some(failure), End::Failed) => failure.clone(),
                _ => finding::stuck(control),
            };
            Outcome::Fail(Box::new(bad_end(control, failure, &self.test, run)))
        })
    }

    fn refuse(&self, history: Recorded, unexplained: Unexplained, end: End) -> Outcome {
        let (kind, found) = match unexplained {
            Unexplained::Stuck { .. } => (ObjectKind::Stuck, FindingKind::Stuck),
            Unexplained::Full if self.panics(&history) => (ObjectKind::Panic, FindingKind::NotLinearizable),
            Unexplained::Full => (ObjectKind::NotLinearizable, FindingKind::NotLinearizable),
        };
        let run = self.numbers.runs;
        let (finding, pc) = with(|control| {
            let message = match (unexplained, end) {
                (Unexplained::Full, _) => "no serial order of the operations has these results".to_owned(),
                (_, End::Truncated) => format!(
                    "an operation did not return within {} steps, and no serial order explains that",
                    control.settings.steps_max
                ),
                _ => "an operation waits for ever, and no serial order explains that".to_owned(),
            };
            let pc = if kind == ObjectKind::Stuck { finding::stuck(control).pc } else { 0 };
            (finding::of_failure(control, Failure { kind: found, message, pc }, &self.test.name, run), pc)
        });
        let (preemptions, threads) = with(|control| (bound(control), control.lineup.threads.clone()));
        Outcome::Fail(Box::new(Found {
            kind,
            finding,
            history: Some(history),
            unexplained: Some(unexplained),
            nondeterminism: None,
            observation: self.observation.clone(),
            preemptions,
            threads,
            pc,
        }))
    }

    /// Whether some operation panicked that does so in no serial history.
    fn panics(&self, history: &Recorded) -> bool {
        let serial = self.observation.histories();
        let columns = history.columns.iter().enumerate();
        with(|control| {
            let results = &control.lineup.results;
            let panicked = |result| results.text(result).starts_with(PANICKED);
            columns.flat_map(|(at, column)| column.iter().map(move |operation| (at, operation.result))).any(
                |(at, result)| {
                    let known = |operation: &selvedge_lineup::SerialOp| {
                        usize::from(operation.column) == at && operation.result == result
                    };
                    result.is_some_and(panicked) && !serial.iter().flatten().any(known)
                },
            )
        })
    }
}
