//! A small set of operations that have no order by themselves, whatever the pending removals among them took.
//!
//! Dropping all operations on a value, or an "empty", keeps an order an order. So a few values without an order are reason enough,
//! with the pending removals that are called first, as many as there are open values among them. Such values are looked for in
//! windows of time, small ones first, and then left out in groups as long as no order comes of it.

use super::super::collection::{Collection, Empty, Removal};
use super::super::spans::{NEVER, Span};
use super::Discipline;
use crate::{Budget, Limit, OpId};

/// Looking for smaller sets ends when so many values were looked at for each one that there is.
const WORK: usize = 60;
/// And so many more.
const WORK_MORE: usize = 2_000_000;

/// The values of a window of time that is looked at first.
const WINDOW: usize = 32;

/// A value or an "empty", by its number.
#[derive(Clone, Copy)]
enum Item {
    Span(u32),
    Empty(u32),
}

struct Finder<'c, 'a> {
    collection: &'c Collection<'a>,
    discipline: Discipline,
    budget: &'c Budget,
    work: usize,
}

/// Operations without an order. There must be none for the whole. When the budget is spent, they are as few as were found by then.
pub(super) fn find(collection: &Collection<'_>, discipline: Discipline, budget: &Budget) -> Vec<OpId> {
    let spans = (0..collection.spans.len() as u32).map(|i| (collection.spans[i as usize].ic, Item::Span(i)));
    let empties = (0..collection.empties.len() as u32).map(|i| (collection.empties[i as usize].first, Item::Empty(i)));
    let mut all: Vec<(u32, Item)> = spans.chain(empties).collect();
    all.sort_unstable_by_key(|&(at, _)| at);
    let mut items: Vec<Item> = all.into_iter().map(|(_, item)| item).collect();
    let work = WORK * items.len() + WORK_MORE;
    let mut finder = Finder { collection, discipline, budget, work };
    // A spent budget leaves the items as they are.
    let _ = finder.window(&mut items).and_then(|()| finder.leave_out(&mut items));
    finder.operations(&items)
}

impl Finder<'_, '_> {
    /// Leaves only the first of the smallest windows that has no order.
    fn window(&mut self, items: &mut Vec<Item>) -> Result<(), Limit> {
        let mut width = WINDOW;
        while width < items.len() {
            for start in (0..items.len()).step_by(width / 2) {
                let window = &items[start..(start + width).min(items.len())];
                if self.fails(window)? {
                    *items = window.to_vec();
                    return Ok(());
                }
            }
            width *= 8;
        }
        Ok(())
    }

    /// Leaves out groups of items, ever smaller ones, as long as what remains has no order.
    fn leave_out(&mut self, items: &mut Vec<Item>) -> Result<(), Limit> {
        let mut group = items.len().div_ceil(2);
        while group > 0 {
            let before = items.len();
            let mut start = 0;
            while start < items.len() && self.work > 0 {
                let fewer: Vec<Item> = items
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| !(start..start + group).contains(i))
                    .map(|(_, &item)| item)
                    .collect();
                if self.fails(&fewer)? {
                    *items = fewer;
                } else {
                    start += group;
                }
            }
            // Single ones until none can be left out: what was needed before may not be any more.
            group = if group == 1 && items.len() < before && self.work > 0 { 1 } else { group / 2 };
        }
        Ok(())
    }

    fn fails(&mut self, items: &[Item]) -> Result<bool, Limit> {
        self.work = self.work.saturating_sub(items.len());
        let part = self.restricted(items);
        Ok(!self.discipline.has_order(&part, self.budget)?)
    }

    /// The pending removals that these items need: no more than there are open values.
    fn removals(&self, items: &[Item]) -> &[Removal] {
        let spans = &self.collection.spans;
        let open = items.iter().filter(|item| matches!(item, Item::Span(i) if !spans[*i as usize].is_removed()));
        &self.collection.pending[..open.count().min(self.collection.pending.len())]
    }

    /// The collection of these items alone, its events numbered anew.
    fn restricted(&self, items: &[Item]) -> Collection<'_> {
        let collection = self.collection;
        let removals = self.removals(items);
        let mut places: Vec<u32> = removals.iter().map(|removal| removal.call).collect();
        for item in items {
            match item {
                Item::Span(i) => {
                    let Span { ic, ir, rc, rr, .. } = collection.spans[*i as usize];
                    places.extend([ic, ir, rc, rr].into_iter().filter(|&at| at < collection.events));
                }
                Item::Empty(i) => {
                    let Empty { first, last, .. } = collection.empties[*i as usize];
                    places.extend([first, last + 1]);
                }
            }
        }
        places.sort_unstable();
        let events = places.len() as u32;
        let number = |at: u32| match at {
            NEVER => NEVER,
            at => places.partition_point(|&place| place < at) as u32,
        };
        let mut part = Collection { events, observed: false, ..Collection::default() };
        for item in items {
            match item {
                Item::Span(i) => {
                    let span = collection.spans[*i as usize];
                    let (ic, ir, rc, rr) = (number(span.ic), number(span.ir), number(span.rc), number(span.rr));
                    part.spans.push(Span { ic, ir, rc, rr, ..span });
                    part.values.push(collection.values[*i as usize]);
                }
                Item::Empty(i) => {
                    let empty = collection.empties[*i as usize];
                    part.empties.push(Empty {
                        op: empty.op,
                        first: number(empty.first),
                        last: number(empty.last + 1) - 1,
                    });
                }
            }
        }
        part.certain = part.spans.len();
        part.pending = removals.iter().map(|removal| Removal { op: removal.op, call: number(removal.call) }).collect();
        part
    }

    /// All operations on the values, the "empty" answers, and the pending removals. The removal that returned last stands first,
    /// as the one to blame.
    fn operations(&self, items: &[Item]) -> Vec<OpId> {
        let mut operations: Vec<OpId> = self.removals(items).iter().map(|removal| removal.op).collect();
        let end = |item: &Item| match *item {
            Item::Span(i) => {
                let span = self.collection.spans[i as usize];
                (if span.is_removed() { span.rr } else { 0 }, span.remove)
            }
            Item::Empty(i) => {
                let empty = self.collection.empties[i as usize];
                (empty.last + 1, empty.op)
            }
        };
        let last = items.iter().map(end).max_by_key(|&(end, _)| end);
        for item in items {
            match item {
                Item::Span(i) => {
                    let stay = self.collection.spans[*i as usize].stay();
                    operations.extend([Some(stay.insert), stay.remove].into_iter().flatten());
                }
                Item::Empty(i) => operations.push(self.collection.empties[*i as usize].op),
            }
        }
        operations.sort_unstable_by_key(|&op| (last.is_none_or(|(_, last)| op != last), op));
        operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    /// A value by its operations and the positions of their events; `NEVER` for a removal that there is none of.
    fn span((insert, ic, ir): (u32, u32, u32), (remove, rc, rr): (u32, u32, u32)) -> Span {
        Span { insert: OpId(insert), remove: OpId(remove), ic, ir, rc, rr }
    }

    #[test]
    fn what_has_no_part_in_it_is_left_out_while_the_budget_lasts() {
        let values: Vec<Value> = (0..4).map(Value::Int).collect();
        let open = (NEVER, NEVER, NEVER);
        // 0 comes out from below 1 and 2, of which a pending removal took one. 3 comes and goes afterwards.
        let spans = vec![
            span((0, 0, 1), (4, 7, 8)),
            span((1, 2, 3), open),
            span((2, 4, 5), open),
            span((5, 9, 10), (6, 11, 12)),
        ];
        let collection = Collection {
            spans,
            values: values.iter().collect(),
            events: 13,
            certain: 4,
            pending: vec![Removal { op: OpId(3), call: 6 }],
            ..Collection::default()
        };
        let found = |budget: &Budget| find(&collection, Discipline::Stack, budget);
        assert_eq!(found(&Budget::new()), [4, 0, 1, 2, 3].map(OpId));
        let spent = Budget::new();
        spent.spend(Limit::Time);
        assert_eq!(found(&spent), [6, 0, 1, 2, 3, 4, 5].map(OpId));
    }
}
