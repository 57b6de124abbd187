//! Kernels as texts: what they accept by hand, what a violation names, and where errors point.

use super::*;
use crate::counting::{Label, Reason};
use crate::{Budget, Value};

fn parse(text: &str) -> Grammar {
    Grammar::parse(text).unwrap_or_else(|error| panic!("{error}\n{}", error.excerpt(text)))
}

/// Whether the operations, written `label@i-j` (`label@i?` while pending), satisfy the kernel's formula.
fn holds(text: &str, k: usize, operations: &[&str]) -> bool {
    let formula = Formula::new(parse(text), k).unwrap();
    let mut counts = formula.no_counts();
    for operation in operations {
        let (label, at) = operation.rsplit_once('@').unwrap();
        let label = Label::parse(label).unwrap();
        if let Some(first) = at.strip_suffix('?') {
            let call = formula.find_call(&label.method, &label.argument).unwrap();
            counts.pending[call][first.parse::<usize>().unwrap()] += 1;
        } else {
            let (first, last) = at.split_once('-').unwrap();
            let found = formula.find(&label).unwrap();
            counts.complete[found].increment(first.parse().unwrap(), last.parse().unwrap());
        }
    }
    formula.decide(&counts, &Budget::new()).unwrap() == Decision::Satisfied
}

#[test]
fn every_shipped_kernel_is_read() {
    let semaphores = [builtin::semaphore(0), builtin::semaphore(3), builtin::bounded_semaphore(2)];
    let values = [Value::Int(0), Value::Int(1)];
    let others = [builtin::register(&values), builtin::stack(&values), builtin::rwlock_between(2)];
    let shipped = [builtin::SET, builtin::MUTEX, builtin::RWLOCK, builtin::COUNTER];
    for text in semaphores.iter().chain(&others).map(String::as_str).chain(shipped) {
        for k in 0..4 {
            let formula = Formula::new(parse(text), k).unwrap();
            assert_eq!(formula.decide(&formula.no_counts(), &Budget::new()), Ok(Decision::Satisfied));
            assert!(formula.to_string().contains("connected("));
        }
    }
    assert!(parse(builtin::MUTEX).is_regular() && !parse(builtin::RWLOCK).is_regular());
}

#[test]
fn a_mutex_by_hand() {
    let held_twice = ["acquire@0-0", "acquire@0-0"];
    assert!(!holds(builtin::MUTEX, 0, &held_twice));
    assert!(holds(builtin::MUTEX, 0, &["acquire@0-0", "acquire@0-0", "release@0-0"]));
    assert!(holds(builtin::MUTEX, 0, &["acquire@0-0", "acquire@0-0", "release@0?"]));
    assert!(!holds(builtin::MUTEX, 1, &["acquire@0-0", "acquire@0-0", "release@1-1"]));
    assert!(!holds(builtin::MUTEX, 1, &["acquire@0-0", "acquire@0-0", "release@1?"]));
    assert!(holds(builtin::MUTEX, 1, &["acquire@0-0", "acquire@0-1", "release@1-1"]));
    assert!(!holds(builtin::MUTEX, 0, &["try_acquire -> false@0-0"]));
    assert!(holds(builtin::MUTEX, 0, &["try_acquire -> false@0-0", "acquire@0?"]));
}

#[test]
fn loops_must_be_reached() {
    // The loop between A and B balances by itself; only a way into it makes it count.
    let text = r#"S = nothing | "in" A  A = nothing | "x" B  B = nothing | "y" A"#;
    assert!(!holds(text, 0, &["x@0-0", "y@0-0"]));
    assert!(holds(text, 0, &["x@0-0", "y@0-0", "in@0-0"]));
    assert!(holds(text, 0, &["x@0-0", "y@0-0", "in@0?"]));
    assert!(!holds(text, 1, &["x@0-0", "y@0-0", "in@1-1"]));
    let nested = r#"S = nothing | "go" T  T = nothing | "open" T "close" T"#;
    assert!(!holds(nested, 0, &["open@0-0", "close@0-0"]));
    assert!(holds(nested, 0, &["open@0-0", "close@0-0", "go@0-0"]));
}

#[test]
fn prefixes_are_executions_too() {
    let text = r#"S = "a" "b" "c" | "d" S S"#;
    for (operations, expected) in [
        (vec!["a@0-0"], true),
        (vec!["a@0-0", "b@0-0"], true),
        (vec!["b@0-0"], false),
        (vec!["d@0-0"], true),
        (vec!["d@0-0", "a@0-0", "b@0-0"], true),
        (vec!["d@0-0", "a@0-0", "b@0-0", "a@0-0"], false),
        (vec!["d@0-0", "a@0-0", "b@0-0", "c@0-0", "a@0-0"], true),
        (vec!["d@0-0", "d@0-0", "d@0-0"], true),
    ] {
        assert_eq!(holds(text, 0, &operations), expected, "{operations:?}");
    }
}

#[test]
fn a_violation_names_demands_that_cannot_be_met() {
    let formula = Formula::new(parse(builtin::MUTEX), 2).unwrap();
    let mut counts = formula.no_counts();
    let find = |text: &str| formula.find(&Label::parse(text).unwrap()).unwrap();
    let (acquire, release) = (find("acquire"), find("release"));
    for _ in 0..1_000 {
        counts.complete[acquire].increment(0, 0);
        counts.complete[release].increment(0, 0);
    }
    counts.complete[acquire].increment(0, 0);
    counts.complete[acquire].increment(1, 1);
    counts.complete[release].increment(2, 2);
    let Ok(Decision::Violated(demands)) = formula.decide(&counts, &Budget::new()) else { panic!() };
    assert!(demands.contains(&Demand::Inside { label: acquire, first: 0, last: 1 }), "{demands:?}");
    assert!(!demands.is_empty() && demands.len() <= 3, "{demands:?}");
}

#[test]
fn errors_point_at_their_place() {
    for (text, line, column, part) in [
        ("", 1, 1, "at least one rule"),
        ("S", 1, 2, "`=` after the name"),
        ("S = nothing |", 1, 14, "an operation in quotes"),
        ("S = \"a\" T", 1, 9, "`T` is not defined"),
        ("S = nothing\nS = \"a\"", 2, 1, "`S` is defined twice"),
        ("S = \"a(\"", 1, 5, "should end with `)`"),
        ("S = \"a -> ?\"", 1, 5, "has returned"),
        ("S = \"a", 1, 5, "should end in the line"),
        ("S = \"a\" S", 1, 1, "it never ends"),
        ("S = nothing ?", 1, 13, "means nothing"),
        ("names lock acquire", 1, 12, "`:` and the method's other names"),
        ("names a: b\nnames c: b\nS = nothing", 2, 10, "`b` is defined twice"),
        ("names a: c, b\nS = \"a\" \"b\"", 1, 13, "`b` is defined twice"),
        ("nothing = \"a\"", 1, 1, "`nothing` is defined twice"),
        ("S = \"a\"\nnames = S", 2, 1, "`names` is defined twice"),
    ] {
        let error = Grammar::parse(text).expect_err(text);
        assert_eq!((error.place.line, error.place.column), (line, column), "{text}: {error}");
        assert!(error.reason.to_string().contains(part), "{text}: {error}");
        let caret = error.excerpt(text);
        assert_eq!(caret.lines().last().unwrap().len(), column as usize, "{caret}");
    }
    assert!(matches!(Grammar::parse(&"S = ".repeat(3)).unwrap_err().reason, Reason::Expected { .. }));
}

#[test]
fn what_is_too_large_is_refused() {
    assert_eq!(Formula::new(parse(builtin::MUTEX), K_MAX + 1).unwrap_err(), TooLarge::K);
    let long = format!("S = {}", "S S ".repeat(10).trim_end()) + " | nothing";
    assert_eq!(Formula::new(parse(&long), K_MAX).unwrap_err(), TooLarge::Productions);
}
