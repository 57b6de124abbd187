//! Tests of real code: how they are built, and how they run under the controlled runtime, in a process of their own.
//!
//! What goes into that process and what comes out of it are the types of [`selvedge_protocol`].

mod compile;
pub mod hash;
mod headers;
mod run;
pub mod rust;
#[cfg(feature = "source")]
mod source;
mod watch;

pub use compile::{ASSEMBLER, CompileError, Compiler, Source, assemble, compile, supported};
pub use headers::{BEFORE_LIBSTDCXX, HEADER, headers_hash, write_headers};
pub use run::{Program, RunError, Session, Subject, identity, run, run_watched};
#[cfg(feature = "source")]
pub use source::{Line, Lines, is_mangled};
pub use watch::Watch;
