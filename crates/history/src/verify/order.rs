//! Checks that linearizations show what they claim: every complete operation once, in an order that keeps the
//! precedence and that the simulator accepts.
//!
//! The smallest independent object is here called a *unit*: an object and key, and for sets one element. A linearization
//! may hold several units of one set; whatever it holds it must hold whole, since half an object's operations may well have
//! an order that the whole has not.
//!
//! In a stuck history the pending operations took no effect, and each must block at the end of some order of
//! the rest (docs/semantics.md, *Linearizability*). So there a linearization may end with pending operations that have no
//! result, each of which blocks in the state reached; the same unit may be linearized several times, until each pending
//! operation stands at the end of one of them.

use hashbrown::HashMap;

use super::{Reading, Refusal, Stop};
use crate::evidence::Linearization;
use crate::{OpId, Value};

type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Checks a claim that every part has an order. O(n log n).
pub(super) fn check(reading: &Reading<'_>, linearizations: &[Linearization]) -> Result<(), Stop> {
    let mut ledger = Ledger::new(reading)?;
    for linearization in linearizations {
        ledger.check_part(linearization)?;
        ledger.check_once(linearization)?;
        let history = &reading.log.history;
        check_precedence(&linearization.order, |op| {
            let operation = history.operation(op);
            (operation.call, operation.end())
        })?;
        ledger.replay(linearization)?;
    }
    ledger.close()
}

/// Checks that no operation stands after one that it precedes. Linear: seen from the end, the earliest return so far
/// must not lie before the call at hand. `span` gives the positions of call and return.
pub(super) fn check_precedence(order: &[OpId], span: impl Fn(OpId) -> (u32, u32)) -> Result<(), Refusal> {
    let mut earliest: Option<(u32, OpId)> = None;
    for &op in order.iter().rev() {
        let (call, end) = span(op);
        if let Some((returned, first)) = earliest.filter(|(returned, _)| *returned < call) {
            debug_assert!(returned < call);
            return Err(Refusal::Precedence { first, second: op });
        }
        if earliest.is_none_or(|(returned, _)| end < returned) {
            earliest = Some((end, op));
        }
    }
    Ok(())
}

/// What the linearizations have accounted for so far.
struct Ledger<'a, 'r> {
    reading: &'r Reading<'a>,
    /// The unit of each operation.
    units: Vec<u32>,
    /// How many complete operations each unit has.
    complete: Vec<u32>,
    /// How many of them the linearization at hand has.
    found: Vec<u32>,
    /// Whether a unit has been linearized.
    covered: Vec<bool>,
    /// The last linearization, counted from 1, that has the operation.
    placed: Vec<u32>,
    /// The pending operations of a stuck history that were seen to block.
    blocked: Vec<bool>,
    round: u32,
}

impl<'a, 'r> Ledger<'a, 'r> {
    fn new(reading: &'r Reading<'a>) -> Result<Self, Stop> {
        let operations = reading.log.history.operations();
        let mut known: FastMap<(u32, &Value, Option<&Value>), u32> = FastMap::default();
        let mut units = Vec::with_capacity(operations.len());
        let mut complete = Vec::new();
        for (i, operation) in operations.iter().enumerate() {
            if i % 4096 == 0 {
                reading.budget.check()?;
            }
            let next = complete.len() as u32;
            let (object, key) = (operation.input.object.0, reading.key(&operation.input));
            let unit = *known.entry((object, key, reading.element(OpId(i as u32)))).or_insert(next);
            if unit == next {
                complete.push(0);
            }
            complete[unit as usize] += u32::from(operation.ret.is_some());
            units.push(unit);
        }
        Ok(Ledger {
            reading,
            found: vec![0; complete.len()],
            covered: vec![false; complete.len()],
            placed: vec![0; operations.len()],
            blocked: vec![false; operations.len()],
            units,
            complete,
            round: 0,
        })
    }

    /// Checks that a linearization is about one object, the one that it names.
    fn check_part(&self, linearization: &Linearization) -> Result<(), Refusal> {
        let reading = self.reading;
        let Some(&first) = linearization.order.first() else { return Ok(()) };
        let part = &linearization.part;
        let call = &reading.operation(first)?.input;
        let scope = reading.scope(part, first);
        for &op in &linearization.order {
            let same = reading.same_object(call, &reading.operation(op)?.input);
            if scope.is_none() || !same || reading.scope(part, op) != scope {
                return Err(Refusal::OtherPart { operation: op, part: part.clone() });
            }
        }
        Ok(())
    }

    /// Checks that a linearization has no operation twice, and every complete operation of the units it is about.
    fn check_once(&mut self, linearization: &Linearization) -> Result<(), Refusal> {
        self.round += 1;
        let mut touched = Vec::new();
        for &op in &linearization.order {
            let operation = self.reading.operation(op)?;
            let placed = &mut self.placed[op.0 as usize];
            if *placed == self.round {
                return Err(Refusal::Repeated(op));
            }
            *placed = self.round;
            let unit = self.units[op.0 as usize];
            if operation.ret.is_some() {
                self.found[unit as usize] += 1;
            }
            touched.push(unit);
        }
        for &unit in &touched {
            if self.found[unit as usize] != self.complete[unit as usize] {
                return Err(self.missing(|op| self.units[op] == unit && self.placed[op] != self.round));
            }
            self.covered[unit as usize] = true;
        }
        for unit in touched {
            self.found[unit as usize] = 0;
        }
        Ok(())
    }

    /// Checks that the simulator accepts the order.
    fn replay(&mut self, linearization: &Linearization) -> Result<(), Stop> {
        let results = self.results(linearization)?;
        let mut object = self.reading.start.clone();
        let mut blocking = None;
        for (i, &op) in linearization.order.iter().enumerate() {
            if i % 4096 == 0 {
                self.reading.budget.check()?;
            }
            let action = self.reading.action(op);
            let operation = self.reading.operation(op)?;
            let result = match (operation.output(), self.reading.is_stuck()) {
                (Some(result), _) => result,
                (None, false) => *results.get(&op).ok_or(Refusal::NoResult(op))?,
                (None, true) if !object.blocks(action) => return Err(Refusal::DoesNotBlock(op).into()),
                (None, true) => {
                    self.blocked[op.0 as usize] = true;
                    blocking = Some(op);
                    continue;
                }
            };
            if let Some(blocking) = blocking {
                return Err(Refusal::AfterBlocking { blocking, operation: op }.into());
            }
            object.accepts(action, result).map_err(|answer| Refusal::Result {
                operation: op,
                recorded: result.clone(),
                answer,
            })?;
        }
        Ok(())
    }

    /// The results that a linearization gives to pending operations.
    fn results<'l>(&self, linearization: &'l Linearization) -> Result<FastMap<OpId, &'l Value>, Refusal> {
        let mut results = FastMap::default();
        for (op, result) in &linearization.results {
            if self.reading.operation(*op)?.ret.is_some() {
                return Err(Refusal::ResultOfComplete(*op));
            }
            if self.reading.is_stuck() {
                return Err(Refusal::ResultOfStuck(*op));
            }
            if self.placed[op.0 as usize] != self.round || results.insert(*op, result).is_some() {
                return Err(Refusal::StrayResult(*op));
            }
        }
        Ok(results)
    }

    /// Checks that nothing was left out.
    fn close(&self) -> Result<(), Stop> {
        let operations = self.reading.log.history.operations();
        if let Some(unit) = (0..self.complete.len()).find(|&unit| self.complete[unit] > 0 && !self.covered[unit]) {
            return Err(self.missing(|op| self.units[op] == unit as u32).into());
        }
        let idle = |op: &usize| operations[*op].ret.is_none() && !self.blocked[*op];
        match (0..operations.len()).find(idle).filter(|_| self.reading.is_stuck()) {
            Some(op) => Err(Refusal::NotShownToBlock(OpId(op as u32)).into()),
            None => Ok(()),
        }
    }

    /// Names the first complete operation that is left out.
    fn missing(&self, left_out: impl Fn(usize) -> bool) -> Refusal {
        let operations = self.reading.log.history.operations();
        let op = (0..operations.len()).find(|&op| operations[op].ret.is_some() && left_out(op));
        Refusal::Missing(OpId(op.unwrap_or_default() as u32))
    }
}
