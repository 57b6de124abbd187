//! The parts of libc that wait, or that answer differently each time.

pub mod attempt;
pub mod barrier;
pub mod c11;
pub mod condition;
pub mod descriptor;
pub mod exception;
pub mod futex;
pub mod future;
pub mod keys;
pub mod lifetime;
pub mod mutex;
pub mod objects;
pub mod once;
pub mod process;
pub mod real;
pub mod rwlock;
pub mod semaphore;
pub mod thread;
pub mod time;
pub mod uncontrolled;
