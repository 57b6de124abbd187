//! Copies of this process that do a part of the work and say what came of it.
//!
//! A copy is made by the kernel's `fork`, and has the program, its variables and the stacks of its threads at the same addresses. It
//! has one kernel thread, and that is all that runs: threads of the test are fibers on it. Libc is not told of it: its own `fork`
//! would take the stacks of the sleeping threads, on which the fibers run, for stacks that are free.
//!
//! Invariant: a worker ends with its errand, or with the process that sent it.

use crate::memory::kernel;
use crate::{sys, watchdog};

/// How long to wait for workers before looking at them again, in milliseconds.
const PATIENCE: usize = 200;

/// A process that is on an errand.
pub struct Worker {
    id: u64,
    process: usize,
    pipe: usize,
    said: Vec<u8>,
}

impl Worker {
    /// Starts a worker, which answers with what `work` makes. `None` when the system has no more processes or pipes.
    pub fn start(id: u64, work: impl FnOnce() -> Vec<u8>) -> Option<Self> {
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
            kernel::begin_anew();
            watchdog::watch_anew();
            write(there, &work());
            sys::exit(0);
        }
        close(there);
        if process < 0 {
            close(here);
            return None;
        }
        Some(Worker { id, process: process as usize, pipe: here, said: Vec::new() })
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

    /// Ends it, if it has not ended; what it said.
    pub fn dismiss(self) -> Vec<u8> {
        close(self.pipe);
        // SAFETY: signals to, and waits for, a child of this process that was not waited for yet.
        unsafe {
            sys::call(libc::SYS_kill, [self.process, libc::SIGKILL as usize, 0, 0, 0, 0]);
            sys::call(libc::SYS_wait4, [self.process, 0, 0, 0, 0, 0]);
        }
        self.said
    }
}

/// Waits until a worker has something to say, or for a moment.
pub fn wait(workers: &[Worker]) {
    let ready = |worker: &Worker| libc::pollfd { fd: worker.pipe as i32, events: libc::POLLIN, revents: 0 };
    let mut ready: Vec<libc::pollfd> = workers.iter().map(ready).collect();
    // SAFETY: the descriptions are borrowed for the call.
    unsafe { sys::call(libc::SYS_poll, [ready.as_mut_ptr() as usize, ready.len(), PATIENCE, 0, 0, 0]) };
}

fn end_with_parent() {
    const PR_SET_PDEATHSIG: usize = 1;
    // SAFETY: asks for a signal when the parent ends.
    unsafe { sys::call(libc::SYS_prctl, [PR_SET_PDEATHSIG, libc::SIGKILL as usize, 0, 0, 0, 0]) };
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
