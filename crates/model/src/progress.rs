//! Divergence and determinism of one system.
//!
//! A system diverges when internal steps can go on for ever: a cycle of them can be reached. It is nondeterministic, as PAT
//! defines it, when a state that can be reached has two steps with the same label to different states.

use crate::answer::{Answer, Reason, Trouble, Verdict};
use crate::explore::trace_of;
use crate::graph::Graph;
use crate::limits::Settings;
use crate::system::{Action, Label, TransitionSystem};

/// Whether internal steps always end. The counterexample leads once around the cycle.
pub fn divergence_free<S: TransitionSystem>(system: &S, settings: &Settings) -> Result<Answer, Trouble> {
    with_graph(system, settings, |graph| {
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
    })
}

/// Whether no state has two steps with the same label to different states. The counterexample ends with one of the two.
pub fn deterministic<S: TransitionSystem>(system: &S, settings: &Settings) -> Result<Answer, Trouble> {
    with_graph(system, settings, |graph| {
        let twice = |state: u32| {
            let steps = &graph.steps[state as usize];
            steps
                .iter()
                .find(|(action, to)| steps.iter().any(|(other, there)| other.label == action.label && there != to))
        };
        let (root, mut way) = graph.shortest(&graph.initial, |_| true, |state| twice(state).is_some())?;
        let step = *twice(way.last().map_or(root, |step| step.1))?;
        way.push(step);
        Some((root, way, Reason::Nondeterministic { label: system.label_name(step.0.label) }))
    })
}

type Way = (u32, Vec<(Action, u32)>, Reason);

fn with_graph<S: TransitionSystem>(
    system: &S,
    settings: &Settings,
    find: impl FnOnce(&Graph) -> Option<Way>,
) -> Result<Answer, Trouble> {
    let watch = settings.watch();
    let graph = match Graph::build(system, settings, watch)? {
        Ok(graph) => graph,
        Err((limit, statistics)) => {
            return Ok(Answer { verdict: Verdict::Unknown(limit), reason: None, trace: None, statistics });
        }
    };
    let mut statistics = graph.statistics;
    let found = find(&graph);
    statistics.elapsed = watch.elapsed();
    Ok(match found {
        None => Answer { verdict: Verdict::Pass, reason: None, trace: None, statistics },
        Some((root, steps, reason)) => {
            let trace = trace_of(system, graph.path(root, &steps));
            Answer { verdict: Verdict::Fail, reason: Some(reason), trace: Some(trace), statistics }
        }
    })
}
