//! A stream of events by thread, object and key.
//!
//! Invariant: [`Monitor::found`] only hands out violations of linearizability. An event that does not fit is refused, and what it may have hidden is
//! taken into account: a second call without a return leaves the first one open for ever, an operation that the object
//! does not have makes its part start over, and so does [`Monitor::start_over`] for all parts. Memory: parts that are as they were at first
//! are forgotten, and so are idle threads beyond [`THREADS_MAX`].

use std::fmt;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::alarm::{Alarm, Did, Rule, Span};
use super::part::{OpenOperation, Part};
use crate::object::{Kind, Misuse, find};
use crate::{Call, Outcome, Symbol, Value};

/// From that many threads on, those with nothing open are forgotten.
pub const THREADS_MAX: usize = 1 << 16;

/// From that many parts on, those that are as at first are forgotten.
const PARTS_SWEPT: usize = 1 << 12;

/// How many names of methods are remembered.
const METHODS_MAX: usize = 64;

/// What a monitor takes for granted.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the object starts with.
    pub initial: Option<Value>,
    /// The object was in use before: what is met without having been seen to come in is no alarm.
    pub attach: bool,
    /// How many values a collection may hold before new ones are not remembered.
    pub inside_max: usize,
    /// For queues: operation counting with A_k in place of the exact rules.
    pub k: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { initial: None, attach: false, inside_max: 1 << 24, k: None }
    }
}

/// What nobody saw of the events so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// At most so many: 0 where only their order is not known, or what they did.
    Some(u64),
    /// Any number of them.
    Many,
}

/// A call.
#[derive(Clone, Debug, Default)]
pub struct Called<'a> {
    /// The method.
    pub method: &'a str,
    /// Which object, where there are several.
    pub object: &'a str,
    /// Which key, where there are several.
    pub key: Value,
    /// The argument.
    pub argument: Value,
}

/// An event that does not fit.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The object has no such operation, or not with that argument or result. Its part starts over.
    Misuse {
        /// The method.
        method: String,
        /// What is wrong with it.
        misuse: Misuse,
    },
    /// The thread had called already. The earlier call stays open; this one is taken.
    CallWhileOpen,
    /// The thread has called nothing: its call was missed, and checking starts over.
    OutcomeWithoutCall,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Misuse { method, misuse } => write!(f, "`{method}`: {misuse}"),
            Refused::CallWhileOpen => {
                f.write_str("a call of a thread whose last call did not return; that one stays open")
            }
            Refused::OutcomeWithoutCall => f.write_str("a return of a thread that called nothing"),
        }
    }
}

impl std::error::Error for Refused {}

/// An operation of a violation, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownOperation {
    /// The method.
    pub method: String,
    /// The argument, nil for none.
    pub argument: Value,
    /// The result, if it has returned.
    pub result: Option<Value>,
    /// Whose it is; `None` when it is too long ago.
    pub thread: Option<Value>,
    /// The number of the event that called it, from 1.
    pub call: u64,
    /// The number of the event that ended it.
    pub ret: Option<u64>,
}

impl fmt::Display for ShownOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.thread {
            Some(thread) => write!(f, "thread {thread}: {}", self.method)?,
            None => write!(f, "some thread: {}", self.method)?,
        }
        if !self.argument.is_nil() {
            write!(f, "({})", self.argument)?;
        }
        match &self.result {
            Some(Value::Nil) | None => {}
            Some(result) => write!(f, " -> {result}")?,
        }
        match self.ret {
            Some(ret) => write!(f, ", events {} to {ret}", self.call),
            None => write!(f, ", event {}, open", self.call),
        }
    }
}

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule that was broken.
    pub rule: Rule,
    /// Which object, empty where there is one.
    pub object: String,
    /// Which key, or nil.
    pub key: Value,
    /// The number of the event at which it was certain.
    pub event: u64,
    /// The operations that show it.
    pub operations: Vec<ShownOperation>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.rule.sentence())?;
        if !self.object.is_empty() {
            write!(f, "\n  object {}", self.object)?;
        }
        if !self.key.is_nil() {
            write!(f, "\n  key {}", self.key)?;
        }
        self.operations.iter().try_for_each(|operation| write!(f, "\n  {operation}"))
    }
}

/// What was seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that were taken.
    pub events: u64,
    /// Operations that ended.
    pub operations: u64,
    /// Violations found.
    pub violations: u64,
    /// Operations that could not be checked in full.
    pub unchecked: u64,
    /// Removals from a collection whose outcome nobody knows: each may have taken a value.
    pub untold: u64,
    /// Insertions of a value that was inside already.
    pub repeated: u64,
    /// Events that did not fit.
    pub refused: u64,
    /// How often some part started over because something was missed.
    pub restarts: u64,
    /// Operations that are open.
    pub open: u64,
    /// Values inside.
    pub present: u64,
}

#[derive(Debug)]
struct Thread {
    name: Value,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    part: PartName,
    operation: OpenOperation,
    /// The object has no such operation.
    strange: bool,
}

/// Which part: nothing for the one object without name and key that most streams are about.
type PartName = Option<Box<(String, Value)>>;

/// Watches a stream of events.
#[derive(Debug)]
pub struct Monitor {
    kind: Kind,
    settings: Settings,
    /// What was missed so far, if checking has started over.
    missed: Option<Missed>,
    methods: Vec<(String, &'static str)>,
    numbers: HashMap<Value, u32, RandomState>,
    threads: HashMap<u32, Thread, RandomState>,
    next_thread: u32,
    /// From so many threads on, those with nothing open are forgotten.
    forget_at: usize,
    /// How many threads were looked at to forget some.
    swept: u64,
    only: Part,
    parts: HashMap<(String, Value), Part, RandomState>,
    sweep_at: usize,
    alarms: Vec<Alarm<Value>>,
    found: Vec<Violation>,
    counts: Counts,
    /// What parts that were forgotten had left unchecked.
    unchecked_before: u64,
    repeated_before: u64,
}

impl Monitor {
    /// A monitor that has seen no event. The error is about the initial value.
    pub fn new(kind: Kind, settings: Settings) -> Result<Self, Misuse> {
        Ok(Monitor {
            kind,
            methods: Vec::new(),
            numbers: HashMap::default(),
            threads: HashMap::default(),
            next_thread: 0,
            forget_at: THREADS_MAX,
            swept: 0,
            only: Part::new(kind, &settings)?,
            parts: HashMap::default(),
            sweep_at: PARTS_SWEPT,
            missed: None,
            settings,
            alarms: Vec::new(),
            found: Vec::new(),
            counts: Counts::default(),
            unchecked_before: 0,
            repeated_before: 0,
        })
    }

    /// The k of operation counting, where that takes the place of the exact rules.
    pub(super) fn counting(&self) -> Option<usize> {
        self.settings.k
    }

    /// Whether the object was in use before.
    pub(super) fn is_attached(&self) -> bool {
        self.settings.attach
    }

    /// What is watched.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether an object of that kind can be watched from the middle of its life on.
    pub fn can_attach(kind: Kind) -> bool {
        use Kind::{Bag, PriorityQueue, PriorityQueueMin, Queue, Register, Stack};
        matches!(kind, Queue | Stack | PriorityQueue | PriorityQueueMin | Bag | Register)
    }

    /// Records that a thread calls an operation. With an error the event is counted as refused; [`Refused`] says what became of it.
    pub fn call(&mut self, thread: &Value, called: Called<'_>) -> Result<(), Refused> {
        self.counts.events += 1;
        let number = self.number(thread);
        let earlier = self.threads.get_mut(&number).and_then(|thread| thread.open.take());
        let mut refused = None;
        if let Some(earlier) = earlier {
            refused = Some(Refused::CallWhileOpen);
            self.end(earlier, &Outcome::Unknown);
        }
        let taken = self.begin(number, called);
        let refused = taken.err().or(refused);
        self.counts.refused += u64::from(refused.is_some());
        refused.map_or(Ok(()), Err)
    }

    fn begin(&mut self, thread: u32, called: Called<'_>) -> Result<(), Refused> {
        let Called { method, object, key, argument } = called;
        let call = Call { object: Symbol::NONE, method: Symbol::NONE, key, argument };
        let key = self.kind.part_key(&call);
        let argument = self.kind.argument(&call);
        let misuse = |misuse| Refused::Misuse { method: method.to_owned(), misuse };
        let name = self.method(method).and_then(|name| Part::fits(self.kind, name, &argument, None).map(|()| name));
        let part = if object.is_empty() && key.is_nil() { None } else { Some(Box::new((object.to_owned(), key))) };
        let at = self.counts.events;
        let strange = name.is_err();
        let mut operation =
            OpenOperation { call: at, thread, method: name.as_ref().copied().unwrap_or(""), argument, past: 0 };
        if strange {
            let settings = self.settings.clone();
            let watched = self.part(&part);
            watched.strange += 1;
            watched.start_over(at, &settings);
            self.counts.restarts += 1;
        } else {
            self.part(&part).call(&mut operation);
        }
        if let Some(thread) = self.threads.get_mut(&thread) {
            thread.open = Some(Open { part, operation, strange });
        }
        name.map(|_| ()).map_err(misuse)
    }

    /// Records how a thread's operation ended. With an error the event is counted as refused.
    pub fn outcome(&mut self, thread: &Value, outcome: Outcome) -> Result<(), Refused> {
        self.counts.events += 1;
        let number = self.numbers.get(thread).copied();
        let open = number.and_then(|number| self.threads.get_mut(&number)).and_then(|thread| thread.open.take());
        let Some(open) = open else {
            self.counts.refused += 1;
            // Its call was missed, and with it what it did; that is over now.
            self.start_over(Missed::Some(0));
            return Err(Refused::OutcomeWithoutCall);
        };
        if let (false, Outcome::Return(output)) = (open.strange, &outcome) {
            let OpenOperation { method, argument, .. } = &open.operation;
            if let Err(misuse) = Part::fits(self.kind, method, argument, Some(output)) {
                let method = (*method).to_owned();
                let settings = self.settings.clone();
                let at = self.counts.events;
                let part = self.part(&open.part);
                part.start_over(at, &settings);
                // Whatever it did is forgotten, and it is not open any more.
                part.end(at, &open.operation, &Outcome::Fail, &mut Vec::new());
                self.counts.restarts += 1;
                self.counts.refused += 1;
                return Err(Refused::Misuse { method, misuse });
            }
        }
        self.counts.operations += 1;
        self.end(open, &outcome);
        Ok(())
    }

    fn end(&mut self, open: Open, outcome: &Outcome) {
        let Open { part, operation, strange } = open;
        let at = self.counts.events;
        let mut alarms = std::mem::take(&mut self.alarms);
        if strange {
            let settings = self.settings.clone();
            let watched = self.part(&part);
            watched.start_over(at, &settings);
            // Nobody knows when an operation of unknown outcome takes effect.
            if *outcome != Outcome::Unknown {
                watched.strange -= 1;
            }
            self.counts.restarts += 1;
        } else {
            self.part(&part).end(at, &operation, outcome, &mut alarms);
        }
        for alarm in alarms.drain(..) {
            let violation = self.describe(&part, alarm, &operation, outcome);
            self.counts.violations += 1;
            self.found.push(violation);
        }
        self.alarms = alarms;
    }

    /// Forgets what happened before, because events were missed. What is open, also of what was missed, may take effect at any time.
    pub fn start_over(&mut self, missed: Missed) {
        let at = self.counts.events;
        for part in self.parts.values_mut().chain([&mut self.only]) {
            part.start_over(at, &self.settings);
            part.miss(missed);
        }
        self.missed = match (self.missed, missed) {
            (Some(Missed::Many), _) | (_, Missed::Many) => Some(Missed::Many),
            (Some(Missed::Some(before)), Missed::Some(events)) => Some(Missed::Some(before + events)),
            (None, missed) => Some(missed),
        };
        self.counts.restarts += 1;
    }

    /// Records that a thread is gone: its open operation may or may not have happened.
    pub fn leave(&mut self, thread: &Value) {
        let Some(number) = self.numbers.remove(thread) else { return };
        if let Some(open) = self.threads.get_mut(&number).and_then(|thread| thread.open.take()) {
            self.end(open, &Outcome::Unknown);
        }
        self.threads.remove(&number);
    }

    /// How many violations wait to be [handed out](Monitor::found).
    pub fn waiting(&self) -> usize {
        self.found.len()
    }

    /// The violations found since the last time, in the order in which they were certain.
    pub fn found(&mut self) -> impl Iterator<Item = Violation> {
        self.found.drain(..)
    }

    /// What was seen so far.
    pub fn counts(&self) -> Counts {
        let parts = || self.parts.values().chain([&self.only]);
        Counts {
            unchecked: self.unchecked_before + parts().map(Part::unchecked).sum::<u64>(),
            untold: parts().map(Part::untold).sum(),
            repeated: self.repeated_before + parts().map(Part::repeated).sum::<u64>(),
            open: self.threads.values().filter(|thread| thread.open.is_some()).count() as u64,
            present: parts().map(Part::present).sum::<usize>() as u64,
            ..self.counts
        }
    }

    /// How many entries the monitor holds in all: its memory grows with them.
    pub fn entries(&self) -> usize {
        self.threads.len() + self.parts.values().chain([&self.only]).map(Part::entries).sum::<usize>()
    }

    /// How many threads were looked at so far in order to forget those with nothing open.
    pub fn swept(&self) -> u64 {
        self.swept
    }

    /// How many ways are followed for objects with small states: what the time for a return depends on.
    pub fn ways(&self) -> usize {
        self.parts.values().chain([&self.only]).map(Part::ways).sum()
    }

    fn method(&mut self, name: &str) -> Result<&'static str, Misuse> {
        if let Some((_, method)) = self.methods.iter().find(|(known, _)| known == name) {
            return Ok(method);
        }
        let method = find(self.kind.methods(), name)?;
        if self.methods.len() < METHODS_MAX {
            self.methods.push((name.to_owned(), method));
        }
        Ok(method)
    }

    fn number(&mut self, thread: &Value) -> u32 {
        if let Some(&number) = self.numbers.get(thread) {
            return number;
        }
        if self.threads.len() >= self.forget_at {
            self.swept += self.threads.len() as u64;
            self.threads.retain(|_, thread| thread.open.is_some());
            let threads = &self.threads;
            self.numbers.retain(|_, number| threads.contains_key(number));
            self.forget_at = (2 * self.threads.len()).max(THREADS_MAX);
        }
        let number = self.next_thread;
        // u32::MAX stands for no thread.
        self.next_thread = (self.next_thread + 1) % u32::MAX;
        self.numbers.insert(thread.clone(), number);
        self.threads.insert(number, Thread { name: thread.clone(), open: None });
        number
    }

    fn part(&mut self, name: &PartName) -> &mut Part {
        let Some(name) = name else { return &mut self.only };
        if self.parts.len() >= self.sweep_at {
            let (mut unchecked, mut repeated) = (0, 0);
            let missed = self.missed.is_some();
            self.parts.retain(|_, part| {
                let fresh = part.is_fresh(missed);
                if fresh {
                    unchecked += part.unchecked();
                    repeated += part.repeated();
                }
                !fresh
            });
            self.unchecked_before += unchecked;
            self.repeated_before += repeated;
            self.sweep_at = (2 * self.parts.len()).max(PARTS_SWEPT);
        }
        let make = || {
            let mut part = Part::new(self.kind, &self.settings).expect("one was made before");
            if let Some(missed) = self.missed {
                part.start_over(0, &self.settings);
                part.miss(missed);
            }
            part
        };
        self.parts.entry((**name).clone()).or_insert_with(make)
    }

    fn describe(&self, part: &PartName, alarm: Alarm<Value>, op: &OpenOperation, outcome: &Outcome) -> Violation {
        let (object, key) = part.as_deref().cloned().unwrap_or_default();
        let (insert, remove) = match self.kind {
            Kind::Queue => ("enq", "deq"),
            Kind::Stack => ("push", "pop"),
            Kind::PriorityQueue | Kind::PriorityQueueMin => ("insert", "poll"),
            Kind::Bag => ("add", "remove"),
            _ => ("write", "read"),
        };
        let thread = |span: Span| self.threads.get(&span.thread).map(|thread| thread.name.clone());
        let operations = alarm.operations.into_iter().map(|shown| {
            let span = shown.span;
            let (method, argument, result) = match shown.did {
                Did::Insert => (insert, shown.value.unwrap_or_default(), Value::Nil),
                Did::Remove => (remove, Value::Nil, shown.value.unwrap_or_default()),
                Did::Empty => (remove, Value::Nil, Value::text("empty")),
                Did::Read => ("read", Value::Nil, shown.value.unwrap_or_default()),
                Did::Other => {
                    let result = if let Outcome::Return(result) = outcome { result.clone() } else { Value::Nil };
                    (op.method, op.argument.clone(), result)
                }
            };
            let ret = (span.ret != 0).then_some(span.ret);
            let result = ret.is_some().then_some(result);
            ShownOperation { method: method.to_owned(), argument, result, thread: thread(span), call: span.call, ret }
        });
        let operations = operations.collect();
        Violation { rule: alarm.rule, object, key, event: self.counts.events, operations }
    }
}
