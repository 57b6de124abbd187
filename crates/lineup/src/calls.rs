//! The calls that a test may make, by name, and what the user said about them.
//!
//! Invariant: names are distinct, so that a matrix can be written down and read again.

use std::fmt;

/// A call: its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u16);

impl CallId {
    /// The place, as an index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A result that a call may have at any time, without effect: declared nondeterminism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The call.
    pub call: CallId,
    /// The result, as it is printed or as it stands inside of `Err`, `Ok` or `Some`.
    pub result: String,
}

/// The calls of an object.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    names: Vec<String>,
    /// Results that calls may have without effect.
    pub declared: Vec<Declared>,
    /// Calls whose results are not compared.
    pub ignored: Vec<CallId>,
    /// Groups of calls that only one thread makes.
    pub exclusive: Vec<Vec<CallId>>,
}

/// Why there is no list of calls.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallsError {
    /// No calls.
    None,
    /// More than fit.
    TooMany(usize),
    /// Two of the same name.
    Twice(String),
    /// A name that is empty.
    Empty,
    /// No call of that name.
    Unknown {
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: Vec<String>,
    },
}

impl fmt::Display for CallsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallsError::None => f.write_str("expected at least one call"),
            CallsError::TooMany(found) => write!(f, "expected at most {} calls, found {found}", Calls::MAX),
            CallsError::Twice(name) => {
                write!(f, "expected distinct names of calls, found `{name}` twice")
            }
            CallsError::Empty => f.write_str("expected a name for every call, found an empty one"),
            CallsError::Unknown { wanted, known } => {
                write!(f, "there is no call `{wanted}`: expected one of {}", known.join(", "))
            }
        }
    }
}

impl std::error::Error for CallsError {}

impl Calls {
    /// How many calls an object may have.
    pub const MAX: usize = 1000;

    /// The calls of these names.
    pub fn new(names: Vec<String>) -> Result<Self, CallsError> {
        if names.is_empty() {
            return Err(CallsError::None);
        }
        if names.len() > Self::MAX {
            return Err(CallsError::TooMany(names.len()));
        }
        for (at, name) in names.iter().enumerate() {
            if name.trim().is_empty() {
                return Err(CallsError::Empty);
            }
            if names[..at].contains(name) {
                return Err(CallsError::Twice(name.clone()));
            }
        }
        Ok(Calls { names, ..Calls::default() })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none; never, once made.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of a call.
    pub fn name(&self, call: CallId) -> &str {
        self.names.get(call.index()).map_or("?", String::as_str)
    }

    /// All names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Every call.
    pub fn ids(&self) -> impl Iterator<Item = CallId> + use<> {
        (0..self.names.len() as u16).map(CallId)
    }

    /// The call of that name.
    pub fn find(&self, name: &str) -> Result<CallId, CallsError> {
        let found = self.names.iter().position(|other| other == name.trim());
        found.map(|at| CallId(at as u16)).ok_or_else(|| self.unknown(name))
    }

    pub(crate) fn unknown(&self, wanted: &str) -> CallsError {
        CallsError::Unknown { wanted: wanted.trim().chars().take(80).collect(), known: self.names.clone() }
    }

    /// The longest name that the text starts with.
    pub(crate) fn prefix(&self, text: &str) -> Option<CallId> {
        let fits = |(_, name): &(usize, &String)| text.starts_with(name.as_str());
        let found = self.names.iter().enumerate().filter(fits).max_by_key(|(_, name)| name.len());
        found.map(|(at, _)| CallId(at as u16))
    }

    /// The results that were declared for a call.
    pub fn declared_for(&self, call: CallId) -> impl Iterator<Item = &str> {
        self.declared.iter().filter(move |declared| declared.call == call).map(|declared| declared.result.as_str())
    }

    /// What the result of a call is compared as.
    pub fn normal<'a>(&'a self, call: CallId, result: &'a str) -> &'a str {
        let inside = |wanted: &str| {
            let inner = ["Err(", "Ok(", "Some("].iter().find_map(|open| result.strip_prefix(open)?.strip_suffix(')'));
            result == wanted || inner == Some(wanted)
        };
        if let Some(declared) = self.declared_for(call).find(|wanted| inside(wanted)) {
            return declared;
        }
        if self.ignored.contains(&call) && !result.starts_with(PANICKED) { IGNORED } else { result }
    }
}

/// How the result of a call that panicked or threw begins.
pub const PANICKED: &str = "panicked";
/// The result of a call whose results are not compared.
pub const IGNORED: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(names: &[&str]) -> Result<Calls, CallsError> {
        Calls::new(names.iter().map(|name| name.to_string()).collect())
    }

    #[test]
    fn wrong_lists() {
        assert_eq!(calls(&[]).unwrap_err(), CallsError::None);
        assert_eq!(calls(&["a", "b", "a"]).unwrap_err(), CallsError::Twice("a".into()));
        assert_eq!(calls(&["a", " "]).unwrap_err(), CallsError::Empty);
        assert_eq!(Calls::new(vec!["x".into(); 1001]).unwrap_err(), CallsError::TooMany(1001));
        let error = calls(&["push(1)", "pop()"]).unwrap().find("peek()").unwrap_err();
        assert_eq!(error.to_string(), "there is no call `peek()`: expected one of push(1), pop()");
    }

    #[test]
    fn declared_results_are_found_inside_of_wrappers() {
        let mut calls = calls(&["recv()", "len()"]).unwrap();
        calls.declared.push(Declared { call: CallId(0), result: "Empty".into() });
        calls.ignored.push(CallId(1));
        assert_eq!(calls.normal(CallId(0), "Err(Empty)"), "Empty");
        assert_eq!(calls.normal(CallId(0), "Empty"), "Empty");
        assert_eq!(calls.normal(CallId(0), "Err(Emptyish)"), "Err(Emptyish)");
        assert_eq!(calls.normal(CallId(1), "7"), "…");
        assert_eq!(calls.normal(CallId(1), "panicked: x"), "panicked: x");
    }
}
