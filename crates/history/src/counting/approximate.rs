//! A_k of a recorded history against the formulas of its object.
//!
//! Queues, stacks, priority queues and bags have formulas of the [logic](super::logic); mutexes, readers-writer locks, semaphores and the elements of
//! a set have a [kernel](super::kernel), whose formula misses nothing that A_k shows; so does a register with few values, and one with many has formulas.
//!
//! Invariant: a violation here is one of linearizability. That none is seen says nothing.

use std::collections::HashMap;
use std::fmt;

use super::kernel::{self, Counted, Grammar, Shown, builtin};
use super::label::Label;
use super::logic;
use super::numbered::{Counts, Numbered};
use super::order::IntervalOrder;
use super::parts::{Operations, Prefixes, parts};
use super::solver::Halt;
use crate::check::{Unfit, read};
use crate::evidence::Part;
use crate::object::{Kind, Misuse, Object, ObjectVisitor, find};
use crate::{Budget, Log, OpId, Symbol, Value};

/// How many values a register may hold to be decided by its kernel.
const REGISTER_VALUES_MAX: usize = 4;

/// How many permits a semaphore may come to have to be followed by a finite automaton, which is decided faster.
const SEMAPHORE_PERMITS_MAX: u64 = 16;

/// How many readers a readers-writer lock may come to have to be followed by one.
const READERS_MAX: u64 = 8;

/// A violation that counting shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountingViolation {
    /// Which object.
    pub part: Part,
    /// After how many events of that object it shows.
    pub events: u32,
    /// The name of the formula.
    pub formula: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// The operations that show it.
    pub operations: Vec<OpId>,
    /// Where a kernel decided: the numbers that no serial execution has.
    pub demands: Vec<Shown>,
}

/// What a look at a log came to.
#[derive(Clone, Debug)]
pub struct Approximation {
    /// The violation seen, if any.
    pub violation: Option<CountingViolation>,
    /// Why the look was cut short, if it was.
    pub halt: Option<Halt>,
    /// How many objects there are.
    pub parts: usize,
    /// How many histories (whole ones and beginnings) were looked at.
    pub looked_at: u64,
    /// The greatest length of an object's history.
    pub length: usize,
}

/// Why a log cannot be looked at.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unapproximated {
    /// An operation does not fit the object.
    Unfit(Unfit),
    /// There is no formula for such an object.
    NoFormula(Kind),
    /// k is larger than [`kernel::K_MAX`].
    K,
}

impl fmt::Display for Unapproximated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unapproximated::Unfit(unfit) => unfit.fmt(f),
            Unapproximated::NoFormula(kind) => write!(f, "there is no counting formula for a {kind}"),
            Unapproximated::K => write!(f, "k should be at most {}", kernel::K_MAX),
        }
    }
}

impl std::error::Error for Unapproximated {}

/// Whether there are formulas for such an object. A semaphore's kernel is written for up to 12 permits.
pub fn has_formula(kind: Kind) -> bool {
    let kernel = matches!(kind, Kind::Mutex | Kind::RwLock | Kind::Semaphore | Kind::Set);
    kernel || !logic::families(kind).is_empty()
}

/// Looks for violations in A_k of each object's history.
pub fn approximate(
    log: &Log,
    kind: Kind,
    initial: Option<&Value>,
    k: usize,
    prefixes: Prefixes,
    budget: &Budget,
) -> Result<Approximation, Unapproximated> {
    Approximator::new(kind, k)?.look(log, initial, prefixes, budget)
}

/// Looks at one log after the other. What was decided before is not decided again, so many small histories are looked at quickly.
#[derive(Clone, Debug)]
pub struct Approximator {
    kind: Kind,
    k: usize,
    families: Vec<(logic::Family, logic::Formula)>,
    /// Formulas by the text of their kernels: objects mostly share one.
    kernels: HashMap<String, kernel::Formula>,
}

impl Approximator {
    /// An approximator for logs of objects of that kind.
    pub fn new(kind: Kind, k: usize) -> Result<Self, Unapproximated> {
        if k > kernel::K_MAX {
            return Err(Unapproximated::K);
        }
        let parse = |family: &logic::Family| {
            (*family, logic::Formula::parse(family.text).expect("the built-in formulas are right"))
        };
        let families = logic::families(kind).iter().map(parse).collect();
        Ok(Approximator { kind, k, families, kernels: HashMap::new() })
    }

    /// Looks for violations in A_k of each object's history.
    pub fn look(
        &mut self,
        log: &Log,
        initial: Option<&Value>,
        prefixes: Prefixes,
        budget: &Budget,
    ) -> Result<Approximation, Unapproximated> {
        let kind = self.kind;
        let initial = initial.or(log.initial.as_ref()).cloned().unwrap_or_default();
        let stated = (!initial.is_nil()).then_some(&initial);
        let unfit = |misuse| Unfit { op: None, at_return: false, method: String::new(), misuse };
        let checked = kind
            .with_object(stated, Fits { log, kind })
            .map_err(|misuse: Misuse| Unapproximated::Unfit(unfit(misuse)))?;
        checked.map_err(Unapproximated::Unfit)?;
        let methods = log.names().iter().map(|name| find(kind.methods(), name).ok()).collect();
        let mut looker = Looker { log, methods, formulas: self, initial, prefixes, budget, looked_at: 0 };
        let mut answer = Approximation { violation: None, halt: None, parts: 0, looked_at: 0, length: 0 };
        for part in parts(log, |call| kind.part_key(call)) {
            answer.parts += 1;
            let whole = IntervalOrder::of(part.history());
            answer.length = answer.length.max(whole.length());
            match looker.part(&part, &whole)? {
                Ok(violation) => answer.violation = violation,
                Err(halt) => answer.halt = answer.halt.or(Some(halt)),
            }
            if answer.violation.is_some() {
                break;
            }
        }
        answer.looked_at = looker.looked_at;
        Ok(answer)
    }
}

/// Whether every operation fits the object.
struct Fits<'a> {
    log: &'a Log,
    kind: Kind,
}

impl ObjectVisitor for Fits<'_> {
    type Answer = Result<(), Unfit>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer {
        let mut fitting = Vec::new();
        for op in (0..self.log.history.len() as u32).map(OpId) {
            let shape = shape(self.kind, self.log, op);
            if shape.is_none_or(|shape| !fitting.contains(&shape)) {
                read(&object, self.kind, self.log, op)?;
                fitting.extend(shape);
            }
        }
        Ok(())
    }
}

/// A value as far as it matters for whether an operation fits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    None,
    Nil,
    Bool(bool),
    Int,
}

/// What decides whether an operation fits, where it is little: most operations have one of a few of these.
fn shape(kind: Kind, log: &Log, op: OpId) -> Option<(Symbol, Shape, Shape)> {
    use Kind::{Bag, Mutex, PriorityQueue, PriorityQueueMin, Queue, Register, RwLock, Set, Stack};
    if !matches!(kind, Queue | Stack | PriorityQueue | PriorityQueueMin | Bag | Register | Set | Mutex | RwLock) {
        return None;
    }
    let shape = |value: Option<&Value>| match value {
        None => Some(Shape::None),
        Some(Value::Nil) => Some(Shape::Nil),
        Some(Value::Bool(truth)) => Some(Shape::Bool(*truth)),
        Some(Value::Int(_)) => Some(Shape::Int),
        Some(_) => None,
    };
    let operation = log.history.operation(op);
    Some((operation.input.method, shape(Some(&operation.input.argument))?, shape(operation.output())?))
}

struct Looker<'a> {
    log: &'a Log,
    /// By symbol: the name that the object has for it, if it is one of its methods.
    methods: Vec<Option<&'static str>>,
    formulas: &'a mut Approximator,
    initial: Value,
    prefixes: Prefixes,
    budget: &'a Budget,
    looked_at: u64,
}

type Seen = Result<Option<CountingViolation>, Halt>;

impl Looker<'_> {
    fn part(&mut self, part: &Operations<'_>, whole: &IntervalOrder) -> Result<Seen, Unapproximated> {
        let by_kernel = match self.formulas.kind {
            Kind::Mutex | Kind::RwLock | Kind::Set | Kind::Semaphore => true,
            Kind::Register => self.has_few_values(part),
            _ => false,
        };
        if by_kernel {
            let (kinds, mut labels) = self.labels(part);
            let times =
                |method: &str| kinds.iter().filter(|&&kind| labels[kind as usize].method == method).count() as u64;
            let text = match self.formulas.kind {
                Kind::Mutex => Some(builtin::MUTEX.to_owned()),
                Kind::RwLock => Some(rwlock(times("read_acquire") + times("try_read_acquire"))),
                Kind::Set => {
                    labels.iter_mut().for_each(|label| label.argument = Value::Nil);
                    Some(builtin::SET.to_owned())
                }
                Kind::Semaphore => match self.initial.as_int().unwrap_or(1) {
                    permits @ 0..=12 => Some(semaphore(permits.unsigned_abs(), times("release"))),
                    _ => None,
                },
                _ => self.number_values(&mut labels),
            };
            if let Some(text) = text {
                return Ok(self.by_kernel(part, &kinds, &labels, text, whole));
            }
        }
        if self.formulas.families.is_empty() {
            return Err(Unapproximated::NoFormula(self.formulas.kind));
        }
        Ok(self.by_families(part, whole))
    }

    /// The different labels of a part in the order of their first operations, and which of them each operation has.
    fn labels(&self, part: &Operations<'_>) -> (Vec<u32>, Vec<Label>) {
        let mut numbers: hashbrown::HashMap<_, u32, foldhash::fast::RandomState> = hashbrown::HashMap::default();
        let mut labels = Vec::new();
        let kinds = part.ops().map(|op| {
            let operation = self.log.history.operation(op);
            let number = numbers.entry((operation.input.method, &operation.input.argument, operation.output()));
            *number.or_insert_with(|| {
                labels.push(self.label(op));
                labels.len() as u32 - 1
            })
        });
        let kinds = kinds.collect();
        (kinds, labels)
    }

    /// What the operation did, with the name that the object has for its method.
    fn label(&self, op: OpId) -> Label {
        let (operation, kind) = (self.log.history.operation(op), self.formulas.kind);
        let method = self.methods[operation.input.method.0 as usize].expect("it fits the object");
        let silent = matches!(
            method,
            "write" | "acquire" | "release" | "read_acquire" | "read_release" | "write_acquire" | "write_release"
        );
        let result = operation.output().map(|output| if silent { Value::Nil } else { output.clone() });
        Label { method: method.to_owned(), argument: kind.argument(&operation.input), result }
    }

    /// Whether a register has few enough values for its kernel: with many, labels are not even made.
    fn has_few_values(&self, part: &Operations<'_>) -> bool {
        let mut values = vec![&self.initial];
        for operation in part.ops().map(|op| self.log.history.operation(op)) {
            let is_write = self.methods[operation.input.method.0 as usize] == Some("write");
            let value = if is_write { Some(&operation.input.argument) } else { operation.output() };
            if let Some(value) = value.filter(|value| !values.contains(value)) {
                values.push(value);
            }
            if values.len() > REGISTER_VALUES_MAX {
                return false;
            }
        }
        true
    }

    /// Replaces the values of a register by numbers, the initial one by 0, and answers its kernel; `None` when there are many.
    fn number_values(&self, labels: &mut [Label]) -> Option<String> {
        let mut numbers: HashMap<Value, i64> = HashMap::from([(self.initial.clone(), 0)]);
        let mut numbered = labels.to_vec();
        for label in &mut numbered {
            let read = label.method == "read";
            let value = if read { label.result.as_mut() } else { Some(&mut label.argument) };
            if let Some(value) = value {
                let next = numbers.len() as i64;
                *value = Value::Int(*numbers.entry(value.clone()).or_insert(next));
            }
        }
        if numbers.len() > REGISTER_VALUES_MAX {
            return None;
        }
        labels.clone_from_slice(&numbered);
        let values: Vec<Value> = (0..REGISTER_VALUES_MAX as i64).map(Value::Int).collect();
        Some(builtin::register(&values))
    }

    fn by_kernel(
        &mut self,
        part: &Operations<'_>,
        kinds: &[u32],
        labels: &[Label],
        text: String,
        whole: &IntervalOrder,
    ) -> Seen {
        let k = self.formulas.k;
        let formula = self.formulas.kernels.entry(text).or_insert_with_key(|text| {
            let grammar = Grammar::parse(text).expect("the built-in kernels are right");
            kernel::Formula::new(grammar, k).expect("the built-in kernels are small").with_walks()
        });
        let number =
            |label: &Label| kernel::number(formula, label.clone(), OpId(0)).expect("the kernel has all of them");
        let labels: Vec<Counted> = labels.iter().map(number).collect();
        let counted: Vec<Counted> = kinds.iter().map(|&kind| labels[kind as usize]).collect();
        let found = kernel::look(formula, part, &counted, whole, self.prefixes, self.budget, &mut self.looked_at)?;
        Ok(found.map(|violation| CountingViolation {
            operations: violation.operations(),
            part: violation.part,
            events: violation.events,
            formula: "kernel",
            what: "no serial execution has so many operations of each kind in these intervals",
            demands: violation.demands,
        }))
    }

    fn by_families(&mut self, part: &Operations<'_>, whole: &IntervalOrder) -> Seen {
        let Approximator { kind, k, families, .. } = &*self.formulas;
        let (log, methods) = (self.log, &self.methods);
        let operations = part.ops().map(|op| {
            let operation = log.history.operation(op);
            let method = methods[operation.input.method.0 as usize].expect("it fits the object");
            (method, &operation.input.argument, operation.output())
        });
        let numbered = Numbered::new(*kind, &self.initial, operations);
        for events in self.prefixes.of(part.history()) {
            let order = if events == part.history().marks().len() {
                whole.approximate(*k)
            } else {
                IntervalOrder::of(&part.history().prefix(events)).approximate(*k)
            };
            self.looked_at += 1;
            let (structure, counts) = numbered.structure(&order, *k);
            for (family, formula) in families {
                let Some(witness) = structure.find(formula, self.budget).map_err(Halt::Limit)? else { continue };
                let shown: Vec<Counts> = witness.iter().map(|(_, label)| counts[*label]).collect();
                let operations = numbered.operations(&order, &shown).into_iter().map(|own| part.op(own)).collect();
                return Ok(Some(CountingViolation {
                    part: part.name(),
                    events: events as u32,
                    formula: family.name,
                    what: family.what,
                    operations,
                    demands: Vec::new(),
                }));
            }
        }
        Ok(None)
    }
}

/// The kernel of a semaphore with that many permits at first. So many operations that give back make only so many permits.
fn semaphore(permits: u64, given_back: u64) -> String {
    // One more at least: the kernel must have every label, also where nothing is given back.
    let most = permits + given_back.max(1);
    if most <= SEMAPHORE_PERMITS_MAX { builtin::semaphore_between(permits, most) } else { builtin::semaphore(permits) }
}

/// The kernel of a readers-writer lock. So many operations that acquire it for reading make only so many readers.
fn rwlock(read: u64) -> String {
    // One at least: the kernel must have every label.
    let readers = read.max(1);
    if readers <= READERS_MAX { builtin::rwlock_between(readers) } else { builtin::RWLOCK.to_owned() }
}
