//! Makes a finding of a run that ended badly.

use std::collections::HashMap;

use selvedge_driver::{
    Finding, FindingKind, HELD_STILL, OtherAccess, Place, RETURNED, STUCK, StepRecord, ThreadRecord, Waits,
    schedule_to_text,
};
use selvedge_explore::{Access, Condition, End, Kind, Stop};

use crate::control::{Control, Failure};
use crate::fiber::Wants;
use crate::freeze;
use crate::posix::objects;
use crate::spin;

/// What a run found, if it ended badly.
pub fn of_run(control: &Control, end: End, test: &str, run: u64) -> Option<Finding> {
    let failure = match end {
        End::Complete | End::Stopped(Stop::Redundant | Stop::Blocked | Stop::Unfair) => return None,
        End::Failed => control.run.failure.clone()?,
        End::Stuck => stuck(control),
        End::Endless => Failure {
            kind: if freeze::bystanders() > 0 { FindingKind::Uncontrolled } else { FindingKind::Livelock },
            message: format!(
                "the run went on for {} steps without an end{}{}",
                control.run.trace.len(),
                depth(control),
                bystanders()
            ),
            pc: control.run.details.last().map_or(0, |detail| detail.pc),
        },
        End::Truncated => Failure {
            kind: FindingKind::StepLimit,
            message: format!(
                "the run went on for {} steps without an end{}",
                control.search.settings.steps_max,
                depth(control)
            ),
            pc: control.run.details.last().map_or(0, |detail| detail.pc),
        },
        End::Stopped(Stop::Diverged(step)) => Failure {
            kind: FindingKind::Nondeterminism,
            message: format!(
                "the same schedule did something else at step {step}: the test depends on something not controlled{}",
                bystanders()
            ),
            pc: 0,
        },
    };
    Some(of_failure(control, failure, test, run))
}

/// The finding that the run which has just ended makes of a failure.
pub fn of_failure(control: &Control, failure: Failure, test: &str, run: u64) -> Finding {
    let mut frames = Frames::default();
    let (steps, threads) = (steps(control, &mut frames), threads(control, &mut frames));
    let callers =
        if failure.pc == 0 { vec![] } else { frames.all(&control.process.fibers[control.run.current].callers()) };
    let other = control.run.other.as_ref();
    let other = other.map(|other| OtherAccess { made: other.made as u64, callers: frames.all(&other.callers) });
    Finding {
        format: Finding::FORMAT.into(),
        version: Finding::VERSION,
        tool: env!("CARGO_PKG_VERSION").into(),
        test: test.into(),
        program: String::new(),
        kind: failure.kind,
        message: failure.message,
        thread: control.run.current as u8,
        place: place(failure.pc),
        run,
        schedule: schedule_to_text(&control.run.trace.schedule()),
        settings: control.search.settings.clone(),
        steps,
        threads,
        callers,
        other,
        frames: frames.places,
    }
}

/// The owner of what a thread waits for.
fn holder(control: &Control, wants: Wants) -> Option<u8> {
    match wants {
        Wants::Mutex(mutex) => control.run.objects.mutexes.get(&mutex)?.owner,
        Wants::Shared(lock) => control.run.objects.rwlocks.get(&lock)?.writer,
        Wants::Exclusive(lock) => {
            let lock = control.run.objects.rwlocks.get(&lock)?;
            lock.writer.or(lock.readers.first().copied())
        }
        Wants::End(thread) => Some(thread as u8),
        _ => None,
    }
}

fn waits(control: &Control, thread: usize) -> Option<Waits> {
    let fiber = &control.process.fibers[thread];
    let (what, object) = match fiber.wants {
        Wants::Nothing | Wants::Value(..) => return None,
        Wants::Mutex(mutex) => ("mutex", mutex as u64),
        Wants::Shared(lock) | Wants::Exclusive(lock) => ("rwlock", lock as u64),
        Wants::Unit(semaphore) => ("semaphore", semaphore as u64),
        Wants::End(other) => ("join", other as u64),
        Wants::Gate => ("start", 0),
        Wants::Columns => {
            let open = control.run.recorder.threads.iter().find(|&&other| !control.process.fibers[other].ended);
            ("join", open.copied().unwrap_or(0) as u64)
        }
        Wants::Wake => (objects::name(fiber.asleep_on).unwrap_or("wake-up"), objects::inner(fiber.asleep_on)),
        Wants::Once(once) => ("once", once as u64),
        Wants::Change => return Some(awaits(control, fiber.spin.awaited.first()?)),
    };
    Some(Waits { what: what.into(), object, held_by: holder(control, fiber.wants) })
}

/// What a loop waits for.
fn awaits(control: &Control, awaited: &Access) -> Waits {
    let object = objects::inner(awaited.object);
    let (what, held_by) = match (objects::is_abstract(awaited.object), awaited.kind) {
        (false, _) => ("a change", None),
        (_, Kind::Await) => ("an end", None),
        _ => {
            let address = object as usize;
            let holds = holder(control, Wants::Mutex(address)).or(holder(control, Wants::Exclusive(address)));
            ("an attempt", holds)
        }
    };
    Waits { what: what.into(), object, held_by }
}

/// Why nobody can go.
pub fn stuck(control: &Control) -> Failure {
    let blocked: Vec<usize> = control.run.pending.iter().map(|pending| pending.thread.index()).collect();
    let mut parts = Vec::new();
    for &thread in &blocked {
        if let Some(Waits { what, object, held_by }) = waits(control, thread) {
            parts.push(match (what.as_str(), held_by) {
                ("join", _) => format!("T{thread} waits for the end of T{object}"),
                ("a change", _) => format!("T{thread} goes round a loop that reads {object:#x}"),
                ("an end", _) => format!("T{thread} goes round a loop until T{object} ends"),
                ("an attempt", Some(owner)) => {
                    format!("T{thread} goes round a loop that tries to take {object:#x} held by T{owner}")
                }
                ("an attempt", None) => format!("T{thread} goes round a loop that tries to take {object:#x}"),
                (what, Some(owner)) => format!("T{thread} waits for {what} {object:#x} held by T{owner}"),
                (what, None) => format!("T{thread} waits for {what} {object:#x}"),
            });
        }
    }
    let wants = |wanted: fn(Wants) -> bool| blocked.iter().any(|&thread| wanted(control.process.fibers[thread].wants));
    let kind = if has_cycle(control, &blocked) && !control.process.fibers[0].ended {
        FindingKind::Deadlock
    } else if freeze::bystanders() > 0 {
        // They may be what is waited for, and they cannot run.
        FindingKind::Uncontrolled
    } else if control.process.fibers[0].ended {
        FindingKind::LeakedThread
    } else if wants(|wants| wants == Wants::Change) {
        FindingKind::Livelock
    } else if control.run.created == 1 {
        // There never was anybody who could have woken it: it waits for what it has itself.
        FindingKind::Deadlock
    } else if blocked.iter().any(|&thread| sleeps(control, thread)) && !asleep_apart(control, &blocked) {
        FindingKind::LostWakeup
    } else {
        FindingKind::Deadlock
    };
    // A livelock is where a loop is, whoever else waits.
    let at_fault =
        |&thread: &usize| kind != FindingKind::Livelock || control.process.fibers[thread].wants == Wants::Change;
    let places = blocked.iter().copied().filter(at_fault).map(|thread| control.process.fibers[thread].pc);
    let pc = places.into_iter().find(|&pc| pc != 0).unwrap_or(0);
    let begins = if control.process.fibers[0].ended { RETURNED } else { STUCK };
    Failure { kind, message: format!("{begins}: {}{}", parts.join("; "), bystanders()), pc }
}

/// What is said of a thread that is so deep in calls that it may be a recursion, and no loop, which has no end.
fn depth(control: &Control) -> String {
    const DEEP: u64 = 1 << 20;
    let used = |thread: &usize| {
        let fiber = &control.process.fibers[*thread];
        fiber.top.saturating_sub(if fiber.holds(fiber.frame) { fiber.frame } else { fiber.top })
    };
    match (0..control.run.created)
        .filter(|&thread| !control.process.fibers[thread].ended)
        .find(|thread| used(thread) > DEEP)
    {
        Some(thread) => format!(", and calls of T{thread} use {} KiB of stack", used(&thread) >> 10),
        None => String::new(),
    }
}

/// What is said of threads that were there before the search and take no part in it, if there are any: a pool that was made too early, as a rule.
fn bystanders() -> String {
    match freeze::bystanders() {
        0 => String::new(),
        1 => format!("; a thread that {HELD_STILL}"),
        count => format!("; {count} threads that {HELD_STILL}"),
    }
}

/// Whether the thread waits for a signal, as opposed to others at a barrier.
fn sleeps(control: &Control, thread: usize) -> bool {
    let fiber = &control.process.fibers[thread];
    fiber.wants == Wants::Wake && objects::name(fiber.asleep_on) != Some("barrier")
}

/// Whether threads sleep at different futexes. A lock made of a futex does not say who holds it; two threads that each sleep at another
/// one are more likely to wait for each other's lock than for wake-ups that both were lost.
fn asleep_apart(control: &Control, blocked: &[usize]) -> bool {
    let futex = |thread: &usize| {
        let fiber = &control.process.fibers[*thread];
        let sleeps = fiber.wants == Wants::Wake && objects::name(fiber.asleep_on) == Some("futex");
        sleeps.then_some(fiber.asleep_on)
    };
    let mut queues = blocked.iter().filter_map(futex);
    let first = queues.next();
    queues.any(|queue| Some(queue) != first)
}

/// Who has the lock that a thread sleeps for, where the lock is made of a futex: the one who made its word something else than zero, if words are taken that way here,
/// by an exchange that expects zero.
fn taker(control: &Control, thread: usize) -> Option<usize> {
    let fiber = &control.process.fibers[thread];
    if fiber.wants != Wants::Wake || objects::name(fiber.asleep_on) != Some("futex") {
        return None;
    }
    let word = Access::new(objects::inner(fiber.asleep_on), 4, Kind::Read);
    let trace = &control.run.trace;
    let takes = |at: &usize| {
        let mut accesses = trace.accesses(*at).iter();
        accesses.any(|access| access.object == word.object && access.changed && !access.is_read() && access.old == 0)
    };
    let expects_zero = |at: usize| {
        let mut accesses = trace.accesses(at).iter();
        accesses.any(|access| access.object == word.object && access.condition == Condition::Equals(0))
    };
    let last = (0..trace.len()).rev().find(takes)?;
    // SAFETY: a word that a thread waits for; the run is over, and its memory has not been put back.
    let is_lock = unsafe { spin::value_at(&word) } != 0 && (0..=last).filter(takes).any(expects_zero);
    is_lock.then(|| trace.step(last).thread.index())
}

/// Whether some threads wait for one another in a circle, or for a lock whose owner has ended.
fn has_cycle(control: &Control, blocked: &[usize]) -> bool {
    blocked.iter().any(|&start| {
        let mut at = start;
        for _ in 0..=blocked.len() {
            let owner = holder(control, control.process.fibers[at].wants).map(usize::from);
            match owner.or_else(|| taker(control, at)) {
                None => return false,
                Some(next) if next == start => return true,
                // Who took a futex and is gone may have meant something else by it.
                Some(next) if control.process.fibers[next].ended => return owner.is_some(),
                Some(next) => at = next,
            }
        }
        false
    })
}

/// The places that calls were made from, each once.
#[derive(Default)]
struct Frames {
    known: HashMap<u64, Option<u32>>,
    places: Vec<Place>,
}

impl Frames {
    fn all(&mut self, addresses: &[u64]) -> Vec<u32> {
        addresses.iter().filter_map(|&address| self.number(address)).collect()
    }

    fn number(&mut self, address: u64) -> Option<u32> {
        let places = &mut self.places;
        *self.known.entry(address).or_insert_with(|| {
            places.push(place(address)?);
            Some(places.len() as u32 - 1)
        })
    }
}

fn steps(control: &Control, frames: &mut Frames) -> Vec<StepRecord> {
    let trace = &control.run.trace;
    // Few places make many steps, and to ask the linker takes longer than a run.
    let mut places: HashMap<u64, Option<Place>> = HashMap::new();
    let record = |at: usize| {
        let step = trace.step(at);
        let none = Access::new(0, 0, Kind::Read);
        let access = trace.accesses(at).first().copied().unwrap_or(none);
        let detail = control.run.details.get(at).copied().unwrap_or_default();
        StepRecord {
            thread: step.thread.0,
            what: what(&access, step.created.is_some()),
            object: objects::inner(access.object),
            size: access.size,
            old: access.old,
            new: detail.new,
            place: places.entry(detail.pc).or_insert_with(|| place(detail.pc)).clone(),
            callers: control.run.callers.get(at).map_or(vec![], |one| frames.all(one)),
        }
    };
    (0..trace.len()).map(record).collect()
}

fn what(access: &Access, created: bool) -> String {
    if created {
        return "create".into();
    }
    let verb = match access.kind {
        // Whether it had to let others go first or only might have.
        Kind::Read if access.size == 0 => return "yield".into(),
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Update => "update",
        Kind::Acquire => "lock",
        Kind::AcquireShared => "lock shared",
        Kind::Release => "unlock",
        Kind::ReleaseShared => "unlock shared",
        Kind::Take => "take",
        Kind::Give => "give",
        Kind::Await => "await",
        Kind::Call => "call",
        Kind::Return => "return",
    };
    match objects::name(access.object) {
        Some(name) => format!("{verb} {name}"),
        None => verb.into(),
    }
}

fn threads(control: &Control, frames: &mut Frames) -> Vec<ThreadRecord> {
    let record = |thread: usize| {
        let fiber = &control.process.fibers[thread];
        let blocked =
            control.run.pending.iter().any(|pending| pending.thread.index() == thread && !pending.is_enabled());
        ThreadRecord {
            thread: thread as u8,
            ended: fiber.ended,
            waits: if blocked { waits(control, thread) } else { None },
            place: place(fiber.pc),
            callers: if fiber.ended { vec![] } else { frames.all(&fiber.callers()) },
        }
    };
    (0..control.run.created).map(record).collect()
}

/// A module that an address is looked for in.
struct Wanted {
    pc: u64,
    place: Option<Place>,
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, wanted: *mut std::ffi::c_void) -> std::ffi::c_int {
    // SAFETY: the linker's description of a module, and what `place` passed.
    let (info, wanted) = unsafe { (&*info, &mut *wanted.cast::<Wanted>()) };
    // SAFETY: the module's program headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let offset = wanted.pc.wrapping_sub(info.dlpi_addr);
    let inside = |header: &libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD && offset.wrapping_sub(header.p_vaddr) < header.p_memsz
    };
    if !headers.iter().any(inside) {
        return 0;
    }
    // SAFETY: a string that the linker keeps.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
    let own =
        || std::fs::read_link("/proc/self/exe").map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    wanted.place = Some(Place { module: if name.is_empty() { own() } else { name }, offset });
    1
}

/// Where an address lies.
fn place(pc: u64) -> Option<Place> {
    if pc == 0 {
        return None;
    }
    let mut wanted = Wanted { pc, place: None };
    // SAFETY: the callback gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut wanted).cast()) };
    wanted.place
}
