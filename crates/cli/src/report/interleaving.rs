//! The interleaving of a finding: a column for each thread, top to bottom in time.
//!
//! Only what other threads may have seen is shown: accesses of variables and locks that more than one thread used. Invariant: what is
//! left out is counted, and everything is in the finding file.

mod rounds;
mod step;
mod table;

use std::collections::{BTreeSet, HashMap, HashSet};

use selvedge_protocol::{
    Access, Cause, Class, Finding, FindingKind, Place, Step, StepKind, Verb, WaitsFor, words as protocol_words,
};
use unicode_width::UnicodeWidthStr;

use self::step::{call_words, words};
use self::table::{broken, pad, table};
use super::names::{Caller, Names, Site};
use super::text::{WIDTH, clean, truncate, wrap};
use crate::quantity::counted;

/// How many rows are shown.
const ROWS_MAX: usize = 40;
/// The same for a run that does the same over and over.
const ROWS_MAX_LIVELOCK: usize = 8;
/// How wide the column of source lines may be.
const PLACE_MAX: usize = 22;
/// A column that is narrower cannot be read.
const COLUMN_MIN: usize = 14;
/// The room for `T63`.
const HEADING: usize = 3;
const INDENT: &str = "  ";
const BETWEEN: &str = "  ";

/// One row: who did what, where, and how often in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub place: String,
    pub thread: u16,
    pub text: String,
    pub times: usize,
    /// How many rows it stands for, where it is one for many rounds.
    stands_for: usize,
    /// How many steps it stands for; none where it only says that a crate is called, or is an access between steps.
    steps: usize,
    /// The call of a crate that was downloaded which it is part of.
    within: Option<Caller>,
    /// The source file and the line, where they are known.
    pub source: Option<(String, u32)>,
    /// How many steps of the run have been made after it.
    pub made: usize,
    /// Whether it is how the run ended, and no step.
    pub ends: bool,
    /// The call or the return of an operation, where it is one.
    pub operated: Option<StepKind>,
}

impl Row {
    /// What a thread did at that place, once; all steps have been made.
    fn new(site: &Site, thread: u16, text: String) -> Self {
        let (place, source) = (site.line.clone(), site.source.clone());
        Row {
            place,
            thread,
            text,
            times: 1,
            stands_for: 1,
            steps: 1,
            within: None,
            source,
            made: usize::MAX,
            ends: false,
            operated: None,
        }
    }

    /// A thread calls a crate that was downloaded; what it does there follows.
    fn of_call(caller: &Caller, thread: u16) -> Self {
        let site = Site { line: caller.line.clone(), source: Some(caller.source.clone()), ..Site::default() };
        let text = caller.call.clone().unwrap_or_else(|| "calls".into());
        Row { steps: 0, within: Some(caller.clone()), ..Row::new(&site, thread, text) }
    }

    fn is_like(&self, other: &Row) -> bool {
        (&self.place, self.thread, &self.text) == (&other.place, other.thread, &other.text)
    }

    /// Whether the last step that has been made after it is its own.
    pub fn is_step(&self) -> bool {
        self.steps > 0 && !self.ends
    }

    /// What happened, and how often.
    pub fn words(&self) -> String {
        if self.times > 1 { format!("{} (×{})", self.text, self.times) } else { self.text.clone() }
    }
}

/// Draws the table. Empty when there is nothing to show.
pub fn draw(finding: &Finding, names: &mut Names) -> String {
    let rows_max = if finding.kind == FindingKind::Livelock { ROWS_MAX_LIVELOCK } else { ROWS_MAX };
    let (rows, left_out) = rows(finding, names, rows_max);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = table(&rows);
    if left_out > 0 {
        text = format!("{INDENT}({} before these left out)\n{text}", counted(left_out, "step"));
    }
    if is_relaxed(finding) {
        text += &lines(&rows, names);
    }
    text
}

/// The last rows, at most so many besides those of the end, and how many steps are left out before them. None when there is nothing to show.
pub fn rows(finding: &Finding, names: &mut Names, rows_max: usize) -> (Vec<Row>, u64) {
    let mut chosen = chosen(finding, names);
    if chosen.rows.len() > rows_max && finding.kind != FindingKind::Livelock {
        chosen.rows = calls(chosen.rows);
    }
    let mut rows: Vec<Row> = Vec::new();
    for row in chosen.rows {
        match rows.last_mut() {
            Some(last) if last.is_like(&row) => {
                last.times += 1;
                last.stands_for += 1;
                last.steps += row.steps;
                last.made = row.made;
            }
            _ => rows.push(row),
        }
    }
    let mut rows = rounds::fold(rows);
    // The last ones stay: what happened last explains most, and a run may have a great many steps.
    let more = rows.len().saturating_sub(rows_max);
    let left_out = rows.drain(..more).map(|row| row.stands_for as u64).sum();
    if let Some(other) = chosen.other {
        let at = rows.iter().position(|row| row.made > other.made).unwrap_or(rows.len());
        rows.insert(at, other);
    }
    rows.extend(ending(finding, names));
    // An end alone, nowhere in particular, says nothing that the sentence above has not said.
    if rows.iter().all(|row| row.place.is_empty()) && rows.len() < 2 {
        rows.clear();
    }
    (rows, left_out)
}

/// The same with one row for each call of a crate that was downloaded, or each part of it between steps of other threads: what is called explains more
/// than the last steps inside of it.
fn calls(rows: Vec<Row>) -> Vec<Row> {
    let mut calls: Vec<Row> = Vec::new();
    for row in rows {
        match (&row.within, calls.last_mut()) {
            (Some(caller), Some(last)) if last.thread == row.thread && last.within.as_ref() == Some(caller) => {
                last.steps += row.steps;
                last.made = row.made;
            }
            (Some(caller), _) => {
                calls.push(Row { steps: row.steps, made: row.made, ..Row::of_call(caller, row.thread) });
            }
            (None, _) => calls.push(row),
        }
    }
    for row in calls.iter_mut().filter(|row| row.within.is_some() && row.steps > 1) {
        row.text = format!("{} ({})", row.text, counted(row.steps as u64, "step"));
    }
    calls
}

/// Whether operations are too far out of order. The reason for that lies in what the threads did to one another: the calls before and after
/// them are told elsewhere, and what the lines say helps.
fn is_relaxed(finding: &Finding) -> bool {
    finding.kind == FindingKind::NotQuasiLinearizable
}

/// The step with which the last operation of an object ends. What is wrong with results has happened by then; what follows gives the object back.
fn end_of_operations(finding: &Finding) -> usize {
    let of_results = matches!(
        finding.kind,
        FindingKind::NotLinearizable | FindingKind::NotQuasiLinearizable | FindingKind::Nondeterministic
    );
    let last = finding.steps.iter().rposition(Step::is_of_operation).filter(|_| of_results);
    last.map_or(usize::MAX, |last| last + 1)
}

/// What stands in the lines of the rows, in the order of the files.
fn lines(rows: &[Row], names: &mut Names) -> String {
    let number = |place: &str| place.rsplit_once(':').and_then(|(_, number)| number.parse::<u32>().ok());
    let places: BTreeSet<(String, Option<u32>, String)> = rows
        .iter()
        .filter_map(|row| {
            let (file, _) = row.place.rsplit_once(':')?;
            Some((file.to_owned(), number(&row.place), row.place.clone()))
        })
        .collect();
    let width = places.iter().map(|(.., place)| place.width()).max().unwrap_or(0);
    let mut text = String::new();
    for (.., place) in &places {
        if let Some(line) = names.text(place) {
            let room = WIDTH.saturating_sub(INDENT.len() + width + BETWEEN.len());
            for (number, words) in broken(&line, room).into_iter().enumerate() {
                let (place, words) = if number == 0 { (place.as_str(), words) } else { ("", format!("  {words}")) };
                text += &format!("{INDENT}{}{BETWEEN}{words}\n", pad(place, width));
            }
        }
    }
    if text.is_empty() { text } else { format!("\n{INDENT}What stands there:\n\n{text}") }
}

/// The rows for the steps that matter, and the other access of a race where that is no step.
struct Chosen {
    rows: Vec<Row>,
    other: Option<Row>,
}

fn chosen(finding: &Finding, names: &mut Names) -> Chosen {
    let matters = shared(finding);
    let counts = reference_counts(finding, names);
    let mut other = other(finding, names);
    let mut rows: Vec<Row> = Vec::new();
    // What each thread has called last of a crate that was downloaded. Where operations are marked, their calls say the same.
    let marked = finding.steps.iter().any(Step::is_of_operation);
    let mut callers: HashMap<u16, Option<Caller>> = HashMap::new();
    // A call into a library is one row, however many steps it makes there: who made it, where, of which object.
    let mut under_way: Option<(u16, Site, Option<u64>)> = None;
    let end = end_of_operations(finding);
    let skipped = |number: usize, step: &Step| step.thread == 0 && (is_relaxed(finding) || number > end);
    for (number, step) in (1..).zip(&finding.steps).filter(|&(number, step)| !skipped(number, step)) {
        let site = names.site(finding, step.place.as_ref(), &step.callers);
        let is_other = other.as_ref().is_some_and(|row| row.thread == step.thread && row.place == site.line);
        if is_other {
            other = None;
        }
        if !is_other
            && (!matters(step)
                || step.access().is_some_and(|access| counts.contains(&access.object))
                || is_machinery(step, &site, names))
        {
            continue;
        }
        let this = (step.thread, site, step.access().map(|access| access.object));
        match (rows.last_mut(), &under_way) {
            (Some(last), Some(before)) if *before == this && this.1.call.is_some() => {
                let (_, site, object) = &this;
                last.steps += 1;
                last.made = number;
                last.text = call_words(site, object.unwrap_or_default(), names, last.steps);
            }
            _ => {
                let text = words(step, &this.1, names);
                let caller = this.1.caller.as_ref().filter(|_| !marked);
                let before = callers.insert(step.thread, caller.cloned()).flatten();
                if let Some(caller) = caller.filter(|caller| before.as_ref() != Some(*caller)) {
                    rows.push(Row { made: number - 1, ..Row::of_call(caller, step.thread) });
                }
                let operated = step.is_of_operation().then(|| step.kind.clone());
                let row = Row::new(&this.1, step.thread, text);
                rows.push(Row { made: number, within: caller.cloned(), operated, ..row });
            }
        }
        under_way = Some(this);
    }
    Chosen { rows, other }
}

/// What is only counted up and down by handles that are copied and dropped, as the counts of an `Arc` are where nobody asks for them.
fn reference_counts(finding: &Finding, names: &mut Names) -> HashSet<u64> {
    let (mut counts, mut others) = (HashSet::new(), HashSet::new());
    for step in &finding.steps {
        let call = names.site(finding, step.place.as_ref(), &step.callers).call;
        let counted = call.is_some_and(|call| {
            let (of, does) = call.split_once("::").unwrap_or_default();
            let counts = ["clone", "drop", "drop_slow", "downgrade"].contains(&does);
            call.starts_with("drop ") || ["Arc", "Weak"].contains(&of) && counts
        });
        let Some(access) = step.access() else { continue };
        let seen = if counted { &mut counts } else { &mut others };
        seen.insert(access.object);
    }
    counts.retain(|object| !others.contains(object));
    counts
}

/// Whether a step is only how the standard library makes threads and counts panics, or is inside of a library without any lines: it is in every run
/// of every test.
fn is_machinery(step: &Step, site: &Site, names: &mut Names) -> bool {
    let library = |name: String| ["std::", "core::", "alloc::"].iter().any(|start| name.starts_with(start));
    // Who called it may not be known any more: then it may have been the code under test.
    let of_library = site.call.is_some() && (site.threads || !site.is_own && !step.callers.is_empty());
    let inside = site.elsewhere && site.line.is_empty();
    let object = step.access().and_then(|access| names.variable(access.object));
    of_library || inside || object.is_some_and(library)
}

/// What a step touches that other threads may touch, too. The calls and returns of operations are one such thing.
fn touched(step: &Step) -> Option<Touched> {
    match &step.kind {
        // What is written at one end is read at another.
        StepKind::Access(access) if access.on.is_descriptor() => Some(Touched::Descriptors),
        StepKind::Access(access) if !is_of_threads(access.on) => Some(Touched::Object(access.object)),
        StepKind::Call { .. } | StepKind::Return { .. } => Some(Touched::Operations),
        StepKind::Access(_) | StepKind::Create | StepKind::Yield | StepKind::Choose { .. } => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Touched {
    Object(u64),
    Descriptors,
    Operations,
}

/// Not the beginning and the end of threads: those are in every run of the test.
fn is_of_threads(class: Class) -> bool {
    matches!(class, Class::EndOfThread | Class::Threads)
}

/// Whether a step concerns something that several threads used or wait for.
fn shared(finding: &Finding) -> impl Fn(&Step) -> bool {
    let mut users: HashMap<Touched, u64> = HashMap::new();
    let used = finding.steps.iter().filter_map(|step| Some((touched(step)?, step.thread)));
    let waits = finding.threads.iter().filter_map(|thread| Some((thread.waits.as_ref()?, thread.thread)));
    let awaited = waits.filter(|(waits, _)| waits.what != WaitsFor::Join);
    let awaited = awaited.map(|(waits, thread)| (Touched::Object(waits.object), thread));
    for (object, thread) in used.chain(awaited) {
        *users.entry(object).or_default() |= 1_u64.checked_shl(u32::from(thread)).unwrap_or(1 << 63);
    }
    move |step| {
        step.spurious
            || matches!(step.kind, StepKind::Choose { .. })
            || touched(step).and_then(|touched| users.get(&touched)).is_some_and(|users| users.count_ones() > 1)
    }
}

/// The line of a panic, without directories and with them: by the time it is reported it has been caught.
pub fn told(finding: &Finding) -> Option<(String, Option<(String, u32)>)> {
    let Cause::Panic { place, .. } = &finding.cause else { return None };
    if place.is_empty() {
        return None;
    }
    let numbered = |(file, line): (&str, &str)| Some((file.to_owned(), line.parse().ok()?));
    // There may be a column after the line.
    let source = place
        .rsplit_once(':')
        .and_then(|(before, last)| before.rsplit_once(':').and_then(numbered).or_else(|| numbered((before, last))));
    Some((clean(place.rsplit('/').next().unwrap_or(place)), source))
}

/// What the run ended with, in the column of the thread that it happened to.
fn ending(finding: &Finding, names: &mut Names) -> Vec<Row> {
    // The results are in the rows above.
    if matches!(
        finding.kind,
        FindingKind::NotLinearizable | FindingKind::NotQuasiLinearizable | FindingKind::Nondeterministic
    ) {
        return Vec::new();
    }
    let stuck = finding.kind == FindingKind::Stuck;
    let waiting =
        stuck || matches!(finding.kind, FindingKind::Deadlock | FindingKind::LostWakeup | FindingKind::Livelock);
    if !waiting {
        let text = match finding.kind {
            FindingKind::Assertion => "assertion fails".to_owned(),
            kind => kind.name().replace('-', " "),
        };
        let mut site = names.site(finding, finding.place.as_ref(), &finding.callers);
        if site.line.is_empty() {
            (site.line, site.source) = told(finding).unwrap_or_default();
        }
        return vec![Row { ends: true, ..Row::new(&site, finding.thread, format!("✗ {text}")) }];
    }
    let threads = finding.threads.iter().filter_map(|thread| Some((thread, thread.waits.as_ref()?)));
    threads
        .filter(|(thread, _)| !stuck || thread.thread != 0)
        .map(|(thread, waits)| {
            let at_descriptor = protocol_words::waits_at_descriptor(waits.what, waits.object);
            let text = match waits.what {
                WaitsFor::Join => format!("✗ waits for T{}", waits.object),
                _ => format!("✗ waits: {}", names.address(waits.object)),
            };
            let site = names.site(finding, thread.place.as_ref(), &thread.callers);
            let text = match &site.call {
                Some(call) if waits.what != WaitsFor::Join => {
                    format!("✗ {call} waits: {}", names.address(waits.object))
                }
                _ => text,
            };
            let text = at_descriptor.map_or(text, |told| format!("✗ {told}"));
            Row { ends: true, ..Row::new(&site, thread.thread, text) }
        })
        .collect()
}

/// The earlier of two accesses that nothing orders. Where it is a plain access it is no step.
fn other(finding: &Finding, names: &mut Names) -> Option<Row> {
    if !matches!(finding.kind, FindingKind::DataRace | FindingKind::UseAfterFree) {
        return None;
    }
    let (thread, address, touch) = finding.cause.other()?;
    let site = site_of(finding, thread, address, names)?;
    let made = finding.other.as_ref().map_or(usize::MAX, |other| other.made as usize);
    Some(Row { made, steps: 0, ..Row::new(&site, thread, protocol_words::touch(touch).to_owned()) })
}

/// The line of code at an address. A step of that thread there tells who called it.
fn site_of(finding: &Finding, thread: u16, address: u64, names: &mut Names) -> Option<Site> {
    let offset = names.offset(address)?;
    let is_there =
        |step: &&Step| step.thread == thread && step.place.as_ref().is_some_and(|place| place.offset == offset);
    if let Some(step) = finding.steps.iter().rev().find(is_there) {
        return Some(names.site(finding, step.place.as_ref(), &step.callers)).filter(|site| !site.line.is_empty());
    }
    let module = names.program.clone();
    let site = names.site(
        finding,
        Some(&Place { module, offset }),
        finding.other.as_ref().map_or(&[], |other| other.callers.as_slice()),
    );
    Some(site).filter(|site| !site.line.is_empty())
}

/// The names of a program, where the line of an access is that of the step which made it.
struct OfFinding<'a> {
    finding: &'a Finding,
    names: &'a mut Names,
}

impl protocol_words::Names for OfFinding<'_> {
    fn name(&mut self, address: u64) -> String {
        protocol_words::Names::name(self.names, address)
    }

    fn code(&mut self, thread: u16, pc: u64) -> String {
        match site_of(self.finding, thread, pc, self.names) {
            Some(site) => site.line,
            None => self.name(pc),
        }
    }
}

/// Why the run ended, in a sentence, with the lines and the variables of the program.
pub fn explained(finding: &Finding, names: &mut Names) -> String {
    let sentence = protocol_words::cause(&finding.cause, &mut OfFinding { finding, names });
    // What Rust's assertions print has lines of its own.
    let lines: Vec<&str> = sentence.lines().map(str::trim).collect();
    clean(&lines.join(", "))
}

/// The loops that the threads went round when a run did not end: the lines of their last steps, a sentence each.
pub fn loops(finding: &Finding, names: &mut Names) -> Vec<String> {
    /// Enough to have gone round once or more.
    const LAST: usize = 200;
    let mut threads: Vec<(u16, usize, BTreeSet<String>)> = Vec::new();
    for step in finding.steps.iter().rev() {
        let at = threads.iter().position(|(thread, ..)| *thread == step.thread).unwrap_or_else(|| {
            threads.push((step.thread, 0, BTreeSet::new()));
            threads.len() - 1
        });
        let (_, seen, lines) = &mut threads[at];
        *seen += 1;
        if *seen <= LAST && touched(step).is_some() {
            let line = names.site(finding, step.place.as_ref(), &step.callers).line;
            lines.extend(Some(line).filter(|line| !line.is_empty()));
        }
    }
    threads.sort();
    // Few steps are no loop.
    let going = threads.into_iter().filter(|(_, seen, lines)| *seen > LAST && !lines.is_empty());
    going
        .map(|(thread, _, lines)| {
            format!("T{thread} goes round {}", lines.into_iter().take(6).collect::<Vec<_>>().join(", "))
        })
        .collect()
}

/// Who waits for what, a sentence each.
pub fn waits(finding: &Finding, names: &mut Names) -> Vec<String> {
    let mut sentences = Vec::new();
    for thread in &finding.threads {
        let Some(waits) = &thread.waits else { continue };
        let site = names.site(finding, thread.place.as_ref(), &thread.callers);
        let at = if site.line.is_empty() { String::new() } else { format!(" ({})", site.lines()) };
        let object = names.address(waits.object);
        let held = match waits.held_by {
            Some(holder) => format!(", held by T{holder}"),
            None => taken(finding, waits.object, thread.thread, names).map_or(String::new(), |(_, held)| held),
        };
        let who = format!("T{}", thread.thread);
        // A lock of a crate is not known as one; what was called of it says more than what it waits with.
        let call = site.call.as_ref().or_else(|| site.caller.as_ref()?.call.as_ref());
        if let Some(told) = protocol_words::waits_at_descriptor(waits.what, waits.object) {
            sentences.push(format!("{who} {told}{at}"));
            continue;
        }
        sentences.push(match (waits.what, call) {
            (WaitsFor::Join, _) => format!("{who} waits for T{} to end{at}", waits.object),
            (WaitsFor::Change, _) => format!("{who} goes round a loop until {object} changes{at}"),
            (WaitsFor::End, _) => format!("{who} goes round a loop until T{} ends{at}", waits.object),
            (WaitsFor::Attempt, _) => format!("{who} goes round a loop that tries to take {object}{held}{at}"),
            // The name of the call says more than that of what it is made of.
            (WaitsFor::WakeUp(Class::Futex), Some(call)) => format!("{who} waits in {call}{at} for {object}{held}"),
            (what, _) => format!("{who} waits for {} {object}{held}{at}", protocol_words::waits_for(what)),
        });
    }
    sentences
}

/// Who was the last to lock something that does not say who holds it: the last step on it by another thread that was part of
/// such a call and changed it.
pub fn taken(finding: &Finding, object: u64, waiting: u16, names: &mut Names) -> Option<(u16, String)> {
    let is_change = |step: &&Step| {
        let change = |access: &Access| {
            access.object == object && (access.verb, access.on) == (Verb::Update, Class::Memory) && access.changes()
        };
        step.thread != waiting && step.access().is_some_and(change)
    };
    let step = finding.steps.iter().rev().find(is_change)?;
    let site = names.site(finding, step.place.as_ref(), &step.callers);
    let call = site.call.filter(|call| ["::lock", "::write", "::read"].iter().any(|end| call.ends_with(end)))?;
    Some((step.thread, format!(", which T{} has since {call} at {}", step.thread, site.line)))
}

#[cfg(test)]
mod tests {
    use selvedge_protocol::{Settings, ThreadRecord, Waits};

    use super::*;

    #[test]
    fn only_what_several_threads_use_or_wait_for_is_shown() {
        let step = |thread, kind| Step { thread, kind, spurious: false, place: None, callers: vec![] };
        let access = |thread, object, verb, on| {
            step(thread, StepKind::Access(Access { verb, on, object, size: 4, old: 0, new: Some(0) }))
        };
        let steps = vec![
            access(0, 8, Verb::Read, Class::Memory),
            access(1, 8, Verb::Read, Class::Memory),
            access(1, 9, Verb::Write, Class::Memory),
            step(0, StepKind::Create),
            step(1, StepKind::Create),
            access(1, 7, Verb::Lock, Class::Lock),
        ];
        let waits = Waits { what: WaitsFor::Mutex, object: 7, held_by: Some(1) };
        let finding = Finding {
            format: Finding::FORMAT.into(),
            version: Finding::VERSION,
            tool: String::new(),
            test: String::new(),
            program: String::new(),
            kind: FindingKind::Deadlock,
            cause: Cause::Abort,
            thread: 0,
            place: None,
            run: 1,
            schedule: String::new(),
            settings: Settings::default(),
            steps,
            threads: vec![ThreadRecord { thread: 2, ended: false, waits: Some(waits), place: None, callers: vec![] }],
            callers: vec![],
            other: None,
            frames: vec![],
        };
        let matters = shared(&finding);
        assert_eq!(finding.steps.iter().map(&matters).collect::<Vec<_>>(), [true, true, false, false, false, true]);
        let text = draw(&finding, &mut Names::new("no/such/program"));
        assert!(text.contains("lock 0x7") && text.contains("✗ waits: 0x7") && !text.contains("0x9"), "{text}");
    }
}
