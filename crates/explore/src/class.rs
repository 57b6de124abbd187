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

use crate::access::{Access, Kind, Thread};
use crate::point::{End, Stop};
use crate::trace::{Step, Trace};

/// How many classes are remembered.
const SEEN: usize = 1 << 16;
/// Words are told apart by so many places; those that share one count as one word, which makes classes smaller than they are. A power of two.
const PLACES: usize = 1 << 12;
/// No access is to more bytes, but for the end of a block. That is no step of its own, and what touches the block without being ordered before
/// its end is found wherever it comes: before it as a race, then because the block is not in use, and later as a doubt.
const WIDEST: u32 = 16;
/// After so many runs it is decided whether those of known classes are worth it.
const WINDOW: u32 = 64;

/// The kinds of accesses that do not depend on one another, one bit each.
const READS: u64 = 1 << Kind::Read as u32 | 1 << Kind::Await as u32;

/// A hash with something that comes after it, and what that depends on.
#[inline(always)]
fn mix(hash: u64, what: u64, before: u64) -> u64 {
    let product = u128::from(hash ^ what ^ 0xd6e8_feb8_6659_fd93) * u128::from(before ^ 0x9e37_79b9_7f4a_7c15);
    // Not even a factor of zero makes the hash forget what came before.
    (product as u64 ^ (product >> 64) as u64).wrapping_add(hash.rotate_left(29))
}

/// What is known of a word: the last write, and all reads since, in any order.
#[derive(Clone, Copy, Default)]
struct Place {
    write: u64,
    reads: u64,
}

/// A step of the last run.
#[derive(Clone, Copy)]
struct Noted {
    /// As [`brief`] has it.
    step: u64,
    /// The hash of its thread before it.
    before: u64,
    /// Where its changes begin.
    changes: u32,
    thread: u8,
}

/// All that is known after the last run. The next one begins as that one did, more often than not, and only what differs is
/// done again: the same choices lead to the same accesses, or the program is one that no search can say anything of.
struct Places {
    all: Box<[Place; PLACES]>,
    threads: [u64; Thread::MAX],
    steps: Vec<Noted>,
    /// The last access of every step, as [`what`] has it.
    accesses: Vec<u64>,
    /// What was there before each access.
    changes: Vec<(u32, Place)>,
}

/// An access in one word.
#[inline(always)]
fn what(access: &Access) -> u64 {
    access.object ^ (access.kind as u64) << 59 ^ u64::from(access.size) << 48
}

/// A step in one word: who made it, whether it yielded, and where its accesses and picks end.
#[inline(always)]
fn brief(step: &Step) -> u64 {
    u64::from(step.thread.0) << 1
        | u64::from(step.yielded)
        | u64::from(step.accesses) << 9
        | u64::from(step.picks) << 41
}

impl Places {
    fn new() -> Self {
        let all = Box::new([Place::default(); PLACES]);
        Places { all, threads: [0; Thread::MAX], steps: Vec::new(), accesses: Vec::new(), changes: Vec::new() }
    }

    /// An access to a word, after what its thread did before. There is nothing to foresee here for the processor: this is done for every
    /// access of every run.
    #[inline(always)]
    fn access(&mut self, word: u64, what: u64, kind: Kind, before: u64) -> u64 {
        let at = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % PLACES;
        let Place { write, reads: since } = self.all[at];
        self.changes.push((at as u32, self.all[at]));
        let reads = (READS >> kind as u32 & 1).wrapping_neg();
        let hash = mix(before, what, write.wrapping_add(since & !reads));
        self.all[at] = Place { write: hash ^ (hash ^ write) & reads, reads: since.wrapping_add(hash) & reads };
        hash
    }

    /// How many steps are those of the last run.
    fn in_common(&self, steps: &[Step], accesses: &[Access]) -> usize {
        let pairs = self.steps.iter().zip(steps);
        let mut same = pairs.take_while(|(noted, step)| noted.step == brief(step)).count();
        // What was picked is not noted, so nothing can be told from there on.
        while same > 0
            && (steps[same - 1].picks > 0 || self.accesses[same - 1] != last_access(&steps[same - 1], accesses))
        {
            same -= 1;
        }
        same
    }

    /// Goes back to what was known after so many steps of the last run.
    fn back(&mut self, steps: usize) {
        let Some(&Noted { changes, .. }) = self.steps.get(steps) else { return };
        for noted in self.steps.drain(steps..).rev() {
            self.threads[usize::from(noted.thread) % Thread::MAX] = noted.before;
        }
        for (at, place) in self.changes.drain(changes as usize..).rev() {
            self.all[at as usize % PLACES] = place;
        }
        self.accesses.truncate(steps);
    }

    /// The class of a run.
    fn class(&mut self, trace: &Trace) -> u64 {
        let (steps, accesses) = trace.with_accesses();
        let same = self.in_common(steps, accesses);
        self.back(same);
        let mut from = same.checked_sub(1).map_or(0, |last| steps[last].accesses as usize);
        for (at, step) in steps.iter().enumerate().skip(same) {
            let thread = step.thread.index() % Thread::MAX;
            let before = self.threads[thread];
            let changes = self.changes.len() as u32;
            self.steps.push(Noted { step: brief(step), before, changes, thread: step.thread.0 });
            self.accesses.push(last_access(step, accesses));
            let mut hash = before;
            while from < step.accesses as usize
                && let Some(access) = accesses.get(from)
            {
                from += 1;
                if (access.object & 7) + u64::from(access.size) <= 8 {
                    hash = self.access(access.object >> 3, what(access), access.kind, hash);
                } else if access.size <= WIDEST {
                    let last = access.object.saturating_add(u64::from(access.size) - 1) >> 3;
                    for word in access.object >> 3..=last {
                        hash = self.access(word, what(access), access.kind, hash);
                    }
                }
            }
            if step.picks > 0 {
                hash = trace.picks(at).iter().fold(hash, |hash, pick| mix(hash, u64::from(pick.chosen) + 1, 0));
            }
            self.threads[thread] = hash ^ u64::from(step.yielded) << 63;
        }
        let last = steps.iter().fold(0, |last, step| last.max(step.thread.index()));
        self.threads[..=last % Thread::MAX].iter().zip(0..).fold(0, |class, (hash, thread)| mix(class, thread, *hash))
    }
}

/// The last access up to the end of a step, as [`what`] has it.
#[inline(always)]
fn last_access(step: &Step, accesses: &[Access]) -> u64 {
    (step.accesses as usize).checked_sub(1).and_then(|last| accesses.get(last)).map_or(0, what)
}

/// What to do with a run that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Nothing: a run of its class was looked at.
    Enough,
    /// It has to be made again, and looked at.
    Again,
}

/// The classes of a search.
pub struct Classes {
    seen: Box<[u64]>,
    places: Places,
    /// Whether runs of classes that are known are expected, so that nobody looks at a run before it is known to be of another. So it is at
    /// first: nothing is lost but a few runs that are made twice.
    expects: bool,
    runs: u32,
    known: u32,
}

impl Default for Classes {
    /// None is known.
    fn default() -> Self {
        Classes { seen: vec![0; SEEN].into(), places: Places::new(), expects: true, runs: 0, known: 0 }
    }
}

impl Classes {
    /// Whether the next run need not be looked at while it is under way.
    pub fn expects(&self) -> bool {
        self.expects
    }

    /// The class of a run, if one that ends so has one: where it was given up, as far as it went.
    fn of(&mut self, trace: &Trace, end: End) -> Option<u64> {
        match end {
            End::Complete => Some(self.places.class(trace)),
            End::Stopped(stop) if !matches!(stop, Stop::Diverged(_)) => Some(self.places.class(trace)),
            _ => None,
        }
    }

    /// A run ended that was not looked at.
    pub fn judge(&mut self, trace: &Trace, end: End) -> Look {
        let class = self.of(trace, end);
        let known = class.is_some_and(|class| self.seen[class as usize % SEEN] == class);
        self.count(known);
        if known { Look::Enough } else { Look::Again }
    }

    /// A run ended that was looked at, and `clean` is whether nothing was found and nothing is in doubt.
    pub fn learn(&mut self, trace: &Trace, end: End, clean: bool) {
        let class = if clean { self.of(trace, end) } else { None };
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
