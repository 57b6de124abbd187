//! Arguments in variable number.

/// What `va_start` makes, by the ABI of x86-64.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct List {
    integers: u32,
    floats: u32,
    stack: *const u64,
    saved: *const u8,
}

/// Where the registers of a call lie that may hold arguments: six of integers, then eight of vectors.
const INTEGERS: u32 = 48;
const FLOATS: u32 = 176;

impl List {
    /// Behind so many named arguments, of a call whose registers lie there; the rest of its arguments lie on the stack.
    pub fn new(saved: *const u8, stack: *const u64, named: u32) -> Self {
        List { integers: 8 * named, floats: INTEGERS, stack, saved }
    }

    /// The next integer or pointer.
    ///
    /// # Safety
    /// The list is that of a call that has not returned, and there is one more argument.
    pub unsafe fn next(&mut self) -> u64 {
        if self.integers < INTEGERS {
            self.integers += 8;
            // SAFETY: inside of what was saved.
            return unsafe { *self.saved.add(self.integers as usize - 8).cast::<u64>() };
        }
        // SAFETY: the registers are used up, so the argument is on the stack.
        unsafe { self.take_from_stack(1) }
    }

    /// # Safety
    /// The next argument lies on the stack, and has so many words.
    unsafe fn take_from_stack(&mut self, words: usize) -> u64 {
        // SAFETY: the caller says that they are there.
        unsafe {
            let value = *self.stack;
            self.stack = self.stack.add(words);
            value
        }
    }

    /// Passes over a floating-point number; the long ones lie on the stack, aligned.
    ///
    /// # Safety
    /// The list is that of a call that has not returned, and its next argument is such a number.
    pub unsafe fn skip_float(&mut self, long: bool) {
        if long {
            self.stack = ((self.stack as usize + 15) & !15) as *const u64;
            // SAFETY: a number of sixteen bytes is always passed there.
            unsafe { self.take_from_stack(2) };
        } else if self.floats < FLOATS {
            self.floats += 16;
        } else {
            // SAFETY: the vector registers are used up, so the number is on the stack.
            unsafe { self.take_from_stack(1) };
        }
    }
}

/// The first named arguments of a call.
///
/// # Safety
/// An entry point of a function with so many named arguments, and no more than six, has saved its registers there.
pub unsafe fn named<const N: usize>(saved: *const u8) -> [u64; N] {
    // SAFETY: the caller says that they are there.
    unsafe { saved.cast::<[u64; N]>().read() }
}
