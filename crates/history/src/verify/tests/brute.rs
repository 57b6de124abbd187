//! Linearizability by trying everything, for histories of a few operations.

use super::super::read;
use super::super::simulate::{Action, Kind, Object};
use crate::{Call, End, Log, OpId, Operation, Value};

/// Whether every object of the log has an order; for a stuck one, whether it has one for each pending operation.
pub(crate) fn linearizable(log: &Log, kind: Kind, initial: Option<&Value>) -> bool {
    let start = Object::new(kind, initial).expect("an initial value that fits");
    let operations = log.history.operations();
    let mut ids: Vec<usize> = (0..operations.len()).collect();
    let object_of = |i: usize| (operations[i].input.object, read::key(kind, &operations[i].input).clone());
    ids.sort_by_key(|&i| object_of(i));
    ids.chunk_by(|&a, &b| object_of(a) == object_of(b)).all(|part| part_is_linearizable(log, kind, &start, part))
}

fn part_is_linearizable(log: &Log, kind: Kind, start: &Object, part: &[usize]) -> bool {
    let operations = log.history.operations();
    let steps: Vec<Step> = part
        .iter()
        .map(|&i| {
            let operation = &operations[i];
            let action = action(log, kind, operation);
            Step { action, call: operation.call, end: operation.end(), result: operation.output().cloned() }
        })
        .collect();
    if log.history.end() != End::Stuck {
        return extend(&steps, &mut vec![false; steps.len()], start, None);
    }
    let complete: Vec<Step> = steps.iter().filter(|step| step.result.is_some()).cloned().collect();
    let blocks = |step: &Step| extend(&complete, &mut vec![false; complete.len()], start, Some(&step.action));
    let mut pending = steps.iter().filter(|step| step.result.is_none()).peekable();
    match pending.peek() {
        None => extend(&complete, &mut vec![false; complete.len()], start, None),
        Some(_) => pending.all(blocks),
    }
}

#[derive(Clone)]
struct Step {
    action: Action,
    call: u32,
    end: u32,
    result: Option<Value>,
}

/// Whether what is not placed yet can follow `state`, so that `last` blocks at the end.
fn extend(steps: &[Step], placed: &mut Vec<bool>, state: &Object, last: Option<&Action>) -> bool {
    let done = (0..steps.len()).all(|i| placed[i] || steps[i].result.is_none());
    if done && last.is_none_or(|action| state.blocks(action)) {
        return true;
    }
    for i in 0..steps.len() {
        let first = |j: usize| placed[j] || steps[j].end >= steps[i].call;
        if placed[i] || !(0..steps.len()).all(first) {
            continue;
        }
        placed[i] = true;
        let after = state.after(&steps[i].action, steps[i].result.as_ref());
        let found = after.iter().any(|state| extend(steps, placed, state, last));
        placed[i] = false;
        if found {
            return true;
        }
    }
    false
}

/// Whether an order is legal, checked by looking at every pair and replaying.
pub(crate) fn is_order(log: &Log, kind: Kind, order: &[OpId], results: &[(OpId, Value)]) -> bool {
    let history = &log.history;
    let mut state = Object::new(kind, None).expect("an initial value that fits");
    let keeps_precedence = order
        .iter()
        .enumerate()
        .all(|(i, &a)| order[i + 1..].iter().all(|&b| !history.operation(b).precedes(history.operation(a))));
    let complete =
        (0..history.len() as u32).map(OpId).all(|op| history.operation(op).ret.is_none() || order.contains(&op));
    keeps_precedence
        && complete
        && order.iter().all(|&op| {
            let operation = history.operation(op);
            let action = action(log, kind, operation);
            let given = results.iter().find(|(other, _)| *other == op).map(|(_, value)| value);
            operation.output().or(given).is_some_and(|result| state.accepts(&action, result).is_ok())
        })
}

fn action(log: &Log, kind: Kind, operation: &Operation<Call, Value>) -> Action {
    let Call { method, key, argument, .. } = &operation.input;
    read::action(kind, log.name(*method), key, argument).expect("a call")
}
