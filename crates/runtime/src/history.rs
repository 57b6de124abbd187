//! Calls and returns of operations, as the test marks them.
//!
//! Each is a step on [`HISTORY`], where a return and a call do not commute: which operation returned before which was called
//! is what a history says (docs/semantics.md, *Which histories a test has*).

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_long};
use std::fmt::Write;

use selvedge_explore::{Access, HISTORY, Kind};

use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::Wants;
use crate::point;

/// An operation of the run under way.
#[derive(Clone, Debug)]
struct Operation {
    thread: usize,
    name: String,
    argument: c_long,
    result: Option<c_long>,
    /// How many operations of each thread had returned at its call.
    before: Vec<u32>,
}

/// The operations of the run under way.
#[derive(Default)]
pub struct Operations {
    all: Vec<Operation>,
    returned: Vec<u32>,
}

impl Operations {
    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.all.clear();
        self.returned.clear();
    }

    /// An operation as it was marked, `push(1)`: that which the thread called after so many others.
    pub fn label(&self, thread: usize, place: usize) -> Option<String> {
        let mut own = self.all.iter().filter(|operation| operation.thread == thread);
        own.nth(place).map(|operation| format!("{}({})", operation.name, operation.argument))
    }
}

/// The histories of all runs so far.
#[derive(Default)]
pub struct Histories {
    seen: BTreeSet<String>,
}

impl Histories {
    /// A new search.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// Keeps the history of the run that has ended. One text stands for all orders of calls among themselves and of returns
    /// among themselves.
    pub fn keep(&mut self, run: &mut Operations) {
        if run.all.is_empty() {
            return;
        }
        run.all.sort_by_key(|operation| operation.thread);
        let mut text = String::new();
        for Operation { thread, name, argument, result, before } in &run.all {
            let result = result.map_or("?".to_string(), |result| result.to_string());
            let before: Vec<String> = before.iter().map(|count| count.to_string()).collect();
            let _ = write!(text, "T{thread} {name}({argument})={result} after {}; ", before.join(","));
        }
        self.seen.insert(text);
    }

    /// The distinct histories.
    pub fn seen(&self) -> &BTreeSet<String> {
        &self.seen
    }
}

crate::entries! {
    selvedge_call => call_at;
    selvedge_return => return_at;
}

unsafe extern "C" fn call_at(operation: *const c_char, argument: c_long) {
    if !active() {
        return;
    }
    let access = Access::new(HISTORY, 1, Kind::Call);
    point::arrive(access, Wants::Nothing, site::pc());
    // SAFETY: the test passes a string.
    let name = unsafe { CStr::from_ptr(operation) }.to_string_lossy().into_owned();
    with(|control| {
        let thread = control.run.current;
        control.run.endless.disturb();
        let operations = &mut control.run.operations;
        let mut before = operations.returned.clone();
        while before.last() == Some(&0) {
            before.pop();
        }
        operations.all.push(Operation { thread, name, argument, result: None, before });
        control.fiber().spin.effect();
    });
    point::record(access, None);
}

unsafe extern "C" fn return_at(result: c_long) {
    if !active() {
        return;
    }
    let access = Access::new(HISTORY, 1, Kind::Return);
    point::arrive(access, Wants::Nothing, site::pc());
    with(|control| {
        let thread = control.run.current;
        control.run.endless.disturb();
        let operations = &mut control.run.operations;
        let open =
            operations.all.iter_mut().rev().find(|operation| operation.thread == thread && operation.result.is_none());
        if let Some(operation) = open {
            operation.result = Some(result);
        }
        if operations.returned.len() <= thread {
            operations.returned.resize(thread + 1, 0);
        }
        operations.returned[thread] += 1;
        control.fiber().spin.effect();
    });
    point::record(access, Some(result as u64));
}
