//! Runs work on a thread of its own and cuts it short when a limit is reached.
//!
//! Invariant: limits hold whether or not the work looks at its budget. The watchdog (the main thread) spends the
//! budget, waits a moment for the worker's own answer, which knows more, and then goes on without it.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use selvedge_history::{Budget, Limit};
use unicode_width::UnicodeWidthStr;

use crate::limits::Limits;
use crate::memory;
use crate::progress::Progress;
use crate::quantity::{show_size, show_time};
use crate::report::text;

/// How often the watchdog looks.
const TICK: Duration = Duration::from_millis(4);
/// How long a worker is usually given for its own answer.
pub const GRACE: Duration = Duration::from_millis(100);
/// The same when memory ran out: there is no hurry unless it grows further.
const GRACE_MEMORY: Duration = Duration::from_millis(500);
/// How long the system takes to reclaim memory when the process ends, as measured; half of it on a quiet machine.
const RECLAIM_PER_GIB: Duration = Duration::from_millis(125);
/// Room for values that nest deep; only what is used is ever touched.
const STACKS: [usize; 3] = [256 << 20, 32 << 20, 4 << 20];
/// When progress is first shown, and how often.
const QUIET: Duration = Duration::from_millis(700);
const REDRAW: Duration = Duration::from_millis(100);

/// How the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Done,
    /// It did not answer after a limit was reached.
    Cut(Limit),
    /// It panicked: our bug.
    Panicked,
}

/// Runs `work` under the limits. What it sends arrives at `each`, on the calling thread, in order.
pub fn run<T: Send + 'static>(
    limits: &Limits,
    progress: &Arc<Progress>,
    work: impl FnOnce(&Budget, &Progress, &Sender<T>) + Send + 'static,
    mut each: impl FnMut(T),
) -> Ended {
    let budget = Budget::new();
    spend_on_signal(&budget);
    let (sender, receiver) = mpsc::channel();
    let worker = {
        let (budget, progress) = (budget.clone(), Arc::clone(progress));
        spawn(move || work(&budget, &progress, &sender))
    };
    let mut watchdog = Watchdog::new(limits.clone(), budget);
    let mut ticker = Ticker::new(Arc::clone(progress), limits);
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(item) => {
                ticker.erase();
                each(item);
            }
            Err(RecvTimeoutError::Timeout) => ticker.tick(),
            Err(RecvTimeoutError::Disconnected) => {
                ticker.erase();
                return if worker.join().is_ok() { Ended::Done } else { Ended::Panicked };
            }
        }
        if let Some(limit) = watchdog.look() {
            ticker.erase();
            receiver.try_iter().for_each(each);
            return Ended::Cut(limit);
        }
    }
}

/// Spends the budget on Ctrl-C and on a polite request to terminate. Without a handler the process just dies, as
/// processes do, so a failure to install one is not worth more than a word.
fn spend_on_signal(budget: &Budget) {
    let budget = budget.clone();
    if let Err(error) = ctrlc::set_handler(move || budget.spend(Limit::Interrupted)) {
        eprintln!("warning: Ctrl-C will end selvedge without an answer: {error}");
    }
}

/// Starts the worker with the largest stack that the system grants.
fn spawn(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    // The work moves into the thread that does start, hence the cell it is taken from.
    let work = Arc::new(std::sync::Mutex::new(Some(work)));
    for stack in STACKS {
        let work = Arc::clone(&work);
        let run = move || {
            let work = work.lock().expect("nobody panics with it").take();
            work.expect("taken once")();
        };
        if let Ok(handle) = thread::Builder::new().name("worker".to_owned()).stack_size(stack).spawn(run) {
            return handle;
        }
    }
    panic!("the system grants no thread");
}

struct Watchdog {
    limits: Limits,
    budget: Budget,
    /// When the worker is given up.
    give_up: Option<Instant>,
}

impl Watchdog {
    fn new(limits: Limits, budget: Budget) -> Self {
        Watchdog { limits, budget, give_up: None }
    }

    /// The limit that was reached, once the worker has had its moment to answer.
    fn look(&mut self) -> Option<Limit> {
        let (now, used) = (Instant::now(), memory::used());
        let elapsed = now.duration_since(self.limits.started);
        if self.limits.time_max.is_some_and(|time| elapsed >= time.saturating_sub(head_start(time, used))) {
            self.budget.spend(Limit::Time);
        }
        if used > self.limits.memory_max {
            self.budget.spend(Limit::Memory);
        }
        let limit = self.budget.reached()?;
        let grace = if limit == Limit::Memory { GRACE_MEMORY } else { self.limits.grace };
        let give_up = *self.give_up.get_or_insert(now + grace);
        let grown = limit == Limit::Memory && used > self.limits.memory_max.saturating_add(self.limits.memory_max / 16);
        (now >= give_up || grown).then_some(limit)
    }
}

/// How long before the end of its time a check is stopped, so that the process is gone when the time is over: the worker's
/// moment to answer, and what the system needs to take the memory back.
fn head_start(time: Duration, used: u64) -> Duration {
    let gibibytes = used as f64 / f64::from(1 << 30);
    (GRACE + RECLAIM_PER_GIB.mul_f64(gibibytes)).min(time / 10)
}

/// The line on a terminal that says how far the work is. Silent in a pipe.
struct Ticker {
    progress: Arc<Progress>,
    time_max: Option<Duration>,
    started: Instant,
    next: Option<Instant>,
    shown: bool,
}

impl Ticker {
    fn new(progress: Arc<Progress>, limits: &Limits) -> Self {
        let seen = std::io::stderr().is_terminal() && !progress.is_quiet();
        let next = seen.then(|| limits.started + QUIET);
        Ticker { progress, time_max: limits.time_max, started: limits.started, next, shown: false }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = Some(now + REDRAW);
        self.shown = true;
        let line = text::truncate(&self.line(), text::WIDTH - 1);
        debug_assert!(line.width() < text::WIDTH);
        let mut err = std::io::stderr().lock();
        // The line is only for the eye: when it cannot be shown, nothing is lost.
        let _ = write!(err, "\r\x1b[K{line}").and_then(|()| err.flush());
    }

    fn line(&self) -> String {
        let elapsed = show_time(Duration::from_secs(self.started.elapsed().as_secs()));
        let limit = self.time_max.map_or(String::new(), |time| format!(" of {}", show_time(time)));
        let estimate = self.progress.estimate().map_or(String::new(), |estimate| format!(" ({estimate})"));
        let (file, doing) = (self.progress.file(), self.progress.describe());
        format!("{file}: {doing}{estimate}; {elapsed}{limit}, {}", show_size(memory::used()))
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.shown) {
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(time_max: Option<Duration>, memory_max: u64) -> Limits {
        Limits { started: Instant::now(), time_max, memory_max, grace: GRACE }
    }

    /// Runs the work and answers how it ended and what arrived.
    fn check(
        limits: &Limits,
        work: impl FnOnce(&Budget, &Progress, &Sender<u32>) + Send + 'static,
    ) -> (Ended, Vec<u32>) {
        let mut arrived = Vec::new();
        let ended = run(limits, &Arc::new(Progress::default()), work, |item| arrived.push(item));
        (ended, arrived)
    }

    #[test]
    fn what_is_sent_arrives_in_order() {
        let (ended, arrived) = check(&limits(None, u64::MAX), |_, _, results| {
            (0..1000).for_each(|i| results.send(i).unwrap());
        });
        assert_eq!(ended, Ended::Done);
        assert_eq!(arrived, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_is_our_bug_and_keeps_what_came_before() {
        let (ended, arrived) = check(&limits(None, u64::MAX), |_, _, results| {
            results.send(7).unwrap();
            panic!("on purpose, to see what happens");
        });
        assert_eq!((ended, arrived), (Ended::Panicked, vec![7]));
    }

    #[test]
    fn a_worker_that_does_not_look_is_cut() {
        let time = Some(Duration::from_millis(50));
        let (ended, arrived) = check(&limits(time, u64::MAX), |_, _, results| {
            results.send(7).unwrap();
            thread::sleep(Duration::from_secs(600));
        });
        assert_eq!((ended, arrived), (Ended::Cut(Limit::Time), vec![7]));
    }

    #[test]
    fn a_worker_that_looks_answers_by_itself() {
        for (limits, code) in [(limits(Some(Duration::from_millis(50)), u64::MAX), 1), (limits(None, 1 << 40), 2)] {
            let (ended, arrived) = check(&limits, move |budget, _, results| {
                while budget.reached().is_none() {
                    thread::yield_now();
                    if code == 2 {
                        // Somebody else, such as a signal, may spend it too.
                        budget.spend(Limit::Interrupted);
                    }
                }
                results.send(code).unwrap();
            });
            assert_eq!((ended, arrived), (Ended::Done, vec![code]));
        }
    }

    #[test]
    fn memory_beyond_its_limit_is_cut_at_once() {
        let (ended, _) = check(&limits(None, 1), |_, _, _| thread::sleep(Duration::from_secs(600)));
        assert_eq!(ended, Ended::Cut(Limit::Memory));
    }

    #[test]
    fn time_is_left_to_give_memory_back() {
        let minute = Duration::from_secs(60);
        assert_eq!(head_start(minute, 0), GRACE);
        assert_eq!(head_start(minute, 4 << 30), GRACE + 4 * RECLAIM_PER_GIB);
        assert_eq!(head_start(Duration::from_millis(500), 4 << 30), Duration::from_millis(50));
    }
}
