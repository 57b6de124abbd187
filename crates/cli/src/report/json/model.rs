//! The documents of models: what came of each assertion, or why the model cannot be compiled.

use selvedge_model::language::Diagnostic;
use selvedge_model::{Reason, Trouble, Verdict};
use serde::Serialize;

use super::{VERSION, write};
use crate::report::outcome::{Assertion, Ending, Modelled, WrongModel};
use crate::report::text::model::{one_line, plain};
use crate::report::verdict::{Coverage, Criterion, Reached, VerdictName};

#[derive(Serialize)]
struct ModelDocument<'a> {
    file: &'a str,
    verdict: VerdictName,
    criterion: Criterion,
    coverage: Coverage,
    seconds: f64,
    version: &'static str,
    limits: ModelLimits,
    assertions: Vec<AssertionDocument<'a>>,
}

#[derive(Serialize)]
struct ModelLimits {
    time_max: Option<f64>,
    memory_max: u64,
    states_max: Option<u64>,
    jobs: usize,
}

#[derive(Serialize)]
struct AssertionDocument<'a> {
    number: usize,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictName>,
    criterion: &'static str,
    coverage: Coverage,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Search>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Reached>,
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

/// The document of a model whose assertions were checked.
pub fn modelled(modelled: &Modelled<'_>) -> String {
    let weakest = modelled.assertions.iter().map(|assertion| assertion.coverage()).min();
    write(&ModelDocument {
        file: modelled.file,
        verdict: modelled.verdict(),
        criterion: Criterion::Model,
        coverage: weakest.unwrap_or(Coverage::Exhaustive),
        seconds: modelled.seconds,
        version: VERSION,
        limits: ModelLimits {
            time_max: modelled.limits.stated().time_max,
            memory_max: modelled.limits.memory_max,
            states_max: modelled.states_max,
            jobs: modelled.jobs,
        },
        assertions: modelled.assertions.iter().map(|one| assertion(one)).collect(),
    })
}

fn assertion(assertion: &Assertion) -> AssertionDocument<'_> {
    let mut out = AssertionDocument {
        number: assertion.number,
        text: one_line(&assertion.text),
        verdict: VerdictName::of_answer(assertion.exit()),
        criterion: assertion.claim.name(),
        coverage: assertion.coverage(),
        seconds: assertion.seconds,
        search: None,
        limit: None,
        reason: None,
        run: None,
        error: None,
    };
    let mut repeats = None;
    match &assertion.ending {
        Ending::Answer(answer, limit) => {
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
                out.limit = Some(limit.map_or_else(|| Reached::from(reached), Reached::Limit));
            }
            out.reason = answer.reason.as_ref().map(plain);
            if let Some(Reason::Contradicts { repeats: from }) = answer.reason {
                repeats = Some(from);
            }
        }
        Ending::Unfinished(limit) => out.limit = Some(Reached::Limit(*limit)),
        Ending::Trouble(trouble) => {
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
    out.run = assertion.trace().map(|trace| Run {
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

#[derive(Serialize)]
struct WrongModelDocument<'a> {
    criterion: Criterion,
    error: Option<&'a ModelError<'a>>,
    errors: &'a [ModelError<'a>],
    file: &'a str,
    seconds: f64,
    version: &'static str,
}

#[derive(Serialize)]
struct ModelError<'a> {
    advice: Option<String>,
    code: &'static str,
    column: u32,
    file: &'a str,
    line: u32,
    reason: String,
}

/// The document of a model that cannot be compiled.
pub fn wrong_model(wrong: &WrongModel<'_>) -> String {
    let described = |error: &'_ Diagnostic| {
        let (line, column) = error.place(wrong.text);
        let (advice, code, reason) = (error.help.clone(), error.code.name(), error.message.clone());
        ModelError { advice, code, column, file: wrong.file, line, reason }
    };
    let errors: Vec<ModelError> = wrong.errors.iter().map(described).collect();
    write(&WrongModelDocument {
        criterion: Criterion::Model,
        error: errors.first(),
        errors: &errors,
        file: wrong.file,
        seconds: wrong.seconds,
        version: VERSION,
    })
}
