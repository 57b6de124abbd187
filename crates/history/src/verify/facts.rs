//! What is certain about the values of a part: the facts from which a violation follows.
//!
//! The moments at which an operation can take effect are the gaps between events from its call to its return; the
//! gap after event g is called g. A value that was put in once, by `insert`, is *certainly inside* in each gap from the
//! return of `insert` to the call of the operation that took it out. An operation that took out or saw a value shows that
//! it was inside when that operation took effect; since it was put in once, it was inside at every moment between two such.
//!
//! Invariant: a fact holds in every order, whatever pending operations did. Hence their insertions count as sources of a
//! value; and a value that nothing is known to have taken out is certain only up to the call of the first pending operation
//! that may have. In a stuck history pending operations took no effect and do not count.

use hashbrown::HashMap;

use super::simulate::{Action, Kind, Object};
use super::{Members, Refusal, Stop};
use crate::evidence::Stay;
use crate::{Call, OpId, Operation, Value};

pub(super) static NIL: Value = Value::Nil;

/// The kinds of object that patterns speak about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Values go in and come out, the removal of nothing answers nil.
    Collection,
    Set,
    /// One value at a time.
    Register,
    Other,
}

fn family(kind: Kind) -> Family {
    match kind {
        Kind::Queue | Kind::Stack | Kind::Deque | Kind::PriorityQueue | Kind::PriorityQueueMin | Kind::Bag => {
            Family::Collection
        }
        Kind::Set => Family::Set,
        Kind::Register | Kind::CasRegister | Kind::Map => Family::Register,
        Kind::MultiRegister | Kind::Counter | Kind::Mutex | Kind::RwLock | Kind::Semaphore => Family::Other,
    }
}

/// What a part's operations do to one value.
#[derive(Clone, Copy)]
struct Tally {
    /// How many operations put it in, or may have; the initial value counts as one.
    sources: u32,
    /// How many took it out.
    removals: u32,
    /// The call of the first operation that may have taken out this very value, though that is not recorded.
    pending: u32,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { sources: 0, removals: 0, pending: u32::MAX }
    }
}

/// When a value was certainly inside: in each gap g with `enters <= g < leaves`.
pub(super) struct Span<'a> {
    pub(super) value: &'a Value,
    pub(super) enters: u32,
    pub(super) leaves: u32,
}

/// One part of the log, as the patterns see it.
pub(super) struct Scene<'a> {
    members: &'a Members<'a>,
    pub(super) kind: Kind,
    pub(super) family: Family,
    /// The value that a register has at the start.
    pub(super) initial: Option<&'a Value>,
    tallies: HashMap<&'a Value, Tally, foldhash::fast::RandomState>,
    /// The call of the first pending operation that may have taken out any value.
    pending: u32,
    /// The calls of all of these, in order.
    pending_calls: Vec<u32>,
    /// The last operation that put in each value, or may have.
    inserted: HashMap<&'a Value, OpId, foldhash::fast::RandomState>,
}

impl<'a> Scene<'a> {
    /// Counts what happens to each value. O(n).
    pub(super) fn new(members: &'a Members<'a>) -> Result<Self, Stop> {
        let reading = members.reading;
        let kind = reading.kind;
        let tallies = HashMap::default();
        let mut scene = Scene {
            members,
            kind,
            family: family(kind),
            initial: None,
            tallies,
            pending: u32::MAX,
            pending_calls: Vec::new(),
            inserted: HashMap::default(),
        };
        if let Object::Cell(initial, _) = &reading.start {
            let initial = scene.plain(initial);
            scene.initial = Some(initial);
            scene.tallies.entry(initial).or_default().sources += 1;
        }
        for (i, &op) in members.ops.iter().enumerate() {
            if i % 4096 == 0 {
                reading.budget.check()?;
            }
            scene.count(op, reading.operation(op)?);
        }
        Ok(scene)
    }

    fn count(&mut self, op: OpId, operation: &'a Operation<Call, Value>) {
        if self.is_void(operation) {
            return;
        }
        if matches!(self.action(op), Action::Append(_)) {
            // What an append writes depends on what it finds, so no value has a known source.
            self.family = Family::Other;
        }
        if let Some(value) = self.puts(op, operation) {
            self.tallies.entry(value).or_default().sources += 1;
            self.inserted.insert(value, op);
        }
        if let Some(value) = self.takes(op, operation) {
            self.tallies.entry(value).or_default().removals += 1;
        }
        // A set's log may leave out what a removal answered, and then it may have taken out its element too.
        match (self.action(op), operation.output()) {
            (Action::Remove(_), None) => {
                self.pending = self.pending.min(operation.call);
                self.pending_calls.push(operation.call);
            }
            (Action::Discard(value), None | Some(Value::Nil)) => {
                let first = &mut self.tallies.entry(value).or_default().pending;
                *first = (*first).min(operation.call);
            }
            _ => {}
        }
    }

    /// Whether an operation counts for nothing: it is pending in a stuck history.
    fn is_void(&self, operation: &Operation<Call, Value>) -> bool {
        operation.ret.is_none() && self.members.reading.is_stuck()
    }

    /// The value that an operation put in or wrote, or may have if it is pending.
    pub(super) fn puts(&self, op: OpId, operation: &'a Operation<Call, Value>) -> Option<&'a Value> {
        let truth = operation.output().and_then(Value::as_bool);
        match self.action(op) {
            Action::Insert(_, value) => Some(value),
            Action::Add(value) if truth != Some(false) => Some(value),
            Action::Cas(_, value) if truth != Some(false) => Some(self.plain(value)),
            Action::Write(value) => Some(self.plain(value)),
            Action::Erase | Action::Take => Some(&NIL),
            _ => None,
        }
    }

    /// The value that an operation is known to have taken out.
    pub(super) fn takes(&self, op: OpId, operation: &'a Operation<Call, Value>) -> Option<&'a Value> {
        let result = operation.output()?;
        match self.action(op) {
            Action::Remove(_) if !result.is_nil() => Some(result),
            Action::Discard(value) if *result == Value::Bool(true) => Some(value),
            _ => None,
        }
    }

    /// The value that an operation shows to have been there when it took effect.
    pub(super) fn sees(&self, op: OpId, operation: &'a Operation<Call, Value>) -> Option<&'a Value> {
        let result = operation.output()?;
        match self.action(op) {
            Action::Remove(_) | Action::Peek(_) if !result.is_nil() => Some(result),
            Action::Contains(value) | Action::Discard(value) if *result == Value::Bool(true) => Some(value),
            Action::Add(value) if *result == Value::Bool(false) => Some(value),
            Action::Read | Action::Take => Some(self.plain(result)),
            Action::Cas(value, _) if *result != Value::Bool(false) => Some(self.plain(value)),
            _ => None,
        }
    }

    /// A map does not tell an absent key from an empty text; elsewhere a value is what it is.
    fn plain(&self, value: &'a Value) -> &'a Value {
        if self.kind == Kind::Map && value.as_text() == Some("") { &NIL } else { value }
    }

    pub(super) fn action(&self, op: OpId) -> &'a Action {
        self.members.reading.action(op)
    }

    /// An operation that counts.
    pub(super) fn operation(&self, op: OpId) -> Result<&'a Operation<Call, Value>, Refusal> {
        let operation = self.members.operation(op)?;
        if self.is_void(operation) { Err(Refusal::Pending(op)) } else { Ok(operation) }
    }

    fn put(&self, op: OpId) -> Result<&'a Value, Refusal> {
        self.puts(op, self.operation(op)?).ok_or(Refusal::NoInsertion(op))
    }

    pub(super) fn seen(&self, op: OpId) -> Result<&'a Value, Refusal> {
        self.sees(op, self.operation(op)?).ok_or(Refusal::NotSeen { operation: op, value: None })
    }

    /// The calls of the pending operations that may have taken out any value, in order.
    pub(super) fn pending_calls(&self) -> &[u32] {
        &self.pending_calls
    }

    /// The operation that put a value in, if there is only one.
    pub(super) fn insertion_of(&self, value: &Value) -> Option<OpId> {
        self.check_sources(value, 1).ok()?;
        self.inserted.get(value).copied()
    }

    fn tally(&self, value: &Value) -> Tally {
        self.tallies.get(value).copied().unwrap_or_default()
    }

    pub(super) fn check_sources(&self, value: &Value, expected: u32) -> Result<(), Refusal> {
        let sources = self.tally(value).sources;
        if sources == expected {
            return Ok(());
        }
        Err(Refusal::OtherSource { value: value.clone(), sources, expected })
    }

    /// Checks that `op` is the only operation that put in what it put in.
    pub(super) fn sole_source(&self, op: OpId) -> Result<&'a Value, Refusal> {
        let value = self.put(op)?;
        self.check_sources(value, 1)?;
        Ok(value)
    }

    pub(super) fn check_sees(&self, op: OpId, value: &Value) -> Result<(), Refusal> {
        if self.sees(op, self.operation(op)?) == Some(value) {
            return Ok(());
        }
        Err(Refusal::NotSeen { operation: op, value: Some(value.clone()) })
    }

    pub(super) fn check_takes(&self, op: OpId, value: &Value) -> Result<(), Refusal> {
        if self.takes(op, self.operation(op)?) == Some(value) {
            return Ok(());
        }
        Err(Refusal::NoRemoval { operation: op, value: value.clone() })
    }

    pub(super) fn check_before(&self, first: OpId, second: OpId) -> Result<(), Refusal> {
        if self.operation(first)?.end() < self.operation(second)?.call {
            return Ok(());
        }
        Err(Refusal::NotBefore { first, second })
    }

    /// Up to when a value that nothing is known to have taken out was certainly inside.
    pub(super) fn never_removed(&self, value: &Value) -> Result<u32, Refusal> {
        let tally = self.tally(value);
        if tally.removals > 0 {
            return Err(Refusal::Removed(value.clone()));
        }
        Ok(tally.pending.min(self.pending))
    }

    pub(super) fn span(&self, stay: &Stay) -> Result<Span<'a>, Refusal> {
        let value = self.put(stay.insert)?;
        let leaves = match stay.remove {
            Some(remove) => {
                self.check_pair(stay.insert, remove)?;
                self.operation(remove)?.call
            }
            None if self.tally(value).sources == 1 => self.never_removed(value)?,
            None => {
                let (inserts, removes) = self.turns(value)?;
                if inserts.iter().position(|&op| op == stay.insert).is_none_or(|turn| turn < removes.len()) {
                    return Err(Refusal::Removed(value.clone()));
                }
                u32::MAX
            }
        };
        Ok(Span { value, enters: self.operation(stay.insert)?.end(), leaves })
    }

    /// Checks that `remove` took out what `insert` put in: the value has no other source; or it is the turn of both.
    pub(super) fn check_pair(&self, insert: OpId, remove: OpId) -> Result<&'a Value, Refusal> {
        let value = self.put(insert)?;
        self.check_takes(remove, value)?;
        if self.tally(value).sources != 1 {
            let (inserts, removes) = self.turns(value)?;
            if !inserts.into_iter().zip(removes).any(|pair| pair == (insert, remove)) {
                return Err(Refusal::NotPaired { insert, remove });
            }
        }
        Ok(value)
    }

    /// The operations that put a value in and those that took it out, in the order of calls, where the k-th of these takes
    /// out what the k-th of those put in. That can be said when equal values leave in the order in which they came, or
    /// it makes no difference, no removal is pending that would count too, and of two such operations the one called first also returned first: if they took
    /// effect the other way round, each could have done so at the other's moment.
    fn turns(&self, value: &Value) -> Result<(Vec<OpId>, Vec<OpId>), Refusal> {
        let sources = self.tally(value).sources;
        let refusal = Refusal::OtherSource { value: value.clone(), sources, expected: 1 };
        let fits = matches!(self.kind, Kind::Queue | Kind::PriorityQueue | Kind::PriorityQueueMin | Kind::Bag);
        if !fits || self.pending != u32::MAX {
            return Err(refusal);
        }
        let (mut inserts, mut removes) = (Vec::new(), Vec::new());
        for &op in &self.members.ops {
            let operation = self.members.operation(op)?;
            if self.is_void(operation) {
                continue;
            }
            if self.puts(op, operation) == Some(value) {
                inserts.push((op, operation.end()));
            }
            if self.takes(op, operation) == Some(value) {
                removes.push((op, operation.end()));
            }
        }
        if !inserts.is_sorted_by_key(|(_, end)| *end) || !removes.is_sorted_by_key(|(_, end)| *end) {
            return Err(refusal);
        }
        let ops = |list: Vec<(OpId, u32)>| list.into_iter().map(|(op, _)| op).collect();
        Ok((ops(inserts), ops(removes)))
    }
}
