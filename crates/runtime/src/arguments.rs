//! What the `main` of a program under test gets.
//!
//! Invariant: each run gets the same texts at the same addresses, whatever the one before has written there.

use std::ffi::{c_char, c_int};

/// What `main` gets: texts and pointers, both of which a program may change.
#[derive(Default)]
pub struct Arguments {
    /// All of them as they are at the beginning of a run, each with a zero byte behind it.
    given: Vec<u8>,
    /// What a run gets and may change.
    texts: Vec<u8>,
    pointers: Vec<*mut c_char>,
}

impl Arguments {
    /// What stands behind the program's name.
    pub fn new(arguments: &[String]) -> Self {
        let mut given = b"test\0".to_vec();
        for argument in arguments {
            // The operating system hands over none with a zero byte in it.
            given.extend(argument.bytes().take_while(|&byte| byte != 0));
            given.push(0);
        }
        let pointers = vec![std::ptr::null_mut(); arguments.len() + 2];
        Arguments { texts: given.clone(), given, pointers }
    }

    /// How many there are and where, as they were given.
    pub fn renew(&mut self) -> (c_int, *mut *mut c_char) {
        self.texts.copy_from_slice(&self.given);
        let mut begin = self.texts.as_mut_ptr();
        let count = self.pointers.len() - 1;
        for (pointer, text) in self.pointers.iter_mut().zip(self.given.split_inclusive(|&byte| byte == 0)) {
            *pointer = begin.cast();
            begin = begin.wrapping_add(text.len());
        }
        self.pointers[count] = std::ptr::null_mut();
        (count as c_int, self.pointers.as_mut_ptr())
    }
}
