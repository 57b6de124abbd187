//! Which object a log is about, by what it says itself or by the methods it calls.
//!
//! Invariant: an object is inferred only if it takes every method called, and never by its place in a list: either
//! the methods point to exactly one object, or exactly one can take them, or it is an error.

use std::fmt;

use super::kind::{Kind, ObjectVisitor};
use super::method::{self, canonical};
use super::{Misuse, Object};
use crate::log::{Call, Log};
use crate::{Operation, Value};

/// How many operations are looked at beyond their method: enough to tell the objects apart, and cheap for a long log.
const SAMPLE: usize = 1_000;

/// A log that does not tell which object it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguous {
    /// The methods called, in alphabetical order.
    pub methods: Vec<String>,
    /// The objects that would take them.
    pub candidates: Vec<Kind>,
}

impl fmt::Display for Ambiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.methods.is_empty() {
            return f.write_str("the log has no calls that would tell which object it is about; name it with --object");
        }
        let shown: Vec<String> = self.methods.iter().take(12).map(|method| format!("`{method}`")).collect();
        let more = if self.methods.len() > shown.len() { ", ..." } else { "" };
        let methods = shown.join(", ");
        if self.candidates.is_empty() {
            let all: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            return write!(
                f,
                "no object has all of the methods {methods}{more}; name the one that is meant with --object ({})",
                all.join(", ")
            );
        }
        let candidates: Vec<&str> = self.candidates.iter().map(|kind| kind.name()).collect();
        write!(
            f,
            "the methods {methods}{more} do not tell which object is meant; name it with --object ({})",
            candidates.join(", ")
        )
    }
}

impl std::error::Error for Ambiguous {}

impl Kind {
    /// The object that a log is about: what the log declares, if that names one, else what its methods point to.
    /// O(n) with one pass over the methods; arguments and results of the first thousand operations decide where methods
    /// do not.
    pub fn infer(log: &Log) -> Result<Kind, Ambiguous> {
        if let Some(kind) = log.declared.as_deref().and_then(Kind::from_name) {
            return Ok(kind);
        }
        let clues = Clues::new(log);
        if clues.methods.is_empty() {
            return Err(Ambiguous { methods: Vec::new(), candidates: Kind::ALL.to_vec() });
        }
        let by_name: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| clues.has_methods(*kind)).collect();
        let by_value: Vec<Kind> = by_name.iter().copied().filter(|kind| clues.fits(*kind)).collect();
        // A log that no object takes as it is has an error in it: better to point at that than at the choice.
        let candidates = if by_value.is_empty() { by_name } else { by_value };
        let suggested: Vec<Kind> = candidates.iter().copied().filter(|kind| clues.suggest(*kind)).collect();
        match (&suggested[..], &candidates[..]) {
            ([kind], _) | ([], [kind]) => Ok(*kind),
            _ => {
                let candidates = if suggested.is_empty() { candidates } else { suggested };
                Err(Ambiguous { methods: clues.methods, candidates })
            }
        }
    }
}

/// What a log shows of its object.
struct Clues<'a> {
    log: &'a Log,
    sample: &'a [Operation<Call, Value>],
    /// Sorted, as the log has them.
    methods: Vec<String>,
    /// Whether some call has a key.
    keyed: bool,
    /// Whether some call answered true or false.
    truths: bool,
}

impl<'a> Clues<'a> {
    fn new(log: &'a Log) -> Self {
        let operations = log.history.operations();
        let sample = &operations[..operations.len().min(SAMPLE)];
        let mut called = vec![false; log.names().len()];
        for operation in operations {
            called[operation.input.method.0 as usize] = true;
        }
        let mut methods: Vec<String> =
            log.names().iter().zip(called).filter(|(_, called)| *called).map(|(name, _)| name.clone()).collect();
        methods.sort_unstable();
        Clues {
            log,
            sample,
            methods,
            keyed: sample.iter().any(|op| !op.input.key.is_nil()),
            truths: sample.iter().any(|op| matches!(op.output(), Some(Value::Bool(_)))),
        }
    }

    fn has_methods(&self, kind: Kind) -> bool {
        self.methods.iter().all(|name| method::find(kind.methods(), name).is_ok())
    }

    /// Whether the object takes the arguments and results too.
    fn fits(&self, kind: Kind) -> bool {
        struct Fits<'a>(&'a Clues<'a>, Kind);
        impl ObjectVisitor for Fits<'_> {
            type Answer = bool;
            fn visit<O: Object + Sync + 'static>(self, object: O) -> bool {
                let Fits(clues, kind) = self;
                let fits = |op: &Operation<Call, Value>| -> Result<(), Misuse> {
                    let input = object.input(clues.log.name(op.input.method), &kind.argument(&op.input))?;
                    op.output().map_or(Ok(()), |output| object.admits(&input, output))
                };
                clues.sample.iter().all(|op| fits(op).is_ok())
            }
        }
        kind.with_object(self.log.initial.as_ref(), Fits(self, kind)).unwrap_or(false)
    }

    fn has(&self, names: &[&str]) -> bool {
        self.methods.iter().any(|name| names.contains(&&*canonical(name)))
    }

    fn has_only(&self, names: &[&str]) -> bool {
        self.methods.iter().all(|name| names.contains(&&*canonical(name)))
    }

    /// Whether the methods are those by which the object is known.
    fn suggest(&self, kind: Kind) -> bool {
        const GET_AND_SET: &[&str] = &["get", "set"];
        match kind {
            Kind::Queue => self.has(&["enq", "enqueue", "deq", "dequeue", "send", "recv", "receive"]),
            Kind::Stack => self.has(&["push", "pop", "top"]),
            // `insert` and `poll` do not tell which end comes first.
            Kind::PriorityQueue => {
                self.has(&["delete_max", "extract_max", "remove_max", "poll_max", "pop_max", "find_max", "peek_max"])
            }
            Kind::PriorityQueueMin => {
                self.has(&["delete_min", "extract_min", "remove_min", "poll_min", "pop_min", "find_min", "peek_min"])
            }
            Kind::Set => self.has(&["contains", "has", "member"]) || self.truths,
            Kind::Bag => self.has(&["remove_any"]),
            Kind::Map => self.has(&["put", "append", "contains_key", "has_key"]) || self.keyed && self.has(GET_AND_SET),
            Kind::Register => {
                self.has(&["read", "write", "r", "w", "load", "store"]) || !self.keyed && self.has(GET_AND_SET)
            }
            Kind::CasRegister => self.has(&["cas", "compare_and_set", "compare_and_swap", "compare_exchange"]),
            Kind::Mutex => self.has(&["acquire", "release", "try_acquire", "lock", "unlock", "try_lock"]),
            Kind::Semaphore => self.has(&["wait", "signal", "post", "down", "up", "p", "v"]),
            Kind::Counter => !self.has_only(&["get", "read", "load", "value", "add", "sub"]),
            Kind::Deque => !self.has_only(&["front", "back"]),
            Kind::MultiRegister | Kind::RwLock => true,
        }
    }
}
