//! Calls and results as texts, read as methods, arguments and values: what a built-in specification needs to know of them.
//!
//! Invariant: whatever the text, there is an answer; what is not understood is a text value, which no built-in object mistakes for
//! a number. `Some(1)`, `Ok(1)` and `1` are the same value; so are the ways to say that there was nothing.

use selvedge_history::Value;

/// The method and the argument of a call such as `enq(1)`, `q.push(2)` or `cas(1, 2)`.
pub fn call(name: &str) -> (&str, Value) {
    let (method, arguments) = match name.split_once('(') {
        Some((method, rest)) => (method, rest.trim_end().strip_suffix(')').unwrap_or(rest)),
        None => (name, ""),
    };
    let method = method.rsplit(['.', ':']).next().unwrap_or(method).trim();
    let mut values = arguments.split(',').map(str::trim).filter(|text| !text.is_empty()).map(value);
    let argument = match (values.next(), values.next()) {
        (None, _) => Value::Nil,
        (Some(one), None) => one,
        (Some(one), Some(two)) => Value::list([one, two].into_iter().chain(values).collect::<Vec<_>>()),
    };
    (method, argument)
}

/// The value of a result.
pub fn result(text: &str) -> Value {
    // Wrappers are few, and a text that is nothing but wrappers ends.
    let mut text = text.trim();
    loop {
        let inner = ["Some(", "Ok("].iter().find_map(|wrapper| text.strip_prefix(wrapper)?.strip_suffix(')'));
        match inner {
            Some(inner) => text = inner.trim(),
            None => break,
        }
    }
    match text {
        "void" | "()" | "" | "empty" | "None" | "nil" | "null" | "NULL" => Value::Nil,
        "fail" => Value::Bool(false),
        _ if text.starts_with("Err(") => Value::Nil,
        _ => value(text),
    }
}

fn value(text: &str) -> Value {
    match text {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    match text.parse() {
        Ok(int) => Value::Int(int),
        Err(_) => Value::text(text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read() {
        let int = Value::Int;
        for (name, method, argument) in [
            ("enq(1)", "enq", int(1)),
            ("deq()", "deq", Value::Nil),
            ("deq", "deq", Value::Nil),
            ("self.push( -7 )", "push", int(-7)),
            ("Queue::push(true)", "push", Value::Bool(true)),
            ("cas(1, 2)", "cas", Value::list([int(1), int(2)])),
            ("put(\"a\")", "put", Value::text("a")),
            ("odd(1", "odd", int(1)),
            ("(", "", Value::Nil),
            ("é(ü)", "é", Value::text("ü")),
        ] {
            assert_eq!(call(name), (method, argument), "{name}");
        }
    }

    #[test]
    fn results_are_read() {
        for (text, expected) in [
            ("void", Value::Nil),
            ("()", Value::Nil),
            ("empty", Value::Nil),
            ("None", Value::Nil),
            ("Err(Empty)", Value::Nil),
            ("Some(Ok(3))", Value::Int(3)),
            ("Some(", Value::text("Some(")),
            ("fail", Value::Bool(false)),
            ("panicked: no", Value::text("panicked: no")),
        ] {
            assert_eq!(result(text), expected, "{text}");
        }
    }
}
