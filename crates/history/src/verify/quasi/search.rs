//! A plain search for two orders, for the claims that there are none.
//!
//! It walks along the events and lets open operations take effect just before a return. What one order has and the other has
//! not is kept with how far back it stands there, counted in its class; an entry whose counterpart can no longer come in time ends the branch, and
//! the run does nothing that the linearization could not bring in time any more. Every configuration is followed once, and
//! there are finitely many. Exponential in the worst case; the budget ends it.

use std::collections::{HashMap, HashSet};

use super::{Rules, ToCome, bare_calls, brings, insertion, needs};
use crate::Value;
use crate::verify::simulate::{Action, Object};
use crate::verify::{Members, Stop};

/// A call with its result, `None` where it is left open, its class, and for an open result the event it was emitted at.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Act(usize);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Meaning {
    action: Action,
    result: Option<Value>,
    class: usize,
    at: usize,
}

/// An operation as the search sees it.
struct Move<'a> {
    method: &'a str,
    action: &'a Action,
    /// The event of the call, and of the return with the result, if it returns.
    call: usize,
    ret: Option<(usize, &'a Value)>,
}

/// What the two orders have of one class.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Line {
    /// In the run only, in its order. Distance: with how many operations of the class came after it.
    run: Vec<(Act, u32)>,
    /// In the linearization only, in its order. Distance: the same. Strict: how many more may be run before it.
    lin: Vec<(Act, u32)>,
    /// Strict: those of `lin` before which something must be run.
    waits: Vec<bool>,
    /// Strict: how often the first that remains was passed over.
    passed: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration {
    at: usize,
    object: Object,
    /// Took effect and did not return, with what they did.
    out: Vec<(usize, Act)>,
    lines: Vec<Line>,
    /// Insertions added after the end.
    added: usize,
    /// What they and others after the end brought, ascending.
    brought: Vec<Value>,
}

struct Search<'a> {
    rules: &'a Rules,
    moves: Vec<Move<'a>>,
    /// Which move each event is of.
    events: Vec<usize>,
    acts: Vec<Meaning>,
    known: HashMap<Meaning, Act>,
    /// May operations follow the end?
    continues: bool,
    /// The object before anything happened.
    start: &'a Object,
    /// What may come in after the end.
    to_come: ToCome,
    /// No two insertions bring the same value.
    is_distinct: bool,
    todo: Vec<Configuration>,
}

/// Whether the events before `cut` have two orders.
pub(super) fn exists(members: &Members<'_>, rules: &Rules, cut: u32) -> Result<bool, Stop> {
    let reading = members.reading;
    let mut moves = Vec::new();
    let mut positions = Vec::new();
    for &op in &members.ops {
        let operation = reading.operation(op)?;
        if operation.call >= cut || (operation.ret.is_none() && reading.is_stuck()) {
            continue;
        }
        let ret = operation.ret.as_ref().filter(|ret| ret.at < cut);
        positions.push((operation.call, moves.len()));
        positions.extend(ret.map(|ret| (ret.at, moves.len())));
        let method = reading.log.name(operation.input.method);
        let ret = ret.map(|ret| (ret.at as usize, &ret.output));
        moves.push(Move { method, action: reading.action(op), call: operation.call as usize, ret });
    }
    positions.sort_unstable();
    let rank: HashMap<usize, usize> = positions.iter().enumerate().map(|(i, &(at, _))| (at as usize, i)).collect();
    for step in &mut moves {
        step.call = rank[&step.call];
        if let Some((at, _)) = &mut step.ret {
            *at = rank[at];
        }
    }
    let mut search = Search {
        rules,
        moves,
        events: positions.into_iter().map(|(_, step)| step).collect(),
        acts: Vec::new(),
        known: HashMap::new(),
        continues: !rules.is_closed && !reading.is_stuck(),
        start: &reading.start,
        to_come: ToCome::new(members, cut)?,
        is_distinct: false,
        todo: Vec::new(),
    };
    let mut values = HashSet::new();
    search.is_distinct = search.moves.iter().filter_map(|step| brings(step.action, None)).all(|v| values.insert(v));
    let lines = vec![Line::default(); rules.factors.len()];
    search.todo.push(Configuration {
        at: 0,
        object: reading.start.clone(),
        out: Vec::new(),
        lines,
        added: 0,
        brought: Vec::new(),
    });
    let mut seen: HashSet<Configuration> = HashSet::new();
    while let Some(mut configuration) = search.todo.pop() {
        reading.budget.check()?;
        search.pass(&mut configuration);
        if configuration.at == search.events.len() && configuration.lines.iter().all(|line| line.lin.is_empty()) {
            return Ok(true);
        }
        if seen.insert(configuration.clone()) {
            search.follow(&configuration);
        }
    }
    Ok(false)
}

impl Configuration {
    fn is_out(&self, step: usize) -> bool {
        self.out.iter().any(|&(other, _)| other == step)
    }
}

impl Search<'_> {
    /// Passes calls, and returns of what took effect.
    fn pass(&self, configuration: &mut Configuration) {
        while let Some(&step) = self.events.get(configuration.at) {
            if self.moves[step].ret.is_some_and(|(at, _)| at == configuration.at) {
                let Some(place) = configuration.out.iter().position(|&(other, _)| other == step) else { return };
                configuration.out.remove(place);
            }
            configuration.at += 1;
        }
    }

    fn act(&mut self, method: &str, action: &Action, result: Option<&Value>, at: usize) -> Act {
        let class = self.rules.class(method, action, result);
        self.intern(Meaning { action: action.clone(), result: result.cloned(), class, at })
    }

    fn intern(&mut self, meaning: Meaning) -> Act {
        let next = Act(self.acts.len());
        let act = self.known.entry(meaning.clone()).or_insert(next.clone()).clone();
        if act == next {
            self.acts.push(meaning);
        }
        act
    }

    fn follow(&mut self, from: &Configuration) {
        for step in 0..self.moves.len() {
            let Move { method, action, call, ret } = self.moves[step];
            let is_open = call < from.at && ret.is_none_or(|(at, _)| at >= from.at);
            if !is_open || from.is_out(step) {
                continue;
            }
            match ret {
                Some((_, result)) => {
                    let x = self.act(method, action, Some(result), 0);
                    self.emit(from, Some(step), &x);
                }
                None => self.emit_open(from, step),
            }
        }
        if from.at == self.events.len() && self.continues {
            self.go_on(from);
        }
    }

    /// A call that does not return takes effect, with the result that the object gives, one that is owed, or one to come.
    fn emit_open(&mut self, from: &Configuration, step: usize) {
        let Move { method, action, .. } = self.moves[step];
        let mut xs = Vec::new();
        if let Some(result) = from.object.clone().perform(action, None) {
            let x = self.act(method, action, Some(&result), 0);
            if self.is_caused(from, &x, from.at) {
                self.step(from, Some(step), &x, &x);
            }
        }
        for (owed, _) in from.lines.iter().flat_map(|line| &line.run) {
            if self.acts[owed.0].action == *action {
                xs.push(owed.clone());
            }
        }
        if self.is_distinct {
            xs.push(self.act(method, action, None, from.at));
            if self.rules.class(method, action, Some(&Value::Nil)) != self.rules.class(method, action, None) {
                let class = self.rules.class(method, action, Some(&Value::Nil));
                xs.push(self.intern(Meaning { action: action.clone(), result: None, class, at: from.at }));
            }
        } else {
            // Where values repeat, which one it was decides how many are left.
            xs.extend(self.guesses(method, action));
        }
        xs.sort_unstable();
        xs.dedup();
        for x in xs {
            if self.rules.factors[self.acts[x.0].class] > 0 {
                self.emit(from, Some(step), &x);
            }
        }
    }

    /// Every result that a call may have: where there is nothing, and where there is one value alone.
    fn guesses(&mut self, method: &str, action: &Action) -> Vec<Act> {
        let mut objects = vec![self.start.clone()];
        for step in self.moves.iter().filter(|step| brings(step.action, None).is_some()) {
            let mut object = self.start.clone();
            object.perform(step.action, None);
            objects.push(object);
        }
        let results: HashSet<Value> = objects.iter_mut().filter_map(|object| object.perform(action, None)).collect();
        results.iter().map(|result| self.act(method, action, Some(result), 0)).collect()
    }

    fn emit(&mut self, from: &Configuration, step: Option<usize>, x: &Act) {
        if !self.is_caused(from, x, from.at) {
            return;
        }
        let class = self.acts[x.0].class;
        if self.rules.factors[class] == 0 {
            self.step(from, step, x, x);
            return;
        }
        for y in self.runnable(from, class, x, step) {
            self.step(from, step, x, &y);
        }
    }

    /// What the run may do next in a class, while the linearization gets `x`, which is that step.
    fn runnable(&mut self, from: &Configuration, class: usize, x: &Act, own: Option<usize>) -> Vec<Act> {
        let mut ys: Vec<Act> = vec![x.clone()];
        ys.extend(from.lines[class].lin.iter().map(|(act, _)| act.clone()));
        for step in 0..self.moves.len() {
            let Move { method, action, ret, .. } = self.moves[step];
            if ret.is_some_and(|(at, _)| at < from.at) {
                continue;
            }
            match ret {
                Some((_, result)) if !from.is_out(step) => ys.push(self.act(method, action, Some(result), 0)),
                Some(_) => {}
                None => self.push_answer(from, method, action, &mut ys),
            }
        }
        if self.continues {
            for (method, action) in bare_calls(self.rules.kind) {
                self.push_answer(from, method, &action, &mut ys);
            }
            for step in 0..self.moves.len() {
                let Move { method, action, .. } = self.moves[step];
                self.push_answer(from, method, action, &mut ys);
            }
            if self.rules.is_free {
                ys.extend(self.insertions(from));
            }
        }
        ys.sort_unstable();
        ys.dedup();
        ys.retain(|y| self.acts[y.0].class == class && self.acts[y.0].result.is_some());
        ys.retain(|y| y == x || self.is_left(from, y, own));
        ys
    }

    /// Whether the linearization has `y` already, or may still get it in time: from the history, or after its end, where
    /// nothing brings a value a second time unless the reading is free.
    fn is_left(&self, from: &Configuration, y: &Act, own: Option<usize>) -> bool {
        let Meaning { action, result, class, .. } = &self.acts[y.0];
        let line = &from.lines[*class];
        let is_promised =
            |act: &Act| act == y || (self.acts[act.0].result.is_none() && self.acts[act.0].action == *action);
        if line.lin.iter().any(|(act, _)| is_promised(act)) {
            return true;
        }
        let factor = self.rules.factors[*class];
        let wait = if self.rules.is_strict { (factor + 1).saturating_mul(factor + 1) } else { factor };
        let is_to_come =
            |i: usize| self.moves[i].ret.is_some_and(|(at, _)| at >= from.at) && !from.is_out(i) && Some(i) != own;
        let to_come: Vec<usize> =
            (0..self.moves.len()).filter(|&i| is_to_come(i) && self.move_class(i) == *class).collect();
        let follows = self.continues && (self.rules.is_free || brings(action, result.as_ref()).is_none());
        if follows && (to_come.len() as u32) < wait {
            return true;
        }
        let is_pending = |(i, step): (usize, &Move<'_>)| step.ret.is_none() && !from.is_out(i) && Some(i) != own;
        let pending = self.moves.iter().enumerate().filter(|&step| is_pending(step) && step.1.action == action).count();
        let same =
            |&&i: &&usize| self.moves[i].action == action && self.moves[i].ret.map(|ret| ret.1) == result.as_ref();
        let near = |&&i: &&usize| {
            let certainly = |&&j: &&usize| self.moves[j].ret.is_some_and(|(at, _)| at < self.moves[i].call);
            (to_come.iter().filter(certainly).count() as u32) < wait
        };
        let left = pending + to_come.iter().filter(same).filter(near).count();
        left > line.run.iter().filter(|(act, _)| act == y).count()
    }

    /// The class of an operation that returns.
    fn move_class(&self, step: usize) -> usize {
        let Move { method, action, ret, .. } = self.moves[step];
        self.rules.class(method, action, ret.map(|(_, result)| result))
    }

    fn push_answer(&mut self, from: &Configuration, method: &str, action: &Action, ys: &mut Vec<Act>) {
        if let Some(result) = from.object.clone().perform(action, None) {
            ys.push(self.act(method, action, Some(&result), 0));
        }
    }

    /// Insertions of the values that operations take out or show.
    fn insertions(&mut self, from: &Configuration) -> Vec<Act> {
        let needed = self.moves.iter().filter_map(|step| needs(step.action, step.ret?.1));
        let values: HashSet<Value> = needed.map(|(value, _)| value).collect();
        let mut all = Vec::new();
        for value in values {
            if let Some((method, action)) = insertion(self.rules.kind, &value) {
                self.push_answer(from, method, &action, &mut all);
            }
        }
        all
    }

    /// After the end: the linearization gets what only the run has. Anything else could wait until that is done, and it
    /// makes the search end: what only the linearization has gets no more, and is overdue some day.
    fn go_on(&mut self, from: &Configuration) {
        for class in 0..from.lines.len() {
            if from.lines[class].lin.is_empty() {
                continue;
            }
            let mut xs: Vec<Act> = from.lines[class].run.iter().map(|(act, _)| act.clone()).collect();
            // What a pending insertion brings is brought by that insertion or not at all.
            xs.retain(|x| self.may_follow(x));
            for x in &xs {
                for y in self.runnable(from, class, x, None) {
                    self.step(from, None, x, &y);
                }
            }
        }
        let shown: usize = from.lines.iter().map(|line| line.lin.len()).sum();
        if self.rules.is_free && from.added < shown {
            for y in self.insertions(from) {
                if from.lines[self.acts[y.0].class].lin.is_empty() {
                    self.step(from, None, &y, &y);
                }
            }
        }
    }

    /// Whether it may come after the end.
    fn may_follow(&self, act: &Act) -> bool {
        let Meaning { action, result, .. } = &self.acts[act.0];
        self.rules.is_free || brings(action, result.as_ref()).is_none()
    }

    /// Adds what `x` brings after the end to what was brought there; whether it may.
    fn brings_later(&self, x: &Act, brought: &mut Vec<Value>) -> bool {
        let Meaning { action, result, .. } = &self.acts[x.0];
        let Some(value) = brings(action, result.as_ref()) else { return true };
        let times = brought.iter().filter(|other| *other == value).count();
        brought.push(value.clone());
        brought.sort_unstable();
        self.to_come.allows(value, times)
    }

    fn step(&mut self, from: &Configuration, step: Option<usize>, x: &Act, y: &Act) {
        let Meaning { action, result, class, .. } = &self.acts[y.0];
        let Some(result) = result else { return };
        let mut object = from.object.clone();
        if object.accepts(action, result).is_err() {
            return;
        }
        let class = *class;
        if self.acts[x.0].class != class {
            return;
        }
        let mut brought = from.brought.clone();
        if step.is_none() && !self.brings_later(x, &mut brought) {
            return;
        }
        let lines =
            if self.rules.factors[class] == 0 { vec![from.lines[class].clone()] } else { self.both(from, x, y) };
        for line in lines {
            let mut next = Configuration { object: object.clone(), ..from.clone() };
            next.added += usize::from(step.is_none() && from.lines[class].lin.is_empty());
            next.lines[class] = line;
            next.brought.clone_from(&brought);
            next.out.extend(step.map(|step| (step, x.clone())));
            next.out.sort_unstable();
            self.todo.push(next);
        }
    }

    /// What becomes of a class when the linearization gets `x` and the run gets `y`.
    fn both(&self, from: &Configuration, x: &Act, y: &Act) -> Vec<Line> {
        let meaning = &self.acts[y.0];
        let line = &from.lines[meaning.class];
        let factor = self.rules.factors[meaning.class];
        let open = |act: &Act| {
            let promise = &self.acts[act.0];
            promise.result.is_none() && promise.action == meaning.action && self.is_caused(from, y, promise.at)
        };
        let mut done: Vec<Option<usize>> =
            (0..line.lin.len()).filter(|&i| line.lin[i].0 == *y || open(&line.lin[i].0)).map(Some).collect();
        done.push(None);
        let become_ =
            |done| if self.rules.is_strict { strict(line, factor, x, y, done) } else { far(line, factor, x, y, done) };
        done.into_iter().flat_map(become_).collect()
    }

    /// Whether the value that the operation needs was put in by somebody who was called before event `at`.
    fn is_caused(&self, from: &Configuration, x: &Act, at: usize) -> bool {
        let Meaning { action, result: Some(result), .. } = &self.acts[x.0] else { return true };
        let Some((value, is_taken)) = needs(action, result).filter(|_| !self.rules.is_free) else { return true };
        let called = self
            .moves
            .iter()
            .filter(|step| step.call < at && brings(step.action, step.ret.map(|(_, result)| result)) == Some(&value));
        let takes = |action: &Action, result: &Value| needs(action, result) == Some((value.clone(), true));
        let returned = self.moves.iter().filter_map(|step| step.ret.map(|(ret, result)| (step.action, ret, result)));
        let returned = returned.filter(|&(action, ret, result)| ret < at && takes(action, result)).count();
        let open = from.out.iter().map(|(_, act)| &self.acts[act.0]).filter(|_| at == from.at);
        let open = open.filter(|act| act.result.as_ref().is_some_and(|result| takes(&act.action, result))).count();
        called.count() > if is_taken { returned + open } else { 0 }
    }
}

/// By distance: `done` is the entry of the linearization that `y` is.
fn far(line: &Line, factor: u32, x: &Act, y: &Act, done: Option<usize>) -> Vec<Line> {
    let mut next = line.clone();
    for (_, back) in next.run.iter_mut().chain(&mut next.lin) {
        *back += 1;
    }
    match done {
        Some(i) => drop(next.lin.remove(i)),
        None => next.run.push((y.clone(), 0)),
    }
    match next.run.iter().position(|(act, _)| act == x) {
        Some(i) => drop(next.run.remove(i)),
        None => next.lin.push((x.clone(), 0)),
    }
    // What the next operation of either order matches stands one further back then.
    let late = next.run.iter().chain(&next.lin).any(|&(_, back)| back + 1 > factor);
    if late { Vec::new() } else { vec![next] }
}

/// Strictly: one of the first K+1 that remain of the run, the first passed over at most K times.
fn strict(line: &Line, factor: u32, x: &Act, y: &Act, done: Option<usize>) -> Vec<Line> {
    let mut next = line.clone();
    let before = done.unwrap_or(next.lin.len());
    for i in 0..before {
        next.waits[i] = false;
        match next.lin[i].1.checked_sub(1) {
            Some(left) => next.lin[i].1 = left,
            None => return Vec::new(),
        }
    }
    match done {
        Some(i) if next.waits[i] => return Vec::new(),
        Some(i) => {
            next.lin.remove(i);
            next.waits.remove(i);
        }
        None => next.run.push((y.clone(), 0)),
    }
    if let Some(i) = next.run.iter().position(|(act, _)| act == x) {
        next.run.remove(i);
        next.passed = if i == 0 { 0 } else { next.passed + 1 };
        return if i as u32 <= factor && next.passed <= factor { vec![next] } else { Vec::new() };
    }
    let ahead = next.run.len() as u32;
    let mut all = Vec::new();
    if ahead == 0 {
        let mut first = next.clone();
        first.passed = 0;
        first.lin.push((x.clone(), 0));
        first.waits.push(false);
        all.push(first);
    }
    if ahead <= factor && next.passed < factor {
        next.passed += 1;
        next.lin.push((x.clone(), factor - ahead));
        next.waits.push(ahead == 0);
        all.push(next);
    }
    all
}
