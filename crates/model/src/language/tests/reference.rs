//! A second semantics of CSP#, written straight from the rules: processes are trees over the text, every rule makes new
//! trees, nothing is shared, numbered or packed. It shares the parser with the compiled one and nothing else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::reference_join::{interrupt, message, together};
use crate::language::ast::{
    Action, EventSet, Expr, ExprId, If, Index, Initial, Item, Join, Model, Proc, ProcId, Values,
};

pub(super) type Env = BTreeMap<String, i32>;
pub(super) type Outcome<T> = Result<T, String>;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(super) struct Data {
    pub vars: BTreeMap<String, Vec<i32>>,
    pub channels: BTreeMap<String, VecDeque<Vec<i32>>>,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Term {
    Done,
    Text(u32, usize, Env),
    Sequence(Box<Term>, Box<Term>),
    Together(Vec<Term>, Vec<BTreeSet<String>>),
    External(Vec<Term>),
    Interrupt(Box<Term>, Box<Term>),
    Hide(Box<Term>, BTreeSet<String>),
    Atomic(Box<Term>),
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Label {
    Tau,
    Tick,
    Seen(String),
    Send(String, Vec<i32>),
    Receive(String, Vec<i32>),
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub label: Label,
    pub next: Term,
    pub data: Data,
    pub(super) shared: bool,
    pub(super) atomic: bool,
}

type Offers = BTreeSet<(String, Vec<i32>)>;

pub(super) struct Reference<'a> {
    pub model: &'a Model,
    pub(super) sizes: BTreeMap<String, Vec<usize>>,
    pub(super) bounds: BTreeMap<String, (i32, i32)>,
    room: BTreeMap<String, usize>,
}

impl<'a> Reference<'a> {
    pub fn new(model: &'a Model) -> (Self, Data) {
        let mut this = Reference { model, sizes: BTreeMap::new(), bounds: BTreeMap::new(), room: BTreeMap::new() };
        let mut data = Data::default();
        let nothing = Env::new();
        for var in &model.vars {
            let sizes: Vec<usize> =
                var.sizes.iter().map(|&size| this.eval(size, &nothing, &data).unwrap() as usize).collect();
            let count = sizes.iter().product();
            let values = match &var.initial {
                Initial::None => vec![0; count],
                Initial::One(value) => vec![this.eval(*value, &nothing, &data).unwrap()],
                Initial::Many(items) => {
                    let value = |item: &Item| match *item {
                        Item::One(value) => this.eval(value, &nothing, &data).unwrap(),
                        _ => panic!("the generator writes plain lists"),
                    };
                    items.iter().map(value).collect()
                }
            };
            if let Some(bounds) = var.bounds {
                let bound = |id: Option<ExprId>, or| id.map_or(or, |id| this.eval(id, &nothing, &data).unwrap());
                let pair = (bound(bounds.low, i32::MIN), bound(bounds.high, i32::MAX));
                this.bounds.insert(var.name.text.clone(), pair);
            }
            this.sizes.insert(var.name.text.clone(), sizes);
            data.vars.insert(var.name.text.clone(), values);
        }
        for channel in &model.channels {
            let size = this.eval(channel.size, &nothing, &data).unwrap() as usize;
            this.room.insert(channel.name.text.clone(), size);
            if size > 0 {
                data.channels.insert(channel.name.text.clone(), VecDeque::new());
            }
        }
        (this, data)
    }

    pub fn start(&self, name: &str) -> Term {
        let definition = self.model.definitions.iter().find(|d| d.name.text == name).unwrap();
        Term::Text(definition.body.0, 0, Env::new())
    }

    /// Every step of a whole system.
    pub fn steps(&self, term: &Term, data: &Data) -> Outcome<Vec<Step>> {
        let none = Offers::new();
        let mut offers = Offers::new();
        for step in self.moves(term, data, &none, 0)? {
            if let Label::Send(channel, values) = step.label {
                offers.insert((channel, values));
            }
        }
        let mut steps = self.moves(term, data, &offers, 0)?;
        steps.retain(|step| !matches!(step.label, Label::Send(..) | Label::Receive(..)));
        if steps.iter().any(|step| step.atomic) {
            steps.retain(|step| step.atomic);
        }
        Ok(steps)
    }

    fn moves(&self, term: &Term, data: &Data, offers: &Offers, depth: usize) -> Outcome<Vec<Step>> {
        if depth > 200 {
            return Err("recursion".to_owned());
        }
        let go = |term: &Term| self.moves(term, data, offers, depth + 1);
        match term {
            Term::Done => Ok(Vec::new()),
            Term::Text(id, at, env) => self.text_moves(ProcId(*id), *at, env, data, offers, depth),
            Term::Sequence(first, second) => Ok(go(first)?
                .into_iter()
                .map(|step| match step.label {
                    Label::Tick => Step { label: Label::Tau, next: (**second).clone(), shared: false, ..step },
                    _ => Step { next: Term::Sequence(Box::new(step.next.clone()), second.clone()), ..step },
                })
                .collect()),
            Term::Hide(inner, hidden) => Ok(go(inner)?
                .into_iter()
                .map(|mut step| {
                    if matches!(&step.label, Label::Seen(name) if hidden.contains(name)) {
                        (step.label, step.shared) = (Label::Tau, false);
                    }
                    if step.label != Label::Tick {
                        step.next = Term::Hide(Box::new(step.next), hidden.clone());
                    }
                    step
                })
                .collect()),
            Term::Atomic(inner) => Ok(go(inner)?
                .into_iter()
                .map(|mut step| {
                    step.atomic = true;
                    if step.label != Label::Tick {
                        step.next = Term::Atomic(Box::new(step.next));
                    }
                    step
                })
                .collect()),
            Term::External(parts) => {
                let mut all = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    for mut step in go(part)? {
                        if step.label == Label::Tau {
                            let mut parts = parts.clone();
                            parts[at] = step.next;
                            step.next = Term::External(parts);
                        }
                        all.push(step);
                    }
                }
                Ok(all)
            }
            Term::Interrupt(first, second) => Ok(interrupt(first, second, go(first)?, go(second)?)),
            Term::Together(parts, alphabets) => {
                let lists = parts.iter().map(go).collect::<Outcome<Vec<_>>>()?;
                Ok(together(parts, alphabets, &lists, data))
            }
        }
    }

    fn text_moves(
        &self,
        id: ProcId,
        at: usize,
        env: &Env,
        data: &Data,
        offers: &Offers,
        depth: usize,
    ) -> Outcome<Vec<Step>> {
        let text = |id: ProcId| Term::Text(id.0, 0, env.clone());
        let go = |term: &Term| self.moves(term, data, offers, depth + 1);
        let plain = |label: Label, next: Term| Step { label, next, data: data.clone(), shared: false, atomic: false };
        let holds = |condition: ExprId| Ok::<bool, String>(self.eval(condition, env, data)? != 0);
        if id.0 == u32::MAX {
            return Ok(vec![plain(Label::Tick, Term::Done)]);
        }
        match self.model.proc(id) {
            Proc::Stop => Ok(Vec::new()),
            Proc::Skip => Ok(vec![plain(Label::Tick, Term::Done)]),
            Proc::Call(name, args) => {
                let definition = self.model.definitions.iter().find(|d| d.name.text == name.text).unwrap();
                let mut inner = Env::new();
                for (param, &arg) in definition.params.iter().zip(args) {
                    inner.insert(param.text.clone(), self.eval(arg, env, data)?);
                }
                go(&Term::Text(definition.body.0, 0, inner))
            }
            Proc::Prefix(steps, tail) => {
                let next = if at + 1 == steps.len() {
                    Term::Text(tail.0, 0, env.clone())
                } else {
                    Term::Text(id.0, at + 1, env.clone())
                };
                self.prefix(&steps[at], next, env, data, offers)
            }
            Proc::Guard(condition, inner) => {
                if holds(*condition)? {
                    go(&text(*inner))
                } else {
                    Ok(Vec::new())
                }
            }
            Proc::If(..) | Proc::Case(..) => self.conditional(id, env, data, offers, depth),
            Proc::Join(join, list) => {
                let parts: Vec<(ProcId, Env)> = list.iter().map(|&part| (part, env.clone())).collect();
                self.joined(*join, parts, data, offers, depth)
            }
            Proc::Indexed(join, indices, body) => {
                let mut parts = Vec::new();
                for row in self.rows(indices, env, data)? {
                    parts.push((*body, row));
                }
                self.joined(*join, parts, data, offers, depth)
            }
            Proc::Replicated(join, count, body) => {
                let count = self.eval(*count, env, data)?;
                let parts = (0..count).map(|_| (*body, env.clone())).collect();
                self.joined(*join, parts, data, offers, depth)
            }
            Proc::Atomic(inner) => go(&Term::Atomic(Box::new(text(*inner)))),
            Proc::Hide(inner, sets) => go(&Term::Hide(Box::new(text(*inner)), self.event_names(sets, env, data)?)),
            Proc::Assert(condition) => match holds(*condition)? {
                true => Ok(vec![plain(Label::Tick, Term::Done)]),
                false => Err("assertion".to_owned()),
            },
        }
    }

    fn conditional(&self, id: ProcId, env: &Env, data: &Data, offers: &Offers, depth: usize) -> Outcome<Vec<Step>> {
        let text = |id: ProcId| Term::Text(id.0, 0, env.clone());
        let go = |term: &Term| self.moves(term, data, offers, depth + 1);
        let tau = |next: Term| Step { label: Label::Tau, next, data: data.clone(), shared: false, atomic: false };
        let holds = |condition: ExprId| Ok::<bool, String>(self.eval(condition, env, data)? != 0);
        let skip = |id: Option<ProcId>| id.map_or(Term::Text(u32::MAX, 0, Env::new()), text);
        match self.model.proc(id) {
            Proc::If(If::Step, condition, then, otherwise) => {
                let next = if holds(*condition)? { text(*then) } else { skip(*otherwise) };
                Ok(vec![tau(next)])
            }
            Proc::If(If::Atomic, condition, then, otherwise) => {
                go(&if holds(*condition)? { text(*then) } else { skip(*otherwise) })
            }
            Proc::If(If::Blocking, condition, then, _) => {
                Ok(if holds(*condition)? { vec![tau(text(*then))] } else { Vec::new() })
            }
            Proc::Case(cases, default) => {
                for (condition, then) in cases {
                    if holds(*condition)? {
                        return Ok(vec![tau(text(*then))]);
                    }
                }
                Ok(vec![tau(skip(*default))])
            }
            other => panic!("{other:?} is no condition"),
        }
    }

    fn joined(
        &self,
        join: Join,
        parts: Vec<(ProcId, Env)>,
        data: &Data,
        offers: &Offers,
        depth: usize,
    ) -> Outcome<Vec<Step>> {
        let terms: Vec<Term> = parts.iter().map(|(id, env)| Term::Text(id.0, 0, env.clone())).collect();
        let go = |term: &Term| self.moves(term, data, offers, depth + 1);
        match join {
            Join::General => {
                let mut all = Vec::new();
                for term in &terms {
                    all.extend(go(term)?);
                }
                Ok(all)
            }
            Join::Internal => Ok(terms
                .into_iter()
                .map(|next| Step { label: Label::Tau, next, data: data.clone(), shared: false, atomic: false })
                .collect()),
            Join::External => go(&Term::External(terms)),
            Join::Sequence | Join::Interrupt => {
                let pair = if join == Join::Sequence { Term::Sequence } else { Term::Interrupt };
                let mut terms = terms.into_iter().rev();
                let last = terms.next().unwrap();
                go(&terms.fold(last, |second, first| pair(Box::new(first), Box::new(second))))
            }
            Join::Interleave => {
                let none = vec![BTreeSet::new(); terms.len()];
                go(&Term::Together(terms, none))
            }
            Join::Parallel => {
                let mut alphabets = Vec::new();
                for (id, env) in &parts {
                    let mut set = BTreeSet::new();
                    self.alphabet(*id, env, data, &BTreeSet::new(), &mut BTreeSet::new(), &mut set)?;
                    alphabets.push(set);
                }
                go(&Term::Together(terms, alphabets))
            }
        }
    }

    fn alphabet(
        &self,
        id: ProcId,
        env: &Env,
        data: &Data,
        hidden: &BTreeSet<String>,
        seen: &mut BTreeSet<(u32, Env, BTreeSet<String>)>,
        set: &mut BTreeSet<String>,
    ) -> Outcome<()> {
        if !seen.insert((id.0, env.clone(), hidden.clone())) {
            return Ok(());
        }
        let list: Vec<ProcId> = match self.model.proc(id) {
            Proc::Stop | Proc::Skip | Proc::Assert(_) => Vec::new(),
            Proc::Call(name, args) => {
                let definition = self.model.definitions.iter().find(|d| d.name.text == name.text).unwrap();
                let mut inner = Env::new();
                for (param, &arg) in definition.params.iter().zip(args) {
                    inner.insert(param.text.clone(), self.eval(arg, env, data)?);
                }
                let declared = self.model.alphabets.iter().find(|alphabet| alphabet.process.text == name.text);
                if let Some(declared) = declared {
                    let said = self.event_names(&declared.events, &inner, data)?;
                    set.extend(said.difference(hidden).cloned());
                    return Ok(());
                }
                return self.alphabet(definition.body, &inner, data, hidden, seen, set);
            }
            Proc::Prefix(steps, tail) => {
                for step in steps {
                    if let (Action::Event(event), None) = (&step.action, &step.block) {
                        let name = self.event_name(&event.name.text, &event.args, env, data)?;
                        set.extend(Some(name).filter(|name| !hidden.contains(name)));
                    }
                }
                vec![*tail]
            }
            Proc::Join(_, list) => list.clone(),
            Proc::Indexed(_, indices, body) => {
                for row in self.rows(indices, env, data)? {
                    self.alphabet(*body, &row, data, hidden, seen, set)?;
                }
                Vec::new()
            }
            Proc::Replicated(_, _, p) | Proc::Guard(_, p) | Proc::Atomic(p) => vec![*p],
            Proc::If(_, _, p, q) => [*p].into_iter().chain(*q).collect(),
            Proc::Case(cases, default) => cases.iter().map(|(_, p)| *p).chain(*default).collect(),
            Proc::Hide(inner, sets) => {
                let mut hidden = hidden.clone();
                hidden.extend(self.event_names(sets, env, data)?);
                return self.alphabet(*inner, env, data, &hidden, seen, set);
            }
        };
        for part in list {
            self.alphabet(part, env, data, hidden, seen, set)?;
        }
        Ok(())
    }

    fn event_names(&self, sets: &[EventSet], env: &Env, data: &Data) -> Outcome<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for set in sets {
            for row in self.rows(&set.indices, env, data)? {
                names.insert(self.event_name(&set.event.name.text, &set.event.args, &row, data)?);
            }
        }
        Ok(names)
    }

    fn event_name(&self, name: &str, args: &[ExprId], env: &Env, data: &Data) -> Outcome<String> {
        let mut text = name.to_owned();
        for &arg in args {
            text.push_str(&format!(".{}", self.eval(arg, env, data)?));
        }
        Ok(text)
    }

    fn rows(&self, indices: &[Index], env: &Env, data: &Data) -> Outcome<Vec<Env>> {
        let mut rows = vec![env.clone()];
        for index in indices {
            let mut next = Vec::new();
            for row in &rows {
                for entry in &index.values {
                    let (low, high) = match *entry {
                        Values::One(value) => (value, value),
                        Values::Range(low, high) => (low, high),
                    };
                    for value in self.eval(low, env, data)?..=self.eval(high, env, data)? {
                        let mut row = row.clone();
                        row.insert(index.name.text.clone(), value);
                        next.push(row);
                    }
                }
            }
            rows = next;
        }
        Ok(rows)
    }

    fn prefix(
        &self,
        step: &crate::language::ast::Step,
        next: Term,
        env: &Env,
        data: &Data,
        offers: &Offers,
    ) -> Outcome<Vec<Step>> {
        let run = |data: &Data, env: &Env| -> Outcome<Data> {
            let mut data = data.clone();
            if let Some(block) = &step.block {
                self.run(block, &mut env.clone(), &mut data)?;
            }
            Ok(data)
        };
        let one = |label, data, shared| vec![Step { label, next: next.clone(), data, shared, atomic: false }];
        match &step.action {
            Action::Tau => Ok(one(Label::Tau, run(data, env)?, false)),
            Action::Event(event) => {
                let label = Label::Seen(self.event_name(&event.name.text, &event.args, env, data)?);
                Ok(one(label, run(data, env)?, step.block.is_none()))
            }
            Action::Send { channel, args, .. } => {
                let values = args.iter().map(|&arg| self.eval(arg, env, data)).collect::<Outcome<Vec<_>>>()?;
                let name = &channel.text;
                let Some(held) = data.channels.get(name) else {
                    return Ok(one(Label::Send(name.clone(), values), run(data, env)?, false));
                };
                if held.len() >= self.room[name] {
                    return Ok(Vec::new());
                }
                let mut after = data.clone();
                after.channels.get_mut(name).unwrap().push_back(values.clone());
                Ok(one(Label::Seen(message(name, "!", &values)), run(&after, env)?, false))
            }
            Action::Receive { channel, args, guard, .. } => {
                let name = &channel.text;
                let candidates: Vec<Vec<i32>> = match data.channels.get(name) {
                    Some(held) => held.front().cloned().into_iter().collect(),
                    None => offers.iter().filter(|(c, _)| c == name).map(|(_, values)| values.clone()).collect(),
                };
                let mut all = Vec::new();
                for values in candidates {
                    let Some(bound) = self.bind(args, &values, env, data)? else { continue };
                    if let Some(guard) = guard
                        && self.eval(*guard, &bound, data)? == 0
                    {
                        continue;
                    }
                    let next = match &next {
                        Term::Text(id, at, _) => Term::Text(*id, *at, bound.clone()),
                        other => other.clone(),
                    };
                    let mut after = data.clone();
                    let label = match after.channels.get_mut(name) {
                        Some(held) => {
                            held.pop_front();
                            Label::Seen(message(name, "?", &values))
                        }
                        None => Label::Receive(name.clone(), values),
                    };
                    let data = run(&after, &bound)?;
                    all.push(Step { label, next, data, shared: false, atomic: false });
                }
                Ok(all)
            }
        }
    }

    /// The environment after a message, if the patterns take it.
    fn bind(&self, args: &[ExprId], values: &[i32], env: &Env, data: &Data) -> Outcome<Option<Env>> {
        if args.len() != values.len() {
            return Ok(None);
        }
        let mut bound = env.clone();
        for (&arg, &value) in args.iter().zip(values) {
            match self.model.expr(arg) {
                Expr::Name(name)
                    if !env.contains_key(name) && !self.model.defines.iter().any(|d| d.name.text == *name) =>
                {
                    bound.insert(name.clone(), value);
                }
                _ => {
                    if self.eval(arg, env, data)? != value {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(bound))
    }
}
