//! Checks the claims that no order exists, by searching for one.
//!
//! Invariant: operations that return after the prefix may have taken effect in it with any result, or not at all; in a
//! stuck history those that never return took no effect. So a claim that holds of a prefix holds of the whole.

use std::collections::HashSet;

use super::exhaust::{Explored, Move, explore};
use super::order::check_precedence;
use super::{Members, Refusal, Stop};
use crate::OpId;

/// Checks that the return of `operation` cannot be explained and that what comes before it can.
pub(super) fn check(members: &Members<'_>, operation: OpId, events: u32, partial: &[OpId]) -> Result<(), Stop> {
    let reading = members.reading;
    let cut = members.operation(operation)?.ret.as_ref().ok_or(Refusal::Pending(operation))?.at;
    let (mut found, mut ops, mut moves) = (0, Vec::new(), Vec::new());
    for &op in &members.ops {
        let step = reading.operation(op)?;
        if step.call > cut {
            break;
        }
        found += 1 + u32::from(step.end() <= cut);
        if step.ret.is_some() || !reading.is_stuck() {
            let ret = step.ret.as_ref().filter(|ret| ret.at <= cut).map(|ret| (ret.at, &ret.output));
            ops.push(op);
            moves.push(Move { action: reading.action(op), call: step.call, ret });
        }
    }
    if events != found {
        return Err(Refusal::OtherPrefix { claimed: events, found }.into());
    }
    match explore(&reading.start, &moves, reading.budget)? {
        Explored::Orders(_) => return Err(Refusal::Explained(operation).into()),
        Explored::NoOrder => {}
    }
    check_partial(members, &ops, &moves, operation, partial)
}

/// Checks that an order is one of all that returned before `operation` did, and that some state comes out of it.
fn check_partial(
    members: &Members<'_>,
    ops: &[OpId],
    moves: &[Move<'_>],
    operation: OpId,
    partial: &[OpId],
) -> Result<(), Stop> {
    let reading = members.reading;
    let mut placed = vec![false; ops.len()];
    let mut states = HashSet::from([reading.start.clone()]);
    for &op in partial {
        let at = ops.binary_search(&op).map_err(|_| Refusal::NoSuchOperation(op))?;
        if std::mem::replace(&mut placed[at], true) {
            return Err(Refusal::Repeated(op).into());
        }
        let result = moves[at].ret.filter(|_| op != operation).map(|(_, result)| result);
        states = states.iter().flat_map(|state| state.after(moves[at].action, result)).collect();
        if states.is_empty() {
            let recorded = result.cloned().unwrap_or_default();
            return Err(Refusal::Result { operation: op, recorded, answer: None }.into());
        }
        reading.budget.check()?;
    }
    let needed = |at: &usize| moves[*at].ret.is_some() && ops[*at] != operation && !placed[*at];
    if let Some(at) = (0..ops.len()).find(needed) {
        return Err(Refusal::Missing(ops[at]).into());
    }
    let span = |op: OpId| {
        let at = ops.binary_search(&op).unwrap_or_default();
        (moves[at].call, moves[at].ret.map_or(u32::MAX, |(end, _)| end))
    };
    Ok(check_precedence(partial, span)?)
}

/// Checks that no order explains the part.
pub(super) fn check_unordered(members: &Members<'_>) -> Result<(), Stop> {
    let reading = members.reading;
    let mut moves = Vec::new();
    for &op in &members.ops {
        let step = reading.operation(op)?;
        if step.ret.is_some() || !reading.is_stuck() {
            let ret = step.ret.as_ref().map(|ret| (ret.at, &ret.output));
            moves.push(Move { action: reading.action(op), call: step.call, ret });
        }
    }
    match explore(&reading.start, &moves, reading.budget)? {
        Explored::Orders(_) => Err(Refusal::Ordered.into()),
        Explored::NoOrder => Ok(()),
    }
}

/// Checks that a pending operation of a stuck history blocks after no order of what returned.
pub(super) fn check_need_not_block(members: &Members<'_>, operation: OpId) -> Result<(), Stop> {
    let reading = members.reading;
    if !reading.is_stuck() {
        return Err(Refusal::NotStuck.into());
    }
    if members.operation(operation)?.ret.is_some() {
        return Err(Refusal::NotPending(operation).into());
    }
    let mut moves = Vec::new();
    for &op in &members.ops {
        let step = reading.operation(op)?;
        if let Some(ret) = &step.ret {
            moves.push(Move { action: reading.action(op), call: step.call, ret: Some((ret.at, &ret.output)) });
        }
    }
    match explore(&reading.start, &moves, reading.budget)? {
        Explored::Orders(states) if states.iter().any(|state| state.blocks(reading.action(operation))) => {
            Err(Refusal::MayBlock(operation).into())
        }
        Explored::Orders(_) | Explored::NoOrder => Ok(()),
    }
}
