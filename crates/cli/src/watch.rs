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
/// How long a worker is given for its own answer.
const GRACE: Duration = Duration::from_millis(100);
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
    /// When the budget is spent for time: a little early, so that the answer is there in time.
    time_up: Option<Instant>,
    /// When the worker is given up.
    give_up: Option<Instant>,
}

impl Watchdog {
    fn new(limits: Limits, budget: Budget) -> Self {
        let time_up = limits.time_max.and_then(|time| {
            let early = (time / 10).min(GRACE);
            limits.started.checked_add(time - early)
        });
        Watchdog { limits, budget, time_up, give_up: None }
    }

    /// The limit that was reached, once the worker has had its moment to answer.
    fn look(&mut self) -> Option<Limit> {
        let now = Instant::now();
        if self.time_up.is_some_and(|time_up| now >= time_up) {
            self.budget.spend(Limit::Time);
        }
        if memory::used() > self.limits.memory_max {
            self.budget.spend(Limit::Memory);
        }
        let limit = self.budget.reached()?;
        let give_up = *self.give_up.get_or_insert(now + GRACE);
        (now >= give_up).then_some(limit)
    }
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
        let next = std::io::stderr().is_terminal().then(|| limits.started + QUIET);
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
        let (file, doing) = (self.progress.known().file, self.progress.describe());
        format!("{file}: {doing}{estimate}; {elapsed}{limit}, {}", show_size(memory::used()))
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.shown) {
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
        }
    }
}
