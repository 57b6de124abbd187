//! What crosses the border, in sentences for people. Each thing is worded here and nowhere else.
//!
//! Whoever has the program can name its addresses ([`Names`]); whoever has not says them as numbers ([`Numbers`]).

mod cause;
mod complaint;
mod object;
mod plain_steps;
mod step;

pub use cause::{HELD_STILL, RETURNED, STUCK, bystanders, cause, touch};
pub use complaint::Complaint;
pub use object::{
    CutTable, Told, answer, doubt, note, object_trouble, plan, regression, search_trouble, serial, shortfall, told,
};
pub use plain_steps::plain_steps;
pub use step::{class, on_descriptor, verb, waits_at_descriptor, waits_for};

use std::fmt;

use crate::cause::Cause;
use crate::explanation::Explanation;
use crate::trouble::{ObjectTrouble, SearchTrouble, Shortfall};

/// What addresses of the program under test are called.
pub trait Names {
    /// A variable or a line of code, or the address as a number.
    fn name(&mut self, address: u64) -> String;

    /// The line of code that a thread made an access from, or the address as a number.
    fn code(&mut self, thread: u16, pc: u64) -> String {
        let _ = thread;
        self.name(pc)
    }
}

/// Addresses as numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers;

impl Names for Numbers {
    fn name(&mut self, address: u64) -> String {
        format!("{address:#x}")
    }
}

/// The sentence, with addresses as numbers.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&cause(self, &mut Numbers))
    }
}

/// The sentence, with addresses as numbers.
impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shortfall(self, &mut Numbers))
    }
}

/// The sentence, with addresses as numbers.
impl fmt::Display for ObjectTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&object_trouble(self, &mut Numbers))
    }
}

/// The sentence.
impl fmt::Display for SearchTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&search_trouble(self))
    }
}

/// The table and the sentences, in lines.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&told(self).lines().join("\n"))
    }
}
