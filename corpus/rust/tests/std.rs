//! Ordinary Rust, with nothing but the standard library. The first word of a test's name is its verdict.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering::*};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use std::thread;

#[test]
fn pass_counter() {
    selvedge::explore(|| {
        let counter = Arc::new(Mutex::new(0));
        let other = counter.clone();
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        *counter.lock().unwrap() += 1;
        thread.join().unwrap();
        assert_eq!(*counter.lock().unwrap(), 2);
    });
}

#[test]
fn panic_lost_update() {
    selvedge::explore(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let other = counter.clone();
        let thread = thread::spawn(move || {
            let seen = other.load(SeqCst);
            other.store(seen + 1, SeqCst);
        });
        let seen = counter.load(SeqCst);
        counter.store(seen + 1, SeqCst);
        thread.join().unwrap();
        assert_eq!(counter.load(SeqCst), 2, "an update is lost");
    });
}

#[test]
fn pass_condvar() {
    selvedge::explore(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let thread = thread::spawn(move || {
            let mut ready = other.0.lock().unwrap();
            while !*ready {
                ready = other.1.wait(ready).unwrap();
            }
            7
        });
        *pair.0.lock().unwrap() = true;
        pair.1.notify_one();
        assert_eq!(thread.join().unwrap(), 7);
    });
}

/// The wake-up is lost between two accesses inside `Condvar::wait`: found only if the standard library is instrumented.
#[test]
fn lost_wakeup_condvar() {
    selvedge::explore(|| {
        let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let guard = other.0.lock().unwrap();
            if !other.2.load(SeqCst) {
                drop(other.1.wait(guard).unwrap());
            }
        });
        shared.2.store(true, SeqCst);
        shared.1.notify_one();
        thread.join().unwrap();
    });
}

#[test]
fn deadlock_two_locks() {
    selvedge::explore(|| {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let (c, d) = (a.clone(), b.clone());
        let thread = thread::spawn(move || {
            let _first = c.lock().unwrap();
            let _second = d.lock().unwrap();
        });
        {
            let _second = b.lock().unwrap();
            let _first = a.lock().unwrap();
        }
        thread.join().unwrap();
    });
}

#[test]
fn pass_park() {
    selvedge::explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        let thread = thread::spawn(move || {
            while !other.load(Acquire) {
                thread::park();
            }
        });
        flag.store(true, Release);
        thread.thread().unpark();
        thread.join().unwrap();
    });
}

#[test]
fn pass_channel() {
    selvedge::explore(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let thread = thread::spawn(move || other.send(1).unwrap());
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 1);
        thread.join().unwrap();
    });
}

#[test]
fn pass_once_and_rwlock() {
    static ONCE: OnceLock<u32> = OnceLock::new();
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    static FLAG: Once = Once::new();
    selvedge::explore(|| {
        assert!(ONCE.get().is_none(), "statics start anew in every run");
        let lock = Arc::new(RwLock::new(1));
        let other = lock.clone();
        let thread = thread::spawn(move || {
            FLAG.call_once(|| drop(RUNS.fetch_add(1, SeqCst)));
            *other.write().unwrap() += *ONCE.get_or_init(|| 5);
        });
        FLAG.call_once(|| drop(RUNS.fetch_add(1, SeqCst)));
        let sum = *ONCE.get_or_init(|| 5) + *lock.read().unwrap();
        assert!(sum == 6 || sum == 11);
        thread.join().unwrap();
        assert_eq!(RUNS.load(SeqCst), 1);
    });
}

#[test]
fn pass_thread_local() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Mine(Cell<u32>);
    impl Drop for Mine {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    thread_local!(static MINE: Mine = const { Mine(Cell::new(0)) });
    selvedge::explore(|| {
        let work = || {
            MINE.with(|mine| {
                assert_eq!(mine.0.get(), 0);
                mine.0.set(1);
            });
            thread::yield_now();
            MINE.with(|mine| assert_eq!(mine.0.get(), 1));
        };
        let thread = thread::spawn(work);
        work();
        thread.join().unwrap();
        assert_eq!(DROPPED.load(SeqCst), 1);
    });
}

#[test]
fn pass_scope_and_barrier() {
    selvedge::explore(|| {
        let sum = AtomicUsize::new(0);
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                sum.fetch_add(1, Relaxed);
                barrier.wait();
                assert_eq!(sum.load(Relaxed), 2);
            });
            sum.fetch_add(1, Relaxed);
            barrier.wait();
        });
        assert_eq!(sum.into_inner(), 2);
    });
}

struct Node {
    value: usize,
    next: AtomicPtr<Node>,
}

/// A stack whose pop frees the node at once.
#[test]
fn use_after_free_stack() {
    selvedge::explore(|| {
        let top: &'static AtomicPtr<Node> = Box::leak(Box::new(AtomicPtr::default()));
        let push = move |value| {
            let node = Box::into_raw(Box::new(Node { value, next: AtomicPtr::default() }));
            loop {
                let seen = top.load(Acquire);
                unsafe { (*node).next.store(seen, Relaxed) };
                if top.compare_exchange(seen, node, AcqRel, Acquire).is_ok() {
                    break;
                }
            }
        };
        let pop = move || loop {
            let seen = top.load(Acquire);
            if seen.is_null() {
                break 0;
            }
            let next = unsafe { (*seen).next.load(Relaxed) };
            if top.compare_exchange(seen, next, AcqRel, Acquire).is_ok() {
                break unsafe { Box::from_raw(seen) }.value;
            }
        };
        push(1);
        push(2);
        let thread = thread::spawn(pop);
        let mine = pop();
        assert_eq!(mine + thread.join().unwrap(), 3);
    });
}

/// A thread that nobody joins and that never ends.
#[test]
fn leaked_thread_parked() {
    selvedge::explore(|| {
        thread::spawn(|| {
            loop {
                thread::park();
            }
        });
    });
}

struct Loud(Arc<AtomicBool>);

impl Drop for Loud {
    fn drop(&mut self) {
        assert!(!self.0.load(SeqCst), "dropped too late");
    }
}

/// A destructor panics under some schedules.
#[test]
fn panic_in_destructor() {
    selvedge::explore(|| {
        let late = Arc::new(AtomicBool::new(false));
        let loud = Loud(late.clone());
        let thread = thread::spawn(move || late.store(true, SeqCst));
        drop(loud);
        thread.join().unwrap();
    });
}

/// A destructor panics while a panic is on its way, so the process would abort.
#[test]
fn crash_panic_in_panic() {
    selvedge::explore(|| {
        let late = Arc::new(AtomicBool::new(false));
        let _loud = Loud(late.clone());
        let thread = thread::spawn(move || late.store(true, SeqCst));
        thread.join().unwrap();
        panic!("on its way");
    });
}

/// A destructor of a thread-local value runs after the thread's own function.
#[test]
fn panic_thread_local_destructor_too_late() {
    static DROPPED: AtomicBool = AtomicBool::new(false);
    struct Mine;
    impl Drop for Mine {
        fn drop(&mut self) {
            DROPPED.store(true, SeqCst);
        }
    }
    thread_local!(static MINE: Mine = const { Mine });
    selvedge::explore(|| {
        let done = Arc::new(AtomicBool::new(false));
        let other = done.clone();
        let thread = thread::spawn(move || {
            MINE.with(|_| {});
            other.store(true, SeqCst);
        });
        if done.load(SeqCst) {
            assert!(DROPPED.load(SeqCst), "the thread is done, its value not dropped yet");
        }
        thread.join().unwrap();
    });
}

/// A value that one thread fills in with a plain write, and says so.
#[derive(Default)]
struct Slot {
    full: AtomicBool,
    value: UnsafeCell<usize>,
}

// SAFETY: who finds it full may read it, if who says so published what it wrote.
unsafe impl Sync for Slot {}

fn fill_and_read(said: std::sync::atomic::Ordering) {
    let slot = Arc::new(Slot::default());
    let other = slot.clone();
    let thread = thread::spawn(move || {
        unsafe { *other.value.get() = 7 };
        other.full.store(true, said);
    });
    if slot.full.load(Acquire) {
        assert_eq!(unsafe { *slot.value.get() }, 7);
    }
    thread.join().unwrap();
}

#[test]
fn pass_release_publishes() {
    selvedge::explore(|| fill_and_read(Release));
}

#[test]
fn data_race_relaxed_publishes_nothing() {
    selvedge::explore(|| fill_and_read(Relaxed));
}

/// Looks again and again, and lets the other go in between.
#[test]
fn pass_try_recv() {
    selvedge::explore(|| {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        while receiver.try_recv().is_err() {
            thread::yield_now();
        }
        thread.join().unwrap();
    });
}

/// A lock that a thread has already.
#[test]
fn deadlock_locked_twice() {
    selvedge::explore(|| {
        let lock = Mutex::new(0);
        let _first = lock.lock().unwrap();
        let _second = lock.lock().unwrap();
    });
}

/// A thread uses more than half of the stack that it has by default.
#[test]
fn pass_deep_recursion() {
    fn deep(more: usize) -> usize {
        let frame = std::hint::black_box([more; 128]);
        if more == 0 { 0 } else { 1 + deep(more - 1) + frame[0] - more }
    }
    selvedge::explore(|| assert_eq!(thread::spawn(|| deep(1000)).join().unwrap(), 1000));
}

/// Looks at what a lock protects, and lets the other go in between. Where the other waits for the lock each time, that is not fair, and no livelock.
#[test]
fn pass_locked_flag() {
    selvedge::explore(|| {
        let flag = Arc::new(Mutex::new(false));
        let other = flag.clone();
        let thread = thread::spawn(move || *other.lock().unwrap() = true);
        while !*flag.lock().unwrap() {
            thread::yield_now();
        }
        thread.join().unwrap();
    });
}

/// LLVM's pass leaves these updates in the code as it finds them.
#[test]
fn pass_maximum_publishes() {
    struct Shared(UnsafeCell<u32>, AtomicUsize);
    unsafe impl Sync for Shared {}
    static SHARED: Shared = Shared(UnsafeCell::new(0), AtomicUsize::new(7));
    selvedge::explore(|| {
        let thread = thread::spawn(|| {
            unsafe { *SHARED.0.get() = 1 };
            SHARED.1.fetch_max(9, Release);
        });
        SHARED.1.fetch_min(8, Relaxed);
        if SHARED.1.load(Acquire) >= 8 {
            assert_eq!(unsafe { *SHARED.0.get() }, 1);
        }
        thread.join().unwrap();
        let last = SHARED.1.load(Relaxed);
        assert!(last == 8 || last == 9);
    });
}

#[test]
fn panic_maximum_changes() {
    static MOST: [AtomicU8; 2] = [AtomicU8::new(5), AtomicU8::new(5)];
    selvedge::explore(|| {
        let thread = thread::spawn(|| MOST[0].fetch_max(9, SeqCst) + MOST[1].fetch_min(4, SeqCst));
        let seen = MOST[1].load(SeqCst);
        assert_eq!(MOST[1].load(SeqCst), seen);
        assert_eq!(thread.join().unwrap(), 10);
    });
}

/// Nobody lost a signal: one has the lock and waits for the end of the other, who wants it.
#[test]
fn deadlock_lock_held_over_join() {
    selvedge::explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = lock.clone();
        let _held = lock.lock().unwrap();
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        thread.join().unwrap();
    });
}

/// What a process outside does, and what is in files, is not controlled.
#[test]
fn uncontrolled_process() {
    selvedge::explore(|| {
        let status = std::process::Command::new("true").status();
        assert!(status.unwrap().success());
    });
}

#[test]
fn uncontrolled_file() {
    selvedge::explore(|| {
        let path = std::env::temp_dir().join("selvedge-left-behind");
        std::fs::File::create_new(path).unwrap();
    });
}

#[test]
fn uncontrolled_socket() {
    selvedge::explore(|| {
        drop(std::net::UdpSocket::bind("127.0.0.1:0"));
    });
}

/// What one thread sends another receives, to the end.
#[test]
fn pass_pair_of_sockets() {
    selvedge::explore(|| {
        let (mut one, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
        let thread = thread::spawn(move || one.write_all(b"hi").unwrap());
        let mut said = String::new();
        other.read_to_string(&mut said).unwrap();
        thread.join().unwrap();
        assert_eq!(said, "hi");
    });
}

/// What was allocated before a search is as it was then: in every run of it, and after it.
#[test]
fn pass_memory_from_before() {
    static LIST: Mutex<Vec<String>> = Mutex::new(Vec::new());
    LIST.lock().unwrap().push("before".to_string());
    selvedge::explore(|| {
        let thread = thread::spawn(|| LIST.lock().unwrap().push("other".to_string()));
        LIST.lock().unwrap()[0].push('!');
        thread.join().unwrap();
        let list = LIST.lock().unwrap();
        assert_eq!(*list, ["before!", "other"]);
    });
    assert_eq!(*LIST.lock().unwrap(), ["before"]);
    LIST.lock().unwrap().push("between".to_string());
    selvedge::explore(|| {
        let thread = thread::spawn(|| LIST.lock().unwrap().clear());
        let seen = LIST.lock().unwrap().len();
        assert!(seen == 0 || seen == 2);
        thread.join().unwrap();
        assert!(LIST.lock().unwrap().is_empty());
    });
    assert_eq!(*LIST.lock().unwrap(), ["before", "between"]);
}

/// Statics that were initialised before the first run, and memory that their owner gives up in each.
#[test]
fn pass_owners_from_before() {
    static ONCE: OnceLock<Mutex<Vec<u32>>> = OnceLock::new();
    static LAZY: LazyLock<Mutex<Option<Box<u32>>>> = LazyLock::new(|| Mutex::new(Some(Box::new(7))));
    static LATE: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![1; 10]));
    let once = ONCE.get_or_init(|| Mutex::new(vec![1, 2, 3]));
    LazyLock::force(&LAZY);
    let shared = Arc::new(Mutex::new(vec![5]));
    selvedge::explore(move || {
        let (other, given) = (shared.clone(), LAZY.lock().unwrap().take());
        let thread = thread::spawn(move || {
            drop(given);
            other.lock().unwrap().push(6);
            LATE.lock().unwrap().push(2);
        });
        once.lock().unwrap().extend([4; 100]);
        thread.join().unwrap();
        assert_eq!(once.lock().unwrap().len(), 103);
        assert_eq!(*shared.lock().unwrap(), [5, 6]);
        assert_eq!(LATE.lock().unwrap().len(), 11);
        assert!(LAZY.lock().unwrap().is_none());
    });
}

#[test]
fn pass_thread_local_with_memory() {
    thread_local! {
        static OWN: RefCell<Vec<u32>> = RefCell::new(vec![1, 2]);
    }
    static SUM: AtomicUsize = AtomicUsize::new(0);
    fn add() {
        OWN.with_borrow_mut(|own| {
            own.push(3);
            SUM.fetch_add(own.len(), SeqCst);
        });
    }
    add();
    SUM.store(0, SeqCst);
    selvedge::explore(|| {
        let thread = thread::spawn(add);
        add();
        thread.join().unwrap();
        assert_eq!(SUM.load(SeqCst), 6);
    });
}

#[test]
fn use_after_free_from_before() {
    struct Raw(AtomicPtr<u32>);
    static RAW: Raw = Raw(AtomicPtr::new(std::ptr::null_mut()));
    RAW.0.store(Box::into_raw(Box::new(7)), SeqCst);
    selvedge::explore(|| {
        let thread = thread::spawn(|| drop(unsafe { Box::from_raw(RAW.0.load(SeqCst)) }));
        thread.join().unwrap();
        assert_eq!(unsafe { *RAW.0.load(SeqCst) }, 7);
    });
}

/// A thread from before the search cannot run during it: what waits for it is not at fault.
#[test]
fn uncontrolled_pool_from_before() {
    let (jobs, received) = mpsc::channel::<mpsc::Sender<u32>>();
    let pool = thread::spawn(move || received.into_iter().for_each(|answer| answer.send(1).unwrap()));
    selvedge::explore(move || {
        let (answer, answered) = mpsc::channel();
        jobs.send(answer).unwrap();
        assert_eq!(answered.recv().unwrap(), 1);
    });
    pool.join().unwrap();
}

/// Only the runs in which the value has come are of interest: in these it is whole.
#[test]
fn pass_assumed_value() {
    selvedge::explore(|| {
        let value = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let other = value.clone();
        let thread = thread::spawn(move || {
            other.0.store(1, Release);
            other.1.store(1, Release);
        });
        selvedge::assume(value.1.load(Acquire) == 1);
        assert_eq!(value.0.load(Relaxed), 1);
        thread.join().unwrap();
    });
}

/// The one choice that fails, and only before the other thread has changed the limit.
#[test]
fn panic_chosen_index() {
    selvedge::explore(|| {
        let limit = Arc::new(AtomicUsize::new(2));
        let other = limit.clone();
        let thread = thread::spawn(move || other.store(3, SeqCst));
        let index = selvedge::choose(3);
        assert!(index < limit.load(SeqCst), "{index}");
        thread.join().unwrap();
    });
}

#[test]
fn panic_chosen_of_none() {
    selvedge::explore(|| {
        let empty: Vec<u32> = Vec::new();
        let _ = selvedge::choose(empty.len());
    });
}
