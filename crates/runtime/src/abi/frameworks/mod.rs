//! Assertions of Catch2, doctest and Boost.Test inside of a test. What they call when they fail belongs to a runner that is not there, so the functions
//! that all their macros end in are replaced: the run ends where an assertion fails. They lie in the program itself, as a rule, and are found by its table of symbols.
//!
//! Invariant: nothing is replaced where the program's own `main` is the test, because the runner is there then. What cannot be replaced and needs the runner ends the run by
//! name (`Outside::Runner`).

mod boost;
mod catch2;
mod doctest;
mod symbols;

use std::ffi::c_char;

use selvedge_protocol::{Cause, Framework, Out, Outside};

use crate::arch::{replace, site};
use crate::control::active;
use crate::fiber;
use crate::sys;

/// A function of a framework, by how its name starts, and what takes its place.
type Replacement = (&'static str, unsafe extern "C" fn());

/// Puts them into the program and into the libraries of frameworks.
pub fn prepare() {
    let all = symbols::all(|name| {
        let is_theirs = |(start, _): &Replacement| name.starts_with(start);
        catch2::REPLACED.iter().chain(&boost::REPLACED).chain(&doctest::REPLACED).any(is_theirs)
            || doctest::CALLED.contains(&name)
    });
    for symbol in &all {
        let replaced = catch2::REPLACED.iter().chain(&boost::REPLACED).chain(&doctest::REPLACED);
        let Some((_, by)) = replaced.into_iter().find(|(start, _)| symbol.name.starts_with(start)) else { continue };
        // A version that the compiler made for certain arguments takes others.
        let by = if symbol.name.contains('.') { special as unsafe extern "C" fn() } else { *by };
        // SAFETY: a function by its symbol; what replaces it takes the same arguments.
        unsafe { replace::replace(symbol.address, symbol.size, by as usize) };
    }
    doctest::prepare(&all);
}

crate::hidden_entry!(special => special_at);

unsafe extern "C" fn special_at() {
    needs_runner("REQUIRE");
}

/// An assertion has failed there.
fn failed(framework: Framework, file: *const c_char, line: i64, text: &str) {
    let pc = site::pc();
    let file = if file.is_null() {
        String::new()
    } else {
        // SAFETY: a string that ends with a zero byte, which `__FILE__` made.
        unsafe { std::ffi::CStr::from_ptr(file) }.to_string_lossy().into_owned()
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    end(Cause::Framework { framework, file, line: line as i32, text }, pc);
}

/// Something asks for the framework's runner.
fn needs_runner(name: &str) {
    end(Cause::Out(Out::Call { name: name.to_owned(), why: Outside::Runner }), site::pc());
}

/// Ends the run. Outside of runs, as in a constructor of the program, nobody looks.
pub fn end(cause: Cause, pc: u64) {
    if active() {
        fiber::fail(cause, pc);
    }
    sys::complain(&cause.to_string());
    sys::complain("\n");
}

/// So many bytes of the program's, as text.
///
/// # Safety
/// They are there.
unsafe fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: as the caller says.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(start.cast(), length) }).into_owned()
}
