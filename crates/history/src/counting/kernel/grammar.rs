//! Kernel grammars: the serial executions of an object, written as a context-free grammar.
//!
//! ```text
//! // A mutex that one may hold.
//! names acquire: lock
//! Free = nothing | "acquire" Held | "try_acquire -> true" Held
//! Held = nothing | "release" Free | "try_acquire -> false" Held
//! ```
//!
//! The first rule is where an execution begins. What is in quotes is an operation, what is not is a rule; `nothing` is the
//! empty execution. Whatever an execution begins with is an execution too, so prefixes need not be written down.
//!
//! Invariant of a [`Grammar`]: every rule used is defined, every rule has at least one finite word, and the language is closed
//! under prefixes.

use std::collections::HashMap;

use super::super::label::Label;
use super::super::text::{Place, Reader, Reason, SyntaxError, Token};
use super::shape;
use crate::object::canonical;

/// The most operations, rules and alternatives that a grammar may have.
const MOST: usize = 2_000;

/// A symbol of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Symbol {
    /// An operation, by its number among the labels.
    Letter(usize),
    /// A rule, by its number.
    Rule(usize),
}

/// One alternative of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Production {
    pub rule: usize,
    pub symbols: Vec<Symbol>,
}

/// A kernel: the serial executions of an object.
#[derive(Clone, Debug)]
pub struct Grammar {
    pub(super) rules: Vec<String>,
    pub(super) labels: Vec<Label>,
    pub(super) productions: Vec<Production>,
    pub(super) start: usize,
    /// Other names of methods.
    names: HashMap<String, String>,
}

impl Grammar {
    /// Reads a grammar.
    pub fn parse(source: &str) -> Result<Grammar, SyntaxError> {
        let (places, others) = (Vec::new(), Vec::new());
        let mut parser = Parser { reader: Reader::new(source)?, places, others, draft: Draft::default() };
        parser.file()?;
        let Parser { draft, places, .. } = parser;
        let mut grammar = Grammar {
            rules: draft.rules.iter().map(|rule| rule.name.clone()).collect(),
            labels: draft.labels,
            productions: draft.productions,
            start: 0,
            names: draft.names,
        };
        if let Some(barren) = shape::barren_rule(&grammar) {
            return Err(SyntaxError { place: places[barren], reason: Reason::NoWord });
        }
        shape::inline(&mut grammar);
        shape::close(&mut grammar);
        Ok(grammar)
    }

    /// The operations that occur in it.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// What the grammar calls a method that a log calls `name`.
    pub fn method(&self, name: &str) -> String {
        let name = canonical(name);
        self.names.get(&*name).cloned().unwrap_or_else(|| name.into_owned())
    }
}

#[derive(Default)]
struct Draft {
    rules: Vec<Rule>,
    labels: Vec<Label>,
    productions: Vec<Production>,
    names: HashMap<String, String>,
}

struct Rule {
    name: String,
    defined: bool,
}

struct Parser {
    reader: Reader,
    /// Where each rule was first named.
    places: Vec<Place>,
    /// Where each other name of a method was given.
    others: Vec<(Place, String)>,
    draft: Draft,
}

impl Parser {
    fn file(&mut self) -> Result<(), SyntaxError> {
        while *self.reader.peek() != Token::End {
            let is_rule = matches!(self.reader.peek_second(), Token::Mark("="));
            if !is_rule && self.reader.take_name("names") {
                self.names()?;
            } else {
                self.rule()?;
            }
        }
        if self.draft.rules.is_empty() {
            return Err(self.reader.error(Reason::NoRule));
        }
        if let Some(rule) = self.draft.rules.iter().position(|rule| !rule.defined) {
            let reason = Reason::Undefined(self.draft.rules[rule].name.clone());
            return Err(SyntaxError { place: self.places[rule], reason });
        }
        // A log's operation would be either.
        let is_operation = |name: &String| {
            self.draft.names[name] != *name && self.draft.labels.iter().any(|label| label.method == *name)
        };
        match self.others.iter().find(|(_, name)| is_operation(name)) {
            Some((place, name)) => Err(SyntaxError { place: *place, reason: Reason::Twice(name.clone()) }),
            None => Ok(()),
        }
    }

    /// `names acquire: lock, down`
    fn names(&mut self) -> Result<(), SyntaxError> {
        let method = self.reader.name("the name of a method")?;
        let method = canonical(&method).into_owned();
        self.reader.expect(":", "`:` and the method's other names")?;
        loop {
            let place = self.reader.place();
            let other = self.reader.name("another name of the method")?;
            let other = canonical(&other).into_owned();
            if self.draft.names.insert(other.clone(), method.clone()).is_some_and(|old| old != method) {
                return Err(SyntaxError { place, reason: Reason::Twice(other) });
            }
            self.others.push((place, other));
            if !self.reader.take(",") {
                return Ok(());
            }
        }
    }

    /// `Held = nothing | "release" Free`
    fn rule(&mut self) -> Result<(), SyntaxError> {
        let place = self.reader.place();
        let name = self.reader.name("a rule, such as `Free = nothing | \"acquire\" Held`")?;
        // These mean something else where they are used.
        if name == "nothing" || name == "names" {
            return Err(SyntaxError { place, reason: Reason::Twice(name) });
        }
        let rule = self.numbered(&name, place)?;
        if std::mem::replace(&mut self.draft.rules[rule].defined, true) {
            return Err(SyntaxError { place, reason: Reason::Twice(name) });
        }
        self.reader.expect("=", "`=` after the name of the rule")?;
        loop {
            let symbols = self.alternative()?;
            self.draft.productions.push(Production { rule, symbols });
            self.bounded("alternatives", self.draft.productions.len())?;
            if !self.reader.take("|") {
                return Ok(());
            }
        }
    }

    fn alternative(&mut self) -> Result<Vec<Symbol>, SyntaxError> {
        const EXPECTED: &str = "an operation in quotes, the name of a rule, or `nothing`";
        let mut symbols = Vec::new();
        let mut any = false;
        loop {
            let place = self.reader.place();
            match self.reader.peek().clone() {
                // A name before `=` begins the next rule, and `names acquire:` is no part of this one.
                Token::Name(_) if matches!(self.reader.peek_second(), Token::Mark("=")) => break,
                Token::Name(name) if name == "names" => break,
                Token::Name(name) if name == "nothing" => {
                    self.reader.next();
                }
                Token::Name(name) => {
                    self.reader.next();
                    symbols.push(Symbol::Rule(self.numbered(&name, place)?));
                }
                Token::Text(text) => {
                    self.reader.next();
                    symbols.push(Symbol::Letter(self.label(&text, place)?));
                }
                _ => break,
            }
            any = true;
            self.bounded("symbols in one alternative", symbols.len().saturating_mul(100))?;
        }
        if any { Ok(symbols) } else { Err(self.reader.unexpected(EXPECTED)) }
    }

    fn bounded(&self, what: &'static str, count: usize) -> Result<(), SyntaxError> {
        let most = if what.starts_with("symbols") { MOST / 100 } else { MOST };
        if count > MOST { Err(self.reader.error(Reason::TooMany { what, most })) } else { Ok(()) }
    }

    fn numbered(&mut self, name: &str, place: Place) -> Result<usize, SyntaxError> {
        if let Some(rule) = self.draft.rules.iter().position(|rule| rule.name == name) {
            return Ok(rule);
        }
        self.draft.rules.push(Rule { name: name.to_owned(), defined: false });
        self.places.push(place);
        self.bounded("rules", self.draft.rules.len())?;
        Ok(self.draft.rules.len() - 1)
    }

    fn label(&mut self, text: &str, place: Place) -> Result<usize, SyntaxError> {
        let error = |why: String| SyntaxError { place, reason: Reason::Label(why) };
        let mut label = Label::parse(text).map_err(error)?;
        if label.is_pending() {
            return Err(error("an operation of a serial execution has returned".to_owned()));
        }
        label.method = canonical(&label.method).into_owned();
        if let Some(known) = self.draft.labels.iter().position(|known| *known == label) {
            return Ok(known);
        }
        self.draft.labels.push(label);
        Ok(self.draft.labels.len() - 1)
    }
}
