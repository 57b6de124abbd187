//! From lines to violations: reads events, puts them in order, hands them to the monitor, and says what it found.
//!
//! Invariant: an event that is missing, unreadable or too late is counted, is said (the first few times), and makes the monitor forget what it might have made
//! wrong: no violation rests on an event whose neighbours are unknown. A violation is told only where no writer can send anything earlier any more; others are counted as not certain.

mod summary;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use selvedge_history::format::{LineEvent, read_line};
use selvedge_history::monitor::{Called, Merge, Missed, Monitor, Next, Pushed, Refused, Rule, Settings, Violation};
use selvedge_history::object::{Kind, Misuse};
use selvedge_history::{End, Value};

use super::input::{Message, Rest};
use super::metrics::Snapshot;
use super::stop::Stop;
use crate::exit::Exit;
use crate::trouble::Trouble;

/// How many times the same kind of trouble is said; all of it is counted.
const SAID_MAX: u64 = 5;

/// How many events are held back at most.
const HELD_MAX: usize = 1 << 20;

/// How many threads of a writer are remembered that have nothing open.
const THREADS_MAX: usize = 1 << 16;

/// How long lines are taken that had arrived when somebody said stop.
const LAST: Duration = Duration::from_secs(1);

/// How often the snapshot for metrics is made.
const SNAPSHOT: Duration = Duration::from_millis(100);

/// How things are said.
#[derive(Clone, Copy)]
pub struct Voice {
    pub json: bool,
}

struct Writer {
    threads: HashMap<Value, Thread>,
    /// The greatest time that it has sent.
    latest: Option<i64>,
    lines: u64,
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
    /// The lanes in which none is.
    free: BTreeSet<usize>,
    /// The lane of the last call.
    last: usize,
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
    timed: bool,
    stop: Arc<Stop>,
    /// How many operations were called that have a time.
    operations: u64,
    /// Those of which the return has arrived and waits.
    returning: HashSet<u64>,
    /// The lanes of open operations, where they are not the first.
    lanes: HashMap<u64, usize>,
    /// How many went to another lane.
    crowded: u64,
    by_rule: HashMap<Rule, u64>,
    unreadable: u64,
    cut: u64,
    /// Calls, and returns, that came after later events had been handed out.
    late: u64,
    longer: u64,
    untimed: u64,
    /// Violations that what was not yet sent may excuse.
    uncertain: u64,
    writers_total: u64,
    /// Writers that are there; that were never read; that could not be read to their end.
    connected: u64,
    unread: u64,
    broken: u64,
    /// Writers wait that cannot be taken.
    is_full: bool,
    /// Somebody said stop; since when lines are only taken for so long, and whether some were not.
    is_ceased: bool,
    last_lines: Option<Instant>,
    is_cut_short: bool,
    rest: Option<Rest>,
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
            self.threads.insert(
                thread.clone(),
                Thread { name, called: None, lanes: Vec::new(), free: BTreeSet::new(), last: 0 },
            );
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
    pub fn new(kind: Kind, settings: Settings, voice: Voice, stop: Arc<Stop>) -> Result<Self, Misuse> {
        let now = Instant::now();
        Ok(Watcher {
            monitor: Monitor::new(kind, settings.clone())?,
            settings,
            voice,
            writers: HashMap::new(),
            merge: Merge::new(0, 0, HELD_MAX),
            timed: false,
            stop,
            operations: 0,
            returning: HashSet::new(),
            lanes: HashMap::new(),
            crowded: 0,
            by_rule: HashMap::new(),
            unreadable: 0,
            cut: 0,
            late: 0,
            longer: 0,
            untimed: 0,
            uncertain: 0,
            writers_total: 0,
            connected: 0,
            unread: 0,
            broken: 0,
            is_full: false,
            is_ceased: false,
            last_lines: None,
            is_cut_short: false,
            rest: None,
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
    }

    pub fn take(&mut self, message: Message) -> Result<(), Trouble> {
        match message {
            Message::Opened(number) => {
                let writer = Writer { threads: HashMap::new(), latest: None, lines: 0, sweep_at: THREADS_MAX };
                self.writers.insert(number, writer);
                self.writers_total += 1;
                self.connected += 1;
                self.merge.open(number);
            }
            Message::Lines(number, lines) => {
                for line in lines.split(|byte| *byte == b'\n') {
                    if self.stop.is_asked() && self.is_too_late() {
                        self.is_cut_short = true;
                        break;
                    }
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
            Message::Broken(number, error) => {
                self.breaks_off(number, &format!("it cannot be read any more: {error}"));
                self.close(number);
            }
            Message::Closed(number) => self.close(number),
            Message::Waiting(error) => self.wait(error.as_ref()),
            Message::Unread(error) => self.unread(1, &error.to_string()),
        }
        Ok(())
    }

    /// What a writer did after this, or shortly before, is not known.
    fn breaks_off(&mut self, number: u64, why: &str) {
        self.broken += 1;
        self.say("broken", &format!("writer {number} breaks off: {why}; checking starts over"));
        self.monitor.start_over(Missed::Many);
    }

    /// Whether lines are not taken any more, since somebody said stop.
    fn is_too_late(&mut self) -> bool {
        self.last_lines.get_or_insert_with(Instant::now).elapsed() > LAST
    }

    /// Writers wait that cannot be taken, or do so no more. What they send may be earlier than anything.
    fn wait(&mut self, error: Option<&std::io::Error>) {
        self.is_full = error.is_some();
        self.merge.set_unread(self.is_full || self.unread > 0);
        if let Some(error) = error {
            let why = "writers wait, and nothing is certain, until another one is gone (ulimit -n allows more)";
            self.say("full", &format!("no further writer can be taken: {error}; {why}"));
        }
        self.hand_out();
    }

    /// What writers did that were never read is not known, so nothing is certain any more.
    fn unread(&mut self, writers: u64, why: &str) {
        self.unread += writers;
        self.merge.set_unread(true);
        self.say("unread", &format!("a writer cannot be read: {why}; no violation is certain from now on"));
        self.monitor.start_over(Missed::Many);
    }

    /// Somebody said stop; whether the input is over nevertheless, and what is left of it.
    pub fn cease(&mut self, is_over: bool, rest: Option<Rest>) {
        self.is_ceased = !is_over && self.writers.keys().any(|number| *number > 0);
        self.rest = rest;
        if let Some(Rest::Writers(writers)) = rest {
            self.unread(writers, "there was no room for it");
        }
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
            // Beside other writers it may go on and not say so.
            Ok(Some((LineEvent::End(End::Truncated), _))) if number > 0 => {
                self.breaks_off(number, "it has stopped recording");
            }
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
            let unordered = self.writers.len() > 1 || self.timed || self.is_full || self.unread > 0;
            if !unordered {
                return self.feed(number, 0, event, true);
            }
            self.untimed += 1;
            let why = "with several writers nobody knows when it was; checking starts over";
            self.say("untimed", &format!("writer {number}: an event without `time`: {why}"));
            // What it takes out may not be in yet, and what it put in may be out already.
            self.monitor.start_over(Missed::Some(1));
            self.feed(number, 0, event, false);
            self.monitor.start_over(Missed::Some(0));
            return;
        };
        self.timed = true;
        let is_return = matches!(event, LineEvent::Outcome { .. });
        let operation = self.operation(number, &event);
        match self.merge.push(number, time, is_return, Held::Event(number, operation, owned(event))) {
            Pushed::Held => {}
            Pushed::Longer => self.longer += 1,
            Pushed::Late(event) => {
                self.late += 1;
                let why = "checking starts over (--window TIME waits longer)";
                self.say("late", &format!("writer {number}: a call came after later events had been taken; {why}"));
                self.release(Next { event, certain: false });
                self.monitor.start_over(Missed::Some(0));
            }
        }
        if let Some(writer) = self.writers.get_mut(&number) {
            writer.latest = writer.latest.max(Some(time));
        }
    }

    fn hand_out(&mut self) {
        while let Some(next) = self.merge.ready() {
            self.release(next);
        }
    }

    fn flush(&mut self) {
        while let Some(next) = self.merge.flush() {
            self.release(next);
        }
    }

    fn release(&mut self, next: Next<Held>) {
        match next.event {
            Held::Event(number, operation, event) => self.feed(number, operation, event, next.certain),
            Held::Left(number) => {
                self.leave(number);
                self.tell_found(next.certain);
            }
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

    fn feed(&mut self, number: u64, operation: u64, event: LineEvent<'_>, certain: bool) {
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
        self.tell_found(certain);
    }

    /// Tells what was found, if nothing that is yet to come can be earlier.
    fn tell_found(&mut self, certain: bool) {
        if self.monitor.waiting() == 0 {
            return;
        }
        let mut found: Vec<Violation> = self.monitor.found().collect();
        let shown = found.iter_mut().flat_map(|violation| &mut violation.operations);
        shown.filter_map(|shown| shown.thread.as_mut()).for_each(without_lane);
        if certain {
            return found.iter().for_each(|violation| self.tell(violation));
        }
        self.uncertain += found.len() as u64;
        let awaited = self.merge.awaited().map_or_else(
            || "a writer that was never read".to_owned(),
            |writer| format!("writer {writer}, which is connected and silent,"),
        );
        for violation in found {
            let what = violation.to_string().replace('\n', ";");
            self.say("uncertain", &format!("not certain, since {awaited} may have more to say: {what}"));
        }
    }

    /// The thread that calls, for the monitor.
    fn calls(&mut self, number: u64, operation: u64, thread: Value) -> Value {
        // One writer without times is read as it comes.
        let writer = self.writers.get_mut(&number).filter(|_| number > 0 || self.timed);
        let Some(writer) = writer else { return thread };
        let thread = writer.thread(number, &thread);
        let taken = thread.lanes.get(thread.last).copied().flatten();
        // A call whose return never comes stays where it is, and the monitor is told so.
        let lane = match taken.filter(|open| !self.returning.contains(open)) {
            Some(_) => thread.last,
            None => thread.free.pop_first().unwrap_or(thread.lanes.len()),
        };
        thread.lanes.resize(thread.lanes.len().max(lane + 1), None);
        thread.lanes[lane] = Some(operation);
        thread.last = lane;
        if lane > 0 {
            self.crowded += 1;
            self.lanes.insert(operation, lane);
        }
        thread.lane(lane)
    }

    /// The thread that returns, for the monitor.
    fn returns(&mut self, number: u64, operation: u64, thread: Value) -> Value {
        let writer = self.writers.get_mut(&number).filter(|_| number > 0 || self.timed);
        let Some(writer) = writer else { return thread };
        let thread = writer.thread(number, &thread);
        self.returning.remove(&operation);
        let lane = self.lanes.remove(&operation).unwrap_or(0);
        if let Some(open) = thread.lanes.get_mut(lane) {
            *open = None;
            thread.free.insert(lane);
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
        self.connected = self.connected.saturating_sub(1);
        match self.writers.get(&number).and_then(|writer| writer.latest) {
            Some(latest) => {
                // Threads that leave late are no operation that takes longer.
                let _ = self.merge.push(number, latest, true, Held::Left(number));
                self.merge.close(number);
                self.hand_out();
            }
            None => {
                self.merge.close(number);
                self.leave(number);
                self.tell_found(!self.timed);
                self.hand_out();
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
        if self.last_snapshot.elapsed() >= SNAPSHOT {
            self.last_snapshot = Instant::now();
            self.shoot(snapshot);
        }
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
