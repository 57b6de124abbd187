//! Sets of threads.
//!
//! Nearly every program has few threads, and such sets are looked at before every step, so the first [`Threads::WORD`] threads are one word, and a set with none
//! beyond them costs as much as that. The other words are there only where a greater number was ever in the set.
//!
//! Invariant: whether the other words are there says nothing; those that are not are zero.

use crate::access::Thread;

/// How many words come after the first.
const MORE: usize = Thread::MAX / u64::BITS as usize - 1;

type More = [u64; MORE];

const NONE: More = [0; MORE];

/// A set of threads.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    first: u64,
    more: Option<Box<More>>,
}

impl Threads {
    /// How many threads the first word has.
    pub const WORD: usize = u64::BITS as usize;

    /// No thread.
    #[inline(always)]
    pub const fn new() -> Self {
        Threads { first: 0, more: None }
    }

    /// These of the first [`Threads::WORD`] threads, one bit each.
    #[inline(always)]
    pub const fn of_word(first: u64) -> Self {
        Threads { first, more: None }
    }

    /// That one thread.
    #[inline]
    pub fn only(thread: Thread) -> Self {
        let mut set = Threads::new();
        set.insert(thread.index());
        set
    }

    /// The first [`Threads::WORD`] threads, one bit each.
    #[inline(always)]
    pub fn word(&self) -> u64 {
        self.first
    }

    /// These become the first [`Threads::WORD`] threads, where there are no others.
    #[inline(always)]
    pub fn put_word(&mut self, first: u64) {
        debug_assert!(self.more().is_none_or(|more| *more == NONE), "no others are in it");
        self.first = first;
    }

    /// The same where all that can be in it are those.
    #[inline(always)]
    pub fn few(&self) -> Option<u64> {
        if self.more.is_none() { Some(self.first) } else { None }
    }

    /// The other words, if any thread may be in them.
    #[inline(always)]
    fn more(&self) -> Option<&More> {
        self.more.as_deref()
    }

    #[cold]
    fn made(&mut self) -> &mut More {
        self.more.get_or_insert_with(|| Box::new(NONE))
    }

    /// Whether the thread with that number is in it.
    #[inline(always)]
    pub fn contains(&self, thread: usize) -> bool {
        if thread < Self::WORD { self.first >> thread & 1 != 0 } else { self.has_more(thread - Self::WORD) }
    }

    #[cold]
    fn has_more(&self, at: usize) -> bool {
        self.more().is_some_and(|more| more.get(at / Self::WORD).is_some_and(|word| word >> (at % Self::WORD) & 1 != 0))
    }

    /// Adds the thread with that number, which is less than [`Thread::MAX`].
    #[inline(always)]
    pub fn insert(&mut self, thread: usize) {
        if thread < Self::WORD { self.first |= 1 << thread } else { self.set_more(thread - Self::WORD, true) }
    }

    /// Takes the thread with that number out.
    #[inline(always)]
    pub fn remove(&mut self, thread: usize) {
        if thread < Self::WORD { self.first &= !(1 << thread) } else { self.set_more(thread - Self::WORD, false) }
    }

    /// Adds the thread, or takes it out.
    #[inline(always)]
    pub fn set(&mut self, thread: usize, is_in: bool) {
        if is_in { self.insert(thread) } else { self.remove(thread) }
    }

    #[cold]
    fn set_more(&mut self, at: usize, is_in: bool) {
        if !is_in && self.more.is_none() {
            return;
        }
        let word = &mut self.made()[at / Self::WORD];
        let bit = 1 << (at % Self::WORD);
        *word = if is_in { *word | bit } else { *word & !bit };
    }

    /// Takes all out.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.first = 0;
        if let Some(more) = &mut self.more {
            more.fill(0);
        }
    }

    /// Whether nobody is in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.more().is_none_or(|more| *more == NONE)
    }

    /// How many are in it.
    #[inline]
    pub fn len(&self) -> usize {
        let more = self.more().map_or(0, |more| more.iter().map(|word| word.count_ones()).sum());
        (self.first.count_ones() + more) as usize
    }

    /// The thread with the lowest number.
    #[inline(always)]
    pub fn first(&self) -> Option<Thread> {
        if self.first != 0 { Some(Thread(self.first.trailing_zeros() as u16)) } else { self.first_of_more() }
    }

    #[inline]
    fn first_of_more(&self) -> Option<Thread> {
        let more = self.more()?;
        let at = more.iter().position(|&word| word != 0)?;
        Some(Thread(((at + 1) * Self::WORD) as u16 + more[at].trailing_zeros() as u16))
    }

    /// Takes the thread with the lowest number out, and answers its number.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<usize> {
        if self.first != 0 {
            let thread = self.first.trailing_zeros() as usize;
            self.first &= self.first - 1;
            return Some(thread);
        }
        let thread = self.first_of_more()?.index();
        self.remove(thread);
        Some(thread)
    }

    /// The numbers of those in it, in their order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = std::iter::once(self.first).chain(self.more().into_iter().flatten().copied());
        words.enumerate().flat_map(|(at, word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let thread = (rest != 0).then_some(rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(at * Self::WORD + thread)
            })
        })
    }

    /// The thread that has so many with lower numbers in the set.
    #[inline]
    pub fn nth(&self, rank: usize) -> Option<Thread> {
        let (mut rank, mut at) = (rank, 0);
        let mut word = self.first;
        while rank >= word.count_ones() as usize {
            rank -= word.count_ones() as usize;
            word = *self.more()?.get(at)?;
            at += 1;
        }
        (0..rank).for_each(|_| word &= word - 1);
        Some(Thread((at * Self::WORD) as u16 + word.trailing_zeros() as u16))
    }

    /// Those that are in both.
    #[inline(always)]
    pub fn and(&self, other: &Self) -> Self {
        let more = match (&self.more, &other.more) {
            (Some(one), Some(other)) => both(one, other, |one, other| one & other),
            _ => None,
        };
        Threads { first: self.first & other.first, more }
    }

    /// Those that are in this one, and not in the other.
    #[inline(always)]
    pub fn without(&self, other: &Self) -> Self {
        let more = match &self.more {
            None => None,
            Some(one) => both(one, other.more().unwrap_or(&NONE), |one, other| one & !other),
        };
        Threads { first: self.first & !other.first, more }
    }

    /// Those that are in any of the two.
    #[inline(always)]
    pub fn or(&self, other: &Self) -> Self {
        let more = match (&self.more, &other.more) {
            (None, None) => None,
            (one, other) => {
                both(one.as_deref().unwrap_or(&NONE), other.as_deref().unwrap_or(&NONE), |one, other| one | other)
            }
        };
        Threads { first: self.first | other.first, more }
    }

    /// Those that are in one of the two, and not in both.
    #[inline(always)]
    pub fn xor(&self, other: &Self) -> Self {
        let more = match (&self.more, &other.more) {
            (None, None) => None,
            (one, other) => {
                both(one.as_deref().unwrap_or(&NONE), other.as_deref().unwrap_or(&NONE), |one, other| one ^ other)
            }
        };
        Threads { first: self.first ^ other.first, more }
    }

    /// Whether some thread is in both.
    #[inline(always)]
    pub fn meets(&self, other: &Self) -> bool {
        self.first & other.first != 0 || self.more.is_some() && !self.and(other).is_empty()
    }

    /// Whether all that are in this one are in the other.
    #[inline(always)]
    pub fn is_within(&self, other: &Self) -> bool {
        self.first & !other.first == 0 && (self.more.is_none() || self.without(other).is_empty())
    }
}

/// The other words of what two sets come to.
#[cold]
fn both(one: &More, other: &More, join: impl Fn(u64, u64) -> u64) -> Option<Box<More>> {
    let more: More = std::array::from_fn(|at| join(one[at], other[at]));
    (more != NONE).then(|| Box::new(more))
}

impl PartialEq for Threads {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let more = || self.more().unwrap_or(&NONE) == other.more().unwrap_or(&NONE);
        self.first == other.first && (self.more.is_none() && other.more.is_none() || more())
    }
}

impl Eq for Threads {}

impl FromIterator<Thread> for Threads {
    fn from_iter<I: IntoIterator<Item = Thread>>(threads: I) -> Self {
        let mut set = Threads::new();
        threads.into_iter().for_each(|thread| set.insert(thread.index()));
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Rng;

    /// A set, and the same as one of the standard library.
    type Pair = (Threads, BTreeSet<usize>);

    fn draw(rng: &mut Rng, below: u64) -> Pair {
        let numbers: BTreeSet<usize> = (0..rng.below(40)).map(|_| rng.below(below) as usize).collect();
        (numbers.iter().map(|&number| Thread(number as u16)).collect(), numbers)
    }

    fn check((set, expect): &Pair) {
        assert_eq!(set.iter().collect::<BTreeSet<_>>(), *expect);
        assert_eq!((set.len(), set.is_empty()), (expect.len(), expect.is_empty()));
        assert_eq!(set.first().map(Thread::index), expect.first().copied());
        let ranks: Vec<_> = (0..set.len()).map(|rank| set.nth(rank).map(Thread::index)).collect();
        assert_eq!(ranks, expect.iter().map(|&number| Some(number)).collect::<Vec<_>>());
        assert_eq!(set.nth(set.len()), None);
        (0..Thread::MAX).for_each(|thread| assert_eq!(set.contains(thread), expect.contains(&thread)));
        let (mut rest, mut popped) = (set.clone(), Vec::new());
        while let Some(thread) = rest.pop() {
            popped.push(thread);
        }
        assert_eq!(popped, expect.iter().copied().collect::<Vec<_>>());
        assert!(rest == Threads::new() && rest.is_empty(), "words that are zero say nothing");
    }

    #[test]
    fn sets_are_those_of_the_standard_library() {
        let mut rng = Rng::for_run(1, 0);
        for round in 0..2_000 {
            let below = if round % 2 == 0 { Threads::WORD } else { Thread::MAX } as u64;
            let (one, other) = (draw(&mut rng, below), draw(&mut rng, Thread::MAX as u64));
            check(&one);
            check(&(one.0.and(&other.0), &one.1 & &other.1));
            check(&(one.0.or(&other.0), &one.1 | &other.1));
            check(&(one.0.without(&other.0), &one.1 - &other.1));
            check(&(other.0.without(&one.0), &other.1 - &one.1));
            check(&(one.0.xor(&other.0), &one.1 ^ &other.1));
            assert_eq!(one.0.meets(&other.0), !one.1.is_disjoint(&other.1));
            assert_eq!(one.0.is_within(&other.0), one.1.is_subset(&other.1));
            assert!(one.0.and(&other.0).is_within(&other.0));
            assert_eq!(one.0 == other.0, one.1 == other.1);
        }
    }

    #[test]
    fn threads_come_and_go() {
        let mut rng = Rng::for_run(2, 0);
        let (mut set, mut expect) = (Threads::new(), BTreeSet::new());
        for _ in 0..2_000 {
            let thread = rng.below(Thread::MAX as u64) as usize;
            let is_in = rng.below(3) > 0;
            set.set(thread, is_in);
            if is_in {
                expect.insert(thread)
            } else {
                expect.remove(&thread)
            };
            assert_eq!((set.contains(thread), set.len()), (is_in, expect.len()));
        }
        check(&(set.clone(), expect));
        set.clear();
        assert!(set.is_empty() && set == Threads::new());
        set.remove(Thread::MAX - 1);
        assert_eq!(set.word(), 0);
    }

    #[test]
    fn the_first_word_is_the_first_threads() {
        let set: Threads = [0, 63, 64, 511].map(Thread).into_iter().collect();
        assert_eq!((set.word(), set.len()), (1 | 1 << 63, 4));
        assert_eq!(Threads::of_word(5), [0, 2].map(Thread).into_iter().collect());
        assert_eq!(Threads::only(Thread(300)).first(), Some(Thread(300)));
    }
}
