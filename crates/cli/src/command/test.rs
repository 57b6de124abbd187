//! `selvedge test`: compiles tests of C and C++ code and runs them under every schedule.
//!
//! Invariant: each test runs in a process of its own, so that what one does to it is no other's trouble; time is for all of them
//! together, and what one does not use is left to the rest.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use selvedge_driver::{self as driver, CoverageRecord, Reuse, RunError, Search, TestReport};
use selvedge_history::{Budget, Limit};

use super::objects::ObjectFlags;
use crate::exit::Exit;
use crate::library::Places;
use crate::limits::Limits;
use crate::program::{Built, Recipe, hash};
use crate::progress::{Phase, Progress};
use crate::report::print::Printer;
use crate::report::tested::{Session, Tested};
use crate::report::text::clean;
use crate::report::{self, Entry, json};
use crate::trouble::Trouble;
use crate::watch::{self, Ended};
use crate::{guard, memory, quantity};

/// How many runs `random` and `pct` make when nothing is said: they have no end of their own.
const RUNS_SAMPLED: u64 = 10_000;

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "\
Exit codes:
  0    pass: no violation in what was covered, which the report states
  1    violation found
  2    wrong input or usage: no compiler, a compile error, no tests
  3    unknown: a limit was reached before that, or Ctrl-C
  101  a bug in selvedge

A test is SELVEDGE_TEST(name) { ... } with #include <selvedge.h>; a program
without one is tested through its main. docs/testing-c.md tells more.")]
pub struct Flags {
    /// C and C++ files, compiled and linked to one program
    #[arg(required = true, value_name = "FILE")]
    sources: Vec<PathBuf>,

    /// The compiler: gcc, clang or a path
    #[arg(long, value_name = "NAME", default_value = "gcc")]
    cc: String,

    /// Only the test with this name
    #[arg(long, value_name = "NAME")]
    test: Option<String>,

    /// How schedules are searched
    #[arg(long, value_name = "NAME", default_value = "portfolio")]
    strategy: StrategyName,

    /// The largest number of preemptions for bounded and portfolio
    #[arg(long, value_name = "N", default_value_t = 2)]
    preemptions: u32,

    /// The depth of the bugs that pct looks for
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,

    /// Stop a test after so many runs; 10000 for random and pct if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,

    /// The seed of random and pct
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// A run with more steps is a livelock
    // All steps of a run are kept until it ends: there must be an end that fits into memory.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    steps_max: u64,

    /// Which freed memory malloc hands out again
    #[arg(long, value_name = "NAME", default_value = "fifo")]
    reuse: ReuseName,

    /// Time for all tests together, such as 500ms, 60s or 5m; none for no limit
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = quantity::time)]
    time_max: TimeMax,

    #[command(flatten)]
    objects: ObjectFlags,

    /// Where findings are written
    #[arg(long, value_name = "DIR", default_value = "selvedge-findings")]
    findings: PathBuf,

    /// Print one JSON document on standard output, and the report on standard error
    #[arg(long)]
    json: bool,

    /// More flags for the compiler
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

// The alias keeps clap from reading `Option` as "the flag may be missing".
type TimeMax = Option<Duration>;

/// The strategies as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    /// Bounded first, then dpor in the time that is left
    Portfolio,
    /// Every schedule with 0, 1, ... preemptions, up to --preemptions
    Bounded,
    /// One schedule of each class of equivalent ones
    Dpor,
    /// Every schedule
    Dfs,
    /// Schedules drawn at random
    Random,
    /// Random priorities
    Pct,
}

/// The ways to reuse memory as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReuseName {
    /// What was freed first
    Fifo,
    /// What was freed last
    Lifo,
    /// Both, as a choice of the search
    Branch,
    /// Nothing
    Quarantine,
}

/// The flags as resolved.
pub struct Settings {
    recipe: Recipe,
    search: driver::Settings,
    time_max: Option<Duration>,
    findings: PathBuf,
    json: bool,
    places: Places,
    temporary: PathBuf,
    started: Instant,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self, started: Instant) -> Settings {
        let search = match self.strategy {
            StrategyName::Portfolio => Search::Portfolio,
            StrategyName::Bounded => Search::Bounded,
            StrategyName::Dpor => Search::Dpor,
            StrategyName::Dfs => Search::Dfs,
            StrategyName::Random => Search::Random,
            StrategyName::Pct => Search::Pct,
        };
        let reuse = match self.reuse {
            ReuseName::Fifo => Reuse::Fifo,
            ReuseName::Lifo => Reuse::Lifo,
            ReuseName::Branch => Reuse::Branch,
            ReuseName::Quarantine => Reuse::Quarantine,
        };
        let sampled = matches!(search, Search::Random | Search::Pct);
        let runs_max = self.runs.unwrap_or(if sampled { RUNS_SAMPLED } else { u64::MAX });
        let search = driver::Settings {
            search,
            preemptions: self.preemptions,
            depth: self.depth,
            runs_max,
            seed: self.seed,
            steps_max: self.steps_max,
            reuse,
            test: self.test,
            object: self.objects.resolve(),
            ..driver::Settings::default()
        };
        let directory = std::env::current_dir().unwrap_or_default();
        Settings {
            recipe: Recipe { directory, cc: self.cc, flags: self.flags, sources: self.sources },
            search,
            time_max: self.time_max,
            findings: self.findings,
            json: self.json,
            places: Places::from_environment(),
            temporary: std::env::temp_dir(),
            started,
        }
    }
}

/// Limits that only watch for Ctrl-C: the runtime keeps the time itself, and its memory is not ours.
pub fn watched(started: Instant) -> Limits {
    Limits { started, time_max: None, memory_max: memory::default_max() }
}

/// Compiles, runs and reports.
pub fn run(settings: Settings) -> Exit {
    let name = settings.recipe.name();
    let (json, limits) = (settings.json, watched(settings.started));
    under_watch(&name, json, limits, move |budget, progress| examine(&settings, budget, progress))
}

/// Runs the work that makes one entry, and prints that.
pub fn under_watch(
    name: &str,
    json: bool,
    limits: Limits,
    work: impl FnOnce(&Budget, &Progress) -> Entry + Send + 'static,
) -> Exit {
    let progress = Arc::new(Progress::new(1));
    progress.begin(1, name);
    let mut printer = Printer::new(json, 1);
    let worker = move |budget: &Budget, progress: &Progress, results: &Sender<Entry>| {
        // The other end is gone only when the process is about to end.
        let _ = results.send(work(budget, progress));
    };
    match watch::run(&limits, &progress, worker, |entry| printer.print(entry)) {
        Ended::Cut(limit) if printer.printed() == 0 => printer.print(report::cut(name, limit, &limits, &progress)),
        Ended::Panicked => printer.print(report::bug(name)),
        Ended::Done | Ended::Cut(_) => {}
    }
    printer.finish()
}

fn examine(settings: &Settings, budget: &Budget, progress: &Progress) -> Entry {
    match explore(settings, budget, progress) {
        Ok(entry) => entry,
        Err(trouble) => troubled(&trouble, settings.started),
    }
}

/// The report on wrong input. What a compiler printed keeps its lines.
pub fn troubled(trouble: &Trouble, started: Instant) -> Entry {
    let (first, rest) = trouble.reason.split_once('\n').unwrap_or((&trouble.reason, ""));
    let headline = Trouble { reason: first.to_owned(), ..trouble.clone() };
    let mut text = format!("{headline}\n");
    for line in rest.lines() {
        text += &format!("{}\n", clean(&line.replace('\t', "    ")));
    }
    let seconds = started.elapsed().as_secs_f64();
    Entry {
        exit: Exit::Input,
        full: text.clone(),
        line: text,
        json: json::troubled(trouble, seconds),
        certificate: None,
    }
}

fn explore(settings: &Settings, budget: &Budget, progress: &Progress) -> Result<Entry, Trouble> {
    progress.enter(Phase::Compiling);
    let name = settings.recipe.name();
    let built = settings.recipe.build(&settings.places, &settings.temporary)?;
    let names = list(settings, &built)?;
    let mut tests = Vec::new();
    for (number, test) in names.iter().enumerate() {
        progress.begin(1, &format!("[{}/{}] {}", number + 1, names.len(), clean(test)));
        progress.enter(Phase::Testing);
        let share = settings.time_max.map(|time| {
            let left = time.saturating_sub(settings.started.elapsed()).as_secs_f64();
            left / (names.len() - number) as f64
        });
        let search = driver::Settings { test: Some(test.clone()), time_max: share, ..settings.search.clone() };
        let mut tested = run_test(&built, search, test, budget).map_err(|reason| Trouble::new(&name, reason))?;
        for finding in &mut tested.report.findings {
            finding.program.clone_from(&built.fingerprint);
            tested.paths.push(write(finding, &settings.recipe, &settings.findings)?);
        }
        let interrupted = tested.interrupted;
        tests.push(tested);
        if interrupted {
            break;
        }
    }
    let session = Session {
        file: &name,
        cc: &settings.recipe.cc,
        tests: &tests,
        time_max: settings.time_max,
        seconds: settings.started.elapsed().as_secs_f64(),
        program: &built.program.path.to_string_lossy(),
    };
    Ok(session.entry())
}

/// The names of the tests to run: what a session without runs tells.
fn list(settings: &Settings, built: &Built) -> Result<Vec<String>, Trouble> {
    let name = settings.recipe.name();
    let search = driver::Settings { runs_max: 0, test: None, ..settings.search.clone() };
    let session = driver::run(&built.program, &search, &built.directory);
    let session = session.map_err(|error| Trouble::new(&name, error))?;
    let objects = session.report.objects.into_iter().map(|report| report.object);
    let mut tests: Vec<String> = session.report.tests.into_iter().map(|report| report.test).chain(objects).collect();
    if tests.is_empty() {
        let reason = "expected a test, found neither SELVEDGE_TEST, SELVEDGE_OBJECT nor main";
        return Err(
            Trouble::new(&name, reason).advise("a test is SELVEDGE_TEST(name) { ... } with #include <selvedge.h>")
        );
    }
    if let Some(wanted) = &settings.search.test {
        let all = tests.join(", ");
        tests.retain(|test| test == wanted);
        if tests.is_empty() {
            return Err(Trouble::new(&name, format!("there is no test `{wanted}`")).advise(format!("there are: {all}")));
        }
    }
    Ok(tests)
}

fn run_test(built: &Built, search: driver::Settings, test: &str, budget: &Budget) -> Result<Tested, String> {
    let interrupted = || budget.reached() == Some(Limit::Interrupted);
    let mut object = None;
    let report = if interrupted() {
        nothing(test)
    } else {
        let work = || driver::run(&built.program, &search, &built.directory);
        match guard::run(search.time_max, budget, work) {
            (Ok(session), _) => {
                object = session.report.objects.into_iter().next();
                if let Some(error) = object.as_ref().and_then(|object| object.error.as_ref()) {
                    return Err(format!("the object `{test}` cannot be tested: {error}"));
                }
                let report = object.as_ref().map(driver::ObjectReport::to_test);
                match (session.report.error, session.report.tests.into_iter().next().or(report)) {
                    (None, Some(report)) => report,
                    (error, _) => return Err(error.unwrap_or_else(|| format!("the test `{test}` is gone"))),
                }
            }
            // Ctrl-C may also have reached the program before us.
            (Err(RunError::NoReport { .. }), ended) if ended || interrupted() => nothing(test),
            (Err(error), _) => return Err(error.to_string()),
        }
    };
    Ok(Tested { report, object, settings: search, interrupted: interrupted(), paths: vec![] })
}

/// The report on a test that nothing is known of.
fn nothing(test: &str) -> TestReport {
    TestReport {
        test: test.to_owned(),
        runs: 0,
        redundant: 0,
        blocked: 0,
        truncated: 0,
        points: 0,
        cpu_seconds: 0.0,
        coverage: CoverageRecord::Partial,
        bound: None,
        histories: 0,
        history_texts: vec![],
        findings: vec![],
    }
}

/// Writes a finding with what is needed to build its program again, and answers the path.
fn write(finding: &driver::Finding, recipe: &Recipe, directory: &Path) -> Result<String, Trouble> {
    let identity = format!("{} {}", finding.program, finding.schedule);
    let plain: String = finding.test.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).take(100).collect();
    let name = format!("{plain}-{}-{:08x}.json", finding.kind, hash(identity.as_bytes()) >> 32);
    let path = directory.join(name);
    let shown = path.display().to_string();
    let document = super::replay::document(finding, recipe);
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, document));
    written.map_err(|error| Trouble::new(&shown, format!("cannot write the finding: {error}")))?;
    Ok(shown)
}
