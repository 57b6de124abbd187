//! One construct a heading of `constructs.txt`, with the exact number of states and steps of each small model.

use super::{explore, model};

/// States, steps, and the labels in order, each once, of process `Sys`.
fn measured(text: &str) -> String {
    let model = model(text);
    let graph = explore(&model.process("Sys", &[]).expect("there is a Sys")).expect("no fault");
    let mut seen: Vec<&str> = graph.steps.iter().flatten().map(|(label, _)| label.as_str()).collect();
    seen.sort_unstable();
    seen.dedup();
    let steps = graph.steps.iter().map(Vec::len).sum::<usize>();
    format!("{} states, {steps} steps: {}", graph.steps.len(), seen.join(" ")).trim_end().to_owned()
}

#[test]
fn every_construct_has_the_states_and_steps_that_its_rules_give() {
    let (mut heading, mut text, mut rows, mut wrong) = ("", String::new(), 0, Vec::new());
    for line in include_str!("constructs.txt").lines() {
        if let Some(name) = line.strip_prefix("== ") {
            heading = name;
        } else if let Some(expected) = line.strip_prefix("    ") {
            let found = measured(&text);
            if found != expected {
                wrong.push(format!("{heading}: {text}\n    expected {expected}\n    found    {found}"));
            }
            rows += 1;
            text.clear();
        } else {
            // A line of a model, or a remark, which a model may have too.
            text.push_str(line);
            text.push('\n');
        }
    }
    assert!(wrong.is_empty() && text.trim().is_empty(), "{}", wrong.join("\n"));
    assert!(rows > 70, "{rows} models");
}
