//! What was seen behind a step before its thread's next one: memory that was handed out or given back, a lock that was made or destroyed.
//!
//! Such things belong to the step, and are not known before it was made. When a step is planned at another moment, where it finds something else, it may be followed by
//! something else, too: by whatever has followed it in any run so far. To suppose more than comes costs a run at most, to suppose less costs classes.
//!
//! Invariant: what is added to a step does not wait, and depends on nothing.

use std::collections::HashMap;

use crate::access::{Access, Condition, Thread};

use super::event::{Accesses, Event};

/// What ever followed.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// By thread, number of the step, and what the step is about.
    all: HashMap<(Thread, usize, u64), Vec<Access>>,
    /// By thread and number, whether there is anything: for as many threads as have something.
    any: Vec<Vec<bool>>,
}

fn is_same(one: &Access, other: &Access) -> bool {
    (one.object, one.size, one.kind) == (other.object, other.size, other.kind)
}

/// What follows a step, as far as it is known.
pub(super) fn of(event: &Event) -> impl Iterator<Item = &Access> {
    let follows = |access: &&Access| !access.waits && access.condition == Condition::Always;
    event.accesses.as_slice().iter().skip(1).filter(follows)
}

impl Behind {
    /// Whether anything may follow the step of a thread with that number.
    #[inline]
    pub(super) fn may_follow(&self, thread: Thread, number: usize) -> bool {
        self.any.get(thread.index()).and_then(|any| any.get(number)).is_some_and(|any| *any)
    }

    /// A step was made, with that number.
    pub(super) fn note(&mut self, event: &Event, number: usize) {
        let mut rest = of(event).peekable();
        let (Some(first), Some(_)) = (event.accesses.as_slice().first(), rest.peek()) else { return };
        let thread = event.thread.index();
        self.any.resize(self.any.len().max(thread + 1), Vec::new());
        let any = &mut self.any[thread];
        any.resize(any.len().max(number + 1), false);
        any[number] = true;
        let known = self.all.entry((event.thread, number, first.object)).or_default();
        for access in rest {
            if !known.iter().any(|other| is_same(access, other)) {
                known.push(*access);
            }
        }
    }

    /// The same step, with that number, and all that may follow.
    pub(super) fn add(&self, mut event: Event, number: usize) -> Event {
        let first = event.accesses.as_slice().first().filter(|_| self.may_follow(event.thread, number));
        let known = first.and_then(|first| self.all.get(&(event.thread, number, first.object)));
        let Some(known) = known else { return event };
        let mut all = event.accesses.as_slice().to_vec();
        for access in known {
            if !all.iter().any(|other| is_same(access, other)) {
                all.push(*access);
            }
        }
        event.accesses = Accesses::from(all.as_slice());
        event
    }
}
