//! Blocks of statements.

use super::super::ast::{Block, Collection, DefineBody, Expr, ExprId, Statement, StatementKind};
use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::program::{Change, Ex, ExId, Query, St};
use super::{Binding, Lowered, Lowering, Own, Ty, Variable};

impl Lowering<'_> {
    /// A block; its own variables are forgotten after it.
    pub(super) fn block(&mut self, block: &Block, own: &mut Own, returns: bool) -> Lowered<Box<[St]>> {
        let depth = self.scope.len();
        let mut out = Vec::new();
        let mut result = Ok(());
        for statement in block {
            result = self.statement(statement, own, returns, &mut out);
            if result.is_err() {
                break;
            }
        }
        self.scope.truncate(depth);
        result?;
        Ok(out.into())
    }

    fn statement(&mut self, statement: &Statement, own: &mut Own, returns: bool, out: &mut Vec<St>) -> Lowered<()> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(name, at, value) => self.assign(name, at, *value, span, own, out),
            StatementKind::Local(name, value) => {
                let (value, ty) = match value {
                    None => (self.intern(Ex::Const(0)), Ty::Any),
                    Some(value) => match self.taken(*value, own, out)? {
                        Some(value) => (value, Ty::Any),
                        None => self.expr(*value, own)?,
                    },
                };
                let binder = self.binder();
                own.bound.push(binder);
                out.push(St::SetLocal(own.bound.len() as u16 - 1, value));
                self.scope.push((name.clone(), Binding::Local(binder, ty)));
                self.drop_taken(&statement.kind, own, out)
            }
            StatementKind::If(condition, then, otherwise) => {
                let condition = self.condition(*condition, own)?;
                let then = self.block(then, own, returns)?;
                let otherwise = self.block(otherwise, own, returns)?;
                out.push(St::If(condition, then, otherwise));
                Ok(())
            }
            StatementKind::While(condition, body) => {
                let condition = self.condition(*condition, own)?;
                let body = self.block(body, own, returns)?;
                out.push(St::While(condition, body, self.place(span)));
                Ok(())
            }
            StatementKind::Method(name, at, method, args) => self.change(name, at, method, args, span, own, out),
            StatementKind::Call(name, args) => self.call_block(name, args, span, own, returns, out),
            StatementKind::Return(value) if returns => {
                let value = match value {
                    None => self.intern(Ex::Const(0)),
                    Some(value) => self.expr(*value, own)?.0,
                };
                out.push(St::Return(value));
                Ok(())
            }
            StatementKind::Return(_) => {
                self.error(Code::Syntax, span, "`return` has a meaning only in operations of an #object")
            }
        }
    }

    fn assign(
        &mut self,
        name: &str,
        at: &[ExprId],
        value: ExprId,
        span: Span,
        own: &mut Own,
        out: &mut Vec<St>,
    ) -> Lowered<()> {
        let taken = self.taken(value, own, out)?;
        let (new, ty) = match taken {
            Some(new) => (new, Ty::Any),
            None => self.expr(value, own)?,
        };
        if let Some(binding) = self.local(name).cloned() {
            let slot = match binding {
                Binding::Local(binder, _) => own.bound.iter().position(|&other| other == binder),
                Binding::Known(..) => None,
            };
            let (Some(slot), []) = (slot, at) else {
                return Err(Box::new(
                    Diagnostic::new(Code::Type, span, format!("`{name}` is a parameter and cannot be assigned"))
                        .help("use a variable that is declared with var"),
                ));
            };
            out.push(St::SetLocal(slot as u16, new));
        } else {
            let Some(Variable::Words { at: base, sizes, bounds, ty: wanted }) = self.variables.get(name).cloned()
            else {
                return Err(self.not_assignable(name, span));
            };
            self.check_type(ty, wanted, self.model.expr_span(value))?;
            let offsets = self.offsets(name, &sizes, at, span, own)?;
            let place = self.place(span);
            let fixed = match offsets.as_slice() {
                [] => Some(0),
                [(index, _)] => self.known(*index),
                _ => None,
            };
            out.push(match fixed {
                Some(index) => St::Set { at: base + index as u32, bounds, value: new, place },
                None => St::SetElement { base, at: offsets.into(), bounds, value: new, place },
            });
        }
        if taken.is_some() {
            self.remove_taken(value, own, out)?;
        }
        Ok(())
    }

    fn known(&self, id: ExId) -> Option<i32> {
        match self.exprs[id.0 as usize] {
            Ex::Const(value) => Some(value),
            _ => None,
        }
    }

    fn not_assignable(&self, name: &str, span: Span) -> Box<Diagnostic> {
        let is_constant = self.constants.contains_key(name) || self.defines.contains_key(name);
        match (is_constant, self.variables.contains_key(name)) {
            (true, _) => Box::new(
                Diagnostic::new(Code::Type, span, format!("`{name}` is a constant and cannot be assigned"))
                    .help("declare it with var"),
            ),
            (_, true) => Box::new(
                Diagnostic::new(Code::Type, span, format!("`{name}` is a collection and cannot be assigned"))
                    .help("use its methods"),
            ),
            _ => self.unknown_name(name, span),
        }
    }

    /// `q.Dequeue()` and `s.Pop()` as values: first what they give, then, after the assignment, the removal.
    fn taken(&mut self, value: ExprId, own: &mut Own, _out: &mut [St]) -> Lowered<Option<ExId>> {
        let Expr::Method(name, at, method, args) = self.model.expr(value) else { return Ok(None) };
        let span = self.model.expr_span(value);
        if !matches!(method.as_str(), "Dequeue" | "Pop") || !args.is_empty() {
            return Ok(None);
        }
        let (of, kind) = self.collection(name, at, span, own)?;
        let query = match (kind, method.as_str()) {
            (Collection::Queue, "Dequeue") => Query::First,
            (Collection::Stack, "Pop") => Query::Last,
            _ => return Err(self.no_method(kind, method, span)),
        };
        let place = self.place(span);
        Ok(Some(self.intern(Ex::Query { of, query, args: Box::default(), place })))
    }

    fn remove_taken(&mut self, value: ExprId, own: &mut Own, out: &mut Vec<St>) -> Lowered<()> {
        let Expr::Method(name, at, method, _) = self.model.expr(value) else { return Ok(()) };
        self.change(name, at, method, &[], self.model.expr_span(value), own, out)
    }

    /// The removal that belongs to `var x = q.Dequeue();`.
    fn drop_taken(&mut self, kind: &StatementKind, own: &mut Own, out: &mut Vec<St>) -> Lowered<()> {
        let StatementKind::Local(_, Some(value)) = kind else { return Ok(()) };
        match self.model.expr(*value) {
            Expr::Method(_, _, method, args) if matches!(method.as_str(), "Dequeue" | "Pop") && args.is_empty() => {
                self.remove_taken(*value, own, out)
            }
            _ => Ok(()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a statement, taken apart by the callers")]
    fn change(
        &mut self,
        name: &str,
        at: &[ExprId],
        method: &str,
        args: &[ExprId],
        span: Span,
        own: &mut Own,
        out: &mut Vec<St>,
    ) -> Lowered<()> {
        let (of, kind) = self.collection(name, at, span, own)?;
        let (change, arity) = match (kind, method) {
            (_, "Clear") => (Change::Clear, 0),
            (Collection::Queue, "Enqueue" | "Add") => (Change::PushBack, 1),
            (Collection::Queue, "Dequeue") => (Change::PopFront, 0),
            (Collection::Stack, "Push") => (Change::PushBack, 1),
            (Collection::Stack, "Pop") => (Change::PopBack, 0),
            (Collection::Set, "Add" | "Insert") => (Change::Insert, 1),
            (Collection::Set | Collection::List, "Remove") => (Change::Remove, 1),
            (Collection::List, "Add") => (Change::PushBack, 1),
            (Collection::List, "Insert") => (Change::InsertAt, 2),
            (Collection::List, "Set") => (Change::SetAt, 2),
            (Collection::List | Collection::Queue, "RemoveAt") => (Change::RemoveAt, 1),
            _ => return Err(self.no_method(kind, method, span)),
        };
        if args.len() != arity {
            return Err(self.wrong_arity(method, arity, args.len(), span));
        }
        let args = args.iter().map(|&arg| Ok(self.expr(arg, own)?.0)).collect::<Lowered<Vec<_>>>()?;
        out.push(St::Change { of, change, args: args.into(), place: self.place(span) });
        Ok(())
    }

    /// A definition that is a block, put in here.
    fn call_block(
        &mut self,
        name: &str,
        args: &[ExprId],
        span: Span,
        own: &mut Own,
        returns: bool,
        out: &mut Vec<St>,
    ) -> Lowered<()> {
        let model = self.model;
        let Some(&at) = self.defines.get(name) else {
            return Err(Box::new(
                Diagnostic::new(Code::Unknown, span, format!("there is no definition `{name}`"))
                    .help("write it as a macro, as in #define reset() { x = 0; }"),
            ));
        };
        let define = &model.defines[at];
        let DefineBody::Block(body) = &define.body else {
            return self.error(Code::Type, span, format!("`{name}` is a value, not a block of statements"));
        };
        let bindings = self.arguments(define, args, span, own)?;
        let body = self.expanding(name, span, bindings, |this| this.block(body, own, returns))?;
        out.extend(body);
        Ok(())
    }
}
