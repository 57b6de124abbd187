//! What is explored: states and labelled steps. A state can be packed into bytes, which is all that the visited set
//! keeps of it.

use std::fmt;

/// A label of a step, numbered by the system that it comes from. Two systems that are compared number alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Label(pub u32);

impl Label {
    /// The step that nobody sees.
    pub const TAU: Label = Label(0);
    /// Successful termination.
    pub const TICK: Label = Label(1);
}

/// A step: what is seen of it, and which process makes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Action {
    /// What is seen.
    pub label: Label,
    /// Who does it: a column in the table of a counterexample.
    pub actor: u32,
}

/// Why a state has no successors that could be computed: an index out of range, a value out of its range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What went wrong, in a sentence.
    pub message: String,
    /// Where in the text, as line and column, when the system comes from a text.
    pub place: Option<(u32, u32)>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// A labelled transition system, explored step by step.
pub trait TransitionSystem: Sync {
    /// A state, unpacked.
    type State: Clone + Send;

    /// The states it may begin in.
    fn initial(&self, out: &mut Vec<Self::State>) -> Result<(), Fault>;

    /// Every step out of `state`.
    fn successors(&self, state: &Self::State, out: &mut Vec<(Action, Self::State)>) -> Result<(), Fault>;

    /// Writes the state as bytes; equal states have equal bytes and no others do.
    fn pack(&self, state: &Self::State, bytes: &mut Vec<u8>);

    /// Reads back what `pack` wrote.
    fn unpack(&self, bytes: &[u8]) -> Self::State;

    /// The name of a label, as a person reads it.
    fn label_name(&self, label: Label) -> String;

    /// The name of an actor.
    fn actor_name(&self, actor: u32) -> String {
        format!("P{actor}")
    }

    /// What a person should see of a state in a counterexample, if anything.
    fn describe(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// Whether the state has no steps because everything ended as it should. Such a state is no deadlock.
    fn terminated(&self, _state: &Self::State) -> bool {
        false
    }

    /// The actors that are alone in this state: every step such an actor can take, here and after any steps of others, is
    /// there now, is `TAU`, and commutes with every step of every other actor. The partial-order reduction lets one of
    /// them go first. Saying nothing is always right.
    fn alone(&self, _state: &Self::State, _actors: &mut Vec<u32>) {}
}
