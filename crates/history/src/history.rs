//! The one history type: who called what, when it returned, in one order of events.
//!
//! Invariant of a [`History`]: operations are numbered in the order of their calls; every position from 0 to the
//! number of events holds exactly one call or return; an operation's return stands after its call; the operations of
//! one thread do not overlap, except that a thread may go on after one of its operations crashed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// An operation, numbered from 0 in the order of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpId(pub u32);

/// A thread (process, client), numbered from 0 in the order of first calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// How a history ended. Pending calls mean different things in the last two; they are never merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Every call returned.
    Complete,
    /// Nothing more can happen: deadlock, livelock, lost wake-up. What is pending blocks.
    Stuck,
    /// Recording stopped, or a process crashed. What is pending may have taken effect or not.
    Truncated,
}

/// One event of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event<I, O> {
    /// Records that an operation is called.
    Call {
        /// Who calls.
        thread: ThreadId,
        /// What is called.
        input: I,
    },
    /// The operation that is open on the thread ends.
    Return {
        /// Whose operation.
        thread: ThreadId,
        /// With what result.
        output: O,
    },
}

/// A call or return inside a history, four bytes wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(u32);

impl Mark {
    /// The mark of an operation's call.
    pub fn call(op: OpId) -> Self {
        Mark(op.0 << 1)
    }

    /// The mark of an operation's return.
    pub fn ret(op: OpId) -> Self {
        Mark(op.0 << 1 | 1)
    }

    /// The operation that is called or returns.
    pub fn op(self) -> OpId {
        OpId(self.0 >> 1)
    }

    /// Whether the mark is a return.
    pub fn is_return(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The end of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Return<O> {
    /// The position of the return among the events.
    pub at: u32,
    /// The result.
    pub output: O,
}

/// A call with its return, if it returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<I, O> {
    /// What was called.
    pub input: I,
    /// Who called.
    pub thread: ThreadId,
    /// The position of the call among the events.
    pub call: u32,
    /// The return; `None` while pending.
    pub ret: Option<Return<O>>,
}

impl<I, O> Operation<I, O> {
    /// Position of the return, past every event when there is none.
    pub fn end(&self) -> u32 {
        self.ret.as_ref().map_or(u32::MAX, |ret| ret.at)
    }

    /// The result, if it returned.
    pub fn output(&self) -> Option<&O> {
        self.ret.as_ref().map(|ret| &ret.output)
    }

    /// Whether this operation returned before the other was called.
    pub fn precedes<J, P>(&self, other: &Operation<J, P>) -> bool {
        self.end() < other.call
    }
}

/// A well-formed sequence of calls and returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History<I, O> {
    operations: Vec<Operation<I, O>>,
    marks: Vec<Mark>,
    end: End,
}

/// Why a sequence of events is not a history.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IllFormed {
    /// A call on a thread whose previous operation, the one named, has not returned.
    CallWhileOpen(ThreadId, OpId),
    /// A return on a thread that has no open call.
    ReturnWithoutCall(ThreadId),
    /// It is said to be complete, and the operation named never returned.
    NotComplete(OpId),
    /// It is said to be stuck, and every operation returned.
    NothingPending,
    /// An operation that ends before it starts.
    EndsBeforeStart,
    /// More than 2³¹ - 1 operations.
    TooLong,
}

impl fmt::Display for IllFormed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IllFormed::CallWhileOpen(..) => f.write_str("a call on a thread whose previous operation has not returned"),
            IllFormed::ReturnWithoutCall(_) => f.write_str("a return on a thread that has no open call"),
            IllFormed::NotComplete(op) => {
                write!(f, "the history is said to be complete, but operation {} never returned", op.0)
            }
            IllFormed::NothingPending => f.write_str("the history is said to be stuck, but every operation returned"),
            IllFormed::EndsBeforeStart => f.write_str("an operation ends before it starts"),
            IllFormed::TooLong => f.write_str("more operations than a history can hold (2^31 - 1)"),
        }
    }
}

impl std::error::Error for IllFormed {}

impl<I, O> History<I, O> {
    /// Makes a history of events in their order.
    pub fn new(events: impl IntoIterator<Item = Event<I, O>>, end: End) -> Result<Self, IllFormed> {
        let mut recorder = Recorder::new();
        for event in events {
            match event {
                Event::Call { thread, input } => recorder.call(thread, input)?,
                Event::Return { thread, output } => recorder.ret(thread, output)?,
            };
        }
        recorder.finish(Some(end))
    }

    /// The operations, in the order of their calls.
    pub fn operations(&self) -> &[Operation<I, O>] {
        &self.operations
    }

    /// The events in their order.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Whether nothing in it can be right or wrong: no operation returned, and none is said to be stuck. Any object at all
    /// explains such a history.
    pub fn says_nothing(&self) -> bool {
        self.pending() == self.len() && (self.is_empty() || self.end != End::Stuck)
    }

    /// How the history ended.
    pub fn end(&self) -> End {
        self.end
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is no operation at all.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// How many operations never returned.
    pub fn pending(&self) -> usize {
        2 * self.operations.len() - self.marks.len()
    }

    /// The operation with that number.
    pub fn operation(&self, op: OpId) -> &Operation<I, O> {
        &self.operations[op.0 as usize]
    }

    /// The history of the first `events` events: operations that return later are pending in it.
    pub fn prefix(&self, events: usize) -> History<I, O>
    where
        I: Clone,
        O: Clone,
    {
        let marks = self.marks[..events].to_vec();
        let operations = self
            .operations
            .iter()
            .take_while(|op| (op.call as usize) < events)
            .map(|op| Operation {
                input: op.input.clone(),
                thread: op.thread,
                call: op.call,
                ret: op.ret.clone().filter(|ret| (ret.at as usize) < events),
            })
            .collect::<Vec<_>>();
        let end = if 2 * operations.len() == marks.len() { End::Complete } else { End::Truncated };
        History { operations, marks, end }
    }

    /// The history of a subset of the operations (given in ascending order), each mapped by `map`; positions are
    /// numbered afresh. Linear in the number of its own events times the logarithm of it.
    pub fn project<J, P>(
        &self,
        ops: &[OpId],
        end: End,
        mut map: impl FnMut(OpId, &Operation<I, O>) -> (J, Option<P>),
    ) -> History<J, P> {
        let mut positions = Vec::with_capacity(2 * ops.len());
        let mut operations = Vec::with_capacity(ops.len());
        for (new, &old) in ops.iter().enumerate() {
            let operation = self.operation(old);
            let new = OpId(new as u32);
            let (input, output) = map(old, operation);
            positions.push((operation.call, Mark::call(new)));
            if output.is_some() {
                positions.push((operation.end(), Mark::ret(new)));
            }
            let ret = output.map(|output| Return { at: 0, output });
            operations.push(Operation { input, thread: operation.thread, call: 0, ret });
        }
        let marks = in_order(positions);
        number(&mut operations, &marks);
        History { operations, marks, end }
    }
}

/// Marks by their positions. Not part of [`History::project`], so that it is compiled once and not for every kind of history.
fn in_order(mut positions: Vec<(u32, Mark)>) -> Vec<Mark> {
    positions.sort_unstable_by_key(|&(position, _)| position);
    positions.into_iter().map(|(_, mark)| mark).collect()
}

/// Writes the positions in `marks` into the operations.
fn number<I, O>(operations: &mut [Operation<I, O>], marks: &[Mark]) {
    for (position, mark) in marks.iter().enumerate() {
        let operation = &mut operations[mark.op().0 as usize];
        if !mark.is_return() {
            operation.call = position as u32;
        } else if let Some(ret) = &mut operation.ret {
            ret.at = position as u32;
        }
    }
}

/// Builds a history event by event.
#[derive(Clone, Debug)]
pub struct Recorder<I, O> {
    operations: Vec<Operation<I, O>>,
    marks: Vec<Mark>,
    /// The open operation of each thread.
    open: Vec<Option<OpId>>,
    /// Operations that turned out not to have happened.
    dropped: Vec<OpId>,
}

impl<I, O> Default for Recorder<I, O> {
    fn default() -> Self {
        Recorder { operations: Vec::new(), marks: Vec::new(), open: Vec::new(), dropped: Vec::new() }
    }
}

impl<I, O> Recorder<I, O> {
    /// A recorder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that an operation is called.
    pub fn call(&mut self, thread: ThreadId, input: I) -> Result<OpId, IllFormed> {
        let op = OpId(self.operations.len() as u32);
        if op.0 >= u32::MAX >> 1 {
            return Err(IllFormed::TooLong);
        }
        let index = thread.0 as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, None);
        }
        if let Some(open) = self.open[index] {
            return Err(IllFormed::CallWhileOpen(thread, open));
        }
        self.open[index] = Some(op);
        let call = self.marks.len() as u32;
        self.operations.push(Operation { input, thread, call, ret: None });
        self.marks.push(Mark::call(op));
        Ok(op)
    }

    /// Records that the open operation of the thread returns.
    pub fn ret(&mut self, thread: ThreadId, output: O) -> Result<OpId, IllFormed> {
        let op = self.close(thread)?;
        let at = self.marks.len() as u32;
        self.operations[op.0 as usize].ret = Some(Return { at, output });
        self.marks.push(Mark::ret(op));
        Ok(op)
    }

    /// Records that the open operation of the thread did not happen.
    pub fn fail(&mut self, thread: ThreadId) -> Result<OpId, IllFormed> {
        let op = self.close(thread)?;
        self.dropped.push(op);
        Ok(op)
    }

    /// Records that the open operation of the thread will never return, though it may take effect at any later time.
    pub fn crash(&mut self, thread: ThreadId) -> Result<OpId, IllFormed> {
        self.close(thread)
    }

    fn close(&mut self, thread: ThreadId) -> Result<OpId, IllFormed> {
        self.open.get_mut(thread.0 as usize).and_then(Option::take).ok_or(IllFormed::ReturnWithoutCall(thread))
    }

    /// The operation that is open on the thread.
    pub fn open(&self, thread: ThreadId) -> Option<OpId> {
        self.open.get(thread.0 as usize).copied().flatten()
    }

    /// The operation with that number, as far as it is known.
    pub fn operation(&self, op: OpId) -> &Operation<I, O> {
        &self.operations[op.0 as usize]
    }

    /// How many operations were called, the failed ones included.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether nothing was called.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The operations that failed, in the order in which they did.
    pub fn dropped(&self) -> &[OpId] {
        &self.dropped
    }

    /// The history of all that was recorded, without the failed operations. Without an `end`, pending operations make
    /// it truncated.
    pub fn finish(mut self, end: Option<End>) -> Result<History<I, O>, IllFormed> {
        if !self.dropped.is_empty() {
            self.drop_failed();
        }
        let pending = self.operations.iter().position(|op| op.ret.is_none());
        let end = match (end, pending) {
            (Some(End::Complete), Some(op)) => return Err(IllFormed::NotComplete(OpId(op as u32))),
            (Some(End::Stuck), None) => return Err(IllFormed::NothingPending),
            (Some(end), _) => end,
            (None, Some(_)) => End::Truncated,
            (None, None) => End::Complete,
        };
        Ok(History { operations: self.operations, marks: self.marks, end })
    }

    fn drop_failed(&mut self) {
        let mut new_ids = vec![0u32; self.operations.len()];
        for op in &self.dropped {
            new_ids[op.0 as usize] = u32::MAX;
        }
        for (next, id) in new_ids.iter_mut().filter(|id| **id != u32::MAX).enumerate() {
            *id = next as u32;
        }
        let mut ids = new_ids.iter();
        self.operations.retain(|_| *ids.next().expect("one id an operation") != u32::MAX);
        self.marks.retain_mut(|mark| {
            let new = new_ids[mark.op().0 as usize];
            *mark = if mark.is_return() { Mark::ret(OpId(new)) } else { Mark::call(OpId(new)) };
            new != u32::MAX
        });
        number(&mut self.operations, &self.marks);
    }
}

/// An operation known by the times of its call and return.
#[derive(Clone, Debug)]
pub struct Interval<I, O> {
    /// What was called.
    pub input: I,
    /// Who called.
    pub thread: ThreadId,
    /// When it was called.
    pub start: i64,
    /// When it returned and with what, if it did.
    pub end: Option<(i64, O)>,
}

/// Whether operations overlap whose times touch: one returned at the very time at which the other was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Touching {
    /// Intervals are closed: such operations overlap.
    #[default]
    Overlap,
    /// Intervals are half-open, without their end: the one that returned precedes the other. An operation that was called
    /// and returned at one time stands between what returned and what was called then, and overlaps others like it.
    Precede,
}

impl Touching {
    /// The place of a call or a return among the events of the same time.
    fn rank(self, is_return: bool, instant: bool) -> u8 {
        match (self, is_return, instant) {
            (Touching::Overlap, false, _) => 0,
            (Touching::Overlap, true, _) => 1,
            (Touching::Precede, true, false) => 0,
            (Touching::Precede, false, true) => 1,
            (Touching::Precede, true, true) => 2,
            (Touching::Precede, false, false) => 3,
        }
    }
}

impl<I, O> History<I, O> {
    /// Makes a history of operations with times. Also gives, for each operation of the history, the index of the interval
    /// it came from. O(n log n), linear when times are dense.
    pub fn from_intervals(intervals: Vec<Interval<I, O>>, touching: Touching) -> Result<(Self, Vec<u32>), IllFormed> {
        if intervals.len() >= (u32::MAX >> 1) as usize {
            return Err(IllFormed::TooLong);
        }
        let mut times = Vec::with_capacity(2 * intervals.len());
        for (i, interval) in intervals.iter().enumerate() {
            let mark = OpId(i as u32);
            let end = interval.end.as_ref().map(|&(end, _)| end);
            let instant = end == Some(interval.start);
            times.push((interval.start, touching.rank(false, instant), Mark::call(mark)));
            if let Some(end) = end {
                if end < interval.start {
                    return Err(IllFormed::EndsBeforeStart);
                }
                times.push((end, touching.rank(true, instant), Mark::ret(mark)));
            }
        }
        sort_by_time(&mut times);
        let mut new_ids = vec![0u32; intervals.len()];
        let mut origin = Vec::with_capacity(intervals.len());
        let mut marks = Vec::with_capacity(times.len());
        for (_, _, mark) in times {
            let old = mark.op().0;
            if mark.is_return() {
                marks.push(Mark::ret(OpId(new_ids[old as usize])));
            } else {
                let new = origin.len() as u32;
                new_ids[old as usize] = new;
                origin.push(old);
                marks.push(Mark::call(OpId(new)));
            }
        }
        let mut intervals: Vec<Option<Interval<I, O>>> = intervals.into_iter().map(Some).collect();
        let mut operations: Vec<Operation<I, O>> = origin
            .iter()
            .map(|&old| {
                let interval = intervals[old as usize].take().expect("each interval once");
                let ret = interval.end.map(|(_, output)| Return { at: 0, output });
                Operation { input: interval.input, thread: interval.thread, call: 0, ret }
            })
            .collect();
        number(&mut operations, &marks);
        let end = if 2 * operations.len() == marks.len() { End::Complete } else { End::Truncated };
        Ok((History { operations, marks, end }, origin))
    }

    /// Gives each operation the lowest thread that is idle when it is called, whatever thread it had; answers how many
    /// threads there are. O(n log n).
    pub(crate) fn assign_threads(&mut self) -> u32 {
        let mut idle: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
        let mut threads = 0;
        for mark in &self.marks {
            let operation = &mut self.operations[mark.op().0 as usize];
            if mark.is_return() {
                idle.push(Reverse(operation.thread.0));
                continue;
            }
            let thread = idle.pop().map_or(threads, |Reverse(thread)| thread);
            threads = threads.max(thread + 1);
            operation.thread = ThreadId(thread);
        }
        threads
    }
}

/// Sorts by time and by rank at equal times, else in the order given.
fn sort_by_time(times: &mut Vec<(i64, u8, Mark)>) {
    const RANKS: usize = 4;
    let (Some(low), Some(high)) = (times.iter().map(|t| t.0).min(), times.iter().map(|t| t.0).max()) else {
        return;
    };
    let span = high.abs_diff(low);
    if span >= 4 * times.len() as u64 {
        times.sort_by_key(|&(time, rank, _)| (time, rank));
        return;
    }
    let key = |&(time, rank, _): &(i64, u8, Mark)| RANKS * time.abs_diff(low) as usize + usize::from(rank);
    let mut starts = vec![0u32; RANKS * (span as usize + 1) + 1];
    for time in times.iter() {
        starts[key(time) + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut sorted = vec![(0, 0, Mark(0)); times.len()];
    for time in times.iter() {
        let place = &mut starts[key(time)];
        sorted[*place as usize] = *time;
        *place += 1;
    }
    *times = sorted;
}

#[cfg(test)]
mod tests;
