//! Checks the two claims that no order exists, by searching for one.
//!
//! Invariant: operations that return after the prefix may have taken effect in it with any result, or not at all; in a
//! stuck history those that never return took no effect. So a claim that holds of a prefix holds of the whole.

use super::exhaust::{Explored, Move, explore};
use super::order::check_precedence;
use super::{Members, Refusal, Stop};
use crate::OpId;

/// The beginning of a part that is said to have no order.
#[derive(Clone, Copy)]
pub(super) struct Prefix {
    /// The operation whose return ends it; if it is not the shortest, any that returned.
    pub(super) operation: OpId,
    /// How many events it has.
    pub(super) events: u32,
    /// Whether it has an order without its last event; if not, it is the whole part.
    pub(super) shortest: bool,
}

/// Checks that no order explains a prefix; that one explains what comes before its last event, if that is claimed; and that
/// `partial` is the beginning of an order.
pub(super) fn check(members: &Members<'_>, prefix: Prefix, partial: &[OpId]) -> Result<(), Stop> {
    let reading = members.reading;
    let Prefix { operation, events, shortest } = prefix;
    let ret = members.operation(operation)?.ret.as_ref().ok_or(Refusal::Pending(operation))?;
    let cut = if shortest { ret.at } else { u32::MAX };
    let (mut found, mut ops, mut moves) = (0, Vec::new(), Vec::new());
    for &op in &members.ops {
        let step = reading.operation(op)?;
        if step.call > cut {
            break;
        }
        let ret = step.ret.as_ref().filter(|ret| ret.at <= cut).map(|ret| (ret.at, &ret.output));
        found += 1 + u32::from(ret.is_some());
        if step.ret.is_some() || !reading.is_stuck() {
            ops.push(op);
            moves.push(Move { action: reading.action(op), call: step.call, ret });
        }
    }
    if events != found {
        return Err(Refusal::OtherPrefix { claimed: events, found }.into());
    }
    if let Explored::Orders(_) = explore(&reading.start, &moves, reading.budget)? {
        return Err(Refusal::Explained { events }.into());
    }
    if shortest {
        // Without the last event, the operation may have had any result, or no effect at all.
        let last = ops.binary_search(&operation).map_err(|_| Refusal::NotInPrefix(operation))?;
        moves[last].ret = None;
        if let Explored::NoOrder(at) = explore(&reading.start, &moves, reading.budget)? {
            return Err(Refusal::FailsEarlier(ops[at]).into());
        }
    }
    check_partial(members, &ops, &moves, partial)
}

/// Checks that operations stand in an order that keeps the precedence, leaves out nothing that precedes what is in
/// it, and that some state comes out of.
fn check_partial(members: &Members<'_>, ops: &[OpId], moves: &[Move<'_>], partial: &[OpId]) -> Result<(), Stop> {
    let reading = members.reading;
    let mut placed = vec![false; ops.len()];
    let mut states = vec![reading.start.clone()];
    let mut latest = 0;
    for &op in partial {
        let at = ops.binary_search(&op).map_err(|_| Refusal::NotInPrefix(op))?;
        if std::mem::replace(&mut placed[at], true) {
            return Err(Refusal::Repeated(op).into());
        }
        latest = latest.max(moves[at].call);
        let result = moves[at].ret.map(|(_, result)| result);
        states = states.iter().flat_map(|state| state.after(moves[at].action, result)).collect();
        if states.is_empty() {
            let recorded = result.cloned().unwrap_or_default();
            return Err(Refusal::Result { operation: op, recorded, answer: None }.into());
        }
        reading.budget.check()?;
    }
    let left_out = |at: &usize| !placed[*at] && moves[*at].ret.is_some_and(|(end, _)| end < latest);
    if let Some(at) = (0..ops.len()).find(left_out) {
        return Err(Refusal::Missing(ops[at]).into());
    }
    let span = |op: OpId| {
        let at = ops.binary_search(&op).unwrap_or_default();
        (moves[at].call, moves[at].ret.map_or(u32::MAX, |(end, _)| end))
    };
    Ok(check_precedence(partial, span)?)
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
        Explored::Orders(_) | Explored::NoOrder(_) => Ok(()),
    }
}
