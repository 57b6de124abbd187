//! What an operation did, without when: `push(1)`, `pop → 1`, `pop → ?`.
//!
//! Invariant: labels compare by content. A method that has no result to speak of has the result nil, whether a log records nil or
//! true for it; an operation that has not returned has no result at all (the paper's ⊥).

use std::fmt;

use crate::Value;

/// A method with its argument and its result (section 4.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// The method called.
    pub method: String,
    /// Its argument, nil where there is none.
    pub argument: Value,
    /// Its result, nil where it has none; `None` while pending.
    pub result: Option<Value>,
}

impl Label {
    /// The label of a call that returned.
    pub fn new(method: &str, argument: impl Into<Value>, result: impl Into<Value>) -> Self {
        Label { method: method.to_owned(), argument: argument.into(), result: Some(result.into()) }
    }

    /// The label of the same call while it is pending.
    #[must_use]
    pub fn pending(&self) -> Self {
        Label { result: None, ..self.clone() }
    }

    /// Whether the call is pending.
    pub fn is_pending(&self) -> bool {
        self.result.is_none()
    }

    /// Reads a label: `method`, `method(argument)`, `method -> result`, `method(argument) -> result`. Values are JSON, `nil`
    /// or bare words; `-> ?` is pending. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (call, result) = match text.split_once("->").or_else(|| text.split_once('→')) {
            Some((call, result)) => (call.trim(), Some(result.trim())),
            None => (text.trim(), None),
        };
        let (method, argument) = match call.split_once('(') {
            Some((method, rest)) => {
                let argument = rest.strip_suffix(')').ok_or("the argument should end with `)`")?;
                (method.trim(), value(argument.trim())?)
            }
            None => (call, Value::Nil),
        };
        if method.is_empty() || method.contains(char::is_whitespace) {
            return Err(format!("`{method}` is not the name of a method"));
        }
        let result = match result {
            None => Some(Value::Nil),
            Some("?") => None,
            Some(result) => Some(value(result)?),
        };
        Ok(Label { method: method.to_owned(), argument, result })
    }
}

/// A value as written in a label.
fn value(text: &str) -> Result<Value, String> {
    match text {
        "" => Err("a value is missing".to_owned()),
        "nil" | "empty" => Ok(Value::Nil),
        text => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(json) => serde_json::from_value(json).map_err(|error| error.to_string()),
            Err(_) if text.contains(|c: char| c.is_whitespace() || "()[]{},\"".contains(c)) => {
                Err(format!("`{text}` is not a value"))
            }
            Err(_) => Ok(Value::text(text)),
        },
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.method)?;
        if !self.argument.is_nil() {
            write!(f, "({})", self.argument)?;
        }
        match &self.result {
            Some(Value::Nil) => Ok(()),
            Some(result) => write!(f, " -> {result}"),
            None => f.write_str(" -> ?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_and_shown() {
        for (text, label) in [
            ("acquire", Label::new("acquire", Value::Nil, Value::Nil)),
            ("push(1)", Label::new("push", 1, Value::Nil)),
            ("pop -> 3", Label::new("pop", Value::Nil, 3)),
            ("cas([1,2]) -> true", Label::new("cas", Value::list([1.into(), 2.into()]), true)),
            ("put(x)", Label::new("put", "x", Value::Nil)),
            ("pop -> ?", Label::new("pop", Value::Nil, 0).pending()),
        ] {
            assert_eq!(Label::parse(text), Ok(label), "{text}");
        }
        assert_eq!(Label::parse(" push( 1 )->nil").unwrap().to_string(), "push(1)");
        for wrong in ["", "push(", "push()", "-> 1", "two words", "push(1 2)", "pop -> "] {
            assert!(Label::parse(wrong).is_err(), "{wrong}");
        }
    }
}
