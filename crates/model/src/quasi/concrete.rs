//! A path of representatives, translated back into one run of the implementation.
//!
//! Each representative names values and threads afresh. Going along the path, the translation from its names to those of the run is
//! carried forward; each new value gets a name that the run has not used. Every step of the result is one that the
//! implementation really takes.

use super::space::Pairs;
use crate::answer::Trace;
use crate::object::{Implementation, ModelObject, ObjectEvent, Value};
use crate::search::{Path, PathStep, Space};
use crate::store::Map;
use crate::system::Action;

/// From the names of a representative to those of the run.
#[derive(Clone)]
struct Names {
    values: Map<Value, Value>,
    threads: Vec<u32>,
    /// The next value that the run has not used.
    next: Value,
}

impl Names {
    /// A value without a name in the run gets one that no value of the representative has.
    fn value(&self, value: Value) -> Value {
        let taken = |name: &Value| self.values.values().any(|known| known == name);
        let known = self.values.get(&value).copied();
        known.unwrap_or_else(|| (1..).find(|name| !taken(name)).unwrap_or(value))
    }

    fn thread(&self, thread: u32) -> u32 {
        self.threads.get(thread as usize).copied().unwrap_or(thread)
    }

    /// The names after a representative called value `order[i]` i + 1 and put thread `threads[i]` in place i.
    fn after(&self, order: &[Value], threads: &[u32]) -> Names {
        let values = order.iter().enumerate().map(|(place, &value)| (place as Value + 1, self.value(value)));
        let threads = threads.iter().map(|&thread| self.thread(thread)).collect();
        Names { values: values.collect(), threads, next: self.next }
    }
}

impl<I: Implementation, T: ModelObject> Pairs<'_, I, T> {
    /// One run of the implementation that the path stands for.
    pub(crate) fn concrete(&self, path: &Path) -> Trace {
        let system = self.implementation;
        let mut scratch = self.scratch();
        let mut initial = Vec::new();
        if system.initial(&mut initial).is_err() {
            return Trace::default();
        }
        let mut begin = None;
        for state in initial {
            self.canonical(&state, None, &mut scratch.canonical);
            if scratch.canonical.bytes == path.root.0 {
                begin = Some(state);
                break;
            }
        }
        let Some(mut run) = begin else { return Trace::default() };
        let threads: Vec<u32> = (0..system.threads()).collect();
        let mut top = 0;
        system.values(&run, &mut |value| top = top.max(value));
        let start = Names { values: Map::default(), threads, next: top + 1 };
        let identity = scratch.canonical.order.iter().map(|&value| (value, value)).collect();
        let start = Names { values: identity, ..start };
        let mut names = start.after(&scratch.canonical.order, &scratch.canonical.threads);
        let mut root = Vec::new();
        system.pack(&run, &mut root);
        let mut at = path.root.clone();
        let mut steps = Vec::new();
        for step in &path.steps {
            let Some((action, next, after)) = self.concrete_step(&mut scratch, &at, step, &run, &names) else { break };
            let mut packed = Vec::new();
            system.pack(&next, &mut packed);
            steps.push((action, packed));
            (run, names) = (next, after);
            at = (step.state.clone(), step.tag);
        }
        Trace::of(system, &root, steps)
    }

    /// The step of the run that a step between representatives stands for.
    fn concrete_step(
        &self,
        scratch: &mut super::space::Scratch<I::State>,
        at: &(Vec<u8>, u32),
        step: &PathStep,
        run: &I::State,
        names: &Names,
    ) -> Option<(Action, I::State, Names)> {
        let system = self.implementation;
        let (packed, called) = self.split(&at.0);
        let unpacked = self.raw_steps(scratch, packed, at.1).ok()?;
        let mut names = names.clone();
        let mut here = run.clone();
        if system.takes_offers() {
            let fresh = self.fresh(&unpacked, at.1, &mut Vec::new());
            names.values.insert(fresh, names.next);
            system.offer(&mut here, names.next);
        }
        let raw = std::mem::take(&mut scratch.next);
        let mut taken = Vec::new();
        system.successors(&here, &mut taken).ok()?;
        for (action, target) in raw.iter().filter(|(action, _)| *action == step.action) {
            let mut canonical = std::mem::take(&mut scratch.canonical);
            self.canonical(target, self.called_after(&unpacked, called, *action), &mut canonical);
            scratch.canonical = canonical;
            if scratch.canonical.bytes != step.state {
                continue;
            }
            let after = self.set_after(&mut Map::default(), at.1, action.label).ok()?;
            if self.set_renamed(scratch, after) != step.tag {
                continue;
            }
            let wanted = self.translated(target, &names);
            let event = system.event(action.label).map(|event| self.translated_event(event, &names, at.1));
            let fits = |(taken, next): &&(Action, I::State)| {
                let mut packed = Vec::new();
                system.pack(next, &mut packed);
                let actor = if self.exchanges() { names.thread(action.actor) } else { action.actor };
                packed == wanted && system.event(taken.label) == event && taken.actor == actor
            };
            if let Some((taken, next)) = taken.iter().find(fits) {
                let mut used = false;
                system.values(next, &mut |value| used |= value == names.next);
                names.next += Value::from(used);
                let order = self.sets.order_of(after, &scratch.canonical.order);
                let renamed = names.after(&order, &scratch.canonical.threads);
                let after = if self.renames() { renamed } else { Names { values: names.values.clone(), ..renamed } };
                return Some((*taken, next.clone(), after));
            }
        }
        None
    }

    /// A state in the names of a representative, packed in the names of the run.
    fn translated(&self, state: &I::State, names: &Names) -> Vec<u8> {
        let system = self.implementation;
        let mut state = state.clone();
        if self.renames() || system.takes_offers() {
            system.rename(&mut state, &|value| names.value(value));
        }
        if self.exchanges() {
            // Thread i is thread `names.threads[i]` of the run.
            let mut order = vec![0; names.threads.len()];
            for (place, &thread) in names.threads.iter().enumerate() {
                order[thread as usize] = place as u32;
            }
            system.permute(&mut state, &order);
        }
        let mut bytes = Vec::new();
        system.pack(&state, &mut bytes);
        bytes
    }

    fn translated_event(&self, event: ObjectEvent, names: &Names, set: u32) -> ObjectEvent {
        let object = self.sets.object();
        let names_values = self.renames() || self.implementation.takes_offers();
        let thread_of = |thread| if self.exchanges() { names.thread(thread) } else { thread };
        match event {
            ObjectEvent::Call { thread, method, argument } => {
                let data = names_values && object.argument_is_data(method);
                let argument = if data { names.value(argument) } else { argument };
                ObjectEvent::Call { thread: thread_of(thread), method, argument }
            }
            ObjectEvent::Return { thread, result } => {
                let method = self.sets.method_at(set, thread);
                let data = names_values && method.is_some_and(|method| object.result_is_data(method, result));
                let result = if data { names.value(result) } else { result };
                ObjectEvent::Return { thread: thread_of(thread), result }
            }
        }
    }
}
