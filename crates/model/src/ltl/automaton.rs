//! A Büchi automaton for the runs that contradict a formula (Gerth, Peled, Vardi, Wolper 1995, with the nodes made explicit).
//!
//! A node is a set of formulas that hold from its position on, fully taken apart: what must hold of the atoms now, and what must hold
//! next. Invariant: a run is accepted when it visits, for every *until*, infinitely often a node that does not owe it.

use super::Formula;
use crate::store::Map;

/// More parts than that are refused: sets of them are bits of a word.
const PARTS_MAX: usize = 60;
/// More nodes than that are refused.
const NODES_MAX: usize = 20_000;

/// A part of the formula in negation normal form; parts are numbered, smaller ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    True,
    False,
    Atom(usize, bool),
    And(usize, usize),
    Or(usize, usize),
    Next(usize),
    Until(usize, usize),
    Release(usize, usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// Atoms that must hold, and that must not.
    must: u64,
    must_not: u64,
    /// Parts that hold at this position.
    now: u64,
    /// Parts that must hold at the next.
    next: u64,
}

/// The automaton; nodes are numbered.
pub(super) struct Automaton {
    pub(super) atoms: usize,
    nodes: Vec<Node>,
    /// By what must hold next: the nodes.
    successors: Map<u64, Vec<u32>>,
    begin: Vec<u32>,
    /// Each until: itself and what it waits for.
    untils: Vec<(usize, usize)>,
}

struct Build {
    parts: Vec<Part>,
    numbers: Map<Part, usize>,
}

impl Automaton {
    /// The automaton of the negation, and its atoms in the order of their numbers. `None` when the formula is too large.
    pub(super) fn of_negation<A: Clone + Eq>(formula: &Formula<A>) -> Option<(Automaton, Vec<A>)> {
        let mut build = Build { parts: Vec::new(), numbers: Map::default() };
        let mut atoms = Vec::new();
        let whole = build.part(formula, false, &mut atoms, 0)?;
        if build.parts.len() > PARTS_MAX || atoms.len() > PARTS_MAX {
            return None;
        }
        let untils = build.parts.iter().enumerate().filter_map(|(number, part)| match part {
            Part::Until(_, goal) => Some((number, *goal)),
            _ => None,
        });
        let untils = untils.collect();
        let mut automaton =
            Automaton { atoms: atoms.len(), nodes: Vec::new(), successors: Map::default(), begin: Vec::new(), untils };
        let mut numbers: Map<Node, u32> = Map::default();
        let mut left = vec![1u64 << whole];
        while let Some(wanted) = left.pop() {
            if automaton.successors.contains_key(&wanted) {
                continue;
            }
            let mut found = Vec::new();
            build.take_apart(wanted, Node { must: 0, must_not: 0, now: 0, next: 0 }, &mut found);
            let mut ids = Vec::new();
            for node in found {
                let next = node.next;
                let id = *numbers.entry(node.clone()).or_insert_with(|| {
                    automaton.nodes.push(node);
                    automaton.nodes.len() as u32 - 1
                });
                ids.push(id);
                left.push(next);
            }
            ids.sort_unstable();
            ids.dedup();
            automaton.successors.insert(wanted, ids);
            if automaton.nodes.len() > NODES_MAX {
                return None;
            }
        }
        automaton.begin = automaton.successors[&(1u64 << whole)].clone();
        Some((automaton, atoms))
    }

    /// The nodes a run may begin in when these atoms hold.
    pub(super) fn begin(&self, letter: u64) -> Vec<u32> {
        self.fitting(&self.begin, letter)
    }

    /// The nodes after `node` when these atoms hold at the next position.
    pub(super) fn next(&self, node: u32, letter: u64) -> Vec<u32> {
        self.fitting(&self.successors[&self.nodes[node as usize].next], letter)
    }

    fn fitting(&self, nodes: &[u32], letter: u64) -> Vec<u32> {
        let fits = |&&id: &&u32| {
            let node = &self.nodes[id as usize];
            node.must & !letter == 0 && node.must_not & letter == 0
        };
        nodes.iter().filter(fits).copied().collect()
    }

    /// A bit for each until that the node does not owe.
    pub(super) fn fulfilled(&self, node: u32) -> u64 {
        let now = self.nodes[node as usize].now;
        let kept = |&(_, &(until, goal)): &(usize, &(usize, usize))| now >> until & 1 == 0 || now >> goal & 1 == 1;
        self.untils.iter().enumerate().filter(kept).fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// A bit for each until.
    pub(super) fn promises_all(&self) -> u64 {
        (0..self.untils.len()).fold(0, |bits, at| bits | 1 << at)
    }
}

/// Formulas nested deeper than that are refused.
const DEPTH_MAX: usize = 200;

impl Build {
    fn number(&mut self, part: Part) -> usize {
        let next = self.parts.len();
        let number = *self.numbers.entry(part).or_insert(next);
        if number == next {
            self.parts.push(part);
        }
        number
    }

    /// The part for a formula, or for its negation when not `positive`.
    fn part<A: Clone + Eq>(
        &mut self,
        formula: &Formula<A>,
        positive: bool,
        atoms: &mut Vec<A>,
        depth: usize,
    ) -> Option<usize> {
        if depth > DEPTH_MAX || self.parts.len() > PARTS_MAX {
            return None;
        }
        let mut sub = |build: &mut Build, formula: &Formula<A>| build.part(formula, positive, atoms, depth + 1);
        let part = match (formula, positive) {
            (Formula::True, true) | (Formula::False, false) => Part::True,
            (Formula::False, true) | (Formula::True, false) => Part::False,
            (Formula::Not(inner), _) => return self.part(inner, !positive, atoms, depth + 1),
            (Formula::Atom(atom), _) => {
                let place = atoms.iter().position(|known| known == atom).unwrap_or_else(|| {
                    atoms.push(atom.clone());
                    atoms.len() - 1
                });
                Part::Atom(place, positive)
            }
            (Formula::Next(inner), _) => Part::Next(sub(self, inner)?),
            (Formula::And(a, b), true) | (Formula::Or(a, b), false) => Part::And(sub(self, a)?, sub(self, b)?),
            (Formula::Or(a, b), true) | (Formula::And(a, b), false) => Part::Or(sub(self, a)?, sub(self, b)?),
            (Formula::Until(a, b), true) | (Formula::Release(a, b), false) => Part::Until(sub(self, a)?, sub(self, b)?),
            (Formula::Release(a, b), true) | (Formula::Until(a, b), false) => {
                Part::Release(sub(self, a)?, sub(self, b)?)
            }
        };
        Some(self.number(part))
    }

    /// Every way in which all parts of `todo` can hold now.
    fn take_apart(&self, todo: u64, mut node: Node, out: &mut Vec<Node>) {
        if out.len() > NODES_MAX {
            return;
        }
        let left = todo & !node.now;
        if left == 0 {
            out.push(node);
            return;
        }
        let number = left.trailing_zeros() as usize;
        let rest = left & (left - 1);
        node.now |= 1 << number;
        match self.parts[number] {
            Part::True => self.take_apart(rest, node, out),
            Part::False => {}
            Part::Atom(atom, positive) => {
                if positive {
                    node.must |= 1 << atom;
                } else {
                    node.must_not |= 1 << atom;
                }
                if node.must & node.must_not == 0 {
                    self.take_apart(rest, node, out);
                }
            }
            Part::And(a, b) => self.take_apart(rest | 1 << a | 1 << b, node, out),
            Part::Or(a, b) => {
                self.take_apart(rest | 1 << a, node.clone(), out);
                self.take_apart(rest | 1 << b, node, out);
            }
            Part::Next(a) => {
                node.next |= 1 << a;
                self.take_apart(rest, node, out);
            }
            Part::Until(a, b) => {
                self.take_apart(rest | 1 << b, node.clone(), out);
                node.next |= 1 << number;
                self.take_apart(rest | 1 << a, node, out);
            }
            Part::Release(a, b) => {
                self.take_apart(rest | 1 << a | 1 << b, node.clone(), out);
                node.next |= 1 << number;
                self.take_apart(rest | 1 << b, node, out);
            }
        }
    }
}
