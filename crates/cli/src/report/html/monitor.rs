//! The page of a monitor: the violations that it saw, each with the operations that show it.

use selvedge_history::Value;
use selvedge_history::monitor::Violation;
use serde::Serialize;

use super::super::json;
use super::super::operation::show;
use super::super::outcome::Monitored;
use super::super::text::clean;
use super::Page;

/// How many violations a page shows.
pub const KEPT_MAX: usize = 1_000;

#[derive(Serialize)]
struct Data {
    violations: Vec<Shown>,
    left_out: u64,
}

#[derive(Serialize)]
struct Shown {
    rule: &'static str,
    says: &'static str,
    /// The object and the key, where there are several.
    place: String,
    event: u64,
    operations: Vec<Operation>,
}

#[derive(Serialize)]
struct Operation {
    thread: String,
    label: String,
    call: u64,
    ret: Option<u64>,
}

impl Monitored<'_> {
    /// The page.
    pub fn html(&self) -> String {
        let violations: Vec<Shown> = self.violations.iter().map(shown).collect();
        let left_out = self.counts.violations.saturating_sub(violations.len() as u64);
        let says = self.line();
        let mut reasons = vec![says.clone()];
        reasons.extend(self.doubts.iter().map(|doubt| format!("Not checked in full: {}.", clean(&doubt.says()))));
        let mut text: String = self.violations.iter().map(|violation| format!("{violation}\n")).collect();
        text = text.lines().map(|line| format!("{}\n", clean(line))).collect();
        text += &clean(&says);
        Page {
            badge: self.verdict(),
            title: &clean(self.from),
            reasons: &reasons,
            view: "<main>\n<div id=\"violations\"></div>\n",
            script: include_str!("monitor.js"),
            data: &json::write(&Data { violations, left_out }),
            text: &text,
        }
        .render()
    }
}

fn shown(violation: &Violation) -> Shown {
    let object = (!violation.object.is_empty()).then(|| format!("object {}", clean(&violation.object)));
    let key = (!violation.key.is_nil()).then(|| format!("key {}", show(&violation.key)));
    let operations = violation.operations.iter().map(|operation| {
        let argument = Some(&operation.argument).filter(|argument| !argument.is_nil()).map(show);
        let result = operation.result.as_ref().filter(|result| !result.is_nil()).map(show);
        let argument = argument.map_or(String::new(), |argument| format!("({argument})"));
        let result = result.map_or(String::new(), |result| format!("→{result}"));
        Operation {
            thread: operation.thread.as_ref().map_or("?".to_owned(), |thread: &Value| show(thread)),
            label: format!("{}{argument}{result}", clean(&operation.method)),
            call: operation.call,
            ret: operation.ret,
        }
    });
    Shown {
        rule: violation.rule.name(),
        says: violation.rule.sentence(),
        place: object.into_iter().chain(key).collect::<Vec<_>>().join(", "),
        event: violation.event,
        operations: operations.collect(),
    }
}
