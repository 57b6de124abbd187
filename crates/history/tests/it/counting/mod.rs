//! Operation counting against brute force.
//!
//! The tests draw `SELVEDGE_COUNTING` histories for each object (default: as many as a few seconds allow). The large runs:
//!
//! ```text
//! SELVEDGE_COUNTING=10000 cargo test --release -p selvedge-history --test it theorem
//! SELVEDGE_COUNTING=1000000 cargo test --release -p selvedge-history --test it sound
//! ```
//!
//! The last one in pieces: with `SELVEDGE_COUNTING_FROM=200000` and `SELVEDGE_COUNTING=400000` those from the 200,000th to before the 400,000th.

mod kernels;
mod online;
mod sound;
mod theorem;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|number| number.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// How many histories are drawn for each object.
fn histories(default: u64) -> u64 {
    number("SELVEDGE_COUNTING").unwrap_or(default)
}
