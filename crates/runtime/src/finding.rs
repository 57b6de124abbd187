//! Makes a finding of a run that ended badly.

use std::collections::HashMap;

use selvedge_explore::{self as explore, Condition, End, Kind, Stop};
use selvedge_protocol::{
    Access, Bystanders, Cause, Class, Deep, Finding, FindingKind, Leaks, OtherAccess, Out, Place, Settings, Step,
    StepKind, ThreadRecord, Verb, Waiting, Waits, WaitsFor, schedule_to_text,
};

use crate::control::Control;
use crate::fiber::Wants;
use crate::freeze;
use crate::leak;
use crate::posix::descriptor::{self, Awaits};
use crate::posix::objects;
use crate::spin;

/// Why a run was left before its threads ended.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong.
    pub kind: FindingKind,
    /// Why.
    pub cause: Cause,
    /// Where.
    pub pc: u64,
}

impl Failure {
    /// One whose cause says of which kind it is.
    pub fn new(cause: Cause, pc: u64) -> Self {
        Failure { kind: cause.kind(), cause, pc }
    }
}

/// What a run found, if it ended badly.
pub fn of_run(control: &Control, end: End, test: &str, run: u64) -> Option<Finding> {
    let failure = failure_of(control, end)?;
    Some(of_failure(control, failure, test, run))
}

/// Why a run ended badly, if it did.
pub fn failure_of(control: &Control, end: End) -> Option<Failure> {
    let failure = match end {
        End::Complete => leak::of_run(control)?,
        End::Stopped(Stop::Redundant | Stop::Blocked | Stop::Unfair) => return None,
        End::Failed => control.run.failure.clone()?,
        End::Stuck => stuck(control),
        End::Endless => {
            let steps = control.run.trace.len() as u64;
            Failure::new(Cause::Endless { steps, deep: deep(control), bystanders: bystanders() }, last_pc(control))
        }
        End::Truncated => {
            let steps = control.search.settings.steps_max;
            Failure::new(Cause::TooLong { steps, deep: deep(control) }, last_pc(control))
        }
        End::Stopped(Stop::Diverged(step)) => {
            Failure::new(Cause::Diverged { step: step as u64, bystanders: bystanders() }, 0)
        }
    };
    let mut failure = doubted(control, failure);
    if end == End::Endless && failure.kind == FindingKind::Livelock && control.has_returned() {
        failure.kind = FindingKind::LeakedThread;
    }
    let allowed = failure.kind == FindingKind::LeakedThread && control.search.leaks == Leaks::Allow;
    (!allowed).then_some(failure)
}

/// Why nothing rests on what comes behind code that was not instrumented.
pub fn uninstrumented(pc: u64) -> Out {
    Out::Uninstrumented(place(pc))
}

/// Where a thread has synchronised in code of which no more is seen, or in assembly beside plain accesses, a store there may order what seems to race, or be what somebody seems to wait for in vain.
fn doubted(control: &Control, failure: Failure) -> Failure {
    use FindingKind::{DataRace, Deadlock, Livelock, LostWakeup};
    let objects = &control.run.objects;
    let unseen = (objects.unseen != 0).then(|| (uninstrumented(objects.unseen), objects.unseen));
    match objects.doubt.clone().or(unseen) {
        Some((out, pc)) if matches!(failure.kind, DataRace | Deadlock | Livelock | LostWakeup) => {
            Failure::new(Cause::Out(out), pc)
        }
        _ => failure,
    }
}

/// Where the last step was made.
fn last_pc(control: &Control) -> u64 {
    control.run.details.last().map_or(0, |detail| detail.pc)
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
        // That a thread was left over is known when the first one returns, whoever ends last.
        thread: if matches!(failure.cause, Cause::LeftRunning(_)) { 0 } else { control.run.current as u16 },
        kind: failure.kind,
        cause: failure.cause,
        place: place(failure.pc),
        run,
        schedule: schedule_to_text(&control.run.trace.schedule()),
        settings: Settings {
            plain_steps: control.search.plain_steps.places().to_vec(),
            ..control.search.settings.clone()
        },
        steps,
        threads,
        callers,
        other,
        frames: frames.places,
    }
}

/// The owner of what a thread waits for.
fn holder(control: &Control, wants: Wants) -> Option<u16> {
    match wants {
        Wants::Mutex(mutex) => control.run.objects.mutexes.get(&mutex)?.owner,
        Wants::Shared(lock) => control.run.objects.rwlocks.get(&lock)?.writer,
        Wants::Exclusive(lock) => {
            let lock = control.run.objects.rwlocks.get(&lock)?;
            lock.writer.or(lock.readers.first().copied())
        }
        Wants::End(thread) => Some(thread as u16),
        _ => None,
    }
}

fn waits(control: &Control, thread: usize) -> Option<Waits> {
    let fiber = &control.process.fibers[thread];
    let (what, object) = match fiber.wants {
        Wants::Nothing | Wants::Value(..) => return None,
        Wants::Mutex(mutex) => (WaitsFor::Mutex, mutex as u64),
        Wants::Shared(lock) | Wants::Exclusive(lock) => (WaitsFor::RwLock, lock as u64),
        Wants::Unit(semaphore) => (WaitsFor::Semaphore, semaphore as u64),
        Wants::End(other) => (WaitsFor::Join, other as u64),
        Wants::Gate => (WaitsFor::Start, 0),
        Wants::Columns => {
            let open = control.run.recorder.threads.iter().find(|&&other| !control.process.fibers[other].ended);
            (WaitsFor::Join, open.copied().unwrap_or(0) as u64)
        }
        Wants::Wake => (WaitsFor::WakeUp(objects::class(fiber.asleep_on)), objects::inner(fiber.asleep_on)),
        Wants::Once(once) => (WaitsFor::Once, once as u64),
        Wants::Ready => return Some(at_descriptor(control, thread)),
        Wants::Look(cell) => (WaitsFor::Change, cell as u64),
        Wants::Change => return Some(awaits(control, fiber.spin.awaited.first()?)),
    };
    Some(Waits { what, object, held_by: holder(control, fiber.wants) })
}

/// What a thread in a call on descriptors waits for.
fn at_descriptor(control: &Control, thread: usize) -> Waits {
    let (what, object) = match control.run.objects.descriptors.calls.get(&thread).map(|call| &call.awaits) {
        Some(Awaits::Level(object, _)) => {
            let on = objects::class(*object);
            let number = descriptor::shown(*object).unwrap_or(0);
            (if object & 1 == 0 { WaitsFor::Data(on) } else { WaitsFor::Room(on) }, number)
        }
        _ => (WaitsFor::Ready, 0),
    };
    Waits { what, object, held_by: None }
}

/// What a loop waits for.
fn awaits(control: &Control, awaited: &explore::Access) -> Waits {
    let object = objects::inner(awaited.object);
    if let Some(number) = descriptor::shown(awaited.object) {
        return Waits { what: WaitsFor::Looks(objects::class(awaited.object)), object: number, held_by: None };
    }
    let (what, held_by) = match (objects::is_abstract(awaited.object), awaited.kind) {
        (false, _) => (WaitsFor::Change, None),
        (_, Kind::Await) => (WaitsFor::End, None),
        _ => {
            let address = object as usize;
            let holds = holder(control, Wants::Mutex(address)).or(holder(control, Wants::Exclusive(address)));
            (WaitsFor::Attempt, holds)
        }
    };
    Waits { what, object, held_by }
}

/// Why nobody can go.
pub fn stuck(control: &Control) -> Failure {
    let blocked: Vec<usize> = control.run.pending.iter().map(|pending| pending.thread.index()).collect();
    let waiting = blocked.iter().filter_map(|&thread| {
        let waits = waits(control, thread)?;
        Some(Waiting { thread: thread as u16, waits })
    });
    let waiting = waiting.collect();
    let wants = |wanted: fn(Wants) -> bool| blocked.iter().any(|&thread| wanted(control.process.fibers[thread].wants));
    let returned = control.has_returned();
    let kind = if has_cycle(control, &blocked) {
        FindingKind::Deadlock
    } else if freeze::bystanders() > 0 {
        // They may be what is waited for, and they cannot run.
        FindingKind::Uncontrolled
    } else if returned {
        FindingKind::LeakedThread
    } else if wants(Wants::is_of_loop) {
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
    let at_fault = |&thread: &usize| kind != FindingKind::Livelock || control.process.fibers[thread].wants.is_of_loop();
    let places = blocked.iter().copied().filter(at_fault).map(|thread| control.process.fibers[thread].pc);
    let pc = places.into_iter().find(|&pc| pc != 0).unwrap_or(0);
    Failure { kind, cause: Cause::Stuck { returned, waiting, bystanders: bystanders() }, pc }
}

/// A thread that is so deep in calls that it may be a recursion, and no loop, which has no end.
fn deep(control: &Control) -> Option<Deep> {
    const DEEP: u64 = 1 << 20;
    let used = |thread: usize| {
        let fiber = &control.process.fibers[thread];
        fiber.top.saturating_sub(if fiber.holds(fiber.frame) { fiber.frame } else { fiber.top })
    };
    let running = (0..control.run.created).filter(|&thread| !control.process.fibers[thread].ended);
    let deep = running.map(|thread| Deep { thread: thread as u16, kib: used(thread) >> 10 });
    deep.into_iter().find(|deep| deep.kib << 10 > DEEP)
}

/// Threads that were there before the search and take no part in it: a pool that was made too early, as a rule.
pub fn bystanders() -> Bystanders {
    Bystanders(freeze::bystanders() as u32)
}

/// Whether the thread waits for a signal, as opposed to others at a barrier.
fn sleeps(control: &Control, thread: usize) -> bool {
    let fiber = &control.process.fibers[thread];
    fiber.wants == Wants::Wake && objects::class(fiber.asleep_on) != Class::Barrier
}

/// Whether threads sleep at different futexes. A lock made of a futex does not say who holds it; two threads that each sleep at another
/// one are more likely to wait for each other's lock than for wake-ups that both were lost.
fn asleep_apart(control: &Control, blocked: &[usize]) -> bool {
    let futex = |thread: &usize| {
        let fiber = &control.process.fibers[*thread];
        let sleeps = fiber.wants == Wants::Wake && objects::class(fiber.asleep_on) == Class::Futex;
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
    if fiber.wants != Wants::Wake || objects::class(fiber.asleep_on) != Class::Futex {
        return None;
    }
    let word = explore::Access::new(objects::inner(fiber.asleep_on), 4, Kind::Read);
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

/// Whether some threads wait for one another in a circle, or for a lock whose owner has ended while the test goes on.
fn has_cycle(control: &Control, blocked: &[usize]) -> bool {
    blocked.iter().any(|&start| {
        let mut at = start;
        for _ in 0..=blocked.len() {
            let owner = holder(control, control.process.fibers[at].wants).map(usize::from);
            match owner.or_else(|| taker(control, at)) {
                None => return false,
                Some(next) if next == start => return true,
                // Who took a futex and is gone may have meant something else by it.
                Some(next) if control.process.fibers[next].ended => return owner.is_some() && !control.has_returned(),
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

fn steps(control: &Control, frames: &mut Frames) -> Vec<Step> {
    let trace = &control.run.trace;
    // Few places make many steps, and to ask the linker takes longer than a run.
    let mut places: HashMap<u64, Option<Place>> = HashMap::new();
    let mut called: HashMap<usize, usize> = HashMap::new();
    let record = |at: usize| {
        let step = trace.step(at);
        let none = explore::Access::new(0, 0, Kind::Read);
        let access = trace.accesses(at).first().copied().unwrap_or(none);
        let detail = control.run.details.get(at).copied().unwrap_or_default();
        let mut kind = if step.created.is_some() { StepKind::Create } else { kind(&access, detail.new) };
        if let StepKind::Call { operation } = &mut kind {
            let place = called.entry(step.thread.index()).or_default();
            *operation = control.run.operations.label(step.thread.index(), *place);
            *place += 1;
        }
        Step {
            thread: step.thread.0,
            kind,
            spurious: detail.spurious,
            place: places.entry(detail.pc).or_insert_with(|| place(detail.pc)).clone(),
            callers: control.run.callers.get(at).map_or(vec![], |one| frames.all(one)),
        }
    };
    (0..trace.len()).map(record).collect()
}

/// What a step is that makes this access, after which there is that value.
fn kind(access: &explore::Access, new: Option<u64>) -> StepKind {
    let verb = match access.kind {
        // Whether it had to let others go first or only might have.
        Kind::Read if access.object == objects::choice() => {
            return StepKind::Choose { chosen: new.unwrap_or(0), options: access.old };
        }
        Kind::Read if access.size == 0 => return StepKind::Yield,
        Kind::Call => return StepKind::Call { operation: None },
        Kind::Return => return StepKind::Return { result: new.map(|result| (result as i64).to_string()) },
        Kind::Read => Verb::Read,
        Kind::Write => Verb::Write,
        Kind::Update => Verb::Update,
        Kind::Acquire => Verb::Lock,
        Kind::AcquireShared => Verb::LockShared,
        Kind::Release => Verb::Unlock,
        Kind::ReleaseShared => Verb::UnlockShared,
        Kind::Take => Verb::Take,
        Kind::Give => Verb::Give,
        Kind::Await => Verb::Await,
    };
    let on = objects::class(access.object);
    let object = descriptor::shown(access.object).unwrap_or(objects::inner(access.object));
    StepKind::Access(Access { verb, on, object, size: access.size, old: access.old, new })
}

fn threads(control: &Control, frames: &mut Frames) -> Vec<ThreadRecord> {
    let record = |thread: usize| {
        let fiber = &control.process.fibers[thread];
        let blocked =
            control.run.pending.iter().any(|pending| pending.thread.index() == thread && !pending.is_enabled());
        ThreadRecord {
            thread: thread as u16,
            ended: fiber.ended,
            waits: if blocked { waits(control, thread) } else { None },
            place: place(fiber.pc),
            callers: if fiber.ended { vec![] } else { frames.all(&fiber.callers()) },
        }
    };
    (0..control.run.created).map(record).collect()
}

/// What is looked for in the modules that were loaded.
struct Wanted {
    /// An address, whose place is wanted,
    pc: u64,
    /// or a place, whose address is.
    place: Option<Place>,
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, wanted: *mut std::ffi::c_void) -> std::ffi::c_int {
    // SAFETY: the linker's description of a module, and what `place` passed.
    let (info, wanted) = unsafe { (&*info, &mut *wanted.cast::<Wanted>()) };
    // SAFETY: the module's program headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    // SAFETY: a string that the linker keeps.
    let name = || unsafe { std::ffi::CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
    let own =
        || std::fs::read_link("/proc/self/exe").map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let name = || Some(name()).filter(|name| !name.is_empty()).unwrap_or_else(own);
    if let Some(place) = &wanted.place {
        // A program that is built once more lies in another directory.
        let file = |path: &str| path.rsplit('/').next().map(str::to_owned);
        if file(&name()) != file(&place.module) {
            return 0;
        }
        wanted.pc = info.dlpi_addr + place.offset;
        return 1;
    }
    let offset = wanted.pc.wrapping_sub(info.dlpi_addr);
    let inside = |header: &libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD && offset.wrapping_sub(header.p_vaddr) < header.p_memsz
    };
    if !headers.iter().any(inside) {
        return 0;
    }
    wanted.place = Some(Place { module: name(), offset });
    1
}

/// The address of a place, if what it lies in was loaded.
pub fn site(place: &Place) -> Option<u64> {
    let mut wanted = Wanted { pc: 0, place: Some(place.clone()) };
    // SAFETY: the callback gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut wanted).cast()) };
    Some(wanted.pc).filter(|&pc| pc != 0)
}

/// Where an address lies.
pub fn place(pc: u64) -> Option<Place> {
    if pc == 0 {
        return None;
    }
    let mut wanted = Wanted { pc, place: None };
    // SAFETY: the callback gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut wanted).cast()) };
    wanted.place
}
