//! Calls and results as texts, read as methods, arguments and values: what a built-in specification needs to know of them.
//!
//! Invariant: whatever the text, there is an answer; what is not understood is a text value, which no built-in object mistakes for
//! a number. `Some(1)`, `Ok(1)` and `1` are the same value; so are the ways to say that there was nothing.

use selvedge_history::Value;
use selvedge_history::object::Object;

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

/// What a built-in object makes of a call. The message says why that is nothing.
pub fn input<O: Object>(object: &O, name: &str, argument: &Value) -> Result<O::Input, String> {
    object.input(call(name).0, argument).map_err(|misuse| format!("`{name}`: {misuse}"))
}

/// The result of a call as the built-in object has it: the value itself, or whether it worked. What did not work did nothing, so it is
/// only taken for an answer where the object has one for that.
pub fn output<O: Object>(object: &O, name: &str, input: &O::Input, text: &str) -> Result<Value, String> {
    let (value, failed) = (result(text), text.trim().starts_with("Err("));
    // An insertion acknowledges; what finds a value may find any, and may find nothing.
    let finds = object.admits(input, &Value::Int(i64::MIN)).is_ok();
    let worked = match &value {
        // C has no truth values of its own.
        Value::Int(int @ (0 | 1)) => Some(*int == 1),
        Value::Nil if failed || text.trim() == "None" => Some(false),
        Value::Nil if text.contains('(') => Some(true),
        _ => None,
    };
    // That something did not work is no value that could be found.
    let plain = Some(value.clone()).filter(|_| if finds { text.trim() != "fail" } else { !failed });
    let fits = plain.into_iter().chain(worked.map(Value::Bool)).find(|value| object.admits(input, value).is_ok());
    fits.filter(|_| !finds || text.trim() != "fail").ok_or_else(|| {
        if finds {
            return format!("`{name}` returned `{text}`: expected a value, or that there was none");
        }
        let misuse = object.admits(input, &if failed { Value::Bool(false) } else { value }).err();
        let why = misuse.map_or(String::new(), |misuse| format!(": {misuse}"));
        format!("`{name}` returned `{text}`{why}")
    })
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
    fn results_are_answers_of_the_object() {
        use selvedge_history::object::mutex::Mutex;
        use selvedge_history::object::queue::Queue;
        use selvedge_history::object::set::Set;
        fn check<O: Object>(object: &O, name: &str, text: &str, expect: Result<Value, &str>) {
            let input = input(object, name, &call(name).1).unwrap();
            let found = output(object, name, &input, text);
            match (&found, expect) {
                (Ok(value), Ok(expected)) => assert_eq!(*value, expected, "{name} -> {text}"),
                (Err(error), Err(part)) => assert!(error.contains(part), "{name} -> {text}: {error}"),
                _ => panic!("{name} -> {text}: {found:?}"),
            }
        }
        check(&Queue, "enq(1)", "void", Ok(Value::Nil));
        check(&Queue, "enq(1)", "Ok(())", Ok(Value::Nil));
        check(&Queue, "enq(1)", "1", Ok(Value::Bool(true)));
        // A bounded queue that was full took nothing in.
        check(&Queue, "enq(1)", "Err(1)", Err("returned `Err(1)`: "));
        check(&Queue, "enq(1)", "0", Err("returned `0`: "));
        check(&Queue, "deq()", "Err(Empty)", Ok(Value::Nil));
        check(&Queue, "deq()", "Some(0)", Ok(Value::Int(0)));
        check(&Set, "add(1)", "Err(Present)", Ok(Value::Bool(false)));
        check(&Set, "add(1)", "0", Ok(Value::Bool(false)));
        check(&Set, "contains(1)", "7", Err("returned `7`"));
        check(&Mutex, "try_acquire()", "None", Ok(Value::Bool(false)));
        check(&Mutex, "try_acquire()", "Some(())", Ok(Value::Bool(true)));
        check(&Mutex, "acquire()", "Err(Poisoned)", Err("returned `Err(Poisoned)`"));
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
