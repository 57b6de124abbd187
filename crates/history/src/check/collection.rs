//! Reading a part as a collection: which value went in when, and came out when.
//!
//! What holds for every collection is decided here: a value that came out without having gone in, that came out twice,
//! or that came out before it went in. What this module leaves out of the spans is left out soundly: dropping every
//! operation of some values, or operations that change nothing, keeps a linearizable history linearizable, so a
//! violation among the rest is one of the whole. [`Collection::partial`] says whether anything was left out.

use super::numbers::Numbers;
use super::part::PartView;
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

/// A removal that answered that the collection is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Empty {
    pub op: OpId,
    /// The first and last gap in which it may take effect.
    pub first: u32,
    pub last: u32,
}

/// The values of a part, each inserted once and removed at most once.
pub(super) struct Collection<'a> {
    pub spans: Vec<Span>,
    /// By span: its value.
    pub values: Vec<&'a Value>,
    pub empties: Vec<Empty>,
    pub events: u32,
    /// Repeated values or observations were left out.
    pub partial: bool,
    /// A removal is pending: it may have removed any value that nothing else removed.
    pub pending_removals: bool,
}

impl Collection<'_> {
    /// Leaves out the values that nothing is known to have removed.
    pub fn drop_never_removed(&mut self) {
        let mut spans = self.spans.iter();
        self.values.retain(|_| spans.next().expect("one span a value").is_removed());
        self.spans.retain(Span::is_removed);
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
    /// Another removal of the same value.
    again: OpId,
    repeated: bool,
}

/// Reads a part as a collection. The inner error is a violation. O(n).
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
    let mut seen: Vec<Seen<'a>> = Vec::with_capacity(part.ops.len() / 2);
    let mut empties = Vec::new();
    let (mut partial, mut pending_removals) = (false, false);
    for &op in part.ops {
        let (role, argument) = roles.read(part, op)?;
        let value = match (role, part.output(op)) {
            (Role::Observe, output) => {
                partial |= output.is_some();
                continue;
            }
            (Role::Insert, _) => argument,
            (Role::Remove, None) => {
                pending_removals = true;
                continue;
            }
            (Role::Remove, Some(Value::Nil)) => {
                empties.push(Empty { op, first: part.call(op), last: part.ret(op) - 1 });
                continue;
            }
            (Role::Remove, Some(value)) => value,
        };
        let number = numbers.get(value, seen.len() as u32);
        if number as usize == seen.len() {
            seen.push(Seen { value, insert: NO_OP, remove: NO_OP, again: NO_OP, repeated: false });
        }
        let seen = &mut seen[number as usize];
        match role {
            Role::Insert if seen.insert == NO_OP => seen.insert = op,
            Role::Insert => seen.repeated = true,
            _ if seen.remove == NO_OP => seen.remove = op,
            _ => seen.again = op,
        }
    }
    let mut collection =
        Collection { spans: Vec::new(), values: Vec::new(), empties, events: part.events, partial, pending_removals };
    Ok(match fill(&mut collection, &seen, part) {
        Some(violation) => Err(violation),
        None => Ok(collection),
    })
}

/// Makes spans of the values seen; answers the first violation that concerns one value alone.
fn fill<'a>(collection: &mut Collection<'a>, seen: &[Seen<'a>], part: &PartView<'_>) -> Option<Violation> {
    collection.spans.reserve(seen.len());
    collection.values.reserve(seen.len());
    for &Seen { value, insert, remove, again, repeated } in seen {
        if repeated {
            collection.partial = true;
            continue;
        }
        if insert == NO_OP {
            return Some(Violation::ThinAir { operation: remove });
        }
        if again != NO_OP {
            return Some(Violation::RemovedTwice { insert, first: remove, second: again });
        }
        let (ic, ir) = (part.call(insert), part.ret(insert));
        if remove == NO_OP {
            // A pending insertion that nobody saw the effect of need not have had any.
            if part.output(insert).is_some() {
                collection.spans.push(Span { insert, remove, ic, ir, rc: NEVER, rr: NEVER });
                collection.values.push(value);
            }
            continue;
        }
        let (rc, rr) = (part.call(remove), part.ret(remove));
        if rr < ic {
            return Some(Violation::TooEarly { operation: remove, insert });
        }
        collection.spans.push(Span { insert, remove, ic, ir, rc, rr });
        collection.values.push(value);
    }
    None
}
