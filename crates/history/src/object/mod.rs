//! The objects built in: their sequential specifications, and how each reads the calls of a log.
//!
//! One file an object. An object is a [`Spec`] over [`Value`] results that also says which method names it takes and
//! which arguments and results fit them ([`Object`]). [`Kind`] is the closed list that the command line knows.
//! Invariant: [`Object::admits`] stands before [`Spec::step`]; a specification may take it that a result has the right
//! type, and where a log leaves a result out (nil) for a call that has one, every result fits. That is one
//! reason why objects write `step` and [`Spec::answers`] themselves, and put [`Spec::apply`] together from them; the other is
//! that the searches ask for states or for answers alone.

use std::fmt;

use crate::{Spec, Traffic, Value};

pub mod bag;
pub mod cas_register;
pub mod counter;
pub mod deque;
mod infer;
mod kind;
pub mod map;
mod method;
pub mod multi_register;
pub mod mutex;
mod permit;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod rwlock;
pub mod semaphore;
pub mod set;
pub mod stack;
#[cfg(test)]
mod tests;

pub use infer::Ambiguous;
pub use kind::{Kind, ObjectVisitor};
pub use method::Method;
pub(crate) use method::{canonical, find};

/// A built-in specification that can read the calls of a log.
pub trait Object: Spec<Output = Value> {
    /// The methods it has.
    fn methods(&self) -> &'static [Method];

    /// Reads a call. The error says what is wrong with the method or its argument. Upper and lower case, hyphens and
    /// underscores make no difference in a method's name.
    fn input(&self, method: &str, argument: &Value) -> Result<Self::Input, Misuse>;

    /// Checks that `output` is a result that the call can have at all (its type, not its truth).
    fn admits(&self, input: &Self::Input, output: &Value) -> Result<(), Misuse>;

    /// Whether a result may tell what the state was all along. Then a step without a result does not name every state after it: one that is known later may be another.
    fn is_told_by_results(&self) -> bool {
        false
    }
}

/// [`Spec::apply`] of an object that writes [`Spec::step`] and [`Spec::answers`]: every answer with the states it leads to.
fn applied<O: Object>(object: &O, state: &O::State, input: &O::Input, out: &mut Vec<(Value, O::State)>) {
    let (mut answers, mut next) = (Vec::new(), Vec::new());
    object.answers(state, input, &mut answers);
    for answer in answers {
        object.step(state, input, Some(&answer), &mut next);
        out.extend(next.drain(..).map(|after| (answer.clone(), after)));
    }
}

/// What an operation does that answers what it takes out, or nil.
fn taken(output: Option<&Value>) -> Traffic<&Value> {
    match output {
        None => Traffic::None,
        Some(Value::Nil) => Traffic::Nothing,
        Some(value) => Traffic::Out(value),
    }
}

/// What an operation does that answers what it looks at, or nil.
fn shown(output: Option<&Value>) -> Traffic<&Value> {
    match taken(output) {
        Traffic::Out(value) => Traffic::Seen(value),
        other => other,
    }
}

/// Why a call or a return does not fit an object.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The object has no such method; the ones it has.
    Method(&'static [Method]),
    /// The argument is not what the method takes.
    Argument {
        /// What the method takes, such as "a value" or "a list of two values".
        expected: &'static str,
        /// What it was given.
        found: Value,
    },
    /// The result is not what the method can return.
    Result {
        /// What the method returns.
        expected: &'static str,
        /// What was recorded.
        found: Value,
    },
    /// The initial value is not one that the object can have.
    Initial {
        /// What it can start with.
        expected: &'static str,
        /// What was stated.
        found: Value,
    },
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, expected, found) = match self {
            Misuse::Method(methods) => {
                f.write_str("the object has no such method; it has ")?;
                for (i, method) in methods.iter().enumerate() {
                    let separator = if i > 0 { ", " } else { "" };
                    write!(f, "{separator}{method}")?;
                }
                return Ok(());
            }
            Misuse::Argument { expected, found } => ("argument", expected, found),
            Misuse::Result { expected, found } => ("result", expected, found),
            Misuse::Initial { expected, found } => ("initial value", expected, found),
        };
        write!(f, "the {what} should be {expected}, not {}", found.kind())?;
        if found.is_nil() { Ok(()) } else { write!(f, " ({})", Excerpt(found)) }
    }
}

impl std::error::Error for Misuse {}

/// The beginning of a value: a line of an error message must stay one even for a text of a hundred megabytes.
struct Excerpt<'a>(&'a Value);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CHARS_MAX: usize = 60;
        let mut shown = Bounded { text: String::new(), left: CHARS_MAX };
        let cut = fmt::write(&mut shown, format_args!("{}", self.0)).is_err();
        f.write_str(&shown.text)?;
        if cut { f.write_str("...") } else { Ok(()) }
    }
}

/// Takes so many characters and then answers with an error, which stops whoever is writing.
struct Bounded {
    text: String,
    left: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}
