//! Times and spans that the fast algorithms for collections share.
//!
//! Events have positions 0, 1, 2 ...; *gap* g is the moment right after event g. An operation takes effect in one of the
//! gaps from its call to the one before its return. A value that is inserted by an operation that returns at `ir` and
//! removed by one that is called at `rc` is *certainly inside* in the gaps `ir..rc`.
//!
//! Several operations may take effect in one gap, in any order: that is why a value that leaves in a gap and one that
//! enters in the same gap need not meet.

use crate::OpId;
use crate::evidence::Stay;

/// Later than every position; also the number of an operation that does not exist.
pub(super) const NEVER: u32 = u32::MAX;

/// The insertion and removal of one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub insert: OpId,
    /// `OpId(NEVER)` when nothing removes the value.
    pub remove: OpId,
    /// Call of the insertion.
    pub ic: u32,
    /// Return of the insertion; the number of events while it is pending.
    pub ir: u32,
    /// Call of the removal, `NEVER` without one.
    pub rc: u32,
    /// Return of the removal, `NEVER` without one.
    pub rr: u32,
}

impl Span {
    pub fn is_removed(&self) -> bool {
        self.rc != NEVER
    }

    /// The first and last gap in which the insertion may take effect; it must do so before the removal has returned.
    pub fn insertion(&self) -> (u32, u32) {
        (self.ic, self.ir.min(self.rr) - 1)
    }

    /// The first and last gap in which the removal may take effect; it must do so after the insertion was called.
    pub fn removal(&self) -> (u32, u32) {
        (self.rc.max(self.ic), self.rr - 1)
    }

    /// Whether there is a gap in which the value is certainly inside.
    pub fn is_certain(&self) -> bool {
        self.ir < self.rc
    }

    pub fn stay(&self) -> Stay {
        Stay { insert: self.insert, remove: self.is_removed().then_some(self.remove) }
    }
}

/// For each gap, the last gap up to it in which no value is certainly inside (`NEVER` when there is none). O(n).
pub(super) fn last_uncovered(spans: &[Span], events: u32) -> Vec<u32> {
    let mut change = vec![0i32; events as usize + 1];
    for span in spans.iter().filter(|span| span.is_certain()) {
        change[span.ir as usize] += 1;
        change[span.rc.min(events) as usize] -= 1;
    }
    let (mut inside, mut last) = (0, NEVER);
    (0..events)
        .map(|gap| {
            inside += change[gap as usize];
            if inside == 0 {
                last = gap;
            }
            last
        })
        .collect()
}

/// The fewest spans that together are certainly inside in every gap of `first..=last`, in order of time. `None` when
/// some gap is not covered. O(n log n).
pub(super) fn cover<'a>(spans: impl Iterator<Item = &'a Span>, first: u32, last: u32) -> Option<Vec<Stay>> {
    let mut spans: Vec<&Span> = spans.filter(|span| span.is_certain() && span.ir <= last && span.rc > first).collect();
    spans.sort_unstable_by_key(|span| span.ir);
    let mut chain = Vec::new();
    let mut spans = spans.into_iter().peekable();
    let mut gap = first;
    while gap <= last {
        let mut reach: Option<&Span> = None;
        while let Some(span) = spans.next_if(|span| span.ir <= gap) {
            if reach.is_none_or(|reach| reach.rc < span.rc) {
                reach = Some(span);
            }
        }
        let reach = reach.filter(|reach| reach.rc > gap)?;
        chain.push(reach.stay());
        gap = reach.rc;
    }
    Some(chain)
}

/// Operations with the moments at which they take effect, to be put in order.
pub(super) struct Moments {
    moments: Vec<(u64, u32, OpId)>,
}

impl Moments {
    pub fn with_capacity(capacity: usize) -> Self {
        Moments { moments: Vec::with_capacity(capacity) }
    }

    /// An operation that takes effect in `gap`; inside a gap, by `group` and then by `rank`.
    pub fn push(&mut self, gap: u32, group: u32, rank: u32, op: OpId) {
        self.moments.push((u64::from(gap) << 32 | u64::from(group), rank, op));
    }

    /// The operations in order. O(n log n).
    pub fn into_order(mut self) -> Vec<OpId> {
        self.moments.sort_unstable();
        self.moments.into_iter().map(|(_, _, op)| op).collect()
    }
}
