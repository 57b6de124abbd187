//! Expressions: names, types, definitions put in, constants folded.

use super::super::ast::{Binary, Collection, Define, DefineBody, Expr, ExprId, Index, Unary, Values};
use super::super::diagnostic::{Code, Diagnostic, Span, nearest};
use super::super::program::{Ex, ExId, Op, Query, Segment};
use super::{Binding, EXPANSION_MAX, Lowered, Lowering, Own, Ty, Variable, WORK_MAX};

impl<'a> Lowering<'a> {
    /// An expression of the table, folded when all in it is known.
    pub(super) fn intern(&mut self, ex: Ex) -> ExId {
        let ex = self.folded(&ex).unwrap_or(ex);
        if let Some(&id) = self.expr_ids.get(&ex) {
            return id;
        }
        let id = ExId(self.exprs.len() as u32);
        self.exprs.push(ex.clone());
        self.expr_ids.insert(ex, id);
        id
    }

    fn folded(&self, ex: &Ex) -> Option<Ex> {
        let known = |id: &ExId| match self.exprs[id.0 as usize] {
            Ex::Const(value) => Some(value),
            _ => None,
        };
        let value = match ex {
            Ex::Not(a) => i32::from(known(a)? == 0),
            Ex::Neg(a, _) => known(a)?.checked_neg()?,
            Ex::And(a, b) => match (known(a), known(b)) {
                (Some(0), _) => 0,
                (Some(_), Some(b)) => i32::from(b != 0),
                _ => return None,
            },
            Ex::Or(a, b) => match (known(a), known(b)) {
                (Some(0), Some(b)) => i32::from(b != 0),
                (Some(a), _) if a != 0 => 1,
                _ => return None,
            },
            Ex::Bin(op, a, b, place) => super::super::eval::compute(*op, known(a)?, known(b)?, *place).ok()?,
            _ => return None,
        };
        Some(Ex::Const(value))
    }

    pub(super) fn expr(&mut self, id: ExprId, own: &mut Own) -> Lowered<(ExId, Ty)> {
        let model = self.model;
        let span = model.expr_span(id);
        self.work += 1;
        if self.work > WORK_MAX {
            let message = format!("definitions put in make more than {WORK_MAX} expressions");
            return self.error(Code::TooLarge, span, message);
        }
        match model.expr(id) {
            Expr::Number(value) => Ok((self.intern(Ex::Const(*value)), Ty::Int)),
            Expr::Bool(value) => Ok((self.intern(Ex::Const(i32::from(*value))), Ty::Bool)),
            Expr::Name(name) => self.name(name, span, own),
            Expr::Element(name, at) => self.element(name, at, span, own),
            Expr::Unary(op, inner) => {
                let wanted = if *op == Unary::Not { Ty::Bool } else { Ty::Int };
                let value = self.typed(*inner, wanted, own)?;
                let place = self.place(span);
                let ex = if *op == Unary::Not { Ex::Not(value) } else { Ex::Neg(value, place) };
                Ok((self.intern(ex), wanted))
            }
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b, span, own),
            Expr::Indexed(op, indices, body) => self.indexed_expr(*op, indices, *body, own),
            Expr::Call(name, args) => self.call_expr(name, args, span, own),
            Expr::Method(name, at, method, args) => self.method_expr(name, at, method, args, span, own),
        }
    }

    /// An expression that must have a type.
    pub(super) fn typed(&mut self, id: ExprId, wanted: Ty, own: &mut Own) -> Lowered<ExId> {
        let (value, ty) = self.expr(id, own)?;
        self.check_type(ty, wanted, self.model.expr_span(id))?;
        Ok(value)
    }

    pub(super) fn condition(&mut self, id: ExprId, own: &mut Own) -> Lowered<ExId> {
        self.typed(id, Ty::Bool, own)
    }

    pub(super) fn check_type(&self, ty: Ty, wanted: Ty, span: Span) -> Lowered<()> {
        match (wanted, ty) {
            (Ty::Bool, Ty::Int) => Err(Box::new(
                Diagnostic::new(Code::Type, span, "this is a number, and a condition is expected")
                    .help("compare it, as in x != 0"),
            )),
            (Ty::Int, Ty::Bool) => self.error(Code::Type, span, "this is true or false, and a number is expected"),
            _ => Ok(()),
        }
    }

    pub(super) fn name(&mut self, name: &str, span: Span, own: &mut Own) -> Lowered<(ExId, Ty)> {
        match self.local(name).cloned() {
            Some(Binding::Known(id, ty)) => return Ok((id, ty)),
            Some(Binding::Local(binder, ty)) => {
                let ex = match own.bound.iter().position(|&other| other == binder) {
                    Some(at) => Ex::Bound(at as u16),
                    None => Ex::Local(own.position(binder)),
                };
                return Ok((self.intern(ex), ty));
            }
            None => {}
        }
        if let Some(&value) = self.constants.get(name) {
            return Ok((self.intern(Ex::Const(value)), Ty::Int));
        }
        if self.defines.contains_key(name) {
            return self.expand(name, &[], span, own);
        }
        match self.variables.get(name) {
            Some(Variable::Words { at, sizes, ty, .. }) if sizes.is_empty() => {
                let (at, ty) = (*at, *ty);
                Ok((self.intern(Ex::Global(at)), ty))
            }
            Some(Variable::Words { sizes, .. }) => {
                let message = format!("`{name}` is an array with {} indices", sizes.len());
                Err(Box::new(
                    Diagnostic::new(Code::Type, span, message).help(format!("name an element, as in {name}[0]")),
                ))
            }
            Some(Variable::Segments { .. }) => {
                let message = format!("`{name}` is a collection, not a value");
                Err(Box::new(
                    Diagnostic::new(Code::Type, span, message).help(format!("ask it something, as in {name}.Count()")),
                ))
            }
            None => Err(self.unknown_name(name, span)),
        }
    }

    pub(super) fn unknown_name(&self, name: &str, span: Span) -> Box<Diagnostic> {
        let locals = self.scope[self.barrier..].iter().map(|(name, _)| name.as_str());
        let known = self.variables.keys().chain(self.constants.keys()).chain(self.defines.keys()).copied();
        let error = Diagnostic::new(Code::Unknown, span, format!("there is no variable or constant `{name}`"));
        Box::new(match nearest(name, locals.chain(known)) {
            Some(other) => error.help(format!("did you mean `{other}`?")),
            None => error.help("declare it with var or #define"),
        })
    }

    /// The words of an array's element.
    pub(super) fn offsets(
        &mut self,
        name: &str,
        sizes: &[u32],
        at: &[ExprId],
        span: Span,
        own: &mut Own,
    ) -> Lowered<Vec<(ExId, u32)>> {
        if sizes.len() != at.len() {
            let message = match sizes.len() {
                0 => format!("`{name}` is not an array"),
                count => format!("`{name}` has {count} indices, and {} are given", at.len()),
            };
            return self.error(Code::Arity, span, message);
        }
        let mut list = Vec::new();
        for (&index, &size) in at.iter().zip(sizes) {
            let value = self.typed(index, Ty::Int, own)?;
            if let Ex::Const(known) = self.exprs[value.0 as usize]
                && (known < 0 || known as u32 >= size)
            {
                let message = format!("index {known} is outside of `{name}`, whose indices are 0 to {}", size - 1);
                return self.error(Code::Range, self.model.expr_span(index), message);
            }
            list.push((value, size));
        }
        Ok(list)
    }

    fn element(&mut self, name: &str, at: &[ExprId], span: Span, own: &mut Own) -> Lowered<(ExId, Ty)> {
        let Some(Variable::Words { at: base, sizes, ty, .. }) = self.variables.get(name).cloned() else {
            return Err(match self.variables.contains_key(name) || self.local(name).is_some() {
                true => Box::new(Diagnostic::new(Code::Type, span, format!("`{name}` is not an array"))),
                false => self.unknown_name(name, span),
            });
        };
        let list = self.offsets(name, &sizes, at, span, own)?;
        let place = self.place(span);
        let ex = match list.as_slice() {
            [(index, len)] => match self.exprs[index.0 as usize] {
                Ex::Const(value) => Ex::Global(base + value as u32),
                _ => Ex::Element { base, len: *len, index: *index, place },
            },
            _ => Ex::Elements { base, at: list.into(), place },
        };
        Ok((self.intern(ex), ty))
    }

    fn binary(&mut self, op: Binary, a: ExprId, b: ExprId, span: Span, own: &mut Own) -> Lowered<(ExId, Ty)> {
        let (op, takes, gives) = match op {
            Binary::And | Binary::Or => {
                let (a, b) = (self.condition(a, own)?, self.condition(b, own)?);
                let ex = if op == Binary::And { Ex::And(a, b) } else { Ex::Or(a, b) };
                return Ok((self.intern(ex), Ty::Bool));
            }
            Binary::Xor => (Op::Xor, Ty::Bool, Ty::Bool),
            Binary::BitOr => (Op::BitOr, Ty::Any, Ty::Any),
            Binary::BitXor => (Op::BitXor, Ty::Any, Ty::Any),
            Binary::BitAnd => (Op::BitAnd, Ty::Any, Ty::Any),
            Binary::Eq => (Op::Eq, Ty::Any, Ty::Bool),
            Binary::Ne => (Op::Ne, Ty::Any, Ty::Bool),
            Binary::Lt => (Op::Lt, Ty::Int, Ty::Bool),
            Binary::Le => (Op::Le, Ty::Int, Ty::Bool),
            Binary::Gt => (Op::Gt, Ty::Int, Ty::Bool),
            Binary::Ge => (Op::Ge, Ty::Int, Ty::Bool),
            Binary::Add => (Op::Add, Ty::Int, Ty::Int),
            Binary::Sub => (Op::Sub, Ty::Int, Ty::Int),
            Binary::Mul => (Op::Mul, Ty::Int, Ty::Int),
            Binary::Div => (Op::Div, Ty::Int, Ty::Int),
            Binary::Mod => (Op::Mod, Ty::Int, Ty::Int),
        };
        let (left, left_ty) = self.expr(a, own)?;
        let (right, right_ty) = self.expr(b, own)?;
        self.check_type(left_ty, takes, self.model.expr_span(a))?;
        self.check_type(right_ty, takes, self.model.expr_span(b))?;
        if takes == Ty::Any && left_ty != right_ty && left_ty != Ty::Any && right_ty != Ty::Any {
            return self.error(Code::Type, span, "a number and a truth value are never compared");
        }
        let gives = if gives == Ty::Any { left_ty } else { gives };
        let place = self.place(span);
        Ok((self.intern(Ex::Bin(op, left, right, place)), gives))
    }

    /// Every value of some indices that are constant.
    pub(super) fn constant_rows(&mut self, indices: &[Index]) -> Lowered<Vec<Vec<i32>>> {
        let mut rows = vec![Vec::new()];
        for index in indices {
            let mut values = Vec::new();
            for entry in &index.values {
                let (low, high) = match *entry {
                    Values::One(value) => (value, value),
                    Values::Range(low, high) => (low, high),
                };
                let (low, high) = (self.constant(low)?, self.constant(high)?);
                if i64::from(high) - i64::from(low) > 10_000 || values.len() > 10_000 {
                    return self.error(Code::TooLarge, index.name.span, "an index has at most 10000 values");
                }
                values.extend(low..=high);
            }
            if rows.len().saturating_mul(values.len()) > 10_000 {
                return self.error(Code::TooLarge, index.name.span, "the indices make more than 10000 combinations");
            }
            rows = rows
                .iter()
                .flat_map(|row| values.iter().map(move |&value| row.iter().copied().chain([value]).collect()))
                .collect();
        }
        Ok(rows)
    }

    fn indexed_expr(&mut self, op: Binary, indices: &[Index], body: ExprId, own: &mut Own) -> Lowered<(ExId, Ty)> {
        let rows = self.constant_rows(indices)?;
        let depth = self.scope.len();
        let mut result = self.intern(Ex::Const(i32::from(op == Binary::And)));
        for row in rows.into_iter().rev() {
            for (index, value) in indices.iter().zip(row) {
                let value = self.intern(Ex::Const(value));
                self.scope.push((index.name.text.clone(), Binding::Known(value, Ty::Int)));
            }
            let part = self.condition(body, own);
            self.scope.truncate(depth);
            let part = part?;
            let whole = if op == Binary::And { Ex::And(part, result) } else { Ex::Or(part, result) };
            // A part that decides nothing is left out.
            let neutral = Ex::Const(i32::from(op == Binary::And));
            result = if self.exprs[result.0 as usize] == neutral { part } else { self.intern(whole) };
        }
        Ok((result, Ty::Bool))
    }

    /// The arguments of a definition, bound to the names of its parameters.
    pub(super) fn arguments(
        &mut self,
        define: &Define,
        args: &[ExprId],
        span: Span,
        own: &mut Own,
    ) -> Lowered<Vec<(String, Binding)>> {
        if define.params.len() != args.len() {
            return Err(self.wrong_arity(&define.name.text, define.params.len(), args.len(), span));
        }
        let mut bindings = Vec::new();
        for (param, &arg) in define.params.iter().zip(args) {
            let (value, ty) = self.expr(arg, own)?;
            bindings.push((param.text.clone(), Binding::Known(value, ty)));
        }
        Ok(bindings)
    }

    /// A definition with its arguments, put in here.
    fn expand(&mut self, name: &str, args: &[ExprId], span: Span, own: &mut Own) -> Lowered<(ExId, Ty)> {
        let define = &self.model.defines[self.defines[name]];
        let DefineBody::Expr(body) = define.body else {
            return self.error(Code::Type, span, format!("`{name}` is a block of statements, not a value"));
        };
        let bindings = self.arguments(define, args, span, own)?;
        self.expanding(name, span, bindings, |this| this.expr(body, own))
    }

    /// Runs `inner` with only the bindings in sight.
    pub(super) fn expanding<T>(
        &mut self,
        name: &str,
        span: Span,
        bindings: Vec<(String, Binding)>,
        inner: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<T> {
        if self.expansion >= EXPANSION_MAX {
            let message = format!("the definition of `{name}` refers to itself, or to too many others");
            return self.error(Code::Recursion, span, message);
        }
        let (barrier, depth) = (self.barrier, self.scope.len());
        self.scope.extend(bindings);
        self.barrier = depth;
        self.expansion += 1;
        let result = inner(self);
        self.expansion -= 1;
        self.barrier = barrier;
        self.scope.truncate(depth);
        result
    }

    pub(super) fn wrong_arity(&self, name: &str, wanted: usize, given: usize, span: Span) -> Box<Diagnostic> {
        let s = if wanted == 1 { "" } else { "s" };
        let message = format!("`{name}` takes {wanted} argument{s}, and {given} are given");
        let names: Vec<String> = (1..=wanted.min(9)).map(|at| format!("a{at}")).collect();
        Box::new(Diagnostic::new(Code::Arity, span, message).help(format!("write `{name}({})`", names.join(", "))))
    }

    fn call_expr(&mut self, name: &str, args: &[ExprId], span: Span, own: &mut Own) -> Lowered<(ExId, Ty)> {
        if self.defines.contains_key(name) {
            return self.expand(name, args, span, own);
        }
        if matches!(name, "cfull" | "cempty" | "ccount" | "csize") {
            return self.about_channel(name, args, span, own);
        }
        let error = Diagnostic::new(Code::Unknown, span, format!("there is no definition `{name}`"));
        Err(Box::new(match nearest(name, self.defines.keys().copied()) {
            Some(other) => error.help(format!("did you mean `{other}`?")),
            None => error.help("write it as a macro, as in #define max(a, b) ...; C# methods cannot be called"),
        }))
    }

    fn about_channel(&mut self, what: &str, args: &[ExprId], span: Span, own: &mut Own) -> Lowered<(ExId, Ty)> {
        let [channel] = args else { return Err(self.wrong_arity(what, 1, args.len(), span)) };
        let (name, index) = match self.model.expr(*channel) {
            Expr::Name(name) => (name, None),
            Expr::Element(name, at) if at.len() == 1 => (name, Some(at[0])),
            _ => return self.error(Code::Type, span, "the name of a channel is expected"),
        };
        let Some(&(base, count)) = self.channels.get(name.as_str()) else {
            return self.error(Code::Unknown, span, format!("there is no channel `{name}`"));
        };
        let info = &self.infos[base as usize];
        let (segment, size) = (info.segment, info.size as i32);
        let size = self.intern(Ex::Const(size));
        let place = self.place(span);
        let messages = match segment {
            None => self.intern(Ex::Const(0)),
            Some(base) => {
                let index = index.map(|index| self.typed(index, Ty::Int, own)).transpose()?;
                self.intern(Ex::Messages { of: Segment { base, count, index }, place })
            }
        };
        Ok(match what {
            "csize" => (size, Ty::Int),
            "ccount" => (messages, Ty::Int),
            "cfull" => (self.intern(Ex::Bin(Op::Ge, messages, size, place)), Ty::Bool),
            _ => {
                let zero = self.intern(Ex::Const(0));
                (self.intern(Ex::Bin(Op::Eq, messages, zero, place)), Ty::Bool)
            }
        })
    }

    /// The collection that a method is called of.
    pub(super) fn collection(
        &mut self,
        name: &str,
        at: &[ExprId],
        span: Span,
        own: &mut Own,
    ) -> Lowered<(Segment, Collection)> {
        let Some(Variable::Segments { base, count, array, kind }) = self.variables.get(name).cloned() else {
            return Err(match self.variables.contains_key(name) {
                true => Box::new(Diagnostic::new(Code::Type, span, format!("`{name}` is not a collection"))),
                false => self.unknown_name(name, span),
            });
        };
        let index = match (array, at) {
            (false, []) => None,
            (true, [index]) => Some(self.typed(*index, Ty::Int, own)?),
            _ => return self.error(Code::Arity, span, format!("`{name}` has {} indices", u8::from(array))),
        };
        Ok((Segment { base, count, index }, kind))
    }

    fn method_expr(
        &mut self,
        name: &str,
        at: &[ExprId],
        method: &str,
        args: &[ExprId],
        span: Span,
        own: &mut Own,
    ) -> Lowered<(ExId, Ty)> {
        let (of, kind) = self.collection(name, at, span, own)?;
        let (query, arity, ty) = match (kind, method) {
            (_, "Count" | "Size" | "Length") => (Query::Count, 0, Ty::Int),
            (_, "IsEmpty" | "Empty") => (Query::IsEmpty, 0, Ty::Bool),
            (_, "Contains") => (Query::Contains, 1, Ty::Bool),
            (Collection::Queue | Collection::List, "First" | "Peek" | "Front") => (Query::First, 0, Ty::Int),
            (Collection::Queue | Collection::List, "Last") => (Query::Last, 0, Ty::Int),
            (Collection::Stack, "Peek" | "Top") => (Query::Last, 0, Ty::Int),
            (Collection::Set, "Min" | "First") => (Query::First, 0, Ty::Int),
            (Collection::Set, "Max" | "Last") => (Query::Last, 0, Ty::Int),
            (_, "Get" | "ElementAt") => (Query::Get, 1, Ty::Int),
            (Collection::List | Collection::Queue, "IndexOf") => (Query::IndexOf, 1, Ty::Int),
            (_, "Dequeue" | "Pop") => {
                return Err(Box::new(
                    Diagnostic::new(
                        Code::Type,
                        span,
                        format!("`{method}` changes `{name}`, and conditions and events only look"),
                    )
                    .help(format!("in a block, write x = {name}.{method}();")),
                ));
            }
            _ => return Err(self.no_method(kind, method, span)),
        };
        if args.len() != arity {
            return Err(self.wrong_arity(method, arity, args.len(), span));
        }
        let args = args.iter().map(|&arg| Ok(self.expr(arg, own)?.0)).collect::<Lowered<Vec<_>>>()?;
        let place = self.place(span);
        Ok((self.intern(Ex::Query { of, query, args: args.into(), place }), ty))
    }

    pub(super) fn no_method(&self, kind: Collection, method: &str, span: Span) -> Box<Diagnostic> {
        let (name, methods) = match kind {
            Collection::Queue => ("Queue", "Enqueue, Dequeue, First, Last, Get, IndexOf"),
            Collection::Stack => ("Stack", "Push, Pop, Peek, Get"),
            Collection::Set => ("Set", "Add, Remove, Min, Max, Get"),
            Collection::List => ("List", "Add, Insert, Remove, RemoveAt, Set, Get, IndexOf, First, Last"),
        };
        Box::new(
            Diagnostic::new(Code::Unknown, span, format!("a {name} has no method `{method}`"))
                .help(format!("there are {methods}, and for all collections Count, IsEmpty, Contains, Clear")),
        )
    }

    /// Whether an expression reads the data of the state.
    pub(super) fn reads_data(&self, id: ExId) -> bool {
        match &self.exprs[id.0 as usize] {
            Ex::Const(_) | Ex::Local(_) | Ex::Bound(_) => false,
            Ex::Not(a) | Ex::Neg(a, _) => self.reads_data(*a),
            Ex::And(a, b) | Ex::Or(a, b) | Ex::Bin(_, a, b, _) => self.reads_data(*a) || self.reads_data(*b),
            _ => true,
        }
    }
}
