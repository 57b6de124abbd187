//! What both binaries, `selvedge` and `cargo-selvedge`, need: exit codes, quantities as people write them, and where the runtime lies.
//!
//! Invariant: nothing here prints or exits. It is no interface for other crates.

pub mod exit;
pub mod library;
pub mod quantity;
