//! The runtime has every function that a compiler's thread-sanitizer pass may call.

use std::collections::BTreeSet;
use std::process::Command;

use crate::build::{compilers_with_clang, root, runtime, scratch};
use selvedge_driver::{Compiler, compile};
use selvedge_needs::{Need, has, has_cpp};

/// What gcc 12, clang 14 to 19 and rustc 1.95 (LLVM 22) may emit.
fn emitted() -> BTreeSet<String> {
    let mut names: Vec<String> = ["init", "func_entry", "func_exit", "ignore_thread_begin", "ignore_thread_end"]
        .into_iter()
        .chain(["vptr_read", "vptr_update", "read_range", "write_range", "memcpy", "memmove", "memset"])
        .chain(["atomic_thread_fence", "atomic_signal_fence"])
        // What libstdc++ 13 and later say of their own locks.
        .chain(["mutex_destroy", "mutex_pre_lock", "mutex_post_lock", "mutex_pre_unlock", "mutex_post_unlock"])
        .chain(["mutex_create", "mutex_pre_signal", "mutex_post_signal", "mutex_pre_divert", "mutex_post_divert"])
        .chain(["acquire", "release"])
        .map(|name| format!("__tsan_{name}"))
        .collect();
    for size in [1, 2, 4, 8, 16] {
        for kind in ["read", "write", "volatile_read", "volatile_write", "read_write"] {
            names.push(format!("__tsan_{kind}{size}"));
            names.push(format!("__tsan_unaligned_{kind}{size}"));
        }
    }
    let operations =
        ["load", "store", "exchange", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor", "fetch_nand"];
    // gcc calls the first two, LLVM the third.
    let exchanges = ["compare_exchange_strong", "compare_exchange_weak", "compare_exchange_val"];
    for bits in [8, 16, 32, 64, 128] {
        names.extend(operations.iter().chain(&exchanges).map(|name| format!("__tsan_atomic{bits}_{name}")));
    }
    names.into_iter().collect()
}

#[test]
fn everything_that_compilers_call_is_there() {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(runtime()).output().expect("nm runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let exported: BTreeSet<String> =
        text.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_string).collect();
    let wanted = emitted();
    assert_eq!(wanted.len(), 14 + 12 + 5 * 5 * 2 + 5 * 12);
    let missing: Vec<&String> = wanted.difference(&exported).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A file that makes compilers emit as many of them as they can is linked, whatever the compiler and its level.
#[test]
fn what_is_emitted_is_linked() {
    let programs = root().join("crates/runtime/tests/programs");
    let directory = scratch("symbols");
    let mut all = BTreeSet::new();
    if !has(has_cpp(), Need::Cpp, "a file in C and one in C++ are linked") {
        return;
    }
    for cc in compilers_with_clang() {
        for level in ["-O0", "-O1", "-O2"] {
            let mut flags: Vec<String> = ["-w", level].map(str::to_string).to_vec();
            if cc.contains("clang") {
                flags.extend(["-mllvm", "-tsan-compound-read-before-write=1"].map(str::to_string));
            }
            let include = root().join("crates/driver/include");
            let compiler = Compiler { cc: cc.clone(), flags, include, runtime: runtime() };
            let output = directory.join("emits");
            compile(&compiler, &[programs.join("emits.c"), programs.join("emits.cc")], &output)
                .unwrap_or_else(|error| panic!("{cc} {level}: {error}"));
            let symbols = Command::new("nm").args(["-D", "--undefined-only"]).arg(&output).output().expect("nm runs");
            let text = String::from_utf8_lossy(&symbols.stdout).into_owned();
            all.extend(text.split_whitespace().filter(|word| word.starts_with("__tsan_")).map(str::to_string));
        }
    }
    println!("{} kinds of calls", all.len());
    assert!(all.len() >= 80, "{all:?}");
}
