//! Processes.

use super::super::ast::{Action, EventSet, Expr, ExprId, If, Index, Join, Name, Proc, ProcId, Step, Values};
use super::super::diagnostic::{Code, Diagnostic, Span, nearest};
use super::super::labels::Joint;
use super::super::program::{ChannelRef, Events, ExId, Node, Parts, Pattern, Ranges, Seen};
use super::{Binder, Binding, Lowered, Lowering, Own, Part, Ty};

impl<'a> Lowering<'a> {
    pub(super) fn process(&mut self, id: ProcId) -> Lowered<Part> {
        let model = self.model;
        let span = model.proc_span(id);
        match model.proc(id) {
            Proc::Stop => Ok(self.part(Node::Stop, Own::default())),
            Proc::Skip => Ok(self.skip()),
            Proc::Call(name, args) => self.call(name, args),
            Proc::Prefix(steps, tail) => self.prefix(steps, *tail),
            Proc::Join(join, list) => self.join(*join, list),
            Proc::Indexed(join, indices, body) => self.indexed(*join, indices, *body, span),
            Proc::Replicated(join, count, body) => self.replicated(*join, *count, *body, span),
            Proc::Guard(condition, inner) => {
                let mut own = Own::default();
                let condition = self.condition(*condition, &mut own)?;
                let inner = self.process(*inner)?;
                let inner = own.closure(&inner, &[]);
                Ok(self.part(Node::Guard(condition, inner), own))
            }
            Proc::If(kind, condition, then, otherwise) => self.conditional(*kind, *condition, *then, *otherwise),
            Proc::Case(cases, default) => {
                let mut own = Own::default();
                let mut list = Vec::new();
                for (condition, then) in cases {
                    let condition = self.condition(*condition, &mut own)?;
                    let then = self.process(*then)?;
                    list.push((condition, own.closure(&then, &[])));
                }
                let default = match default {
                    Some(default) => self.process(*default)?,
                    None => self.skip(),
                };
                let default = own.closure(&default, &[]);
                Ok(self.part(Node::Case(list.into(), default), own))
            }
            Proc::Atomic(body) => {
                let mut own = Own::default();
                let body = self.process(*body)?;
                let body = own.closure(&body, &[]);
                let run = self.node(Node::AtomicRun, &Own::default());
                Ok(self.part(Node::Atomic { body, run }, own))
            }
            Proc::Hide(body, sets) => self.hide(*body, sets),
            Proc::Assert(condition) => {
                let mut own = Own::default();
                let condition = self.condition(*condition, &mut own)?;
                let place = self.place(span);
                Ok(self.part(Node::Assert(condition, place), own))
            }
        }
    }

    fn skip(&mut self) -> Part {
        self.part(Node::Skip, Own::default())
    }

    pub(super) fn unknown_process(&self, name: &Name) -> Box<Diagnostic> {
        let error = Diagnostic::new(Code::Unknown, name.span, format!("there is no process `{}`", name.text));
        Box::new(match nearest(&name.text, self.definitions.keys().copied()) {
            Some(other) => error.help(format!("did you mean `{other}`?")),
            None => error.help(format!("define it, as in {}() = Skip;", name.text)),
        })
    }

    fn call(&mut self, name: &Name, args: &[ExprId]) -> Lowered<Part> {
        let Some(&def) = self.definitions.get(name.text.as_str()) else {
            return Err(self.unknown_process(name));
        };
        let wanted = self.model.definitions[def].params.len();
        if wanted != args.len() {
            return Err(self.wrong_arity(&name.text, wanted, args.len(), name.span));
        }
        let mut own = Own::default();
        let args = args.iter().map(|&arg| Ok(self.expr(arg, &mut own)?.0)).collect::<Lowered<Vec<_>>>()?;
        let lazy = args.iter().any(|&arg| self.reads_data(arg));
        Ok(self.part(Node::Call { def: def as u32, args: args.into(), lazy }, own))
    }

    /// Steps one after another. What a step receives is in sight of those after it.
    fn prefix(&mut self, steps: &'a [Step], tail: ProcId) -> Lowered<Part> {
        let depth = self.scope.len();
        let mut before = Vec::with_capacity(steps.len());
        let mut received = Vec::with_capacity(steps.len());
        let mut result = Ok(());
        for step in steps {
            before.push(self.scope.len());
            let bound = self.bind(step);
            received.push(bound.unwrap_or_else(|error| {
                result = Err(error);
                Vec::new()
            }));
        }
        let part = result.and_then(|()| self.process(tail));
        let part = part.and_then(|mut part| {
            for ((step, bound), &depth) in steps.iter().zip(received).zip(&before).rev() {
                part = self.step(step, bound, depth, &part)?;
            }
            Ok(part)
        });
        self.scope.truncate(depth);
        part
    }

    /// Makes known what a step receives; answers the variables that it binds, by position.
    fn bind(&mut self, step: &Step) -> Lowered<Vec<Option<Binder>>> {
        let Action::Receive { args, .. } = &step.action else { return Ok(Vec::new()) };
        let mut bound = Vec::new();
        let mut fresh: Vec<(String, Binding)> = Vec::new();
        for &arg in args {
            let Expr::Name(name) = self.model.expr(arg) else {
                bound.push(None);
                continue;
            };
            let span = self.model.expr_span(arg);
            if self.local(name).is_some()
                || self.constants.contains_key(name.as_str())
                || self.defines.contains_key(name.as_str())
            {
                bound.push(None);
            } else if self.variables.contains_key(name.as_str()) {
                return Err(Box::new(
                    Diagnostic::new(Code::Twice, span, format!("`{name}` is a variable of the model already"))
                        .help(format!("write ({name}) + 0 to wait for its value, or receive under another name")),
                ));
            } else if fresh.iter().any(|(other, _)| other == name) {
                return self.error(Code::Twice, span, format!("`{name}` is received twice"));
            } else {
                let binder = self.binder();
                fresh.push((name.clone(), Binding::Local(binder, Ty::Any)));
                bound.push(Some(binder));
            }
        }
        self.scope.extend(fresh);
        Ok(bound)
    }

    /// One step before a part. `depth` is how much of the scope is in sight before the step.
    fn step(&mut self, step: &Step, bound: Vec<Option<Binder>>, depth: usize, next: &Part) -> Lowered<Part> {
        let mut own = Own { list: Vec::new(), bound: bound.iter().flatten().copied().collect() };
        let mine = depth + own.bound.len();
        self.scope.truncate(mine);
        // Guards and blocks see what is received, messages and patterns do not.
        let guard = match &step.action {
            Action::Receive { guard: Some(guard), .. } => Some(self.condition(*guard, &mut own)?),
            _ => None,
        };
        let block = match &step.block {
            None => None,
            Some(block) => {
                let block = self.block(block, &mut own, false)?;
                Some(self.intern_block(block))
            }
        };
        self.scope.truncate(depth);
        let node = match &step.action {
            Action::Tau => Node::Event { seen: Seen::Tau, block, next: own.closure(next, &[]) },
            Action::Event(event) => {
                if self.channels.contains_key(event.name.text.as_str()) {
                    let name = &event.name.text;
                    return Err(Box::new(
                        Diagnostic::new(Code::Type, event.name.span, format!("`{name}` is a channel, not an event"))
                            .help(format!("write {name}!x to send and {name}?x to receive")),
                    ));
                }
                let args = self.values(&event.args, &mut own)?;
                let seen = Seen::Event(self.labels.name(&event.name.text, Joint::Dot), args);
                Node::Event { seen, block, next: own.closure(next, &[]) }
            }
            Action::Send { channel, at, args } => {
                let channel = self.channel_ref(channel, *at, &mut own)?;
                let args = self.values(args, &mut own)?;
                Node::Send { channel, args, block, next: own.closure(next, &[]) }
            }
            Action::Receive { channel, at, args, .. } => {
                let channel = self.channel_ref(channel, *at, &mut own)?;
                let mut patterns = Vec::new();
                for (&arg, bound) in args.iter().zip(bound) {
                    patterns.push(match bound {
                        Some(_) => Pattern::Bind,
                        None => Pattern::Equal(self.expr(arg, &mut own)?.0),
                    });
                }
                Node::Receive { channel, patterns: patterns.into(), guard, block, next: own.closure(next, &[]) }
            }
        };
        Ok(self.part(node, own))
    }

    fn values(&mut self, args: &[ExprId], own: &mut Own) -> Lowered<Box<[(ExId, bool)]>> {
        args.iter()
            .map(|&arg| {
                let (value, ty) = self.expr(arg, own)?;
                Ok((value, ty == Ty::Bool))
            })
            .collect()
    }

    fn channel_ref(&mut self, name: &Name, at: Option<ExprId>, own: &mut Own) -> Lowered<ChannelRef> {
        let Some(&(base, count)) = self.channels.get(name.text.as_str()) else {
            let error = Diagnostic::new(Code::Unknown, name.span, format!("there is no channel `{}`", name.text));
            return Err(Box::new(match nearest(&name.text, self.channels.keys().copied()) {
                Some(other) => error.help(format!("did you mean `{other}`?")),
                None => error.help(format!("declare it, as in channel {} 0;", name.text)),
            }));
        };
        let index = at.map(|at| self.typed(at, Ty::Int, own)).transpose()?;
        if index.is_none() && count > 1 {
            let message = format!("`{}` is an array of {count} channels", name.text);
            return self.error(Code::Arity, name.span, message);
        }
        Ok(ChannelRef { base, count, index, place: self.place(name.span) })
    }

    fn join(&mut self, join: Join, list: &[ProcId]) -> Lowered<Part> {
        match join {
            Join::Sequence | Join::Interrupt => {
                // Both are associative enough: the right part is grouped first.
                let mut last = self.process(list[list.len() - 1])?;
                for &first in list[..list.len() - 1].iter().rev() {
                    let first = self.process(first)?;
                    last = self.pair(join, &first, &last);
                }
                Ok(last)
            }
            _ => {
                let mut own = Own::default();
                let mut parts = Vec::new();
                for &part in list {
                    let part = self.process(part)?;
                    parts.push(own.closure(&part, &[]));
                }
                Ok(self.joined(join, Parts::Each(parts.into()), own))
            }
        }
    }

    fn pair(&mut self, join: Join, first: &Part, second: &Part) -> Part {
        let mut own = Own::default();
        if join == Join::Interrupt {
            let run = self.node(Node::InterruptRun, &Own::default());
            let (first, second) = (own.closure(first, &[]), own.closure(second, &[]));
            return self.part(Node::Interrupt { first, second, run }, own);
        }
        let mut later = Own::default();
        let second = later.closure(second, &[]);
        let run = self.part(Node::SequenceRun(second), later);
        let (first, run) = (own.closure(first, &[]), own.closure(&run, &[]));
        self.part(Node::Sequence { first, run }, own)
    }

    fn joined(&mut self, join: Join, parts: Parts, own: Own) -> Part {
        let node = match join {
            Join::General => Node::General(parts),
            Join::Internal => Node::Internal(parts),
            Join::External => Node::External { parts, run: self.node(Node::ExternalRun, &Own::default()) },
            Join::Parallel => {
                // The running composition keeps what its alphabets depend on, which is what its parts depend on.
                let run = Part { node: self.node(Node::ParallelRun(parts.clone()), &own), needs: own.list.clone() };
                let mut same = Own { list: own.list.clone(), bound: Vec::new() };
                Node::Parallel { parts, run: same.closure(&run, &[]) }
            }
            _ => Node::Interleave { parts, run: self.node(Node::InterleaveRun, &Own::default()) },
        };
        self.part(node, own)
    }

    fn indexed(&mut self, join: Join, indices: &[Index], body: ProcId, span: Span) -> Lowered<Part> {
        let depth = self.scope.len();
        let mut own = Own::default();
        let ranges = self.ranges(indices, &mut own)?;
        let binders: Vec<Binder> = indices.iter().map(|_| self.binder()).collect();
        for (index, &binder) in indices.iter().zip(&binders) {
            self.scope.push((index.name.text.clone(), Binding::Local(binder, Ty::Int)));
        }
        let body = self.process(body);
        self.scope.truncate(depth);
        let body = body?;
        if self.all_constant(&ranges) {
            let rows = self.constant_rows(indices)?;
            let mut own = Own::default();
            let parts = rows.iter().map(|row| {
                let known: Vec<(Binder, i32)> = binders.iter().copied().zip(row.iter().copied()).collect();
                own.closure(&body, &known)
            });
            let parts = Parts::Each(parts.collect());
            return self.grouped(join, parts, own, span);
        }
        own.bound = binders;
        let closure = own.closure(&body, &[]);
        let place = self.place(span);
        self.grouped(join, Parts::Indexed(ranges, closure, place), own, span)
    }

    /// Joins parts; sequences and interrupts of indices are not in the language.
    fn grouped(&mut self, join: Join, parts: Parts, own: Own, span: Span) -> Lowered<Part> {
        match join {
            Join::Sequence | Join::Interrupt => {
                self.error(Code::Syntax, span, "indices stand only before |||, ||, [], [*] and <>")
            }
            _ => Ok(self.joined(join, parts, own)),
        }
    }

    fn all_constant(&self, ranges: &Ranges) -> bool {
        let constant = |id: &ExId| matches!(self.exprs[id.0 as usize], super::super::program::Ex::Const(_));
        ranges.iter().flatten().all(|(low, high)| constant(low) && constant(high))
    }

    fn ranges(&mut self, indices: &[Index], own: &mut Own) -> Lowered<Ranges> {
        let mut ranges = Vec::new();
        for index in indices {
            let mut list = Vec::new();
            for entry in &index.values {
                let (low, high) = match *entry {
                    Values::One(value) => (value, value),
                    Values::Range(low, high) => (low, high),
                };
                list.push((self.fixed(low, own)?, self.fixed(high, own)?));
            }
            ranges.push(list.into());
        }
        Ok(ranges.into())
    }

    /// A number that depends on parameters only.
    fn fixed(&mut self, id: ExprId, own: &mut Own) -> Lowered<ExId> {
        let value = self.typed(id, Ty::Int, own)?;
        if self.reads_data(value) {
            return Err(Box::new(
                Diagnostic::new(Code::NotConstant, self.model.expr_span(id), "this must not depend on variables")
                    .help("use constants and parameters"),
            ));
        }
        Ok(value)
    }

    fn replicated(&mut self, join: Join, count: ExprId, body: ProcId, span: Span) -> Lowered<Part> {
        let mut own = Own::default();
        let count_value = self.fixed(count, &mut own)?;
        let body = self.process(body)?;
        if let super::super::program::Ex::Const(count) = self.exprs[count_value.0 as usize] {
            if !(0..=10_000).contains(&count) {
                return self.error(Code::TooLarge, span, "there are 0 to 10000 copies");
            }
            let mut own = Own::default();
            let parts = (0..count).map(|_| own.closure(&body, &[])).collect();
            return self.grouped(join, Parts::Each(parts), own, span);
        }
        let closure = own.closure(&body, &[]);
        let one = self.intern(super::super::program::Ex::Const(1));
        let range: Box<[(ExId, ExId)]> = Box::new([(one, count_value)]);
        let place = self.place(span);
        self.grouped(join, Parts::Indexed(Box::new([range]), closure, place), own, span)
    }

    fn conditional(&mut self, kind: If, condition: ExprId, then: ProcId, otherwise: Option<ProcId>) -> Lowered<Part> {
        let mut own = Own::default();
        let condition = self.condition(condition, &mut own)?;
        let then = self.process(then)?;
        let then = own.closure(&then, &[]);
        if kind == If::Blocking {
            return Ok(self.part(Node::IfBlocking(condition, then), own));
        }
        let otherwise = match otherwise {
            Some(otherwise) => self.process(otherwise)?,
            None => self.skip(),
        };
        let otherwise = own.closure(&otherwise, &[]);
        let node = match kind {
            If::Step => Node::If(condition, then, otherwise),
            _ => Node::IfAtomic(condition, then, otherwise),
        };
        Ok(self.part(node, own))
    }

    fn hide(&mut self, body: ProcId, sets: &[EventSet]) -> Lowered<Part> {
        let mut later = Own::default();
        let mut events = Vec::new();
        for set in sets {
            events.push(self.events(set, &mut later)?);
        }
        let run = self.part(Node::HideRun(events.into()), later);
        let body = self.process(body)?;
        let mut own = Own::default();
        let (body, run) = (own.closure(&body, &[]), own.closure(&run, &[]));
        Ok(self.part(Node::Hide { body, run }, own))
    }

    /// Events of an alphabet or of a hiding.
    pub(super) fn events(&mut self, set: &EventSet, own: &mut Own) -> Lowered<Events> {
        self.known_event(&set.event)?;
        let indices = self.ranges(&set.indices, own)?;
        let depth = self.scope.len();
        let outer = std::mem::take(&mut own.bound);
        for index in &set.indices {
            let binder = self.binder();
            own.bound.push(binder);
            self.scope.push((index.name.text.clone(), Binding::Local(binder, Ty::Int)));
        }
        let args = self.values(&set.event.args, own);
        self.scope.truncate(depth);
        own.bound = outer;
        let name = self.labels.name(&set.event.name.text, Joint::Dot);
        Ok(Events { indices, name, args: args?, place: self.place(set.event.name.span) })
    }

    /// Finds processes that call themselves before any step, whatever the values are.
    pub(super) fn check_recursion(&mut self) {
        let calls: Vec<Vec<usize>> =
            self.model.definitions.iter().map(|definition| self.at_once(definition.body)).collect();
        // 0 not seen, 1 on the way, 2 done; the way is kept in a list, so that nothing recurses.
        let mut marks = vec![0u8; calls.len()];
        for start in 0..calls.len() {
            let mut way = vec![(start, 0)];
            while let Some((at, next)) = way.last_mut() {
                let (at, here) = (*at, *next);
                marks[at] = marks[at].max(1);
                *next += 1;
                match calls[at].get(here) {
                    None => {
                        marks[at] = 2;
                        way.pop();
                    }
                    Some(&other) if marks[other] == 0 => way.push((other, 0)),
                    Some(&other) if marks[other] == 1 => {
                        let name = &self.model.definitions[other].name;
                        let message = format!("`{}` calls itself before it takes a step", name.text);
                        let error = Diagnostic::new(Code::Recursion, name.span, message)
                            .help("put an event before the call, as in e -> P()");
                        self.keep::<()>(Err(Box::new(error)));
                        marks[other] = 2;
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// The definitions that a process calls before any step, whatever the values are.
    fn at_once(&self, body: ProcId) -> Vec<usize> {
        let mut calls = Vec::new();
        let mut pending = vec![body];
        while let Some(id) = pending.pop() {
            match self.model.proc(id) {
                Proc::Call(name, _) => calls.extend(self.definitions.get(name.text.as_str())),
                Proc::Join(Join::Sequence, list) => pending.push(list[0]),
                Proc::Join(Join::Internal, _) => {}
                Proc::Join(_, list) => pending.extend(list),
                Proc::Atomic(inner) | Proc::Hide(inner, _) => pending.push(*inner),
                _ => {}
            }
        }
        calls
    }
}
