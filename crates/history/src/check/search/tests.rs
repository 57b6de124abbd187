//! The search on a small object that is nondeterministic and may block, history by history.

use super::*;
use crate::{End, Event, ThreadId};

/// A counter with `Inc`, `Get` and a `Flip` that leads to the number or its negative; `Wait` blocks while it is 0.
struct Cell;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Input {
    Inc,
    Get,
    Flip,
    Wait,
}

impl Spec for Cell {
    type State = i32;
    type Input = Input;
    type Output = i32;

    fn initial(&self) -> i32 {
        0
    }

    fn apply(&self, state: &i32, input: &Input, out: &mut Vec<(i32, i32)>) {
        match input {
            Input::Inc => out.push((0, state + 1)),
            Input::Get => out.push((*state, *state)),
            Input::Flip if *state != 0 => out.extend([(0, *state), (0, -state)]),
            Input::Wait if *state == 0 => {}
            Input::Flip | Input::Wait => out.push((0, *state)),
        }
    }

    fn is_pure(&self, input: &Input, _: &i32) -> bool {
        matches!(input, Input::Get | Input::Wait)
    }
}

/// A history in one line: `0:inc 1:get 0. 1.5` calls on threads 0 and 1, then returns (with a result or 0).
fn history(text: &str, end: End) -> History<Input, i32> {
    let events = text.split_whitespace().map(|word| {
        let thread = ThreadId(word[..1].parse().unwrap());
        match &word[1..] {
            ":inc" => Event::Call { thread, input: Input::Inc },
            ":get" => Event::Call { thread, input: Input::Get },
            ":flip" => Event::Call { thread, input: Input::Flip },
            ":wait" => Event::Call { thread, input: Input::Wait },
            result => Event::Return { thread, output: result[1..].parse().unwrap_or(0) },
        }
    });
    History::new(events, end).unwrap()
}

/// "pass" with the order, or "fail" with the operation and the length of the shortest failing prefix.
fn check(text: &str, expect: &str) {
    let history = history(text, End::Truncated);
    let budget = Budget::new();
    let answer = match search(&Cell, &history, &Goal::Linearization, &budget).verdict {
        Verdict::Pass(path) => {
            let order: Vec<String> = path.iter().map(|(op, _)| op.0.to_string()).collect();
            format!("pass {}", order.join(" "))
        }
        Verdict::Fail(stuck) => {
            let explained = shortest_failing_prefix(&Cell, &history, stuck, &budget).unwrap();
            format!("fail {} in {}", explained.operation.0, explained.events)
        }
        Verdict::Unknown(limit) => limit.to_string(),
    };
    assert_eq!(answer, expect, "{text}");
}

#[test]
fn finds_orders_and_failures() {
    check("", "pass ");
    check("0:inc 0. 1:get 1.1", "pass 0 1");
    check("0:inc 1:get 1.1 0.", "pass 0 1");
    check("0:inc 1:get 1.0 0.", "pass 1 0");
    check("0:inc 0. 1:get 1.0", "fail 1 in 4");
    check("0:inc 0. 1:get 1.0 0:inc 0. 1:get 1.2", "fail 1 in 4");
}

#[test]
fn pending_operations_may_take_effect_or_not() {
    check("0:inc 1:get 1.0 1:get 1.0", "pass 1 2");
    check("0:inc 1:get 1.0 1:get 1.1", "pass 1 0 2");
    check("0:inc 1:get 1.1 1:get 1.0", "fail 2 in 5");
    check("1:get 1.1 0:inc", "fail 0 in 2");
    check("0:inc 2:inc 1:get 1.2", "pass 0 1 2");
    check("0:inc 2:inc 1:get 1.3", "fail 2 in 4");
}

#[test]
fn follows_every_choice_of_a_nondeterministic_specification() {
    check("0:inc 0. 0:flip 0. 0:get 0.1", "pass 0 1 2");
    check("0:inc 0. 0:flip 0. 0:get 0.-1", "pass 0 1 2");
    check("0:inc 0. 0:flip 0. 0:get 0.-1 0:get 0.1", "fail 3 in 8");
    check("0:inc 0. 0:flip 1:get 1.1 1:get 1.-1 0.", "pass 0 2 1 3");
}

#[test]
fn the_failing_prefix_takes_later_results_as_unknown() {
    // The read of thread 1 is wrong, but that shows only when it returns, although it overlaps everything.
    check("1:get 0:inc 0. 0:get 0.1 0:inc 0. 1.7", "fail 0 in 8");
}

#[test]
fn a_goal_that_blocks_needs_a_state_in_which_it_does() {
    let blocked = |text: &str| {
        let history = history(text, End::Stuck);
        let budget = Budget::new();
        let found = search(&Cell, &history, &Goal::Blocked(&Input::Wait), &budget);
        matches!(found.verdict, Verdict::Pass(_))
    };
    assert!(blocked("0:wait"));
    assert!(!blocked("1:inc 1. 0:wait"));
    assert!(!blocked("1:inc 0:wait 1."), "the increment returned, so the wait sees it");
    assert!(blocked("1:inc 0:wait"), "the other pending operation is left out");
}

#[test]
fn a_spent_budget_gives_no_answer() {
    let text = (0..3).map(|_| "0:inc 1:inc 2:inc 3:inc 0. 1. 2. 3. ").collect::<String>();
    let mut text = text.repeat(40);
    text.push_str("0:get 0.-1");
    let history = history(&text, End::Complete);
    let budget = Budget::new();
    budget.spend(Limit::Time);
    let found = search(&Cell, &history, &Goal::Linearization, &budget);
    assert!(matches!(found.verdict, Verdict::Unknown(Limit::Time)));
}

#[test]
fn failed_configurations_are_visited_once() {
    // Eight increments overlap, again and again: without memory 8! orders each.
    let round = "0:inc 1:inc 2:inc 3:inc 4:inc 5:inc 6:inc 7:inc 0. 1. 2. 3. 4. 5. 6. 7. ";
    let mut text = round.repeat(20);
    text.push_str("0:get 0.-1");
    let history = history(&text, End::Complete);
    let found = search(&Cell, &history, &Goal::Linearization, &Budget::new());
    assert!(matches!(found.verdict, Verdict::Fail(_)));
    assert!(found.states < 20 * 1024 * 8, "{} configurations", found.states);
}
