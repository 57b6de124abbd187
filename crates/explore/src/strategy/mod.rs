//! One strategy a file. The reduction has a module of its own, [`crate::dpor`].

pub mod bounded;
pub mod dfs;
mod operations;
pub mod pct;
pub mod random;
pub mod replay;
mod sampled;
pub mod serial;
