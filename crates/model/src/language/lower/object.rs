//! Objects: variables and operations of their own, apart from those of the model.

use super::super::ast;
use super::super::diagnostic::{Code, Diagnostic};
use super::super::labels::{Joint, Labels};
use super::super::object::{Method, Object, Way};
use super::super::program::{Change, ExId, Program, St};
use super::{Binding, Lowered, Lowering, Own, Ty};

impl<'a> Lowering<'a> {
    /// Compiles every object of the model.
    pub(super) fn objects(&mut self, text: &'a str) -> Vec<Object> {
        let model = self.model;
        let mut objects = Vec::new();
        for (at, object) in model.objects.iter().enumerate() {
            let name = object.name.text.as_str();
            let taken =
                self.definitions.contains_key(name) || model.objects[..at].iter().any(|other| other.name.text == name);
            if taken {
                let twice = self.error::<()>(Code::Twice, object.name.span, format!("`{name}` is declared twice"));
                self.keep(twice);
                continue;
            }
            // What an object sees of the model are constants and definitions.
            let mut inner = Lowering::new(model, text);
            inner.constants = self.constants.clone();
            inner.defines = self.defines.clone();
            let lowered = inner.object(object, &self.labels);
            let result = inner.keep(lowered);
            for error in inner.errors {
                self.keep::<()>(Err(Box::new(error)));
            }
            objects.extend(result);
        }
        objects
    }

    fn object(&mut self, object: &'a ast::Object, labels: &Labels) -> Lowered<Object> {
        let threads = self.constant(object.threads)?;
        if !(1..=16).contains(&threads) {
            return self.error(Code::Range, self.model.expr_span(object.threads), "an object has 1 to 16 threads");
        }
        for var in &object.vars {
            let declared = self.fresh(&var.name).and_then(|()| self.variable(var));
            self.keep(declared);
        }
        let (mut ways, mut methods) = (Vec::new(), Vec::<Method>::new());
        for operation in &object.operations {
            let lowered = self.operation(operation, &mut methods, labels);
            ways.extend(self.keep(lowered));
        }
        let fixed = self.data.len();
        let mut data = std::mem::take(&mut self.data);
        data.extend(std::iter::repeat_n(0, self.segments.len()));
        let program = Program {
            exprs: std::mem::take(&mut self.exprs),
            nodes: Vec::new(),
            env_lens: Vec::new(),
            blocks: std::mem::take(&mut self.blocks),
            defs: Vec::new(),
            globals: std::mem::take(&mut self.globals),
            channels: Vec::new(),
            segments: std::mem::take(&mut self.segments),
            data,
            fixed,
            labels: Labels::default().freeze(),
        };
        Ok(Object { name: object.name.text.clone(), threads: threads as u32, program, ways, methods })
    }

    fn operation(&mut self, operation: &'a ast::Operation, methods: &mut Vec<Method>, labels: &Labels) -> Lowered<Way> {
        let name = &operation.name.text;
        if operation.params.len() > 1 {
            return Err(Box::new(
                Diagnostic::new(Code::Arity, operation.params[1].name.span, "an operation has at most one parameter")
                    .help("code several values as one number"),
            ));
        }
        let rows = self.constant_rows(&operation.params)?;
        let values: Vec<i32> = rows.iter().map(|row| row.first().copied().unwrap_or(0)).collect();
        let binder = self.binder();
        let mut own = Own { list: vec![binder], bound: Vec::new() };
        self.scope.clear();
        if let Some(param) = operation.params.first() {
            self.scope.push((param.name.text.clone(), Binding::Local(binder, Ty::Int)));
        }
        let guard = operation.guard.map(|guard| self.condition(guard, &mut own)).transpose()?;
        let block = self.block(&operation.body, &mut own, true)?;
        let finds = block.iter().any(|statement| self.answers_something(statement));
        let writes = writes(&block);
        let (nothing, ends) = self.leaves_alone(&block, writes);
        let has_value = !operation.params.is_empty();
        let traffic = (has_value && changes(&block, &Change::puts), !has_value && changes(&block, &Change::takes));
        let block = self.intern_block(block);
        let method = match methods.iter().position(|method| method.name == *name) {
            Some(at) => at,
            None => {
                methods.push(Method {
                    name: name.clone(),
                    values: Vec::new(),
                    answers: false,
                    returns_untouched: false,
                    puts: false,
                    takes: false,
                    call: self.named_event(&format!("{name}_inv"), operation, labels)?,
                    answer: self.named_event(&format!("{name}_res"), operation, labels)?,
                });
                methods.len() - 1
            }
        };
        methods[method].answers |= finds;
        methods[method].returns_untouched |= nothing || ends;
        methods[method].puts |= traffic.0;
        methods[method].takes |= traffic.1;
        for value in values {
            if !methods[method].values.contains(&value) {
                methods[method].values.push(value);
            }
        }
        Ok(Way { method, guard, block, writes, place: self.place(operation.name.span) })
    }

    /// Whether a statement may return something other than the constant 0.
    fn answers_something(&self, statement: &St) -> bool {
        let zero = |id: &ExId| matches!(self.exprs[id.0 as usize], super::super::program::Ex::Const(0));
        match statement {
            St::Return(value) => !zero(value),
            St::If(_, a, b) => a.iter().chain(b).any(|inner| self.answers_something(inner)),
            St::While(_, body, _) => body.iter().any(|inner| self.answers_something(inner)),
            _ => false,
        }
    }

    /// Whether the block may return 0 before it has written anything, and whether it may come to its end so. In a block that never writes, a
    /// value that is computed is what was asked for, even if it is 0; in others, it may be what a variable began with.
    fn leaves_alone(&self, block: &[St], writes: bool) -> (bool, bool) {
        let mut found = false;
        for statement in block {
            match statement {
                St::Set { .. } | St::SetElement { .. } | St::Change { .. } => return (found, false),
                St::SetLocal(..) => {}
                St::Return(value) => {
                    let zero = match self.exprs[value.0 as usize] {
                        super::super::program::Ex::Const(value) => value == 0,
                        _ => writes,
                    };
                    return (found || zero, false);
                }
                St::If(_, then, otherwise) => {
                    let (a, b) = (self.leaves_alone(then, writes), self.leaves_alone(otherwise, writes));
                    found |= a.0 || b.0;
                    if !a.1 && !b.1 {
                        return (found, false);
                    }
                }
                St::While(_, body, _) => found |= self.leaves_alone(body, writes).0,
            }
        }
        (found, true)
    }

    /// An event that some process must have, or the object would be compared with nothing.
    fn named_event(
        &self,
        name: &str,
        operation: &ast::Operation,
        labels: &Labels,
    ) -> Lowered<super::super::labels::NameId> {
        if !labels.has(name, Joint::Dot) {
            return Err(Box::new(
                Diagnostic::new(Code::Unknown, operation.name.span, format!("no process has an event `{name}`")).help(
                    format!("calls are {0}_inv.thread.value, returns are {0}_res.thread.value", operation.name.text),
                ),
            ));
        }
        Ok(labels.name(name, Joint::Dot))
    }
}

/// Whether a block may write to a variable or a collection of the object.
fn writes(block: &[St]) -> bool {
    block.iter().any(|statement| match statement {
        St::Set { .. } | St::SetElement { .. } | St::Change { .. } => true,
        St::If(_, then, otherwise) => writes(then) || writes(otherwise),
        St::While(_, body, _) => writes(body),
        St::SetLocal(..) | St::Return(_) => false,
    })
}

/// Whether a block changes a collection in such a way.
fn changes(block: &[St], way: &impl Fn(&Change) -> bool) -> bool {
    block.iter().any(|statement| match statement {
        St::Change { change, .. } => way(change),
        St::If(_, then, otherwise) => changes(then, way) || changes(otherwise, way),
        St::While(_, body, _) => changes(body, way),
        _ => false,
    })
}
