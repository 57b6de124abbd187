//! The state of the code under test, to be compared with a later one.
//!
//! At a step everything that a thread is lies in its stack, the registers that calls preserve, memory, and the arguments of the call that it is in. All but the last
//! is compared as it is; a hash is not enough to call something a livelock.
//!
//! Invariant: two states that are equal go on in the same way under the same schedule, if the next step of each thread does the same in both.

use selvedge_explore::Threads;

use crate::arch::{site, switch};
use crate::control::Control;
use crate::fiber::{Fiber, Wants};
use crate::memory::reset::Copies;
use crate::memory::{arena, pages};
use crate::posix::objects::Objects;
use crate::sys;

/// A stack deeper than this is not kept.
const STACK_MAX: u64 = 1 << 20;
/// Descriptors up to this number are looked at.
const DESCRIPTORS: usize = 64;

/// What is compared of a thread.
struct Lane {
    thread: usize,
    note: [u64; site::WORDS],
    stack: Box<[u8]>,
    storage: Copies,
    about: About,
}

/// What the runtime and libc know of a thread.
#[derive(PartialEq, Eq)]
struct About {
    wants: Wants,
    asleep_on: u64,
    bits: u32,
    woken: bool,
    detached: bool,
    joined: bool,
    random: u64,
    error: i32,
    keys: Vec<usize>,
    cleanups: Vec<usize>,
    destructors: usize,
}

impl About {
    fn of(fiber: &Fiber) -> Self {
        About {
            wants: fiber.wants,
            asleep_on: fiber.asleep_on,
            bits: fiber.bits,
            woken: fiber.woken,
            detached: fiber.detached,
            joined: fiber.joined,
            random: fiber.random,
            error: error_of(fiber.context.thread_pointer),
            keys: fiber.keys.iter().map(|&key| key as usize).collect(),
            cleanups: fiber.cleanups.iter().map(|&cleanup| cleanup as usize).collect(),
            destructors: fiber.destructors.len(),
        }
    }
}

/// `errno` of the thread whose control block lies there.
fn error_of(fs: u64) -> i32 {
    // SAFETY: `errno` lies at the same distance from the control block in every thread.
    unsafe {
        let distance = (libc::__errno_location() as u64).wrapping_sub(switch::thread_pointer());
        *(fs.wrapping_add(distance) as *const i32)
    }
}

/// The part of a thread's stack that it uses, where it is not too large.
fn stack_of(fiber: &Fiber, note: &[u64; site::WORDS]) -> Option<&'static [u8]> {
    let from = note[site::STACK];
    let used = fiber.holds(from) && fiber.top - from <= STACK_MAX;
    // SAFETY: from the stack pointer of the code under test to the top of its stack; the thread is in a call into the runtime.
    used.then(|| unsafe { std::slice::from_raw_parts(from as *const u8, (fiber.top - from) as usize) })
}

/// A state.
pub(super) struct State {
    created: usize,
    alive: Threads,
    lanes: Vec<Lane>,
    objects: Objects,
    globals: Copies,
    /// Pages of libraries, and of memory from before the first run, that runs have written to: where they lie, and what they hold.
    pages: (Vec<(usize, usize)>, Copies),
    heap: arena::Image,
    descriptors: Vec<[isize; 2]>,
}

impl State {
    /// The state of the run that is under way; `None` where it is too large, or something of it cannot be known.
    pub(super) fn of(control: &Control) -> Option<Self> {
        let alive = control.run.alive.iter();
        let lane = |thread: usize| {
            let fiber = &control.process.fibers[thread];
            let note = site::note_of(fiber.context.thread_pointer);
            let stack = stack_of(fiber, &note)?.into();
            Some(Lane { thread, note, stack, storage: fiber.storage.again(), about: About::of(fiber) })
        };
        Some(State {
            created: control.run.created,
            alive: control.run.alive.clone(),
            lanes: alive.map(lane).collect::<Option<Vec<Lane>>>()?,
            objects: control.run.objects.clone(),
            globals: Copies::of_variables(),
            pages: (pages::written(), Copies::of(pages::written())),
            heap: arena::Image::now()?,
            descriptors: descriptors(),
        })
    }

    /// Which words of memory differ, if the run is in that state now but for a few of them. What differs most often is looked at first.
    pub(super) fn differs(&self, control: &Control) -> Option<Vec<u64>> {
        let mut words = Vec::new();
        let same = (self.created, &self.alive) == (control.run.created, &control.run.alive)
            && self.lanes.iter().all(|lane| {
                let fiber = &control.process.fibers[lane.thread];
                site::note_of(fiber.context.thread_pointer) == lane.note && fiber.wants == lane.about.wants
            })
            && self.objects.is_same(&control.run.objects)
            && self.lanes.iter().all(|lane| {
                let fiber = &control.process.fibers[lane.thread];
                stack_of(fiber, &lane.note).is_some_and(|stack| *stack == *lane.stack)
                    && lane.about == About::of(fiber)
                    && lane.storage.is_now()
            })
            && self.pages.0 == pages::written()
            && self.pages.1.is_now()
            && self.globals.differs(&mut words)
            && self.heap.differs(&mut words)
            && self.descriptors == descriptors();
        same.then_some(words)
    }
}

/// More words that differ are not looked at.
const WORDS_MAX: usize = 8;

/// Adds the words that differ between what memory held from an address on and what it holds now; false where they are too many.
pub fn differing(start: usize, then: &[u8], now: &[u8], words: &mut Vec<u64>) -> bool {
    if then == now {
        return true;
    }
    for at in (0..then.len()).filter(|&at| then[at] != now[at]) {
        let word = (start + at) as u64 & !7;
        if words.last() != Some(&word) {
            words.push(word);
        }
        if words.len() > WORDS_MAX {
            return false;
        }
    }
    true
}

/// How far each open file was read or written, and how many bytes wait in each pipe.
fn descriptors() -> Vec<[isize; 2]> {
    let one = |descriptor: usize| {
        let mut waiting = 0i32;
        // SAFETY: asks about descriptors, of which many do not exist; the kernel writes an integer to an integer.
        unsafe {
            let at = sys::call(libc::SYS_lseek, [descriptor, 0, libc::SEEK_CUR as usize, 0, 0, 0]);
            let place = &raw mut waiting as usize;
            sys::call(libc::SYS_ioctl, [descriptor, libc::FIONREAD as usize, place, 0, 0, 0]);
            [at, waiting as isize]
        }
    };
    (0..DESCRIPTORS).map(one).collect()
}

impl Control {
    /// The code under test writes there. What lies in no block, no variable and no stack is not compared.
    #[cold]
    pub fn wrote(&mut self, address: u64) {
        let known = arena::inside(address as usize) || Copies::covers(address);
        if !known && !self.process.fibers[..self.run.created].iter().any(|fiber| fiber.holds(address)) {
            self.run.endless.disturb();
        }
    }
}
