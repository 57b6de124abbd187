//! A million operations decided, against what only reading them costs, measured in turns in one run.
//!
//! `cargo bench -p selvedge-history --bench million` prints, per object, number of processes and verdict: the time to
//! read and parse the file from memory, the time to read, parse and decide it, and the ratio. The least of several rounds
//! is taken, since machines are shared. Then the real histories that the search decides, if they are there, the slowest
//! first.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selvedge_history::check::check;
use selvedge_history::generate::{self, Settings};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Log, format};

const OPERATIONS: u64 = 1_000_000;
const ROUNDS: usize = 5;

fn read(bytes: &[u8]) -> Log {
    let mut input = bytes;
    format::read(&mut input, None, &Budget::new()).expect("a generated history is well-formed").1
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn million(kind: Kind, processes: u32, violation: bool) {
    let settings = Settings { object: kind, operations: OPERATIONS, processes, seed: 1, violation };
    let mut bytes = Vec::new();
    generate::write(&settings, &mut bytes).expect("memory takes every write");
    let (mut reading, mut deciding) = (Duration::MAX, Duration::MAX);
    let mut algorithm = "";
    for _ in 0..ROUNDS {
        reading = reading.min(timed(|| read(&bytes)).0);
        let (time, answer) = timed(|| check(&read(&bytes), kind, None, &Budget::new()).expect("it fits"));
        deciding = deciding.min(time);
        assert_eq!(answer.verdict.name(), if violation { "fail" } else { "pass" });
        algorithm = answer.algorithms[0].name();
    }
    println!(
        "{:20} {processes:>2} processes {:4}  read {:>6.0} ms ({:.1} M events/s)  decided {:>6.0} ms  ratio {:.2}  {algorithm}",
        kind.name(),
        if violation { "fail" } else { "pass" },
        reading.as_secs_f64() * 1e3,
        2.0 * OPERATIONS as f64 / reading.as_secs_f64() / 1e6,
        deciding.as_secs_f64() * 1e3,
        deciding.as_secs_f64() / reading.as_secs_f64(),
    );
}

/// Every file below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, found),
            path => found.push(path),
        }
    }
}

fn real_histories(folder: &Path) {
    let mut paths = Vec::new();
    files(folder, &mut paths);
    let mut decided = Vec::new();
    for path in paths {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Ok((_, log)) = format::read(&mut &bytes[..], None, &Budget::new()) else { continue };
        let Ok(kind) = Kind::infer(&log) else { continue };
        let mut least = Duration::MAX;
        let mut states = 0;
        for _ in 0..ROUNDS {
            let (time, answer) = timed(|| check(&log, kind, None, &Budget::new()).expect("it fits"));
            (least, states) = (least.min(time), answer.states);
        }
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        decided.push((least, name, states));
    }
    decided.sort();
    println!(
        "{} real histories decided in {:?}, the slowest:",
        decided.len(),
        decided.iter().map(|d| d.0).sum::<Duration>()
    );
    for (time, name, states) in decided.iter().rev().take(5) {
        println!("  {:>7.3} ms  {states:>6} configurations  {name}", time.as_secs_f64() * 1e3);
    }
}

fn main() {
    for kind in [Kind::Queue, Kind::Stack, Kind::PriorityQueue, Kind::Set, Kind::Register] {
        for processes in [4, 16] {
            for violation in [false, true] {
                million(kind, processes, violation);
            }
        }
    }
    if let Some(folder) = std::env::var_os("SELVEDGE_REAL_HISTORIES") {
        real_histories(Path::new(&folder));
    }
}
