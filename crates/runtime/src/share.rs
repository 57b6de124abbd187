//! A search that several processes share.
//!
//! The process that began it hands out parts and counts what comes back ([`Ledger`]); each part is searched by a copy of this
//! process, made by the kernel's `fork`, which has the program, its variables and the stacks of its threads at the same addresses. The
//! copy has one kernel thread, and that is all that runs threads of the test are fibers on. Libc is not told of it: its own `fork` would take the
//! stacks of the sleeping threads, on which the fibers run, for stacks that are free.
//!
//! Invariant: a worker ends with its errand, or with the process that sent it.

use selvedge_driver::{Answer, CoverageRecord, Ended, Errand, Ledger, Phase, Settings, TestReport};
use selvedge_explore::{Bounded, Coverage, Dfs, Dpor, Part, Pct, Random, Strategy};

use crate::control::with;
use crate::memory::reset::Snapshot;
use crate::session::{Allowed, PCT_STEPS, Test, search};
use crate::{exchange, sys, watchdog};

/// For this part of a slice a search goes on alone: most are over by then.
pub const ALONE: f64 = 0.3;
/// How long to wait for workers before looking at them again, in milliseconds.
const PATIENCE: usize = 200;

/// A process that is on an errand.
struct Worker {
    id: u64,
    process: usize,
    pipe: usize,
    said: Vec<u8>,
}

/// Goes on with a search that was begun alone: `rest` is what is left of the phase that it was in.
pub fn explore(
    test: &Test,
    settings: &Settings,
    globals: &Snapshot,
    until: f64,
    mut report: TestReport,
    rest: Vec<Part>,
) -> TestReport {
    let (phase, cut) = with(|control| {
        report.history_texts = control.histories.seen().iter().cloned().collect();
        report.redundant += control.strategy.redundant();
        report.unfair += control.strategy.unfair();
        match control.strategy.so_far() {
            Some(Coverage::Preemptions(bound)) => {
                report.bound = Some(bound);
                (bound as usize + 1, control.strategy.cut())
            }
            _ => (0, control.strategy.cut()),
        }
    });
    let mut ledger = Ledger::new(settings, report, phase, rest, cut);
    let mut workers: Vec<Worker> = Vec::new();
    let mut lost = false;
    loop {
        let over = lost || sys::now() > until || exchange::stopped();
        while !over && workers.len() < settings.jobs as usize {
            let Some((id, errand)) = ledger.hand_out() else { break };
            match send(test, settings, globals, until, &errand) {
                Some((process, pipe)) => workers.push(Worker { id, process, pipe, said: Vec::new() }),
                None => {
                    lost = true;
                    break;
                }
            }
        }
        if workers.is_empty() {
            break;
        }
        for at in (0..workers.len()).rev() {
            if !ledger.expects(workers[at].id) {
                workers.swap_remove(at).dismiss();
            }
        }
        wait(&workers);
        for at in (0..workers.len()).rev() {
            if workers[at].listen() {
                let worker = workers.swap_remove(at);
                let answer = serde_json::from_slice::<Answer>(&worker.said);
                let id = worker.id;
                worker.dismiss();
                match answer {
                    Ok(answer) => ledger.answer(id, answer),
                    // It was ended by somebody else, for want of memory most likely.
                    Err(_) => lost = true,
                }
            }
        }
    }
    TestReport { worker_lost: lost, ..ledger.finish() }
}

/// Starts a worker; its process and the pipe that its answer comes through. `None` when the system has no more of either.
fn send(test: &Test, settings: &Settings, globals: &Snapshot, until: f64, errand: &Errand) -> Option<(usize, usize)> {
    let mut pipe = [0i32; 2];
    // SAFETY: the kernel writes two descriptors.
    if unsafe { sys::call(libc::SYS_pipe2, [&raw mut pipe as usize, libc::O_CLOEXEC as usize, 0, 0, 0, 0]) } < 0 {
        return None;
    }
    let [here, there] = pipe.map(|end| end as usize);
    crate::session::flush();
    // SAFETY: a copy of this process with the one thread that calls; see the module's documentation.
    let process = unsafe { sys::call(libc::SYS_clone, [libc::SIGCHLD as usize, 0, 0, 0, 0, 0]) };
    if process == 0 {
        let text = serde_json::to_vec(&work(test, settings, globals, until, errand)).unwrap_or_default();
        write(there, &text);
        sys::exit(0);
    }
    close(there);
    if process < 0 {
        close(here);
        return None;
    }
    Some((process as usize, here))
}

/// What a worker does.
fn work(test: &Test, settings: &Settings, globals: &Snapshot, until: f64, errand: &Errand) -> Answer {
    const PR_SET_PDEATHSIG: usize = 1;
    // SAFETY: asks for a signal when the parent ends.
    unsafe { sys::call(libc::SYS_prctl, [PR_SET_PDEATHSIG, libc::SIGKILL as usize, 0, 0, 0, 0]) };
    watchdog::watch_anew();
    let mut report = TestReport::new(&test.name);
    let began = sys::now();
    let Some(strategy) = strategy(settings, errand) else {
        return Answer::new(report, vec![], false, Ended::Diverged);
    };
    with(|control| {
        control.histories.forget();
        control.retries.enable(settings.retries && strategy.turns_races());
        control.strategy = strategy;
    });
    let allowed = Allowed { runs_max: errand.runs_max, until, share_at: began + settings.slice };
    let coverage = search(test, settings, globals, &allowed, &mut report);
    report.cpu_seconds = sys::cpu();
    with(|control| {
        report.redundant = control.strategy.redundant();
        report.unfair = control.strategy.unfair();
        report.history_texts = control.histories.seen().iter().cloned().collect();
        let (rest, ended) = match coverage {
            Some(Coverage::Partial) if report.unfair > 0 => (vec![], Ended::Early),
            Some(Coverage::Partial) => (vec![], Ended::Diverged),
            Some(_) => (vec![], Ended::Complete),
            None => (control.strategy.rest().unwrap_or_default(), Ended::Early),
        };
        report.coverage = coverage.map_or(CoverageRecord::Partial, CoverageRecord::from);
        Answer::new(report, rest, control.strategy.cut(), ended)
    })
}

fn strategy(settings: &Settings, errand: &Errand) -> Option<Box<dyn Strategy>> {
    let runs = || match errand.part {
        Some(Part::Runs { first, count }) => Some((first, count)),
        _ => None,
    };
    let part = errand.part.as_ref();
    Some(match errand.phase {
        Phase::Dfs => Box::new(Dfs::of_part(part?)?),
        Phase::Bounded(bound) => Box::new(Bounded::of_part(bound, part?)?),
        Phase::Dpor => Box::new(Dpor::new()),
        Phase::Random => {
            let (first, count) = runs()?;
            Box::new(Random::new(settings.seed, first, count))
        }
        Phase::Pct => {
            let (first, count) = runs()?;
            Box::new(Pct::new(settings.seed, first, count, settings.depth, PCT_STEPS))
        }
    })
}

impl Worker {
    /// Reads what it said; true when it has said everything.
    fn listen(&mut self) -> bool {
        let mut ready = libc::pollfd { fd: self.pipe as i32, events: libc::POLLIN, revents: 0 };
        let mut buffer = [0u8; 1 << 16];
        loop {
            // SAFETY: one description, borrowed for the call.
            let any = unsafe { sys::call(libc::SYS_poll, [&raw mut ready as usize, 1, 0, 0, 0, 0]) };
            if any <= 0 {
                return false;
            }
            let at = [self.pipe, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
            // SAFETY: the buffer is borrowed for the call.
            let count = unsafe { sys::call(libc::SYS_read, at) };
            match usize::try_from(count) {
                Ok(0) | Err(_) => return true,
                Ok(count) => self.said.extend_from_slice(&buffer[..count]),
            }
        }
    }

    /// Ends it, if it has not ended.
    fn dismiss(self) {
        close(self.pipe);
        // SAFETY: signals to, and waits for, a child of this process that was not waited for yet.
        unsafe {
            sys::call(libc::SYS_kill, [self.process, libc::SIGKILL as usize, 0, 0, 0, 0]);
            sys::call(libc::SYS_wait4, [self.process, 0, 0, 0, 0, 0]);
        }
    }
}

/// Waits until a worker has something to say, or for a moment.
fn wait(workers: &[Worker]) {
    let ready = |worker: &Worker| libc::pollfd { fd: worker.pipe as i32, events: libc::POLLIN, revents: 0 };
    let mut ready: Vec<libc::pollfd> = workers.iter().map(ready).collect();
    // SAFETY: the descriptions are borrowed for the call.
    unsafe { sys::call(libc::SYS_poll, [ready.as_mut_ptr() as usize, ready.len(), PATIENCE, 0, 0, 0]) };
}

fn close(descriptor: usize) {
    // SAFETY: a descriptor of ours that nobody uses any more.
    unsafe { sys::call(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0]) };
}

fn write(descriptor: usize, mut text: &[u8]) {
    while !text.is_empty() {
        // SAFETY: the bytes are borrowed for the call.
        let count = unsafe { sys::call(libc::SYS_write, [descriptor, text.as_ptr() as usize, text.len(), 0, 0, 0]) };
        match usize::try_from(count) {
            Ok(count) if count > 0 => text = &text[count..],
            _ => return,
        }
    }
}
