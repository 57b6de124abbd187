//! The page of tests of code: each finding as an interleaving to be stepped through, beside the source lines, the values of shared memory after each
//! step, and who waits for whom.
//!
//! Invariant: the rows are those of the report as text, in the same words; a value is one that the run had, or none is shown.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use selvedge_protocol::{Access, Class, Finding, FindingKind, ObjectFinding, Step, StepKind, Verb, WaitsFor, words};
use serde::Serialize;

use super::super::interleaving::{self, Row};
use super::super::json;
use super::super::names::Names;
use super::super::outcome::Replayed;
use super::super::tested::{Session, Tested};
use super::super::text::{clean, objects, strip, tested};
use super::super::verdict::VerdictName as Badge;
use super::Page;
use super::source::{Source, Sources};
use crate::findings::Saved;
use crate::quantity::{count, counted};

/// How many rows of an interleaving are shown.
const ROWS_MAX: usize = 1_000;
/// The same for a run that does the same over and over.
const ROWS_MAX_LIVELOCK: usize = 60;

#[derive(Serialize)]
struct Data {
    tests: Vec<TestData>,
    sources: Vec<Source>,
}

#[derive(Serialize)]
struct TestData {
    name: String,
    badge: Badge,
    /// What came of it, in a few words.
    says: String,
    /// What was covered, and how much work it was.
    notes: Vec<String>,
    findings: Vec<FindingData>,
}

#[derive(Serialize)]
struct FindingData {
    kind: &'static str,
    sentence: String,
    replay: String,
    /// Why it cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsaved: Option<String>,
    threads: Vec<u16>,
    rows: Vec<RowData>,
    left_out: u64,
    /// What several threads used: the name, and the value before the first row.
    variables: Vec<(String, String)>,
    waits: Vec<Wait>,
    operations: Vec<Operation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<ObjectData>,
}

/// A row of the interleaving.
#[derive(Serialize)]
struct RowData {
    thread: u16,
    text: String,
    /// The place as the report has it.
    place: String,
    /// The number of the source file and the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<(usize, u32)>,
    /// The variable that it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<usize>,
    /// What has changed after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sets: Vec<(usize, String)>,
    ends: bool,
}

/// Who waits, in a sentence, and for whom.
#[derive(Serialize)]
struct Wait {
    thread: u16,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<u16>,
    what: String,
}

/// An operation of an object, from the row of its call to the row of its return.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Operation {
    thread: u16,
    label: String,
    from: usize,
    to: Option<usize>,
}

#[derive(Serialize)]
struct ObjectData {
    /// The calls before and after, then those of each thread, with their results.
    results: Vec<Vec<String>>,
    /// Why there is no witness.
    why: Vec<String>,
    /// The serial histories that come closest.
    closest: Vec<String>,
    matrix: String,
    regression: String,
}

impl Session<'_> {
    /// The page; `text` is the same report for a terminal.
    pub fn html(&self, text: &str) -> String {
        let mut sources = Sources::default();
        let tests = self.each(|test, names| test_data(test, self.time_max, names, &mut sources));
        let mut reasons = vec![summary(&tests)];
        if let Some(test) = self.tests.iter().find(|test| test.report.findings.is_empty()) {
            reasons.push(tested::relative(&test.settings, self.compiler));
        }
        render(self.file, Badge::of(self.exit()), &reasons, text, &Data { tests, sources: sources.into_list() })
    }
}

impl Replayed<'_> {
    /// The page; `text` is the same report for a terminal.
    pub fn html(&self, text: &str) -> String {
        let (mut sources, mut names) = (Sources::default(), self.names.borrow_mut());
        let saved = Saved::at(self.file);
        let data = |finding: &Finding| finding_data(finding, self.object, &saved, &mut names, &mut sources);
        let findings: Vec<FindingData> = self.again.into_iter().map(data).collect();
        let (badge, says) = (self.verdict(), self.says());
        let name = self.again.map_or(String::new(), |finding| clean(&finding.test));
        let test = TestData { name, badge, says: says.clone(), notes: vec![], findings };
        let data = Data { tests: vec![test], sources: sources.into_list() };
        render(self.file, badge, &[says], text, &data)
    }
}

fn render(title: &str, badge: Badge, reasons: &[String], text: &str, data: &Data) -> String {
    let (view, script) = (include_str!("finding.html"), include_str!("finding.js"));
    Page { badge, title: &clean(title), reasons, view, script, data: &json::write(data), text }.render()
}

/// How many tests failed, and how many did not.
fn summary(tests: &[TestData]) -> String {
    let number = |badge| tests.iter().filter(|test| test.badge == badge).count() as u64;
    let parts = [(Badge::Fail, "failed"), (Badge::Unknown, "without an answer"), (Badge::Pass, "passed")];
    let parts = parts.iter().filter(|(badge, _)| number(*badge) > 0);
    let parts: Vec<String> = parts.map(|(badge, word)| format!("{} {word}", count(number(*badge)))).collect();
    format!(
        "{}: {}.",
        counted(tests.len() as u64, "test"),
        if parts.is_empty() { "none".into() } else { parts.join(", ") }
    )
}

fn test_data(test: &Tested, time_max: Option<Duration>, names: &mut Names, sources: &mut Sources) -> TestData {
    let badge = Badge::of(test.exit());
    let name = test.function.as_ref().map_or(test.report.test.clone(), |name| format!("{name} ({})", test.report.test));
    let mut findings = Vec::new();
    for (number, (finding, saved)) in test.report.findings.iter().zip(&test.paths).enumerate() {
        let object = test.object.as_ref().and_then(|object| object.findings.get(number));
        findings.push(finding_data(finding, object, saved, names, sources));
    }
    let says = match badge {
        Badge::Pass if test.expected => "fails under some schedule, as the test expects".to_owned(),
        Badge::Pass => "no violation in what was covered".to_owned(),
        Badge::Fail => findings.iter().map(|finding| finding.kind).collect::<Vec<_>>().join(", "),
        Badge::Unknown => test.open(),
    };
    let mut notes: Vec<String> = Vec::new();
    notes.extend(test.report.unknowns.iter().map(|unknown| tested::unfinished(unknown, names)));
    match &test.object {
        Some(object) => {
            notes.push(strip(&objects::numbers(object, names)).split_whitespace().collect::<Vec<_>>().join(" "))
        }
        None => {
            if findings.is_empty() {
                notes.push(test.coverage());
                notes.extend(test.limit().map(|limit| test.limit_text(limit, time_max)));
            }
            notes.push(test.numbers());
        }
    }
    TestData { name: clean(&name), badge, says, notes, findings }
}

fn finding_data(
    finding: &Finding,
    object: Option<&ObjectFinding>,
    saved: &Saved,
    names: &mut Names,
    sources: &mut Sources,
) -> FindingData {
    let rows_max = if finding.kind == FindingKind::Livelock { ROWS_MAX_LIVELOCK } else { ROWS_MAX };
    let (rows, left_out) = interleaving::rows(finding, names, rows_max);
    let (sentence, alone) = tested::sentence(finding, names);
    let who = if alone { format!(", thread T{}", finding.thread) } else { String::new() };
    let memory = Memory::of(finding, &rows, left_out > 0, names);
    let mut threads: Vec<u16> = rows.iter().map(|row| row.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut sets = memory.sets;
    FindingData {
        kind: object.map_or(finding.kind.name(), |object| object.kind.name()),
        sentence: format!("Run {}{who}: {sentence}.", count(finding.run)),
        replay: match saved.error {
            None => tested::replay_command(&saved.path),
            Some(_) => String::new(),
        },
        unsaved: saved.error.as_ref().map(|_| tested::unsaved(saved)),
        threads,
        left_out,
        waits: waits(finding, names),
        operations: operations(&rows),
        object: object.map(|object| object_data(object, &finding.test)),
        rows: rows
            .into_iter()
            .enumerate()
            .map(|(number, row)| RowData {
                uses: memory.uses[number],
                sets: sets.remove(&number).unwrap_or_default(),
                thread: row.thread,
                text: row.words(),
                source: row.source.and_then(|(path, line)| Some((sources.cite(&path, line)?, line))),
                place: row.place,
                ends: row.ends,
            })
            .collect(),
        variables: memory.variables,
    }
}

fn object_data(found: &ObjectFinding, object: &str) -> ObjectData {
    // The table is drawn from the results.
    let words::Told { table, sentences, list } = words::told(&found.explanation);
    let why = table.before.into_iter().chain(table.after).chain(sentences);
    let cells = found.explanation.cells();
    ObjectData {
        results: cells.iter().map(|column| column.iter().map(|cell| clean(cell)).collect()).collect(),
        why: why.map(|line| clean(&line)).collect(),
        closest: list.iter().map(|line| clean(line)).collect(),
        matrix: format!("--matrix \"{}\"", clean(&found.matrix)),
        regression: words::regression(found, object),
    }
}

fn waits(finding: &Finding, names: &mut Names) -> Vec<Wait> {
    let sentences = interleaving::waits(finding, names);
    let waiting = finding.threads.iter().filter_map(|thread| Some((thread.thread, thread.waits.as_ref()?)));
    let mut told = Vec::new();
    for ((thread, waits), says) in waiting.zip(sentences) {
        let join = waits.what == WaitsFor::Join;
        let on = match waits.held_by {
            _ if join => u16::try_from(waits.object).ok(),
            Some(holder) => Some(holder),
            None => interleaving::taken(finding, waits.object, thread, names).map(|(holder, _)| holder),
        };
        let what = match words::waits_at_descriptor(waits.what, waits.object) {
            _ if join => "its end".to_owned(),
            Some(_) => format!("descriptor {}", waits.object),
            None => names.address(waits.object),
        };
        told.push(Wait { thread, says, on, what });
    }
    told
}

/// The operations of an object, from the rows of their calls and returns.
fn operations(rows: &[Row]) -> Vec<Operation> {
    let mut open: HashMap<u16, usize> = HashMap::new();
    let mut found: Vec<Operation> = Vec::new();
    for (number, row) in rows.iter().enumerate().filter(|(_, row)| !row.ends) {
        match &row.operated {
            Some(StepKind::Call { operation }) => {
                open.insert(row.thread, found.len());
                let label = clean(operation.as_deref().unwrap_or("object"));
                found.push(Operation { thread: row.thread, label, from: number, to: None });
            }
            Some(StepKind::Return { result }) => {
                let Some(at) = open.remove(&row.thread) else { continue };
                found[at].to = Some(number);
                let result = result.as_deref().unwrap_or_default().trim();
                if !matches!(result, "" | "void" | "()") {
                    found[at].label += &format!(" → {}", clean(result));
                }
            }
            _ => {}
        }
    }
    found
}

/// What a step is on: the address, and whether it is a lock there or the memory itself.
type Thing = (u64, bool);

fn thing(step: &Step) -> Option<Thing> {
    let access = step.access()?;
    match access.on {
        Class::Memory => Some((access.object, false)),
        Class::Lock => Some((access.object, true)),
        _ => None,
    }
}

/// Shared memory and locks along the rows.
struct Memory {
    variables: Vec<(String, String)>,
    /// The variable of each row.
    uses: Vec<Option<usize>>,
    /// What has changed after each row.
    sets: BTreeMap<usize, Vec<(usize, String)>>,
}

impl Memory {
    fn of(finding: &Finding, rows: &[Row], cut: bool, names: &mut Names) -> Self {
        let mut numbers: HashMap<Thing, usize> = HashMap::new();
        let mut memory = Memory { variables: Vec::new(), uses: Vec::new(), sets: BTreeMap::new() };
        for row in rows {
            let step = row.made.checked_sub(1).and_then(|at| finding.steps.get(at)).filter(|_| row.is_step());
            let thing = step.and_then(thing);
            memory.uses.push(thing.map(|thing| {
                *numbers.entry(thing).or_insert_with(|| {
                    let name = names.address(thing.0);
                    let name = if thing.1 { format!("lock {name}") } else { name };
                    memory.variables.push((name, String::new()));
                    memory.variables.len() - 1
                })
            }));
        }
        // Where the beginning is left out, what happened in it is part of the values before.
        let before = if cut { rows.first().map_or(0, |row| row.made.saturating_sub(1)) } else { 0 };
        let mut holders: HashMap<u64, BTreeSet<u16>> = HashMap::new();
        let mut current: Vec<Option<String>> = vec![None; memory.variables.len()];
        let mut row = 0;
        for (step, made) in finding.steps.iter().zip(1..) {
            while rows.get(row).is_some_and(|row| row.made < made) {
                row += 1;
            }
            let Some(&number) = thing(step).and_then(|thing| numbers.get(&thing)) else { continue };
            let Some(access) = step.access() else { continue };
            let now = value(step.thread, access, &mut holders, names);
            if made <= before {
                memory.variables[number].1.clone_from(&now);
            } else if current[number].is_none() {
                let first = value_before(access, names);
                memory.variables[number].1.clone_from(&first);
                current[number] = Some(first);
            }
            // Only what is another one than before is worth a note.
            if current[number].as_ref() != Some(&now) && made > before && row < rows.len() {
                let sets = memory.sets.entry(row).or_default();
                sets.retain(|(other, _)| *other != number);
                sets.push((number, now.clone()));
            }
            current[number] = Some(now);
        }
        memory
    }
}

fn value_before(access: &Access, names: &mut Names) -> String {
    if access.on == Class::Lock { "free".to_owned() } else { names.value(access.old, access.size) }
}

/// What is there after the access of a thread.
fn value(thread: u16, access: &Access, holders: &mut HashMap<u64, BTreeSet<u16>>, names: &mut Names) -> String {
    if access.on != Class::Lock {
        return access.new.map_or_else(|| "unknown".to_owned(), |new| names.value(new, access.size));
    }
    let held = holders.entry(access.object).or_default();
    match access.verb {
        Verb::Lock | Verb::LockShared => held.insert(thread),
        Verb::Unlock | Verb::UnlockShared => held.remove(&thread),
        _ => false,
    };
    let held: Vec<String> = held.iter().map(|thread| format!("T{thread}")).collect();
    if held.is_empty() { "free".to_owned() } else { format!("held by {}", held.join(", ")) }
}

#[cfg(test)]
mod tests;
