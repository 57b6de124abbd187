//! Models: what came of their assertions, and of the graph that was asked for.

use std::sync::Arc;

use selvedge_history::Limit;
use selvedge_model::language::{ClaimKind, Diagnostic};
use selvedge_model::{Answer, Drawn, Trace, Trouble, Verdict};

use crate::exit::Exit;
use crate::limits::Limits;
use crate::report::verdict::{Coverage, VerdictName};

/// What came of one assertion of a model.
pub struct Assertion {
    /// Its number, counted from 1.
    pub number: usize,
    /// Its text.
    pub text: String,
    /// What it claims.
    pub claim: ClaimKind,
    /// What came of it.
    pub ending: Ending,
    /// How long it took.
    pub seconds: f64,
}

/// How the check of an assertion ended.
pub enum Ending {
    /// With an answer; and the limit of the command line that cut it short, if one did.
    Answer(Answer, Option<Limit>),
    /// The model is wrong, which only showed while it ran.
    Trouble(Trouble),
    /// There is none: this limit of the command line was reached before.
    Unfinished(Limit),
}

impl Assertion {
    /// The run that shows what came of it.
    pub fn trace(&self) -> Option<&Trace> {
        match &self.ending {
            Ending::Answer(answer, _) => answer.trace.as_ref(),
            Ending::Trouble(Trouble::Fault { trace, .. }) => Some(trace),
            Ending::Trouble(_) | Ending::Unfinished(_) => None,
        }
    }

    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        match &self.ending {
            Ending::Answer(answer, _) => match answer.verdict {
                Verdict::Pass => Exit::Pass,
                Verdict::Fail => Exit::Violation,
                Verdict::Unknown(_) => Exit::Unknown,
            },
            Ending::Trouble(_) => Exit::Input,
            Ending::Unfinished(_) => Exit::Unknown,
        }
    }

    /// Whether everything that can be reached was looked at, as far as the verdict needs it.
    pub fn coverage(&self) -> Coverage {
        if matches!(self.exit(), Exit::Pass | Exit::Violation) { Coverage::Exhaustive } else { Coverage::Partial }
    }
}

/// A model whose assertions were checked.
pub struct Modelled<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The model.
    pub text: &'a str,
    /// Whether more is to be said about the search.
    pub stats: bool,
    /// The limit on states, if there is one.
    pub states_max: Option<u64>,
    /// How many threads searched.
    pub jobs: usize,
    /// The limits it ran under.
    pub limits: &'a Limits,
    /// What came of each assertion.
    pub assertions: Vec<Arc<Assertion>>,
    /// The states of each assertion's system where they are few, for a page.
    pub spaces: Vec<Option<Drawn>>,
    /// How long it took.
    pub seconds: f64,
    /// What became of the graph that was asked for; nothing is left to say of one whose file could not be written.
    pub graph: Option<Graph>,
}

/// What became of the graph of a model.
pub struct Graph {
    /// Its file.
    pub file: String,
    /// What it shows, or why it was not written.
    pub shows: Result<GraphOf, Undrawn>,
}

/// What a graph shows.
pub enum GraphOf {
    /// The run of the assertion with this number.
    Run(usize),
    /// All states.
    States,
}

/// Why a graph was not written.
pub enum Undrawn {
    /// Only a run could be drawn that way, and there is none.
    NoRun,
    /// There are more states than this.
    TooManyStates(u64),
    /// The model is wrong.
    Trouble(Trouble),
    /// A limit was reached.
    Unfinished,
}

impl Modelled<'_> {
    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        self.assertions.iter().map(|assertion| assertion.exit()).fold(Exit::Pass, Exit::worst)
    }

    /// What is known of all assertions together: one that ended in an error of the model is not known.
    pub fn verdict(&self) -> VerdictName {
        let known = |assertion: &Arc<Assertion>| VerdictName::of(assertion.exit()).exit();
        VerdictName::of(self.assertions.iter().map(known).fold(Exit::Pass, Exit::worst))
    }
}

/// A model that cannot be compiled.
pub struct WrongModel<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The model.
    pub text: &'a str,
    /// What is wrong with it, at least one thing.
    pub errors: &'a [Diagnostic],
    /// How long it took to see that.
    pub seconds: f64,
}
