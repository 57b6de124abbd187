//! Everything that knows registers or machine code, one directory for each kind of processor.
//!
//! | module | is for | without it |
//! |---|---|---|
//! | `switch` | from one stack to another, and the thread pointer | nothing runs |
//! | `site` | where the code under test called from, and what its registers were; the entry points | nothing runs |
//! | `kernel` | system calls, and the registers that a signal interrupted | nothing runs |
//! | `list` | arguments in variable number | nothing runs |
//! | `wide` | atomic accesses to sixteen bytes | those are refused |
//! | `block` | what libc keeps of a thread | it is not put back |
//! | `left_over` | atomic updates that the compiler's pass has left in the code | `prepare` does nothing: they are not seen |
//! | `replace` | functions of the program that others take the place of | false: assertions of test frameworks are not understood |
//! | `unseen`, `assembly`, `live` | accesses that no pass announces, and which registers are part of a thread's state there | their entry points do nothing: no call is put before such accesses |
//! | `patched` | what synchronises in code that others compiled, and in assembly of Rust | `prepare` does nothing: it is not seen |
//! | `step`, `dead` | excursions of [`crate::retry`] | `step::prepare` answers false: every attempt that fails is explored |
//! | `unused` | counters that nobody looks at, for [`crate::endless`] | false: such a livelock is unknown |
//!
//! Invariant: no other module of this crate has assembly, names a register or decodes an instruction; a test holds that. A second kind of processor is one
//! more directory with the upper half of this table, and may answer as the last column says for the rest.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub use x86_64::{
    assembly, block, dead, kernel, left_over, list, patched, replace, site, step, switch, unseen, unused, wide,
};

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the controlled runtime needs Linux on x86-64: it switches stacks and thread control blocks itself");
