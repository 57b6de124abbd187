//! One step of a run, and a thread at its end.

use serde::{Deserialize, Serialize};

/// A place in the code: an offset into a file that was loaded. Source lines come from its debug information, later and outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file that it lies in.
    pub module: String,
    /// The address that the call returns to, as the file numbers its own addresses.
    pub offset: u64,
}

/// What is done to memory or to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// Looks at a value.
    Read,
    /// Puts a value there.
    Write,
    /// Reads and writes in one step.
    Update,
    /// Takes a lock.
    Lock,
    /// Takes a lock that readers share.
    LockShared,
    /// Gives a lock back.
    Unlock,
    /// Gives back a lock that readers share.
    UnlockShared,
    /// Takes a unit of a semaphore.
    Take,
    /// Gives a unit to a semaphore.
    Give,
    /// Waits for something that happens once.
    Await,
}

/// What a step is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Class {
    /// Bytes at an address.
    Memory,
    /// A mutex, a lock for readers and writers, a semaphore.
    Lock,
    /// A condition variable.
    Condition,
    /// A futex.
    Futex,
    /// An initialisation that is made once.
    Once,
    /// The wake-up of a thread, whose number is in place of the address.
    WakeUp,
    /// The end of a thread, whose number is in place of the address.
    EndOfThread,
    /// The threads of the process.
    Threads,
    /// The clock.
    Clock,
    /// A barrier.
    Barrier,
    /// The memory that `malloc` hands out.
    Heap,
    /// A pipe, with the number of the end that is used in place of the address.
    Pipe,
    /// One of a pair of sockets, with its number in place of the address.
    Socket,
    /// An `eventfd`, with its number in place of the address.
    EventFd,
    /// A `timerfd`, with its number in place of the address.
    TimerFd,
    /// An `epoll`, with its number in place of the address.
    Epoll,
    /// The numbers of descriptors.
    Descriptors,
    /// Something else of the runtime.
    Other,
}

impl Class {
    /// Whether the number of a descriptor is in place of the address.
    pub fn is_descriptor(self) -> bool {
        matches!(
            self,
            Class::Pipe | Class::Socket | Class::EventFd | Class::TimerFd | Class::Epoll | Class::Descriptors
        )
    }
}

/// A step on memory or on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// What is done.
    pub verb: Verb,
    /// To what.
    pub on: Class,
    /// Where it lies.
    pub object: u64,
    /// How many bytes.
    pub size: u32,
    /// The value read or found.
    pub old: u64,
    /// The value after it, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u64>,
}

impl Access {
    /// Whether the step changed the value, as far as that is known.
    pub fn changes(&self) -> bool {
        self.new.is_some_and(|new| new != self.old)
    }
}

/// What a step is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A thread is created.
    Create,
    /// A thread gives up its turn.
    Yield,
    /// The test or a specification asks for one of several values.
    Choose {
        /// Which it got, counted from 0.
        chosen: u64,
        /// Out of how many.
        options: u64,
    },
    /// Something is done to memory or to an object.
    Access(Access),
    /// An operation is called.
    Call {
        /// Which, where that is known.
        operation: Option<String>,
    },
    /// An operation returns.
    Return {
        /// With what, where that is known.
        result: Option<String>,
    },
}

/// One step of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Who.
    pub thread: u16,
    /// What.
    pub kind: StepKind,
    /// Whether it is a wait that ends without a reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spurious: bool,
    /// From where.
    pub place: Option<Place>,
    /// Who called that, from the inside out, as numbers of [`crate::Finding::frames`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<u32>,
}

impl Step {
    /// The access, where it is one.
    pub fn access(&self) -> Option<&Access> {
        match &self.kind {
            StepKind::Access(access) => Some(access),
            _ => None,
        }
    }

    /// Whether an operation is called or returns there.
    pub fn is_of_operation(&self) -> bool {
        matches!(self.kind, StepKind::Call { .. } | StepKind::Return { .. })
    }

    /// Whether two steps are the same, wherever their program lies on disk.
    pub fn is_like(&self, other: &Step) -> bool {
        let offset = |step: &Step| step.place.as_ref().map(|place| place.offset);
        let what = |step: &Step| (step.thread, step.spurious);
        (what(self), &self.kind, offset(self)) == (what(other), &other.kind, offset(other))
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WaitsFor {
    /// A mutex.
    Mutex,
    /// A lock for readers and writers.
    RwLock,
    /// A unit of a semaphore.
    Semaphore,
    /// The end of a thread, whose number is in place of the address.
    Join,
    /// That all threads of a matrix are there.
    Start,
    /// An initialisation that another thread makes.
    Once,
    /// A wake-up, from a queue of this kind.
    WakeUp(Class),
    /// Something to read, from a descriptor of this kind, whose number is in place of the address.
    Data(Class),
    /// Room to write, to a descriptor of this kind, whose number is in place of the address.
    Room(Class),
    /// That any of several descriptors is ready.
    Ready,
    /// A loop goes round that looks at a descriptor of this kind, whose number is in place of the address.
    Looks(Class),
    /// A loop goes round until something changes.
    Change,
    /// A loop goes round until a thread ends, whose number is in place of the address.
    End,
    /// A loop goes round that tries to take a lock.
    Attempt,
}

/// What a thread waits for, and who has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// What.
    pub what: WaitsFor,
    /// Which one.
    pub object: u64,
    /// The thread that has it, where one does.
    pub held_by: Option<u16>,
}

/// A thread at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// Its number.
    pub thread: u16,
    /// Whether it had ended.
    pub ended: bool,
    /// What it was waiting for.
    pub waits: Option<Waits>,
    /// Where it was.
    pub place: Option<Place>,
    /// Who called that, from the inside out, as numbers of [`crate::Finding::frames`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<u32>,
}

/// A plain access that lies between steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherAccess {
    /// How many steps had been made.
    pub made: u64,
    /// Who called it, from the inside out, as numbers of [`crate::Finding::frames`].
    pub callers: Vec<u32>,
}
