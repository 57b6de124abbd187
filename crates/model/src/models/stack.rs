//! Treiber's stack (1986): push and pop read the top and replace it if it is still the same.
//!
//! Nodes are never used again while somebody may hold them (a garbage collector), and every value is put in once, so a node is
//! named by its value: there is no ABA here.

use super::{event_of, label_of, name_of, rename_bytes, reorder, visit_bytes};
use crate::object::{Implementation, ObjectEvent, Value};
use crate::objects::{FULL, OK, PUT, TAKE};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// The model: so many threads, at most `capacity` elements.
#[derive(Clone, Copy, Debug)]
pub struct TreiberStack {
    /// How many threads.
    pub threads: usize,
    /// How many elements fit; a push beyond that answers `FULL`.
    pub capacity: usize,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// From bottom to top.
    elements: Vec<u8>,
    /// Where each thread is, its value, the top it has seen.
    threads: Vec<[u8; 3]>,
    offer: u8,
}

const IDLE: u8 = 0;
const PUSH_READ: u8 = 1;
const PUSH_SWAP: u8 = 2;
const PUSHED: u8 = 3;
const NOT_PUSHED: u8 = 4;
const POP_READ: u8 = 5;
const POP_SWAP: u8 = 6;
const POPPED: u8 = 7;

impl TreiberStack {
    fn step(&self, state: &State, thread: usize, out: &mut Vec<(Action, State)>) {
        let [place, value, seen] = state.threads[thread];
        let top = state.elements.last().copied().unwrap_or(0);
        let number = thread as u32;
        let mut next = state.clone();
        let mut event = None;
        next.threads[thread] = match place {
            IDLE => {
                let put = ObjectEvent::Call { thread: number, method: PUT, argument: Value::from(state.offer) };
                let mut pushing = state.clone();
                pushing.threads[thread] = [PUSH_READ, state.offer, 0];
                out.push((Action { label: label_of(put), actor: number }, pushing));
                event = Some(ObjectEvent::Call { thread: number, method: TAKE, argument: 0 });
                [POP_READ, 0, 0]
            }
            PUSH_READ if state.elements.len() >= self.capacity => [NOT_PUSHED, 0, 0],
            PUSH_READ => [PUSH_SWAP, value, top],
            PUSH_SWAP if top == seen && state.elements.len() < self.capacity => {
                next.elements.push(value);
                [PUSHED, 0, 0]
            }
            PUSH_SWAP => [PUSH_READ, value, 0],
            POP_READ if top == 0 => [POPPED, 0, 0],
            POP_READ => [POP_SWAP, 0, top],
            POP_SWAP if top == seen => {
                next.elements.pop();
                [POPPED, seen, 0]
            }
            POP_SWAP => [POP_READ, 0, 0],
            _ => {
                let result = match place {
                    PUSHED => OK,
                    NOT_PUSHED => FULL,
                    _ => Value::from(value),
                };
                event = Some(ObjectEvent::Return { thread: number, result });
                [IDLE, 0, 0]
            }
        };
        out.push((Action { label: event.map_or(Label::TAU, label_of), actor: number }, next));
    }
}

impl TransitionSystem for TreiberStack {
    type State = State;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Fault> {
        out.push(State { elements: Vec::new(), threads: vec![[IDLE, 0, 0]; self.threads], offer: 1 });
        Ok(())
    }

    fn successors(&self, state: &State, out: &mut Vec<(Action, State)>) -> Result<(), Fault> {
        (0..self.threads).for_each(|thread| self.step(state, thread, out));
        Ok(())
    }

    fn pack(&self, state: &State, bytes: &mut Vec<u8>) {
        state.threads.iter().for_each(|thread| bytes.extend_from_slice(thread));
        bytes.extend_from_slice(&state.elements);
    }

    fn unpack(&self, bytes: &[u8]) -> State {
        let (threads, elements) = bytes.split_at(3 * self.threads);
        let threads = threads.chunks_exact(3).map(|thread| [thread[0], thread[1], thread[2]]).collect();
        State { elements: elements.to_vec(), threads, offer: 1 }
    }

    fn label_name(&self, label: Label) -> String {
        name_of(label, "push", "pop")
    }

    fn actor_name(&self, actor: u32) -> String {
        format!("thread {}", actor + 1)
    }

    fn describe(&self, state: &State) -> Option<String> {
        Some(format!("{:?}", state.elements))
    }
}

impl Implementation for TreiberStack {
    fn threads(&self) -> u32 {
        self.threads as u32
    }

    fn event(&self, label: Label) -> Option<ObjectEvent> {
        event_of(label)
    }

    fn renames(&self) -> bool {
        true
    }

    fn values(&self, state: &State, visit: &mut dyn FnMut(Value)) {
        let held = state.threads.iter().flat_map(|thread| [thread[1], thread[2]]);
        visit_bytes(state.elements.iter().copied().chain(held), visit);
    }

    fn rename(&self, state: &mut State, name: &dyn Fn(Value) -> Value) {
        let held = state.threads.iter_mut().flat_map(|thread| &mut thread[1..]);
        rename_bytes(state.elements.iter_mut().chain(held), name);
    }

    fn threads_alike(&self) -> bool {
        true
    }

    fn permute(&self, state: &mut State, order: &[u32]) {
        reorder(&mut state.threads, order);
    }

    fn thread_key(&self, state: &State, thread: u32) -> u64 {
        u64::from(state.threads[thread as usize][0])
    }

    fn apart(&self, state: &State, actor: u32) -> bool {
        matches!(state.threads[actor as usize][0], IDLE | PUSHED | NOT_PUSHED | POPPED)
    }

    fn takes_offers(&self) -> bool {
        true
    }

    fn offer(&self, state: &mut State, value: Value) {
        state.offer = value as u8;
    }
}
