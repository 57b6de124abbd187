//! What was not tested, not seen or not saved never reads like an answer: `cargo selvedge test`.

use crate::cargo::{cargo_selvedge, run, skipped};
use crate::*;

/// A project with these integration tests.
pub fn project(name: &str, tests: &[(&str, &str)]) -> PathBuf {
    let directory = scratch(name);
    let _ = std::fs::remove_dir_all(&directory);
    for part in ["src", "tests"] {
        std::fs::create_dir_all(directory.join(part)).expect("the scratch directory is writable");
    }
    let dependency = root().canonicalize().expect("the repository").join("crates/selvedge");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dev-dependencies]\nselvedge = {{ path = {dependency:?} }}\n\
         [workspace]\n"
    );
    let mut files = vec![("Cargo.toml".to_owned(), manifest.as_str()), ("src/lib.rs".to_owned(), "")];
    files.extend(tests.iter().map(|(test, text)| (format!("tests/{test}.rs"), *text)));
    for (file, text) in files {
        std::fs::write(directory.join(file), text).expect("the scratch directory is writable");
    }
    std::fs::copy(root().join("Cargo.lock"), directory.join("Cargo.lock")).expect("the lock file is copied");
    directory
}

const PANICS: &str = r#"
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

struct Shared(UnsafeCell<u32>);
// SAFETY: none; that is what is to be found.
unsafe impl Sync for Shared {}

fn race() {
    let shared = Arc::new(Shared(UnsafeCell::new(0)));
    let other = shared.clone();
    let thread = std::thread::spawn(move || unsafe { *other.0.get() += 1 });
    unsafe { *shared.0.get() += 1 };
    thread.join().unwrap();
}

#[test]
#[should_panic]
fn races() { selvedge::explore(race); }

#[test]
#[should_panic(expected = "data race")]
fn names_the_race() { selvedge::explore(race); }

#[test]
#[should_panic]
fn waits() {
    selvedge::explore(|| {
        let lock = Mutex::new(0);
        let _first = lock.lock().unwrap();
        let _second = lock.lock().unwrap();
    });
}

#[test]
#[should_panic]
fn panics() {
    selvedge::explore(|| {
        let number = Arc::new(AtomicU32::new(0));
        let other = number.clone();
        let thread = std::thread::spawn(move || other.store(1, SeqCst));
        let seen = number.load(SeqCst);
        thread.join().unwrap();
        assert_eq!(seen, 0);
    });
}
"#;

#[test]
fn a_test_that_should_panic_fails_for_anything_else() {
    let project = project("should-panic", &[("panics", PANICS)]);
    let told = run(cargo_selvedge(&project, &["--json", "--junit", "junit.xml"]));
    if skipped(&told) {
        return;
    }
    let told = told.expect(1);
    for (test, verdict) in [("races", "FAILED"), ("waits", "FAILED"), ("names_the_race", "ok"), ("panics", "ok")] {
        let line = format!("test {test} - should panic ... {verdict}\n");
        assert!(told.stderr.contains(&line), "{line}{}", told.stderr);
    }
    let json = told.json();
    let verdicts = json["tests"].as_array().expect("the tests").iter();
    let mut verdicts: Vec<(&str, &str)> = verdicts
        .map(|test| (test["function"].as_str().unwrap_or_default(), test["verdict"].as_str().unwrap_or_default()))
        .collect();
    verdicts.sort_unstable();
    assert_eq!(verdicts, [("names_the_race", "pass"), ("panics", "pass"), ("races", "fail"), ("waits", "fail")]);
    let junit = std::fs::read_to_string(project.join("junit.xml")).expect("the file");
    assert!(junit.contains("tests=\"4\" failures=\"2\""), "{junit}");
    // Those that are as they should be, alone.
    let fine = run(cargo_selvedge(&project, &["--test", "panics", "names_the_race"])).expect(0);
    assert!(fine.stdout.contains(": fails under some schedule, as the test expects"), "{}", fine.stdout);
    run(cargo_selvedge(&project, &["--test", "panics", "panics"])).expect(0);
    run(cargo_selvedge(&project, &["--test", "panics", "races"])).expect(1);
}

const LOST: &str = r#"
#[test]
fn fine() { selvedge::explore(|| {}); }

#[test]
fn leaves() { std::process::exit(0); }

#[test]
fn removes() {
    std::fs::remove_dir_all(std::env::var_os("SELVEDGE_REPORT_DIRECTORY").unwrap()).unwrap();
    selvedge::explore(|| {});
}

/// A report that is larger than any file may be cannot be written.
#[test]
fn full() {
    let limit = [1024u64, 1024];
    unsafe extern "C" {
        fn setrlimit(what: i32, limit: *const [u64; 2]) -> i32;
        fn signal(number: i32, handler: usize) -> usize;
    }
    let report = || selvedge::object(|| std::sync::Mutex::new(0)).call("inc()", |n| *n.lock().unwrap() += 1);
    // What is written beyond it fails, as on a disk that is full.
    unsafe { signal(25, 1); setrlimit(1, &limit) };
    report().keep_going().check();
}
"#;

const PLAIN: &str = "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n";

#[test]
fn a_report_that_is_missing_is_unknown() {
    let project = project("lost", &[("lost", LOST), ("plain", PLAIN)]);
    let check = |args: &[&str], code: i32, said: &str| {
        let told = run(cargo_selvedge(&project, &[&["--junit", "junit.xml"], args].concat()));
        if skipped(&told) {
            return;
        }
        let told = told.expect(code);
        let text = format!("{}{}", told.stdout, told.stderr);
        assert!(text.contains(said), "{args:?}: {said}\n{text}");
        let junit = std::fs::read_to_string(project.join("junit.xml")).expect("the file");
        let bad = !junit.contains("errors=\"0\"");
        assert_eq!(bad, code != 0, "{args:?}: {junit}");
    };
    check(&["--test", "lost", "fine"], 0, "PASS  fine");
    check(&["--test", "lost", "leaves"], 3, "UNKNOWN  leaves: its program ended before it said how the test went");
    check(&["--test", "lost", "removes"], 3, "UNKNOWN  the directory that searches report to is gone");
    check(&["--test", "lost", "full"], 3, "a search was begun, and there is no report of it");
    // Nothing tested is no pass.
    check(&["--test", "plain"], 2, "nothing was tested: no test called selvedge::explore or selvedge::object");
    check(&["--test", "lost", "no_such_test"], 2, "nothing was tested");
    // A flag that does not apply is refused.
    check(
        &["--auto", "2", "--test", "lost", "fine"],
        2,
        "--auto is about objects, and tests/lost.rs:3 is a search without one",
    );
    // To list tests is to test none.
    let list = run(cargo_selvedge(&project, &["--test", "lost", "--", "--list"]));
    assert!(skipped(&list) || list.code == 0, "{}", list.stderr);
}

const EXITS: &str = r#"
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

thread_local!(static GUARD: RefCell<Option<Guard>> = const { RefCell::new(None) });

/// Counts the threads that are alive and have entered.
struct Registry(Arc<AtomicUsize>);

impl Registry {
    fn enter(&self) {
        GUARD.with_borrow_mut(|guard| {
            if guard.is_none() {
                self.0.fetch_add(1, SeqCst);
                *guard = Some(Guard(self.0.clone()));
            }
        });
    }
}

#[test]
fn registry() {
    selvedge::object(|| Registry(Arc::new(AtomicUsize::new(0))))
        .call("enter()", |registry| registry.enter())
        .call("count()", |registry| registry.0.load(SeqCst))
        .auto(2)
        .check();
}
"#;

#[test]
fn a_thread_local_that_is_dropped_is_an_operation() {
    let told = run(cargo_selvedge(&project("exits", &[("exits", EXITS)]), &[]));
    if !skipped(&told) {
        assert!(told.expect(0).stdout.contains("PASS  registry"));
    }
}

#[test]
fn a_standard_library_that_was_damaged_is_made_again() {
    let Ok(made) = selvedge_driver::rust::prepare_sysroot(cache()) else {
        skip(Need::StandardLibrary, "there is no instrumented standard library");
        return;
    };
    let copy = scratch("damaged-cache");
    let _ = std::fs::remove_dir_all(&copy);
    std::fs::create_dir_all(copy.join("unfinished-none-4000000000")).expect("writable");
    let status = Command::new("cp").arg("-a").arg(&made).arg(&copy).status().expect("cp runs");
    assert!(status.success());
    let libraries = copy.join(made.file_name().expect("a name")).join("lib/rustlib/x86_64-unknown-linux-gnu/lib");
    let library = std::fs::read_dir(&libraries).expect("libraries").flatten().map(|entry| entry.path());
    let library = library.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    });
    let library = library.expect("the standard library");
    let whole = std::fs::metadata(&library).expect("a file").len();
    std::fs::OpenOptions::new().write(true).open(&library).and_then(|file| file.set_len(whole / 2)).expect("writable");
    let prepared = selvedge_driver::rust::prepare_sysroot(&copy).expect("it can be made again");
    assert_eq!(std::fs::metadata(&library).expect("a file").len(), whole, "{}", prepared.display());
    assert!(!copy.join("unfinished-none-4000000000").exists(), "what was interrupted is removed");
    let _ = std::fs::remove_dir_all(&copy);
}
