//! Pipes, pairs of sockets, `eventfd`, `timerfd` and `epoll` between threads of the process.
//!
//! Reads wait, writes wake, and the orders are searched. Who reads bytes is ordered after the writes that put them there, who finds an end closed after the close; a write is ordered after
//! nothing that was read. Timeouts are choices.
//!
//! Invariant: no byte goes through the kernel. What cannot be followed ends the run by name.

mod count;
mod epoll;
mod message;
mod numbers;
mod open;
mod queue;
mod raw;
mod ready;
mod step;
mod table;
mod transfer;

use std::ffi::c_int;

pub use raw::system_call;
pub use table::{Awaits, Descriptors, shown};

use crate::control::{active, with};
use crate::sys;

/// Whether the number stands for something of ours, or has in this run, and code under control asks.
pub fn is_ours(number: c_int) -> bool {
    if !active() {
        return false;
    }
    let (known, now) = with(|control| {
        let table = &control.run.objects.descriptors;
        (table.knows(number), table.find(number).is_some())
    });
    // What was closed may be the number of a file by now.
    now || known && !is_open(number)
}

/// Whether the kernel knows the number.
fn is_open(number: c_int) -> bool {
    kernel(libc::SYS_fcntl, [number as usize, libc::F_GETFD as usize, 0, 0, 0, 0]).is_ok()
}

/// Asks the kernel.
fn kernel(number: i64, arguments: [usize; 6]) -> Result<i64, c_int> {
    // SAFETY: the caller's request, about descriptors and memory of its own.
    let made = unsafe { sys::call(number, arguments) } as i64;
    if (-4095..0).contains(&made) { Err(-made as c_int) } else { Ok(made) }
}

/// What libc answers, with `errno`.
fn answer(made: Result<i64, c_int>) -> i64 {
    made.unwrap_or_else(|error| {
        // SAFETY: the current thread's `errno`.
        unsafe { *libc::__errno_location() = error };
        -1
    })
}
