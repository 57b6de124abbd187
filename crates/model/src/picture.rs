//! Pictures: a counterexample or a small state space as DOT, a counterexample as SVG.
//!
//! Invariant: every text from a model is escaped for the language it is written into.

use std::fmt::Write;

use crate::answer::{Trace, Trouble};
use crate::graph::Graph;
use crate::limits::{Limit, Settings};
use crate::system::{Label, TransitionSystem};

/// The run as a chain: the state it begins in, then what each step changed.
pub fn trace_to_dot(trace: &Trace) -> String {
    let mut text = String::from("digraph counterexample {\n  node [shape=box, fontname=monospace];\n");
    text.push_str("  edge [fontname=monospace];\n");
    let mut node = |number: usize, state: &str, last: bool| {
        let name = if state.is_empty() { number.to_string() } else { state.to_owned() };
        let style = if last { ", color=red" } else { "" };
        let _ = writeln!(text, "  s{number} [label=\"{}\"{style}];", dot_escape(&name));
    };
    node(0, trace.initial.as_deref().unwrap_or(""), false);
    for at in 0..trace.steps.len() {
        node(at + 1, &trace.changes(at), at + 1 == trace.steps.len());
    }
    for (at, step) in trace.steps.iter().enumerate() {
        let label = dot_escape(&format!(" {}: {}", step.actor, step.label));
        let style = if step.action.label == Label::TAU { ", style=dashed" } else { "" };
        let _ = writeln!(text, "  s{at} -> s{} [label=\"{label}\"{style}];", at + 1);
    }
    text.push_str("}\n");
    text
}

/// Every state and step of a small system, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The states, by number.
    pub states: Vec<DrawnState>,
    /// The steps, from each state in turn.
    pub steps: Vec<DrawnStep>,
}

/// A state that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnState {
    /// What it is called: what the system says of it, or its number.
    pub name: String,
    /// Whether the system may begin there.
    pub initial: bool,
    /// Whether the system has terminated there.
    pub terminated: bool,
}

/// A step that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnStep {
    /// The number of the state before.
    pub from: u32,
    /// The number of the state after.
    pub to: u32,
    /// What it is called.
    pub label: String,
    /// Whether nobody outside sees it.
    pub hidden: bool,
}

/// Every state and step of a system, if there are at most `states_max` states.
pub fn draw_space<S: TransitionSystem>(system: &S, states_max: u64) -> Result<Result<Drawn, Limit>, Trouble> {
    let settings = Settings { states_max: Some(states_max), ..Settings::default() };
    let graph = match Graph::build(system, &settings, settings.watch())? {
        Ok(graph) if graph.states.len() as u64 <= states_max => graph,
        Ok(_) => return Ok(Err(Limit::States)),
        Err((limit, _)) => return Ok(Err(limit)),
    };
    let mut drawn = Drawn::default();
    for (number, packed) in graph.states.iter().enumerate() {
        let state = system.unpack(packed);
        let name = system.describe(&state).unwrap_or_else(|| number.to_string());
        let (initial, terminated) = (graph.initial.contains(&(number as u32)), system.terminated(&state));
        drawn.states.push(DrawnState { name, initial, terminated });
    }
    for (from, steps) in (0..).zip(&graph.steps) {
        drawn.steps.extend(steps.iter().map(|(action, to)| DrawnStep {
            from,
            to: *to,
            label: system.label_name(action.label),
            hidden: action.label == Label::TAU,
        }));
    }
    Ok(Ok(drawn))
}

/// Every state and step of a system for Graphviz, if there are at most `states_max` states.
pub fn space_to_dot<S: TransitionSystem>(system: &S, states_max: u64) -> Result<Result<String, Limit>, Trouble> {
    let drawn = match draw_space(system, states_max)? {
        Ok(drawn) => drawn,
        Err(limit) => return Ok(Err(limit)),
    };
    let mut text = String::from("digraph states {\n  node [shape=box, fontname=monospace];\n");
    text.push_str("  edge [fontname=monospace];\n");
    for (number, state) in drawn.states.iter().enumerate() {
        let first = if state.initial { ", penwidth=2" } else { "" };
        let last = if state.terminated { ", peripheries=2" } else { "" };
        let _ = writeln!(text, "  s{number} [label=\"{}\"{first}{last}];", dot_escape(&state.name));
    }
    for DrawnStep { from, to, label, hidden } in &drawn.steps {
        let (label, style) = (dot_escape(label), if *hidden { ", style=dashed" } else { "" });
        let _ = writeln!(text, "  s{from} -> s{to} [label=\"{label}\"{style}];");
    }
    text.push_str("}\n");
    Ok(Ok(text))
}

/// Height of a row, width of a character and of the numbers at the left, in pixels.
const ROW: usize = 28;
const CHARACTER: usize = 8;
const LEFT: usize = 40;

/// The run as a drawing: a column for each actor, a row for each step, what it changed beside it. The last step is red.
pub fn trace_to_svg(trace: &Trace) -> String {
    let mut actors: Vec<(u32, &str)> = Vec::new();
    for step in &trace.steps {
        if !actors.iter().any(|known| known.0 == step.action.actor) {
            actors.push((step.action.actor, &step.actor));
        }
    }
    actors.sort_unstable();
    let wide = |text: &str| text.chars().count() * CHARACTER;
    let names = actors.iter().map(|actor| wide(actor.1));
    let column = names.chain(trace.steps.iter().map(|step| wide(&step.label))).max().unwrap_or(0) + 40;
    let changed: Vec<String> = (0..trace.steps.len()).map(|at| trace.changes(at)).collect();
    let state_x = LEFT + actors.len() * column + 10;
    let first = trace.initial.as_deref().unwrap_or("");
    let width = state_x + changed.iter().map(|text| wide(text)).max().unwrap_or(0).max(wide(first)) + 20;
    let height = (trace.steps.len() + 2) * ROW + 10;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let middle = |place: usize| LEFT + place * column + column / 2;
    for (place, (_, name)) in actors.iter().enumerate() {
        let x = middle(place);
        let _ = writeln!(svg, "<path d=\"M{x} {} V{}\" stroke=\"#ddd\"/>", ROW + 8, height - 8);
        write_text(&mut svg, (x, ROW), name, "font-weight=\"bold\" text-anchor=\"middle\"");
    }
    write_text(&mut svg, (state_x, ROW), first, "fill=\"#555\"");
    for (row, step) in trace.steps.iter().enumerate() {
        let y = (row + 2) * ROW;
        let x = middle(actors.iter().position(|actor| actor.0 == step.action.actor).unwrap_or(0));
        let (line, fill) = match (row + 1 == trace.steps.len(), step.action.label) {
            (true, _) => ("#c00", "#fdd"),
            (_, Label::TAU) => ("#ccc", "#f6f6f6"),
            _ => ("#48a", "#e4f0fa"),
        };
        let box_width = wide(&step.label) + 16;
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{box_width}\" height=\"20\" rx=\"6\" fill=\"{fill}\" stroke=\"{line}\"/>",
            x - box_width / 2,
            y - 14,
        );
        write_text(&mut svg, (8, y), &(row + 1).to_string(), "fill=\"#999\"");
        write_text(&mut svg, (x, y), &step.label, "text-anchor=\"middle\"");
        write_text(&mut svg, (state_x, y), &changed[row], "fill=\"#555\"");
    }
    svg.push_str("</svg>\n");
    svg
}

fn write_text(svg: &mut String, (x, y): (usize, usize), content: &str, style: &str) {
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" {style}>{}</text>", xml_escape(content));
}

fn dot_escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn xml_escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::TraceStep;
    use crate::models::SlotQueue;
    use crate::system::Action;

    #[test]
    fn text_from_a_model_cannot_break_out() {
        let step = TraceStep {
            action: Action { label: Label(2), actor: 0 },
            actor: "a\"<b>".to_string(),
            label: "x\\\" & <y>\n".to_string(),
            state: Some("\u{1b}[31m</text>".to_string()),
            packed: Vec::new(),
        };
        let trace = Trace { initial: None, steps: vec![step], shortest: true, fewest_switches: true };
        let dot = trace_to_dot(&trace);
        assert!(dot.contains(r#"label=" a\"<b>: x\\\" & <y>\n""#), "{dot}");
        let svg = trace_to_svg(&trace);
        assert!(svg.contains("x\\&quot; &amp; &lt;y&gt; ") && !svg.contains("</text></text>"), "{svg}");
        assert!(!svg.contains('\u{1b}') && !dot.contains('\u{1b}'));
    }

    #[test]
    fn a_large_space_is_not_drawn() {
        assert_eq!(space_to_dot(&SlotQueue, 100).unwrap(), Err(Limit::States));
    }
}
