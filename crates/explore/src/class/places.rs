//! What the steps of a run come to, while it makes them: a hash of its class that is brought up to date with every step.
//!
//! Invariant: what is known here depends on the accesses in the trace and nothing else, and the trace says of each that it is added, or that those from one
//! on are taken back.

use crate::access::{Kind, Thread};

/// Words are told apart by so many places; those that share one count as one word, which makes classes smaller than they are. A power of two.
const PLACES: usize = 1 << 12;
/// More bytes than the widest instruction touches. An atomic object of more is always touched as a whole, and so known by its first words. What else is wider
/// is the end of a block: that is no step of its own, and what touches the block without being ordered before its end is found wherever it
/// comes: before it as a race, then because the block is not in use, and later as a doubt.
pub(crate) const WIDEST: u32 = 16;

/// The kinds of accesses that do not depend on one another, one bit each.
const READS: u64 = 1 << Kind::Read as u32 | 1 << Kind::Await as u32;

/// A hash with something that comes after it, and what that depends on.
#[inline(always)]
pub(crate) fn mix(hash: u64, what: u64, before: u64) -> u64 {
    let product = u128::from(hash ^ what ^ 0xd6e8_feb8_6659_fd93) * u128::from(before ^ 0x9e37_79b9_7f4a_7c15);
    // Not even a factor of zero makes the hash forget what came before.
    (product as u64 ^ (product >> 64) as u64).wrapping_add(hash.rotate_left(29))
}

/// What is known of a word.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The run that this was written in: it is nothing in another.
    run: u64,
    /// What a write depends on: the last write and all reads since, in any order. Then what a read depends on: the last write. The last is nothing: it is where
    /// a read puts what would be the last write.
    words: [u64; 3],
}

impl Place {
    const READ: usize = 1;
}

/// What was known before an access to a word.
#[derive(Clone, Copy)]
struct Change {
    /// Of its place.
    run: u64,
    words: [u64; 2],
    /// What its thread had done before.
    before: u64,
    at: u32,
    /// Which access of the run it was.
    access: u32,
    thread: u16,
}

/// Where a word has its place.
#[inline(always)]
fn place_of(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.trailing_zeros())) as usize % PLACES
}

/// All that is known of the steps that were made.
#[derive(Clone)]
pub(crate) struct Places {
    all: Box<[Place; PLACES]>,
    /// By thread, all that it did.
    threads: [u64; Thread::MAX],
    run: u64,
    /// The greatest number of a thread that was seen so far.
    last: usize,
    /// Whether runs begin as the last one did, more often than not, so that changes are worth noting: the same choices lead to the same accesses, or the
    /// program is one that no search can say anything of.
    follows: bool,
    changes: Vec<Change>,
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Places({:?})", &self.threads[..=self.last % Thread::MAX])
    }
}

impl Places {
    pub(crate) fn new(follows: bool) -> Self {
        let all = Box::new([Place::default(); PLACES]);
        Places { all, threads: [0; Thread::MAX], run: 1, last: 0, follows, changes: Vec::new() }
    }

    /// Forgets the last run.
    pub(crate) fn renew(&mut self) {
        self.run += 1;
        self.threads[..=self.last % Thread::MAX].fill(0);
        self.changes.clear();
    }

    /// Takes back the accesses from that one on; false when they were not noted, and nothing was taken back.
    pub(crate) fn back(&mut self, accesses: usize) -> bool {
        while self.follows
            && let Some(&Change { run, words: [all, write], before, at, access, thread }) = self.changes.last()
            && access as usize >= accesses
        {
            self.all[at as usize % PLACES] = Place { run, words: [all, write, 0] };
            self.threads[usize::from(thread) % Thread::MAX] = before;
            self.changes.pop();
        }
        self.follows
    }

    /// One more access of a run, the one of that number, by that thread, after what it did before.
    #[inline(never)]
    pub(crate) fn add(&mut self, thread: Thread, object: u64, size: u32, kind: Kind, number: u32) {
        if (object & 7) + u64::from(size) > 8 {
            self.add_wide(thread, object, size, kind, number)
        } else if self.follows {
            self.add_and_note(thread, object, size, kind, number)
        } else {
            self.touch(thread.index() % Thread::MAX, object, size, kind, object >> 3)
        }
    }

    /// The same for one to more than one word.
    #[inline(never)]
    fn add_wide(&mut self, thread: Thread, object: u64, size: u32, kind: Kind, number: u32) {
        let thread = thread.index() % Thread::MAX;
        for word in object >> 3..=object.saturating_add(u64::from(size.min(WIDEST)) - 1) >> 3 {
            if self.follows {
                self.note(thread, word, number);
            }
            self.touch(thread, object, size, kind, word);
        }
    }

    /// The same where changes are noted.
    #[inline(never)]
    fn add_and_note(&mut self, thread: Thread, object: u64, size: u32, kind: Kind, number: u32) {
        let thread = thread.index() % Thread::MAX;
        self.note(thread, object >> 3, number);
        self.touch(thread, object, size, kind, object >> 3);
    }

    /// Notes what is known before an access to a word.
    #[inline(always)]
    fn note(&mut self, thread: usize, word: u64, access: u32) {
        let (at, before) = (place_of(word), self.threads[thread]);
        let Place { run, words: [all, write, _] } = self.all[at];
        self.changes.push(Change { run, words: [all, write], before, at: at as u32, access, thread: thread as u16 });
    }

    /// A word of an access. There is little to foresee here for the processor: this is done for every access of every run.
    #[inline(always)]
    fn touch(&mut self, thread: usize, object: u64, size: u32, kind: Kind, word: u64) {
        if thread > self.last {
            self.last = thread;
        }
        let place = &mut self.all[place_of(word)];
        if place.run != self.run {
            *place = Place { run: self.run, words: [0; 3] };
        }
        let reads = (READS >> kind as u32 & 1) as usize;
        let what = object ^ (kind as u64) << 59 ^ u64::from(size) << 48;
        let hash = mix(self.threads[thread], what, place.words[reads * Place::READ]);
        place.words[0] = (place.words[0] & (reads as u64).wrapping_neg()).wrapping_add(hash);
        place.words[Place::READ + reads] = hash;
        self.threads[thread] = hash;
    }

    /// By thread, all that it did; a class that was seen before a thread of a greater number was is forgotten.
    pub(crate) fn threads(&self) -> &[u64] {
        &self.threads[..=self.last % Thread::MAX]
    }
}
