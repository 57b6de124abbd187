//! From lines to violations: reads events, puts them in order, hands them to the monitor, and says what it found.
//!
//! Invariant: an event that is missing, unreadable or too late is counted, is said (the first few times), and makes the monitor forget what it might have made
//! wrong: no violation rests on an event whose neighbours are unknown.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use selvedge_history::Value;
use selvedge_history::format::{LineEvent, read_line};
use selvedge_history::monitor::{Called, Merge, Missed, Monitor, Refused, Rule, Settings, Violation};
use selvedge_history::object::{Kind, Misuse};
use serde_json::json;

use super::input::Message;
use super::metrics::Snapshot;
use crate::exit::Exit;
use crate::quantity::{count, counted};
use crate::report::html::monitor::{KEPT_MAX, Watched};
use crate::report::print::{complain, keep};
use crate::report::text::clean;
use crate::trouble::Trouble;

/// How many times the same kind of trouble is said; all of it is counted.
const SAID_MAX: u64 = 5;

/// How many events are held back at most.
const HELD_MAX: usize = 1 << 20;

/// How many threads of a writer are remembered that have nothing open.
const THREADS_MAX: usize = 1 << 16;

/// How often the snapshot for metrics is made.
const SNAPSHOT: Duration = Duration::from_millis(100);

/// How things are said.
#[derive(Clone, Copy)]
pub struct Voice {
    pub json: bool,
}

struct Writer {
    threads: HashMap<Value, Thread>,
    /// When it last sent something, and the greatest time in that.
    last: Instant,
    latest: Option<i64>,
    lines: u64,
    idle: bool,
    /// From so many threads on, those with nothing open are forgotten.
    sweep_at: usize,
}

/// A thread of some writer. Its operations may seem to overlap: at equal times, and where clocks are apart, a call comes before the return of the operation before it. Such
/// a call goes to another lane, which is a thread of its own for the monitor.
struct Thread {
    /// Its name, which is never that of another writer's thread.
    name: Value,
    /// The operation whose call was the last to arrive, until its return does.
    called: Option<u64>,
    /// By lane: the operation that is open there.
    lanes: Vec<Option<u64>>,
}

impl Thread {
    /// The thread that the monitor is told.
    fn lane(&self, lane: usize) -> Value {
        if lane == 0 { self.name.clone() } else { Value::list([self.name.clone(), Value::Int(lane as i64)]) }
    }
}

/// What waits for its turn.
enum Held {
    /// Of which writer, and of which operation: 0 where that is not known.
    Event(u64, u64, LineEvent<'static>),
    /// The writer is gone; its threads have nothing open any more.
    Left(u64),
}

pub struct Watcher {
    monitor: Monitor,
    settings: Settings,
    voice: Voice,
    writers: HashMap<u64, Writer>,
    merge: Merge<Held>,
    window: Duration,
    timed: bool,
    /// How many operations were called that have a time.
    operations: u64,
    /// Those of which the return has arrived and waits.
    returning: HashSet<u64>,
    /// How many went to another lane.
    crowded: u64,
    by_rule: HashMap<Rule, u64>,
    unreadable: u64,
    cut: u64,
    late: u64,
    untimed: u64,
    writers_total: u64,
    said: HashMap<&'static str, u64>,
    last_snapshot: Instant,
    started: Instant,
    unwritten: Exit,
    /// The first violations, where a page is wanted.
    kept: Option<Vec<Violation>>,
}

impl Writer {
    /// One of its threads. Sockets number their writers from 1. From [`THREADS_MAX`] on, those with nothing open are forgotten.
    fn thread(&mut self, number: u64, thread: &Value) -> &mut Thread {
        if !self.threads.contains_key(thread) {
            if self.threads.len() >= self.sweep_at {
                self.threads.retain(|_, thread| thread.called.is_some() || thread.lanes.iter().any(Option::is_some));
                self.sweep_at = (2 * self.threads.len()).max(THREADS_MAX);
            }
            let name = if number == 0 { thread.clone() } else { Value::text(format!("{number}/{thread}")) };
            self.threads.insert(thread.clone(), Thread { name, called: None, lanes: Vec::new() });
        }
        self.threads.get_mut(thread).expect("it is there")
    }
}

/// A thread as its writer calls it.
fn without_lane(thread: &mut Value) {
    if let Value::List(of) = &*thread
        && let [name, Value::Int(_)] = &of[..]
    {
        *thread = name.clone();
    }
}

impl Watcher {
    pub fn new(kind: Kind, settings: Settings, voice: Voice) -> Result<Self, Misuse> {
        let now = Instant::now();
        Ok(Watcher {
            monitor: Monitor::new(kind, settings.clone())?,
            settings,
            voice,
            writers: HashMap::new(),
            merge: Merge::new(0, 0, HELD_MAX),
            window: Duration::ZERO,
            timed: false,
            operations: 0,
            returning: HashSet::new(),
            crowded: 0,
            by_rule: HashMap::new(),
            unreadable: 0,
            cut: 0,
            late: 0,
            untimed: 0,
            writers_total: 0,
            said: HashMap::new(),
            last_snapshot: now,
            started: now,
            unwritten: Exit::Pass,
            kept: None,
        })
    }

    /// Whether violations are kept for a page.
    pub fn keep(&mut self, page: bool) {
        self.kept = page.then(Vec::new);
    }

    pub fn order_by(&mut self, window: Duration, skew: Duration) {
        let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        self.merge = Merge::new(nanoseconds(window), nanoseconds(skew), HELD_MAX);
        self.window = window;
    }

    pub fn take(&mut self, message: Message) -> Result<(), Trouble> {
        match message {
            Message::Opened(number) => {
                let writer = Writer {
                    threads: HashMap::new(),
                    last: Instant::now(),
                    latest: None,
                    lines: 0,
                    idle: false,
                    sweep_at: THREADS_MAX,
                };
                self.writers.insert(number, writer);
                self.writers_total += 1;
                self.merge.open(number);
            }
            Message::Lines(number, lines) => {
                for line in lines.split(|byte| *byte == b'\n') {
                    self.line(number, line)?;
                }
                self.hand_out();
            }
            Message::Cut(number, line) => self.cut_off(number, &line)?,
            Message::TooLong(number) => self.missed(number, "a line longer than 16 MiB was left out"),
            Message::Replaced => {
                self.say("replaced", "the file was replaced: it is read from its beginning, and checking starts over");
                self.flush();
                self.monitor.start_over(Missed::Many);
            }
            Message::Closed(number) => self.close(number),
        }
        Ok(())
    }

    fn line(&mut self, number: u64, line: &[u8]) -> Result<(), Trouble> {
        if let Some(writer) = self.writers.get_mut(&number) {
            writer.lines += 1;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let read = std::str::from_utf8(line).map_err(|_| "bytes that are not UTF-8".to_owned());
        match read.and_then(|text| read_line(text).map_err(|error| error.to_string())) {
            Ok(None) => {}
            Ok(Some((LineEvent::Header { object, initial }, _))) => match self.header(object, initial) {
                // One writer of many does not end it all.
                Err(trouble) if number > 0 => self.missed(number, &trouble.reason),
                answer => answer?,
            },
            Ok(Some((LineEvent::End(_), _))) => {}
            Ok(Some((event, time))) => self.event(number, event, time),
            Err(reason) => self.missed(number, &reason),
        }
        Ok(())
    }

    fn header(&mut self, object: Option<String>, initial: Option<Value>) -> Result<(), Trouble> {
        let kind = self.monitor.kind();
        if let Some(other) = object.as_deref().and_then(Kind::from_name).filter(|other| *other != kind) {
            let reason = format!("the events are of a {other}, but --object says {kind}");
            return Err(Trouble::new("the header", reason).advise(format!("--object {other} watches such an object")));
        }
        if initial.is_some() && self.settings.initial.is_none() && self.monitor.counts().events == 0 {
            let settings = Settings { initial, ..self.settings.clone() };
            self.monitor = Monitor::new(kind, settings).map_err(|misuse| Trouble::new("the header", misuse))?;
        }
        Ok(())
    }

    fn event(&mut self, number: u64, event: LineEvent<'_>, time: Option<i64>) {
        let Some(time) = time else {
            // One writer's lines are in the order in which things happened; those of several are not.
            let unordered = self.writers.len() > 1 || self.timed;
            if !unordered {
                return self.feed(number, 0, event);
            }
            self.untimed += 1;
            let why = "with several writers nobody knows when it was; checking starts over";
            self.say("untimed", &format!("writer {number}: an event without `time`: {why}"));
            // What it takes out may not be in yet, and what it put in may be out already.
            self.monitor.start_over(Missed::Some(0));
            self.feed(number, 0, event);
            self.monitor.start_over(Missed::Some(0));
            return;
        };
        self.timed = true;
        let is_return = matches!(event, LineEvent::Outcome { .. });
        let operation = self.operation(number, &event);
        if let Some(late) = self.merge.push(number, time, is_return, Held::Event(number, operation, owned(event))) {
            self.late += 1;
            let why = "checking starts over (--window TIME waits longer)";
            self.say("late", &format!("writer {number}: a call came after later events had been taken; {why}"));
            self.release(late);
            self.monitor.start_over(Missed::Some(0));
        }
        if let Some(writer) = self.writers.get_mut(&number) {
            writer.idle = false;
            writer.last = Instant::now();
            writer.latest = writer.latest.max(Some(time));
        }
    }

    fn hand_out(&mut self) {
        while let Some(held) = self.merge.ready() {
            self.release(held);
        }
    }

    fn flush(&mut self) {
        while let Some(held) = self.merge.flush() {
            self.release(held);
        }
    }

    fn release(&mut self, held: Held) {
        match held {
            Held::Event(number, operation, event) => self.feed(number, operation, event),
            Held::Left(number) => self.leave(number),
        }
    }

    /// Which operation an event with a time is of, as it arrives.
    fn operation(&mut self, number: u64, event: &LineEvent<'_>) -> u64 {
        let (LineEvent::Call { thread, .. } | LineEvent::Outcome { thread, .. }) = event else { return 0 };
        let Some(writer) = self.writers.get_mut(&number) else { return 0 };
        let thread = writer.thread(number, thread);
        if matches!(event, LineEvent::Call { .. }) {
            self.operations += 1;
            thread.called = Some(self.operations);
            return self.operations;
        }
        let operation = thread.called.take();
        self.returning.extend(operation);
        operation.unwrap_or(0)
    }

    fn feed(&mut self, number: u64, operation: u64, event: LineEvent<'_>) {
        let answer = match event {
            LineEvent::Call { thread, method, object, key, argument } => {
                let thread = self.calls(number, operation, thread);
                self.monitor.call(&thread, Called { method: &method, object: &object, key, argument })
            }
            LineEvent::Outcome { thread, outcome } => {
                let thread = self.returns(number, operation, thread);
                self.monitor.outcome(&thread, outcome)
            }
            LineEvent::End(_) | LineEvent::Header { .. } => Ok(()),
        };
        if let Err(refused) = answer {
            self.refused(number, &refused);
        }
        if self.monitor.waiting() > 0 {
            let mut found: Vec<Violation> = self.monitor.found().collect();
            let shown = found.iter_mut().flat_map(|violation| &mut violation.operations);
            shown.filter_map(|shown| shown.thread.as_mut()).for_each(without_lane);
            found.iter().for_each(|violation| self.tell(violation));
        }
    }

    /// The thread that calls, for the monitor.
    fn calls(&mut self, number: u64, operation: u64, thread: Value) -> Value {
        // One writer without times is read as it comes.
        let writer = self.writers.get_mut(&number).filter(|_| number > 0 || self.timed);
        let Some(writer) = writer else { return thread };
        let thread = writer.thread(number, &thread);
        let is_taken = |open: &Option<u64>| open.is_some_and(|open| self.returning.contains(&open));
        let lane = thread.lanes.iter().position(|open| !is_taken(open)).unwrap_or(thread.lanes.len());
        thread.lanes.resize(thread.lanes.len().max(lane + 1), None);
        thread.lanes[lane] = Some(operation);
        self.crowded += u64::from(lane > 0);
        thread.lane(lane)
    }

    /// The thread that returns, for the monitor.
    fn returns(&mut self, number: u64, operation: u64, thread: Value) -> Value {
        let writer = self.writers.get_mut(&number).filter(|_| number > 0 || self.timed);
        let Some(writer) = writer else { return thread };
        let thread = writer.thread(number, &thread);
        self.returning.remove(&operation);
        let lane = thread.lanes.iter().position(|open| *open == Some(operation)).unwrap_or(0);
        if let Some(open) = thread.lanes.get_mut(lane) {
            *open = None;
        }
        thread.lane(lane)
    }

    fn refused(&mut self, number: u64, refused: &Refused) {
        let line = self.writers.get(&number).map_or(0, |writer| writer.lines);
        let (kind, more) = match refused {
            Refused::Misuse { .. } => ("misuse", "; nobody knows what it did, so checking of the object starts over"),
            Refused::OutcomeWithoutCall => ("outcome", "; its call was missed, so checking starts over"),
            _ => ("call", ""),
        };
        self.say(kind, &format!("writer {number}, near line {line}: {refused}{more}"));
    }

    /// A line that is no event may have been one.
    fn missed(&mut self, number: u64, reason: &str) {
        self.unreadable += 1;
        let line = self.writers.get(&number).map_or(0, |writer| writer.lines);
        let reason = reason.strip_prefix("line 1").map_or_else(|| format!(": {reason}"), str::to_owned);
        self.say(
            "unreadable",
            &format!("writer {number}, line {line}{reason}; it may have been a call, so checking starts over"),
        );
        self.hand_out();
        self.monitor.start_over(Missed::Some(1));
    }

    /// What a writer wrote of its last line. A call is written before it is made, so half a call was not made; half a return leaves its operation open.
    fn cut_off(&mut self, number: u64, line: &[u8]) -> Result<(), Trouble> {
        let whole = std::str::from_utf8(line).ok().and_then(|text| read_line(text).ok());
        match whole {
            Some(_) => self.line(number, line)?,
            None => {
                self.cut += 1;
                self.say("cut", &format!("writer {number} ended in the middle of a line; that event did not happen"));
            }
        }
        Ok(())
    }

    /// A writer is gone. What it sent last may still be held back, so its threads leave when that is handed out.
    fn close(&mut self, number: u64) {
        match self.writers.get(&number).and_then(|writer| writer.latest) {
            Some(latest) => {
                let _ = self.merge.push(number, latest, true, Held::Left(number));
                self.merge.idle(number);
                self.hand_out();
            }
            None => {
                self.merge.idle(number);
                self.leave(number);
            }
        }
    }

    /// What its threads had open may or may not have happened.
    fn leave(&mut self, number: u64) {
        let Some(writer) = self.writers.remove(&number) else { return };
        for thread in writer.threads.into_values() {
            (0..thread.lanes.len().max(1)).for_each(|lane| self.monitor.leave(&thread.lane(lane)));
        }
    }

    /// Called now and then.
    pub fn tick(&mut self, snapshot: &Mutex<Snapshot>) {
        if self.timed {
            let now = Instant::now();
            let window = self.window;
            for (number, writer) in &mut self.writers {
                if !writer.idle && now.duration_since(writer.last) > window {
                    writer.idle = true;
                    self.merge.idle(*number);
                }
            }
            self.hand_out();
        }
        if self.last_snapshot.elapsed() >= SNAPSHOT {
            self.last_snapshot = Instant::now();
            self.shoot(snapshot);
        }
    }

    fn shoot(&self, snapshot: &Mutex<Snapshot>) {
        let Ok(mut snapshot) = snapshot.lock() else { return };
        *snapshot = Snapshot {
            counts: self.monitor.counts(),
            by_rule: self.by_rule.iter().map(|(rule, count)| (*rule, *count)).collect(),
            lines_unreadable: self.unreadable,
            lines_cut: self.cut,
            late: self.late + self.untimed,
            writers: self.writers.len() as u64,
            writers_total: self.writers_total,
            held: self.merge.held() as u64,
            entries: self.monitor.entries() as u64,
        };
    }

    /// Something is not as it should be. The first few times are told, all are counted.
    fn say(&mut self, kind: &'static str, text: &str) {
        let said = self.said.entry(kind).or_default();
        *said += 1;
        if *said <= SAID_MAX {
            let more = if *said == SAID_MAX { " (more of this kind is only counted)" } else { "" };
            complain(&format!("warning: {}{more}\n", clean(text)));
        }
    }

    fn tell(&mut self, violation: &Violation) {
        *self.by_rule.entry(violation.rule).or_default() += 1;
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.len() < KEPT_MAX) {
            kept.push(violation.clone());
        }
        let text = if self.voice.json {
            let operations: Vec<_> = violation
                .operations
                .iter()
                .map(|operation| {
                    json!({
                        "thread": operation.thread, "method": operation.method, "argument": operation.argument,
                        "result": operation.result, "call": operation.call, "return": operation.ret,
                    })
                })
                .collect();
            let document = json!({
                "violation": violation.rule.name(), "what": violation.rule.sentence(), "event": violation.event,
                "object": violation.object, "key": violation.key, "operations": operations,
            });
            format!("{document}\n")
        } else {
            let mut text = String::new();
            for (i, line) in violation.to_string().lines().enumerate() {
                text.push_str(if i == 0 { "violation " } else { "" });
                text.push_str(&clean(line));
                text.push('\n');
            }
            text
        };
        self.write(&text);
    }

    fn write(&mut self, text: &str) {
        let mut out = io::stdout().lock();
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            // Nobody reads any more; the exit code and the metrics still tell.
            self.unwritten = Exit::Unknown;
        }
    }

    /// The summary, the page where one is wanted, and the exit code.
    pub fn finish(mut self, snapshot: &Mutex<Snapshot>, page: Option<&Path>, from: &str) -> Exit {
        self.flush();
        self.shoot(snapshot);
        let counts = self.monitor.counts();
        let kind = self.monitor.kind();
        let doubts = self.doubts();
        let (verdict, exit) = match (counts.violations, doubts.is_empty()) {
            (0, true) => ("pass", Exit::Pass),
            (0, false) => ("unknown", Exit::Unknown),
            _ => ("fail", Exit::Violation),
        };
        let head = match verdict {
            "pass" => format!("pass: {kind}, nothing wrong in "),
            "fail" => format!("fail: {kind}, {} in ", counted(counts.violations, "violation")),
            _ => format!("unknown: {kind}, no violation seen in "),
        };
        let operations = counted(counts.operations, "operation");
        let head = format!("{head}{operations} ({})", counted(counts.events, "event"));
        let text = if self.voice.json {
            let rules: serde_json::Map<String, serde_json::Value> =
                self.by_rule.iter().map(|(rule, count)| (rule.name().to_owned(), json!(count))).collect();
            let document = json!({
                "verdict": verdict, "criterion": "linearizability", "object": kind.name(), "coverage": "monitored",
                "events": counts.events, "operations": counts.operations, "violations": counts.violations,
                "by_rule": rules, "open": counts.open, "unchecked": counts.unchecked, "untold": counts.untold, "repeated": counts.repeated,
                "refused": counts.refused, "unreadable": self.unreadable, "cut": self.cut, "late": self.late,
                "untimed": self.untimed, "restarts": counts.restarts, "writers": self.writers_total, "doubts": doubts,
                "seconds": self.started.elapsed().as_secs_f64(), "version": env!("CARGO_PKG_VERSION"),
            });
            format!("{document}\n")
        } else {
            let mut text = format!("{head}\n");
            doubts.iter().for_each(|doubt| text.push_str(&format!("  not checked in full: {doubt}\n")));
            text
        };
        self.write(&text);
        let page = page.map_or(Exit::Pass, |path| {
            let violations = self.kept.take().unwrap_or_default();
            let (violations, total, doubts) = (&violations[..], counts.violations, &doubts[..]);
            let html = Watched { from, exit, says: &head, doubts, violations, total }.html();
            keep(path, "page", Some(html.into_bytes()))
        });
        exit.worst(if exit == Exit::Pass { self.unwritten } else { Exit::Pass }).worst(page)
    }

    /// Why the absence of violations would not mean that there are none.
    fn doubts(&self) -> Vec<String> {
        let mut doubts: Vec<String> = self
            .monitor
            .doubts()
            .iter()
            .map(|doubt| match doubt.number() {
                Some(number) => format!("{} {}", count(number), doubt.what()),
                None => doubt.what(),
            })
            .collect();
        let mut doubt = |number: u64, one: &str, many: &str| match number {
            0 => {}
            1 => doubts.push(format!("1 {one}")),
            _ => doubts.push(format!("{} {many}", count(number))),
        };
        doubt(self.unreadable, "line could not be read", "lines could not be read");
        doubt(self.cut, "line was cut off by the end of its writer", "lines were cut off by the end of their writers");
        doubt(self.late, "call came too late", "calls came too late");
        doubt(self.untimed, "event had no time", "events had no time");
        let crowded = ["operation was taken to overlap", "operations were taken to overlap"]
            .map(|what| format!("{what} with the one before it of the same thread, by their times"));
        doubt(self.crowded, &crowded[0], &crowded[1]);
        doubts
    }
}

fn owned(event: LineEvent<'_>) -> LineEvent<'static> {
    match event {
        LineEvent::Call { thread, method, object, key, argument } => {
            let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
            LineEvent::Call { thread, method: own(method), object: own(object), key, argument }
        }
        LineEvent::Outcome { thread, outcome } => LineEvent::Outcome { thread, outcome },
        LineEvent::End(end) => LineEvent::End(end),
        LineEvent::Header { object, initial } => LineEvent::Header { object, initial },
    }
}
