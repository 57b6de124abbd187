//! Programs with marked operations, small enough for every schedule to be tried: the first thread and one that it starts do one or two
//! operations each. The first word of a test's name is its verdict.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_long};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicUsize, Ordering::*};
use std::sync::{Mutex, OnceLock, RwLock};
use std::thread;

unsafe extern "C" {
    fn selvedge_call(operation: *const c_char, argument: c_long);
    fn selvedge_return(result: c_long);
}

/// An operation, as it stands in the history.
fn operation(name: &CStr, argument: i64, body: impl FnOnce() -> i64) -> i64 {
    // SAFETY: the runtime that the test is linked with has functions of these types.
    unsafe { selvedge_call(name.as_ptr(), argument) };
    let result = body();
    // SAFETY: as above.
    unsafe { selvedge_return(result) };
    result
}

/// Does the first in a thread of its own, the second meanwhile.
fn both<T: Send + 'static, U>(theirs: impl FnOnce() -> T + Send + 'static, ours: impl FnOnce() -> U) {
    let thread = thread::spawn(theirs);
    ours();
    thread.join().unwrap();
}

#[test]
fn pass_adding() {
    static SUM: AtomicI64 = AtomicI64::new(0);
    fn add(value: i64) {
        operation(c"add", value, || SUM.fetch_add(value, SeqCst));
    }
    selvedge::explore(|| both(|| [1, 2].map(add), || [4, 8].map(add)));
}

#[test]
fn panic_updates_in_two_steps() {
    static SUM: AtomicI64 = AtomicI64::new(0);
    fn add() {
        operation(c"add", 1, || {
            let seen = SUM.load(SeqCst);
            SUM.store(seen + 1, SeqCst);
            seen
        });
    }
    selvedge::explore(|| {
        both(add, add);
        assert_eq!(SUM.load(SeqCst), 2, "an update is lost");
    });
}

#[test]
fn pass_attempts() {
    static SUM: AtomicI64 = AtomicI64::new(0);
    fn double() {
        operation(c"double", 0, || SUM.fetch_update(SeqCst, SeqCst, |seen| Some(2 * seen + 1)).unwrap());
    }
    selvedge::explore(|| both(double, double));
}

/// The answer tells how many attempts failed, so none of them may be left out.
#[test]
fn pass_attempts_that_are_counted() {
    static SUM: AtomicI64 = AtomicI64::new(0);
    fn add() {
        operation(c"add", 1, || {
            let mut failed = 0;
            while let seen = SUM.load(SeqCst)
                && SUM.compare_exchange(seen, seen + 1, SeqCst, SeqCst).is_err()
            {
                failed += 1;
            }
            failed
        });
    }
    selvedge::explore(|| both(add, || [add(), add()]));
}

#[test]
fn pass_mutex() {
    static ITEMS: Mutex<Vec<i64>> = Mutex::new(Vec::new());
    fn push(value: i64) {
        operation(c"push", value, || {
            let mut items = ITEMS.lock().unwrap();
            items.push(value);
            items.len() as i64
        });
    }
    fn pop() {
        operation(c"pop", 0, || ITEMS.lock().unwrap().pop().unwrap_or(-1));
    }
    selvedge::explore(|| both(|| push(1), pop));
}

#[test]
fn pass_hasty_lock() {
    static VALUE: Mutex<i64> = Mutex::new(0);
    fn hasty() {
        operation(c"hasty", 0, || match VALUE.try_lock() {
            Ok(mut value) => {
                *value += 1;
                *value
            }
            Err(_) => -1,
        });
    }
    selvedge::explore(|| both(hasty, || [hasty(), hasty()]));
}

#[test]
fn pass_readers() {
    static VALUE: RwLock<i64> = RwLock::new(0);
    fn read() {
        operation(c"read", 0, || VALUE.try_read().map_or(-1, |value| *value));
    }
    fn write() {
        operation(c"write", 0, || match VALUE.try_write() {
            Ok(mut value) => {
                *value += 1;
                *value
            }
            Err(_) => -1,
        });
    }
    selvedge::explore(|| both(write, read));
}

struct SpinLock {
    taken: AtomicBool,
    value: UnsafeCell<i64>,
}

// SAFETY: the value is touched by who has the lock.
unsafe impl Sync for SpinLock {}

#[test]
fn pass_spin_lock() {
    static LOCK: SpinLock = SpinLock { taken: AtomicBool::new(false), value: UnsafeCell::new(0) };
    fn next() {
        operation(c"next", 0, || {
            while LOCK.taken.swap(true, Acquire) {
                std::hint::spin_loop();
            }
            // SAFETY: the lock is taken.
            let value = unsafe { &mut *LOCK.value.get() };
            *value += 1;
            let value = *value;
            LOCK.taken.store(false, Release);
            value
        });
    }
    selvedge::explore(|| both(next, next));
}

#[test]
fn pass_waiting_with_yields() {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    fn wait() {
        operation(c"wait", 0, || {
            let mut rounds = 0;
            while TURN.load(Acquire) == 0 {
                thread::yield_now();
                rounds = 1;
            }
            rounds
        });
    }
    selvedge::explore(|| both(wait, || operation(c"give", 0, || TURN.swap(1, Release) as i64)));
}

#[test]
fn pass_once() {
    static VALUE: OnceLock<i64> = OnceLock::new();
    fn peek() {
        operation(c"peek", 0, || VALUE.get().copied().unwrap_or(-1));
    }
    fn set(value: i64) {
        operation(c"set", value, || i64::from(VALUE.set(value).is_ok()));
    }
    selvedge::explore(|| both(|| set(1), || [peek(), peek()]));
}

struct Node {
    value: i64,
    next: *mut Node,
}

/// Treiber's stack; nodes are not freed.
#[test]
fn pass_stack() {
    static TOP: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());
    fn push(value: i64) {
        operation(c"push", value, || {
            let node = Box::leak(Box::new(Node { value, next: TOP.load(Acquire) }));
            while let Err(seen) = TOP.compare_exchange(node.next, node, AcqRel, Acquire) {
                node.next = seen;
            }
            0
        });
    }
    fn pop() {
        operation(c"pop", 0, || {
            loop {
                let seen = TOP.load(Acquire);
                // SAFETY: nodes are not freed, nor changed once others see them.
                let Some(node) = (unsafe { seen.as_ref() }) else { return -1 };
                if TOP.compare_exchange(seen, node.next, AcqRel, Acquire).is_ok() {
                    return node.value;
                }
            }
        });
    }
    selvedge::explore(|| both(|| push(1), || [push(2), pop()]));
}

#[test]
fn livelock_two_spin_locks() {
    static LOCKS: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    fn take(first: usize) {
        operation(c"take", first as i64, || {
            for lock in [first, 1 - first] {
                while LOCKS[lock].swap(true, Acquire) {
                    std::hint::spin_loop();
                }
            }
            LOCKS.iter().for_each(|lock| lock.store(false, Release));
            0
        });
    }
    selvedge::explore(|| both(|| take(0), || take(1)));
}
