//! What a rule found.

use std::fmt;

/// When an operation was called and returned, as the numbers of these events; a return of 0 is none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Whose operation it is.
    pub thread: u32,
    /// The event that called it.
    pub call: u64,
    /// The event that ended it.
    pub ret: u64,
}

/// The rule that a violation breaks.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// A value came out that is not inside.
    NotInside,
    /// A value that came later left earlier.
    Overtaken,
    /// A value came out of a stack from below another.
    FromBelow,
    /// A value came out of a priority queue before a higher one.
    NotFirst,
    /// An empty answer, though something was inside at every moment.
    NotEmpty,
    /// A value was read that had been overwritten, or was never written.
    Stale,
    /// More was acquired than there was, or more released than was held.
    Permits,
    /// What an operation returned fits no order of the operations.
    NoOrder,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 8] = [
        Rule::NotInside,
        Rule::Overtaken,
        Rule::FromBelow,
        Rule::NotFirst,
        Rule::NotEmpty,
        Rule::Stale,
        Rule::Permits,
        Rule::NoOrder,
    ];

    /// The name of the rule in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::NotInside => "not-inside",
            Rule::Overtaken => "overtaken",
            Rule::FromBelow => "from-below",
            Rule::NotFirst => "not-first",
            Rule::NotEmpty => "not-empty",
            Rule::Stale => "stale",
            Rule::Permits => "permits",
            Rule::NoOrder => "no-order",
        }
    }

    /// What is wrong, in words.
    pub const fn sentence(self) -> &'static str {
        match self {
            Rule::NotInside => "a value came out that was not inside: never inserted, or taken out before",
            Rule::Overtaken => "a value that came later left earlier, or this one is lost",
            Rule::FromBelow => "a value came out from below one that was put on top of it and had not come out",
            Rule::NotFirst => "at every moment of the removal a value was inside that should have come out first",
            Rule::NotEmpty => "the answer was \"empty\", but at every moment some value was inside",
            Rule::Stale => "a value was read that had been overwritten, or was never written",
            Rule::Permits => "more was acquired than there was to acquire, or more released than was held",
            Rule::NoOrder => "the result fits no order of the operations so far",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an operation of an alarm did.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// Put a value in, or wrote it.
    Insert,
    /// Took a value out.
    Remove,
    /// Found nothing.
    Empty,
    /// Read a value.
    Read,
    /// Something else: the method and result of the operation say what.
    Other,
}

/// An operation that shows a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown<V> {
    /// What it did.
    pub did: Did,
    /// The value, if there is one.
    pub value: Option<V>,
    /// When.
    pub span: Span,
}

impl<V> Shown<V> {
    /// An insertion or a write that shows a violation.
    pub fn insert(value: V, span: Span) -> Self {
        Shown { did: Did::Insert, value: Some(value), span }
    }

    /// A removal that took a value out.
    pub fn remove(value: V, span: Span) -> Self {
        Shown { did: Did::Remove, value: Some(value), span }
    }

    /// A removal that found nothing.
    pub fn empty(span: Span) -> Self {
        Shown { did: Did::Empty, value: None, span }
    }

    /// A read that shows a violation.
    pub fn read(value: V, span: Span) -> Self {
        Shown { did: Did::Read, value: Some(value), span }
    }

    /// An operation without a value.
    pub fn other(span: Span) -> Self {
        Shown { did: Did::Other, value: None, span }
    }
}

/// A violation: the rule, and the operations that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm<V> {
    /// The rule that a violation breaks.
    pub rule: Rule,
    /// The operations.
    pub operations: Vec<Shown<V>>,
}
