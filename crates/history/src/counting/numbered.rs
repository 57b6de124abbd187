//! The operations of a collection or register as the formulas of the [logic](super::logic) see them: roles and values.
//!
//! A history may have a hundred thousand values, of which A_k tells few kinds apart: all that are long gone look alike. The built-in formulas speak of at most
//! [`ALIKE_MAX`] values at once; whatever else they ask (`forall`) is about labels of one of those values, or about labels without a value. So of the values that look alike it is enough to
//! keep that many: what is true of some values is true of others that look like them. Where values have ranks, the lowest and the highest of each kind are kept, since formulas only ask
//! for something higher than what came out.
//!
//! Invariant: a built-in formula holds of what is kept exactly when it holds of all.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::kernel;
use super::label::Label;
use super::logic::{Facts, Role, Structure};
use super::order::IntervalOrder;
use super::triangle::Triangle;
use crate::object::Kind;
use crate::{OpId, Value};

/// How many values that look alike are kept.
const ALIKE_MAX: usize = 4;

/// No value.
const NONE: u32 = u32::MAX;

/// The labels that a value may have: put in, being put in, taken out, seen.
const LABELS: [(Role, bool); 4] =
    [(Role::Insert, false), (Role::Insert, true), (Role::Remove, false), (Role::Observe, false)];

/// What an operation counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    role: Role,
    /// Whether it is an insertion that has not returned.
    open: bool,
    value: u32,
}

/// One object's operations, numbered.
pub(super) struct Numbered<'l> {
    operations: Vec<Counts>,
    values: Vec<&'l Value>,
    /// By value; empty where ranks do not matter.
    ranks: Vec<u32>,
    initial: Option<u32>,
}

impl<'l> Numbered<'l> {
    /// Operations by method, argument and result.
    pub fn new(
        kind: Kind,
        initial: &Value,
        operations: impl Iterator<Item = (&'static str, &'l Value, Option<&'l Value>)>,
    ) -> Self {
        let mut numbers: HashMap<&Value, u32, RandomState> = HashMap::default();
        let mut values = Vec::new();
        let mut number = |value: &'l Value| {
            *numbers.entry(value).or_insert_with(|| {
                values.push(value);
                values.len() as u32 - 1
            })
        };
        let operations = operations
            .map(|(method, argument, result)| {
                let role = role(kind, method, result);
                let value = match (role, result) {
                    (Role::Insert, _) => number(argument),
                    (Role::Remove | Role::Observe, Some(result)) => number(result),
                    _ => NONE,
                };
                Counts { role, open: false, value }
            })
            .collect();
        let initial = numbers.get(initial).copied();
        let ranks = if matches!(kind, Kind::PriorityQueue | Kind::PriorityQueueMin) {
            let mut order: Vec<u32> = (0..values.len() as u32).collect();
            order.sort_unstable_by_key(|&value| values[value as usize]);
            if kind == Kind::PriorityQueueMin {
                order.reverse();
            }
            let mut ranks = vec![0; order.len()];
            (0..).zip(order).for_each(|(rank, value)| ranks[value as usize] = rank);
            ranks
        } else {
            Vec::new()
        };
        Numbered { operations, values, ranks, initial }
    }

    /// What an operation counts as where it may not have returned yet.
    fn counts(&self, order: &IntervalOrder, op: OpId) -> Counts {
        let counts = self.operations[op.0 as usize];
        match counts.role {
            _ if !order.is_pending(op) => counts,
            Role::Insert => Counts { open: true, ..counts },
            Role::Remove | Role::Removing | Role::Empty => Counts { role: Role::Removing, open: false, value: NONE },
            Role::Observe | Role::Other => Counts { role: Role::Other, open: false, value: NONE },
        }
    }

    /// The labels with their counters, without values that look like others; and what each label counts.
    pub fn structure(&self, order: &IntervalOrder, k: usize) -> (Structure, Vec<Counts>) {
        self.structure_of(order, k, ALIKE_MAX)
    }

    /// With at most `alike_max` values that look alike, twice as many where they have ranks.
    fn structure_of(&self, order: &IntervalOrder, k: usize, alike_max: usize) -> (Structure, Vec<Counts>) {
        let cells = (k + 1) * (k + 2) / 2;
        let width = LABELS.len() * cells;
        let place = |first: usize, last: usize| first * (k + 1) - first * first.saturating_sub(1) / 2 + (last - first);
        let mut by_value = vec![0u32; self.values.len() * width];
        let mut without: [Triangle; 2] = [Triangle::new(k), Triangle::new(k)];
        for op in (0..order.operations() as u32).map(OpId) {
            let (first, last) = order.interval(op);
            let last = if order.is_pending(op) { k } else { last };
            let counts = self.counts(order, op);
            match counts.role {
                Role::Other => {}
                Role::Empty => without[0].increment(first, last),
                Role::Removing => without[1].increment(first, last),
                Role::Insert | Role::Remove | Role::Observe => {
                    let label = LABELS.iter().position(|label| *label == (counts.role, counts.open));
                    let label = label.expect("every role with a value has a label");
                    by_value[counts.value as usize * width + label * cells + place(first, last)] += 1;
                }
            }
        }
        let (mut labels, mut keys) = (Vec::new(), Vec::new());
        for value in self.representatives(&by_value, width, alike_max) {
            let of_value = &by_value[value as usize * width..][..width];
            for ((role, open), counts) in LABELS.into_iter().zip(of_value.chunks(cells)) {
                if counts.iter().any(|&count| count > 0) {
                    labels.push(self.entry(role, open, value, Triangle::from_counts(k, counts)));
                    keys.push(Counts { role, open, value });
                }
            }
        }
        for (role, counts) in [Role::Empty, Role::Removing].into_iter().zip(without) {
            if !counts.is_empty() {
                labels.push(self.entry(role, false, NONE, counts));
                keys.push(Counts { role, open: false, value: NONE });
            }
        }
        (Structure::new(k, labels), keys)
    }

    /// Of the values that look alike a few, in the order in which they were numbered.
    fn representatives(&self, by_value: &[u32], width: usize, alike_max: usize) -> Vec<u32> {
        let mut alike: HashMap<(&[u32], bool), Vec<u32>, RandomState> = HashMap::default();
        for (value, counts) in (0..).zip(by_value.chunks(width)) {
            let alike = alike.entry((counts, self.initial == Some(value))).or_default();
            if alike.len() < alike_max || !self.ranks.is_empty() {
                alike.push(value);
            }
        }
        let mut kept = Vec::new();
        for mut alike in alike.into_values() {
            if !self.ranks.is_empty() && alike.len() / 2 > alike_max {
                alike.sort_unstable_by_key(|&value| self.ranks[value as usize]);
                alike.drain(alike_max..alike.len() - alike_max);
            }
            kept.extend(alike);
        }
        kept.sort_unstable();
        kept
    }

    fn entry(&self, role: Role, open: bool, value: u32, counts: Triangle) -> (Label, Facts, Triangle) {
        let place = (value != NONE).then_some(value as usize);
        let known = || place.map_or(Value::Nil, |place| self.values[place].clone());
        let (method, argument, result) = match role {
            Role::Insert => ("insert", known(), (!open).then_some(Value::Nil)),
            Role::Removing => ("remove", Value::Nil, None),
            Role::Observe => ("observe", Value::Nil, Some(known())),
            Role::Remove | Role::Empty | Role::Other => ("remove", Value::Nil, Some(known())),
        };
        let rank = place.and_then(|place| self.ranks.get(place)).map_or(0, |&rank| rank as usize);
        let facts = Facts { role, value: place, rank, initial: place.is_some() && self.initial == Some(value) };
        (Label { method: method.to_owned(), argument, result }, facts, counts)
    }

    /// The operations that count as one of these, those called last where there are many.
    pub fn operations(&self, order: &IntervalOrder, shown: &[Counts]) -> Vec<OpId> {
        let mut found = vec![0; shown.len()];
        let mut ops: Vec<OpId> = (0..order.operations() as u32)
            .rev()
            .map(OpId)
            .filter(|&op| {
                let counts = self.counts(order, op);
                let place = shown.iter().position(|shown| *shown == counts);
                place.is_some_and(|place| {
                    found[place] += 1;
                    found[place] <= kernel::OPERATIONS_MAX
                })
            })
            .collect();
        ops.reverse();
        ops
    }
}

/// What an operation does, as the formulas see it.
fn role(kind: Kind, method: &str, result: Option<&Value>) -> Role {
    match (kind, method, result) {
        (Kind::Queue, "enq", _) | (Kind::Stack, "push", _) | (Kind::Bag, "add", _) | (Kind::Register, "write", _) => {
            Role::Insert
        }
        (Kind::PriorityQueue | Kind::PriorityQueueMin, "insert", _) => Role::Insert,
        (Kind::Register, "read", Some(_)) => Role::Observe,
        (_, "deq" | "pop" | "poll" | "remove", Some(Value::Nil)) => Role::Empty,
        (_, "deq" | "pop" | "poll" | "remove", Some(_)) => Role::Remove,
        (_, "deq" | "pop" | "poll" | "remove", None) => Role::Removing,
        _ => Role::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::logic::{Formula, families};
    use super::*;
    use crate::{Budget, End, Event, History, ThreadId};

    fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
        let mut random = crate::generate::Random::new(seed);
        move |below| random.below(below as u64) as usize
    }

    type Recorded = (&'static str, Value, Option<Value>);

    /// Methods with arguments and results, and an order of them: some values come back out of order, some never, some answers are empty.
    fn random(kind: Kind, seed: u64) -> (Vec<Recorded>, IntervalOrder) {
        let mut number = numbers(seed);
        let (into, out) = match kind {
            Kind::Queue => ("enq", "deq"),
            Kind::Stack => ("push", "pop"),
            Kind::Bag => ("add", "remove"),
            Kind::Register => ("write", "read"),
            _ => ("insert", "poll"),
        };
        let threads = 1 + number(4);
        let repeated = number(4) == 0;
        let faults = [1_000, 6, 3][number(3)];
        let (mut events, mut operations, mut inside) = (Vec::new(), Vec::new(), Vec::new());
        let mut open: Vec<Option<usize>> = vec![None; threads];
        for value in 0..20 + number(40) {
            let (name, thread) = (value, ThreadId(number(threads) as u32));
            match open[thread.0 as usize].take() {
                Some(op) => {
                    events.push(Event::Return { thread, output: () });
                    let operation: &mut Recorded = &mut operations[op];
                    operation.2 = Some(if operation.0 == into {
                        inside.push(operation.1.clone());
                        Value::Nil
                    } else if inside.is_empty() || number(faults) == 0 {
                        Value::Nil
                    } else {
                        let at = if number(faults) < 2 { number(inside.len()) } else { 0 };
                        if kind == Kind::Register { inside[inside.len() - 1].clone() } else { inside.remove(at) }
                    });
                }
                None => {
                    events.push(Event::Call { thread, input: () });
                    let name = if repeated { name % 5 } else { name * 7 % 61 };
                    let put_in = number(100) < 55;
                    let argument = if put_in { Value::Int(name as i64) } else { Value::Nil };
                    open[thread.0 as usize] = Some(operations.len());
                    operations.push((if put_in { into } else { out }, argument, None));
                }
            }
        }
        let end = if open.iter().all(Option::is_none) { End::Complete } else { End::Truncated };
        (operations, IntervalOrder::of(&History::new(events, end).unwrap()))
    }

    #[test]
    fn values_that_look_alike_may_be_left_out() {
        use Kind::{Bag, PriorityQueue, PriorityQueueMin, Queue, Register, Stack};
        for kind in [Queue, Stack, PriorityQueue, PriorityQueueMin, Bag, Register] {
            let formulas: Vec<Formula> =
                families(kind).iter().map(|family| Formula::parse(family.text).unwrap()).collect();
            let (mut left_out, mut hold, mut fail) = (0, 0, 0);
            for seed in 0..150 {
                let (operations, order) = random(kind, seed);
                let operations =
                    operations.iter().map(|(method, argument, result)| (*method, argument, result.as_ref()));
                let numbered = Numbered::new(kind, &Value::Nil, operations);
                for k in 0..4 {
                    let order = order.approximate(k);
                    let (few, keys) = numbered.structure(&order, k);
                    let (all, all_keys) = numbered.structure_of(&order, k, usize::MAX);
                    left_out += all_keys.len() - keys.len();
                    for formula in &formulas {
                        let found = few.find(formula, &Budget::new()).unwrap();
                        let holds = all.holds(formula, &Budget::new()).unwrap();
                        assert_eq!(found.is_some(), holds, "{kind} seed {seed} k={k}");
                        *if holds { &mut hold } else { &mut fail } += 1;
                        if let Some(witness) = found {
                            let shown: Vec<Counts> = witness.iter().map(|(_, label)| keys[*label]).collect();
                            assert!(!numbered.operations(&order, &shown).is_empty());
                        }
                    }
                }
            }
            println!("{kind}: {left_out} left out, {hold} hold, {fail} do not");
            assert!(left_out > 200 && hold > 20 && fail > 50, "{kind}: {left_out} {hold} {fail}");
        }
    }
}
