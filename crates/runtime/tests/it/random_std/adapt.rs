//! Random programs with what `std` of C++ or Rust has: a statement that it lacks becomes one that it has, or the program is left out.
//!
//! Invariant: what comes out means the same to the twin and to the language; where the language promises more or less, the twin knows, or the program is
//! left out.

use crate::random_c::maker::Theme;
use crate::random_c::program::{Library, Mode, Program, Statement};

struct Adapter {
    library: Library,
    /// Which mutexes are used with a condition variable.
    waits: Vec<usize>,
    unstructured: bool,
}

/// The program for that language, if it can be said in it.
pub fn adapt(program: &Program, themes: &[Theme], library: Library) -> Option<Program> {
    let has = |theme: Theme| themes.contains(&theme);
    let clocks = has(Theme::Plain) || has(Theme::Heap);
    if has(Theme::Futexes) || library == Library::Rust && has(Theme::Unstructured) {
        return None;
    }
    // `Condvar` promises no order, and semaphores are made of mutexes, which promise more.
    if library == Library::Rust && clocks && (has(Theme::Conditions) || has(Theme::Semaphores)) {
        return None;
    }
    let mut adapter = Adapter { library, waits: vec![], unstructured: has(Theme::Unstructured) };
    for statement in program.statements() {
        match statement {
            Statement::Wait { mutex, .. } | Statement::WaitWhile { mutex, .. } => {
                adapter.waits.push(adapter.with_condition(*mutex));
            }
            // A test in Rust waits for threads that nobody waits for; in C++ who gives a unit goes on to wake somebody.
            Statement::Detach(_) => return None,
            _ => {}
        }
    }
    let threads = program.threads.iter().map(|thread| adapter.all(thread)).collect();
    let widths = program.widths.map(|width| width.min(64));
    let mut barriers = program.barriers;
    if library == Library::Cpp {
        // More than are expected may not come.
        for (which, expected) in barriers.iter_mut().enumerate() {
            let comes = |thread: &&Vec<Statement>| thread.contains(&Statement::Barrier(which));
            *expected = (*expected).max(program.threads.iter().filter(comes).count() as u8);
        }
    }
    Some(Program { library, threads, widths, barriers, c11: false, early: [0; 2], ..program.clone() })
}

impl Adapter {
    fn all(&self, statements: &[Statement]) -> Vec<Statement> {
        statements.iter().filter_map(|statement| self.one(statement)).collect()
    }

    /// The mutex that is used with a condition variable in place of this one.
    fn with_condition(&self, mutex: usize) -> usize {
        mutex % 2
    }

    fn mutex(&self, mutex: usize) -> usize {
        match (mutex, self.library) {
            (0 | 1, _) => mutex,
            (2, Library::Cpp) if !self.unstructured && self.waits.is_empty() => 2,
            (4, Library::Rust) => 4,
            _ => mutex % 2,
        }
    }

    fn lock(&self, mutex: usize, mode: Mode) -> Statement {
        let mutex = self.mutex(mutex);
        // `std::mutex`, which condition variables want, and Rust's `Mutex` know no time.
        let timed = self.library == Library::Cpp && !self.waits.contains(&mutex);
        Statement::Lock(mutex, if mode == Mode::Timed && !timed { Mode::Try } else { mode })
    }

    fn one(&self, statement: &Statement) -> Option<Statement> {
        let rust = self.library == Library::Rust;
        Some(match statement.clone() {
            Statement::Assembly(access) => return self.one(&access),
            Statement::Lock(mutex, mode) => self.lock(mutex, mode),
            Statement::Unlock(mutex) => Statement::Unlock(self.mutex(mutex)),
            Statement::Wait { condition, mutex, timed } => {
                Statement::Wait { condition, mutex: self.with_condition(mutex), timed }
            }
            Statement::WaitWhile { condition, mutex, variable, value } => {
                Statement::WaitWhile { condition, mutex: self.with_condition(mutex), variable, value }
            }
            // Where a writer waits, a reader who only tries is refused.
            Statement::LockShared(which, _) if rust => Statement::LockShared(which, Mode::Wait),
            Statement::LockExclusive(which, Mode::Timed) if rust => Statement::LockExclusive(which, Mode::Try),
            Statement::Take(which, Mode::Loop) if rust => Statement::Take(which, Mode::Wait),
            Statement::Count(_) => return None,
            Statement::TryJoin(thread) => Statement::Join(thread),
            Statement::IfLast(_, inner) if matches!(inner[..], [Statement::Join(_)]) => return None,
            Statement::IfLast(value, inner) => Statement::IfLast(value, self.all(&inner)),
            other => other,
        })
    }
}
