//! Objects of the text: a sequential object with its operations, and how events of a process are read as calls and returns.
//!
//! `operation enq(v:{1..2}) { ... }` of an object with two threads speaks of the events `enq_inv.t.v` and `enq_res.t.r`: a
//! call by thread t with v, and its return with r. A value that is left out is 0.

use std::sync::OnceLock;

use selvedge_history::{Elements, Spec, Traffic};

use super::eval::{Answered, Evaluated, Reading, Words, fault};
use super::labels::{FALSE, NameId, TRUE};
use super::program::{ExId, Place, Program};
use super::symmetry::Alike;
use super::system::{State, System};
use crate::object::{Call, Implementation, ModelObject, ObjectEvent, Value};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// One way an operation may go; an operation that is written several times may go several ways.
pub(crate) struct Way {
    pub method: usize,
    pub guard: Option<ExId>,
    pub block: u32,
    /// Whether it may write to the object.
    pub writes: bool,
    pub place: Place,
}

pub(crate) struct Method {
    pub name: String,
    /// The arguments it is called with.
    pub values: Vec<i32>,
    /// Whether it may return something other than 0.
    pub answers: bool,
    /// Whether it may return 0 and leave the object as it was.
    pub returns_untouched: bool,
    /// Whether it puts its argument into a collection of the object.
    pub puts: bool,
    /// Whether it takes out of one what it returns.
    pub takes: bool,
    pub call: NameId,
    pub answer: NameId,
}

impl Method {
    /// Whether a result of 0 says that nothing was found. Where it could also be a value, `Running` says so.
    pub fn may_find_nothing(&self) -> bool {
        self.answers && self.returns_untouched
    }
}

/// An object of the text.
pub(crate) struct Object {
    pub name: String,
    pub threads: u32,
    pub program: Program,
    pub ways: Vec<Way>,
    pub methods: Vec<Method>,
}

/// The object while it is compared with: what went wrong in its operations is kept here.
pub(crate) struct Running<'a> {
    pub object: &'a Object,
    /// Whether operations that find nothing are told from others.
    pub quasi: bool,
    pub fault: OnceLock<Fault>,
}

impl Running<'_> {
    /// Refuses a result of 0 that is a value, where it can also say that nothing was found.
    fn told_apart(&self, way: &Way, answered: &Answered, changed: bool) -> Evaluated<()> {
        let method = &self.object.methods[way.method];
        let value = match answered {
            Answered::Literal(value) => *value == 0 && changed,
            Answered::Value(value) => *value == 0 && (changed || !way.writes),
        };
        if self.quasi && value && method.may_find_nothing() {
            let message = format!(
                "a result of 0 of {} may say that nothing was found, and may be a value: quasi linearizability treats \
                 these differently; let values begin at 1",
                method.name
            );
            return fault(way.place, message);
        }
        Ok(())
    }
}

impl Spec for Running<'_> {
    type State = Vec<i32>;
    type Input = Call;
    type Output = Value;

    fn initial(&self) -> Vec<i32> {
        self.object.program.data.clone()
    }

    fn apply(&self, state: &Vec<i32>, call: &Call, out: &mut Vec<(Value, Vec<i32>)>) {
        let program = &self.object.program;
        for way in self.object.ways.iter().filter(|way| way.method == call.method as usize) {
            let env = [call.argument];
            let from = Reading { data: state, env: &env, bound: &[] };
            let enabled = way.guard.map_or(Ok(true), |guard| program.holds(guard, &from));
            let result = enabled.and_then(|enabled| {
                if !enabled {
                    return Ok(None);
                }
                let mut data = Words::from_slice(state);
                let (answered, changed) = program.operate(&program.blocks[way.block as usize], &mut data, &env)?;
                self.told_apart(way, &answered, changed)?;
                let (Answered::Literal(result) | Answered::Value(result)) = answered;
                Ok(Some((result, data.to_vec())))
            });
            match result {
                Ok(None) => {}
                Ok(Some(step)) if out.contains(&step) => {}
                Ok(Some(step)) => out.push(step),
                Err(fault) => {
                    self.fault.get_or_init(|| *fault);
                }
            }
        }
    }
}

impl Elements for Running<'_> {
    type Element = Value;

    fn traffic<'a>(&'a self, call: &'a Call, result: Option<&'a Value>) -> Traffic<&'a Value> {
        let method = &self.object.methods[call.method as usize];
        match result {
            Some(0) if method.may_find_nothing() => Traffic::None,
            _ if method.puts => Traffic::In(&call.argument),
            Some(result) if method.takes => Traffic::Out(result),
            _ => Traffic::None,
        }
    }

    fn calls(&self) -> Vec<Call> {
        let methods = self.object.methods.iter().zip(0..);
        methods.flat_map(|(of, method)| of.values.iter().map(move |&argument| Call { method, argument })).collect()
    }

    fn method_name(&self, call: &Call) -> String {
        self.object.methods[call.method as usize].name.clone()
    }
}

impl ModelObject for Running<'_> {
    fn inside(&self, state: &Vec<i32>, value: Value) -> usize {
        let program = &self.object.program;
        let count = |segment: usize| {
            let (start, len) = program.locate(segment as u32, state);
            state[start..start + len].iter().filter(|&&element| element == value).count()
        };
        (0..program.segments.len()).map(count).sum()
    }
}

/// A process whose events are read as calls and returns of an object.
pub(crate) struct Calls<'a> {
    pub system: System,
    pub object: &'a Object,
    pub misuse: OnceLock<Fault>,
    /// What is known when all threads run the same code.
    pub alike: Option<Alike>,
}

impl<'a> Calls<'a> {
    pub fn new(system: System, object: &'a Object) -> Self {
        let calls = object.methods.iter().map(|method| method.call).collect();
        let returns = object.methods.iter().map(|method| method.answer).collect();
        let alike = system.alike(object.threads, [calls, returns]);
        Calls { system, object, misuse: OnceLock::new(), alike }
    }

    /// Actors of the process are counted from 1; threads that are alike are actors, counted from 0.
    fn actor(&self, actor: u32) -> u32 {
        if self.alike.is_some() { (actor & 0xff).saturating_sub(1) } else { actor }
    }
}

impl Calls<'_> {
    fn complain(&self, label: Label, message: &str) {
        let message = format!("event {}: {message}", self.system.label_name(label));
        self.misuse.get_or_init(|| Fault { message, place: None });
    }
}

impl TransitionSystem for Calls<'_> {
    type State = State;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Fault> {
        self.system.initial(out)
    }

    fn successors(&self, state: &State, out: &mut Vec<(Action, State)>) -> Result<(), Fault> {
        let first = out.len();
        self.system.successors(state, out)?;
        for (action, _) in &mut out[first..] {
            if action.label > Label::TICK {
                self.event(action.label);
            }
            action.actor = self.actor(action.actor);
        }
        match self.misuse.get() {
            Some(fault) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    fn pack(&self, state: &State, bytes: &mut Vec<u8>) {
        self.system.pack(state, bytes);
    }

    fn unpack(&self, bytes: &[u8]) -> State {
        self.system.unpack(bytes)
    }

    fn label_name(&self, label: Label) -> String {
        self.system.label_name(label)
    }

    fn actor_name(&self, actor: u32) -> String {
        self.system.actor_name(actor + u32::from(self.alike.is_some()))
    }

    fn describe(&self, state: &State) -> Option<String> {
        self.system.describe(state)
    }

    fn terminated(&self, state: &State) -> bool {
        self.system.terminated(state)
    }

    fn alone(&self, state: &State, actors: &mut Vec<u32>) {
        if let Some(alike) = &self.alike {
            alike.alone(&self.system.program, &state.0, actors);
        }
    }
}

impl Implementation for Calls<'_> {
    fn threads(&self) -> u32 {
        self.object.threads
    }

    fn event(&self, label: Label) -> Option<ObjectEvent> {
        let (name, values) = self.system.program.labels.key(label)?;
        let method = self.object.methods.iter().position(|method| method.call == name || method.answer == name)?;
        let plain = |value: i32| match value {
            FALSE => 0,
            TRUE => 1,
            value => value,
        };
        let (thread, value) = match values.as_slice() {
            [thread] => (*thread, 0),
            [thread, value] => (*thread, plain(*value)),
            _ => {
                self.complain(label, "a thread and at most one value are expected");
                return None;
            }
        };
        if thread < 0 || thread as u32 >= self.object.threads {
            let last = i64::from(self.object.threads) - 1;
            self.complain(label, &format!("threads of {} are 0 to {last}", self.object.name));
            return None;
        }
        let thread = thread as u32;
        if self.object.methods[method].answer == name {
            return Some(ObjectEvent::Return { thread, result: value });
        }
        if !self.object.methods[method].values.contains(&value) {
            let name = &self.object.methods[method].name;
            self.complain(label, &format!("{name} of {} is not called with {value}", self.object.name));
        }
        Some(ObjectEvent::Call { thread, method: method as u32, argument: value })
    }

    fn returns_from(&self, label: Label) -> Option<u32> {
        let (name, _) = self.system.program.labels.key(label)?;
        let method = self.object.methods.iter().position(|method| method.answer == name)?;
        Some(method as u32)
    }

    fn threads_alike(&self) -> bool {
        self.alike.is_some()
    }

    fn permute(&self, state: &mut State, order: &[u32]) {
        if let Some(alike) = &self.alike {
            alike.permute(&self.system.program, &mut state.0, order);
        }
    }

    fn thread_key(&self, state: &State, thread: u32) -> u64 {
        self.alike.as_ref().map_or(0, |alike| alike.key(&self.system.program, &state.0, thread as usize))
    }

    fn apart(&self, state: &State, actor: u32) -> bool {
        self.alike.as_ref().is_some_and(|alike| alike.apart(&self.system.program, &state.0, actor))
    }
}
