//! What the compilers' thread-sanitizer passes call: gcc 12, clang 14 to 19, rustc 1.95.

pub mod annotate;
pub mod atomic;
pub mod containers;
pub mod dynamic_annotations;
pub mod filled;
pub mod formatted;
pub mod frameworks;
pub mod gtest;
pub mod outside;
pub mod plain;
pub mod sized;
pub mod strings;
pub mod texts;
pub mod visible;
pub mod wide;
