//! Makes a page out of what the tests left in a directory.

use std::fmt::Write;
use std::path::Path;

use selvedge_protocol::{MatrixRecord, MatrixVerdict, ObjectReport, wire};

/// A row of the paper's table 2.
struct Paper {
    class: &'static str,
    /// Root causes: bugs, intended nondeterminism, intended nonlinearizability.
    causes: &'static str,
    smallest: &'static str,
    /// Histories of phase 1, on average and at most.
    histories: (u32, u32),
    /// Minutes of phase 1, on average and at most.
    phase1: (f64, f64),
    passed: u32,
    failed: u32,
    /// Minutes of phase 2, of a matrix that passes and of one that fails; 0 where there is none.
    phase2: (f64, f64),
    bound: u32,
}

#[rustfmt::skip]
const PAPER: [Paper; 18] = [
    Paper { class: "Lazy Initialization", causes: "", smallest: "", histories: (60, 68), phase1: (0.07, 0.07), passed: 100, failed: 0, phase2: (9.7, 0.0), bound: 2 },
    Paper { class: "ManualResetEvent(Pre)", causes: "A", smallest: "A 2x3", histories: (828, 1680), phase1: (3.31, 8.36), passed: 93, failed: 7, phase2: (12.9, 19.9), bound: 2 },
    Paper { class: "ManualResetEvent", causes: "", smallest: "", histories: (76, 133), phase1: (0.07, 0.07), passed: 100, failed: 0, phase2: (170.5, 0.0), bound: 2 },
    Paper { class: "SemaphoreSlim", causes: "", smallest: "", histories: (1511, 1680), phase1: (3.91, 7.31), passed: 100, failed: 0, phase2: (18.1, 0.0), bound: 1 },
    Paper { class: "CountdownEvent", causes: "", smallest: "", histories: (410, 1680), phase1: (1.20, 4.95), passed: 100, failed: 0, phase2: (6.3, 0.0), bound: 2 },
    Paper { class: "ConcurrentDictionary", causes: "", smallest: "", histories: (1678, 1680), phase1: (7.02, 10.94), passed: 100, failed: 0, phase2: (6.8, 0.0), bound: 1 },
    Paper { class: "ConcurrentQueue(Pre)", causes: "B", smallest: "B 2x2", histories: (1680, 1680), phase1: (6.00, 6.33), passed: 43, failed: 57, phase2: (33.8, 5.7), bound: 2 },
    Paper { class: "ConcurrentQueue", causes: "", smallest: "", histories: (1680, 1680), phase1: (6.37, 6.77), passed: 100, failed: 0, phase2: (33.7, 0.0), bound: 2 },
    Paper { class: "ConcurrentLinkedList(Pre)", causes: "C", smallest: "C 2x2", histories: (1674, 1680), phase1: (8.54, 12.36), passed: 80, failed: 20, phase2: (5.8, 2.0), bound: 1 },
    Paper { class: "ConcurrentStack", causes: "", smallest: "", histories: (1680, 1680), phase1: (3.49, 3.68), passed: 100, failed: 0, phase2: (1.3, 0.0), bound: 2 },
    Paper { class: "BlockingCollection(Pre)", causes: "D, K", smallest: "D 2x2, K 2x2", histories: (850, 1680), phase1: (4.09, 17.84), passed: 13, failed: 87, phase2: (109.6, 47.4), bound: 2 },
    Paper { class: "BlockingCollection", causes: "H, I, K", smallest: "H 2x2, I 3x2", histories: (259, 501), phase1: (0.07, 0.07), passed: 43, failed: 57, phase2: (205.3, 68.7), bound: 2 },
    Paper { class: "ConcurrentBag(Pre)", causes: "E, J", smallest: "E 2x2", histories: (1680, 1680), phase1: (4.18, 4.52), passed: 75, failed: 25, phase2: (1.7, 0.4), bound: 1 },
    Paper { class: "ConcurrentBag", causes: "J", smallest: "J 2x2", histories: (1680, 1680), phase1: (4.05, 4.43), passed: 87, failed: 13, phase2: (0.6, 3.2), bound: 2 },
    Paper { class: "TaskCompletionSource(Pre)", causes: "F", smallest: "F 2x2", histories: (1432, 1680), phase1: (7.30, 20.26), passed: 65, failed: 35, phase2: (32.9, 9.4), bound: 2 },
    Paper { class: "TaskCompletionSource", causes: "G", smallest: "G 2x2", histories: (1209, 1680), phase1: (5.98, 11.95), passed: 53, failed: 47, phase2: (53.3, 3.7), bound: 2 },
    Paper { class: "CancellationTokenSource", causes: "", smallest: "", histories: (1680, 1680), phase1: (4.49, 5.74), passed: 100, failed: 0, phase2: (9.6, 0.0), bound: 2 },
    Paper { class: "Barrier", causes: "L", smallest: "L 2x2", histories: (1166, 1680), phase1: (4.10, 7.02), passed: 22, failed: 78, phase2: (7.0, 1.5), bound: 2 },
];

/// The classes as they would be without what the paper names, beside those that the paper has.
const REPAIRED: [&str; 3] =
    ["BlockingCollection(one lock)", "ConcurrentLinkedList(repaired)", "TaskCompletionSource(repaired)"];

/// What the tests left of a row.
struct Row {
    report: ObjectReport,
    /// Letters, with the smallest matrices of random ones that show them.
    found: Vec<(String, String)>,
    /// Letters, with the dimensions of the matrices that are known to show them.
    known: Vec<(String, String)>,
}

impl Row {
    fn read(directory: &Path, class: &str) -> Option<Self> {
        let text = std::fs::read_to_string(directory.join(format!("{class}.json"))).ok()?;
        let report = wire::decode(&text).ok()?;
        let causes = std::fs::read_to_string(directory.join(format!("{class}.causes"))).unwrap_or_default();
        let of = |word: &str| -> Vec<(String, String)> {
            let lines = causes.lines().filter_map(|line| line.strip_prefix(word)?.trim().split_once(' '));
            lines.map(|(letter, rest)| (letter.to_owned(), rest.to_owned())).collect()
        };
        Some(Row { report, found: of("found"), known: of("known") })
    }

    fn letters(&self) -> Vec<&str> {
        let mut letters: Vec<&str> = self.found.iter().map(|(letter, _)| letter.as_str()).collect();
        letters.sort_unstable();
        letters.dedup();
        letters
    }

    fn smallest(&self) -> String {
        // A cause may be known by several matrices; the first one is the smallest.
        let mut each: Vec<String> = Vec::new();
        for (letter, dimension) in &self.known {
            if !each.iter().any(|other| other.starts_with(letter)) {
                each.push(format!("{letter} {dimension}"));
            }
        }
        each.join(", ")
    }

    fn of(&self, verdict: MatrixVerdict) -> Vec<&MatrixRecord> {
        self.report.records.iter().filter(|record| record.verdict == verdict).collect()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

fn serial(record: &MatrixRecord) -> f64 {
    (record.serial_full + record.serial_stuck) as f64
}

/// Seconds, of ours; nothing where there is none.
fn seconds(value: Option<f64>) -> String {
    value.map_or("".into(), |value| format!("{value:.2} s"))
}

/// Minutes, of the paper's.
fn minutes(value: f64) -> String {
    if value == 0.0 { String::new() } else { format!("{value} min") }
}

fn line(page: &mut String, class: &str, row: &Row, paper: Option<&Paper>) {
    let records = &row.report.records;
    let (passed, failed) = (row.of(MatrixVerdict::Pass), row.of(MatrixVerdict::Fail));
    let beside = |ours: String, theirs: Option<String>| match theirs {
        Some(theirs) => format!("{ours} ({theirs})"),
        None => ours,
    };
    let cells = [
        class.to_owned(),
        beside(row.letters().join(", "), paper.map(|paper| paper.causes.to_owned())),
        beside(row.smallest(), paper.map(|paper| paper.smallest.to_owned())),
        beside(
            format!("{:.0} / {:.0}", mean(records.iter().map(serial)).unwrap_or(0.0), most(records.iter().map(serial))),
            paper.map(|paper| format!("{} / {}", paper.histories.0, paper.histories.1)),
        ),
        beside(
            format!(
                "{:.0} / {:.0} ms",
                1e3 * mean(records.iter().map(|record| record.serial_seconds)).unwrap_or(0.0),
                1e3 * most(records.iter().map(|record| record.serial_seconds))
            ),
            paper.map(|paper| format!("{} / {} min", paper.phase1.0, paper.phase1.1)),
        ),
        beside(
            format!("{} / {}", passed.len(), failed.len()),
            paper.map(|paper| format!("{} / {}", paper.passed, paper.failed)),
        ),
        beside(seconds(mean(passed.iter().map(|record| record.seconds))), paper.map(|paper| minutes(paper.phase2.0))),
        beside(seconds(mean(failed.iter().map(|record| record.seconds))), paper.map(|paper| minutes(paper.phase2.1))),
        paper.map_or("2".into(), |paper| format!("2 ({})", paper.bound)),
    ];
    let cells = cells.map(|cell| if cell == " ()" { String::new() } else { cell });
    writeln!(page, "| {} |", cells.join(" | ")).expect("text");
}

const HEAD: &str = "\
| class | root causes | smallest matrix | serial histories, mean / most | phase 1, mean / most | passed / failed | phase 2 of one that \
passes | phase 2 of one that fails | bound |
|---|---|---|---|---|---|---|---|---|
";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (directory, took) = match arguments.as_slice() {
        [directory, took] if took.parse::<u64>().is_ok() => (directory, took.parse::<u64>().unwrap_or(0)),
        _ => {
            eprintln!("expected a directory and how many seconds it took to fill it");
            std::process::exit(2);
        }
    };
    let directory = Path::new(directory);
    let rows: Vec<(&Paper, Row)> =
        PAPER.iter().filter_map(|paper| Some((paper, Row::read(directory, paper.class)?))).collect();
    let repaired: Vec<(&str, Row)> =
        REPAIRED.iter().filter_map(|class| Some((*class, Row::read(directory, class)?))).collect();
    let cpu: f64 = rows
        .iter()
        .map(|(_, row)| row)
        .chain(repaired.iter().map(|(_, row)| row))
        .map(|row| row.report.cpu_seconds)
        .sum();
    let same = rows.iter().filter(|(paper, row)| paper.causes == row.letters().join(", ")).count();
    let mut page = String::from(include_str!("table.md"));
    let counts = || rows.iter().map(|(_, row)| row.report.records.len());
    let count = match (counts().min(), counts().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    };
    let absent = |paper: &&Paper| !rows.iter().any(|(other, _)| other.class == paper.class);
    let missing: Vec<&str> = PAPER.iter().filter(absent).map(|paper| paper.class).collect();
    writeln!(
        page,
        "{count} random 3x3 matrices of each class (seed 1), every schedule with at most 2 preemptions. {same} of {} rows have the \
         paper's root causes, of 18 that the paper has. The rows took {:.1} minutes of processor time, making failing matrices smaller included; \
         the whole, with building the classes and looking at every finding a second time, took {:.1} minutes on {} processors.\n",
        rows.len(),
        cpu / 60.0,
        took as f64 / 60.0,
        std::thread::available_parallelism().map_or(1, usize::from)
    )
    .expect("text");
    if !missing.is_empty() {
        writeln!(page, "Not run: {}.\n", missing.join(", ")).expect("text");
    }
    page += HEAD;
    rows.iter().for_each(|(paper, row)| line(&mut page, paper.class, row, Some(paper)));
    if !repaired.is_empty() {
        page += "\nClasses once more, without what the paper names:\n\n";
        page += HEAD;
    }
    repaired.iter().for_each(|(class, row)| line(&mut page, class, row, None));
    page += "\n## The smallest matrices\n\nWhat random matrices that fail came down to, with the root cause:\n\n";
    for (paper, row) in rows.iter().filter(|(_, row)| !row.found.is_empty()) {
        writeln!(page, "- {}:", paper.class).expect("text");
        for letter in row.letters() {
            let mut matrices: Vec<&str> =
                row.found.iter().filter(|(other, _)| other == letter).map(|(_, matrix)| matrix.as_str()).collect();
            matrices.sort_by_key(|matrix| (matrix.matches(['|', ',']).count(), matrix.len()));
            let shown: Vec<String> = matrices.iter().take(3).map(|matrix| format!("`{matrix}`")).collect();
            let more = matrices.len().saturating_sub(shown.len());
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            writeln!(page, "  - {letter}: {}{rest}", shown.join("; ")).expect("text");
        }
    }
    print!("{page}");
}
