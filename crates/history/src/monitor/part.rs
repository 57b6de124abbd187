//! One object that is watched: the rules of its kind, fed with operations by method and result.
//!
//! Invariant: after [`Part::start_over`] nothing that was inside or open before can raise an alarm.

use super::alarm::{Alarm, Rule, Shown, Span};
use super::collection::{Collection, Order};
use super::counters::Counters;
use super::frontier::{Follow, Frontier};
use super::permits::Permits;
use super::register::RegisterRule;
use super::stream::{Missed, Settings};
use crate::object::{Kind, Misuse, Object, ObjectVisitor};
use crate::{Outcome, Value};

/// How many ways of a register are looked at before they are given up, and how many more with each operation that ends.
const CREDIT: usize = 1 << 16;
const CREDIT_ADDED: usize = 64;

/// The rules of one object.
#[derive(Debug)]
pub(super) enum Rules {
    Collection(Box<Collection<Value>>),
    /// The ways are followed as long as they are few: they see repeated values too. One read that stays open makes one more of them with every write, so there is a credit for them, to which each return adds.
    Register {
        rule: Box<RegisterRule<Value>>,
        ways: Box<dyn Follow>,
        credit: usize,
    },
    /// A_k of a queue.
    Counted(Box<Counters<Value>>),
    Other {
        ways: Box<dyn Follow>,
        permits: Option<Permits>,
    },
}

/// An operation as the rules see it.
#[derive(Clone, Debug)]
pub(super) struct OpenOperation {
    pub call: u64,
    pub thread: u32,
    /// The name that the object has for it.
    pub method: &'static str,
    pub argument: Value,
    /// The past that it began in, where pasts are counted.
    pub past: u64,
}

#[derive(Debug)]
pub(super) struct Part {
    rules: Rules,
    /// Of operations called before this little is known: the part started over since.
    since: u64,
    /// Operations that the object does not have and that are open: nothing can be said meanwhile.
    pub strange: u32,
    unchecked: u64,
    /// What the rules had left unchecked before the part started over.
    unchecked_before: u64,
    repeated_before: u64,
}

struct MakeFrontier;

impl ObjectVisitor for MakeFrontier {
    type Answer = Box<dyn Follow>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer
    where
        O::State: std::fmt::Debug + Send + Sync,
        O::Input: std::fmt::Debug + Send + Sync,
    {
        Box::new(Frontier::new(object))
    }
}

/// Checks a call or a return against the types of an object.
struct Fits<'a>(&'a str, &'a Value, Option<&'a Value>);

impl ObjectVisitor for Fits<'_> {
    type Answer = Result<(), Misuse>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer {
        let input = object.input(self.0, self.1)?;
        self.2.map_or(Ok(()), |output| object.admits(&input, output))
    }
}

impl Part {
    /// One in which nothing has happened.
    pub fn new(kind: Kind, settings: &Settings) -> Result<Self, Misuse> {
        let rules = Self::rules(kind, settings)?;
        let mut part = Part { rules, since: 0, strange: 0, unchecked: 0, unchecked_before: 0, repeated_before: 0 };
        if settings.attach {
            part.attach();
        }
        Ok(part)
    }

    fn rules(kind: Kind, settings: &Settings) -> Result<Rules, Misuse> {
        let initial = settings.initial.as_ref();
        let order = match kind {
            Kind::Queue if settings.k.is_some() => {
                unstated(initial)?;
                return Ok(Rules::Counted(Box::new(Counters::new(settings.k.unwrap_or(0)))));
            }
            Kind::Queue => Order::Fifo,
            Kind::Stack => Order::Lifo,
            Kind::PriorityQueue => Order::LargestFirst,
            Kind::PriorityQueueMin => Order::SmallestFirst,
            Kind::Bag => Order::Any,
            Kind::Register => {
                let rule = Box::new(RegisterRule::new(initial.cloned().unwrap_or_default()));
                let ways = kind.with_object(initial, MakeFrontier)?;
                return Ok(Rules::Register { rule, ways, credit: CREDIT });
            }
            _ => {
                let ways = kind.with_object(initial, MakeFrontier)?;
                let permits = match (kind, initial) {
                    (Kind::Mutex, _) => Some(Permits::mutex()),
                    (Kind::Semaphore, Some(Value::Int(permits))) => Some(Permits::semaphore(permits.unsigned_abs())),
                    (Kind::Semaphore, _) => Some(Permits::semaphore(1)),
                    _ => None,
                };
                return Ok(Rules::Other { ways, permits });
            }
        };
        unstated(initial)?;
        let mut collection = Collection::new(order);
        collection.limit(settings.inside_max);
        Ok(Rules::Collection(Box::new(collection)))
    }

    fn attach(&mut self) {
        match &mut self.rules {
            Rules::Collection(collection) => collection.attach(),
            Rules::Counted(counters) => counters.attach(),
            Rules::Register { rule, ways, .. } => {
                rule.attach();
                ways.give_up();
            }
            Rules::Other { ways, permits } => {
                // Its state would have to be known.
                ways.give_up();
                *permits = None;
            }
        }
    }

    /// Forgets everything: nobody knows what is inside. What is open now may still take effect, and is not looked at otherwise.
    pub fn start_over(&mut self, now: u64, settings: &Settings) {
        (self.unchecked_before, self.repeated_before) = (self.unchecked(), self.repeated());
        self.unchecked = 0;
        self.since = now;
        match &mut self.rules {
            Rules::Collection(collection) => collection.start_over(),
            Rules::Counted(counters) => {
                **counters = Counters::new(settings.k.unwrap_or(0));
                counters.attach();
            }
            Rules::Register { rule, ways, .. } => {
                rule.start_over();
                ways.give_up();
            }
            Rules::Other { .. } => self.attach(),
        }
    }

    /// The part has started over, or was made after others did: some of what was missed may be calls of this object that are open still.
    pub fn miss(&mut self, missed: Missed) {
        if let Rules::Collection(collection) = &mut self.rules {
            match missed {
                Missed::Some(events) => collection.miss(events),
                Missed::Many => collection.attach(),
            }
        }
    }

    /// Whether an operation fits the object.
    pub fn fits(kind: Kind, method: &str, argument: &Value, output: Option<&Value>) -> Result<(), Misuse> {
        match (kind, method, output) {
            // The common cases, without making an object.
            (Kind::Queue, "enq", _) | (Kind::Stack, "push", _) if argument.is_nil() => {}
            (Kind::Queue, "enq", None | Some(Value::Nil)) | (Kind::Stack, "push", None | Some(Value::Nil)) => {
                return Ok(());
            }
            (Kind::Queue, "deq", _) | (Kind::Stack, "pop", _) if argument.is_nil() => return Ok(()),
            _ => {}
        }
        kind.with_object(None, Fits(method, argument, output))?
    }

    /// An operation is called.
    pub fn call(&mut self, op: &mut OpenOperation) {
        let at = op.call;
        match &mut self.rules {
            Rules::Collection(collection) => match op.method {
                "enq" | "push" | "insert" | "add" => collection.call_insert(at, op.thread, &op.argument),
                "deq" | "pop" | "poll" | "remove" => collection.call_remove(at),
                _ => {}
            },
            Rules::Counted(counters) => {
                op.past = counters.call();
                if op.method == "enq" {
                    counters.call_insert(op.past, at, op.thread, &op.argument);
                }
            }
            Rules::Register { rule, ways, .. } => {
                if !ways.is_lost() {
                    ways.call(at, op.method, &op.argument).expect("it fits the object");
                }
                match op.method {
                    "write" => rule.call_write(at, op.thread, &op.argument),
                    _ => rule.call_read(at),
                }
            }
            Rules::Other { ways, permits } => {
                ways.call(at, op.method, &op.argument).expect("it fits the object");
                match op.method {
                    "acquire" | "try_acquire" => permits.as_mut().into_iter().for_each(Permits::call_acquire),
                    "release" => permits.as_mut().into_iter().for_each(Permits::call_release),
                    _ => {}
                }
            }
        }
    }

    /// An operation ends.
    pub fn end(&mut self, at: u64, op: &OpenOperation, outcome: &Outcome, alarms: &mut Vec<Alarm<Value>>) {
        if op.call <= self.since || self.strange > 0 {
            self.unchecked += 1;
            return self.end_unchecked(at, op, outcome, alarms);
        }
        self.end_checked(at, op, outcome, alarms);
    }

    /// An operation ends of which not everything is known: what it certainly did is done, and nothing is said about it.
    fn end_unchecked(&mut self, at: u64, op: &OpenOperation, outcome: &Outcome, alarms: &mut Vec<Alarm<Value>>) {
        let is_before = op.call <= self.since;
        match (&mut self.rules, op.method, outcome) {
            // What it took is not inside any more, and what waited for it can be decided.
            (Rules::Collection(_), "deq" | "pop" | "poll" | "remove", _) => self.end_checked(at, op, outcome, alarms),
            (Rules::Counted(counters), "deq", Outcome::Return(value)) if is_before => counters.forget(value),
            (Rules::Register { rule, .. }, "write", Outcome::Return(_) | Outcome::Fail) if is_before => {
                rule.end_write_before(at, &op.argument);
            }
            (Rules::Register { rule, .. }, "read", _) if is_before => rule.drop_read(op.call),
            _ if is_before => {}
            _ => self.end_checked(at, op, outcome, alarms),
        }
        if self.strange > 0 {
            alarms.clear();
        }
    }

    fn end_checked(&mut self, at: u64, op: &OpenOperation, outcome: &Outcome, alarms: &mut Vec<Alarm<Value>>) {
        let span = Span { thread: op.thread, call: op.call, ret: at };
        match &mut self.rules {
            Rules::Collection(collection) => match op.method {
                "enq" | "push" | "insert" | "add" => match outcome {
                    Outcome::Return(_) => collection.ret_insert(at, op.call, &op.argument),
                    Outcome::Fail => collection.fail_insert(op.call, op.thread, &op.argument, alarms),
                    Outcome::Unknown => {}
                },
                "deq" | "pop" | "poll" | "remove" => match outcome {
                    Outcome::Return(Value::Nil) => collection.ret_remove(span, None, alarms),
                    Outcome::Return(value) => collection.ret_remove(span, Some(value), alarms),
                    Outcome::Fail => collection.fail_remove(op.call, alarms),
                    Outcome::Unknown => collection.forget_remove(op.call, alarms),
                },
                // A look without taking: nothing is said about those.
                _ => self.unchecked += 1,
            },
            Rules::Counted(counters) => match (op.method, outcome) {
                ("enq", Outcome::Return(_)) => counters.ret_insert(at, op.call, &op.argument),
                ("enq", Outcome::Fail) => counters.fail_insert(&op.argument),
                ("deq", Outcome::Return(value)) => {
                    let value = Some(value).filter(|value| !value.is_nil());
                    counters.ret_remove(op.past, span, value, alarms);
                }
                ("enq" | "deq", _) => {}
                _ => self.unchecked += 1,
            },
            Rules::Register { rule, ways, credit } => {
                *credit = (*credit + CREDIT_ADDED).min(CREDIT);
                match credit.checked_sub(ways.ways()) {
                    Some(left) => *credit = left,
                    None => ways.give_up(),
                }
                match (op.method, outcome) {
                    ("write", Outcome::Return(_)) => rule.ret_write(at, &op.argument),
                    ("write", Outcome::Fail) => rule.fail_write(op.thread, op.call, &op.argument, alarms),
                    ("write", Outcome::Unknown) => {}
                    (_, Outcome::Return(value)) => rule.ret_read(span, value, alarms),
                    (_, Outcome::Fail | Outcome::Unknown) => rule.drop_read(op.call),
                }
                if !ways.is_lost() && !follow(&mut **ways, op.call, outcome) && alarms.is_empty() {
                    alarms.push(Alarm { rule: Rule::NoOrder, operations: vec![Shown::other(span)] });
                }
            }
            Rules::Other { ways, permits } => {
                let right = permits.as_mut().is_none_or(|permits| permit(permits, op.method, outcome));
                let fits = follow(&mut **ways, op.call, outcome);
                self.unchecked += u64::from(ways.is_lost());
                let rule = if right { Rule::NoOrder } else { Rule::Permits };
                if !right || !fits {
                    alarms.push(Alarm { rule, operations: vec![Shown::other(span)] });
                }
            }
        }
    }

    /// How many operations were not checked in full.
    pub fn unchecked(&self) -> u64 {
        self.unchecked
            + self.unchecked_before
            + match &self.rules {
                Rules::Collection(collection) => collection.unchecked(),
                Rules::Counted(counters) => counters.unchecked(),
                Rules::Register { ways, .. } if !ways.is_lost() => 0,
                Rules::Register { rule, .. } => rule.unchecked(),
                Rules::Other { .. } => 0,
            }
    }

    /// How many removals have an outcome that nobody knows. A part with one is never made anew.
    pub fn untold(&self) -> u64 {
        if let Rules::Collection(collection) = &self.rules { collection.untold() } else { 0 }
    }

    /// How many insertions were of a value that was inside.
    pub fn repeated(&self) -> u64 {
        let now = if let Rules::Collection(collection) = &self.rules { collection.repeated() } else { 0 };
        self.repeated_before + now
    }

    /// How many values are inside, where that is known.
    pub fn present(&self) -> usize {
        if let Rules::Collection(collection) = &self.rules { collection.present() } else { 0 }
    }

    /// How many entries it holds.
    pub fn entries(&self) -> usize {
        match &self.rules {
            Rules::Collection(collection) => collection.entries(),
            Rules::Counted(counters) => counters.entries(),
            Rules::Register { rule, ways, .. } => rule.entries() + ways.entries(),
            Rules::Other { ways, .. } => ways.entries(),
        }
    }

    /// How many ways it follows.
    pub fn ways(&self) -> usize {
        match &self.rules {
            Rules::Register { ways, .. } | Rules::Other { ways, .. } => ways.ways(),
            Rules::Collection(_) | Rules::Counted(_) => 0,
        }
    }

    /// Whether a part that is made anew would be the same; `missed` when that is one that has started over.
    pub fn is_fresh(&self, missed: bool) -> bool {
        (self.since == 0 || missed)
            && self.strange == 0
            && match &self.rules {
                Rules::Collection(collection) => collection.is_fresh(),
                Rules::Register { .. } | Rules::Counted(_) => false,
                Rules::Other { ways, .. } if missed => ways.is_lost(),
                Rules::Other { ways, .. } => ways.is_fresh(),
            }
    }
}

/// Collections start empty.
fn unstated(initial: Option<&Value>) -> Result<(), Misuse> {
    match initial {
        None | Some(Value::Nil) => Ok(()),
        Some(found) => {
            Err(Misuse::Initial { expected: "left out, as the object always starts the same", found: found.clone() })
        }
    }
}

/// Whether some way has that outcome.
fn follow(ways: &mut dyn Follow, op: u64, outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Return(output) => ways.ret(op, output).unwrap_or(true),
        Outcome::Fail => ways.fail(op),
        Outcome::Unknown => true,
    }
}

/// Whether there was a permit for it, where it takes or gives one.
fn permit(permits: &mut Permits, method: &str, outcome: &Outcome) -> bool {
    match (method, outcome) {
        (_, Outcome::Unknown) => true,
        ("acquire" | "try_acquire", Outcome::Fail | Outcome::Return(Value::Bool(false))) => {
            permits.drop_acquire();
            true
        }
        ("acquire" | "try_acquire", Outcome::Return(_)) => permits.ret_acquire(),
        ("release", Outcome::Fail) => {
            permits.drop_release();
            true
        }
        ("release", Outcome::Return(_)) => permits.ret_release(),
        _ => true,
    }
}
