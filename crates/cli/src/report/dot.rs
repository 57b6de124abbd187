//! Graphs for Graphviz: a run, or a small state space.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use selvedge_model::{Label, Trace, TransitionSystem};

/// Larger state spaces cannot be read.
pub const STATES_MAX: usize = 500;

const HEAD: &str = "digraph model {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n  \
                    edge [fontname=\"monospace\", fontsize=10];\n";

/// A run, state after state.
pub fn run(trace: &Trace) -> String {
    let mut out = HEAD.to_owned();
    let mut node = |number: usize, state: Option<&str>, last: bool| {
        let text = state.map_or_else(|| number.to_string(), escaped);
        let colour = if last { ", color=red" } else { "" };
        let _ = writeln!(out, "  s{number} [label=\"{text}\"{colour}];");
    };
    node(0, trace.initial.as_deref(), trace.steps.is_empty());
    for (at, step) in trace.steps.iter().enumerate() {
        node(at + 1, step.state.as_deref(), at + 1 == trace.steps.len());
    }
    for (at, step) in trace.steps.iter().enumerate() {
        let label = format!("{}: {}", escaped(&step.actor), escaped(&step.label));
        let _ = writeln!(out, "  s{at} -> s{} [label=\"{label}\"];", at + 1);
    }
    out.push_str("}\n");
    out
}

/// All states, if there are few.
pub fn states<S: TransitionSystem>(system: &S) -> Option<String> {
    let mut initial = Vec::new();
    system.initial(&mut initial).ok()?;
    let (mut numbers, mut queue) = (HashMap::new(), VecDeque::new());
    for state in initial {
        let mut bytes = Vec::new();
        system.pack(&state, &mut bytes);
        numbers.insert(bytes, numbers.len());
        queue.push_back(state);
    }
    let (mut nodes, mut edges) = (String::new(), String::new());
    let mut from = 0;
    while let Some(state) = queue.pop_front() {
        let text = system.describe(&state).map_or_else(|| from.to_string(), |text| escaped(&text));
        let _ = writeln!(nodes, "  s{from} [label=\"{text}\"];");
        let mut next = Vec::new();
        system.successors(&state, &mut next).ok()?;
        for (action, state) in next {
            let mut bytes = Vec::new();
            system.pack(&state, &mut bytes);
            let fresh = numbers.len();
            let to = *numbers.entry(bytes).or_insert(fresh);
            if to == fresh {
                queue.push_back(state);
            }
            let style = if action.label == Label::TAU { ", style=dashed" } else { "" };
            let label = escaped(&system.label_name(action.label));
            let _ = writeln!(edges, "  s{from} -> s{to} [label=\"{label}\"{style}];");
        }
        if numbers.len() > STATES_MAX {
            return None;
        }
        from += 1;
    }
    Some(format!("{HEAD}{nodes}{edges}}}\n"))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
