//! What the worker is doing, as others may see it: the watchdog that may have to cut it short, and the person who waits.
//!
//! Invariant: whoever looks never stops the worker. Counters are relaxed atomics; the rest is behind a lock that is
//! held only to copy a few words.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use selvedge_history::{Budget, SoFar};

use crate::quantity;

/// What the worker does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing yet.
    #[default]
    Waiting,
    /// Reads a file.
    Reading,
    /// Decides a history.
    Checking,
    /// Checks the claims of a model.
    Proving,
    /// Checks a certificate.
    Verifying,
    /// Runs the compiler.
    Compiling,
    /// Runs a test, schedule after schedule.
    Testing,
    /// Writes down what was found.
    Writing,
}

/// What is known about the file at work.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What is being done.
    pub phase: Phase,
    /// The file's name.
    pub file: String,
    /// Which one it is, counted from 1.
    pub number: usize,
    /// The file's length in bytes.
    pub length: Option<u64>,
    /// The format, once recognised.
    pub format: Option<&'static str>,
    /// The object, once known.
    pub object: Option<&'static str>,
    /// The operations read, once all are.
    pub operations: u64,
    /// Those that never returned.
    pub pending: u64,
    /// When the file was begun.
    pub begun: Option<Instant>,
    /// Which claim of a model is being checked, and how many there are.
    claim: (u64, u64),
    tests: Tests,
    /// Where the check notes how far it has come.
    budget: Budget,
}

impl Known {
    /// How far the check has come.
    pub fn so_far(&self) -> SoFar {
        self.budget.so_far()
    }
}

/// ", 3 parts of 10 passed, 1,024 states seen, longest order 17 operations": what there is to say of it.
fn so_far(so_far: SoFar) -> String {
    let mut text = String::new();
    if so_far.parts > 1 {
        text += &format!(
            ", {} of {} passed",
            quantity::counted(so_far.parts_passed, "part"),
            quantity::count(so_far.parts)
        );
    }
    if so_far.states > 0 {
        text += &format!(", {} seen", quantity::counted(so_far.states, "state"));
        text += &format!(", longest order {}", quantity::counted(so_far.longest, "operation"));
    }
    text
}

/// The state shared between the worker and the watchdog.
#[derive(Debug, Default)]
pub struct Progress {
    /// How many files there are.
    files: usize,
    known: Mutex<Known>,
    bytes: AtomicU64,
    lines: AtomicU64,
    runs: AtomicU64,
    /// Whether nobody wants to see it.
    quiet: AtomicBool,
}

/// The tests of a program that are run under one schedule after another.
#[derive(Clone, Debug, Default)]
struct Tests {
    count: usize,
    done: usize,
    /// How many runs there are in all, where that is known.
    runs: Option<u64>,
    /// How long one may take.
    time_max: Option<Duration>,
}

impl Progress {
    /// So many tests are run, each in the way of these settings.
    pub fn test(&self, settings: &selvedge_protocol::Settings, count: usize) {
        let mut known = self.lock();
        known.phase = Phase::Testing;
        known.begun = Some(Instant::now());
        let runs = Some(settings.runs_max).filter(|&runs| runs != u64::MAX).map(|runs| runs * count as u64);
        let time_max = settings.time_max.and_then(|time| Duration::try_from_secs_f64(time).ok());
        known.tests = Tests { count, done: 0, runs, time_max };
    }

    /// So many more runs were made.
    pub fn ran(&self, runs: u64) {
        self.runs.fetch_add(runs, Ordering::Relaxed);
    }

    /// One more test is done.
    pub fn tested(&self) {
        self.lock().tests.done += 1;
    }

    fn testing(&self, tests: &Tests) -> String {
        let runs = quantity::counted(self.runs.load(Ordering::Relaxed), "run");
        match tests.count {
            1 => runs,
            count => format!(
                "{} of {} done, {runs}",
                quantity::count(tests.done as u64),
                quantity::counted(count as u64, "test")
            ),
        }
    }

    /// How fast runs are made, and how long it may take at most: a search does not know how many runs it needs, unless they were counted
    /// before or its time is limited.
    fn testing_estimate(&self, known: &Known) -> Option<String> {
        let elapsed = known.begun?.elapsed();
        let runs = self.runs.load(Ordering::Relaxed);
        let rate = runs as f64 / elapsed.as_secs_f64().max(1e-3);
        let mut text = format!("{} runs/s", quantity::count(rate as u64));
        let by_runs = known.tests.runs.filter(|_| runs > 0).map(|all| {
            let left = all.saturating_sub(runs) as f64 / rate.max(1e-9);
            (100.0 * runs as f64 / all.max(1) as f64, left)
        });
        if let Some((percent, left)) = by_runs {
            let left = Duration::from_secs(left.clamp(0.0, 1e9) as u64);
            text = format!("{percent:.0} %, {text}, about {} left", quantity::show_time(left));
        } else if let (1, Some(time)) = (known.tests.count, known.tests.time_max) {
            let left = Duration::from_secs(time.saturating_sub(elapsed).as_secs());
            text += &format!(", at most {} left", quantity::show_time(left));
        }
        Some(text)
    }

    /// Nothing is begun yet of so many files.
    pub fn new(files: usize) -> Self {
        Progress { files, ..Progress::default() }
    }

    /// Whether nobody wants to see it.
    pub fn quiet(&self, quiet: bool) {
        self.quiet.store(quiet, Ordering::Relaxed);
    }

    /// The same, asked.
    pub fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::Relaxed)
    }

    /// A file is begun, the first one with number 1.
    pub fn begin(&self, number: usize, file: &str) {
        self.bytes.store(0, Ordering::Relaxed);
        self.lines.store(0, Ordering::Relaxed);
        *self.lock() = Known { file: file.to_owned(), number, begun: Some(Instant::now()), ..Known::default() };
    }

    /// The file at work, with its number where there are several: "queue.jsonl", "[3/52] queue.jsonl".
    pub fn file(&self) -> String {
        let known = self.known();
        if self.files > 1 { format!("[{}/{}] {}", known.number, self.files, known.file) } else { known.file }
    }

    /// The file was opened; its length, if it has one.
    pub fn reading(&self, length: Option<u64>) {
        let mut known = self.lock();
        known.phase = Phase::Reading;
        known.length = length;
    }

    /// Some of the file was consumed.
    pub fn consumed(&self, bytes: &[u8]) {
        let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.lines.fetch_add(lines, Ordering::Relaxed);
    }

    /// The file was read.
    pub fn read(&self, format: &'static str, operations: usize, pending: usize) {
        let mut known = self.lock();
        known.format = Some(format);
        known.operations = operations as u64;
        known.pending = pending as u64;
    }

    /// The history is checked as this object; the check notes in the budget how far it has come.
    pub fn checking(&self, object: &'static str, budget: &Budget) {
        let mut known = self.lock();
        known.phase = Phase::Checking;
        known.budget = budget.clone();
        known.object = Some(object);
    }

    /// Claim number `claim` of `claims` is checked.
    pub fn proving(&self, claim: usize, claims: usize) {
        let mut known = self.lock();
        known.phase = Phase::Proving;
        known.claim = (claim as u64, claims as u64);
    }

    /// Something else is done.
    pub fn enter(&self, phase: Phase) {
        self.lock().phase = phase;
    }

    /// Everything that is known now.
    pub fn known(&self) -> Known {
        self.lock().clone()
    }

    /// Lines consumed.
    pub fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Bytes consumed.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// A worker that panicked with the lock held left nothing half-written that matters here.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is being done, in a few words: for the line on a terminal and for what is said when it is cut short.
    pub fn describe(&self) -> String {
        let known = self.known();
        let count = quantity::count;
        match known.phase {
            Phase::Waiting => "not begun".to_owned(),
            Phase::Reading => format!("reading, {}", quantity::counted(self.lines(), "line")),
            Phase::Checking => {
                let object = known.object.unwrap_or("an object");
                format!("checking {} operations as {object}{}", count(known.operations), so_far(known.so_far()))
            }
            Phase::Proving => match known.claim {
                (0, _) => "reading the model".to_owned(),
                (claim, claims) => format!("checking assertion {} of {}", count(claim), count(claims)),
            },
            Phase::Verifying => format!("verifying the certificate of {} operations", count(known.operations)),
            Phase::Compiling => "compiling".to_owned(),
            Phase::Testing => self.testing(&known.tests),
            Phase::Writing => "writing".to_owned(),
        }
    }

    /// How far reading has come: the part done, the rate, and how long the rest may take.
    pub fn estimate(&self) -> Option<String> {
        let known = self.known();
        if known.phase == Phase::Testing {
            return self.testing_estimate(&known);
        }
        let (Phase::Reading, Some(length), Some(begun)) = (known.phase, known.length, known.begun) else { return None };
        let (done, elapsed) = (self.bytes() as f64, begun.elapsed().as_secs_f64());
        if done <= 0.0 || elapsed <= 0.0 {
            return None;
        }
        let part = (done / length.max(1) as f64).min(1.0);
        let left = Duration::from_secs_f64((elapsed / part - elapsed).clamp(0.0, 1e9));
        let rate = quantity::show_size((done / elapsed) as u64);
        Some(format!("{:.0} %, {rate}/s, about {} left", part * 100.0, quantity::show_time(left)))
    }
}

#[cfg(test)]
mod tests {
    use selvedge_protocol::Settings;

    use super::*;

    #[test]
    fn models_tell_which_claim_is_checked() {
        let progress = Progress::new(1);
        progress.enter(Phase::Proving);
        assert_eq!(progress.describe(), "reading the model");
        progress.proving(2, 5);
        assert_eq!(progress.describe(), "checking assertion 2 of 5");
    }

    #[test]
    fn tests_tell_rate_and_estimate() {
        let progress = Progress::new(1);
        progress.test(&Settings { runs_max: 100, ..Settings::default() }, 2);
        progress.ran(50);
        progress.tested();
        assert_eq!(progress.describe(), "1 of 2 tests done, 50 runs");
        let estimate = progress.estimate().unwrap();
        assert!(estimate.starts_with("25 %, ") && estimate.contains(" runs/s, about "), "{estimate}");
        progress.test(&Settings { time_max: Some(60.0), ..Settings::default() }, 1);
        assert_eq!(progress.describe(), "50 runs");
        let estimate = progress.estimate().unwrap();
        assert!(estimate.contains(" runs/s, at most 59 s left"), "{estimate}");
        progress.test(&Settings::default(), 1);
        assert!(progress.estimate().unwrap().ends_with(" runs/s"));
    }
}
