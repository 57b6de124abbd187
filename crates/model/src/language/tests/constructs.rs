//! One construct a test, with the exact number of states and steps.

use super::{explore, model};

/// States, steps, and the labels in order, each once, of process `Sys`.
#[track_caller]
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
    // What is not needed any more makes no state.
    check("P(i) = a -> Q; Q = b -> Stop; Sys = P(1) [] P(2);", 3, 3, "a b");
    // The remainder is never negative: (0-1)%3 is the neighbour in a ring.
    check("Sys = a.((0-1)%3) -> Stop;", 2, 1, "a.2");
}

#[test]
fn data() {
    check("var x; Sys = a{x = (x+1)%4} -> Sys;", 4, 4, "a");
    check("var x; Sys = {x = 1} -> a.x -> Stop;", 3, 2, "a.1 τ");
    check("var x = [1(2), 3..5, 7]; Sys = a.x[0].x[1].x[2].x[4].x[5] -> Stop;", 2, 1, "a.1.1.3.5.7");
    check("var x[2][3]; Sys = a{x[1][2] = 5} -> b.x[1][2].x[0][2] -> Stop;", 3, 2, "a b.5.0");
    check("var x = true; Sys = a.x{x = !x} -> Sys;", 2, 2, "a.false a.true");
    check("enum {red, blue}; Sys = a.blue -> Stop;", 2, 1, "a.1");
    check("var x:{0..3} = 3; Sys = a.x{if (x > 0) { x--; } else x = 3;} -> Sys;", 4, 4, "a.0 a.1 a.2 a.3");
    check("var x; Sys = a{var i = 0; while (i < 5) { x += i; i++; }} -> b.x -> Stop;", 3, 2, "a b.10");
    check("var x; Sys = [x == 0] a{x = 1} -> Sys [] [x == 1] b -> Stop;", 3, 2, "a b");
}

#[test]
fn definitions() {
    check("#define N 2; #define twice(a) a*N; Sys = e.twice(3) -> Stop;", 2, 1, "e.6");
    check("#define N 2; #define twice(a) a*N; Sys = e.call(twice, 3) -> Stop;", 2, 1, "e.6");
    check("var x; #define p x == 0; Sys = if (p) { a -> Stop };", 3, 2, "a τ");
    check("var x; #define set(v) { x = v; x++; }; Sys = a{set(4);} -> b.x -> Stop;", 3, 2, "a b.5");
    check("var x[3]; Sys = if (&& i:{0..2}@(x[i] == 0)) { a -> Stop };", 3, 2, "a τ");
    check("var x[3]; Sys = if (|| i:{0..2}@(x[i] == 1)) { a -> Stop } else { b -> Stop };", 3, 2, "b τ");
    // Names of a definition are those of the model, whatever is around its use.
    check("var x = 7; #define p x; P(x) = a.p.x -> Stop; Sys = P(1);", 2, 1, "a.7.1");
}

#[test]
fn sequence() {
    // Termination of the first is a silent step.
    check("Sys = (a -> Skip); b -> Skip;", 5, 4, "a b τ ✓");
    check("Sys = Skip; Skip; a -> Stop;", 4, 3, "a τ");
    check("Sys = Stop; a -> Stop;", 1, 0, "");
}

#[test]
fn choices() {
    check("Sys = a -> Stop [] b -> Stop;", 2, 2, "a b");
    check("Sys = a -> Stop <> b -> Stop;", 4, 4, "a b τ");
    // A silent step decides a general choice, and leaves an external one open.
    check("Sys = tau -> a -> Stop [] b -> Stop;", 3, 3, "a b τ");
    check("Sys = (tau -> a -> Stop) [*] (b -> Stop);", 3, 4, "a b τ");
    check("Sys = [] i:{0..2}@(a.i -> Stop);", 2, 3, "a.0 a.1 a.2");
    check("Sys = [] i:{0,2}; j:{0..1}@(a.i.j -> Stop);", 2, 4, "a.0.0 a.0.1 a.2.0 a.2.1");
    check("Sys = <> i:{0..1}@(a.i -> Stop);", 4, 4, "a.0 a.1 τ");
    check("P(n) = [] i:{0..n}@(a.i -> Stop); Sys = P(1);", 2, 2, "a.0 a.1");
    check("Sys = (a -> Skip; b -> Stop) [] (c -> Stop ||| d -> Stop);", 7, 7, "a b c d τ");
}

#[test]
fn interleaving() {
    check("Sys = a -> Stop ||| b -> Stop;", 4, 4, "a b");
    // Termination is together.
    check("Sys = a -> Skip ||| b -> Skip;", 5, 5, "a b ✓");
    check("Sys = ||| i:{0..2}@(a.i -> Stop);", 8, 12, "a.0 a.1 a.2");
    check("Sys = |||{3}@(a -> Stop);", 8, 12, "a");
    check("P = a -> Stop; Sys = P ||| P;", 4, 4, "a");
}

#[test]
fn parallel_composition() {
    check("P = a -> b -> P; Q = a -> c -> Q; Sys = P || Q;", 4, 5, "a b c");
    // Data is not changed by two at once: events with blocks are not shared.
    check("var x; P = a{x = 1} -> Stop; Q = a -> Stop; Sys = P || Q;", 4, 4, "a");
    check("P(i) = e.i -> e.(i+1) -> Stop; Sys = P(0) || P(1);", 4, 3, "e.0 e.1 e.2");
    check("#alphabet P {a}; P = a -> b -> Stop; Q = a -> b -> Stop; Sys = P || Q;", 5, 5, "a b");
    check("#alphabet P {x:{0..1}@e.x}; P = e.0 -> Stop; Q = e.1 -> Stop; Sys = P || Q;", 2, 1, "e.0");
    check("Phil(i) = get.i -> get.((i+1)%2) -> put.i -> Phil(i); Sys = || i:{0..1}@Phil(i);", 1, 0, "");
    check("P = a -> Skip; Sys = P || P;", 3, 2, "a ✓");
}

#[test]
fn conditions_as_steps() {
    check("var x; Sys = if (x == 0) { a -> Stop } else { b -> Stop };", 3, 2, "a τ");
    check("var x; Sys = ifa (x == 0) { a -> Stop } else { b -> Stop };", 2, 1, "a");
    check("var x; Sys = ifb (x == 1) { a -> Stop };", 1, 0, "");
    check("var x = 1; Sys = ifb (x == 1) { a -> Stop };", 3, 2, "a τ");
    check("var x; Sys = if (x == 1) { a -> Stop }; b -> Stop;", 4, 3, "b τ");
    check("var x = 1; Sys = case { x == 0: a -> Stop x == 1: b -> Stop default: c -> Stop };", 3, 2, "b τ");
    // Between the test of `if` and what follows, others may go.
    check("var x; Sys = (if (x == 0) { a.x -> Stop }) ||| b{x = 1} -> Stop;", 7, 7, "a.0 a.1 b τ");
    check("var x; Sys = (ifa (x == 0) { a.x -> Stop }) ||| b{x = 1} -> Stop;", 4, 3, "a.0 b");
}

#[test]
fn atomic_processes_go_first_once_begun() {
    check("Sys = a -> b -> Stop ||| c -> Stop;", 6, 7, "a b c");
    check("Sys = atomic{a -> b -> Stop} ||| c -> Stop;", 6, 6, "a b c");
}

#[test]
fn hiding() {
    check("Sys = (a -> b.1 -> b.2 -> Stop) \\ {a, b.1};", 4, 3, "b.2 τ");
    check("Sys = (b.0 -> b.1 -> b.2 -> Stop) \\ {i:{0..1}@b.i};", 4, 3, "b.2 τ");
    check("P(i) = (a.i -> a.(i+1) -> Stop) \\ {a.i}; Sys = P(1);", 3, 2, "a.2 τ");
    // What is hidden is nobody else's event.
    check("P = a -> Stop; Sys = (P \\ {a}) || P;", 4, 4, "a τ");
}

#[test]
fn interrupt() {
    check("Sys = (a -> b -> Stop) interrupt (c -> Stop);", 4, 5, "a b c");
}

#[test]
fn channels_without_a_buffer() {
    check("channel c 0; Sys = c!3.4 -> Stop ||| c?x.y -> a.x.y -> Stop;", 3, 2, "a.3.4 c.3.4");
    check("channel c 0; Sys = c!3 -> Stop ||| c?[x > 3]x -> Stop;", 1, 0, "");
    check("channel c 0; Sys = c!3 -> Stop;", 1, 0, "");
    check(
        "channel c 0; P(n) = c?n.x -> a.x -> Stop; Sys = P(1) ||| (c!2.5 -> Stop [] c!1.6 -> Stop);",
        3,
        2,
        "a.6 c.1.6",
    );
    // Two receivers, one message.
    check("channel c 0; Sys = c!1 -> Stop ||| c?x -> a -> Stop ||| c?y -> b -> Stop;", 5, 4, "a b c.1");
}

#[test]
fn channels_with_a_buffer() {
    check("channel c 1; Sys = c!1 -> c!2 -> Stop ||| c?x -> a.x -> Stop;", 6, 6, "a.1 c!1 c!2 c?1");
    check("channel c 2; Sys = c!1 -> c!2 -> c!3 -> Stop;", 3, 2, "c!1 c!2");
    check("channel c[2] 1; Sys = c[1]!5 -> c[1]?x -> a.x -> Stop;", 4, 3, "a.5 c[1]!5 c[1]?5");
    check("channel c 2; Sys = c!1 -> if (ccount(c) == 1 && !cfull(c)) { a -> Stop };", 4, 3, "a c!1 τ");
}

#[test]
fn collections() {
    check(
        "var<Queue> q; Sys = a{q.Enqueue(1); q.Enqueue(2);} -> b.q.First().q.Count() -> c{q.Dequeue();} -> b.q.First() -> Stop;",
        5,
        4,
        "a b.1.2 b.2 c",
    );
    check(
        "var<Stack> s = new Stack(); var x; Sys = a{s.Push(1); s.Push(2); x = s.Pop();} -> b.x.s.Peek() -> Stop;",
        3,
        2,
        "a b.2.1",
    );
    // The order in which a set was filled is no part of it.
    check(
        "var<Set> s; Sys = a{s.Add(1);} -> b{s.Add(2);} -> Stop [] b{s.Add(2);} -> a{s.Add(1);} -> Stop;",
        4,
        4,
        "a b",
    );
    check(
        "var<List> l; Sys = a{l.Add(4); l.Add(5); l.Insert(1, 9); l.Set(0, 7); l.Remove(5);} -> b.l.Get(0).l.Get(1).l.IndexOf(9) -> Stop;",
        3,
        2,
        "a b.7.9.1",
    );
}

#[test]
fn arguments_are_read_with_the_first_step() {
    // As the rule for calls has it: P(x) takes its first step with x as it is then.
    check("var x; P(i) = a.i -> Stop; Sys = P(x) ||| b{x = 1} -> Stop;", 4, 4, "a.0 a.1 b");
}

#[test]
fn an_import_of_what_is_built_in_is_let_through() {
    check("#import \"PAT.Lib.Queue\"; var<Queue> q = new Queue(); Sys = a{q.Enqueue(3);} -> Stop;", 2, 1, "a");
}
