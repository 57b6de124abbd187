//! The interleaving of a finding: a column for each thread, top to bottom in time.
//!
//! Only what other threads may have seen is shown: accesses of variables and locks that more than one thread used. Invariant: what is
//! left out is counted, and everything is in the finding file.

use std::collections::HashMap;

use selvedge_driver::{Finding, FindingKind, Place, StepRecord};
use unicode_width::UnicodeWidthStr;

use super::names::Names;
use super::text::{WIDTH, clean, truncate};
use crate::quantity::counted;

/// How many rows are shown.
const ROWS_MAX: usize = 40;
/// How wide the column of source lines may be.
const PLACE_MAX: usize = 22;
/// A column that is narrower cannot be read.
const COLUMN_MIN: usize = 14;
const INDENT: &str = "  ";
const BETWEEN: &str = "  ";

/// One row: who did what, where, and how often in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    place: String,
    thread: u8,
    text: String,
    times: usize,
}

/// Draws the table. Empty when there is nothing to show.
pub fn draw(finding: &Finding, names: &mut Names) -> String {
    let matters = shared(&finding.steps);
    let chosen: Vec<&StepRecord> = finding.steps.iter().filter(|step| matters(step)).collect();
    let mut rows: Vec<Row> = Vec::new();
    let mut left_out = 0;
    // From the end: what happened last explains most, and a run may have a great many steps.
    for step in chosen.iter().rev() {
        let row =
            Row { place: line(names, step.place.as_ref()), thread: step.thread, text: words(step, names), times: 1 };
        let full = rows.len() == ROWS_MAX;
        match rows.last_mut() {
            Some(last) if left_out == 0 && last.is_like(&row) => last.times += 1,
            _ if full => left_out += 1,
            _ => rows.push(row),
        }
    }
    rows.reverse();
    rows.extend(ending(finding, names));
    if rows.is_empty() {
        return String::new();
    }
    let mut text = table(&rows);
    if left_out > 0 {
        text = format!("{INDENT}({} before these left out)\n{text}", counted(left_out, "step"));
    }
    text
}

/// Whether a step concerns something that several threads used.
fn shared(steps: &[StepRecord]) -> impl Fn(&StepRecord) -> bool {
    let mut users: HashMap<u64, u64> = HashMap::new();
    for step in steps {
        *users.entry(step.object).or_default() |= 1_u64.checked_shl(u32::from(step.thread)).unwrap_or(1 << 63);
    }
    move |step| is_access(step) && users.get(&step.object).is_some_and(|users| users.count_ones() > 1)
}

/// Not the beginning and the end of threads: those are in every run of the test.
fn is_access(step: &StepRecord) -> bool {
    !(step.what == "create" || step.what == "yield" || step.what.ends_with("thread") || step.what.ends_with("threads"))
}

fn line(names: &mut Names, place: Option<&Place>) -> String {
    place.and_then(|place| names.short_line(place)).unwrap_or_default()
}

/// A step in words: `read head → 0`, `write head 0 → 1`, `lock a`.
fn words(step: &StepRecord, names: &mut Names) -> String {
    let object = names.address(step.object);
    // The name of an object says what is done with it: "lock lock" is a lock.
    let verb = match step.what.split_once(' ') {
        Some((verb @ ("lock" | "unlock"), _)) => verb.to_owned(),
        Some(("update", "condition")) => "wake".to_owned(),
        _ => clean(&step.what),
    };
    let value = |names: &mut Names, value| names.value(value, step.size);
    match (verb.as_str(), step.new) {
        ("read", _) => format!("read {object} → {}", value(names, step.old)),
        ("write", Some(new)) => format!("write {object} = {}", value(names, new)),
        ("update", Some(new)) if new == step.old => format!("update {object} = {}", value(names, new)),
        ("update", Some(new)) => format!("update {object} {} → {}", value(names, step.old), value(names, new)),
        _ => format!("{verb} {object}"),
    }
}

/// What the run ended with, in the column of the thread that it happened to.
fn ending(finding: &Finding, names: &mut Names) -> Vec<Row> {
    let waiting = matches!(finding.kind, FindingKind::Deadlock | FindingKind::LostWakeup | FindingKind::Livelock);
    if !waiting {
        let text = match finding.kind {
            FindingKind::Assertion => "assertion fails".to_owned(),
            kind => kind.name().replace('-', " "),
        };
        let place = line(names, finding.place.as_ref());
        return vec![Row { place, thread: finding.thread, text: format!("✗ {text}"), times: 1 }];
    }
    let threads = finding.threads.iter().filter_map(|thread| Some((thread, thread.waits.as_ref()?)));
    threads
        .map(|(thread, waits)| {
            let text = match waits.what.as_str() {
                "join" => format!("✗ waits for T{}", waits.object),
                what => format!("✗ waits: {} {}", clean(what), names.address(waits.object)),
            };
            Row { place: line(names, thread.place.as_ref()), thread: thread.thread, text, times: 1 }
        })
        .collect()
}

/// Who waits for what, a sentence each.
pub fn waits(finding: &Finding, names: &mut Names) -> Vec<String> {
    let mut sentences = Vec::new();
    for thread in &finding.threads {
        let Some(waits) = &thread.waits else { continue };
        let at = thread.place.as_ref().and_then(|place| names.short_line(place));
        let at = at.map_or(String::new(), |at| format!(" ({at})"));
        let object = names.address(waits.object);
        let held = waits.held_by.map_or(String::new(), |holder| format!(", held by T{holder}"));
        sentences.push(match waits.what.as_str() {
            "join" => format!("T{} waits for T{} to end{at}", thread.thread, waits.object),
            "a change" => format!("T{} goes round a loop until {object} changes{at}", thread.thread),
            what => format!("T{} waits for {} {object}{held}{at}", thread.thread, clean(what)),
        });
    }
    sentences
}

fn table(rows: &[Row]) -> String {
    let mut threads: Vec<u8> = rows.iter().map(|row| row.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let place = rows.iter().map(|row| row.place.width()).max().unwrap_or(0).min(PLACE_MAX);
    let room = WIDTH - INDENT.len() - place;
    let column = room / threads.len() - BETWEEN.len().min(room / threads.len());
    if column < COLUMN_MIN {
        return list(rows, place);
    }
    let widths = threads.iter().map(|&thread| {
        let texts = rows.iter().filter(|row| row.thread == thread).map(|row| row.words().width());
        texts.max().unwrap_or(0)
    });
    // Columns that need little leave their room to the others.
    let widths = fit(&widths.collect::<Vec<_>>(), room - threads.len() * BETWEEN.len());
    let mut text = draw_row("", place, &widths, &threads.iter().map(|thread| format!("T{thread}")).collect::<Vec<_>>());
    for row in rows {
        let cells = threads.iter().map(|&thread| if thread == row.thread { row.words() } else { String::new() });
        text += &draw_row(&row.place, place, &widths, &cells.collect::<Vec<_>>());
    }
    text
}

impl Row {
    fn is_like(&self, other: &Row) -> bool {
        (&self.place, self.thread, &self.text) == (&other.place, other.thread, &other.text)
    }

    fn words(&self) -> String {
        if self.times > 1 { format!("{} (×{})", self.text, self.times) } else { self.text.clone() }
    }
}

/// Widths that add up to no more than the room: the widest give way first.
fn fit(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut limit = wanted.iter().copied().max().unwrap_or(0);
    while limit > 1 && wanted.iter().map(|&width| width.min(limit)).sum::<usize>() > room {
        limit -= 1;
    }
    wanted.iter().map(|&width| width.clamp(2, limit.max(2))).collect()
}

fn draw_row(place: &str, place_width: usize, widths: &[usize], cells: &[String]) -> String {
    let mut line = format!("{INDENT}{}", pad(place, place_width));
    for (cell, &width) in cells.iter().zip(widths) {
        line += BETWEEN;
        line += &pad(cell, width);
    }
    format!("{}\n", line.trim_end())
}

fn pad(text: &str, width: usize) -> String {
    let text = truncate(text, width);
    let missing = width.saturating_sub(text.width());
    text + &" ".repeat(missing)
}

/// With too many threads for columns, the thread is named in front.
fn list(rows: &[Row], place: usize) -> String {
    let room = WIDTH - INDENT.len() - place - 8;
    let line = |row: &Row| {
        format!("{INDENT}{}  T{:<3}  {}\n", pad(&row.place, place), row.thread, truncate(&row.words(), room))
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(thread: u8, text: &str) -> Row {
        Row { place: "a_file_with_a_long_name.c:123".into(), thread, text: text.into(), times: 2 }
    }

    #[test]
    fn a_table_is_never_wider_than_a_terminal() {
        for threads in 1..30 {
            let rows: Vec<Row> = (0..threads).map(|thread| row(thread, &"update head ".repeat(9))).collect();
            let text = table(&rows);
            assert!(text.lines().count() >= rows.len());
            for line in text.lines() {
                assert!(line.width() <= WIDTH, "{threads} threads: {line}");
            }
        }
    }

    #[test]
    fn narrow_columns_leave_room_to_wide_ones() {
        assert_eq!(fit(&[3, 50, 50], 60), [3, 28, 28]);
        assert_eq!(fit(&[3, 5], 60), [3, 5]);
        assert_eq!(fit(&[0, 9], 4), [2, 4]);
    }

    #[test]
    fn only_what_several_threads_use_is_shown() {
        let step = |thread, object, what: &str| StepRecord {
            thread,
            what: what.into(),
            object,
            size: 4,
            old: 0,
            new: Some(0),
            place: None,
        };
        let steps =
            [step(0, 8, "read"), step(1, 8, "read"), step(1, 9, "write"), step(0, 0, "create"), step(1, 0, "create")];
        let matters = shared(&steps);
        assert_eq!(steps.iter().map(&matters).collect::<Vec<_>>(), [true, true, false, false, false]);
    }
}
