//! The report of `selvedge model`: what was claimed, what came of it, and the run that shows it as a table with a column
//! for each process.

use std::sync::Arc;

use selvedge_model::language::Diagnostic;
use selvedge_model::{Answer, Reason, Statistics, Trace, Trouble, Verdict};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::Entry;
use super::text::{FAIL, FAINT, PASS, UNKNOWN, clean, paint, truncate};
use crate::exit::Exit;
use crate::limits::Limits;
use crate::quantity::{count, counted, show_size};

/// How many rows of a run are shown.
const ROWS_MAX: usize = 200;
/// How wide a column may be.
const COLUMN_MAX: usize = 24;
/// How many columns are shown; the rest share the last one.
const COLUMNS_MAX: usize = 8;

/// What came of one assertion.
pub struct Checked {
    pub number: usize,
    pub text: String,
    /// The kind of claim, for JSON.
    pub criterion: &'static str,
    pub outcome: Outcome,
    pub seconds: f64,
}

pub enum Outcome {
    /// The answer, and the limit that the command line ran into, if it did.
    Answer(Answer, Option<&'static str>),
    Trouble(Trouble),
    /// There is none: this limit of the command line was reached before.
    Unfinished(&'static str),
}

/// All that there is to report of one model.
pub struct Page<'a> {
    pub file: &'a str,
    pub text: &'a str,
    pub stats: bool,
    pub states_max: Option<u64>,
    pub jobs: usize,
    pub limits: &'a Limits,
    pub checked: Vec<Arc<Checked>>,
    pub seconds: f64,
    /// A sentence about the graph that was written.
    pub dot: Option<String>,
}

impl Checked {
    /// The run that shows the outcome.
    pub fn trace(&self) -> Option<&Trace> {
        match &self.outcome {
            Outcome::Answer(answer, _) => answer.trace.as_ref(),
            Outcome::Trouble(Trouble::Fault { trace, .. }) => Some(trace),
            Outcome::Trouble(_) | Outcome::Unfinished(_) => None,
        }
    }

    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        match &self.outcome {
            Outcome::Answer(answer, _) => match answer.verdict {
                Verdict::Pass => Exit::Pass,
                Verdict::Fail => Exit::Violation,
                Verdict::Unknown(_) => Exit::Unknown,
            },
            Outcome::Trouble(_) => Exit::Input,
            Outcome::Unfinished(_) => Exit::Unknown,
        }
    }

    /// Whether everything that can be reached was looked at, as far as the verdict needs it.
    fn coverage(&self) -> &'static str {
        if matches!(self.exit(), Exit::Pass | Exit::Violation) { "exhaustive" } else { "partial" }
    }
}

impl Page<'_> {
    /// The report, for people and for programs.
    pub fn entry(&self) -> Entry {
        let exit = self.checked.iter().map(|checked| checked.exit()).fold(Exit::Pass, Exit::worst);
        let mut full = String::new();
        for checked in &self.checked {
            full.push_str(&self.section(checked));
        }
        if let Some(sentence) = &self.dot {
            full.push_str(&format!("{}\n", clean(sentence)));
        }
        let line = format!("{}: {}", clean(self.file), verdict_name(exit).unwrap_or("wrong model"));
        let json = serde_json::to_string(&self.document()).expect("plain data");
        Entry { exit, full, line, json, certificate: None, html: None }
    }

    /// What is known of all assertions together: one that ended in an error of the model is not known.
    pub(super) fn verdict(&self) -> Exit {
        let known = |checked: &Arc<Checked>| match checked.exit() {
            Exit::Input => Exit::Unknown,
            exit => exit,
        };
        self.checked.iter().map(known).fold(Exit::Pass, Exit::worst)
    }

    fn section(&self, checked: &Checked) -> String {
        let mut out = format!("{}. {}\n", checked.number, clean(&one_line(&checked.text)));
        match &checked.outcome {
            Outcome::Trouble(trouble) => {
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
            Outcome::Unfinished(limit) => out.push_str(&format!("   {}\n", unknown(limit))),
            Outcome::Answer(answer, limit) => {
                out.push_str(&format!("   {}\n", headline(answer, *limit, checked)));
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

    fn document(&self) -> Document<'_> {
        let exhaustive = self.checked.iter().all(|checked| checked.coverage() == "exhaustive");
        Document {
            file: self.file,
            verdict: verdict_name(self.verdict()),
            criterion: "model",
            coverage: if exhaustive { "exhaustive" } else { "partial" },
            seconds: self.seconds,
            version: env!("CARGO_PKG_VERSION"),
            limits: StatedLimits {
                time_max: self.limits.stated().time_max,
                memory_max: self.limits.memory_max,
                states_max: self.states_max,
                jobs: self.jobs,
            },
            assertions: self.checked.iter().map(|checked| assertion(checked)).collect(),
        }
    }
}

fn verdict_name(exit: Exit) -> Option<&'static str> {
    match exit {
        Exit::Pass => Some("pass"),
        Exit::Violation => Some("fail"),
        Exit::Unknown => Some("unknown"),
        Exit::Input | Exit::Bug => None,
    }
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn headline(answer: &Answer, limit: Option<&str>, checked: &Checked) -> String {
    let steps = answer.trace.as_ref().map_or(0, |trace| trace.steps.len() as u64);
    let switches = answer.trace.as_ref().map_or(0, |trace| trace.switches() as u64);
    let after = format!("after {}, {}", counted(steps, "step"), counted(switches, "context switch"));
    let after = after.replace("switchs", "switches");
    match answer.verdict {
        Verdict::Pass if checked.criterion == "reaches" => format!("{} {after}", paint(PASS, "reached")),
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
pub(super) fn unknown(limit: &str) -> String {
    let reached = format!("the {limit} limit was reached").replace("the interrupted limit was reached", "interrupted");
    format!("{}: {reached}", paint(UNKNOWN, "unknown"))
}

pub(super) fn numbers(seen: &Statistics, more: bool) -> String {
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
pub(super) fn reductions(seen: &Statistics) -> Option<String> {
    let names = seen.reduced.names();
    (!names.is_empty()).then(|| format!("reductions: {}", names.join(", ")))
}

/// What is wrong at the end, in sentences.
pub(super) fn explanation(reason: &Reason) -> Vec<String> {
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

#[derive(Serialize)]
struct Document<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    criterion: &'static str,
    coverage: &'static str,
    seconds: f64,
    version: &'static str,
    limits: StatedLimits,
    assertions: Vec<Assertion<'a>>,
}

#[derive(Serialize)]
struct StatedLimits {
    time_max: Option<f64>,
    memory_max: u64,
    states_max: Option<u64>,
    jobs: usize,
}

#[derive(Serialize)]
struct Assertion<'a> {
    number: usize,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    criterion: &'static str,
    coverage: &'static str,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Search>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Run<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ModelFault>,
}

#[derive(Serialize)]
struct Search {
    states: u64,
    transitions: u64,
    system_states: u64,
    specification_sets: u64,
    bytes: u64,
    depth: u32,
    seconds: f64,
    exact: bool,
    reductions: Vec<&'static str>,
}

#[derive(Serialize)]
struct Run<'a> {
    initial: Option<&'a str>,
    steps: Vec<RunStep<'a>>,
    context_switches: usize,
    shortest: bool,
    fewest_switches: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<usize>,
}

#[derive(Serialize)]
struct RunStep<'a> {
    process: &'a str,
    label: &'a str,
    state: Option<&'a str>,
}

#[derive(Serialize)]
struct ModelFault {
    reason: String,
    line: Option<u32>,
    column: Option<u32>,
}

fn assertion(checked: &Checked) -> Assertion<'_> {
    let mut out = Assertion {
        number: checked.number,
        text: one_line(&checked.text),
        verdict: verdict_name(checked.exit()),
        criterion: checked.criterion,
        coverage: checked.coverage(),
        seconds: checked.seconds,
        search: None,
        limit: None,
        reason: None,
        run: None,
        error: None,
    };
    let mut repeats = None;
    match &checked.outcome {
        Outcome::Answer(answer, limit) => {
            let seen = answer.statistics;
            out.search = Some(Search {
                states: seen.states,
                transitions: seen.transitions,
                system_states: seen.system_states,
                specification_sets: seen.specification_sets,
                bytes: seen.bytes,
                depth: seen.depth,
                seconds: seen.elapsed.as_secs_f64(),
                exact: seen.exact,
                reductions: seen.reduced.names(),
            });
            if let Verdict::Unknown(reached) = answer.verdict {
                out.limit = Some(limit.map_or_else(|| format!("{reached:?}").to_lowercase(), str::to_owned));
            }
            if let Some(reason) = &answer.reason {
                let sentences = explanation(reason).join("; ");
                out.reason = Some(sentences.replace("✗ ", "").replace(";   ", "; "));
            }
            if let Some(Reason::Contradicts { repeats: from }) = answer.reason {
                repeats = Some(from);
            }
        }
        Outcome::Unfinished(limit) => out.limit = Some((*limit).to_owned()),
        Outcome::Trouble(trouble) => {
            let place = match trouble {
                Trouble::Fault { fault, .. } => fault.place,
                _ => None,
            };
            out.error = Some(ModelFault {
                reason: trouble.to_string(),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
            });
        }
    }
    out.run = checked.trace().map(|trace| Run {
        initial: trace.initial.as_deref(),
        steps: trace
            .steps
            .iter()
            .map(|step| RunStep { process: &step.actor, label: &step.label, state: step.state.as_deref() })
            .collect(),
        context_switches: trace.switches(),
        shortest: trace.shortest,
        fewest_switches: trace.fewest_switches,
        repeats,
    });
    out
}

/// The entry of a model that cannot be compiled.
pub fn wrong(file: &str, text: &str, errors: &[Diagnostic], seconds: f64) -> Entry {
    let shown: Vec<String> = errors
        .iter()
        .map(|error| error.show(file, text).lines().map(|line| format!("{}\n", clean(line))).collect::<String>())
        .collect();
    let list: Vec<serde_json::Value> = errors
        .iter()
        .map(|error| {
            let (line, column) = error.place(text);
            serde_json::json!({
                "file": file, "line": line, "column": column, "code": error.code.name(),
                "reason": error.message, "advice": error.help,
            })
        })
        .collect();
    let first = list.first().cloned();
    let json = serde_json::json!({
        "file": file, "criterion": "model", "seconds": seconds, "version": env!("CARGO_PKG_VERSION"),
        "error": first, "errors": list,
    });
    Entry {
        exit: Exit::Input,
        full: shown.join("\n"),
        line: format!("{}: wrong model", clean(file)),
        json: json.to_string(),
        certificate: None,
        html: None,
    }
}
