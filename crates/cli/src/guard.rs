//! Ends the program under test when it should not go on: at Ctrl-C, and when it does not keep its time by itself.
//!
//! At Ctrl-C the search is asked to stop, and reports what it has; a program that does not answer is ended. Invariant: whatever runs under
//! guard has ended when the guard answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use selvedge_driver::Watch;
use selvedge_history::{Budget, Limit};

/// How often the guard looks: well within the moment that a worker has for its answer.
const TICK: Duration = Duration::from_millis(10);
/// How much longer than its time a program may take: it keeps its time itself, and shows what an object did wrong after it.
const OVERDUE: Duration = Duration::from_secs(12);
/// How long a program may take to report once it was asked to stop.
pub const MOMENT: Duration = Duration::from_millis(1500);

/// What a program may take.
pub struct Guard<'a> {
    /// How long, if that is limited.
    pub time_max: Option<f64>,
    /// How much longer.
    pub overdue: Duration,
    /// Tells of Ctrl-C.
    pub budget: &'a Budget,
    /// The search of the program.
    pub watch: &'a Watch,
}

impl<'a> Guard<'a> {
    /// A guard that is as patient as they usually are.
    pub fn new(time_max: Option<f64>, budget: &'a Budget, watch: &'a Watch) -> Self {
        Guard { time_max, overdue: OVERDUE, budget, watch }
    }

    /// Runs the work, which starts a process and waits for it. Answers what it answered, and whether the process was ended here. Tells now
    /// and then how many runs were made.
    pub fn run<T>(&self, work: impl FnOnce() -> T, tell: impl Fn(u64) + Send) -> (T, bool) {
        let time_max = self.time_max.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let end = time_max.and_then(|time| Instant::now().checked_add(time)?.checked_add(self.overdue));
        let (done, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let answer = thread::scope(|scope| {
            let (done, ended) = (&done, &ended);
            let watch = scope.spawn(move || {
                let mut patience: Option<Instant> = None;
                while !done.load(Ordering::Acquire) {
                    let now = Instant::now();
                    if self.budget.reached() == Some(Limit::Interrupted) {
                        self.watch.stop();
                        patience.get_or_insert(now + MOMENT);
                    }
                    if end.is_some_and(|end| now >= end) || patience.is_some_and(|patience| now >= patience) {
                        ended.store(true, Ordering::Release);
                        self.watch.process().into_iter().for_each(end_group);
                    }
                    tell(self.watch.runs());
                    thread::park_timeout(TICK);
                }
                tell(self.watch.runs());
            });
            let answer = work();
            done.store(true, Ordering::Release);
            watch.thread().unpark();
            answer
        });
        (answer, ended.load(Ordering::Acquire))
    }
}

/// Ends a program and its workers.
pub fn end_group(process: u32) {
    // One that has ended by itself needs no more.
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(process, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use selvedge_driver::{Program, RunError, run_watched};
    use selvedge_protocol::Settings;

    use super::*;

    #[test]
    fn what_keeps_its_time_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let (watch, budget) = (Watch::new(directory.path()).unwrap(), Budget::new());
        for time_max in [Some(60.0), Some(f64::MAX), None] {
            let (answer, ended) = Guard::new(time_max, &budget, &watch).run(|| 7, |_| {});
            assert_eq!((answer, ended), (7, false));
        }
    }

    /// A program that knows nothing of time or of being asked to stop: a shell that sleeps, with another process below it.
    fn sleeps(time_max: Option<f64>, budget: &Budget) {
        let directory = tempfile::tempdir().unwrap();
        let watch = Watch::new(directory.path()).unwrap();
        let program = Program {
            path: "/bin/sh".into(),
            arguments: vec!["-c".into(), "sleep 600; true".into()],
            identity: String::new(),
        };
        let guard = Guard { overdue: Duration::from_millis(100), ..Guard::new(time_max, budget, &watch) };
        let began = Instant::now();
        let (answer, ended) = guard
            .run(|| run_watched(&program, &Settings::default(), directory.path(), &watch), |runs| assert_eq!(runs, 0));
        assert!(matches!(answer, Err(RunError::NoReport { .. })), "{answer:?}");
        assert!(ended && began.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn what_is_overdue_is_ended() {
        sleeps(Some(0.2), &Budget::new());
    }

    #[test]
    fn what_does_not_stop_when_asked_is_ended() {
        let budget = Budget::new();
        budget.spend(Limit::Interrupted);
        sleeps(None, &budget);
    }
}
