//! Expressions. Operators bind as in C#.

use super::super::ast::{Binary, Expr, ExprId, Index, Unary, Values};
use super::super::token::Kind;
use super::{Parsed, Parser};

/// How tight an operator binds.
fn operator(sign: &str) -> Option<(u8, Binary)> {
    Some(match sign {
        "||" => (1, Binary::Or),
        "&&" => (3, Binary::And),
        "|" => (4, Binary::BitOr),
        "^" => (5, Binary::BitXor),
        "&" => (6, Binary::BitAnd),
        "==" => (7, Binary::Eq),
        "!=" => (7, Binary::Ne),
        "<" => (8, Binary::Lt),
        "<=" => (8, Binary::Le),
        ">" => (8, Binary::Gt),
        ">=" => (8, Binary::Ge),
        "+" => (9, Binary::Add),
        "-" => (9, Binary::Sub),
        "*" => (10, Binary::Mul),
        "/" => (10, Binary::Div),
        "%" => (10, Binary::Mod),
        _ => return None,
    })
}

/// The level from which on operators make numbers: what may stand after a dot without brackets.
const ADDITIVE: u8 = 9;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<ExprId> {
        self.climb(0)
    }

    /// A value in an event or a message: sums, products and what is tighter.
    pub(super) fn value(&mut self) -> Parsed<ExprId> {
        self.climb(ADDITIVE)
    }

    fn climb(&mut self, level: u8) -> Parsed<ExprId> {
        self.nested(|this| {
            let start = this.span();
            let mut left = this.unary()?;
            loop {
                let (power, op) = match this.kind() {
                    Kind::Sign(sign) => match operator(sign) {
                        Some(found) => found,
                        None => break,
                    },
                    Kind::Name if this.is_word("xor") => (2, Binary::Xor),
                    _ => break,
                };
                if power < level {
                    break;
                }
                this.advance();
                let right = this.climb(power + 1)?;
                left = this.add_expr(Expr::Binary(op, left, right), start.to(this.last()))?;
            }
            Ok(left)
        })
    }

    fn unary(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        let op = match self.kind() {
            Kind::Sign("!") => Unary::Not,
            Kind::Sign("-") => Unary::Minus,
            Kind::Sign("&&") => return self.indexed_expression(Binary::And),
            Kind::Sign("||") => return self.indexed_expression(Binary::Or),
            _ => return self.primary(),
        };
        self.advance();
        let inner = self.nested(Self::unary)?;
        self.add_expr(Expr::Unary(op, inner), start.to(self.last()))
    }

    fn indexed_expression(&mut self, op: Binary) -> Parsed<ExprId> {
        let start = self.span();
        self.advance();
        let indices = self.indices()?;
        self.expect("@", "after the indices")?;
        let body = self.nested(Self::unary)?;
        self.add_expr(Expr::Indexed(op, indices, body), start.to(self.last()))
    }

    fn primary(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        match self.kind() {
            Kind::Number(value) => {
                self.advance();
                self.add_expr(Expr::Number(value), start)
            }
            Kind::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")", "to close the bracket")?;
                Ok(inner)
            }
            Kind::Name => self.named(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn named(&mut self) -> Parsed<ExprId> {
        let name = self.name("a name")?;
        let start = name.span;
        match name.text.as_str() {
            "true" => return self.add_expr(Expr::Bool(true), start),
            "false" => return self.add_expr(Expr::Bool(false), start),
            "call" if self.is("(") => {
                self.advance();
                let callee = self.name("the name of what is called")?;
                let args = if self.take(",") { self.list(")")? } else { Vec::new() };
                self.expect(")", "after the arguments")?;
                return self.add_expr(Expr::Call(callee.text, args), start.to(self.last()));
            }
            _ => {}
        }
        if self.take("(") {
            let args = self.list(")")?;
            self.expect(")", "after the arguments")?;
            return self.add_expr(Expr::Call(name.text, args), start.to(self.last()));
        }
        let at = self.subscripts()?;
        if self.is(".") && self.ahead(1) == Kind::Name && self.ahead(2) == Kind::Sign("(") {
            self.advance();
            let (method, args) = self.method()?;
            return self.add_expr(Expr::Method(name.text, at, method, args), start.to(self.last()));
        }
        let expr = if at.is_empty() { Expr::Name(name.text) } else { Expr::Element(name.text, at) };
        self.add_expr(expr, start.to(self.last()))
    }

    /// `[i][j]`, maybe none.
    pub(super) fn subscripts(&mut self) -> Parsed<Vec<ExprId>> {
        let mut at = Vec::new();
        while self.take("[") {
            at.push(self.expression()?);
            self.expect("]", "after the index")?;
        }
        Ok(at)
    }

    /// `[expression]`, where there is one. `after` says what it is, for when the bracket stays open.
    pub(super) fn bracketed(&mut self, after: &str) -> Parsed<Option<ExprId>> {
        if !self.take("[") {
            return Ok(None);
        }
        let inner = self.expression()?;
        self.expect("]", after)?;
        Ok(Some(inner))
    }

    /// `Name(args)` after a dot.
    pub(super) fn method(&mut self) -> Parsed<(String, Vec<ExprId>)> {
        let method = self.name("the name of a method")?;
        self.expect("(", "after the method's name")?;
        let args = self.list(")")?;
        self.expect(")", "after the arguments")?;
        Ok((method.text, args))
    }

    /// Expressions with commas between them, up to a closing sign that is left.
    pub(super) fn list(&mut self, close: &str) -> Parsed<Vec<ExprId>> {
        let mut list = Vec::new();
        while !self.is(close) {
            list.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        Ok(list)
    }

    /// `x:{0..3}; y:{1,2}`.
    pub(super) fn indices(&mut self) -> Parsed<Vec<Index>> {
        let mut indices = Vec::new();
        loop {
            indices.push(self.index()?);
            let more = matches!(self.kind(), Kind::Sign(";" | ",")) && self.ahead(1) == Kind::Name;
            if !(more && self.ahead(2) == Kind::Sign(":")) {
                return Ok(indices);
            }
            self.advance();
        }
    }

    /// `x:{0..3}`.
    pub(super) fn index(&mut self) -> Parsed<Index> {
        let name = self.name("the name of an index")?;
        self.expect(":", "after the index")?;
        self.expect("{", "before the values of the index")?;
        let mut values = Vec::new();
        loop {
            let low = self.expression()?;
            values.push(if self.take("..") { Values::Range(low, self.expression()?) } else { Values::One(low) });
            if !self.take(",") {
                break;
            }
        }
        self.expect("}", "after the values of the index")?;
        Ok(Index { name, values })
    }
}
