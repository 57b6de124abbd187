//! Divergence and determinism of one system.
//!
//! A system diverges when internal steps can go on for ever: a cycle of them can be reached. It is nondeterministic, as PAT
//! defines it, when a state that can be reached has two steps with the same label to different states. States that look alike and behave
//! alike are not different: where in the text a process stands is no part of its behaviour.

use crate::answer::{Answer, Reason, Trouble, Verdict};
use crate::bisimulation;
use crate::explore::trace_of;
use crate::graph::Graph;
use crate::limits::{Limit, Settings, Watch};
use crate::store::Map;
use crate::system::{Action, Label, TransitionSystem};

/// Whether internal steps always end. The counterexample leads once around the cycle.
pub fn divergence_free<S: TransitionSystem>(system: &S, settings: &Settings) -> Result<Answer, Trouble> {
    with_graph(system, settings, |graph, _| Ok(internal_cycle(graph)))
}

/// A shortest way to a cycle of internal steps, and once around it.
fn internal_cycle(graph: &Graph) -> Option<Way> {
    let (component, cyclic) = graph.components(|action| action.label == Label::TAU);
    let on_cycle = |state: u32| cyclic[component[state as usize] as usize];
    let (root, mut way) = graph.shortest(&graph.initial, |_| true, on_cycle)?;
    let begin = way.last().map_or(root, |step| step.1);
    let internal = |action: &Action| action.label == Label::TAU;
    let first = graph.steps[begin as usize]
        .iter()
        .filter(|(action, to)| internal(action) && component[*to as usize] == component[begin as usize]);
    let back = first.filter_map(|step| {
        let (_, rest) = graph.shortest(&[step.1], internal, |state| state == begin)?;
        Some([vec![*step], rest].concat())
    });
    way.extend(back.min_by_key(Vec::len)?);
    Some((root, way, Reason::Diverges))
}

/// Whether no state has two steps with the same label to states that are not equivalent. The counterexample ends with one of the two.
pub fn deterministic<S: TransitionSystem>(system: &S, settings: &Settings) -> Result<Answer, Trouble> {
    with_graph(system, settings, |graph, watch| {
        let numbers: Vec<u32> = (0..graph.states.len() as u32).collect();
        if (0..graph.states.len() as u32).all(|state| two_ways(graph, &numbers, state).is_none()) {
            return Ok(None);
        }
        let class = bisimulation::classes(graph, looks(system, graph), watch)?;
        let found = graph.shortest(&graph.initial, |_| true, |state| two_ways(graph, &class, state).is_some());
        Ok(found.and_then(|(root, mut way)| {
            let step = two_ways(graph, &class, way.last().map_or(root, |step| step.1))?;
            way.push(step);
            Some((root, way, Reason::Nondeterministic { label: system.label_name(step.0.label) }))
        }))
    })
}

/// A step of a state beside which there is one with the same label to another class.
fn two_ways(graph: &Graph, class: &[u32], state: u32) -> Option<(Action, u32)> {
    let steps = &graph.steps[state as usize];
    let other = |(action, to): &&(Action, u32)| {
        steps.iter().any(|(other, there)| other.label == action.label && class[*there as usize] != class[*to as usize])
    };
    steps.iter().find(other).copied()
}

/// States as a person sees them, numbered: values of variables, and whether everything has ended as it should.
fn looks<S: TransitionSystem>(system: &S, graph: &Graph) -> Vec<u32> {
    let mut numbers: Map<(Option<String>, bool), u32> = Map::default();
    let mut number = |bytes: &[u8]| {
        let state = system.unpack(bytes);
        let next = numbers.len() as u32;
        *numbers.entry((system.describe(&state), system.terminated(&state))).or_insert(next)
    };
    graph.states.iter().map(|bytes| number(bytes)).collect()
}

type Way = (u32, Vec<(Action, u32)>, Reason);

fn with_graph<S: TransitionSystem>(
    system: &S,
    settings: &Settings,
    find: impl FnOnce(&Graph, Watch<'_>) -> Result<Option<Way>, Limit>,
) -> Result<Answer, Trouble> {
    let watch = settings.watch();
    let graph = match Graph::build(system, settings, watch)? {
        Ok(graph) => graph,
        Err((limit, statistics)) => {
            return Ok(Answer { verdict: Verdict::Unknown(limit), reason: None, trace: None, statistics });
        }
    };
    let mut statistics = graph.statistics;
    let found = find(&graph, watch);
    statistics.elapsed = watch.elapsed();
    Ok(match found {
        Err(limit) => Answer { verdict: Verdict::Unknown(limit), reason: None, trace: None, statistics },
        Ok(None) => Answer { verdict: Verdict::Pass, reason: None, trace: None, statistics },
        Ok(Some((root, steps, reason))) => {
            let trace = trace_of(system, graph.path(root, &steps));
            Answer { verdict: Verdict::Fail, reason: Some(reason), trace: Some(trace), statistics }
        }
    })
}
