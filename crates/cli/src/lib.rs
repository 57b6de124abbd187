//! The command line: both binaries, `selvedge` and `cargo-selvedge`. It is no interface for other crates.
//!
//! Flags are read and resolved into settings, one command runs, and its exit code is the process's: 0 pass,
//! 1 violation, 2 wrong input or usage, 3 unknown (a limit was reached), 101 our bug. Only this crate reads the
//! environment, prints, or exits.

mod cache;
pub mod cargo;
mod command;
mod debugger;
mod exit;
mod findings;
mod guard;
mod library;
mod limits;
mod memory;
mod program;
mod progress;
mod quantity;
mod report;
mod search;
mod source;
mod trouble;
mod watch;

use std::time::Instant;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: memory::Counted = memory::counted();

/// Tells whether concurrent objects are linearizable, and shows why not.
#[derive(Parser)]
#[command(name = "selvedge", version, max_term_width = 80, after_help = exit::HELP)]
struct Flags {
    #[command(subcommand)]
    command: command::Flags,
}

/// The whole of the binary `selvedge`.
pub fn main() -> ! {
    if let Some(code) = command::stands_in_for_assembler() {
        std::process::exit(code);
    }
    let started = Instant::now();
    let settings = Flags::parse().command.resolve(started).unwrap_or_else(|error| error.exit());
    let exit = command::run(settings);
    // Not a return: what a search still holds need not be freed piece by piece, and a worker that does not stop is cut.
    std::process::exit(exit.code());
}
