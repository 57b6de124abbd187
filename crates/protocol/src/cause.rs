//! Why a run ended badly, as data. [`crate::words::cause`] makes a sentence of it.

use serde::{Deserialize, Serialize};

use crate::finding::FindingKind;
use crate::step::{Place, Waits};

/// Why a run ended where it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Cause {
    /// `assert` failed.
    Assertion {
        /// What was asserted.
        expression: String,
        /// In which file.
        file: String,
        /// In which line.
        line: u32,
        /// In which function.
        function: String,
    },
    /// An assertion of a test framework failed.
    Framework {
        /// Which.
        framework: Framework,
        /// In which file.
        file: String,
        /// In which line.
        line: i32,
        /// What it says of it.
        text: String,
    },
    /// The program's `main` returned something else than zero.
    MainReturned(i32),
    /// A panic or an exception reached the top.
    Panic {
        /// Where, as `file:line`; empty where that is not known.
        place: String,
        /// What it says.
        message: String,
    },
    /// `std::terminate` was called.
    Terminate,
    /// `abort` was called.
    Abort,
    /// `exit` was called.
    Exit(i32),
    /// The processor or the program raised a signal.
    Signal {
        /// Which.
        signal: Signal,
        /// The address that it is about.
        address: u64,
    },
    /// A thread used up its stack.
    StackOverflow,
    /// The process ended in the middle of the run, and does so again with this schedule.
    Died(Death),
    /// Too much memory was needed.
    Memory {
        /// The limit, in bytes.
        max: u64,
        /// Of what.
        of: Memory,
    },
    /// No thread can go on.
    Stuck {
        /// Whether the test itself had returned.
        returned: bool,
        /// Those that wait.
        waiting: Vec<Waiting>,
        /// Threads that take no part.
        bystanders: Bystanders,
    },
    /// The test returned while a thread was still running.
    LeftRunning(u16),
    /// The run came back to a state that it had been in.
    Endless {
        /// How many steps it had made.
        steps: u64,
        /// A thread that is deep in calls.
        deep: Option<Deep>,
        /// Threads that take no part.
        bystanders: Bystanders,
    },
    /// The run went past the step limit.
    TooLong {
        /// The limit.
        steps: u64,
        /// A thread that is deep in calls.
        deep: Option<Deep>,
    },
    /// The same schedule did something else.
    Diverged {
        /// At which step.
        step: u64,
        /// Threads that take no part.
        bystanders: Bystanders,
    },
    /// Two accesses that nothing orders.
    Race(Race),
    /// Memory is freed, and another thread uses it, and nothing orders the two.
    FreeRace {
        /// The block.
        block: u64,
        /// Whether the other access writes.
        write: bool,
        /// Who makes it.
        thread: u16,
        /// From where.
        pc: u64,
    },
    /// An access to memory that is not in use.
    Access {
        /// Whether it writes.
        write: bool,
        /// How many bytes.
        size: u64,
        /// Where.
        address: u64,
        /// Whether it was in use before.
        freed: bool,
    },
    /// An access to a variable of a thread that has ended.
    Gone {
        /// Whether it writes.
        write: bool,
        /// How many bytes.
        size: u64,
        /// In whose stack.
        thread: u16,
    },
    /// Something was freed that is no block in use.
    BadFree {
        /// Where.
        address: u64,
        /// What is there.
        block: FreedBlock,
    },
    /// A lock or a queue was used wrongly.
    Misuse(Misuse),
    /// The test asks for one of no values at all.
    NothingToChoose,
    /// Something leads out of what is controlled.
    Out(Out),
    /// No serial order of the operations has these results.
    Unexplained,
    /// An operation waits for ever, and no serial order explains that.
    UnexplainedWait,
    /// Results further out of order than allowed.
    Refused {
        /// Classes and factors, as written.
        classes: String,
        /// The readings where they are not the usual ones, as written.
        readings: String,
    },
    /// Serial runs of the same calls differ.
    SerialRunsDiffer,
}

/// A thread that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Which.
    pub thread: u16,
    /// For what.
    pub waits: Waits,
}

/// How many threads of the program were there before the search and cannot run during it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bystanders(pub u32);

/// A thread that is so deep in calls that it may be a recursion, and no loop, which has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deep {
    /// Which.
    pub thread: u16,
    /// How much of its stack it uses.
    pub kib: u64,
}

/// A signal that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Signal {
    /// `SIGSEGV`.
    SegmentationFault,
    /// `SIGBUS`.
    BusError,
    /// `SIGFPE`.
    ArithmeticFault,
    /// `SIGILL`.
    IllegalInstruction,
    /// `SIGABRT`.
    Aborted,
    /// `SIGPIPE`.
    BrokenPipe,
    /// Another one.
    Other,
}

/// How a process ended in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Death {
    /// By this signal, as the kernel numbers it.
    Signal(i32),
    /// By itself, with this code.
    Exit(i32),
}

/// What there is not enough memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Memory {
    /// A process of the search: the code under test and what is remembered of it.
    Process,
    /// What a run maps.
    Maps,
    /// What a thread has of the heap.
    Heap,
}

/// How an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    /// The first byte.
    pub address: u64,
    /// How many bytes.
    pub size: u64,
    /// What the thread does that runs.
    pub here: Touch,
    /// What the other did.
    pub there: Touch,
    /// Who that is.
    pub thread: u16,
    /// From where it did it.
    pub pc: u64,
}

/// What is there where something is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreedBlock {
    /// A block that is free already.
    Free,
    /// The middle of a block.
    Middle,
    /// Nothing.
    Nothing,
}

/// What a thread does to a lock or a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Deed {
    /// Takes it.
    Locks,
    /// Tries to take it.
    TriesToLock,
    /// Gives it back.
    Unlocks,
    /// Gives it up in order to wait.
    GivesUp,
    /// Waits for it.
    WaitsFor,
    /// Waits at it.
    WaitsAt,
    /// Wakes who waits.
    Signals,
    /// Adds to it.
    PostsTo,
    /// Asks how it is.
    LooksAt,
    /// Makes it.
    Initialises,
    /// Ends it.
    Destroys,
}

/// What is used wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Noun {
    /// A mutex.
    Mutex,
    /// A spin lock.
    SpinLock,
    /// A lock for readers and writers.
    RwLock,
    /// A condition variable.
    Condition,
    /// A semaphore.
    Semaphore,
    /// A barrier.
    Barrier,
    /// An initialisation that is made once.
    Initialisation,
}

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fault {
    /// It was destroyed.
    Destroyed,
    /// Nobody initialised it, and it has no initialiser.
    Uninitialised,
    /// Its memory was freed.
    Freed {
        /// Where it lay.
        address: u64,
    },
    /// Another thread holds it.
    HeldBy(u16),
    /// Nobody holds it.
    HeldByNobody,
    /// The thread does not hold it.
    NotHeld,
    /// The mutex that a wait is called with is not held.
    WithoutMutex,
    /// Another thread holds it while it is made or ended.
    WhileHeldBy(u16),
    /// Another thread waits for it while it is made or ended.
    WhileAwaitedBy(u16),
}

/// A wrong use of a lock or a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misuse {
    /// Who.
    pub thread: u16,
    /// Does what.
    pub deed: Deed,
    /// To what.
    pub noun: Noun,
    /// What is wrong with that.
    pub fault: Fault,
}

/// Where code leads out of what is controlled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Out {
    /// A call of a library.
    Call {
        /// Its name.
        name: String,
        /// Why it leads out.
        why: Outside,
    },
    /// Too many threads.
    Threads {
        /// So many are possible.
        max: u32,
    },
    /// `exit(0)` by another thread than the first.
    ExitOfMain,
    /// `pthread_cancel`.
    Cancel,
    /// An assumption that does not hold, in an object or its specification.
    AssumptionOfObject,
    /// An operation of `futex` that is not known.
    FutexOperation(i64),
    /// A system call that is not known.
    SystemCall(i64),
    /// A thread waits in a system call.
    WaitsInCall(i64),
    /// A thread computes without any access that is seen.
    Computes,
    /// A thread goes round a loop that only reads, by plain accesses from these places.
    Looks(Vec<u64>),
    /// A data race is allowed, and the accesses cannot be steps.
    AllowedRace {
        /// The race.
        race: Race,
        /// Where the access is that came second.
        pc: u64,
    },
    /// The process ended in the middle of the run, and did not when the same schedule was made again.
    Ended(Death),
    /// What an instruction answers.
    Answer(String),
    /// Inline assembly with an instruction.
    Assembly(String),
    /// What an instruction touches is not known.
    Unknown(String),
    /// Inline assembly beside plain accesses.
    MixedAssembly(Race),
    /// Code that was not instrumented synchronises there.
    Uninstrumented(Option<Place>),
}

/// A framework that tests are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Framework {
    /// GoogleTest.
    GoogleTest,
    /// Catch2, versions 2 and 3.
    Catch2,
    /// doctest.
    Doctest,
    /// Boost.Test.
    BoostTest,
}

/// Why a call leads out of what is controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outside {
    /// Threads hand something over through the kernel.
    HandsOver,
    /// Another process is made.
    Process,
    /// Signals come at any moment.
    Signals,
    /// Handlers of signals run.
    Handlers,
    /// The runtime needs the signal itself.
    OwnSignal,
    /// Libraries come or go.
    Libraries,
    /// Files are changed.
    Files,
    /// What is read is different each time.
    Random,
    /// The kernel is waited for.
    Kernel,
    /// A descriptor is used in a way that is not followed.
    Descriptor,
    /// OpenMP.
    OpenMp,
    /// The runner of a test framework is asked for.
    Runner,
}

impl Cause {
    /// What kind of finding it makes, where the cause alone decides that. Whether threads that wait are in a deadlock is seen by what
    /// they wait for, which whoever makes the finding knows.
    pub fn kind(&self) -> FindingKind {
        match self {
            Cause::Assertion { .. } | Cause::Framework { .. } | Cause::MainReturned(_) => FindingKind::Assertion,
            Cause::Panic { .. } => FindingKind::Panic,
            Cause::Terminate | Cause::Abort | Cause::Exit(_) | Cause::Signal { .. } | Cause::StackOverflow => {
                FindingKind::Crash
            }
            Cause::Died(_) => FindingKind::Crash,
            Cause::Memory { .. } => FindingKind::MemoryLimit,
            Cause::Stuck { .. } => FindingKind::Deadlock,
            Cause::LeftRunning(_) => FindingKind::LeakedThread,
            Cause::Endless { bystanders: Bystanders(0), .. } => FindingKind::Livelock,
            // They may be what is waited for, and they cannot run.
            Cause::Endless { .. } => FindingKind::Uncontrolled,
            Cause::TooLong { .. } => FindingKind::StepLimit,
            Cause::Diverged { .. } => FindingKind::Nondeterminism,
            Cause::Race(_) => FindingKind::DataRace,
            Cause::FreeRace { .. } | Cause::Access { freed: true, .. } | Cause::Gone { .. } => {
                FindingKind::UseAfterFree
            }
            Cause::Access { .. } => FindingKind::OutOfBounds,
            Cause::BadFree { .. } => FindingKind::DoubleFree,
            Cause::Misuse(Misuse { fault: Fault::Freed { .. }, .. }) => FindingKind::UseAfterFree,
            Cause::Misuse(_) | Cause::NothingToChoose => FindingKind::Misuse,
            Cause::Out(_) => FindingKind::Uncontrolled,
            Cause::Unexplained => FindingKind::NotLinearizable,
            Cause::UnexplainedWait => FindingKind::Stuck,
            Cause::Refused { .. } => FindingKind::NotQuasiLinearizable,
            Cause::SerialRunsDiffer => FindingKind::Nondeterministic,
        }
    }

    /// The other access of a race, where there is one: who made it, from where, and how.
    pub fn other(&self) -> Option<(u16, u64, Touch)> {
        match self {
            Cause::Race(race) | Cause::Out(Out::MixedAssembly(race) | Out::AllowedRace { race, .. }) => {
                Some((race.thread, race.pc, race.there))
            }
            Cause::FreeRace { write, thread, pc, .. } => Some((*thread, *pc, Touch { write: *write, atomic: false })),
            _ => None,
        }
    }

    /// The places whose plain accesses have to be steps before more can be said: a search that sees this starts over with them.
    pub fn plain_steps(&self) -> Vec<u64> {
        match self {
            Cause::Out(Out::Looks(places)) => places.clone(),
            Cause::Out(Out::AllowedRace { race, pc }) => {
                let both = [(race.here, *pc), (race.there, race.pc)];
                both.into_iter().filter(|(touch, _)| !touch.atomic).map(|(_, pc)| pc).collect()
            }
            _ => vec![],
        }
    }
}
