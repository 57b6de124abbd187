//! Checks what is claimed of values that only pending removals can have taken out.
//!
//! Invariant: a removal takes out one value at most, at some moment after its call, and only a pending one can have taken out a
//! value that nothing is known to have taken out. So of such values no more can be gone by a moment than removals are pending by
//! then; which of them took which is never asked.

use std::collections::HashSet;

use super::exhaust::{Explored, Move, explore};
use super::facts::{Family, Scene};
use super::simulate::{Action, Kind};
use super::{Members, Refusal, Stop};
use crate::evidence::{Forced, Stay};
use crate::{OpId, Value};

impl<'a> Scene<'a> {
    /// The moments at which more of the values that nothing is known to have taken out had been put in than removals were pending:
    /// one of them is inside then.
    pub(super) fn crowded(&self, stays: &[Stay]) -> Vec<(u32, u32)> {
        if self.family != Family::Collection {
            return Vec::new();
        }
        let mut inserts: Vec<OpId> =
            stays.iter().filter(|stay| stay.remove.is_none()).map(|stay| stay.insert).collect();
        inserts.sort_unstable();
        inserts.dedup();
        let open = |op: &OpId| self.sole_source(*op).and_then(|value| self.never_removed(value)).is_ok();
        let entered = inserts.into_iter().filter(open).filter_map(|op| Some(self.operation(op).ok()?.end()));
        let mut changes: Vec<(u32, i64)> = entered.map(|at| (at, 1)).collect();
        changes.extend(self.pending_calls().iter().map(|&call| (call, -1)));
        changes.sort_unstable();
        let (mut level, mut since, mut crowded) = (0, 0, Vec::new());
        for (at, change) in changes {
            if level > 0 {
                crowded.push((since, at));
            }
            level += change;
            since = at;
        }
        if level > 0 {
            crowded.push((since, u32::MAX));
        }
        crowded
    }

    /// Each value was gone by the end of the operation named with it, taken out by a removal of its own that was called by then.
    pub(super) fn too_few_removals(&self, values: &[Forced]) -> Result<(), Refusal> {
        let mut seen = HashSet::new();
        let mut until = 0;
        for forced in values {
            self.check_forced(forced)?;
            if !seen.insert(forced.insert) {
                return Err(Refusal::Repeated(forced.insert));
            }
            until = until.max(self.operation(forced.because)?.end());
        }
        let pending = self.pending_calls().partition_point(|&call| call < until);
        if values.len() > pending {
            return Ok(());
        }
        Err(Refusal::EnoughRemovals { values: values.len() as u64, pending: pending as u64 })
    }

    /// The operation showed the collection without the value, which had been put in and whose removal is not recorded.
    fn check_forced(&self, &Forced { insert, because }: &Forced) -> Result<(), Refusal> {
        let value = self.sole_source(insert)?;
        self.never_removed(value)?;
        let operation = self.operation(because)?;
        let result = operation.output().ok_or(Refusal::Pending(because))?;
        if !matches!(self.action(because), Action::Remove(_) | Action::Peek(_)) {
            return Err(Refusal::NotSeen { operation: because, value: None });
        }
        if result.is_nil() {
            return self.check_before(insert, because);
        }
        let other_insert = |other: &Value| self.insertion_of(other).ok_or(Refusal::NoInsertion(because));
        match self.kind {
            Kind::Queue => self.check_before(insert, other_insert(result)?),
            Kind::Stack => {
                self.check_before(other_insert(result)?, insert)?;
                self.check_before(insert, because)
            }
            Kind::PriorityQueue | Kind::PriorityQueueMin => {
                let higher = if self.kind == Kind::PriorityQueue { value > result } else { value < result };
                if !higher {
                    return Err(Refusal::NotHigher { value: result.clone(), other: value.clone() });
                }
                self.check_before(insert, because)
            }
            _ => Err(Refusal::NotDenied(because)),
        }
    }
}

/// Checks that the operations have no order by themselves, and that the whole part would give them one.
pub(super) fn check_conflict(members: &Members<'_>, operations: &[OpId]) -> Result<(), Stop> {
    let scene = Scene::new(members)?;
    if scene.family != Family::Collection {
        return Err(Refusal::NotApplicable { violation: "conflict", object: scene.kind.name() }.into());
    }
    let mut named = HashSet::new();
    let (mut values, mut taken): (HashSet<&Value>, HashSet<&Value>) = Default::default();
    for &op in operations {
        let operation = scene.operation(op)?;
        if !matches!(scene.action(op), Action::Insert(..) | Action::Remove(_)) {
            return Err(Refusal::NoInsertion(op).into());
        }
        if !named.insert(op) {
            return Err(Refusal::Repeated(op).into());
        }
        values.extend(scene.puts(op, operation));
        taken.extend(scene.takes(op, operation));
    }
    values.extend(&taken);
    let mut pending_named = Vec::new();
    for &op in &members.ops {
        let Ok(operation) = scene.operation(op) else { continue };
        let about = scene.puts(op, operation).or_else(|| scene.takes(op, operation));
        if about.is_some_and(|value| values.contains(value)) && !named.contains(&op) {
            return Err(Refusal::LeftOut(op).into());
        }
        if matches!(scene.action(op), Action::Remove(_)) && operation.ret.is_none() {
            pending_named.push(named.contains(&op));
        }
    }
    // Removals that may have taken any of these values, at most one for each.
    let needed = (values.len() - taken.len()).min(pending_named.len());
    let first = pending_named.iter().take_while(|&&named| named).count();
    if first < needed || pending_named[first..].contains(&true) {
        return Err(Refusal::OtherRemovals { needed: needed as u64 }.into());
    }
    let mut moves = Vec::with_capacity(operations.len());
    for &op in members.ops.iter().filter(|op| named.contains(op)) {
        let step = scene.operation(op)?;
        let ret = step.ret.as_ref().map(|ret| (ret.at, &ret.output));
        moves.push(Move { action: scene.action(op), call: step.call, ret });
    }
    match explore(&members.reading.start, &moves, members.reading.budget)? {
        Explored::Orders(_) => Err(Refusal::Ordered.into()),
        Explored::NoOrder => Ok(()),
    }
}
