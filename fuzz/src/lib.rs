//! What the fuzz targets check: any bytes are read or refused, and what was read survives being written and read.
//!
//! The property is the one that the test suite of the history crate runs on a fixed set of mutations. With cargo-fuzz and a
//! nightly toolchain: `cargo fuzz run limo`. Without: `cargo build --manifest-path fuzz/Cargo.toml`, then run a
//! target on files, `fuzz/target/debug/limo FILE...`.

use selvedge_history::format::{Format, read, recognise, write_jsonl};
use selvedge_history::{Budget, Log};

#[path = "../../crates/history/src/format/tests/property.rs"]
mod property;

/// Reads the bytes in one format.
pub fn importer(format: Format, bytes: &[u8]) {
    property::holds(Some(format), bytes);
}

/// Reads the bytes in the format that they look like, if any.
pub fn recognised(bytes: &[u8]) {
    let accepted = property::holds(None, bytes);
    assert!(!accepted || recognise(bytes).is_some(), "read without being recognised");
}
