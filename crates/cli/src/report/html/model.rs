//! The page of a model: what was claimed, the run that shows what came of it as a message-sequence chart, and small state spaces as a graph.

use selvedge_model::{Drawn, Reason, Trace, Verdict};
use serde::Serialize;

use super::super::json;
use super::super::outcome::{Assertion, Ending, Modelled};
use super::super::text::model::{explanation, headline, numbers, one_line, reductions, unknown};
use super::super::text::{clean, strip};
use super::super::verdict::VerdictName;
use super::Page;
use crate::quantity::counted;

/// How many steps of a run are drawn.
const STEPS_MAX: usize = 1_000;

#[derive(Serialize)]
struct Data {
    /// The text of the model.
    model: Vec<String>,
    claims: Vec<Claim>,
}

#[derive(Serialize)]
struct Claim {
    number: usize,
    text: String,
    badge: VerdictName,
    says: String,
    numbers: String,
    /// What is wrong at the end, in sentences.
    why: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<Space>,
}

#[derive(Serialize)]
struct Run {
    actors: Vec<String>,
    initial: Option<String>,
    steps: Vec<Step>,
    /// From which step on it goes round for ever.
    repeats: Option<usize>,
    /// Whether there is no shorter one.
    shortest: bool,
    left_out: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Step {
    /// Who did it: one, or several together.
    who: Vec<usize>,
    label: String,
    /// The state after it, and what is new in it.
    state: Option<String>,
    changed: String,
}

#[derive(Serialize)]
struct Space {
    /// The name of each state, whether it is an initial one, and whether the system has terminated there.
    states: Vec<(String, bool, bool)>,
    /// From, to, label, hidden.
    steps: Vec<(u32, u32, String, bool)>,
}

impl Modelled<'_> {
    /// The page; `text` is the same report for a terminal.
    pub fn html(&self, text: &str) -> String {
        let claims: Vec<Claim> =
            self.assertions.iter().zip(&self.spaces).map(|(one, space)| self.claim(one, space.as_ref())).collect();
        let number = |badge| claims.iter().filter(|claim| claim.badge == badge).count();
        let parts = [
            (VerdictName::Fail, "refuted"),
            (VerdictName::Unknown, "without an answer"),
            (VerdictName::Pass, "fulfilled"),
        ];
        let parts = parts.iter().filter(|(badge, _)| number(*badge) > 0);
        let parts: Vec<String> = parts.map(|(badge, word)| format!("{} {word}", number(*badge))).collect();
        let summary = format!("{}: {}.", counted(claims.len() as u64, "assertion"), parts.join(", "));
        let model = self.text.lines().map(|line| clean(&line.replace('\t', "    "))).collect();
        Page {
            badge: self.verdict(),
            title: &clean(self.file),
            reasons: &[summary],
            view: include_str!("model.html"),
            script: include_str!("model.js"),
            data: &json::write(&Data { model, claims }),
            text,
        }
        .render()
    }

    fn claim(&self, assertion: &Assertion, space: Option<&Drawn>) -> Claim {
        let (says, numbers, why, repeats) = match &assertion.ending {
            Ending::Answer(answer, limit) => {
                let why =
                    answer.reason.iter().flat_map(explanation).map(|line| clean(line.trim_start_matches("✗ ").trim()));
                let repeats = match answer.reason {
                    Some(Reason::Contradicts { repeats }) => Some(repeats),
                    _ => None,
                };
                let says = strip(&headline(answer, *limit, assertion));
                let says = match answer.verdict {
                    Verdict::Pass | Verdict::Fail => says,
                    Verdict::Unknown(_) => format!("{says}; no violation so far, and that says nothing about the rest"),
                };
                let seen = &answer.statistics;
                let numbers = [Some(numbers(seen, self.stats)), reductions(seen)];
                (says, numbers.into_iter().flatten().collect::<Vec<_>>().join("; "), why.collect(), repeats)
            }
            Ending::Trouble(trouble) => (clean(&trouble.to_string()), String::new(), Vec::new(), None),
            Ending::Unfinished(limit) => (strip(&unknown(*limit)), String::new(), Vec::new(), None),
        };
        Claim {
            number: assertion.number,
            text: clean(&one_line(&assertion.text)),
            badge: VerdictName::of(assertion.exit()),
            says,
            numbers,
            why,
            run: assertion.trace().map(|trace| run(trace, repeats)),
            space: space.map(|space| Space {
                states: space.states.iter().map(|s| (clean(&s.name), s.initial, s.terminated)).collect(),
                steps: space.steps.iter().map(|s| (s.from, s.to, clean(&s.label), s.hidden)).collect(),
            }),
        }
    }
}

fn run(trace: &Trace, repeats: Option<usize>) -> Run {
    let mut actors: Vec<(u32, &str)> = Vec::new();
    for step in &trace.steps {
        for name in step.actor.split(" + ").filter(|name| !name.is_empty()) {
            if !actors.iter().any(|(_, other)| *other == name) {
                actors.push((step.action.actor & 0xff, name));
            }
        }
    }
    actors.sort();
    let mut steps = Vec::new();
    for (number, step) in trace.steps.iter().enumerate().take(STEPS_MAX) {
        let names = step.actor.split(" + ");
        let who = names.filter_map(|name| actors.iter().position(|(_, other)| *other == name)).collect();
        let changed = clean(&trace.changes(number));
        steps.push(Step { who, label: clean(&step.label), state: step.state.as_deref().map(clean), changed });
    }
    Run {
        actors: actors.iter().map(|(_, name)| clean(name)).collect(),
        initial: trace.initial.as_deref().map(clean),
        left_out: trace.steps.len() - steps.len(),
        steps,
        repeats,
        shortest: trace.shortest,
    }
}

#[cfg(test)]
mod tests {
    use selvedge_model::language::Model;

    use super::*;

    #[test]
    fn a_run_has_who_did_what_and_what_changed() {
        let text = "channel c 1;\nvar x = 0;\nA() = c!7 -> Skip;\nB() = c?v -> add{x = v} -> Skip;\n\
                    Sys() = A() ||| B();\n#define done x == 7;\n#assert Sys() reaches done;\n";
        let model = Model::new(text).unwrap();
        let answer = model.check(0, &selvedge_model::Settings::default()).unwrap();
        let run = run(&answer.trace.unwrap(), None);
        assert_eq!(run.actors, ["A", "B"]);
        let told: Vec<_> = run.steps.iter().map(|step| (&step.who[..], step.label.as_str())).collect();
        assert_eq!(told, [(&[0][..], "c!7"), (&[1], "c?7"), (&[1], "add")]);
        assert_eq!(run.steps[2].changed, "x=7");
    }
}
