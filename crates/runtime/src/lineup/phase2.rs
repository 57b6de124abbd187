//! Phase 2: every schedule of one matrix, and whether its history is explained by the serial ones.
//!
//! Invariant: a history is judged once, and only when the run that has it was a fair one.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use selvedge_explore::{Coverage, Dpor, End, Replay, Serial, Stop, Strategy};
use selvedge_lineup::{Case, Criterion, Ending, Judgement, Matrix, Observation, PANICKED, Recorded, Unexplained};

use selvedge_protocol::{Cause, CoverageRecord, FindingKind, ObjectKind, Phase, Shortfall};

use super::matrix::{Bench, Found, Numbers, Outcome, bad_end, bound, finish, uncontrolled};
use super::object::wrong;
use crate::control::{Left, with};
use crate::finding::Failure;
use crate::run;
use crate::session::Test;
use crate::{exchange, finding, freeze, session, shadow};

/// The search of one matrix.
pub struct Phase2<'a, 'b> {
    test: Test,
    bench: &'a mut Bench<'b>,
    observation: Rc<Observation>,
    /// The histories that were judged.
    seen: HashSet<Box<[u8]>>,
    numbers: &'a mut Numbers,
    /// The first violation, when the search goes on after it.
    first: Option<Box<Found>>,
}

impl<'a, 'b> Phase2<'a, 'b> {
    /// A search that has seen nothing yet.
    pub fn new(test: Test, bench: &'a mut Bench<'b>, observation: Rc<Observation>, numbers: &'a mut Numbers) -> Self {
        Phase2 { test, bench, observation, seen: HashSet::new(), numbers, first: None }
    }

    /// One strategy after the other.
    pub fn run(mut self, strategies: Vec<Box<dyn Strategy>>) -> Outcome {
        let outcome = self.through(strategies);
        match (self.first, outcome) {
            (Some(found), Outcome::Pass(coverage)) => Outcome::Fail(Box::new(Found { coverage, ..*found })),
            (Some(found), _) => Outcome::Fail(found),
            (None, outcome) => outcome,
        }
    }

    fn through(&mut self, strategies: Vec<Box<dyn Strategy>>) -> Outcome {
        let mut reached = None;
        for (number, strategy) in strategies.into_iter().enumerate() {
            with(|control| {
                control.search.retries.enable(control.search.settings.retries && strategy.turns_races());
                control.search.strategy = strategy;
            });
            let from = self.numbers.runs;
            // What comes after the bound may take as long as everything before it, and a little more.
            let runs_max = match (self.bench.trial, number) {
                (Some(trial), _) => trial,
                (None, 0) => self.bench.settings.runs_max,
                (None, _) => from.max(self.bench.beyond),
            };
            let coverage = match self.search(from, runs_max) {
                Ok(coverage) => coverage,
                Err(outcome) => return outcome,
            };
            reached = match (coverage, reached) {
                (Some(Coverage::Partial) | None, Some(before)) => Some(before),
                (Some(Coverage::Partial), None) => {
                    return Outcome::Unknown(Shortfall::Unfair);
                }
                (Some(coverage), _) => Some(coverage),
                (None, None) if self.bench.trial.is_some() && !self.bench.out_of_time() => continue,
                (None, None) if self.numbers.runs - from >= runs_max => {
                    return Outcome::Unknown(Shortfall::Runs(runs_max));
                }
                (None, None) => return self.bench.cut_short(Phase::Two),
            };
            if !matches!(coverage, Some(Coverage::Preemptions(_))) {
                break;
            }
        }
        Outcome::Pass(reached.map_or(CoverageRecord::Partial, CoverageRecord::from))
    }

    /// Runs until the strategy is done; nothing when a limit ended it.
    fn search(&mut self, from: u64, runs_max: u64) -> Result<Option<Coverage>, Outcome> {
        let (mut key, mut partly) = (Vec::new(), false);
        loop {
            if let ControlFlow::Break(coverage) = with(|control| control.search.strategy.start()) {
                return Ok(Some(if partly { Coverage::Partial } else { coverage }));
            }
            let done = self.numbers.runs - from;
            if done >= runs_max || done.is_multiple_of(16) && self.bench.out_of_time() {
                return Ok(None);
            }
            let end = run::run_once(&self.test, self.bench.globals);
            exchange::count();
            self.numbers.runs += 1;
            let left = with(|control| {
                self.numbers.points += control.run.trace.len() as u64;
                partly |= session::is_shown_in_part(control);
                // What the search took for granted about loops is not so: it starts over.
                if control.run.left == Left::Restart {
                    control.search.strategy = Box::new(Dpor::new());
                } else {
                    finish(control, end);
                }
                control.run.left
            });
            // A run whose threads could only try again shows nothing that other runs do not.
            if !matches!(left, Left::Restart | Left::Blocked) {
                self.look(end, &mut key)?;
            }
            if shadow::has_forgotten() {
                return Err(Outcome::Unknown(Shortfall::RaceMemory));
            }
        }
    }

    /// What the run that has just ended shows.
    fn look(&mut self, end: End, key: &mut Vec<u8>) -> Result<(), Outcome> {
        let ending = match end {
            End::Complete => Ending::Full,
            End::Truncated => return Err(self.too_long()),
            // The end of a thread waits for nobody in serial runs, or it would be an operation.
            End::Stuck | End::Endless
                if with(|control| !control.search.lineup.exits && control.run.recorder.any_leaving()) =>
            {
                return Err(self.ended_badly(end));
            }
            End::Stuck | End::Endless if freeze::bystanders() > 0 => {
                return Err(Outcome::Unknown(Shortfall::Bystanders));
            }
            End::Stuck | End::Endless if with(|control| control.run.recorder.any_open()) => Ending::Stuck,
            End::Stopped(Stop::Redundant | Stop::Blocked | Stop::Unfair) => return Ok(()),
            End::Stopped(Stop::Diverged(_)) => return Err(uncontrolled(Phase::Two)),
            End::Stuck | End::Endless | End::Failed => return Err(self.ended_badly(end)),
        };
        with(|control| control.run.recorder.key(ending, key));
        if self.seen.contains(key.as_slice()) {
            return Ok(());
        }
        self.seen.insert(key.as_slice().into());
        self.numbers.histories += 1;
        self.numbers.stuck += u64::from(ending == Ending::Stuck);
        let history = with(|control| control.run.recorder.recorded(ending));
        let matrix = with(|control| control.search.lineup.matrix.clone());
        self.case(&matrix, &history, |criterion, case| criterion.count(case));
        match self.judge(&matrix, &history)? {
            Judgement::Allowed => Ok(()),
            Judgement::Undecided | Judgement::Ask(_) => Err(Outcome::Unknown(Shortfall::Undecided)),
            Judgement::Wrong(why) => Err(Outcome::Wrong(wrong(why))),
            Judgement::Refused(unexplained) => {
                if self.first.is_some() {
                    return Ok(());
                }
                match self.refuse(history, unexplained) {
                    Outcome::Fail(found) if self.bench.counts => {
                        self.first = Some(found);
                        Ok(())
                    }
                    outcome => Err(outcome),
                }
            }
        }
    }

    /// Puts a history to the criterion.
    fn case<T>(
        &mut self,
        matrix: &Matrix,
        history: &Recorded,
        ask: impl FnOnce(&mut dyn Criterion, &Case<'_>) -> T,
    ) -> T {
        let object = self.bench.object.clone();
        with(|control| {
            let (calls, results, observation) = (&object.calls, &control.search.lineup.results, &*self.observation);
            ask(self.bench.criterion, &Case { matrix, calls, results, observation, history })
        })
    }

    /// Judges a history. What the criterion wants to know besides is found out by serial runs; the run that it is about is made
    /// again after them.
    fn judge(&mut self, matrix: &Matrix, history: &Recorded) -> Result<Judgement, Outcome> {
        let mut judgement = self.case(matrix, history, |criterion, case| criterion.judge(case));
        if !matches!(judgement, Judgement::Ask(_)) {
            return Ok(judgement);
        }
        let (strategy, retries, settings, spares, schedule) = with(|control| {
            let strategy = std::mem::replace(&mut control.search.strategy, Box::new(Serial::new()));
            let retries = std::mem::take(&mut control.search.retries);
            let search = &control.search;
            (strategy, retries, search.settings.clone(), search.spares_races, control.run.trace.schedule())
        });
        while let Judgement::Ask(asked) = judgement {
            for calls in asked {
                if self.bench.out_of_time() {
                    return Err(self.bench.cut_short(Phase::Two));
                }
                let run = self.bench.sequence(&calls, self.numbers)?;
                let told = self.case(matrix, history, |criterion, case| criterion.tell(case, run));
                told.map_err(|why| Outcome::Wrong(wrong(why)))?;
            }
            judgement = self.case(matrix, history, |criterion, case| criterion.judge(case));
        }
        self.bench.arrange(&self.bench.object.clone(), matrix, false);
        with(|control| {
            (control.search.settings, control.search.spares_races) = (settings, spares);
            control.search.strategy = Box::new(Replay::new(schedule));
        });
        if with(|control| control.search.strategy.start()).is_continue() {
            run::run_once(&self.test, self.bench.globals);
        }
        with(|control| {
            control.search.strategy = strategy;
            control.search.retries = retries;
        });
        Ok(judgement)
    }

    /// A run that is cut off says nothing about the object.
    fn too_long(&self) -> Outcome {
        let steps = with(|control| control.search.settings.steps_max);
        Outcome::Unknown(Shortfall::TooLong(steps))
    }

    fn ended_badly(&self, end: End) -> Outcome {
        let run = self.numbers.runs;
        with(|control| {
            let failure = match (&control.run.failure, end) {
                (Some(failure), End::Failed) => failure.clone(),
                _ => finding::stuck(control),
            };
            if !failure.kind.is_violation() {
                return Outcome::Uncontrolled(Box::new(finding::of_failure(control, failure, &self.test.name, run)));
            }
            Outcome::Fail(Box::new(bad_end(control, failure, &self.test, run)))
        })
    }

    fn refuse(&mut self, history: Recorded, unexplained: Unexplained) -> Outcome {
        let refusal = self.bench.criterion.take_refusal().map(Box::new);
        let relaxed = refusal.as_ref().filter(|refusal| !refusal.exact);
        let kind = match unexplained {
            Unexplained::Stuck { .. } => ObjectKind::Stuck,
            Unexplained::Full if self.panics(&history) => ObjectKind::Panic,
            Unexplained::Full if relaxed.is_some() => ObjectKind::NotQuasiLinearizable,
            Unexplained::Full => ObjectKind::NotLinearizable,
        };
        let cause = match (unexplained, relaxed) {
            (Unexplained::Stuck { .. }, _) => Cause::UnexplainedWait,
            // The words for a panic are those of results, whatever was allowed.
            (Unexplained::Full, Some(refusal)) => {
                Cause::Refused { classes: refusal.classes.clone(), readings: refusal.readings.clone() }
            }
            (Unexplained::Full, None) => Cause::Unexplained,
        };
        let run = self.numbers.runs;
        let (finding, pc) = with(|control| {
            let pc = if kind == ObjectKind::Stuck { finding::stuck(control).pc } else { 0 };
            let found = match kind {
                ObjectKind::Panic => FindingKind::NotLinearizable,
                _ => cause.kind(),
            };
            (finding::of_failure(control, Failure { kind: found, cause, pc }, &self.test.name, run), pc)
        });
        let (preemptions, threads) = with(|control| (bound(control), control.run.recorder.threads.clone()));
        Outcome::Fail(Box::new(Found {
            kind,
            finding,
            history: Some(history),
            unexplained: Some(unexplained),
            refusal,
            nondeterminism: None,
            observation: self.observation.clone(),
            coverage: CoverageRecord::Partial,
            preemptions,
            threads,
            pc,
            exits: self.bench.exits,
        }))
    }

    /// Whether some operation panicked that does so in no serial history.
    fn panics(&self, history: &Recorded) -> bool {
        let serial = self.observation.histories();
        let columns = history.columns.iter().enumerate();
        with(|control| {
            let results = &control.search.lineup.results;
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
