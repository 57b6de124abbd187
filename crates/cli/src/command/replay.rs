//! `selvedge replay`: runs the schedule of a finding again.
//!
//! Invariant: the schedule runs on the program that it was found in, or not at all. A finding remembers how its program was built
//! and what came out; when anything differs now, that is said instead of running something else.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use selvedge_driver::{self as driver, Finding, FindingKind, StepRecord};
use serde::{Deserialize, Serialize};

use super::test::{troubled, under_watch, watched};
use crate::exit::Exit;
use crate::library::Places;
use crate::program::{Built, Recipe};
use crate::progress::{Phase, Progress};
use crate::report::names::Names;
use crate::report::tested::{CRITERION, Found, found};
use crate::report::text::{FAIL, UNKNOWN, clean, paint, paragraph};
use crate::report::{Entry, json};
use crate::trouble::Trouble;

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "\
Exit codes:
  1    the same violation came out
  2    wrong input or usage, or the finding was made by another build
  3    something else came out: the test depends on something not controlled
  101  a bug in selvedge")]
pub struct Flags {
    /// The file that `selvedge test` wrote
    finding: PathBuf,

    /// Print one JSON document on standard output, and the report on standard error
    #[arg(long)]
    json: bool,
}

/// The flags as resolved.
pub struct Settings {
    finding: PathBuf,
    json: bool,
    places: Places,
    temporary: PathBuf,
    started: Instant,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self, started: Instant) -> Settings {
        let (places, temporary) = (Places::from_environment(), std::env::temp_dir());
        Settings { finding: self.finding, json: self.json, places, temporary, started }
    }
}

/// A finding file: the finding, and how its program was built.
#[derive(Serialize)]
struct FindingFile<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    build: &'a Recipe,
}

/// The part of a finding file that only the command line knows.
#[derive(Deserialize)]
struct BuildPart {
    build: Recipe,
}

/// The text of a finding file.
pub fn document(finding: &Finding, recipe: &Recipe) -> String {
    json::write(&FindingFile { finding, build: recipe }) + "\n"
}

/// Builds, replays and reports.
pub fn run(settings: Settings) -> Exit {
    let name = settings.finding.display().to_string();
    let (json, limits) = (settings.json, watched(settings.started));
    under_watch(&name, json, limits, move |_, progress| {
        replay(&settings, progress).unwrap_or_else(|trouble| troubled(&trouble, settings.started))
    })
}

fn read(path: &Path) -> Result<(Finding, Recipe), Trouble> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| Trouble::io(&name, &error))?;
    let text = String::from_utf8(text).map_err(|_| Trouble::new(&name, "expected a finding: this is not text"))?;
    let finding = Finding::from_json(&text).map_err(|error| Trouble::new(&name, error))?;
    if finding.tool != json::VERSION {
        let reason = format!("the finding was made by selvedge {}, this is {}", clean(&finding.tool), json::VERSION);
        return Err(Trouble::new(&name, reason).advise("run the test again with this version"));
    }
    driver::schedule_from_text(&finding.schedule).map_err(|error| Trouble::new(&name, error))?;
    let part: BuildPart = serde_json::from_str(&text)
        .map_err(|error| Trouble::new(&name, format!("the finding does not say how its program was built: {error}")))?;
    Ok((finding, part.build))
}

/// Builds the program of the finding again, or says why that is another one.
fn rebuild(settings: &Settings, finding: &Finding, recipe: &Recipe) -> Result<Built, Trouble> {
    let name = settings.finding.display().to_string();
    let places = &settings.places;
    std::env::set_current_dir(&recipe.directory)
        .map_err(|error| Trouble::io(&recipe.directory.display().to_string(), &error))?;
    let built = recipe.build(places, &settings.temporary)?;
    if built.fingerprint == finding.program {
        return Ok(built);
    }
    let runtime = |fingerprint: &str| fingerprint.split_once('-').map(|(_, runtime)| runtime.to_owned());
    let what = if runtime(&built.fingerprint) == runtime(&finding.program) {
        "the sources, the compiler or its flags have changed since"
    } else {
        "selvedge's runtime is another one"
    };
    let advice = format!("run the test again: selvedge test {}", recipe.name());
    Err(Trouble::new(&name, format!("the finding was made by another build: {what}")).advise(advice))
}

fn replay(settings: &Settings, progress: &Progress) -> Result<Entry, Trouble> {
    let name = settings.finding.display().to_string();
    let (finding, recipe) = read(&settings.finding)?;
    progress.enter(Phase::Compiling);
    let built = rebuild(settings, &finding, &recipe)?;
    progress.enter(Phase::Testing);
    let search = driver::Settings {
        replay: Some(finding.schedule.clone()),
        test: Some(finding.test.clone()),
        // The limits of the search are no limits of this one run.
        time_max: None,
        runs_max: u64::MAX,
        ..finding.settings.clone()
    };
    let session = driver::run(&built.program, &search, &built.directory);
    let report = session.map_err(|error| Trouble::new(&name, error))?.report;
    if let Some(error) = report.error {
        return Err(Trouble::new(&name, error));
    }
    let object = report.objects.first().map(driver::ObjectReport::to_test);
    let again = report.tests.into_iter().next().or(object).and_then(|test| test.findings.into_iter().next());
    // The search's number says more than "the first run of one".
    let again = again.map(|again| Finding { run: finding.run, ..again });
    let names = Names::new(&built.program.path.to_string_lossy());
    Ok(entry(&name, &finding, again.as_ref(), names, settings.started))
}

/// Whether the two are the same violation, reached by the same steps.
fn is_same(one: &Finding, other: &Finding) -> bool {
    // The watchdog looks at the clock, and what does not repeat itself cannot be compared step by step.
    if matches!(one.kind, FindingKind::Uncontrolled | FindingKind::Nondeterminism) {
        return one.kind == other.kind;
    }
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

#[derive(Serialize)]
struct Document<'a> {
    file: &'a str,
    verdict: &'static str,
    criterion: &'static str,
    coverage: &'static str,
    seconds: f64,
    version: &'static str,
    test: &'a str,
    same: bool,
    findings: Vec<Found>,
}

fn entry(name: &str, finding: &Finding, again: Option<&Finding>, mut names: Names, started: Instant) -> Entry {
    let same = again.is_some_and(|again| is_same(finding, again));
    let test = clean(&finding.test);
    let line = match again {
        Some(again) if same => format!("{}  {test}: {}, the same violation again", paint(FAIL, "FAIL"), again.kind),
        _ => format!("{}  {test}: the same schedule did something else this time", paint(UNKNOWN, "UNKNOWN")),
    };
    let mut full = format!("{line}\n\n");
    if !same {
        let now = again.map_or("no violation".to_owned(), |again| format!("{}: {}", again.kind, again.message));
        let text = format!(
            "Found was {}: {}. Now there was {now}. The test depends on something that is not controlled.",
            finding.kind, finding.message
        );
        full += &paragraph(&names.explain(&text), 2);
    }
    if let Some(again) = again {
        full += &found(again, name, &mut names);
    }
    let document = Document {
        file: name,
        verdict: if same { "fail" } else { "unknown" },
        criterion: CRITERION,
        coverage: "replayed",
        seconds: json::round(started.elapsed().as_secs_f64()),
        version: json::VERSION,
        test: &finding.test,
        same,
        findings: again.into_iter().map(|again| Found::new(again, name, &mut names)).collect(),
    };
    let exit = if same { Exit::Violation } else { Exit::Unknown };
    Entry { exit, full, line, json: json::write(&document), certificate: None }
}
