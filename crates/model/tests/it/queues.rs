//! A small queue with random faults: which element a removal takes, whether it looks and takes in one step, where insertions go.

use selvedge_model::models::{event_of, label_of, rename_bytes, reorder, visit_bytes};
use selvedge_model::objects::{OK, PUT, TAKE};
use selvedge_model::{Action, Fault, Implementation, Label, ObjectEvent, TransitionSystem, Value};

use crate::programs::Random;

#[derive(Clone, Debug)]
pub struct LooseQueue {
    pub threads: u32,
    pub capacity: usize,
    /// A removal takes one of the first so many.
    pub reach: usize,
    /// The first element may be passed over so often; without limit when none.
    pub patience: Option<u8>,
    /// Looks first, takes in a second step, without looking whether it is still there.
    pub two_steps: bool,
    /// An insertion may go before the last element.
    pub pushes_in: bool,
    /// A removal may say that nothing is there when one element is.
    pub misses_one: bool,
    /// Values that can be put in; without limit when none.
    pub domain: Option<Value>,
    /// A local step before anything else.
    pub dawdles: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    inside: Vec<u8>,
    passed: u8,
    threads: Vec<[u8; 2]>,
    offer: u8,
}

const IDLE: u8 = 0;
const PUTTING: u8 = 1;
const PUT_DONE: u8 = 2;
const TAKING: u8 = 3;
const SEEN: u8 = 4;
const TAKEN: u8 = 5;
const DAWDLING: u8 = 6;

impl LooseQueue {
    pub fn random(random: &mut Random) -> LooseQueue {
        LooseQueue {
            threads: 2,
            capacity: 2 + usize::from(random.below(4) == 0),
            reach: 1 + random.below(3) as usize,
            patience: [None, Some(1), Some(2)][random.below(3) as usize],
            two_steps: random.below(4) == 0,
            pushes_in: random.below(6) == 0,
            misses_one: random.below(8) == 0,
            domain: [None, Some(2)][random.below(2) as usize],
            dawdles: random.below(2) == 0,
        }
    }

    fn returns(&self, state: &State, thread: usize, result: Value, out: &mut Vec<(Action, State)>) {
        let mut next = state.clone();
        next.threads[thread] = [IDLE, 0];
        out.push((action(Some(ObjectEvent::Return { thread: thread as u32, result }), thread), next));
    }

    fn calls(&self, state: &State, thread: usize, out: &mut Vec<(Action, State)>) {
        let number = thread as u32;
        let values = match self.domain {
            Some(top) => (1..=top as u8).collect(),
            None => vec![state.offer],
        };
        for value in values {
            let mut next = state.clone();
            next.threads[thread] = [PUTTING, value];
            let event = ObjectEvent::Call { thread: number, method: PUT, argument: Value::from(value) };
            out.push((action(Some(event), thread), next));
        }
        let mut next = state.clone();
        next.threads[thread] = [if self.dawdles { DAWDLING } else { TAKING }, 0];
        out.push((action(Some(ObjectEvent::Call { thread: number, method: TAKE, argument: 0 }), thread), next));
    }

    fn puts(&self, state: &State, thread: usize, value: u8, out: &mut Vec<(Action, State)>) {
        if state.inside.len() >= self.capacity {
            return;
        }
        let mut places = vec![state.inside.len()];
        if self.pushes_in && !state.inside.is_empty() {
            places.push(state.inside.len() - 1);
        }
        for place in places {
            let mut next = state.clone();
            next.inside.insert(place, value);
            next.threads[thread] = [PUT_DONE, 0];
            out.push((action(None, thread), next));
        }
    }

    fn takes(&self, state: &State, thread: usize, out: &mut Vec<(Action, State)>) {
        let mut step = |next: State| out.push((action(None, thread), next));
        if state.inside.is_empty() || (self.misses_one && state.inside.len() == 1) {
            let mut next = state.clone();
            next.threads[thread] = [TAKEN, 0];
            step(next);
        }
        for at in 0..state.inside.len().min(self.reach) {
            if at > 0 && self.patience.is_some_and(|patience| state.passed >= patience) {
                break;
            }
            let mut next = state.clone();
            let value = next.inside[at];
            next.passed = if at == 0 || self.patience.is_none() { 0 } else { next.passed + 1 };
            if self.two_steps {
                next.threads[thread] = [SEEN, value];
            } else {
                next.inside.remove(at);
                next.threads[thread] = [TAKEN, value];
            }
            step(next);
        }
    }
}

fn action(event: Option<ObjectEvent>, thread: usize) -> Action {
    Action { label: event.map_or(Label::TAU, label_of), actor: thread as u32 }
}

impl TransitionSystem for LooseQueue {
    type State = State;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Fault> {
        out.push(State { inside: Vec::new(), passed: 0, threads: vec![[IDLE, 0]; self.threads as usize], offer: 1 });
        Ok(())
    }

    fn successors(&self, state: &State, out: &mut Vec<(Action, State)>) -> Result<(), Fault> {
        for thread in 0..state.threads.len() {
            let [place, value] = state.threads[thread];
            match place {
                IDLE => self.calls(state, thread, out),
                PUTTING => self.puts(state, thread, value, out),
                PUT_DONE => self.returns(state, thread, OK, out),
                TAKING => self.takes(state, thread, out),
                DAWDLING => {
                    let mut next = state.clone();
                    next.threads[thread] = [TAKING, 0];
                    out.push((action(None, thread), next));
                }
                SEEN => {
                    let mut next = state.clone();
                    if let Some(at) = next.inside.iter().position(|&inside| inside == value) {
                        next.inside.remove(at);
                    }
                    next.threads[thread] = [TAKEN, value];
                    out.push((action(None, thread), next));
                }
                _ => self.returns(state, thread, Value::from(value), out),
            }
        }
        Ok(())
    }

    fn pack(&self, state: &State, bytes: &mut Vec<u8>) {
        // Places before elements, so that going on makes a state larger.
        bytes.extend(state.threads.iter().map(|thread| if thread[0] == DAWDLING { 0 } else { 1 + thread[0] }));
        bytes.extend(state.threads.iter().map(|thread| thread[1]));
        bytes.push(state.passed);
        bytes.extend_from_slice(&state.inside);
    }

    fn unpack(&self, bytes: &[u8]) -> State {
        let n = self.threads as usize;
        let place = |code: u8| if code == 0 { DAWDLING } else { code - 1 };
        let threads = (0..n).map(|thread| [place(bytes[thread]), bytes[n + thread]]).collect();
        State { inside: bytes[2 * n + 1..].to_vec(), passed: bytes[2 * n], threads, offer: 1 }
    }

    fn label_name(&self, label: Label) -> String {
        format!("{:?}", self.event(label))
    }

    fn alone(&self, state: &State, actors: &mut Vec<u32>) {
        let dawdling = |&(_, thread): &(usize, &[u8; 2])| thread[0] == DAWDLING;
        actors.extend(state.threads.iter().enumerate().filter(dawdling).map(|(thread, _)| thread as u32));
    }
}

impl Implementation for LooseQueue {
    fn threads(&self) -> u32 {
        self.threads
    }

    fn event(&self, label: Label) -> Option<ObjectEvent> {
        event_of(label)
    }

    fn takes_offers(&self) -> bool {
        self.domain.is_none()
    }

    fn offer(&self, state: &mut State, value: Value) {
        state.offer = value as u8;
    }

    fn renames(&self) -> bool {
        true
    }

    fn values(&self, state: &State, visit: &mut dyn FnMut(Value)) {
        visit_bytes(state.inside.iter().copied().chain(state.threads.iter().map(|thread| thread[1])), visit);
    }

    fn rename(&self, state: &mut State, name: &dyn Fn(Value) -> Value) {
        rename_bytes(state.inside.iter_mut().chain(state.threads.iter_mut().map(|thread| &mut thread[1])), name);
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
        matches!(state.threads[actor as usize][0], IDLE | PUT_DONE | TAKEN)
    }
}
