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
    /// The run that this was written in: it is nothing in another.
    run: u64,
    write: u64,
    reads: u64,
}

/// A step of the last run.
#[derive(Clone, Copy)]
struct Noted {
    /// As [`brief`] has it.
    step: u64,
    /// Its first access, as [`what`] has it.
    access: u64,
    /// The hash of its thread before it.
    before: u64,
    /// Where its changes begin.
    changes: u32,
    thread: u8,
}

/// Where a class is made up, and all that is known after the last run.
struct Places {
    all: Box<[Place; PLACES]>,
    /// By thread, all that it did.
    threads: [u64; Thread::MAX],
    run: u64,
    /// The greatest number of a thread that was seen so far.
    last: usize,
    /// What follows is noted if runs begin as the last one did, more often than not, so that only what differs is done again: the same choices
    /// lead to the same accesses, or the program is one that no search can say anything of.
    steps: Vec<Noted>,
    /// What was in a place before each access.
    changes: Vec<(u32, Place)>,
}

/// An access in one word.
#[inline(always)]
fn what(access: &Access) -> u64 {
    access.object ^ (access.kind as u64) << 59 ^ u64::from(access.size) << 48
}

/// A step in one word: who made it, and where its accesses and picks end.
#[inline(always)]
fn brief(step: &Step) -> u64 {
    u64::from(step.thread.0) | u64::from(step.accesses) << 8 | u64::from(step.picks) << 40
}

/// The accesses of all steps that come before that one.
#[inline(always)]
fn begin(steps: &[Step], at: usize) -> usize {
    at.checked_sub(1).map_or(0, |last| steps[last].accesses as usize)
}

impl Places {
    fn new() -> Self {
        let all = Box::new([Place::default(); PLACES]);
        Places { all, threads: [0; Thread::MAX], run: 0, last: 0, steps: Vec::new(), changes: Vec::new() }
    }

    /// An access to a word, after what its thread did before. There is nothing to foresee here for the processor: this is done for every
    /// access of every run.
    #[inline(always)]
    fn touch<const FOLLOWS: bool>(&mut self, word: u64, what: u64, kind: Kind, before: u64) -> u64 {
        let at = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.trailing_zeros());
        let place = &mut self.all[at as usize % PLACES];
        if FOLLOWS {
            self.changes.push((at as u32, *place));
        }
        let known = u64::from(place.run == self.run).wrapping_neg();
        let (write, since) = (place.write & known, place.reads & known);
        let reads = (READS >> kind as u32 & 1).wrapping_neg();
        let hash = mix(before, what, write.wrapping_add(since & !reads));
        *place = Place { run: self.run, write: hash ^ (hash ^ write) & reads, reads: since.wrapping_add(hash) & reads };
        hash
    }

    /// An access to more than one word.
    #[cold]
    fn touch_wide<const FOLLOWS: bool>(&mut self, access: &Access, before: u64) -> u64 {
        if access.size > WIDEST {
            return before;
        }
        let last = access.object.saturating_add(u64::from(access.size) - 1) >> 3;
        let words = access.object >> 3..=last;
        words.fold(before, |hash, word| self.touch::<FOLLOWS>(word, what(access), access.kind, hash))
    }

    /// How many steps are those of the last run; so many are known to be.
    fn in_common(&self, steps: &[Step], accesses: &[Access], known: usize) -> usize {
        let known = known.min(self.steps.len());
        let pairs = self.steps[known..].iter().zip(&steps[known..]);
        let mut same = known + pairs.take_while(|(noted, step)| noted.step == brief(step)).count();
        // What was picked is not noted, so nothing can be told from there on.
        while same > 0
            && (steps[same - 1].picks > 0
                || accesses.get(begin(steps, same - 1)).map(what) != Some(self.steps[same - 1].access))
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
    }

    /// Forgets the last run.
    fn renew(&mut self) {
        self.run += 1;
        self.threads = [0; Thread::MAX];
    }

    /// The class of a run, which may follow the last one from its beginning: so many steps do.
    fn class<const FOLLOWS: bool>(&mut self, trace: &Trace, known: usize) -> u64 {
        let (steps, accesses) = trace.with_accesses();
        let mut same = 0;
        if FOLLOWS {
            same = self.in_common(steps, accesses, known);
            self.back(same);
        } else {
            self.renew();
        }
        let mut end = begin(steps, same) as u32;
        let mut rest = steps[same..].iter();
        let (mut thread, mut left) = (0, 0);
        'accesses: for access in &accesses[end as usize..] {
            while left == 0 {
                // What comes after the last step is of one that was not made to its end.
                let Some(step) = rest.next() else { break 'accesses };
                (thread, left) = (step.thread.index() % Thread::MAX, step.accesses - end);
                end = step.accesses;
                self.last = self.last.max(thread);
                if FOLLOWS {
                    let (before, changes) = (self.threads[thread], self.changes.len() as u32);
                    let (step, access) = (brief(step), what(access));
                    self.steps.push(Noted { step, access, before, changes, thread: thread as u8 });
                }
            }
            left -= 1;
            let before = self.threads[thread];
            self.threads[thread] = if (access.object & 7) + u64::from(access.size) <= 8 {
                self.touch::<FOLLOWS>(access.object >> 3, what(access), access.kind, before)
            } else {
                self.touch_wide::<FOLLOWS>(access, before)
            };
        }
        finish(trace, self.threads, self.last)
    }
}

/// What threads picked, and then everything together; a class that was seen before a thread of a greater number was is forgotten. That a thread gave up its turn orders nothing, and tells it nothing.
fn finish(trace: &Trace, mut threads: [u64; Thread::MAX], last: usize) -> u64 {
    let steps = trace.steps();
    if steps.last().is_some_and(|step| step.picks > 0) {
        for (at, step) in steps.iter().enumerate() {
            let hash = &mut threads[step.thread.index() % Thread::MAX];
            *hash = trace.picks(at).iter().fold(*hash, |hash, pick| mix(hash, u64::from(pick.chosen) + 1, 0));
        }
    }
    threads[..=last % Thread::MAX].iter().zip(0..).fold(0, |class, (hash, thread)| mix(class, thread, *hash))
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
    /// Whether runs begin as the last one did.
    follows: bool,
    /// Whether the last run is the one that the places are of.
    knows_last: bool,
    /// Whether runs of classes that are known are expected, so that nobody looks at a run before it is known to be of another. So it is at
    /// first: nothing is lost but a few runs that are made twice.
    expects: bool,
    runs: u32,
    known: u32,
}

impl Classes {
    /// None is known. Whether runs are expected to begin as the last one did matters to the speed only.
    pub fn new(follows: bool) -> Self {
        Classes {
            seen: vec![0; SEEN].into(),
            places: Places::new(),
            follows,
            knows_last: false,
            expects: true,
            runs: 0,
            known: 0,
        }
    }

    /// Whether the next run need not be looked at while it is under way.
    pub fn expects(&self) -> bool {
        self.expects
    }

    /// The class of a run, if one that ends so has one: where it was given up, as far as it went.
    fn of(&mut self, trace: &Trace, end: End) -> Option<u64> {
        match end {
            End::Complete => {}
            End::Stopped(stop) if !matches!(stop, Stop::Diverged(_)) => {}
            _ => {
                self.knows_last = false;
                return None;
            }
        }
        let known = if std::mem::replace(&mut self.knows_last, true) { trace.kept() } else { 0 };
        let places = &mut self.places;
        Some(if self.follows { places.class::<true>(trace, known) } else { places.class::<false>(trace, 0) })
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
        self.knows_last &= clean;
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
