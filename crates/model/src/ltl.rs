//! Temporal formulas over the runs of a system: `[]`, `<>`, `X`, `U` on events and conditions.
//!
//! A run is a sequence of positions: a position is a step together with the state after it; an event holds at the position of its
//! step, a condition at the states of positions. The first position is the initial state, where no event holds. A run that ends
//! stays in its last state for ever, without events. The formula's negation becomes a Büchi automaton by the tableau of Gerth,
//! Peled, Vardi and Wolper (1995); the product with the system is searched for a cycle that fulfils every promise.
//! Complexity: states of the system times 2^(size of the formula).

mod automaton;

use crate::answer::{Answer, Reason, Statistics, Trouble, Verdict};
use crate::explore::{statistics, trace_of};
use crate::graph::Tarjan;
use crate::limits::Settings;
use crate::search::{End, Path, PathStep, Space, Steps, search};
use crate::store::{Map, hash_bytes};
use crate::system::{Action, Fault, Label, TransitionSystem};
use automaton::Automaton;

/// A formula over atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula<A> {
    /// Holds always.
    True,
    /// Never holds.
    False,
    /// An event or a condition.
    Atom(A),
    /// Does not hold.
    Not(Box<Formula<A>>),
    /// Both hold.
    And(Box<Formula<A>>, Box<Formula<A>>),
    /// One of them holds.
    Or(Box<Formula<A>>, Box<Formula<A>>),
    /// Holds at the next position.
    Next(Box<Formula<A>>),
    /// The first holds until the second does, and the second does some time.
    Until(Box<Formula<A>>, Box<Formula<A>>),
    /// The second holds until both do, or for ever.
    Release(Box<Formula<A>>, Box<Formula<A>>),
}

impl<A> Formula<A> {
    /// Holds from here on: `[]`.
    pub fn always(formula: Formula<A>) -> Self {
        Formula::Release(Box::new(Formula::False), Box::new(formula))
    }

    /// Holds some time: `<>`.
    pub fn eventually(formula: Formula<A>) -> Self {
        Formula::Until(Box::new(Formula::True), Box::new(formula))
    }

    /// Holds if the first does.
    pub fn implies(first: Formula<A>, second: Formula<A>) -> Self {
        Formula::Or(Box::new(Formula::Not(Box::new(first))), Box::new(second))
    }
}

/// What an atom looks at.
pub enum Moment<'a, S> {
    /// The beginning of the run.
    Begin(&'a S),
    /// A step and the state after it.
    Step(Action, &'a S),
    /// The run has ended in this state.
    Ended(&'a S),
}

/// The system with the automaton of the negated formula.
struct Product<'a, S, F> {
    system: &'a S,
    automaton: Automaton,
    holds: F,
}

struct Scratch<T> {
    initial: Vec<T>,
    next: Vec<(Action, T)>,
}

impl<S, F> Product<'_, S, F>
where
    S: TransitionSystem,
    F: Fn(usize, &Moment<'_, S::State>) -> Result<bool, Fault> + Sync,
{
    /// Which atoms hold at a moment.
    fn letter(&self, moment: &Moment<'_, S::State>) -> Result<u64, Fault> {
        let mut letter = 0;
        for atom in 0..self.automaton.atoms {
            letter |= u64::from((self.holds)(atom, moment)?) << atom;
        }
        Ok(letter)
    }
}

impl<S, F> Space for Product<'_, S, F>
where
    S: TransitionSystem,
    F: Fn(usize, &Moment<'_, S::State>) -> Result<bool, Fault> + Sync,
{
    type Scratch = Scratch<S::State>;
    type Reason = ();
    const TAGGED: bool = true;

    fn scratch(&self) -> Self::Scratch {
        Scratch { initial: Vec::new(), next: Vec::new() }
    }

    fn roots(&self, scratch: &mut Self::Scratch, out: &mut Steps<()>) -> Result<(), Fault> {
        scratch.initial.clear();
        self.system.initial(&mut scratch.initial)?;
        for state in &scratch.initial {
            let letter = self.letter(&Moment::Begin(state))?;
            for node in self.automaton.begin(letter) {
                out.push(Action { label: Label::TAU, actor: 0 }, 0, node, |bytes| self.system.pack(state, bytes));
            }
        }
        Ok(())
    }

    fn expand(&self, scratch: &mut Self::Scratch, state: &[u8], node: u32, out: &mut Steps<()>) -> Result<(), Fault> {
        let unpacked = self.system.unpack(state);
        scratch.next.clear();
        self.system.successors(&unpacked, &mut scratch.next)?;
        if scratch.next.is_empty() {
            let letter = self.letter(&Moment::Ended(&unpacked))?;
            for after in self.automaton.next(node, letter) {
                out.push(ENDED, 0, after, |bytes| bytes.extend_from_slice(state));
            }
        }
        for (action, next) in &scratch.next {
            let letter = self.letter(&Moment::Step(*action, next))?;
            for after in self.automaton.next(node, letter) {
                out.push(*action, action.actor, after, |bytes| self.system.pack(next, bytes));
            }
        }
        Ok(())
    }
}

/// The step of a run that has ended: nothing happens, for ever.
const ENDED: Action = Action { label: Label::TAU, actor: u32::MAX };

/// Whether every run fulfils the formula. `holds` says whether an atom of the formula holds at a moment.
pub fn satisfies<S, A, F>(system: &S, formula: &Formula<A>, holds: F, settings: &Settings) -> Result<Answer, Trouble>
where
    S: TransitionSystem,
    A: Clone + Eq + Sync,
    F: Fn(&A, &Moment<'_, S::State>) -> Result<bool, Fault> + Sync,
{
    let watch = settings.watch();
    let (automaton, atoms) = match Automaton::of_negation(formula) {
        Some(built) => built,
        None => return Err(Trouble::Unsupported { why: "the formula is too large" }),
    };
    let holds = |atom: usize, moment: &Moment<'_, S::State>| holds(&atoms[atom], moment);
    let space = Product { system, automaton, holds };
    // Numbers must be those of one worker's nodes.
    let alone = Settings { jobs: 1, hash_only: false, ..settings.clone() };
    let outcome = search(&space, &alone, watch, None);
    let statistics: Statistics = statistics(&outcome, watch, false);
    let answer = |verdict| Ok(Answer { verdict, reason: None, trace: None, statistics });
    match outcome.end {
        End::Limit(limit) => return answer(Verdict::Unknown(limit)),
        End::Fault(path, fault) => return Err(Trouble::Fault { fault, trace: trace_of(system, path) }),
        End::Exhausted | End::Found(..) => {}
    }
    let shard = &outcome.shards[0];
    let mut numbers: Map<(u64, u32), Vec<u32>> = Map::default();
    for id in 0..shard.numbered() {
        if let Some((state, tag)) = shard.node(id) {
            numbers.entry((hash_bytes(state), tag)).or_default().push(id);
        }
    }
    let faulty = |fault| Trouble::Fault { fault, trace: crate::Trace::default() };
    let mut lasso = Lasso { steps: Vec::new(), promises: Vec::new(), all: space.automaton.promises_all() };
    let (mut scratch, mut out) = (space.scratch(), Steps::default());
    let find = |out: &Steps<()>, step: &crate::search::Step| {
        let bytes = out.bytes(step);
        let ids = numbers.get(&(hash_bytes(bytes), step.tag))?;
        ids.iter().copied().find(|&id| shard.node(id) == Some((bytes, step.tag)))
    };
    space.roots(&mut scratch, &mut out).map_err(faulty)?;
    let roots: Vec<u32> = out.steps().iter().filter_map(|step| find(&out, step)).collect();
    for id in 0..shard.numbered() {
        if id % 4096 == 0 {
            if let Err(limit) = watch.check(0, statistics.bytes + 64 * u64::from(id)) {
                return answer(Verdict::Unknown(limit));
            }
        }
        out.clear();
        let mut steps = Vec::new();
        if let Some((state, tag)) = shard.node(id) {
            lasso.promises.push(space.automaton.fulfilled(tag));
            space.expand(&mut scratch, state, tag, &mut out).map_err(faulty)?;
            steps.extend(out.steps().iter().filter_map(|step| Some((step.action, find(&out, step)?))));
        }
        lasso.steps.push(steps);
    }
    let Some((root, steps, repeats)) = lasso.shortest(&roots) else { return answer(Verdict::Pass) };
    let packed = |id: u32| shard.node(id).map(|(state, _)| state.to_vec()).unwrap_or_default();
    // Standing still after the end is not a step of the system.
    let steps: Vec<(Action, u32)> = steps.into_iter().filter(|(action, _)| *action != ENDED).collect();
    let step = |&(action, to): &(Action, u32)| PathStep { action, actor: action.actor, state: packed(to), tag: 0 };
    let mut path = Path { root: (packed(root), 0), steps: steps.iter().map(step).collect() };
    let mut repeats = repeats.min(path.steps.len());
    fold(&mut path, &mut repeats);
    let mut trace = trace_of(system, path);
    // The automaton may go round more often than the system has to.
    trace.shortest = false;
    Ok(Answer { verdict: Verdict::Fail, reason: Some(Reason::Contradicts { repeats }), trace: Some(trace), statistics })
}

/// Writes the same infinite run with fewer steps, where the automaton went round more often than the system.
fn fold(path: &mut Path, repeats: &mut usize) {
    let length = path.steps.len() - *repeats;
    let turn = &path.steps[*repeats..];
    let begin = match *repeats {
        0 => &path.root.0,
        after => &path.steps[after - 1].state,
    };
    let whole = |&part: &usize| {
        length % part == 0
            && turn[part - 1].state == *begin
            && (part..length).all(|at| same(&turn[at], &turn[at - part]))
    };
    if let Some(part) = (1..length).find(whole) {
        path.steps.truncate(*repeats + part);
    }
    while *repeats > 0 && path.steps.len() > *repeats {
        let end = path.steps.len() - 1;
        let before_end = &path.steps[end.wrapping_sub(1).min(end)].state;
        let before_turn = if *repeats == 1 { &path.root.0 } else { &path.steps[*repeats - 2].state };
        if end == 0 || !same(&path.steps[*repeats - 1], &path.steps[end]) || before_end != before_turn {
            break;
        }
        path.steps.pop();
        *repeats -= 1;
    }
}

fn same(a: &PathStep, b: &PathStep) -> bool {
    a.action == b.action && a.state == b.state
}

/// The product as a graph, in which a cycle that fulfils every promise is looked for.
struct Lasso {
    steps: Vec<Vec<(Action, u32)>>,
    /// Bit i: the node keeps promise i.
    promises: Vec<u64>,
    all: u64,
}

/// A node and what has been kept since the cycle began.
type Kept = (u32, u64);

/// In larger products the shortest way in is taken, then the shortest cycle from there.
const SMALL: usize = 3_000;

impl Lasso {
    fn is_small(&self) -> bool {
        self.steps.len() <= SMALL
    }

    /// The root, the steps, and after how many of them the cycle begins. Shortest in all for a small product.
    fn shortest(&self, roots: &[u32]) -> Option<(u32, Vec<(Action, u32)>, usize)> {
        let good = self.good_nodes();
        let (order, before) = self.breadth_first(roots);
        let mut best: Option<(u32, Vec<(Action, u32)>, usize)> = None;
        for &node in order.iter().filter(|&&node| good[node as usize]) {
            let (root, way) = way_to(&before, node);
            if best.as_ref().is_some_and(|best| way.len() >= best.1.len()) {
                break;
            }
            let Some(cycle) = self.cycle(node, &good) else { continue };
            if best.as_ref().is_none_or(|best| way.len() + cycle.len() < best.1.len()) {
                let repeats = way.len();
                best = Some((root, [way, cycle].concat(), repeats));
            }
            if !self.is_small() {
                break;
            }
        }
        best
    }

    /// Nodes of components that have a cycle and keep every promise.
    fn good_nodes(&self) -> Vec<bool> {
        let mut tarjan = Tarjan::new(self.steps.len());
        for node in 0..self.steps.len() as u32 {
            tarjan.visit(node, |node| self.steps[node as usize].iter().map(|step| step.1).collect());
        }
        let mut kept = vec![0u64; tarjan.components as usize];
        let mut cyclic = vec![false; tarjan.components as usize];
        for (node, steps) in self.steps.iter().enumerate() {
            let component = tarjan.component[node] as usize;
            kept[component] |= self.promises[node];
            cyclic[component] |= steps.iter().any(|step| tarjan.component[step.1 as usize] as usize == component);
        }
        tarjan.component.iter().map(|&c| cyclic[c as usize] && kept[c as usize] & self.all == self.all).collect()
    }

    #[allow(clippy::type_complexity)]
    fn breadth_first(&self, roots: &[u32]) -> (Vec<u32>, Vec<Option<Option<(Action, u32)>>>) {
        let mut before: Vec<Option<Option<(Action, u32)>>> = vec![None; self.steps.len()];
        let mut order = Vec::new();
        for &root in roots {
            if before[root as usize].is_none() {
                before[root as usize] = Some(None);
                order.push(root);
            }
        }
        let mut at = 0;
        while at < order.len() {
            let node = order[at];
            at += 1;
            for &(action, to) in &self.steps[node as usize] {
                if before[to as usize].is_none() {
                    before[to as usize] = Some(Some((action, node)));
                    order.push(to);
                }
            }
        }
        (order, before)
    }

    /// A shortest cycle through a node, among good ones, that keeps every promise.
    fn cycle(&self, node: u32, good: &[bool]) -> Option<Vec<(Action, u32)>> {
        let begin: Kept = (node, self.promises[node as usize]);
        let mut before: Map<Kept, Option<(Action, Kept)>> = Map::default();
        before.insert(begin, None);
        let mut queue = vec![begin];
        let mut at = 0;
        while at < queue.len() {
            let here = queue[at];
            at += 1;
            for &(action, to) in self.steps[here.0 as usize].iter().filter(|step| good[step.1 as usize]) {
                let there: Kept = (to, here.1 | self.promises[to as usize]);
                if to == node && there.1 & self.all == self.all {
                    let mut steps = vec![(action, to)];
                    let mut back = here;
                    while let Some(Some((action, from))) = before.get(&back) {
                        steps.push((*action, back.0));
                        back = *from;
                    }
                    steps.reverse();
                    return Some(steps);
                }
                if !before.contains_key(&there) {
                    before.insert(there, Some((action, here)));
                    queue.push(there);
                }
            }
        }
        None
    }
}

fn way_to(before: &[Option<Option<(Action, u32)>>], node: u32) -> (u32, Vec<(Action, u32)>) {
    let mut steps = Vec::new();
    let mut at = node;
    while let Some(Some((action, from))) = before[at as usize] {
        steps.push((action, at));
        at = from;
    }
    steps.reverse();
    (at, steps)
}
