//! Rust tests, built by stable cargo with the flags of the driver. The first word of a test's name is its verdict.
//!
//! The number of runs stands beside each file of tests, for the version of rustc that it names: what the standard library does differs.
//! `SELVEDGE_UPDATE=1` writes the numbers instead of comparing them. `SELVEDGE_CAMPAIGN=1` tries every test matrix of crossbeam's queue.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use selvedge_driver::rust::{RustError, TARGET, cargo_environment, prepare_sysroot};
use selvedge_needs::{Need, has, skip};
use selvedge_protocol::channel::{self, SETTINGS_VARIABLE, Told};
use selvedge_protocol::{CoverageRecord, Report, Search, Settings, TestReport, wire};

use crate::build::{campaign, root, runtime, scratch};

/// The verdict that a test's name starts with.
pub const VERDICTS: [&str; 10] = [
    "pass",
    "panic",
    "data-race",
    "lost-wakeup",
    "deadlock",
    "livelock",
    "use-after-free",
    "leaked-thread",
    "crash",
    "uncontrolled",
];

/// Some tests have too many schedules for a test of this tool, with the standard library instrumented.
pub const RUNS_MAX: u64 = 5_000;

/// The name and the line of every test of the file that calls this.
pub fn tests(path: &Path, calls: &str) -> Vec<(String, usize)> {
    let text = std::fs::read_to_string(path).expect("the tests");
    let mut name = String::new();
    let mut tests = Vec::new();
    for (line, code) in text.lines().enumerate() {
        if let Some(rest) = code.strip_prefix("fn ") {
            name = rest.split('(').next().unwrap_or_default().to_string();
        }
        if let Some(rest) = code.strip_prefix("matrix!(") {
            tests.push((rest.split(' ').next().unwrap_or_default().to_string(), line + 1));
        } else if code.trim_start().starts_with(calls) && !code.contains("check([$") {
            tests.push((name.clone(), line + 1));
        }
    }
    tests
}

/// The instrumented standard library, made once for tests that run side by side, or what the toolchain lacks for it.
fn sysroot() -> Result<&'static Path, &'static str> {
    static SYSROOT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let prepare = || match prepare_sysroot(&scratch("sysroot")) {
        Ok(sysroot) => Ok(sysroot),
        Err(error @ RustError::Missing(_)) => Err(error.to_string()),
        Err(error) => panic!("{error}"),
    };
    SYSROOT.get_or_init(prepare).as_deref().map_err(String::as_str)
}

/// Whether Rust tests can be built; where the toolchain lacks something, the calling test is skipped.
#[track_caller]
pub fn is_possible() -> bool {
    sysroot().map_err(|lacks| skip(Need::StandardLibrary, lacks)).is_ok()
}

/// Runs the tests of a file of a project; where the reports are, and what was printed.
pub fn cargo_test(
    project: &Path,
    name: &str,
    directory: &Path,
    settings: &Settings,
    cargo: &[&str],
    filters: &[&str],
) -> (PathBuf, String) {
    // Tests that run side by side ask for the same file.
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let reports = directory.join(format!("reports-{name}-{}", ASKED.fetch_add(1, Ordering::Relaxed)));
    let _ = std::fs::remove_dir_all(&reports);
    std::fs::create_dir_all(&reports).and_then(|()| channel::open(&reports)).expect("a directory for reports");
    // The tests of this file run side by side.
    static SYSROOT: OnceLock<PathBuf> = OnceLock::new();
    let prepare = || prepare_sysroot(&scratch("sysroot")).unwrap_or_else(|error| panic!("{error}"));
    let sysroot = SYSROOT.get_or_init(prepare);
    let output = Command::new(env!("CARGO"))
        .args(["test", "--no-fail-fast", "--locked", "--target", TARGET, "--test", name, "--manifest-path"])
        .arg(project.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(directory.join("target"))
        .args(cargo)
        .arg("--")
        .args(filters)
        .envs(cargo_environment(&runtime(), Some(sysroot), &reports))
        .env("RUST_BACKTRACE", "0")
        .env(SETTINGS_VARIABLE, wire::encode(settings))
        .output()
        .expect("cargo runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (reports, printed)
}

/// What the searches reported there.
pub fn read_reports(directory: &Path) -> Vec<Report> {
    let told = channel::read(directory).into_iter();
    told.filter_map(|told| if let Told::Report(report) = told { Some(*report) } else { None }).collect()
}

/// A file of tests of a project in the corpus.
#[derive(Clone, Copy)]
pub struct File {
    pub project: &'static str,
    pub name: &'static str,
}

impl File {
    fn path(&self) -> PathBuf {
        root().join("corpus").join(self.project).join(format!("tests/{}.rs", self.name))
    }

    /// Runs the tests whose name contains one of `filters`, or all; what each saw.
    fn run(&self, settings: &Settings, filters: &[&str]) -> Vec<(String, TestReport)> {
        let reports = self.reports(settings, filters, "selvedge::explore(").into_iter();
        let test = |(name, mut report): (String, Report)| {
            assert_eq!(report.tests.len(), 1, "{name}: {:?}", report.error);
            (name, report.tests.remove(0))
        };
        reports.map(test).collect()
    }

    /// The same for tests that make this call.
    pub fn reports(&self, settings: &Settings, filters: &[&str], calls: &str) -> Vec<(String, Report)> {
        let directory = scratch(&format!("rust-{}", self.project));
        let project = root().join("corpus").join(self.project);
        let (reports, printed) = cargo_test(&project, self.name, &directory, settings, &[], filters);
        let all = read_reports(&reports);
        let wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter));
        let read = |(name, line): (String, usize)| {
            let place = format!("tests/{}.rs:{line}", self.name);
            let is_here = |report: &&Report| {
                let objects = report.objects.iter().map(|object| &object.object);
                report.tests.iter().map(|test| &test.test).chain(objects).any(|name| *name == place)
            };
            let report = all.iter().find(is_here).unwrap_or_else(|| panic!("{name} at {place}\n{printed}"));
            (name, report.clone())
        };
        tests(&self.path(), calls).into_iter().filter(|(name, _)| wanted(name)).map(read).collect()
    }

    /// Compares the verdicts, and the numbers of runs with those beside the file.
    #[track_caller]
    fn check(&self) {
        if !is_possible() {
            return;
        }
        let version = Command::new("rustc").arg("--version").output().expect("rustc runs").stdout;
        let version = String::from_utf8_lossy(&version).split(' ').nth(1).unwrap_or_default().to_string();
        let mut lines = format!("rustc {version}\n");
        for search in [Search::Bounded, Search::Dpor] {
            let settings = Settings { search, runs_max: RUNS_MAX, time_max: Some(120.0), ..Settings::default() };
            for (name, test) in self.run(&settings, &[]) {
                let cut = test.runs == RUNS_MAX && test.findings.is_empty();
                // Loops that try again and again have very many classes of schedules; what a limit cut short is no verdict.
                if !(cut && search == Search::Dpor) {
                    verdict(&name, &test);
                }
                let strategy = format!("{search:?}").to_lowercase();
                let more = if cut { " or more" } else { "" };
                writeln!(lines, "{name} {strategy} {}{more}", test.runs).expect("a string");
            }
        }
        let beside = self.path().with_extension("runs");
        if std::env::var_os("SELVEDGE_UPDATE").is_some() {
            std::fs::write(&beside, &lines).expect("the numbers are written");
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        let known = expected.lines().next().unwrap_or("nothing");
        if has(known == format!("rustc {version}"), Need::Rustc, &format!("the numbers of runs are those of {known}")) {
            assert_eq!(lines, expected, "{}", beside.display());
        }
    }
}

/// The verdict must be the one that the name starts with.
fn verdict(name: &str, test: &TestReport) {
    let name = name.replace('_', "-");
    let verdict = VERDICTS.iter().find(|verdict| name.starts_with(*verdict)).expect("a verdict");
    let found = test.findings.iter().chain(&test.unknowns).next();
    println!("{name}: {} runs, {:?}, {:?}", test.runs, test.coverage, found.map(|finding| &finding.cause));
    assert_eq!(found.map_or("pass", |finding| finding.kind.name()), *verdict, "{name}");
}

#[test]
fn marked_operations() {
    File { project: "rust", name: "histories" }.check();
}

#[test]
fn the_standard_library() {
    File { project: "rust", name: "std" }.check();
}

#[test]
fn epochs() {
    File { project: "crossbeam", name: "epoch" }.check();
}

/// Three threads with two operations each, to the end of bound 2: a thread that spins because another was preempted is no livelock.
#[test]
fn queue_matrices() {
    if !is_possible() {
        return;
    }
    let filters: &[&str] = if campaign() { &[] } else { &["uo_uo_uo", "uu_uo_oo"] };
    let settings = Settings { search: Search::Bounded, preemptions: 2, ..Settings::default() };
    let matrices = File { project: "crossbeam", name: "array_queue" }.run(&settings, filters);
    assert_eq!(matrices.len(), if campaign() { 20 } else { 2 });
    for (name, test) in matrices {
        verdict(&name, &test);
        assert_eq!((test.coverage, test.truncated), (CoverageRecord::Preemptions(2), 0), "{name}");
    }
}

#[test]
fn objects_get_the_verdict_of_their_name() {
    if !is_possible() {
        return;
    }
    // One preemption suffices for each of them, and makes them quick.
    let settings = Settings { time_max: Some(60.0), preemptions: 1, ..Settings::default() };
    let objects = File { project: "rust", name: "objects" }.reports(&settings, &[], "selvedge::object");
    assert!(objects.len() >= 10);
    for (name, report) in objects {
        let (name, object) = (name.replace('_', "-"), &report.objects[0]);
        let found = object.findings.first().map_or("pass", |finding| finding.kind.name());
        println!("{name}: {found}, {} matrices, {} runs, {:.3} s", object.matrices, object.runs, object.cpu_seconds);
        assert!(name.starts_with(found), "{name}: {found}");
        assert!(found != "pass" || object.complete, "{name}: {:?}", object.limit);
    }
}
