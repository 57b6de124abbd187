//! What tests need from the machine beside Rust and a C compiler, and what happens where it is missing.
//!
//! Cargo's test harness knows no test that is skipped while it runs: one that returns early counts as passed. So a test asks here for what it
//! needs. Where that is missing, the test is *skipped*: its name and the reason are printed when the test program ends, and appended to the
//! file that `SELVEDGE_SKIPPED` names. What `SELVEDGE_REQUIRED` lists (`clang,gdb`, or `all`) must be there: a test that would be skipped for lack of
//! it fails. `.ci/run` sets both.
//!
//! Invariant: no test returns early for lack of something without a line in the list. Only tests depend on this crate; it is not published.

use std::io::Write;
use std::panic::Location;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Something that not every machine has. `CONTRIBUTING.md` lists them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Boost.Test.
    BoostTest,
    /// Chromium, in which pages are opened.
    Browser,
    /// Catch2, version 2.
    Catch2,
    /// Any version of clang.
    Clang,
    /// Clang 19: some programs are known to be special with its code only.
    Clang19,
    /// CMake.
    CMake,
    /// A C++ compiler: `gcc` takes C++ sources.
    Cpp,
    /// doctest.
    Doctest,
    /// gcc 12 or later, whose library has atomic shared pointers.
    Gcc12,
    /// gdb.
    Gdb,
    /// Histories of real systems, which are not part of the repository: the directory that `SELVEDGE_REAL_HISTORIES` names.
    Histories,
    /// OpenMP's library.
    OpenMp,
    /// Libraries of a newer system, in the directory that `SELVEDGE_OTHER_LIBC` names.
    OtherLibc,
    /// The version of rustc whose numbers of runs are written down.
    Rustc,
    /// Rust's standard library as bitcode, and the linker that instruments it: parts of toolchains for x86-64 Linux from rustup.
    StandardLibrary,
}

impl Need {
    /// All of them.
    pub const ALL: [Need; 15] = [
        Need::BoostTest,
        Need::Browser,
        Need::Catch2,
        Need::Clang,
        Need::Clang19,
        Need::CMake,
        Need::Cpp,
        Need::Doctest,
        Need::Gcc12,
        Need::Gdb,
        Need::Histories,
        Need::OpenMp,
        Need::OtherLibc,
        Need::Rustc,
        Need::StandardLibrary,
    ];

    /// Its name in `SELVEDGE_REQUIRED`.
    pub fn name(self) -> &'static str {
        match self {
            Need::BoostTest => "boost-test",
            Need::Browser => "browser",
            Need::Catch2 => "catch2",
            Need::Clang => "clang",
            Need::Clang19 => "clang-19",
            Need::CMake => "cmake",
            Need::Cpp => "c++",
            Need::Doctest => "doctest",
            Need::Gcc12 => "gcc-12",
            Need::Gdb => "gdb",
            Need::Histories => "histories",
            Need::OpenMp => "openmp",
            Need::OtherLibc => "other-libc",
            Need::Rustc => "rustc",
            Need::StandardLibrary => "standard-library",
        }
    }
}

/// Whether gcc compiles a C++ source with its library.
pub fn has_cpp() -> bool {
    let mut gcc = Command::new("gcc");
    gcc.args(["-x", "c++", "-fsyntax-only", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = gcc.spawn() else { return false };
    let written = child.stdin.take().is_some_and(|mut input| input.write_all(b"#include <atomic>\n").is_ok());
    child.wait().is_ok_and(|status| status.success() && written)
}

/// Whether that program can be started.
pub fn has_program(name: &str) -> bool {
    Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Whether it is there; where it is not, the calling test is skipped for that part, `what` being left out.
#[track_caller]
#[must_use]
pub fn has(is_there: bool, need: Need, what: &str) -> bool {
    if !is_there {
        skip(need, what);
    }
    is_there
}

/// Notes that the calling test is skipped, wholly or in part.
///
/// # Panics
/// Where `SELVEDGE_REQUIRED` says that what it needs is there, or names something that nothing here needs.
#[track_caller]
pub fn skip(need: Need, what: &str) {
    let required = std::env::var("SELVEDGE_REQUIRED").unwrap_or_default();
    assert!(!is_required(&required, need), "this machine should have {}, and a test misses it: {what}", need.name());
    let place = Location::caller();
    let thread = std::thread::current();
    // With one thread for all tests the harness does not say which test it is.
    let test = thread.name().filter(|name| *name != "main").map(|name| format!("{name} ")).unwrap_or_default();
    let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    note(format!("{test}({}:{}): needs {}: {what}", place.file(), place.line(), need.name()));
}

/// Whether a list of names, separated by commas, has that one. A name that is none is refused, so that no misspelt one requires nothing.
fn is_required(list: &str, need: Need) -> bool {
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let is_known = |name: &str| name == "all" || Need::ALL.iter().any(|need| need.name() == name);
    let known = Need::ALL.map(Need::name).join(", ");
    if let Some(other) = names.iter().find(|name| !is_known(name)) {
        panic!("SELVEDGE_REQUIRED: expected `all` or some of {known}, found `{other}`");
    }
    names.iter().any(|name| *name == "all" || *name == need.name())
}

/// What was skipped in this process.
static SKIPPED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(line: String) {
    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    if skipped.contains(&line) {
        return;
    }
    if let Some(file) = std::env::var_os("SELVEDGE_SKIPPED") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&file);
        // One write, because other test programs may append at the same time.
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .expect("SELVEDGE_SKIPPED can be written");
    }
    if skipped.is_empty() {
        at_exit();
    }
    skipped.push(line);
}

/// Has the list printed when the process ends, below what the harness says.
#[allow(unsafe_code)]
fn at_exit() {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> i32;
    }
    // SAFETY: the function has the type that libc asks for, never unwinds, and uses only what lasts as long as the process.
    unsafe { atexit(print) };
}

/// Prints what was skipped. Where nobody can read it there is nothing else to do.
extern "C" fn print() {
    let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = format!("skipped, wholly or in part, {}:\n", skipped.len());
    for line in skipped.iter() {
        text += &format!("  {line}\n");
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_required() {
        for (list, need, expected) in [
            ("", Need::Gdb, false),
            ("clang", Need::Gdb, false),
            ("clang-19", Need::Clang, false),
            ("clang, gdb", Need::Gdb, true),
            ("c++,", Need::Cpp, true),
            ("all", Need::Histories, true),
        ] {
            assert_eq!(is_required(list, need), expected, "{list:?} {need:?}");
        }
        let unknown = std::panic::catch_unwind(|| is_required("gbd", Need::Gdb));
        let said = *unknown.expect_err("it is no name").downcast::<String>().expect("a sentence");
        assert!(said.starts_with("SELVEDGE_REQUIRED: expected `all` or some of boost-test, browser,"), "{said}");
        assert!(said.ends_with("found `gbd`"), "{said}");
    }

    #[test]
    #[ignore = "the next test runs it, in a process of its own"]
    fn skips() {
        skip(Need::Histories, "one\n  and two");
        skip(Need::Histories, "three");
    }

    /// A test program that skips says so when it ends, writes it down, and fails where it may not.
    #[test]
    fn what_was_skipped_is_listed_at_the_end() {
        let list = std::env::temp_dir().join(format!("selvedge-skipped-{}", std::process::id()));
        let again = |required: &str| {
            let mut command = Command::new(std::env::current_exe().expect("a test has a path"));
            command.args(["--exact", "tests::skips", "--ignored", "--test-threads=2"]);
            command.env("SELVEDGE_REQUIRED", required).env("SELVEDGE_SKIPPED", &list);
            let output = command.output().expect("it runs");
            (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let _ = std::fs::remove_file(&list);
        let (passed, said) = again("gdb");
        let written = std::fs::read_to_string(&list).unwrap_or_default();
        let _ = std::fs::remove_file(&list);
        assert!(
            passed && said.starts_with("skipped, wholly or in part, 2:\n  tests::skips (crates/needs/src/lib.rs:"),
            "{said}"
        );
        assert!(said.contains(": needs histories: one and two\n") && said.contains(": three\n"), "{said}");
        assert_eq!(written.lines().count(), 2, "{written}");
        let (passed, _) = again("histories");
        assert!(!passed && !list.exists(), "what is required is not skipped");
    }
}
