//! Registers with distinct values, in O(n log n).
//!
//! After Gibbons & Korach (1997). A write and the reads of its value form a *cluster*. Let `hi` be the last gap in which
//! the operation of the cluster that returns first may take effect, and `lo` the gap after the call that comes last. If
//! hi < lo the register holds the value all the time between: a *forward* zone. Otherwise the whole cluster fits in
//! any one gap of lo..=hi: a *backward* zone. Linearizable exactly when no read comes out of thin air or too early, no
//! two forward zones overlap, and no backward zone lies strictly inside a forward one.

use super::numbers::Numbers;
use super::part::PartView;
use super::spans::{Moments, NEVER};
use super::{Unfit, read};
use crate::evidence::Violation;
use crate::object::{Kind, register};
use crate::{OpId, Value};

/// A write with the reads of its value. Gaps are counted from 1 here, so that 0 is before everything.
struct Cluster {
    /// `None` for the initial value.
    write: Option<OpId>,
    /// A read of the value, if there is one.
    read: Option<OpId>,
    /// The operation that returns first, `None` for the start of all time.
    first: Option<OpId>,
    /// The last gap in which that operation may take effect.
    hi: u32,
    /// The operation that is called last.
    last: Option<OpId>,
    /// The first gap in which that operation may take effect.
    lo: u32,
}

/// The operations of a part by value.
struct Clusters {
    /// The first is that of the initial value.
    clusters: Vec<Cluster>,
    /// The cluster of each operation of the part, `NEVER` for those that need not have happened.
    of: Vec<u32>,
}

impl Cluster {
    fn new(hi: u32) -> Self {
        Cluster { write: None, read: None, first: None, hi, last: None, lo: 0 }
    }

    /// Counts in the moments at which `op` may take effect.
    fn include(&mut self, part: &PartView<'_>, op: OpId) {
        if part.ret(op) < self.hi {
            (self.hi, self.first) = (part.ret(op), Some(op));
        }
        if part.call(op) + 1 > self.lo {
            (self.lo, self.last) = (part.call(op) + 1, Some(op));
        }
    }

    fn is_forward(&self) -> bool {
        self.hi < self.lo
    }
}

/// What became of a part.
pub(super) enum Answer {
    Order(Vec<OpId>),
    Violation(Violation),
    /// A value is written twice, or the initial value is written: the search must decide.
    Repeated,
}

/// Decides a register that starts with `initial`.
pub(super) fn check(
    object: &register::Register,
    kind: Kind,
    part: &PartView<'_>,
    initial: &Value,
) -> Result<Answer, Unfit> {
    let all = match clusters(object, kind, part, initial)? {
        Ok(clusters) => clusters,
        Err(answer) => return Ok(answer),
    };
    let zone = |i: u32| &all.clusters[i as usize];
    let (mut forward, mut backward): (Vec<u32>, Vec<u32>) =
        (0..all.clusters.len() as u32).partition(|&i| zone(i).is_forward());
    backward.retain(|&i| zone(i).last.is_some());
    forward.sort_unstable_by_key(|&i| zone(i).hi);
    for pair in forward.windows(2) {
        let (a, b) = (zone(pair[0]), zone(pair[1]));
        if b.hi < a.lo {
            return Ok(Answer::Violation(crossed(a, b)));
        }
    }
    let mut places = vec![0; all.clusters.len()];
    for &i in &backward {
        let b = zone(i);
        // Forward zones do not overlap, so only the last one that begins before `b` can contain it.
        let after = forward.partition_point(|&f| zone(f).hi < b.lo);
        let around = after.checked_sub(1).map(|f| zone(forward[f]));
        if let Some(a) = around.filter(|a| b.hi < a.lo) {
            return Ok(Answer::Violation(crossed(a, b)));
        }
        places[i as usize] = around.map_or(b.lo, |a| b.lo.max(a.lo));
    }
    Ok(Answer::Order(order(part, &all, &places)))
}

fn crossed(a: &Cluster, b: &Cluster) -> Violation {
    Violation::Crossed {
        first: a.first,
        last: a.last.expect("a forward zone has a last operation"),
        other_first: b.first,
        other_last: b.last.expect("a zone that crosses another has a last operation"),
    }
}

/// Groups the operations by value.
fn clusters(
    object: &register::Register,
    kind: Kind,
    part: &PartView<'_>,
    initial: &Value,
) -> Result<Result<Clusters, Answer>, Unfit> {
    let recorded = |&op: &OpId| match &part.recorded(op).argument {
        Value::Nil => part.output(op),
        argument => Some(argument),
    };
    let values = part.ops.iter().filter_map(recorded).chain([initial]);
    let mut numbers = Numbers::new(values, part.ops.len());
    let mut clusters = vec![Cluster::new(0)];
    numbers.get(initial, 0);
    let mut of = Vec::with_capacity(part.ops.len());
    for &op in part.ops {
        let is_write = matches!(read(object, kind, part.log, op)?, register::Input::Write(_));
        let value = if is_write { Some(&part.recorded(op).argument) } else { part.output(op) };
        let Some(value) = value else {
            // A pending read need not have happened.
            of.push(NEVER);
            continue;
        };
        let number = numbers.get(value, clusters.len() as u32);
        of.push(number);
        if number as usize == clusters.len() {
            clusters.push(Cluster::new(u32::MAX));
        }
        let cluster = &mut clusters[number as usize];
        cluster.include(part, op);
        if !is_write {
            cluster.read = Some(op);
        } else if number == 0 || cluster.write.replace(op).is_some() {
            return Ok(Err(Answer::Repeated));
        }
    }
    for cluster in &mut clusters[1..] {
        let Some(write) = cluster.write else {
            let operation = cluster.read.expect("a cluster has an operation");
            return Ok(Err(Answer::Violation(Violation::ThinAir { operation })));
        };
        if cluster.hi < part.call(write) {
            let operation = cluster.first.expect("an operation that returned");
            return Ok(Err(Answer::Violation(Violation::TooEarly { operation, insert: write })));
        }
        if cluster.read.is_none() && part.output(write).is_none() {
            // A pending write that nobody saw the effect of need not have had any.
            *cluster = Cluster::new(u32::MAX);
        }
    }
    for (&op, of) in part.ops.iter().zip(&mut of) {
        if *of != NEVER && clusters[*of as usize].last.is_none() {
            debug_assert!(part.output(op).is_none());
            *of = NEVER;
        }
    }
    Ok(Ok(Clusters { clusters, of }))
}

/// Each forward cluster from its `hi` to its `lo`, each backward one in the one gap of `places`.
fn order(part: &PartView<'_>, all: &Clusters, places: &[u32]) -> Vec<OpId> {
    // Inside one gap: a forward zone that ends there (or goes on), the backward zones, a forward zone that begins.
    const ENDING: u32 = 0;
    const BEGINNING: u32 = u32::MAX;
    let mut moments = Moments::with_capacity(part.ops.len());
    for (&op, &of) in part.ops.iter().zip(&all.of) {
        if of == NEVER {
            continue;
        }
        let cluster = &all.clusters[of as usize];
        let is_write = cluster.write == Some(op);
        let rank = if is_write { 0 } else { 1 };
        let (gap, group) = if !cluster.is_forward() {
            (places[of as usize], of + 1)
        } else if is_write {
            (cluster.hi, BEGINNING)
        } else {
            let gap = (part.call(op) + 1).max(cluster.hi);
            (gap, if gap == cluster.hi { BEGINNING } else { ENDING })
        };
        moments.push(gap, group, rank, op);
    }
    moments.into_order()
}
