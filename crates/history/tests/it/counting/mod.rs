//! Operation counting against brute force.
//!
//! The tests draw `SELVEDGE_COUNTING` histories for each object (default: as many as a few seconds allow). The large runs:
//!
//! ```text
//! SELVEDGE_COUNTING=10000 cargo test --release -p selvedge-history --test it theorem
//! SELVEDGE_COUNTING=1000000 cargo test --release -p selvedge-history --test it sound
//! ```

mod online;
mod sound;
mod theorem;

/// How many histories are drawn for each object.
fn histories(default: u64) -> u64 {
    let number = std::env::var("SELVEDGE_COUNTING").ok();
    number.map_or(default, |number| number.parse().expect("SELVEDGE_COUNTING is a number"))
}
