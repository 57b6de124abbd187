//! What is said of objects: tables of operations, why there is no witness, what was left out, and why nothing could be tested.

use super::{Names, Numbers};
use crate::explanation::{
    Closest, Explanation, Language, Operation, OperationEnd, Refusal, RefusalWhy, SerialHistory, TooFar, Why,
};
use crate::object::{BuiltInRecord, Enumerated, Note, ObjectFinding, ObjectReport, PlanRecord, RandomPlan};
use crate::report::Report;
use crate::step::StepKind;
use crate::trouble::{ObjectTrouble, Phase, SearchTrouble, Shortfall};

/// A result that a call does not need to be shown with.
fn is_void(text: &str) -> bool {
    text == "void" || text == "()"
}

impl Operation {
    /// The operation with what came of it.
    pub fn words(&self) -> String {
        let Operation { name, end } = self;
        match end {
            OperationEnd::Returned(text) if is_void(text) => name.clone(),
            OperationEnd::Returned(text) => format!("{name} -> {text}"),
            OperationEnd::Blocked => format!("{name} waits for ever"),
            OperationEnd::CutOff => format!("{name} (cut off)"),
            OperationEnd::NotCalled => format!("{name} (not called)"),
            OperationEnd::Unsaid => name.clone(),
        }
    }
}

impl Explanation {
    /// What the thread of a column is called.
    pub fn thread(&self, column: usize) -> String {
        match column.checked_sub(1).and_then(|at| self.threads.get(at)) {
            Some(thread) => format!("T{thread}"),
            None => format!("T{column}"),
        }
    }

    /// Each operation with its result: the calls before and after first, then each thread.
    pub fn cells(&self) -> Vec<Vec<String>> {
        self.columns.iter().map(|column| column.iter().map(Operation::words).collect()).collect()
    }

    fn name(&self, (column, place): (usize, usize)) -> &str {
        let operation = self.columns.get(column).and_then(|all| all.get(place));
        // Where the end of a thread is an operation, it comes after the calls.
        operation.map_or("thread exit", |operation| operation.name.as_str())
    }

    fn operation(&self, at: (usize, usize)) -> String {
        let operation = self.columns.get(at.0).and_then(|all| all.get(at.1));
        format!("{} {}", self.thread(at.0), operation.map_or_else(|| "thread exit".to_owned(), Operation::words))
    }

    fn operations(&self, operations: &[(usize, usize)]) -> String {
        operations.iter().map(|&at| self.operation(at)).collect::<Vec<_>>().join("; ")
    }
}

/// The table of a matrix, in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutTable {
    /// The calls before the threads, in a line.
    pub before: Option<String>,
    /// A column for each thread, with lines between them.
    pub grid: String,
    /// The calls after the threads, in a line.
    pub after: Option<String>,
}

/// What is said of a violation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The operations with their results.
    pub table: CutTable,
    /// Why that is a violation, a sentence each.
    pub sentences: Vec<String>,
    /// What the last sentence announces: the serial histories that come closest, or the two that differ.
    pub list: Vec<String>,
}

impl Told {
    /// All of it as lines, each indented.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.table.before.iter().map(|line| format!("  {line}")));
        lines.extend(self.table.grid.lines().map(|line| format!("  {line}")));
        lines.extend(self.table.after.iter().map(|line| format!("  {line}")));
        if !self.sentences.is_empty() {
            lines.push(String::new());
        }
        lines.extend(self.sentences.iter().map(|sentence| format!("  {sentence}")));
        lines.extend(self.list.iter().map(|line| format!("    {line}")));
        lines
    }
}

/// What is said of a violation.
pub fn told(explanation: &Explanation) -> Told {
    if explanation.columns.is_empty() {
        return Told::default();
    }
    let table = table(explanation);
    let (sentences, list) = match &explanation.why {
        None => (vec![], vec![]),
        Some(Why::SerialRunsDiffer { one, other }) => (
            vec!["Two serial runs of the same calls, in the same order, differ:".to_owned()],
            vec![serial(explanation, one), serial(explanation, other)],
        ),
        Some(Why::Refused(refusal)) => (refused(explanation, refusal), vec![]),
        Some(Why::NotSerial { blocked, full, stuck, never_return, several_wait, closest }) => {
            let mut sentences = vec![
                match blocked {
                    None => {
                        "No serial order of these operations that keeps the order of those that do not overlap has these results."
                            .to_owned()
                    }
                    Some(at) => format!(
                        "{} {} never returns. In no serial order of the operations that returned, with the same results, would it \
                         have to wait.",
                        explanation.thread(at.0),
                        explanation.name(*at)
                    ),
                },
                format!(
                    "Serial histories: {full} in which everything returns, {stuck} that end in a call that waits."
                ),
                "This is relative to serial behaviour: to what the same calls do one after the other.".to_owned(),
            ];
            sentences.extend(undeclared(never_return, blocked.is_some() && *several_wait));
            if !closest.is_empty() {
                sentences.push("The closest serial histories, and where they part from it:".to_owned());
            }
            (sentences, closest.iter().map(|closest| parting(explanation, closest)).collect())
        }
    };
    Told { table, sentences, list }
}

/// What an author who finds nothing wrong with it would have to declare.
fn undeclared(never_return: &[String], in_line: bool) -> Option<String> {
    if !never_return.is_empty() {
        return Some(format!(
            "Every serial run of {} waits for ever. If the object is meant to need two calls at once (a rendezvous channel, an \
             exchanger, a barrier), it would have to be declared that they take effect *together*; no such declaration exists yet, so \
             this object cannot be held against its serial behaviour.",
            never_return.join(" and of ")
        ));
    }
    in_line.then(|| {
        "If a call of the object is meant to wait behind another call that waits (a fair or a writer-preferring lock), it would \
         have to be declared that calls wait *in line*; no such declaration exists yet, so for such an object this is no error."
            .to_owned()
    })
}

fn table(explanation: &Explanation) -> CutTable {
    let cells = explanation.cells();
    let (before, after) = cells[0].split_at(explanation.before.min(cells[0].len()));
    let heads: Vec<String> = (1..cells.len()).map(|column| explanation.thread(column)).collect();
    CutTable {
        before: (!before.is_empty()).then(|| format!("before: {}", before.join(", "))),
        grid: grid(&heads, &cells[1..]),
        after: (!after.is_empty()).then(|| format!("after:  {}", after.join(", "))),
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
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(heads.iter().map(String::as_str).collect());
    let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    text += &line(rules.iter().map(String::as_str).collect());
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        text += &line(columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect());
    }
    text
}

/// A serial history, its operations with their results.
pub fn serial(explanation: &Explanation, history: &SerialHistory) -> String {
    let part =
        |(column, operation): &(usize, Operation)| format!("{} {}", explanation.thread(*column), operation.words());
    history.iter().map(part).collect::<Vec<_>>().join("; ")
}

fn parting(explanation: &Explanation, closest: &Closest) -> String {
    let Closest { order, operation, serial, found } = closest;
    let name = |at: &(usize, usize)| format!("{} {}", explanation.thread(at.0), explanation.name(*at));
    let on_the_way: Vec<String> = order.iter().map(name).collect();
    let does = match serial {
        OperationEnd::Returned(text) if is_void(text) => "returns".to_owned(),
        OperationEnd::Returned(text) => format!("returns {text}"),
        _ => "waits for ever".to_owned(),
    };
    let found = match found {
        OperationEnd::Returned(text) => format!("here it returned {text}"),
        _ => "here it never returned".to_owned(),
    };
    let lead = if on_the_way.is_empty() { "at once".to_owned() } else { format!("{}, then", on_the_way.join(", ")) };
    format!("{lead} {} {does}; {found}", name(operation))
}

fn refused(explanation: &Explanation, refusal: &Refusal) -> Vec<String> {
    let Refusal { classes, readings, exact, why } = refusal;
    let why = refusal_why(explanation, why);
    vec![
        "Not linearizable: no order of these operations that keeps the order of those that do not overlap is legal."
            .to_owned(),
        match exact {
            true => format!("Where it goes wrong: {why}"),
            false => format!("Not quasi linearizable with {classes}{readings}: {why}"),
        },
    ]
}

fn refusal_why(explanation: &Explanation, why: &RefusalWhy) -> String {
    match why {
        RefusalWhy::Unplaced { operation, too_far: far } => format!(
            "{} fits nowhere. What happened before it returned can be explained; with it, nothing that could follow makes it \
             right. {}",
            explanation.operation(*operation),
            too_far(explanation, far.as_ref())
        ),
        RefusalWhy::Unfinished { later } if later.is_empty() => "it is not right by itself.".to_owned(),
        RefusalWhy::Unfinished { later } => format!(
            "it is not right by itself. It would be with {} after it; --reading prefix allows that.",
            later.join(", ")
        ),
        RefusalWhy::NeedNotBlock { operation } => format!(
            "{} need not wait: whatever the order of what returned, it could go on after it.",
            explanation.operation(*operation)
        ),
        RefusalWhy::Violates { object, operations } => {
            format!("a {object} does not do this: {}.", explanation.operations(operations))
        }
        RefusalWhy::Counted { object, k, what, operations } => format!(
            "counted as a {object} (k={k}): {what}. The operations that show it: {}.",
            explanation.operations(operations)
        ),
    }
}

fn too_far(explanation: &Explanation, too_far: Option<&TooFar>) -> String {
    let Some(TooFar { factor, class, operation, place, legal_place }) = too_far else {
        return "No larger factor that would do was found.".to_owned();
    };
    let which = operation.map_or("a call that would follow".to_owned(), |at| explanation.operation(at));
    let off = place.abs_diff(*legal_place);
    let places = if off == 1 { "place" } else { "places" };
    let side = if place > legal_place { "late" } else { "early" };
    format!(
        "Up to there, factor {factor} for {class} would do: then {which} is number {place} of {class} where a legal run has it \
         at number {legal_place}, {off} {places} too {side}."
    )
}

/// Source text of a test for the matrix of a violation, to be put beside the object's own.
pub fn regression(found: &ObjectFinding, object: &str) -> String {
    let (kind, matrix) = (found.kind.name(), quoted(&found.matrix));
    match found.language {
        Language::C => {
            format!("/* {kind}: selvedge test --test {object} */\nSELVEDGE_OPTION({object}, \"test {matrix}\");\n")
        }
        Language::Rust => format!(
            "/// {kind}\n#[test]\nfn regression() {{\n    object() // what `{}` checks\n        .matrix(\"{matrix}\")\n        .check();\n}}\n",
            object.replace(['\n', '\r'], " "),
        ),
    }
}

/// The text inside of quotation marks, in both languages.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

/// Which matrices were planned.
pub fn plan(PlanRecord { given, enumerated, random }: &PlanRecord) -> String {
    let mut parts = Vec::new();
    if *given > 0 {
        parts.push(format!("{given} given"));
    }
    if let Some(Enumerated { count, threads, ops, first_calls }) = enumerated {
        let over = first_calls.map_or(String::new(), |calls| format!(" over the first {calls} calls"));
        parts.push(format!("all {count} up to {threads}x{ops}{over}"));
    }
    if let Some(RandomPlan { count, wanted, threads, ops, seed }) = random {
        let most = if *wanted { "" } else { "up to " };
        parts.push(format!("{most}{count} random {threads}x{ops} (seed {seed})"));
    }
    parts.join(", then ")
}

/// What a matrix lacks that should drain the object.
pub fn note(Note { matrix, lacks }: &Note) -> String {
    format!("the matrix {matrix} is not well-formed: {lacks}")
}

/// What operation counting leaves open, of so many histories.
pub fn doubt(report: &ObjectReport) -> Option<String> {
    let BuiltInRecord { approximate, k, counted, .. } = report.built_in.as_ref()?;
    let (histories, none) = (report.histories, "and counting cannot show that there is none");
    match (counted, approximate) {
        (0, _) => None,
        (_, true) => Some(format!("no violation is visible at k={k}, {none}")),
        (1, false) => Some(format!(
            "1 of {histories} histories was too large for the search and was counted instead: no violation is visible at k={k}, {none}"
        )),
        (_, false) => Some(format!(
            "{counted} of {histories} histories were too large for the search and were counted instead: no violation is visible at \
             k={k}, {none}"
        )),
    }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::One => "phase 1",
        Phase::Two => "phase 2",
    }
}

/// Why not everything was tested.
pub fn shortfall(why: &Shortfall, names: &mut dyn Names) -> String {
    match why {
        Shortfall::Time(when) => format!("the time was up in {}", phase(*when)),
        Shortfall::Interrupted(when) => format!("interrupted in {}", phase(*when)),
        Shortfall::Orders { why, orders } => {
            let many = match *orders {
                u64::MAX => "more than 10^19".to_owned(),
                orders => orders.to_string(),
            };
            format!(
                "{}, for a matrix with {many} serial orders of its calls: with --specification queue, or whatever the object is, \
                 there is no phase 1",
                shortfall(why, names)
            )
        }
        Shortfall::ExitsWithQuasi => {
            "what a call answers depends on whether another thread has ended (its thread-local objects are destroyed then), which \
             is not supported with --quasi"
                .into()
        }
        Shortfall::PhaseOneEndless => "phase 1 did not end".into(),
        Shortfall::OwnThreads(runs) => format!(
            "the object has threads of its own, and its serial behaviours took more than {runs} runs: without all of them \
             nothing can be called a violation"
        ),
        Shortfall::Diverged(when) => format!(
            "the same schedule did something else in {}: the object depends on something that is not controlled, such as \
             time, random numbers or addresses",
            phase(*when)
        ),
        Shortfall::SerialEndless(steps) => format!("a serial run went on for {steps} steps without an end"),
        Shortfall::Unfair => "runs that were not fair had to be left out".into(),
        Shortfall::Runs(runs) => format!("a matrix took more than {runs} runs"),
        Shortfall::RaceMemory => "a run touched more memory than is remembered for data races".into(),
        Shortfall::Bystanders => {
            "operations wait, and threads that were started before the search, which cannot run, may be what they wait for"
                .into()
        }
        Shortfall::Undecided => "a history could not be decided".into(),
        Shortfall::TooLong(steps) => format!(
            "a run went on for more than {steps} steps, and it is not known whether it has an end: no state came again in \
             which it was before"
        ),
        Shortfall::WorkerLost => "a worker process ended without an answer".into(),
        Shortfall::Died(death) => format!("{} in the middle of the search", super::cause::dies(*death)),
        Shortfall::NoMatrix => "there is no matrix that the options allow, so nothing was tested".into(),
        Shortfall::Untested(calls) => format!("no matrix that was tested has {}", calls.join(", ")),
        Shortfall::NotAgain { kind, matrix } => format!("{} in the matrix {matrix} did not show again", kind.name()),
        Shortfall::Uncontrolled(cause) => super::cause(cause, names),
    }
}

/// Why no search was made.
pub fn search_trouble(trouble: &SearchTrouble) -> String {
    match trouble {
        SearchTrouble::Nested => "a search inside a search".into(),
        SearchTrouble::FlagOfObjects { flag, test } => {
            format!("{flag} is about objects, and {test} is a search without one")
        }
        SearchTrouble::FlagOfTests { flag, object } => {
            format!("{flag} is about tests, and {object} is an object, whose threads have to end")
        }
        SearchTrouble::ArgumentsOfTests => {
            "--argument is for a program that is tested through its main, and this one has tests of its own".into()
        }
        SearchTrouble::HeapTaken => "the addresses of the controlled heap are taken".into(),
        SearchTrouble::NoThreads => "the system allows no more threads".into(),
        SearchTrouble::NoTest => "the program has no test of that name, or none at all".into(),
        SearchTrouble::Schedule(why) => why.clone(),
        SearchTrouble::Version { runtime, test } => format!(
            "the test was built with another version of the crate selvedge: expected interface {runtime}, found {test}"
        ),
    }
}

/// Why an object cannot be tested.
pub fn object_trouble(trouble: &ObjectTrouble, names: &mut dyn Names) -> String {
    match trouble {
        ObjectTrouble::NoObject(name) => format!("there is no object `{name}`"),
        ObjectTrouble::Described(why) => why.clone(),
        ObjectTrouble::ReferenceCalls { object, reference } => format!(
            "expected the reference to have the same calls: {}, found {}",
            object.join(", "),
            reference.join(", ")
        ),
        ObjectTrouble::Unsteady(call) => format!(
            "`{call}` does not do the same again after the same calls: its result depends on time, random numbers, addresses or \
             something else that is not controlled"
        ),
        ObjectTrouble::NotRepeated(call) => format!(
            "{} does not do the same again after the same calls: it depends on something that is not controlled, such as time, \
             random numbers or addresses",
            call.as_deref().unwrap_or("an operation")
        ),
        ObjectTrouble::ManyOutcomes => {
            "the specification is nondeterministic, which is not supported with --quasi: one sequence of calls has several \
             outcomes"
                .into()
        }
        ObjectTrouble::Constructor(cause) => {
            format!("the constructor does not work: {}", super::cause(cause, names))
        }
        ObjectTrouble::ExitsInFile { matrix } => format!(
            "the serial histories of the matrix {matrix} depend on when its threads end, which a file does not say"
        ),
        ObjectTrouble::NotInFile { path, matrix } => {
            format!("{path}: there are no serial histories of the matrix {matrix}")
        }
        ObjectTrouble::ReadingsAlone => "readings go with --quasi, such as --quasi deq=2".into(),
        ObjectTrouble::FileAndSpecification => {
            "serial histories of a file and a built-in specification cannot both be what it is held against".into()
        }
        ObjectTrouble::ApproximateQuasi => "--approximate is about linearizability: leave --quasi out".into(),
        ObjectTrouble::ApproximateAlone { object } => format!(
            "--approximate counts operations by the rules of a built-in object: say which one, such as --specification queue, \
             .against(\"queue\") in Rust or SELVEDGE_OPTION({}, \"specification queue\") in C",
            object.split([':', '/', '.']).next().unwrap_or("object")
        ),
        ObjectTrouble::SpecificationAndFile => {
            "a built-in specification takes the place of serial histories: leave those of a file out".into()
        }
        ObjectTrouble::Search(trouble) => search_trouble(trouble),
    }
}

/// What a test says that runs itself, with its panic or instead of one. Addresses have no names there.
pub fn answer(report: &Report) -> String {
    if let Some(trouble) = &report.error {
        return search_trouble(trouble);
    }
    if let Some(found) = report.tests.first().and_then(|test| test.findings.first()) {
        return super::cause(&found.cause, &mut Numbers);
    }
    let Some(object) = report.objects.first() else { return String::new() };
    if let Some(trouble) = &object.error {
        return object_trouble(trouble, &mut Numbers);
    }
    if let Some(found) = object.findings.first() {
        let cause = super::cause(&found.finding.cause, &mut Numbers);
        let mut text = format!("{}: {cause}\n\n{}", found.kind.name(), lines(&told(&found.explanation).lines()));
        text += &format!("\n  What happened:\n\n{}", timeline(found));
        return text + &format!("\n  As a test: .matrix({:?})\n", found.matrix);
    }
    let open = object.limit.as_ref().map(|limit| shortfall(limit, &mut Numbers));
    open.into_iter().chain(doubt(object)).collect::<Vec<_>>().join("; ")
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Calls and returns in the order in which they came, a column for each thread.
fn timeline(found: &ObjectFinding) -> String {
    let threads = &found.explanation.threads;
    let mut rows: Vec<(usize, String)> = Vec::new();
    for step in &found.finding.steps {
        let thread = usize::from(step.thread);
        let column = threads.iter().position(|&other| other == thread).map_or(0, |at| at + 1);
        let name = found.explanation.thread(column);
        match &step.kind {
            StepKind::Call { operation } => {
                rows.push((column, format!("{name} call {}", operation.as_deref().unwrap_or_default())));
            }
            StepKind::Return { result } => {
                rows.push((column, format!("{name} return {}", result.as_deref().unwrap_or_default())));
            }
            _ => {}
        }
    }
    let first = rows.iter().map(|(column, _)| *column).min().unwrap_or(0);
    let width = |at: usize| {
        rows.iter().filter(|(column, _)| *column == at).map(|(_, words)| words.chars().count()).max().unwrap_or(0)
    };
    let indent = |column: usize| (first..column).map(|at| width(at) + 2).sum::<usize>();
    rows.iter().map(|(column, words)| format!("  {}{words}\n", " ".repeat(indent(*column)))).collect()
}

#[cfg(test)]
mod tests;
