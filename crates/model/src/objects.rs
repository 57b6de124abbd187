//! Sequential objects to hold implementations to: FIFO queue, stack, priority queue, register, and the queue of Quasi-PAT section 4 that was
//! relaxed by hand.
//!
//! Values are 1 to 255; 0 means *nothing there* as a result of a removal. An insertion answers `OK`, or `FULL`.

use selvedge_history::{Elements, Spec, Traffic};

use crate::object::{Call, ModelObject, Value};

/// Method: put a value in.
pub const PUT: u32 = 0;
/// Method: take a value out.
pub const TAKE: u32 = 1;
/// Result of an insertion that succeeded.
pub const OK: Value = 1;
/// Result of an insertion into something full.
pub const FULL: Value = 0;
/// Result of a removal from something empty.
pub const NOTHING: Value = 0;

/// Which element a removal takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest.
    Fifo,
    /// The youngest.
    Lifo,
    /// The largest.
    Priority,
    /// Any of the current cluster: elements are grouped in clusters of so many places by their order of insertion, and the next
    /// cluster's turn comes when as many were taken as it has places. Quasi-PAT section 4, relaxed by hand.
    Cluster(u8),
}

/// When an insertion answers `FULL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Never.
    Unlimited,
    /// Exactly when so many elements are inside.
    Exactly(u8),
    /// Whenever it likes, if at least so many elements are inside. For implementations that waste places.
    AtLeast(u8),
}

/// A collection of values.
#[derive(Clone, Debug)]
pub struct Collection {
    /// Which element a removal takes.
    pub order: Order,
    /// When it is full.
    pub room: Room,
    /// The values that can be put in, when they are limited; data without limit otherwise.
    pub domain: Option<Vec<Value>>,
}

/// The elements from oldest to youngest, those of a cluster by value, after the number taken from the current cluster.
type Inside = Vec<u8>;

impl Collection {
    /// A collection of data without limit.
    pub fn new(order: Order, room: Room) -> Self {
        Collection { order, room, domain: None }
    }

    /// Sorts what has no order: of elements that may leave at the same time nobody knows which came first.
    fn settle(&self, state: &mut Inside) {
        match self.order {
            Order::Fifo | Order::Lifo => {}
            Order::Priority => state[1..].sort_unstable(),
            Order::Cluster(places) => {
                let current = (1 + (places - state[0]) as usize).min(state.len());
                let (current, later) = state.split_at_mut(current);
                current[1..].sort_unstable();
                later.chunks_mut(places as usize).for_each(<[u8]>::sort_unstable);
            }
        }
    }

    fn put(&self, state: &Inside, value: Value, out: &mut Vec<(Value, Inside)>) {
        let inside = state.len() - 1;
        let (may, must) = match self.room {
            Room::Unlimited => (false, false),
            Room::Exactly(places) => (inside >= places as usize, inside >= places as usize),
            Room::AtLeast(places) => (inside >= places as usize, false),
        };
        if !must {
            let mut next = state.clone();
            next.push(value as u8);
            self.settle(&mut next);
            out.push((OK, next));
        }
        if may {
            out.push((FULL, state.clone()));
        }
    }

    fn take(&self, state: &Inside, out: &mut Vec<(Value, Inside)>) {
        let inside = state.len() - 1;
        if inside == 0 {
            out.push((NOTHING, state.clone()));
            return;
        }
        let choices = match self.order {
            Order::Fifo => 1..2,
            Order::Lifo | Order::Priority => inside..inside + 1,
            Order::Cluster(places) => 1..1 + inside.min((places - state[0]) as usize),
        };
        for at in choices {
            let mut next = state.clone();
            let value = next.remove(at);
            if let Order::Cluster(places) = self.order {
                next[0] = (next[0] + 1) % places;
            }
            out.push((Value::from(value), next));
        }
    }
}

impl Spec for Collection {
    type State = Inside;
    type Input = Call;
    type Output = Value;

    fn initial(&self) -> Inside {
        vec![0]
    }

    fn apply(&self, state: &Inside, call: &Call, out: &mut Vec<(Value, Inside)>) {
        match call.method {
            PUT => self.put(state, call.argument, out),
            _ => self.take(state, out),
        }
    }
}

impl Elements for Collection {
    type Element = Value;

    fn traffic<'a>(&'a self, call: &'a Call, result: Option<&'a Value>) -> Traffic<&'a Value> {
        match (call.method, result) {
            (PUT, None | Some(&OK)) => Traffic::In(&call.argument),
            (TAKE, Some(&NOTHING)) => Traffic::Nothing,
            (TAKE, Some(result)) => Traffic::Out(result),
            _ => Traffic::None,
        }
    }

    fn calls(&self) -> Vec<Call> {
        let puts = self.domain.iter().flatten().map(|&argument| Call { method: PUT, argument });
        puts.chain([Call { method: TAKE, argument: 0 }]).collect()
    }

    fn method_name(&self, call: &Call) -> String {
        match (self.order, call.method) {
            (Order::Lifo, PUT) => "push",
            (Order::Lifo, _) => "pop",
            (Order::Priority, PUT) => "insert",
            (Order::Priority, _) => "take",
            (_, PUT) => "enq",
            _ => "deq",
        }
        .to_string()
    }
}

impl ModelObject for Collection {
    fn argument_is_data(&self, method: u32) -> bool {
        method == PUT && self.order != Order::Priority
    }

    fn result_is_data(&self, method: u32, result: Value) -> bool {
        method == TAKE && result != NOTHING && self.order != Order::Priority
    }

    fn values(&self, state: &Inside, visit: &mut dyn FnMut(Value)) {
        if self.order != Order::Priority {
            state[1..].iter().for_each(|&value| visit(Value::from(value)));
        }
    }

    fn rename(&self, state: &mut Inside, name: &dyn Fn(Value) -> Value) {
        if self.order != Order::Priority {
            state[1..].iter_mut().for_each(|value| *value = name(Value::from(*value)) as u8);
            self.settle(state);
        }
    }

    fn inside(&self, state: &Inside, value: Value) -> usize {
        state[1..].iter().filter(|&&element| Value::from(element) == value).count()
    }
}

/// One cell that is written and read; it begins with 0.
#[derive(Clone, Debug)]
pub struct Register {
    /// The values that can be written.
    pub domain: Vec<Value>,
}

/// Method: write a value.
pub const WRITE: u32 = 0;
/// Method: read the value.
pub const READ: u32 = 1;

impl Spec for Register {
    type State = Value;
    type Input = Call;
    type Output = Value;

    fn initial(&self) -> Value {
        0
    }

    fn apply(&self, state: &Value, call: &Call, out: &mut Vec<(Value, Value)>) {
        match call.method {
            WRITE => out.push((OK, call.argument)),
            _ => out.push((*state, *state)),
        }
    }
}

impl Elements for Register {
    type Element = Value;

    fn calls(&self) -> Vec<Call> {
        let writes = self.domain.iter().map(|&argument| Call { method: WRITE, argument });
        writes.chain([Call { method: READ, argument: 0 }]).collect()
    }

    fn method_name(&self, call: &Call) -> String {
        (if call.method == WRITE { "write" } else { "read" }).to_string()
    }
}

impl ModelObject for Register {}
