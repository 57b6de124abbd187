//! CSP#, as PAT's documentation describes it: text to transition systems.
//!
//! `token` → `parse` → `ast` → `lower` → `program`; `machine` and `eval` run it, `system` is the front.
//!
//! Invariant: whatever the text is, the answer is a model or a list of mistakes; nothing here panics or recurses without
//! bound.

mod actors;
pub(crate) mod ast;
pub(crate) mod check;
pub mod diagnostic;
mod eval;
mod labels;
mod lower;
mod machine;
mod object;
mod parse;
mod program;
mod run;
mod symmetry;
mod system;
#[cfg(test)]
mod tests;
mod token;

use std::sync::Arc;

pub use diagnostic::{Code, Diagnostic, Span};
pub use system::{State, System};

use check::{Goal, Unchecked};
use machine::Memo;
use object::Object;
use program::Program;

/// What an assertion claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClaimKind {
    /// No reachable state is a deadlock.
    DeadlockFree,
    /// Internal steps cannot go on for ever.
    DivergenceFree,
    /// The same steps always lead to the same behaviour.
    Deterministic,
    /// Every run goes on for ever.
    Nonterminating,
    /// Some reachable state fulfils a condition.
    Reaches,
    /// Every behaviour is one of the specification's.
    Refinement,
    /// The same, with operations out of order.
    QuasiLinearizability,
    /// Every run fulfils a formula of linear temporal logic.
    Ltl,
}

impl ClaimKind {
    /// Its name: `deadlockfree`, `divergencefree`, `deterministic`, `nonterminating`, `reaches`, `refinement`, `quasi-linearizability` or
    /// `ltl`.
    pub fn name(self) -> &'static str {
        match self {
            ClaimKind::DeadlockFree => "deadlockfree",
            ClaimKind::DivergenceFree => "divergencefree",
            ClaimKind::Deterministic => "deterministic",
            ClaimKind::Nonterminating => "nonterminating",
            ClaimKind::Reaches => "reaches",
            ClaimKind::Refinement => "refinement",
            ClaimKind::QuasiLinearizability => "quasi-linearizability",
            ClaimKind::Ltl => "ltl",
        }
    }
}

/// A model that was read and compiled.
pub struct Model {
    program: Arc<Program>,
    memo: Arc<Memo>,
    objects: Vec<Object>,
    assertions: Vec<Unchecked>,
    texts: Vec<String>,
}

impl Model {
    /// Reads a model, or says all that is wrong with it.
    pub fn new(text: &str) -> Result<Self, Vec<Diagnostic>> {
        let ast = parse::parse(text).map_err(|error| vec![*error])?;
        let lower::Compiled { program, objects, claims: assertions } = lower::lower(&ast, text)?;
        let texts = assertions
            .iter()
            .map(|assertion| text[assertion.span.start as usize..assertion.span.end as usize].to_owned())
            .collect();
        let memo = Arc::new(Memo::new(&program));
        Ok(Model { program: Arc::new(program), memo, objects, assertions, texts })
    }

    /// The assertions as they are written, in their order.
    pub fn assertions(&self) -> &[String] {
        &self.texts
    }

    /// What an assertion claims.
    pub fn claim(&self, assertion: usize) -> ClaimKind {
        match &self.assertions[assertion].goal {
            Goal::DeadlockFree => ClaimKind::DeadlockFree,
            Goal::DivergenceFree => ClaimKind::DivergenceFree,
            Goal::Deterministic => ClaimKind::Deterministic,
            Goal::Nonterminating => ClaimKind::Nonterminating,
            Goal::Reaches(..) => ClaimKind::Reaches,
            Goal::Linearizable { classes, .. } if !classes.is_empty() => ClaimKind::QuasiLinearizability,
            Goal::Refines(..) | Goal::Linearizable { .. } => ClaimKind::Refinement,
            Goal::Satisfies(_) => ClaimKind::Ltl,
        }
    }

    /// A process by its name, with its arguments; nothing if there is none of that name and number of arguments.
    pub fn process(&self, name: &str, args: &[i32]) -> Option<System> {
        let def = self.program.defs.iter().position(|def| def.name == name && def.params == args.len())?;
        Some(self.system(def as u32, args))
    }

    fn system(&self, def: u32, args: &[i32]) -> System {
        System::new(Arc::clone(&self.program), Arc::clone(&self.memo), def, args.to_vec())
    }

    /// The process that an assertion is about.
    pub fn subject(&self, assertion: usize) -> System {
        let assertion = &self.assertions[assertion];
        self.system(assertion.def, &assertion.args)
    }
}
