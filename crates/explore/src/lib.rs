//! Which thread goes next: the strategies that search the schedules of a controlled program.
//!
//! A *machine* (the controlled runtime, or a small interpreter in a test) runs a program one *step* at a time. Before
//! each step it shows a [`ChoicePoint`] to a [`Strategy`]: what every thread would do next. The strategy answers with a
//! [`Decision`]. After the run it sees the whole [`Trace`] and prepares the next one.
//!
//! This crate is pure: no threads, no clocks, no operating system, no `unsafe` code. Everything that a strategy decides is
//! a function of its settings and of what the machine showed it, so the same decisions come again when a run is repeated.

mod access;
mod class;
mod fair;
mod part;
mod point;
mod rng;
mod strategy;
mod threads;
mod trace;

pub mod dpor;

pub use access::{Access, Condition, HISTORY, Kind, Thread, Vain, dependent};
pub use class::{Classes, Look};
pub use dpor::Dpor;
pub use fair::Fairness;
pub use part::Part;
pub use point::{ChoicePoint, Coverage, Decision, End, Pending, Readiness, Run, Stop, Strategy};
pub use rng::Rng;
pub use strategy::bounded::Bounded;
pub use strategy::dfs::Dfs;
pub use strategy::pct::Pct;
pub use strategy::random::Random;
pub use strategy::replay::Replay;
pub use strategy::serial::Serial;
pub use threads::Threads;
pub use trace::{Choice, Pick, Step, Trace};
