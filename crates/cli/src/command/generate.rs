//! `selvedge generate`: makes histories to try things on, the same ones for the same seed.

use std::path::PathBuf;

use clap::Args;
use selvedge_history::generate;
use selvedge_history::object::Kind;

use super::convert::to_file_or_stdout;
use super::{objects, output, usage};
use crate::exit::Exit;
use crate::report::print::complain;

/// The flags as typed.
#[derive(Args)]
pub struct Flags {
    /// What the history is of
    #[arg(long, value_name = "NAME", value_parser = objects())]
    object: Kind,

    /// How many operations it has
    #[arg(long, value_name = "N", default_value_t = 1000)]
    operations: u64,

    /// How many processes call at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    processes: u32,

    /// The seed; the same one gives the same history
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Break it in one place, at 90 %
    #[arg(long)]
    violation: bool,

    /// Where to write; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The flags as resolved.
pub struct Settings {
    history: generate::Settings,
    output: Option<PathBuf>,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self) -> Result<Settings, clap::Error> {
        let history = generate::Settings {
            object: self.object,
            operations: self.operations,
            processes: self.processes,
            seed: self.seed,
            violation: self.violation,
        };
        history.check().map_err(|invalid| usage(&invalid.to_string()))?;
        Ok(Settings { history, output: output(self.output) })
    }
}

/// Generates.
pub fn run(settings: &Settings) -> Exit {
    match to_file_or_stdout(settings.output.as_deref(), |out| generate::write(&settings.history, out)) {
        Ok(()) => Exit::Pass,
        Err(trouble) => {
            complain(&format!("{trouble}\n"));
            Exit::Input
        }
    }
}
