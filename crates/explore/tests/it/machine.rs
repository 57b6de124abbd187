//! A machine small enough to be obviously right: threads are lists of instructions over shared variables and locks.

use std::ops::ControlFlow;

use selvedge_explore::{
    Access, ChoicePoint, Condition, Coverage, Decision, End, Fairness, HISTORY, Kind, Pending, Pick, Readiness, Run,
    Stop, Strategy, Thread, Threads, Trace,
};

/// A constant or a register.
#[derive(Clone, Copy, Debug)]
pub enum Val {
    C(i64),
    R(usize),
}

/// A variable, or an element of an array of them.
#[derive(Clone, Copy, Debug)]
pub enum Addr {
    Var(usize),
    At(usize, usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Load(usize, Addr),
    Store(Addr, Val),
    /// Adds, and leaves the old value in the register.
    Add(usize, Addr, Val),
    /// The register gets 1 when it succeeded, else 0.
    Cas(usize, Addr, Val, Val),
    /// A compare and exchange that waits until it would succeed, as in a loop that only tries again.
    CasOrWait(Addr, Val, Val),
    /// A load that waits until it would find a value, as in a loop that starts over when something has changed.
    LoadOrWait(Addr, Val),
    /// Plain accesses: no step.
    Peek(usize, Addr),
    Poke(Addr, Val),
    Set(usize, Val),
    /// Jumps when the register is 0.
    IfZero(usize, usize),
    Jump(usize),
    /// Jumps to the last when the two registers are equal.
    Equal(usize, usize, usize),
    /// Jumps to the second when the register is not 0, else to the third.
    IfNotZero(usize, usize, usize),
    Lock(usize),
    Unlock(usize),
    TryLock(usize, usize),
    LockShared(usize),
    UnlockShared(usize),
    Take(usize),
    Give(usize),
    /// Takes so many units at once, as a write that needs room.
    TakeMany(usize, u64),
    /// Waits until either has a unit, as `poll` does; the register gets which have.
    Either(usize, usize, usize),
    Wait(usize, usize),
    /// The same, but it may come back before a signal. If it does, it gives the lock up and takes it again, and never was in the queue;
    WaitOrNot(usize, usize),
    /// or it leaves the queue at any moment before it is woken.
    WaitOrLeave(usize, usize),
    Signal(usize),
    Spawn(usize),
    Join(usize),
    Choose(usize, u32),
    /// Goes no further when the register is 0.
    Assume(usize),
    Call,
    Return(Val),
    Yield,
    /// Waits, as a recognised spin loop does, until somebody changes the variable.
    Changed(usize, Addr),
    /// Keeps a block for whoever takes one; takes one, if there is any. No steps: they belong to the one before.
    Keep,
    Reuse(usize),
}

#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<Op>>,
    /// How many threads exist at the start; the others are spawned.
    pub initial: usize,
    pub memory: Vec<i64>,
    pub locks: usize,
    pub semaphores: Vec<u64>,
    pub conditions: usize,
    pub steps_max: usize,
}

impl Program {
    pub fn new(threads: Vec<Vec<Op>>, variables: usize) -> Self {
        let initial = threads.len();
        let memory = vec![0; variables];
        Program { threads, initial, memory, locks: 0, semaphores: vec![], conditions: 0, steps_max: 400 }
    }
}

/// Everything that a run can be told apart by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Outcome {
    pub memory: Vec<i64>,
    pub registers: Vec<Vec<i64>>,
    /// For each operation in the order of threads: its result, and how many operations of each thread returned before its call.
    pub history: Vec<(Option<i64>, Vec<usize>)>,
    pub stuck: bool,
    pub truncated: bool,
}

#[derive(Clone, Debug)]
struct Live {
    at: usize,
    registers: Vec<i64>,
    born: bool,
    /// Waits for a signal; woken.
    waiting: Option<(usize, usize)>,
    woken: bool,
    /// Whether it may leave the queue without being woken.
    leaves: bool,
    relock: Option<usize>,
    /// Whether the variable changed since `Changed` last looked; `None` when it has not looked.
    changed: Option<bool>,
    operations: Vec<(Option<i64>, Vec<usize>)>,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    Free,
    By(usize),
    Shared(u64),
}

pub struct Machine<'a> {
    program: &'a Program,
    memory: Vec<i64>,
    threads: Vec<Live>,
    locks: Vec<Hold>,
    semaphores: Vec<u64>,
    queues: Vec<Vec<usize>>,
    blocks: u64,
    pub trace: Trace,
    fairness: Fairness,
}

const LOCK: u64 = 1 << 63;
const SEMAPHORE: u64 = LOCK + 1000;
const CONDITION: u64 = LOCK + 2000;
const WAKE: u64 = LOCK + 3000;
const ENDED: u64 = LOCK + 4000;
const BLOCKS: u64 = LOCK + 5000;

impl<'a> Machine<'a> {
    fn new(program: &'a Program, trace: Trace) -> Self {
        let live = |born| Live {
            at: 0,
            registers: vec![0; 6],
            born,
            waiting: None,
            woken: false,
            leaves: false,
            relock: None,
            changed: None,
            operations: vec![],
        };
        let mut machine = Machine {
            program,
            memory: program.memory.clone(),
            threads: (0..program.threads.len()).map(|t| live(t < program.initial)).collect(),
            locks: vec![Hold::Free; program.locks],
            semaphores: program.semaphores.clone(),
            queues: vec![vec![]; program.conditions],
            blocks: 0,
            trace,
            fairness: Fairness::new(),
        };
        for thread in 0..program.initial {
            machine.glide(thread);
        }
        machine
    }

    fn value(&self, thread: usize, value: Val) -> i64 {
        match value {
            Val::C(constant) => constant,
            Val::R(register) => self.threads[thread].registers[register],
        }
    }

    fn variable(&self, thread: usize, addr: Addr) -> usize {
        match addr {
            Addr::Var(variable) => variable,
            Addr::At(base, register) => base + self.threads[thread].registers[register] as usize,
        }
    }

    fn op(&self, thread: usize) -> Option<Op> {
        self.program.threads[thread].get(self.threads[thread].at).copied()
    }

    /// Runs what is no step.
    fn glide(&mut self, thread: usize) {
        for _ in 0..1000 {
            let Some(op) = self.op(thread) else { return };
            let next = self.threads[thread].at + 1;
            let next = match op {
                Op::Peek(register, addr) => {
                    self.threads[thread].registers[register] = self.memory[self.variable(thread, addr)];
                    next
                }
                Op::Poke(addr, value) => {
                    let variable = self.variable(thread, addr);
                    self.memory[variable] = self.value(thread, value);
                    next
                }
                Op::Set(register, value) => {
                    self.threads[thread].registers[register] = self.value(thread, value);
                    next
                }
                Op::IfZero(register, to) => {
                    if self.threads[thread].registers[register] == 0 {
                        to
                    } else {
                        next
                    }
                }
                Op::Keep => {
                    self.trace.access(Access::new(BLOCKS, 1, Kind::Update));
                    self.blocks += 1;
                    next
                }
                Op::Reuse(register) => {
                    let found = self.blocks.min(1);
                    let kind = if found > 0 { Kind::Update } else { Kind::Read };
                    self.trace.access(Access::new(BLOCKS, 1, kind));
                    self.blocks -= found;
                    self.threads[thread].registers[register] = found as i64;
                    next
                }
                Op::Jump(to) => to,
                Op::Equal(a, b, to) => {
                    let registers = &self.threads[thread].registers;
                    if registers[a] == registers[b] { to } else { next }
                }
                Op::IfNotZero(register, to, other) => {
                    if self.threads[thread].registers[register] != 0 {
                        to
                    } else {
                        other
                    }
                }
                _ => return,
            };
            self.threads[thread].at = next;
        }
    }

    fn access(&self, thread: usize, op: Op) -> Access {
        let of = |addr: Addr, kind| {
            let variable = self.variable(thread, addr);
            Access::new(variable as u64 * 8, 8, kind).after(self.memory[variable] as u64)
        };
        let lock = |lock: usize, kind| Access::new(LOCK + lock as u64, 1, kind).after(held(self.locks[lock]));
        match op {
            Op::Load(_, addr) => of(addr, Kind::Read),
            Op::Changed(_, addr) if self.threads[thread].changed.is_some() => of(addr, Kind::Read).waiting(),
            Op::Changed(_, addr) => of(addr, Kind::Read),
            Op::Store(addr, _) => of(addr, Kind::Write),
            Op::Add(_, addr, _) => of(addr, Kind::Update),
            Op::Cas(_, addr, expected, _) => {
                of(addr, Kind::Update).if_found(Condition::Equals(self.value(thread, expected) as u64))
            }
            Op::CasOrWait(addr, expected, _) => {
                let condition = Condition::Equals(self.value(thread, expected) as u64);
                of(addr, Kind::Update).if_found(condition).waiting()
            }
            Op::LoadOrWait(addr, expected) => {
                let condition = Condition::Equals(self.value(thread, expected) as u64);
                of(addr, Kind::Read).if_found(condition).waiting()
            }
            Op::Lock(l) => lock(l, Kind::Acquire).waiting(),
            Op::LockShared(l) => lock(l, Kind::AcquireShared).waiting(),
            Op::Unlock(l) => lock(l, Kind::Release),
            Op::UnlockShared(l) => lock(l, Kind::ReleaseShared),
            Op::TryLock(_, l) => lock(l, Kind::Acquire).if_found(Condition::Equals(Access::FREE)),
            Op::Take(s) => Access::new(SEMAPHORE + s as u64, 1, Kind::Take).after(self.semaphores[s]).waiting(),
            Op::Give(s) => Access::new(SEMAPHORE + s as u64, 1, Kind::Give).after(self.semaphores[s]),
            Op::TakeMany(s, units) => self.level(s, Kind::Take).if_found(Condition::AtLeast(units)),
            Op::Either(_, s, _) => self.level(s, Kind::Read),
            Op::Wait(c, _) | Op::WaitOrNot(c, _) | Op::WaitOrLeave(c, _) | Op::Signal(c) => {
                Access::new(CONDITION + c as u64, 1, Kind::Update)
            }
            Op::Join(t) => Access::new(ENDED + t as u64, 1, Kind::Await).waiting(),
            Op::Call => Access::new(HISTORY, 1, Kind::Call),
            Op::Return(_) => Access::new(HISTORY, 1, Kind::Return),
            _ => Access::new(0, 0, Kind::Read),
        }
    }

    /// A wait for a unit of a semaphore.
    fn level(&self, semaphore: usize, kind: Kind) -> Access {
        let found = self.semaphores[semaphore];
        let access = Access::new(SEMAPHORE + semaphore as u64, 1, kind).after(found);
        access.if_found(Condition::AtLeast(1)).waiting()
    }

    fn ended(&self, thread: usize) -> bool {
        self.threads[thread].born && self.op(thread).is_none() && self.threads[thread].waiting.is_none()
    }

    fn pending(&self) -> Vec<Pending> {
        let live = (0..self.threads.len()).filter(|&t| self.threads[t].born && !self.ended(t));
        let mut pending: Vec<Pending> = live
            .map(|t| {
                let (access, enabled) = self.next(t);
                let readiness = if enabled { Readiness::Ready } else { Readiness::Blocked };
                Pending { thread: Thread(t as u16), access, readiness }
            })
            .collect();
        let enabled = enabled(&pending);
        for one in &mut pending {
            if one.is_enabled() && self.fairness.holds(one.thread, &enabled) {
                one.readiness = Readiness::Held;
            }
        }
        pending
    }

    fn next(&self, t: usize) -> (Access, bool) {
        let thread = &self.threads[t];
        if let Some(lock) = thread.relock {
            return (self.access(t, Op::Lock(lock)), self.locks[lock] == Hold::Free);
        }
        if let Some((condition, _)) = thread.waiting {
            // One that may leave changes the queue, and is always ready.
            if thread.leaves {
                return (Access::new(CONDITION + condition as u64, 1, Kind::Update), true);
            }
            return (Access::new(WAKE + t as u64, 1, Kind::Await).waiting(), thread.woken);
        }
        let op = self.op(t).expect("the thread has not ended");
        let enabled = match op {
            Op::Lock(l) => self.locks[l] == Hold::Free,
            Op::LockShared(l) => !matches!(self.locks[l], Hold::By(_)),
            Op::Take(s) => self.semaphores[s] > 0,
            Op::TakeMany(s, units) => self.semaphores[s] >= units,
            Op::Either(_, a, b) => self.semaphores[a] > 0 || self.semaphores[b] > 0,
            Op::Join(other) => self.ended(other),
            Op::CasOrWait(addr, expected, _) | Op::LoadOrWait(addr, expected) => {
                self.memory[self.variable(t, addr)] == self.value(t, expected)
            }
            Op::Changed(..) => thread.changed != Some(false),
            Op::Assume(register) => thread.registers[register] != 0,
            _ => true,
        };
        (self.access(t, op), enabled)
    }

    fn step(&mut self, t: usize, strategy: &mut dyn Strategy) {
        let (access, _) = self.next(t);
        if let Some(lock) = self.threads[t].relock.take() {
            self.locks[lock] = Hold::By(t);
            self.trace.access(access);
            self.threads[t].waiting = None;
            return self.finish_step(t, None, false);
        }
        if let Some((condition, lock)) = self.threads[t].waiting {
            self.queues[condition].retain(|&other| other != t);
            self.trace.access(access);
            self.threads[t].relock = Some(lock);
            self.trace.step_done(Thread(t as u16), None, false);
            return;
        }
        let op = self.op(t).expect("the thread has not ended");
        let mut created = None;
        match op {
            Op::Load(..) | Op::Store(..) | Op::Add(..) | Op::Cas(..) => self.touch(t, op, access),
            Op::CasOrWait(..) | Op::LoadOrWait(..) | Op::Changed(..) => self.touch(t, op, access),
            Op::Spawn(other) => {
                self.threads[other].born = true;
                created = Some(Thread(other as u16));
                self.glide(other);
            }
            Op::Choose(register, options) => {
                let chosen = strategy.pick(options);
                self.trace.pick(Pick { chosen, options });
                self.threads[t].registers[register] = i64::from(chosen);
            }
            Op::Call => {
                let returned = self.threads.iter().map(|one| one.operations.iter().filter(|op| op.0.is_some()).count());
                let returned = returned.collect();
                self.threads[t].operations.push((None, returned));
                self.trace.access(access);
            }
            Op::Return(value) => {
                let value = self.value(t, value);
                self.threads[t].operations.last_mut().expect("a call").0 = Some(value);
                self.trace.access(access);
            }
            Op::Join(_) => self.trace.access(access),
            Op::Yield | Op::Assume(_) => {}
            Op::WaitOrNot(_, lock) => {
                let spurious = strategy.spurious();
                self.trace.pick(Pick::spurious(spurious));
                if spurious {
                    self.trace.access(Access::new(LOCK + lock as u64, 1, Kind::Release).after(Access::HELD));
                    self.locks[lock] = Hold::Free;
                    self.threads[t].relock = Some(lock);
                } else {
                    self.synchronise(t, op, access);
                }
            }
            Op::WaitOrLeave(..) => {
                let spurious = strategy.spurious();
                self.trace.pick(Pick::spurious(spurious));
                self.synchronise(t, op, access);
                self.threads[t].leaves = spurious;
            }
            _ => self.synchronise(t, op, access),
        }
        if matches!(op, Op::Wait(..) | Op::WaitOrNot(..) | Op::WaitOrLeave(..)) {
            self.trace.step_done(Thread(t as u16), None, false);
        } else {
            self.finish_step(t, created, matches!(op, Op::Yield));
        }
    }

    fn finish_step(&mut self, t: usize, created: Option<Thread>, yielded: bool) {
        self.threads[t].at += 1;
        self.glide(t);
        if self.op(t).is_none() {
            self.trace.access(Access::new(ENDED + t as u64, 1, Kind::Write));
        }
        self.trace.step_done(Thread(t as u16), created, yielded);
    }

    fn touch(&mut self, t: usize, op: Op, mut access: Access) {
        let variable = (access.object / 8) as usize;
        let old = self.memory[variable];
        match op {
            Op::Load(register, _) => self.threads[t].registers[register] = old,
            Op::LoadOrWait(..) => {}
            Op::Changed(register, _) => {
                self.threads[t].registers[register] = old;
                self.threads[t].changed = Some(false);
            }
            Op::Store(_, value) => self.memory[variable] = self.value(t, value),
            Op::CasOrWait(_, _, new) => self.memory[variable] = self.value(t, new),
            Op::Add(register, _, value) => {
                self.memory[variable] += self.value(t, value);
                self.threads[t].registers[register] = old;
            }
            Op::Cas(register, _, expected, new) => {
                let success = old == self.value(t, expected);
                if success {
                    self.memory[variable] = self.value(t, new);
                } else {
                    access.kind = Kind::Read;
                }
                self.threads[t].registers[register] = i64::from(success);
            }
            _ => unreachable!("not a memory access"),
        }
        access.changed = self.memory[variable] != old;
        for other in 0..self.threads.len() {
            let waits = matches!(self.op(other), Some(Op::Changed(_, addr)) if self.variable(other, addr) == variable);
            if access.changed && waits && self.threads[other].changed.is_some() {
                self.threads[other].changed = Some(true);
            }
        }
        self.trace.access(access);
    }

    fn synchronise(&mut self, t: usize, op: Op, mut access: Access) {
        match op {
            Op::Lock(l) => self.locks[l] = Hold::By(t),
            Op::Unlock(l) => self.locks[l] = Hold::Free,
            Op::TryLock(register, l) => {
                let success = self.locks[l] == Hold::Free;
                if success {
                    self.locks[l] = Hold::By(t);
                } else {
                    access.kind = Kind::Read;
                }
                self.threads[t].registers[register] = i64::from(success);
            }
            Op::LockShared(l) => self.locks[l] = Hold::Shared(held(self.locks[l]) + 1),
            Op::UnlockShared(l) => {
                self.locks[l] = match held(self.locks[l]) {
                    1 => Hold::Free,
                    readers => Hold::Shared(readers - 1),
                }
            }
            Op::Take(s) => self.semaphores[s] -= 1,
            Op::TakeMany(s, units) => self.semaphores[s] -= units,
            Op::Either(register, a, b) => {
                let other = self.level(b, Kind::Read);
                self.trace.access(access);
                access = other;
                let [a, b] = [a, b].map(|one| i64::from(self.semaphores[one] > 0));
                self.threads[t].registers[register] = a + 2 * b;
            }
            Op::Give(s) => self.semaphores[s] += 1,
            Op::Wait(c, l) | Op::WaitOrNot(c, l) | Op::WaitOrLeave(c, l) => {
                self.trace.access(Access::new(LOCK + l as u64, 1, Kind::Release).after(Access::HELD));
                self.locks[l] = Hold::Free;
                self.queues[c].push(t);
                self.threads[t].waiting = Some((c, l));
                (self.threads[t].woken, self.threads[t].leaves) = (false, false);
            }
            Op::Signal(c) => {
                if !self.queues[c].is_empty() {
                    let woken = self.queues[c].remove(0);
                    self.threads[woken].woken = true;
                    self.trace.access(Access::new(WAKE + woken as u64, 1, Kind::Write));
                }
            }
            _ => unreachable!("not a synchronisation"),
        }
        self.trace.access(access);
    }

    fn run(&mut self, strategy: &mut dyn Strategy) -> End {
        loop {
            let pending = self.pending();
            if pending.is_empty() {
                return End::Complete;
            }
            if enabled(&pending).is_empty() {
                return End::Stuck;
            }
            if self.trace.len() >= self.program.steps_max {
                return End::Truncated;
            }
            let [ready, held] =
                [Readiness::Ready, Readiness::Held].map(|readiness| Pending::of_readiness(&pending, readiness));
            let at = ChoicePoint { trace: &self.trace, pending: &pending, ready: &ready, held: &held };
            match strategy.choose(&at) {
                Decision::Stop(stop) => return End::Stopped(stop),
                Decision::Run(thread) => {
                    let chosen = pending.iter().find(|one| one.thread == thread).expect("a live thread");
                    assert!(chosen.is_enabled(), "the strategy chose {thread}, which cannot go");
                    self.step(thread.index(), strategy);
                    let yielded = self.trace.steps().last().unwrap().yielded;
                    self.fairness.stepped(thread, yielded, &enabled(&self.pending()));
                }
            }
        }
    }
}

fn held(hold: Hold) -> u64 {
    match hold {
        Hold::Free => Access::FREE,
        Hold::By(_) => Access::HELD,
        Hold::Shared(readers) => readers,
    }
}

fn enabled(pending: &[Pending]) -> Threads {
    pending.iter().filter(|one| one.is_enabled()).map(|one| one.thread).collect()
}

/// Runs a program to the end of a strategy, or `runs_max`; hands every run that was not given up to `see`.
pub fn explore(
    program: &Program,
    strategy: &mut dyn Strategy,
    runs_max: u64,
    mut see: impl FnMut(&Outcome, &Trace, End),
) -> (Option<Coverage>, u64) {
    let (mut runs, mut trace) = (0, Trace::new());
    while runs < runs_max {
        if let ControlFlow::Break(coverage) = strategy.start() {
            return (Some(coverage), runs);
        }
        trace.renew(strategy.repeats());
        let mut machine = Machine::new(program, trace);
        let end = machine.run(strategy);
        runs += 1;
        strategy.finish(&Run { trace: &machine.trace, pending: &machine.pending(), end });
        if !matches!(end, End::Stopped(Stop::Redundant)) {
            let registers = machine.threads.iter().map(|thread| thread.registers.clone()).collect();
            let (stuck, truncated) = (end == End::Stuck, end == End::Truncated);
            let history = machine.threads.iter().flat_map(|thread| thread.operations.clone()).collect();
            let outcome = Outcome { memory: machine.memory, registers, history, stuck, truncated };
            see(&outcome, &machine.trace, end);
        }
        trace = machine.trace;
    }
    (None, runs)
}
