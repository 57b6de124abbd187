//! Memory of the code under test: the same addresses in every run, and the same contents at the beginning of each.

pub mod arena;
pub mod before;
mod calls;
mod environment;
pub mod files;
pub mod kernel;
mod linker;
pub mod pages;
pub mod pool;
pub mod reset;
