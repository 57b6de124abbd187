//! Methods by name, and the checks of arguments and results that all objects share.
//!
//! Invariant: a name is looked up after [`canonical`], so `tryLock`, `try-lock` and `try_lock` are one method; the tables
//! hold only names that are canonical already.

use std::borrow::Cow;
use std::fmt;

use super::Misuse;
use crate::Value;

/// A method of an object: what it is called here, and what else logs call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// The name that this crate uses.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
}

impl Method {
    pub(super) const fn new(name: &'static str, aliases: &'static [&'static str]) -> Self {
        Method { name, aliases }
    }

    fn has(&self, canonical: &str) -> bool {
        self.name == canonical || self.aliases.contains(&canonical)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if !self.aliases.is_empty() {
            write!(f, " ({})", self.aliases.join(", "))?;
        }
        Ok(())
    }
}

/// The name that `methods` has for the method called `name`.
pub(crate) fn find(methods: &'static [Method], name: &str) -> Result<&'static str, Misuse> {
    let canonical = canonical(name);
    let found = methods.iter().find(|method| method.has(&canonical));
    found.map(|method| method.name).ok_or(Misuse::Method(methods))
}

/// The name in lower case with underscores: `pushFront`, `push-front` and `:push-front` become `push_front`.
pub(crate) fn canonical(name: &str) -> Cow<'_, str> {
    let name = name.strip_prefix(':').unwrap_or(name);
    if name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            out.push('_');
        }
        out.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    Cow::Owned(out)
}

/// An argument that must be there.
pub(super) fn value(argument: &Value) -> Result<Value, Misuse> {
    match argument {
        Value::Nil => Err(Misuse::Argument { expected: "a value", found: Value::Nil }),
        value => Ok(value.clone()),
    }
}

/// An argument that must not be there; the input that results.
pub(super) fn nothing<I>(argument: &Value, input: I) -> Result<I, Misuse> {
    match argument {
        Value::Nil => Ok(input),
        found => Err(Misuse::Argument { expected: "nothing", found: found.clone() }),
    }
}

/// The result of a method that has none: nil, or true where a log notes that it went well.
pub(super) fn acknowledged(output: &Value) -> Result<(), Misuse> {
    match output {
        Value::Nil | Value::Bool(true) => Ok(()),
        found => Err(Misuse::Result { expected: "nothing or true", found: found.clone() }),
    }
}

/// The result of a method that answers yes or no.
pub(super) fn truth(output: &Value) -> Result<(), Misuse> {
    match output {
        Value::Bool(_) => Ok(()),
        found => Err(Misuse::Result { expected: "a truth value", found: found.clone() }),
    }
}

/// The result of a method that answers yes or no, where not every log records the answer.
pub(super) fn truth_or_nothing(output: &Value) -> Result<(), Misuse> {
    match output {
        Value::Nil | Value::Bool(_) => Ok(()),
        found => Err(Misuse::Result { expected: "a truth value or nothing", found: found.clone() }),
    }
}
