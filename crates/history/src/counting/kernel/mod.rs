//! Any object with a regular or context-free kernel: from its grammar to a formula, and from the formula to an answer (theorem 6).
//!
//! ```
//! use selvedge_history::counting::kernel::{Decision, Formula, Grammar};
//! use selvedge_history::counting::Label;
//! use selvedge_history::Budget;
//!
//! let mutex = Grammar::parse(r#"
//!     Free = nothing | "acquire" Held
//!     Held = nothing | "release" Free
//! "#)?;
//! let formula = Formula::new(mutex, 1)?;
//! let acquire = formula.find(&Label::parse("acquire")?).unwrap();
//! let release = formula.find(&Label::parse("release")?).unwrap();
//! let mut counts = formula.no_counts();
//! // A hundred thousand of each, and one more acquisition than releases: any order of them will do.
//! for _ in 0..100_000 {
//!     counts.complete[acquire].increment(0, 0);
//!     counts.complete[release].increment(0, 0);
//! }
//! counts.complete[acquire].increment(1, 1);
//! assert_eq!(formula.decide(&counts, &Budget::new()), Ok(Decision::Satisfied));
//! // One more still: nobody can hold the mutex twice.
//! counts.complete[acquire].increment(0, 1);
//! assert!(matches!(formula.decide(&counts, &Budget::new()), Ok(Decision::Violated(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod builtin;
mod check;
mod formula;
mod grammar;
mod shape;
mod show;
mod slots;
#[cfg(test)]
mod tests;
mod walk;

pub(super) use check::{Counted, look, number};
pub use check::{KernelAnswer, KernelViolation, OPERATIONS_MAX, Shown, Unknown, check};
pub use formula::{Decision, Demand, Formula, K_MAX, KernelCounts, TooLarge};
pub use grammar::Grammar;
