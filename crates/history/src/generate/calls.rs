//! What the clients of each object ask for.
//!
//! Collections are filled and drained in turns, so that they are now empty, now hold a few hundred values. Invariant: no
//! value is put in twice, nor taken out of a set twice.

use super::{Random, Request};
use crate::Value;
use crate::object::Kind;
use crate::verify::simulate::Action;

/// How many keys of a map are in use at the same time.
const KEYS: u64 = 8;
/// How many operations there are, about, on each key of a map.
const OPERATIONS_PER_KEY: u64 = 100;
/// The permits of a semaphore.
pub(super) const PERMITS: i64 = 2;

/// The initial value that is stated for an object.
pub(super) fn initial(kind: Kind) -> Option<Value> {
    match kind {
        Kind::MultiRegister => Some(Value::Int(0)),
        Kind::Semaphore => Some(Value::Int(PERMITS)),
        _ => None,
    }
}

/// Chooses calls.
pub(super) struct Calls {
    kind: Kind,
    /// How many values were used.
    values: u64,
    /// How many values are inside, and whether they are to become more, up to how many.
    size: u64,
    filling: bool,
    target: u64,
    /// The values in a bag; those in a set that nobody has set out to remove.
    inside: Vec<Value>,
    /// What a register was last seen to hold.
    held: Value,
}

impl Calls {
    pub(super) fn new(kind: Kind) -> Self {
        Calls { kind, values: 0, size: 0, filling: true, target: 4, inside: Vec::new(), held: Value::Nil }
    }

    /// A value that was never used before.
    pub(super) fn fresh(&mut self) -> Value {
        self.values += 1;
        match self.kind {
            // An odd factor permutes the numbers below 2^32, so priorities are different and in no order.
            Kind::PriorityQueue | Kind::PriorityQueueMin => {
                Value::Int(((self.values * 0x9e37_79b1) & 0xffff_ffff) as i64)
            }
            // No text is the concatenation of others.
            Kind::Map => Value::text(format!("v{}", self.values)),
            _ => Value::Int(self.values as i64),
        }
    }

    /// The next call on anything but a lock. `called` is how many there were.
    pub(super) fn choose(&mut self, random: &mut Random, called: u64) -> Request {
        let (kind, key, none) = (self.kind, Value::Nil, Value::Nil);
        let (method, argument) = match kind {
            Kind::Queue if self.inserts(random) => ("enq", self.fresh()),
            Kind::Queue => ("deq", none),
            Kind::Stack if self.inserts(random) => ("push", self.fresh()),
            Kind::Stack => ("pop", none),
            Kind::Deque => match (self.inserts(random), random.chance(50)) {
                (true, true) => ("push_front", self.fresh()),
                (true, false) => ("push_back", self.fresh()),
                (false, true) => ("pop_front", none),
                (false, false) => ("pop_back", none),
            },
            Kind::PriorityQueue | Kind::PriorityQueueMin if self.inserts(random) => ("insert", self.fresh()),
            Kind::PriorityQueue | Kind::PriorityQueueMin => ("poll", none),
            Kind::Bag if self.inserts(random) => ("add", self.fresh()),
            Kind::Bag => ("remove", none),
            Kind::Set => self.choose_for_set(random),
            Kind::Map => return self.choose_for_map(random, called),
            Kind::Register if random.chance(40) => ("write", self.fresh()),
            Kind::CasRegister if random.chance(20) => ("write", self.fresh()),
            Kind::CasRegister if random.chance(50) => ("cas", Value::list([self.held.clone(), self.fresh()])),
            Kind::Register | Kind::CasRegister => ("read", none),
            Kind::MultiRegister => ("txn", self.transaction(random)),
            Kind::Counter => match random.below(10) {
                0..=1 => ("inc", none),
                2 => ("dec", none),
                3 => ("add", Value::Int(2 + random.below(8) as i64)),
                4..=6 => ("fetch_add", Value::Int(1 + random.below(3) as i64)),
                _ => ("get", none),
            },
            Kind::Mutex | Kind::RwLock | Kind::Semaphore => unreachable!("locks have calls of their own"),
        };
        Request { method, key, argument }
    }

    /// Whether a collection gets a value next.
    fn inserts(&mut self, random: &mut Random) -> bool {
        if self.filling && self.size >= self.target {
            self.filling = false;
        } else if !self.filling && self.size == 0 && random.chance(20) {
            self.filling = true;
            // Only a search decides a deque, and it must remember every order that deep values may be in.
            let doublings = if self.kind == Kind::Deque { 3 } else { 10 };
            self.target = 1 << random.below(doublings);
        }
        random.chance(if self.filling { 60 } else { 35 })
    }

    fn choose_for_set(&mut self, random: &mut Random) -> (&'static str, Value) {
        self.size = self.inside.len() as u64;
        if random.chance(40) {
            // Values of about now: inside, gone already, or still to come.
            let around = (self.values + 8).saturating_sub(random.below(64));
            return ("contains", Value::Int(around.max(1) as i64));
        }
        if self.inserts(random) || self.inside.is_empty() {
            return ("add", self.fresh());
        }
        let at = random.below(self.inside.len() as u64) as usize;
        ("remove", self.inside.swap_remove(at))
    }

    fn choose_for_map(&mut self, random: &mut Random, called: u64) -> Request {
        let first = called / (KEYS * OPERATIONS_PER_KEY) * KEYS;
        let key = Value::Int((first + random.below(KEYS)) as i64);
        let (method, argument) = match random.below(20) {
            0..=9 => ("get", Value::Nil),
            10..=14 => ("put", self.fresh()),
            15..=18 => ("append", self.fresh()),
            _ => ("remove", Value::Nil),
        };
        Request { method, key, argument }
    }

    fn transaction(&mut self, random: &mut Random) -> Value {
        let steps: Vec<Value> = (0..1 + random.below(3))
            .map(|_| {
                let key = Value::text(["x", "y", "z"][random.below(3) as usize]);
                match random.chance(40) {
                    true => Value::list([Value::text("w"), key, self.fresh()]),
                    false => Value::list([Value::text("r"), key, Value::Nil]),
                }
            })
            .collect();
        Value::list(steps)
    }

    /// Which value a bag gives out.
    pub(super) fn pick(&mut self, random: &mut Random) -> Option<Value> {
        if self.kind != Kind::Bag || self.inside.is_empty() {
            return None;
        }
        let at = random.below(self.inside.len() as u64) as usize;
        Some(self.inside.swap_remove(at))
    }

    /// Takes note of an operation that took effect.
    pub(super) fn note(&mut self, action: &Action, result: &Value) {
        match action {
            Action::Insert(_, value) => {
                self.size += 1;
                if self.kind == Kind::Bag {
                    self.inside.push(value.clone());
                }
            }
            Action::Remove(_) if !result.is_nil() => self.size -= 1,
            Action::Add(value) => self.inside.push(value.clone()),
            Action::Write(value) => self.held = value.clone(),
            Action::Cas(_, value) if *result == Value::Bool(true) => self.held = value.clone(),
            _ => {}
        }
    }
}
