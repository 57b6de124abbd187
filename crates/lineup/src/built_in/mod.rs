//! Histories of phase 2 held against a built-in object: no serial runs, so the size of a matrix does not matter to phase 1.
//!
//! Each history is decided by the checkers for recorded histories, up to [`STATES_MAX`] states of a search. Where that is not enough, or where
//! counting was asked for, A_k of the history and of its beginnings is looked at (Bouajjani, Emmi, Enea, Hamza, POPL 2015).
//!
//! Invariant: [`Judgement::Refused`] only for what linearizability refuses. What only counting looked at and did not refuse is counted in the
//! [`Tally`], so that nobody takes it for explained.

mod log;

use std::fmt;

use selvedge_history::check::check;
use selvedge_history::counting::{self, Approximator, Prefixes};
use selvedge_history::evidence::{Failure, Violation};
use selvedge_history::object::{Kind, Object, ObjectVisitor};
use selvedge_history::{Budget, OpId, Value, Verdict};

use crate::calls::Calls;
use crate::criterion::{Case, Criterion, Judgement, Tally};
use crate::recorded::Ending;
use crate::values;
use crate::witness::Unexplained;
use log::{Logged, Unlogged, logged};
use selvedge_protocol::{Refusal, RefusalWhy};

/// How many states the search of one history may visit before counting takes its place.
pub const STATES_MAX: u64 = 200_000;
/// The k of counting where nobody said one.
pub const K: usize = 2;
/// How many beginnings of a history are looked at.
const BEGINNINGS: usize = 1_000;

/// Which built-in object the operations are to be those of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The object.
    pub kind: Kind,
    /// What it begins with, where that was said.
    pub initial: Option<Value>,
    /// The k of counting, if that is to take the place of search.
    pub approximate: Option<usize>,
}

/// RefusalWhy an object cannot be held against that.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltInError {
    /// No built-in object has that name.
    Kind(String),
    /// What it is to begin with does not fit.
    Initial(String),
    /// A call is none of the built-in object.
    Call(String),
    /// Counting says nothing about such an object.
    NoFormula(Kind),
}

impl fmt::Display for BuiltInError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |kinds: &mut dyn Iterator<Item = Kind>| kinds.map(Kind::name).collect::<Vec<_>>().join(", ");
        match self {
            BuiltInError::Kind(name) => {
                let known = names(&mut Kind::ALL.into_iter());
                write!(f, "there is no built-in object `{name}`: expected one of {known}")
            }
            BuiltInError::Initial(why) => f.write_str(why),
            BuiltInError::Call(why) => f.write_str(why),
            BuiltInError::NoFormula(kind) => {
                let known = names(&mut Kind::ALL.into_iter().filter(|kind| counting::has_formula(*kind)));
                write!(f, "there is no counting formula for a {kind}: expected one of {known}")
            }
        }
    }
}

impl std::error::Error for BuiltInError {}

/// Whether every call is one of the object.
struct Fits<'a> {
    kind: Kind,
    calls: &'a Calls,
}

impl ObjectVisitor for Fits<'_> {
    type Answer = Result<(), String>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer {
        let mut names = self.calls.names().iter();
        names.try_for_each(|name| values::input(&object, name, &log::argument(self.kind, name)).map(|_| ()))
    }
}

impl BuiltIn {
    /// Reads a name such as `queue`, or `register=0` with what the object begins with.
    pub fn new(text: &str, approximate: Option<usize>, calls: &Calls) -> Result<Self, BuiltInError> {
        let (name, initial) = text.split_once('=').map_or((text, None), |(name, initial)| (name, Some(initial)));
        let kind = Kind::from_name(name.trim()).ok_or_else(|| BuiltInError::Kind(name.chars().take(40).collect()))?;
        if approximate.is_some() && !counting::has_formula(kind) {
            return Err(BuiltInError::NoFormula(kind));
        }
        let initial = initial.map(|text| values::result(text.trim()));
        let fits = kind.with_object(initial.as_ref(), Fits { kind, calls });
        fits.map_err(|misuse| BuiltInError::Initial(misuse.to_string()))?.map_err(BuiltInError::Call)?;
        Ok(BuiltIn { kind, initial, approximate })
    }
}

/// The criterion.
pub struct Specified {
    built_in: BuiltIn,
    /// Made when something is to be counted for the first time.
    counting: Option<Approximator>,
    /// How many states the search of a history may visit.
    states_max: u64,
    tally: Tally,
    refusal: Option<Refusal>,
}

impl Specified {
    /// The criterion for that object.
    pub fn new(built_in: BuiltIn) -> Self {
        Specified { built_in, counting: None, states_max: STATES_MAX, tally: Tally::default(), refusal: None }
    }

    fn refuse(&mut self, unexplained: Unexplained, why: RefusalWhy) -> Judgement {
        self.tally.buggy += 1;
        self.refusal = Some(Refusal { classes: String::new(), readings: String::new(), exact: true, why });
        Judgement::Refused(unexplained)
    }

    /// Decides the history by search; nothing when that would take too long.
    fn search(&mut self, logged: &Logged) -> Option<Judgement> {
        let BuiltIn { kind, initial, .. } = &self.built_in;
        let (kind, budget) = (*kind, Budget::of_states(self.states_max));
        let answer = match check(&logged.log, kind, initial.as_ref(), &budget) {
            Ok(answer) => answer,
            Err(unfit) => return Some(Judgement::Wrong(unfit.to_string())),
        };
        self.tally.states += answer.states;
        match answer.verdict {
            Verdict::Pass(_) => {
                self.tally.linearizable += 1;
                Some(Judgement::Allowed)
            }
            Verdict::Unknown(_) => None,
            Verdict::Fail(Failure { violation: Violation::NeedNotBlock { operation }, .. }) => {
                let at = logged.at(operation);
                Some(self.refuse(Unexplained::Stuck { column: at.0 }, RefusalWhy::NeedNotBlock { operation: at }))
            }
            Verdict::Fail(failure) => {
                let operations = shown(logged, failure.violation.operations());
                Some(self.refuse(Unexplained::Full, RefusalWhy::Violates { object: kind.to_string(), operations }))
            }
        }
    }

    /// Looks for what A_k shows.
    fn count(&mut self, logged: &Logged, k: usize) -> Judgement {
        let BuiltIn { kind, initial, .. } = &self.built_in;
        let kind = *kind;
        if self.counting.is_none() {
            self.counting = Approximator::new(kind, k).ok();
        }
        let Some(counting) = &mut self.counting else { return Judgement::Undecided };
        let seen = counting.look(&logged.log, initial.as_ref(), Prefixes::AtMost(BEGINNINGS), &Budget::new());
        let seen = match seen {
            Ok(seen) => seen,
            Err(why) => return Judgement::Wrong(why.to_string()),
        };
        let Some(violation) = seen.violation else {
            self.tally.counted += 1;
            return Judgement::Allowed;
        };
        // What counting shows is shown once more, where that can be done.
        let budget = Budget::of_states(self.states_max);
        if let Ok(answer) = check(&logged.log, kind, initial.as_ref(), &budget)
            && matches!(answer.verdict, Verdict::Pass(_))
        {
            let formula = violation.formula;
            return Judgement::Wrong(format!(
                "counting ({formula}) and search differ about a history: this is a mistake of selvedge"
            ));
        }
        let operations = shown(logged, violation.operations);
        self.refuse(
            Unexplained::Full,
            RefusalWhy::Counted { object: kind.to_string(), k, what: violation.what.to_owned(), operations },
        )
    }
}

/// Where operations stand in the matrix, each once.
fn shown(logged: &Logged, operations: Vec<OpId>) -> Vec<(usize, usize)> {
    let mut shown: Vec<(usize, usize)> = Vec::with_capacity(operations.len());
    for at in operations.into_iter().map(|operation| logged.at(operation)) {
        if !shown.contains(&at) {
            shown.push(at);
        }
    }
    shown
}

/// Whether some operation of the object waits in some state.
fn blocks(kind: Kind) -> bool {
    matches!(kind, Kind::Mutex | Kind::RwLock | Kind::Semaphore)
}

impl Criterion for Specified {
    fn name(&self) -> &'static str {
        if self.built_in.approximate.is_some() { "operation-counting" } else { "linearizability" }
    }

    fn needs_serial(&self) -> bool {
        false
    }

    fn judge(&mut self, case: &Case<'_>) -> Judgement {
        let BuiltIn { kind, initial, approximate } = &self.built_in;
        let (kind, approximate) = (*kind, *approximate);
        let logged = match logged(case, kind, initial.as_ref()) {
            Ok(logged) => logged,
            Err(Unlogged::Wrong(why)) => return Judgement::Wrong(why),
            Err(Unlogged::Panicked(operation)) => {
                return self.refuse(
                    Unexplained::Full,
                    RefusalWhy::Violates { object: kind.to_string(), operations: vec![operation] },
                );
            }
        };
        let stuck = case.history.ending == Ending::Stuck;
        if stuck && !blocks(kind) {
            // Whatever the others did, it could have returned.
            let column = case.history.pending().next().unwrap_or(0);
            let place = case.history.columns[column].len().saturating_sub(1);
            return self.refuse(Unexplained::Stuck { column }, RefusalWhy::NeedNotBlock { operation: (column, place) });
        }
        // Counting does not see that an operation waits without need.
        if (approximate.is_none() || stuck)
            && let Some(judgement) = self.search(&logged)
        {
            return judgement;
        }
        match approximate {
            None if !counting::has_formula(kind) => Judgement::Undecided,
            k => self.count(&logged, k.unwrap_or(K)),
        }
    }

    fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    fn take_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }
}

#[cfg(test)]
mod tests;
