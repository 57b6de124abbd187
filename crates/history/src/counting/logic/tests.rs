//! Formulas as texts: what they mean on structures known by hand, and where errors point.

use super::*;
use crate::counting::Triangle;
use crate::object::Kind;
use crate::{Budget, Value};

#[test]
fn errors_point_at_their_place() {
    for (text, column, part) in [
        ("", 1, "expected a formula"),
        ("exists x", 9, "`:` after the variables"),
        ("exists x: exists x: before(x, x)", 18, "`x` is defined twice"),
        ("exists k: true", 8, "`k` is defined twice"),
        ("before(x, y)", 8, "`x` is not defined"),
        ("exists x: befor(x, x)", 11, "`befor` is not defined"),
        ("exists x: insert(x, x)", 17, "`insert` takes 1 arguments, not 2"),
        ("exists x: total(x, 0) > 1", 21, "`,` and the last slot"),
        ("exists x: total(x, 0, x) > 1", 23, "a slot; this is a label"),
        ("some i in 0..k: insert(i)", 24, "a label; this is a slot"),
        ("some i of 0..k: true", 8, "`in` and a range"),
        ("exists x: #(x, 0, 0)", 21, "`<=`, `<`"),
        ("exists x: x", 12, "`=` or `!=`"),
        ("true true", 6, "`and`, `or`, `implies` or the end"),
        ("(true", 6, "`)` at the end"),
        ("exists x: x = \"pop -> \"", 15, "a value is missing"),
        ("true and %", 10, "means nothing here"),
    ] {
        let error = Formula::parse(text).expect_err(text);
        assert_eq!((error.place.line, error.place.column), (1, column), "{text}: {error}");
        assert!(error.reason.to_string().contains(part), "{text}: {error}");
    }
    let deep = "(".repeat(100_000);
    assert!(Formula::parse(&deep).is_err());
    assert!(Formula::parse(&"not ".repeat(100_000)).is_err());
}

#[test]
fn every_built_in_formula_is_read() {
    for kind in Kind::ALL {
        for family in families(kind) {
            let read = Formula::parse(family.text);
            assert!(read.is_ok(), "{kind} {}: {}", family.name, read.unwrap_err());
        }
    }
}

/// The history of figure 2(b) at k = 4.
fn figure_2() -> Structure {
    let label = |text: &str, role, value: Option<usize>, i, j| {
        let mut counts = Triangle::new(4);
        counts.increment(i, j);
        let facts = Facts { role, value, rank: value.unwrap_or(0), initial: false };
        (Label::parse(text).unwrap(), facts, counts)
    };
    Structure::new(
        4,
        [
            label("push(1)", Role::Insert, Some(1), 0, 0),
            label("pop -> 1", Role::Remove, Some(1), 1, 1),
            label("pop -> 3", Role::Remove, Some(3), 1, 3),
            label("push(2)", Role::Insert, Some(2), 2, 2),
            label("push(3)", Role::Insert, Some(3), 3, 3),
            label("pop", Role::Empty, None, 4, 4),
        ],
    )
}

fn check(text: &str, expected: bool) {
    let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{error}\n{}", error.excerpt(text)));
    assert_eq!(figure_2().holds(&formula, &Budget::new()), Ok(expected), "{text}");
}

#[test]
fn formulas_mean_what_they_say() {
    check("#(\"push(1)\", 0, 0) = 1", true);
    check("#(\"push(7)\", 0, 0) = 0", true);
    check("total(\"pop -> 3\", 0, k) = 1 and total(\"pop -> 3\", 0, 2) = 0", true);
    check("total(\"pop -> 3\", 1, 3) + total(\"push(1)\", 0, k) > 1", true);
    check("before(\"push(1)\", \"pop -> 3\") and not before(\"pop -> 1\", \"pop -> 3\")", true);
    // As printed, `before` would hold here: the removal of 3 does not end by the end of the removal of 1.
    check("before(\"pop -> 1\", \"pop -> 3\")", false);
    check("exists x: before(x, x)", false);
    check("forall x: total(x, 0, k) = 1", true);
    check("exists x, y: same(x, y) and x != y and before(x, y)", true);
    check("every i in 0..k: exists x: total(x, i, i) > 0", true);
    check("some i in k+1..k+9: true", true);
    check("some i in 3..2: true", false);
    check("false implies false", true);
}

#[test]
fn the_stack_of_figure_2_is_not_one() {
    let empty = families(Kind::Stack).iter().find(|family| family.name == "empty").unwrap();
    let found = figure_2().find(&Formula::parse(empty.text).unwrap(), &Budget::new()).unwrap().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    for family in families(Kind::Stack).iter().filter(|family| family.name != "empty") {
        check(family.text, false);
    }
    let limited = Budget::new();
    limited.spend(crate::Limit::Time);
    assert!(figure_2().find(&Formula::parse(empty.text).unwrap(), &limited).is_err());
    assert_eq!(Value::Nil, Value::default());
}
