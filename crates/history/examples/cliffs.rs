//! Where it becomes slow to decide a log: each object by length, processes and pending operations, as a table.
//!
//! ```text
//! cargo run --release -p selvedge-history --example cliffs -- 1000000
//! ```
//!
//! The argument is the greatest number of operations (100,000 if there is none). Values are distinct; the histories are right. Each
//! cell is the time that it took to decide the history, as a multiple of the time that it took to read it (the best of
//! [`ROUNDS`] each), or *unknown* after [`TIME_MAX`]. What `selvedge generate` makes loses the returns of some operations, evenly spread.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use selvedge_history::check::check;
use selvedge_history::format::read;
use selvedge_history::generate::{self, Settings};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Limit, Log, Verdict};

/// The time for one history.
const TIME_MAX: Duration = Duration::from_secs(10);

/// How often what takes less than a second is measured.
const ROUNDS: usize = 3;

const KINDS: [Kind; 9] = [
    Kind::Queue,
    Kind::Stack,
    Kind::PriorityQueue,
    Kind::Bag,
    Kind::Set,
    Kind::Register,
    Kind::Map,
    Kind::CasRegister,
    Kind::Deque,
];

fn main() {
    let most: u64 = std::env::args().nth(1).map_or(100_000, |number| number.parse().expect("a number of operations"));
    let lengths: Vec<u64> = [100, 1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|&n| n <= most).collect();
    let heads: Vec<String> = lengths.iter().map(u64::to_string).collect();
    println!("| object | processes | pending | {} |", heads.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(lengths.len()));
    for kind in KINDS {
        for processes in [4, 16] {
            for pending in ["0", "1", "10", "1 %"] {
                let cells = lengths.iter().map(|&operations| {
                    let lost = match pending {
                        "1 %" => operations / 100,
                        number => number.parse().expect("a number"),
                    };
                    cell(kind, processes, operations, lost)
                });
                let cells: Vec<String> = cells.collect();
                println!("| {kind} | {processes} | {pending} | {} |", cells.join(" | "));
            }
        }
    }
}

/// The time for deciding in multiples of that for reading, and in milliseconds.
fn cell(kind: Kind, processes: u32, operations: u64, lost: u64) -> String {
    let settings = Settings { object: kind, operations, processes, seed: 7, violation: false };
    let mut written = Vec::new();
    generate::write(&settings, &mut written).expect("a vector takes all bytes");
    let text = without_returns(&written, operations, lost);
    let (mut reading, mut deciding) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let (_, log) = read(&mut &text[..], None, &Budget::new()).expect("a history");
        reading = reading.min(started.elapsed());
        assert_eq!(log.history.pending() as u64, lost, "{kind}");
        let Some(time) = decide(&log, kind) else { return "*unknown*".to_owned() };
        deciding = deciding.min(time);
        if time > Duration::from_secs(1) {
            break;
        }
    }
    format!("{:.1} ({:.1} ms)", deciding.as_secs_f64() / reading.as_secs_f64(), deciding.as_secs_f64() * 1e3)
}

/// The time for deciding a history that is right; `None` after [`TIME_MAX`].
fn decide(log: &Log, kind: Kind) -> Option<Duration> {
    let budget = Budget::new();
    let timer = budget.clone();
    let (finished, waiting) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if waiting.recv_timeout(TIME_MAX) == Err(RecvTimeoutError::Timeout) {
            timer.spend(Limit::Time);
        }
    });
    let started = Instant::now();
    let verdict = check(log, kind, None, &budget).expect("the log fits the object").verdict;
    let time = started.elapsed();
    drop(finished);
    watch.join().expect("the timer");
    match verdict {
        Verdict::Pass(_) => Some(time),
        Verdict::Fail(failure) => panic!("{kind}: a right history has a violation: {failure:?}"),
        Verdict::Unknown(_) => None,
    }
}

/// The history with the returns of so many operations lost, at equal distances.
fn without_returns(written: &[u8], operations: u64, lost: u64) -> Vec<u8> {
    let mut text = Vec::with_capacity(written.len());
    let (mut returns, mut next) = (0, 0);
    for line in written.split_inclusive(|&byte| byte == b'\n') {
        if line.starts_with(b"{\"end\"") {
            continue;
        }
        if line.starts_with(b"{\"return\"") {
            returns += 1;
            if next < lost && returns > (2 * next + 1) * operations / (2 * lost) {
                next += 1;
                let at = line.windows(9).position(|part| part == b"\"thread\":").expect("a thread");
                text.extend_from_slice(b"{\"unknown\":true,");
                text.extend_from_slice(&line[at..]);
                continue;
            }
        }
        text.extend_from_slice(line);
    }
    text
}
