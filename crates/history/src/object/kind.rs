//! The closed list of built-in objects: their names, and how a log is split into independent ones.
//!
//! Invariant: calls with different [`Kind::part_key`] never matter to each other, so a log is linearizable exactly when each
//! of its parts is.

use std::fmt;

use super::bag::Bag;
use super::cas_register::CasRegister;
use super::counter::Counter;
use super::deque::Deque;
use super::map::Map;
use super::multi_register::MultiRegister;
use super::mutex::Mutex;
use super::priority_queue::PriorityQueue;
use super::queue::Queue;
use super::register::Register;
use super::rwlock::RwLock;
use super::semaphore::Semaphore;
use super::set::Set;
use super::stack::Stack;
use super::{Method, Misuse, Object};
use crate::log::Call;
use crate::{Spec, Value};

/// A built-in object.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// First in, first out.
    Queue,
    /// Last in, first out.
    Stack,
    /// A queue with two ends.
    Deque,
    /// The largest value comes out first.
    PriorityQueue,
    /// The smallest value comes out first.
    PriorityQueueMin,
    /// Each value at most once.
    Set,
    /// Any value comes out.
    Bag,
    /// Values by key.
    Map,
    /// Read and write.
    Register,
    /// Read, write and compare-and-set.
    CasRegister,
    /// Several registers in transactions.
    MultiRegister,
    /// A number that goes up and down.
    Counter,
    /// A lock.
    Mutex,
    /// A lock for readers or a writer.
    RwLock,
    /// A number of permits.
    Semaphore,
}

/// What to do with an object of a kind that is known only when the program runs.
pub trait ObjectVisitor {
    /// What comes of it.
    type Answer;

    /// Called with the object.
    fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer
    where
        O::State: fmt::Debug + Send + Sync,
        O::Input: fmt::Debug + Send + Sync;
}

impl Kind {
    /// Every built-in object.
    pub const ALL: [Kind; 15] = [
        Kind::Queue,
        Kind::Stack,
        Kind::Deque,
        Kind::PriorityQueue,
        Kind::PriorityQueueMin,
        Kind::Set,
        Kind::Bag,
        Kind::Map,
        Kind::Register,
        Kind::CasRegister,
        Kind::MultiRegister,
        Kind::Counter,
        Kind::Mutex,
        Kind::RwLock,
        Kind::Semaphore,
    ];

    /// The name on the command line and in certificates.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Queue => "queue",
            Kind::Stack => "stack",
            Kind::Deque => "deque",
            Kind::PriorityQueue => "priority-queue",
            Kind::PriorityQueueMin => "priority-queue-min",
            Kind::Set => "set",
            Kind::Bag => "bag",
            Kind::Map => "map",
            Kind::Register => "register",
            Kind::CasRegister => "cas-register",
            Kind::MultiRegister => "multi-register",
            Kind::Counter => "counter",
            Kind::Mutex => "mutex",
            Kind::RwLock => "rwlock",
            Kind::Semaphore => "semaphore",
        }
    }

    /// The object of that name. Case, hyphens, underscores and a leading "atomic" or "concurrent" make no difference, and a
    /// few other names are known.
    pub fn from_name(name: &str) -> Option<Kind> {
        let squashed: String =
            name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).map(|c| c.to_ascii_lowercase()).collect();
        let plain = ["atomic", "concurrent"].iter().find_map(|prefix| squashed.strip_prefix(prefix));
        Some(match plain.unwrap_or(&squashed) {
            "queue" | "fifo" | "fifoqueue" | "channel" => Kind::Queue,
            "stack" | "lifo" => Kind::Stack,
            "deque" | "doubleendedqueue" => Kind::Deque,
            "priorityqueue" | "priorityqueuemax" | "maxpriorityqueue" | "maxheap" | "pq" => Kind::PriorityQueue,
            "priorityqueuemin" | "minpriorityqueue" | "minheap" => Kind::PriorityQueueMin,
            "set" | "hashset" => Kind::Set,
            "bag" | "multiset" | "pool" => Kind::Bag,
            "map" | "hashmap" | "kv" | "keyvalue" | "dictionary" => Kind::Map,
            "register" => Kind::Register,
            "casregister" => Kind::CasRegister,
            "multiregister" => Kind::MultiRegister,
            "counter" => Kind::Counter,
            "mutex" | "lock" => Kind::Mutex,
            "rwlock" | "readwritelock" | "readerswriterlock" => Kind::RwLock,
            "semaphore" => Kind::Semaphore,
            _ => return None,
        })
    }

    /// The key that splits a log into independent objects: the key of the call if it has one; the element of a set, with the
    /// key before it if there is one too; and for a map whose calls have no key, the first item of a list or the
    /// argument itself.
    pub fn part_key(self, call: &Call) -> Value {
        match (self, &call.key) {
            (Kind::Set, Value::Nil) => call.argument.clone(),
            (Kind::Set, key) => Value::list([key.clone(), call.argument.clone()]),
            (Kind::Map, Value::Nil) => match &call.argument {
                Value::List(items) => items.first().cloned().unwrap_or_default(),
                argument => argument.clone(),
            },
            (_, key) => key.clone(),
        }
    }

    /// The argument that [`Object::input`] reads: what is left of the argument when the key is taken out of it.
    pub fn argument(self, call: &Call) -> Value {
        match (self, &call.key, &call.argument) {
            (Kind::Map, Value::Nil, Value::List(items)) => match &items[..] {
                [] | [_] => Value::Nil,
                [_, argument] => argument.clone(),
                [_, rest @ ..] => Value::list(rest),
            },
            (Kind::Map, Value::Nil, _) => Value::Nil,
            (_, _, argument) => argument.clone(),
        }
    }

    /// The methods of the object.
    pub fn methods(self) -> &'static [Method] {
        struct Methods;
        impl ObjectVisitor for Methods {
            type Answer = &'static [Method];
            fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer {
                object.methods()
            }
        }
        self.with_object(None, Methods).expect("every object has a default initial value")
    }

    /// Makes the object, with the initial value where one is stated, and hands it to the visitor.
    pub fn with_object<V: ObjectVisitor>(self, initial: Option<&Value>, visitor: V) -> Result<V::Answer, Misuse> {
        Ok(match self {
            Kind::Queue => visitor.visit(unstated(initial, Queue)?),
            Kind::Stack => visitor.visit(unstated(initial, Stack)?),
            Kind::Deque => visitor.visit(unstated(initial, Deque)?),
            Kind::PriorityQueue => visitor.visit(unstated(initial, PriorityQueue::largest_first())?),
            Kind::PriorityQueueMin => visitor.visit(unstated(initial, PriorityQueue::smallest_first())?),
            Kind::Set => visitor.visit(unstated(initial, Set)?),
            Kind::Bag => visitor.visit(unstated(initial, Bag)?),
            Kind::Map => visitor.visit(Map::new(initial.cloned().unwrap_or_default())),
            Kind::Register => visitor.visit(Register::new(initial.cloned().unwrap_or_default())),
            Kind::CasRegister => visitor.visit(CasRegister::new(initial.cloned().unwrap_or_default())),
            Kind::MultiRegister => visitor.visit(MultiRegister::new(initial.cloned())),
            Kind::Counter => visitor.visit(match initial {
                None | Some(Value::Nil) => Counter::default(),
                Some(Value::Int(count)) => Counter::new(*count),
                Some(found) => return Err(Misuse::Initial { expected: "an integer", found: found.clone() }),
            }),
            Kind::Mutex => visitor.visit(unstated(initial, Mutex)?),
            Kind::RwLock => visitor.visit(unstated(initial, RwLock)?),
            Kind::Semaphore => visitor.visit(match initial {
                None | Some(Value::Nil) => Semaphore::default(),
                Some(Value::Int(permits)) if *permits >= 0 => Semaphore::new(permits.unsigned_abs()),
                Some(found) => {
                    return Err(Misuse::Initial { expected: "a number of permits", found: found.clone() });
                }
            }),
        })
    }
}

/// An object that always starts the same.
fn unstated<O: Spec>(initial: Option<&Value>, object: O) -> Result<O, Misuse> {
    match initial {
        None | Some(Value::Nil) => Ok(object),
        Some(found) => {
            Err(Misuse::Initial { expected: "left out, as the object always starts the same", found: found.clone() })
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
