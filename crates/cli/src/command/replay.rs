//! `selvedge replay`: runs the schedule of a finding again.
//!
//! Invariant: the schedule runs on the program that it was found in, or not at all. A finding remembers how its program was built
//! and what came out; when anything differs now, that is said instead of running something else.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use selvedge_driver::rust::Hosted;
use selvedge_driver::{self as driver, Subject};
use selvedge_protocol::{self as protocol, Finding, Host, ObjectReport};

use super::test::{under_watch, watched, wrong};
use crate::cargo;
use crate::debugger::Debugger;
use crate::exit::Exit;
use crate::findings::{Build, CargoBuild, read};
use crate::library::Places;
use crate::program::{Built, Scratch};
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
    let search = protocol::Settings { stop_at_failure: true, ..finding.again() };
    subject.debug(&debugger, &search).map_err(|reason| Trouble::new(&name, reason))
}

/// Builds the program of the finding again, or says why that is another one.
fn rebuild(settings: &Settings, finding: &Finding, build: &Build) -> Result<Again, Trouble> {
    let name = settings.finding.display().to_string();
    let directory = match build {
        Build::C(recipe) => &recipe.directory,
        Build::Cargo(build) => &build.directory,
    };
    std::env::set_current_dir(directory).map_err(|error| Trouble::io(&directory.display().to_string(), &error))?;
    let (again, command) = match build {
        Build::C(recipe) => {
            let built = recipe.build(&settings.places, &settings.temporary)?;
            (Again::c(built), format!("selvedge test {}", recipe.name()))
        }
        Build::Cargo(build) => (Again::cargo(&name, build, settings)?, "cargo selvedge test".to_owned()),
    };
    let found = again.subject.identity();
    if found == finding.program {
        return Ok(again);
    }
    let runtime = |identity: &str| identity.split_once('-').map(|(_, runtime)| runtime.to_owned());
    let what = if runtime(found) == runtime(&finding.program) {
        "the sources, the compiler or its flags have changed since"
    } else {
        "selvedge's runtime is another one"
    };
    let advice = format!("run the test again: {command}");
    Err(Trouble::new(&name, format!("the finding was made by another build: {what}")).advise(advice))
}

/// What is run again, and where that may leave files.
struct Again {
    subject: Subject,
    directory: PathBuf,
    /// Where the program ran, if not here.
    ran_in: Option<PathBuf>,
    /// Goes away with this.
    _kept: Kept,
}

enum Kept {
    Built { _built: Built },
    Scratch { _scratch: Scratch },
}

impl Again {
    fn c(built: Built) -> Self {
        let (subject, directory) = (Subject::Program(built.program.clone()), built.directory.clone());
        Again { subject, directory, ran_in: None, _kept: Kept::Built { _built: built } }
    }

    fn cargo(name: &str, build: &CargoBuild, settings: &Settings) -> Result<Self, Trouble> {
        let trouble = |reason: &dyn std::fmt::Display| Trouble::new(name, reason);
        let runtime = cargo::rebuild(build).map_err(|error| trouble(&error))?;
        let scratch = Scratch::new(&settings.temporary)
            .map_err(|error| Trouble::io(&settings.temporary.display().to_string(), &error))?;
        let identity = driver::identity(&build.executable, &runtime).map_err(|_| {
            let gone = format!("the test program `{}` is not there any more", build.executable.display());
            trouble(&gone).advise("run the test again: cargo selvedge test")
        })?;
        let host = Host {
            executable: build.executable.clone(),
            directory: build.ran_in.clone(),
            function: build.function.clone(),
        };
        let subject = Subject::Hosted(Hosted { host, flags: build.harness.clone(), runtime, identity });
        let (directory, ran_in) = (scratch.path().to_path_buf(), Some(build.ran_in.clone()));
        Ok(Again { subject, directory, ran_in, _kept: Kept::Scratch { _scratch: scratch } })
    }

    fn debug(&self, debugger: &Debugger, search: &protocol::Settings) -> Result<Exit, String> {
        let Again { subject, directory, ran_in, .. } = self;
        let environment = subject.prepare(search, directory).map_err(|error| error.to_string())?;
        debugger.run(subject.executable(), &subject.arguments(), &environment, ran_in.as_deref())
    }
}

fn replay(settings: &Settings, progress: &Progress) -> Result<Rendered, Trouble> {
    let name = settings.finding.display().to_string();
    let (finding, build) = read(&settings.finding)?;
    progress.enter(Phase::Compiling);
    let again = rebuild(settings, &finding, &build)?;
    progress.enter(Phase::Testing);
    let report = again.subject.replay(&finding, &again.directory).map_err(|error| Trouble::new(&name, error))?;
    if let Some(error) = report.error {
        return Err(Trouble::new(&name, error));
    }
    let object = report.objects.first();
    let of_object = object.map(ObjectReport::to_test);
    let seen = report.tests.into_iter().next().or(of_object);
    let executable = again.subject.executable().to_string_lossy().into_owned();
    let again = seen.and_then(|test| test.findings.into_iter().chain(test.unknowns).next());
    // The search's number says more than "the first run of one".
    let again = again.map(|again| Finding { run: finding.run, ..again });
    let names = RefCell::new(Names::new(&executable));
    let replayed = Replayed {
        file: &name,
        finding: &finding,
        again: again.as_ref(),
        object: object.and_then(|object| object.findings.first()),
        same: again.as_ref().is_some_and(|again| finding.is_like(again)),
        seconds: settings.started.elapsed().as_secs_f64(),
        names: &names,
    };
    Ok(Outcome::Replayed(replayed).render(settings.wanted()))
}
