//! A report that is removed, that finds no room, or that never comes because its process has ended: *unknown* in both languages, and never a pass. For Rust
//! see `cargo_verdicts` as well.

use crate::cargo::{cargo_selvedge, run, skipped};
use crate::*;

#[test]
fn a_report_of_c_that_is_missing_is_unknown() {
    let findings = scratch("lost-findings");
    let findings = ["--findings", findings.to_str().expect("a plain name")];
    let check = |args: &[&str], code: i32, said: &str| {
        let run = selvedge(&[&["test"], &findings[..], args].concat()).expect(code);
        let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{args:?}: {said}\n{words}\n{}", run.stderr);
        let json = selvedge(&[&["test", "--json"], &findings[..], args].concat()).expect(code).json();
        assert_eq!(json["verdict"], ["pass", "fail", "input", "unknown"][code as usize], "{json}");
    };
    let (file, ended) = ("crates/cli/tests/data/reports.c", "the test program ended without a report");
    check(&[file, "--test", "passes"], 0, "PASS passes");
    check(
        &[file, "--test", "removes"],
        3,
        "UNKNOWN removes: no violation so far, and that says nothing about the rest",
    );
    check(&[file, "--test", "removes"], 3, ended);
    // A run has what it does to its process to itself.
    check(&[file, "--test", "full"], 0, "PASS full");
    check(&[file, "--test", "passes", "--", "-DFULL"], 3, ended);
    check(&["crates/cli/tests/data/dies.c", "--test", "dies"], 1, "the process ends with code 0");
    // Where nobody knows which tests there are, nothing was tested.
    check(&[file, "--", "-DAT_ONCE"], 3, ended);
}

const MIDWAY: &str = r#"
use std::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// libc's own function: the name alone is the runtime's.
fn leave() -> unsafe extern "C" fn(c_int) {
    unsafe { std::mem::transmute(dlsym(dlopen(c"libc.so.6".as_ptr(), 2), c"_exit".as_ptr())) }
}

#[test]
fn explores() {
    let leave = leave();
    selvedge::explore(move || unsafe { leave(0) });
}

#[test]
fn checks() {
    let leave = leave();
    selvedge::object(|| ()).call("leave()", move |()| unsafe { leave(0) }).check();
}
"#;

#[test]
fn a_rust_program_that_ends_in_the_middle_of_a_search_is_told() {
    let project = cargo_verdicts::project("midway", &[("midway", MIDWAY)]);
    for (test, code) in [("explores", 1), ("checks", 3)] {
        let told = run(cargo_selvedge(&project, &["--test", "midway", test]));
        if skipped(&told) {
            return;
        }
        let told = told.expect(code);
        let text = format!("{}{}", told.stdout, told.stderr);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("the process ends with code 0"), "{text}");
    }
}
