//! Assertions: what is claimed of which process.

use super::super::ast::{self, Best, Claim, Formula, Subject};
use super::super::check::{Condition, Goal, Proposition, Temporal, Unchecked};
use super::super::diagnostic::{Code, Diagnostic};
use super::super::labels::{FALSE, Joint, TRUE};
use super::events::Doings;
use super::{Lowered, Lowering, Own, Ty};

impl Lowering<'_> {
    /// Lowers every assertion.
    pub(super) fn claims(&mut self) -> Vec<Unchecked> {
        let model = self.model;
        let mut claims = Vec::new();
        for assertion in &model.assertions {
            let claim = self.claim(assertion);
            claims.extend(self.keep(claim));
        }
        claims
    }

    fn claim(&mut self, assertion: &ast::Assertion) -> Lowered<Unchecked> {
        let (def, args) = self.subject(&assertion.subject)?;
        let goal = match &assertion.claim {
            Claim::DeadlockFree => Goal::DeadlockFree,
            Claim::DivergenceFree => Goal::DivergenceFree,
            Claim::Deterministic => Goal::Deterministic,
            Claim::Nonterminating => Goal::Nonterminating,
            Claim::Reaches { condition, best } => {
                let condition = Condition(self.condition(*condition, &mut Own::default())?);
                let best = match best {
                    None => None,
                    Some((best, value)) => {
                        let value = self.typed(*value, Ty::Int, &mut Own::default())?;
                        Some((*best == Best::Greatest, Condition(value)))
                    }
                };
                Goal::Reaches(condition, best)
            }
            Claim::Refines { mode, spec, quasi } => {
                let goal = self.refinement(*mode, spec, quasi.as_ref())?;
                if let Goal::Linearizable { object, .. } = goal {
                    self.makes_calls(&assertion.subject, def as usize, object)?;
                }
                goal
            }
            Claim::Satisfies(formula) => Goal::Satisfies(self.formula(formula)?),
        };
        Ok(Unchecked { span: assertion.span, def, args, goal })
    }

    fn subject(&mut self, subject: &Subject) -> Lowered<(u32, Vec<i32>)> {
        let Some(&def) = self.definitions.get(subject.name.text.as_str()) else {
            return Err(self.unknown_process(&subject.name));
        };
        let wanted = self.model.definitions[def].params.len();
        if wanted != subject.args.len() {
            return Err(self.wrong_arity(&subject.name.text, wanted, subject.args.len(), subject.name.span));
        }
        let args = subject.args.iter().map(|&arg| self.constant(arg)).collect::<Lowered<Vec<_>>>()?;
        Ok((def as u32, args))
    }

    fn refinement(&mut self, mode: ast::Refinement, spec: &Subject, quasi: Option<&ast::Quasi>) -> Lowered<Goal> {
        let object = self.model.objects.iter().position(|object| object.name.text == spec.name.text);
        let Some(object) = object else {
            if quasi.is_some() {
                return Err(Box::new(
                    Diagnostic::new(
                        Code::Type,
                        spec.name.span,
                        format!("`{}` is a process, and `quasi` needs an object", spec.name.text),
                    )
                    .help("declare the sequential object with #object and name it here"),
                ));
            }
            let (def, args) = self.subject(spec)?;
            return Ok(Goal::Refines(mode, def, args));
        };
        if !spec.args.is_empty() {
            return Err(self.wrong_arity(&spec.name.text, 0, spec.args.len(), spec.name.span));
        }
        if mode != ast::Refinement::Traces {
            return self.error(
                Code::Type,
                spec.name.span,
                "objects are compared by traces: leave out the kind of refinement",
            );
        }
        let Some(quasi) = quasi else {
            return Ok(Goal::Linearizable { object, classes: Vec::new(), strict: false, free: false });
        };
        let classes = self.classes(object, spec, quasi)?;
        Ok(Goal::Linearizable { object, classes, strict: quasi.strict, free: quasi.free })
    }

    /// The classes of operations with their factors; a class without operations is that of all others.
    fn classes(&mut self, object: usize, spec: &Subject, quasi: &ast::Quasi) -> Lowered<Vec<(Vec<usize>, u32)>> {
        // An operation that is written several times is one method.
        let mut known: Vec<&str> = Vec::new();
        for operation in &self.model.objects[object].operations {
            if !known.contains(&operation.name.text.as_str()) {
                known.push(&operation.name.text);
            }
        }
        if quasi.classes.is_empty() {
            return self.error(Code::Range, spec.name.span, "`quasi` needs a class of operations, such as {deq: 1}");
        }
        let mut classes: Vec<(Vec<usize>, u32)> = Vec::new();
        for (names, factor) in &quasi.classes {
            let mut operations = Vec::new();
            for name in names {
                let Some(at) = known.iter().position(|known| *known == name.text) else {
                    let message = format!("`{}` has no operation `{}`", spec.name.text, name.text);
                    return self.error(Code::Unknown, name.span, message);
                };
                if operations.contains(&at) || classes.iter().any(|(others, _)| others.contains(&at)) {
                    return self.error(Code::Twice, name.span, format!("`{}` is in a class already", name.text));
                }
                operations.push(at);
            }
            if names.is_empty() && classes.iter().any(|(others, _)| others.is_empty()) {
                return self.error(Code::Twice, self.model.expr_span(*factor), "`*` has a factor already");
            }
            let value = self.constant(*factor)?;
            if !(0..=64).contains(&value) {
                return self.error(Code::Range, self.model.expr_span(*factor), "a factor is 0 to 64");
            }
            classes.push((operations, value as u32));
        }
        Ok(classes)
    }

    /// Refuses a process that makes no call of the object: nothing would be compared.
    fn makes_calls(&self, subject: &Subject, def: usize, object: usize) -> Lowered<()> {
        let (object, doings) = (&self.model.objects[object], Doings::of_one(self.model, def));
        let calls: Vec<String> = object.operations.iter().map(|op| format!("{}_inv", op.name.text)).collect();
        if calls.iter().any(|call| doings.has(call)) {
            return Ok(());
        }
        let message = format!("`{}` makes no call of `{}`", subject.name.text, object.name.text);
        let error = Diagnostic::new(Code::Unknown, subject.name.span, message);
        Err(Box::new(error.help(format!("its events would have to be {}", calls.join(", ")))))
    }

    fn formula(&mut self, formula: &Formula) -> Lowered<Temporal> {
        let mut two = |a: &Formula, b: &Formula| -> Lowered<(Box<Temporal>, Box<Temporal>)> {
            Ok((Box::new(self.formula(a)?), Box::new(self.formula(b)?)))
        };
        Ok(match formula {
            Formula::True => Temporal::True,
            Formula::False => Temporal::False,
            Formula::And(a, b) => two(a, b).map(|(a, b)| Temporal::And(a, b))?,
            Formula::Or(a, b) => two(a, b).map(|(a, b)| Temporal::Or(a, b))?,
            Formula::Until(a, b) => two(a, b).map(|(a, b)| Temporal::Until(a, b))?,
            Formula::Release(a, b) => two(a, b).map(|(a, b)| Temporal::Release(a, b))?,
            Formula::Implies(a, b) => two(a, b).map(|(a, b)| Temporal::implies(*a, *b))?,
            Formula::Iff(a, b) => {
                let (a, b) = two(a, b)?;
                let both = Temporal::And(a.clone(), b.clone());
                let none = Temporal::And(Box::new(Temporal::Not(a)), Box::new(Temporal::Not(b)));
                Temporal::Or(Box::new(both), Box::new(none))
            }
            Formula::Not(a) => Temporal::Not(Box::new(self.formula(a)?)),
            Formula::Next(a) => Temporal::Next(Box::new(self.formula(a)?)),
            Formula::Always(a) => Temporal::always(self.formula(a)?),
            Formula::Eventually(a) => Temporal::eventually(self.formula(a)?),
            Formula::Label(label) => {
                self.known_label(&label.text, label.span)?;
                Temporal::Atom(Proposition::Printed(label.text.clone()))
            }
            Formula::Event(event) => {
                let name = &event.name.text;
                let is_condition = self.defines.contains_key(name.as_str())
                    || self.variables.contains_key(name.as_str())
                    || self.constants.contains_key(name.as_str());
                if event.args.is_empty() && is_condition {
                    if self.known_event(event).is_ok() {
                        let error = Diagnostic::new(
                            Code::Twice,
                            event.name.span,
                            format!("`{name}` is an event and the name of a condition"),
                        );
                        return Err(Box::new(error.help(format!(
                            "write \"{name}\", in quotes, for the event, or give the condition another name"
                        ))));
                    }
                    let condition = self.named_condition(&event.name)?;
                    return Ok(Temporal::Atom(Proposition::Holds(Condition(condition))));
                }
                self.known_event(event)?;
                let mut values = Vec::new();
                for &arg in &event.args {
                    let (_, ty) = self.expr(arg, &mut Own::default())?;
                    let value = self.constant(arg)?;
                    values.push(match (ty, value) {
                        (Ty::Bool, 0) => FALSE,
                        (Ty::Bool, _) => TRUE,
                        _ => value,
                    });
                }
                let family = self.labels.name(name, Joint::Dot);
                Temporal::Atom(Proposition::Seen(family, values))
            }
        })
    }

    /// A condition by the name of its definition or of a variable that is true or false.
    fn named_condition(&mut self, name: &ast::Name) -> Lowered<super::super::program::ExId> {
        let (value, ty) = self.name(&name.text, name.span, &mut Own::default())?;
        self.check_type(ty, Ty::Bool, name.span)?;
        Ok(value)
    }
}
