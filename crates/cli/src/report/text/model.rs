//! The report of `selvedge model`: what was claimed, what came of it, and the run that shows it as a table with a column
//! for each process.

use selvedge_history::Limit;
use selvedge_model::language::{ClaimKind, Diagnostic};
use selvedge_model::{Answer, Reason, Statistics, Trace, Trouble, Verdict};
use unicode_width::UnicodeWidthStr;

use super::{FAIL, FAINT, PASS, UNKNOWN, clean, paint, truncate};
use crate::quantity::{count, counted, show_size};
use crate::report::outcome::{Assertion, Ending, Graph, GraphOf, Modelled, Undrawn, WrongModel};
use crate::report::verdict::VerdictName;

/// How many rows of a run are shown.
const ROWS_MAX: usize = 200;
/// How wide a column may be.
const COLUMN_MAX: usize = 24;
/// How many columns are shown; the rest share the last one.
const COLUMNS_MAX: usize = 8;

impl Modelled<'_> {
    /// The report.
    pub fn report(&self) -> String {
        let mut text: String = self.assertions.iter().map(|assertion| self.section(assertion)).collect();
        if let Some(graph) = &self.graph {
            text.push_str(&format!("{}\n", clean(&drawn(graph))));
        }
        text
    }

    /// The verdict in one line.
    pub fn line(&self) -> String {
        let verdict = VerdictName::of_answer(self.exit()).map_or("wrong model", VerdictName::name);
        format!("{}: {verdict}", clean(self.file))
    }

    fn section(&self, assertion: &Assertion) -> String {
        let mut out = format!("{}. {}\n", assertion.number, clean(&one_line(&assertion.text)));
        match &assertion.ending {
            Ending::Trouble(trouble) => {
                out.push_str(&format!("   {} {}\n", paint(FAIL, "error:"), clean(&trouble.to_string())));
                if let Trouble::Fault { fault, trace } = trouble {
                    if let Some((line, column)) = fault.place {
                        let source = self.text.lines().nth(line as usize - 1).unwrap_or("");
                        out.push_str(&format!("   --> {}:{line}:{column}\n", clean(self.file)));
                        out.push_str(&format!("       {}\n", clean(&source.replace('\t', " "))));
                        let pad = " ".repeat(column as usize - 1);
                        out.push_str(&format!("       {pad}^\n"));
                    }
                    out.push_str(&table(trace, None));
                }
            }
            Ending::Unfinished(limit) => out.push_str(&format!("   {}\n", unknown(*limit))),
            Ending::Answer(answer, limit) => {
                out.push_str(&format!("   {}\n", headline(answer, *limit, assertion)));
                out.push_str(&format!("   {}\n", paint(FAINT, numbers(&answer.statistics, self.stats))));
                if let Some(reductions) = reductions(&answer.statistics) {
                    out.push_str(&format!("   {}\n", paint(FAINT, reductions)));
                }
                if let Some(trace) = &answer.trace {
                    let repeats = match answer.reason {
                        Some(Reason::Contradicts { repeats }) => Some(repeats),
                        _ => None,
                    };
                    out.push_str(&table(trace, repeats));
                }
                for sentence in answer.reason.iter().flat_map(explanation) {
                    out.push_str(&format!("   {}\n", clean(&sentence)));
                }
            }
        }
        out
    }
}

impl WrongModel<'_> {
    /// What is wrong, each with its line of the model.
    pub fn report(&self) -> String {
        let show = |error: &Diagnostic| -> String {
            error.show(self.file, self.text).lines().map(|line| format!("{}\n", clean(line))).collect()
        };
        self.errors.iter().map(show).collect::<Vec<_>>().join("\n")
    }

    /// The same in one line.
    pub fn line(&self) -> String {
        format!("{}: wrong model", clean(self.file))
    }
}

/// What became of the graph, in a sentence.
fn drawn(graph: &Graph) -> String {
    let file = &graph.file;
    match &graph.shows {
        Ok(GraphOf::Run(number)) => format!("{file} shows the run of assertion {number}"),
        Ok(GraphOf::States) => format!("{file} shows all states"),
        Err(Undrawn::NoRun) => format!("{file} was not written: there is no run to draw"),
        Err(Undrawn::TooManyStates(most)) => format!("{file} was not written: there are more than {most} states"),
        Err(Undrawn::Trouble(trouble)) => format!("{file} was not written: {trouble}"),
        Err(Undrawn::Unfinished) => format!("{file} was not written"),
    }
}

/// The text of an assertion in one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The verdict on an assertion, in a few words.
pub fn headline(answer: &Answer, limit: Option<Limit>, assertion: &Assertion) -> String {
    let steps = answer.trace.as_ref().map_or(0, |trace| trace.steps.len() as u64);
    let switches = answer.trace.as_ref().map_or(0, |trace| trace.switches() as u64);
    let after = format!("after {}, {}", counted(steps, "step"), counted(switches, "context switch"));
    let after = after.replace("switchs", "switches");
    match answer.verdict {
        Verdict::Pass if assertion.claim == ClaimKind::Reaches => format!("{} {after}", paint(PASS, "reached")),
        Verdict::Pass if answer.statistics.exact => format!("{} for all executions", paint(PASS, "proved")),
        Verdict::Pass => format!("{}: states were told apart by their hashes only", paint(PASS, "passed")),
        Verdict::Fail if answer.trace.is_none() => paint(FAIL, "refuted"),
        Verdict::Fail => format!("{} {after}", paint(FAIL, "refuted")),
        Verdict::Unknown(reached) => match limit {
            Some(limit) => unknown(limit),
            None => format!("{}: {reached}", paint(UNKNOWN, "unknown")),
        },
    }
}

/// That a limit of the command line was reached.
pub fn unknown(limit: Limit) -> String {
    format!("{}: {limit}", paint(UNKNOWN, "unknown"))
}

/// How large the search was.
pub fn numbers(seen: &Statistics, more: bool) -> String {
    let seconds = seen.elapsed.as_secs_f64();
    let mut text = format!(
        "{}, {}, {seconds:.2} s, {}",
        counted(seen.states, "state"),
        counted(seen.transitions, "transition"),
        show_size(seen.bytes),
    );
    if more {
        let rate = if seconds > 0.0 { seen.states as f64 / seconds } else { 0.0 };
        let each = if seen.states > 0 { seen.bytes as f64 / seen.states as f64 } else { 0.0 };
        text.push_str(&format!("; {} states/s, {each:.1} bytes a state, depth {}", count(rate as u64), seen.depth));
        if seen.specification_sets > 0 {
            let sets = counted(seen.specification_sets, "specification set");
            text.push_str(&format!(", {}, {sets}", counted(seen.system_states, "implementation state")));
        }
    }
    text
}

/// What was left out because it changes no verdict.
pub fn reductions(seen: &Statistics) -> Option<String> {
    let names = seen.reduced.names();
    (!names.is_empty()).then(|| format!("reductions: {}", names.join(", ")))
}

/// What is wrong at the end, in sentences.
pub fn explanation(reason: &Reason) -> Vec<String> {
    let list = |labels: &[String]| match labels {
        [] => "nothing".to_owned(),
        labels => labels.join(", "),
    };
    match reason {
        Reason::Deadlock => vec!["✗ no process can go on, and the system has not terminated".to_owned()],
        Reason::Ends => vec!["✗ the run ends here: no process can go on, or all have terminated".to_owned()],
        Reason::NotReached => vec!["✗ no state that can be reached fulfils the condition".to_owned()],
        Reason::NotAllowed { allowed } => vec![
            "✗ the specification does not allow the last step".to_owned(),
            format!("  it would allow: {}", list(allowed)),
        ],
        Reason::Refuses { offers, demands } => {
            let demands: Vec<String> = demands.iter().map(|set| format!("{{{}}}", list(set))).collect();
            vec![
                format!("✗ the last state offers only: {}", list(offers)),
                format!("  the specification insists on one of: {}", demands.join(" or ")),
            ]
        }
        Reason::Diverges => vec!["✗ from here internal steps can go on for ever".to_owned()],
        Reason::Nondeterministic { label } => {
            vec![format!(
                "✗ another step {label} leads from there to a state with other behaviour or other values of variables"
            )]
        }
        Reason::Contradicts { .. } => vec!["✗ this run contradicts the formula".to_owned()],
        _ => Vec::new(),
    }
}

/// The same in one line, for programs.
pub fn plain(reason: &Reason) -> String {
    explanation(reason).join("; ").replace("✗ ", "").replace(";   ", "; ")
}

/// The run as a table: a column for each process, and what changed.
fn table(trace: &Trace, repeats: Option<usize>) -> String {
    let mut actors: Vec<(u32, &str)> = Vec::new();
    for step in &trace.steps {
        for name in step.actor.split(" + ") {
            if !actors.iter().any(|(_, other)| *other == name) {
                actors.push((step.action.actor & 0xff, name));
            }
        }
    }
    actors.sort();
    actors.truncate(COLUMNS_MAX);
    let columns: Vec<String> = actors.iter().map(|(_, name)| clean(name)).collect();
    let mut rows: Vec<(Vec<String>, String)> = Vec::new();
    for (number, step) in trace.steps.iter().enumerate().take(ROWS_MAX) {
        let mut cells = vec![String::new(); columns.len()];
        for name in step.actor.split(" + ") {
            let at = actors.iter().position(|(_, other)| *other == name).unwrap_or(columns.len() - 1);
            cells[at] = clean(&step.label);
        }
        rows.push((cells, clean(&trace.changes(number))));
    }
    let width = |at: usize| {
        let cells = rows.iter().map(|(cells, _)| cells[at].width());
        cells.chain([columns[at].width()]).max().unwrap_or(0).min(COLUMN_MAX)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let digits = rows.len().to_string().len();
    let line = |number: &str, cells: &[String], state: &str| {
        let mut text = format!("   {number:>digits$} ");
        for (cell, &width) in cells.iter().zip(&widths) {
            let cell = truncate(cell, width);
            text.push_str(&format!(" {cell}{}", " ".repeat(width.saturating_sub(cell.width()))));
        }
        format!("{}\n", format!("{text}  {state}").trim_end())
    };
    let mut out = String::new();
    if columns.iter().any(|name| name != "system") {
        out.push_str(&line("", &columns, ""));
    }
    if let Some(initial) = &trace.initial {
        out.push_str(&line("", &vec![String::new(); columns.len()], &clean(initial)));
    }
    for (at, (cells, state)) in rows.iter().enumerate() {
        if repeats == Some(at) {
            out.push_str("   -- from here on for ever:\n");
        }
        out.push_str(&line(&(at + 1).to_string(), cells, state));
    }
    if trace.steps.len() > rows.len() {
        out.push_str(&format!("   ({} more left out)\n", counted((trace.steps.len() - rows.len()) as u64, "step")));
    }
    out
}
