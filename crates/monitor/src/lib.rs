//! Wrappers that check concurrent objects in process, while the program runs.
//!
//! ```
//! use selvedge_monitor::Queue;
//! use std::collections::VecDeque;
//! use std::sync::Mutex;
//!
//! let queue = Queue::wrap(Mutex::new(VecDeque::new()));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| (0..100).for_each(|i| queue.push(i)));
//!     scope.spawn(|| (0..100).for_each(|_| { queue.pop(); }));
//! });
//! assert_eq!(queue.report().violations(), []);
//! ```
//!
//! | wrapper | checks | how |
//! |---|---|---|
//! | [`Queue`] | FIFO order, duplicates, false empty answers at once; losses a little later | in the operations themselves: O(1), lock-free |
//! | [`CountedQueue`] | A_k: operation counting over the last k pasts | in the operations themselves: lock-free |
//! | [`Stack`] | LIFO order, duplicates, false empty answers | records, checked now and then |
//! | [`Register`] | reads | records |
//! | [`Lock`] | exclusion | records |
//!
//! *Records* are written to a buffer of the thread, without locks; every few hundred operations some thread takes all buffers and checks them in order. A
//! thread whose buffer is full waits for that: nothing is dropped. What is not checked is counted, and [`Verdict::Unknown`] says so.
//!
//! Invariant: a violation reported is one that linearizability has too. Memory does not depend on the number of operations.

mod c;
mod clock;
mod counted;
mod cubes;
#[cfg(test)]
mod draw;
mod insertions;
mod lock;
mod marks;
mod pasts;
mod queue;
mod raw;
mod record;
mod register;
mod report;
mod stack;
mod threads;
mod track;

pub use counted::CountedQueue;
pub use lock::{Guarded, Lock};
pub use queue::{Queue, Stamped};
pub use raw::{Exclusive, PushPop, ReadWrite};
pub use register::Register;
pub use report::{Report, Verdict, Violation};
pub use stack::Stack;

/// The examples of the manual.
#[cfg(doctest)]
#[doc = include_str!("../docs/monitor.md")]
struct Manual;
