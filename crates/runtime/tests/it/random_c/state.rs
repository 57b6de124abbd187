//! The state of a random program as the twin keeps it, and what single steps do to it.
//!
//! Invariant: clocks say what happens before what, and nothing else depends on them; without anybody who looks they are all zero.

use super::code::{Instruction, digit, failure};
use super::kernel::Kernel;
use super::program::{FLAVOURS, Mode, OBJECTS, Order, VARIABLES};

const THREADS: usize = 5;

pub type Clock = [u8; THREADS];

pub fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}

/// The last access of each kind by each thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Touched {
    pub reads: Clock,
    pub writes: Clock,
    pub atomic_reads: Clock,
    pub atomic_writes: Clock,
}

impl Touched {
    /// Notes an access; whether it races with an earlier one.
    pub fn touch(&mut self, thread: usize, clock: &Clock, write: bool, atomic: bool) -> bool {
        let unknown = |times: &Clock| (0..THREADS).any(|other| other != thread && times[other] > clock[other]);
        let races = unknown(&self.writes)
            || !atomic && unknown(&self.atomic_writes)
            || write && unknown(&self.reads)
            || write && !atomic && unknown(&self.atomic_reads);
        let mine = match (write, atomic) {
            (false, false) => &mut self.reads,
            (true, false) => &mut self.writes,
            (false, true) => &mut self.atomic_reads,
            (true, true) => &mut self.atomic_writes,
        };
        mine[thread] = clock[thread];
        races
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variable {
    pub value: u128,
    pub published: Clock,
    /// What each thread knew at its last release there, where its later stores belong to the release sequence: in C, and in C++ before C++20.
    pub released: [Clock; THREADS],
    pub touched: Touched,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    pub value: u8,
    pub freed: bool,
    pub touched: Touched,
}

/// Where a thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    Condition(usize),
    Barrier(usize),
    Futex(usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// At an instruction.
    #[default]
    Ready,
    Asleep(Queue),
    /// Wants the mutex again, and then says whether it was woken.
    Woken(bool),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Thread {
    pub created: bool,
    pub ended: bool,
    pub at: usize,
    pub phase: Phase,
    pub seen: u64,
    pub last: u8,
    pub clock: Clock,
    /// Of its last release fence.
    pub fenced: Clock,
    /// What relaxed loads saw.
    pub noticed: Clock,
    pub keys: [u8; OBJECTS],
    /// What an attempt goes by, what else it found, and how many it made.
    pub first: u128,
    pub second: u128,
    pub tries: u8,
    /// The block in hand: whose, and which.
    pub block: Option<(u8, u8)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mutex {
    pub owner: Option<u8>,
    pub count: u8,
    pub clock: Clock,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shared {
    pub writer: Option<u8>,
    pub readers: [u8; THREADS],
    pub of_writers: Clock,
    pub of_readers: Clock,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// Whether a thread's later stores go on with what it released.
    pub sequences: bool,
    pub threads: Vec<Thread>,
    pub variables: [Variable; VARIABLES],
    pub mutexes: [Mutex; FLAVOURS.len()],
    pub shared: [Shared; OBJECTS],
    pub conditions: [Vec<u8>; OBJECTS],
    /// In Rust, who sleeps for certain, one bit each.
    pub asleep: [u8; OBJECTS],
    pub barriers: [(Vec<u8>, Clock); OBJECTS],
    pub units: [(u8, Clock); OBJECTS],
    /// Not begun, begun, done.
    pub onces: [(u8, Clock); OBJECTS],
    /// Who sleeps, and for which bits.
    pub futexes: [Vec<(u8, u8)>; VARIABLES],
    /// Of each thread, in the order of allocation.
    pub blocks: Vec<Vec<Block>>,
    pub places: [(Option<(u8, u8)>, Clock); OBJECTS],
    /// Pipes and their like.
    pub kernel: Kernel,
}

/// Every choice of some of them.
fn subsets(all: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..1_u32 << all.len())
        .map(|set| all.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, one)| *one).collect())
}

/// How a step ended.
pub enum Step {
    /// It cannot be made now.
    Blocked,
    /// It leads to one of these.
    To(Vec<State>),
    /// It goes wrong.
    Wrong(&'static str),
}

impl Step {
    /// It leads there.
    pub fn one(state: State) -> Self {
        Step::To(vec![state])
    }
}

impl Thread {
    pub fn see(&mut self, value: u8) {
        self.last = value & 127;
        self.seen = self.seen.wrapping_mul(131).wrapping_add(u64::from(self.last) + 1);
    }
}

impl State {
    pub fn forget_clocks(&mut self) {
        for thread in &mut self.threads {
            (thread.clock, thread.fenced, thread.noticed) = Default::default();
        }
        for variable in &mut self.variables {
            (variable.published, variable.released, variable.touched) = Default::default();
        }
        self.mutexes.iter_mut().for_each(|mutex| mutex.clock = Clock::default());
        self.shared.iter_mut().for_each(|lock| (lock.of_readers, lock.of_writers) = Default::default());
        self.barriers.iter_mut().for_each(|barrier| barrier.1 = Clock::default());
        self.units.iter_mut().for_each(|units| units.1 = Clock::default());
        self.onces.iter_mut().for_each(|once| once.1 = Clock::default());
        self.kernel.forget_clocks();
    }

    /// What the thread knows; what it does from now on is later.
    pub fn publish(&mut self, thread: usize) -> Clock {
        let clock = &mut self.threads[thread].clock;
        let known = *clock;
        clock[thread] += 1;
        known
    }

    /// The thread sleeps at the instruction that it has made.
    pub fn sleep(&mut self, thread: usize, queue: Queue) {
        self.threads[thread].at -= 1;
        self.threads[thread].phase = Phase::Asleep(queue);
    }

    pub fn wake(&mut self, thread: u8, clock: &Clock) {
        let woken = &mut self.threads[usize::from(thread)];
        woken.phase = Phase::Woken(true);
        join(&mut woken.clock, clock);
    }

    pub fn wake_first(&mut self, thread: usize, variable: usize, count: u8, mask: u8) -> u8 {
        let clock = self.publish(thread);
        let mut woken = 0;
        while let Some(at) = self.futexes[variable].iter().position(|(_, theirs)| theirs & mask != 0)
            && woken < count
        {
            let (other, _) = self.futexes[variable].remove(at);
            self.wake(other, &clock);
            woken += 1;
        }
        woken
    }

    /// One of those who wait is woken, whichever.
    pub fn signal(mut self, thread: usize, condition: usize) -> Step {
        let clock = self.publish(thread);
        let waiting = self.conditions[condition].clone();
        if waiting.is_empty() {
            return Step::one(self);
        }
        Step::To(waiting.into_iter().map(|woken| self.with_woken(condition, &[woken], &clock)).collect())
    }

    /// In Rust a signal is two steps. At the first, any of those who wait may not sleep yet: they go on, and all others sleep.
    pub fn announce(mut self, thread: usize, condition: usize) -> Step {
        let clock = self.publish(thread);
        let awake = |other: &&u8| self.asleep[condition] >> **other & 1 == 0;
        let awake: Vec<u8> = self.conditions[condition].iter().filter(awake).copied().collect();
        let next = |chosen: Vec<u8>| {
            let mut next = self.with_woken(condition, &chosen, &clock);
            next.asleep[condition] = next.conditions[condition].iter().fold(0, |set, other| set | 1 << other);
            next
        };
        Step::To(subsets(&awake).map(next).collect())
    }

    /// At the second, one of those who sleep is woken, or all. Those who came since the first may sleep already, behind the others, or not.
    pub fn arouse(mut self, thread: usize, condition: usize, all: bool) -> Step {
        let clock = self.publish(thread);
        let (old, new): (Vec<u8>, Vec<u8>) =
            self.conditions[condition].iter().partition(|other| self.asleep[condition] >> **other & 1 == 1);
        let woken: Vec<Vec<u8>> = match (all, old.is_empty()) {
            (true, _) => subsets(&new).map(|set| [old.clone(), set].concat()).collect(),
            (false, false) => old.iter().map(|other| vec![*other]).collect(),
            (false, true) => subsets(&new).filter(|set| set.len() < 2).collect(),
        };
        Step::To(woken.iter().map(|woken| self.with_woken(condition, woken, &clock)).collect())
    }

    fn with_woken(&self, condition: usize, woken: &[u8], clock: &Clock) -> State {
        let mut next = self.clone();
        for other in woken {
            next.leaves(usize::from(*other), condition);
            next.wake(*other, clock);
        }
        next
    }

    /// The thread waits no longer.
    pub fn leaves(&mut self, thread: usize, condition: usize) {
        self.conditions[condition].retain(|other| usize::from(*other) != thread);
        self.asleep[condition] &= !(1 << thread);
    }

    pub fn load(&mut self, thread: usize, variable: usize, order: Order) -> Result<u128, &'static str> {
        let (me, variable) = (&mut self.threads[thread], &mut self.variables[variable]);
        if variable.touched.touch(thread, &me.clock, false, true) {
            return Err("data-race");
        }
        join(if order.acquires() { &mut me.clock } else { &mut me.noticed }, &variable.published);
        Ok(variable.value)
    }

    /// A store, or the second half of an update, which goes on with what was published before.
    pub fn store(
        &mut self,
        thread: usize,
        variable: usize,
        value: u128,
        order: Order,
        goes_on: bool,
    ) -> Result<(), &'static str> {
        let (me, variable) = (&mut self.threads[thread], &mut self.variables[variable]);
        if variable.touched.touch(thread, &me.clock, true, true) {
            return Err("data-race");
        }
        let mut mine = if order.releases() { me.clock } else { me.fenced };
        if self.sequences {
            if order.releases() {
                variable.released[thread] = mine;
            } else {
                join(&mut mine, &variable.released[thread]);
            }
        }
        if goes_on {
            join(&mut variable.published, &mine);
        } else {
            variable.published = mine;
        }
        if order.releases() {
            me.clock[thread] += 1;
        }
        variable.value = value;
        Ok(())
    }

    pub fn exchange(
        &mut self,
        thread: usize,
        variable: usize,
        expected: u128,
        new: u128,
        order: Order,
        failure: Order,
    ) -> Result<(), &'static str> {
        let works = self.variables[variable].value == expected;
        let found = self.load(thread, variable, if works { order } else { failure })?;
        if works {
            self.store(thread, variable, new, order, true)?;
        }
        self.threads[thread].see(digit(found));
        self.threads[thread].see(u8::from(works));
        Ok(())
    }

    pub fn fence(&mut self, thread: usize, order: Order) {
        let me = &mut self.threads[thread];
        if order.acquires() {
            let noticed = me.noticed;
            join(&mut me.clock, &noticed);
        }
        if order.releases() {
            me.fenced = me.clock;
            me.clock[thread] += 1;
        }
    }

    pub fn plain(&mut self, thread: usize, variable: usize, write: Option<u128>) -> Result<(), &'static str> {
        let (me, variable) = (&mut self.threads[thread], &mut self.variables[variable]);
        if variable.touched.touch(thread, &me.clock, write.is_some(), false) {
            return Err("data-race");
        }
        match write {
            Some(value) => variable.value = value,
            None => me.see(digit(variable.value)),
        }
        Ok(())
    }

    pub fn block(&mut self, thread: usize, instruction: &Instruction) -> Result<(), &'static str> {
        let (me, at) = (&mut self.threads[thread], |block: (u8, u8)| (usize::from(block.0), usize::from(block.1)));
        match instruction {
            Instruction::Swap(place, value) => {
                let new = value.map(|value| {
                    let mut block = Block { value, ..Block::default() };
                    block.touched.touch(thread, &me.clock, true, false);
                    self.blocks[thread].push(block);
                    (thread as u8, self.blocks[thread].len() as u8 - 1)
                });
                let (in_place, published) = &mut self.places[*place];
                me.block = std::mem::replace(in_place, new);
                join(&mut me.clock, published);
                join(published, &me.clock);
                me.clock[thread] += 1;
            }
            Instruction::Replace(place, value) => {
                let mut block = Block { value: *value, ..Block::default() };
                block.touched.touch(thread, &me.clock, true, false);
                self.blocks[thread].push(block);
                let new = Some((thread as u8, self.blocks[thread].len() as u8 - 1));
                let (in_place, published) = &mut self.places[*place];
                join(&mut me.clock, published);
                let works = *in_place == me.block;
                if works {
                    *in_place = new;
                    join(published, &me.clock);
                    me.clock[thread] += 1;
                } else {
                    me.block = new;
                }
                me.see(u8::from(works));
            }
            Instruction::Fetch(place) => {
                me.block = self.places[*place].0;
                join(&mut me.clock, &self.places[*place].1);
            }
            Instruction::ReadBlock => match me.block.map(at) {
                None => me.see(0),
                Some((owner, number)) => {
                    let block = &mut self.blocks[owner][number];
                    if block.freed {
                        return Err("use-after-free");
                    }
                    if block.touched.touch(thread, &me.clock, false, false) {
                        return Err("data-race");
                    }
                    me.see(block.value);
                }
            },
            _ => {
                let Some((owner, number)) = me.block.take().map(at) else { return Ok(()) };
                let block = &mut self.blocks[owner][number];
                if block.freed {
                    return Err("double-free");
                }
                if block.touched.touch(thread, &me.clock, true, false) {
                    return Err("use-after-free");
                }
                block.freed = true;
            }
        }
        Ok(())
    }

    pub fn take(&mut self, thread: usize, mutex: usize) {
        let mutex = &mut self.mutexes[mutex];
        (mutex.owner, mutex.count) = (Some(thread as u8), 1);
        join(&mut self.threads[thread].clock, &mutex.clock);
    }

    pub fn give_up(&mut self, thread: usize, mutex: usize, count: u8) {
        self.mutexes[mutex].count = self.mutexes[mutex].count.saturating_sub(count);
        if self.mutexes[mutex].count == 0 {
            let clock = self.publish(thread);
            self.mutexes[mutex].owner = None;
            join(&mut self.mutexes[mutex].clock, &clock);
        }
    }

    pub fn lock_shared(mut self, thread: usize, which: usize, mode: Mode, write: bool) -> Step {
        let (lock, me) = (&mut self.shared[which], &mut self.threads[thread]);
        let read = lock.readers.iter().any(|&count| count > 0);
        if lock.writer.is_some() || write && read {
            if matches!(mode, Mode::Wait | Mode::Loop) {
                return Step::Blocked;
            }
            me.see(failure(mode, false));
            return Step::one(self);
        }
        join(&mut me.clock, &lock.of_writers);
        if write {
            join(&mut me.clock, &lock.of_readers);
            lock.writer = Some(thread as u8);
        } else {
            lock.readers[thread] += 1;
        }
        if mode != Mode::Loop {
            me.see(0);
        }
        Step::one(self)
    }

    pub fn unlock_shared(mut self, thread: usize, which: usize) -> Step {
        let clock = self.publish(thread);
        let lock = &mut self.shared[which];
        if lock.writer == Some(thread as u8) {
            lock.writer = None;
            join(&mut lock.of_writers, &clock);
        } else if lock.readers[thread] > 0 {
            lock.readers[thread] -= 1;
            join(&mut lock.of_readers, &clock);
        } else {
            return Step::Wrong("misuse");
        }
        self.threads[thread].see(0);
        Step::one(self)
    }

    pub fn take_unit(mut self, thread: usize, which: usize, mode: Mode) -> Step {
        let (units, me) = (&mut self.units[which], &mut self.threads[thread]);
        if units.0 == 0 {
            match mode {
                Mode::Wait | Mode::Loop => return Step::Blocked,
                Mode::Try => me.see(11),
                Mode::Timed => me.see(failure(mode, false)),
            }
            return Step::one(self);
        }
        units.0 -= 1;
        join(&mut me.clock, &units.1);
        if mode != Mode::Loop {
            me.see(0);
        }
        Step::one(self)
    }
}
