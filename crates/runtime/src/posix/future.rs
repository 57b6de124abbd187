//! Futures of C++ that become ready when a thread ends: `promise::set_value_at_thread_exit` and its relatives. libstdc++, which is not instrumented, then
//! takes hold of the shared state if it is still there, stores that it is ready, wakes who waits, and lets go.
//!
//! And what a future waits with.
//!
//! Invariant: each of these is a step of the order that it has in libstdc++, and the state lives until the last of them.
//!
//! The layout is that of libstdc++ since version 5 (`_Make_ready`, `_State_baseV2`) and of its `shared_ptr`.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use selvedge_explore::Kind;

use crate::abi::atomic::{self, Outcome, Told};
use crate::arch::site;
use crate::control::{active, with};
use crate::posix::{futex, real};

/// Where in what libstdc++ calls at the end of a thread its function is, the state that becomes ready, and the counts of who holds that.
const FUNCTION: usize = 8;
const STATE: usize = 16;
const COUNTS: usize = 24;
/// Where in a state the word is that says whether it is ready, and what it says then.
const STATUS: usize = 16;
const READY: i32 = 1;
/// Where the counts are, and where in the table of their functions those that end the object, and that end the counts.
const HOLDERS: usize = 8;
const WEAK: usize = 12;
const DISPOSE: usize = 2;
const DESTROY: usize = 3;
const RELEASE: i32 = 3;
const ACQUIRE_RELEASE: i32 = 4;

type Function = unsafe extern "C-unwind" fn(usize);

/// libstdc++'s own function for the end of a thread.
static RUN: AtomicUsize = AtomicUsize::new(0);

/// Calls it.
///
/// # Safety
/// What is given is what libstdc++ gives it, and it has been told.
unsafe fn run(ready: usize) {
    // SAFETY: libstdc++'s function has that type.
    unsafe { std::mem::transmute::<usize, Function>(RUN.load(Ordering::Relaxed))(ready) };
}

/// Announces that a word becomes what `next` makes of it, and answers what it is.
///
/// # Safety
/// The word lives.
unsafe fn update(word: usize, order: i32, next: impl Fn(i32) -> i32) -> i32 {
    let waited = atomic::arrive(word as u64, 4, Kind::Update, Told::Never, 0, 0);
    // SAFETY: the caller says that the word lives, and nobody else runs.
    let old = unsafe { *(word as *const i32) };
    let [before, after] = [old, next(old)].map(|value| u64::from(value as u32));
    let kind = if before == after { Kind::Read } else { Kind::Update };
    atomic::record(word as u64, 4, Told::Never, 0, Outcome { kind, old: before, new: after, order, waited });
    old
}

/// Where the code under test asked for it: that is a place that a report can name.
fn asked_at(ready: usize) -> u64 {
    let known = with(|control| {
        let all = &mut control.run.objects.ready_at_exit;
        let found = all.iter().rposition(|&(one, _)| one == ready)?;
        Some(all.swap_remove(found).1)
    });
    known.unwrap_or_else(site::pc)
}

/// What libstdc++ does at the end of a thread, a step at a time: the steps that it does not show are made visible around it.
unsafe extern "C-unwind" fn run_at(ready: usize) {
    if !active() {
        // SAFETY: called by libstdc++.
        return unsafe { run(ready) };
    }
    let (pc, (sp, registers)) = (asked_at(ready), site::registers());
    let again = || site::note(pc, sp, registers);
    // SAFETY: libstdc++'s own objects, of the layout above; what this function holds lives.
    unsafe {
        let [state, counts] = [STATE, COUNTS].map(|offset| *((ready + offset) as *const usize));
        again();
        let holders = (counts + HOLDERS) as *mut i32;
        if update(holders as usize, ACQUIRE_RELEASE, |count| if count == 0 { 0 } else { count + 1 }) == 0 {
            again();
            update(counts + WEAK, ACQUIRE_RELEASE, |count| count - 1);
            return run(ready);
        }
        *holders += 1;
        again();
        update(state + STATUS, RELEASE, |_| READY);
        run(ready);
        again();
        let left = update(holders as usize, ACQUIRE_RELEASE, |count| count - 1) - 1;
        *holders = left;
        if left > 0 {
            return;
        }
        let function = |number| {
            let table = *(counts as *const usize) as *const Function;
            *table.add(number)
        };
        function(DISPOSE)(counts);
        again();
        let weak = update(counts + WEAK, ACQUIRE_RELEASE, |count| count - 1) - 1;
        *((counts + WEAK) as *mut i32) = weak;
        if weak == 0 {
            function(DESTROY)(counts);
        }
    }
}

// The same, with the place that it is called from.
crate::hidden_entry!(run_noted => run_at);

/// `_Make_ready::_M_set`: the current thread is to make it ready when it ends.
unsafe extern "C" fn set_at(ready: usize) {
    let pc = site::pc();
    // SAFETY: libstdc++'s own object, of the layout above, which is the current thread's own.
    unsafe {
        real::_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv()(ready as *mut _);
        if active() {
            let function = (ready + FUNCTION) as *mut usize;
            RUN.store(*function, Ordering::Relaxed);
            *function = run_noted as *const () as usize;
            with(|control| control.run.objects.ready_at_exit.push((ready, pc)));
        }
    }
}

/// What a future waits with. In libstdc++ it would be a futex as well, but nobody could say who waits: the library has no frame pointers.
macro_rules! wait_at {
    ($name:ident, $real:ident) => {
        unsafe extern "C" fn $name(
            this: *mut c_void,
            word: *mut u32,
            expected: u32,
            limited: bool,
            seconds: i64,
            nanoseconds: i64,
        ) -> bool {
            if !active() {
                // SAFETY: the caller's request.
                return unsafe { real::$real()(this, word, expected, limited, seconds, nanoseconds) };
            }
            let until = limited.then(|| seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds));
            match until {
                Some(..0) => false,
                until => futex::wait_until(word as usize, expected, until.map(i64::cast_unsigned), site::pc()),
            }
        }
    };
}

wait_at!(wait_until_at, _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE);
wait_at!(wait_until_steady_at, _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE);

/// The same for who makes it ready.
unsafe extern "C" fn notify_all_at(word: *mut u32) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj()(word) };
    }
    futex::wake_all(word as usize, site::pc());
}

crate::entries! {
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE => wait_until_at;
    _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE => wait_until_steady_at;
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj => notify_all_at;
    _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv => set_at;
}
