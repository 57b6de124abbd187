//! Reading formulas.
//!
//! ```text
//! formula  = either ["implies" formula]
//! either   = both {"or" both}
//! both     = plain {"and" plain}
//! plain    = "not" plain | "(" formula ")" | ("exists" | "forall") name {"," name} ":" formula
//!          | ("some" | "every") name "in" slot ".." slot ":" formula
//!          | predicate "(" label {"," label} ")" | label ("=" | "!=") label | sum ("<=" | "<" | "=" | "!=" | ">=" | ">") sum
//! sum      = term {"+" term}
//! term     = number | ("#" | "total") "(" label "," slot "," slot ")"
//! label    = name | quoted label
//! slot     = (number | "k" | name) ["+" number | "-" number]
//! ```
//!
//! `true` and `false` are formulas too. Invariant: every variable of a formula that was read is bound, and no name is bound inside its own scope again.

use super::super::label::Label;
use super::super::text::{Reader, Reason, SyntaxError, Token};
use super::{Base, Comparison, Formula, Node, Predicate, Slot, Subject, Term};

/// Formulas may nest so deep: deeper ones would need a deeper stack.
const DEPTH_MAX: usize = 100;

pub(super) fn parse(source: &str) -> Result<Formula, SyntaxError> {
    let mut parser = Parser { reader: Reader::new(source)?, scope: Vec::new(), labels: Vec::new(), slots: 0, depth: 0 };
    let body = parser.formula()?;
    if *parser.reader.peek() != Token::End {
        return Err(parser.reader.unexpected("`and`, `or`, `implies` or the end"));
    }
    Ok(Formula { body, labels: parser.labels, slots: parser.slots })
}

#[derive(Clone, Copy)]
enum Bound {
    Label(usize),
    Slot(usize),
}

struct Parser {
    reader: Reader,
    scope: Vec<(String, Bound)>,
    labels: Vec<String>,
    slots: usize,
    depth: usize,
}

const PREDICATES: [(&str, Predicate, usize); 14] = [
    ("insert", Predicate::Insert, 1),
    ("push", Predicate::Insert, 1),
    ("write", Predicate::Insert, 1),
    ("remove", Predicate::Remove, 1),
    ("pop", Predicate::Remove, 1),
    ("removing", Predicate::Removing, 1),
    ("empty", Predicate::Empty, 1),
    ("observe", Predicate::Observe, 1),
    ("read", Predicate::Observe, 1),
    ("open", Predicate::Open, 1),
    ("initial", Predicate::Initial, 1),
    ("sole", Predicate::Sole, 1),
    ("same", Predicate::Same, 2),
    ("higher", Predicate::Higher, 2),
];

impl Parser {
    fn formula(&mut self) -> Result<Node, SyntaxError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.reader.error(Reason::TooMany { what: "formulas inside each other", most: DEPTH_MAX }));
        }
        let left = self.either()?;
        let node = if self.reader.take_name("implies") {
            let right = self.formula()?;
            Node::Any(vec![Node::Not(Box::new(left)), right])
        } else {
            left
        };
        self.depth -= 1;
        Ok(node)
    }

    fn either(&mut self) -> Result<Node, SyntaxError> {
        let mut parts = vec![self.both()?];
        while self.reader.take_name("or") {
            parts.push(self.both()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Node::Any(parts) })
    }

    fn both(&mut self) -> Result<Node, SyntaxError> {
        let mut parts = Vec::new();
        loop {
            match self.plain()? {
                Node::All(more) => parts.extend(more),
                other => parts.push(other),
            }
            if !self.reader.take_name("and") {
                return Ok(if parts.len() == 1 { parts.remove(0) } else { Node::All(parts) });
            }
        }
    }

    fn plain(&mut self) -> Result<Node, SyntaxError> {
        let place = self.reader.place();
        let Token::Name(name) = self.reader.peek().clone() else { return self.comparison_or_group() };
        match &*name {
            "not" => {
                self.reader.next();
                self.depth += 1;
                if self.depth > DEPTH_MAX {
                    return Err(self
                        .reader
                        .error(Reason::TooMany { what: "formulas inside each other", most: DEPTH_MAX }));
                }
                let inner = self.plain()?;
                self.depth -= 1;
                Ok(Node::Not(Box::new(inner)))
            }
            "true" | "false" => {
                self.reader.next();
                Ok(if name == "true" { Node::All(Vec::new()) } else { Node::Any(Vec::new()) })
            }
            "exists" | "forall" => self.quantified(name == "forall"),
            "some" | "every" => self.slotted(name == "every"),
            "total" => self.comparison(),
            "before" if *self.reader.peek_second() == Token::Mark("(") => {
                self.reader.next();
                let [first, second] = self.arguments("before", 2)?.try_into().expect("two of them");
                Ok(Node::Before(first, second))
            }
            _ if *self.reader.peek_second() == Token::Mark("(") => {
                self.reader.next();
                let known = PREDICATES.iter().find(|(known, ..)| *known == name);
                let &(_, predicate, takes) =
                    known.ok_or(SyntaxError { place, reason: Reason::Undefined(name.clone()) })?;
                Ok(Node::Is(predicate, self.arguments(&name, takes)?))
            }
            _ => self.identity(),
        }
    }

    fn comparison_or_group(&mut self) -> Result<Node, SyntaxError> {
        match self.reader.peek() {
            Token::Mark("(") => {
                self.reader.next();
                let inner = self.formula()?;
                self.reader.expect(")", "`)` at the end of the group")?;
                Ok(inner)
            }
            Token::Text(_) => self.identity(),
            Token::Number(_) | Token::Mark("#") => self.comparison(),
            _ => Err(self.reader.unexpected("a formula, such as `before(x, y)` or `total(x, 0, k) <= 1`")),
        }
    }

    fn quantified(&mut self, all: bool) -> Result<Node, SyntaxError> {
        self.reader.next();
        let outer = self.scope.len();
        let mut variables = Vec::new();
        loop {
            let name = self.fresh("the name of a variable")?;
            self.scope.push((name.clone(), Bound::Label(self.labels.len())));
            variables.push(self.labels.len());
            self.labels.push(name);
            if !self.reader.take(",") {
                break;
            }
        }
        self.reader.expect(":", "`:` after the variables")?;
        let body = self.formula()?;
        self.scope.truncate(outer);
        Ok(if all {
            Node::Not(Box::new(Node::Exists(variables, Box::new(negated(body)))))
        } else {
            Node::Exists(variables, Box::new(body))
        })
    }

    fn slotted(&mut self, all: bool) -> Result<Node, SyntaxError> {
        self.reader.next();
        let name = self.fresh("the name of a variable for a slot")?;
        if !self.reader.take_name("in") {
            return Err(self.reader.unexpected("`in` and a range of slots, such as `0..k`"));
        }
        let first = self.slot()?;
        self.reader.expect("..", "`..` and the last slot")?;
        let last = self.slot()?;
        self.reader.expect(":", "`:` after the range")?;
        let slot = self.slots;
        self.slots += 1;
        self.scope.push((name, Bound::Slot(slot)));
        let body = self.formula()?;
        self.scope.pop();
        let some = |body| Node::Some(slot, first, last, Box::new(body));
        Ok(if all { Node::Not(Box::new(some(negated(body)))) } else { some(body) })
    }

    /// A name that is not in use.
    fn fresh(&mut self, expected: &'static str) -> Result<String, SyntaxError> {
        let place = self.reader.place();
        let name = self.reader.name(expected)?;
        if name == "k" || self.scope.iter().any(|(known, _)| *known == name) {
            return Err(SyntaxError { place, reason: Reason::Twice(name) });
        }
        Ok(name)
    }

    fn identity(&mut self) -> Result<Node, SyntaxError> {
        let left = self.subject()?;
        let different = self.reader.take("!=");
        if !different && !self.reader.take("=") {
            return Err(self.reader.unexpected("`=` or `!=` and another label"));
        }
        let same = Node::Identical(left, self.subject()?);
        Ok(if different { Node::Not(Box::new(same)) } else { same })
    }

    fn comparison(&mut self) -> Result<Node, SyntaxError> {
        let left = self.sum()?;
        let comparison = match self.reader.peek() {
            Token::Mark(mark @ ("<=" | "<" | "=" | "!=" | ">=" | ">")) => *mark,
            _ => return Err(self.reader.unexpected("`<=`, `<`, `=`, `!=`, `>=` or `>`")),
        };
        self.reader.next();
        let right = self.sum()?;
        Ok(match comparison {
            "<=" => Node::Compare(left, Comparison::AtMost, right),
            "<" => Node::Compare(left, Comparison::Less, right),
            "=" => Node::Compare(left, Comparison::Equal, right),
            "!=" => Node::Compare(left, Comparison::Different, right),
            ">=" => Node::Compare(right, Comparison::AtMost, left),
            _ => Node::Compare(right, Comparison::Less, left),
        })
    }

    fn sum(&mut self) -> Result<Vec<Term>, SyntaxError> {
        let mut terms = vec![self.term()?];
        while self.reader.take("+") {
            terms.push(self.term()?);
        }
        Ok(terms)
    }

    fn term(&mut self) -> Result<Term, SyntaxError> {
        const EXPECTED: &str = "a number, `#(x, i, j)` or `total(x, i, j)`";
        if let Token::Number(number) = *self.reader.peek() {
            self.reader.next();
            return Ok(Term::Number(number));
        }
        let exact = self.reader.take("#");
        if !exact && !self.reader.take_name("total") {
            return Err(self.reader.unexpected(EXPECTED));
        }
        self.reader.expect("(", "`(`, a label and two slots")?;
        let subject = self.subject()?;
        self.reader.expect(",", "`,` and the first slot")?;
        let first = self.slot()?;
        self.reader.expect(",", "`,` and the last slot")?;
        let last = self.slot()?;
        self.reader.expect(")", "`)` after the two slots")?;
        Ok(if exact { Term::Count(subject, first, last) } else { Term::Total(subject, first, last) })
    }

    fn arguments(&mut self, name: &str, takes: usize) -> Result<Vec<Subject>, SyntaxError> {
        let place = self.reader.place();
        self.reader.expect("(", "`(` and the arguments")?;
        let mut subjects = vec![self.subject()?];
        while self.reader.take(",") {
            subjects.push(self.subject()?);
        }
        self.reader.expect(")", "`,` or `)`")?;
        if subjects.len() == takes {
            return Ok(subjects);
        }
        Err(SyntaxError { place, reason: Reason::Arguments { name: name.to_owned(), takes, given: subjects.len() } })
    }

    fn subject(&mut self) -> Result<Subject, SyntaxError> {
        let place = self.reader.place();
        match self.reader.peek().clone() {
            Token::Text(text) => {
                self.reader.next();
                let error = |why| SyntaxError { place, reason: Reason::Label(why) };
                Label::parse(&text).map(Subject::Constant).map_err(error)
            }
            Token::Name(name) => match self.scope.iter().find(|(known, _)| *known == name) {
                Some((_, Bound::Label(variable))) => {
                    let subject = Subject::Variable(*variable);
                    self.reader.next();
                    Ok(subject)
                }
                Some((_, Bound::Slot(_))) => Err(self.reader.unexpected("a label; this is a slot")),
                None => Err(self.reader.error(Reason::Undefined(name))),
            },
            _ => Err(self.reader.unexpected("a variable, or a label in quotes such as \"pop -> 1\"")),
        }
    }

    fn slot(&mut self) -> Result<Slot, SyntaxError> {
        let number = |number: u64| i64::try_from(number.min(1 << 32)).expect("small enough");
        let mut slot = match self.reader.peek().clone() {
            Token::Number(offset) => Slot { base: Base::Zero, offset: number(offset) },
            Token::Name(name) if name == "k" => Slot { base: Base::K, offset: 0 },
            Token::Name(name) => match self.scope.iter().find(|(known, _)| *known == name) {
                Some(&(_, Bound::Slot(variable))) => Slot { base: Base::Variable(variable), offset: 0 },
                Some(_) => return Err(self.reader.unexpected("a slot; this is a label")),
                None => return Err(self.reader.error(Reason::Undefined(name))),
            },
            _ => return Err(self.reader.unexpected("a slot: a number, `k`, or a variable of `some` or `every`")),
        };
        self.reader.next();
        let sign = if self.reader.take("+") {
            1
        } else if self.reader.take("-") {
            -1
        } else {
            return Ok(slot);
        };
        match *self.reader.peek() {
            Token::Number(offset) => {
                self.reader.next();
                slot.offset += sign * number(offset);
                Ok(slot)
            }
            _ => Err(self.reader.unexpected("a number")),
        }
    }
}

/// Not that; without doubling what is negated already, so that its parts stay visible to whoever looks for them.
fn negated(node: Node) -> Node {
    match node {
        Node::Not(inner) => *inner,
        Node::Any(parts) => Node::All(parts.into_iter().map(negated).collect()),
        other => Node::Not(Box::new(other)),
    }
}
