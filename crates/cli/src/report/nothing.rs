//! The report on a history that says nothing: no operation returned, and none is said to be stuck.
//!
//! Every object explains such a history, so a pass would say nothing about the object that was to be checked. Invariant: the
//! verdict is *unknown*, whatever was asked for.

use selvedge_history::Log;

use super::text::{UNKNOWN, paint, paragraph};
use super::{Entry, html, json};
use crate::exit::Exit;
use crate::limits::Limits;
use crate::quantity::counted;

/// A history that was read and says nothing.
pub struct Nothing<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The file's format.
    pub format: &'static str,
    /// The history.
    pub log: &'a Log,
    /// What it is of, where that is known.
    pub object: Option<&'static str>,
    /// What was asked for.
    pub criterion: &'static str,
    /// How long it took, reading included.
    pub seconds: f64,
    /// The limits it ran under.
    pub limits: &'a Limits,
}

impl Nothing<'_> {
    /// The report.
    pub fn entry(&self) -> Entry {
        let reason = self.reason();
        let line = format!("{}  {}: {reason}", paint(UNKNOWN, "UNKNOWN"), self.file);
        let why = self.why();
        let full = format!("{line}\n{}", paragraph(&why, 2));
        let html = html::without_view(html::Badge::Unknown, self.file, &[format!("Unknown: {reason}."), why], &full);
        Entry { exit: Exit::Unknown, json: json::nothing(self), full, line, certificate: None, html: Some(html) }
    }

    /// The answer in a few words.
    pub fn reason(&self) -> &'static str {
        if self.log.history.is_empty() { "no operation is left to check" } else { "no operation returned" }
    }

    fn why(&self) -> String {
        let failed = match self.log.failed() {
            0 => String::new(),
            failed => format!("{} failed, and what failed did not happen. ", counted(failed as u64, "operation")),
        };
        let pending = match self.log.history.pending() {
            0 => String::new(),
            1 => "1 operation is pending: it may have taken effect or not. ".to_owned(),
            pending => {
                let pending = counted(pending as u64, "operation");
                format!("{pending} are pending: each may have taken effect or not. ")
            }
        };
        let nothing = if failed.is_empty() && pending.is_empty() { "The history has no operations. " } else { "" };
        format!("{failed}{pending}{nothing}Every object explains that, so nothing was tested.")
    }
}
