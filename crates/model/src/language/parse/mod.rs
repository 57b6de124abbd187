//! From tokens to a model as it is written.
//!
//! Operators of processes bind, from the loosest to the tightest: `|||`, `||`, `[]`, `[*]`, `<>`, `;`, `interrupt`,
//! hiding, guards and arrows, as the grammar in PAT's manual has it. An indexed operator (`[] x:{0..2}@P`) reaches as far
//! to the right as it can.
//!
//! Invariant: recursion is bounded by `DEPTH_MAX`, and so is the depth of what is built.

mod assertion;
mod declaration;
mod expression;
mod process;
mod statement;

use super::ast::{Expr, ExprId, Model, Name, Proc, ProcId};
use super::diagnostic::{Code, Diagnostic, Span};
use super::token::{Kind, Token, tokens};

/// How deep brackets, expressions and processes may nest.
pub(crate) const DEPTH_MAX: u16 = 150;

type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Reads a whole model.
pub(crate) fn parse(text: &str) -> Parsed<Model> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        depth: 0,
        model: Model::default(),
        expr_depth: Vec::new(),
        proc_depth: Vec::new(),
    };
    while parser.kind() != Kind::End {
        parser.declaration()?;
    }
    Ok(parser.model)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: u16,
    model: Model,
    expr_depth: Vec<u16>,
    proc_depth: Vec<u16>,
}

impl<'a> Parser<'a> {
    fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of what was taken last.
    fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The kind of the token `n` places ahead.
    fn ahead(&self, n: usize) -> Kind {
        self.tokens.get(self.at + n).map_or(Kind::End, |token| token.kind)
    }

    fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn advance(&mut self) {
        // The last token is `End` and stays.
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.kind(), Kind::Sign(found) if found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        self.kind() == Kind::Name && self.slice(self.span()) == word
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, sign: &str, place: &str) -> Parsed<()> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}` {place}"))) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        if self.kind() != Kind::Name {
            return Err(self.unexpected(what));
        }
        let span = self.span();
        self.advance();
        Ok(Name { text: self.slice(span).to_owned(), span })
    }

    /// The error that something else was expected here.
    fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        let found = match self.kind() {
            Kind::End => "the text ends".to_owned(),
            _ => {
                let text: String = self.slice(self.span()).chars().take(40).collect();
                format!("found `{text}`")
            }
        };
        Box::new(Diagnostic::new(Code::Syntax, self.span(), format!("{found} where {expected} is expected")))
    }

    /// Goes one level deeper, for as long as `inner` runs.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            return Err(self.too_deep(self.span()));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&self, span: Span) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::new(Code::TooDeep, span, format!("this nests more than {DEPTH_MAX} levels deep"))
                .help("give the inner part a name of its own"),
        )
    }

    fn add_expr(&mut self, expr: Expr, span: Span) -> Parsed<ExprId> {
        let depth = 1 + self.parts(&expr).iter().map(|id| self.expr_depth[id.0 as usize]).max().unwrap_or(0);
        if depth > DEPTH_MAX {
            return Err(self.too_deep(span));
        }
        let id = ExprId(self.model.exprs.len() as u32);
        self.model.exprs.push((expr, span));
        self.expr_depth.push(depth);
        Ok(id)
    }

    /// The expressions directly inside of one.
    fn parts(&self, expr: &Expr) -> Vec<ExprId> {
        match expr {
            Expr::Number(_) | Expr::Bool(_) | Expr::Name(_) => Vec::new(),
            Expr::Element(_, parts) | Expr::Call(_, parts) => parts.clone(),
            Expr::Unary(_, part) | Expr::Indexed(_, _, part) => vec![*part],
            Expr::Binary(_, a, b) => vec![*a, *b],
            Expr::Method(_, at, _, args) => at.iter().chain(args).copied().collect(),
        }
    }

    fn add_proc(&mut self, proc: Proc, span: Span) -> Parsed<ProcId> {
        let inner = |id: &ProcId| self.proc_depth[id.0 as usize];
        let depth = 1 + match &proc {
            Proc::Stop | Proc::Skip | Proc::Call(..) | Proc::Assert(_) => 0,
            Proc::Prefix(_, p)
            | Proc::Indexed(_, _, p)
            | Proc::Replicated(_, _, p)
            | Proc::Guard(_, p)
            | Proc::Atomic(p)
            | Proc::Hide(p, _) => inner(p),
            Proc::Join(_, list) => list.iter().map(inner).max().unwrap_or(0),
            Proc::If(_, _, p, q) => inner(p).max(q.as_ref().map_or(0, inner)),
            Proc::Case(list, p) => list.iter().map(|(_, p)| inner(p)).chain(p.as_ref().map(inner)).max().unwrap_or(0),
        };
        if depth > DEPTH_MAX {
            return Err(self.too_deep(span));
        }
        let id = ProcId(self.model.procs.len() as u32);
        self.model.procs.push((proc, span));
        self.proc_depth.push(depth);
        Ok(id)
    }
}
