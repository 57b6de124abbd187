//! Ends the program under test when it should not go on: at Ctrl-C, and when it does not keep its time by itself.
//!
//! Ctrl-C in a terminal reaches the program too, but a signal to this process alone does not, and the program would run on after it.
//! Invariant: whatever runs under guard has ended when the guard answers.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use selvedge_history::{Budget, Limit};

/// How often the guard looks: well within the moment that a worker has for its answer.
const TICK: Duration = Duration::from_millis(10);
/// How much longer than its time a program may take: it looks at the clock between runs only.
const GRACE: Duration = Duration::from_secs(10);

/// Runs the work, which starts a process and waits for it. Answers what it answered, and whether the process was ended here.
pub fn run<T>(time_max: Option<f64>, budget: &Budget, work: impl FnOnce() -> T) -> (T, bool) {
    let time_max = time_max.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let end = time_max.and_then(|time| Instant::now().checked_add(time + GRACE));
    let (done, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let answer = thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                let overdue = end.is_some_and(|end| Instant::now() >= end);
                if overdue || budget.reached() == Some(Limit::Interrupted) {
                    ended.store(true, Ordering::Release);
                    end_children();
                }
                thread::park_timeout(TICK);
            }
        });
        let answer = work();
        done.store(true, Ordering::Release);
        watch.thread().unpark();
        answer
    });
    (answer, ended.load(Ordering::Acquire))
}

/// Ends every process that this one has started. Where the system does not tell which they are, they go on until their
/// own time is over.
fn end_children() {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join(Path::new("children"))).ok());
    let children: Vec<String> =
        children.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    if !children.is_empty() {
        // The shell's own: there is no safe way to send a signal by number from here.
        let kill = format!("kill -KILL {}", children.join(" "));
        let _ = Command::new("sh")
            .args(["-c", &kill])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_its_time_is_left_alone() {
        let (answer, ended) = run(Some(60.0), &Budget::new(), || 7);
        assert_eq!((answer, ended), (7, false));
        let (answer, ended) = run(Some(f64::MAX), &Budget::new(), || 7);
        assert_eq!((answer, ended), (7, false));
    }
}
