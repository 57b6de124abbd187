//! Memory does not grow with the number of runs. `SELVEDGE_CAMPAIGN=1` makes ten million.

use std::process::{Command, Stdio};
use std::time::Duration;

use selvedge_protocol::channel::{self, DIRECTORY_VARIABLE, SETTINGS_VARIABLE, TAKE_OVER_VARIABLE, Told};
use selvedge_protocol::{Search, Settings, wire};

use crate::build::{build, campaign, root, scratch, settings};

/// The most memory that the test program had while it made so many runs, in KiB.
fn peak(search: Search, runs_max: u64) -> u64 {
    let directory = scratch(&format!("memory-{search:?}"));
    let program = build(&root().join("corpus/programs/pass/michael_scott.c"), &[], &directory);
    let settings = Settings { runs_max, time_max: None, ..settings(search) };
    let reports = directory.join("reports");
    let _ = std::fs::remove_dir_all(&reports);
    std::fs::create_dir(&reports).and_then(|()| channel::open(&reports)).expect("a directory for the report");
    let mut child = Command::new(&program.path)
        .env(SETTINGS_VARIABLE, wire::encode(&settings))
        .env(DIRECTORY_VARIABLE, &reports)
        .env(TAKE_OVER_VARIABLE, "1")
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("the program ends").is_none() {
        // The kernel's own note of the most so far; it is gone with the process.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = most.max(line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    let told = channel::read(&reports);
    let [Told::Report(report)] = told.as_slice() else { panic!("one report: {told:?}") };
    assert_eq!(report.tests[0].runs, runs_max);
    most
}

#[test]
fn ten_times_the_runs_in_the_same_memory() {
    const MIB: u64 = 1 << 10;
    for search in [Search::Random, Search::Dfs] {
        let (few, many) = (peak(search, 20_000), peak(search, 200_000));
        println!("{search:?}: {few} and {many} KiB");
        assert!(few > 0 && many < few + 4 * MIB, "{search:?}: {few} and {many} KiB");
    }
    if campaign() {
        let most = peak(Search::Dfs, 10_000_000);
        println!("ten million runs: {most} KiB");
        assert!(most < 300 * MIB, "{most} KiB");
    }
}
