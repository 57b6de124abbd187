//! Blocks of statements: what an event does to the data.

use super::super::ast::{Binary, Block, Expr, ExprId, Statement, StatementKind};
use super::super::diagnostic::Span;
use super::super::token::Kind;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// `{ ... }`.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.expect("{", "before the statements")?;
        self.nested(|this| {
            let mut block = Vec::new();
            while !this.take("}") {
                if this.take(";") {
                    continue;
                }
                block.push(this.statement()?);
            }
            Ok(block)
        })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.span();
        let kind = if self.take_word("if") {
            return self.conditional(start);
        } else if self.take_word("while") {
            self.expect("(", "after `while`")?;
            let condition = self.expression()?;
            self.expect(")", "after the condition")?;
            let span = start.to(self.last());
            return Ok(Statement { kind: StatementKind::While(condition, self.block()?), span });
        } else if self.take_word("var") {
            let name = self.name("the name of a variable")?;
            let value = if self.take("=") { Some(self.expression()?) } else { None };
            StatementKind::Local(name.text, value)
        } else if self.take_word("return") {
            let value = if self.is(";") || self.is("}") { None } else { Some(self.expression()?) };
            StatementKind::Return(value)
        } else if self.is("++") || self.is("--") {
            let op = if self.is("++") { Binary::Add } else { Binary::Sub };
            self.advance();
            let name = self.name("a variable")?;
            let at = self.subscripts()?;
            self.by_one(name.text, at, op, start)?
        } else {
            self.simple(start)?
        };
        let span = start.to(self.last());
        if !self.is("}") {
            self.expect(";", "after the statement")?;
        }
        Ok(Statement { kind, span })
    }

    fn conditional(&mut self, start: Span) -> Parsed<Statement> {
        self.expect("(", "after `if`")?;
        let condition = self.expression()?;
        self.expect(")", "after the condition")?;
        let span = start.to(self.last());
        let then = self.branch()?;
        let otherwise = if self.take_word("else") { self.branch()? } else { Vec::new() };
        Ok(Statement { kind: StatementKind::If(condition, then, otherwise), span })
    }

    /// A block, or one statement without braces.
    fn branch(&mut self) -> Parsed<Block> {
        if self.is("{") { self.block() } else { self.nested(|this| Ok(vec![this.statement()?])) }
    }

    /// An assignment, a method or a macro.
    fn simple(&mut self, start: Span) -> Parsed<StatementKind> {
        let name = self.name("a statement")?;
        if self.take("(") {
            let (callee, args) = if name.text == "call" {
                let callee = self.name("the name of what is called")?;
                (callee.text, if self.take(",") { self.list(")")? } else { Vec::new() })
            } else {
                (name.text, self.list(")")?)
            };
            self.expect(")", "after the arguments")?;
            return Ok(StatementKind::Call(callee, args));
        }
        let at = self.subscripts()?;
        match self.kind() {
            Kind::Sign(".") => {
                self.advance();
                let (method, args) = self.method()?;
                Ok(StatementKind::Method(name.text, at, method, args))
            }
            Kind::Sign("=") => {
                self.advance();
                let value = self.expression()?;
                Ok(StatementKind::Assign(name.text, at, value))
            }
            Kind::Sign(sign @ ("++" | "--")) => {
                self.advance();
                self.by_one(name.text, at, if sign == "++" { Binary::Add } else { Binary::Sub }, start)
            }
            Kind::Sign(sign @ ("+=" | "-=" | "*=" | "/=")) => {
                self.advance();
                let op = match sign {
                    "+=" => Binary::Add,
                    "-=" => Binary::Sub,
                    "*=" => Binary::Mul,
                    _ => Binary::Div,
                };
                let value = self.expression()?;
                self.update(name.text, at, op, value, start)
            }
            _ => Err(self.unexpected("`=`, `++`, `--` or a method")),
        }
    }

    fn by_one(&mut self, name: String, at: Vec<ExprId>, op: Binary, start: Span) -> Parsed<StatementKind> {
        let one = self.add_expr(Expr::Number(1), start)?;
        self.update(name, at, op, one, start)
    }

    /// `x = x op value`.
    fn update(
        &mut self,
        name: String,
        at: Vec<ExprId>,
        op: Binary,
        value: ExprId,
        start: Span,
    ) -> Parsed<StatementKind> {
        let span = start.to(self.last());
        let old = if at.is_empty() { Expr::Name(name.clone()) } else { Expr::Element(name.clone(), at.clone()) };
        let old = self.add_expr(old, span)?;
        let new = self.add_expr(Expr::Binary(op, old, value), span)?;
        Ok(StatementKind::Assign(name, at, new))
    }
}
