//! What is checked against what: sequential objects, and systems whose visible labels are calls and returns of one.

use std::fmt;
use std::sync::Arc;

use selvedge_history::{Elements, Spec};

use crate::system::{Label, TransitionSystem};

/// An argument or a result.
pub type Value = i32;

/// A method with its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    /// Which method, numbered by the object.
    pub method: u32,
    /// Its argument; zero when it takes none.
    pub argument: Value,
}

impl Call {
    /// The operation that the call is with this result.
    pub fn with(self, result: Value) -> Operation {
        Operation { method: self.method, argument: self.argument, result }
    }
}

/// A call with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operation {
    /// Which method, numbered by the object.
    pub method: u32,
    /// Its argument; zero when it takes none.
    pub argument: Value,
    /// Its result; zero when it gives none.
    pub result: Value,
}

impl Operation {
    /// The call without its result.
    pub fn call(&self) -> Call {
        Call { method: self.method, argument: self.argument }
    }
}

/// What is seen of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectEvent {
    /// A thread calls a method.
    Call {
        /// The thread.
        thread: u32,
        /// The method.
        method: u32,
        /// The argument.
        argument: Value,
    },
    /// The thread's call returns.
    Return {
        /// The thread.
        thread: u32,
        /// The result.
        result: Value,
    },
}

/// A sequential object that models are held to. What it does is a [`Spec`], what goes in and out are its [`Elements`]; here
/// is what the construction asks besides: which values are mere data, so that states which differ in names are one.
///
/// [`Elements::calls`] must list every call that is relaxed. Where [`Elements::traffic`] is left out, the causal guard cannot
/// tell that an element leaves before it came.
pub trait ModelObject:
    Spec<State: Ord + Send + Sync, Input = Call, Output = Value> + Elements<Element = Value> + Sync
{
    /// Whether the method's argument is data: the object does nothing with it but keep it and give it back. Data values are
    /// positive.
    fn argument_is_data(&self, _method: u32) -> bool {
        false
    }

    /// Whether this result of the method is data.
    fn result_is_data(&self, _method: u32, _result: Value) -> bool {
        false
    }

    /// Visits the data in a state, in an order that depends on the values as little as possible: states that differ only in
    /// names are then seldom taken for different ones.
    fn values(&self, _state: &Self::State, _visit: &mut dyn FnMut(Value)) {}

    /// Puts other data in place of the data in a state.
    fn rename(&self, _state: &mut Self::State, _name: &dyn Fn(Value) -> Value) {}

    /// How many elements of this value are inside.
    fn inside(&self, _state: &Self::State, _value: Value) -> usize {
        0
    }
}

/// A system whose visible labels are calls and returns.
pub trait Implementation: TransitionSystem {
    /// How many threads call.
    fn threads(&self) -> u32;

    /// What a visible label means; `None` for labels that are nobody's call or return, which count as internal.
    fn event(&self, label: Label) -> Option<ObjectEvent>;

    /// The method that a label returns from, where labels tell: it must be the one that was called.
    fn returns_from(&self, _label: Label) -> Option<u32> {
        None
    }

    /// Whether calls take data without limit: each call of a method with data gets a value that nobody holds at the time,
    /// through `offer`. Sound for systems that do nothing with data but move and compare it. Such a system also `renames`.
    fn takes_offers(&self) -> bool {
        false
    }

    /// Notes in the state the value that calls made from it take. Not part of the packed state.
    fn offer(&self, _state: &mut Self::State, _value: Value) {}

    /// Whether data may be renamed: then `values` and `rename` are there, and the system treats all data alike. Priority
    /// queues do not.
    fn renames(&self) -> bool {
        false
    }

    /// Visits the data in a state, in an order that does not depend on the values.
    fn values(&self, _state: &Self::State, _visit: &mut dyn FnMut(Value)) {}

    /// Puts other data in place of the data in a state.
    fn rename(&self, _state: &mut Self::State, _name: &dyn Fn(Value) -> Value) {}

    /// Whether threads may be exchanged: then actors are threads, and `permute` and `thread_key` are there.
    fn threads_alike(&self) -> bool {
        false
    }

    /// Puts what thread `order[i]` has in the place of thread `i`.
    fn permute(&self, _state: &mut Self::State, _order: &[u32]) {}

    /// A number for what a thread is doing, that does not depend on data values or on which thread it is.
    fn thread_key(&self, _state: &Self::State, _thread: u32) -> u64 {
        0
    }

    /// Whether all that an actor can do in this state are calls, or all are returns, and nobody else's business: whatever others do, the
    /// same calls or returns stay possible, and these change nothing that others look at. Saying no is always right.
    fn apart(&self, _state: &Self::State, _actor: u32) -> bool {
        false
    }
}

/// Which class an operation belongs to, if any.
type ClassOf = Arc<dyn Fn(&Operation) -> Option<usize> + Send + Sync>;

/// Which operations may trade places, and how far: a partition of some operations into classes with factors. Operations
/// of no class stay where they are.
#[derive(Clone)]
pub struct Relaxation {
    factors: Vec<u8>,
    class_of: ClassOf,
}

impl fmt::Debug for Relaxation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relaxation").field("factors", &self.factors).finish_non_exhaustive()
    }
}

impl Relaxation {
    /// No relaxation: linearizability.
    pub fn none() -> Self {
        Relaxation { factors: Vec::new(), class_of: Arc::new(|_| None) }
    }

    /// Classes with the factors given; `class_of` says which one an operation is in. A class with factor zero relaxes nothing.
    pub fn new(factors: Vec<u8>, class_of: impl Fn(&Operation) -> Option<usize> + Send + Sync + 'static) -> Self {
        Relaxation { factors, class_of: Arc::new(class_of) }
    }

    /// The class of an operation that may move at all, with its factor.
    pub(crate) fn class(&self, operation: &Operation) -> Option<(u8, u8)> {
        let class = (self.class_of)(operation)?;
        let factor = *self.factors.get(class)?;
        (factor > 0).then_some((class as u8, factor))
    }

    /// The factor of a class.
    pub(crate) fn factor(&self, class: u8) -> u8 {
        self.factors.get(class as usize).copied().unwrap_or(0)
    }

    /// How many classes there are.
    pub(crate) fn classes(&self) -> usize {
        self.factors.len()
    }
}

/// What a factor bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Measure {
    /// No operation stands further than the factor from its place in a legal run (Quasi-PAT definition 4).
    #[default]
    Distance,
    /// Each operation is among the first K+1 that are due, and the first one due is overtaken at most K times.
    Strict,
}

/// What may be counted on to make a run right in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Guard {
    /// Only operations of the classes that have something open: a removal never precedes the insertion of what it returns.
    #[default]
    Causal,
    /// Any operations.
    Free,
}

/// The criterion that an implementation is held to.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// What may move.
    pub relaxation: Relaxation,
    /// What its factors bound.
    pub measure: Measure,
    /// What makes it right in the end.
    pub guard: Guard,
}

impl Criterion {
    /// Linearizability.
    pub fn linearizable() -> Self {
        Criterion { relaxation: Relaxation::none(), measure: Measure::Distance, guard: Guard::Causal }
    }
}
