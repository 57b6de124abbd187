//! Draws random programs.
//!
//! A program uses few kinds of objects, and few of each, so that its threads meet.

use selvedge_explore::Rng;

use super::kernel::Deed;
use super::program::{ALL, Form, Library, Mode, OBJECTS, Order, Program, Statement, Update, VARIABLES};

/// What a program is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Theme {
    Atomics,
    Fences,
    Plain,
    Mutexes,
    Shared,
    Conditions,
    Barriers,
    Semaphores,
    Once,
    Keys,
    Threads,
    Heap,
    Futexes,
    Waiting,
    Unstructured,
    Attempts,
    Kernel,
}

const THEMES: [Theme; 16] = [
    Theme::Atomics,
    Theme::Fences,
    Theme::Plain,
    Theme::Mutexes,
    Theme::Shared,
    Theme::Conditions,
    Theme::Barriers,
    Theme::Semaphores,
    Theme::Once,
    Theme::Keys,
    Theme::Threads,
    Theme::Heap,
    Theme::Futexes,
    Theme::Waiting,
    Theme::Unstructured,
    Theme::Attempts,
];

struct Maker {
    rng: Rng,
    themes: Vec<Theme>,
    c11: bool,
    variables: usize,
    objects: usize,
}

/// The program of that number, and what it is about.
pub fn program(seed: u64, number: u64, longer: bool) -> (Program, Vec<Theme>) {
    let rng = Rng::for_run(seed, number);
    let mut maker = Maker { rng, themes: vec![], c11: false, variables: 1, objects: 1 };
    maker.c11 = maker.chance(4);
    maker.variables = 1 + maker.below(2);
    maker.objects = 1 + usize::from(maker.chance(4));
    for _ in 0..1 + maker.below(3) {
        let theme = THEMES[maker.below(THEMES.len())];
        // What the kernel's queues order is not said anywhere.
        let apart = [Theme::Futexes, Theme::Plain];
        if !maker.themes.iter().any(|other| apart.contains(other) && apart.contains(&theme)) {
            maker.themes.push(theme);
        }
    }
    let mut program = maker.program(longer);
    if maker.below(FOURTH) == 0 {
        assemble(&mut program, &mut Rng::for_run(seed ^ ASSEMBLY, number));
    }
    if maker.themes.contains(&Theme::Heap) {
        let mut rng = Rng::for_run(seed ^ EARLY, number);
        program.early = std::array::from_fn(|_| [0, 1, 2][rng.below(3) as usize] * 7);
    }
    (program, maker.themes)
}

/// What is allocated before the search is drawn with this.
const EARLY: u64 = 0xea71;
/// One program in so many has accesses in assembly, which are drawn with this.
const FOURTH: usize = 4;
const ASSEMBLY: u64 = 0xa55e;

/// Puts some accesses into assembly, to variables that nobody accesses plainly while others do: what the languages say of both together is nothing.
fn assemble(program: &mut Program, rng: &mut Rng) {
    let plain = |variable: usize| {
        program.has(|one| matches!(one, Statement::Read(of) | Statement::Write(of, _) if *of == variable))
            || program.has(|one| matches!(one, Statement::Detach(_)))
    };
    let allowed: [bool; VARIABLES] = std::array::from_fn(|variable| !plain(variable));
    let widths = program.widths;
    for thread in &mut program.threads {
        thread.iter_mut().for_each(|one| assemble_one(one, &allowed, &widths, rng));
    }
}

fn assemble_one(statement: &mut Statement, allowed: &[bool], widths: &[u32], rng: &mut Rng) {
    let fits = |variable: usize| allowed[variable] && widths[variable] <= 64;
    match statement {
        Statement::IfLast(_, inner) => {
            inner.iter_mut().for_each(|one| assemble_one(one, allowed, widths, rng));
            return;
        }
        Statement::Load(variable, order) if fits(*variable) => *order = Order::Acquire,
        Statement::Store(variable, _, order) if fits(*variable) => *order = Order::Release,
        Statement::Update(Update::Exchange | Update::Add | Update::Sub, variable, _, order) if fits(*variable) => {
            *order = Order::Total;
        }
        Statement::Exchange { variable, order, failure, .. } if allowed[*variable] => {
            (*order, *failure) = (Order::Total, Order::Total);
        }
        _ => return,
    }
    if rng.below(2) == 0 {
        *statement = Statement::Assembly(Box::new(statement.clone()));
    }
}

/// The same with pipes and their like, beside one other thing at most.
pub fn program_with_kernel(seed: u64, number: u64, longer: bool) -> (Program, Vec<Theme>) {
    let rng = Rng::for_run(seed, number);
    let mut maker = Maker { rng, themes: vec![Theme::Kernel], c11: false, variables: 1, objects: OBJECTS };
    maker.c11 = maker.chance(2);
    let others = [Theme::Plain, Theme::Mutexes, Theme::Semaphores, Theme::Conditions, Theme::Waiting];
    if maker.chance(2) {
        let other = maker.of(&others);
        maker.themes.push(other);
    }
    let program = maker.program(longer);
    (program, maker.themes)
}

impl Maker {
    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn program(&mut self, longer: bool) -> Program {
        let workers = 2 + usize::from(self.chance(3));
        let length = if workers == 2 { 3 } else { 2 } + usize::from(longer);
        let mut threads = vec![vec![]];
        for _ in 0..workers {
            let count = 1 + self.below(length);
            threads.push((0..count).flat_map(|_| self.some()).collect());
        }
        let mut first: Vec<Statement> = (1..=workers).map(Statement::Create).collect();
        if self.chance(4) {
            let more = self.some();
            let at = 1 + self.below(workers);
            first.splice(
                at..at,
                more.into_iter().filter(|statement| !matches!(statement, Statement::SetKey(..) | Statement::Exit)),
            );
        }
        let inner = self.themes.contains(&Theme::Threads).then(|| self.below(4));
        match inner {
            // A thread creates another.
            Some(0 | 1) => {
                let new = threads.len();
                threads.push(self.some());
                let creator = 1 + self.below(workers);
                let at = self.below(threads[creator].len() + 1);
                threads[creator].insert(at, Statement::Create(new));
                let at = at + 1 + self.below(threads[creator].len() - at);
                threads[creator].insert(at, Statement::Join(new));
                // One that ends before it waits leaves behind what the first thread reads.
                threads[creator].retain(|statement| !matches!(statement, Statement::Exit));
            }
            // The first thread looks whether one has ended.
            Some(2) => {
                let other = 1 + self.below(workers);
                first.extend([Statement::TryJoin(other), Statement::IfLast(16, vec![Statement::Join(other)])]);
                first.extend((1..=workers).filter(|&thread| thread != other).map(Statement::Join));
            }
            // Nobody waits for one, or only by other means.
            Some(_) => {
                threads[workers].push(Statement::Give(0));
                first.extend([Statement::Detach(workers), Statement::Take(0, Mode::Wait)]);
                first.extend((1..workers).map(Statement::Join));
            }
            None => {}
        }
        if !matches!(inner, Some(2 | 3)) {
            first.extend((1..=workers).map(Statement::Join));
        }
        threads[0] = first;
        let futexes = self.themes.contains(&Theme::Futexes);
        let widths = std::array::from_fn(|_| if futexes { 32 } else { self.of(&[8, 16, 32, 64, 64, 128]) });
        let barriers = std::array::from_fn(|_| 2 + u8::from(self.chance(4)));
        let units = std::array::from_fn(|_| self.below(3) as u8);
        Program { library: Library::C, threads, widths, c11: self.c11, barriers, units, early: [0; OBJECTS] }
    }

    /// One thing that a thread does.
    fn some(&mut self) -> Vec<Statement> {
        let themes = self.themes.clone();
        let theme = if self.chance(4) { Theme::Atomics } else { self.of(&themes) };
        match theme {
            Theme::Atomics | Theme::Threads => vec![self.atomic()],
            Theme::Fences => self.fenced(),
            Theme::Plain => self.plain(),
            Theme::Mutexes => self.section(),
            Theme::Shared => self.shared_section(),
            Theme::Conditions => self.condition(),
            Theme::Barriers => vec![Statement::Barrier(self.below(self.objects))],
            Theme::Semaphores => self.semaphore(),
            Theme::Once => vec![Statement::Once(self.below(self.objects), self.below(1))],
            Theme::Keys => match self.below(4) {
                0 => vec![Statement::GetKey(self.below(OBJECTS))],
                1 => vec![Statement::SetKey(self.below(OBJECTS), 1), Statement::Exit],
                _ => vec![Statement::SetKey(self.below(OBJECTS), self.below(3) as u8)],
            },
            Theme::Heap => self.heap(),
            Theme::Futexes => self.futex(),
            Theme::Waiting => self.waiting(),
            Theme::Unstructured => self.unstructured(),
            Theme::Kernel => self.kernel(),
            Theme::Attempts => {
                let forms =
                    [Form::Keeps, Form::Counts, Form::Adds, Form::Checks, Form::GivesUp(self.value()), Form::Marks];
                let form = self.of(&forms);
                let variable = self.variable();
                // Two that mark what each other tries would go on for ever.
                let other = if form == Form::Marks { VARIABLES - 1 } else { self.variable() };
                vec![Statement::Attempts { variable, other, form }]
            }
        }
    }

    fn variable(&mut self) -> usize {
        self.below(self.variables)
    }

    fn value(&mut self) -> u8 {
        self.below(3) as u8
    }

    fn atomic(&mut self) -> Statement {
        let variable = self.variable();
        let load = self.of(&[Order::Relaxed, Order::Acquire, Order::Total]);
        let store = self.of(&[Order::Relaxed, Order::Release, Order::Total]);
        let both = self.of(&[Order::Relaxed, Order::Acquire, Order::Release, Order::Both, Order::Total]);
        match self.below(10) {
            0..=2 => Statement::Load(variable, load),
            3 | 4 => Statement::Store(variable, self.value(), store),
            5 | 6 => {
                let update =
                    self.of(&[Update::Exchange, Update::Add, Update::Sub, Update::Or, Update::And, Update::Xor]);
                Statement::Update(update, variable, self.value(), both)
            }
            7 => Statement::Retry(variable),
            _ => Statement::Exchange {
                variable,
                expected: self.value(),
                new: self.value(),
                weak: self.chance(2),
                order: both,
                failure: load,
            },
        }
    }

    /// A statement for the inside of something.
    fn inner(&mut self) -> Vec<Statement> {
        match self.below(5) {
            0 => vec![],
            1 | 4 if self.themes.contains(&Theme::Plain) => vec![self.plain_access()],
            2 if self.themes.contains(&Theme::Heap) => self.heap(),
            3 if self.themes.contains(&Theme::Semaphores) => self.semaphore(),
            _ => vec![self.atomic()],
        }
    }

    fn plain_access(&mut self) -> Statement {
        let variable = if self.chance(5) { self.variable() } else { VARIABLES - 1 };
        if self.chance(2) { Statement::Read(variable) } else { Statement::Write(variable, self.value()) }
    }

    fn plain(&mut self) -> Vec<Statement> {
        let access = self.plain_access();
        match self.below(7) {
            4 => {
                let lock = self.of(&[Statement::LockShared, Statement::LockExclusive, Statement::LockShared]);
                vec![lock(0, Mode::Wait), access, Statement::UnlockBoth(0)]
            }
            5 => vec![access, Statement::Fence(Order::Total)],
            6 => vec![Statement::Fence(Order::Total), access],
            0 => vec![access],
            1 => vec![Statement::Lock(0, Mode::Wait), access, Statement::Unlock(0)],
            2 => {
                let order = self.of(&[Order::Release, Order::Total, Order::Relaxed]);
                let mut stores = vec![Statement::Store(0, 1, order)];
                // A second store by the same thread, which in C belongs to the release sequence of the first.
                if order == Order::Release && matches!(access, Statement::Write(..)) {
                    stores.push(Statement::Store(0, 1, Order::Relaxed));
                }
                stores.insert(0, access);
                stores
            }
            _ => {
                let order = self.of(&[Order::Acquire, Order::Total, Order::Relaxed]);
                vec![Statement::Load(0, order), Statement::IfLast(1, vec![access])]
            }
        }
    }

    fn fenced(&mut self) -> Vec<Statement> {
        let fence = Statement::Fence(self.of(&[Order::Acquire, Order::Release, Order::Both, Order::Total]));
        let variable = self.variable();
        match self.below(3) {
            0 => vec![fence, Statement::Store(variable, 1, Order::Relaxed)],
            1 => vec![Statement::Load(variable, Order::Relaxed), fence],
            _ => vec![fence],
        }
    }

    fn mutex(&mut self) -> usize {
        if self.objects == 1 { self.of(&[0, 0, 2, 3, 4]) } else { self.below(5) }
    }

    fn section(&mut self) -> Vec<Statement> {
        let mutex = self.mutex();
        let spin = mutex == 4;
        let mode = self.of(&[Mode::Wait, Mode::Wait, Mode::Try, Mode::Timed, Mode::Loop]);
        let mode = if spin && mode == Mode::Timed { Mode::Try } else { mode };
        let mut inner = if self.chance(5) { self.section() } else { self.inner() };
        inner.push(Statement::Unlock(mutex));
        inside(Statement::Lock(mutex, mode), mode, inner)
    }

    fn shared_section(&mut self) -> Vec<Statement> {
        let which = self.below(self.objects);
        let mode = self.of(&[Mode::Wait, Mode::Wait, Mode::Try, Mode::Timed, Mode::Loop]);
        let lock =
            if self.chance(2) { Statement::LockShared(which, mode) } else { Statement::LockExclusive(which, mode) };
        let mut inner = self.inner();
        inner.push(Statement::UnlockBoth(which));
        inside(lock, mode, inner)
    }

    fn condition(&mut self) -> Vec<Statement> {
        let (condition, variable, value) = (self.below(self.objects), self.variable(), self.value());
        let mutex = self.of(&[0, 0, 2, 3]);
        let (lock, unlock) = (Statement::Lock(mutex, Mode::Wait), Statement::Unlock(mutex));
        let timed = self.chance(2);
        let tell = if self.chance(2) { Statement::Signal(condition) } else { Statement::Broadcast(condition) };
        match self.below(7) {
            0 | 1 => vec![lock, Statement::Wait { condition, mutex, timed }, unlock],
            2 => {
                let load = Statement::Load(variable, Order::Total);
                let wait = Statement::IfLast(value, vec![Statement::Wait { condition, mutex, timed }]);
                vec![lock, load, wait, unlock]
            }
            3 => vec![lock, Statement::WaitWhile { condition, mutex, variable, value: 0 }, unlock],
            4 => vec![tell],
            5 => vec![Statement::Store(variable, 1, Order::Total), tell],
            _ => vec![lock, Statement::Store(variable, 1, Order::Total), tell, unlock],
        }
    }

    fn semaphore(&mut self) -> Vec<Statement> {
        let which = self.below(self.objects);
        match self.below(5) {
            0 | 1 => vec![Statement::Give(which)],
            2 => vec![Statement::Count(which)],
            _ => {
                let mode = self.of(&[Mode::Wait, Mode::Try, Mode::Timed, Mode::Loop]);
                vec![Statement::Take(which, mode)]
            }
        }
    }

    fn heap(&mut self) -> Vec<Statement> {
        let place = self.below(self.objects);
        vec![match self.below(7) {
            0 | 1 => Statement::Publish(place, 1 + self.value()),
            2 => Statement::Replace(place, 1 + self.value()),
            3 => Statement::Look(place),
            5 => Statement::Remove(place),
            4 => Statement::Remove(place),
            _ => Statement::Drop(place),
        }]
    }

    fn futex(&mut self) -> Vec<Statement> {
        let (variable, value) = (self.below(2), self.value() & 1);
        let mask = self.of(&[ALL, ALL, 1, 2]);
        match self.below(7) {
            0 | 1 => vec![Statement::Sleep { variable, value, timed: self.chance(2), mask }],
            2 | 3 => vec![Statement::Wake { variable, count: 1 + self.value(), mask }],
            4 => vec![Statement::Store(variable, 1, Order::Total), Statement::Wake { variable, count: 1, mask }],
            _ => {
                let expected = self.chance(2).then_some(value);
                let (wake, moved) = (self.below(2) as u8, 1 + self.below(2) as u8);
                vec![Statement::Requeue { from: variable, to: 1 - variable, wake, moved, expected }]
            }
        }
    }

    fn waiting(&mut self) -> Vec<Statement> {
        let (variable, value) = (self.variable(), self.value());
        match self.below(6) {
            0 => vec![Statement::Until(variable, value, false)],
            1 => vec![Statement::Until(variable, value, true)],
            2 => vec![Statement::Yield],
            3 => vec![Statement::Nap],
            4 => vec![Statement::Yield, self.atomic(), Statement::Yield],
            _ => vec![Statement::Retry(variable)],
        }
    }

    fn kernel(&mut self) -> Vec<Statement> {
        let which = self.below(OBJECTS);
        let value = 1 + self.value();
        let patience = self.of(&[Mode::Wait, Mode::Try, Mode::Timed]);
        let deed = match self.below(12) {
            0..=2 => Deed::Put(which, value),
            // A pipe is read by those who wait only: its flags are everybody's.
            3 | 4 if which == 0 => Deed::Get(0, Mode::Wait),
            3 | 4 => Deed::Get(1, self.of(&[Mode::Wait, Mode::Try, Mode::Loop])),
            5 => Deed::Shut(which),
            6 => Deed::Poll(patience),
            7 | 8 => Deed::Add(which, value),
            9 => Deed::Count(which, self.of(&[Mode::Wait, Mode::Try])),
            _ => Deed::Event(patience),
        };
        let mut all = vec![Statement::Kernel(deed)];
        // What is handed over with it.
        if self.themes.contains(&Theme::Plain) && self.chance(2) {
            let access = self.plain_access();
            let gives = matches!(deed, Deed::Put(..) | Deed::Add(..) | Deed::Shut(_));
            all.insert(usize::from(!gives), access);
        }
        all
    }

    /// Locks without order; some are misused.
    fn unstructured(&mut self) -> Vec<Statement> {
        let (mutex, which) = (self.mutex(), self.below(self.objects));
        vec![match self.below(8) {
            0 | 1 => Statement::Lock(mutex, Mode::Wait),
            2 => Statement::Lock(mutex, Mode::Try),
            3 | 4 => Statement::Unlock(mutex),
            5 => Statement::LockShared(which, self.of(&[Mode::Try, Mode::Timed])),
            6 => Statement::LockExclusive(which, self.of(&[Mode::Try, Mode::Timed])),
            _ => Statement::UnlockBoth(which),
        }]
    }
}

/// What is done with a lock, if it is got.
fn inside(lock: Statement, mode: Mode, inner: Vec<Statement>) -> Vec<Statement> {
    match mode {
        Mode::Wait | Mode::Loop => std::iter::once(lock).chain(inner).collect(),
        Mode::Try | Mode::Timed => vec![lock, Statement::IfLast(0, inner)],
    }
}
