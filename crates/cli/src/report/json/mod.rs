//! JSON: the documents, an interface like the flags, described in `docs/json.md`; and the one place that makes, edits or reads JSON text.
//!
//! Invariant: an answer has `verdict`; wrong input has `error` instead, never both.

mod certificate;
mod counted;
mod doctor;
mod history;
mod model;
mod monitor;
mod objects;
mod quasi;
mod read;
mod replayed;
mod tested;
mod verified;

use serde::Serialize;

pub use self::certificate::certificate;
pub use self::counted::KIND as COUNTING_KIND;
pub use self::doctor::doctor;
pub use self::monitor::violation;
pub use self::read::{any_certificate, value};
pub use self::tested::{Found, TestDocument};
use super::Outcome;

/// The version of the tool, in every document.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The document of an outcome.
pub fn of(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Decided(decided) => history::decided(decided),
        Outcome::Counted(counted) => counted::counted(counted),
        Outcome::Quasi(decided) => quasi::quasi(decided),
        Outcome::Nothing(nothing) => history::nothing(nothing),
        Outcome::Verified(verified) => verified::verified(verified),
        Outcome::Modelled(modelled) => model::modelled(modelled),
        Outcome::WrongModel(wrong) => model::wrong_model(wrong),
        Outcome::Monitored(monitored) => monitor::monitored(monitored),
        Outcome::Tested(session) => tested::tested(session),
        Outcome::Replayed(replayed) => replayed::replayed(replayed),
        Outcome::Wrong(wrong) | Outcome::Bug(wrong) => history::wrong(wrong),
        Outcome::Cut(cut) => history::cut(cut),
    }
}

/// The documents of several files as one.
pub fn list(documents: &[String]) -> String {
    format!("[{}]", documents.join(",\n "))
}

/// Microseconds are enough.
pub fn round(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// A document as text. Its keys are texts and its numbers finite, so that it always is one.
pub fn write(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("a document is always writable")
}

/// The same on many lines, with the last one ended.
pub fn pretty(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("a document is always writable") + "\n"
}

/// JSON that can stand inside a script element: nothing in it ends the element or opens a comment.
pub fn embed(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
