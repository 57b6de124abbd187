//! Stacks: violations that take three values and more, against trying every order and against the checker of recorded histories.

use selvedge_history::check::check;
use selvedge_history::monitor::collection::DELAYED_MAX;
use selvedge_history::monitor::{Called, Monitor, Rule, Settings, Violation};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Outcome, Value, Verdict};

use super::{check_events, feed, histories, watch};
use crate::brute;
use crate::notation::{Called as Call, Draft, Event, What};
use crate::random::Rng;

/// When a value was pushed and popped: calls and returns.
#[derive(Clone, Copy)]
struct Times {
    push: (usize, usize),
    pop: Option<(usize, usize)>,
}

/// Distinct values that come and go at random times, so that most are held up by others; some stay, some answers are empty.
fn tangle(rng: &mut Rng, values: usize, empties: usize) -> (Draft, Vec<Times>) {
    let (spread, long, stay) = (4 + rng.below(10 * values), 1 + rng.below(12), 1 + rng.below(60));
    let never = [0, 0, 20][rng.below(3)];
    let mut times = Vec::new();
    for _ in 0..values {
        let start = rng.below(spread);
        let push = (start, start + 1 + rng.below(long));
        let pop = push.1 + rng.below(stay) - rng.below(3).min(push.1);
        let pop = (pop, pop.max(start) + 1 + rng.below(long));
        times.push(Times { push, pop: (!rng.percent(never)).then_some(pop) });
    }
    let mut ops: Vec<((usize, usize), Option<i64>, Value)> = Vec::new();
    for (value, times) in (1..).zip(&times) {
        ops.push((times.push, Some(value), Value::Nil));
        ops.extend(times.pop.map(|pop| (pop, None, Value::Int(value))));
    }
    for _ in 0..empties {
        let start = rng.below(spread + stay);
        ops.push(((start, start + 1 + rng.below(3 * long)), None, Value::Nil));
    }
    // At equal times calls come first.
    let mut order: Vec<(usize, bool, usize)> = Vec::new();
    for (number, (span, ..)) in ops.iter().enumerate() {
        order.extend([(span.0, false, number), (span.1, true, number)]);
    }
    order.sort_unstable();
    let mut threads: Vec<Option<usize>> = Vec::new();
    let mut draft = Draft::default();
    for (_, is_return, number) in order {
        let whose = if is_return { Some(number) } else { None };
        let thread = threads.iter().position(|open| *open == whose).unwrap_or(threads.len());
        threads.resize(threads.len().max(thread + 1), None);
        threads[thread] = if is_return { None } else { Some(number) };
        let (_, push, answer) = &ops[number];
        let what = if is_return {
            What::End(Outcome::Return(answer.clone()))
        } else {
            let method = if push.is_some() { "push" } else { "pop" }.to_owned();
            let argument = push.map_or(Value::Nil, Value::Int);
            What::Call(Call { object: String::new(), key: Value::Nil, method, argument })
        };
        draft.events.push(Event { thread, what });
    }
    (draft, times)
}

/// Whether one value lies wholly on top of another that comes out wholly before it.
fn is_a_pair(times: &[Times]) -> bool {
    times.iter().any(|below| {
        let Some(pop) = below.pop else { return false };
        times.iter().any(|above| {
            let late = above.pop.is_none_or(|above| pop.1 < above.0);
            below.push.1 < above.push.0 && above.push.1 < pop.0 && late
        })
    })
}

/// Answers how many were wrong, and of how many of them no two values alone show it.
fn tangles(runs: u64, seed: u64, mut size: impl FnMut(&mut Rng) -> (usize, usize)) -> [u64; 3] {
    let mut rng = Rng::new(seed);
    let [mut right, mut wrong, mut many] = [0; 3];
    for run in 0..runs {
        let (values, empties) = size(&mut rng);
        let (draft, times) = tangle(&mut rng, values, empties);
        let log = draft.log();
        let linearizable = if log.history.len() <= 8 {
            brute::linearizable(&log, Kind::Stack)
        } else {
            let answer = check(&log, Kind::Stack, None, &Budget::new()).expect("it fits");
            assert!(!matches!(answer.verdict, Verdict::Unknown(_)));
            matches!(answer.verdict, Verdict::Pass(_))
        };
        let mut monitor = Monitor::new(Kind::Stack, Settings::default()).expect("it starts empty");
        let found = feed(&mut monitor, &draft.events);
        assert_eq!(monitor.doubts(), [], "run {run}: {draft}");
        assert_eq!(found.is_empty(), linearizable, "run {run}: {draft}");
        *if linearizable { &mut right } else { &mut wrong } += 1;
        many += u64::from(empties == 0 && !linearizable && !is_a_pair(&times));
        found.iter().for_each(|violation| holds(violation, &draft));
    }
    [right, wrong, many]
}

/// What is shown is a violation by itself.
fn holds(violation: &Violation, draft: &Draft) {
    let is_shown = |at: u64| violation.operations.iter().any(|op| op.call == at || op.ret == Some(at));
    if violation.operations.len() > 8 {
        return;
    }
    // A value that was shown while it was inside stays inside.
    let events: Vec<Event> =
        (1..).zip(&draft.events).filter(|(at, _)| is_shown(*at)).map(|(_, event)| event.clone()).collect();
    let shown = Draft { initial: None, events, stuck: false };
    assert!(!brute::linearizable(&shown.log(), Kind::Stack), "{violation}\n  in {draft}");
}

#[test]
fn few_values_against_trying_every_order() {
    let runs = histories(6_000);
    let [right, wrong, many] = tangles(runs, 11, |rng| (3 + rng.below(2), 0));
    println!("few values: {right} right, {wrong} wrong, {many} of them by three values or more");
    assert!(right > runs / 5 && wrong > runs / 20 && many > runs / 1_000, "{right} {wrong} {many}");
    let [right, wrong, _] = tangles(runs, 12, |rng| (2 + rng.below(2), 1 + rng.below(2)));
    println!("with empty answers: {right} right, {wrong} wrong");
    assert!(right > runs / 20 && wrong > runs / 20, "{right} {wrong}");
}

#[test]
fn many_values_against_the_checker() {
    let runs = histories(6_000) / 2;
    let [right, wrong, many] = tangles(runs, 13, |rng| (5 + rng.below(25), 0));
    println!("many values: {right} right, {wrong} wrong, {many} of them by three values or more");
    assert!(right > runs / 20 && wrong > runs / 5 && many > runs / 1_000, "{right} {wrong} {many}");
}

#[test]
fn three_values_that_hold_each_other_up() {
    use Rule::FromBelow;
    // 3 was put on 1 or on 2, which are both out when it is still inside; it overlaps each of them.
    let chain = "A push 1; A ->; B push 3; C push 2; C ->; A pop; B ->; C pop; A -> 1; C -> 2; B pop; B -> 3";
    check_events(Kind::Stack, chain, &[FromBelow]);
    let (found, _) = watch(&Draft::parse(chain), Kind::Stack);
    assert_eq!(found[0].event, 10, "when 2 is out");
    let shown: Vec<String> = found[0].operations.iter().map(ToString::to_string).collect();
    let expected = ["push(1)", "pop -> 1", "push(2)", "pop -> 2", "push(3)"];
    assert!(shown.iter().zip(expected).all(|(shown, part)| shown.contains(part)), "{shown:?}");
    assert_eq!(shown.len(), expected.len());
    // The pop of 2 returns late, but 2 lies on 1, which is out; so it is out, too, and 3 on top of it is not.
    let early = "A push 1; A ->; B push 2; B ->; C push 3; A pop; C ->; B pop; A -> 1; C pop; B -> 2; C -> 3";
    check_events(Kind::Stack, early, &[FromBelow]);
    // The same, but 3 may come in when both are out.
    let after = "A push 1; A ->; B push 2; B ->; C push 3; A pop; B pop; C ->; A -> 1; C pop; B -> 2; C -> 3";
    check_events(Kind::Stack, after, &[]);
    // The pop of 3 is called in time.
    let in_time = "A push 1; A ->; B push 3; C push 2; C ->; A pop; B ->; C pop; B pop; A -> 1; C -> 2; B -> 3";
    check_events(Kind::Stack, in_time, &[]);
    // Nobody knows what the pop of D took: it may have been 3, but not 3 and 4.
    check_events(Kind::Stack, &format!("D pop; D ?; {}", chain.trim_end_matches("; B pop; B -> 3")), &[]);
    let two = "A push 1; A ->; B push 3; B ->; B push 4; B ->; A pop; A -> 1";
    check_events(Kind::Stack, &format!("D pop; D ?; {two}"), &[FromBelow]);
}

/// One fault is told once: the value that came out from below many is left out from then on, and one that is lost, too.
#[test]
fn a_fault_is_told_once() {
    use Rule::FromBelow;
    let mut text: Vec<String> = (1..=50).map(|value| format!("A push {value}; A ->")).collect();
    text.push("A pop; A -> 7".to_owned());
    text.extend((1..=50).rev().filter(|value| *value != 7).map(|value| format!("A pop; A -> {value}")));
    check_events(Kind::Stack, &text.join("; "), &[FromBelow]);
    let mut text: Vec<String> = (1..=50).map(|value| format!("A push {value}; A ->")).collect();
    text.extend((1..=50).rev().filter(|value| *value != 30).map(|value| format!("A pop; A -> {value}")));
    check_events(Kind::Stack, &text.join("; "), &[FromBelow]);
}

/// A pop that stays open while many operations end: what it takes is not followed, and that is said.
#[test]
fn a_pop_that_is_open_for_too_long_leaves_a_doubt() {
    let mut monitor = Monitor::new(Kind::Stack, Settings::default()).unwrap();
    let call = |monitor: &mut Monitor, thread: i64, method: &str, argument: Value| {
        monitor.call(&Value::Int(thread), Called { method, argument, ..Called::default() }).unwrap();
    };
    let step = |monitor: &mut Monitor, method: &str, argument: Value, answer: Value| {
        call(monitor, 0, method, argument);
        monitor.outcome(&Value::Int(0), Outcome::Return(answer)).unwrap();
    };
    let push = |monitor: &mut Monitor, value: i64| step(monitor, "push", Value::Int(value), Value::Nil);
    let pop = |monitor: &mut Monitor, value: i64| step(monitor, "pop", Value::Nil, Value::Int(value));
    call(&mut monitor, 9, "pop", Value::Nil);
    for value in 0..DELAYED_MAX as i64 {
        push(&mut monitor, value);
        pop(&mut monitor, value);
    }
    assert!(monitor.entries() < 2 * DELAYED_MAX, "{}", monitor.entries());
    assert_eq!(monitor.counts().unchecked, 1);
    // One value on top: the open pop may have it.
    (1..=2).for_each(|value| push(&mut monitor, -value));
    pop(&mut monitor, -1);
    assert_eq!((monitor.counts().violations, monitor.counts().unchecked), (0, 2));
    // It has no more than one.
    (3..=4).for_each(|value| push(&mut monitor, -value));
    pop(&mut monitor, -3);
    assert_eq!(monitor.found().map(|violation| violation.rule).collect::<Vec<_>>(), [Rule::FromBelow]);
    monitor.outcome(&Value::Int(9), Outcome::Return(Value::Int(-2))).unwrap();
    assert_eq!(monitor.doubts().len(), 1, "{:?}", monitor.doubts());
}
