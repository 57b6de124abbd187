//! Real programs, compiled by the system's compiler, under the runtime.

mod build;
mod classes;
mod confirm;
mod corpus;
mod errors;
mod exits;
mod histories;
mod jobs;
mod known;
mod layout;
mod livelock;
mod memory;
mod objects;
mod random_c;
mod random_polls;
mod random_std;
mod relaxed;
mod replay;
mod retries;
mod rust;
mod rust_alone;
mod shared_pointer;
mod source;
mod specified;
mod standards;
mod symbols;
