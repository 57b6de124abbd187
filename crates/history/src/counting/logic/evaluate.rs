//! Whether a formula holds of a history's counters.
//!
//! Variables are bound one after the other, the one with the fewest candidates first: labels of the same value where one of them is bound
//! already, labels that begin late enough for a `before`, labels of the right role. A condition is looked at as soon as all its
//! variables are bound. Polynomial for a fixed number of variables; close to linear for the formulas of section 7, since few labels begin in
//! the last k slots.

use std::collections::HashMap;

use super::super::label::Label;
use super::super::triangle::Triangle;
use super::{Base, Comparison, Formula, Node, Predicate, Slot, Subject, Term};
use crate::{Budget, Limit};

/// What an operation does to the object, as predicates see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Puts in or writes its value.
    Insert,
    /// Takes out its value.
    Remove,
    /// May take out a value, and has not returned.
    Removing,
    /// Answered that there is nothing.
    Empty,
    /// Saw its value and changed nothing.
    Observe,
    /// Says nothing to the formulas.
    Other,
}

/// What predicates know of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it does.
    pub role: Role,
    /// The number of the value that it is about, if any.
    pub value: Option<usize>,
    /// Where that value stands among all in rank; greater is higher.
    pub rank: usize,
    /// Whether the value is there from the start.
    pub initial: bool,
}

/// The labels of a history with their counters, ready to have formulas evaluated.
#[derive(Clone, Debug)]
pub struct Structure {
    k: usize,
    labels: Vec<Entry>,
    by_label: HashMap<Label, usize>,
    by_value: HashMap<usize, Vec<usize>>,
    /// Labels none of whose operations begins in slot 0.
    late: Vec<usize>,
    by_role: [Vec<usize>; 6],
    all: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Entry {
    label: Label,
    facts: Facts,
    counts: Triangle,
    /// The first slot in which one of its operations begins, and the last in which one ends.
    hull: (usize, usize),
}

impl Structure {
    /// The labels with their counters, all for the same k.
    pub fn new(k: usize, labels: impl IntoIterator<Item = (Label, Facts, Triangle)>) -> Self {
        let entry = |(label, facts, counts): (Label, Facts, Triangle)| {
            let hull = counts.hull()?;
            Some(Entry { label, facts, counts, hull })
        };
        let labels: Vec<Entry> = labels.into_iter().filter_map(entry).collect();
        let mut by_value: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut by_role: [Vec<usize>; 6] = Default::default();
        for (i, entry) in labels.iter().enumerate() {
            if let Some(value) = entry.facts.value {
                by_value.entry(value).or_default().push(i);
            }
            by_role[entry.facts.role as usize].push(i);
        }
        let late = (0..labels.len()).filter(|&i| labels[i].hull.0 > 0).collect();
        let by_label = labels.iter().enumerate().map(|(i, entry)| (entry.label.clone(), i)).collect();
        let all = (0..labels.len()).collect();
        Structure { k, labels, by_label, by_value, late, by_role, all }
    }

    /// The label with that number, as witnesses have it.
    pub fn label(&self, number: usize) -> &Label {
        &self.labels[number].label
    }

    /// Whether the formula holds, and if so the labels that show it: those of the variables of its outermost `exists`, by name.
    pub fn find(&self, formula: &Formula, budget: &Budget) -> Result<Option<Vec<(String, usize)>>, Limit> {
        let mut evaluation = Evaluation {
            structure: self,
            labels: vec![None; formula.labels.len()],
            slots: vec![0; formula.slots],
            budget,
            witness: None,
        };
        let holds = evaluation.holds(&formula.body, true)?;
        let witness = evaluation.witness.unwrap_or_default();
        let named = |(variable, label): (usize, Option<usize>)| Some((formula.labels[variable].clone(), label?));
        Ok(holds.then(|| witness.into_iter().enumerate().filter_map(named).collect()))
    }

    /// Whether the formula holds.
    pub fn holds(&self, formula: &Formula, budget: &Budget) -> Result<bool, Limit> {
        self.find(formula, budget).map(|found| found.is_some())
    }
}

struct Evaluation<'a> {
    structure: &'a Structure,
    labels: Vec<Option<usize>>,
    slots: Vec<i64>,
    budget: &'a Budget,
    /// The labels bound when an outermost `exists` came true.
    witness: Option<Vec<Option<usize>>>,
}

impl Evaluation<'_> {
    /// Whether it holds; all variables free in it are bound.
    fn holds(&mut self, node: &Node, outermost: bool) -> Result<bool, Limit> {
        Ok(match node {
            Node::Compare(left, comparison, right) => {
                let (left, right) = (self.sum(left), self.sum(right));
                match comparison {
                    Comparison::Less => left < right,
                    Comparison::AtMost => left <= right,
                    Comparison::Equal => left == right,
                    Comparison::Different => left != right,
                }
            }
            Node::Is(predicate, subjects) => self.is(*predicate, subjects),
            Node::Before(first, second) => match (self.entry(first), self.entry(second)) {
                (Some(first), Some(second)) => first.hull.1 < second.hull.0,
                _ => false,
            },
            Node::Identical(left, right) => self.number(left) == self.number(right),
            Node::Not(inner) => !self.holds(inner, false)?,
            Node::All(parts) => {
                for part in parts {
                    if !self.holds(part, false)? {
                        return Ok(false);
                    }
                }
                true
            }
            Node::Any(parts) => {
                for part in parts {
                    if self.holds(part, outermost)? {
                        return Ok(true);
                    }
                }
                false
            }
            Node::Exists(variables, body) => {
                let conditions = match &**body {
                    Node::All(parts) => parts.iter().collect(),
                    other => vec![other],
                };
                self.bind(variables.clone(), conditions, outermost)?
            }
            Node::Some(slot, first, last, body) => {
                let (first, last) = (self.slot(*first), self.slot(*last));
                for value in first..=last {
                    self.slots[*slot] = value;
                    if self.holds(body, outermost)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    /// Whether the variables can be bound so that all conditions hold. At most as deep as there are variables.
    fn bind(&mut self, mut left: Vec<usize>, conditions: Vec<&Node>, outermost: bool) -> Result<bool, Limit> {
        self.budget.check()?;
        let (ready, waiting): (Vec<&Node>, Vec<&Node>) =
            conditions.into_iter().partition(|node| !left.iter().any(|&variable| mentions(node, variable)));
        for node in ready {
            if !self.holds(node, false)? {
                return Ok(false);
            }
        }
        if left.is_empty() {
            if outermost {
                self.witness = Some(self.labels.clone());
            }
            return Ok(true);
        }
        let candidates: Vec<&[usize]> = left.iter().map(|&variable| self.candidates(variable, &waiting)).collect();
        let (place, candidates) =
            candidates.into_iter().enumerate().min_by_key(|(_, list)| list.len()).expect("one is left");
        let candidates = candidates.to_vec();
        let variable = left.swap_remove(place);
        for label in candidates {
            self.labels[variable] = Some(label);
            if self.bind(left.clone(), waiting.clone(), outermost)? {
                self.labels[variable] = None;
                return Ok(true);
            }
        }
        self.labels[variable] = None;
        Ok(false)
    }

    /// Labels among which those for the variable are.
    fn candidates(&self, variable: usize, conditions: &[&Node]) -> &[usize] {
        let structure = self.structure;
        let is = |subject: &Subject| *subject == Subject::Variable(variable);
        let mut best: &[usize] = &structure.all;
        for condition in conditions {
            let list: &[usize] = match condition {
                Node::Is(Predicate::Same, both) if both.iter().any(is) => {
                    let other = both.iter().find(|subject| !is(subject));
                    match other.filter(|other| self.number(other).is_some()).and_then(|other| self.entry(other)) {
                        None => continue,
                        Some(entry) => entry
                            .facts
                            .value
                            .and_then(|value| structure.by_value.get(&value))
                            .map_or(&[], |list| &list[..]),
                    }
                }
                Node::Is(predicate, subjects) if is(&subjects[0]) => match predicate {
                    Predicate::Insert | Predicate::Sole => &structure.by_role[Role::Insert as usize],
                    Predicate::Remove => &structure.by_role[Role::Remove as usize],
                    Predicate::Removing => &structure.by_role[Role::Removing as usize],
                    Predicate::Empty => &structure.by_role[Role::Empty as usize],
                    Predicate::Observe => &structure.by_role[Role::Observe as usize],
                    _ => continue,
                },
                Node::Before(_, second) if is(second) => &structure.late,
                _ => continue,
            };
            if list.len() < best.len() {
                best = list;
            }
        }
        best
    }

    fn number(&self, subject: &Subject) -> Option<usize> {
        match subject {
            Subject::Variable(variable) => self.labels[*variable],
            Subject::Constant(label) => self.structure.by_label.get(label).copied(),
        }
    }

    fn entry(&self, subject: &Subject) -> Option<&Entry> {
        self.number(subject).map(|number| &self.structure.labels[number])
    }

    fn is(&self, predicate: Predicate, subjects: &[Subject]) -> bool {
        let Some(first) = self.entry(&subjects[0]) else { return false };
        let role = first.facts.role;
        match predicate {
            Predicate::Insert => role == Role::Insert,
            Predicate::Remove => role == Role::Remove,
            Predicate::Removing => role == Role::Removing,
            Predicate::Empty => role == Role::Empty,
            Predicate::Observe => role == Role::Observe,
            Predicate::Open => first.label.is_pending(),
            Predicate::Initial => first.facts.initial,
            Predicate::Sole => {
                let others = first.facts.value.and_then(|value| self.structure.by_value.get(&value));
                let inserts =
                    others.into_iter().flatten().filter(|&&i| self.structure.labels[i].facts.role == Role::Insert);
                role == Role::Insert && inserts.count() == 1
            }
            Predicate::Same => {
                let second = self.entry(&subjects[1]);
                second.is_some_and(|second| first.facts.value.is_some() && first.facts.value == second.facts.value)
            }
            Predicate::Higher => {
                let second = self.entry(&subjects[1]).filter(|second| second.facts.value.is_some());
                second.is_some_and(|second| first.facts.value.is_some() && first.facts.rank > second.facts.rank)
            }
        }
    }

    fn sum(&self, terms: &[Term]) -> u64 {
        let term = |term: &Term| match term {
            Term::Number(number) => *number,
            Term::Count(subject, first, last) | Term::Total(subject, first, last) => {
                let Some(entry) = self.entry(subject) else { return 0 };
                let (first, last) = (self.slot(*first), self.slot(*last));
                // A slot below 0 holds nothing; a range from below 0 on is one from 0 on only where the range is what is meant.
                match (usize::try_from(first), usize::try_from(last)) {
                    (Ok(first), Ok(last)) if matches!(term, Term::Count(..)) => entry.counts.get(first, last),
                    (first, Ok(last)) if matches!(term, Term::Total(..)) => {
                        entry.counts.total(first.unwrap_or(0), last)
                    }
                    _ => 0,
                }
            }
        };
        terms.iter().map(term).fold(0, u64::saturating_add)
    }

    fn slot(&self, slot: Slot) -> i64 {
        let base = match slot.base {
            Base::Zero => 0,
            Base::K => self.structure.k as i64,
            Base::Variable(variable) => self.slots[variable],
        };
        // Beyond the last slot nothing happens: there is no need to go further.
        (base + slot.offset).clamp(-1, self.structure.k as i64 + 1)
    }
}

/// Whether the variable occurs in the formula. As deep as formulas may nest.
fn mentions(node: &Node, variable: usize) -> bool {
    let is = |subject: &Subject| *subject == Subject::Variable(variable);
    let term = |term: &Term| match term {
        Term::Number(_) => false,
        Term::Count(subject, ..) | Term::Total(subject, ..) => is(subject),
    };
    match node {
        Node::Compare(left, _, right) => left.iter().chain(right).any(term),
        Node::Is(_, subjects) => subjects.iter().any(is),
        Node::Before(first, second) | Node::Identical(first, second) => is(first) || is(second),
        Node::Not(inner) | Node::Exists(_, inner) | Node::Some(_, _, _, inner) => mentions(inner, variable),
        Node::All(parts) | Node::Any(parts) => parts.iter().any(|part| mentions(part, variable)),
    }
}
