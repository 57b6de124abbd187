//! The report on a schedule that was run again.

use selvedge_protocol::{Finding, words};

use super::tested::found;
use super::{FAIL, UNKNOWN, clean, paint, paragraph};
use crate::findings::Saved;
use crate::report::names::Names;
use crate::report::outcome::Replayed;

/// Why a run ended, in a sentence.
fn cause(finding: &Finding, names: &mut Names) -> String {
    clean(&words::cause(&finding.cause, names))
}

impl Replayed<'_> {
    /// The report.
    pub fn text(&self) -> String {
        let names = &mut *self.names.borrow_mut();
        let mut text = format!("{}\n\n", self.line());
        if !self.same {
            let now = self
                .again
                .map_or("no violation".to_owned(), |again| format!("{}: {}", again.kind, cause(again, names)));
            let differs = format!(
                "Found was {}: {}. Now there was {now}. The test depends on something that is not controlled.",
                self.finding.kind,
                cause(self.finding, names)
            );
            text += &paragraph(&differs, 2);
        }
        if let Some(again) = self.again {
            text += &found(again, &Saved::at(self.file), names);
        }
        text
    }

    /// The verdict in one line.
    pub fn line(&self) -> String {
        let label = if self.same { paint(FAIL, "FAIL") } else { paint(UNKNOWN, "UNKNOWN") };
        format!("{label}  {}", self.says())
    }

    /// The verdict in words.
    pub fn says(&self) -> String {
        let test = clean(&self.finding.test);
        match self.again {
            Some(again) if self.same => format!("{test}: {}, the same violation again", again.kind),
            _ => format!("{test}: the same schedule did something else this time"),
        }
    }
}
