//! Clients of one atomic object, each at its own pace.
//!
//! At each step one client, drawn at random, goes on: it calls, or its operation takes effect, or it returns. A client
//! whose operation blocks stays where it is. Invariant: whoever holds a lock, or waits for one, has an operation left with
//! which to release it, so the clients never deadlock.

use super::calls::{self, Calls};
use super::violation::{self, Forced};
use super::{Event, Random, Request, Settings};
use crate::Value;
use crate::object::Kind;
use crate::verify::read;
use crate::verify::simulate::{self, Action, Object};

/// Where a client stands.
#[derive(Clone, Debug)]
enum Stage {
    Idle,
    Called(Request, Action),
    Done(Value),
}

/// What a client has of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grip {
    None,
    /// Waits for it or has it; the method that lets go.
    Some(&'static str),
}

#[derive(Clone, Debug)]
struct Client {
    stage: Stage,
    grip: Grip,
}

/// The clients, their object, and how far they are.
pub(super) struct Clients<'s> {
    settings: &'s Settings,
    kind: simulate::Kind,
    random: Random,
    calls: Calls,
    clients: Vec<Client>,
    /// One object, or one for each key of a map.
    objects: Vec<Object>,
    called: u64,
    returned: u64,
    /// How many operations a violation still to come takes.
    reserve: u64,
    /// How many clients have a lock or wait for one.
    grips: u64,
}

impl<'s> Clients<'s> {
    pub(super) fn new(settings: &'s Settings) -> Self {
        let kind = simulate::Kind::named(settings.object.name()).expect("every object has a simulator");
        Clients {
            settings,
            kind,
            random: Random::new(settings.seed),
            calls: Calls::new(settings.object),
            clients: vec![Client { stage: Stage::Idle, grip: Grip::None }; settings.processes as usize],
            objects: Vec::new(),
            called: 0,
            returned: 0,
            reserve: if settings.violation { violation::length(settings.object) } else { 0 },
            grips: 0,
        }
    }

    /// Lets the clients do all their operations.
    pub(super) fn run<E>(mut self, sink: &mut dyn FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let clients = self.clients.len() as u64;
        while self.returned < self.settings.operations {
            if self.reserve > 0 && self.is_time() && self.returned == self.called && self.grips == 0 {
                self.violate(sink)?;
                continue;
            }
            let process = self.random.below(clients) as u32;
            match &self.clients[process as usize].stage {
                Stage::Idle => self.call(process, sink)?,
                Stage::Called(..) => self.take_effect(process),
                Stage::Done(_) => self.ret(process, sink)?,
            }
        }
        Ok(())
    }

    fn left(&self) -> u64 {
        self.settings.operations - self.called
    }

    /// Whether the violation is due: nobody starts anything new any more.
    fn is_time(&self) -> bool {
        let due = self.settings.operations / 10 * 9;
        self.called >= due || self.left() <= self.grips + self.reserve + 1
    }

    fn call<E>(&mut self, process: u32, sink: &mut dyn FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let Some(request) = self.request(process) else { return Ok(()) };
        sink(Event::Call { process, request: &request })?;
        self.called += 1;
        let action = self.action(&request);
        self.clients[process as usize].stage = Stage::Called(request, action);
        Ok(())
    }

    /// What a client calls next, if it may.
    fn request(&mut self, process: u32) -> Option<Request> {
        let (left, kind) = (self.left(), self.settings.object);
        if left == 0 {
            return None;
        }
        let waits = self.reserve > 0 && self.is_time();
        if !matches!(kind, Kind::Mutex | Kind::RwLock | Kind::Semaphore) {
            return (!waits).then(|| self.calls.choose(&mut self.random, self.called));
        }
        let client = &mut self.clients[process as usize];
        if let Grip::Some(release) = client.grip {
            client.grip = Grip::None;
            self.grips -= 1;
            return Some(Request { method: release, key: Value::Nil, argument: Value::Nil });
        }
        // The last operation of all may be one that takes the lock and keeps it.
        if waits || left < self.grips + 2 && (left, self.grips) != (1, 0) {
            return None;
        }
        let (method, release) = match kind {
            Kind::RwLock if self.random.chance(60) => ("read_acquire", "read_release"),
            Kind::RwLock => ("write_acquire", "write_release"),
            _ => ("acquire", "release"),
        };
        client.grip = Grip::Some(release);
        self.grips += 1;
        Some(Request { method, key: Value::Nil, argument: Value::Nil })
    }

    fn action(&self, request: &Request) -> Action {
        read::action(self.kind, request.method, &request.key, &request.argument).expect("a call that the object has")
    }

    /// The object that a call is on.
    fn object(&mut self, key: &Value) -> &mut Object {
        let at = key.as_int().unwrap_or(0) as usize;
        while self.objects.len() <= at {
            let initial = calls::initial(self.settings.object);
            self.objects.push(Object::new(self.kind, initial.as_ref()).expect("an initial value that fits"));
        }
        &mut self.objects[at]
    }

    fn take_effect(&mut self, process: u32) {
        let stage = std::mem::replace(&mut self.clients[process as usize].stage, Stage::Idle);
        let Stage::Called(request, action) = stage else { unreachable!("only called operations take effect") };
        let stage = match self.perform(&request, &action) {
            Some(result) => Stage::Done(result),
            None => Stage::Called(request, action),
        };
        self.clients[process as usize].stage = stage;
    }

    /// Performs a call; `None` while it blocks.
    fn perform(&mut self, request: &Request, action: &Action) -> Option<Value> {
        let picked = match action {
            Action::Remove(_) => self.calls.pick(&mut self.random),
            _ => None,
        };
        let result = self.object(&request.key).perform(action, picked.as_ref())?;
        self.calls.note(action, &result);
        Some(match action {
            Action::Transact(_) => filled_in(&request.argument, &result),
            _ => result,
        })
    }

    fn ret<E>(&mut self, process: u32, sink: &mut dyn FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let stage = std::mem::replace(&mut self.clients[process as usize].stage, Stage::Idle);
        let Stage::Done(result) = stage else { unreachable!("only operations that took effect return") };
        self.returned += 1;
        sink(Event::Return { process, result: &result })
    }

    /// The violation: operations one after the other, nobody else active.
    fn violate<E>(&mut self, sink: &mut dyn FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let unused_key = Value::Int(self.objects.len() as i64);
        let script = violation::script(self.settings.object, &mut self.calls, &unused_key);
        debug_assert_eq!(script.len() as u64, self.reserve);
        let mut first = None;
        for (i, (request, forced)) in script.iter().enumerate() {
            let process = (i % self.clients.len().min(2)) as u32;
            let result = match forced {
                Forced::Result(result) => result.clone(),
                Forced::Again => first.clone().unwrap_or_default(),
                Forced::Truth => {
                    let action = self.action(request);
                    self.perform(request, &action).expect("nothing that blocks")
                }
            };
            sink(Event::Call { process, request })?;
            sink(Event::Return { process, result: &result })?;
            first.get_or_insert(result);
        }
        self.called += self.reserve;
        self.returned += self.reserve;
        self.reserve = 0;
        Ok(())
    }
}

/// The steps of a transaction with the values read in their places.
fn filled_in(steps: &Value, values: &Value) -> Value {
    let (steps, values) = (steps.as_list().unwrap_or_default(), values.as_list().unwrap_or_default());
    let filled = steps.iter().zip(values).map(|(step, value)| match step.as_list() {
        Some([word, key, _]) => Value::list([word.clone(), key.clone(), value.clone()]),
        _ => step.clone(),
    });
    Value::list(filled.collect::<Vec<_>>())
}
