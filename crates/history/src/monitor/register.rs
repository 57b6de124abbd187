//! The rule for registers whose values are written once: exact, one event at a time.
//!
//! A write and the reads of its value are a *cluster*. The history is linearizable exactly when no read returns a value before its write is called
//! and no two clusters are each partly before the other: some operation of u returned before one of v was called, and the other way
//! round (the zones of Gibbons and Korach, without the case distinction). So of a cluster two numbers matter: its first return and its last call.
//!
//! Clusters whose first return is before their last call are *forward*: no two of those overlap, or they would cross. So of all that began before some moment only the last one can reach beyond it, and a
//! search looks at that one and at clusters whose first return is between the two numbers: of these it passes over none but those whose write was open at the first of them. O(log n + open writes) a read.
//!
//! Invariant: an alarm is a violation. A cluster is forgotten when to read its value is wrong for every read that is open or comes later;
//! of those forgotten the greatest call is kept. So as many are kept as operations overlap. A value written again while it is
//! kept is not checked until it is overwritten for certain; reads of it are counted ([`RegisterRule::unchecked`]).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::ops::Bound::Excluded;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::alarm::{Alarm, Rule, Shown, Span};

/// How many clusters are kept; beyond it what is read unknown is no alarm.
pub const CLUSTERS_MAX: usize = 1 << 16;

#[derive(Clone, Debug)]
struct Cluster {
    write: Span,
    first_ret: Option<u64>,
    last_call: u64,
    /// The read that was called last.
    read: Option<Span>,
    /// Writes of the value that are open.
    open: u32,
    /// Written again while it was kept; until when writes of it returned.
    repeated: Option<u64>,
}

/// A register that is watched.
#[derive(Clone, Debug)]
pub struct RegisterRule<V> {
    clusters: HashMap<V, Cluster, RandomState>,
    /// The values of clusters by their first returns, unless they are repeated.
    returned: BTreeMap<u64, V>,
    /// Of these the forward ones, with their last calls.
    forward: BTreeMap<u64, u64>,
    /// Open reads by their calls.
    reading: BTreeSet<u64>,
    forgotten: Option<(u64, V, Span)>,
    lenient: bool,
    sweep_at: usize,
    unchecked: u64,
    /// How many clusters were looked at.
    looks: u64,
}

impl<V: Clone + Eq + Hash> RegisterRule<V> {
    /// A register that holds the initial value.
    pub fn new(initial: V) -> Self {
        let write = Span { thread: u32::MAX, call: 0, ret: 0 };
        let first = Cluster { write, first_ret: Some(0), last_call: 0, read: None, open: 0, repeated: None };
        RegisterRule {
            returned: BTreeMap::from([(0, initial.clone())]),
            forward: BTreeMap::new(),
            clusters: [(initial, first)].into_iter().collect(),
            reading: BTreeSet::new(),
            forgotten: None,
            lenient: false,
            sweep_at: 16,
            unchecked: 0,
            looks: 0,
        }
    }

    /// A register that was written before: what is read and was never seen to be written is no alarm, and nobody knows what it holds.
    pub fn attach(&mut self) {
        self.lenient = true;
        self.clusters.clear();
        self.returned.clear();
        self.forward.clear();
    }

    /// Forgets what the register holds, because events were missed. A write that is open may take effect at any time from now on: reads of its value are not checked until it is overwritten for certain.
    pub fn start_over(&mut self) {
        (self.lenient, self.forgotten, self.unchecked) = (true, None, 0);
        self.returned.clear();
        self.forward.clear();
        self.clusters.retain(|_, cluster| {
            cluster.repeated.get_or_insert(cluster.write.ret);
            cluster.open > 0
        });
    }

    /// Records the end of a write that was called before the register started over.
    pub fn end_write_before(&mut self, at: u64, value: &V) {
        if let Some(cluster) = self.clusters.get_mut(value).filter(|cluster| cluster.repeated.is_some()) {
            cluster.open = cluster.open.saturating_sub(1);
            cluster.repeated = Some(at);
        }
    }

    /// Records that a write is called. Moments only ever grow, from 1.
    pub fn call_write(&mut self, at: u64, thread: u32, value: &V) {
        if let Some(cluster) = self.clusters.get_mut(value) {
            cluster.repeated.get_or_insert(cluster.write.ret);
            cluster.open += 1;
            self.unchecked += 1;
            let first_ret = cluster.first_ret;
            self.unlist(first_ret);
            return;
        }
        if self.clusters.len() >= CLUSTERS_MAX {
            self.lenient = true;
            self.unchecked += 1;
            return;
        }
        let write = Span { thread, call: at, ret: 0 };
        let new = Cluster { write, first_ret: None, last_call: at, read: None, open: 1, repeated: None };
        self.clusters.insert(value.clone(), new);
    }

    /// Records that a write that was called at `call` returns.
    pub fn ret_write(&mut self, at: u64, value: &V) {
        if let Some(cluster) = self.clusters.get_mut(value) {
            cluster.open = cluster.open.saturating_sub(1);
            match &mut cluster.repeated {
                Some(last) => *last = at,
                None => {
                    cluster.write.ret = at;
                    if cluster.first_ret.is_none() {
                        cluster.first_ret = Some(at);
                        self.returned.insert(at, value.clone());
                    }
                }
            }
        }
        self.sweep();
    }

    /// Records that a write did not happen.
    pub fn fail_write(&mut self, thread: u32, call: u64, value: &V, alarms: &mut Vec<Alarm<V>>) {
        let Some(cluster) = self.clusters.get_mut(value) else { return };
        cluster.open = cluster.open.saturating_sub(1);
        if cluster.repeated.is_some() {
            return;
        }
        if let Some(read) = cluster.read {
            let write = Shown::insert(value.clone(), Span { thread, call, ret: 0 });
            alarms.push(Alarm { rule: Rule::Stale, operations: vec![write, Shown::read(value.clone(), read)] });
        }
        let first_ret = self.clusters.remove(value).and_then(|cluster| cluster.first_ret);
        self.unlist(first_ret);
    }

    /// The cluster with this first return is not compared with others any more.
    fn unlist(&mut self, first_ret: Option<u64>) {
        if let Some(first_ret) = first_ret {
            self.returned.remove(&first_ret);
            self.forward.remove(&first_ret);
        }
    }

    /// Records that a read is called.
    pub fn call_read(&mut self, at: u64) {
        self.reading.insert(at);
    }

    /// Records that a read that was called at `call` did not happen, or that its result will never be known.
    pub fn drop_read(&mut self, call: u64) {
        self.reading.remove(&call);
    }

    /// Records that a read returns.
    pub fn ret_read(&mut self, read: Span, value: &V, alarms: &mut Vec<Alarm<V>>) {
        self.reading.remove(&read.call);
        let shown = Shown::read(value.clone(), read);
        let Some(cluster) = self.clusters.get_mut(value) else {
            if self.lenient {
                self.unchecked += 1;
                return;
            }
            let mut operations = vec![shown];
            if let Some((_, value, span)) = &self.forgotten {
                operations.push(Shown::insert(value.clone(), *span));
            }
            alarms.push(Alarm { rule: Rule::Stale, operations });
            return;
        };
        if cluster.repeated.is_some() {
            self.unchecked += 1;
            return;
        }
        let first_ret = cluster.first_ret.unwrap_or(read.ret);
        let (last_call, write) = (cluster.last_call.max(read.call), cluster.write);
        let by_forgotten = self.forgotten.as_ref().filter(|(call, ..)| *call > first_ret);
        let mut other = by_forgotten.map(|(_, value, span)| Shown::insert(value.clone(), *span));
        if other.is_none() {
            other = self.crossing(first_ret, last_call);
        }
        match other {
            // What is wrong does not count: the next read is judged as though this one had not been.
            Some(other) => {
                let write = Some(Shown::insert(value.clone(), write)).filter(|_| write.thread != u32::MAX);
                let operations = write.into_iter().chain([other, shown]).collect();
                alarms.push(Alarm { rule: Rule::Stale, operations });
            }
            None => {
                if let Some(cluster) = self.clusters.get_mut(value) {
                    cluster.first_ret = Some(first_ret);
                    cluster.last_call = last_call;
                    cluster.read = Some(read);
                    self.returned.entry(first_ret).or_insert_with(|| value.clone());
                    if first_ret < last_call {
                        self.forward.insert(first_ret, last_call);
                    }
                }
            }
        }
        self.sweep();
    }

    /// An operation of another cluster that crosses the one with these numbers.
    fn crossing(&mut self, first_ret: u64, last_call: u64) -> Option<Shown<V>> {
        let before = self.forward.range(..first_ret.min(last_call)).next_back();
        let before = before.filter(|(_, reaches)| **reaches > first_ret).map(|(first, _)| *first);
        self.looks += 1;
        let mut found = before.and_then(|first| self.returned.get(&first));
        if found.is_none() && first_ret < last_call {
            for (_, other) in self.returned.range((Excluded(first_ret), Excluded(last_call))) {
                self.looks += 1;
                if self.clusters[other].last_call > first_ret {
                    found = Some(other);
                    break;
                }
            }
        }
        let other = found?;
        let cluster = &self.clusters[other];
        Some(match cluster.read {
            Some(read) if cluster.write.ret == 0 || read.call == cluster.last_call => Shown::read(other.clone(), read),
            _ => Shown::insert(other.clone(), cluster.write),
        })
    }

    /// Forgets clusters that no read may return any more.
    fn sweep(&mut self) {
        if self.clusters.len() < self.sweep_at {
            return;
        }
        self.looks += self.clusters.len() as u64;
        let oldest = self.reading.first().copied().unwrap_or(u64::MAX);
        let seen = |cluster: &Cluster| cluster.repeated.is_none() && cluster.first_ret.is_some_and(|ret| ret < oldest);
        // The two greatest last calls, so that none is compared with itself; and the greatest call of a write.
        let (mut first, mut second, mut written) = (0, 0, 0);
        for cluster in self.clusters.values().filter(|cluster| seen(cluster)) {
            let call = cluster.last_call;
            (first, second) = if call > first { (call, first) } else { (first, second.max(call)) };
            written = written.max(cluster.write.call);
        }
        let mut forgotten = self.forgotten.take();
        self.clusters.retain(|value, cluster| {
            if let Some(last) = cluster.repeated {
                return cluster.open > 0 || last >= written;
            }
            let other = if cluster.last_call == first { second } else { first };
            let over = cluster.open == 0 && cluster.first_ret.is_some_and(|ret| ret < other && ret < oldest);
            if over && forgotten.as_ref().is_none_or(|(call, ..)| *call < cluster.last_call) {
                forgotten = Some((cluster.last_call, value.clone(), cluster.write));
            }
            if over && let Some(first_ret) = cluster.first_ret {
                self.returned.remove(&first_ret);
                self.forward.remove(&first_ret);
            }
            !over
        });
        self.forgotten = forgotten;
        self.sweep_at = (2 * self.clusters.len()).max(16);
    }

    /// How many reads and writes could not be checked in full.
    pub fn unchecked(&self) -> u64 {
        self.unchecked
    }

    /// How many clusters were looked at so far: what its time depends on.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// How many entries the rule holds in memory.
    pub fn entries(&self) -> usize {
        self.clusters.len() + self.returned.len() + self.forward.len() + self.reading.len()
    }
}
