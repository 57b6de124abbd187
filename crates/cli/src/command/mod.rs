//! The commands. Each module has its flags as typed, its settings as resolved, and what it does.
//!
//! Invariant: a command runs on settings alone; nothing below looks at flags or at the environment again.

mod check;
mod completions;
mod convert;
mod counted;
mod doctor;
mod flags;
mod formula;
mod generate;
mod model;
mod monitor;
pub mod objects;
mod quasi;
mod replay;
mod test;
mod verify;

pub use flags::stands_in_for_assembler;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use selvedge_history::format::{self, Format};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Limit, Log};

use crate::exit::Exit;
use crate::progress::Progress;
use crate::source::{self, Source};
use crate::trouble::{self, Trouble};

/// The commands as typed.
#[derive(Subcommand)]
pub enum Flags {
    /// Run tests of C and C++ code under every schedule
    Test(Box<test::Flags>),
    /// Run the schedule of a finding again
    Replay(replay::Flags),
    /// Decide whether recorded histories are linearizable
    Check(check::Flags),
    /// Watch events as they are written, and report violations as they happen
    Monitor(monitor::Flags),
    /// Check the assertions of a model written in CSP#
    Model(model::Flags),
    /// Check a certificate against its history, with code of its own
    Verify(verify::Flags),
    /// Write a history in another format
    Convert(convert::Flags),
    /// Make a history to try things on
    Generate(generate::Flags),
    /// Derive the counting formula of a kernel
    Formula(formula::Flags),
    /// Say what this machine has and lacks, and how to get it
    Doctor(doctor::Flags),
    /// Print the flags for those who compile and link tests by themselves
    Cflags(flags::CompilerFlags),
    /// Print the header that tests include
    Header(flags::HeaderFlags),
    /// Print completions for a shell
    Completions(completions::Flags),
    /// Write manual pages
    Man(completions::ManFlags),
}

/// The commands as resolved.
pub enum Settings {
    Test(Box<test::Settings>),
    Replay(replay::Settings),
    Check(check::Settings),
    Model(model::Settings),
    Monitor(monitor::Settings),
    Verify(verify::Settings),
    Convert(convert::Settings),
    Generate(generate::Settings),
    Formula(formula::Settings),
    Doctor(doctor::Flags),
    Cflags(flags::CompilerFlags),
    Header(flags::HeaderFlags),
    Completions(completions::Flags),
    Man(completions::ManFlags),
}

impl Flags {
    /// Resolves the flags; the error is one of usage.
    pub fn resolve(self, started: Instant) -> Result<Settings, clap::Error> {
        Ok(match self {
            Flags::Test(flags) => Settings::Test(Box::new(flags.resolve(started))),
            Flags::Replay(flags) => Settings::Replay(flags.resolve(started)),
            Flags::Check(flags) => Settings::Check(flags.resolve(started)?),
            Flags::Monitor(flags) => Settings::Monitor(flags.resolve()?),
            Flags::Model(flags) => Settings::Model(flags.resolve(started)),
            Flags::Verify(flags) => Settings::Verify(flags.resolve(started)?),
            Flags::Convert(flags) => Settings::Convert(flags.resolve(started)),
            Flags::Generate(flags) => Settings::Generate(flags.resolve()?),
            Flags::Formula(flags) => Settings::Formula(flags.resolve()),
            Flags::Doctor(flags) => Settings::Doctor(flags),
            Flags::Cflags(flags) => Settings::Cflags(flags),
            Flags::Header(flags) => Settings::Header(flags),
            Flags::Completions(flags) => Settings::Completions(flags),
            Flags::Man(flags) => Settings::Man(flags),
        })
    }
}

/// Runs the command.
pub fn run(settings: Settings) -> Exit {
    match settings {
        Settings::Test(settings) => test::run(*settings),
        Settings::Replay(settings) => replay::run(settings),
        Settings::Check(settings) => check::run(settings),
        Settings::Monitor(settings) => monitor::run(settings),
        Settings::Model(settings) => model::run(settings),
        Settings::Verify(settings) => verify::run(settings),
        Settings::Convert(settings) => convert::run(settings),
        Settings::Generate(settings) => generate::run(&settings),
        Settings::Formula(settings) => formula::run(&settings),
        Settings::Doctor(flags) => doctor::run(&flags),
        Settings::Cflags(flags) => flags::compiler(&flags),
        Settings::Header(flags) => flags::header(&flags),
        Settings::Completions(flags) => completions::print(&flags),
        Settings::Man(flags) => completions::man(&flags),
    }
}

/// An error of usage that clap cannot see by itself; the usage shown is that of the command.
fn usage(message: &str) -> clap::Error {
    use clap::CommandFactory;
    let mut all = crate::Flags::command();
    all.build();
    let name = std::env::args_os().nth(1).unwrap_or_default();
    let mut error = all.error(clap::error::ErrorKind::ValueValidation, message);
    if let Some(command) = all.find_subcommand_mut(name) {
        error = command.error(clap::error::ErrorKind::ValueValidation, message);
    }
    error
}

/// Reads the name of an object.
fn objects() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.name()))
        .map(|name| Kind::from_name(&name).expect("one of the possible values"))
}

/// Reads the name of a format.
fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.name()))
        .map(|name| Format::from_name(&name).expect("one of the possible values"))
}

/// Why a history was not read.
enum Unread {
    Trouble(Trouble),
    Limit(Limit),
}

/// Reads a history from a file or from standard input. Whoever calls has begun the file.
fn read(path: &Path, format: Option<Format>, budget: &Budget, progress: &Progress) -> Result<(Format, Log), Unread> {
    let file = source::name(path);
    let mut source = Source::open(path, progress).map_err(|error| Unread::Trouble(Trouble::io(&file, &error)))?;
    let (format, log) = format::read(&mut source, format, budget)
        .map_err(|error| trouble::with_reading(&file, error).map_or_else(Unread::Limit, Unread::Trouble))?;
    progress.read(format.name(), log.history.len(), log.history.pending());
    Ok((format, log))
}

/// Where output goes: a file, or standard output for `-` and for nothing.
fn output(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !source::is_stdin(path))
}
