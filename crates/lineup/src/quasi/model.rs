//! Serial behaviour of real code as a specification: a tree of calls with the results that serial runs of them had.
//!
//! Round-Up takes the legal runs of the test program itself. A legal run may also have calls in an order in which no thread makes them, or
//! calls after the end of the test; what the tree does not know is asked for ([`Model::asked`]) and answered by another serial run.
//!
//! Invariant: a node and a call have at most one answer. An answer that is missing is noted and counts as none, so a history that passes
//! passes whatever the answer is, and one that fails is judged again when it is there.

use std::cell::RefCell;
use std::collections::HashMap;

use selvedge_history::{Elements, Spec, Traffic, Value};

use crate::calls::{CallId, Calls};
use crate::results::{ResultId, Results};
use crate::values;

/// What a call does after others: its result and where it leads, or nothing when it blocks.
type Answer = Option<(ResultId, u32)>;

#[derive(Debug, Default)]
struct Node {
    /// The node before, and the call that leads here.
    from: Option<(u32, CallId)>,
    next: HashMap<CallId, Answer>,
}

/// A serial run that two answers are known of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoAnswers {
    /// The calls, the last of which did something else this time.
    pub calls: Vec<CallId>,
}

/// The tree.
#[derive(Debug)]
pub struct Model {
    nodes: Vec<Node>,
    /// Calls whose answers are missing, each after the calls that lead there.
    asked: RefCell<Vec<Vec<CallId>>>,
    /// By call: the argument that it puts in.
    brings: Vec<Option<Value>>,
    /// By result: its value, if some call puts that in, and whether it says that there was nothing.
    shows: Vec<(Option<Value>, bool)>,
}

impl Model {
    /// A tree of which only the root is known.
    pub fn new(calls: &Calls) -> Self {
        let argument = |name: &String| Some(values::call(name).1).filter(|value| !value.is_nil());
        let brings = calls.names().iter().map(argument).collect();
        Model { nodes: vec![Node::default()], asked: RefCell::default(), brings, shows: Vec::new() }
    }

    /// Takes note of results that are new.
    pub fn meet(&mut self, results: &Results) {
        for at in self.shows.len()..results.len() {
            let text = results.text(ResultId(at as u32));
            let value = values::result(text);
            let nothing = at > 0 && value.is_nil();
            let known = self.brings.iter().flatten().any(|brought| *brought == value);
            self.shows.push((known.then_some(value), nothing));
        }
    }

    /// Adds a serial run: calls with their results, the last without one when it blocked.
    pub fn learn(&mut self, run: impl IntoIterator<Item = (CallId, Option<ResultId>)>) -> Result<(), TwoAnswers> {
        let mut at = 0u32;
        for (call, result) in run {
            let fresh = self.nodes.len() as u32;
            let node = &mut self.nodes[at as usize];
            match node.next.get(&call) {
                None => {
                    node.next.insert(call, result.map(|result| (result, fresh)));
                    self.nodes.push(Node { from: Some((at, call)), next: HashMap::new() });
                    at = fresh;
                }
                Some(Some((known, to))) if Some(*known) == result => at = *to,
                Some(None) if result.is_none() => {}
                Some(_) => {
                    let mut calls = self.path(at);
                    calls.push(call);
                    return Err(TwoAnswers { calls });
                }
            }
        }
        Ok(())
    }

    /// The calls that lead to a node.
    fn path(&self, mut at: u32) -> Vec<CallId> {
        let mut calls = Vec::new();
        while let Some((from, call)) = self.nodes[at as usize].from {
            calls.push(call);
            at = from;
        }
        calls.reverse();
        calls
    }

    /// What was missing since it was asked the last time.
    pub fn asked(&self) -> Vec<Vec<CallId>> {
        let mut asked = self.asked.take();
        asked.sort();
        asked.dedup();
        asked
    }

    fn answer(&self, state: u32, call: CallId) -> Answer {
        match self.nodes[state as usize].next.get(&call) {
            Some(answer) => *answer,
            None => {
                let mut calls = self.path(state);
                calls.push(call);
                self.asked.borrow_mut().push(calls);
                None
            }
        }
    }
}

impl Spec for Model {
    type State = u32;
    type Input = CallId;
    type Output = ResultId;

    fn initial(&self) -> u32 {
        0
    }

    fn apply(&self, state: &u32, input: &CallId, out: &mut Vec<(ResultId, u32)>) {
        out.extend(self.answer(*state, *input));
    }
}

impl Elements for Model {
    type Element = Value;

    /// What is returned that others put in was inside. Whether it is still inside nobody said.
    fn traffic<'a>(&'a self, input: &'a CallId, output: Option<&'a ResultId>) -> Traffic<&'a Value> {
        if let Some(Some(brought)) = self.brings.get(input.index()) {
            return Traffic::In(brought);
        }
        match output.and_then(|output| self.shows.get(output.0 as usize)) {
            Some((_, true)) => Traffic::Nothing,
            Some((Some(shown), false)) => Traffic::Seen(shown),
            _ => Traffic::None,
        }
    }

    fn insertion(&self, element: &Value) -> Option<CallId> {
        let at = self.brings.iter().position(|brought| brought.as_ref() == Some(element))?;
        Some(CallId(at as u16))
    }
}
