//! `selvedge convert`: writes a history in the project's own format.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use clap::{Args, ValueEnum};
use selvedge_history::Budget;
use selvedge_history::format::{Format, write_jsonl};

use super::{Unread, formats, output, read};
use crate::exit::Exit;
use crate::limits::{LimitFlags, Limits};
use crate::progress::{Phase, Progress};
use crate::report::Outcome;
use crate::report::print::complain;
use crate::report::text;
use crate::source;
use crate::trouble::Trouble;
use crate::watch::{self, Ended};

/// The formats that are written.
#[derive(Clone, Copy, ValueEnum)]
enum Target {
    /// JSON Lines, one event a line
    Jsonl,
}

/// The flags as typed.
#[derive(Args)]
pub struct Flags {
    /// The history; - is standard input
    file: PathBuf,

    /// The format to write
    #[arg(long, value_name = "NAME")]
    to: Target,

    /// How the file is written; recognised by content if not given
    #[arg(long, value_name = "NAME", value_parser = formats())]
    format: Option<Format>,

    /// Where to write; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitFlags,
}

/// The flags as resolved.
pub struct Settings {
    file: PathBuf,
    to: Target,
    format: Option<Format>,
    output: Option<PathBuf>,
    limits: Limits,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self, started: Instant) -> Settings {
        Settings {
            file: self.file,
            to: self.to,
            format: self.format,
            output: output(self.output),
            limits: self.limits.resolve(started),
        }
    }
}

/// Converts.
pub fn run(settings: Settings) -> Exit {
    let name = source::name(&settings.file);
    let limits = settings.limits.clone();
    let progress = Arc::new(Progress::new(1));
    let mut exit = Exit::Unknown;
    let worker = move |budget: &Budget, progress: &Progress, results: &Sender<Result<(), Unread>>| {
        // The other end is gone only when the process is about to end.
        let _ = results.send(convert(&settings, budget, progress));
    };
    let mut finished = false;
    let ended = watch::run(&limits, &progress, worker, |result| {
        finished = true;
        exit = match result {
            Ok(()) => Exit::Pass,
            Err(Unread::Trouble(trouble)) => {
                complain(&format!("{trouble}\n"));
                Exit::Input
            }
            Err(Unread::Limit(limit)) => {
                complain(&text::of(&Outcome::cut(&name, limit, &limits, &progress)).0);
                Exit::Unknown
            }
        };
    });
    match ended {
        Ended::Cut(limit) if !finished => complain(&text::of(&Outcome::cut(&name, limit, &limits, &progress)).0),
        Ended::Panicked => {
            complain(&text::of(&Outcome::bug(&name)).0);
            exit = Exit::Bug;
        }
        Ended::Done | Ended::Cut(_) => {}
    }
    exit
}

fn convert(settings: &Settings, budget: &Budget, progress: &Progress) -> Result<(), Unread> {
    progress.begin(1, &source::name(&settings.file));
    let (_, log) = read(&settings.file, settings.format, budget, progress)?;
    progress.enter(Phase::Writing);
    let write = |out: &mut dyn Write| match settings.to {
        Target::Jsonl => write_jsonl(&log, out),
    };
    to_file_or_stdout(settings.output.as_deref(), write).map_err(Unread::Trouble)
}

/// Writes to a file or to standard output. A reader who has seen enough is no error.
pub fn to_file_or_stdout(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Trouble> {
    const BUFFER: usize = 1 << 16;
    let finish = |out: &mut dyn Write| write(out).and_then(|()| out.flush());
    let (name, result) = match path {
        Some(path) => {
            let result = File::create(path).and_then(|file| finish(&mut BufWriter::with_capacity(BUFFER, file)));
            (source::name(path), result)
        }
        None => {
            let result = finish(&mut BufWriter::with_capacity(BUFFER, io::stdout().lock()));
            ("standard output".to_owned(), result)
        }
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Trouble::new(&name, format!("cannot write: {error}"))),
        Ok(()) => Ok(()),
    }
}
