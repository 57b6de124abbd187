//! What a user allows: classes with factors, and the readings, found among the calls of an object.
//!
//! Invariant: every call has one class for results that are something and one for results that are nothing; class 0 is exact.

use std::fmt;

use selvedge_history::object::Kind;
use selvedge_history::quasi::{Causality, Order, Reading, Relaxation, RelaxationError, Rules, SUPPORTED};

use crate::calls::{CallId, Calls};
use crate::values;

/// What is allowed of the operations of an object.
#[derive(Clone, Debug)]
pub struct Relaxed {
    /// As written.
    pub relaxation: Relaxation,
    /// Factors by class, and the readings.
    pub rules: Rules,
    /// The names of the classes.
    pub names: Vec<String>,
    /// The built-in object that it is to be, if one was named.
    pub kind: Option<Kind>,
    classes: Vec<(u16, u16)>,
}

/// Why that cannot be asked.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelaxedError {
    /// Classes and factors are wrong.
    Relaxation(RelaxationError),
    /// No built-in object has that name.
    Kind(String),
    /// A call is none of the built-in object.
    Call(String),
    /// Results were declared that a call may have at any time.
    Nondeterministic(String),
}

impl fmt::Display for RelaxedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelaxedError::Relaxation(error) => write!(f, "quasi: {error}"),
            RelaxedError::Kind(name) => {
                let known: Vec<&str> = SUPPORTED.iter().map(|kind| kind.name()).collect();
                write!(f, "there is no built-in object `{name}`: expected one of {}", known.join(", "))
            }
            RelaxedError::Call(call) => f.write_str(call),
            RelaxedError::Nondeterministic(call) => write!(
                f,
                "`{call}` was declared nondeterministic, which is not supported with quasi: the order of operations is relaxed, \
                 their results are not"
            ),
        }
    }
}

impl std::error::Error for RelaxedError {}

impl From<RelaxationError> for RelaxedError {
    fn from(error: RelaxationError) -> Self {
        RelaxedError::Relaxation(error)
    }
}

impl Relaxed {
    /// Finds the classes of the calls.
    pub fn new(
        text: &str,
        kind: Option<&str>,
        readings: (Reading, Causality, Order),
        calls: &Calls,
    ) -> Result<Self, RelaxedError> {
        let relaxation = Relaxation::parse(text)?;
        if let Some(declared) = calls.declared.first() {
            return Err(RelaxedError::Nondeterministic(calls.name(declared.call).to_owned()));
        }
        let kind = match kind {
            None => None,
            Some(name) => {
                Some(Kind::from_name(name).ok_or_else(|| RelaxedError::Kind(name.chars().take(40).collect()))?)
            }
        };
        let methods: Vec<&str> = calls.names().iter().map(|name| values::call(name).0).collect();
        let (factors, names, classes) = match kind {
            Some(kind) => {
                let resolved = relaxation.resolve(kind)?;
                if let Some(at) = methods.iter().position(|method| !resolved.knows(method)) {
                    let known: Vec<String> = kind.methods().iter().map(ToString::to_string).collect();
                    let (call, known) = (&calls.names()[at], known.join(", "));
                    return Err(RelaxedError::Call(format!("`{call}` is no call of a {kind}; it has {known}")));
                }
                let classes = methods.iter().map(|method| resolved.of(method)).collect();
                (resolved.factors, resolved.names, classes)
            }
            None => {
                let named = relaxation.resolve_among(&methods)?;
                (named.factors, named.names, named.classes)
            }
        };
        let (reading, causality, order) = readings;
        Ok(Relaxed { relaxation, rules: Rules { factors, reading, causality, order }, names, kind, classes })
    }

    /// The class of a call, and of the call where it finds nothing.
    pub fn class(&self, call: CallId) -> (u16, u16) {
        self.classes.get(call.index()).copied().unwrap_or((0, 0))
    }

    /// The readings in words, where they are not the usual ones.
    pub fn readings(&self) -> String {
        let unusual = [
            (self.rules.reading == Reading::Closed, ", closed reading"),
            (self.rules.causality == Causality::Free, ", free causality"),
            (self.rules.order == Order::Strict, ", strict order"),
        ];
        unusual.iter().filter(|(is, _)| *is).map(|(_, words)| *words).collect()
    }
}
