//! The serial behaviours of one matrix: what phase 1 saw, and what phase 2 is held against.
//!
//! A tree whose paths are the serial histories. Invariant: from one node, the same column (with the same declared choices) leads to
//! one result or to none (it blocks). Two histories that break this show that the object is nondeterministic (Line-Up 2.1.2: their
//! longest common prefix ends in a call).

mod file;
mod json;
mod xml;

pub use file::{FileError, ObservationSet};
pub use json::{read_json, write_json};
pub use xml::{read_xml, write_xml};

use crate::results::ResultId;

/// An operation of a serial history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SerialOp {
    /// Who.
    pub column: u8,
    /// Which of the possibilities that the user declared it took; empty where nothing was declared.
    pub choices: Vec<u32>,
    /// What it returned; nothing when it blocks, and then it is the last.
    pub result: Option<ResultId>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    edges: Vec<Edge>,
}

#[derive(Clone, Debug)]
struct Edge {
    column: u8,
    choices: Vec<u32>,
    result: Option<ResultId>,
    to: u32,
}

/// Two serial histories that differ first in what an operation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nondeterminism {
    /// The operations that both have in common.
    pub prefix: Vec<SerialOp>,
    /// What the next one did in the one.
    pub one: SerialOp,
    /// What it did in the other.
    pub other: SerialOp,
}

/// A set of serial histories.
#[derive(Clone, Debug)]
pub struct Observation {
    nodes: Vec<Node>,
    full: u64,
    stuck: u64,
}

impl Default for Observation {
    fn default() -> Self {
        Self::new()
    }
}

impl Observation {
    /// No histories.
    pub fn new() -> Self {
        Observation { nodes: vec![Node::default()], full: 0, stuck: 0 }
    }

    /// How many histories in which everything returned.
    pub fn full(&self) -> u64 {
        self.full
    }

    /// How many histories that end in an operation that blocks.
    pub fn stuck(&self) -> u64 {
        self.stuck
    }

    /// Adds a history. One that is there already changes nothing.
    pub fn insert(&mut self, history: &[SerialOp]) -> Result<(), Box<Nondeterminism>> {
        let mut at = 0;
        let mut new = false;
        for (depth, operation) in history.iter().enumerate() {
            let edges = &self.nodes[at].edges;
            let same = edges.iter().find(|edge| edge.column == operation.column && edge.choices == operation.choices);
            at = match same {
                Some(edge) if edge.result == operation.result => edge.to as usize,
                Some(edge) => {
                    let one = SerialOp { column: edge.column, choices: edge.choices.clone(), result: edge.result };
                    let prefix = history[..depth].to_vec();
                    return Err(Box::new(Nondeterminism { prefix, one, other: operation.clone() }));
                }
                None => {
                    new = true;
                    self.grow(at, operation)
                }
            };
        }
        if new {
            match history.last() {
                Some(SerialOp { result: None, .. }) => self.stuck += 1,
                _ => self.full += 1,
            }
        }
        Ok(())
    }

    fn grow(&mut self, at: usize, operation: &SerialOp) -> usize {
        let to = self.nodes.len();
        self.nodes.push(Node::default());
        let SerialOp { column, choices, result } = operation.clone();
        self.nodes[at].edges.push(Edge { column, choices, result, to: to as u32 });
        to
    }

    /// The node that histories start from.
    pub(crate) fn root(&self) -> usize {
        0
    }

    /// What a column's next operation does at a node: results and where they lead; no result when it blocks.
    pub(crate) fn next(&self, node: usize, column: u8) -> impl Iterator<Item = (Option<ResultId>, usize)> + '_ {
        let edges = self.nodes[node].edges.iter().filter(move |edge| edge.column == column);
        edges.map(|edge| (edge.result, edge.to as usize))
    }

    /// Every history, in the order of columns.
    pub fn histories(&self) -> Vec<Vec<SerialOp>> {
        let mut all = Vec::new();
        // Depth-first without recursion: a node and what is left of its edges.
        let mut path: Vec<SerialOp> = Vec::new();
        let mut stack: Vec<(usize, usize)> = vec![(0, 0)];
        while let Some((node, next)) = stack.pop() {
            match self.sorted(node).get(next) {
                Some(edge) => {
                    stack.push((node, next + 1));
                    path.push(SerialOp { column: edge.column, choices: edge.choices.clone(), result: edge.result });
                    stack.push((edge.to as usize, 0));
                }
                None => {
                    if next == 0 && !path.is_empty() {
                        all.push(path.clone());
                    }
                    path.pop();
                }
            }
        }
        all
    }

    /// The same without the ends of threads: operations after the calls of a column, of which there are so many. Nothing when what a call
    /// does depends on whether another thread has ended, or the end of a thread blocks.
    pub fn without_exits(&self, calls: &[usize]) -> Option<Observation> {
        let mut without = Observation::new();
        for history in self.histories() {
            let mut places = vec![0; calls.len()];
            let mut kept = Vec::with_capacity(history.len());
            for operation in history {
                let column = usize::from(operation.column);
                places[column] += 1;
                if places[column] <= calls[column] {
                    kept.push(operation);
                } else if operation.result.is_none() {
                    return None;
                }
            }
            without.insert(&kept).ok()?;
        }
        Some(without)
    }

    fn sorted(&self, node: usize) -> Vec<&Edge> {
        let mut edges: Vec<&Edge> = self.nodes[node].edges.iter().collect();
        edges.sort_by_key(|edge| (edge.column, edge.choices.clone()));
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(column: u8, result: u32) -> SerialOp {
        SerialOp { column, choices: vec![], result: (result > 0).then_some(ResultId(result)) }
    }

    #[test]
    fn histories_come_out_as_they_went_in() {
        let mut seen = Observation::new();
        let histories = vec![vec![op(1, 1), op(1, 2), op(2, 3)], vec![op(1, 1), op(2, 4), op(1, 2)], vec![op(2, 0)]];
        for history in histories.iter().chain(&histories) {
            seen.insert(history).unwrap();
        }
        assert_eq!(seen.histories(), histories);
        assert_eq!((seen.full(), seen.stuck()), (2, 1));
    }

    #[test]
    fn a_second_result_of_the_same_call_is_nondeterminism() {
        let mut seen = Observation::new();
        seen.insert(&[op(1, 1), op(2, 3)]).unwrap();
        let found = seen.insert(&[op(1, 1), op(2, 4)]).unwrap_err();
        assert_eq!(*found, Nondeterminism { prefix: vec![op(1, 1)], one: op(2, 3), other: op(2, 4) });
        assert!(seen.insert(&[op(1, 1), op(2, 0)]).is_err(), "returning against blocking");
        assert!(seen.insert(&[op(1, 0)]).is_err());
        let declared = SerialOp { choices: vec![1], ..op(2, 4) };
        assert!(seen.insert(&[op(1, 1), declared]).is_ok(), "a choice that was declared is none");
    }
}
