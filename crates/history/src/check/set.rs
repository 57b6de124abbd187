//! Sets in which each value is added once with success and removed at most once with success, in O(n log n).
//!
//! The values of a set are independent. For one value, with the operations that saw it present (a successful `remove`,
//! `contains` true, `add` false): it cannot have gone in later than the first of their returns, nor out earlier than
//! the last of their calls. Going in as late and out as early as that allows leaves the most room for the negative
//! answers (`contains` false, `remove` false), each of which needs a gap outside.

use super::numbers::Numbers;
use super::part::PartView;
use super::spans::{Moments, NEVER};
use super::{Unfit, read};
use crate::evidence::Violation;
use crate::object::{Kind, set};
use crate::{OpId, Value};

const NO_OP: OpId = OpId(NEVER);

/// What is known of one value.
struct Element {
    insert: OpId,
    remove: OpId,
    /// Of the insertion, the removal and the operations that saw it: the one that returns first.
    first: OpId,
    first_return: u32,
    /// And the one that is called last.
    last: OpId,
    last_call: u32,
    seen: bool,
    /// The gaps in which it goes in and out.
    gap_in: u32,
    gap_out: u32,
}

/// What became of a part.
pub(super) enum Answer {
    Order(Vec<OpId>),
    Violation(Violation),
    /// A value is added or removed twice, or a change is pending: the search must decide, value by value.
    Repeated,
}

/// What an operation says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Inserted,
    Removed,
    Present,
    Absent,
    /// Pending.
    Unknown,
}

fn says(input: &set::Input, output: Option<&Value>) -> Says {
    match (input, output.and_then(Value::as_bool)) {
        (_, None) => Says::Unknown,
        (set::Input::Add(_), Some(true)) => Says::Inserted,
        (set::Input::Remove(_), Some(true)) => Says::Removed,
        (set::Input::Add(_), Some(false)) | (set::Input::Contains(_), Some(true)) => Says::Present,
        (set::Input::Remove(_) | set::Input::Contains(_), Some(false)) => Says::Absent,
    }
}

/// Decides a set that starts empty.
pub(super) fn check(object: &set::Set, kind: Kind, part: &PartView<'_>) -> Result<Answer, Unfit> {
    let mut numbers = Numbers::new(part.ops.iter().map(|&op| &part.recorded(op).argument), part.ops.len());
    let mut elements: Vec<Element> = Vec::new();
    let mut of: Vec<(u32, Says)> = Vec::with_capacity(part.ops.len());
    for &op in part.ops {
        let input = read(object, kind, part.log, op)?;
        let says = says(&input, part.output(op));
        let number = numbers.get(&part.recorded(op).argument, elements.len() as u32);
        of.push((number, says));
        if number as usize == elements.len() {
            elements.push(Element {
                insert: NO_OP,
                remove: NO_OP,
                first: NO_OP,
                first_return: part.events,
                last: NO_OP,
                last_call: 0,
                seen: false,
                gap_in: 0,
                gap_out: 0,
            });
        }
        if says == Says::Unknown && !matches!(input, set::Input::Contains(_)) {
            return Ok(Answer::Repeated);
        }
        if !elements[number as usize].include(part, op, says) {
            return Ok(Answer::Repeated);
        }
    }
    for element in &mut elements {
        if let Some(violation) = element.settle(part) {
            return Ok(Answer::Violation(violation));
        }
    }
    Ok(match order(part, &elements, &of) {
        Ok(order) => Answer::Order(order),
        Err(violation) => Answer::Violation(violation),
    })
}

impl Element {
    /// `false` when the value is inserted or removed a second time.
    fn include(&mut self, part: &PartView<'_>, op: OpId, says: Says) -> bool {
        let slot = match says {
            Says::Inserted => Some(&mut self.insert),
            Says::Removed => Some(&mut self.remove),
            _ => None,
        };
        if slot.is_some_and(|slot| std::mem::replace(slot, op) != NO_OP) {
            return false;
        }
        if matches!(says, Says::Absent | Says::Unknown) {
            return true;
        }
        self.seen = true;
        if part.ret(op) < self.first_return {
            (self.first_return, self.first) = (part.ret(op), op);
        }
        if part.call(op) >= self.last_call {
            (self.last_call, self.last) = (part.call(op), op);
        }
        true
    }

    /// Chooses the gaps in which the value goes in and out.
    fn settle(&mut self, part: &PartView<'_>) -> Option<Violation> {
        if !self.seen {
            return None;
        }
        if self.insert == NO_OP {
            return Some(Violation::ThinAir { operation: self.first });
        }
        if self.first_return < part.call(self.insert) {
            return Some(Violation::TooEarly { operation: self.first, insert: self.insert });
        }
        self.gap_in = self.first_return - 1;
        self.gap_out = part.events;
        if self.remove != NO_OP {
            if part.ret(self.remove) < self.last_call {
                return Some(Violation::TooLate { operation: self.last, remove: self.remove });
            }
            self.gap_out = self.last_call;
            if self.gap_out < self.gap_in {
                // Everybody who saw it overlaps: it may come and go in one gap.
                self.gap_in = self.gap_out;
            }
        }
        None
    }
}

fn order(part: &PartView<'_>, elements: &[Element], of: &[(u32, Says)]) -> Result<Vec<OpId>, Violation> {
    let mut moments = Moments::with_capacity(part.ops.len());
    for (&op, &(number, says)) in part.ops.iter().zip(of) {
        let element = &elements[number as usize];
        let (first, last) = (part.call(op), part.ret(op) - 1);
        // Inside one gap: absent before, in, seen, out, absent after.
        let (gap, rank) = match says {
            Says::Unknown => continue,
            Says::Inserted => (element.gap_in, 1),
            Says::Present => (first.max(element.gap_in), 2),
            Says::Removed => (element.gap_out, 3),
            Says::Absent if !element.seen => (first, 0),
            Says::Absent if first <= element.gap_in => (first, 0),
            Says::Absent if last >= element.gap_out => (first.max(element.gap_out), 4),
            Says::Absent => {
                let (insert, before) = (element.insert, element.first);
                let after = (element.remove != NO_OP).then_some(element.last);
                return Err(Violation::Missed { operation: op, insert, before, after });
            }
        };
        moments.push(gap, number, rank, op);
    }
    Ok(moments.into_order())
}
