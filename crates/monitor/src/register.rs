//! A register that is watched by its records. Each value should be written once: what is written again is not checked, and counted.

use selvedge_history::monitor::register::RegisterRule;
use selvedge_history::monitor::{Alarm, Span};

use super::raw::ReadWrite;
use super::record::{Checker, Record, Recorder};
use super::report::{Report, Violation};

pub(crate) const WRITE: u64 = 1;
pub(crate) const READ: u64 = 2;

/// A register that is watched. It is read and written through it only.
pub struct Register<R> {
    register: R,
    recorder: Recorder<Rules>,
}

impl<R: ReadWrite> Register<R> {
    /// Wraps a register, which nobody else uses.
    pub fn wrap(register: R) -> Self {
        let recorder = Recorder::new(Rules::new(register.read()));
        Register { register, recorder }
    }

    /// Reads the value.
    pub fn read(&self) -> u64 {
        let begun = self.recorder.begin();
        let unwound = self.recorder.unwound(begun);
        let value = self.register.read();
        std::mem::forget(unwound);
        self.recorder.end(begun, READ, value);
        value
    }

    /// Writes a value.
    pub fn write(&self, value: u64) {
        let begun = self.recorder.begin();
        let unwound = self.recorder.unwound(begun);
        self.register.write(value);
        std::mem::forget(unwound);
        self.recorder.end(begun, WRITE, value);
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

pub(crate) struct Rules {
    rule: RegisterRule<u64>,
    alarms: Vec<Alarm<u64>>,
    now: u64,
    /// When it last started over.
    since: u64,
    /// What went unchecked before.
    unchecked: u64,
}

impl Rules {
    pub fn new(initial: u64) -> Self {
        Rules { rule: RegisterRule::new(initial), alarms: Vec::new(), now: 0, since: 0, unchecked: 0 }
    }
}

impl Checker for Rules {
    fn call(&mut self, record: &mut Record) {
        self.now += 1;
        record.note = self.now;
        match record.kind {
            WRITE => self.rule.call_write(self.now, record.thread, &record.value),
            _ => self.rule.call_read(self.now),
        }
    }

    fn ret(&mut self, record: &Record, found: &mut Vec<Violation>) {
        self.now += 1;
        match record.kind {
            WRITE if record.note <= self.since => self.rule.end_write_before(self.now, &record.value),
            WRITE => self.rule.ret_write(self.now, &record.value),
            _ => {
                let span = Span { thread: record.thread, call: record.note, ret: self.now };
                self.rule.ret_read(span, &record.value, &mut self.alarms);
            }
        }
        for alarm in self.alarms.drain(..) {
            let text = format!("thread {} read {}: {}", record.thread, record.value, alarm.rule.sentence());
            found.push(Violation { rule: alarm.rule.name(), text });
        }
    }

    fn start_over(&mut self, _: u64) {
        // What a write that panicked wrote is read unknown.
        self.unchecked += self.rule.unchecked();
        self.rule.start_over();
        self.since = self.now;
    }

    fn give_up(&mut self, record: &Record) {
        match record.kind {
            WRITE => self.rule.end_write_before(self.now, &record.value),
            _ => self.rule.drop_read(record.note),
        }
    }

    fn unchecked(&self) -> u64 {
        self.unchecked + self.rule.unchecked()
    }
}
