//! Small concurrent things, some of them wrong, to try `cargo selvedge test` on. Each test says in its first line how to run it.

pub mod oneshot;
pub mod oneshot_fixed;
pub mod stack;
