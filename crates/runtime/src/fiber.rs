//! The threads of the code under test: fibers on the stacks of real threads that sleep.
//!
//! Invariant: fiber i of a run is always the i-th thread that the run creates, on the same stack and with the same thread
//! control block, so addresses on stacks and in thread-local storage are the same in every run.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use selvedge_explore::Thread;
use selvedge_protocol::Cause;

use crate::arch::switch::{self, Context};
use crate::control::{self, Body, Control, Left, Next, active, assert_not_borrowed, set_active, with};
use crate::finding::Failure;
use crate::memory::reset::Copies;
use crate::memory::{arena, pages};
use crate::posix::{keys, real};
use crate::retry;
use crate::spin;
use crate::sys;

/// What a thread needs before it can make its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Nothing.
    Nothing,
    /// A mutex that is free.
    Mutex(usize),
    /// A lock without a writer.
    Shared(usize),
    /// A lock without readers and writer.
    Exclusive(usize),
    /// A semaphore above zero.
    Unit(usize),
    /// The end of a thread.
    End(usize),
    /// To be woken from a queue.
    Wake,
    /// The end of another thread's initialisation.
    Once(usize),
    /// That its call on descriptors may go on.
    Ready,
    /// A change of what its loop reads.
    Change,
    /// All threads of a matrix to be there.
    Gate,
    /// The end of all threads of a matrix.
    Columns,
    /// To find a value at an address: it would only try again otherwise.
    Value(usize, u8, u64),
}

impl Wants {
    /// Whether the thread may go.
    #[inline]
    pub fn met(self, thread: usize, control: &Control) -> bool {
        match self {
            Wants::Nothing => true,
            Wants::Mutex(mutex) => control.run.objects.mutex_free(mutex),
            Wants::Shared(lock) => control.run.objects.readable(lock),
            Wants::Exclusive(lock) => control.run.objects.writable(lock),
            // What was freed is not waited for: the wait itself is the error.
            // SAFETY: the address of a semaphore that the thread is in a call on.
            Wants::Unit(semaphore) => unsafe { *(semaphore as *const u32) > 0 || arena::is_freed(semaphore) },
            Wants::End(other) => control.process.fibers[other].ended,
            Wants::Wake => control.process.fibers[thread].woken,
            Wants::Change => {
                let fiber = &control.process.fibers[thread];
                fiber.woken || fiber.spin.attempts().any(|attempt| control.would_succeed(attempt))
            }
            Wants::Ready => control.run.objects.descriptors.may_go(thread),
            Wants::Once(once) => control.run.objects.once_idle(once),
            Wants::Gate => control.run.recorder.is_open(),
            Wants::Columns => control.run.recorder.threads.iter().all(|&other| control.process.fibers[other].ended),
            // What was freed is not waited for: the access itself is the error.
            // SAFETY: the thread is about to access it.
            Wants::Value(address, size, value) => unsafe {
                retry::value_at(address as u64, size) == value || arena::is_freed(address)
            },
        }
    }
}

/// A destructor of a thread-local object.
pub type Destructor = unsafe extern "C" fn(*mut c_void);

/// How many thread-specific keys a test may have.
pub const KEYS: usize = 128;

/// One thread.
pub struct Fiber {
    /// Where it goes on.
    pub context: Context,
    /// The top of the part of the stack that it uses.
    pub top: u64,
    /// The lowest address of its stack.
    pub bottom: u64,
    /// The lowest address at which it has stopped so far, in any run: what is above it is cleared before the next.
    pub low: u64,
    /// The `pthread_t` that the code under test knows it by.
    pub id: libc::pthread_t,
    /// What it starts with.
    pub body: Option<(Body, *mut c_void)>,
    /// What it returned.
    pub result: *mut c_void,
    /// What it needs to go on.
    pub wants: Wants,
    /// The return address of its last call into the runtime.
    pub pc: u64,
    /// The frame pointer at its last call into the runtime: anything at all where code was compiled without one.
    pub frame: u64,
    /// The queue that it last slept in.
    pub asleep_on: u64,
    /// The bits that it sleeps for there, if it is a futex.
    pub bits: u32,
    /// Whether it was woken.
    pub woken: bool,
    /// Whether it has ended.
    pub ended: bool,
    /// Whether nobody will join it.
    pub detached: bool,
    /// Whether somebody joined it.
    pub joined: bool,
    /// Destructors to run at its end, last first.
    pub destructors: Vec<(Destructor, *mut c_void)>,
    /// Its values of thread-specific keys, up to the last that it has set.
    pub keys: Vec<*mut c_void>,
    /// Its thread-local storage as it was at the beginning.
    pub storage: Copies,
    /// How many random numbers it has drawn.
    pub random: u64,
    /// Its loops.
    pub spin: crate::spin::Spin,
    /// What it read since it last did anything else.
    pub trail: retry::Trail,
    /// How many steps it has made.
    pub made: u32,
    /// The handlers of `pthread_cleanup_push`, the last one at the end.
    pub cleanups: Vec<*mut c_void>,
}

impl Fiber {
    /// Whether an address lies on the part of its stack that it uses.
    #[inline(always)]
    pub fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.bottom) < self.top - self.bottom
    }

    /// Whether an address lies between its stack and its thread block, where variables are of which each thread has its own.
    #[inline(always)]
    pub fn has_as_own(&self, address: u64) -> bool {
        address >= self.top && address < self.context.thread_pointer
    }

    /// Whether it has not ended, or made no step and so runs to its end before its creator goes on, and nobody waited for that: it could as well do so later.
    pub fn may_be_left_over(&self) -> bool {
        !self.ended || self.ends_unseen()
    }

    /// Whether it has ended, and nothing that it did or that others did shows that.
    pub fn ends_unseen(&self) -> bool {
        self.ended && self.made == 0 && !self.joined
    }

    /// Where its last call into the runtime was called from, from the inside out: the chain of frame pointers, as far as the code under test was
    /// compiled with them.
    pub fn callers(&self) -> Vec<u64> {
        const DEPTH: usize = 48;
        let (mut callers, mut frame) = (Vec::new(), self.frame);
        while callers.len() < DEPTH && frame % 8 == 0 && self.holds(frame) && self.holds(frame + 8) {
            // SAFETY: two words of a stack that exists; its fiber does not run, or is the one that calls.
            let (next, caller) = unsafe { (*(frame as *const u64), *((frame + 8) as *const u64)) };
            if caller == 0 {
                break;
            }
            callers.push(caller);
            if next <= frame {
                break;
            }
            frame = next;
        }
        callers
    }

    /// Whether a plain access to memory that is not its stack has to be noted, for its loops.
    #[inline(always)]
    pub fn notes(&self, write: bool) -> bool {
        !self.trail.is_empty() || write && !self.spin.is_fresh()
    }

    /// It did something that is more than reading.
    #[inline(always)]
    pub fn effect(&mut self) {
        self.spin.effect();
        self.trail.clear();
    }

    /// Makes it ready for a new run.
    fn renew(&mut self, body: Body, argument: *mut c_void) {
        // Every field is named, so that none is forgotten. The first six belong to the process.
        let Fiber {
            context,
            top,
            bottom: _,
            low,
            id: _,
            storage: _,
            body: begins_with,
            result,
            wants,
            pc,
            frame,
            asleep_on,
            bits,
            woken,
            ended,
            detached,
            joined,
            destructors,
            keys,
            random,
            spin,
            trail,
            made,
            cleanups,
        } = self;
        *begins_with = Some((body, argument));
        *result = std::ptr::null_mut();
        *wants = Wants::Nothing;
        (*pc, *frame, *asleep_on, *bits, *random, *made) = (0, 0, 0, 0, 0, 0);
        (*woken, *ended, *detached, *joined) = (false, false, false, false);
        destructors.clear();
        keys.clear();
        cleanups.clear();
        spin.reset();
        trail.reset();
        // What an earlier run left on the stack must not be seen: in code without optimisation it shows in variables that are not set yet, and loops are known by
        // these too.
        let from = (*low).max(*top - spin::STACK_MAX);
        // SAFETY: nobody runs on this stack: the fiber's last run is over.
        context.stack = unsafe {
            std::ptr::write_bytes(from as *mut u8, 0, (*top - from) as usize);
            switch::new_stack(*top)
        };
    }

    /// The thread stops there, lower than ever before; whether there is room. Strategies decide on the stack of the thread that stops, and need some of it.
    #[cold]
    #[inline(never)]
    pub fn stops_lower(&mut self, here: u64) -> bool {
        let fits = here >= self.bottom + ROOM;
        if fits {
            self.low = here;
        }
        fits
    }
}

/// A thread that leaves strategies less room is as good as at the end of its own stack.
const ROOM: u64 = 64 << 10;
/// As much as a thread has by default in C; twice of what it has in Rust.
const STACK: usize = 8 << 20;
/// Left for the frames of the thread that sleeps.
const RESERVED: u64 = 16 << 10;

/// How a new sleeper tells where it sleeps.
struct Birth {
    ready: AtomicU32,
    thread_pointer: u64,
    top: u64,
    bottom: u64,
    storage: Copies,
}

unsafe extern "C" fn sleeper(birth: *mut c_void) -> *mut c_void {
    let mut here = 0u64;
    {
        // SAFETY: the creator keeps it alive until `ready` is set, and does not touch it before.
        let birth = unsafe { &mut *birth.cast::<Birth>() };
        birth.thread_pointer = switch::thread_pointer();
        birth.top = (&raw mut here as u64 & !0xf) - RESERVED;
        let stack_end;
        (birth.bottom, stack_end) = stack();
        // The seed of tables that are made on this thread: drawn during a run it would be one of the numbers that the code under test draws.
        drop(std::hash::RandomState::new());
        birth.storage = Copies::of_thread(stack_end as usize);
        crate::freeze::own();
        birth.ready.store(1, Ordering::Release);
        sys::futex_wake(&birth.ready);
    }
    let never = AtomicU32::new(0);
    loop {
        sys::futex_wait(&never, 0);
    }
}

/// The calling thread's stack: its lowest address, and one past its highest.
fn stack() -> (u64, u64) {
    // SAFETY: asks libc for the attributes of the calling thread, and gives them back.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let (mut bottom, mut size) = (std::ptr::null_mut(), 0);
        if (real::pthread_getattr_np())(libc::pthread_self(), &mut attributes) == 0 {
            libc::pthread_attr_getstack(&attributes, &mut bottom, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
        }
        (bottom as u64, bottom as u64 + size as u64)
    }
}

/// Makes one more sleeper. `None` when the system has no more threads.
fn bear() -> Option<Fiber> {
    let mut birth =
        Birth { ready: AtomicU32::new(0), thread_pointer: 0, top: 0, bottom: 0, storage: Copies::default() };
    let mut id: libc::pthread_t = 0;
    // SAFETY: `birth` outlives the wait below; the attributes are initialised before use.
    let made = unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        libc::pthread_attr_setstacksize(&mut attributes, STACK);
        let made = (real::pthread_create())(&mut id, &attributes, sleeper, (&raw mut birth).cast());
        libc::pthread_attr_destroy(&mut attributes);
        made
    };
    if made != 0 {
        return None;
    }
    while birth.ready.load(Ordering::Acquire) == 0 {
        sys::futex_wait(&birth.ready, 0);
    }
    Some(Fiber {
        context: Context { stack: 0, thread_pointer: birth.thread_pointer },
        top: birth.top,
        bottom: birth.bottom,
        low: birth.top,
        id,
        body: None,
        result: std::ptr::null_mut(),
        wants: Wants::Nothing,
        pc: 0,
        frame: 0,
        asleep_on: 0,
        bits: 0,
        woken: false,
        ended: false,
        detached: false,
        joined: false,
        destructors: Vec::new(),
        keys: Vec::new(),
        storage: std::mem::take(&mut birth.storage),
        random: 0,
        spin: crate::spin::Spin::default(),
        trail: retry::Trail::default(),
        made: 0,
        cleanups: Vec::new(),
    })
}

/// Makes sleepers until there are so many.
pub fn provide(fibers: &mut Vec<Fiber>, count: usize) -> bool {
    while fibers.len() < count {
        match bear() {
            Some(fiber) => fibers.push(fiber),
            None => return false,
        }
    }
    true
}

/// Why a thread could not be made.
pub struct NoThread;

impl Control {
    /// Creates the next thread of the run; it does not run yet.
    pub fn create(&mut self, body: Body, argument: *mut c_void) -> Result<usize, NoThread> {
        let thread = self.run.created;
        if thread >= Thread::MAX {
            return Err(NoThread);
        }
        if thread >= self.process.fibers.len() {
            // The sleeper's memory must not come from the arena of the run.
            let was = active();
            set_active(false);
            let provided = pages::commit(|| arena::open(thread) && provide(&mut self.process.fibers, thread + 1));
            set_active(was);
            if !provided {
                return Err(NoThread);
            }
        }
        self.run.created += 1;
        self.process.fibers[thread].renew(body, argument);
        Ok(thread)
    }
}

/// Does what was decided. Comes back when this fiber is chosen again, or not at all.
#[inline(always)]
pub fn follow(from: usize, next: Next) {
    match next {
        Next::Stay => {}
        Next::Switch(to) => hand_over(from, to),
        Next::Leave => {
            if with(|control| matches!(control.run.left, Left::Stuck | Left::Endless)) {
                set_active(false);
                crate::debug::failed();
            }
            leave()
        }
    }
}

/// Another fiber goes on, and this one when it is chosen again, or not at all.
#[inline(always)]
pub fn hand_over(from: usize, to: usize) {
    let (save, load) = {
        // SAFETY: there is a state, because code under control calls; the borrow ends with this block.
        let mut control = unsafe { control::state() };
        (&raw mut control.process.fibers[from].context, control.give_control(to))
    };
    assert_not_borrowed();
    // The saved context lies in a vector that may only move while this fiber does not run, and the switch writes to it
    // before anything else runs; its FS base is there already.
    // SAFETY: `load` was written by a switch or by `renew`.
    unsafe { switch::switch(save, load) };
}

/// Leaves the run for the search. What is on the stacks is forgotten.
pub fn leave() -> ! {
    set_active(false);
    let to = with(|control| control.process.outside);
    assert_not_borrowed();
    let mut nowhere = Context::default();
    // SAFETY: the search waits in `enter`; this fiber is renewed before it runs again.
    unsafe { switch::switch(&raw mut nowhere, to) };
    unreachable!("a run that was left does not go on")
}

/// Runs the first thread, from the search, until the run is over.
pub fn enter() {
    let (save, load) = with(|control| {
        control.process.outside.thread_pointer = switch::thread_pointer();
        (&raw mut control.process.outside, control.give_control(0))
    });
    // SAFETY: `load` was made by `renew`; `save` is where `leave` looks.
    unsafe { switch::switch(save, load) };
    set_active(false);
}

/// Lets a new thread run to its first step; the creator goes on after that.
pub fn start(creator: usize, thread: usize) {
    with(|control| {
        control.run.starting = Some(creator);
        control.run.current = thread;
    });
    follow(creator, Next::Switch(thread));
}

/// The first frame of a fiber.
pub unsafe extern "C" fn fiber_main() -> ! {
    let (body, argument) = with(|control| control.fiber().body).expect("a fiber that runs has a body");
    // SAFETY: the code under test, with the argument that it asked for.
    let result = unsafe { body(argument) };
    exit(result)
}

unsafe extern "C" {
    fn longjmp(buffer: *mut c_void, value: c_int) -> !;
}

/// The current thread ends by itself: if it is the first one, the test goes on until all others have ended.
pub fn exit_alone(result: *mut c_void) -> ! {
    with(|control| control.run.goes_on |= control.run.current == 0);
    exit(result)
}

/// Ends the current thread: handlers, destructors, then whoever goes next.
pub fn exit(result: *mut c_void) -> ! {
    with(|control| control.fiber().result = result);
    if let Some(handler) = with(|control| control.fiber().cleanups.pop()) {
        // SAFETY: the code under test called `setjmp` with it in a frame that is still there. It calls its handler, and then exits again.
        unsafe { longjmp(handler, 1) };
    }
    run_destructors();
    let (current, next) = with(|control| {
        let current = control.run.current;
        control.looks_for_leftovers();
        if control.leaks() {
            return (current, Next::Leave);
        }
        control.run.races.ended(current);
        (current, control.end_thread())
    });
    follow(current, next);
    unreachable!("a thread that has ended does not go on")
}

/// Destroys the current thread's thread-local objects and values of keys, as the end of a thread does.
pub fn run_destructors() {
    for _ in 0..4 {
        let mut any = false;
        while let Some((destructor, object)) = with(|control| control.fiber().destructors.pop()) {
            // SAFETY: registered by the code under test for this moment.
            unsafe { destructor(object) };
            any = true;
        }
        any |= keys::destroy_values_from_before() | run_key_destructors();
        if !any {
            break;
        }
    }
}

fn run_key_destructors() -> bool {
    let mut any = false;
    for key in 0..with(|control| control.run.objects.keys()) {
        let call = with(|control| {
            let destructor = control.run.objects.key_destructor(key)?;
            let value = std::mem::replace(control.fiber().keys.get_mut(key)?, std::ptr::null_mut());
            (!value.is_null()).then_some((destructor, value))
        });
        if let Some((destructor, value)) = call {
            // SAFETY: registered by the code under test for this moment.
            unsafe { destructor(value) };
            any = true;
        }
    }
    any
}

/// Ends the run with a failure of the code under test.
#[cold]
pub fn fail(cause: Cause, pc: u64) -> ! {
    control::set_active(false);
    with(|control| control.fail(Failure::new(cause, pc)));
    crate::debug::failed();
    leave()
}
