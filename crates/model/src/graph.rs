//! A whole system in memory: states by number, steps as lists. For what cannot be seen from one state at a time: cycles.
//!
//! Complexity: one visit of every state, then linear time (Tarjan 1972, without recursion).

use crate::answer::{Statistics, Trouble};
use crate::explore::{statistics, trace_of};
use crate::limits::{Limit, Settings, Watch};
use crate::search::{End, Path, Shard, Space, Steps, search};
use crate::store::{Set, hash_bytes};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// Every state and step of a system.
pub(crate) struct Graph {
    /// Packed states.
    pub(crate) states: Vec<Box<[u8]>>,
    /// Steps out of each state.
    pub(crate) steps: Vec<Box<[(Action, u32)]>>,
    pub(crate) initial: Vec<u32>,
    pub(crate) statistics: Statistics,
}

struct Plain<'a, S>(&'a S);

impl<S: TransitionSystem> Space for Plain<'_, S> {
    type Scratch = (Vec<S::State>, Vec<(Action, S::State)>);
    type Reason = ();
    const TAGGED: bool = false;

    fn scratch(&self) -> Self::Scratch {
        (Vec::new(), Vec::new())
    }

    fn roots(&self, scratch: &mut Self::Scratch, out: &mut Steps<()>) -> Result<(), Fault> {
        scratch.0.clear();
        self.0.initial(&mut scratch.0)?;
        for state in &scratch.0 {
            out.push(Action { label: Label::TAU, actor: 0 }, 0, 0, |bytes| self.0.pack(state, bytes));
        }
        Ok(())
    }

    fn expand(&self, scratch: &mut Self::Scratch, state: &[u8], _: u32, out: &mut Steps<()>) -> Result<(), Fault> {
        scratch.1.clear();
        self.0.successors(&self.0.unpack(state), &mut scratch.1)?;
        for (action, next) in &scratch.1 {
            out.push(*action, action.actor, 0, |bytes| self.0.pack(next, bytes));
        }
        Ok(())
    }
}

type Built = Result<Graph, (Limit, Statistics)>;

impl Graph {
    /// Visits the whole system.
    pub(crate) fn build<S: TransitionSystem>(
        system: &S,
        settings: &Settings,
        watch: Watch<'_>,
    ) -> Result<Built, Trouble> {
        // One worker, and exact: numbers must be those of the states.
        let settings = Settings { jobs: 1, hash_only: false, ..settings.clone() };
        let space = Plain(system);
        let outcome = search(&space, &settings, watch, None);
        let statistics = statistics(&outcome, watch, false);
        match outcome.end {
            End::Limit(limit) => return Ok(Err((limit, statistics))),
            End::Fault(path, fault) => return Err(Trouble::Fault { fault, trace: trace_of(system, path) }),
            End::Exhausted | End::Found(..) => {}
        }
        let shard = &outcome.shards[0];
        let mut graph = Graph { states: Vec::new(), steps: Vec::new(), initial: Vec::new(), statistics };
        let mut scratch = space.scratch();
        let mut out = Steps::default();
        let faulty = |fault| Trouble::Fault { fault, trace: crate::Trace::default() };
        space.roots(&mut scratch, &mut out).map_err(faulty)?;
        graph.initial = numbers(shard, &out).map(|(_, to)| to).collect();
        for id in 0..shard.numbered() {
            let Some((state, _)) = shard.node(id) else { continue };
            if id % 4096 == 0 {
                let bytes = statistics.bytes + graph.states.len() as u64 * 64;
                if let Err(limit) = watch.check(0, bytes) {
                    return Ok(Err((limit, statistics)));
                }
            }
            out.clear();
            space.expand(&mut scratch, state, 0, &mut out).map_err(faulty)?;
            graph.states.push(state.into());
            graph.steps.push(numbers(shard, &out).collect());
        }
        Ok(Ok(graph))
    }

    /// The component of each state when only steps that `keep` wants count, and for each component whether it has a cycle.
    pub(crate) fn components(&self, keep: impl Fn(&Action) -> bool) -> (Vec<u32>, Vec<bool>) {
        let mut tarjan = Tarjan::new(self.states.len());
        for root in 0..self.states.len() as u32 {
            tarjan.visit(root, |state| {
                self.steps[state as usize].iter().filter(|step| keep(&step.0)).map(|step| step.1).collect()
            });
        }
        let mut cyclic = vec![false; tarjan.components as usize];
        for (state, steps) in self.steps.iter().enumerate() {
            for (_, to) in steps.iter().filter(|step| keep(&step.0)) {
                if tarjan.component[*to as usize] == tarjan.component[state] {
                    cyclic[tarjan.component[state] as usize] = true;
                }
            }
        }
        (tarjan.component, cyclic)
    }

    /// The packed states on cycles of internal steps.
    pub(crate) fn internal_cycles(&self) -> Set<Vec<u8>> {
        let (component, cyclic) = self.components(|action| action.label == Label::TAU);
        let on_cycle = |&(state, _): &(usize, &Box<[u8]>)| cyclic[component[state] as usize];
        self.states.iter().enumerate().filter(on_cycle).map(|(_, bytes)| bytes.to_vec()).collect()
    }

    /// A shortest way from one of `from` to a state that `goal` wants, by steps that `keep` wants: the states after each step.
    pub(crate) fn shortest(
        &self,
        from: &[u32],
        keep: impl Fn(&Action) -> bool,
        goal: impl Fn(u32) -> bool,
    ) -> Option<(u32, Vec<(Action, u32)>)> {
        let mut before: Vec<Option<(Action, u32)>> = vec![None; self.states.len()];
        let mut seen = vec![false; self.states.len()];
        let mut queue: Vec<u32> = Vec::new();
        for &state in from {
            if !std::mem::replace(&mut seen[state as usize], true) {
                queue.push(state);
            }
        }
        let mut at = 0;
        while at < queue.len() {
            let state = queue[at];
            at += 1;
            if goal(state) {
                let mut steps = Vec::new();
                let mut back = state;
                while let Some((action, from)) = before[back as usize] {
                    steps.push((action, back));
                    back = from;
                }
                steps.reverse();
                return Some((back, steps));
            }
            for (action, to) in self.steps[state as usize].iter().filter(|step| keep(&step.0)) {
                if !std::mem::replace(&mut seen[*to as usize], true) {
                    before[*to as usize] = Some((*action, state));
                    queue.push(*to);
                }
            }
        }
        None
    }

    /// Names a way found by `shortest`.
    pub(crate) fn path(&self, from: u32, steps: &[(Action, u32)]) -> Path {
        let step = |&(action, to): &(Action, u32)| crate::search::PathStep {
            action,
            actor: action.actor,
            state: self.states[to as usize].to_vec(),
            tag: 0,
        };
        Path { root: (self.states[from as usize].to_vec(), 0), steps: steps.iter().map(step).collect() }
    }
}

/// The steps in `out` with the numbers of the states they lead to. All of them are known.
fn numbers<'a>(shard: &'a Shard, out: &'a Steps<()>) -> impl Iterator<Item = (Action, u32)> + 'a {
    out.steps().iter().filter_map(|step| {
        let bytes = out.bytes(step);
        Some((step.action, shard.find(hash_bytes(bytes), bytes)?))
    })
}

/// Strongly connected components, with a stack of its own.
pub(crate) struct Tarjan {
    index: Vec<u32>,
    low: Vec<u32>,
    pub(crate) component: Vec<u32>,
    pub(crate) components: u32,
    counter: u32,
    stack: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

impl Tarjan {
    pub(crate) fn new(states: usize) -> Self {
        Tarjan {
            index: vec![UNSEEN; states],
            low: vec![0; states],
            component: vec![UNSEEN; states],
            components: 0,
            counter: 0,
            stack: Vec::new(),
        }
    }

    pub(crate) fn visit(&mut self, root: u32, next: impl Fn(u32) -> Vec<u32>) {
        if self.index[root as usize] != UNSEEN {
            return;
        }
        let mut calls: Vec<(u32, Vec<u32>, usize)> = Vec::new();
        self.enter(root);
        calls.push((root, next(root), 0));
        while let Some((state, targets, at)) = calls.last_mut() {
            let state = *state;
            if let Some(&to) = targets.get(*at) {
                *at += 1;
                if self.index[to as usize] == UNSEEN {
                    self.enter(to);
                    calls.push((to, next(to), 0));
                } else if self.component[to as usize] == UNSEEN {
                    self.low[state as usize] = self.low[state as usize].min(self.index[to as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, ..)) = calls.last() {
                self.low[*parent as usize] = self.low[*parent as usize].min(self.low[state as usize]);
            }
            if self.low[state as usize] == self.index[state as usize] {
                self.leave(state);
            }
        }
    }

    fn enter(&mut self, state: u32) {
        self.index[state as usize] = self.counter;
        self.low[state as usize] = self.counter;
        self.counter += 1;
        self.stack.push(state);
    }

    fn leave(&mut self, root: u32) {
        while let Some(state) = self.stack.pop() {
            self.component[state as usize] = self.components;
            if state == root {
                break;
            }
        }
        self.components += 1;
    }
}
