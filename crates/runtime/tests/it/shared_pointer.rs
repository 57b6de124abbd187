//! Atomic shared pointers of C++. The load of libstdc++ up to version 12 gives its lock back with a relaxed access, so that what it has read of the pointer
//! is not ordered before the next store: a data race by the rules of C++. Later versions say that this is a lock, and are believed.

use std::process::Command;

use selvedge_needs::{Need, has, has_cpp};
use selvedge_protocol::{CoverageRecord, Search};

use crate::build::{build, root, scratch, session, settings};
use crate::histories::kinds;

/// The version of libstdc++, which is that of gcc.
fn library() -> u32 {
    let output = Command::new("gcc").arg("-dumpversion").output().expect("gcc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim().split('.').next().and_then(|number| number.parse().ok()).expect("a version")
}

#[test]
fn what_the_library_orders_is_no_race() {
    if !has(has_cpp(), Need::Cpp, "shared pointers")
        || !has(library() >= 12, Need::Gcc12, "an older library has no atomic shared pointers")
    {
        return;
    }
    let directory = scratch("shared-pointer");
    let source = root().join("crates/runtime/tests/programs/shared_pointer.cc");
    let program = build(&source, &["-std=c++20", "-Wno-deprecated-declarations"], &directory);
    let tests = session(&program, &settings(Search::Dpor), &directory).report.tests;
    assert_eq!(tests.len(), 6);
    for test in &tests {
        let races = match test.test.as_str() {
            "load_and_store" => library() == 12,
            "function_and_plain_copy" => true,
            _ => false,
        };
        let found: Vec<&str> = kinds(test).into_iter().collect();
        if races {
            assert_eq!(found, ["data-race"], "{}", test.test);
            println!("{}: {}", test.test, test.findings[0].cause);
        } else {
            assert!(found.is_empty(), "{}: {}", test.test, test.findings[0].cause);
            assert_eq!((test.coverage, test.redundant), (CoverageRecord::Exhaustive, 0), "{}", test.test);
        }
        println!("{}: {} runs", test.test, test.runs);
    }
}
