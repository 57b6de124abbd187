//! Atomic accesses: each is a step.
//!
//! Code that is not under control (before `main`, in the search) gets the real operation. Code under control runs alone,
//! so plain reads and writes of the cell do; the order that it asked for matters to the data races only. The memory model
//! of the search is sequential consistency.
//!
//! Invariant: everything of up to eight bytes goes through [`step`], from one place: a processor that has just gone from one thread
//! to another then foresees where the functions of the runtime return to, because they return to the same place in both.

use std::ffi::c_int;
use std::sync::atomic::Ordering::SeqCst;

use selvedge_explore::{Access, Condition, Kind, Thread};

use crate::abi::outside;
use crate::abi::plain::check_other_stacks;
use crate::abi::visible::race;
use crate::arch::{site, switch};
use crate::control::{Control, Detail, STACKS, active, state, with};
use crate::fiber::{Wants, follow, hand_over};
use crate::memory::arena;
use crate::point;
use crate::race::{Conflict, Touch};
use crate::retry::look::{self, Question};
use crate::retry::{self, Failure};

/// How an access tells its caller what it found, as far as it may fail.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Told {
    /// It cannot fail.
    Never,
    /// A load.
    Load,
    /// An exchange that answers what it found.
    Answer,
    /// An exchange that stores what it found.
    Stored,
    /// The same, of a size that nothing else is known of.
    Apart,
}

impl Told {
    /// Whether the access is a compare and exchange.
    #[inline(always)]
    fn compares(self) -> bool {
        self as u8 >= Told::Answer as u8
    }

    /// On what the outcome of an access of that size depends.
    #[inline(always)]
    fn condition(self, size: u32, expected: u64) -> Condition {
        if !self.compares() {
            Condition::Always
        } else if size > 8 {
            Condition::Unknown
        } else {
            Condition::Equals(expected)
        }
    }

    fn failure(self, place: u64) -> Option<Failure> {
        match self {
            Told::Never | Told::Apart => None,
            Told::Load => Some(Failure::Load),
            Told::Answer => Some(Failure::Answer),
            Told::Stored => Some(Failure::Stored(place)),
        }
    }
}

/// What an entry point asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Reads.
    Load,
    /// A compare and exchange that answers what it found.
    Compare,
    /// A compare and exchange that finds what it expects behind a pointer, and stores there what it found.
    CompareStored,
    /// Writes.
    Store,
    /// Writes, and answers what was there; so do the others.
    Exchange,
    /// Adds.
    Add,
    /// Subtracts.
    Sub,
    /// And, bit by bit.
    And,
    /// Or, bit by bit.
    Or,
    /// Exclusive or, bit by bit.
    Xor,
    /// Not and, bit by bit.
    Nand,
}

impl Operation {
    /// What the access is, as far as it is known before.
    const fn kind(self) -> Kind {
        match self {
            Operation::Load => Kind::Read,
            Operation::Store => Kind::Write,
            _ => Kind::Update,
        }
    }

    /// How it may fail.
    const fn told(self) -> Told {
        match self {
            Operation::Load => Told::Load,
            Operation::Compare => Told::Answer,
            Operation::CompareStored => Told::Stored,
            _ => Told::Never,
        }
    }

    /// All that there is to say of an access of so many bytes, in one word.
    const fn code(self, size: u32) -> u32 {
        size | (self as u32) << 8 | (self.kind() as u32) << 16 | (self.told() as u32) << 24
    }

    /// What it makes of a value that it found.
    #[inline(always)]
    pub fn apply(self, found: u64, value: u64) -> u64 {
        match self {
            Operation::Load => found,
            Operation::Add => found.wrapping_add(value),
            Operation::Sub => found.wrapping_sub(value),
            Operation::And => found & value,
            Operation::Or => found | value,
            Operation::Xor => found ^ value,
            Operation::Nand => !(found & value),
            Operation::Compare | Operation::CompareStored | Operation::Store | Operation::Exchange => value,
        }
    }
}

/// An atomic access of one, two, four or eight bytes: the arguments of an entry point, which lie differently for each operation, then
/// its code.
unsafe extern "C" fn step(cell: u64, first: u64, second: u64, third: c_int, fourth: c_int, code: u32) -> u64 {
    let size = code & 0xff;
    // SAFETY: entry points pass what `code` made.
    let (operation, kind, told) = unsafe {
        use std::mem::transmute;
        (
            transmute::<u8, Operation>((code >> 8) as u8),
            transmute::<u8, Kind>((code >> 16) as u8),
            transmute::<u8, Told>((code >> 24) as u8),
        )
    };
    if !active() {
        return outside::access(operation, size, cell, first, second);
    }
    let bits = u64::MAX >> (64 - 8 * size);
    let mut expected = 0;
    if told.compares() {
        // SAFETY: the caller's own, of that size.
        expected = if told == Told::Answer { first & bits } else { unsafe { read(first, size) } };
    }
    let waited = arrive_at(cell, size, kind, told, expected, first, Ask { operation, first, second });
    // SAFETY: the caller's cell, of that size; nobody else runs.
    let old = unsafe { read(cell, size) };
    let (mut order, mut new) = (first as c_int, old);
    let mut did = Kind::Read;
    if told.compares() {
        order = fourth;
        if old == expected {
            (did, order, new) = (kind, third, second & bits);
        }
    } else if kind != Kind::Read {
        (did, order, new) = (kind, second as c_int, operation.apply(old, first) & bits);
    }
    if did != Kind::Read {
        // SAFETY: the caller's cell, of that size; nobody else runs.
        unsafe { write(cell, size, new) };
    }
    record(cell, size, told, expected, Outcome { kind: did, old, new, order, waited });
    let mut answer = old;
    if told == Told::Stored {
        answer = u64::from(old == expected);
        if old != expected {
            // SAFETY: the caller's own, of that size.
            unsafe { write(first, size, old) };
        }
    }
    // Nothing is left on the stack of a thread that may go round a loop but this frame, which holds what it was asked for.
    // SAFETY: below the stack pointer is nothing that anybody needs, and a step has seen to it that there is room.
    if must_tidy() { unsafe { switch::wipe(answer) } } else { answer }
}

/// Whether nothing may be left on the thread's stack, after a step that was recorded ([`crate::spin::Spin::is_tidy`]). It is said once.
#[inline(always)]
pub fn must_tidy() -> bool {
    // SAFETY: there is a state, because code under control calls; nothing below borrows it.
    let mut control = unsafe { state() };
    let tidy = control.run.tidy;
    if tidy {
        control.run.tidy = false;
    }
    tidy
}

/// Stores a byte as code under test would, and what came before with it.
///
/// # Safety
/// The byte is one that the code under test accesses atomically, and its call has noted its registers.
pub unsafe fn publish(cell: *mut u8, value: u8) {
    const RELEASE: u64 = 3;
    // SAFETY: the byte is there, and the code is that of a store of one byte, which has no further arguments.
    unsafe { step(cell as u64, u64::from(value), RELEASE, 0, 0, Operation::Store.code(1)) };
}

/// The value of a cell of that size.
#[inline(always)]
pub unsafe fn read(cell: u64, size: u32) -> u64 {
    // SAFETY: the caller says that a cell of that size is there.
    unsafe { if size == 8 { *(cell as *const u64) } else { read_less(cell, size) } }
}

#[cold]
#[inline(never)]
unsafe extern "C" fn read_less(cell: u64, size: u32) -> u64 {
    // SAFETY: the caller says that a cell of that size is there.
    unsafe {
        match size {
            4 => u64::from(*(cell as *const u32)),
            2 => u64::from(*(cell as *const u16)),
            _ => u64::from(*(cell as *const u8)),
        }
    }
}

/// Writes a cell of that size.
#[inline(always)]
pub unsafe fn write(cell: u64, size: u32, value: u64) {
    // SAFETY: the caller says that a cell of that size is there and may be written.
    unsafe { if size == 8 { *(cell as *mut u64) = value } else { write_less(cell, size, value) } }
}

#[cold]
#[inline(never)]
unsafe extern "C" fn write_less(cell: u64, size: u32, value: u64) {
    // SAFETY: the caller says that a cell of that size is there and may be written.
    unsafe {
        match size {
            4 => *(cell as *mut u32) = value as u32,
            2 => *(cell as *mut u16) = value as u16,
            _ => *(cell as *mut u8) = value as u8,
        }
    }
}

/// Waits for the turn of an access; whether it waited for a change of what its loop reads. What it expects to find goes to
/// `place` if it finds something else.
#[inline(always)]
pub fn arrive(object: u64, size: u32, kind: Kind, told: Told, expected: u64, place: u64) -> bool {
    arrive_at(object, size, kind, told, expected, place, Ask::NOTHING)
}

/// What an access asks of its location, with the arguments of its entry point.
#[derive(Clone, Copy)]
struct Ask {
    operation: Operation,
    first: u64,
    second: u64,
}

impl Ask {
    /// Of one that is in no loop that is known here.
    const NOTHING: Ask = Ask { operation: Operation::Store, first: 0, second: 0 };

    /// Whether it may find nothing to do.
    #[inline(always)]
    fn may_fail(self) -> bool {
        !matches!(self.operation, Operation::Store | Operation::Add | Operation::Sub | Operation::Xor | Operation::Nand)
    }

    fn question(self, expected: u64, size: u32) -> Question {
        let bits = u64::MAX >> (64 - 8 * size);
        match self.operation {
            Operation::Load => Question::Load,
            Operation::Compare => Question::Compare(expected, self.second & bits),
            Operation::CompareStored => Question::CompareStored(self.first, expected, self.second & bits),
            operation => Question::Update(operation, self.first & bits),
        }
    }
}

/// The same for one of up to eight bytes.
#[inline(always)]
fn arrive_at(object: u64, size: u32, kind: Kind, told: Told, expected: u64, place: u64, ask: Ask) -> bool {
    let call = site::call();
    // SAFETY: there is a state, because code under control calls; the borrow ends before the thread goes on, or another does.
    let mut control = unsafe { state() };
    let mut waited = false;
    if control.is_free(call.stack) && (!ask.may_fail() || control.is_in_no_loop(call)) {
        let from = control.run.current;
        let fiber = control.fiber();
        (fiber.pc, fiber.frame, fiber.wants) = (call.pc, call.frame, Wants::Nothing);
        control.run.waiting.remove(from);
        if control.run.looks_ahead {
            foresee(&mut control, object, size, kind, told, expected);
        }
        let next = control.choose_quickly();
        drop(control);
        match next {
            Some(to) if to == from => {}
            Some(to) => hand_over(from, to),
            None => decide_and_follow(from),
        }
    } else {
        drop(control);
        waited = arrive_rarely(object, size, kind, told, expected, place, ask);
    }
    if !arena::in_use(object as usize, size as usize) {
        outside_of_blocks(object, size, kind, told, expected);
    }
    if object >= STACKS {
        let pc = with(|control| control.fiber().pc);
        check_other_stacks(object, u64::from(size), kind != Kind::Read && told == Told::Never, pc);
    }
    waited
}

/// Whose turn it is, where more has to be looked at.
#[cold]
#[inline(never)]
fn decide_and_follow(from: usize) {
    let next = with(Control::decide);
    follow(from, next);
}

/// The thread may touch memory that is not in use: the run ends if it does.
#[cold]
#[inline(never)]
fn outside_of_blocks(object: u64, size: u32, kind: Kind, told: Told, expected: u64) {
    let pc = with(|control| {
        foresee(control, object, size, kind, told, expected);
        control.fiber().pc
    });
    let write = kind != Kind::Read && told == Told::Never;
    arena::check(object as usize, size as usize, write, pc);
}

/// The access that the thread is at.
#[inline(always)]
fn access(object: u64, size: u32, kind: Kind, told: Told, expected: u64) -> Access {
    Access::new(object, size, kind).if_found(told.condition(size, expected))
}

/// Says what the thread would do next.
#[inline(never)]
fn foresee(control: &mut Control, object: u64, size: u32, kind: Kind, told: Told, expected: u64) {
    control.foresee(access(object, size, kind, told, expected));
}

/// The same for a thread that may wait for a change, and where loops that try again are looked at.
#[inline(never)]
fn arrive_rarely(object: u64, size: u32, kind: Kind, told: Told, expected: u64, place: u64, ask: Ask) -> bool {
    let call = site::call();
    let site::Call { pc, stack, .. } = call;
    let mut access = access(object, size, kind, told, expected);
    let waited = with(|control| {
        let spins = control.search.settings.spins;
        let fiber = control.fiber();
        let top = fiber.top;
        spins && fiber.spin.arrives(pc, top)
    });
    let wants = match told.failure(place) {
        _ if waited => {
            access.waits = true;
            with(Control::expect_change);
            Wants::Change
        }
        Some(failure) if with(|control| control.search.retries.on) => {
            with(|control| retry::arrive(control, pc, site::registers(), &mut access, failure))
        }
        _ => Wants::Nothing,
    };
    let looks = wants == Wants::Nothing && ask.may_fail() && with(|control| !control.is_in_no_loop(call));
    let look = || {
        let question = ask.question(expected, size);
        with(|control| look::arrive(control, pc, site::registers(), (object, size), question))
    };
    let wants = if looks { look() } else { wants };
    point::arrive_here(access, wants, pc, stack);
    waited
}

/// An access as it came out.
pub struct Outcome {
    /// What it did.
    pub kind: Kind,
    /// What it found.
    pub old: u64,
    /// What was there afterwards.
    pub new: u64,
    /// The order that it asked for.
    pub order: c_int,
    /// What [`arrive`] answered.
    pub waited: bool,
}

/// Records an access that was made.
#[inline(always)]
pub fn record(object: u64, size: u32, told: Told, expected: u64, outcome: Outcome) {
    let Outcome { kind, old, new, order, waited } = outcome;
    // The thread has made no other call since it arrived.
    // SAFETY: there is a state, because code under control calls; the borrow ends before races are looked for.
    let mut borrowed = unsafe { state() };
    let control = &mut *borrowed;
    let changed = kind != Kind::Read && old != new;
    if !control.run.trace.is_known() {
        let condition = told.condition(size, expected);
        let thread = Thread(control.run.current as u16);
        control.run.trace.access_of(thread, Access { object, size, kind, waits: waited, condition, changed, old });
    }
    if waited || control.run.attempts.is_waited_for() {
        leave_rarely(control, waited);
    }
    let mut of_loops = !control.run.spinning.is_empty();
    let fiber = control.fiber();
    fiber.made += 1;
    let pc = fiber.pc;
    if changed {
        fiber.effect();
        if control.run.endless.is_watching() {
            control.wrote(object);
        }
    } else {
        fiber.spin.reads();
        fiber.spin.poll.reads(&Access::new(object, size, Kind::Read).after(old));
        of_loops = fiber.spin.is_tidy() || control.search.retries.on;
    }
    control.step_counted(None, false, Detail { pc, new: Some(new), spurious: false });
    if of_loops {
        if changed { control.tell_loops(&Access::new(object, size, kind)) } else { read_rarely(control, told, pc) }
    }
    let looked_at = control.run.races.on;
    drop(borrowed);
    if looked_at {
        look_for_races(object, size, kind, order, pc);
    }
}

/// What the access publishes and learns, and whether it races.
#[inline(never)]
fn look_for_races(object: u64, size: u32, kind: Kind, order: c_int, pc: u64) {
    let (touch, other) = with(|control| {
        control.reaches(object);
        let touch = Touch::new(object, u64::from(size), kind != Kind::Read, true, pc);
        (touch, control.run.races.atomic(&mut control.process.shadow, control.run.current, touch, kind, order))
    });
    if let Some(other) = other {
        race(touch, Conflict::with(other));
    }
}

/// The thread goes on after a wait: what it waited for belongs to its step, whose access is the last one in the trace.
#[cold]
#[inline(never)]
fn leave_rarely(control: &mut Control, waited: bool) {
    let attached = !control.run.attempts.attached.is_empty();
    if attached && let Some(expected) = retry::leave(control) {
        control.run.trace.waited(Condition::Equals(expected));
    }
    if control.run.attempts.looking.contains(control.run.current) {
        look::leave(control);
    }
    if waited {
        control.saw_change(None);
    }
}

/// The step that the thread has just made changed nothing, and may belong to a loop.
#[cold]
#[inline(never)]
fn read_rarely(control: &mut Control, told: Told, pc: u64) {
    control.run.tidy = control.fiber().spin.is_tidy();
    let Some(&access) = control.run.trace.accesses(control.run.trace.len() - 1).first() else { return };
    control.fiber().spin.keep(&access);
    if told == Told::Load && control.search.retries.on {
        retry::read(control, pc, site::registers(), &access);
    }
}

crate::hidden_entry!(enter => step);

/// Entry points of accesses of so many bytes.
macro_rules! steps {
    ($size:expr; $($name:ident => $operation:ident;)*) => {
        crate::entries_with_code! { enter; $($name => Operation::$operation.code($size);)* }
    };
}

steps! {
    1;
    __tsan_atomic8_load => Load;
    __tsan_atomic8_store => Store;
    __tsan_atomic8_exchange => Exchange;
    __tsan_atomic8_fetch_add => Add;
    __tsan_atomic8_fetch_sub => Sub;
    __tsan_atomic8_fetch_and => And;
    __tsan_atomic8_fetch_or => Or;
    __tsan_atomic8_fetch_xor => Xor;
    __tsan_atomic8_fetch_nand => Nand;
    __tsan_atomic8_compare_exchange_strong => CompareStored;
    __tsan_atomic8_compare_exchange_weak => CompareStored;
    __tsan_atomic8_compare_exchange_val => Compare;
}

steps! {
    2;
    __tsan_atomic16_load => Load;
    __tsan_atomic16_store => Store;
    __tsan_atomic16_exchange => Exchange;
    __tsan_atomic16_fetch_add => Add;
    __tsan_atomic16_fetch_sub => Sub;
    __tsan_atomic16_fetch_and => And;
    __tsan_atomic16_fetch_or => Or;
    __tsan_atomic16_fetch_xor => Xor;
    __tsan_atomic16_fetch_nand => Nand;
    __tsan_atomic16_compare_exchange_strong => CompareStored;
    __tsan_atomic16_compare_exchange_weak => CompareStored;
    __tsan_atomic16_compare_exchange_val => Compare;
}

steps! {
    4;
    __tsan_atomic32_load => Load;
    __tsan_atomic32_store => Store;
    __tsan_atomic32_exchange => Exchange;
    __tsan_atomic32_fetch_add => Add;
    __tsan_atomic32_fetch_sub => Sub;
    __tsan_atomic32_fetch_and => And;
    __tsan_atomic32_fetch_or => Or;
    __tsan_atomic32_fetch_xor => Xor;
    __tsan_atomic32_fetch_nand => Nand;
    __tsan_atomic32_compare_exchange_strong => CompareStored;
    __tsan_atomic32_compare_exchange_weak => CompareStored;
    __tsan_atomic32_compare_exchange_val => Compare;
}

steps! {
    8;
    __tsan_atomic64_load => Load;
    __tsan_atomic64_store => Store;
    __tsan_atomic64_exchange => Exchange;
    __tsan_atomic64_fetch_add => Add;
    __tsan_atomic64_fetch_sub => Sub;
    __tsan_atomic64_fetch_and => And;
    __tsan_atomic64_fetch_or => Or;
    __tsan_atomic64_fetch_xor => Xor;
    __tsan_atomic64_fetch_nand => Nand;
    __tsan_atomic64_compare_exchange_strong => CompareStored;
    __tsan_atomic64_compare_exchange_weak => CompareStored;
    __tsan_atomic64_compare_exchange_val => Compare;
}

/// A fence orders nothing that is not in order already under sequential consistency; it matters to the data races.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic_thread_fence(order: c_int) {
    if !active() {
        return std::sync::atomic::fence(SeqCst);
    }
    with(|control| {
        let thread = control.run.current;
        if control.run.races.on {
            control.run.races.fence(thread, order);
        }
    });
}
