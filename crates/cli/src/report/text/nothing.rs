//! The report on a history that says nothing.

use super::{UNKNOWN, paint, paragraph};
use crate::quantity::counted;
use crate::report::outcome::Nothing;

impl Nothing<'_> {
    /// The report.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.line(), paragraph(&self.why(), 2))
    }

    /// The same in one line.
    pub fn line(&self) -> String {
        format!("{}  {}: {}", paint(UNKNOWN, "UNKNOWN"), self.of.file, self.reason())
    }

    /// The answer in a few words.
    pub fn reason(&self) -> &'static str {
        if self.of.log.history.is_empty() { "no operation is left to check" } else { "no operation returned" }
    }

    /// Why that says nothing.
    pub fn why(&self) -> String {
        let failed = match self.of.log.failed() {
            0 => String::new(),
            failed => format!("{} failed, and what failed did not happen. ", counted(failed as u64, "operation")),
        };
        let pending = match self.of.log.history.pending() {
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
