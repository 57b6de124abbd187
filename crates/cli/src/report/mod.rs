//! Reports: what a command found is one value, an [`Outcome`], and everything that people and programs read is made of it.
//!
//! | rendering | where |
//! |---|---|
//! | for a person | [`text`] |
//! | for a program | [`json`] |
//! | for a browser | [`html`] |
//! | for continuous integration (JUnit, SARIF, annotations) | [`ci`] |
//!
//! Invariant: an answer that was cut short never reads like a pass. Rendering happens on the worker, under the limits ([`Outcome::render`]); printing
//! happens on the main thread ([`print`]). No rendering is made of another one.

pub mod ci;
pub mod html;
pub mod interleaving;
pub mod json;
pub mod names;
pub mod operation;
pub mod outcome;
pub mod print;
mod replay;
pub mod sentence;
pub mod tested;
#[cfg(test)]
mod tests;
pub mod text;
pub mod verdict;

use selvedge_history::Limit;

use self::ci::{Case, OutputFlags};
use self::outcome::{
    Counted, Cut, Decided, Modelled, Monitored, Nothing, QuasiDecided, Replayed, Verified, Wrong, WrongModel,
};
use self::tested::Session;
use self::verdict::VerdictName;
use crate::exit::Exit;
use crate::limits::Limits;
use crate::progress::Progress;
use crate::trouble::Trouble;

/// What a command found out about one file, or what one program did.
pub enum Outcome<'a> {
    /// A history was decided.
    Decided(Decided<'a>),
    /// Operations of a history were counted.
    Counted(Counted<'a>),
    /// A history was decided with operations out of order.
    Quasi(Box<QuasiDecided<'a>>),
    /// A history says nothing.
    Nothing(Nothing<'a>),
    /// A certificate was checked.
    Verified(Verified<'a>),
    /// The assertions of a model were checked.
    Modelled(Modelled<'a>),
    /// A model cannot be compiled.
    WrongModel(WrongModel<'a>),
    /// A running program was watched.
    Monitored(Monitored<'a>),
    /// Tests of code ran.
    Tested(Session<'a>),
    /// A schedule was run again.
    Replayed(Replayed<'a>),
    /// The input is wrong.
    Wrong(Wrong),
    /// A limit was reached, and the worker did not answer.
    Cut(Cut<'a>),
    /// A bug of ours. What went wrong was already printed when it did.
    Bug(Wrong),
}

/// What is made besides the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The page.
    pub page: bool,
    /// The certificate.
    pub certificate: bool,
    /// What continuous integration reads.
    pub cases: bool,
}

impl Wanted {
    /// What the flags of a command ask for.
    pub fn new(page: bool, output: &OutputFlags) -> Self {
        Wanted { page, certificate: false, cases: output.wants_cases() }
    }
}

/// An outcome in all its renderings, ready to be printed.
#[derive(Debug)]
pub struct Rendered {
    /// What it means for the exit code.
    pub exit: Exit,
    /// The report for a person, when it is the only file.
    pub text: String,
    /// The one line for a person, when there are several files.
    pub line: String,
    /// The object for a program.
    pub json: String,
    /// What continuous integration is told, where it was asked for.
    pub cases: Vec<Case>,
    /// The page, where one was asked for and there is an answer to show.
    pub page: Option<String>,
    /// The certificate, where one was asked for and there is a verdict to certify.
    pub certificate: Option<Vec<u8>>,
}

impl<'a> Outcome<'a> {
    /// Wrong input.
    pub fn wrong(trouble: Trouble, seconds: f64) -> Self {
        Outcome::Wrong(Wrong { trouble, seconds, keeps_lines: false })
    }

    /// Cut short without an answer of the worker's own.
    pub fn cut(file: &'a str, limit: Limit, limits: &'a Limits, progress: &'a Progress) -> Self {
        Outcome::Cut(Cut { file, limit, limits, progress })
    }

    /// A check that ended in a bug of ours.
    pub fn bug(file: &str) -> Self {
        let trouble = Trouble::new(file, "selvedge failed on this file, which is a bug in selvedge")
            .advise("please report it, with the file if you can");
        Outcome::Bug(Wrong { trouble, seconds: 0.0, keeps_lines: false })
    }

    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Outcome::Decided(decided) => VerdictName::from(&decided.answer.verdict).exit(),
            Outcome::Counted(counted) => counted.verdict().exit(),
            Outcome::Quasi(decided) => VerdictName::from(&decided.answer.verdict).exit(),
            Outcome::Verified(verified) => verified.verdict().exit(),
            Outcome::Modelled(modelled) => modelled.exit(),
            Outcome::Monitored(monitored) => monitored.verdict().exit(),
            Outcome::Tested(session) => session.exit(),
            Outcome::Replayed(replayed) => replayed.verdict().exit(),
            Outcome::Nothing(_) | Outcome::Cut(_) => Exit::Unknown,
            Outcome::Wrong(_) | Outcome::WrongModel(_) => Exit::Input,
            Outcome::Bug(_) => Exit::Bug,
        }
    }

    /// Renders it, in every way that is wanted.
    pub fn render(self, wanted: Wanted) -> Rendered {
        let (text, line) = text::of(&self);
        let page = wanted.page.then(|| html::of(&self, &text)).flatten();
        let cases = if wanted.cases { ci::cases(&self) } else { Vec::new() };
        let (exit, json) = (self.exit(), json::of(&self));
        let certificate = wanted.certificate.then(|| json::certificate(self)).flatten();
        Rendered { exit, text, line, json, cases, page, certificate }
    }
}
