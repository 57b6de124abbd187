//! What a step touches, and when two steps may be swapped.
//!
//! Invariant of [`dependent`]: two adjacent steps of different threads whose accesses are pairwise independent can be
//! swapped, and both orders lead to the same state, with the same outcome of each step. Everything that the reduction
//! leaves out rests on this, so an access that may do either of two things is recorded as what it *did* (a compare
//! and exchange that failed is a read).

use std::fmt;

/// A thread, numbered from 0 in the order of creation. The number is the same in every run that creates it in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thread(pub u16);

impl Thread {
    /// How many threads one run may create.
    pub const MAX: usize = 512;

    /// The thread's number, as an index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{}", self.0)
    }
}

/// The object that calls and returns of operations touch, when their order is to be kept.
pub const HISTORY: u64 = u64::MAX - 16;

/// What an access does to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Reads; a compare and exchange or a try-lock that failed is one.
    Read,
    /// Writes.
    Write,
    /// Reads and writes in one step.
    Update,
    /// Takes a lock for itself.
    Acquire,
    /// Takes a lock together with others who do the same.
    AcquireShared,
    /// Gives up what `Acquire` took.
    Release,
    /// Gives up what `AcquireShared` took.
    ReleaseShared,
    /// Takes one unit of a semaphore.
    Take,
    /// Gives one unit to a semaphore.
    Give,
    /// Goes on after another thread allowed it to (join, wake-up); it can never come before that.
    Await,
    /// An operation is called.
    Call,
    /// An operation returns.
    Return,
}

/// On what the outcome of an access depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// On nothing.
    Always,
    /// It succeeds exactly when it finds this value: a compare and exchange, a try-lock.
    Equals(u64),
    /// It succeeds exactly when the value found is not less: so many bytes in a pipe, so much room. One that waits goes when
    /// this holds of any of its accesses that wait.
    AtLeast(u64),
    /// It comes of any value but these: a look that finds one of them leads its thread back to where it was.
    Unless(Vain),
    /// On the value found, in some other way.
    Unknown,
}

/// The values that an access would find in vain, as far as its location has had them in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vain(&'static Values);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Values {
    values: Box<[u64]>,
    writes: bool,
}

impl Vain {
    /// These values; and whether the access may write when it finds another. They stay in memory for ever, so they should be made once.
    pub fn new(values: &[u64], writes: bool) -> Self {
        Vain(Box::leak(Box::new(Values { values: values.into(), writes })))
    }

    /// Whether this value is one of them.
    pub fn contains(&self, value: u64) -> bool {
        self.0.values.contains(&value)
    }

    /// Whether the access may write.
    pub(crate) fn writes(&self) -> bool {
        self.0.writes
    }
}

/// One access of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Address of the first byte, or the number of an abstract object (from 2⁶³ up).
    pub object: u64,
    /// How many bytes.
    pub size: u32,
    /// What it does.
    pub kind: Kind,
    /// Whether the thread has to wait until the object allows the access.
    pub waits: bool,
    /// On what its outcome depends. One that failed is recorded as a read.
    pub condition: Condition,
    /// Whether it changed the value. Meaningless for a read.
    pub changed: bool,
    /// The value before the access: of memory, of a lock ([`Access::FREE`] or not), of a semaphore, the number of readers.
    pub old: u64,
}

impl Access {
    /// What `old` says of a lock that nobody holds.
    pub const FREE: u64 = 0;
    /// What `old` says of a lock that someone holds exclusively.
    pub const HELD: u64 = u64::MAX;

    /// An access without conditions.
    pub fn new(object: u64, size: u32, kind: Kind) -> Self {
        Access { object, size, kind, waits: false, condition: Condition::Always, changed: true, old: 0 }
    }

    /// The same access, by a thread that has to wait for it.
    pub fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    /// The same access, with an outcome that depends on the value found.
    pub fn if_found(mut self, condition: Condition) -> Self {
        self.condition = condition;
        self
    }

    /// The same access, with the value that was there before.
    pub fn after(mut self, old: u64) -> Self {
        self.old = old;
        self
    }

    /// Whether it never changes its object.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Await)
    }

    /// Whether it excludes everything else on its object, so that every earlier access to it happens before.
    pub(crate) fn is_total(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Update | Kind::Acquire | Kind::Release | Kind::Take | Kind::Give)
    }

    /// Whether it touches every byte that the other touches.
    pub(crate) fn covers(&self, other: &Access) -> bool {
        let end = |access: &Access| access.object.saturating_add(u64::from(access.size));
        self.object <= other.object && end(self) >= end(other)
    }

    /// Whether the two touch a byte in common.
    pub fn overlaps(&self, other: &Access) -> bool {
        if self.object == other.object {
            return self.size > 0 && other.size > 0;
        }
        self.object < other.object.saturating_add(u64::from(other.size))
            && other.object < self.object.saturating_add(u64::from(self.size))
    }
}

/// Whether two accesses of different threads may not be swapped.
pub fn dependent(a: &Access, b: &Access) -> bool {
    use Kind::{AcquireShared, Await, Call, Read, ReleaseShared, Return};
    if !a.overlaps(b) {
        return false;
    }
    let commute = matches!(
        (a.kind, b.kind),
        (Read | Await, Read | Await)
            | (AcquireShared | ReleaseShared, AcquireShared | ReleaseShared)
            | (Call, Call)
            | (Return, Return)
    );
    !commute
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: (u64, u32, Kind), b: (u64, u32, Kind), expect: bool) {
        let (a, b) = (Access::new(a.0, a.1, a.2), Access::new(b.0, b.1, b.2));
        assert_eq!(dependent(&a, &b), expect, "{a:?} {b:?}");
        assert_eq!(dependent(&b, &a), expect, "{b:?} {a:?}");
    }

    #[test]
    fn reads_commute_and_writes_do_not() {
        check((8, 4, Kind::Read), (8, 4, Kind::Read), false);
        check((8, 4, Kind::Read), (8, 4, Kind::Write), true);
        check((8, 4, Kind::Update), (8, 4, Kind::Update), true);
        check((8, 4, Kind::Write), (12, 4, Kind::Write), false);
    }

    #[test]
    fn accesses_of_different_sizes_meet_in_one_byte() {
        check((8, 8, Kind::Write), (15, 1, Kind::Read), true);
        check((8, 8, Kind::Write), (16, 1, Kind::Read), false);
        check((u64::MAX - 3, 4, Kind::Write), (u64::MAX - 1, 1, Kind::Read), true);
        check((8, 0, Kind::Write), (8, 4, Kind::Write), false);
    }

    #[test]
    fn calls_and_returns() {
        check((HISTORY, 1, Kind::Call), (HISTORY, 1, Kind::Call), false);
        check((HISTORY, 1, Kind::Return), (HISTORY, 1, Kind::Return), false);
        check((HISTORY, 1, Kind::Return), (HISTORY, 1, Kind::Call), true);
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        check((8, 1, Kind::AcquireShared), (8, 1, Kind::ReleaseShared), false);
        check((8, 1, Kind::AcquireShared), (8, 1, Kind::Acquire), true);
        check((8, 1, Kind::Release), (8, 1, Kind::AcquireShared), true);
        check((8, 1, Kind::Read), (8, 1, Kind::ReleaseShared), true);
    }
}
