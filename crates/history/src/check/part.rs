//! Splitting a log into independent objects.
//!
//! Linearizability is local: a history is linearizable exactly when each object's part of it is. Invariant: within a
//! part, positions are numbered from 0 without holes, so that an algorithm may use arrays indexed by position.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::evidence::Part;
use crate::{Call, End, History, Log, Mark, OpId, Symbol, Value};

/// All parts of a log, with the positions of each operation inside its part.
pub(crate) struct Parts {
    names: Vec<(Symbol, Value)>,
    /// Operations by part, each part's in the order of calls.
    ops: Vec<OpId>,
    /// Where each part begins in `ops`.
    starts: Vec<u32>,
    /// By operation: the position of its call inside its part.
    call: Vec<u32>,
    /// By operation: the position of its return inside its part, the number of the part's events while pending.
    ret: Vec<u32>,
    /// By part: the number of its events.
    events: Vec<u32>,
}

/// One independent object's operations.
#[derive(Clone, Copy)]
pub(crate) struct PartView<'a> {
    pub log: &'a Log,
    pub ops: &'a [OpId],
    /// How many events the part has: one more than its last position.
    pub events: u32,
    object: Symbol,
    pub key: &'a Value,
    call: &'a [u32],
    ret: &'a [u32],
}

impl Parts {
    /// Splits by object name and by what `key` answers for each call. O(n).
    pub fn split(log: &Log, mut key: impl FnMut(&Call) -> Value) -> Parts {
        let history = &log.history;
        let mut names: Vec<(Symbol, Value)> = Vec::new();
        let mut by_name: HashMap<(Symbol, Value), u32, RandomState> = HashMap::default();
        let mut last: Option<u32> = None;
        let part_of: Vec<u32> = history
            .operations()
            .iter()
            .map(|op| {
                let name = (op.input.object, key(&op.input));
                if let Some(part) = last.filter(|&part| names[part as usize] == name) {
                    return part;
                }
                let part = *by_name.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    names.len() as u32 - 1
                });
                last = Some(part);
                part
            })
            .collect();
        Parts::number(history.marks(), names, &part_of)
    }

    /// Numbers the positions of each part; operations of part `u32::MAX` are left out.
    fn number(marks: &[Mark], names: Vec<(Symbol, Value)>, part_of: &[u32]) -> Parts {
        let n = part_of.len();
        let inside = |op: usize| Some(part_of[op] as usize).filter(|&part| part < names.len());
        let mut starts = vec![0u32; names.len() + 1];
        for part in (0..n).filter_map(inside) {
            starts[part + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut fill = starts.clone();
        let mut ops = vec![OpId(0); starts[names.len()] as usize];
        for op in 0..n {
            if let Some(part) = inside(op) {
                let place = &mut fill[part];
                ops[*place as usize] = OpId(op as u32);
                *place += 1;
            }
        }
        let mut events = vec![0u32; names.len()];
        let (mut call, mut ret) = (vec![0u32; n], vec![u32::MAX; n]);
        for mark in marks {
            let op = mark.op().0 as usize;
            let Some(part) = inside(op) else { continue };
            let position = &mut events[part];
            if mark.is_return() {
                ret[op] = *position;
            } else {
                call[op] = *position;
            }
            *position += 1;
        }
        for (op, ret) in ret.iter_mut().enumerate() {
            if let Some(part) = inside(op) {
                *ret = (*ret).min(events[part]);
            }
        }
        Parts { names, ops, starts, call, ret, events }
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The part with that number.
    pub fn view<'a>(&'a self, log: &'a Log, part: usize) -> PartView<'a> {
        let (object, key) = &self.names[part];
        let ops = &self.ops[self.starts[part] as usize..self.starts[part + 1] as usize];
        let events = self.events[part];
        PartView { log, ops, events, object: *object, key, call: &self.call, ret: &self.ret }
    }
}

impl<'a> PartView<'a> {
    /// The name of the part, as evidence carries it.
    pub fn name(&self) -> Part {
        Part { object: self.log.name(self.object).to_owned(), key: self.key.clone() }
    }

    /// The call as recorded.
    pub fn recorded(&self, op: OpId) -> &'a Call {
        &self.log.history.operation(op).input
    }

    /// The result, if it returned.
    pub fn output(&self, op: OpId) -> Option<&'a Value> {
        self.log.history.operation(op).output()
    }

    /// Position of the call inside the part.
    pub fn call(&self, op: OpId) -> u32 {
        self.call[op.0 as usize]
    }

    /// Position of the return inside the part, the number of events while pending.
    pub fn ret(&self, op: OpId) -> u32 {
        self.ret[op.0 as usize]
    }

    /// Splits the part further, by what `key` answers for each call.
    pub fn split(&self, mut key: impl FnMut(&Call) -> Value) -> Parts {
        let mut names: Vec<(Symbol, Value)> = Vec::new();
        let mut by_key: HashMap<Value, u32, RandomState> = HashMap::default();
        let mut part_of = vec![u32::MAX; self.log.history.len()];
        for &op in self.ops {
            part_of[op.0 as usize] = *by_key.entry(key(self.recorded(op))).or_insert_with_key(|key| {
                names.push((self.object, key.clone()));
                names.len() as u32 - 1
            });
        }
        Parts::number(self.log.history.marks(), names, &part_of)
    }

    /// The part as a history of its own, its calls read by `read`.
    pub fn history<I, E>(&self, mut read: impl FnMut(OpId, &Call) -> Result<I, E>) -> Result<History<I, Value>, E> {
        let mut inputs = Vec::with_capacity(self.ops.len());
        for &op in self.ops {
            inputs.push(read(op, self.recorded(op))?);
        }
        let mut inputs = inputs.into_iter();
        let pending = self.ops.iter().any(|&op| self.output(op).is_none());
        let end = if pending { self.log.history.end() } else { End::Complete };
        Ok(self.log.history.project(self.ops, end, |_, operation| {
            (inputs.next().expect("one input an operation"), operation.output().cloned())
        }))
    }
}
