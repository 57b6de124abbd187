//! Reading a part as a collection: which value went in when, and came out when.
//!
//! What holds for every collection is decided here: a value that came out without having gone in, that came out more
//! often than it went in, or that came out before it went in. Dropping every operation of some values, or operations
//! that change nothing, keeps a linearizable history linearizable: so a violation among the certain spans is one
//! of the whole, whatever was left out.

use super::numbers::Numbers;
use super::part::PartView;
use super::repeated::{Paired, Repeated};
use super::spans::{NEVER, Span};
use super::{Unfit, read};
use crate::evidence::Violation;
use crate::object::{Kind, Object, bag, priority_queue, queue, stack};
use crate::{OpId, Symbol, Value};

/// What a call does to a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Puts in its argument.
    Insert,
    /// Takes out its result, or answers nil when there is nothing inside.
    Remove,
    /// Changes nothing; only the search knows what it means.
    Observe,
}

/// An object whose calls insert, remove and observe values.
pub(super) trait Collected: Object {
    /// Whether equal values may be taken to leave in the order in which they came.
    const FIFO: bool = true;

    fn role(input: &Self::Input) -> Role;
}

impl Collected for queue::Queue {
    fn role(input: &queue::Input) -> Role {
        match input {
            queue::Input::Enq(_) => Role::Insert,
            queue::Input::Deq => Role::Remove,
            queue::Input::Peek => Role::Observe,
        }
    }
}

impl Collected for stack::Stack {
    const FIFO: bool = false;

    fn role(input: &stack::Input) -> Role {
        match input {
            stack::Input::Push(_) => Role::Insert,
            stack::Input::Pop => Role::Remove,
            stack::Input::Peek => Role::Observe,
        }
    }
}

impl Collected for priority_queue::PriorityQueue {
    fn role(input: &priority_queue::Input) -> Role {
        match input {
            priority_queue::Input::Insert(_) => Role::Insert,
            priority_queue::Input::Poll => Role::Remove,
            priority_queue::Input::Peek => Role::Observe,
        }
    }
}

impl Collected for bag::Bag {
    fn role(input: &bag::Input) -> Role {
        match input {
            bag::Input::Add(_) => Role::Insert,
            bag::Input::Remove => Role::Remove,
            bag::Input::Contains(_) => Role::Observe,
        }
    }
}

/// A removal that is pending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removal {
    pub op: OpId,
    pub call: u32,
}

/// A removal that answered that the collection is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Empty {
    pub op: OpId,
    /// The first and last gap in which it may take effect.
    pub first: u32,
    pub last: u32,
}

/// The values of a part, each insertion with its removal.
#[derive(Clone, Default)]
pub(super) struct Collection<'a> {
    pub spans: Vec<Span>,
    /// By span: its value.
    pub values: Vec<&'a Value>,
    pub empties: Vec<Empty>,
    pub events: u32,
    /// How many of the spans, from the first on, are certain; the others are guesses about repeated values.
    pub certain: usize,
    /// Observations were left out.
    pub observed: bool,
    /// The removals that are pending, in the order of calls: they may have removed any values that nothing else removed.
    pub pending: Vec<Removal>,
}

impl Collection<'_> {
    /// Whether some removal is guessed to take out what was inserted after it: then the guess is wrong.
    pub fn is_impossible(&self) -> bool {
        self.spans[self.certain..].iter().any(|span| span.rr < span.ic)
    }

    /// Leaves out the guesses.
    pub fn drop_guesses(&mut self) {
        self.spans.truncate(self.certain);
        self.values.truncate(self.certain);
    }

    /// Leaves out the values that nothing is known to have removed. There must be no guesses.
    pub fn drop_never_removed(&mut self) {
        let mut spans = self.spans.iter();
        self.values.retain(|_| spans.next().expect("one span a value").is_removed());
        self.spans.retain(Span::is_removed);
        self.certain = self.spans.len();
    }
}

/// Roles by method name: a part's calls use few names, and reading a call afresh each time costs more than the check.
struct Roles<'o, O> {
    object: &'o O,
    kind: Kind,
    known: Vec<Option<Role>>,
}

impl<O: Collected> Roles<'_, O> {
    fn read<'a>(&mut self, part: &PartView<'a>, op: OpId) -> Result<(Role, &'a Value), Unfit> {
        let call = part.recorded(op);
        let Symbol(method) = call.method;
        if let Some(role) = self.known[method as usize] {
            let plain = matches!(
                (role, &call.argument, part.output(op)),
                (Role::Insert, Value::Int(_), None | Some(Value::Nil))
                    | (Role::Remove, Value::Nil, None | Some(Value::Nil | Value::Int(_)))
            );
            if plain {
                return Ok((role, &call.argument));
            }
        }
        let input = read(self.object, self.kind, part.log, op)?;
        let role = O::role(&input);
        self.known[method as usize] = Some(role);
        Ok((role, &call.argument))
    }
}

const NO_OP: OpId = OpId(NEVER);

/// What is known of a value while the part is read.
struct Seen<'a> {
    value: &'a Value,
    insert: OpId,
    remove: OpId,
    /// Where the operations of a value that is inserted or removed again are kept, 0 for all others.
    repeated: u32,
}

/// Reads a part as a collection. The inner error is a violation. O(n log n), O(n) for distinct values.
pub(super) fn collect<'a, O: Collected>(
    object: &O,
    kind: Kind,
    part: &PartView<'a>,
) -> Result<Result<Collection<'a>, Violation>, Unfit> {
    let mut roles = Roles { object, kind, known: vec![None; part.log.names().len()] };
    let values = part
        .ops
        .iter()
        .filter_map(|&op| match &part.recorded(op).argument {
            Value::Nil => part.output(op),
            argument => Some(argument),
        })
        .filter(|value| !value.is_nil());
    let mut numbers = Numbers::new(values, part.ops.len());
    let mut reader = Reader { seen: Vec::with_capacity(part.ops.len() / 2), repeated: vec![Repeated::default()] };
    let mut empties = Vec::new();
    let (mut observed, mut pending) = (false, Vec::new());
    for &op in part.ops {
        let (role, argument) = roles.read(part, op)?;
        let value = match (role, part.output(op)) {
            (Role::Observe, output) => {
                observed |= output.is_some();
                continue;
            }
            (Role::Insert, _) => argument,
            (Role::Remove, None) => {
                pending.push(Removal { op, call: part.call(op) });
                continue;
            }
            (Role::Remove, Some(Value::Nil)) => {
                empties.push(Empty { op, first: part.call(op), last: part.ret(op) - 1 });
                continue;
            }
            (Role::Remove, Some(value)) => value,
        };
        let number = numbers.get(value, reader.seen.len() as u32);
        reader.add(number, value, role, op);
    }
    let spans = Vec::with_capacity(reader.seen.len());
    let values = Vec::with_capacity(reader.seen.len());
    let events = part.events;
    let collection = Collection { spans, values, empties, events, certain: 0, observed, pending };
    Ok(reader.finish(collection, part, O::FIFO))
}

struct Reader<'a> {
    /// By value number.
    seen: Vec<Seen<'a>>,
    /// The first is not used.
    repeated: Vec<Repeated>,
}

impl<'a> Reader<'a> {
    fn add(&mut self, number: u32, value: &'a Value, role: Role, op: OpId) {
        if number as usize == self.seen.len() {
            self.seen.push(Seen { value, insert: NO_OP, remove: NO_OP, repeated: 0 });
        }
        let seen = &mut self.seen[number as usize];
        let slot = if role == Role::Insert { &mut seen.insert } else { &mut seen.remove };
        if *slot == NO_OP && seen.repeated == 0 {
            *slot = op;
            return;
        }
        if seen.repeated == 0 {
            seen.repeated = self.repeated.len() as u32;
            let known = |op: OpId| if op == NO_OP { Vec::new() } else { vec![op] };
            self.repeated.push(Repeated { inserts: known(seen.insert), removes: known(seen.remove) });
        }
        let repeated = &mut self.repeated[seen.repeated as usize];
        if role == Role::Insert { &mut repeated.inserts } else { &mut repeated.removes }.push(op);
    }

    /// Makes spans of the values seen, the certain ones first; or the first violation that concerns one value alone.
    fn finish(
        mut self,
        mut collection: Collection<'a>,
        part: &PartView<'_>,
        fifo: bool,
    ) -> Result<Collection<'a>, Violation> {
        let mut guesses = Vec::new();
        for &Seen { value, insert, remove, repeated } in &self.seen {
            if repeated == 0 {
                collection.spans.extend(single(part, insert, remove)?);
            } else {
                let repeated = std::mem::take(&mut self.repeated[repeated as usize]);
                if repeated.inserts.is_empty() {
                    return Err(Violation::ThinAir { operation: repeated.removes[0] });
                }
                match repeated.pair(part, fifo, !collection.pending.is_empty()) {
                    Paired::Certain(spans) => collection.spans.extend(spans),
                    Paired::Guessed(spans) => guesses.extend(spans.into_iter().map(|span| (span, value))),
                    Paired::Violation(violation) => return Err(violation),
                }
            }
            collection.values.resize(collection.spans.len(), value);
        }
        collection.certain = collection.spans.len();
        collection.spans.extend(guesses.iter().map(|(span, _)| *span));
        collection.values.extend(guesses.iter().map(|(_, value)| *value));
        Ok(collection)
    }
}

/// The span of a value that is inserted and removed at most once.
fn single(part: &PartView<'_>, insert: OpId, remove: OpId) -> Result<Option<Span>, Violation> {
    if insert == NO_OP {
        return Err(Violation::ThinAir { operation: remove });
    }
    let (ic, ir) = (part.call(insert), part.ret(insert));
    if remove == NO_OP {
        // A pending insertion that nobody saw the effect of need not have had any.
        let returned = part.output(insert).is_some();
        return Ok(returned.then_some(Span { insert, remove, ic, ir, rc: NEVER, rr: NEVER }));
    }
    let (rc, rr) = (part.call(remove), part.ret(remove));
    if rr < ic {
        return Err(Violation::TooEarly { operation: remove, insert });
    }
    Ok(Some(Span { insert, remove, ic, ir, rc, rr }))
}
