//! The words for what steps do and what threads wait for.

use crate::step::{Class, Verb, WaitsFor};

/// What is done.
pub fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Read => "read",
        Verb::Write => "write",
        Verb::Update => "update",
        Verb::Lock => "lock",
        Verb::LockShared => "lock shared",
        Verb::Unlock => "unlock",
        Verb::UnlockShared => "unlock shared",
        Verb::Take => "take",
        Verb::Give => "give",
        Verb::Await => "await",
    }
}

/// To what; nothing for memory, whose address says it.
pub fn class(class: Class) -> Option<&'static str> {
    Some(match class {
        Class::Memory => return None,
        Class::Lock => "lock",
        Class::Condition => "condition",
        Class::Futex => "futex",
        Class::Once => "once",
        Class::WakeUp => "wake-up",
        Class::EndOfThread => "end of thread",
        Class::Threads => "threads",
        Class::Clock => "clock",
        Class::Barrier => "barrier",
        Class::Heap => "heap",
        Class::Other => "object",
    })
}

/// What a thread waits for, in a word.
pub fn waits_for(what: WaitsFor) -> &'static str {
    match what {
        WaitsFor::Mutex => "mutex",
        WaitsFor::RwLock => "rwlock",
        WaitsFor::Semaphore => "semaphore",
        WaitsFor::Join => "join",
        WaitsFor::Start => "start",
        WaitsFor::Once => "once",
        WaitsFor::WakeUp(queue) => class(queue).unwrap_or("wake-up"),
        WaitsFor::Change => "a change",
        WaitsFor::End => "an end",
        WaitsFor::Attempt => "an attempt",
    }
}
