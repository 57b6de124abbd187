//! The report on a history in which operations were counted.

use selvedge_history::counting::Halt;

use super::{FAIL, UNKNOWN, clean, limit_text, paint, paragraph};
use crate::quantity::counted;
use crate::report::outcome::{Counted, CountedViolation};

/// How many operations are listed.
const SHOWN_MAX: usize = 12;

impl Counted<'_> {
    /// The report.
    pub fn text(&self) -> String {
        let explained = match &self.violation {
            Some(violation) => self.explain(violation),
            None => paragraph(
                "Counting shows violations only; that it shows none says nothing. Without --approximate and --kernel the \
                 history is decided.",
                2,
            ),
        };
        format!("{}\n{explained}  {}\n", self.line(), self.numbers())
    }

    /// The same in one line.
    pub fn line(&self) -> String {
        let file = self.of.file;
        match &self.violation {
            Some(_) => {
                let of = self.object.map_or(String::new(), |object| format!(" as a {object}"));
                format!("{}  {file}: not linearizable{of}", paint(FAIL, "FAIL"))
            }
            None => format!("{}  {file}: {}", paint(UNKNOWN, "UNKNOWN"), self.why_not()),
        }
    }

    /// The numbers of the run, in one line.
    pub fn numbers(&self) -> String {
        let history = &self.of.log.history;
        format!(
            "{}, {} pending; length {}; k={}; {} looked at",
            counted(history.len() as u64, "operation"),
            history.pending(),
            self.length,
            self.k,
            counted(self.looked_at, "beginning"),
        )
    }

    /// Why nothing was seen.
    pub fn why_not(&self) -> String {
        match self.halt {
            Some(Halt::Limit(limit)) => limit_text(limit, self.of.limits),
            Some(Halt::Overflow) => "the numbers became too large".to_owned(),
            Some(Halt::Branches) => "there were too many cases".to_owned(),
            None => format!("no violation visible at k={}", self.k),
        }
    }

    fn explain(&self, violation: &CountedViolation) -> String {
        let reading = self.reading();
        let part = reading.part(&violation.part);
        let place = if part.is_empty() { String::new() } else { format!("in {part}, ") };
        let mut out = format!("\n{}\n", paragraph(&sentence(&format!("{place}{}", violation.what)), 2));
        for demand in &violation.demands {
            out.push_str(&paragraph(&clean(demand), 2));
        }
        for &op in violation.operations.iter().take(SHOWN_MAX) {
            out.push_str(&format!("    {} ({})\n", reading.label(op), reading.lines(op)));
        }
        if let Some(more) = violation.operations.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
            out.push_str(&format!("    and {more} more\n"));
        }
        out.push('\n');
        out
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
