//! One construct a test, with the exact number of states and steps.

use super::{explore, model};

/// States, steps, and the labels in order, each once, of process `Sys`.
fn check(text: &str, states: usize, steps: usize, labels: &str) {
    let model = model(text);
    let graph = explore(&model.process("Sys", &[]).expect("there is a Sys")).expect("no fault");
    let mut seen: Vec<&str> = graph.steps.iter().flatten().map(|(label, _)| label.as_str()).collect();
    seen.sort_unstable();
    seen.dedup();
    let counts = (graph.steps.len(), graph.steps.iter().map(Vec::len).sum::<usize>());
    assert_eq!((counts, seen.join(" ").as_str()), ((states, steps), labels), "{text}");
}

#[test]
fn stop_and_skip() {
    check("Sys = Stop;", 1, 0, "");
    check("Sys = Skip;", 2, 1, "✓");
    check("Sys() = a -> Skip;", 3, 2, "a ✓");
}

#[test]
fn prefix_and_recursion() {
    check("Sys = a -> b -> Sys;", 2, 2, "a b");
    check("P(i) = a.i -> P((i+1)%3); Sys = P(0);", 3, 3, "a.0 a.1 a.2");
    check("var x; Sys = a{x = (x+1)%4} -> Sys;", 4, 4, "a");
    check("var x; Sys = {x = 1} -> a.x -> Stop;", 3, 2, "a.1 τ");
}

#[test]
fn sequence() {
    // Termination of the first is a silent step.
    check("Sys = (a -> Skip); b -> Skip;", 5, 4, "a b τ ✓");
    check("Sys = Skip; Skip; a -> Stop;", 4, 3, "a τ");
}
