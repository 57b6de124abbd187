//! What a sequential object does: [`Spec`], which every check holds objects to, and [`Elements`], what the checks of
//! relaxed objects ask besides.
//!
//! Invariant: nothing here knows who asks. An answer that is left out is always right, it only costs time or finds less.

use std::hash::Hash;

use crate::History;

/// Gives one state for all those that the operations of a history cannot tell apart.
pub type Normal<'h, S> = Box<dyn Fn(S) -> S + 'h>;

/// What a sequential object does: which results each call may have in each state, and where they lead. It may be
/// nondeterministic, and a call without any result blocks.
///
/// Every check of this project holds objects to this trait: recorded histories, quasi linearizability, tests of running
/// code, models. [`initial`](Spec::initial) and [`apply`](Spec::apply) say it all; every other method has an answer that is
/// always right, and an object says more where that saves the checks work.
///
/// ```
/// use selvedge_history::Spec;
///
/// /// A register that holds a number; writing answers 0.
/// struct Cell;
///
/// #[derive(Clone, PartialEq, Eq, Hash)]
/// enum Input { Read, Write(i64) }
///
/// impl Spec for Cell {
///     type State = i64;
///     type Input = Input;
///     type Output = i64;
///
///     fn initial(&self) -> i64 { 0 }
///
///     fn apply(&self, state: &i64, input: &Input, out: &mut Vec<(i64, i64)>) {
///         out.push(match input {
///             Input::Read => (*state, *state),
///             Input::Write(value) => (0, *value),
///         });
///     }
/// }
/// ```
pub trait Spec {
    /// What the object remembers between operations. Compared by content, never by hash alone.
    type State: Clone + Eq + Hash;
    /// A call: the method and its arguments.
    type Input: Clone + Eq + Hash;
    /// What a call returned.
    type Output: Clone + Eq + Hash;

    /// The state before the first operation.
    fn initial(&self) -> Self::State;

    /// Pushes every result that the call may have in `state`, each with a state that may follow, no pair twice. Pushing
    /// nothing means that the call blocks. Where every value would do as a result, one of them stands for all, and
    /// [`step`](Spec::step) knows the others.
    fn apply(&self, state: &Self::State, input: &Self::Input, out: &mut Vec<(Self::Output, Self::State)>);

    /// Pushes every state that may follow when `input` returned `output` in `state`. `None` asks for the states of
    /// every possible result. Pushing nothing means that the call cannot return so (with `None`: that it blocks).
    ///
    /// An object writes this itself where a search asks often, or where a result as it was recorded may stand for several.
    fn step(
        &self,
        state: &Self::State,
        input: &Self::Input,
        output: Option<&Self::Output>,
        next: &mut Vec<Self::State>,
    ) {
        let mut all = Vec::new();
        self.apply(state, input, &mut all);
        let from = next.len();
        for (result, after) in all {
            if output.is_none_or(|output| *output == result) && !next[from..].contains(&after) {
                next.push(after);
            }
        }
    }

    /// Pushes the results of [`apply`](Spec::apply) alone, each once. An object writes this itself where states are costly to
    /// copy.
    fn answers(&self, state: &Self::State, input: &Self::Input, answers: &mut Vec<Self::Output>) {
        let mut all = Vec::new();
        self.apply(state, input, &mut all);
        for (result, _) in all {
            if !answers.contains(&result) {
                answers.push(result);
            }
        }
    }

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

/// What an operation does to the elements inside an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic<E> {
    /// Nothing that anybody knows of.
    None,
    /// Puts one in.
    In(E),
    /// Takes one out.
    Out(E),
    /// Shows one to be inside, and leaves it there.
    Seen(E),
    /// Finds nothing to take or to show.
    Nothing,
}

/// What goes into an object and comes out of it, and which calls somebody might make next: what the checks of quasi
/// linearizability ask of an object, be it of recorded histories, of running code or of models.
///
/// Every method has an answer that is always right: nothing is known about elements.
pub trait Elements: Spec {
    /// What is put in and taken out.
    type Element: Clone + Ord + Hash;

    /// What an operation does to the elements inside. With `None` for the output: what it may do, as far as the call says.
    fn traffic<'a>(&'a self, _input: &'a Self::Input, _output: Option<&'a Self::Output>) -> Traffic<&'a Self::Element> {
        Traffic::None
    }

    /// The element that an operation puts in. With `None` for the output: that it may put in.
    fn brings(&self, input: &Self::Input, output: Option<&Self::Output>) -> Option<Self::Element> {
        match self.traffic(input, output) {
            Traffic::In(element) => Some(element.clone()),
            _ => None,
        }
    }

    /// The element that an operation takes out.
    fn takes(&self, input: &Self::Input, output: &Self::Output) -> Option<Self::Element> {
        match self.traffic(input, Some(output)) {
            Traffic::Out(element) => Some(element.clone()),
            _ => None,
        }
    }

    /// The element that an operation shows to be inside without taking it out.
    fn sees(&self, input: &Self::Input, output: &Self::Output) -> Option<Self::Element> {
        match self.traffic(input, Some(output)) {
            Traffic::Seen(element) => Some(element.clone()),
            _ => None,
        }
    }

    /// Whether the operation found nothing to take.
    fn finds_nothing(&self, input: &Self::Input, output: &Self::Output) -> bool {
        matches!(self.traffic(input, Some(output)), Traffic::Nothing)
    }

    /// The calls that somebody might make at any time: those that are considered when looking ahead. An object whose
    /// elements are without limit leaves out the calls that bring one.
    fn calls(&self) -> Vec<Self::Input> {
        Vec::new()
    }

    /// The name of the method that is called.
    fn method_name(&self, _input: &Self::Input) -> String {
        String::new()
    }

    /// The call that would put in `element`.
    fn insertion(&self, _element: &Self::Element) -> Option<Self::Input> {
        None
    }

    /// How many elements must at least be taken out of `state` before `element` can be. Holds only where nothing puts in
    /// the same one a second time.
    fn ahead(&self, _state: &Self::State, _element: &Self::Element) -> usize {
        0
    }

    /// Whether elements leave in the order in which they came, and operations do nothing but put in and take out. Then the
    /// order of insertions that overlap is left open until somebody takes one of their elements out, by the first of
    /// [`calls`](Elements::calls).
    fn is_first_in_first_out(&self) -> bool {
        false
    }
}
