//! Vector clocks: how often each thread has released, as far as somebody knows.
//!
//! The clocks of threads ([`Clock`]) have room for all threads there can be; there is one for each thread. Those that are kept for locks and for words of memory ([`Kept`]), of which there may be
//! many, have room for as many threads as the run had when they were made. Invariant: what a clock has beyond its lanes counts as zero, whatever is there, so that a clock costs
//! as much as there are threads.

/// How many threads there can be.
pub const THREADS: usize = selvedge_explore::Thread::MAX;

/// How often each thread has released, as far as somebody knows.
pub type Clock = [u32; THREADS];

/// Clocks are joined and copied so many components at a time.
pub const LANE: usize = 4;

/// One for each thread, all zero.
pub fn table() -> Box<[Clock; THREADS]> {
    vec![[0; THREADS]; THREADS].into_boxed_slice().try_into().expect("as many as there can be threads")
}

/// A clock learns what another knows, in so many lanes, at least one. Few tests have more threads than fit the first.
#[inline(always)]
pub fn join(clock: &mut Clock, other: &Clock, lanes: usize) {
    join_lane(first_mut(clock), first(other));
    if lanes > 1 {
        join_more(&mut clock[LANE..], &other[LANE..LANE * lanes]);
    }
}

#[inline(always)]
fn first(clock: &Clock) -> &[u32; LANE] {
    &clock.as_chunks::<LANE>().0[0]
}

#[inline(always)]
fn first_mut(clock: &mut Clock) -> &mut [u32; LANE] {
    &mut clock.as_chunks_mut::<LANE>().0[0]
}

#[inline(always)]
fn join_lane(clock: &mut [u32; LANE], other: &[u32; LANE]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// Of the lanes behind the first, those that the other has.
#[inline(never)]
fn join_more(clock: &mut [u32], other: &[u32]) {
    let ((mine, _), (theirs, _)) = (clock.as_chunks_mut::<LANE>(), other.as_chunks::<LANE>());
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| join_lane(mine, theirs));
}

/// A clock that is kept for something.
#[derive(Clone, Default)]
pub struct Kept {
    /// The lanes behind the first, if there ever were any.
    more: Box<[u32]>,
    first: [u32; LANE],
    /// How many lanes count.
    lanes: u32,
}

impl Kept {
    /// Forgets what it knows, and keeps the memory.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.lanes = 0;
    }

    /// The lanes behind the first that count.
    #[inline]
    fn more(&self) -> &[u32] {
        &self.more[..LANE * (self.lanes as usize).saturating_sub(1)]
    }

    /// Room for so many lanes, and what is behind those that count is zero.
    #[inline(never)]
    fn widen(&mut self, lanes: usize) {
        let (known, wanted) = (self.more().len(), LANE * (lanes - 1));
        if self.more.len() < wanted {
            let mut more = Vec::with_capacity(wanted);
            more.extend_from_slice(self.more());
            more.resize(wanted, 0);
            self.more = more.into();
        } else {
            self.more[known..wanted].fill(0);
        }
        self.lanes = lanes as u32;
    }

    /// Becomes that clock, of which so many lanes count, at least one.
    #[inline(always)]
    pub fn put(&mut self, clock: &Clock, lanes: usize) {
        self.first = *first(clock);
        if lanes > 1 {
            self.put_more(clock, lanes);
        }
        self.lanes = lanes as u32;
    }

    #[inline(never)]
    fn put_more(&mut self, clock: &Clock, lanes: usize) {
        let more = &clock[LANE..LANE * lanes];
        if self.more.len() < more.len() {
            self.more = more.into();
        } else {
            self.more[..more.len()].copy_from_slice(more);
        }
    }

    /// Learns what a clock knows, of which so many lanes count.
    #[inline(always)]
    pub fn add(&mut self, clock: &Clock, lanes: usize) {
        if self.lanes == 0 {
            return self.put(clock, lanes);
        }
        join_lane(&mut self.first, first(clock));
        if lanes > 1 {
            self.add_more(&clock[LANE..LANE * lanes]);
        }
    }

    #[inline(never)]
    fn add_more(&mut self, more: &[u32]) {
        let lanes = more.len() / LANE + 1;
        if lanes > self.lanes as usize {
            self.widen(lanes);
        }
        join_more(&mut self.more, more);
    }

    /// Learns what another knows.
    pub fn add_kept(&mut self, other: &Kept) {
        if self.lanes == 0 {
            return self.clone_from(other);
        }
        join_lane(&mut self.first, &other.first);
        self.add_more(other.more());
    }

    /// A clock learns what this one knows.
    #[inline(always)]
    pub fn teach(&self, clock: &mut Clock) {
        if self.lanes > 0 {
            join_lane(first_mut(clock), &self.first);
        }
        if self.lanes > 1 {
            join_more(&mut clock[LANE..], self.more());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(of: &[(usize, u32)]) -> Clock {
        let mut clock = [0; THREADS];
        of.iter().for_each(|&(thread, times)| clock[thread] = times);
        clock
    }

    fn known(kept: &Kept) -> Clock {
        let mut clock = [0; THREADS];
        kept.teach(&mut clock);
        clock
    }

    #[test]
    fn what_is_kept_is_the_greatest_of_all() {
        let mut kept = Kept::default();
        assert_eq!(known(&kept), clock(&[]));
        kept.add(&clock(&[(0, 3), (1, 1)]), 1);
        kept.add(&clock(&[(1, 2), (9, 5)]), 3);
        assert_eq!(known(&kept), clock(&[(0, 3), (1, 2), (9, 5)]));
        kept.add(&clock(&[(2, 7)]), 1);
        assert_eq!(known(&kept), clock(&[(0, 3), (1, 2), (2, 7), (9, 5)]), "a narrower one takes nothing away");
        kept.add(&clock(&[(THREADS - 1, 4)]), THREADS / LANE);
        assert_eq!(known(&kept)[THREADS - 1], 4);
    }

    #[test]
    fn what_was_in_its_memory_before_is_nothing() {
        let mut kept = Kept::default();
        kept.put(&clock(&[(9, 5), (30, 6)]), 8);
        kept.put(&clock(&[(0, 1)]), 1);
        assert_eq!(known(&kept), clock(&[(0, 1)]));
        kept.add(&clock(&[(31, 2)]), 8);
        assert_eq!(known(&kept), clock(&[(0, 1), (31, 2)]));
        kept.clear();
        assert_eq!(known(&kept), clock(&[]));
        kept.add(&clock(&[(5, 1)]), 2);
        assert_eq!(known(&kept), clock(&[(5, 1)]));
    }

    #[test]
    fn clocks_that_are_kept_learn_from_one_another() {
        let (mut one, mut other) = (Kept::default(), Kept::default());
        other.put(&clock(&[(3, 2), (20, 2)]), 6);
        one.add_kept(&other);
        assert_eq!(known(&one), clock(&[(3, 2), (20, 2)]));
        let mut narrow = Kept::default();
        narrow.put(&clock(&[(3, 5)]), 1);
        one.add_kept(&narrow);
        narrow.add_kept(&other);
        assert_eq!((known(&one), known(&narrow)), (clock(&[(3, 5), (20, 2)]), clock(&[(3, 5), (20, 2)])));
    }
}
