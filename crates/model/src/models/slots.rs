//! A segmented queue whose threads look at one slot at a time; every step is an event of its own or internal. The model on
//! which explorers of states are compared (`ANCHORS`: 7,157,391 states with 3 segments of 2 slots, 2 values, 2 threads).
//!
//! Invariant: a state is `LEN` bytes, the slots, head, tail, and four for each thread.

use crate::system::{Action, Fault, Label, TransitionSystem};

const SEGMENTS: usize = 3;
const SLOTS: usize = 2;
const VALUES: u8 = 2;
const THREADS: usize = 2;
const HEAD: usize = SEGMENTS * SLOTS;
const TAIL: usize = HEAD + 1;
/// Bytes of a state.
const LEN: usize = HEAD + 2 + 4 * THREADS;

/// The model; it has no parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlotQueue;

/// A state: bytes.
type State = [u8; LEN];

impl SlotQueue {
    /// Calls `found` with every step.
    fn steps(state: &State, mut found: impl FnMut(u32, State)) {
        for thread in 0..THREADS {
            let at = HEAD + 2 + 4 * thread;
            let [place, segment, slot, value] = [state[at], state[at + 1], state[at + 2], state[at + 3]];
            let cell = segment as usize * SLOTS + slot as usize;
            let past = slot as usize >= SLOTS;
            let next_segment = (segment as usize + 1) % SEGMENTS;
            let mut next = *state;
            let set = |next: &mut State, thread: [u8; 4]| next[at..at + 4].copy_from_slice(&thread);
            match place {
                0 => {
                    for value in 1..=VALUES {
                        let mut next = *state;
                        set(&mut next, [1, segment, slot, value]);
                        found(thread as u32, next);
                    }
                    set(&mut next, [10, segment, slot, value]);
                }
                1 => set(&mut next, [2, state[TAIL], 0, value]),
                2 if past && next_segment == state[HEAD] as usize => set(&mut next, [5, segment, slot, value]),
                2 if past => set(&mut next, [4, segment, slot, value]),
                2 if state[cell] == 0 => set(&mut next, [3, segment, slot, value]),
                2 => set(&mut next, [2, segment, slot + 1, value]),
                3 if state[cell] == 0 => {
                    next[cell] = value;
                    set(&mut next, [5, segment, slot, value]);
                }
                3 => set(&mut next, [2, segment, slot + 1, value]),
                4 => {
                    if state[TAIL] == segment {
                        next[TAIL] = next_segment as u8;
                    }
                    set(&mut next, [1, 0, 0, value]);
                }
                10 => set(&mut next, [11, state[HEAD], 0, value]),
                11 if past && segment == state[TAIL] => set(&mut next, [15, segment, slot, value]),
                11 if past => set(&mut next, [14, segment, slot, value]),
                11 if state[cell] != 0 => set(&mut next, [12, segment, slot, state[cell]]),
                11 => set(&mut next, [11, segment, slot + 1, value]),
                12 if state[cell] == value => {
                    next[cell] = 0;
                    set(&mut next, [15, segment, slot, value]);
                }
                12 => set(&mut next, [11, segment, slot + 1, 0]),
                14 => {
                    if state[HEAD] == segment {
                        next[HEAD] = next_segment as u8;
                    }
                    set(&mut next, [10, 0, 0, value]);
                }
                // 5 and 15: the operation returns.
                _ => set(&mut next, [0; 4]),
            }
            found(thread as u32, next);
        }
    }
}

impl TransitionSystem for SlotQueue {
    type State = State;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Fault> {
        out.push([0; LEN]);
        Ok(())
    }

    fn successors(&self, state: &State, out: &mut Vec<(Action, State)>) -> Result<(), Fault> {
        SlotQueue::steps(state, |actor, next| out.push((Action { label: Label::TAU, actor }, next)));
        Ok(())
    }

    fn pack(&self, state: &State, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(state);
    }

    fn unpack(&self, bytes: &[u8]) -> State {
        let mut state = [0; LEN];
        state.copy_from_slice(bytes);
        state
    }

    fn label_name(&self, _: Label) -> String {
        "tau".to_string()
    }
}
