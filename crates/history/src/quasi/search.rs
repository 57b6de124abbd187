//! The search for a linearization and a legal run that belong together.
//!
//! A configuration is what docs/semantics.md calls a state (s, O and P of each class, θ), at one event of the history.
//! Operations take effect as late as possible, just before a return that needs it; depth first, the likeliest step first;
//! a configuration that was seen before with at least as much time left is not followed again. Invariant: every pair of
//! orders leads through configurations that are followed, so a search that ends without one shows that there is none.
//!
//! At most one configuration for each event, subset of open operations, state and pair of windows; of windows that
//! differ only in the time left, those that are not beaten by another.

mod seen;

use seen::Seen;

use super::label::{Label, Labels};
use super::machine::{FirstInFirstOut, Machine, StateId, Stepwise};
use super::numbered::{Input, Object, Output};
use super::plan::{Plan, Subject};
use super::window::Window;
use super::{Causality, Classing, Order, Reading, Rules, pick};
use crate::{Budget, End, Limit};

/// What the linearization emits at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emitted {
    /// An operation of the history.
    Op(u32),
    /// An operation that would come after its end.
    Later,
}

/// One step of both orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// How many events have passed.
    pub at: u32,
    pub emitted: Emitted,
    pub x: Label,
    pub y: Label,
    /// The promise that `y` kept.
    pub kept: Option<Label>,
    pub before: StateId,
    pub after: StateId,
}

/// Where the search stands.
#[derive(Clone)]
struct Configuration {
    at: u32,
    state: StateId,
    /// Operations that have taken effect and not returned, with what they did, ascending.
    lin: Vec<(u32, Label)>,
    windows: Vec<Window>,
    /// How many insertions were made up after the end.
    made_up: u32,
    /// The values put in after the end, by their place in [`Plan::needed`], ascending.
    put_later: Vec<u32>,
}

/// What the search came to.
pub(super) enum Found {
    /// Both orders, step by step.
    Orders(Vec<Step>),
    /// There are none; the most events that were passed.
    Nothing(u32),
}

/// A finished search, with what is needed to read its steps.
pub(super) struct Searched<'a> {
    pub found: Found,
    pub states: u64,
    pub labels: Labels,
    pub plan: Plan<'a>,
    pub machine: Box<dyn Machine + 'a>,
}

/// Searches for orders of a history. With `blocks`, the call of that operation must block
/// at the end. After `most` configurations it gives up as if memory had run out.
pub(super) fn search<'a>(
    spec: &'a Object<'a>,
    subject: Subject<'a>,
    classing: &'a Classing<Input>,
    rules: &'a Rules,
    blocks: Option<&'a Input>,
    (budget, most): (&Budget, u64),
) -> Result<Searched<'a>, Limit> {
    let history = subject.history;
    let mut labels = Labels::new();
    let exact = |(i, operation): (usize, &crate::Operation<Input, Output>)| {
        spec.brings(&operation.input, operation.output()).is_none() || {
            let class = pick(spec, operation.input, operation.output().copied(), classing.of[i]);
            rules.factors[class as usize] == 0
        }
    };
    let lazy = spec.is_first_in_first_out()
        && rules.causality == Causality::Causal
        && history.operations().iter().enumerate().all(exact);
    let queue = if lazy { FirstInFirstOut::new(spec, history) } else { None };
    let plan = Plan::new(spec, subject, classing, rules, queue.is_some(), &mut labels);
    let mut machine: Box<dyn Machine + 'a> = match queue {
        Some(queue) => Box::new(queue),
        None => Box::new(Stepwise::new(spec)),
    };
    let continues = rules.reading == Reading::Prefix && history.end() != End::Stuck;
    let mut engine = Engine {
        plan: &plan,
        labels: &mut labels,
        machine: machine.as_mut(),
        seen: Seen::new(rules.order, !plan.is_distinct),
        blocks,
        continues,
        states: 0,
        furthest: 0,
        stack: Vec::new(),
    };
    let found = engine.run(budget, most)?;
    let states = engine.states;
    Ok(Searched { found, states, labels, plan, machine })
}

struct Engine<'e, 'a> {
    plan: &'e Plan<'a>,
    labels: &'e mut Labels,
    machine: &'e mut (dyn Machine + 'a),
    seen: Seen,
    blocks: Option<&'a Input>,
    /// Operations may be added after the end.
    continues: bool,
    states: u64,
    furthest: u32,
    /// What is still to be followed, each with the length of the path before it; the likeliest last.
    stack: Vec<(Configuration, usize, Option<Step>)>,
}

impl Engine<'_, '_> {
    fn run(&mut self, budget: &Budget, most: u64) -> Result<Found, Limit> {
        budget.check()?;
        let windows = vec![Window::default(); self.plan.rules.factors.len()];
        let mut configuration = Configuration {
            at: 0,
            state: self.machine.start(),
            lin: Vec::new(),
            windows,
            made_up: 0,
            put_later: Vec::new(),
        };
        let mut path: Vec<Step> = Vec::new();
        loop {
            self.states += 1;
            if self.states > most {
                return Err(Limit::Memory);
            }
            if self.states.is_multiple_of(256) {
                budget.note_search(256, path.len());
                budget.check()?;
            }
            self.advance(&mut configuration);
            self.furthest = self.furthest.max(configuration.at);
            if self.seen.is_new(&configuration) {
                if self.is_done(&configuration) {
                    return Ok(Found::Orders(path));
                }
                let from = self.stack.len();
                self.successors(&configuration, path.len());
                self.stack[from..].reverse();
            }
            let Some((next, depth, step)) = self.stack.pop() else { return Ok(Found::Nothing(self.furthest)) };
            path.truncate(depth);
            path.extend(step);
            configuration = next;
        }
    }

    /// Passes calls, and returns of what has taken effect. Stops where a value comes in for certain while somebody might
    /// find nothing: that has to happen before.
    fn advance(&self, configuration: &mut Configuration) {
        while configuration.at < self.plan.events() {
            let mark = self.plan.mark(configuration.at);
            let op = mark.op().0;
            if mark.is_return() && self.plan.ops[op as usize].is_silent {
                if self.may_find_nothing(configuration) {
                    return;
                }
            } else if mark.is_return() {
                let Ok(place) = configuration.lin.binary_search_by_key(&op, |&(op, _)| op) else { return };
                configuration.lin.remove(place);
            }
            configuration.at += 1;
        }
    }

    fn may_find_nothing(&self, configuration: &Configuration) -> bool {
        let finds_nothing = |&(label, _): &(Label, u32)| {
            let meaning = self.labels.get(label);
            let nothing = |output| self.plan.spec.finds_nothing(&meaning.input, output);
            meaning.output.as_ref().is_none_or(nothing)
        };
        self.plan.may_find_nothing(configuration.at)
            || configuration.windows.iter().any(|w| w.owed.iter().chain(&w.promised).any(finds_nothing))
    }

    fn is_done(&mut self, configuration: &Configuration) -> bool {
        if configuration.at < self.plan.events() || !configuration.windows.iter().all(Window::is_empty) {
            return false;
        }
        let Some(input) = self.blocks else { return true };
        let mut results = Vec::new();
        self.machine.results(configuration.state, configuration.at, input, &mut results);
        results.is_empty()
    }

    /// Pushes every configuration one step further, the likeliest first.
    fn successors(&mut self, from: &Configuration, depth: usize) {
        let at = from.at;
        let at_end = at == self.plan.events();
        if !at_end {
            let target = self.plan.mark(at).op().0;
            if self.plan.ops[target as usize].is_silent {
                self.stack.push((Configuration { at: at + 1, ..from.clone() }, depth, None));
            } else {
                self.emit(from, depth, target);
            }
            for i in 0..self.plan.open(at).len() {
                let op = self.plan.open(at)[i];
                if op != target && !is_in(&from.lin, op) {
                    self.emit(from, depth, op);
                }
            }
        }
        for i in 0..self.plan.pending.len() {
            let op = self.plan.pending[i];
            if self.plan.ops[op as usize].call < at && !is_in(&from.lin, op) {
                self.emit_pending(from, depth, op);
            }
        }
        if at_end && self.continues {
            self.go_on(from, depth);
        }
    }

    /// An operation that returns takes effect.
    fn emit(&mut self, from: &Configuration, depth: usize, op: u32) {
        let Some(x) = self.plan.ops[op as usize].label else { return };
        if !self.plan.is_caused(self.labels, x, from.at, &from.lin) {
            return;
        }
        let class = self.labels.get(x).class;
        if self.plan.rules.factors[class as usize] == 0 {
            self.step(from, depth, Emitted::Op(op), x, x);
            return;
        }
        for y in self.executable(from, class, Some((op, x))) {
            self.step(from, depth, Emitted::Op(op), x, y);
        }
    }

    /// A pending operation takes effect, with whatever result.
    fn emit_pending(&mut self, from: &Configuration, depth: usize, op: u32) {
        let input = self.plan.history.operations()[op as usize].input;
        let classes = self.plan.classing.of[op as usize];
        let mut results = Vec::new();
        self.machine.results(from.state, from.at, &input, &mut results);
        for output in results {
            let x = self.label(&input, &output, classes);
            if self.plan.is_caused(self.labels, x, from.at, &from.lin) {
                self.step(from, depth, Emitted::Op(op), x, x);
            }
        }
        for class in [classes.0, classes.1] {
            if self.plan.rules.factors[class as usize] == 0 {
                continue;
            }
            let owed = from.windows[class as usize].owed.iter().map(|&(label, _)| label);
            let mut xs: Vec<Label> = owed.filter(|&label| self.labels.get(label).input == input).collect();
            if self.plan.is_distinct {
                xs.push(self.labels.open(&input, class, from.at));
            } else {
                // Which value it took says how many of that value are left, so it is not left open.
                let guesses = self.plan.guesses.get(&op).into_iter().flatten();
                xs.extend(guesses.filter(|&&label| self.labels.get(label).class == class));
            }
            xs.sort_unstable();
            xs.dedup();
            for x in xs {
                if !self.plan.is_caused(self.labels, x, from.at, &from.lin) {
                    continue;
                }
                for y in self.executable(from, class, None) {
                    self.step(from, depth, Emitted::Op(op), x, y);
                }
            }
            if classes.0 == classes.1 {
                break;
            }
        }
    }

    /// After the end: operations that nobody has called yet. None of them puts in a value that the history has: what a pending
    /// insertion brings is brought by that insertion or not at all. The linearization emits only what is owed: emitting
    /// something else first and paying later never does better. So no promise is made any more, and the continuation ends.
    fn go_on(&mut self, from: &Configuration, depth: usize) {
        let rules = self.plan.rules;
        let is_free = rules.causality == Causality::Free;
        for class in 0..rules.factors.len() as u16 {
            let window = &from.windows[class as usize];
            if window.is_empty() {
                continue;
            }
            let mut xs: Vec<(Label, u32)> = window.owed.clone();
            xs.retain(|&(x, _)| is_free || !self.labels.brings(self.plan.spec, x));
            if rules.order == Order::Distance {
                xs.sort_by_key(|&(_, left)| left);
                xs.truncate(1);
            }
            let ys = self.executable(from, class, None);
            for &(x, _) in &xs {
                for &y in &ys {
                    self.step(from, depth, Emitted::Later, x, y);
                }
            }
        }
        if is_free {
            self.make_up(from, depth);
        }
    }

    /// After the end, where nothing ties a value to its insertion: insertions of what was promised, in
    /// classes where nothing is owed.
    fn make_up(&mut self, from: &Configuration, depth: usize) {
        let promised: usize = from.windows.iter().map(|window| window.promised.len()).sum();
        if from.made_up as usize >= promised {
            return;
        }
        for y in self.insertions(from, None) {
            let class = self.labels.get(y).class;
            if from.windows[class as usize].is_empty() {
                self.step(from, depth, Emitted::Later, y, y);
            }
        }
    }

    /// The insertions that would bring something that the history shows, in one class or all.
    fn insertions(&mut self, from: &Configuration, class: Option<u16>) -> Vec<Label> {
        let plan = self.plan;
        let mut all = Vec::new();
        for (value, _) in &plan.needed {
            let Some(input) = self.plan.spec.insertion(value) else { continue };
            let classes = self.plan.classing.insertion;
            let mut results = Vec::new();
            self.machine.results(from.state, from.at, &input, &mut results);
            for output in results {
                let label = self.label(&input, &output, classes);
                if class.is_none_or(|class| class == self.labels.get(label).class) && !all.contains(&label) {
                    all.push(label);
                }
            }
        }
        all
    }

    fn label(&mut self, input: &Input, output: &Output, classes: (u16, u16)) -> Label {
        let class = pick(self.plan.spec, *input, Some(*output), classes);
        self.labels.closed(self.plan.spec, input, output, class)
    }

    /// What the legal run may execute in a class while the linearization emits `own`, the likeliest first; whether the
    /// specification allows it is not asked yet.
    fn executable(&mut self, from: &Configuration, class: u16, own: Option<(u32, Label)>) -> Vec<Label> {
        let plan = self.plan;
        let window = &from.windows[class as usize];
        let owes = |x: &Label| window.owed.iter().any(|(owed, _)| owed == x);
        let mut ys: Vec<Label> = own.map(|(_, x)| x).filter(|x| !owes(x)).into_iter().collect();
        let mut promised = window.promised.clone();
        promised.sort_by_key(|&(_, left)| left);
        for (promise, _) in promised {
            if self.labels.get(promise).output.is_some() && !ys.contains(&promise) {
                ys.push(promise);
            }
        }
        let open = from.lin.iter().filter(|&&(_, label)| self.labels.get(label).class == class).count();
        let emitted = plan.returned(class, from.at) + open as u32;
        let reach = plan.rules.reach(class);
        self.push_to_come(from, class, emitted.saturating_add(reach), &mut ys);
        self.push_pending(from, class, emitted.saturating_add(reach), &mut ys);
        // What is owed beyond the end must outlast all that is still to be emitted.
        let left = plan.total(class).saturating_sub(emitted + u32::from(own.is_some()));
        if self.continues && left < reach {
            let mut later = Vec::new();
            for (input, classes) in &plan.afterwards {
                self.push_results(from, class, input, *classes, &mut later);
            }
            later.retain(|&y| !self.labels.brings(plan.spec, y) && !ys.contains(&y));
            ys.extend(later);
            if plan.rules.causality == Causality::Free {
                ys.extend(self.insertions(from, Some(class)));
            }
        }
        ys
    }

    /// Operations of the history that are still to be emitted, and not owed already: what is executed once more than that
    /// would have to come after the end.
    fn push_to_come(&self, from: &Configuration, class: u16, place: u32, ys: &mut Vec<Label>) {
        let owed = &from.windows[class as usize].owed;
        let mut scanned: Vec<(Label, usize)> = Vec::new();
        for op in self.plan.ahead(class, from.at, place) {
            if is_in(&from.lin, op) {
                continue;
            }
            let Some(label) = self.plan.ops[op as usize].label else { continue };
            let times = match scanned.iter_mut().find(|(other, _)| *other == label) {
                Some((_, times)) => {
                    *times += 1;
                    *times
                }
                None => {
                    scanned.push((label, 1));
                    1
                }
            };
            let already = owed.iter().filter(|&&(other, _)| other == label).count();
            if times > already && !ys.contains(&label) {
                ys.push(label);
            }
        }
    }

    /// What pending operations may do before they are emitted, and what keeps promises whose result was left open.
    fn push_pending(&mut self, from: &Configuration, class: u16, place: u32, ys: &mut Vec<Label>) {
        for i in 0..self.plan.pending.len() {
            let op = self.plan.pending[i] as usize;
            let classes = self.plan.classing.of[op];
            let input = &self.plan.history.operations()[op].input;
            if self.plan.ops[op].earliest <= place && !self.is_put_in(from, class, op) {
                self.push_results(from, class, input, classes, ys);
            }
        }
    }

    /// Whether the operation is an insertion that was emitted and whose promise is kept: doing it again would put in its
    /// value a second time.
    fn is_put_in(&self, from: &Configuration, class: u16, op: usize) -> bool {
        let input = &self.plan.history.operations()[op].input;
        let promised = &from.windows[class as usize].promised;
        self.plan.rules.causality == Causality::Causal
            && self.plan.spec.brings(input, None).is_some()
            && is_in(&from.lin, op as u32)
            && !promised.iter().any(|&(promise, _)| self.labels.get(promise).input == *input)
    }

    fn push_results(
        &mut self,
        from: &Configuration,
        class: u16,
        input: &Input,
        classes: (u16, u16),
        ys: &mut Vec<Label>,
    ) {
        if classes.0 != class && classes.1 != class {
            return;
        }
        let mut results = Vec::new();
        self.machine.results(from.state, from.at, input, &mut results);
        for output in results {
            let label = self.label(input, &output, classes);
            if self.labels.get(label).class == class && !ys.contains(&label) {
                ys.push(label);
            }
        }
    }

    /// Pushes what follows when the linearization emits `x` and the legal run executes `y`.
    fn step(&mut self, from: &Configuration, depth: usize, emitted: Emitted, x: Label, y: Label) {
        let class = self.labels.get(x).class as usize;
        let factor = self.plan.rules.factors[class];
        let mut states = Vec::new();
        self.machine.apply(self.labels, from.state, from.at, y, &mut states);
        if states.is_empty() {
            return;
        }
        let put_later = match emitted {
            Emitted::Op(_) => from.put_later.clone(),
            Emitted::Later => match self.put_later(from, x) {
                Some(put_later) => put_later,
                None => return,
            },
        };
        let exchanged = if factor == 0 {
            vec![(None, None)]
        } else {
            let all = from.windows[class].exchange(self.labels, self.plan.rules.order, factor, x, y);
            all.into_iter().map(|one| (Some(one.window), one.kept)).collect()
        };
        for (window, kept) in exchanged {
            if !self.is_kept_in_time(kept, y) {
                continue;
            }
            for &after in &states {
                if window.as_ref().is_some_and(|window| !self.can_be_kept(window, after)) {
                    continue;
                }
                let mut next = from.clone();
                next.state = after;
                next.put_later.clone_from(&put_later);
                if let Some(window) = &window {
                    next.windows[class] = window.clone();
                }
                match emitted {
                    Emitted::Op(op) => {
                        let place = next.lin.partition_point(|&(other, _)| other < op);
                        next.lin.insert(place, (op, x));
                    }
                    Emitted::Later => next.made_up += u32::from(from.windows[class].is_empty()),
                }
                let step = Step { at: from.at, emitted, x, y, kept, before: from.state, after };
                self.stack.push((next, depth, Some(step)));
            }
        }
    }

    /// What was put in after the end once `x` was too; `None` where it may not be.
    fn put_later(&self, from: &Configuration, x: Label) -> Option<Vec<u32>> {
        let mut put_later = from.put_later.clone();
        let meaning = self.labels.get(x);
        if let Some(value) = self.plan.spec.brings(&meaning.input, meaning.output.as_ref()) {
            let place = self.plan.needed.binary_search_by(|(other, _)| other.cmp(&value)).ok()?;
            let times = put_later.iter().filter(|&&other| other == place as u32).count() as u32;
            if times >= self.plan.needed[place].1 {
                return None;
            }
            put_later.push(place as u32);
            put_later.sort_unstable();
        }
        Some(put_later)
    }

    /// A promise whose result was left open must be kept by something that could have been its result then.
    fn is_kept_in_time(&self, kept: Option<Label>, y: Label) -> bool {
        kept.is_none_or(|kept| {
            let promise = self.labels.get(kept);
            promise.output.is_some() || self.plan.is_caused(self.labels, y, promise.at, &[])
        })
    }

    /// Whether no promise is out of reach. Values are taken out one a step.
    fn can_be_kept(&self, window: &Window, state: StateId) -> bool {
        if !self.plan.is_distinct
            || self.plan.rules.causality == Causality::Free
            || self.plan.rules.order == Order::Strict
        {
            return true;
        }
        window.promised.iter().all(|&(label, left)| match &self.labels.get(label).needs {
            Some((value, true)) => self.machine.ahead(state, value) < left as usize,
            _ => true,
        })
    }
}

fn is_in(lin: &[(u32, Label)], op: u32) -> bool {
    lin.binary_search_by_key(&op, |&(op, _)| op).is_ok()
}
