//! A queue that is watched by counters of its last k pasts.

use selvedge_history::monitor::counters::Counters;
use selvedge_history::monitor::{Alarm, Span};

use super::raw::PushPop;
use super::record::{Checker, Record, Recorder};
use super::report::{Findings, Report, Violation};
use super::stack::{POP, PUSH, tell};

/// A queue that is watched with A_k. Values go in and come out through it only; they carry a number through the queue.
pub struct CountedQueue<T, Q> {
    queue: Q,
    recorder: Recorder<Counted>,
    value: std::marker::PhantomData<fn(T) -> T>,
}

impl<T, Q: PushPop<(u64, T)>> CountedQueue<T, Q> {
    /// Wraps a queue that is empty; the last `k` pasts are told apart.
    pub fn wrap(queue: Q, k: usize) -> Self {
        let counted =
            Counted { counters: Counters::new(k), k, alarms: Vec::new(), now: 0, lenient: false, unchecked: 0 };
        CountedQueue { queue, recorder: Recorder::new(counted), value: std::marker::PhantomData }
    }

    /// Puts a value in.
    #[inline]
    pub fn push(&self, value: T) {
        let ticket = self.recorder.ticket();
        let begun = self.recorder.begin();
        let unwound = self.recorder.unwound(begun);
        self.queue.push((ticket, value));
        std::mem::forget(unwound);
        self.recorder.end(begun, PUSH, ticket);
    }

    /// Takes a value out, if there is one.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let begun = self.recorder.begin();
        let unwound = self.recorder.unwound(begun);
        let popped = self.queue.pop();
        std::mem::forget(unwound);
        self.recorder.end(begun, POP, popped.as_ref().map_or(0, |(ticket, _)| *ticket));
        popped.map(|(_, value)| value)
    }

    /// Calls the function at every violation, in the thread that finds it.
    pub fn on_violation(&self, listener: impl Fn(&Violation) + Send + Sync + 'static) {
        self.recorder.findings.listen(listener);
    }

    /// Checks what is recorded, and answers what was found so far. That nothing was found says nothing.
    pub fn report(&self) -> Report {
        self.recorder.report(false)
    }
}

struct Counted {
    counters: Counters<u64>,
    k: usize,
    alarms: Vec<Alarm<u64>>,
    now: u64,
    lenient: bool,
    unchecked: u64,
}

impl Checker for Counted {
    fn call(&mut self, record: &mut Record) {
        self.now += 1;
        let first = self.counters.call();
        if record.kind == PUSH {
            self.counters.call_insert(first, self.now, record.thread, &record.value);
            // An insertion is known by its call, a removal by the past it began in.
            record.note = self.now;
        } else {
            record.note = first;
        }
    }

    fn ret(&mut self, record: &Record, findings: &Findings) {
        self.now += 1;
        if record.kind == PUSH {
            return self.counters.ret_insert(self.now, record.note, &record.value);
        }
        let span = Span { thread: record.thread, call: self.now, ret: self.now };
        let value = Some(&record.value).filter(|value| **value != 0);
        self.counters.ret_remove(record.note, span, value, &mut self.alarms);
        if self.lenient {
            self.unchecked += self.alarms.len() as u64;
            self.alarms.clear();
        }
        self.alarms.drain(..).for_each(|alarm| tell(&alarm, findings));
    }

    fn start_over(&mut self) {
        self.counters = Counters::new(self.k);
        self.lenient = true;
    }

    fn unchecked(&self) -> u64 {
        self.unchecked
    }
}
