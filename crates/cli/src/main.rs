//! `selvedge`: the command line.
//!
//! Flags are read and resolved into settings, one command runs, and its exit code is the process's: 0 pass,
//! 1 violation, 2 wrong input or usage, 3 unknown (a limit was reached), 101 our bug. Only this crate reads the
//! environment, prints, or exits.

mod command;
mod guard;
mod limits;
mod memory;
mod program;
mod progress;
mod report;
mod source;
mod trouble;
mod watch;

use std::time::Instant;

use clap::Parser;
use selvedge_cli::{exit, library, quantity};

#[global_allocator]
static ALLOCATOR: memory::Counted = memory::counted();

/// Tells whether concurrent objects are linearizable, and shows why not.
#[derive(Parser)]
#[command(name = "selvedge", version, max_term_width = 80, after_help = exit::HELP)]
struct Flags {
    #[command(subcommand)]
    command: command::Flags,
}

fn main() {
    let started = Instant::now();
    let settings = Flags::parse().command.resolve(started).unwrap_or_else(|error| error.exit());
    let exit = command::run(settings);
    // Not a return: what a search still holds need not be freed piece by piece, and a worker that does not stop is cut.
    std::process::exit(exit.code());
}
