//! Every Rust test of the corpus, alone in a process as `cargo selvedge test` runs it: failures come again, the reduction and plain
//! search see the same, and recognising loops that only try again changes no verdict.
//!
//! `SELVEDGE_CAMPAIGN=1` replays every failure a hundred times instead of three, and gives searches many more runs.

use std::path::PathBuf;

use selvedge_driver::rust::Hosted;
use selvedge_driver::{Subject, identity};
use selvedge_protocol::channel;
use selvedge_protocol::{CoverageRecord, Finding, Report, Search, Settings, TestReport};

use crate::build::{campaign, marks, runtime, scratch};
use crate::histories::kinds;
use crate::rust::{File, RUNS_MAX, is_possible};

const TESTS: [File; 3] = [
    File { project: "rust", name: "std" },
    File { project: "rust", name: "histories" },
    File { project: "crossbeam", name: "epoch" },
];
const OBJECTS: File = File { project: "rust", name: "objects" };

/// A test in a process of its own.
struct Alone {
    name: String,
    hosted: Hosted,
    directory: PathBuf,
}

impl Alone {
    /// Those of a file that make this call.
    fn all(file: File, calls: &str, purpose: &str) -> Vec<Alone> {
        let build = Settings { runs_max: 1, ..Settings::default() };
        let alone = |(name, report): (String, Report)| {
            let mut host = report.host.unwrap_or_else(|| panic!("{name} does not say which program it is in"));
            host.function = Some(name.clone());
            let directory = scratch(&format!("alone-{purpose}-{}-{name}", file.name));
            let identity = identity(&host.executable, &runtime()).expect("the program and the runtime");
            Alone { name, hosted: Hosted { host, flags: vec![], runtime: runtime(), identity }, directory }
        };
        file.reports(&build, &[], calls).into_iter().map(alone).collect()
    }

    fn run(&self, settings: &Settings) -> Report {
        let _ = std::fs::remove_dir_all(&self.directory);
        let made = std::fs::create_dir_all(&self.directory).and_then(|()| channel::open(&self.directory));
        made.expect("a directory for the report");
        let report =
            self.hosted.run(settings, &self.directory).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        assert_eq!(report.error, None, "{}", self.name);
        report
    }

    fn search(&self, settings: &Settings) -> TestReport {
        let mut tests = self.run(settings).tests;
        // A test may search more than once; the first search stands for it.
        assert!(!tests.is_empty(), "{}", self.name);
        tests.remove(0)
    }

    /// The same run comes out of the same schedule, every time.
    fn replays(&self, finding: &Finding) {
        for _ in 0..if campaign() { 100 } else { 3 } {
            let subject = Subject::Hosted(self.hosted.clone());
            let report =
                subject.replay(finding, &self.directory).unwrap_or_else(|error| panic!("{}: {error}", self.name));
            let again = first(&report).unwrap_or_else(|| panic!("{} is not found again", self.name));
            assert_eq!((again.kind, &again.cause), (finding.kind, &finding.cause), "{}", self.name);
            assert_eq!((&again.schedule, &again.place), (&finding.schedule, &finding.place), "{}", self.name);
            assert_eq!(again.threads, finding.threads, "{}", self.name);
            assert_eq!(again.steps, finding.steps, "{}", self.name);
        }
    }
}

/// The first finding, of a test or of an object.
fn first(report: &Report) -> Option<&Finding> {
    let objects = report.objects.iter().flat_map(|object| &object.findings).map(|found| &found.finding);
    report.tests.iter().flat_map(|test| &test.findings).chain(objects).next()
}

#[test]
fn every_failure_comes_again() {
    if !is_possible() {
        return;
    }
    let mut replayed = 0;
    let files = TESTS.map(|file| (file, "selvedge::explore(")).into_iter().chain([(OBJECTS, "selvedge::object")]);
    for (file, calls) in files {
        for test in Alone::all(file, calls, "again") {
            if ["pass", "uncontrolled"].iter().any(|verdict| test.name.starts_with(verdict)) {
                continue;
            }
            for search in [Search::Bounded, Search::Dpor] {
                let settings = Settings { search, runs_max: RUNS_MAX, ..Settings::default() };
                let report = test.run(&settings);
                let Some(finding) = first(&report) else {
                    let runs = report.tests.first().map_or(0, |test| test.runs);
                    assert!(search == Search::Dpor && runs == RUNS_MAX, "{} under {search:?}", test.name);
                    continue;
                };
                test.replays(finding);
                println!("{} under {search:?}: {} steps, again every time", test.name, finding.steps.len());
                replayed += 1;
            }
        }
    }
    assert!(replayed >= 30, "{replayed} findings");
}

/// What a search answers: the kind of what it found, `pass`, or nothing if a limit came first.
fn verdict(test: &TestReport) -> Option<&'static str> {
    match test.findings.first() {
        Some(finding) => Some(finding.kind.name()),
        None if test.coverage == CoverageRecord::Exhaustive => Some("pass"),
        None => None,
    }
}

/// Recognising loops that only try again changes how many runs there are, and no verdict.
#[test]
fn retries_change_no_verdict() {
    if !is_possible() {
        return;
    }
    let runs_max = if campaign() { 500_000 } else { RUNS_MAX };
    let mut compared = 0;
    for file in TESTS {
        for test in Alone::all(file, "selvedge::explore(", "retries") {
            let see = |retries| {
                let time_max = campaign().then_some(300.0);
                test.search(&Settings { search: Search::Dpor, retries, runs_max, time_max, ..Settings::default() })
            };
            let (with, without) = (see(true), see(false));
            println!("{}: {} runs with, {} without", test.name, with.runs, without.runs);
            if let (Some(one), Some(other)) = (verdict(&with), verdict(&without)) {
                assert_eq!(one, other, "{}", test.name);
                compared += 1;
            }
        }
    }
    for test in Alone::all(OBJECTS, "selvedge::object", "retries") {
        let see = |retries| {
            let settings = Settings { preemptions: 1, retries, ..Settings::default() };
            let report = test.run(&settings).objects.remove(0);
            (report.findings.iter().map(|found| found.kind).collect::<Vec<_>>(), report.complete)
        };
        assert_eq!(see(true), see(false), "{}", test.name);
        compared += 1;
    }
    println!("{compared} tests compared");
    assert!(compared >= 30, "{compared}");
}

/// The set of histories and of kinds of findings is the same, where plain search comes to an end.
#[test]
fn reduced_and_plain_search_see_the_same() {
    if !is_possible() {
        return;
    }
    let runs_max = if campaign() { 1_000_000 } else { 20_000 };
    // Every thread is one operation where none are marked.
    let preloaded: PathBuf = format!("{}:{}", marks().display(), runtime().display()).into();
    let (mut compared, mut histories) = (0, 0);
    for file in TESTS {
        for mut test in Alone::all(file, "selvedge::explore(", "same") {
            if file.name != "histories" {
                test.hosted.runtime = preloaded.clone();
            }
            let see = |search, retries, runs_max| {
                let time_max = Some(120.0);
                let settings = Settings { search, retries, runs_max, time_max, ..Settings::default() };
                test.search(&Settings { histories: true, keep_going: true, ..settings })
            };
            let all = see(Search::Dfs, true, runs_max);
            if all.coverage != CoverageRecord::Exhaustive {
                println!("{}: not compared, more than {} runs", test.name, all.runs);
                continue;
            }
            for retries in [true, false] {
                let reduced = see(Search::Dpor, retries, u64::MAX);
                assert_eq!(reduced.coverage, CoverageRecord::Exhaustive, "{} {retries}", test.name);
                assert_eq!(kinds(&all), kinds(&reduced), "{} {retries}", test.name);
                if all.findings.is_empty() {
                    assert_eq!(all.history_texts, reduced.history_texts, "{} {retries}", test.name);
                }
                let (name, count) = (&test.name, all.histories);
                println!("{name}: {count} histories, {} runs reduced, {} plain", reduced.runs, all.runs);
            }
            compared += 1;
            histories += all.histories;
        }
    }
    println!("{compared} tests compared, {histories} histories");
    assert!(compared >= 10 && histories >= 50, "{compared} {histories}");
}
