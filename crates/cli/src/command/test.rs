//! `selvedge test`: compiles tests of C and C++ code and runs them under every schedule.
//!
//! Invariant: each test runs in processes of its own, so that what one does to them is no other's trouble; what comes out for one test
//! depends neither on the others nor on how many run at the same time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use selvedge_driver::{self as driver, RunError, Watch};
use selvedge_history::{Budget, Limit};
use selvedge_protocol::{self as protocol, ObjectOptions, ObjectReport, SearchTrouble, TestReport, words};

use super::objects::ObjectFlags;
use crate::exit::Exit;
use crate::findings::{Build, write};
use crate::guard::{self, Guard};
use crate::library::Places;
use crate::limits::Limits;
use crate::memory;
use crate::program::{Built, Recipe};
use crate::progress::{Phase, Progress};
use crate::report::ci::OutputFlags;
use crate::report::names::Names;
use crate::report::outcome::Wrong;
use crate::report::print::{Printer, keep_page};
use crate::report::tested::{Missing, Session, Tested};
use crate::report::{Outcome, Rendered, Wanted};
use crate::search::{Asked, SearchFlags};
use crate::trouble::Trouble;
use crate::watch::{self, Ended};

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
without one is tested through its main. docs/testing-c.md tells more, and
docs/coverage.md what exactly a pass says.")]
pub struct Flags {
    /// C and C++ files, compiled and linked to one program; or one program
    /// that was built with what `selvedge cflags` prints
    #[arg(required = true, value_name = "FILE")]
    sources: Vec<PathBuf>,

    /// The compiler: gcc, clang or a path
    #[arg(long, value_name = "NAME", default_value = "gcc")]
    cc: String,

    /// Only the test with this name
    #[arg(long, value_name = "NAME")]
    test: Option<String>,

    /// An argument for the program's own main, where that is the test; may be
    /// given several times
    #[arg(long = "argument", value_name = "TEXT", allow_hyphen_values = true)]
    arguments: Vec<String>,

    #[command(flatten)]
    search: SearchFlags,

    #[command(flatten)]
    objects: ObjectFlags,

    /// More flags for the compiler and the linker, such as -DN=3, -lfoo or a.o
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

/// The flags as resolved.
pub struct Settings {
    recipe: Recipe,
    asked: Asked,
    /// The flags that only objects have a use for, as typed.
    object_flags: Vec<&'static str>,
    test: Option<String>,
    places: Places,
    temporary: PathBuf,
    started: Instant,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self, started: Instant) -> Settings {
        let mut asked = self.search.resolve();
        asked.search.arguments = self.arguments;
        asked.search.object = ObjectOptions { races: asked.races, spurious: asked.spurious, ..self.objects.resolve() };
        let object_flags = asked.search.object.flags();
        let directory = std::env::current_dir().unwrap_or_default();
        Settings {
            recipe: Recipe { directory, cc: self.cc, flags: self.flags, sources: self.sources },
            asked,
            object_flags,
            test: self.test,
            places: Places::from_environment(),
            temporary: std::env::temp_dir(),
            started,
        }
    }
}

/// Limits that only watch for Ctrl-C: the runtime keeps the time itself, and its memory is not ours.
pub fn watched(started: Instant) -> Limits {
    // A search that is asked to stop has a moment to report what it has, and so has whoever waits for it.
    Limits { started, time_max: None, memory_max: memory::default_max(), grace: guard::MOMENT * 2 }
}

/// Compiles, runs and reports.
pub fn run(settings: Settings) -> Exit {
    let name = settings.recipe.name();
    let (json, limits) = (settings.asked.json, watched(settings.started));
    let written = (settings.asked.output.clone(), settings.asked.html.clone());
    under_watch(&name, json, written, limits, move |budget, progress| examine(&settings, budget, progress))
}

/// Runs the work that makes one entry, prints that, and writes its page where one was asked for.
pub fn under_watch(
    name: &str,
    json: bool,
    (output, html): (OutputFlags, Option<PathBuf>),
    limits: Limits,
    work: impl FnOnce(&Budget, &Progress) -> Rendered + Send + 'static,
) -> Exit {
    let progress = Arc::new(Progress::new(1));
    // There is room for one line: directories are left out.
    let short: Vec<&str> = name.split(' ').map(|file| file.rsplit('/').next().unwrap_or(file)).collect();
    progress.begin(1, &short.join(" "));
    progress.quiet(output.quiet);
    let wanted = Wanted::new(false, &output);
    let mut printer = Printer::new(json, output, 1);
    let worker = move |budget: &Budget, progress: &Progress, results: &Sender<Rendered>| {
        // The other end is gone only when the process is about to end.
        let _ = results.send(work(budget, progress));
    };
    let mut unwritten = Exit::Pass;
    let print = |mut rendered: Rendered| {
        unwritten = keep_page(html.as_deref(), &mut rendered);
        printer.print(rendered);
    };
    match watch::run(&limits, &progress, worker, print) {
        Ended::Cut(limit) if printer.printed() == 0 => {
            printer.print(Outcome::cut(name, limit, &limits, &progress).render(wanted));
        }
        Ended::Panicked => printer.print(Outcome::bug(name).render(wanted)),
        Ended::Done | Ended::Cut(_) => {}
    }
    printer.finish().worst(unwritten)
}

fn examine(settings: &Settings, budget: &Budget, progress: &Progress) -> Rendered {
    match explore(settings, budget, progress) {
        Ok(rendered) => rendered,
        Err(trouble) => wrong(trouble, settings.started).render(settings.wanted()),
    }
}

/// Wrong input. What a compiler printed keeps its lines.
pub fn wrong(trouble: Trouble, started: Instant) -> Outcome<'static> {
    Outcome::Wrong(Wrong { trouble, seconds: started.elapsed().as_secs_f64(), keeps_lines: true })
}

impl Settings {
    fn wanted(&self) -> Wanted {
        Wanted::new(self.asked.html.is_some(), &self.asked.output)
    }
}

fn explore(settings: &Settings, budget: &Budget, progress: &Progress) -> Result<Rendered, Trouble> {
    progress.enter(Phase::Compiling);
    let name = settings.recipe.name();
    let built = settings.recipe.build(&settings.places, &settings.temporary)?;
    let names = match list(settings, &built, budget)? {
        Listed::Tests(names) => names,
        Listed::Lost(why) => return Ok(unlisted(settings, &name, why)),
    };
    progress.test(&settings.asked.search, names.len());
    let (tests, mut troubles) = run_all(settings, &built, &names, budget, progress);
    if tests.is_empty() && !troubles.is_empty() {
        return Err(troubles.remove(0).1);
    }
    let missing = troubles.iter().map(|(test, trouble)| Missing::untestable(test, &trouble.reason));
    let missing: Vec<Missing> = missing.collect();
    let worst = tests.iter().map(Tested::exit).fold(Exit::Pass, Exit::worst);
    let session = Session {
        file: &name,
        compiler: &settings.recipe.cc,
        tests: &tests,
        time_max: settings.asked.time_max,
        seconds: settings.started.elapsed().as_secs_f64(),
        exit: (!missing.is_empty()).then(|| worst.worst(Exit::Input)),
        missing: &missing,
        taken: 0,
    };
    Ok(Outcome::Tested(session).render(settings.wanted()))
}

/// Runs the tests, as many at a time as there may be workers. What came of them, and which could not be tested and why: no test takes
/// away what came of the others.
fn run_all(
    settings: &Settings,
    built: &Built,
    names: &[String],
    budget: &Budget,
    progress: &Progress,
) -> (Vec<Tested>, Vec<(String, Trouble)>) {
    let at_once = (settings.asked.jobs as usize).clamp(1, names.len().max(1));
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(test) = names.get(number) else { return };
            // Workers that no test needs any more are for those that are left.
            let left = (names.len() - number).min(at_once);
            let jobs = (settings.asked.jobs as usize / left).max(1) as u32;
            let search = protocol::Settings { test: Some(test.clone()), jobs, ..settings.asked.search.clone() };
            let tested = run_test(settings, built, search, number, budget, progress);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, tested));
            progress.tested();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..at_once {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    let (mut tests, mut troubles) = (Vec::new(), Vec::new());
    for (number, tested) in done {
        match tested {
            Ok(tested) => tests.push(tested),
            Err(trouble) => troubles.push((names[number].clone(), trouble)),
        }
    }
    (tests, troubles)
}

/// What a session without runs tells.
enum Listed {
    /// The names of the tests to run.
    Tests(Vec<String>),
    /// Nothing, and why.
    Lost(String),
}

/// The answer where nobody knows which tests there are.
fn unlisted(settings: &Settings, name: &str, why: String) -> Rendered {
    let missing = [Missing::unknown(name, why)];
    let session = Session {
        file: name,
        compiler: &settings.recipe.cc,
        tests: &[],
        time_max: settings.asked.time_max,
        seconds: settings.started.elapsed().as_secs_f64(),
        exit: Some(Exit::Unknown),
        missing: &missing,
        taken: 0,
    };
    Outcome::Tested(session).render(settings.wanted())
}

fn list(settings: &Settings, built: &Built, budget: &Budget) -> Result<Listed, Trouble> {
    let name = settings.recipe.name();
    let search = protocol::Settings { runs_max: 0, test: None, jobs: 1, ..settings.asked.search.clone() };
    let watch = Watch::new(&built.directory).map_err(|error| Trouble::io(&name, &error))?;
    let work = || driver::run_watched(&built.program, &search, &built.directory, &watch);
    let guard = Guard { overdue: guard::MOMENT / 2, ..Guard::new(search.time_max, budget, &watch) };
    let session = match guard.run(work, |_| ()) {
        (Ok(session), _) => session,
        (Err(RunError::NoReport { .. }), true) => {
            let why = "the time was up before it said which tests it has: what runs before main does not end";
            return Ok(Listed::Lost(why.to_owned()));
        }
        (Err(error @ (RunError::NoReport { .. } | RunError::Malformed(_))), _) => {
            return Ok(Listed::Lost(error.to_string()));
        }
        (Err(error), _) => return Err(Trouble::new(&name, error)),
    };
    if let Some(error @ SearchTrouble::ArgumentsOfTests) = session.report.error {
        return Err(Trouble::new(&name, error));
    }
    let plain: Vec<String> = session.report.tests.into_iter().map(|report| report.test).collect();
    let objects = session.report.objects.into_iter().map(|report| report.object);
    let mut tests: Vec<String> = plain.iter().cloned().chain(objects).collect();
    if tests.is_empty() {
        let reason = "expected a test, found neither SELVEDGE_TEST, SELVEDGE_OBJECT nor main";
        return Err(
            Trouble::new(&name, reason).advise("a test is SELVEDGE_TEST(name) { ... } with #include <selvedge.h>")
        );
    }
    if let Some(wanted) = &settings.test {
        let all = tests.join(", ");
        tests.retain(|test| test == wanted);
        if tests.is_empty() {
            return Err(Trouble::new(&name, format!("there is no test `{wanted}`")).advise(format!("there are: {all}")));
        }
    }
    let flags = &settings.object_flags;
    if let (Some(flag), Some(test)) = (flags.first(), tests.iter().find(|test| plain.contains(test))) {
        let reason = format!("{flag} is about objects, and `{test}` is a test without one");
        let advice = if tests.iter().all(|test| plain.contains(test)) {
            format!("leave {} out", flags.join(", "))
        } else {
            "--test NAME names the object that is meant".to_owned()
        };
        return Err(Trouble::new(&name, reason).advise(advice));
    }
    Ok(Listed::Tests(tests))
}

fn run_test(
    settings: &Settings,
    built: &Built,
    search: protocol::Settings,
    number: usize,
    budget: &Budget,
    progress: &Progress,
) -> Result<Tested, Trouble> {
    let trouble = |reason: String| Trouble::new(&settings.recipe.name(), reason);
    let test = search.test.clone().unwrap_or_default();
    let interrupted = || budget.reached() == Some(Limit::Interrupted);
    let mut report = TestReport::new(&test);
    let (mut object, mut lost) = (None::<ObjectReport>, None);
    if !interrupted() {
        // Each test has a directory for what it exchanges with its processes.
        let directory = built.directory.join(number.to_string());
        let made = std::fs::create_dir(&directory).and_then(|()| Watch::new(&directory));
        let watch = made.map_err(|error| Trouble::io(&directory.display().to_string(), &error))?;
        let work = || driver::run_watched(&built.program, &search, &directory, &watch);
        let told = AtomicUsize::new(0);
        let tell = |runs: u64| progress.ran(runs - told.swap(runs as usize, Ordering::Relaxed) as u64);
        match Guard::new(search.time_max, budget, &watch).run(work, tell) {
            (Ok(session), _) => {
                object = session.report.objects.into_iter().next();
                if let Some(error) = object.as_ref().and_then(|object| object.error.as_ref()) {
                    let error = words::object_trouble(error, &mut Names::new(&built.program.path.to_string_lossy()));
                    return Err(trouble(format!("the object `{test}` cannot be tested: {error}")));
                }
                let of_object = object.as_ref().map(ObjectReport::to_test);
                match (session.report.error, session.report.tests.into_iter().next().or(of_object)) {
                    (None, Some(seen)) => report = seen,
                    (Some(error), _) => return Err(trouble(error.to_string())),
                    (None, None) => return Err(trouble(format!("the test `{test}` is gone"))),
                }
            }
            (Err(RunError::NoReport { .. }), ended) if ended || interrupted() => {}
            // A test that ends its process, or that is killed: nothing is known of it.
            (Err(error @ (RunError::NoReport { .. } | RunError::Malformed(_))), _) => lost = Some(error.to_string()),
            (Err(error), _) => return Err(trouble(error.to_string())),
        }
    }
    let program = built.program.path.to_string_lossy().into_owned();
    let mut paths = Vec::new();
    for finding in &report.findings {
        let (build, mut names) = (Build::C(settings.recipe.clone()), Names::new(&program));
        paths.push(write(finding, &build, &settings.asked.findings, &mut names));
    }
    let interrupted = interrupted();
    Ok(Tested { report, object, settings: search, interrupted, paths, program, function: None, expected: false, lost })
}
