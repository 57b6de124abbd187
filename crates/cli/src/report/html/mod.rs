//! Reports as pages: one file, no network, light and dark, for a browser or for paper.
//!
//! Invariant: nothing that came from a file is ever part of the markup or of a script. Data stands in a block of JSON in
//! which every `<` is escaped, and scripts hand it to the page as text only; what the markup itself needs goes
//! through [`escape`].

mod counting;
mod finding;
mod history;
mod model;
mod monitor;
mod partial;
mod quasi;
mod source;

use std::fmt::Write;

pub use self::monitor::KEPT_MAX;

use super::text::strip;
use super::verdict::VerdictName;
use super::{Outcome, json};
use crate::program::hash;

/// The page of an outcome; `text` is the same report for a terminal. What is wrong with the input has none.
pub fn of(outcome: &Outcome<'_>, text: &str) -> Option<String> {
    Some(match outcome {
        Outcome::Decided(decided) => decided.html(text),
        Outcome::Counted(counted) => counted.html(text),
        Outcome::Quasi(decided) => decided.html(text),
        Outcome::Modelled(modelled) => modelled.html(text),
        Outcome::Monitored(monitored) => monitored.html(),
        Outcome::Tested(session) => session.html(text),
        Outcome::Replayed(replayed) => replayed.html(text),
        Outcome::Nothing(nothing) => {
            without_view(nothing.of.file, &[format!("Unknown: {}.", nothing.reason()), nothing.why()], text)
        }
        Outcome::Cut(cut) => without_view(cut.file, &[format!("Unknown: {}.", cut.reason()), cut.place()], text),
        Outcome::Verified(_) | Outcome::WrongModel(_) | Outcome::Wrong(_) | Outcome::Bug(_) => return None,
    })
}

/// A page to be made.
pub struct Page<'a> {
    /// The verdict.
    pub badge: VerdictName,
    /// What was examined.
    pub title: &'a str,
    /// The verdict in words, and why.
    pub reasons: &'a [String],
    /// The markup of the view: ours, with nothing from a file in it.
    pub view: &'static str,
    /// The script of the view.
    pub script: &'static str,
    /// What the script shows, as JSON.
    pub data: &'a str,
    /// The same report as text, as a terminal shows it.
    pub text: &'a str,
}

impl Page<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        let (title, class) = (escape(self.title), self.badge.name());
        let mut reasons = String::new();
        for reason in self.reasons {
            let _ = writeln!(reasons, "<p class=\"reason\">{}</p>", escape(reason));
        }
        let (text, data) = (escape(&strip(self.text)), json::embed(self.data));
        // What is in the page decides the nonce, so that nothing in the page can know it.
        let nonce = format!("{:016x}", hash(format!("{title}{reasons}{text}{data}").as_bytes()));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'nonce-{nonce}'\">\n\
             <title>{badge}: {title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<header>\n\
             <h1><span class=\"verdict {class}\">{badge}</span>{title}</h1>\n{reasons}</header>\n\
             <noscript><p class=\"reason\">This page needs JavaScript; without it, read the report as text below.</p></noscript>\n{view}\
             <details><summary>The report as text</summary>\n<pre>{text}</pre>\n</details>\n</main>\n\
             <footer>selvedge {version}</footer>\n\
             <script type=\"application/json\" id=\"data\">{data}</script>\n<script nonce=\"{nonce}\">\n{shared}{script}</script>\n</body>\n</html>\n",
            badge = class.to_uppercase(),
            style = include_str!("page.css"),
            view = self.view,
            version = env!("CARGO_PKG_VERSION"),
            shared = include_str!("page.js"),
            script = self.script,
        )
    }
}

/// The page of an unknown of which there is nothing to draw: its reasons, and the report as text.
fn without_view(title: &str, reasons: &[String], text: &str) -> String {
    let (view, script) = ("<main>\n", "page.ready();\n");
    Page { badge: VerdictName::Unknown, title, reasons, view, script, data: "{}", text }.render()
}

/// Text as markup that shows it.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let hostile = "</script><script>alert(1)</script><!--\"'&";
        let data = json::write(&hostile);
        let page = Page {
            badge: VerdictName::Fail,
            title: hostile,
            reasons: &[hostile.to_owned()],
            view: "",
            script: "",
            data: &data,
            text: hostile,
        }
        .render();
        assert!(!page.contains("alert(1)</script>"), "{page}");
        assert!(!page.contains("<!--"), "{page}");
        let embedded = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert_eq!(serde_json::from_str::<String>(embedded).unwrap(), hostile);
    }
}
