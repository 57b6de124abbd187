//! Why a run ended badly, in a sentence without its full stop.

use super::{Names, waits_at_descriptor, waits_for};
use crate::address;
use crate::cause::{
    Bystanders, Cause, Death, Deed, Deep, Fault, Framework, FreedBlock, Memory, Misuse, Noun, Out, Outside, Race,
    Signal, Touch, Waiting,
};
use crate::step::{Waits, WaitsFor};

/// What is said when nobody can go on.
pub const STUCK: &str = "no thread can go on";
/// The same when the test itself has ended.
pub const RETURNED: &str = "the test has returned, and threads are left that cannot go on";
/// What is said of threads that take no part in the search.
pub const HELD_STILL: &str = "had been started before the search and cannot run during it";

/// The sentence.
pub fn cause(cause: &Cause, names: &mut dyn Names) -> String {
    match cause {
        Cause::Assertion { expression, file, line, function } => {
            // The name that only the macro `SELVEDGE_TEST` knows.
            let function = function.replace("selvedge_body_", "");
            format!("assertion `{expression}` failed at {file}:{line} in {function}")
        }
        Cause::Framework { framework, file, line, text } => {
            let said = if text.is_empty() { String::new() } else { format!(": {text}") };
            format!("assertion of {} failed at {file}:{line}{said}", framework_name(*framework))
        }
        Cause::MainReturned(code) => format!("main returned {code}"),
        Cause::Panic { place, message } if place.is_empty() => message.clone(),
        Cause::Panic { place, message } => format!("panic at {place}: {message}"),
        Cause::Terminate => {
            "std::terminate was called: an exception that nobody catches, or a std::thread that nobody joined".into()
        }
        Cause::Abort => "abort was called".into(),
        Cause::Exit(code) => format!("exit({code}) was called"),
        Cause::Signal { signal: signal @ Signal::BrokenPipe, .. } => raised(*signal).into(),
        Cause::Signal { signal, address } => format!("{} at address {}", raised(*signal), names.name(*address)),
        Cause::StackOverflow => "stack overflow: a thread under test has 8 MiB of stack".into(),
        Cause::Died(death) => format!("{} after the thread's last step", dies(*death)),
        Cause::Memory { max, of } => match of {
            Memory::Process => format!("the search needs more than {} of memory", size(*max)),
            Memory::Maps => format!("the run maps more than {} of memory", size(*max)),
            Memory::Heap => format!("a thread under test has {} of heap, and they are used up", size(*max)),
        },
        Cause::Stuck { returned, waiting, bystanders: others } => {
            let waiting: Vec<String> = waiting.iter().map(|waiting| waits(waiting, names)).collect();
            let begins = if *returned { RETURNED } else { STUCK };
            format!("{begins}: {}{}", waiting.join("; "), bystanders(*others))
        }
        Cause::LeftRunning(thread) => format!("the test returned while thread T{thread} was still running"),
        Cause::Endless { steps, deep, bystanders: others } => {
            format!("the run went on for {steps} steps without an end{}{}", depth(*deep), bystanders(*others))
        }
        Cause::TooLong { steps, deep } => {
            format!("the run went on for {steps} steps without an end{}", depth(*deep))
        }
        Cause::Diverged { step, bystanders: others } => format!(
            "the same schedule did something else at step {step}: the test depends on something not controlled{}",
            bystanders(*others)
        ),
        Cause::Race(found) => format!("data race on {}", race(found, None, names)),
        Cause::FreeRace { block, write, thread, pc } => format!(
            "free of memory ({}) and a {} of it by T{thread} at {}, and nothing orders them",
            heap(*block),
            touch(Touch { write: *write, atomic: false }),
            names.code(*thread, *pc)
        ),
        Cause::Access { write, size, address, freed } => {
            let where_ = if *freed { "in freed memory" } else { "outside of any allocation" };
            format!("{} {where_} ({})", access(*write, *size), heap(*address))
        }
        Cause::Gone { write, size, thread } => {
            format!("{} in the stack of T{thread}, which has ended", access(*write, *size))
        }
        Cause::BadFree { address, block } => format!("free of memory that {} ({})", freed(*block), heap(*address)),
        Cause::Misuse(found) => misuse(found),
        Cause::NothingToChoose => "selvedge_choose(0): there is nothing to choose from".into(),
        Cause::Out(out) => outside(out, names),
        Cause::Unexplained => "no serial order of the operations has these results".into(),
        Cause::UnexplainedWait => "an operation waits for ever, and no serial order explains that".into(),
        Cause::Refused { classes, readings } => {
            format!("neither linearizable nor quasi linearizable with {classes}{readings}")
        }
        Cause::SerialRunsDiffer => "serial runs of the same calls differ".into(),
    }
}

fn freed(block: FreedBlock) -> &'static str {
    match block {
        FreedBlock::Free => "is free already",
        FreedBlock::Middle => "is in the middle of a block",
        FreedBlock::Nothing => "was not allocated",
    }
}

fn access(write: bool, size: u64) -> String {
    format!("{} of {}", touch(Touch { write, atomic: false }), bytes(size))
}

/// How a process ended.
pub(super) fn dies(death: Death) -> String {
    match death {
        Death::Signal(number) => match signal_name(number) {
            Some(name) => format!("{name} kills the process"),
            None => format!("signal {number} kills the process"),
        },
        Death::Exit(code) => format!("the process ends with code {code}"),
    }
}

/// The name of a signal of Linux.
fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        31 => "SIGSYS",
        _ => return None,
    })
}

/// A size, in the largest unit that it is a multiple of.
fn size(bytes: u64) -> String {
    match [(30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter().find(|(shift, _)| bytes.trailing_zeros() >= *shift) {
        Some((shift, unit)) if bytes > 0 => format!("{} {unit}", bytes >> shift),
        _ => format!("{bytes} bytes"),
    }
}

fn raised(signal: Signal) -> &'static str {
    match signal {
        Signal::SegmentationFault => "segmentation fault",
        Signal::BusError => "bus error",
        Signal::ArithmeticFault => "arithmetic fault",
        Signal::IllegalInstruction => "illegal instruction",
        Signal::Aborted => "aborted",
        Signal::BrokenPipe => "broken pipe, and SIGPIPE ends the process",
        Signal::Other => "signal",
    }
}

/// A thread that waits, without the line that it is at.
fn waits(Waiting { thread, waits: Waits { what, object, held_by } }: &Waiting, names: &mut dyn Names) -> String {
    if let Some(told) = waits_at_descriptor(*what, *object) {
        return format!("T{thread} {told}");
    }
    match (what, held_by) {
        (WaitsFor::Join, _) => format!("T{thread} waits for the end of T{object}"),
        (WaitsFor::Change, _) => format!("T{thread} goes round a loop that reads {}", names.name(*object)),
        (WaitsFor::End, _) => format!("T{thread} goes round a loop until T{object} ends"),
        (WaitsFor::Attempt, Some(owner)) => {
            format!("T{thread} goes round a loop that tries to take {} held by T{owner}", names.name(*object))
        }
        (WaitsFor::Attempt, None) => format!("T{thread} goes round a loop that tries to take {}", names.name(*object)),
        (what, Some(owner)) => {
            format!("T{thread} waits for {} {} held by T{owner}", waits_for(*what), names.name(*object))
        }
        (what, None) => format!("T{thread} waits for {} {}", waits_for(*what), names.name(*object)),
    }
}

/// What is said of a thread that is deep in calls.
fn depth(deep: Option<Deep>) -> String {
    deep.map_or(String::new(), |Deep { thread, kib }| format!(", and calls of T{thread} use {kib} KiB of stack"))
}

/// What is said of threads that take no part, if there are any: a pool that was made too early, as a rule.
pub fn bystanders(bystanders: Bystanders) -> String {
    match bystanders.0 {
        0 => String::new(),
        1 => format!("; a thread that {HELD_STILL}"),
        count => format!("; {count} threads that {HELD_STILL}"),
    }
}

fn bytes(size: u64) -> String {
    if size == 1 { "1 byte".into() } else { format!("{size} bytes") }
}

fn heap(address: u64) -> String {
    address::in_heap(address).map_or_else(|| format!("{address:#x}"), |offset| format!("heap+{offset:#x}"))
}

/// How an access touches memory.
pub fn touch(touch: Touch) -> &'static str {
    match (touch.write, touch.atomic) {
        (true, false) => "write",
        (false, false) => "read",
        (true, true) => "atomic write",
        (false, true) => "atomic read",
    }
}

/// The two accesses of a race; `pc` says where the second is, where the sentence does not stand beside it.
pub(super) fn race(race: &Race, pc: Option<u64>, names: &mut dyn Names) -> String {
    let here = pc.map_or("here".to_owned(), |pc| format!("at {}", names.name(pc)));
    format!(
        "{} at {}: {} {here}, {} by T{} at {}, and nothing orders them",
        bytes(race.size),
        names.name(race.address),
        touch(race.here),
        touch(race.there),
        race.thread,
        names.code(race.thread, race.pc)
    )
}

fn misuse(Misuse { thread, deed, noun, fault }: &Misuse) -> String {
    let deed = match deed {
        Deed::Locks => "locks",
        Deed::TriesToLock => "tries to lock",
        Deed::Unlocks => "unlocks",
        Deed::GivesUp => "gives up",
        Deed::WaitsFor => "waits for",
        Deed::WaitsAt => "waits at",
        Deed::Signals => "signals",
        Deed::PostsTo => "posts to",
        Deed::LooksAt => "looks at",
        Deed::Initialises => "initialises",
        Deed::Destroys => "destroys",
    };
    let noun = match noun {
        Noun::Mutex => "a mutex",
        Noun::SpinLock => "a spin lock",
        Noun::RwLock => "a lock for readers and writers",
        Noun::Condition => "a condition variable",
        Noun::Semaphore => "a semaphore",
        Noun::Barrier => "a barrier",
        Noun::Initialisation => "an initialisation",
    };
    match fault {
        Fault::Destroyed => format!("T{thread} {deed} {noun} that was destroyed"),
        Fault::Uninitialised => format!("T{thread} {deed} {noun} that was never initialised"),
        Fault::Freed { address } => format!("T{thread} {deed} {noun} in freed memory ({})", heap(*address)),
        Fault::HeldBy(owner) => format!("T{thread} {deed} {noun} that T{owner} holds"),
        Fault::HeldByNobody => format!("T{thread} {deed} {noun} that nobody holds"),
        Fault::NotHeld => format!("T{thread} {deed} {noun} that it does not hold"),
        Fault::WithoutMutex => format!("T{thread} waits with a mutex that it does not hold"),
        Fault::WhileHeldBy(owner) => format!("T{thread} {deed} {noun} while T{owner} holds it"),
        Fault::WhileAwaitedBy(other) => format!("T{thread} {deed} {noun} while T{other} waits for it"),
    }
}

fn outside(out: &Out, names: &mut dyn Names) -> String {
    match out {
        Out::Call { name, why } => format!("{name} is not controlled: {}", why_outside(*why)),
        Out::Threads { max } => {
            format!("more than {max} threads in one run, or than the system allows, are not controlled")
        }
        Out::ExitOfMain => {
            "exit(0) by another thread than the first ends all threads at once, which is not controlled".into()
        }
        Out::Cancel => "pthread_cancel is not controlled".into(),
        Out::AssumptionOfObject => {
            "an assumption that does not hold ends a run of a test; of an object nothing can be said then".into()
        }
        Out::FutexOperation(number) => format!("futex operation {number} is not controlled"),
        Out::SystemCall(number) => match system_call(*number).filter(|name| !name.contains(' ')) {
            Some(name) => format!("system call {name} is not controlled"),
            None => format!("system call {number} is not controlled"),
        },
        Out::WaitsInCall(number) => match system_call(*number) {
            Some(name) => format!("a thread waits in the system call {name}, which is not controlled"),
            None => format!("a thread waits in system call {number}, which is not controlled"),
        },
        Out::Computes | Out::Looks(_) => "a thread computes for seconds without any controlled access".into(),
        Out::AllowedRace { race: found, .. } => format!(
            "`races off` allows a data race whose accesses cannot be steps of the search, because they may be torn or are made inside \
             of a library: {}",
            race(found, None, names)
        ),
        Out::Ended(death) => {
            format!("{} after the thread's last step, which the same schedule did not do again", dies(*death))
        }
        Out::Answer(instruction) => format!("what `{instruction}` answers is not controlled"),
        Out::Assembly(instruction) => format!("inline assembly with `{instruction}` is not controlled"),
        Out::Unknown(instruction) => format!("what `{instruction}` touches is not known, so it is not controlled"),
        Out::Uninstrumented(place) => {
            let file = |module: &str| module.rsplit('/').next().unwrap_or_default().to_owned();
            let at = place.as_ref().map(|place| format!(" at {}+{:#x}", file(&place.module), place.offset));
            format!(
                "code that was not instrumented synchronises{}, and what else it reads and writes is not seen",
                at.unwrap_or_default()
            )
        }
        Out::MixedAssembly(found) => {
            format!("inline assembly beside plain accesses is not controlled: {}", race(found, None, names))
        }
    }
}

fn framework_name(framework: Framework) -> &'static str {
    match framework {
        Framework::GoogleTest => "GoogleTest",
        Framework::Catch2 => "Catch2",
        Framework::Doctest => "doctest",
        Framework::BoostTest => "Boost.Test",
    }
}

fn why_outside(why: Outside) -> &'static str {
    match why {
        Outside::HandsOver => "what threads hand over through the kernel is not seen",
        Outside::Process => "another process is made, which nobody puts back",
        Outside::Signals => "signals come at moments that are not chosen here",
        Outside::Handlers => "handlers of signals run outside of what is controlled",
        Outside::OwnSignal => "the runtime needs this signal itself",
        Outside::Libraries => "libraries that come or go in a run are not put back",
        Outside::Files => "it changes files, which are not put back",
        Outside::Random => "what it reads is different each time",
        Outside::Kernel => "it waits for what comes through the kernel",
        Outside::Runner => "it needs the runner of the test framework, which does not run here",
        Outside::Descriptor => "what it does to a pipe, a socket or their like is not followed",
        Outside::OpenMp => "OpenMP's threads wait for one another inside of a library",
    }
}

/// The name of a system call of Linux on x86-64 that a thread may wait in.
fn system_call(number: i64) -> Option<&'static str> {
    Some(match number {
        202 => "futex (a lock or wait inside a library that is not controlled)",
        0 => "read",
        1 => "write",
        7 | 271 => "poll",
        23 | 270 => "select",
        232 | 281 => "epoll_wait",
        61 | 247 => "wait",
        43 | 288 => "accept",
        42 => "connect",
        45 | 47 => "recv",
        44 | 46 => "send",
        34 | 130 | 128 => "a wait for a signal",
        73 | 72 => "a file lock",
        35 | 230 => "nanosleep",
        22 | 293 => "pipe",
        53 => "socketpair",
        283 => "timerfd_create",
        284 | 290 => "eventfd",
        213 | 291 => "epoll_create",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Numbers;

    fn says(found: &Cause) -> String {
        cause(found, &mut Numbers)
    }

    #[test]
    fn waiting_threads_are_told_one_after_the_other() {
        let waiting = |thread, what, object, held_by| Waiting { thread, waits: Waits { what, object, held_by } };
        let stuck = |returned, others| Cause::Stuck {
            returned,
            waiting: vec![
                waiting(0, WaitsFor::Join, 1, None),
                waiting(1, WaitsFor::Mutex, 0x10, Some(2)),
                waiting(2, WaitsFor::Change, 0x18, None),
            ],
            bystanders: Bystanders(others),
        };
        let told =
            "T0 waits for the end of T1; T1 waits for mutex 0x10 held by T2; T2 goes round a loop that reads 0x18";
        assert_eq!(says(&stuck(false, 0)), format!("no thread can go on: {told}"));
        assert_eq!(says(&stuck(true, 1)), format!("{RETURNED}: {told}; a thread that {HELD_STILL}"));
    }

    #[test]
    fn accesses_say_where_in_the_heap_they_are() {
        let access = |size, freed| Cause::Access { write: true, size, address: 0x6000_0000_0010, freed };
        assert_eq!(says(&access(1, true)), "write of 1 byte in freed memory (heap+0x10)");
        assert_eq!(says(&access(8, false)), "write of 8 bytes outside of any allocation (heap+0x10)");
    }

    #[test]
    fn ends_of_processes_and_limits_of_memory_are_named() {
        let died = |death| says(&Cause::Died(death));
        assert_eq!(died(Death::Signal(9)), "SIGKILL kills the process after the thread's last step");
        assert_eq!(died(Death::Signal(40)), "signal 40 kills the process after the thread's last step");
        assert_eq!(died(Death::Exit(3)), "the process ends with code 3 after the thread's last step");
        let full = |max, of| says(&Cause::Memory { max, of });
        assert_eq!(full(512 << 20, Memory::Process), "the search needs more than 512 MiB of memory");
        assert_eq!(full(1 << 30, Memory::Maps), "the run maps more than 1 GiB of memory");
        assert_eq!(full(1001, Memory::Heap), "a thread under test has 1001 bytes of heap, and they are used up");
    }

    #[test]
    fn a_race_names_both_accesses() {
        let touch = |write, atomic| Touch { write, atomic };
        let found =
            Race { address: 0x10, size: 4, here: touch(true, false), there: touch(false, true), thread: 2, pc: 0x55 };
        let told = "4 bytes at 0x10: write here, atomic read by T2 at 0x55, and nothing orders them";
        assert_eq!(says(&Cause::Race(found.clone())), format!("data race on {told}"));
        assert_eq!(race(&found, Some(7), &mut Numbers), told.replace("here", "at 0x7"));
    }
}
