//! File formats: every importer turns bytes into a [`Log`], and [`write_jsonl`] turns a log back into bytes.
//!
//! A file is read as a stream: [`read`] holds one buffer and the log that it builds, never the whole text. Whatever
//! the bytes are, the answer is a log or a [`ReadError`] with a line and a reason; nothing panics, recurses without
//! bound, or keeps more of a line than [`LINE_MAX`] bytes.
//!
//! One file a format. `source` hands out lines, [`recognise()`] tells formats apart by content, and
//! the two formats of Jepsen share what their operations mean (`jepsen`). `docs/formats.md` describes each format.

use std::fmt;
use std::io::BufRead;

use crate::{Budget, Log};

mod edn;
mod error;
mod fastlin;
mod jepsen;
mod jepsen_log;
mod jsonl;
mod limo;
mod lines;
mod recognise;
mod source;
mod word;

pub use error::{ReadError, Reason};
pub use jsonl::{Event as LineEvent, read_line, write_jsonl};
pub use recognise::recognise;
pub use source::LINE_MAX;

/// A file format that can be read.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// The project's own: one JSON object an event.
    Jsonl,
    /// The log that Jepsen prints: `process :type :f value`, among other lines.
    JepsenLog,
    /// Jepsen and Knossos histories in EDN: one map an event, enclosed in a list or not, with or without `:key`.
    Edn,
    /// `method value start end`, one operation a line.
    Fastlin,
    /// `[thread] call method(argument)` and `[thread] return value`.
    Limo,
}

impl Format {
    /// Every format.
    pub const ALL: &'static [Format] = &[Format::Jsonl, Format::JepsenLog, Format::Edn, Format::Fastlin, Format::Limo];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::JepsenLog => "jepsen-log",
            Format::Edn => "edn",
            Format::Fastlin => "fastlin",
            Format::Limo => "limo",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reads a history in the format given, or else in the one that its beginning shows. Linear in the size of the input;
/// stops soon after the budget is spent.
pub fn read(input: &mut dyn BufRead, format: Option<Format>, budget: &Budget) -> Result<(Format, Log), ReadError> {
    let mut source = source::Source::new(input, budget)?;
    let format = match format {
        Some(format) => format,
        None => recognise(source.beginning()).ok_or_else(|| recognise::refusal(source.beginning()))?,
    };
    let log = match format {
        Format::Jsonl => lines::read(&mut source, jsonl::Reader::default()),
        Format::JepsenLog => lines::read(&mut source, jepsen_log::Reader::default()),
        Format::Edn => edn::read(&mut source),
        Format::Fastlin => lines::read(&mut source, fastlin::Reader::default()),
        Format::Limo => lines::read(&mut source, limo::Reader::default()),
    }?;
    Ok((format, log))
}

#[cfg(test)]
mod tests;
