//! Matrix after matrix, until something is wrong or everything that was planned is done; and the report.
//!
//! Invariant: an object is only ever called complete when every matrix that had to be tested was.

use std::collections::HashSet;
use std::rc::Rc;

use selvedge_lineup::{
    BuiltIn, CallId, Criterion, Linearizable, Matrix, Plan, Quasi, Results, Specified, Stage, Subject,
};
use selvedge_protocol::{
    CoverageRecord, Explanation, Finding, FindingKind, Language, Leaks, MatrixRecord, MatrixVerdict, ObjectFinding,
    ObjectKind, ObjectReport, ObjectTrouble, SearchTrouble, Settings, Shortfall, StepKind, wire,
};

use super::body;
use super::crew::{Crew, Examined, Times};
use super::examine::{Examiner, Verdict};
use super::files::Files;
use super::matrix::{Bench, Found, Outcome};
use super::object::{Life, Object};
use super::relaxed::{self, Relaxing};
use super::specified;
use crate::control::with;
use crate::memory::kernel;
use crate::memory::reset::Snapshot;
use crate::worker::{Line, say};
use crate::{journal, run, sys};

/// What phase 2 may spend on a matrix after its bound was reached, at least.
const BEYOND: u64 = 500;
/// Of the time for everything, the share that the enumeration takes at most when random matrices follow that nobody asked for.
const ENUMERATION: f64 = 0.6;
/// So often it is said what is known so far, in seconds.
const TELL: f64 = 0.25;
/// How many findings are reported at most; beyond them only the records of matrices tell what failed.
const FINDINGS: usize = 16;

/// What histories are held against.
fn criterion(object: &Object, relaxing: Option<&Relaxing>, built_in: Option<&BuiltIn>) -> Box<dyn Criterion> {
    match (relaxing, built_in) {
        (Some(relaxing), _) => Box::new(Quasi::new(relaxing.relaxed.clone(), &object.calls)),
        (None, Some(built_in)) => Box::new(Specified::new(built_in.clone())),
        (None, None) => Box::new(Linearizable),
    }
}

/// Tests an object.
pub fn check(object: Object, settings: &Settings) -> ObjectReport {
    // Who searches is no part of what was found.
    let asked = (settings.jobs, settings.slice);
    kernel::allow(settings.memory_max);
    let mut settings = Settings { jobs: 1, slice: Settings::default().slice, memory_max: None, ..settings.clone() };
    if settings.leaks.is_some() {
        let trouble = SearchTrouble::FlagOfTests { flag: "--leaks".to_owned(), object: object.name.clone() };
        return ObjectReport { error: Some(ObjectTrouble::Search(trouble)), ..ObjectReport::new(&object.name) };
    }
    // A run of an object has all of its threads in it, or none of its histories.
    with(|control| control.search.leaks = Leaks::Stop);
    let options = object.options.said.clone();
    settings.preemptions = options.preemptions.unwrap_or(settings.preemptions);
    settings.races = options.races.unwrap_or(settings.races);
    settings.spurious = options.spurious.unwrap_or(settings.spurious);
    settings.time_max = options.time_max.or(settings.time_max);
    let times = Times::new(settings.time_max, ENUMERATION, asked.1);
    journal::expect_end(times.end);
    let globals = Snapshot::new(settings.stop_at_failure);
    with(|control| control.search.lineup.results = Results::new(object.void));
    let asked_for = relaxed::relaxing(&object).and_then(|relaxing| Ok((relaxing, specified::built_in(&object)?)));
    let (relaxing, built_in) = match asked_for {
        Ok(both) => both,
        Err(trouble) => return ObjectReport { error: Some(trouble), ..ObjectReport::new(&object.name) },
    };
    let mut criterion = criterion(&object, relaxing.as_ref(), built_in.as_ref());
    let object = Rc::new(object);
    let (settings, globals) = (&settings, &globals);
    let bench = Bench {
        object: object.clone(),
        globals,
        settings,
        criterion: &mut *criterion,
        deadline: times.end,
        beyond: BEYOND,
        trial: None,
        insists: false,
        counts: false,
        exits: false,
    };
    let mut report = ObjectReport::new(&object.name);
    report.criterion = bench.criterion.name().to_owned();
    report.quasi = relaxing.as_ref().map(|relaxing| relaxing.record(&object));
    report.built_in = built_in.as_ref().map(specified::record);
    let examiner = Examiner { bench, object: object.clone(), settings, files: Files::default(), relaxing };
    let mut session = Session { examiner, object, report, settings, called: HashSet::new(), told: 0.0 };
    // What goes to a file is gathered here.
    let alone = options.write_observations.is_some() || settings.replay.is_some();
    session.run(times, if alone { 1 } else { asked.0 as usize });
    run::renew(globals);
    with(|control| control.search.lineup.object = None);
    session.report
}

/// The test of one object.
struct Session<'a> {
    examiner: Examiner<'a>,
    object: Rc<Object>,
    report: ObjectReport,
    settings: &'a Settings,
    /// The calls of matrices that were tested.
    called: HashSet<CallId>,
    /// When it was last said what is known so far.
    told: f64,
}

impl Session<'_> {
    fn run(&mut self, times: Times, jobs: usize) {
        let cpu = sys::cpu();
        let mut plan = Plan::new(&self.object.options, &self.object.calls, self.settings.seed);
        if let Some(relaxing) = self.examiner.relaxing.as_ref().filter(|relaxing| relaxing.drains()) {
            plan.drain(relaxing.roles.clone());
        }
        self.report.plan = plan.record();
        self.report.matrices_wanted = plan.must();
        self.report.random_optional = plan.extra();
        if let Err(why) = self.begin() {
            self.report.error = Some(why);
            return;
        }
        let mut crew = Crew::new(plan, times, jobs);
        let covered = self.matrices(&mut crew, times);
        self.look_for_calls_left_out();
        let report = &mut self.report;
        if report.matrices == 0 && report.limit.is_none() {
            report.limit = Some(Shortfall::NoMatrix);
        }
        report.complete =
            report.limit.is_none() && !report.leaves_doubt() && report.findings.is_empty() && report.error.is_none();
        report.coverage = covered.unwrap_or(CoverageRecord::Partial);
        report.cpu_seconds = (sys::cpu() - cpu).max(0.0) + crew.cpu_seconds;
        if let Err(why) = self.examiner.files.write(&self.object) {
            self.report.error = Some(why);
        }
    }

    /// Whether the object can be tested at all.
    fn begin(&mut self) -> Result<(), ObjectTrouble> {
        if self.settings.replay.is_none()
            && self.examiner.bench.criterion.needs_serial()
            && let Err(Outcome::Wrong(why)) = self.examiner.bench.steady(&self.object.options.initial)
        {
            return Err(why);
        }
        self.examiner.files.read(&self.object)
    }

    /// One after the other; the least that was covered of any.
    fn matrices(&mut self, crew: &mut Crew, times: Times) -> Option<CoverageRecord> {
        let mut covered: Option<CoverageRecord> = None;
        while let Some(examined) = crew.next(&mut self.examiner) {
            self.note(&examined);
            self.tell();
            let extra = examined.stage == Stage::Random && !crew.plan.samples_wanted;
            let Examined { matrix, answer, .. } = examined;
            match answer.verdict {
                Verdict::Pass(coverage) => covered = Some(weaker(covered, coverage)),
                Verdict::Fail { kind, smallest, .. } => {
                    self.fail(&matrix, kind, &smallest);
                    if !self.object.options.said.keep_going {
                        break;
                    }
                }
                Verdict::Uncontrolled(found) => {
                    self.note_unknown(*found);
                    if sys::now() > times.end {
                        break;
                    }
                }
                // What only fills up the time is allowed to be cut short, and the report says how far it came.
                Verdict::Unknown(_) if extra => break,
                Verdict::Unknown(why) => {
                    self.report.limit.get_or_insert(why);
                    if sys::now() > times.end {
                        break;
                    }
                    if sys::now() > times.enumeration {
                        crew.leave_enumeration();
                    }
                }
                Verdict::Wrong(why) => {
                    self.report.error = Some(why);
                    break;
                }
            }
        }
        covered
    }

    /// Says what is known so far, now and then.
    fn tell(&mut self) {
        let now = sys::now();
        if now > self.told + TELL {
            self.told = now;
            say(Line::Object, &wire::encode(&self.report));
        }
    }

    /// Keeps where a run ended at something that is not controlled: nothing can be claimed of the object then.
    fn note_unknown(&mut self, found: Finding) {
        self.report.limit.get_or_insert_with(|| Shortfall::Uncontrolled(found.cause.clone()));
        let same = |other: &Finding| other.kind == found.kind && other.place == found.place;
        if !self.report.unknowns.iter().any(same) {
            self.report.unknowns.push(found);
        }
    }

    /// Where the plan was ours, a call that no matrix makes is not tested, whatever else was.
    fn look_for_calls_left_out(&mut self) {
        let report = &mut self.report;
        if report.random_optional == 0 || report.limit.is_some() {
            return;
        }
        let untested: Vec<String> = self
            .object
            .calls
            .ids()
            .filter(|call| !self.called.contains(call))
            .map(|call| self.object.calls.name(call).to_owned())
            .collect();
        if !untested.is_empty() {
            report.limit = Some(Shortfall::Untested(untested));
        }
    }

    /// Adds a matrix to the numbers of the report.
    fn note(&mut self, examined: &Examined) {
        let numbers = &examined.answer.numbers;
        let report = &mut self.report;
        report.serial_histories += numbers.serial_full + numbers.serial_stuck;
        report.histories += numbers.histories;
        report.stuck += numbers.stuck;
        if let Some(quasi) = &mut report.quasi {
            relaxed::add(&mut quasi.counts, numbers.tally);
        }
        if let Some(built_in) = &mut report.built_in {
            built_in.counted += numbers.tally.counted;
        }
        report.runs += numbers.serial_runs + numbers.runs;
        report.plain_steps.join(examined.answer.plain_steps.clone());
        report.points += numbers.points;
        let (verdict, kind, smallest, coverage) = match &examined.answer.verdict {
            Verdict::Pass(coverage) => (MatrixVerdict::Pass, None, None, *coverage),
            Verdict::Fail { kind, smallest, coverage } => {
                (MatrixVerdict::Fail, Some(*kind), Some(smallest.clone()), *coverage)
            }
            Verdict::Unknown(_) | Verdict::Uncontrolled(_) | Verdict::Wrong(_) => {
                (MatrixVerdict::Unknown, None, None, CoverageRecord::Partial)
            }
        };
        let tested = u64::from(verdict != MatrixVerdict::Unknown);
        if tested > 0 {
            self.called.extend(examined.matrix.columns.iter().flatten());
        }
        report.matrices += tested;
        report.random_tested += if examined.stage == Stage::Random { tested } else { 0 };
        report.matrices_failed += u64::from(verdict == MatrixVerdict::Fail);
        // What was only counted was tested, and nobody knows whether it is right.
        let counted = verdict == MatrixVerdict::Pass && numbers.tally.counted > 0;
        let verdict = if counted { MatrixVerdict::Unknown } else { verdict };
        report.matrices_exhaustive += u64::from(coverage == CoverageRecord::Exhaustive);
        if self.object.options.said.keep_going {
            report.records.push(MatrixRecord {
                matrix: examined.matrix.to_text(&self.object.calls),
                verdict,
                kind,
                smallest,
                serial_full: numbers.serial_full,
                serial_stuck: numbers.serial_stuck,
                histories: numbers.histories,
                quasi: report.quasi.as_ref().map(|_| relaxed::counts(numbers.tally)),
                serial_runs: numbers.serial_runs,
                runs: numbers.runs,
                serial_seconds: numbers.serial_seconds,
                seconds: numbers.seconds,
                coverage,
            });
        }
    }

    /// Makes a finding of a matrix that fails; each smallest matrix is reported once.
    fn fail(&mut self, first: &Matrix, kind: ObjectKind, smallest: &str) {
        let known = |finding: &ObjectFinding| finding.kind == kind && finding.matrix == smallest;
        if self.report.findings.len() >= FINDINGS || self.report.findings.iter().any(known) {
            return;
        }
        let matrix = Matrix::parse(smallest, &self.object.calls).unwrap_or_else(|_| first.clone());
        let Some(found) = self.examiner.again(&matrix).filter(|found| found.kind == kind) else {
            self.report.limit = Some(Shortfall::NotAgain { kind, matrix: smallest.to_owned() });
            return;
        };
        let mut found = self.examiner.calm(&matrix, found);
        self.examiner.bench.trace_back(&matrix, &mut found);
        let finding = self.finding(&matrix, first, found);
        self.report.findings.push(finding);
        say(Line::Object, &wire::encode(&self.report));
    }

    /// A finding as it is reported.
    fn finding(&self, matrix: &Matrix, first: &Matrix, found: Found) -> ObjectFinding {
        let calls = &self.object.calls;
        let text = matrix.to_text(calls);
        let mut finding = found.finding.clone();
        let explanation = with(|control| {
            let results = &control.search.lineup.results;
            let subject = Subject { matrix, calls, results, threads: &found.threads };
            name_steps(&subject, &found, &mut finding);
            match (&found.nondeterminism, &found.history, &found.refusal) {
                (Some(two), ..) => subject.explain_nondeterminism(two),
                (None, Some(history), Some(refusal)) => subject.explain_refusal(history, refusal),
                (None, Some(history), None) => subject.explain(&found.observation, history, found.unexplained),
                (None, None, _) => Explanation::default(),
            }
        });
        finding.steps.retain(|step| !body::is_turn(step));
        trim(&mut finding, found.unexplained.is_some());
        finding.settings.object = self.settings.object.for_replay(&text, self.examiner.files.knows(matrix));
        ObjectFinding {
            kind: found.kind,
            first_matrix: first.to_text(calls),
            dimension: matrix.dimension(),
            preemptions: found.preemptions,
            explanation,
            language: match self.object.life {
                Life::C { .. } => Language::C,
                Life::Rust { .. } => Language::Rust,
            },
            matrix: text,
            finding,
        }
    }
}

/// Leaves out how the object was made and, when every operation returned, how it was destroyed: neither is what is wrong. The threads are
/// still created, so that it is clear which is which.
fn trim(finding: &mut Finding, by_operations: bool) {
    if !by_operations {
        return;
    }
    if finding.kind == FindingKind::NotLinearizable
        && let Some(last) = finding.steps.iter().rposition(selvedge_protocol::Step::is_of_operation)
    {
        finding.steps.truncate(last + 1);
    }
    let first = finding.steps.iter().position(selvedge_protocol::Step::is_of_operation).unwrap_or(0);
    let mut at = 0;
    finding.steps.retain(|step| {
        at += 1;
        at > first || step.kind == StepKind::Create
    });
}

/// Says in the steps of a run which operation was called and what it returned.
fn name_steps(subject: &Subject<'_>, found: &Found, finding: &mut Finding) {
    let mut places = vec![0; found.threads.len() + 1];
    for step in &mut finding.steps {
        let thread = usize::from(step.thread);
        let column = found.threads.iter().position(|&other| other == thread).map_or(0, |at| at + 1);
        match &mut step.kind {
            StepKind::Call { operation } => *operation = Some(subject.name(column, places[column]).to_owned()),
            StepKind::Return { result } => {
                let history = found.history.as_ref();
                let operation = history.and_then(|history| history.columns[column].get(places[column]));
                *result =
                    operation.and_then(|operation| operation.result).map(|id| subject.results.text(id).to_owned());
                places[column] += 1;
            }
            _ => {}
        }
    }
}

/// The less of two.
fn weaker(one: Option<CoverageRecord>, other: CoverageRecord) -> CoverageRecord {
    use CoverageRecord::{Exhaustive, Partial, Preemptions, Replayed, Sampled};
    match (one, other) {
        (None | Some(Exhaustive), other) => other,
        (Some(one), Exhaustive) => one,
        (Some(Preemptions(one)), Preemptions(other)) => Preemptions(one.min(other)),
        (Some(Sampled(one)), Sampled(other)) => Sampled(one.min(other)),
        (Some(Replayed), other) | (Some(other), Replayed) => other,
        _ => Partial,
    }
}
