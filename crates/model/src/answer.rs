//! What a check answers: a verdict, how much was seen for it, and the run that shows it.

use std::fmt;
use std::time::Duration;

use crate::limits::{Limit, Reductions};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// Whether the property holds.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds in all executions.
    Pass,
    /// It does not.
    Fail,
    /// A limit was reached before that was known.
    Unknown(Limit),
}

impl Verdict {
    /// "pass", "fail" or "unknown".
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Unknown(_) => "unknown",
        }
    }
}

/// What is wrong at the end of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The state has no steps and has not terminated.
    Deadlock,
    /// The state has no steps, terminated or not.
    Ends,
    /// No state fulfils the condition; there is no run to show.
    NotReached,
    /// The last step is one that the specification does not allow here.
    NotAllowed {
        /// What the specification would allow, as far as it can be listed.
        allowed: Vec<String>,
    },
    /// The last state offers too little: the specification always offers more.
    Refuses {
        /// What the last state offers.
        offers: Vec<String>,
        /// What the specification insists on: one of these sets must be offered whole.
        demands: Vec<Vec<String>>,
    },
    /// From the last state on, internal steps can go on for ever.
    Diverges,
    /// Beside the last step there is another with its label, to a state that is not equivalent.
    Nondeterministic {
        /// The label.
        label: String,
    },
    /// The run goes on for ever, from step `repeats` on the same, and contradicts the formula.
    Contradicts {
        /// The number of steps before the part that repeats; equal to the number of steps when the run stops there.
        repeats: usize,
    },
}

/// A step of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The step.
    pub action: Action,
    /// Who did it.
    pub actor: String,
    /// What it is called.
    pub label: String,
    /// The state after it, in words, if the system describes states.
    pub state: Option<String>,
    /// The state after it, packed.
    pub packed: Vec<u8>,
}

/// A run of a system: a counterexample, or the witness that something can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Trace {
    /// The state it begins in, in words.
    pub initial: Option<String>,
    /// The steps, in order.
    pub steps: Vec<TraceStep>,
    /// Whether there is none with fewer steps.
    pub shortest: bool,
    /// Whether among those with as few steps there is none with fewer context switches.
    pub fewest_switches: bool,
}

impl Trace {
    /// The labels of visible steps.
    pub fn visible(&self) -> Vec<&str> {
        let visible = |step: &&TraceStep| step.action.label != Label::TAU;
        self.steps.iter().filter(visible).map(|step| step.label.as_str()).collect()
    }

    /// How often a step is by another actor than the one before it.
    pub fn switches(&self) -> usize {
        self.steps.windows(2).filter(|pair| pair[0].action.actor != pair[1].action.actor).count()
    }

    /// What the step with this number changed: the words of the state after it that the state before it did not have.
    pub fn changes(&self, step: usize) -> String {
        let state = |step: Option<usize>| match step {
            Some(step) => self.steps.get(step).and_then(|step| step.state.as_deref()),
            None => self.initial.as_deref(),
        };
        let before: Vec<&str> = state(step.checked_sub(1)).unwrap_or("").split(' ').collect();
        let after = state(Some(step)).unwrap_or("").split(' ');
        after.filter(|word| !before.contains(word)).collect::<Vec<_>>().join(" ")
    }

    /// Names the states and steps of a path.
    pub(crate) fn of<S: TransitionSystem>(system: &S, root: &[u8], steps: Vec<(Action, Vec<u8>)>) -> Trace {
        let initial = if root.is_empty() && steps.is_empty() { None } else { system.describe(&system.unpack(root)) };
        let steps = steps.into_iter().map(|(action, packed)| TraceStep {
            action,
            actor: system.actor_name(action.actor),
            label: system.label_name(action.label),
            state: system.describe(&system.unpack(&packed)),
            packed,
        });
        Trace { initial, steps: steps.collect(), shortest: true, fewest_switches: false }
    }
}

/// How much was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Nodes visited by the search that decided: states, or pairs of an implementation state and a set of specification states. Looking
    /// again for a shorter counterexample is not counted.
    pub states: u64,
    /// Steps taken.
    pub transitions: u64,
    /// Different states of the (implementation) system.
    pub system_states: u64,
    /// Different sets of specification states, in a refinement.
    pub specification_sets: u64,
    /// Bytes in the tables of the search at its end.
    pub bytes: u64,
    /// The length of the longest shortest path.
    pub depth: u32,
    /// How long it took.
    pub elapsed: Duration,
    /// False when states were told apart by their hashes only.
    pub exact: bool,
    /// The reductions in effect: those that were allowed and of use for this system.
    pub reduced: Reductions,
}

/// The answer of a check.
#[must_use]
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whether the property holds.
    pub verdict: Verdict,
    /// Why not, when it does not.
    pub reason: Option<Reason>,
    /// The run that shows it: a counterexample, or a witness for `reaches`.
    pub trace: Option<Trace>,
    /// How much was seen.
    pub statistics: Statistics,
}

/// Why a check has no answer at all.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Trouble {
    /// The model itself is wrong: a state that can be reached has no meaning.
    Fault {
        /// What is wrong.
        fault: Fault,
        /// How it is reached.
        trace: Trace,
    },
    /// The question cannot be asked this way.
    Unsupported {
        /// Why.
        why: &'static str,
    },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Fault { fault, trace } => write!(f, "{fault} (after {} steps)", trace.steps.len()),
            Trouble::Unsupported { why } => f.write_str(why),
        }
    }
}

impl std::error::Error for Trouble {}
