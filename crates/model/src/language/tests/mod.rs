//! Tests of the language as a whole.

mod constructs;
mod errors;
mod messages;
mod random;
mod reference;
mod reference_data;
mod reference_join;
mod symmetry;

use std::collections::{HashMap, VecDeque};

use super::{Model, System};
use crate::system::{Fault, TransitionSystem};

/// All reachable states: labels of steps by number of state.
pub(super) struct Graph {
    pub steps: Vec<Vec<(String, usize)>>,
}

/// Explores a system in full.
pub(super) fn explore(system: &System) -> Result<Graph, Fault> {
    let mut initial = Vec::new();
    system.initial(&mut initial)?;
    let mut numbers = HashMap::new();
    let mut queue = VecDeque::new();
    for state in initial {
        numbers.insert(state.clone(), 0);
        queue.push_back(state);
    }
    let mut steps = Vec::new();
    while let Some(state) = queue.pop_front() {
        let mut bytes = Vec::new();
        system.pack(&state, &mut bytes);
        assert_eq!(system.unpack(&bytes), state, "packing loses nothing");
        let mut next = Vec::new();
        system.successors(&state, &mut next)?;
        let mut row = Vec::new();
        for (action, state) in next {
            let fresh = numbers.len();
            let number = *numbers.entry(state.clone()).or_insert(fresh);
            if number == fresh {
                assert!(fresh < 200_000, "a test's model stays small");
                queue.push_back(state);
            }
            row.push((system.label_name(action.label), number));
        }
        steps.push(row);
    }
    Ok(Graph { steps })
}

/// Compiles a model that must be right.
pub(super) fn model(text: &str) -> Model {
    Model::new(text).unwrap_or_else(|errors| {
        let shown: Vec<String> = errors.iter().map(|error| error.show("model.csp", text)).collect();
        panic!("{}", shown.join("\n"))
    })
}
