//! What the run knows of its pipes, sockets and their like: numbers, what they stand for, and how much there is to be read and written.
//!
//! The kernel has a descriptor for each number, of the same kind and with nothing in it: so numbers, what `fstat` says and what `exec` closes are the kernel's. Everything that
//! goes through them is here.
//!
//! Strategies see *levels*: two objects for each source, how much can be read and how much room there is ([`Condition::AtLeast`]). Whoever changes a source touches both, and the
//! events of each `epoll` that watches it. Invariant: what a call may do depends on levels that its step touches, on the number and on the flags that it was called with.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;

use selvedge_explore::{Access, Condition, Kind};

use super::epoll::Epoll;
use super::queue::{GONE, Queue};
use crate::posix::objects;

/// What can be read of a source, and what can be written to it.
pub const DATA: usize = 0;
pub const ROOM: usize = 1;

/// Something that is read from or written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A pipe.
    Pipe(Queue),
    /// One direction of a pair of sockets.
    Socket(Queue),
    /// An `eventfd`: its count, and whether a read takes one.
    Event(u64, bool),
    /// A `timerfd`.
    Timer(Timer),
    /// An `epoll`.
    Epoll(Epoll),
}

/// A `timerfd`, in nanoseconds of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timer {
    /// When it expires next, if it is armed.
    pub next: Option<u64>,
    /// After how long again, if not 0.
    pub interval: u64,
    /// How often it has expired since somebody last read that.
    pub ticks: u64,
    /// Whether somebody has looked at it in vain since it was set.
    pub looked: bool,
}

impl Timer {
    /// Whether there is something to read, or will be when time has passed.
    pub fn may_tick(&self) -> bool {
        self.ticks > 0 || self.next.is_some()
    }

    /// It is that late.
    pub fn settle(&mut self, now: u64) {
        let Some(next) = self.next.filter(|&next| next <= now) else { return };
        let more = (now - next).checked_div(self.interval);
        self.ticks += 1 + more.unwrap_or(0);
        self.next = more.map(|more| next.saturating_add((more + 1).saturating_mul(self.interval)));
    }
}

/// A source with the numbers that it was first known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub source: Source,
    pub shown: [c_int; 2],
}

/// Which sources a description reads from and writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub sources: [Option<usize>; 2],
    /// Whether it is a socket.
    pub socket: bool,
}

/// An open file, as POSIX calls what descriptors stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub ends: Ends,
    /// Whether calls do not wait.
    pub nonblocking: bool,
    /// How many descriptors stand for it, and calls that hold it.
    pub held: u32,
    /// Whether reads and writes give up after some time.
    pub gives_up: [bool; 2],
}

/// What a call that has not been made waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// So much of something.
    Level(u64, u64),
    /// One of these descriptors with one of these events.
    Any(Vec<(c_int, u32)>),
}

/// A call that some thread has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub number: c_int,
    pub description: usize,
    pub awaits: Awaits,
    /// Whether it is sure that the number was looked up before it was closed.
    pub inside: bool,
}

/// All of a run.
#[derive(Clone, Default)]
pub struct Descriptors {
    numbers: BTreeMap<c_int, usize>,
    known: BTreeSet<c_int>,
    descriptions: Vec<Description>,
    sources: Vec<Kept>,
    /// By thread.
    pub calls: BTreeMap<usize, Call>,
    writes: u64,
}

impl PartialEq for Descriptors {
    fn eq(&self, other: &Self) -> bool {
        self.numbers == other.numbers
            && self.descriptions == other.descriptions
            && self.sources == other.sources
            && self.calls == other.calls
    }
}

/// What everybody touches who opens or closes one.
pub fn numbers() -> u64 {
    objects::tagged(0x45, 0)
}

/// What a number stands for.
pub fn slot(number: c_int) -> u64 {
    objects::tagged(0x46, number as usize)
}

/// What the flags of a description are; `number` is for those who read reports.
pub fn flags(description: usize, number: c_int) -> u64 {
    objects::tagged(0x47, description << 24 | (number as usize & 0xff_ffff))
}

/// What one write told those who read what it wrote.
pub fn write(number: u64) -> u64 {
    objects::tagged(0x48, number as usize)
}

/// What somebody told `epoll` of a description.
pub fn interest(epoll: usize, number: c_int) -> u64 {
    objects::tagged(0x49, epoll << 24 | number as usize)
}

/// Whether there is more or less of an object of ours.
pub fn has_level(object: u64) -> bool {
    matches!(object >> 48 & 0x7fff, 0x40..=0x44)
}

/// The number of a descriptor inside of an object of ours.
pub fn shown(object: u64) -> Option<u64> {
    match object >> 48 & 0x7fff {
        0x40..=0x44 => Some((objects::inner(object) & 0xff_ffff) >> 1),
        0x46 => Some(objects::inner(object)),
        0x47 => Some(objects::inner(object) & 0xff_ffff),
        0x45 => Some(0),
        _ => None,
    }
}

impl Descriptors {
    /// Whether a thread waits for any of several.
    pub fn waits_for_several(&self) -> bool {
        self.calls.values().any(|call| matches!(&call.awaits, Awaits::Any(wanted) if wanted.len() > 1))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Descriptors::default();
    }

    /// Whether nobody has made any in this run.
    #[inline(always)]
    pub fn is_untouched(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether the number has stood for something of ours in this run.
    pub fn knows(&self, number: c_int) -> bool {
        self.known.contains(&number)
    }

    /// What the number stands for.
    pub fn find(&self, number: c_int) -> Option<usize> {
        self.numbers.get(&number).copied()
    }

    /// The numbers that are ours.
    pub fn all(&self) -> Vec<c_int> {
        self.numbers.keys().copied().collect()
    }

    /// A description.
    pub fn description(&mut self, at: usize) -> &mut Description {
        &mut self.descriptions[at]
    }

    /// What a description reads from and writes to.
    pub fn ends(&self, at: usize) -> Ends {
        self.descriptions[at].ends
    }

    /// A source.
    pub fn source(&mut self, at: usize) -> &mut Source {
        &mut self.sources[at].source
    }

    /// The bytes in a source that has some.
    pub fn queue(&mut self, at: usize) -> Option<&mut Queue> {
        match &mut self.sources[at].source {
            Source::Pipe(queue) | Source::Socket(queue) => Some(queue),
            _ => None,
        }
    }

    /// The same, to look at.
    pub fn queue_at(&self, at: usize) -> Option<&Queue> {
        match &self.sources[at].source {
            Source::Pipe(queue) | Source::Socket(queue) => Some(queue),
            _ => None,
        }
    }

    /// A new source.
    pub fn add_source(&mut self, source: Source, shown: [c_int; 2]) -> usize {
        self.sources.push(Kept { source, shown });
        self.sources.len() - 1
    }

    /// A number stands for a new description.
    pub fn open(&mut self, number: c_int, ends: Ends, nonblocking: bool) {
        let at = self.descriptions.len();
        self.descriptions.push(Description { ends, nonblocking, held: 0, gives_up: [false; 2] });
        self.name(number, at);
    }

    /// A number stands for a description.
    pub fn name(&mut self, number: c_int, description: usize) {
        self.numbers.insert(number, description);
        self.known.insert(number);
        self.descriptions[description].held += 1;
    }

    /// A number stands for nothing; what it stood for.
    pub fn forget(&mut self, number: c_int) -> Option<usize> {
        self.numbers.remove(&number)
    }

    /// The next number of a write.
    pub fn next_write(&mut self) -> u64 {
        self.writes += 1;
        self.writes
    }

    /// What strategies know one half of a source by.
    pub fn object(&self, at: usize, half: usize) -> u64 {
        let kept = &self.sources[at];
        let tag = match kept.source {
            Source::Pipe(_) => 0x40,
            Source::Socket(_) => 0x41,
            Source::Event(..) => 0x42,
            Source::Timer(_) => 0x43,
            Source::Epoll(_) => 0x44,
        };
        objects::tagged(tag, at << 24 | (kept.shown[half] as usize & 0x7f_ffff) << 1 | half)
    }

    /// How much there is of what strategies know by that object.
    pub fn level(&self, object: u64) -> u64 {
        let inner = objects::inner(object) as usize;
        let Some(kept) = self.sources.get(inner >> 24) else { return 0 };
        match (&kept.source, inner & 1) {
            (Source::Pipe(queue) | Source::Socket(queue), DATA) => queue.level(),
            (Source::Pipe(queue) | Source::Socket(queue), _) => queue.room(),
            (Source::Event(count, _), DATA) => *count,
            (Source::Event(count, _), _) => u64::MAX - 1 - count,
            (Source::Timer(timer), _) => u64::from(timer.may_tick()),
            (Source::Epoll(epoll), _) => self.events_of(epoll),
        }
    }

    /// For how many descriptors an `epoll` has something to tell, at once or when time has passed.
    fn events_of(&self, epoll: &Epoll) -> u64 {
        let tells = |number: &&(c_int, usize)| {
            let interest = &epoll.interests[*number];
            let timed = self.timer_of(number.1).is_some_and(|timer| timer.next.is_some());
            let ready = epoll.ready.contains(*number) && self.events(number.1) & interest.wanted() != 0;
            ready || timed && !interest.is_off() && interest.wanted() & libc::EPOLLIN as u32 != 0
        };
        epoll.interests.keys().filter(tells).count() as u64
    }

    /// The timer that a description is.
    pub fn timer_of(&self, description: usize) -> Option<&Timer> {
        match &self.sources[self.descriptions[description].ends.sources[DATA]?].source {
            Source::Timer(timer) => Some(timer),
            _ => None,
        }
    }

    /// What `poll` says of a description.
    pub fn events(&self, description: usize) -> u32 {
        let ends = self.descriptions[description].ends;
        let of = |half: usize| ends.sources[half].map(|at| &self.sources[at].source);
        const IN: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
        const OUT: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM) as u32;
        let [hung_up, error] = [libc::EPOLLHUP as u32, libc::EPOLLERR as u32];
        let mut events = 0;
        let mut put = |on: bool, which: u32| events |= if on { which } else { 0 };
        match of(DATA) {
            Some(Source::Pipe(queue)) => {
                put(!queue.is_empty(), IN);
                put(queue.has_ended(), hung_up);
            }
            Some(Source::Socket(queue)) => {
                put(!queue.is_empty() || queue.has_ended(), IN);
                put(queue.has_ended(), libc::EPOLLRDHUP as u32);
                put(queue.reset, error);
                let other = matches!(of(ROOM), Some(Source::Socket(other)) if other.is_broken());
                put(queue.has_ended() && other, hung_up);
            }
            Some(Source::Event(count, _)) => put(*count > 0, libc::EPOLLIN as u32),
            Some(Source::Timer(timer)) => put(timer.ticks > 0, libc::EPOLLIN as u32),
            Some(Source::Epoll(epoll)) => put(self.has_events(epoll), IN),
            None => {}
        }
        match of(ROOM) {
            Some(Source::Pipe(queue)) => {
                put(queue.is_writable(), OUT);
                put(queue.is_broken(), error);
            }
            Some(Source::Socket(queue)) => put(queue.is_writable(), OUT),
            Some(Source::Event(count, _)) => put(*count < u64::MAX - 1, libc::EPOLLOUT as u32),
            _ => {}
        }
        events
    }

    /// Whether an `epoll` has something to tell without time passing.
    pub fn has_events(&self, epoll: &Epoll) -> bool {
        epoll.ready.iter().any(|key| self.events(key.1) & epoll.interests[key].wanted() != 0)
    }

    /// A description is no more: nobody watches it.
    pub fn leaves_epolls(&mut self, description: usize) {
        for kept in &mut self.sources {
            if let Source::Epoll(epoll) = &mut kept.source {
                epoll.interests.retain(|key, _| key.1 != description);
                epoll.ready.retain(|key| key.1 != description);
            }
        }
    }

    /// The sources that a description reads from and writes to.
    pub fn sources_of(&self, description: usize) -> Vec<usize> {
        let mut sources: Vec<usize> = self.descriptions[description].ends.sources.into_iter().flatten().collect();
        sources.dedup();
        sources
    }

    /// The `epoll`s that watch a source.
    pub fn watchers(&self, source: usize) -> Vec<usize> {
        let watches = |epoll: &Epoll| {
            epoll.interests.keys().any(|key| self.descriptions[key.1].ends.sources.contains(&Some(source)))
        };
        let epolls = (0..self.sources.len()).filter(|&at| match &self.sources[at].source {
            Source::Epoll(epoll) => watches(epoll),
            _ => false,
        });
        epolls.collect()
    }

    /// What whoever changes these sources touches, with what is found there.
    pub fn touched(&self, sources: &[usize]) -> Vec<Access> {
        let mut touched: Vec<u64> = Vec::new();
        for &at in sources {
            touched.extend([self.object(at, DATA), self.object(at, ROOM)]);
            touched.extend(self.watchers(at).into_iter().map(|epoll| self.object(epoll, DATA)));
        }
        touched.sort_unstable();
        touched.dedup();
        let touch = |object: u64| Access::new(object, 1, Kind::Update).after(self.level(object));
        touched.into_iter().map(touch).collect()
    }

    /// Something happened to a source: whoever watches it is told. Nothing in particular is told to everybody.
    pub fn notify(&mut self, source: usize, events: c_int) {
        for watcher in self.watchers(source) {
            let Source::Epoll(epoll) = &self.sources[watcher].source else { continue };
            let concerned = |key: &&(c_int, usize)| {
                let interest = &epoll.interests[*key];
                let own = self.descriptions[key.1].ends.sources.contains(&Some(source));
                let told = events == 0 || interest.wanted() & events as u32 != 0;
                own && told && !interest.is_off() && !epoll.ready.contains(*key)
            };
            let new: Vec<(c_int, usize)> = epoll.interests.keys().filter(concerned).copied().collect();
            if let Source::Epoll(epoll) = &mut self.sources[watcher].source {
                epoll.ready.extend(new);
            }
        }
    }

    /// What those wait for who wait for one of these events of a description.
    pub fn needs(&self, description: usize, events: u32) -> Vec<(u64, Condition)> {
        let ends = self.descriptions[description].ends;
        let readable = events & (libc::EPOLLIN | libc::EPOLLRDNORM) as u32 != 0;
        let writable = events & (libc::EPOLLOUT | libc::EPOLLWRNORM) as u32 != 0;
        let mut needs = Vec::new();
        for (half, wanted) in [(DATA, readable), (ROOM, writable)] {
            let Some(at) = ends.sources[half] else { continue };
            let enough = match &self.sources[at].source {
                _ if !wanted => GONE,
                Source::Pipe(queue) | Source::Socket(queue) if half == ROOM => queue.writable_from(),
                _ => 1,
            };
            needs.push((self.object(at, half), Condition::AtLeast(enough)));
        }
        needs
    }

    /// Whether a thread may go on with its call.
    pub fn may_go(&self, thread: usize) -> bool {
        let Some(call) = self.calls.get(&thread) else { return true };
        match &call.awaits {
            Awaits::Level(object, enough) => {
                !call.inside && self.find(call.number) != Some(call.description) || self.level(*object) >= *enough
            }
            Awaits::Any(wanted) => wanted.iter().any(|&(number, events)| match self.find(number) {
                Some(at) => {
                    let timed = self.timer_of(at).is_some_and(|timer| timer.may_tick());
                    self.events(at) & events != 0 || timed && events & libc::EPOLLIN as u32 != 0
                }
                None => true,
            }),
        }
    }

    /// It is that late: what timers have expired. The sources that this changed.
    pub fn settle(&mut self, now: u64) -> Vec<usize> {
        let mut changed = Vec::new();
        for (at, kept) in self.sources.iter_mut().enumerate() {
            if let Source::Timer(timer) = &mut kept.source {
                let before = *timer;
                timer.settle(now);
                if before != *timer {
                    changed.push(at);
                }
            }
        }
        changed.iter().for_each(|&at| self.notify(at, libc::EPOLLIN));
        changed
    }
}
