//! What is wrong with the user's input: where, why, and what to do about it.
//!
//! Invariant: a trouble is never a bug of ours, and it always names the file.

use std::fmt;
use std::io;

use selvedge_history::format::ReadError;
use serde::Serialize;

use crate::report::text::{WIDTH, clean, wrap};

/// Wrong input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1, where there is one.
    pub line: Option<u32>,
    /// The column, counted from 1, where there is one.
    pub column: Option<u32>,
    /// What is wrong, and what was expected.
    pub reason: String,
    /// What to do.
    pub advice: Option<String>,
}

impl Trouble {
    /// Trouble with a file as a whole.
    pub fn new(file: &str, reason: impl fmt::Display) -> Self {
        Trouble { file: file.to_owned(), line: None, column: None, reason: reason.to_string(), advice: None }
    }

    /// Trouble with a line of it.
    #[must_use]
    pub fn at(self, line: u32, column: Option<u32>) -> Self {
        Trouble { line: Some(line), column, ..self }
    }

    /// What to do about it.
    #[must_use]
    pub fn advise(self, advice: impl Into<String>) -> Self {
        Trouble { advice: Some(advice.into()), ..self }
    }

    /// Trouble with opening, reading or writing.
    pub fn io(file: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Trouble::new(file, "no such file").advise("check the path"),
            io::ErrorKind::PermissionDenied => Trouble::new(file, "permission denied"),
            io::ErrorKind::IsADirectory => {
                Trouble::new(file, "this is a directory").advise("give the files in it one by one")
            }
            _ => Trouble::new(file, error),
        }
    }

    /// The one line that editors understand: `file:line:column: reason`.
    pub fn headline(&self) -> String {
        let mut text = clean(&self.file);
        for number in [self.line, self.column].into_iter().flatten() {
            text.push_str(&format!(":{number}"));
        }
        text.push_str(&format!(": {}", clean(&self.reason)));
        text
    }
}

/// Trouble with reading a history; `Err` for a limit, which is no trouble.
pub fn with_reading(file: &str, error: ReadError) -> Result<Trouble, selvedge_history::Limit> {
    match error {
        ReadError::At { line, column, reason } => Ok(Trouble::new(file, reason)
            .at(line, column)
            .advise("--format NAME says which format the file has; docs/formats.md describes them")),
        ReadError::Io(error) => Ok(Trouble::io(file, &error)),
        ReadError::Limit(limit) => Err(limit),
        other => Ok(Trouble::new(file, other)),
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.headline())?;
        // Advice may be a line of a file with a mark below it: only what is too long is broken.
        let lines = self.advice.iter().flat_map(|advice| advice.lines());
        lines.flat_map(|line| wrap(&clean(line), WIDTH - 2)).try_for_each(|line| write!(f, "\n  {line}"))
    }
}
