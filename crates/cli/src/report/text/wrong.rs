//! The report on wrong input, and on what was cut short.

use super::{UNKNOWN, advice, clean, limit_text, paint, paragraph};
use crate::report::outcome::{Cut, Wrong};
use crate::trouble::Trouble;

impl Wrong {
    /// The report. What a compiler printed keeps its lines.
    pub fn text(&self) -> String {
        if !self.keeps_lines {
            return format!("{}\n", self.trouble);
        }
        let (first, rest) = self.trouble.reason.split_once('\n').unwrap_or((&self.trouble.reason, ""));
        let headline = Trouble { reason: first.to_owned(), ..self.trouble.clone() };
        let mut text = format!("{headline}\n");
        for line in rest.lines() {
            text += &format!("{}\n", clean(&line.replace('\t', "    ")));
        }
        text
    }

    /// The same among several.
    pub fn line(&self) -> String {
        let text = self.text();
        text.strip_suffix('\n').unwrap_or(&text).to_owned()
    }
}

impl Cut<'_> {
    /// What was reached.
    pub fn reason(&self) -> String {
        limit_text(self.limit, self.limits)
    }

    /// How far it had come, in a sentence.
    pub fn place(&self) -> String {
        format!("It was cut short here: {}.", self.progress.describe())
    }

    /// The report.
    pub fn text(&self) -> String {
        format!("{}\n{}{}", self.line(), paragraph(&self.place(), 2), advice(self.limit, self.limits))
    }

    /// The same in one line.
    pub fn line(&self) -> String {
        format!("{}  {}: {}", paint(UNKNOWN, "UNKNOWN"), self.file, self.reason())
    }
}
