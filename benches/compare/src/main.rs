//! One comparison on one core: the same Michael-Scott test in Rust under shuttle, loom and selvedge, and what C code reaches.
//!
//! `cargo run --release --manifest-path benches/compare/Cargo.toml [ROUNDS]`. Every contender runs once a round, those that are compared with each other one right after the
//! other, so that what else the machine does hits all alike; the median of the rounds counts, of rates and of ratios. See docs/speed.md.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use selvedge_driver::rust::{TARGET, cargo_environment, prepare_sysroot};
use selvedge_driver::{Compiler, Program, compile, run};
use selvedge_protocol::channel::{self, SETTINGS_VARIABLE, Told};
use selvedge_protocol::{Report, Search, Settings, TestReport, wire};

type Error = Box<dyn std::error::Error>;

/// Runs made and the CPU seconds that they took.
#[derive(Clone, Copy)]
struct Measured {
    runs: u64,
    seconds: f64,
}

impl Measured {
    fn rate(self) -> f64 {
        self.runs as f64 / self.seconds
    }

    fn of(test: &TestReport) -> Self {
        Measured { runs: test.runs, seconds: test.cpu_seconds }
    }
}

/// Who is measured.
enum Contender {
    Peer { tool: &'static str, strategy: &'static str, runs: u64 },
    Rust { std: bool, settings: Settings },
    C { program: &'static str, settings: Settings },
}

struct Entry {
    name: String,
    contender: Contender,
    measured: Vec<Measured>,
}

impl Entry {
    /// The round in the middle.
    fn median(&self) -> Measured {
        let mut sorted = self.measured.clone();
        sorted.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
        sorted[sorted.len() / 2]
    }
}

/// Where everything is.
struct Places {
    root: PathBuf,
    scratch: PathBuf,
    runtime: PathBuf,
    sysroot: PathBuf,
}

const RUNS: u64 = 100_000;

const MICHAEL_SCOTT: &str = "corpus/programs/pass/michael_scott.c";
const TREIBER: &str = "crates/runtime/tests/programs/treiber.c";

fn settings(search: Search, races: bool) -> Settings {
    Settings { search, races, runs_max: RUNS, preemptions: 3, ..Settings::default() }
}

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut add = |name: &str, contender| {
        entries.push(Entry { name: name.to_string(), contender, measured: Vec::new() });
    };
    let shuttle = |strategy| Contender::Peer { tool: "shuttle", strategy, runs: RUNS };
    let groups = [
        ("shuttle 0.9.9, random", shuttle("random"), Search::Random, "random"),
        ("shuttle 0.9.9, dfs", shuttle("dfs"), Search::Dfs, "dfs"),
        (
            "loom 0.7.2, bound 3",
            Contender::Peer { tool: "loom", strategy: "bound3", runs: 0 },
            Search::Bounded,
            "bound 3",
        ),
    ];
    for (peer, contender, search, strategy) in groups {
        add(peer, contender);
        for (std, what) in [(false, "user code"), (true, "user code and std")] {
            for (races, suffix) in [(true, "races on"), (false, "races off")] {
                let name = format!("selvedge, {what}, {strategy}, {suffix}");
                add(&name, Contender::Rust { std, settings: settings(search, races) });
            }
        }
    }
    for races in [true, false] {
        let suffix = if races { "races on" } else { "races off" };
        for (search, strategy) in [(Search::Random, "random"), (Search::Dfs, "dfs")] {
            let name = format!("selvedge, C, {strategy}, {suffix}");
            add(&name, Contender::C { program: MICHAEL_SCOTT, settings: settings(search, races) });
        }
        for (retries, how) in [(false, ""), (true, ", retries recognised")] {
            let search = settings(Search::Dpor, races);
            let settings = Settings { spins: false, retries, runs_max: u64::MAX, ..search };
            let name = format!("selvedge, C, Treiber 3x2 to the end by dpor{how}, {suffix}");
            add(&name, Contender::C { program: TREIBER, settings });
        }
    }
    entries
}

impl Places {
    fn prepare() -> Result<Self, Error> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
        let cargo = |arguments: &[&str]| -> Result<(), Error> {
            let status = Command::new(env!("CARGO")).args(arguments).current_dir(&root).status()?;
            if status.success() { Ok(()) } else { Err(format!("cargo {arguments:?} failed").into()) }
        };
        cargo(&["build", "--release", "-p", "selvedge-runtime", "--target-dir", "target"])?;
        // `cargo run` builds no other program than the one that it runs.
        cargo(&["build", "--release", "--manifest-path", "benches/compare/Cargo.toml", "--bin", "peers"])?;
        let scratch = root.join("target/compare");
        std::fs::create_dir_all(&scratch)?;
        let sysroot = prepare_sysroot(&scratch)?;
        let runtime = root.join("target/release/libselvedge_runtime.so");
        Ok(Places { root, scratch, runtime, sysroot })
    }

    fn measure(&self, contender: &Contender) -> Result<Measured, Error> {
        match contender {
            Contender::Peer { tool, strategy, runs } => peer(tool, strategy, *runs),
            Contender::Rust { std, settings } => self.rust(*std, settings),
            Contender::C { program, settings } => self.c(program, settings),
        }
    }

    fn rust(&self, std: bool, settings: &Settings) -> Result<Measured, Error> {
        let reports = self.scratch.join("reports");
        let _ = std::fs::remove_dir_all(&reports);
        std::fs::create_dir_all(&reports)?;
        channel::open(&reports)?;
        let sysroot = std.then_some(self.sysroot.as_path());
        let target = self.scratch.join(if std { "with-std" } else { "user-code" });
        let output = Command::new(env!("CARGO"))
            .args(["test", "--release", "--target", TARGET, "-p", "compare-queue", "--test", "selvedge"])
            .arg("--manifest-path")
            .arg(self.root.join("benches/compare/Cargo.toml"))
            .arg("--target-dir")
            .arg(target)
            .envs(cargo_environment(&self.runtime, sysroot, &reports))
            .env(SETTINGS_VARIABLE, wire::encode(settings))
            .stdin(Stdio::null())
            .output()?;
        let told = channel::read(&reports).into_iter();
        let mut reports = told.filter_map(|told| if let Told::Report(report) = told { Some(report) } else { None });
        match reports.next() {
            Some(report) => one(&report),
            None => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }

    fn c(&self, name: &str, settings: &Settings) -> Result<Measured, Error> {
        let flags = if name == TREIBER { vec!["-DTHREADS=3".to_string()] } else { Vec::new() };
        let include = self.root.join("crates/driver/include");
        let compiler = Compiler { cc: "gcc".into(), flags, include, runtime: self.runtime.clone() };
        let source = self.root.join(name);
        let path = self.scratch.join(source.file_stem().unwrap_or_default());
        compile(&compiler, &[source], &path)?;
        let session = run(&Program::new(path, &self.runtime)?, settings, &self.scratch)?;
        one(&session.report)
    }
}

/// The one test of a report, which must not have failed.
fn one(report: &Report) -> Result<Measured, Error> {
    match report.tests.as_slice() {
        [test] if test.findings.is_empty() => Ok(Measured::of(test)),
        _ => Err(format!("expected one test that passes: {report:?}").into()),
    }
}

fn peer(tool: &str, strategy: &str, runs: u64) -> Result<Measured, Error> {
    let path = std::env::current_exe()?.with_file_name("peers");
    let output = Command::new(path).args([tool, strategy, &runs.to_string()]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let (runs, seconds) = text.trim().split_once(' ').ok_or("peers prints two numbers")?;
    Ok(Measured { runs: runs.parse()?, seconds: seconds.parse()? })
}

/// Everything from here on runs on the first core that it may use.
fn pin() {
    // SAFETY: reads and sets the affinity of this process with structures of the right size.
    unsafe {
        let size = size_of::<libc::cpu_set_t>();
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size, &mut allowed) != 0 {
            return;
        }
        let Some(core) = (0..libc::CPU_SETSIZE as usize).find(|&core| libc::CPU_ISSET(core, &allowed)) else { return };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut one);
        libc::sched_setaffinity(0, size, &one);
    }
}

/// A ratio that the project promises: that of the round in the middle.
fn ratio(entries: &[Entry], ours: &str, theirs: &str, wanted: f64) {
    let rounds = |name: &str| entries.iter().find(|entry| entry.name == name).map(|entry| &entry.measured);
    let (Some(mine), Some(other)) = (rounds(ours), rounds(theirs)) else { return };
    let mut ratios: Vec<f64> = mine.iter().zip(other).map(|(mine, other)| mine.rate() / other.rate()).collect();
    ratios.sort_by(f64::total_cmp);
    let (Some(least), Some(most), times) = (ratios.first(), ratios.last(), ratios[ratios.len() / 2]) else { return };
    let verdict = if times >= wanted { "reached" } else { "NOT reached" };
    println!("{times:5.2} times ({least:.2} to {most:.2})  {ours}  /  {theirs}  (wanted {wanted}: {verdict})");
}

fn print(entries: &[Entry]) {
    println!("\n{:<64} {:>8} {:>9} {:>16}", "", "runs", "CPU s", "runs per CPU s");
    for entry in entries {
        let median = entry.median();
        println!("{:<64} {:>8} {:>9.3} {:>16.0}", entry.name, median.runs, median.seconds, median.rate());
    }
    println!();
    for races in ["races on", "races off"] {
        let user = |strategy| format!("selvedge, user code, {strategy}, {races}");
        let std = |strategy| format!("selvedge, user code and std, {strategy}, {races}");
        for strategy in ["random", "dfs"] {
            ratio(entries, &user(strategy), &format!("shuttle 0.9.9, {strategy}"), 1.5);
            ratio(entries, &std(strategy), &format!("shuttle 0.9.9, {strategy}"), 1.0);
        }
        ratio(entries, &user("bound 3"), "loom 0.7.2, bound 3", 8.0);
    }
}

fn main() -> Result<(), Error> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(5), |text| text.parse())?;
    let places = Places::prepare()?;
    let mut entries = entries();
    // Builds what has to be built, before anything counts.
    for entry in &entries {
        places.measure(&entry.contender)?;
    }
    pin();
    for round in 1..=rounds.max(1) {
        eprintln!("round {round} of {}", rounds.max(1));
        for entry in &mut entries {
            entry.measured.push(places.measure(&entry.contender)?);
        }
    }
    print(&entries);
    Ok(())
}
