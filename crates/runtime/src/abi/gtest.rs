//! Assertions of GoogleTest inside of a test. GoogleTest only writes down that one failed and goes on, and asks at the end of its own test, which a
//! test here is not: so the run ends where the assertion fails.
//!
//! The linker sends calls of `testing::internal::AssertHelper::operator=` here (see `driver::compile`), which all its macros end with.

use std::ffi::{CStr, c_char, c_int, c_void};

use selvedge_protocol::{Cause, Framework};

use super::frameworks;
use crate::arch::site;

crate::entries! {
    __wrap__ZNK7testing8internal12AssertHelperaSERKNS_7MessageE => assert_at;
}

/// What an `AssertHelper` points to, as far as it is needed here; unchanged in GoogleTest since 2010.
#[repr(C)]
struct Part {
    kind: c_int,
    file: *const c_char,
    line: c_int,
    /// The first word of a `std::string`: where its text is, which ends with a zero byte.
    text: *const c_char,
}

/// `EXPECT_` and `ASSERT_`; the other kinds are success and a test that is skipped.
const FAILURES: [c_int; 2] = [1, 2];

unsafe extern "C" fn assert_at(helper: *const *const Part, _message: *const c_void) {
    let pc = site::pc();
    // SAFETY: GoogleTest's object; both strings end with a zero byte.
    let (part, file, text) = unsafe {
        let part = &**helper;
        let text = |string: *const c_char| match string.is_null() {
            true => String::new(),
            false => CStr::from_ptr(string).to_string_lossy().into_owned(),
        };
        (part, text(part.file), text(part.text))
    };
    if !FAILURES.contains(&part.kind) {
        return;
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    frameworks::end(Cause::Framework { framework: Framework::GoogleTest, file, line: part.line, text }, pc);
}
