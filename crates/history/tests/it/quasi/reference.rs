//! Round-Up's algorithms 1 and 2, as printed, with the misprints corrected: line 60 adds one to the lateness, as the text
//! says; line 36 adds to the events done, since a state would otherwise offer the first of them again and again; and line 59
//! leaves out the event selected, since the others that are done were selected in earlier permutations. Everything is in one
//! class; the specification is asked whether it has the permutation.

use std::collections::{HashMap, HashSet};

use super::small::{Did, Op, Shape, is_legal};

/// Algorithm 1, lines 1 to 12. What was seen before is not tried again (section VI-C, third optimisation).
pub struct Reference {
    known: HashMap<(Vec<Did>, usize), bool>,
    shape: Shape,
}

impl Reference {
    pub fn new(shape: Shape) -> Self {
        Reference { known: HashMap::new(), shape }
    }

    pub fn check_quasi_linearizability(&mut self, ops: &[Op], k: usize) -> bool {
        compute_sequentializations(ops).into_iter().any(|order| {
            let rho: Vec<Did> = order.into_iter().map(|i| ops[i].did).collect();
            self.sequentialization(&rho, k)
        })
    }

    fn sequentialization(&mut self, rho: &[Did], k: usize) -> bool {
        if let Some(&known) = self.known.get(&(rho.to_vec(), k)) {
            return known;
        }
        let found = is_legal(self.shape, rho)
            || compute_quasi_permutations(rho.len(), k)
                .iter()
                .any(|order| is_legal(self.shape, &order.iter().map(|&i| rho[i]).collect::<Vec<_>>()));
        self.known.insert((rho.to_vec(), k), found);
        found
    }
}

/// Lines 13 to 23: as long as calls overlap, the first that do are put one way and the other. As printed, only the first two
/// calls are: an operation nested in both of them can then never come before them, and linearizations of three threads are
/// missed (`deq→1` and `deq→2` around `enq(1) enq(2)`). Here each call that is open before the first return comes first once;
/// for two threads that is what is printed.
pub fn compute_sequentializations(ops: &[Op]) -> HashSet<Vec<usize>> {
    let mut events: Vec<(usize, usize)> = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        events.extend([(op.call, i), (op.ret, i)]);
    }
    events.sort_unstable();
    let mut all: Vec<Vec<usize>> = vec![events.into_iter().map(|(_, op)| op).collect()];
    let mut serial = HashSet::new();
    while let Some(history) = all.pop() {
        let Some(i) = (0..history.len() - 1).step_by(2).find(|&i| history[i] != history[i + 1]) else {
            serial.insert(history.into_iter().step_by(2).collect());
            continue;
        };
        // Whoever was called before the first return may come first.
        let first_return = (i..history.len()).find(|&j| history[i..j].contains(&history[j])).expect("it returns");
        for &first in &history[i..first_return] {
            let mut next = history[..i].to_vec();
            next.extend([first, first]);
            next.extend(history[i..].iter().copied().filter(|&op| op != first));
            all.push(next);
        }
    }
    serial
}

/// A state of algorithm 2.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub enabled: Vec<(usize, i64)>,
    pub select: usize,
    pub done: Vec<usize>,
    pub newly_enabled: Vec<(usize, i64)>,
}

/// Lines 24 to 34.
pub fn compute_quasi_permutations(n: usize, k: usize) -> Vec<Vec<usize>> {
    let k = k as i64;
    let mut stack = first_run(n, k);
    let mut all = Vec::new();
    while let Some(order) = backtrack_run(&mut stack, k) {
        all.push(order);
    }
    all
}

/// Algorithm 2, lines 1 to 11.
pub fn first_run(n: usize, k: i64) -> Vec<State> {
    let mut stack: Vec<State> = Vec::new();
    for event in 0..n {
        stack.push(State { select: event, done: vec![event], ..State::default() });
        init_enabled_and_lateness(&mut stack, event, k);
    }
    stack
}

/// Lines 12 to 23.
fn init_enabled_and_lateness(stack: &mut [State], event: usize, k: i64) {
    let (mut lateness, mut s) = (0, stack.len() - 1);
    loop {
        stack[s].enabled.push((event, lateness));
        if lateness == -k || s == 0 {
            stack[s].newly_enabled.push((event, lateness));
            break;
        }
        lateness -= 1;
        s -= 1;
    }
}

/// Lines 24 to 41.
pub fn backtrack_run(stack: &mut [State], k: i64) -> Option<Vec<usize>> {
    let last = (0..stack.len()).rev().find(|&s| pick_an_enabled_event(&stack[s], k).is_some())?;
    for state in &mut stack[last + 1..] {
        *state = State { newly_enabled: std::mem::take(&mut state.newly_enabled), ..State::default() };
    }
    for s in last..stack.len() {
        let event = pick_an_enabled_event(&stack[s], k).expect("there is always one to pick");
        stack[s].select = event;
        stack[s].done.push(event);
        if s + 1 < stack.len() {
            update_enabled_and_lateness(stack, s + 1);
        }
    }
    Some(stack.iter().map(|state| state.select).collect())
}

/// Lines 42 to 53.
fn pick_an_enabled_event(state: &State, k: i64) -> Option<usize> {
    let is_new = |event: &usize| !state.done.contains(event);
    match state.enabled.iter().find(|entry| entry.1 == k) {
        Some((must, _)) => Some(*must).filter(is_new),
        None => state.enabled.iter().map(|entry| entry.0).find(is_new),
    }
}

/// Lines 54 to 65. Only the event selected is gone; others in `done` were selected in earlier permutations.
fn update_enabled_and_lateness(stack: &mut [State], s: usize) {
    let before = &stack[s - 1];
    let inherited = before.enabled.iter().filter(|entry| entry.0 != before.select);
    let mut enabled: Vec<(usize, i64)> = inherited.map(|&(event, lateness)| (event, lateness + 1)).collect();
    enabled.extend(&stack[s].newly_enabled);
    stack[s].enabled = enabled;
}
