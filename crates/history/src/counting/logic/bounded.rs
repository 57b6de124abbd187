//! The complete families for bounded length (section 7.2): every minimal violation among histories of length at most k, as formulas.
//!
//! An *element* is an insertion and the removal of the same value, with an interval each. Elements with the same intervals say nothing new
//! (lemma 7.1), so the violations among sets of different elements are all there are: finitely many for each k. Sets that contain a
//! smaller violation are left out. There are 2^(((k+1)(k+2)/2)²) sets; those of more than `elements_max` elements are not looked at, so a family
//! is complete (theorem 5) for histories with at most that many elements.
//!
//! Invariant: each formula asks for values that are inserted once and removed once, as theorem 5 does.

use super::{Base, Comparison, Formula, Node, Predicate, Slot, Subject, Term};

/// Which collection the family is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collection {
    /// First in, first out.
    Queue,
    /// Last in, first out.
    Stack,
}

type Interval = (usize, usize);

/// The insertion and the removal of a value.
type Element = (Interval, Interval);

/// The minimal violations among histories of length at most k with at most so many elements, a formula each.
pub fn bounded(collection: Collection, k: usize, elements_max: usize) -> Vec<Formula> {
    minimal(collection, k, elements_max).iter().map(|elements| formula(elements)).collect()
}

/// The sets of elements that are violations, and no subset of which is.
fn minimal(collection: Collection, k: usize, elements_max: usize) -> Vec<Vec<Element>> {
    let intervals = || (0..=k).flat_map(move |i| (i..=k).map(move |j| (i, j)));
    let elements: Vec<Element> =
        intervals().flat_map(|insert| intervals().map(move |remove| (insert, remove))).collect();
    let mut found: Vec<Vec<Element>> = Vec::new();
    // Sets of one size, as ascending numbers of elements; those of the next size extend the ones that are right.
    let mut right: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..elements_max {
        let mut next = Vec::new();
        for set in &right {
            let first = set.last().map_or(0, |last| last + 1);
            for element in first..elements.len() {
                let set: Vec<usize> = set.iter().copied().chain([element]).collect();
                let chosen: Vec<Element> = set.iter().map(|&element| elements[element]).collect();
                if found.iter().any(|smaller| smaller.iter().all(|element| chosen.contains(element))) {
                    continue;
                }
                if explained(collection, &chosen, &mut vec![false; 2 * chosen.len()], &mut Vec::new()) {
                    next.push(set);
                } else {
                    found.push(chosen);
                }
            }
        }
        right = next;
    }
    found
}

/// Whether the operations (insertions even, removals odd) that are not done can follow in some order. As deep as there are operations.
fn explained(collection: Collection, elements: &[Element], done: &mut Vec<bool>, inside: &mut Vec<usize>) -> bool {
    let interval = |op: usize| if op.is_multiple_of(2) { elements[op / 2].0 } else { elements[op / 2].1 };
    if done.iter().all(|done| *done) {
        return true;
    }
    for op in 0..done.len() {
        if done[op] || (0..done.len()).any(|other| !done[other] && interval(other).1 < interval(op).0) {
            continue;
        }
        let before = inside.clone();
        let value = op / 2;
        let next = match collection {
            _ if op.is_multiple_of(2) => {
                inside.push(value);
                true
            }
            Collection::Queue => inside.first() == Some(&value) && inside.remove(0) == value,
            Collection::Stack => inside.last() == Some(&value) && inside.pop() == Some(value),
        };
        done[op] = true;
        if next && explained(collection, elements, done, inside) {
            return true;
        }
        done[op] = false;
        *inside = before;
    }
    false
}

/// Ψ_h: there are elements ordered at least like these.
fn formula(elements: &[Element]) -> Formula {
    let count = 2 * elements.len();
    let interval = |op: usize| if op.is_multiple_of(2) { elements[op / 2].0 } else { elements[op / 2].1 };
    let subject = Subject::Variable;
    let mut conditions = Vec::new();
    for op in 0..count {
        let role = if op.is_multiple_of(2) { Predicate::Sole } else { Predicate::Remove };
        conditions.push(Node::Is(role, vec![subject(op)]));
        let zero = Slot { base: Base::Zero, offset: 0 };
        let total = Term::Total(subject(op), zero, Slot { base: Base::K, offset: 0 });
        conditions.push(Node::Compare(vec![total], Comparison::Equal, vec![Term::Number(1)]));
        conditions.extend((op % 2 == 1).then(|| Node::Is(Predicate::Same, vec![subject(op - 1), subject(op)])));
        for other in 0..count {
            if interval(op).1 < interval(other).0 {
                conditions.push(Node::Before(subject(op), subject(other)));
            }
            if op < other && op.is_multiple_of(2) && other.is_multiple_of(2) {
                conditions.push(Node::Not(Box::new(Node::Identical(subject(op), subject(other)))));
            }
        }
    }
    let name = |op: usize| format!("{}{}", if op.is_multiple_of(2) { "x" } else { "y" }, op / 2 + 1);
    let body = Node::Exists((0..count).collect(), Box::new(Node::All(conditions)));
    Formula { body, labels: (0..count).map(name).collect(), slots: 0 }
}

#[cfg(test)]
mod tests {
    use super::super::{Facts, Role, Structure};
    use super::*;
    use crate::counting::{Label, Triangle};
    use crate::{Budget, Value};

    fn structure(k: usize, elements: &[Element]) -> Structure {
        let mut labels = Vec::new();
        for (value, &(insert, remove)) in elements.iter().enumerate() {
            let number = Value::Int(value as i64);
            for (role, (i, j)) in [(Role::Insert, insert), (Role::Remove, remove)] {
                let (name, argument, result) = match role {
                    Role::Insert => ("push", number.clone(), Value::Nil),
                    _ => ("pop", Value::Nil, number.clone()),
                };
                let mut counts = Triangle::new(k);
                counts.increment(i, j);
                let facts = Facts { role, value: Some(value), rank: value, initial: false };
                labels.push((Label::new(name, argument, result), facts, counts));
            }
        }
        Structure::new(k, labels)
    }

    /// Theorem 5, on histories of up to three elements.
    #[test]
    fn the_family_holds_exactly_of_the_violations() {
        for (collection, k, elements_max) in
            [(Collection::Queue, 1, 3), (Collection::Stack, 1, 3), (Collection::Queue, 2, 2), (Collection::Stack, 2, 2)]
        {
            let family = bounded(collection, k, elements_max);
            let mut state = 3u64;
            let mut next = move |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % below
            };
            let (mut right, mut wrong) = (0, 0);
            for _ in 0..400 {
                let mut interval = || {
                    let (a, b) = (next(k + 1), next(k + 1));
                    (a.min(b), a.max(b))
                };
                let elements: Vec<Element> = (0..elements_max).map(|_| (interval(), interval())).collect();
                let structure = structure(k, &elements);
                let violated = family.iter().any(|formula| structure.holds(formula, &Budget::new()).unwrap());
                let expected = !explained(collection, &elements, &mut vec![false; 2 * elements.len()], &mut Vec::new());
                assert_eq!(violated, expected, "{collection:?} k={k} {elements:?}");
                *if expected { &mut wrong } else { &mut right } += 1;
            }
            assert!(right > 20 && wrong > 20, "{collection:?} k={k}: {right} {wrong}");
        }
    }

    #[test]
    fn the_families_are_small() {
        // A removal before the insertion; and for queues two values that leave against their order.
        assert_eq!(minimal(Collection::Queue, 1, 3), [vec![((1, 1), (0, 0))]]);
        assert!(minimal(Collection::Queue, 2, 2).iter().any(|elements| elements.len() == 2));
    }
}
