//! What a random program may do, from what POSIX and C11 say and nothing else: every interleaving of its instructions under sequential consistency.
//!
//! Written for comparison with the runtime, of which it knows nothing. Happens-before is that of C11 with release sequences of C++20: by vector
//! clocks, an access is compared with the last of each kind by each thread. States that were seen are not looked at again; that is all the cleverness.

use std::collections::{BTreeSet, HashSet};

use super::code::{Instruction, TOTAL, compile, digit, failure, updated, wide};
use super::program::{ALL, FLAVOURS, Flavour, Library, Mode, Order, Program, Statement, Update};
use super::state::{Block, Phase, Queue, State, Step, Thread, join};

/// More states than this are not looked at.
const STATES_MAX: usize = 400_000;
/// What a program may do.
#[derive(Default, Debug)]
pub struct Possible {
    /// What the threads may have seen when all is over.
    pub outcomes: BTreeSet<Vec<u64>>,
    /// What may go wrong.
    pub kinds: BTreeSet<&'static str>,
}

struct Twin<'a> {
    program: &'a Program,
    code: Vec<Vec<Instruction>>,
    /// Whether anybody looks at clocks.
    clocks: bool,
}

/// Everything that the program may do, unless there is too much of it.
pub fn possible(program: &Program) -> Option<Possible> {
    let clocks = |statement: &Statement| {
        use Statement::{Create, Drop, Look, Publish, Read, Remove, Replace, Write};
        matches!(statement, Read(_) | Write(..) | Publish(..) | Look(_) | Remove(_) | Replace(..) | Drop(_))
            || matches!(statement, Create(other) if !program.has(|join| matches!(join, Statement::Join(which) if which == other)))
    };
    let twin = Twin { program, code: compile(program), clocks: program.has(clocks) };
    let mut first = State {
        sequences: program.library == Library::C,
        threads: vec![Thread::default(); program.threads.len()],
        blocks: vec![Vec::new(); program.threads.len()],
        ..State::default()
    };
    for (units, initial) in first.units.iter_mut().zip(program.units) {
        units.0 = initial;
    }
    for (place, value) in first.places.iter_mut().zip(program.early) {
        if value > 0 {
            place.0 = Some((0, first.blocks[0].len() as u8));
            first.blocks[0].push(Block { value, ..Block::default() });
        }
    }
    first.threads[0].created = true;
    first.threads[0].clock[0] = 1;
    let mut found = Possible::default();
    let mut seen = HashSet::new();
    let mut open = vec![twin.settle(first)];
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > STATES_MAX {
            return None;
        }
        twin.follow(&state, &mut found, &mut open);
    }
    Some(found)
}

impl Twin<'_> {
    fn follow(&self, state: &State, found: &mut Possible, open: &mut Vec<State>) {
        let returned = state.threads[0].ended;
        if returned {
            found.outcomes.insert(self.outcome(state));
            if state.threads.iter().all(|thread| !thread.created || thread.ended) {
                return;
            }
            found.kinds.insert("leaked-thread");
        }
        let mut stuck = true;
        for thread in 0..state.threads.len() {
            let next = self.step(state, thread);
            stuck &= matches!(next, Step::Blocked);
            match next {
                Step::Blocked => {}
                Step::To(all) => open.extend(all.into_iter().map(|next| self.settle(next))),
                Step::Wrong(kind) => {
                    found.kinds.insert(kind);
                }
            }
        }
        // Of threads that are left over only those that wait for one another in a circle are stuck: any that never end may be.
        if stuck {
            found.kinds.insert("stuck");
        }
    }

    /// What is told at the end: what each thread saw, the first one last.
    fn outcome(&self, state: &State) -> Vec<u64> {
        let detached = |thread: usize| self.program.has(|statement| *statement == Statement::Detach(thread));
        let told = (1..state.threads.len()).filter(|&thread| !detached(thread)).chain([0]);
        told.map(|thread| state.threads[thread].seen).collect()
    }

    /// Jumps and ends are no steps.
    fn settle(&self, mut state: State) -> State {
        for (number, thread) in state.threads.iter_mut().enumerate() {
            if !thread.created || thread.ended || thread.phase != Phase::Ready {
                continue;
            }
            loop {
                match self.code[number].get(thread.at) {
                    Some(Instruction::Goto(to)) => thread.at = *to,
                    Some(Instruction::UnlessLast(value, to)) if thread.last != *value => thread.at = *to,
                    Some(Instruction::UnlessLast(..)) => thread.at += 1,
                    Some(Instruction::Saw(value)) => {
                        thread.see(*value);
                        thread.at += 1;
                    }
                    Some(Instruction::UnlessFirst(value, to)) if thread.first != *value => thread.at = *to,
                    Some(Instruction::UnlessFirst(..)) => thread.at += 1,
                    Some(Instruction::Tried) => {
                        thread.tries += 1;
                        thread.at += 1;
                    }
                    Some(Instruction::SawTries) => {
                        let tries = std::mem::take(&mut thread.tries);
                        thread.see(tries);
                        thread.at += 1;
                    }
                    Some(Instruction::SawSecond) => {
                        thread.see(digit(thread.second));
                        thread.at += 1;
                    }
                    Some(Instruction::Destroy(key)) if thread.keys[*key] == 0 => thread.at += 1,
                    Some(Instruction::FreeBlock) if thread.block.is_none() => thread.at += 1,
                    Some(_) => break,
                    None => {
                        thread.ended = true;
                        break;
                    }
                }
            }
        }
        if !self.clocks {
            state.forget_clocks();
        }
        state
    }

    /// Every way in which a thread may go on.
    fn step(&self, state: &State, thread: usize) -> Step {
        let me = &state.threads[thread];
        if !me.created || me.ended {
            return Step::Blocked;
        }
        let mut next = state.clone();
        let instruction = &self.code[thread][me.at];
        match me.phase {
            Phase::Ready => {}
            Phase::Asleep(queue) => return self.times_out(next, thread, queue, instruction),
            Phase::Woken(woken) => return self.comes_back(next, thread, woken, instruction),
        }
        next.threads[thread].at += 1;
        match instruction {
            Instruction::Do(statement) => self.statement(next, thread, statement),
            Instruction::Add(variable, value) => {
                self.update(next, thread, Update::Add, *variable, *value, TOTAL, false)
            }
            Instruction::Until(variable, value) => {
                if state.variables[*variable].value != wide(*value, self.program.widths[*variable]) {
                    return Step::Blocked;
                }
                next.load(thread, *variable, TOTAL).map_or_else(Step::Wrong, |_| Step::one(next))
            }
            Instruction::Unless(variable, value, to) => {
                let expected = wide(*value, self.program.widths[*variable]);
                match next.load(thread, *variable, TOTAL) {
                    Err(kind) => return Step::Wrong(kind),
                    Ok(found) if found != expected => next.threads[thread].at = *to,
                    Ok(_) => {}
                }
                Step::one(next)
            }
            Instruction::Wait(condition, mutex) => self.wait(next, thread, *condition, *mutex),
            Instruction::Announce(condition) => next.announce(thread, *condition),
            Instruction::Begin(once, to) => match state.onces[*once].0 {
                0 => {
                    next.onces[*once].0 = 1;
                    Step::one(next)
                }
                1 => Step::Blocked,
                _ => {
                    next.threads[thread].at = *to;
                    let clock = next.onces[*once].1;
                    join(&mut next.threads[thread].clock, &clock);
                    Step::one(next)
                }
            },
            Instruction::End(once) => {
                next.onces[*once] = (2, next.publish(thread));
                Step::one(next)
            }
            Instruction::Destroy(key) => {
                let value = std::mem::take(&mut next.threads[thread].keys[*key]);
                self.update(next, thread, Update::Add, *key, value, TOTAL, false)
            }
            Instruction::Swap(..)
            | Instruction::Fetch(_)
            | Instruction::ReadBlock
            | Instruction::Replace(..)
            | Instruction::FreeBlock => next.block(thread, instruction).map_or_else(Step::Wrong, |()| Step::one(next)),
            Instruction::First(_) | Instruction::Second(_) | Instruction::Again(..) | Instruction::Attempt { .. } => {
                self.attempt(&mut next, thread, instruction).map_or_else(Step::Wrong, |()| Step::one(next))
            }
            _ => unreachable!("settled"),
        }
    }

    /// A part of a loop that tries until it works.
    fn attempt(&self, next: &mut State, thread: usize, instruction: &Instruction) -> Result<(), &'static str> {
        match instruction {
            Instruction::First(variable) => next.threads[thread].first = next.load(thread, *variable, TOTAL)?,
            Instruction::Second(variable) => next.threads[thread].second = next.load(thread, *variable, TOTAL)?,
            Instruction::Again(variable, to) => {
                if next.load(thread, *variable, TOTAL)? != next.threads[thread].first {
                    next.threads[thread].at = *to;
                }
            }
            Instruction::Attempt { variable, adds, keeps, otherwise } => {
                let (first, second) = (next.threads[thread].first, next.threads[thread].second);
                let found = next.load(thread, *variable, TOTAL)?;
                if found == first {
                    let width = self.program.widths[*variable];
                    let more = if *adds { (second ^ (second >> 64)) as u64 } else { 0 };
                    let more = wide(1, width).wrapping_add(more.into());
                    let new = updated(Update::Add, found, more, width);
                    next.store(thread, *variable, new, TOTAL, true)?;
                } else {
                    next.threads[thread].at = *otherwise;
                    if *keeps {
                        next.threads[thread].first = found;
                    }
                }
            }
            other => unreachable!("{other:?} is no attempt"),
        }
        Ok(())
    }

    /// The time of one who sleeps has passed.
    fn times_out(&self, mut next: State, thread: usize, queue: Queue, instruction: &Instruction) -> Step {
        let timed = match instruction {
            Instruction::Do(Statement::Wait { timed, .. } | Statement::Sleep { timed, .. }) => *timed,
            _ => false,
        };
        if !timed {
            return Step::Blocked;
        }
        match queue {
            Queue::Condition(condition) => next.leaves(thread, condition),
            Queue::Barrier(_) => unreachable!("no time limit"),
            Queue::Futex(variable) => next.futexes[variable].retain(|(other, _)| usize::from(*other) != thread),
        }
        next.threads[thread].phase = Phase::Woken(false);
        Step::one(next)
    }

    /// One who slept goes on: with the mutex, if it gave one up.
    fn comes_back(&self, mut next: State, thread: usize, woken: bool, instruction: &Instruction) -> Step {
        let failed = failure(Mode::Timed, self.program.c11);
        let (mutex, answer) = match instruction {
            Instruction::Wait(_, mutex) => (Some(*mutex), None),
            // What C++ answers depends on the clock, and not only on who woke it.
            Instruction::Do(Statement::Wait { mutex, .. }) if self.program.library == Library::Cpp => {
                (Some(*mutex), Some(0))
            }
            Instruction::Do(Statement::Wait { mutex, .. }) => (Some(*mutex), Some(if woken { 0 } else { failed })),
            Instruction::Do(Statement::Sleep { .. }) => {
                (None, Some(if woken { 0 } else { failure(Mode::Timed, false) }))
            }
            _ => (None, Some(0)),
        };
        if let Some(mutex) = mutex {
            if next.mutexes[mutex].owner.is_some() {
                return Step::Blocked;
            }
            next.take(thread, mutex);
        }
        let me = &mut next.threads[thread];
        me.phase = Phase::Ready;
        me.at += 1;
        if let Some(answer) = answer {
            me.see(answer);
        }
        Step::one(next)
    }

    fn statement(&self, mut next: State, thread: usize, statement: &Statement) -> Step {
        let width = |variable: &usize| self.program.widths[*variable];
        let wrong = match statement {
            Statement::Load(variable, order) => next.load(thread, *variable, *order).map(|found| {
                next.threads[thread].see(digit(found));
            }),
            Statement::Store(variable, value, order) => {
                next.store(thread, *variable, wide(*value, width(variable)), *order, false)
            }
            Statement::Update(update, variable, value, order) => {
                return self.update(next, thread, *update, *variable, *value, *order, true);
            }
            Statement::Exchange { variable, expected, new, order, failure, .. } => {
                let (expected, new) = (wide(*expected, width(variable)), wide(*new, width(variable)));
                next.exchange(thread, *variable, expected, new, *order, *failure)
            }
            Statement::Fence(order) => {
                next.fence(thread, *order);
                Ok(())
            }
            Statement::Read(variable) => next.plain(thread, *variable, None),
            Statement::Write(variable, value) => next.plain(thread, *variable, Some(wide(*value, width(variable)))),
            Statement::SetKey(key, value) => {
                next.threads[thread].keys[*key] = *value;
                Ok(())
            }
            Statement::GetKey(key) => {
                let value = next.threads[thread].keys[*key];
                next.threads[thread].see(value);
                Ok(())
            }
            Statement::Lock(mutex, mode) => return self.lock(next, thread, *mutex, *mode),
            Statement::Unlock(mutex) => return self.unlock(next, thread, *mutex),
            Statement::LockShared(which, mode) => return next.lock_shared(thread, *which, *mode, false),
            Statement::LockExclusive(which, mode) => return next.lock_shared(thread, *which, *mode, true),
            Statement::UnlockBoth(which) => return next.unlock_shared(thread, *which),
            Statement::Wait { condition, mutex, .. } => return self.wait(next, thread, *condition, *mutex),
            Statement::Take(which, mode) => return next.take_unit(thread, *which, *mode),
            Statement::Kernel(deed) => return next.kernel(thread, *deed, self.program.c11),
            _ => return self.others(next, thread, statement),
        };
        wrong.map_or_else(Step::Wrong, |()| Step::one(next))
    }

    /// Statements that never go wrong.
    fn others(&self, mut next: State, thread: usize, statement: &Statement) -> Step {
        match statement {
            Statement::Give(which) => {
                let clock = next.publish(thread);
                next.units[*which].0 += 1;
                join(&mut next.units[*which].1, &clock);
                next.threads[thread].see(0);
            }
            Statement::Count(which) => {
                let units = next.units[*which].0;
                next.threads[thread].see(units);
            }
            Statement::Signal(condition) | Statement::Broadcast(condition) if self.program.library == Library::Rust => {
                return next.arouse(thread, *condition, matches!(statement, Statement::Broadcast(_)));
            }
            Statement::Signal(condition) => return next.signal(thread, *condition),
            Statement::Broadcast(condition) => {
                let clock = next.publish(thread);
                let waiting = std::mem::take(&mut next.conditions[*condition]);
                waiting.into_iter().for_each(|other| next.wake(other, &clock));
            }
            Statement::Barrier(which) => {
                let clock = next.publish(thread);
                let (waiting, known) = &mut next.barriers[*which];
                join(known, &clock);
                if waiting.len() + 1 < usize::from(self.program.barriers[*which]) {
                    waiting.push(thread as u8);
                    waiting.sort_unstable();
                    next.sleep(thread, Queue::Barrier(*which));
                } else {
                    let (waiting, known) = std::mem::take(&mut next.barriers[*which]);
                    waiting.into_iter().for_each(|other| next.wake(other, &known));
                    join(&mut next.threads[thread].clock, &known);
                    // In C++ nobody is told who came last.
                    next.threads[thread].see(if self.program.library == Library::Cpp { 0 } else { 127 });
                }
            }
            Statement::Create(other) => {
                let clock = next.publish(thread);
                let created = &mut next.threads[*other];
                created.created = true;
                created.clock = clock;
                created.clock[*other] = 1;
            }
            Statement::Join(other) | Statement::TryJoin(other) => {
                if !next.threads[*other].ended {
                    if matches!(statement, Statement::Join(_)) {
                        return Step::Blocked;
                    }
                    next.threads[thread].see(failure(Mode::Try, false));
                    return Step::one(next);
                }
                let clock = next.threads[*other].clock;
                join(&mut next.threads[thread].clock, &clock);
                next.threads[thread].see(0);
            }
            _ => self.futex(&mut next, thread, statement),
        }
        Step::one(next)
    }

    /// The queues of the kernel: those who came first are woken first.
    fn futex(&self, next: &mut State, thread: usize, statement: &Statement) {
        match statement {
            Statement::Sleep { variable, value, mask, .. } => {
                if next.variables[*variable].value == u128::from(*value) {
                    next.futexes[*variable].push((thread as u8, *mask));
                    next.sleep(thread, Queue::Futex(*variable));
                } else {
                    next.threads[thread].see(11);
                }
            }
            Statement::Wake { variable, count, mask } => {
                let woken = next.wake_first(thread, *variable, *count, *mask);
                next.threads[thread].see(woken);
            }
            Statement::Requeue { from, to, wake, moved, expected } => {
                if expected.is_some_and(|expected| next.variables[*from].value != u128::from(expected)) {
                    next.threads[thread].see(127);
                    return;
                }
                let woken = next.wake_first(thread, *from, *wake, ALL);
                let moved = usize::from(*moved).min(next.futexes[*from].len());
                let movers: Vec<(u8, u8)> = next.futexes[*from].drain(..moved).collect();
                for (other, _) in &movers {
                    next.threads[usize::from(*other)].phase = Phase::Asleep(Queue::Futex(*to));
                }
                next.futexes[*to].extend(movers);
                next.threads[thread].see(woken + moved as u8);
            }
            other => unreachable!("{other:?} is compiled to something else"),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn update(
        &self,
        mut next: State,
        thread: usize,
        update: Update,
        variable: usize,
        value: u8,
        order: Order,
        told: bool,
    ) -> Step {
        let width = self.program.widths[variable];
        let changed = next.load(thread, variable, order).and_then(|old| {
            if told {
                next.threads[thread].see(digit(old));
            }
            next.store(thread, variable, updated(update, old, wide(value, width), width), order, true)
        });
        changed.map_or_else(Step::Wrong, |()| Step::one(next))
    }

    fn flavour(&self, mutex: usize) -> Flavour {
        match FLAVOURS[mutex] {
            Flavour::Checking if self.program.c11 => Flavour::Normal,
            flavour => flavour,
        }
    }

    fn lock(&self, mut next: State, thread: usize, mutex: usize, mode: Mode) -> Step {
        const DEADLOCK: u8 = 35;
        let (flavour, held) = (self.flavour(mutex), next.mutexes[mutex].owner);
        let c11 = self.program.c11 && flavour != Flavour::Spin;
        let mine = held == Some(thread as u8);
        let answer = match (held, flavour, mode) {
            (None, ..) => {
                next.take(thread, mutex);
                0
            }
            (_, Flavour::Recursive, _) if mine => {
                next.mutexes[mutex].count += 1;
                0
            }
            (_, Flavour::Checking, Mode::Wait | Mode::Timed) if mine => DEADLOCK,
            (_, _, Mode::Wait | Mode::Loop) => return Step::Blocked,
            (_, _, Mode::Try | Mode::Timed) => failure(mode, c11),
        };
        if mode != Mode::Loop {
            next.threads[thread].see(answer);
        }
        Step::one(next)
    }

    /// The answer to one who does not hold the mutex, if it has one.
    fn refuses(&self, next: &State, thread: usize, mutex: usize) -> Option<Result<u8, &'static str>> {
        let flavour = self.flavour(mutex);
        (next.mutexes[mutex].owner != Some(thread as u8)).then_some(match flavour {
            Flavour::Recursive | Flavour::Checking => Ok(if self.program.c11 { 2 } else { 1 }),
            Flavour::Normal | Flavour::Spin => Err("misuse"),
        })
    }

    fn unlock(&self, mut next: State, thread: usize, mutex: usize) -> Step {
        match self.refuses(&next, thread, mutex) {
            Some(Err(kind)) => return Step::Wrong(kind),
            Some(Ok(answer)) => next.threads[thread].see(answer),
            None => {
                next.give_up(thread, mutex, 1);
                next.threads[thread].see(0);
            }
        }
        Step::one(next)
    }

    fn wait(&self, mut next: State, thread: usize, condition: usize, mutex: usize) -> Step {
        match self.refuses(&next, thread, mutex) {
            Some(Err(kind)) => return Step::Wrong(kind),
            Some(Ok(answer)) => next.threads[thread].see(answer),
            None => {
                next.give_up(thread, mutex, u8::MAX);
                next.conditions[condition].push(thread as u8);
                next.conditions[condition].sort_unstable();
                next.sleep(thread, Queue::Condition(condition));
            }
        }
        Step::one(next)
    }
}
