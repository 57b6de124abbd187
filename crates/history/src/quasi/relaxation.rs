//! Which operations may change places with which, and by how much, as people write it: `deq=2,enq=0`, `*=2`,
//! `push+pop=3`, `deq=2,deq:empty=0`.
//!
//! A class is one method or several joined by `+`; `*` is every method. `METHOD:empty` are the operations of a method that
//! found nothing; unless they are named, they are in the class of their method. Invariant of a [`Resolved`]: class 0 has
//! factor 0 and holds every operation that is not named, and each operation is in exactly one class.

mod named;

use std::fmt;

pub use named::Named;

use crate::object::{Kind, Method, canonical};

/// The largest factor. A larger one says nothing: no history that can be decided is as far out of order.
pub const FACTOR_MAX: u32 = 1000;

/// One class with its factor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Class {
    members: Vec<Member>,
    /// `None` where it is to be found out.
    factor: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    /// `*` for every method.
    method: String,
    /// Only those that found nothing.
    empty: bool,
}

/// Classes and factors, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxation {
    classes: Vec<Class>,
}

/// Why a relaxation is not one, or does not fit an object.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelaxationError {
    /// Not of the form `METHOD=FACTOR`.
    Syntax(String),
    /// The factor is below 0.
    Negative(String),
    /// The factor is above [`FACTOR_MAX`], or not a number.
    Huge(String),
    /// A class has no factor.
    NoFactor(String),
    /// The object has no such method; the ones it has.
    Method(String, Kind, &'static [Method]),
    /// Two classes have this method.
    Overlap(String),
    /// Quasi linearizability of this object is not decided.
    Object(Kind),
    /// The object, which is not a built-in one, has no such method; the ones it has.
    Unknown(String, Vec<String>),
}

impl fmt::Display for RelaxationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelaxationError::Syntax(text) => {
                write!(f, "expected METHOD=FACTOR such as deq=2 (or *=2 for all methods), found {text:?}")
            }
            RelaxationError::Negative(text) => write!(f, "a factor cannot be negative: {text}"),
            RelaxationError::Huge(text) => write!(f, "a factor should be a number from 0 to {FACTOR_MAX}: {text}"),
            RelaxationError::NoFactor(text) => write!(f, "{text} needs a factor, such as {text}=2"),
            RelaxationError::Method(name, kind, methods) => {
                write!(f, "a {kind} has no method {name:?}; it has ")?;
                let names: Vec<&str> = methods.iter().map(|method| method.name).collect();
                f.write_str(&names.join(", "))
            }
            RelaxationError::Unknown(name, methods) => {
                write!(f, "the object has no method {name:?}; it has {}", methods.join(", "))
            }
            RelaxationError::Overlap(name) => write!(f, "classes overlap: {name} is in more than one"),
            RelaxationError::Object(kind) => {
                let why = match kind {
                    Kind::Bag => "its specification is nondeterministic: any value may come out next",
                    _ => "only queue, stack, deque, priority-queue, priority-queue-min, counter, set and register are",
                };
                write!(f, "quasi linearizability is not decided for a {kind}: {why}")
            }
        }
    }
}

impl std::error::Error for RelaxationError {}

impl Relaxation {
    /// Reads `METHOD=FACTOR[,...]`.
    pub fn parse(text: &str) -> Result<Self, RelaxationError> {
        let classes = text.split(',').map(|class| Class::parse(class.trim())).collect::<Result<_, _>>()?;
        Ok(Relaxation { classes })
    }

    /// All operations in one class.
    pub fn all(factor: u32) -> Self {
        let member = Member { method: "*".to_owned(), empty: false };
        Relaxation { classes: vec![Class { members: vec![member], factor: Some(factor) }] }
    }

    /// The largest factor asked for, where any is.
    pub fn factor_max(&self) -> Option<u32> {
        self.classes.iter().filter_map(|class| class.factor).max()
    }

    /// The same classes with one factor for all that are not exact (those without a factor, or with one above 0).
    pub fn with_factor(&self, factor: u32) -> Self {
        let mut classes = self.classes.clone();
        for class in classes.iter_mut().filter(|class| class.factor != Some(0)) {
            class.factor = Some(factor);
        }
        Relaxation { classes }
    }

    /// Finds the classes of the methods of an object.
    pub fn resolve(&self, kind: Kind) -> Result<Resolved, RelaxationError> {
        if !SUPPORTED.contains(&kind) {
            return Err(RelaxationError::Object(kind));
        }
        let methods = kind.methods();
        let found = self.place(methods.len(), |i| methods[i].name, |member| member.find(kind, methods))?;
        let Named { factors, names, classes } = found;
        let classes = methods.iter().map(|method| method.name).zip(classes).collect();
        Ok(Resolved { factors, names, classes, methods })
    }
}

/// The objects whose quasi linearizability is decided.
pub const SUPPORTED: [Kind; 8] = [
    Kind::Queue,
    Kind::Stack,
    Kind::Deque,
    Kind::PriorityQueue,
    Kind::PriorityQueueMin,
    Kind::Counter,
    Kind::Set,
    Kind::Register,
];

impl fmt::Display for Relaxation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, class) in self.classes.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{}", class.name())?;
            if let Some(factor) = class.factor {
                write!(f, "={factor}")?;
            }
        }
        Ok(())
    }
}

impl Class {
    fn parse(text: &str) -> Result<Self, RelaxationError> {
        let (names, factor) = match text.split_once('=') {
            Some((names, factor)) => (names, Some(parse_factor(text, factor.trim())?)),
            None => (text, None),
        };
        let members = names.split('+').map(|name| Member::parse(text, name.trim())).collect::<Result<_, _>>()?;
        Ok(Class { members, factor })
    }

    fn name(&self) -> String {
        let name = |member: &Member| format!("{}{}", member.method, if member.empty { ":empty" } else { "" });
        self.members.iter().map(name).collect::<Vec<_>>().join("+")
    }
}

fn parse_factor(text: &str, factor: &str) -> Result<u32, RelaxationError> {
    if let Some(digits) = factor.strip_prefix('-')
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
    {
        return Err(RelaxationError::Negative(text.to_owned()));
    }
    if factor.is_empty() || !factor.bytes().all(|b| b.is_ascii_digit()) {
        return Err(RelaxationError::Syntax(text.to_owned()));
    }
    let factor = factor.parse().ok().filter(|&factor| factor <= FACTOR_MAX);
    factor.ok_or_else(|| RelaxationError::Huge(text.to_owned()))
}

impl Member {
    fn parse(text: &str, name: &str) -> Result<Self, RelaxationError> {
        let (name, empty) = match name.strip_suffix(":empty") {
            Some(name) => (name, true),
            None => (name, false),
        };
        if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c == ':' || c == '=') {
            return Err(RelaxationError::Syntax(text.to_owned()));
        }
        Ok(Member { method: name.to_owned(), empty })
    }

    /// The methods meant, by their number.
    fn find(&self, kind: Kind, methods: &'static [Method]) -> Result<Vec<usize>, RelaxationError> {
        if self.method == "*" {
            return Ok((0..methods.len()).collect());
        }
        let name = canonical(&self.method);
        let found = methods.iter().position(|method| method.name == name || method.aliases.contains(&&*name));
        found.map(|i| vec![i]).ok_or_else(|| RelaxationError::Method(self.method.clone(), kind, methods))
    }
}

/// Classes and factors of the methods of one object.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// By class; class 0 holds what was not named.
    pub factors: Vec<u32>,
    /// By class, as written.
    pub names: Vec<String>,
    classes: Vec<(&'static str, (u16, u16))>,
    methods: &'static [Method],
}

impl Resolved {
    /// Whether the object has such a method, under any name that it knows.
    pub fn knows(&self, method: &str) -> bool {
        let name = canonical(method);
        self.methods.iter().any(|method| method.name == name || method.aliases.contains(&&*name))
    }

    /// The class of a method's operations, and of those that found nothing. The name may be any that the object knows.
    pub fn of(&self, method: &str) -> (u16, u16) {
        let name = canonical(method);
        let found = self.methods.iter().position(|method| method.name == name || method.aliases.contains(&&*name));
        found.map_or((0, 0), |i| self.classes[i].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: Kind, expected: Result<&[u32], &str>) {
        let resolved = Relaxation::parse(text).and_then(|relaxation| relaxation.resolve(kind));
        match (resolved, expected) {
            (Ok(resolved), Ok(factors)) => assert_eq!(resolved.factors, factors, "{text}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{text}: {error}"),
            (Ok(_), Err(part)) => panic!("{text} should fail: {part}"),
            (Err(error), Ok(_)) => panic!("{text}: {error}"),
        }
    }

    #[test]
    fn relaxations_are_read() {
        check("deq=2", Kind::Queue, Ok(&[0, 2]));
        check("deq=2,enq=0", Kind::Queue, Ok(&[0, 2, 0]));
        check(" dequeue = 2 , enqueue=1", Kind::Queue, Ok(&[0, 2, 1]));
        check("*=3", Kind::Stack, Ok(&[0, 3]));
        check("push+pop=1,peek=0", Kind::Stack, Ok(&[0, 1, 0]));
        check("deq=2,deq:empty=0", Kind::Queue, Ok(&[0, 2, 0]));
        check("*=2,deq:empty=0", Kind::Queue, Ok(&[0, 2, 0]));
        check("fetch_inc=4", Kind::Counter, Ok(&[0, 4]));
        check("deleteMin=4", Kind::PriorityQueueMin, Ok(&[0, 4]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        check("", Kind::Queue, Err("expected METHOD=FACTOR"));
        check("deq", Kind::Queue, Err("needs a factor"));
        check("deq=", Kind::Queue, Err("expected METHOD=FACTOR"));
        check("deq=two", Kind::Queue, Err("expected METHOD=FACTOR"));
        check("=2", Kind::Queue, Err("expected METHOD=FACTOR"));
        check("deq=-1", Kind::Queue, Err("cannot be negative"));
        check("deq=1001", Kind::Queue, Err("from 0 to 1000"));
        check("deq=99999999999999999999", Kind::Queue, Err("from 0 to 1000"));
        check("pop=1", Kind::Stack, Ok(&[0, 1]));
        check("deq=1", Kind::Stack, Err("a stack has no method \"deq\"; it has push, pop, peek"));
        check("deq=1,dequeue=2", Kind::Queue, Err("overlap: deq is in more than one"));
        check("*=1,deq=2", Kind::Queue, Err("overlap"));
        check("enq+deq=1,deq=2", Kind::Queue, Err("overlap"));
        check("remove=1", Kind::Bag, Err("nondeterministic"));
        check("acquire=1", Kind::Mutex, Err("not decided for a mutex"));
    }

    #[test]
    fn classes_are_found_by_any_name() {
        let resolved = Relaxation::parse("deq=2,deq:empty=0").unwrap().resolve(Kind::Queue).unwrap();
        assert_eq!(resolved.of("Dequeue"), (1, 2));
        assert_eq!(resolved.of("poll"), (1, 2));
        assert_eq!(resolved.of("enq"), (0, 0));
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        for text in ["deq=2,enq=0", "*=3", "push+pop=1,pop:empty=0", "deq"] {
            assert_eq!(Relaxation::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Relaxation::parse("deq,enq=0").unwrap().with_factor(5).to_string(), "deq=5,enq=0");
    }
}
