//! A stack that is watched by its records.

use selvedge_history::monitor::collection::{Collection, Order};
use selvedge_history::monitor::{Alarm, Did, Span};

use super::raw::PushPop;
use super::record::{Checker, Record, Recorder};
use super::report::{Report, Violation};

pub(crate) const PUSH: u64 = 1;
pub(crate) const POP: u64 = 2;

/// A stack that is watched. Values go in and come out through it only; they carry a number through the stack.
pub struct Stack<T, S> {
    stack: S,
    recorder: Recorder<Rules>,
    value: std::marker::PhantomData<fn(T) -> T>,
}

impl<T, S: PushPop<(u64, T)>> Stack<T, S> {
    /// Wraps a stack that is empty.
    pub fn wrap(stack: S) -> Self {
        Stack { stack, recorder: Recorder::new(Rules::new()), value: std::marker::PhantomData }
    }

    /// Puts a value on top.
    pub fn push(&self, value: T) {
        let ticket = self.recorder.ticket();
        let begun = self.recorder.begin();
        let unwound = self.recorder.unwound(begun);
        self.stack.push((ticket, value));
        std::mem::forget(unwound);
        self.recorder.end(begun, PUSH, ticket);
    }

    /// Takes the value on top, if there is one.
    pub fn pop(&self) -> Option<T> {
        let begun = self.recorder.begin();
        let unwound = self.recorder.unwound(begun);
        let popped = self.stack.pop();
        std::mem::forget(unwound);
        self.recorder.end(begun, POP, popped.as_ref().map_or(0, |(ticket, _)| *ticket));
        popped.map(|(_, value)| value)
    }

    /// Calls the function at every violation, in the thread that finds it.
    pub fn on_violation(&self, listener: impl Fn(&Violation) + Send + Sync + 'static) {
        self.recorder.findings.listen(listener);
    }

    /// Checks what is recorded, and answers what was found so far.
    pub fn report(&self) -> Report {
        self.recorder.report(true)
    }
}

/// Rules for collections, fed with records.
pub(crate) struct Rules {
    rules: Collection<u64>,
    alarms: Vec<Alarm<u64>>,
    now: u64,
    unchecked: u64,
}

impl Rules {
    pub fn new() -> Self {
        Rules { rules: Collection::new(Order::Lifo), alarms: Vec::new(), now: 0, unchecked: 0 }
    }
}

impl Checker for Rules {
    fn call(&mut self, record: &mut Record) {
        self.now += 1;
        record.note = self.now;
        match record.kind {
            PUSH => self.rules.call_insert(self.now, record.thread, &record.value),
            _ => self.rules.call_remove(self.now),
        }
    }

    fn ret(&mut self, record: &Record, found: &mut Vec<Violation>) {
        self.now += 1;
        match record.kind {
            PUSH => self.rules.ret_insert(self.now, record.note, &record.value),
            _ => {
                let span = Span { thread: record.thread, call: record.note, ret: self.now };
                let value = Some(&record.value).filter(|value| **value != 0);
                self.rules.ret_remove(span, value, &mut self.alarms);
            }
        }
        found.extend(self.alarms.drain(..).map(|alarm| told(&alarm)));
    }

    fn start_over(&mut self, unknown: u64) {
        self.unchecked += self.rules.unchecked();
        self.rules.start_over();
        self.rules.miss(unknown);
    }

    fn give_up(&mut self, record: &Record) {
        if record.kind == POP {
            // Nothing is inside that could be wrong without it.
            self.rules.fail_remove(record.note, &mut self.alarms);
            self.alarms.clear();
        }
    }

    fn unchecked(&self) -> u64 {
        self.unchecked + self.rules.unchecked()
    }
}

/// What was found, with the values by thread and number.
fn told(alarm: &Alarm<u64>) -> Violation {
    let shown = alarm.operations.iter().map(|shown| {
        let did = match shown.did {
            Did::Insert => "put in",
            Did::Remove => "taken out",
            Did::Empty => "found nothing",
            _ => "used",
        };
        let value = shown
            .value
            .map_or(String::new(), |value| format!("value {} of thread {} ", value & 0xffff_ffff_ffff, value >> 48));
        format!("{value}{did} by thread {}", shown.span.thread)
    });
    let shown: Vec<String> = shown.collect();
    Violation { rule: alarm.rule.name(), text: format!("{}: {}", alarm.rule.sentence(), shown.join("; ")) }
}
