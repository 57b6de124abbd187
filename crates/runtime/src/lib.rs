//! The controlled runtime: a shared library that takes the place of the thread sanitizer's.
//!
//! Code compiled with `-fsanitize=thread` calls `__tsan_*` at every access, and libc for everything else. Here each
//! atomic access and each call that synchronises is a *step*: the thread stops before it, a strategy of
//! [`selvedge_explore`] decides who goes next, and the thread that was chosen goes on. Threads are fibers on one
//! kernel thread, so a switch costs nanoseconds and nothing ever runs at the same time. Between runs everything is put back.
//!
//! | module | is for |
//! |---|---|
//! | `control` | the state, and who goes next |
//! | `fiber` | threads, and going from one to another |
//! | `point`, `turn` | steps, and whose turn it is |
//! | `arch` | all that knows registers or machine code |
//! | `abi` | what compilers call |
//! | `posix` | what programs call |
//! | `memory` | the heap, and putting variables back |
//! | `race`, `shadow`, `published`, `spin`, `poll`, `retry` | data races, what is remembered for them, loops that wait, with or without a lock, and loops that try again |
//! | `plain_steps` | plain accesses that are steps |
//! | `endless` | runs that do not end, and when that is a livelock |
//! | `history` | calls and returns of operations |
//! | `assume` | choices and assumptions of tests |
//! | `spurious` | waits that end without a reason |
//! | `lineup` | objects: phase 1 and phase 2 of Line-Up, matrix after matrix |
//! | `freeze` | threads of the process that are part of no test |
//! | `session`, `finding`, `watchdog` | run after run, what they found, and what never ends |
//! | `debug` | stops where a replay fails |
//! | `apart`, `journal` | each search in a copy of the process, and what is known when that copy ends without an answer |
//! | `share`, `worker`, `exchange` | one search in several processes, and what all of them see |
//!
//! Invariant: nothing here knows how a strategy decides, and no strategy knows what a fiber is.

mod abi;
mod apart;
mod arch;
mod arguments;
mod assume;
mod clock;
mod control;
mod debug;
mod endless;
mod exchange;
mod fiber;
mod finding;
mod freeze;
mod heap;
mod history;
mod host;
mod journal;
mod leak;
mod lineup;
mod memory;
mod plain_steps;
mod point;
mod poll;
mod posix;
mod published;
mod race;
mod retry;
mod run;
mod session;
mod shadow;
mod share;
mod spin;
mod spurious;
mod sys;
mod turn;
mod units;
mod watchdog;
mod worker;
