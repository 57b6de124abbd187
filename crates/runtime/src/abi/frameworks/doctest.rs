//! doctest: it has a way of its own for assertions outside of its runner, a context with a handler; messages that fail (`FAIL`) do not use it and are replaced.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use selvedge_protocol::Framework;

use super::symbols::Symbol;
use super::{Replacement, failed, needs_runner};

/// What is replaced.
pub const REPLACED: [Replacement; 2] =
    [("_ZN7doctest6detail14MessageBuilder3logEv", message), ("_ZN7doctest6detail7SubcaseC", subcase)];

const CONTEXT: &str = "_ZN7doctest7ContextC1EiPKPKc";
const CONTEXT_TOO: &str = "_ZN7doctest7ContextC2EiPKPKc";
const DEFAULT: &str = "_ZN7doctest7Context36setAsDefaultForAssertsOutOfTestCasesEv";
const HANDLER: &str = "_ZN7doctest7Context16setAssertHandlerEPFvRKNS_10AssertDataEE";

/// What is called, of doctest from 2.3 on.
pub const CALLED: [&str; 4] = [CONTEXT, CONTEXT_TOO, DEFAULT, HANDLER];

/// The bit of a kind of assertion that only warns.
const WARNS: c_int = 1;

/// doctest's context is one pointer; it lasts as long as the process.
static CONTEXT_MADE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Makes the context, if the program has doctest in it.
pub fn prepare(symbols: &[Symbol]) {
    let find = |names: &[&str]| symbols.iter().find(|symbol| names.contains(&&*symbol.name)).map(|one| one.address);
    let (Some(context), Some(default), Some(handler)) =
        (find(&[CONTEXT, CONTEXT_TOO]), find(&[DEFAULT]), find(&[HANDLER]))
    else {
        return;
    };
    let made = CONTEXT_MADE.as_ptr().cast::<c_void>();
    // SAFETY: doctest's functions by their names, with the arguments that those say.
    unsafe {
        let context: unsafe extern "C" fn(*mut c_void, c_int, *const c_void) = std::mem::transmute(context);
        let default: unsafe extern "C" fn(*mut c_void) = std::mem::transmute(default);
        let handler: unsafe extern "C" fn(*mut c_void, unsafe extern "C" fn()) = std::mem::transmute(handler);
        context(made, 0, std::ptr::null());
        default(made);
        handler(made, handle);
    }
    debug_assert!(!CONTEXT_MADE.load(Ordering::Relaxed).is_null());
}

crate::hidden_entry!(handle => handle_at);
crate::hidden_entry!(message => message_at);
crate::hidden_entry!(subcase => subcase_at);

/// The beginning of doctest's `AssertData`, unchanged since 2.0.
#[repr(C)]
struct Assertion {
    test_case: *const c_void,
    kind: c_int,
    file: *const c_char,
    line: c_int,
    expression: *const c_char,
}

unsafe extern "C" fn handle_at(assertion: *const Assertion) {
    // SAFETY: doctest's object; its strings end with a zero byte.
    let (assertion, expression) = unsafe {
        let assertion = &*assertion;
        let expression = assertion.expression;
        (assertion, if expression.is_null() { c"" } else { CStr::from_ptr(expression) })
    };
    if assertion.kind & WARNS == 0 {
        failed(Framework::Doctest, assertion.file, i64::from(assertion.line), &expression.to_string_lossy());
    }
}

/// The beginning of doctest's `MessageBuilder`: a text, which is a string of doctest's own, and the place.
#[repr(C)]
struct Message {
    string: [*const c_char; 3],
    file: *const c_char,
    line: c_int,
    kind: c_int,
}

/// `FAIL` and `FAIL_CHECK` fail here; `MESSAGE` only says something. The answer is whether a debugger is to stop.
unsafe extern "C" fn message_at(message: *const Message) -> bool {
    // SAFETY: doctest's object.
    let message = unsafe { &*message };
    if message.kind & WARNS == 0 {
        failed(Framework::Doctest, message.file, i64::from(message.line), "");
    }
    false
}

unsafe extern "C" fn subcase_at() {
    needs_runner("SUBCASE");
}
