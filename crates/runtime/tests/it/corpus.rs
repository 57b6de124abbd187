//! Every program of the corpus: the verdict is its directory, the number of runs stands beside it.
//!
//! `dpor` counts with loops that only try again recognised, `dpor-all` without.
//!
//! `SELVEDGE_UPDATE=1` writes the numbers instead of comparing them. `SELVEDGE_CAMPAIGN=1` replays every failure a hundred times
//! instead of twice, and tries every clang. `SELVEDGE_OTHER_LIBC` is the directory of another system's libraries.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use selvedge_driver::{Program, Subject};
use selvedge_needs::Need;
use selvedge_protocol::{CoverageRecord, Finding, Search, Settings};

use crate::build::{build, build_with, campaign, compilers_with_clang, programs, scratch, session, settings};

/// What one strategy must do with one program.
struct Case {
    program: Program,
    directory: PathBuf,
    verdict: String,
    name: String,
}

impl Case {
    fn replays(&self, finding: &Finding) {
        let times = if campaign() { 100 } else { 2 };
        (0..times).for_each(|_| self.replays_once(finding));
    }

    fn replays_once(&self, finding: &Finding) {
        let session = Subject::Program(self.program.clone())
            .replay(finding, &self.directory)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let [test] = session.tests.as_slice() else { panic!("one test is replayed: {}", self.name) };
        assert_eq!(test.runs, 1, "{}", self.name);
        let again = test.findings.first().unwrap_or_else(|| panic!("{} is not found again", self.name));
        assert_eq!((again.kind, &again.cause), (finding.kind, &finding.cause), "{}", self.name);
        assert_eq!((&again.schedule, &again.place), (&finding.schedule, &finding.place), "{}", self.name);
        assert_eq!(again.threads, finding.threads, "{}", self.name);
        assert_eq!(again.steps, finding.steps, "{}", self.name);
    }

    /// The lines that belong beside the program. Without the recognition of retry loops nothing else may come out.
    fn check(&self, search: Search, retries: bool) -> String {
        let mut settings = Settings { retries, ..settings(search) };
        if self.verdict == "step-limit" {
            // The search goes on after a run without an end, and has none itself.
            settings.runs_max = 20;
        }
        let session = session(&self.program, &settings, &self.directory);
        let mut lines = String::new();
        assert!(!session.report.tests.is_empty(), "{} has no tests", self.name);
        for test in &session.report.tests {
            let (name, mut strategy) = (format!("{} {}", self.name, test.test), format!("{search:?}").to_lowercase());
            if !retries {
                strategy += "-all";
            }
            let seen: Vec<&Finding> = test.findings.iter().chain(&test.unknowns).collect();
            let kinds: Vec<&str> = seen.iter().map(|finding| finding.kind.name()).collect();
            if self.verdict == "pass" {
                assert!(kinds.is_empty(), "{name} under {strategy}: {:?}", seen[0].cause);
                let expect = if search == Search::Dpor { CoverageRecord::Exhaustive } else { test.coverage };
                assert_eq!(test.coverage, expect, "{name} under {strategy}");
                assert_ne!(test.coverage, CoverageRecord::Partial, "{name} under {strategy}");
                assert_eq!(test.redundant, 0, "{name} under {strategy}");
            } else {
                assert_eq!(kinds, [self.verdict.as_str()], "{name} under {strategy}");
                if seen[0].kind.is_violation() {
                    self.replays(seen[0]);
                } else {
                    assert_eq!(test.coverage, CoverageRecord::Partial, "{name} under {strategy}");
                }
            }
            writeln!(lines, "{} {strategy} {}", test.test, test.runs).expect("a string");
        }
        lines
    }
}

fn check(path: &Path, verdict: &str) {
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let directory = scratch(&format!("corpus-{verdict}-{name}"));
    let program = build(path, &[], &directory);
    let case = Case { program, directory, verdict: verdict.into(), name };
    let lines = [(Search::Bounded, true), (Search::Dpor, true), (Search::Dpor, false)];
    let lines = lines.map(|(search, retries)| case.check(search, retries)).concat();
    let expected = path.with_extension("runs");
    if std::env::var_os("SELVEDGE_UPDATE").is_some() {
        std::fs::write(&expected, &lines).expect("the numbers are written");
    }
    if verdict != "nondeterminism" {
        assert_eq!(lines, std::fs::read_to_string(&expected).unwrap_or_default(), "{}", expected.display());
    }
}

#[test]
fn verdicts_and_numbers_of_runs() {
    let programs = programs();
    assert!(programs.len() >= 40, "{} programs", programs.len());
    let failed = |(path, verdict): &(PathBuf, String)| std::panic::catch_unwind(|| check(path, verdict)).is_err();
    let failed: Vec<(PathBuf, String)> = programs.into_iter().filter(failed).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// The same verdicts from clang: from the newest that is installed, and in a campaign from all. The numbers of runs may differ: what is an
/// access is the compiler's decision.
#[test]
fn verdicts_with_clang() {
    let mut versions = compilers_with_clang();
    versions.retain(|name| name.contains("clang"));
    let wanted = if campaign() { versions.len() } else { 1 };
    for cc in versions.iter().take(wanted) {
        for (path, verdict) in programs() {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let directory = scratch(&format!("{cc}-{verdict}-{name}"));
            // Not every version takes that of its own accord.
            let flags: &[&str] =
                if path.extension().is_some_and(|kind| kind == "cc") { &["-std=gnu++17"] } else { &[] };
            let program = build_with(cc, &path, flags, &directory);
            let case = Case { program, directory, verdict: verdict.clone(), name: format!("{name} ({cc})") };
            case.check(Search::Dpor, true);
            if campaign() {
                case.check(Search::Bounded, true);
            }
        }
        println!("{cc}: every verdict");
    }
}

/// The same verdicts with libraries of another system, which `SELVEDGE_OTHER_LIBC` names: what the runtime knows of glibc's memory is not of one version.
#[test]
fn verdicts_with_another_libc() {
    let Some(libraries) = other_libc() else { return };
    let flags = [
        format!("-Wl,--dynamic-linker={libraries}/ld-linux-x86-64.so.2"),
        // Unlike a path of the newer kind, it holds for what libraries need as well.
        format!("-Wl,--disable-new-dtags,-rpath,{libraries}"),
    ];
    let version = std::fs::read(format!("{libraries}/libc.so.6")).expect("libc");
    let ours = PathBuf::from("/lib/x86_64-linux-gnu/libc.so.6");
    assert!(!ours.exists() || std::fs::read(ours).expect("libc") != version, "it is another libc");
    for (path, verdict) in programs() {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let directory = scratch(&format!("other-libc-{verdict}-{name}"));
        let program = build_with("gcc", &path, &flags.each_ref().map(String::as_str), &directory);
        let case = Case { program, directory, verdict, name: format!("{name} (another libc)") };
        case.check(Search::Bounded, true);
    }
}

/// The directory with the dynamic linker, libc and libstdc++ of a newer system, which run what is compiled here.
fn other_libc() -> Option<String> {
    let directory = std::env::var("SELVEDGE_OTHER_LIBC").ok();
    if directory.is_none() {
        selvedge_needs::skip(Need::OtherLibc, "SELVEDGE_OTHER_LIBC names no directory");
    }
    directory
}
