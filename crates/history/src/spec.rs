//! What a sequential object may do: the trait that every specification implements.

use std::hash::Hash;

use crate::History;

/// Gives one state for all those that the operations of a history cannot tell apart.
pub type Normal<'h, S> = Box<dyn Fn(S) -> S + 'h>;

/// A sequential specification, nondeterministic if need be.
///
/// ```
/// use selvedge_history::Spec;
///
/// /// A register that holds a number.
/// struct Cell;
///
/// enum Input { Read, Write(i64) }
///
/// impl Spec for Cell {
///     type State = i64;
///     type Input = Input;
///     type Output = i64;
///
///     fn initial(&self) -> i64 { 0 }
///
///     fn step(&self, state: &i64, input: &Input, output: Option<&i64>, next: &mut Vec<i64>) {
///         match input {
///             Input::Read if output.is_none_or(|seen| seen == state) => next.push(*state),
///             Input::Read => {}
///             Input::Write(value) => next.push(*value),
///         }
///     }
/// }
/// ```
pub trait Spec {
    /// What the object remembers between operations. Compared by content, never by hash alone.
    type State: Clone + Eq + Hash;
    /// A call: the method and its arguments.
    type Input;
    /// What a call returned.
    type Output;

    /// The state before the first operation.
    fn initial(&self) -> Self::State;

    /// Pushes every state that may follow when `input` returned `output` in `state`. `None` asks for the states of
    /// every possible result. Pushing nothing means that the call cannot return so (with `None`: that it blocks).
    fn step(
        &self,
        state: &Self::State,
        input: &Self::Input,
        output: Option<&Self::Output>,
        next: &mut Vec<Self::State>,
    );

    /// Whether an operation that returned `output` never changes the state, whatever the state is. Such an operation
    /// is placed as soon as it fits, which spares the search a branch. Answering `false` is always right.
    fn is_pure(&self, _input: &Self::Input, _output: &Self::Output) -> bool {
        false
    }

    /// The same for an operation that can be seen to change nothing in `state` and in every state that may follow it, though
    /// it might have changed something earlier. Answering `false` is always right.
    fn is_pure_from(&self, _state: &Self::State, _input: &Self::Input, _output: &Self::Output) -> bool {
        false
    }

    /// Whether operations lead to the same state in whatever order they take effect, given the results they had. Then a
    /// search that fails after a moment at which nothing was open need not look for another way to that moment.
    /// Answering `false` is always right.
    fn is_commutative(&self) -> bool {
        false
    }

    /// How to merge states that no operation of the history, with the result that it had, can tell apart, now or later.
    /// The search then follows one of them in place of all. Answering `None` is always right.
    fn normal<'h>(&self, _history: &'h History<Self::Input, Self::Output>) -> Option<Normal<'h, Self::State>> {
        None
    }
}
