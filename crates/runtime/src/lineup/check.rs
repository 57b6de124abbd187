//! Matrix after matrix, until something is wrong or everything that was planned is done; then the smallest matrix that fails in
//! the same way, with the fewest preemptions.

use std::rc::Rc;

use selvedge_driver::{
    CoverageRecord, Finding, MatrixRecord, ObjectFinding, ObjectKind, ObjectReport, QuasiCounts, Search, Settings,
};
use selvedge_lineup::{
    Criterion, Explained, Language, Linearizable, Matrix, Plan, Quasi, Results, Stage, Subject, Tally, smaller,
    timeline,
};

use super::files::Files;
use super::matrix::{Bench, Found, Numbers, Outcome};
use super::object::{Life, Object};
use super::relaxed::{self, Relaxing};
use crate::control::with;
use crate::memory::reset::Snapshot;
use crate::{session, sys};

/// What phase 2 may spend on a matrix after its bound was reached, at least.
const BEYOND: u64 = 500;
/// Of the time for everything, the share that the enumeration takes at most when random matrices follow that nobody asked for.
const ENUMERATION: f64 = 0.6;
/// How long the search for a smaller matrix may go on.
const SHRINKING: f64 = 20.0;

/// The report of an object of which nothing is known yet.
pub fn blank(name: &str) -> ObjectReport {
    ObjectReport {
        object: name.to_owned(),
        criterion: String::new(),
        matrices: 0,
        matrices_failed: 0,
        matrices_exhaustive: 0,
        matrices_wanted: 0,
        plan: String::new(),
        serial_histories: 0,
        histories: 0,
        stuck: 0,
        quasi: None,
        runs: 0,
        points: 0,
        cpu_seconds: 0.0,
        coverage: CoverageRecord::Partial,
        complete: false,
        limit: None,
        records: Vec::new(),
        findings: Vec::new(),
        error: None,
    }
}

/// What histories are held against.
fn criterion(object: &Object, relaxing: Option<&Relaxing>) -> Box<dyn Criterion> {
    match relaxing {
        Some(relaxing) => Box::new(Quasi::new(relaxing.relaxed.clone(), &object.calls)),
        None => Box::new(Linearizable),
    }
}

/// Tests an object.
pub fn check(object: Object, settings: &Settings) -> ObjectReport {
    // Who searches is no part of what was found.
    let mut settings = Settings { jobs: 1, slice: Settings::default().slice, ..settings.clone() };
    let options = object.options.clone();
    settings.preemptions = options.preemptions.unwrap_or(settings.preemptions);
    settings.races = options.races.unwrap_or(settings.races);
    settings.time_max = options.time_max.or(settings.time_max);
    let began = sys::now();
    let deadline = settings.time_max.map_or(f64::INFINITY, |limit| began + limit);
    let globals = Snapshot::of_globals();
    with(|control| control.lineup.results = Results::new(object.void));
    let relaxing = match relaxed::relaxing(&object) {
        Ok(relaxing) => relaxing,
        Err(error) => return ObjectReport { error: Some(error), ..blank(&object.name) },
    };
    let mut criterion = criterion(&object, relaxing.as_ref());
    let object = Rc::new(object);
    let (settings, globals) = (&settings, &globals);
    let bench = Bench {
        object: object.clone(),
        globals,
        settings,
        criterion: &mut *criterion,
        deadline,
        beyond: BEYOND,
        counts: false,
    };
    let files = Files::default();
    let mut session = Session { bench, object, report: blank(""), began, settings, files, relaxing };
    session.run();
    session::renew(globals);
    let mut report = session.report;
    report.cpu_seconds = report.cpu_seconds.max(0.0);
    with(|control| control.lineup.object = None);
    report
}

/// The test of one object.
struct Session<'a> {
    bench: Bench<'a>,
    object: Rc<Object>,
    report: ObjectReport,
    began: f64,
    settings: &'a Settings,
    files: Files,
    /// What is allowed, when quasi linearizability is asked for.
    relaxing: Option<Relaxing>,
}

impl Session<'_> {
    fn run(&mut self) {
        let cpu = sys::cpu();
        self.report = blank(&self.object.name);
        self.report.criterion = self.bench.criterion.name().to_owned();
        self.report.quasi = self.relaxing.as_ref().map(Relaxing::record);
        let mut plan = Plan::new(&self.object.options, &self.object.calls, self.settings.seed);
        self.report.plan = plan.describe();
        self.report.matrices_wanted = plan.must();
        if self.settings.replay.is_none()
            && self.bench.criterion.needs_serial()
            && let Err(Outcome::Wrong(why)) = self.bench.steady(&self.object.options.initial)
        {
            self.report.error = Some(why);
            return;
        }
        if let Err(why) = self.files.read(&self.object) {
            self.report.error = Some(why);
            return;
        }
        let mut covered: Option<CoverageRecord> = None;
        let end = self.bench.deadline;
        while let Some((stage, matrix)) = plan.next_matrix() {
            let matrix = self.framed(stage, matrix);
            let share = matches!(stage, Stage::Auto(_)) && plan.fills_up();
            self.bench.deadline = if share { self.began + (end - self.began) * ENUMERATION } else { end };
            let extra = stage == Stage::Random && !plan.samples_wanted;
            match self.matrix(&matrix) {
                Outcome::Pass(coverage) => covered = Some(weaker(covered, coverage)),
                Outcome::Fail(found) => {
                    self.bench.deadline = end;
                    self.fail(&matrix, *found);
                    if !self.object.options.keep_going {
                        break;
                    }
                }
                Outcome::Unknown(_) if extra => {
                    self.report.complete = true;
                    break;
                }
                Outcome::Unknown(why) => {
                    self.report.limit.get_or_insert(why);
                    if sys::now() > end {
                        break;
                    }
                    if sys::now() > self.bench.deadline {
                        plan.leave_enumeration();
                    }
                }
                Outcome::Wrong(why) => {
                    self.report.error = Some(why);
                    break;
                }
            }
        }
        let report = &mut self.report;
        let seen = report.limit.is_none() && report.findings.is_empty() && report.error.is_none();
        report.complete = seen;
        report.coverage = covered.unwrap_or(CoverageRecord::Partial);
        report.cpu_seconds = sys::cpu() - cpu;
        if let Err(why) = self.files.write(&self.object) {
            report.error = Some(why);
        }
    }

    /// Both phases of one matrix.
    fn matrix(&mut self, matrix: &Matrix) -> Outcome {
        let mut numbers = Numbers::default();
        self.bench.counts = self.object.options.keep_going && self.relaxing.is_some();
        let outcome = self.phases(matrix, &mut numbers);
        self.bench.counts = false;
        let report = &mut self.report;
        report.serial_histories += numbers.serial_full + numbers.serial_stuck;
        report.histories += numbers.histories;
        report.stuck += numbers.stuck;
        if let Some(quasi) = &mut report.quasi {
            relaxed::add(&mut quasi.counts, numbers.tally);
        }
        report.runs += numbers.serial_runs + numbers.runs;
        report.points += numbers.points;
        let (verdict, kind, coverage) = match &outcome {
            Outcome::Pass(coverage) => ("pass", None, *coverage),
            Outcome::Fail(found) => ("fail", Some(found.kind), found.coverage),
            Outcome::Unknown(_) | Outcome::Wrong(_) => ("unknown", None, CoverageRecord::Partial),
        };
        report.matrices += u64::from(verdict != "unknown");
        report.matrices_failed += u64::from(verdict == "fail");
        report.matrices_exhaustive += u64::from(coverage == CoverageRecord::Exhaustive);
        if self.object.options.keep_going {
            report.records.push(MatrixRecord {
                matrix: matrix.to_text(&self.object.calls),
                verdict: verdict.to_owned(),
                kind,
                serial_full: numbers.serial_full,
                serial_stuck: numbers.serial_stuck,
                histories: numbers.histories,
                quasi: self.relaxing.as_ref().map(|_| counts(numbers.tally)),
                serial_runs: numbers.serial_runs,
                runs: numbers.runs,
                serial_seconds: numbers.serial_seconds,
                seconds: numbers.seconds,
                coverage,
            });
        }
        outcome
    }

    /// The matrix as it is tested: under the closed reading one that was made up drains the object, and of one that was given
    /// it is said when it does not.
    fn framed(&mut self, stage: Stage, matrix: Matrix) -> Matrix {
        let Some(relaxing) = self.relaxing.as_ref().filter(|relaxing| relaxing.drains()) else { return matrix };
        if stage != Stage::Given {
            return relaxing.roles.complete(matrix);
        }
        if let (Err(why), Some(quasi)) = (relaxing.roles.well_formed(&matrix), &mut self.report.quasi) {
            let text = matrix.to_text(&self.object.calls);
            quasi.notes.push(format!("the matrix {text} is not well-formed: {why}"));
        }
        matrix
    }

    fn phases(&mut self, matrix: &Matrix, numbers: &mut Numbers) -> Outcome {
        let known = match self.files.find(matrix, &self.object) {
            Ok(known) => known,
            Err(why) => return Outcome::Wrong(why),
        };
        let observation = match known {
            Some(observation) => {
                numbers.serial_full += observation.full();
                numbers.serial_stuck += observation.stuck();
                Ok(observation)
            }
            None => self.bench.observe(matrix, numbers),
        };
        match observation {
            Ok(observation) => {
                self.files.keep(matrix, &observation, &self.object);
                self.bench.explore(matrix, observation, numbers)
            }
            Err(outcome) => outcome,
        }
    }

    /// Makes a finding of a matrix that fails, the smallest of its kind; one of each kind is kept.
    fn fail(&mut self, first: &Matrix, found: Found) {
        if self.report.findings.iter().any(|finding| finding.kind == found.kind) {
            return;
        }
        let (matrix, found) = if self.settings.replay.is_some() || self.object.options.as_it_is {
            (first.clone(), found)
        } else {
            let (matrix, found) = self.shrink(first.clone(), found);
            let found = self.calm(&matrix, found);
            (matrix, found)
        };
        let mut found = found;
        self.bench.trace_back(&matrix, &mut found);
        let finding = self.finding(&matrix, first, found);
        self.report.findings.push(finding);
    }

    /// Goes down as long as something smaller fails in the same way.
    fn shrink(&mut self, mut matrix: Matrix, mut found: Found) -> (Matrix, Found) {
        let deadline = self.bench.deadline.min(sys::now() + SHRINKING);
        let saved = std::mem::replace(&mut self.bench.deadline, deadline);
        'down: while sys::now() < deadline {
            let drained =
                |candidate: &Matrix| self.relaxing.as_ref().is_none_or(|relaxing| relaxing.keeps(&matrix, candidate));
            let candidates: Vec<Matrix> =
                candidates(&matrix, self.relaxing.is_some()).into_iter().filter(drained).collect();
            for candidate in candidates {
                if let Outcome::Fail(less) = self.phases(&candidate, &mut Numbers::default())
                    && less.kind == found.kind
                {
                    (matrix, found) = (candidate, *less);
                    continue 'down;
                }
            }
            break;
        }
        self.bench.deadline = saved;
        (matrix, found)
    }

    /// The same with the fewest preemptions, when the search was one that does not count them.
    fn calm(&mut self, matrix: &Matrix, found: Found) -> Found {
        if found.preemptions.is_some() || found.kind == ObjectKind::Nondeterministic {
            return found;
        }
        let preemptions = self.settings.preemptions.saturating_add(2);
        let settings = Settings { search: Search::Bounded, preemptions, ..self.settings.clone() };
        let bench = &mut self.bench;
        let mut calmer = Bench {
            object: bench.object.clone(),
            globals: bench.globals,
            settings: &settings,
            criterion: &mut *bench.criterion,
            deadline: bench.deadline.min(sys::now() + SHRINKING),
            beyond: 0,
            counts: false,
        };
        let mut numbers = Numbers::default();
        let outcome = match calmer.observe(matrix, &mut numbers) {
            Ok(observation) => calmer.explore(matrix, observation, &mut numbers),
            Err(outcome) => outcome,
        };
        match outcome {
            Outcome::Fail(calmer) if calmer.kind == found.kind => *calmer,
            _ => found,
        }
    }

    /// What a replay asks for: this matrix as it is, and everything else that was said of the object.
    fn options_of(&self, matrix: &str) -> Vec<String> {
        const KEPT: [&str; 10] = [
            "nondeterministic ",
            "ignore ",
            "exclusive ",
            "races ",
            "observations ",
            "only-quasi ",
            "specification ",
            "reading ",
            "causality ",
            "order ",
        ];
        let said = self.settings.object.options.iter();
        let kept = said.filter(|option| KEPT.iter().any(|kept| option.starts_with(kept))).cloned();
        kept.chain(["initial".to_owned(), "final".to_owned(), format!("matrix {matrix}")]).collect()
    }

    fn finding(&self, matrix: &Matrix, first: &Matrix, found: Found) -> ObjectFinding {
        let calls = &self.object.calls;
        let text = matrix.to_text(calls);
        let (mut rows, mut finding) = (Vec::new(), found.finding.clone());
        let Explained { results, text: explanation, serial } = with(|control| {
            let subject = Subject { matrix, calls, results: &control.lineup.results, threads: &found.threads };
            rows = name_steps(&subject, &found, &mut finding);
            match (&found.nondeterminism, &found.history) {
                (Some(two), _) => subject.explain_nondeterminism(two),
                (None, Some(history)) if found.refusal.is_some() => {
                    let refusal = found.refusal.as_deref().expect("there is one");
                    subject.explain_refusal(history, refusal)
                }
                (None, Some(history)) => subject.explain(&found.observation, history, found.unexplained),
                (None, None) => Explained::default(),
            }
        });
        let language = match self.object.life {
            Life::C { .. } => Language::C,
            Life::Rust { .. } => Language::Rust,
        };
        finding.settings.object.options = self.options_of(&text);
        ObjectFinding {
            kind: found.kind,
            first_matrix: first.to_text(calls),
            dimension: matrix.dimension(),
            results,
            preemptions: found.preemptions,
            timeline: timeline(&rows),
            explanation,
            serial,
            regression: selvedge_lineup::regression(language, &self.object.name, &text, found.kind.name()),
            matrix: text,
            finding,
        }
    }
}

/// Says in the steps of a run which operation was called and what it returned; the same as rows of a table.
fn name_steps(subject: &Subject<'_>, found: &Found, finding: &mut Finding) -> Vec<(usize, String)> {
    let mut rows = Vec::new();
    let mut places = vec![0; found.threads.len() + 1];
    for step in &mut finding.steps {
        let thread = usize::from(step.thread);
        let column = found.threads.iter().position(|&other| other == thread).map_or(0, |at| at + 1);
        let name = subject.name(column, places[column]);
        if step.what.starts_with("call") {
            step.what = format!("call {name}");
        } else if step.what.starts_with("return") {
            let operation = found.history.as_ref().and_then(|history| history.columns[column].get(places[column]));
            let result = operation.and_then(|operation| operation.result);
            let text = result.map_or("", |result| subject.results.text(result));
            step.what = format!("return {text}");
            places[column] += 1;
        } else {
            continue;
        }
        rows.push((column, format!("{} {}", subject.thread(column), step.what)));
    }
    rows
}

/// Smaller matrices; where insertions and removals have to match, also those with one of each less.
fn candidates(matrix: &Matrix, pairs: bool) -> Vec<Matrix> {
    let mut all = smaller(matrix);
    if pairs {
        let mut seen: std::collections::HashSet<Matrix> = all.iter().cloned().collect();
        let two: Vec<Matrix> = all.iter().flat_map(smaller).filter(|less| seen.insert(less.clone())).collect();
        all.extend(two);
    }
    all
}

fn counts(tally: Tally) -> QuasiCounts {
    let mut counts = QuasiCounts::default();
    relaxed::add(&mut counts, tally);
    counts
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
