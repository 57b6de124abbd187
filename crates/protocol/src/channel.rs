//! How a program under test tells what its searches saw: files in a directory.
//!
//! The command that starts the program makes the directory and names it in the environment. Each search leaves a mark there when it begins, and a
//! report in place of the mark when it has ended. Programs in C, test programs of Rust and programs that others have built all report in this way.
//!
//! Invariant: a report is there whole or not at all, and a search whose report is missing has left its mark. What was removed, cut short or could not be
//! written is told as [`Told::Lost`]; nobody can take it for a search that found nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::report::Report;
use crate::wire;

/// The environment variable that carries the settings.
pub const SETTINGS_VARIABLE: &str = "SELVEDGE_SETTINGS";
/// The environment variable that names the directory of reports.
pub const DIRECTORY_VARIABLE: &str = "SELVEDGE_REPORT_DIRECTORY";
/// The environment variable with which a program's own tests are run in place of its `main`.
pub const TAKE_OVER_VARIABLE: &str = "SELVEDGE_TAKE_OVER";
/// The environment variable that carries the path of the page that is shared while a search goes on.
pub const EXCHANGE_VARIABLE: &str = "SELVEDGE_EXCHANGE";
/// The version of the functions that `crates/selvedge` calls. A test that was built for another one is refused.
pub const VERSION: u32 = 2;

/// The file that is in the directory from the beginning: without it the directory is not the one that was made.
const HERE: &str = "here";
/// How the name of a mark ends.
const BEGUN: &str = "begun";
/// How the name of a report ends.
const REPORT: &str = "report";
/// How the name of a file ends that says that a test took its report for itself.
const TAKEN: &str = "taken";

/// Makes a directory ready to be reported to.
pub fn open(directory: &Path) -> io::Result<()> {
    fs::write(directory.join(HERE), "")
}

/// A search that has begun, in the program under test.
#[derive(Debug)]
pub struct Begun {
    mark: Option<PathBuf>,
}

impl Begun {
    /// Leaves a mark for a search of that name. The same name may be searched many times, by a loop or by tests that run side by side.
    pub fn new(directory: &Path, name: &str) -> Self {
        let file: String = name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
        // Long names are cut: the file system takes no more, and what the search is called stands in the report.
        let file: String = file.chars().take(100).collect();
        let mut number = 1;
        let mark = loop {
            let path = directory.join(format!("{file}-{number}.{BEGUN}"));
            // The place of a report that was made counts, too.
            let free = !path.with_extension(REPORT).exists() && !path.with_extension(TAKEN).exists();
            match if free { fs::File::create_new(&path) } else { Err(io::ErrorKind::AlreadyExists.into()) } {
                Ok(_) => break Some(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(_) => break None,
            }
        };
        Begun { mark }
    }

    /// Puts the report in place of the mark. When it cannot be written the mark stays.
    pub fn report(self, report: &Report) -> io::Result<()> {
        self.replace(REPORT, &wire::encode(report))
    }

    /// Says that the test judges the report itself.
    pub fn taken(self) -> io::Result<()> {
        self.replace(TAKEN, "")
    }

    fn replace(self, end: &str, text: &str) -> io::Result<()> {
        let mark = self.mark.ok_or(io::ErrorKind::NotFound)?;
        // Written into the mark and renamed: a report that is cut short is none.
        fs::write(&mark, text)?;
        fs::rename(&mark, mark.with_extension(end))
    }

    /// Takes the mark away: there was no search after all.
    pub fn forget(self) {
        if let Some(mark) = self.mark {
            let _ = fs::remove_file(mark);
        }
    }
}

/// What is in the directory.
#[derive(Debug)]
pub enum Told {
    /// A search reported.
    Report(Box<Report>),
    /// A search was judged by its test.
    Taken,
    /// A search began, and there is no report of it, or none that can be read.
    Lost(Lost),
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The directory is gone.
    Directory,
    /// A search of that name was begun and not reported.
    Unreported(String),
    /// The report of that name cannot be read, and why.
    Unreadable(String, String),
}

/// Everything that was told, in the order of the names of the files.
pub fn read(directory: &Path) -> Vec<Told> {
    let mut told = Vec::new();
    if !directory.join(HERE).is_file() {
        told.push(Told::Lost(Lost::Directory));
    }
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in &files {
        let name = || {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            stem.strip_suffix("-1").map(str::to_owned).unwrap_or(stem)
        };
        match file.extension().and_then(|end| end.to_str()) {
            Some(REPORT) => {
                let text = fs::read_to_string(file).map_err(|error| error.to_string());
                told.push(match text.and_then(|text| wire::decode(&text)) {
                    Ok(report) => Told::Report(Box::new(report)),
                    Err(error) => Told::Lost(Lost::Unreadable(name(), error)),
                });
            }
            Some(TAKEN) => told.push(Told::Taken),
            Some(BEGUN) => told.push(Told::Lost(Lost::Unreported(name()))),
            _ => {}
        }
    }
    told
}
