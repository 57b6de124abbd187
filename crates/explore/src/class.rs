//! Which runs differ in nothing but the order of independent steps: data races are looked for in one run of each class.
//!
//! Two runs are of one class (Mazurkiewicz, 1977) if every thread makes the same steps in both, and steps that touch the same thing come
//! in the same order. Say that one of them has no data race: then what threads do between their steps does not depend on where the steps of
//! others come in between, so the other run is the same one with independent steps swapped, and has no data race either. Everything
//! else that can go wrong is looked for in every run.
//!
//! A class is known by a hash of 64 bits: each access is mixed with the last one of its thread and with those to the same word that it
//! depends on. That a class which was not looked at is taken for one of those that are remembered has a chance of 2^-48.
//!
//! Invariant: a class is remembered only if a run of it was looked at to the end, without a race and without a doubt; one that was forgotten is looked
//! at again.

use crate::point::{End, Stop};
use crate::trace::Trace;

pub(crate) mod places;

use places::mix;

/// How many classes are remembered.
const SEEN: usize = 1 << 16;
/// After so many runs it is decided whether those of known classes are worth it.
const WINDOW: u32 = 64;

/// The class of a run: what threads did, with what they picked. That a thread gave up its turn orders nothing, and tells it nothing.
fn class(trace: &Trace) -> Option<u64> {
    let threads = trace.signs()?;
    let join = |class, (hash, thread): (&u64, u64)| mix(class, thread, *hash);
    if !trace.has_picks() {
        return Some(threads.iter().zip(0..).fold(0, join));
    }
    let mut threads = threads.to_vec();
    for (at, step) in trace.steps().iter().enumerate() {
        // A step that picks may touch nothing.
        threads.resize(threads.len().max(step.thread.index() + 1), 0);
        let hash = &mut threads[step.thread.index()];
        *hash = trace.picks(at).iter().fold(*hash, |hash, pick| mix(hash, u64::from(pick.chosen) + 1, 0));
    }
    Some(threads.iter().zip(0..).fold(0, join))
}

/// What to do with a run that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Nothing: a run of its class was looked at.
    Enough,
    /// It has to be made again, and looked at.
    Again,
}

/// The classes of a search, whose runs are in traces that were asked to be signed ([`Trace::sign`]).
pub struct Classes {
    seen: Box<[u64]>,
    /// Whether runs of classes that are known are expected, so that nobody looks at a run before it is known to be of another. So it is at
    /// first: nothing is lost but a few runs that are made twice.
    expects: bool,
    runs: u32,
    known: u32,
}

impl Default for Classes {
    fn default() -> Self {
        Self::new()
    }
}

impl Classes {
    /// None is known.
    pub fn new() -> Self {
        Classes { seen: vec![0; SEEN].into(), expects: true, runs: 0, known: 0 }
    }

    /// Whether the next run need not be looked at while it is under way.
    pub fn expects(&self) -> bool {
        self.expects
    }

    /// The class of a run, if one that ends so has one: where it was given up, as far as it went.
    fn of(trace: &Trace, end: End) -> Option<u64> {
        match end {
            End::Complete => class(trace),
            End::Stopped(stop) if !matches!(stop, Stop::Diverged(_)) => class(trace),
            _ => None,
        }
    }

    /// A run ended that was not looked at.
    pub fn judge(&mut self, trace: &Trace, end: End) -> Look {
        let class = Self::of(trace, end);
        let known = class.is_some_and(|class| self.seen[class as usize % SEEN] == class);
        self.count(known);
        if known { Look::Enough } else { Look::Again }
    }

    /// A run ended that was looked at, and `clean` is whether nothing was found and nothing is in doubt.
    pub fn learn(&mut self, trace: &Trace, end: End, clean: bool) {
        let class = if clean { Self::of(trace, end) } else { None };
        let place = class.map(|class| &mut self.seen[class as usize % SEEN]);
        let known = class.as_ref() == place.as_deref();
        if let (Some(place), Some(class)) = (place, class) {
            *place = class;
        }
        if !self.expects {
            self.count(known && class.is_some());
        }
    }

    /// Looking twice at one run in four costs as much as looking once at all of them.
    fn count(&mut self, known: bool) {
        self.runs += 1;
        self.known += u32::from(known);
        if self.runs == WINDOW {
            self.expects = self.known * 4 >= WINDOW * 3;
            (self.runs, self.known) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests;
