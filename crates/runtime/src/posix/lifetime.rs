//! Objects that are no more: locks, queues and semaphores whose memory was freed, or that were destroyed.
//!
//! Invariant: what is reported is undefined by POSIX whatever the implementation. To unlock a mutex and to free or destroy it as the last who
//! uses it is none of that, nor is to destroy a condition variable or a barrier whose waiters were woken and have not gone on yet, nor to
//! initialise again, by a call or by assigning an initialiser. So whether an object was destroyed is written into the object itself,
//! which the program may overwrite, and is no table of ours.

use std::ffi::c_int;

use selvedge_protocol::{Cause, Deed, Fault, Misuse, Noun};

use crate::abi::visible::race;
use crate::control::{Control, active, with};
use crate::fiber::fail;
use crate::memory::{arena, reset};
use crate::posix::objects;
use crate::race::{Conflict, Touch};

/// What the first word of a destroyed object holds: no lock, count or queue of glibc's comes to it.
const DESTROYED: u32 = 0xdead_5e1f;

/// What is looked at of an object.
const WORD: usize = size_of::<u32>();

/// Something that the current thread does to an object.
#[derive(Clone, Copy)]
pub struct Use {
    /// Where the object lies.
    pub address: usize,
    /// What strategies know it by.
    pub object: u64,
    /// What is done.
    pub deed: Deed,
    /// To what.
    pub noun: Noun,
}

/// What is done to an object as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It begins.
    Initialises,
    /// It ends.
    Destroys,
}

impl Change {
    /// The same as something that a thread does.
    pub fn deed(self) -> Deed {
        match self {
            Change::Initialises => Deed::Initialises,
            Change::Destroys => Deed::Destroys,
        }
    }

    /// What is destroyed must be there; what is initialised need not have been, but its memory must.
    pub fn check(self, address: usize, object: u64, noun: Noun, pc: u64) {
        match self {
            Change::Destroys => Use { address, object, deed: self.deed(), noun }.check(pc),
            Change::Initialises => arena::check(address, WORD, true, pc),
        }
    }
}

impl Use {
    /// The object must be there. In a step, this comes before anything else of it.
    pub fn check(self, pc: u64) {
        if arena::inside(self.address) {
            self.check_in_heap(pc);
        }
        // SAFETY: the first word of the caller's object; one that was freed has been reported.
        if unsafe { *(self.address as *const u32) } == DESTROYED && !reset::is_kept(self.address) {
            self.is_wrong(Fault::Destroyed, pc);
        }
    }

    /// Ends the run: what the current thread does is not allowed.
    #[cold]
    fn is_wrong(self, fault: Fault, pc: u64) -> ! {
        misuse(self.deed, self.noun, fault, pc)
    }

    #[inline(never)]
    fn check_in_heap(self, pc: u64) {
        let Use { address, object, .. } = self;
        if arena::is_freed(address) {
            self.is_wrong(Fault::Freed { address: address as u64 }, pc);
        }
        arena::check(address, WORD, false, pc);
        let touch = Touch::new(address as u64, WORD as u64, false, true, pc);
        let other = with(|control| {
            control.run.objects.in_heap.insert((address, object));
            let current = control.run.current;
            if control.run.races.on {
                control.run.races.touch(&mut control.process.shadow, current, touch)
            } else {
                None
            }
        });
        if let Some(other) = other {
            race(touch, Conflict::with(other));
        }
    }
}

/// Ends the run: the current thread uses a lock or a queue wrongly.
#[cold]
pub fn misuse(deed: Deed, noun: Noun, fault: Fault, pc: u64) -> ! {
    let thread = with(|control| control.run.current) as u16;
    fail(Cause::Misuse(Misuse { thread, deed, noun, fault }), pc)
}

/// Has libc destroy the object at this address, which is no more then, until it is initialised.
pub fn destroy(address: usize, real: impl FnOnce() -> c_int) -> c_int {
    let answer = real();
    if active() && answer == 0 && !reset::is_kept(address) {
        // SAFETY: the first word of the caller's object, of which it may expect nothing any more.
        unsafe { *(address as *mut u32) = DESTROYED };
    }
    answer
}

/// Memory was freed, and with it the objects in it. Whoever waits for one of them goes on, and finds that out.
#[cold]
pub fn freed(control: &mut Control, block: usize, size: usize) {
    let gone: Vec<(usize, u64)> = control.run.objects.in_heap.range((block, 0)..(block + size, 0)).copied().collect();
    for (address, object) in gone {
        control.run.objects.in_heap.remove(&(address, object));
        let old = control.run.objects.remove(address);
        control.run.races.forget_object(object);
        control.run.races.forget_object(objects::readers(address));
        control.renewed(object, old);
    }
}
