//! The report on a schedule that was run again.

use super::{FAIL, UNKNOWN, clean, paint, paragraph};
use crate::findings::Saved;
use crate::report::outcome::Replayed;
use crate::report::tested::found;

impl Replayed<'_> {
    /// The report.
    pub fn text(&self) -> String {
        let mut names = self.names.borrow_mut();
        let mut text = format!("{}\n\n", self.line());
        if !self.same {
            let now =
                self.again.map_or("no violation".to_owned(), |again| format!("{}: {}", again.kind, again.message));
            let differs = format!(
                "Found was {}: {}. Now there was {now}. The test depends on something that is not controlled.",
                self.finding.kind, self.finding.message
            );
            text += &paragraph(&names.explain(&differs), 2);
        }
        if let Some(again) = self.again {
            text += &found(again, &Saved::at(self.file), &mut names);
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
