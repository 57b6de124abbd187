//! Nothing: what is tested is another crate.
