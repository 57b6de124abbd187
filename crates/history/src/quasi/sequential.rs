//! What the quasi checker asks of a specification beyond [`Spec`]: results to enumerate, values that come and go.
//!
//! Invariant: [`Sequential::results`] lists exactly the outputs for which [`Spec::step`] has a successor (where every value
//! would do, one of them stands for all).

use std::hash::Hash;

use crate::object::Object;
use crate::object::counter::{self, Counter};
use crate::object::deque::{self, Deque};
use crate::object::priority_queue::{self, PriorityQueue};
use crate::object::queue::{self, Queue};
use crate::object::register::{self, Register};
use crate::object::set::{self, Set};
use crate::object::stack::{self, Stack};
use crate::{Spec, Value};

/// A specification whose runs can be enumerated one operation at a time.
///
/// Every method but [`results`](Sequential::results) has an answer that is always right: nothing is known about values.
pub trait Sequential: Spec<Input: Clone + Eq + Hash, Output: Clone + Eq + Hash> {
    /// Pushes every result that the call may have in `state`; nothing when it blocks.
    fn results(&self, state: &Self::State, input: &Self::Input, results: &mut Vec<Self::Output>);

    /// The value that an operation puts in. With `None` for the output: that it may put in.
    fn brings(&self, _input: &Self::Input, _output: Option<&Self::Output>) -> Option<Value> {
        None
    }

    /// The value that an operation takes out.
    fn takes(&self, _input: &Self::Input, _output: &Self::Output) -> Option<Value> {
        None
    }

    /// The value that an operation shows to be inside without taking it out.
    fn sees(&self, _input: &Self::Input, _output: &Self::Output) -> Option<Value> {
        None
    }

    /// Whether the operation found nothing to take.
    fn finds_nothing(&self, _input: &Self::Input, _output: &Self::Output) -> bool {
        false
    }

    /// Calls that somebody might still make after a history has ended, each with its method.
    fn probes(&self) -> Vec<(&'static str, Self::Input)> {
        Vec::new()
    }

    /// The call that would put in `value`, with its method.
    fn insertion(&self, _value: &Value) -> Option<(&'static str, Self::Input)> {
        None
    }

    /// How many values must at least be taken out of `state` before `value` can be. Holds only where nothing puts in the
    /// same value a second time.
    fn ahead(&self, _state: &Self::State, _value: &Value) -> usize {
        0
    }

    /// Whether values leave in the order in which they came, and operations do nothing but put in and take out. Then the
    /// order of insertions that overlap is left open until somebody takes one of their values out.
    fn is_first_in_first_out(&self) -> bool {
        false
    }
}

impl Sequential for Queue {
    fn results(&self, state: &Self::State, input: &queue::Input, results: &mut Vec<Value>) {
        self.answers(state, input, results);
    }

    fn brings(&self, input: &queue::Input, _: Option<&Value>) -> Option<Value> {
        match input {
            queue::Input::Enq(value) => Some(value.clone()),
            _ => None,
        }
    }

    fn takes(&self, input: &queue::Input, output: &Value) -> Option<Value> {
        (matches!(input, queue::Input::Deq) && !output.is_nil()).then(|| output.clone())
    }

    fn sees(&self, input: &queue::Input, output: &Value) -> Option<Value> {
        (matches!(input, queue::Input::Peek) && !output.is_nil()).then(|| output.clone())
    }

    fn finds_nothing(&self, input: &queue::Input, output: &Value) -> bool {
        !matches!(input, queue::Input::Enq(_)) && output.is_nil()
    }

    fn probes(&self) -> Vec<(&'static str, queue::Input)> {
        vec![("deq", queue::Input::Deq), ("peek", queue::Input::Peek)]
    }

    fn insertion(&self, value: &Value) -> Option<(&'static str, queue::Input)> {
        Some(("enq", queue::Input::Enq(value.clone())))
    }

    fn ahead(&self, state: &Self::State, value: &Value) -> usize {
        state.iter().position(|other| other == value).unwrap_or(0)
    }

    fn is_first_in_first_out(&self) -> bool {
        true
    }
}

impl Sequential for Stack {
    fn results(&self, state: &Self::State, input: &stack::Input, results: &mut Vec<Value>) {
        self.answers(state, input, results);
    }

    fn brings(&self, input: &stack::Input, _: Option<&Value>) -> Option<Value> {
        match input {
            stack::Input::Push(value) => Some(value.clone()),
            _ => None,
        }
    }

    fn takes(&self, input: &stack::Input, output: &Value) -> Option<Value> {
        (matches!(input, stack::Input::Pop) && !output.is_nil()).then(|| output.clone())
    }

    fn sees(&self, input: &stack::Input, output: &Value) -> Option<Value> {
        (matches!(input, stack::Input::Peek) && !output.is_nil()).then(|| output.clone())
    }

    fn finds_nothing(&self, input: &stack::Input, output: &Value) -> bool {
        !matches!(input, stack::Input::Push(_)) && output.is_nil()
    }

    fn probes(&self) -> Vec<(&'static str, stack::Input)> {
        vec![("pop", stack::Input::Pop), ("peek", stack::Input::Peek)]
    }

    fn insertion(&self, value: &Value) -> Option<(&'static str, stack::Input)> {
        Some(("push", stack::Input::Push(value.clone())))
    }

    fn ahead(&self, state: &Self::State, value: &Value) -> usize {
        state.iter().rev().position(|other| other == value).unwrap_or(0)
    }
}

impl Sequential for PriorityQueue {
    fn results(&self, state: &Self::State, input: &priority_queue::Input, results: &mut Vec<Value>) {
        self.answers(state, input, results);
    }

    fn brings(&self, input: &priority_queue::Input, _: Option<&Value>) -> Option<Value> {
        match input {
            priority_queue::Input::Insert(value) => Some(value.clone()),
            _ => None,
        }
    }

    fn takes(&self, input: &priority_queue::Input, output: &Value) -> Option<Value> {
        (matches!(input, priority_queue::Input::Poll) && !output.is_nil()).then(|| output.clone())
    }

    fn sees(&self, input: &priority_queue::Input, output: &Value) -> Option<Value> {
        (matches!(input, priority_queue::Input::Peek) && !output.is_nil()).then(|| output.clone())
    }

    fn finds_nothing(&self, input: &priority_queue::Input, output: &Value) -> bool {
        !matches!(input, priority_queue::Input::Insert(_)) && output.is_nil()
    }

    fn probes(&self) -> Vec<(&'static str, priority_queue::Input)> {
        vec![("poll", priority_queue::Input::Poll), ("peek", priority_queue::Input::Peek)]
    }

    fn insertion(&self, value: &Value) -> Option<(&'static str, priority_queue::Input)> {
        let fits = matches!(value, Value::Int(_) | Value::Text(_));
        fits.then(|| ("insert", priority_queue::Input::Insert(value.clone())))
    }

    fn ahead(&self, state: &Self::State, value: &Value) -> usize {
        state.iter().rev().position(|other| other == value).unwrap_or(0)
    }
}

impl Sequential for Deque {
    fn results(&self, state: &Self::State, input: &deque::Input, results: &mut Vec<Value>) {
        self.answers(state, input, results);
    }

    fn brings(&self, input: &deque::Input, _: Option<&Value>) -> Option<Value> {
        match input {
            deque::Input::Push(_, value) => Some(value.clone()),
            _ => None,
        }
    }

    fn takes(&self, input: &deque::Input, output: &Value) -> Option<Value> {
        (matches!(input, deque::Input::Pop(_)) && !output.is_nil()).then(|| output.clone())
    }

    fn sees(&self, input: &deque::Input, output: &Value) -> Option<Value> {
        (matches!(input, deque::Input::Peek(_)) && !output.is_nil()).then(|| output.clone())
    }

    fn finds_nothing(&self, input: &deque::Input, output: &Value) -> bool {
        !matches!(input, deque::Input::Push(..)) && output.is_nil()
    }

    fn probes(&self) -> Vec<(&'static str, deque::Input)> {
        use deque::{Input, Side};
        vec![
            ("pop_front", Input::Pop(Side::Front)),
            ("pop_back", Input::Pop(Side::Back)),
            ("peek_front", Input::Peek(Side::Front)),
            ("peek_back", Input::Peek(Side::Back)),
        ]
    }

    fn insertion(&self, value: &Value) -> Option<(&'static str, deque::Input)> {
        Some(("push_back", deque::Input::Push(deque::Side::Back, value.clone())))
    }
}

impl Sequential for Set {
    fn results(&self, state: &Self::State, input: &set::Input, results: &mut Vec<Value>) {
        self.answers(state, input, results);
    }

    fn brings(&self, input: &set::Input, output: Option<&Value>) -> Option<Value> {
        match input {
            set::Input::Add(value) if output != Some(&Value::Bool(false)) => Some(value.clone()),
            _ => None,
        }
    }

    fn takes(&self, input: &set::Input, output: &Value) -> Option<Value> {
        match input {
            set::Input::Remove(value) if *output == Value::Bool(true) => Some(value.clone()),
            _ => None,
        }
    }

    fn sees(&self, input: &set::Input, output: &Value) -> Option<Value> {
        match (input, output) {
            (set::Input::Contains(value), Value::Bool(true)) | (set::Input::Add(value), Value::Bool(false)) => {
                Some(value.clone())
            }
            _ => None,
        }
    }

    fn insertion(&self, value: &Value) -> Option<(&'static str, set::Input)> {
        Some(("add", set::Input::Add(value.clone())))
    }
}

impl Sequential for Counter {
    fn results(&self, state: &Self::State, input: &counter::Input, results: &mut Vec<Value>) {
        self.answers(state, input, results);
    }

    fn probes(&self) -> Vec<(&'static str, counter::Input)> {
        use counter::Input;
        vec![
            ("inc", Input::Add(1)),
            ("dec", Input::Add(-1)),
            ("get", Input::Get),
            ("fetch_inc", Input::FetchAdd(1)),
            ("fetch_dec", Input::FetchAdd(-1)),
            ("inc_and_get", Input::AddAndGet(1)),
            ("dec_and_get", Input::AddAndGet(-1)),
        ]
    }
}

impl Sequential for Register {
    fn results(&self, state: &Self::State, input: &register::Input, results: &mut Vec<Value>) {
        self.answers(state, input, results);
    }

    fn probes(&self) -> Vec<(&'static str, register::Input)> {
        vec![("read", register::Input::Read)]
    }
}
