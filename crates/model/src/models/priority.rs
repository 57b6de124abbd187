//! A quasi priority queue: elements in descending order, a removal takes any of the first QF+1 (the *segment*). Once one was passed
//! over, the rest of its segment leaves first, and until then nothing is let in, which would come in between.
//!
//! Quasi-PAT does not say what its segments do with priorities; this is the plainest reading that keeps the factor. Every operation looks
//! (load linked), then changes the queue if nobody changed it meanwhile (store conditional), else looks again.

use super::{event_of, label_of, name_of, reorder};
use crate::object::{Implementation, ObjectEvent, Value};
use crate::objects::{FULL, NOTHING, OK, PUT, TAKE};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// The model and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct PrioritySegments {
    /// How many threads.
    pub threads: usize,
    /// How many elements fit.
    pub size: usize,
    /// How far a removal may be out of order.
    pub factor: usize,
    /// Priorities are 1 to this.
    pub priorities: u8,
    /// Whether a removal that found nothing moves on to the next segment, without looking again (`Priority Queue buggy` of
    /// Quasi-PAT table 3).
    pub empty_moves_on: bool,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// In descending order.
    elements: Vec<u8>,
    /// How many elements are left of a segment that was begun out of order.
    left: u8,
    /// Where the current segment begins: 0, unless there is a bug.
    base: u8,
    threads: Vec<Thread>,
}

/// What a thread holds: where it is, a value or a rank, and whether nobody changed the queue since it looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    place: Place,
    value: u8,
    linked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Idle,
    InsertLook,
    Insert,
    Inserted,
    Refused,
    RemoveLook,
    Remove,
    MoveOn,
    Removed,
}

const PLACES: [Place; 9] = [
    Place::Idle,
    Place::InsertLook,
    Place::Insert,
    Place::Inserted,
    Place::Refused,
    Place::RemoveLook,
    Place::Remove,
    Place::MoveOn,
    Place::Removed,
];

fn at(place: Place, value: u8) -> Thread {
    Thread { place, value, linked: false }
}

impl State {
    fn with(&self, thread: usize, is: Thread) -> State {
        let mut next = self.clone();
        next.threads[thread] = is;
        next
    }

    /// The queue was changed: who has looked must look again.
    fn changed(mut self) -> State {
        self.threads.iter_mut().for_each(|thread| thread.linked = false);
        self
    }
}

impl PrioritySegments {
    /// The ranks of the elements that may leave next.
    fn segment(&self, state: &State) -> std::ops::Range<usize> {
        let base = state.base as usize;
        let length = if state.left > 0 { state.left as usize } else { self.factor + 1 };
        base.min(state.elements.len())..(base + length).min(state.elements.len())
    }

    fn insert(&self, state: &State, thread: usize, value: u8) -> State {
        if state.left > 0 || state.elements.len() >= self.size {
            return state.with(thread, at(Place::Refused, 0));
        }
        let mut next = state.with(thread, at(Place::Inserted, 0));
        let rank = next.elements.partition_point(|&element| element >= value);
        next.elements.insert(rank, value);
        next.changed()
    }

    fn remove(&self, state: &State, thread: usize, rank: usize) -> State {
        let segment = self.segment(state);
        let mut next = state.clone();
        let value = next.elements.remove(rank);
        if state.left > 0 {
            next.left -= 1;
        } else if rank > segment.start {
            next.left = segment.len() as u8 - 1;
        }
        next.with(thread, at(Place::Removed, value)).changed()
    }

    /// Internal steps.
    fn step(&self, state: &State, thread: usize, out: &mut Vec<State>) {
        let Thread { place, value, linked } = state.threads[thread];
        match place {
            Place::InsertLook => out.push(state.with(thread, Thread { place: Place::Insert, value, linked: true })),
            Place::Insert if linked => out.push(self.insert(state, thread, value)),
            Place::Insert => out.push(state.with(thread, at(Place::InsertLook, value))),
            Place::RemoveLook if self.segment(state).is_empty() => {
                let nothing = state.with(thread, at(Place::Removed, 0));
                out.push(State { base: 0, ..nothing });
                if self.empty_moves_on {
                    out.push(state.with(thread, at(Place::MoveOn, 0)));
                }
            }
            Place::RemoveLook => out.extend(
                self.segment(state)
                    .map(|rank| state.with(thread, Thread { place: Place::Remove, value: rank as u8, linked: true })),
            ),
            Place::Remove if linked => out.push(self.remove(state, thread, value as usize)),
            Place::Remove => out.push(state.with(thread, at(Place::RemoveLook, 0))),
            _ => {
                // MoveOn: a segment that was put in meanwhile is passed over as a whole.
                let next = state.with(thread, at(Place::Removed, 0));
                let base = if next.elements.is_empty() { 0 } else { self.factor as u8 + 1 };
                out.push(State { base, ..next }.changed());
            }
        }
    }

    fn outside(&self, state: &State, number: u32, out: &mut Vec<(Action, State)>) {
        let thread = number as usize;
        let mut step = |event: ObjectEvent, is: Thread| {
            out.push((Action { label: label_of(event), actor: number }, state.with(thread, is)));
        };
        let returns = |result: Value| ObjectEvent::Return { thread: number, result };
        let Thread { place, value, .. } = state.threads[thread];
        match place {
            Place::Inserted => step(returns(OK), at(Place::Idle, 0)),
            Place::Refused => step(returns(FULL), at(Place::Idle, 0)),
            Place::Removed if value == 0 => step(returns(NOTHING), at(Place::Idle, 0)),
            Place::Removed => step(returns(Value::from(value)), at(Place::Idle, 0)),
            _ => {
                for value in 1..=self.priorities {
                    let put = ObjectEvent::Call { thread: number, method: PUT, argument: Value::from(value) };
                    step(put, at(Place::InsertLook, value));
                }
                let take = ObjectEvent::Call { thread: number, method: TAKE, argument: 0 };
                step(take, at(Place::RemoveLook, 0));
            }
        }
    }
}

impl TransitionSystem for PrioritySegments {
    type State = State;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Fault> {
        let threads = vec![at(Place::Idle, 0); self.threads];
        out.push(State { elements: Vec::new(), left: 0, base: 0, threads });
        Ok(())
    }

    fn successors(&self, state: &State, out: &mut Vec<(Action, State)>) -> Result<(), Fault> {
        let mut internal = Vec::new();
        for thread in 0..self.threads {
            match state.threads[thread].place {
                Place::Idle | Place::Inserted | Place::Refused | Place::Removed => {
                    self.outside(state, thread as u32, out);
                }
                _ => {
                    self.step(state, thread, &mut internal);
                    let action = Action { label: Label::TAU, actor: thread as u32 };
                    out.extend(internal.drain(..).map(|next| (action, next)));
                }
            }
        }
        Ok(())
    }

    fn pack(&self, state: &State, bytes: &mut Vec<u8>) {
        for thread in &state.threads {
            bytes.extend([thread.place as u8 * 2 + u8::from(thread.linked), thread.value]);
        }
        bytes.extend([state.left, state.base]);
        bytes.extend_from_slice(&state.elements);
    }

    fn unpack(&self, bytes: &[u8]) -> State {
        let (threads, rest) = bytes.split_at(2 * self.threads);
        let thread = |two: &[u8]| Thread { place: PLACES[two[0] as usize / 2], value: two[1], linked: two[0] % 2 == 1 };
        let threads = threads.chunks_exact(2).map(thread).collect();
        State { elements: rest[2..].to_vec(), left: rest[0], base: rest[1], threads }
    }

    fn label_name(&self, label: Label) -> String {
        name_of(label, "insert", "remove")
    }

    fn actor_name(&self, actor: u32) -> String {
        format!("thread {}", actor + 1)
    }

    fn describe(&self, state: &State) -> Option<String> {
        Some(format!("{:?}", state.elements))
    }
}

impl Implementation for PrioritySegments {
    fn event(&self, label: Label) -> Option<ObjectEvent> {
        event_of(label)
    }

    fn threads(&self) -> u32 {
        self.threads as u32
    }

    fn threads_alike(&self) -> bool {
        true
    }

    fn permute(&self, state: &mut State, order: &[u32]) {
        reorder(&mut state.threads, order);
    }

    fn thread_key(&self, state: &State, thread: u32) -> u64 {
        let is = state.threads[thread as usize];
        u64::from(is.value) << 8 | u64::from(is.place as u8) << 1 | u64::from(is.linked)
    }

    fn apart(&self, state: &State, actor: u32) -> bool {
        use Place::{Idle, Inserted, Refused, Removed};
        matches!(state.threads[actor as usize].place, Idle | Inserted | Refused | Removed)
    }
}
