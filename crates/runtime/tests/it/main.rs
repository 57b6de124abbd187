//! Real programs, compiled by the system's compiler, under the runtime.

mod build;
mod corpus;
mod errors;
mod histories;
mod known;
mod objects;
mod replay;
mod rust;
mod source;
