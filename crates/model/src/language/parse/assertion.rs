//! Assertions and formulas of linear temporal logic.

use super::super::ast::{Assertion, Best, Claim, Formula, Name, Quasi, Refinement, Subject};
use super::super::diagnostic::Span;
use super::super::token::Kind;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// What follows `#assert`.
    pub(super) fn assertion(&mut self, start: Span) -> Parsed<()> {
        let subject = self.subject()?;
        let claim = if self.take("|=") {
            Claim::Satisfies(self.formula()?)
        } else {
            if matches!(self.slice(self.span()), "||" | "|||" | "[]" | "<>" | ";" | "\\") {
                let help = "give the process a name: Sys() = P() || Q(); #assert Sys() deadlockfree;";
                return Err(Box::new(self.unexpected("what is claimed of one process").help(help)));
            }
            let word = self.name("what is claimed")?;
            match word.text.as_str() {
                "deadlockfree" => Claim::DeadlockFree,
                "divergencefree" => Claim::DivergenceFree,
                "deterministic" => Claim::Deterministic,
                "nonterminating" => Claim::Nonterminating,
                "reaches" => self.reaches()?,
                "refines" => self.refines()?,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected(
                        "deadlockfree, divergencefree, deterministic, nonterminating, reaches, refines or `|=`",
                    ));
                }
            }
        };
        let span = start.to(self.last());
        self.expect(";", "after the assertion")?;
        self.model.assertions.push(Assertion { subject, claim, span });
        Ok(())
    }

    fn subject(&mut self) -> Parsed<Subject> {
        let name = self.name("the name of a process")?;
        let args = if self.take("(") {
            let args = self.list(")")?;
            self.expect(")", "after the arguments")?;
            args
        } else {
            Vec::new()
        };
        Ok(Subject { name, args })
    }

    fn reaches(&mut self) -> Parsed<Claim> {
        let condition = self.expression()?;
        let best = if self.take_word("with") {
            let best = if self.take_word("min") {
                Best::Least
            } else if self.take_word("max") {
                Best::Greatest
            } else {
                return Err(self.unexpected("`min` or `max`"));
            };
            self.expect("(", "before the value")?;
            let value = self.expression()?;
            self.expect(")", "after the value")?;
            Some((best, value))
        } else {
            None
        };
        Ok(Claim::Reaches { condition, best })
    }

    fn refines(&mut self) -> Parsed<Claim> {
        let mode = if self.take("<") {
            let word = self.name("F, FD or T")?;
            let mode = match word.text.as_str() {
                "F" => Refinement::Failures,
                "FD" => Refinement::FailuresDivergences,
                "T" => Refinement::Traces,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected("F, FD or T"));
                }
            };
            self.expect(">", "after the kind of refinement")?;
            mode
        } else {
            Refinement::Traces
        };
        let spec = self.subject()?;
        let quasi = if self.take_word("quasi") { Some(self.quasi()?) } else { None };
        Ok(Claim::Refines { mode, spec, quasi })
    }

    /// `{deq: 2, enq & push: 1, *: 3} strict free`.
    fn quasi(&mut self) -> Parsed<Quasi> {
        self.expect("{", "before the factors")?;
        let mut classes = Vec::new();
        while !self.take("}") {
            let mut names = Vec::new();
            if !self.take("*") {
                loop {
                    names.push(self.name("the name of an operation")?);
                    if !self.take("&") {
                        break;
                    }
                }
            }
            self.expect(":", "before the factor")?;
            classes.push((names, self.expression()?));
            if !self.take(",") {
                self.expect("}", "after the factors")?;
                break;
            }
        }
        let mut quasi = Quasi { classes, strict: false, free: false };
        loop {
            if self.take_word("strict") {
                quasi.strict = true;
            } else if self.take_word("free") {
                quasi.free = true;
            } else if !self.take_word("distance") && !self.take_word("causal") {
                return Ok(quasi);
            }
        }
    }

    /// A formula; the loosest operators are `<->` and `->`, then `||`, `&&`, then `U`, `R`.
    fn formula(&mut self) -> Parsed<Formula> {
        self.nested(|this| {
            let left = this.disjunction()?;
            if this.take("->") {
                return Ok(Formula::Implies(Box::new(left), Box::new(this.formula()?)));
            }
            if this.take("<->") {
                return Ok(Formula::Iff(Box::new(left), Box::new(this.formula()?)));
            }
            Ok(left)
        })
    }

    fn disjunction(&mut self) -> Parsed<Formula> {
        let left = self.conjunction()?;
        if self.take("||") {
            return self.nested(|this| Ok(Formula::Or(Box::new(left), Box::new(this.disjunction()?))));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Formula> {
        let left = self.until()?;
        if self.take("&&") {
            return self.nested(|this| Ok(Formula::And(Box::new(left), Box::new(this.conjunction()?))));
        }
        Ok(left)
    }

    fn until(&mut self) -> Parsed<Formula> {
        let left = self.unary_formula()?;
        if self.take_word("U") {
            return self.nested(|this| Ok(Formula::Until(Box::new(left), Box::new(this.until()?))));
        }
        if self.take_word("R") || self.take_word("V") {
            return self.nested(|this| Ok(Formula::Release(Box::new(left), Box::new(this.until()?))));
        }
        Ok(left)
    }

    fn unary_formula(&mut self) -> Parsed<Formula> {
        let make: fn(Box<Formula>) -> Formula = match self.kind() {
            Kind::Sign("!") => Formula::Not,
            Kind::Sign("[]") => Formula::Always,
            Kind::Sign("<>") => Formula::Eventually,
            Kind::Name => match self.slice(self.span()) {
                "X" => Formula::Next,
                "G" => Formula::Always,
                "F" => Formula::Eventually,
                _ => return self.proposition(),
            },
            _ => return self.proposition(),
        };
        self.advance();
        Ok(make(Box::new(self.nested(Self::unary_formula)?)))
    }

    fn proposition(&mut self) -> Parsed<Formula> {
        let span = self.span();
        match self.kind() {
            Kind::Sign("(") => {
                self.advance();
                let inner = self.formula()?;
                self.expect(")", "to close the bracket")?;
                Ok(inner)
            }
            Kind::Text => {
                self.advance();
                Ok(Formula::Label(Name { text: self.slice(span).trim_matches('"').to_owned(), span }))
            }
            Kind::Name if self.take_word("true") => Ok(Formula::True),
            Kind::Name if self.take_word("false") => Ok(Formula::False),
            Kind::Name => Ok(Formula::Event(self.event()?)),
            _ => Err(self.unexpected("a formula")),
        }
    }
}
