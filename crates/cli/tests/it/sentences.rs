//! What libraries say of what hardly ever goes wrong, word by word: full disks, programs that are gone, certificates that no checker writes.

use std::io;

use selvedge_driver::rust::RustError;
use selvedge_driver::{CompileError, RunError};
use selvedge_history::counting::Unapproximated;
use selvedge_history::object::Kind;
use selvedge_history::quasi::RelaxationError;
use selvedge_history::verify::Refusal;
use selvedge_history::{IllFormed, OpId, ThreadId};
use selvedge_protocol::ScheduleError;

/// Pairs of what was said and what should be.
#[track_caller]
fn check(cases: Vec<(String, &str)>) {
    for (said, expected) in cases {
        assert_eq!(said, expected);
    }
}

fn full() -> io::Error {
    io::Error::other("no space left")
}

#[test]
fn of_programs_and_tools() {
    check(vec![
        (CompileError::NoSources.to_string(), "expected at least one C or C++ file"),
        (
            CompileError::Language("a.pl".into()).to_string(),
            "expected a file that ends in .c, .cc, .cpp or .cxx, found `a.pl`",
        ),
        (
            CompileError::NoRuntime("lib.so".into()).to_string(),
            "the runtime was not found at `lib.so`: build the whole workspace",
        ),
        (
            RunError::Start("program".into(), full()).to_string(),
            "the test program `program` could not be started: no space left",
        ),
        (RunError::Exchange(full()).to_string(), "a temporary file could not be made: no space left"),
        (
            RunError::NoReport { status: "signal: 9".into(), output: String::new() }.to_string(),
            "the test program ended without a report (signal: 9)",
        ),
        (RunError::Malformed("it is empty".into()).to_string(), "the runtime's report could not be read: it is empty"),
        (
            RunError::OtherProgram { wanted: "a1".into(), found: "b2".into() }.to_string(),
            "the finding is of the program a1, and this one is b2: build what it was made with",
        ),
        (
            ScheduleError::Word("x".into()).to_string(),
            "expected a thread number, `thread*times` or `p` and a number in the schedule, found `x`",
        ),
        (ScheduleError::TooLong.to_string(), "expected a schedule of at most 67108864 steps"),
        (RustError::File("libstd.rlib".into(), full()).to_string(), "`libstd.rlib` could not be made: no space left"),
    ]);
}

#[test]
fn of_histories_and_criteria() {
    let (op, thread) = (OpId(3), ThreadId(1));
    check(vec![
        (
            IllFormed::CallWhileOpen(thread, op).to_string(),
            "a call on a thread whose previous operation has not returned",
        ),
        (IllFormed::ReturnWithoutCall(thread).to_string(), "a return on a thread that has no open call"),
        (IllFormed::NotComplete(op).to_string(), "the history is said to be complete, but operation 3 never returned"),
        (IllFormed::EndsBeforeStart.to_string(), "an operation ends before it starts"),
        (IllFormed::TooLong.to_string(), "more operations than a history can hold (2^31 - 1)"),
        (Unapproximated::K.to_string(), "k should be at most 8"),
        (
            RelaxationError::Object(Kind::Mutex).to_string(),
            "quasi linearizability is not decided for a mutex: only queue, stack, deque, priority-queue, priority-queue-min, counter, set and register are",
        ),
    ]);
}

#[test]
fn of_certificates_that_are_refused() {
    let applies = Refusal::NotApplicable { violation: "overtaken", object: "set" };
    let relaxation = Refusal::Relaxation { found: "pop=1".into(), reason: "there is no such method" };
    check(vec![
        (applies.to_string(), "a violation of the kind \"overtaken\" says nothing about a set with these calls"),
        (Refusal::NoInsertion(OpId(3)).to_string(), "operation 3 does not put a value in"),
        (relaxation.to_string(), "the relaxation means nothing here: \"pop=1\": there is no such method"),
        (Refusal::NoPermutation.to_string(), "the run does not have the operations of the linearization, each once"),
        (Refusal::OtherClass(2).to_string(), "at place 2 the two orders have operations of different classes"),
        (Refusal::NotLegal(2).to_string(), "the object does not do entry 2 of the linearization where the run has it"),
        (
            Refusal::Uncaused(2).to_string(),
            "entry 2 of the linearization needs a value before its insertion was called",
        ),
        (Refusal::Continued.to_string(), "operations are added after the end that may not be"),
    ]);
}
