//! Catch2, versions 2 and 3: every macro that asserts something makes an `AssertionHandler`, tells it what came of the expression, and asks it to complete. All
//! of its functions are replaced, so that its members are what is written here.

use std::ffi::{c_char, c_int, c_void};

use selvedge_protocol::Framework;

use super::{Replacement, failed, needs_runner, text};

macro_rules! handler {
    ($name:literal) => {
        concat!("_ZN5Catch16AssertionHandler", $name)
    };
}

/// What is replaced.
pub const REPLACED: [Replacement; 22] = [
    (handler!("C1ERKNS_9StringRefE"), begin_2),
    (handler!("C2ERKNS_9StringRefE"), begin_2),
    (handler!("C1ENS_9StringRefE"), begin_3),
    (handler!("C2ENS_9StringRefE"), begin_3),
    (handler!("D1Ev"), nothing),
    (handler!("D2Ev"), nothing),
    (handler!("10handleExprERKNS_20ITransientExpressionE"), expression),
    (handler!("13handleMessageENS_9ResultWas6OfType"), message),
    (handler!("25handleThrowingCallSkippedEv"), nothing),
    (handler!("31handleExceptionThrownAsExpectedEv"), nothing),
    (handler!("33handleUnexpectedInflightExceptionEv"), surprised),
    (handler!("34handleExceptionNotThrownAsExpectedEv"), nothing),
    (handler!("34handleUnexpectedExceptionNotThrownEv"), surprised),
    (handler!("8completeEv"), nothing),
    ("_ZNK5Catch16AssertionHandler11allowThrowsEv", yes),
    ("_ZN5Catch13ScopedMessageC", nothing),
    ("_ZN5Catch13ScopedMessageD", nothing),
    ("_ZN5Catch8CapturerC", nothing),
    ("_ZN5Catch8CapturerD", nothing),
    ("_ZN5Catch8Capturer12captureValueE", nothing),
    ("_ZN5Catch16getResultCaptureEv", runner),
    ("_ZN5Catch7SectionC", runner),
];

crate::hidden_entry!(begin_2 => begin_2_at);
crate::hidden_entry!(begin_3 => begin_3_at);
crate::hidden_entry!(expression => expression_at);
crate::hidden_entry!(message => message_at);
crate::hidden_entry!(surprised => surprised_at);
crate::hidden_entry!(nothing => nothing_at);
crate::hidden_entry!(yes => yes_at);
crate::hidden_entry!(runner => runner_at);

/// `StringRef` of Catch2.
#[repr(C)]
#[derive(Clone, Copy)]
struct Text {
    start: *const c_char,
    length: usize,
}

/// `SourceLineInfo` of Catch2.
#[repr(C)]
#[derive(Clone, Copy)]
struct Line {
    file: *const c_char,
    line: usize,
}

/// The members of an `AssertionHandler` up to a reference that nobody here uses.
#[repr(C)]
struct Handler {
    macro_name: Text,
    line: Line,
    expression: Text,
    disposition: c_int,
    reserved: c_int,
    /// Whether a debugger or an exception is asked for, and whether all is done, which the destructor of version 3 looks at; the place of that
    /// differs between versions, and nobody else looks at the others.
    reaction: [bool; 5],
}

/// A result that is expected to be false, and a failure that is only noted.
const NEGATED: c_int = 4;
const SUPPRESSED: c_int = 8;
/// The bit of kinds of results that are failures, and `SKIP`.
const FAILURE: c_int = 0x10;
const SKIPPED: c_int = 4;

impl Handler {
    /// Unless it is only noted; with what the test says of it.
    fn fails(&self, said: &str) {
        if self.disposition & SUPPRESSED == 0 {
            // SAFETY: what the constructor was given.
            let expression = unsafe { text(self.expression.start, self.expression.length) };
            failed(Framework::Catch2, self.line.file, self.line.line as i64, &format!("{expression} {said}"));
        }
    }
}

unsafe extern "C" fn begin_2_at(
    handler: *mut Handler,
    name: *const Text,
    line: *const Line,
    start: *const c_char,
    length: usize,
    disposition: c_int,
) {
    // SAFETY: room for an object of Catch2, which is larger, and its arguments.
    unsafe {
        let expression = Text { start, length };
        *handler = Handler {
            macro_name: *name,
            line: *line,
            expression,
            disposition,
            reserved: 0,
            reaction: [false, false, true, true, true],
        };
    }
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn begin_3_at(
    handler: *mut Handler,
    name: *const c_char,
    name_length: usize,
    line: *const Line,
    start: *const c_char,
    length: usize,
    disposition: c_int,
) {
    let name = Text { start: name, length: name_length };
    // SAFETY: what the macro of the framework passed, in the order that the other version has.
    unsafe { begin_2_at(handler, &name, line, start, length, disposition) };
}

/// The beginning of an `ITransientExpression`.
#[repr(C)]
struct Expression {
    functions: *const c_void,
    is_binary: bool,
    result: bool,
}

unsafe extern "C" fn expression_at(handler: *const Handler, expression: *const Expression) {
    // SAFETY: objects of Catch2 and of this module.
    let (handler, result) = unsafe { (&*handler, (*expression).result) };
    if result == (handler.disposition & NEGATED != 0) {
        handler.fails("");
    }
}

/// The text is a `StringRef` or a `std::string`, which begin in the same way.
unsafe extern "C" fn message_at(handler: *const Handler, kind: c_int, said: *const Text) {
    // SAFETY: objects of Catch2 and of this module.
    let (handler, said) = unsafe { (&*handler, text((*said).start, (*said).length)) };
    if kind == SKIPPED {
        needs_runner("SKIP");
    } else if kind >= 0 && kind & FAILURE != 0 {
        handler.fails(&said);
    }
}

/// An exception came that was not expected, or did not come.
unsafe extern "C" fn surprised_at(handler: *const Handler) {
    // SAFETY: an object of this module.
    unsafe { &*handler }.fails("");
}

unsafe extern "C" fn nothing_at() {}

unsafe extern "C" fn yes_at() -> bool {
    true
}

unsafe extern "C" fn runner_at() {
    needs_runner("Catch2");
}
