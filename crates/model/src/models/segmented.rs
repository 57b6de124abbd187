//! The segmented quasi queue (Quasi-PAT sections 4 and 6; Afek, Korland, Yanovsky 2010): a ring of segments with QF+1 slots
//! each. Insertions fill the tail's segment; a removal takes any element of the head's segment.
//!
//! Invariant: the head's segment always stands first, so that states that differ only by a turn of the ring are the same state.

use super::{event_of, label_of, name_of};
use crate::object::{Implementation, ObjectEvent, Value};
use crate::objects::{FULL, NOTHING, OK, PUT, TAKE};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// The bugs of Quasi-PAT table 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentedBug {
    /// None.
    None,
    /// A removal that finds the queue empty may move on to the next segment, without looking again (`Queue buggy1`).
    EmptyMovesHead,
    /// A removal may take an element of the segment after the head's (`Queue buggy2`).
    WrongSegment,
}

/// The model and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct SegmentedQueue {
    segments: usize,
    slots: usize,
    threads: usize,
    bug: SegmentedBug,
}

/// Bytes that a state may take at most.
const ROOM: usize = 96;
/// A slot whose element was taken.
const TAKEN: u8 = 255;

/// A state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    bytes: [u8; ROOM],
    offer: u8,
}

/// Where a thread is.
mod place {
    pub const IDLE: u8 = 0;
    pub const READ_TAIL: u8 = 1;
    pub const FIND_FREE: u8 = 2;
    pub const FILL: u8 = 3;
    pub const ADD_SEGMENT: u8 = 4;
    pub const RETURN_OK: u8 = 5;
    pub const RETURN_FULL: u8 = 6;
    pub const READ_HEAD: u8 = 7;
    pub const FIND_TAKEN: u8 = 8;
    pub const TAKE_OUT: u8 = 9;
    pub const MOVE_ON: u8 = 10;
    pub const RETURN_VALUE: u8 = 11;
}

/// What a thread holds: where it is, a segment, a slot, a value.
#[derive(Clone, Copy)]
struct Thread {
    place: u8,
    segment: u8,
    slot: u8,
    value: u8,
}

impl SegmentedQueue {
    /// At most `segments` segments in use, each with `factor` + 1 slots. `None` when that is more than a state can hold.
    pub fn new(segments: usize, factor: usize, threads: usize, bug: SegmentedBug) -> Option<Self> {
        let queue = SegmentedQueue { segments, slots: factor + 1, threads, bug };
        let fits = segments >= 1 && (1..=8).contains(&threads) && queue.len() <= ROOM;
        fits.then_some(queue)
    }

    fn ring(&self) -> usize {
        self.segments + 1
    }

    fn tail_at(&self) -> usize {
        self.ring() * self.slots
    }

    fn len(&self) -> usize {
        self.tail_at() + 1 + 4 * self.threads
    }

    fn thread(&self, state: &State, thread: usize) -> Thread {
        let at = self.tail_at() + 1 + 4 * thread;
        let [place, segment, slot, value] = [0, 1, 2, 3].map(|i| state.bytes[at + i]);
        Thread { place, segment, slot, value }
    }

    fn set(&self, state: &mut State, thread: usize, is: Thread) {
        let at = self.tail_at() + 1 + 4 * thread;
        state.bytes[at..at + 4].copy_from_slice(&[is.place, is.segment, is.slot, is.value]);
    }

    fn segment<'s>(&self, state: &'s State, segment: usize) -> &'s [u8] {
        &state.bytes[segment * self.slots..(segment + 1) * self.slots]
    }

    /// The head moves on: the ring turns by one segment, for everybody who has read a segment's number.
    fn turn(&self, state: &mut State) {
        let (slots, ring) = (self.slots, self.ring());
        state.bytes[..ring * slots].rotate_left(slots);
        let back = |segment: u8| ((segment as usize + ring - 1) % ring) as u8;
        state.bytes[self.tail_at()] = back(state.bytes[self.tail_at()]);
        for thread in 0..self.threads {
            let mut is = self.thread(state, thread);
            if matches!(is.place, place::FIND_FREE..=place::ADD_SEGMENT | place::FIND_TAKEN | place::TAKE_OUT) {
                is.segment = back(is.segment);
                self.set(state, thread, is);
            }
        }
    }

    fn step_put(&self, state: &State, thread: usize, is: Thread, next: &mut State) {
        let tail = state.bytes[self.tail_at()];
        let again = Thread { place: place::READ_TAIL, segment: 0, slot: 0, value: is.value };
        let cell = is.segment as usize * self.slots + is.slot as usize;
        let becomes = match is.place {
            place::READ_TAIL => Thread { place: place::FIND_FREE, segment: tail, ..again },
            place::FIND_FREE => match self.segment(state, is.segment as usize).iter().position(|&slot| slot == 0) {
                Some(slot) => Thread { place: place::FILL, slot: slot as u8, ..is },
                None => Thread { place: place::ADD_SEGMENT, slot: 0, ..is },
            },
            place::FILL if state.bytes[cell] == 0 && tail == is.segment => {
                next.bytes[cell] = is.value;
                Thread { place: place::RETURN_OK, segment: 0, slot: 0, value: 0 }
            }
            place::FILL => again,
            // ADD_SEGMENT
            _ if tail != is.segment => again,
            _ if tail as usize + 1 >= self.segments => {
                Thread { place: place::RETURN_FULL, segment: 0, slot: 0, value: 0 }
            }
            _ => {
                let fresh = (tail as usize + 1) % self.ring();
                next.bytes[fresh * self.slots..(fresh + 1) * self.slots].fill(0);
                next.bytes[self.tail_at()] = fresh as u8;
                again
            }
        };
        self.set(next, thread, becomes);
    }

    fn step_take(&self, state: &State, thread: usize, is: Thread, out: &mut Vec<(Action, State)>) {
        let internal = Action { label: Label::TAU, actor: thread as u32 };
        let tail = state.bytes[self.tail_at()];
        let again = Thread { place: place::READ_HEAD, segment: 0, slot: 0, value: 0 };
        let empty = Thread { place: place::RETURN_VALUE, ..again };
        let mut step = |state: &State, is: Thread, turns: bool| {
            let mut next = *state;
            self.set(&mut next, thread, is);
            if turns {
                self.turn(&mut next);
            }
            out.push((internal, next));
        };
        match is.place {
            place::READ_HEAD => step(state, Thread { place: place::FIND_TAKEN, ..again }, false),
            place::FIND_TAKEN if is.segment != 0 => step(state, again, false),
            place::FIND_TAKEN => {
                let head = self.segment(state, 0);
                let there = |&(_, &value): &(usize, &u8)| value != 0 && value != TAKEN;
                let mut some = false;
                for (slot, &value) in head.iter().enumerate().filter(there) {
                    some = true;
                    step(state, Thread { place: place::TAKE_OUT, segment: 0, slot: slot as u8, value }, false);
                }
                let used_up = head.iter().all(|&value| value == TAKEN);
                if !some && tail == 0 {
                    if self.bug == SegmentedBug::EmptyMovesHead {
                        step(state, Thread { place: place::MOVE_ON, ..again }, false);
                    }
                    step(state, empty, false);
                } else if !some {
                    step(state, again, used_up);
                }
                if self.bug == SegmentedBug::WrongSegment && tail != 0 {
                    for (slot, &value) in self.segment(state, 1).iter().enumerate().filter(there) {
                        step(state, Thread { place: place::TAKE_OUT, segment: 1, slot: slot as u8, value }, false);
                    }
                }
            }
            place::MOVE_ON => {
                let mut next = *state;
                if tail == 0 {
                    next.bytes[self.tail_at()] = 1;
                    next.bytes[self.slots..2 * self.slots].fill(0);
                }
                step(&next, empty, true);
            }
            // TAKE_OUT
            _ => {
                let cell = is.segment as usize * self.slots + is.slot as usize;
                let mut next = *state;
                let got = state.bytes[cell] == is.value;
                if got {
                    next.bytes[cell] = TAKEN;
                }
                step(&next, if got { Thread { value: is.value, ..empty } } else { again }, false);
            }
        }
    }

    fn step_outside(&self, state: &State, thread: usize, is: Thread, out: &mut Vec<(Action, State)>) {
        let idle = Thread { place: place::IDLE, segment: 0, slot: 0, value: 0 };
        let mut step = |event: ObjectEvent, is: Thread| {
            let mut next = *state;
            self.set(&mut next, thread, is);
            out.push((Action { label: label_of(event), actor: thread as u32 }, next));
        };
        let number = thread as u32;
        let returns = |result: Value| ObjectEvent::Return { thread: number, result };
        match is.place {
            place::RETURN_OK => step(returns(OK), idle),
            place::RETURN_FULL => step(returns(FULL), idle),
            place::RETURN_VALUE if is.value == 0 => step(returns(NOTHING), idle),
            place::RETURN_VALUE => step(returns(Value::from(is.value)), idle),
            _ => {
                let put = ObjectEvent::Call { thread: number, method: PUT, argument: Value::from(state.offer) };
                step(put, Thread { place: place::READ_TAIL, value: state.offer, ..idle });
                let take = ObjectEvent::Call { thread: number, method: TAKE, argument: 0 };
                step(take, Thread { place: place::READ_HEAD, ..idle });
            }
        }
    }

    /// Visits the places in a state where data may stand.
    fn data<'s>(&self, state: &'s mut State) -> impl Iterator<Item = &'s mut u8> + use<'s> {
        let threads = self.tail_at() + 1;
        let end = self.len();
        let cells = self.tail_at();
        let (slots, rest) = state.bytes[..end].split_at_mut(cells);
        let values = rest[threads - cells..].iter_mut().skip(3).step_by(4);
        slots.iter_mut().chain(values).filter(|value| **value != 0 && **value != TAKEN)
    }
}

impl TransitionSystem for SegmentedQueue {
    type State = State;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Fault> {
        out.push(State { bytes: [0; ROOM], offer: 1 });
        Ok(())
    }

    fn successors(&self, state: &State, out: &mut Vec<(Action, State)>) -> Result<(), Fault> {
        for thread in 0..self.threads {
            let is = self.thread(state, thread);
            match is.place {
                place::READ_TAIL..=place::ADD_SEGMENT => {
                    let mut next = *state;
                    self.step_put(state, thread, is, &mut next);
                    out.push((Action { label: Label::TAU, actor: thread as u32 }, next));
                }
                place::READ_HEAD..=place::MOVE_ON => self.step_take(state, thread, is, out),
                _ => self.step_outside(state, thread, is, out),
            }
        }
        Ok(())
    }

    fn pack(&self, state: &State, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&state.bytes[..self.len()]);
    }

    fn unpack(&self, bytes: &[u8]) -> State {
        let mut state = State { bytes: [0; ROOM], offer: 1 };
        state.bytes[..bytes.len()].copy_from_slice(bytes);
        state
    }

    fn label_name(&self, label: Label) -> String {
        name_of(label, "enq", "deq")
    }

    fn actor_name(&self, actor: u32) -> String {
        format!("thread {}", actor + 1)
    }

    fn describe(&self, state: &State) -> Option<String> {
        let mut text = String::new();
        for segment in 0..self.segments.min(state.bytes[self.tail_at()] as usize + 1) {
            let slot = |&slot: &u8| match slot {
                0 => "_".to_string(),
                TAKEN => "x".to_string(),
                value => value.to_string(),
            };
            let slots: Vec<String> = self.segment(state, segment).iter().map(slot).collect();
            text.push_str(&format!("[{}]", slots.join(" ")));
        }
        Some(text)
    }
}

impl Implementation for SegmentedQueue {
    fn threads(&self) -> u32 {
        self.threads as u32
    }

    fn event(&self, label: Label) -> Option<ObjectEvent> {
        event_of(label)
    }

    fn takes_offers(&self) -> bool {
        true
    }

    fn offer(&self, state: &mut State, value: Value) {
        // More than 254 values at once do not fit a state: the slots and threads are fewer.
        state.offer = value as u8;
    }

    fn renames(&self) -> bool {
        true
    }

    fn values(&self, state: &State, visit: &mut dyn FnMut(Value)) {
        let mut state = *state;
        self.data(&mut state).for_each(|value| visit(Value::from(*value)));
    }

    fn rename(&self, state: &mut State, name: &dyn Fn(Value) -> Value) {
        self.data(state).for_each(|value| *value = name(Value::from(*value)) as u8);
    }

    fn threads_alike(&self) -> bool {
        true
    }

    fn permute(&self, state: &mut State, order: &[u32]) {
        let old = *state;
        for (place, &from) in order.iter().enumerate() {
            self.set(state, place, self.thread(&old, from as usize));
        }
    }

    fn thread_key(&self, state: &State, thread: u32) -> u64 {
        let is = self.thread(state, thread as usize);
        (u64::from(is.place) << 16) | (u64::from(is.segment) << 8) | u64::from(is.slot)
    }

    fn apart(&self, state: &State, actor: u32) -> bool {
        use place::{IDLE, RETURN_FULL, RETURN_OK, RETURN_VALUE};
        matches!(self.thread(state, actor as usize).place, IDLE | RETURN_OK | RETURN_FULL | RETURN_VALUE)
    }
}
