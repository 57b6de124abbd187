//! Which states of a graph are equivalent: they look alike, and whatever one does the other can do too, with equivalent states after it
//! (strong bisimulation; internal steps count like others).
//!
//! States begin in classes by their looks. A class whose members go to different classes with one label is split; the largest part keeps
//! its number, so that only predecessors of the smaller parts are looked at again.
//! Complexity: O(m log n) looks at steps, for n states and m steps (after Valmari 2009).

use crate::graph::Graph;
use crate::limits::{Limit, Watch};
use crate::store::{Map, Set};
use crate::system::Label;

/// What a state goes to: labels with classes, each once, in order.
type Signature = Vec<(Label, u32)>;

/// The class of each state; equivalent states have the same. `looks` tells states apart from the beginning.
pub(crate) fn classes(graph: &Graph, looks: Vec<u32>, watch: Watch<'_>) -> Result<Vec<u32>, Limit> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); looks.len()];
    for (state, steps) in graph.steps.iter().enumerate() {
        steps.iter().for_each(|(_, to)| before[*to as usize].push(state as u32));
    }
    let mut partition = Partition::new(looks);
    let mut again: Vec<u32> = (0..partition.class.len() as u32).collect();
    while !again.is_empty() {
        watch.check(0, 0)?;
        let mut split: Map<u32, Map<Signature, Vec<u32>>> = Map::default();
        for &state in &again {
            let steps = graph.steps[state as usize].iter();
            let mut signature: Signature =
                steps.map(|(action, to)| (action.label, partition.class[*to as usize])).collect();
            signature.sort_unstable();
            signature.dedup();
            split.entry(partition.class[state as usize]).or_default().entry(signature).or_default().push(state);
        }
        let mut moved: Vec<u32> = Vec::new();
        for (class, parts) in split {
            partition.split(class, parts.into_values().collect(), &mut moved);
        }
        again = moved.iter().flat_map(|&state| before[state as usize].iter().copied()).collect();
        again.sort_unstable();
        again.dedup();
    }
    Ok(partition.class)
}

struct Partition {
    class: Vec<u32>,
    /// How many states are in each class.
    sizes: Vec<usize>,
    /// The states of each class, and some that have left it.
    members: Vec<Vec<u32>>,
}

impl Partition {
    fn new(class: Vec<u32>) -> Self {
        let mut members = vec![Vec::new(); class.iter().max().map_or(0, |last| *last as usize + 1)];
        for (state, &class) in class.iter().enumerate() {
            members[class as usize].push(state as u32);
        }
        Partition { sizes: members.iter().map(Vec::len).collect(), members, class }
    }

    /// Splits a class into these parts and the rest, whose members went on going where they went: they stay together, apart from the
    /// parts. The states that got a new number are put into `moved`.
    fn split(&mut self, class: u32, mut parts: Vec<Vec<u32>>, moved: &mut Vec<u32>) {
        let at = class as usize;
        let largest = (0..parts.len()).max_by_key(|&part| parts[part].len()).unwrap_or(0);
        let rest = self.sizes[at] - parts.iter().map(Vec::len).sum::<usize>();
        if rest < parts[largest].len() {
            let keeps = parts.swap_remove(largest);
            if rest > 0 {
                let others: Set<u32> = parts.iter().flatten().chain(&keeps).copied().collect();
                let here = self.members[at].iter().copied().filter(|&state| self.class[state as usize] == class);
                parts.push(here.filter(|state| !others.contains(state)).collect());
            }
            (self.sizes[at], self.members[at]) = (keeps.len(), keeps);
        } else {
            self.sizes[at] = rest;
        }
        for part in parts {
            part.iter().for_each(|&state| self.class[state as usize] = self.sizes.len() as u32);
            moved.extend_from_slice(&part);
            self.sizes.push(part.len());
            self.members.push(part);
        }
    }
}
