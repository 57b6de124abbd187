//! The front door of the checkers: splits a log into independent objects and picks the right algorithm for each.
//!
//! Collections, sets and registers whose values are distinct are decided in O(n log n) or better by an algorithm of their
//! own, with pending removals of a collection in polynomial time; everything else, and what those leave open (repeated values,
//! observations), by the [`search`]. Every algorithm answers exactly; the answer names the ones that ran.
//!
//! Invariant: an answer `Pass` carries one linearization for each part, an answer `Fail` a violation that by itself
//! shows that there is none; neither depends on which algorithm found it.

pub mod assumed;
mod bag;
mod collection;
mod cover_tree;
mod decide;
mod numbers;
pub(crate) mod part;
mod pending;
mod priority_queue;
mod queue;
mod register;
mod repeated;
pub mod search;
mod set;
mod spans;
mod stack;

use std::fmt;

use crate::evidence::{Failure, Linearization};
use crate::object::{Kind, Misuse, Object};
use crate::{Budget, History, Log, OpId, Spec, Value, Verdict};

/// An algorithm that decided some part.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// Distinct values in a queue: two pointers.
    Queue,
    /// Distinct values in a stack: peeling.
    Stack,
    /// Distinct values in a priority queue: from the highest down.
    PriorityQueue,
    /// Distinct values in a bag.
    Bag,
    /// Each value added and removed once in a set.
    Set,
    /// Distinct values in a register: zones.
    Register,
    /// The memoised search, for everything.
    Search,
}

impl Algorithm {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Queue => "queue-distinct",
            Algorithm::Stack => "stack-distinct",
            Algorithm::PriorityQueue => "priority-queue-distinct",
            Algorithm::Bag => "bag-distinct",
            Algorithm::Set => "set-distinct",
            Algorithm::Register => "register-distinct",
            Algorithm::Search => "search",
        }
    }
}

/// The answer for a whole log.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The object that it was checked as.
    pub kind: Kind,
    /// One linearization for each part; or the part that has none.
    pub verdict: Verdict<Vec<Linearization>, Failure>,
    /// The algorithms that ran, each once.
    pub algorithms: Vec<Algorithm>,
    /// How many independent objects there are.
    pub parts: usize,
    /// How many of them were found linearizable.
    pub parts_passed: usize,
    /// How many configurations the search visited in all.
    pub states: u64,
    /// In a part that was left undecided: the most operations that were placed at once.
    pub longest: usize,
}

/// An operation that does not fit the object it is checked as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The operation, `None` when it is the initial value that does not fit.
    pub op: Option<OpId>,
    /// Whether it is the result that does not fit, and not the call.
    pub at_return: bool,
    /// The method called.
    pub method: String,
    /// What is wrong.
    pub misuse: Misuse,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.op.is_some() {
            write!(f, "`{}`: ", self.method)?;
        }
        self.misuse.fmt(f)
    }
}

impl std::error::Error for Unfit {}

/// Decides whether the log, read as an object of that kind, is linearizable. `initial` stands before what the log itself
/// states.
pub fn check(log: &Log, kind: Kind, initial: Option<&Value>, budget: &Budget) -> Result<Answer, Unfit> {
    let initial = initial.or(log.initial.as_ref());
    decide::decide(log, kind, initial, budget)
}

/// Decides whether a history is linearizable under a specification of one's own, as one object and by the search. What is
/// pending may have taken effect or not, however the history ended. Where a limit is reached after the failure was certain
/// and before its shortest prefix was found, the prefix given is the whole history, without an order for what comes before.
///
/// ```
/// use selvedge_history::check::check_history;
/// use selvedge_history::{Budget, End, Event, History, Spec, ThreadId, Verdict};
///
/// /// A dispenser that gives out each number once, in any order.
/// struct Tickets;
///
/// impl Spec for Tickets {
///     type State = Vec<u32>;
///     type Input = ();
///     type Output = u32;
///
///     fn initial(&self) -> Vec<u32> { vec![1, 2, 3] }
///
///     fn apply(&self, left: &Vec<u32>, _: &(), out: &mut Vec<(u32, Vec<u32>)>) {
///         for (i, ticket) in left.iter().enumerate() {
///             let mut after = left.clone();
///             after.remove(i);
///             out.push((*ticket, after));
///         }
///     }
/// }
///
/// let call = |thread| Event::Call { thread: ThreadId(thread), input: () };
/// let ret = |thread, output| Event::Return { thread: ThreadId(thread), output };
/// let right = History::new([call(0), call(1), ret(0, 3), ret(1, 1)], End::Complete)?;
/// assert!(matches!(check_history(&Tickets, &right, &Budget::new()), Verdict::Pass(_)));
/// let twice = History::new([call(0), call(1), ret(0, 2), ret(1, 2)], End::Complete)?;
/// let Verdict::Fail(why) = check_history(&Tickets, &twice, &Budget::new()) else { panic!() };
/// assert_eq!(why.events, 4);
/// # Ok::<(), selvedge_history::IllFormed>(())
/// ```
pub fn check_history<S: Spec>(
    spec: &S,
    history: &History<S::Input, S::Output>,
    budget: &Budget,
) -> Verdict<Vec<OpId>, search::Explained> {
    match search::search(spec, history, &search::Goal::Linearization, budget).verdict {
        Verdict::Pass(path) => Verdict::Pass(path.into_iter().map(|(op, _)| op).collect()),
        Verdict::Fail(stuck) => {
            let whole =
                search::Explained { operation: stuck.0, events: history.marks().len() as u32, partial: Vec::new() };
            Verdict::Fail(search::shortest_failing_prefix(spec, history, stuck, budget).unwrap_or(whole))
        }
        Verdict::Unknown(limit) => Verdict::Unknown(limit),
    }
}

/// Reads a call of the log, and checks that its result fits.
pub(crate) fn read<O: Object>(object: &O, kind: Kind, log: &Log, op: OpId) -> Result<O::Input, Unfit> {
    let operation = log.history.operation(op);
    let method = log.name(operation.input.method);
    let unfit = |at_return| move |misuse| Unfit { op: Some(op), at_return, method: method.to_owned(), misuse };
    let input = object.input(method, &kind.argument(&operation.input)).map_err(unfit(false))?;
    if let Some(output) = operation.output() {
        object.admits(&input, output).map_err(unfit(true))?;
    }
    Ok(input)
}
#[cfg(test)]
mod tests;
