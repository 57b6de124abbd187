//! Processes.

use super::super::ast::{Action, Event, EventSet, ExprId, If, Join, Proc, ProcId, Step};
use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::token::Kind;
use super::{Parsed, Parser};

/// Joins, from the loosest to the tightest.
const LEVELS: [Join; 7] =
    [Join::Interleave, Join::Parallel, Join::General, Join::External, Join::Internal, Join::Sequence, Join::Interrupt];

/// What stands before an operand and is wrapped around it once it is read.
enum Wrap {
    Steps(Vec<Step>, Span),
    Guard(ExprId, Span),
}

impl Parser<'_> {
    pub(super) fn process(&mut self) -> Parsed<ProcId> {
        self.nested(|this| {
            let first = this.operand()?;
            let (mut joins, mut operands) = (Vec::new(), vec![first]);
            while let Some(join) = this.join() {
                this.advance();
                // A sequence may end with its sign, as statements do.
                if join == Join::Sequence && matches!(this.kind(), Kind::Sign("}" | ")")) {
                    break;
                }
                joins.push(join);
                operands.push(this.operand()?);
            }
            this.fold(&joins, &operands, 0)
        })
    }

    /// Groups operands by how tight the joins between them bind.
    fn fold(&mut self, joins: &[Join], operands: &[ProcId], level: usize) -> Parsed<ProcId> {
        if joins.is_empty() {
            return Ok(operands[0]);
        }
        let mut parts = Vec::new();
        let mut from = 0;
        for at in 0..=joins.len() {
            if at == joins.len() || joins[at] == LEVELS[level] {
                parts.push(self.fold(&joins[from..at], &operands[from..=at], level + 1)?);
                from = at + 1;
            }
        }
        if parts.len() == 1 {
            return Ok(parts[0]);
        }
        let span = self.model.proc_span(parts[0]).to(self.model.proc_span(parts[parts.len() - 1]));
        self.add_proc(Proc::Join(LEVELS[level], parts), span)
    }

    /// The join that stands here, if what follows is part of this process.
    fn join(&self) -> Option<Join> {
        if self.is_word("interrupt") {
            return Some(Join::Interrupt);
        }
        let Kind::Sign(sign) = self.kind() else { return None };
        match sign {
            ";" => (!self.ends_definition()).then_some(Join::Sequence),
            _ => choice(sign),
        }
    }

    /// Whether the semicolon here ends a definition: what follows begins a declaration, or the text ends.
    fn ends_definition(&self) -> bool {
        match self.ahead(1) {
            Kind::End | Kind::Directive | Kind::Sign(";") => true,
            Kind::Name => {
                let word = self.slice(self.tokens[self.at + 1].span);
                if matches!(word, "var" | "hvar" | "channel" | "enum") || self.ahead(2) == Kind::Sign("=") {
                    return true;
                }
                self.ahead(2) == Kind::Sign("(") && self.head_follows(3)
            }
            _ => false,
        }
    }

    /// Whether names, a closing bracket and `=` follow: the head of a definition.
    fn head_follows(&self, mut n: usize) -> bool {
        loop {
            match self.ahead(n) {
                Kind::Name | Kind::Sign(",") => n += 1,
                Kind::Sign(")") => return self.ahead(n + 1) == Kind::Sign("="),
                _ => return false,
            }
        }
    }

    /// A process with the guards and arrows before it and the hiding after it.
    fn operand(&mut self) -> Parsed<ProcId> {
        let start = self.span();
        let mut wraps = Vec::new();
        let mut inner = loop {
            if self.is("[") {
                let span = self.span();
                self.advance();
                let guard = self.expression()?;
                self.expect("]", "after the guard")?;
                wraps.push(Wrap::Guard(guard, span));
            } else if let Some(step) = self.step()? {
                self.expect("->", "after the event")?;
                match wraps.last_mut() {
                    Some(Wrap::Steps(steps, _)) => steps.push(step),
                    _ => {
                        let span = step.span;
                        wraps.push(Wrap::Steps(vec![step], span));
                    }
                }
            } else {
                break self.atom()?;
            }
        };
        for wrap in wraps.into_iter().rev() {
            let end = self.last();
            inner = match wrap {
                Wrap::Steps(steps, span) => self.add_proc(Proc::Prefix(steps, inner), span.to(end))?,
                Wrap::Guard(guard, span) => self.add_proc(Proc::Guard(guard, inner), span.to(end))?,
            };
        }
        while self.take("\\") {
            self.expect("{", "before the hidden events")?;
            let events = self.event_sets()?;
            self.expect("}", "after the hidden events")?;
            inner = self.add_proc(Proc::Hide(inner, events), start.to(self.last()))?;
        }
        Ok(inner)
    }

    /// What stands before an arrow, or nothing when a process begins here.
    fn step(&mut self) -> Parsed<Option<Step>> {
        let start = self.span();
        let action = match (self.kind(), self.ahead(1)) {
            (Kind::Sign("{"), _) => Action::Tau,
            (Kind::Name, Kind::Sign("!" | "?" | "[")) => return self.communication().map(Some),
            (Kind::Name, Kind::Sign("." | "{" | "->")) => {
                if matches!(self.slice(start), "case" | "atomic") {
                    return Ok(None);
                }
                if self.take_word("tau") { Action::Tau } else { Action::Event(self.event()?) }
            }
            _ => return Ok(None),
        };
        let block = if self.is("{") { Some(self.block()?) } else { None };
        Ok(Some(Step { action, block, span: start.to(self.last()) }))
    }

    pub(super) fn event(&mut self) -> Parsed<Event> {
        let name = self.name("the name of an event")?;
        let mut args = Vec::new();
        while self.take(".") {
            args.push(self.value()?);
        }
        Ok(Event { name, args })
    }

    fn communication(&mut self) -> Parsed<Step> {
        let start = self.span();
        let channel = self.name("the name of a channel")?;
        let at = self.bracketed("after the index of the channel")?;
        let action = if self.take("!") {
            Action::Send { channel, at, args: self.message()? }
        } else {
            self.expect("?", "or `!` after the channel")?;
            let guard = self.bracketed("after the guard")?;
            Action::Receive { channel, at, guard, args: self.message()? }
        };
        let block = if self.is("{") { Some(self.block()?) } else { None };
        Ok(Step { action, block, span: start.to(self.last()) })
    }

    /// `a.b.c`, maybe nothing.
    fn message(&mut self) -> Parsed<Vec<ExprId>> {
        let mut args = Vec::new();
        if matches!(self.kind(), Kind::Sign("->" | "{")) {
            return Ok(args);
        }
        loop {
            args.push(self.value()?);
            if !self.take(".") {
                return Ok(args);
            }
        }
    }

    /// `a, b.1, x:{0..2}@c.x`, up to a closing brace that is left.
    pub(super) fn event_sets(&mut self) -> Parsed<Vec<EventSet>> {
        let mut sets = Vec::new();
        while !self.is("}") {
            let indices = if self.kind() == Kind::Name && self.ahead(1) == Kind::Sign(":") {
                let indices = self.indices()?;
                self.expect("@", "after the indices")?;
                indices
            } else {
                Vec::new()
            };
            sets.push(EventSet { indices, event: self.event()? });
            if !self.take(",") {
                break;
            }
        }
        Ok(sets)
    }

    fn atom(&mut self) -> Parsed<ProcId> {
        let start = self.span();
        match self.kind() {
            Kind::Sign("(") => {
                self.advance();
                let inner = self.process()?;
                self.expect(")", "to close the bracket")?;
                Ok(inner)
            }
            Kind::Sign(sign) => match choice(sign) {
                Some(join) => self.indexed(join),
                None => Err(self.unexpected("a process")),
            },
            Kind::Name => self.named_process(start),
            _ => Err(self.unexpected("a process")),
        }
    }

    fn indexed(&mut self, join: Join) -> Parsed<ProcId> {
        let start = self.span();
        self.advance();
        if self.take("{") {
            if self.is("..") {
                let message = "an unbounded number of processes has no finite state space";
                return Err(Box::new(
                    Diagnostic::new(Code::Unsupported, self.span(), message)
                        .help("give the number of processes, as in |||{3}@P()"),
                ));
            }
            let count = self.expression()?;
            self.expect("}", "after the number of copies")?;
            self.expect("@", "after the number of copies")?;
            let body = self.process()?;
            return self.add_proc(Proc::Replicated(join, count, body), start.to(self.last()));
        }
        let indices = self.indices()?;
        self.expect("@", "after the indices")?;
        let body = self.process()?;
        self.add_proc(Proc::Indexed(join, indices, body), start.to(self.last()))
    }

    fn named_process(&mut self, start: Span) -> Parsed<ProcId> {
        let name = self.name("a process")?;
        match name.text.as_str() {
            "Stop" | "Skip" => {
                if self.take("(") {
                    self.expect(")", "after the bracket")?;
                }
                let proc = if name.text == "Stop" { Proc::Stop } else { Proc::Skip };
                self.add_proc(proc, start)
            }
            "if" => self.if_process(If::Step, start),
            "ifa" => self.if_process(If::Atomic, start),
            "ifb" => self.if_process(If::Blocking, start),
            "case" => self.case(start),
            "atomic" => {
                let inner = self.braced()?;
                self.add_proc(Proc::Atomic(inner), start.to(self.last()))
            }
            "assert" if self.is("(") => {
                self.advance();
                let condition = self.expression()?;
                self.expect(")", "after the condition")?;
                self.add_proc(Proc::Assert(condition), start.to(self.last()))
            }
            _ => {
                let args = if self.take("(") {
                    let args = self.list(")")?;
                    self.expect(")", "after the arguments")?;
                    args
                } else {
                    Vec::new()
                };
                self.add_proc(Proc::Call(name, args), start.to(self.last()))
            }
        }
    }

    fn braced(&mut self) -> Parsed<ProcId> {
        self.expect("{", "before the process")?;
        let inner = self.process()?;
        self.expect("}", "after the process")?;
        Ok(inner)
    }

    fn if_process(&mut self, kind: If, start: Span) -> Parsed<ProcId> {
        self.expect("(", "before the condition")?;
        let condition = self.expression()?;
        self.expect(")", "after the condition")?;
        let then = self.braced()?;
        let otherwise = if kind != If::Blocking && self.take_word("else") {
            Some(if self.is("{") { self.braced()? } else { self.nested(Self::atom)? })
        } else {
            None
        };
        self.add_proc(Proc::If(kind, condition, then, otherwise), start.to(self.last()))
    }

    fn case(&mut self, start: Span) -> Parsed<ProcId> {
        self.expect("{", "after `case`")?;
        let (mut cases, mut default) = (Vec::new(), None);
        while !self.take("}") {
            if self.take_word("default") {
                self.expect(":", "after `default`")?;
                default = Some(self.process()?);
                self.expect("}", "after the default")?;
                break;
            }
            let condition = self.expression()?;
            self.expect(":", "after the condition")?;
            cases.push((condition, self.process()?));
        }
        self.add_proc(Proc::Case(cases, default), start.to(self.last()))
    }
}

fn choice(sign: &str) -> Option<Join> {
    Some(match sign {
        "|||" => Join::Interleave,
        "||" => Join::Parallel,
        "[]" => Join::General,
        "[*]" => Join::External,
        "<>" => Join::Internal,
        _ => return None,
    })
}
