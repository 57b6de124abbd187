//! The runtime has every function that a compiler's thread-sanitizer pass may call.

use std::collections::BTreeSet;
use std::process::Command;

use crate::build::runtime;

/// What gcc 12, clang 14 to 19 and rustc 1.95 (LLVM 22) may emit.
fn emitted() -> BTreeSet<String> {
    let mut names: Vec<String> = ["init", "func_entry", "func_exit", "ignore_thread_begin", "ignore_thread_end"]
        .into_iter()
        .chain(["vptr_read", "vptr_update", "read_range", "write_range", "memcpy", "memmove", "memset"])
        .chain(["atomic_thread_fence", "atomic_signal_fence"])
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
    assert_eq!(wanted.len(), 14 + 5 * 5 * 2 + 5 * 12);
    let missing: Vec<&String> = wanted.difference(&exported).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
