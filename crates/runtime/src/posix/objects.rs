//! What the run knows of its locks, queues and keys. Everything starts from nothing in every run.
//!
//! Objects that strategies see are numbers: an address with a tag above it. Addresses of user memory fit 47 bits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use selvedge_explore::{Access, Thread, Threads};
use selvedge_protocol::{Class, Out};

use crate::fiber::{Destructor, KEYS};
use crate::posix::descriptor::Descriptors;

/// A hash of addresses that is the same in every run.
#[derive(Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// A table by address.
pub type Table<T> = HashMap<usize, T, BuildHasherDefault<Mix>>;

/// Forgets everything; a table that nobody used costs a look.
pub fn empty<T>(table: &mut Table<T>) {
    if !table.is_empty() {
        table.clear();
    }
}

const ABSTRACT: u64 = 1 << 63;

/// An object that is known by an address or a number.
pub fn tagged(tag: u64, address: usize) -> u64 {
    ABSTRACT | tag << 48 | address as u64
}

/// Whether this is something of ours, and no address.
#[inline]
pub fn is_abstract(object: u64) -> bool {
    object & ABSTRACT != 0
}

/// A mutex, a lock for readers and writers, a semaphore.
pub fn lock(address: usize) -> u64 {
    tagged(1, address)
}

/// The queue of a condition variable.
pub fn queue(address: usize) -> u64 {
    tagged(2, address)
}

/// The queue of a barrier.
pub fn barrier(address: usize) -> u64 {
    tagged(9, address)
}

/// A lock that the program says it has.
pub fn annotated(address: usize) -> u64 {
    tagged(11, address)
}

/// What those who read under a lock for readers and writers did, for the next who writes.
pub fn readers(address: usize) -> u64 {
    tagged(12, address)
}

/// What an object is.
pub fn class(object: u64) -> Class {
    if object & ABSTRACT == 0 {
        return Class::Memory;
    }
    match object >> 48 & 0x7fff {
        1 | 11 => Class::Lock,
        2 => Class::Condition,
        3 => Class::Futex,
        4 => Class::Once,
        5 => Class::WakeUp,
        6 => Class::EndOfThread,
        7 => Class::Threads,
        8 => Class::Clock,
        9 => Class::Barrier,
        10 => Class::Heap,
        0x40 => Class::Pipe,
        0x41 => Class::Socket,
        0x42 => Class::EventFd,
        0x43 => Class::TimerFd,
        0x44 => Class::Epoll,
        0x45..=0x47 => Class::Descriptors,
        _ => Class::Other,
    }
}

/// The address or number inside an object.
pub fn inner(object: u64) -> u64 {
    if object & ABSTRACT == 0 { object } else { object & 0xffff_ffff_ffff }
}

/// The queue of a futex.
pub fn futex(address: usize) -> u64 {
    tagged(3, address)
}

/// That an initialisation is done.
pub fn done(address: usize) -> u64 {
    tagged(4, address)
}

/// That a thread was woken.
pub fn wake(thread: usize) -> u64 {
    tagged(5, thread)
}

/// That a thread has ended.
pub fn ended(thread: usize) -> u64 {
    tagged(6, thread)
}

/// Who holds a mutex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mutex {
    /// The owner.
    pub owner: Option<u16>,
    /// How often it has locked it.
    pub count: u32,
}

/// Who holds a lock for readers and writers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RwLock {
    /// The writer.
    pub writer: Option<u16>,
    /// The readers, each as often as it has locked.
    pub readers: Vec<u16>,
}

impl RwLock {
    /// What it is, as strategies see it.
    pub fn old(&self) -> u64 {
        if self.writer.is_some() { Access::HELD } else { self.readers.len() as u64 }
    }
}

/// How far an initialisation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Once {
    /// Not begun.
    #[default]
    New,
    /// Some thread is at it.
    Running,
    /// Done.
    Done,
}

/// A barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Barrier {
    /// How many must come.
    pub count: u32,
    /// Who waits.
    pub waiting: Vec<u16>,
}

/// All objects of a run.
#[derive(Clone, Default)]
pub struct Objects {
    /// Mutexes, spin locks.
    pub mutexes: Table<Mutex>,
    /// Locks for readers and writers.
    pub rwlocks: Table<RwLock>,
    /// Who waits for which condition variable, in order of arrival.
    pub conditions: Table<Vec<u16>>,
    /// Who waits for which futex, in order of arrival.
    pub futexes: Table<Vec<u16>>,
    /// Initialisations.
    pub onces: Table<Once>,
    /// Barriers.
    pub barriers: Table<Barrier>,
    /// The objects in memory that may be freed: where they lie, and what strategies know them by.
    pub in_heap: BTreeSet<(usize, u64)>,
    /// Whether a thread has let go of an exception that others may have held.
    pub exceptions_shared: bool,
    /// What becomes ready when a thread ends: what libstdc++ knows it by, and where that was asked for.
    pub ready_at_exit: Vec<(usize, u64)>,
    /// The signals that threads have blocked, where they have blocked any. None comes in a run, so nothing else depends on it.
    pub blocked: BTreeMap<usize, u64>,
    /// The words of memory that inline assembly has touched in this run.
    pub assembled: BTreeSet<u64>,
    /// Where a thread last synchronised in code of which no more is seen than that, in this run; 0 if none has.
    pub unseen: u64,
    /// Where two threads have done so by the same word.
    pub unseen_by_two: u64,
    /// Why what seemed to be a data race may be none, and where.
    pub doubt: Option<(Out, u64)>,
    /// Those words, and who was the first.
    pub foreign: BTreeMap<u64, usize>,
    /// Who has come back without a reason in this run, from where, and from what.
    pub spurious: BTreeSet<(usize, u64, u64)>,
    /// Pipes, sockets and their like.
    pub descriptors: Descriptors,
    keys: Vec<Option<Option<Destructor>>>,
}

impl Objects {
    /// Forgets all, and keeps the memory.
    #[inline(always)]
    pub fn clear(&mut self) {
        let locks = self.mutexes.len() | self.rwlocks.len() | self.conditions.len() | self.futexes.len();
        if locks | self.onces.len() | self.barriers.len() | self.in_heap.len() != 0 {
            self.forget_locks();
        }
        let rare = self.blocked.len() | self.assembled.len() | self.foreign.len() | self.spurious.len();
        if rare != 0 || self.doubt.is_some() || !self.descriptors.is_untouched() {
            self.forget_rare();
        }
        self.exceptions_shared = false;
        self.ready_at_exit.clear();
        (self.unseen, self.unseen_by_two) = (0, 0);
        self.keys.clear();
    }

    #[inline(never)]
    fn forget_rare(&mut self) {
        self.blocked.clear();
        self.assembled.clear();
        self.foreign.clear();
        self.spurious.clear();
        self.doubt = None;
        self.descriptors.clear();
    }

    #[inline(never)]
    fn forget_locks(&mut self) {
        empty(&mut self.mutexes);
        empty(&mut self.rwlocks);
        empty(&mut self.conditions);
        empty(&mut self.futexes);
        empty(&mut self.onces);
        empty(&mut self.barriers);
        self.in_heap.clear();
    }

    /// Whether these are in the same state.
    pub fn is_same(&self, other: &Self) -> bool {
        self.mutexes == other.mutexes
            && self.rwlocks == other.rwlocks
            && self.conditions == other.conditions
            && self.futexes == other.futexes
            && self.onces == other.onces
            && self.barriers == other.barriers
            && self.in_heap == other.in_heap
            && self.exceptions_shared == other.exceptions_shared
            && self.ready_at_exit == other.ready_at_exit
            && self.descriptors == other.descriptors
            && self.keys.len() == other.keys.len()
    }

    /// Forgets what is at this address; what a lock was.
    pub fn remove(&mut self, address: usize) -> u64 {
        self.conditions.remove(&address);
        self.barriers.remove(&address);
        self.onces.remove(&address);
        let mutex = self.mutexes.remove(&address).and_then(|mutex| mutex.owner);
        let rwlock = self.rwlocks.remove(&address).unwrap_or_default();
        if mutex.is_some() { Access::HELD } else { rwlock.old() }
    }

    /// Who holds the lock at this address; `None` when nobody can tell, as with a semaphore.
    pub fn holders(&self, address: usize) -> Option<Threads> {
        let (mutex, rwlock) = (self.mutexes.get(&address), self.rwlocks.get(&address));
        let readers = rwlock.into_iter().flat_map(|lock| lock.writer.iter().chain(&lock.readers));
        let holders = mutex.into_iter().flat_map(|mutex| &mutex.owner).chain(readers);
        (mutex.is_some() || rwlock.is_some()).then(|| holders.map(|&thread| Thread(thread)).collect())
    }

    /// Whether nobody holds the mutex.
    pub fn mutex_free(&self, address: usize) -> bool {
        self.mutexes.get(&address).is_none_or(|mutex| mutex.owner.is_none())
    }

    /// Whether a reader may have the lock.
    pub fn readable(&self, address: usize) -> bool {
        self.rwlocks.get(&address).is_none_or(|lock| lock.writer.is_none())
    }

    /// Whether a writer may have the lock.
    pub fn writable(&self, address: usize) -> bool {
        self.rwlocks.get(&address).is_none_or(|lock| lock.writer.is_none() && lock.readers.is_empty())
    }

    /// Whether nobody is at the initialisation.
    pub fn once_idle(&self, address: usize) -> bool {
        self.onces.get(&address) != Some(&Once::Running)
    }

    /// A new key.
    pub fn add_key(&mut self, destructor: Option<Destructor>) -> Option<usize> {
        if let Some(free) = self.keys.iter().position(|key| key.is_none()) {
            self.keys[free] = Some(destructor);
            return Some(free);
        }
        (self.keys.len() < KEYS).then(|| {
            self.keys.push(Some(destructor));
            self.keys.len() - 1
        })
    }

    /// The key is no more.
    pub fn remove_key(&mut self, key: usize) -> bool {
        self.keys.get_mut(key).is_some_and(|slot| slot.take().is_some())
    }

    /// How many keys there have been at once, at most, in this run.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// What a key's values are destroyed with.
    pub fn key_destructor(&self, key: usize) -> Option<Destructor> {
        self.keys.get(key).copied().flatten().flatten()
    }
}

/// The order in which threads are created.
pub fn threads() -> u64 {
    tagged(7, 0)
}

/// The freed blocks of so many units that any thread may have.
pub fn heap(units: usize) -> u64 {
    tagged(10, units)
}

/// A choice of the test. Nobody else touches it.
pub fn choice() -> u64 {
    tagged(13, 0)
}

/// Virtual time.
pub fn clock() -> u64 {
    tagged(8, 0)
}
