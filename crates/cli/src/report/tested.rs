//! Reports on tests of code: what was found or not, and exactly what was covered.
//!
//! Invariant: coverage is stated with every verdict, relative to what was controlled. What was only sampled, or was cut short, never
//! reads as complete.

mod document;

pub use document::Found;

use std::collections::HashMap;

use selvedge_protocol::{
    Cause, CoverageRecord, Finding, FindingKind, ObjectReport, Search, Settings, Shortfall, TestReport, words,
};

use document::SessionDocument;
pub use document::TestDocument;

use super::interleaving;
use super::json::{self, round};
use super::names::Names;
use super::objects;
use super::text::{FAIL, FAINT, PASS, UNKNOWN, clean, paint, paragraph};
use super::verdict::{Coverage, Criterion, Reached, VerdictName};
use crate::exit::Exit;
use crate::findings::Saved;
use crate::quantity::{count, counted, show_time};

/// One test that ran, or that could not be run to any end.
pub struct Tested {
    /// What the runtime saw.
    pub report: TestReport,
    /// The same for an object, with what is said of matrices.
    pub object: Option<ObjectReport>,
    /// What it was asked to do.
    pub settings: Settings,
    /// Whether Ctrl-C or the end of the process cut it short.
    pub interrupted: bool,
    /// Where each finding was written.
    pub paths: Vec<Saved>,
    /// The program that it is in.
    pub program: String,
    /// The test function that the search is in, where the program runs its tests itself.
    pub function: Option<String>,
    /// Whether it panics as the test says that it should.
    pub expected: bool,
    /// Why there is no report of it.
    pub lost: Option<String>,
}

/// Something that there is no report of, although there should be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Whether it could not be tested at all; else nothing is known of it.
    pub untestable: bool,
    /// What it is, in a few words.
    pub what: String,
    /// Why.
    pub why: String,
}

impl Missing {
    /// Of something that nothing is known of.
    pub fn unknown(what: impl Into<String>, why: impl Into<String>) -> Self {
        Missing { untestable: false, what: what.into(), why: why.into() }
    }

    /// Of something that could not be tested.
    pub fn untestable(what: impl Into<String>, why: impl Into<String>) -> Self {
        Missing { untestable: true, what: what.into(), why: why.into() }
    }

    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        if self.untestable { Exit::Input } else { Exit::Unknown }
    }

    /// All of it without the verdict.
    pub fn says(&self) -> String {
        format!("{}: {}", self.what, self.why)
    }

    /// In one line.
    pub fn line(&self) -> String {
        format!("{}  {}", if self.untestable { "ERROR" } else { "UNKNOWN" }, self.says())
    }
}

/// All tests of a program.
pub struct Session<'a> {
    /// The source files.
    pub file: &'a str,
    /// The compiler.
    pub compiler: &'a str,
    /// The tests.
    pub tests: &'a [Tested],
    /// What the time limit was, for each test.
    pub time_max: Option<std::time::Duration>,
    /// How long it took, compiling included.
    pub seconds: f64,
    /// The verdict, where somebody else decides it.
    pub exit: Option<Exit>,
    /// What could not be tested, or is not known although it was.
    pub missing: &'a [Missing],
}

impl Tested {
    /// The verdict. A bound that was asked for and reached is a pass, and so is one that the portfolio reached before its
    /// time was over; both say that it was a bound.
    pub fn exit(&self) -> Exit {
        let (report, settings) = (&self.report, &self.settings);
        if self.expected {
            return Exit::Pass;
        }
        if !report.findings.is_empty() {
            return Exit::Violation;
        }
        if let Some(object) = &self.object {
            return if object.complete { Exit::Pass } else { Exit::Unknown };
        }
        if report.coverage.reaches(settings) { Exit::Pass } else { Exit::Unknown }
    }

    /// What ended the search before everything was covered.
    pub(super) fn limit(&self) -> Option<Reached> {
        let (report, settings) = (&self.report, &self.settings);
        // A portfolio that stops at its bound was cut short: it goes on to the end when it can.
        let at_bound = matches!(report.coverage, CoverageRecord::Preemptions(_)) && settings.search != Search::Bounded;
        let complete = report.coverage.reaches(settings) && !at_bound;
        if !report.findings.is_empty() {
            return None;
        }
        // What was covered of the matrices that were tested says nothing of those that were not.
        let object = self.object.as_ref();
        if object.map_or(complete, |object| object.complete && complete) {
            None
        } else if let (false, Some(unknown)) = (self.interrupted, report.unknowns.first().filter(|_| object.is_some()))
        {
            Some(Reached::Run(unknown.kind))
        } else if object.is_some_and(|object| !object.complete && !self.interrupted) {
            let limit = object.and_then(|object| object.limit.as_ref());
            Some(if limit.is_some_and(Shortfall::is_of_time) { Reached::TIME } else { Reached::Incomplete })
        } else if self.interrupted {
            Some(Reached::INTERRUPTED)
        } else if self.lost.is_some() {
            Some(Reached::NoReport)
        } else if report.worker_lost {
            Some(Reached::Worker)
        } else if report.forgotten > 0 {
            Some(Reached::RaceMemory)
        } else if let Some(unknown) = report.unknowns.first() {
            Some(Reached::Run(unknown.kind))
        } else if report.runs >= settings.runs_max {
            Some(Reached::Runs)
        } else if report.unfair > 0 {
            Some(Reached::Fairness)
        } else {
            Some(Reached::TIME)
        }
    }

    /// How much was covered, in a word.
    fn coverage_name(&self) -> Coverage {
        // All schedules of some matrices are not all that can happen to an object.
        if let Some(object) = self.object.as_ref().filter(|object| object.coverage == CoverageRecord::Exhaustive) {
            return match object.random_tested {
                0 => Coverage::Bounded,
                _ => Coverage::Sampled,
            };
        }
        match self.report.coverage {
            CoverageRecord::Exhaustive => Coverage::Exhaustive,
            CoverageRecord::Preemptions(_) => Coverage::Bounded,
            CoverageRecord::Sampled(_) => Coverage::Sampled,
            CoverageRecord::Replayed => Coverage::Replayed,
            CoverageRecord::Partial => Coverage::Partial,
        }
    }

    /// What was covered, exactly.
    pub(super) fn coverage(&self) -> String {
        let settings = &self.settings;
        let covered = match (self.report.coverage, settings.search) {
            (CoverageRecord::Exhaustive, Search::Dpor | Search::Portfolio) => {
                "exhaustive: one schedule of every class that differs only in the order of independent steps".to_owned()
            }
            (CoverageRecord::Exhaustive, Search::Dfs) => "exhaustive: every schedule".to_owned(),
            (CoverageRecord::Exhaustive, _) => {
                format!("exhaustive: every schedule; none has more than {}", preemptions(settings.preemptions))
            }
            (CoverageRecord::Preemptions(bound), _) => {
                format!("bounded: every schedule with at most {}, and no more than that", preemptions(bound))
            }
            (CoverageRecord::Sampled(runs), Search::Pct) => format!(
                "sampled: {} with random priorities (seed {}, depth {}), nothing is covered completely",
                counted(runs, "run"),
                settings.seed,
                settings.depth
            ),
            (CoverageRecord::Sampled(runs), _) => format!(
                "sampled: {} at random (seed {}), nothing is covered completely",
                counted(runs, "run"),
                settings.seed
            ),
            (CoverageRecord::Replayed, _) => "one schedule, replayed".to_owned(),
            (CoverageRecord::Partial, _) => "partial: nothing is covered completely".to_owned(),
        };
        format!("{covered}{} (strategy {})", self.left_out(), settings.search.name())
    }

    /// What the search did not look at because of loops that only try again.
    fn left_out(&self) -> &'static str {
        let reduced = matches!(self.settings.search, Search::Dpor | Search::Portfolio);
        if reduced && self.settings.retries && self.report.blocked > 0 {
            "; attempts that failed, left nothing behind and were only made again are left out"
        } else {
            ""
        }
    }

    pub(super) fn numbers(&self) -> String {
        let report = &self.report;
        let histories = match report.histories {
            0 => String::new(),
            1 => "1 distinct history, ".to_owned(),
            histories => format!("{} distinct histories, ", count(histories)),
        };
        // A finding says itself who waits.
        let blocked = match report.blocked {
            _ if !report.findings.is_empty() => String::new(),
            0 => String::new(),
            blocked => format!("{} blocked, ", count(blocked)),
        };
        format!(
            "{}, {} redundant, {blocked}{}, {histories}{:.3} cpu s",
            counted(report.runs, "run"),
            count(report.redundant),
            counted(report.points, "point"),
            report.cpu_seconds
        )
    }

    fn text(&self, time_max: Option<std::time::Duration>, names: &mut Names) -> String {
        let test = match &self.function {
            Some(function) => clean(&format!("{function} ({})", self.report.test)),
            None => clean(&self.report.test),
        };
        let (label, says) = match self.exit() {
            Exit::Pass if self.expected => {
                (paint(PASS, "PASS"), "fails under some schedule, as the test expects".to_owned())
            }
            Exit::Pass => (paint(PASS, "PASS"), "no violation in what was covered".to_owned()),
            Exit::Violation => {
                let kinds: Vec<&str> = match &self.object {
                    Some(object) => object.findings.iter().map(|found| found.kind.name()).collect(),
                    None => self.report.findings.iter().map(|finding| finding.kind.name()).collect(),
                };
                (paint(FAIL, "FAIL"), kinds.join(", "))
            }
            _ => (paint(UNKNOWN, "UNKNOWN"), self.open()),
        };
        let mut text = format!("{label}  {test}: {says}\n");
        for (number, (finding, path)) in self.report.findings.iter().zip(&self.paths).enumerate() {
            let object = self.object.as_ref().and_then(|object| object.findings.get(number));
            text += &object.map_or(String::new(), |object| format!("\n{}", objects::explanation(object)));
            text += &format!("\n{}\n", found(finding, path, names));
        }
        for unknown in &self.report.unknowns {
            text += &paragraph(&unfinished(unknown, names), 2);
        }
        if let Some(object) = &self.object {
            return text + &objects::numbers(object, names);
        }
        if self.report.findings.is_empty() {
            text += &paragraph(&self.coverage(), 2);
            if let Some(limit) = self.limit() {
                text += &paragraph(&self.limit_text(limit, time_max), 2);
            }
        }
        text + &format!("  {}\n", paint(FAINT, self.numbers()))
    }

    /// What is said of a test whose verdict is unknown.
    pub(super) fn open(&self) -> String {
        let mut kinds: Vec<&str> = self.report.unknowns.iter().map(|unknown| unknown.kind.name()).collect();
        kinds.dedup();
        match kinds.is_empty() {
            true => "no violation so far, and that says nothing about the rest".to_owned(),
            false => format!("{}, and nothing can be said of what comes after it", kinds.join(", ")),
        }
    }

    pub(super) fn limit_text(&self, limit: Reached, time_max: Option<std::time::Duration>) -> String {
        match (limit, time_max) {
            (Reached::Runs, _) => format!("stopped after {}: --runs N allows more", counted(self.settings.runs_max, "run")),
            (Reached::TIME, Some(time)) => format!(
                "stopped by the time limit, {} for each test: --time-max TIME allows more (none for no limit)",
                show_time(time)
            ),
            (Reached::Fairness, _) => format!(
                "{} given up as unfair: a loop went round again and again while others could go; it counts its rounds or \
                 looks at the clock, so that no two rounds are the same, or it takes locks and gives them back until it \
                 has them all",
                if self.report.unfair == 1 { "1 run was".into() } else { format!("{} runs were", count(self.report.unfair)) }
            ),
            (Reached::RaceMemory, _) => format!(
                "{} more memory than the 16 MiB that are remembered for data races, so that a race may have been missed: a smaller \
                 test of the same code can be looked at as a whole",
                if self.report.forgotten == 1 { "1 run touched".into() } else { format!("{} runs touched", count(self.report.forgotten)) }
            ),
            (Reached::Run(FindingKind::Uncontrolled | FindingKind::Nondeterminism), _) => {
                "stopped there: docs/coverage.md says what is controlled".to_owned()
            }
            (Reached::Run(FindingKind::StepLimit), _) => "runs that are longer than that: --steps-max N allows more".to_owned(),
            (Reached::INTERRUPTED, _) => "interrupted".to_owned(),
            (Reached::NoReport, _) => clean(self.lost.as_deref().unwrap_or_default()),
            (Reached::Worker, _) => {
                "stopped because a worker process ended without an answer, for want of memory most likely: --jobs N allows fewer of them"
                    .to_owned()
            }
            _ => "stopped before the end".to_owned(),
        }
    }
}

fn preemptions(bound: u32) -> String {
    counted(u64::from(bound), "preemption")
}

/// What happened, in a sentence without its full stop, and whether it happened to one thread alone.
pub fn sentence(finding: &Finding, names: &mut Names) -> (String, bool) {
    let mut sentence = interleaving::explained(finding, names);
    let waits = interleaving::waits(finding, names);
    let stuck = match &finding.cause {
        Cause::Stuck { returned, bystanders, .. } if !waits.is_empty() => Some((*returned, *bystanders)),
        _ => None,
    };
    if let Some((returned, bystanders)) = stuck {
        // The same with the lines at which the threads wait.
        let begins = if returned { words::RETURNED } else { words::STUCK };
        sentence = format!("{begins}: {}{}", waits.join("; "), words::bystanders(bystanders));
    } else if matches!(finding.kind, FindingKind::Livelock | FindingKind::StepLimit) {
        let loops = interleaving::loops(finding, names);
        sentence = [vec![sentence], loops].concat().join("; ");
    } else {
        let site = names.site(finding, finding.place.as_ref(), &finding.callers);
        if !site.line.is_empty() && !sentence.contains(&site.line) {
            sentence = format!("{sentence} ({})", site.lines());
        }
    }
    let operations = matches!(
        finding.kind,
        FindingKind::NotLinearizable
            | FindingKind::NotQuasiLinearizable
            | FindingKind::Stuck
            | FindingKind::Nondeterministic
    );
    (sentence, stuck.is_none() && !operations)
}

/// Why nothing can be said of a run: what is not controlled and where, in a sentence.
pub fn unfinished(unknown: &Finding, names: &mut Names) -> String {
    let (sentence, _) = sentence(unknown, names);
    format!("Run {}, thread T{}: {sentence}.", count(unknown.run), unknown.thread)
}

/// A finding: what happened in a sentence, the interleaving, who waits for what, and how to see it again.
pub fn found(finding: &Finding, saved: &Saved, names: &mut Names) -> String {
    let (sentence, alone) = sentence(finding, names);
    let who = if alone { format!(", thread T{}", finding.thread) } else { String::new() };
    let mut text = paragraph(&format!("Run {}{who}: {sentence}.", count(finding.run)), 2);
    let table = interleaving::draw(finding, names);
    if !table.is_empty() {
        text += &format!("\n{table}");
    }
    match &saved.error {
        None => text + &format!("\n  replay: {}\n", replay_command(&saved.path)),
        Some(_) => text + "\n" + &paragraph(&unsaved(saved), 2),
    }
}

/// What is said of a finding that could not be written.
pub fn unsaved(saved: &Saved) -> String {
    let why = saved.error.as_deref().unwrap_or_default();
    format!("not saved, so that it cannot be replayed: {}: {}", clean(&saved.path), clean(why))
}

/// How to see a finding again.
pub fn replay_command(path: &str) -> String {
    format!("selvedge replay {}", quoted(path))
}

/// A path or another word as a shell takes it.
pub fn quoted(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-+,:@%=".contains(c));
    let path = clean(path);
    if plain { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// What "complete" is relative to.
pub(super) fn relative(settings: &Settings, compiler: &str) -> String {
    let spins = if settings.spins {
        "a loop that only waits goes on when what it reads changes"
    } else {
        "loops that wait are treated like any other"
    };
    format!(
        "Relative to: fair schedules of at most {} steps; sequentially consistent memory; {spins}; {} reuse of freed memory; \
         {}. docs/coverage.md says what that leaves out.",
        count(settings.steps_max),
        format!("{:?}", settings.reuse).to_lowercase(),
        if compiler == "rustc" {
            "Rust code, the standard library included (libraries in other languages are not instrumented)"
        } else {
            "code that was compiled here (libraries are not instrumented)"
        }
    )
}

impl Session<'_> {
    pub(super) fn exit(&self) -> Exit {
        self.exit.unwrap_or_else(|| self.tests.iter().map(Tested::exit).fold(Exit::Pass, Exit::worst))
    }

    /// Does something with each test and the names of its program.
    pub(super) fn each<T>(&self, mut of: impl FnMut(&Tested, &mut Names) -> T) -> Vec<T> {
        let mut names: HashMap<&str, Names> = HashMap::new();
        let of = |test| {
            let Tested { program, .. }: &Tested = test;
            of(test, names.entry(program).or_insert_with(|| Names::new(program)))
        };
        self.tests.iter().map(of).collect()
    }

    /// The report.
    pub fn text(&self) -> String {
        let mut texts: Vec<String> = self.each(|test, names| test.text(self.time_max, names));
        if self.tests.iter().any(|test| test.report.findings.is_empty())
            && let Some(test) = self.tests.first()
        {
            texts.push(paint(FAINT, paragraph(&relative(&test.settings, self.compiler), 0).trim_end()) + "\n");
        }
        texts.join("\n")
    }

    /// The same in one line.
    pub fn line(&self) -> String {
        format!("{}: {}", clean(self.file), counted(self.tests.len() as u64, "test"))
    }

    /// The document.
    pub fn json(&self) -> String {
        let tests: Vec<TestDocument> = self.each(TestDocument::new);
        let sum = |of: fn(&TestReport) -> u64| self.tests.iter().map(|test| of(&test.report)).sum();
        json::write(&SessionDocument {
            file: self.file,
            verdict: VerdictName::of(self.exit()),
            criterion: Criterion::Assertions,
            // The weakest of all counts for the whole.
            coverage: self.tests.iter().map(Tested::coverage_name).min().unwrap_or(Coverage::Partial),
            seconds: round(self.seconds),
            version: json::VERSION,
            compiler: self.compiler,
            strategy: self.tests.first().map_or("none", |test| test.settings.search.name()),
            runs: sum(|report| report.runs),
            redundant: sum(|report| report.redundant),
            blocked: sum(|report| report.blocked),
            points: sum(|report| report.points),
            histories: sum(|report| report.histories),
            cpu_seconds: round(self.tests.iter().map(|test| test.report.cpu_seconds).sum()),
            findings: tests.iter().flat_map(|test| test.findings.clone()).collect(),
            time_max: self.time_max.map(|time| time.as_secs_f64()),
            tests,
            lost: self.missing.iter().map(Missing::line).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tested(search: Search, coverage: CoverageRecord, runs: u64, runs_max: u64) -> Tested {
        let report = TestReport { runs, coverage, ..TestReport::new("t") };
        let settings = Settings { search, runs_max, ..Settings::default() };
        let (object, program) = (None, String::new());
        Tested {
            report,
            object,
            settings,
            interrupted: false,
            paths: vec![],
            program,
            function: None,
            expected: false,
            lost: None,
        }
    }

    #[test]
    fn a_pass_is_what_was_asked_for_and_nothing_less() {
        use CoverageRecord::{Exhaustive, Partial, Preemptions, Replayed, Sampled};
        let all = u64::MAX;
        for (search, coverage, runs, runs_max, exit, limit) in [
            (Search::Dpor, Exhaustive, 9, all, Exit::Pass, None),
            (Search::Dpor, Partial, 9, all, Exit::Unknown, Some(Reached::TIME)),
            (Search::Dpor, Partial, 9, 9, Exit::Unknown, Some(Reached::Runs)),
            (Search::Bounded, Preemptions(2), 9, all, Exit::Pass, None),
            (Search::Bounded, Preemptions(1), 9, all, Exit::Unknown, Some(Reached::TIME)),
            (Search::Portfolio, Preemptions(2), 9, all, Exit::Pass, Some(Reached::TIME)),
            (Search::Portfolio, Preemptions(1), 9, all, Exit::Unknown, Some(Reached::TIME)),
            (Search::Random, Sampled(9), 9, 9, Exit::Pass, None),
            (Search::Random, Sampled(8), 8, 9, Exit::Unknown, Some(Reached::TIME)),
            (Search::Dfs, Replayed, 1, all, Exit::Unknown, Some(Reached::TIME)),
        ] {
            let tested = tested(search, coverage, runs, runs_max);
            assert_eq!((tested.exit(), tested.limit()), (exit, limit), "{search:?} {coverage:?}");
            let text = tested.text(None, &mut Names::new("no/such/program"));
            assert_eq!(text.contains("exhaustive"), coverage == Exhaustive, "{text}");
            assert!(!text.contains("verified"), "{text}");
        }
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b-c.json"), "a/b-c.json");
        assert_eq!(quoted("a b/it's.json"), "'a b/it'\\''s.json'");
    }
}
