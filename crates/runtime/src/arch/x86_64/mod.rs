//! x86-64 with the System V ABI, on Linux.

mod answer;
pub mod assembly;
pub mod block;
pub mod dead;
mod entries;
mod frame;
pub mod kernel;
pub mod left_over;
pub mod list;
mod live;
pub mod patched;
pub mod replace;
pub mod site;
pub mod step;
pub mod switch;
pub mod unseen;
pub mod unused;
pub mod wide;
