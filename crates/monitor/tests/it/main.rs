//! Live objects, right and wrong, watched in process.
//!
//! `SELVEDGE_LIVE` operations are made on each live queue (default 200,000), and violations injected half-way. The large run:
//!
//! ```text
//! SELVEDGE_LIVE=20000000 cargo test --release -p selvedge-monitor --test it
//! SELVEDGE_LIVE=100000000 cargo test --release -p selvedge-monitor --test it memory
//! ```

mod counted;
mod live;
mod objects;
mod steps;
mod with_c;

/// How many operations a live queue does.
fn operations() -> u64 {
    let number = std::env::var("SELVEDGE_LIVE").ok();
    number.map_or(200_000, |number| number.parse().expect("SELVEDGE_LIVE is a number"))
}
