//! Bags with distinct values, in O(n log n): any order will do, so only "empty" answers can go wrong.
//!
//! Each value is inserted as late and removed as early as its operations allow, so that it is inside only when it
//! certainly is; every "empty" then needs a gap in which nothing is certainly inside.

use super::collection::Collection;
use super::spans::{Moments, NEVER, cover, last_uncovered};
use crate::OpId;
use crate::evidence::Violation;

/// The order in which the operations may have taken effect, or why there is none.
pub(super) fn linearize(collection: &Collection<'_>) -> Result<Vec<OpId>, Violation> {
    let uncovered = last_uncovered(&collection.spans, collection.events);
    let mut moments = Moments::with_capacity(2 * collection.spans.len() + collection.empties.len());
    for (rank, span) in collection.spans.iter().enumerate() {
        let rank = rank as u32;
        let (_, latest) = span.insertion();
        if !span.is_removed() {
            moments.push(latest, 3, rank, span.insert);
            continue;
        }
        let (earliest, _) = span.removal();
        if latest < earliest {
            moments.push(latest, 3, rank, span.insert);
            moments.push(earliest, 0, rank, span.remove);
        } else {
            // It may come and go in one gap.
            moments.push(earliest, 1, 2 * rank, span.insert);
            moments.push(earliest, 1, 2 * rank + 1, span.remove);
        }
    }
    for (rank, empty) in collection.empties.iter().enumerate() {
        let gap = uncovered[empty.last as usize];
        if gap == NEVER || gap < empty.first {
            let inside = cover(collection.spans.iter(), empty.first, empty.last).expect("every gap is covered");
            return Err(Violation::NotEmpty { operation: empty.op, inside });
        }
        moments.push(gap, 2, rank as u32, empty.op);
    }
    Ok(moments.into_order())
}
