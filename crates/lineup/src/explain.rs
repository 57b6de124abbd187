//! Why no serial history explains one that was seen, in words and as a table.
//!
//! Invariant: everything said here follows from the observation and the history alone; nothing is guessed about the code.

use crate::calls::Calls;
use crate::closest::{Parting, closest};
use crate::matrix::Matrix;
use crate::observation::{Nondeterminism, Observation, SerialOp};
use crate::recorded::{Ending, Operation, Recorded};
use crate::results::{ResultId, Results};
use crate::witness::Unexplained;

/// What a history is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The matrix.
    pub matrix: &'a Matrix,
    /// Its calls.
    pub calls: &'a Calls,
    /// What results are called.
    pub results: &'a Results,
    /// The number of the thread of each column but the first.
    pub threads: &'a [usize],
}

/// What can be said of a violation.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// Each operation with its result: those before and after first, then each thread.
    pub results: Vec<Vec<String>>,
    /// The table and the reason.
    pub text: String,
    /// Serial histories that matter.
    pub serial: Vec<String>,
}

/// A result that a call does not need to be shown with.
fn is_void(text: &str) -> bool {
    text == "void" || text == "()"
}

impl Subject<'_> {
    /// What a thread is called.
    pub fn thread(&self, column: usize) -> String {
        match column.checked_sub(1).and_then(|at| self.threads.get(at)) {
            Some(thread) => format!("T{thread}"),
            None => format!("T{column}"),
        }
    }

    /// The name of the operation at a place of a column.
    pub fn name(&self, column: usize, place: usize) -> &str {
        self.matrix.column(column).nth(place).map_or("thread exit", |call| self.calls.name(call))
    }

    /// An operation with what came of it.
    pub(crate) fn shown(&self, column: usize, place: usize, result: Option<ResultId>) -> String {
        let name = self.name(column, place);
        match result.map(|result| self.results.text(result)) {
            None => format!("{name} waits for ever"),
            Some(text) if is_void(text) => name.to_owned(),
            Some(text) => format!("{name} -> {text}"),
        }
    }

    /// A serial history, its operations with their results.
    pub fn serial(&self, history: &[SerialOp]) -> String {
        let mut places = vec![0; self.matrix.columns.len() + 1];
        let mut parts = Vec::new();
        for operation in history {
            let column = usize::from(operation.column);
            parts.push(format!("{} {}", self.thread(column), self.shown(column, places[column], operation.result)));
            places[column] += 1;
        }
        parts.join("; ")
    }

    /// The operations of each column with their results; those never called without.
    pub(crate) fn cells(&self, history: &Recorded) -> Vec<Vec<String>> {
        let cell = |column: usize, place: usize| match history.columns.get(column).and_then(|all| all.get(place)) {
            Some(Operation { result: None, .. }) if history.ending == Ending::Cut => {
                format!("{} (cut off)", self.name(column, place))
            }
            Some(operation) => self.shown(column, place, operation.result),
            None => format!("{} (not called)", self.name(column, place)),
        };
        // Where the end of a thread is an operation, it comes after the calls.
        let seen = |at: usize| history.columns.get(at).map_or(0, Vec::len);
        let count = |at: usize| self.matrix.column(at).count().max(seen(at));
        (0..=self.matrix.columns.len()).map(|at| (0..count(at)).map(|place| cell(at, place)).collect()).collect()
    }

    pub(crate) fn table(&self, cells: &[Vec<String>]) -> String {
        let heads: Vec<String> = (1..cells.len()).map(|column| self.thread(column)).collect();
        let mut text = String::new();
        let initial = self.matrix.initial.len();
        if initial > 0 {
            text += &format!("  before: {}\n", cells[0][..initial].join(", "));
        }
        text += &grid(&heads, &cells[1..]);
        if cells[0].len() > initial {
            text += &format!("  after:  {}\n", cells[0][initial..].join(", "));
        }
        text
    }

    /// The table of a history, and why nothing serial explains it.
    pub fn explain(&self, seen: &Observation, history: &Recorded, unexplained: Option<Unexplained>) -> Explained {
        let results = self.cells(history);
        let mut text = self.table(&results);
        let blocked = match unexplained {
            None => return Explained { results, text, serial: vec![] },
            Some(Unexplained::Full) => None,
            Some(Unexplained::Stuck { column }) => Some(column),
        };
        text.push('\n');
        text += &match blocked {
            None => "  No serial order of these operations that keeps the order of those that do not overlap has these results.\n"
                .to_owned(),
            Some(column) => {
                let place = history.columns[column].len().saturating_sub(1);
                format!(
                    "  {} {} never returns. In no serial order of the operations that returned, with the same results, would \
                     it have to wait.\n",
                    self.thread(column),
                    self.name(column, place)
                )
            }
        };
        text += &format!(
            "  Serial histories: {} in which everything returns, {} that end in a call that waits.\n",
            seen.full(),
            seen.stuck()
        );
        text += &self.relative_to(seen, history, blocked);
        let partings = closest(seen, history, blocked);
        let serial: Vec<String> = partings.iter().map(|parting| self.parting(parting)).collect();
        if !serial.is_empty() {
            text += "  The closest serial histories, and where they part from it:\n";
        }
        for line in &serial {
            text += &format!("    {line}\n");
        }
        Explained { results, text, serial }
    }

    /// What the finding is relative to; and what an author who finds nothing wrong with it would have to declare.
    fn relative_to(&self, seen: &Observation, history: &Recorded, blocked: Option<usize>) -> String {
        let mut text =
            "  This is relative to serial behaviour: to what the same calls do one after the other.\n".to_owned();
        let alone = self.never_return(seen);
        if !alone.is_empty() {
            text += &format!(
                "  Every serial run of {} waits for ever. If the object is meant to need two calls at once (a rendezvous channel, an \
                 exchanger, a barrier), it would have to be declared that they take effect *together*; no such declaration exists yet, so \
                 this object cannot be held against its serial behaviour.\n",
                alone.join(" and of ")
            );
        } else if blocked.is_some() && history.pending().count() > 1 {
            text += "  If a call of the object is meant to wait behind another call that waits (a fair or a writer-preferring lock), it would \
                     have to be declared that calls wait *in line*; no such declaration exists yet, so for such an object this is no error.\n";
        }
        text
    }

    /// The calls that return in no serial history, each once.
    fn never_return(&self, seen: &Observation) -> Vec<&str> {
        let (mut returned, mut called) = (Vec::new(), Vec::new());
        for history in seen.histories() {
            let mut places = vec![0; self.matrix.columns.len() + 1];
            for operation in history {
                let column = usize::from(operation.column);
                let name = self.name(column, places[column]);
                places[column] += 1;
                let list = if operation.result.is_some() { &mut returned } else { &mut called };
                if !list.contains(&name) {
                    list.push(name);
                }
            }
        }
        called.retain(|name| !returned.contains(name));
        called
    }

    fn parting(&self, parting: &Parting) -> String {
        let on_the_way: Vec<String> = parting
            .order
            .iter()
            .map(|&(column, place)| {
                format!("{} {}", self.thread(column.into()), self.name(column.into(), place.into()))
            })
            .collect();
        let column = usize::from(parting.column);
        let place = parting.order.iter().filter(|(other, _)| *other == parting.column).count();
        let does = |result: Option<ResultId>| match result.map(|result| self.results.text(result)) {
            None => "waits for ever".to_owned(),
            Some(text) if is_void(text) => "returns".to_owned(),
            Some(text) => format!("returns {text}"),
        };
        let found = match parting.found {
            None => "here it never returned".to_owned(),
            Some(result) => format!("here it returned {}", self.results.text(result)),
        };
        let lead =
            if on_the_way.is_empty() { "at once".to_owned() } else { format!("{}, then", on_the_way.join(", ")) };
        format!("{lead} {} {} {}; {found}", self.thread(column), self.name(column, place), does(parting.serial))
    }

    /// Two serial histories that differ.
    pub fn explain_nondeterminism(&self, found: &Nondeterminism) -> Explained {
        let with = |last: &SerialOp| {
            let mut history = found.prefix.clone();
            history.push(last.clone());
            self.serial(&history)
        };
        let serial = vec![with(&found.one), with(&found.other)];
        let names = |column: usize| self.matrix.column(column).map(|call| self.calls.name(call).to_owned()).collect();
        let results: Vec<Vec<String>> = (0..=self.matrix.columns.len()).map(names).collect();
        let text = format!(
            "{}\n  Two serial runs of the same calls, in the same order, differ:\n    {}\n    {}\n",
            self.table(&results),
            serial[0],
            serial[1]
        );
        Explained { results, text, serial }
    }
}

/// Columns with heads, side by side.
fn grid(heads: &[String], columns: &[Vec<String>]) -> String {
    let width = |at: usize| {
        let cells = columns[at].iter().map(|cell| cell.chars().count());
        cells.chain([heads[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        format!("  | {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(heads.iter().map(String::as_str).collect());
    let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    text += &line(rules.iter().map(String::as_str).collect());
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        text += &line(columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect());
    }
    text
}

/// Calls and returns in the order in which they came, a column for each thread: column and words.
pub fn timeline(rows: &[(usize, String)]) -> String {
    let last = rows.iter().map(|(column, _)| *column).max().unwrap_or(0);
    let first = rows.iter().map(|(column, _)| *column).min().unwrap_or(0);
    let width = |at: usize| {
        rows.iter().filter(|(column, _)| *column == at).map(|(_, words)| words.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for (column, words) in rows {
        let indent: usize = (first..*column).map(|at| width(at) + 2).sum();
        text += &format!("  {}{words}\n", " ".repeat(indent));
    }
    if last == first && rows.is_empty() { String::new() } else { text }
}
