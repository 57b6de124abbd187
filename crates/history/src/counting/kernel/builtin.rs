//! Kernels of the built-in objects: those whose serial executions are a context-free language once the values are known.
//!
//! Invariant: each that has the name of an object has exactly the serial executions of that object in [`crate::object`].
//! [`COUNTER`] and [`bounded_semaphore`] are objects of their own.

use std::fmt::Write;

use crate::Value;

/// A mutex without owner: acquired and released by turns.
pub const MUTEX: &str = include_str!("grammars/mutex.grammar");
/// A readers-writer lock for any number of readers.
pub const RWLOCK: &str = include_str!("grammars/rwlock.grammar");
/// A number from 0 up that cannot be decremented at 0.
pub const COUNTER: &str = include_str!("grammars/counter.grammar");

/// A semaphore with that many permits at first, to which more may be given back than were taken.
pub fn semaphore(permits: u64) -> String {
    let mut text = "// A semaphore; more may be given back than was taken.\nnames acquire: wait, down, p\n\
                    names release: signal, post, up, v\nnames try_acquire: try_wait, try_down\n\
                    Take = \"acquire\" | \"try_acquire -> true\"\n"
        .to_owned();
    let start = format!("Left{permits}");
    // The first rule is the start.
    let mut rules = vec![format!("{start} = {}", left(permits))];
    rules.extend((0..permits).rev().map(|left_over| format!("Left{left_over} = {}", left(left_over))));
    rules.push("More = nothing | \"release\" More Take More".to_owned());
    let head = rules.remove(0);
    text = format!("{head}\n{}\n{}", rules.join("\n"), text);
    text
}

/// What may happen with that many permits left of those that were there at first, and none given back beyond them.
fn left(permits: u64) -> String {
    match permits {
        0 => "nothing | \"release\" More Take Left0 | \"try_acquire -> false\" Left0".to_owned(),
        _ => format!("nothing | \"release\" More Take Left{permits} | Take Left{}", permits - 1),
    }
}

/// A semaphore with that many permits that never has more: giving back beyond them is not possible.
pub fn bounded_semaphore(permits: u64) -> String {
    semaphore_between(permits, permits)
}

/// A semaphore with that many permits at first that never has more than `most`. Where no more is given back than that, it is as good as one
/// without a bound, and a finite automaton.
pub fn semaphore_between(permits: u64, most: u64) -> String {
    let mut text = String::new();
    // The first rule is the start.
    for left in [permits].into_iter().chain((0..=most).rev().filter(|&left| left != permits)) {
        let _ = write!(text, "Left{left} = nothing");
        if left > 0 {
            let after = left - 1;
            let _ = write!(text, " | \"acquire\" Left{after} | \"try_acquire -> true\" Left{after}");
        } else {
            text.push_str(" | \"try_acquire -> false\" Left0");
        }
        if left < most {
            let _ = write!(text, " | \"release\" Left{}", left + 1);
        }
        text.push('\n');
    }
    text
}

/// A readers-writer lock that at most so many hold for reading. Where no more acquire it, it is as good as one without a bound, and a finite automaton.
pub fn rwlock_between(readers: u64) -> String {
    let mut text = "Read0 = nothing | \"write_acquire\" Writer | \"try_write_acquire -> true\" Writer".to_owned();
    for reading in 0..=readers {
        if reading > 0 {
            let _ = write!(text, "\nRead{reading} = nothing | \"read_release\" Read{}", reading - 1);
            let _ = write!(text, " | \"try_write_acquire -> false\" Read{reading}");
        }
        if reading < readers {
            let after = reading + 1;
            let _ = write!(text, " | \"read_acquire\" Read{after} | \"try_read_acquire -> true\" Read{after}");
        }
    }
    text.push_str("\nWriter = nothing | \"write_release\" Read0 | \"try_read_acquire -> false\" Writer");
    text.push_str(" | \"try_write_acquire -> false\" Writer\n");
    text
}

/// One element of a set; calls are written without it. A log that does not record an answer has nil for it, which fits both.
pub const SET: &str = r#"
Out = nothing | "add -> true" In | "add" In | "remove -> false" Out | "remove" Out | "contains -> false" Out
In = nothing | "remove -> true" Out | "remove" Out | "add -> false" In | "add" In | "contains -> true" In
"#;

/// A register that is written and read with these values, of which the first is there at first.
pub fn register(values: &[Value]) -> String {
    let mut text = String::new();
    for (i, value) in values.iter().enumerate() {
        let value = written(value);
        let _ = write!(text, "Holds{i} = nothing | \"read -> {value}\" Holds{i}");
        // Nobody writes nil.
        for (j, other) in values.iter().enumerate().filter(|(_, other)| !other.is_nil()) {
            let _ = write!(text, " | \"write({})\" Holds{j}", written(other));
        }
        text.push('\n');
    }
    text
}

/// A stack of these values.
pub fn stack(values: &[Value]) -> String {
    let elements = |after: &str| -> String {
        let one = |value: &Value| format!(" | \"push({0})\" Above \"pop -> {0}\" {after}", written(value));
        values.iter().map(one).collect()
    };
    format!("Bottom = nothing | \"pop\" Bottom{}\nAbove = nothing{}\n", elements("Bottom"), elements("Above"))
}

/// A value inside a quoted label. Quotes cannot stand there: values are numbered before they come here.
fn written(value: &Value) -> String {
    value.to_string()
}
