//! The words for what steps do and what threads wait for.

use crate::step::{Access, Class, Verb, WaitsFor};

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
        Class::Pipe => "pipe",
        Class::Socket => "socket",
        Class::EventFd => "eventfd",
        Class::TimerFd => "timerfd",
        Class::Epoll => "epoll",
        Class::Descriptors => "descriptor",
        Class::Other => "object",
    })
}

/// What is done to a descriptor, with its number; nothing for steps on something else.
pub fn on_descriptor(access: &Access) -> Option<String> {
    if !access.on.is_descriptor() {
        return None;
    }
    let (on, number) = (class(access.on)?, access.object);
    let bytes = |count: u64| if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
    Some(match (access.verb, access.on, access.new) {
        (Verb::Update, Class::Descriptors, Some(number)) => format!("open descriptor {number}"),
        (Verb::Write, Class::Descriptors, Some(number)) => format!("close descriptor {number}"),
        (Verb::Give, Class::Descriptors, _) => format!("set flags of descriptor {number}"),
        (Verb::Read, Class::Descriptors, _) => format!("look at descriptor {number}"),
        (Verb::Take, Class::Epoll, Some(1)) => format!("get 1 event from {on} {number}"),
        (Verb::Take, Class::Epoll, Some(count)) => format!("get {count} events from {on} {number}"),
        (Verb::Take, _, Some(count)) => format!("read {} from {on} {number}", bytes(count)),
        (Verb::Give, _, Some(count)) => format!("write {} to {on} {number}", bytes(count)),
        (Verb::Take | Verb::Read | Verb::Await, ..) => format!("look at {on} {number}"),
        (Verb::Give, ..) => format!("try to write to {on} {number}"),
        _ => format!("change {on} {number}"),
    })
}

/// What a thread waits for at a descriptor, with its number; nothing where it waits for something else.
pub fn waits_at_descriptor(what: WaitsFor, number: u64) -> Option<String> {
    match what {
        WaitsFor::Data(Class::Epoll) => Some(format!("waits for events of epoll {number}")),
        WaitsFor::Data(on) => Some(format!("waits to read from {} {number}", class(on)?)),
        WaitsFor::Room(on) => Some(format!("waits to write to {} {number}", class(on)?)),
        WaitsFor::Looks(on) => Some(format!("goes round a loop that looks at {} {number}", class(on)?)),
        WaitsFor::Ready => Some("waits until one of its descriptors is ready".into()),
        _ => None,
    }
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
        WaitsFor::Data(on) | WaitsFor::Room(on) | WaitsFor::Looks(on) => class(on).unwrap_or("descriptor"),
        WaitsFor::Ready => "descriptors",
        WaitsFor::Change => "a change",
        WaitsFor::End => "an end",
        WaitsFor::Attempt => "an attempt",
    }
}
