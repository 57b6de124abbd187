//! `selvedge formula`: derives the counting formula of a kernel; and how every command reads a kernel.

use std::path::{Path, PathBuf};

use clap::Args;
use selvedge_history::counting::kernel::{Formula, Grammar, builtin};

use super::convert::to_file_or_stdout;
use super::output;
use crate::exit::Exit;
use crate::report::print::complain;
use crate::source;
use crate::trouble::Trouble;

/// The kernels that have a name.
const NAMES: &str = "mutex, rwlock, semaphore(N), bounded-semaphore(N), nonnegative-counter";

/// A kernel larger than this is a mistake.
const BYTES_MAX: u64 = 1 << 20;

/// More permits than this have no name: the grammar has a rule for each.
const PERMITS_MAX: u64 = 20;

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "A kernel is a file with a grammar of the legal serial executions\n\
                        (docs/counting.md), or one of the names mutex, rwlock, semaphore(N),\n\
                        bounded-semaphore(N), nonnegative-counter.")]
pub struct Flags {
    /// The kernel
    #[arg(value_name = "KERNEL")]
    kernel: PathBuf,

    /// The greatest length of the histories that the formula is about
    #[arg(short, value_name = "K", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=8))]
    k: u8,

    /// Where to write; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The flags as resolved.
pub struct Settings {
    kernel: PathBuf,
    k: usize,
    output: Option<PathBuf>,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self) -> Settings {
        Settings { kernel: self.kernel, k: usize::from(self.k), output: output(self.output) }
    }
}

/// Derives the formula and writes it.
pub fn run(settings: &Settings) -> Exit {
    let written = read(&settings.kernel, settings.k)
        .and_then(|formula| to_file_or_stdout(settings.output.as_deref(), |out| write!(out, "{formula}")));
    match written {
        Ok(()) => Exit::Pass,
        Err(trouble) => {
            complain(&format!("{trouble}\n"));
            Exit::Input
        }
    }
}

/// Reads a kernel, from a file or by its name, and derives its formula.
pub fn read(kernel: &Path, k: usize) -> Result<Formula, Trouble> {
    let file = source::name(kernel);
    let text = match named(kernel) {
        Some(text) => text,
        None => text_of(kernel, &file).map_err(|trouble| match kernel.exists() {
            true => trouble,
            false => trouble.advise(format!("a file, or one of the names {NAMES}")),
        })?,
    };
    let grammar = Grammar::parse(&text).map_err(|error| {
        Trouble::new(&file, &error.reason)
            .at(error.place.line, Some(error.place.column))
            .advise(error.excerpt(&text).replace('\n', "\n  "))
    })?;
    Formula::new(grammar, k).map_err(|error| Trouble::new(&file, error))
}

fn text_of(kernel: &Path, file: &str) -> Result<String, Trouble> {
    let length = std::fs::metadata(kernel).map_err(|error| Trouble::io(file, &error))?.len();
    if length > BYTES_MAX {
        return Err(Trouble::new(file, "a kernel should be a short text, not more than a mebibyte"));
    }
    let bytes = std::fs::read(kernel).map_err(|error| Trouble::io(file, &error))?;
    String::from_utf8(bytes).map_err(|_| Trouble::new(file, "a kernel should be UTF-8 text"))
}

/// The text of a kernel that has a name, unless a file has it. One that has the name of a built-in object has its serial
/// executions; the counter of the paper is not the built-in one, which goes below 0.
fn named(kernel: &Path) -> Option<String> {
    let name = kernel.to_str().filter(|_| !kernel.exists())?;
    let permits = |of: &str| {
        let number = name.strip_prefix(of)?.strip_prefix('(')?.strip_suffix(')')?;
        number.parse().ok().filter(|permits| *permits <= PERMITS_MAX)
    };
    match name {
        "mutex" => Some(builtin::MUTEX.to_owned()),
        "rwlock" => Some(builtin::RWLOCK.to_owned()),
        "nonnegative-counter" => Some(builtin::COUNTER.to_owned()),
        _ => permits("semaphore")
            .map(builtin::semaphore)
            .or_else(|| permits("bounded-semaphore").map(builtin::bounded_semaphore)),
    }
}
