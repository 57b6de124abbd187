//! `selvedge replay`: runs the schedule of a finding again.
//!
//! Invariant: the schedule runs on the program that it was found in, or not at all. A finding remembers how its program was built
//! and what came out; when anything differs now, that is said instead of running something else.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use selvedge_driver::rust::Hosted;
use selvedge_driver::{self as driver, Finding, StepRecord};

use super::test::{under_watch, watched, wrong};
use crate::cargo;
use crate::debugger::Debugger;
use crate::exit::Exit;
use crate::findings::{Build, CargoBuild, read};
use crate::library::Places;
use crate::program::{Built, Scratch, fingerprint};
use crate::progress::{Phase, Progress};
use crate::report::ci::OutputFlags;
use crate::report::names::Names;
use crate::report::outcome::Replayed;
use crate::report::print::complain;
use crate::report::{Outcome, Rendered, Wanted};
use crate::trouble::Trouble;

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "\
Exit codes:
  0    with --break: the debugger was started
  1    the same violation came out
  2    wrong input or usage, or the finding was made by another build
  3    something else came out: the test depends on something not controlled
  101  a bug in selvedge")]
pub struct Flags {
    /// The file that `selvedge test` or `cargo selvedge test` wrote
    finding: PathBuf,

    /// Stop in a debugger at the failing step, with the stack of its thread
    #[arg(long = "break", conflicts_with_all = ["json", "quiet", "junit", "sarif", "annotations"])]
    stop: bool,

    /// The debugger for --break: gdb, lldb or a path; none to attach one by
    /// hand. The first of gdb and lldb that is there if not given
    #[arg(long, value_name = "NAME", requires = "stop")]
    debugger: Option<String>,

    /// Print one JSON document on standard output, and the report on standard error
    #[arg(long)]
    json: bool,

    /// Write the report as a page for a browser here
    #[arg(long, value_name = "FILE", conflicts_with = "stop")]
    html: Option<PathBuf>,

    #[command(flatten)]
    output: OutputFlags,
}

/// The flags as resolved.
pub struct Settings {
    finding: PathBuf,
    /// Whether to stop at the failing step, and in which debugger.
    stop: Option<Option<String>>,
    json: bool,
    html: Option<PathBuf>,
    output: OutputFlags,
    places: Places,
    temporary: PathBuf,
    started: Instant,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self, started: Instant) -> Settings {
        let (places, temporary) = (Places::from_environment(), std::env::temp_dir());
        let stop = self.stop.then_some(self.debugger);
        // The program is built again where it was built then, and that is another directory.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let (html, mut output) = (self.html.map(absolute), self.output);
        (output.junit, output.sarif) = (output.junit.map(absolute), output.sarif.map(absolute));
        Settings { finding: self.finding, stop, json: self.json, html, output, places, temporary, started }
    }
}

impl Settings {
    fn wanted(&self) -> Wanted {
        Wanted::new(self.html.is_some(), &self.output)
    }
}

/// Builds, replays and reports.
pub fn run(settings: Settings) -> Exit {
    let name = settings.finding.display().to_string();
    if let Some(debugger) = &settings.stop {
        // Without a watch: the terminal, Ctrl-C included, is the debugger's.
        return stop(&settings, debugger.as_deref()).unwrap_or_else(|trouble| {
            complain(&wrong(trouble, settings.started).render(Wanted::default()).text);
            Exit::Input
        });
    }
    let (json, limits) = (settings.json, watched(settings.started));
    let written = (settings.output.clone(), settings.html.clone());
    under_watch(&name, json, written, limits, move |_, progress| {
        replay(&settings, progress).unwrap_or_else(|trouble| wrong(trouble, settings.started).render(settings.wanted()))
    })
}

/// Starts a debugger that stops at the failing step.
fn stop(settings: &Settings, debugger: Option<&str>) -> Result<Exit, Trouble> {
    let name = settings.finding.display().to_string();
    let debugger = Debugger::find(debugger).map_err(|reason| {
        Trouble::new(&name, reason).advise(
            "install gdb (Debian and Ubuntu: apt-get install gdb; Fedora: dnf install gdb), or give --debugger none: the program then \
             waits at the failing step for a debugger that is attached by hand, and says its process",
        )
    })?;
    let (finding, build) = read(&settings.finding)?;
    let subject = rebuild(settings, &finding, &build)?;
    let search = driver::Settings { stop_at_failure: true, ..again(&finding) };
    subject.debug(&debugger, &search).map_err(|reason| Trouble::new(&name, reason))
}

/// What the runtime is asked to do once more.
fn again(finding: &Finding) -> driver::Settings {
    driver::Settings {
        replay: Some(finding.schedule.clone()),
        test: Some(finding.test.clone()),
        // The limits of the search are no limits of this one run.
        time_max: None,
        runs_max: u64::MAX,
        jobs: 1,
        ..finding.settings.clone()
    }
}

/// Builds the program of the finding again, or says why that is another one.
fn rebuild(settings: &Settings, finding: &Finding, build: &Build) -> Result<Subject, Trouble> {
    let name = settings.finding.display().to_string();
    let directory = match build {
        Build::C(recipe) => &recipe.directory,
        Build::Cargo(build) => &build.directory,
    };
    std::env::set_current_dir(directory).map_err(|error| Trouble::io(&directory.display().to_string(), &error))?;
    let (subject, command) = match build {
        Build::C(recipe) => {
            let built = recipe.build(&settings.places, &settings.temporary)?;
            (Subject::C(built), format!("selvedge test {}", recipe.name()))
        }
        Build::Cargo(build) => (Subject::cargo(&name, build, settings)?, "cargo selvedge test".to_owned()),
    };
    let print = subject.fingerprint();
    if print == finding.program {
        return Ok(subject);
    }
    let runtime = |fingerprint: &str| fingerprint.split_once('-').map(|(_, runtime)| runtime.to_owned());
    let what = if runtime(&print) == runtime(&finding.program) {
        "the sources, the compiler or its flags have changed since"
    } else {
        "selvedge's runtime is another one"
    };
    let advice = format!("run the test again: {command}");
    Err(Trouble::new(&name, format!("the finding was made by another build: {what}")).advise(advice))
}

/// What is run again.
enum Subject {
    /// A program that was compiled for this.
    C(Built),
    /// A test program of cargo's, with a directory for its report.
    Rust { hosted: Hosted, scratch: Scratch, print: String },
}

impl Subject {
    fn cargo(name: &str, build: &CargoBuild, settings: &Settings) -> Result<Self, Trouble> {
        let trouble = |reason: &dyn std::fmt::Display| Trouble::new(name, reason);
        let runtime = cargo::rebuild(build).map_err(|error| trouble(&error))?;
        let scratch = Scratch::new(&settings.temporary)
            .map_err(|error| Trouble::io(&settings.temporary.display().to_string(), &error))?;
        let print = fingerprint(&build.executable, &runtime).map_err(|_| {
            let gone = format!("the test program `{}` is not there any more", build.executable.display());
            trouble(&gone).advise("run the test again: cargo selvedge test")
        })?;
        let host = driver::Host {
            executable: build.executable.clone(),
            directory: build.ran_in.clone(),
            function: build.function.clone(),
        };
        let hosted = Hosted { host, flags: build.harness.clone(), runtime };
        Ok(Subject::Rust { hosted, scratch, print })
    }

    fn fingerprint(&self) -> String {
        match self {
            Subject::C(built) => built.fingerprint.clone(),
            Subject::Rust { print, .. } => print.clone(),
        }
    }

    fn executable(&self) -> &Path {
        match self {
            Subject::C(built) => &built.program.path,
            Subject::Rust { hosted, .. } => &hosted.host.executable,
        }
    }

    fn run(&self, search: &driver::Settings) -> Result<driver::Report, driver::RunError> {
        match self {
            Subject::C(built) => Ok(driver::run(&built.program, search, &built.directory)?.report),
            Subject::Rust { hosted, scratch, .. } => hosted.run(search, scratch.path()),
        }
    }

    fn debug(&self, debugger: &Debugger, search: &driver::Settings) -> Result<Exit, String> {
        let (arguments, environment, directory) = match self {
            Subject::C(built) => {
                let environment = driver::environment(search, &built.directory).map_err(|error| error.to_string())?;
                (built.program.arguments.clone(), environment, None)
            }
            Subject::Rust { hosted, scratch, .. } => {
                (hosted.arguments(), hosted.environment(search, scratch.path()), Some(hosted.host.directory.as_path()))
            }
        };
        debugger.run(self.executable(), &arguments, &environment, directory)
    }
}

fn replay(settings: &Settings, progress: &Progress) -> Result<Rendered, Trouble> {
    let name = settings.finding.display().to_string();
    let (finding, build) = read(&settings.finding)?;
    progress.enter(Phase::Compiling);
    let subject = rebuild(settings, &finding, &build)?;
    progress.enter(Phase::Testing);
    let report = subject.run(&again(&finding)).map_err(|error| Trouble::new(&name, error))?;
    if let Some(error) = report.error {
        return Err(Trouble::new(&name, error));
    }
    let object = report.objects.first();
    let of_object = object.map(driver::ObjectReport::to_test);
    let seen = report.tests.into_iter().next().or(of_object);
    let again = seen.and_then(|test| test.findings.into_iter().chain(test.unknowns).next());
    // The search's number says more than "the first run of one".
    let again = again.map(|again| Finding { run: finding.run, ..again });
    let names = RefCell::new(Names::new(&subject.executable().to_string_lossy()));
    let replayed = Replayed {
        file: &name,
        finding: &finding,
        again: again.as_ref(),
        object: object.and_then(|object| object.findings.first()),
        same: again.as_ref().is_some_and(|again| is_same(&finding, again)),
        seconds: settings.started.elapsed().as_secs_f64(),
        names: &names,
    };
    Ok(Outcome::Replayed(replayed).render(settings.wanted()))
}

/// Whether the two are the same violation, reached by the same steps.
fn is_same(one: &Finding, other: &Finding) -> bool {
    // Where the program lies on disk differs each time.
    fn offset(step: &StepRecord) -> Option<u64> {
        step.place.as_ref().map(|place| place.offset)
    }
    let steps = one.steps.len() == other.steps.len()
        && one.steps.iter().zip(&other.steps).all(|(one, other)| {
            (one.thread, &one.what, one.object, one.size) == (other.thread, &other.what, other.object, other.size)
                && (one.old, one.new, offset(one)) == (other.old, other.new, offset(other))
        });
    steps && (one.kind, &one.message, &one.schedule) == (other.kind, &other.message, &other.schedule)
}
