//! Violations as they happen: rules that take one call or return at a time, for days, in bounded memory.
//!
//! | module | objects | misses |
//! |---|---|---|
//! | [`collection`] | queues, stacks, priority queues, bags; values distinct | nothing |
//! | [`register`] | registers; values distinct | nothing |
//! | [`frontier`] | all others: every way in which the operations may have taken effect | nothing, until there are too many ways |
//! | [`counters`] | queues: A_k, the last k pasts only | what is further apart |
//! | [`permits`] | mutexes and semaphores, however many threads wait | refusals |
//! | [`Merge`] | events of several writers, put in order | |
//! | [`Monitor`] | any of them, events by thread, object and key | |
//!
//! Invariant: a violation reported is one that linearizability has too, whatever comes later. What is not checked is counted, and a
//! monitor that did not check everything answers *unknown*. `docs/monitor.md` says what is reported when.
//!
//! ```
//! use selvedge_history::monitor::{Called, Monitor, Settings};
//! use selvedge_history::object::Kind;
//! use selvedge_history::{Outcome, Value};
//!
//! let mut monitor = Monitor::new(Kind::Queue, Settings::default())?;
//! let thread = Value::Int(0);
//! for (method, argument, result) in [
//!     ("enq", Value::Int(1), Value::Nil),
//!     ("enq", Value::Int(2), Value::Nil),
//!     ("deq", Value::Nil, Value::Int(2)),
//! ] {
//!     monitor.call(&thread, Called { method, argument, ..Called::default() }).unwrap();
//!     monitor.outcome(&thread, Outcome::Return(result)).unwrap();
//! }
//! let violations: Vec<String> = monitor.found().map(|violation| violation.to_string()).collect();
//! assert_eq!(violations.len(), 1);
//! assert!(violations[0].starts_with("overtaken: a value that came later left earlier, or this one is lost"));
//! # Ok::<(), selvedge_history::object::Misuse>(())
//! ```

mod alarm;
pub mod collection;
pub mod counters;
mod doubt;
pub mod frontier;
mod merge;
mod part;
pub mod permits;
pub mod register;
mod stream;

pub use alarm::{Alarm, Did, Rule, Shown, Span};
pub use doubt::Doubt;
pub use merge::{Merge, Next, Pushed};
pub use stream::{Called, Counts, Missed, Monitor, Refused, Settings, ShownOperation, Violation};
