//! `cargo selvedge`: tests of Rust code under every schedule, built and run by cargo.
//!
//! Cargo runs this with its own arguments and `selvedge` before them. Exit codes are those of `selvedge`.

mod harness;
mod reports;
mod test;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Flags {
    Selvedge(Selvedge),
}

/// Tests concurrent Rust code under every schedule.
#[derive(clap::Args)]
#[command(version, max_term_width = 80)]
struct Selvedge {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs `cargo test` so that selvedge::explore sees every schedule
    Test(Box<test::Flags>),
    /// What cargo runs in place of a test program
    #[command(hide = true)]
    Run {
        /// The program and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

/// The flags of `cargo selvedge`, for its manual page.
pub fn command() -> clap::Command {
    use clap::CommandFactory;
    let mut command = Flags::command();
    command.build();
    command.find_subcommand("selvedge").cloned().unwrap_or(command)
}

pub use test::rebuild;

/// The whole of the binary `cargo-selvedge`.
pub fn main() -> ! {
    let started = std::time::Instant::now();
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // From `--` on the words are for the test program; clap would take the `--` away.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let harness = words.split_off(end);
    let Flags::Selvedge(Selvedge { command }) = Flags::parse_from(words);
    let flags = match command {
        Command::Test(flags) => *flags,
        Command::Run { words } => std::process::exit(harness::run([words, harness].concat())),
    };
    let exit = test::run(flags, harness, started).unwrap_or_else(|trouble| {
        eprintln!("{trouble}");
        crate::exit::Exit::Input
    });
    std::process::exit(exit.code());
}
