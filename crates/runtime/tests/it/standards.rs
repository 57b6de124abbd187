//! What the language standard of a file decides.

use std::path::{Path, PathBuf};

use selvedge_driver::{Compiler, Program, compile};
use selvedge_needs::{Need, has, has_cpp};
use selvedge_protocol::Search;

use crate::build::{compilers_with_clang, root, runtime, scratch, session, settings};

/// A relaxed store by the thread that made a release store: `std::atomic` and C11's are written the same way with these macros.
const PUBLISHES: &str = r#"
#ifdef __cplusplus
#include <atomic>
#define ATOMIC std::atomic<int>
#define STORE(to, value, order) (to).store(value, std::memory_order_##order)
#define LOAD(from, order) (from).load(std::memory_order_##order)
#else
#include <stdatomic.h>
#define ATOMIC atomic_int
#define STORE(to, value, order) atomic_store_explicit(&(to), value, memory_order_##order)
#define LOAD(from, order) atomic_load_explicit(&(from), memory_order_##order)
#endif
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>
static ATOMIC ready;
static int data;
static void *publishes(void *unused) {
    data = 42;
    STORE(ready, 1, release);
    STORE(ready, 2, relaxed);
    return unused;
}
static void *uses(void *unused) {
    if (LOAD(ready, acquire) == 2)
        data++;
    return unused;
}
SELVEDGE_TEST(later_store) {
    pthread_t one, other;
    pthread_create(&one, NULL, publishes, NULL);
    pthread_create(&other, NULL, uses, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
"#;

fn source(directory: &Path, name: &str) -> PathBuf {
    let source = directory.join(name);
    std::fs::write(&source, PUBLISHES).expect("the source is written");
    source
}

fn kinds(cc: &str, flags: &[&str], sources: &[PathBuf], directory: &Path) -> Vec<String> {
    let compiler = Compiler {
        cc: cc.into(),
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        include: root().join("crates/driver/include"),
        runtime: runtime(),
    };
    let path = directory.join("program");
    compile(&compiler, sources, &path).unwrap_or_else(|error| panic!("{cc} {flags:?}: {error}"));
    let program = Program::new(path, &runtime()).expect("the program and the runtime");
    let session = session(&program, &settings(Search::Dpor), directory);
    let [test] = session.report.tests.as_slice() else { panic!("one test") };
    test.findings.iter().map(|finding| finding.kind.name().to_owned()).collect()
}

/// In C, and in C++ before C++20, a thread's later stores belong to its release sequence. C++20 has dropped that.
#[test]
fn release_sequences_are_those_of_the_standard() {
    let race = vec!["data-race".to_owned()];
    if !has(has_cpp(), Need::Cpp, "the standards of C++") {
        return;
    }
    for cc in compilers_with_clang().into_iter().filter(|cc| ["gcc", "clang"].contains(&cc.as_str())) {
        for level in ["-O0", "-O2"] {
            let directory = scratch(&format!("standards-{cc}{level}"));
            let both = [level];
            let c = [source(&directory, "later.c")];
            let cpp = [source(&directory, "later.cc")];
            for standard in ["-std=c11", "-std=gnu11", "-std=c17", "-std=gnu17"] {
                let flags = [&both[..], &[standard]].concat();
                assert_eq!(kinds(&cc, &flags, &c, &directory), [""; 0], "{cc} {level} {standard}");
            }
            assert_eq!(kinds(&cc, &both, &c, &directory), [""; 0], "{cc} {level}");
            assert_eq!(kinds(&cc, &both, &cpp, &directory), [""; 0], "{cc} {level}: C++17, or 14");
            for (standard, races) in
                [("-std=c++11", false), ("-std=gnu++17", false), ("-std=c++20", true), ("-std=gnu++2a", true)]
            {
                let flags = [&both[..], &[standard]].concat();
                let expected: &[String] = if races { &race } else { &[] };
                assert_eq!(kinds(&cc, &flags, &cpp, &directory), expected, "{cc} {level} {standard}");
            }
        }
    }
}
