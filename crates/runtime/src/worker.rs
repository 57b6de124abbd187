//! Copies of this process that do a part of the work and say what came of it.
//!
//! A copy is made by the kernel's `fork`, and has the program, its variables and the stacks of its threads at the same addresses. It
//! has one kernel thread, and that is all that runs: threads of the test are fibers on it. Libc is not told of it: its own `fork`
//! would take the stacks of the sleeping threads, on which the fibers run, for stacks that are free.
//!
//! What a worker says are lines: things that it has found on its way, and at its end the answer. What it does is in a journal besides, which is there
//! when it ends without an answer.
//!
//! Invariant: a worker ends with its errand, or with the process that sent it.

use std::sync::atomic::{AtomicUsize, Ordering};

use selvedge_protocol::Death;

use crate::journal::Journal;
use crate::memory::kernel;
use crate::{sys, watchdog};

/// How long to wait for workers before looking at them again, in milliseconds.
pub const PATIENCE: usize = 200;

/// What a line is about: its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The answer.
    Answer = b'A' as isize,
    /// A finding that the search goes on after, or that it is about to report.
    Finding = b'F' as isize,
    /// The plain accesses that are steps from now on.
    PlainSteps = b'P' as isize,
    /// What is known of an object so far.
    Object = b'O' as isize,
}

/// Where this process answers, where it is a worker.
static ANSWERS: AtomicUsize = AtomicUsize::new(0);

/// Says something to whoever sent this process, if anybody did.
pub fn say(line: Line, text: &str) {
    let pipe = ANSWERS.load(Ordering::Relaxed);
    if pipe != 0 {
        let mut bytes = Vec::with_capacity(text.len() + 2);
        bytes.push(line as u8);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
        write(pipe, &bytes);
    }
}

/// A process that is on an errand.
pub struct Worker {
    id: u64,
    process: usize,
    pipe: usize,
    said: Vec<u8>,
    journal: Journal,
}

/// A process that was on an errand.
pub struct Done {
    said: Vec<u8>,
    /// How it ended.
    pub death: Death,
    /// Its processor time.
    pub cpu_seconds: f64,
    /// What it was doing.
    pub journal: Journal,
}

impl Done {
    /// The lines of that kind, in order.
    pub fn lines(&self, line: Line) -> impl Iterator<Item = &[u8]> {
        // One that was cut short is none.
        let whole = self.said.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let lines = self.said[..whole].split(|&byte| byte == b'\n');
        lines
            .filter_map(move |text| text.split_first().filter(|(first, _)| **first == line as u8).map(|(_, rest)| rest))
    }

    /// The answer.
    pub fn answer(&self) -> Option<&[u8]> {
        self.lines(Line::Answer).last()
    }
}

impl Worker {
    /// Starts a worker, which answers with what `work` makes. `None` when the system has no more processes, pipes or memory.
    pub fn start(id: u64, work: impl FnOnce() -> String) -> Option<Self> {
        let journal = Journal::new()?;
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
            end_with_parent();
            close(here);
            let there = put_away(there);
            // Who sent the process that sent this one would wait for it, too.
            match ANSWERS.swap(there, Ordering::Relaxed) {
                0 => {}
                other => close(other),
            }
            journal.keep_here();
            kernel::begin_anew();
            watchdog::watch_anew();
            let answer = work();
            say(Line::Answer, &answer);
            sys::exit(0);
        }
        close(there);
        if process < 0 {
            close(here);
            return None;
        }
        Some(Worker { id, process: process as usize, pipe: here, said: Vec::new(), journal })
    }

    /// The number that it was started with.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Reads what it said; true when it has said everything.
    pub fn listen(&mut self) -> bool {
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

    /// What it is doing.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// How much memory it uses, in bytes.
    pub fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.process)).unwrap_or_default();
        let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
        pages.unwrap_or(0u64).saturating_mul(4096)
    }

    /// The system call that it waits in, if it is in one.
    pub fn system_call(&self) -> Option<i64> {
        let text = std::fs::read_to_string(format!("/proc/{}/syscall", self.process)).unwrap_or_default();
        text.split_whitespace().next().and_then(|word| word.parse().ok()).filter(|&call| call >= 0)
    }

    /// Whether its answer is there.
    pub fn has_answered(&self) -> bool {
        self.said.rsplit(|&byte| byte == b'\n').nth(1).is_some_and(|line| line.first() == Some(&(Line::Answer as u8)))
    }

    /// Whether it has ended, of itself or not. Waits for a moment: what it answers with may have been closed by code under test.
    pub fn has_ended(&self) -> bool {
        const P_PID: usize = 1;
        let options = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) as usize;
        // SAFETY: the kernel writes what it knows of a child of this process, which can still be waited for afterwards.
        unsafe {
            let mut about: libc::siginfo_t = std::mem::zeroed();
            sys::call(libc::SYS_waitid, [P_PID, self.process, &raw mut about as usize, options, 0, 0]);
            if about.si_pid() != 0 {
                return true;
            }
            let pause = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            sys::call(libc::SYS_nanosleep, [&raw const pause as usize, 0, 0, 0, 0, 0]);
            false
        }
    }

    /// Ends it, if it has not ended; what it said, and how it ended.
    pub fn dismiss(self) -> Done {
        close(self.pipe);
        let mut status: libc::c_int = 0;
        // SAFETY: numbers.
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: signals to, and waits for, a child of this process that was not waited for yet.
        unsafe {
            sys::call(libc::SYS_kill, [self.process, libc::SIGKILL as usize, 0, 0, 0, 0]);
            sys::call(libc::SYS_wait4, [self.process, &raw mut status as usize, 0, &raw mut used as usize, 0, 0]);
        }
        let death = match libc::WIFSIGNALED(status) {
            true => Death::Signal(libc::WTERMSIG(status)),
            false => Death::Exit(libc::WEXITSTATUS(status)),
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        let cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
        Done { said: self.said, death, cpu_seconds, journal: self.journal }
    }
}

/// Waits until a worker has something to say, or for a moment: so many milliseconds.
pub fn wait(workers: &[Worker], moment: usize) {
    let ready = |worker: &Worker| libc::pollfd { fd: worker.pipe as i32, events: libc::POLLIN, revents: 0 };
    let mut ready: Vec<libc::pollfd> = workers.iter().map(ready).collect();
    // SAFETY: the descriptions are borrowed for the call.
    unsafe { sys::call(libc::SYS_poll, [ready.as_mut_ptr() as usize, ready.len(), moment, 0, 0, 0]) };
}

fn end_with_parent() {
    const PR_SET_PDEATHSIG: usize = 1;
    // SAFETY: asks for a signal when the parent ends.
    unsafe { sys::call(libc::SYS_prctl, [PR_SET_PDEATHSIG, libc::SIGKILL as usize, 0, 0, 0, 0]) };
}

/// Gives a descriptor one of the highest numbers there are, so that code under test gets those that it would get without us.
fn put_away(descriptor: usize) -> usize {
    const SPARE: u64 = 32;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let (kind, place) = (libc::RLIMIT_NOFILE as usize, &raw mut limit as usize);
    // SAFETY: the kernel writes the limits.
    if unsafe { sys::call(libc::SYS_getrlimit, [kind, place, 0, 0, 0, 0]) } != 0 {
        return descriptor;
    }
    let least = limit.rlim_cur.min(1 << 10).saturating_sub(SPARE) as usize;
    let how = libc::F_DUPFD_CLOEXEC as usize;
    // SAFETY: a new number for a descriptor of ours.
    let high = unsafe { sys::call(libc::SYS_fcntl, [descriptor, how, least, 0, 0, 0]) };
    if high < 0 {
        return descriptor;
    }
    close(descriptor);
    high as usize
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
