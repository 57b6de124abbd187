//! Integration tests of the history crate: what it answers, against answers found by other means.
//!
//! `brute` and `models` share nothing with the library's specifications and checkers. `random` makes small histories,
//! `notation` writes them down, `cases` are those whose verdict is known by hand.
//!
//! The differential tests draw `SELVEDGE_HISTORIES` histories for each object (default 2,000). The large run:
//!
//! ```text
//! SELVEDGE_HISTORIES=100000 cargo test --release -p selvedge-history --test it agree
//! ```

mod agree;
mod brute;
mod cases;
mod counting;
mod models;
mod monitor;
mod notation;
mod pages;
mod pending;
mod quasi;
mod random;
mod real;
mod specs;
