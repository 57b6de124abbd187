//! Violations as they happen: exact rules that take one call or return at a time and forget what is over.
//!
//! Values are distinct: each is inserted (written) once. Stamps count events. For a queue these rules are exact: a finished run without an alarm,
//! in which nothing is pending, is linearizable. Each is O(1) or O(log present values) an event.
//!
//! | rule | alarm when | certain |
//! |---|---|---|
//! | inside | a value comes out that is not inside: never inserted, or taken out before | at that return |
//! | fifo | a removal was called after the removal of another value had returned that was inserted after this one was inside | at that return |
//! | lost | the same for a value that is still inside, once no removal is open that might yet be in time | when the last such removal returns |
//! | empty | at every moment of an empty answer some value was certainly inside | when the removals that were open meanwhile have returned |
//! | stale | a read was called after a write had returned that was called after this value's write had returned | at that return |
//! | permits | more acquisitions have returned than permits and releases that were called | at that return |
//!
//! Invariant: an alarm is a violation. Memory: one entry for each value inside, each open operation, each empty answer that is not decided
//! yet and each stay that one of those still needs. These last two grow while some removal stays open, so they are bounded by
//! [`WAITING_MAX`]: beyond it empty answers go unchecked, and [`QueueMonitor::unchecked`] counts them.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::representation::Misplaced;

/// How many empty answers, and how many stays, are kept for later.
pub const WAITING_MAX: usize = 1 << 14;

/// What a rule found. Operations have the numbers that they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alarm<V> {
    /// A value came out, or was read, that is not inside.
    NotInside {
        /// The removal or read.
        operation: u64,
        /// The value.
        value: V,
    },
    /// A value that came later left earlier.
    Overtaken {
        /// The value that came first.
        value: V,
        /// The one that overtook it.
        by: V,
    },
    /// An empty answer, though something was inside at every moment.
    NotEmpty {
        /// The removal that answered so.
        operation: u64,
    },
    /// A value was read that had been overwritten.
    Stale {
        /// The read.
        operation: u64,
        /// The value.
        value: V,
    },
    /// More was acquired than there was, or more released than was held.
    Permits {
        /// The operation whose return shows it.
        operation: u64,
    },
}

#[derive(Clone, Debug)]
struct Inside {
    insert_call: u64,
    /// `None` while the insertion is open.
    insert_ret: Option<u64>,
    /// An alarm was raised for it already.
    reported: bool,
}

#[derive(Clone, Debug)]
enum Open<V> {
    Insert(V),
    Remove {
        call: u64,
        /// The greatest call of an insertion over removals that had returned, and whose it was.
        latest: Option<(u64, V)>,
    },
}

#[derive(Clone, Debug)]
struct EmptyAnswer {
    operation: u64,
    call: u64,
    ret: u64,
}

/// Which order the values leave in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discipline {
    Fifo,
    /// Only what holds for every collection is checked.
    Any,
}

/// A collection that is watched: a queue, or any collection for the rules that hold for all.
#[derive(Clone, Debug)]
pub struct QueueMonitor<V> {
    discipline: Discipline,
    now: u64,
    inside: HashMap<V, Inside>,
    /// Values inside whose insertion has returned, by when.
    settled: BTreeMap<u64, V>,
    open: HashMap<u64, Open<V>>,
    /// Calls of open removals.
    removing: BTreeMap<u64, u64>,
    latest: Option<(u64, V)>,
    /// Certain presences that are over: from the return of the insertion to the call of the removal.
    stays: Vec<(u64, u64)>,
    waiting: Vec<EmptyAnswer>,
    unchecked: u64,
}

impl<V: Clone + Eq + Hash> QueueMonitor<V> {
    /// A queue in which nothing has happened.
    pub fn queue() -> Self {
        Self::new(Discipline::Fifo)
    }

    /// Any collection (a stack, a priority queue, a bag) in which nothing has happened: the rules *inside* and *empty* only.
    pub fn collection() -> Self {
        Self::new(Discipline::Any)
    }

    fn new(discipline: Discipline) -> Self {
        QueueMonitor {
            discipline,
            now: 0,
            inside: HashMap::new(),
            settled: BTreeMap::new(),
            open: HashMap::new(),
            removing: BTreeMap::new(),
            latest: None,
            stays: Vec::new(),
            waiting: Vec::new(),
            unchecked: 0,
        }
    }

    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    fn opened(&mut self, operation: u64, open: Open<V>) -> Result<(), Misplaced> {
        if self.open.contains_key(&operation) {
            return Err(Misplaced::CallWhileOpen(operation));
        }
        self.open.insert(operation, open);
        Ok(())
    }

    /// An insertion of the value is called.
    pub fn call_insert(&mut self, operation: u64, value: V) -> Result<(), Misplaced> {
        let insert_call = self.tick();
        self.opened(operation, Open::Insert(value.clone()))?;
        self.inside.insert(value, Inside { insert_call, insert_ret: None, reported: false });
        Ok(())
    }

    /// A removal is called.
    pub fn call_remove(&mut self, operation: u64) -> Result<(), Misplaced> {
        let call = self.tick();
        let latest = self.latest.clone();
        self.opened(operation, Open::Remove { call, latest })?;
        self.removing.insert(call, operation);
        Ok(())
    }

    /// An insertion returns.
    pub fn ret_insert(&mut self, operation: u64) -> Result<Vec<Alarm<V>>, Misplaced> {
        let now = self.tick();
        let Some(Open::Insert(value)) = self.open.remove(&operation) else {
            return Err(Misplaced::ReturnWithoutCall(operation));
        };
        // It may have come out before its insertion returned.
        if let Some(inside) = self.inside.get_mut(&value) {
            inside.insert_ret = Some(now);
            self.settled.insert(now, value);
        }
        Ok(Vec::new())
    }

    /// A removal returns with a value, or with none.
    pub fn ret_remove(&mut self, operation: u64, value: Option<V>) -> Result<Vec<Alarm<V>>, Misplaced> {
        let now = self.tick();
        let Some(Open::Remove { call, latest }) = self.open.remove(&operation) else {
            return Err(Misplaced::ReturnWithoutCall(operation));
        };
        self.removing.remove(&call);
        let mut alarms = Vec::new();
        match value {
            None if self.waiting.len() >= WAITING_MAX => self.unchecked += 1,
            None => self.waiting.push(EmptyAnswer { operation, call, ret: now }),
            Some(value) => match self.inside.remove(&value) {
                None => alarms.push(Alarm::NotInside { operation, value }),
                Some(stay) => self.left(&stay, call, latest, value, &mut alarms),
            },
        }
        self.find_lost(&mut alarms);
        self.decide_empty(&mut alarms);
        Ok(alarms)
    }

    /// A value left by a removal that was called at `call`.
    fn left(&mut self, stay: &Inside, call: u64, latest: Option<(u64, V)>, value: V, alarms: &mut Vec<Alarm<V>>) {
        if let Some(ret) = stay.insert_ret {
            self.settled.remove(&ret);
            if self.discipline == Discipline::Fifo && !stay.reported {
                let overtaker = latest.filter(|(inserted, _)| ret < *inserted);
                alarms.extend(overtaker.map(|(_, by)| Alarm::Overtaken { value: value.clone(), by }));
            }
            if ret < call {
                self.keep(ret, call);
            }
        }
        if self.latest.as_ref().is_none_or(|(inserted, _)| *inserted < stay.insert_call) {
            self.latest = Some((stay.insert_call, value));
        }
    }

    fn keep(&mut self, from: u64, to: u64) {
        let oldest = self.oldest_needed();
        self.stays.push((from, to));
        if self.stays.len() > WAITING_MAX {
            self.stays.retain(|(_, to)| *to > oldest);
            if self.stays.len() > WAITING_MAX {
                // A removal stays open for long: what is open now or waiting cannot be decided any more.
                self.unchecked += self.waiting.len() as u64;
                self.waiting.clear();
                self.stays.clear();
            }
        }
    }

    /// Before that moment nothing matters for an empty answer that is or may yet come.
    fn oldest_needed(&self) -> u64 {
        let open = self.removing.keys().next().copied().unwrap_or(u64::MAX);
        self.waiting.iter().map(|answer| answer.call).fold(open, u64::min)
    }

    /// Values that no removal can take out in time any more.
    fn find_lost(&mut self, alarms: &mut Vec<Alarm<V>>) {
        if self.discipline != Discipline::Fifo {
            return;
        }
        let latest = match self.removing.values().next().and_then(|operation| self.open.get(operation)) {
            Some(Open::Remove { latest, .. }) => latest.clone(),
            _ => self.latest.clone(),
        };
        let Some((inserted, by)) = latest else { return };
        while let Some(first) = self.settled.first_entry().filter(|first| *first.key() < inserted) {
            let value = first.remove();
            if let Some(inside) = self.inside.get_mut(&value) {
                inside.reported = true;
            }
            alarms.push(Alarm::Overtaken { value, by: by.clone() });
        }
    }

    /// Decides the empty answers for which every removal that might have been taking something out meanwhile has returned.
    fn decide_empty(&mut self, alarms: &mut Vec<Alarm<V>>) {
        let open = self.removing.keys().next().copied().unwrap_or(u64::MAX);
        let (ready, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|answer| answer.ret < open);
        self.waiting = waiting;
        for answer in ready {
            if self.is_covered(answer.call, answer.ret) {
                alarms.push(Alarm::NotEmpty { operation: answer.operation });
            }
        }
        let oldest = self.oldest_needed();
        if oldest == u64::MAX {
            self.stays.clear();
        } else if self.stays.len() > 64 && self.stays.len().is_power_of_two() {
            self.stays.retain(|(_, to)| *to > oldest);
        }
    }

    /// Whether at each moment from `from` to `to` some value was certainly inside.
    fn is_covered(&self, from: u64, to: u64) -> bool {
        // What was inserted earliest and is inside still covers everything from there on. A value that was reported is not among the settled
        // ones; it is inside all the same.
        let settled = self.settled.keys().next().copied();
        let reported = self.inside.values().filter(|inside| inside.reported).filter_map(|inside| inside.insert_ret);
        let still = settled.into_iter().chain(reported).min().unwrap_or(u64::MAX);
        let mut spans: Vec<(u64, u64)> =
            self.stays.iter().copied().filter(|(start, end)| *start < to && *end > from).collect();
        spans.push((still, u64::MAX));
        spans.sort_unstable();
        let mut reach = from;
        for (start, end) in spans {
            if start > reach {
                break;
            }
            reach = reach.max(end);
        }
        reach > to
    }

    /// How many values are inside.
    pub fn present(&self) -> usize {
        self.inside.len()
    }

    /// How many operations are open.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// How many empty answers could not be checked, because some removal stayed open for too long.
    pub fn unchecked(&self) -> u64 {
        self.unchecked
    }

    /// How many entries it holds in all.
    pub fn entries(&self) -> usize {
        self.inside.len() + self.open.len() + self.stays.len() + self.waiting.len()
    }
}

/// A register that is watched; each value is written once, and the initial one never.
#[derive(Clone, Debug)]
pub struct RegisterMonitor<V> {
    now: u64,
    /// Values that may still be read: when their write was called, and returned.
    written: HashMap<V, (u64, Option<u64>)>,
    writing: HashMap<u64, V>,
    /// Open reads: the greatest call of a write that had returned.
    reading: HashMap<u64, u64>,
    latest: u64,
    /// How many values there were when those that are over were last forgotten.
    swept: usize,
}

impl<V: Clone + Eq + Hash> RegisterMonitor<V> {
    /// A register that holds the initial value.
    pub fn new(initial: V) -> Self {
        let written = HashMap::from([(initial, (0, Some(0)))]);
        RegisterMonitor { now: 0, written, writing: HashMap::new(), reading: HashMap::new(), latest: 0, swept: 0 }
    }

    /// A write is called.
    pub fn call_write(&mut self, operation: u64, value: V) -> Result<(), Misplaced> {
        self.now += 1;
        if self.is_open(operation) {
            return Err(Misplaced::CallWhileOpen(operation));
        }
        self.written.insert(value.clone(), (self.now, None));
        self.writing.insert(operation, value);
        Ok(())
    }

    /// A write returns.
    pub fn ret_write(&mut self, operation: u64) -> Result<(), Misplaced> {
        self.now += 1;
        let value = self.writing.remove(&operation).ok_or(Misplaced::ReturnWithoutCall(operation))?;
        if let Some((call, ret)) = self.written.get_mut(&value) {
            *ret = Some(self.now);
            self.latest = self.latest.max(*call);
        }
        if self.written.len() > 2 * self.swept + 16 {
            self.forget();
        }
        Ok(())
    }

    /// A read is called.
    pub fn call_read(&mut self, operation: u64) -> Result<(), Misplaced> {
        self.now += 1;
        if self.is_open(operation) {
            return Err(Misplaced::CallWhileOpen(operation));
        }
        self.reading.insert(operation, self.latest);
        Ok(())
    }

    /// A read returns.
    pub fn ret_read(&mut self, operation: u64, value: V) -> Result<Option<Alarm<V>>, Misplaced> {
        self.now += 1;
        let latest = self.reading.remove(&operation).ok_or(Misplaced::ReturnWithoutCall(operation))?;
        Ok(match self.written.get(&value) {
            None => Some(Alarm::NotInside { operation, value }),
            Some((_, Some(ret))) if *ret < latest => Some(Alarm::Stale { operation, value }),
            Some(_) => None,
        })
    }

    fn is_open(&self, operation: u64) -> bool {
        self.writing.contains_key(&operation) || self.reading.contains_key(&operation)
    }

    /// Forgets values that no read may return any more: to read one later is to read what is not there.
    fn forget(&mut self) {
        let oldest = self.reading.values().copied().fold(self.latest, u64::min);
        self.written.retain(|_, (_, ret)| ret.is_none_or(|ret| ret >= oldest));
        self.swept = self.written.len();
    }

    /// How many entries it holds in all.
    pub fn entries(&self) -> usize {
        self.written.len() + self.writing.len() + self.reading.len()
    }
}

/// A lock or semaphore that is watched: four numbers. Acquisitions that were refused are not events here.
#[derive(Clone, Copy, Debug)]
pub struct PermitMonitor {
    permits: u64,
    /// Whether more may be released than was acquired.
    generous: bool,
    acquire_called: u64,
    acquired: u64,
    release_called: u64,
    released: u64,
}

impl PermitMonitor {
    /// A mutex: one permit, and only what was taken is given back.
    pub fn mutex() -> Self {
        PermitMonitor { permits: 1, generous: false, acquire_called: 0, acquired: 0, release_called: 0, released: 0 }
    }

    /// A semaphore with that many permits, to which more may be given back than were taken.
    pub fn semaphore(permits: u64) -> Self {
        PermitMonitor { permits, generous: true, ..Self::mutex() }
    }

    /// An acquisition is called.
    pub fn call_acquire(&mut self) {
        self.acquire_called += 1;
    }

    /// A release is called.
    pub fn call_release(&mut self) {
        self.release_called += 1;
    }

    /// An acquisition returns, having acquired.
    pub fn ret_acquire(&mut self, operation: u64) -> Option<Alarm<()>> {
        self.acquired += 1;
        (self.acquired > self.permits.saturating_add(self.release_called)).then_some(Alarm::Permits { operation })
    }

    /// An acquisition returns without having acquired.
    pub fn ret_refused(&mut self) {
        self.acquire_called = self.acquire_called.saturating_sub(1);
    }

    /// A release returns.
    pub fn ret_release(&mut self, operation: u64) -> Option<Alarm<()>> {
        self.released += 1;
        (!self.generous && self.released > self.acquire_called).then_some(Alarm::Permits { operation })
    }
}
