//! A process of a compiled model as a transition system.

use std::cell::RefCell;
use std::sync::Arc;

use super::actors;
use super::eval::{Reading, Words};
use super::labels::NameId;
use super::machine::{self, Memo, Scratch, Walk};
use super::program::{ExId, Program};
use super::symmetry::{self, Alike};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// A state: variables, channels and collections, then where the processes stand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State(pub(crate) Words);

/// A process of a model, with its arguments.
#[derive(Clone)]
pub struct System {
    pub(crate) program: Arc<Program>,
    memo: Arc<Memo>,
    def: u32,
    args: Box<[i32]>,
    /// Whether a state that has terminated counts as one that may stop.
    may_end: bool,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl System {
    pub(super) fn new(program: Arc<Program>, memo: Arc<Memo>, def: u32, args: Vec<i32>) -> Self {
        System { program, memo, def, args: args.into(), may_end: true }
    }

    /// The same system, in which to terminate is no better than to stop.
    pub(crate) fn without_end(mut self) -> Self {
        self.may_end = false;
        self
    }

    /// Whether it is so many threads that run the same code; the names are those of calls and returns.
    pub(super) fn alike(&self, threads: u32, names: [Vec<NameId>; 2]) -> Option<Alike> {
        symmetry::alike(&self.program, &self.program.defs[self.def as usize].body, &self.args, threads, names)
    }

    /// The value of a condition, or of a number, in a state.
    pub(crate) fn value(&self, condition: ExId, state: &State) -> Result<i32, Fault> {
        let from = Reading { data: &state.0, env: &[], bound: &[] };
        self.program.eval(condition, &from).map_err(|fault| *fault)
    }
}

impl TransitionSystem for System {
    type State = State;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Fault> {
        let mut words = Words::from_slice(&self.program.data);
        let body = &self.program.defs[self.def as usize].body;
        let env = machine::env_of(body, &self.args, &[]);
        machine::begin(&self.program, body.node, &env, &mut words).map_err(|fault| *fault)?;
        out.push(State(words));
        Ok(())
    }

    fn successors(&self, state: &State, out: &mut Vec<(Action, State)>) -> Result<(), Fault> {
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.clear();
            let start = self.program.process_start(&state.0);
            let mut walk = Walk {
                program: &self.program,
                memo: &self.memo,
                state: &state.0,
                data: &state.0,
                scratch,
                actor: 0,
                level: 0,
                depth: 0,
            };
            walk.running(start).map_err(|fault| *fault)?;
            let first = scratch.moves.iter().any(|step| step.atomic);
            for step in scratch.moves.iter().filter(|step| step.atomic || !first) {
                let next = machine::apply(&self.program, scratch, step, &state.0, start).map_err(|fault| *fault)?;
                out.push((Action { label: step.label, actor: step.actor }, State(next)));
            }
            Ok(())
        })
    }

    fn pack(&self, state: &State, bytes: &mut Vec<u8>) {
        for &word in &state.0 {
            match word {
                // Most words are small: one byte.
                0..=0xef => bytes.push(word as u8),
                0xf0..=0x7ff => bytes.extend([0xf0 | (word >> 8) as u8, word as u8]),
                -128..=-1 => bytes.extend([0xf8, word as u8]),
                _ => {
                    bytes.push(0xf9);
                    bytes.extend(word.to_le_bytes());
                }
            }
        }
    }

    fn unpack(&self, bytes: &[u8]) -> State {
        let mut words = Words::new();
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            let (word, used) = match first {
                0..=0xef => (i32::from(*first), 0),
                0xf0..=0xf7 => (i32::from(first & 7) << 8 | i32::from(after[0]), 1),
                0xf8 => (i32::from(after[0] as i8), 1),
                _ => (i32::from_le_bytes([after[0], after[1], after[2], after[3]]), 4),
            };
            words.push(word);
            rest = &after[used..];
        }
        State(words)
    }

    fn label_name(&self, label: Label) -> String {
        self.program.labels.show(label)
    }

    fn actor_name(&self, actor: u32) -> String {
        let body = &self.program.defs[self.def as usize].body;
        let env = machine::env_of(body, &self.args, &[]);
        actors::name(&self.program, body.node, &env, actor)
    }

    fn describe(&self, state: &State) -> Option<String> {
        let shown = self.program.describe(&state.0);
        (!shown.is_empty()).then_some(shown)
    }

    fn terminated(&self, state: &State) -> bool {
        let start = self.program.process_start(&state.0);
        self.may_end && state.0[start] == machine::DONE.0 as i32
    }
}
