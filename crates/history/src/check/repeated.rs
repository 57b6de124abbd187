//! Values that were put in more than once: which removal took out which insertion.
//!
//! Let no two insertions of a value be nested (one called first and returning last), nor two of its removals. Then in a
//! queue, a priority queue or a bag the k-th removal takes out what the k-th insertion put in, in the order of
//! calls: two operations that do the same and stand the wrong way round can change places, since each fits at the other's
//! moment, and equal values leave a queue in the order in which they came and leave the others in any. So such values
//! are as good as distinct ones. Otherwise, in a stack, or while a removal is pending, a pairing is a guess: an order found for it is an order, and
//! none found says nothing.

use super::part::PartView;
use super::spans::{NEVER, Span};
use crate::OpId;
use crate::evidence::Violation;

/// The insertions and removals of one value, in the order of calls.
#[derive(Default)]
pub(super) struct Repeated {
    pub inserts: Vec<OpId>,
    pub removes: Vec<OpId>,
}

/// What became of the operations of one value.
pub(super) enum Paired {
    /// As good as distinct values.
    Certain(Vec<Span>),
    /// One of several ways.
    Guessed(Vec<Span>),
    /// No way at all.
    Violation(Violation),
}

impl Repeated {
    /// Pairs insertions with removals, in the order in which they came or (`fifo` not set) in the opposite. With removals
    /// pending somewhere in the part nobody can count the removals of a value, and every pairing is a guess.
    pub fn pair(mut self, part: &PartView<'_>, fifo: bool, pending_removals: bool) -> Paired {
        if self.removes.len() > self.inserts.len() {
            return Paired::Violation(Violation::RemovedTooOften { inserts: self.inserts, removes: self.removes });
        }
        let nested = |ops: &[OpId]| !ops.is_sorted_by_key(|&op| part.ret(op));
        if fifo && !pending_removals && !nested(&self.inserts) && !nested(&self.removes) {
            let early =
                self.inserts.iter().zip(&self.removes).find(|&(&insert, &remove)| part.ret(remove) < part.call(insert));
            return match early {
                Some((&insert, &operation)) => Paired::Violation(Violation::TooEarly { operation, insert }),
                None => Paired::Certain(self.spans(part)),
            };
        }
        if fifo {
            let middle = |op: &OpId| u64::from(part.call(*op)) + u64::from(part.ret(*op));
            self.inserts.sort_by_key(middle);
            self.removes.sort_by_key(middle);
        } else {
            self.match_latest(part);
        }
        Paired::Guessed(self.spans(part))
    }

    /// Lets each removal, in the order of returns, take out the insertion called last before it was called, or else the
    /// first one called after.
    fn match_latest(&mut self, part: &PartView<'_>) {
        self.removes.sort_by_key(|&op| part.ret(op));
        let mut free = std::mem::take(&mut self.inserts);
        for &remove in &self.removes {
            let later = free.partition_point(|&insert| part.call(insert) < part.call(remove));
            self.inserts.push(free.remove(later.saturating_sub(1)));
        }
        self.inserts.append(&mut free);
    }

    fn spans(&self, part: &PartView<'_>) -> Vec<Span> {
        let mut spans = Vec::with_capacity(self.inserts.len());
        for (i, &insert) in self.inserts.iter().enumerate() {
            let (ic, ir) = (part.call(insert), part.ret(insert));
            match self.removes.get(i) {
                Some(&remove) => {
                    spans.push(Span { insert, remove, ic, ir, rc: part.call(remove), rr: part.ret(remove) });
                }
                // A pending insertion that nobody saw the effect of need not have had any.
                None if part.output(insert).is_none() => {}
                None => spans.push(Span { insert, remove: OpId(NEVER), ic, ir, rc: NEVER, rr: NEVER }),
            }
        }
        spans
    }
}
