//! Tables II, III and V of Round-Up for the programs of `corpus/relaxed`, with the paper's numbers beside: Markdown on standard output.
//!
//! `cargo run --release -p selvedge-cli --example quasi_tables > docs/quasi-tables.md`. Ends with an error when a row gets another
//! answer than the paper's.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use selvedge_driver::{Compiler, Program, compile, run};
use selvedge_protocol::{CoverageRecord, Given, ObjectOptions, ObjectReport, Reading, Search, Settings};

/// A row of a table of the paper.
struct Row {
    /// What the paper calls it.
    name: &'static str,
    /// The program of the corpus.
    program: &'static str,
    /// Compiler flags.
    flags: &'static [&'static str],
    /// The relaxed method and its factor; 0 asks for linearizability.
    quasi: (&'static str, u32),
    /// Calls as the paper writes them.
    calls: &'static str,
    /// The shape, where it says more than that, or the matrix.
    shape: &'static str,
    /// Whether the paper found a violation.
    violation: bool,
    /// Serial histories, histories (buggy and all), linearizations or permutations, and the times of both phases, in the paper.
    paper: (u32, &'static str, u32, &'static str, &'static str),
}

const fn row(
    name: &'static str,
    program: &'static str,
    quasi: (&'static str, u32),
    calls: &'static str,
    violation: bool,
    paper: (u32, &'static str, u32, &'static str, &'static str),
) -> Row {
    Row { name, program, flags: &[], quasi, calls, shape: calls, violation, paper }
}

const fn wide(row: Row) -> Row {
    Row { flags: &["-DSEGMENT=4"], ..row }
}

const fn scal(
    name: &'static str,
    program: &'static str,
    method: &'static str,
    shape: &'static str,
    violation: bool,
    paper: (u32, &'static str, u32, &'static str, &'static str),
) -> Row {
    Row { name, program, flags: &[], quasi: (method, 2), calls: "1*1+12", shape, violation, paper }
}

const QUEUE: &str = "quasi/quasi_queue";

/// Tests of the k-stack, whose main thread leaves an empty segment on top: without one nobody tries to take a segment off.
const PUSH_POP: &str =
    "push(1), push(2), push(3), push(4), push(5), push(6), pop(), pop(); push(7) | pop(); pop(), pop(), pop(), pop()";
const PUSH_PUSH: &str =
    "push(1), push(2), push(3), push(4), push(5), pop(); push(6) | push(7); pop(), pop(), pop(), pop(), pop(), pop()";
const POP_POP: &str =
    "push(1), push(2), push(3), push(4), push(5), push(6), push(7), pop(); pop() | pop(); pop(), pop(), pop(), pop()";

const TABLE_II: [Row; 16] = [
    row("IQueue", "neither/iqueue", ("deq", 0), "2*2+0", true, (3, "2/6", 13, "0.1", "0.3")),
    row(
        "Herlihy/Wing queue",
        "linearizable/herlihy_wing_queue",
        ("deq", 0),
        "2*2+0",
        false,
        (3, "0/4", 9, "0.1", "0.2"),
    ),
    row("Quasi Queue", QUEUE, ("deq", 0), "2*2+4", true, (6, "16/16", 61, "0.2", "2.5")),
    row("Quasi Queue", QUEUE, ("deq", 0), "3*3+4", true, (20, "64/64", 505, "1.1", "43.7")),
    row("Quasi Queue", QUEUE, ("deq", 0), "2*3+3", true, (10, "24/32", 169, "0.4", "8.3")),
    row("Quasi Queue", QUEUE, ("deq", 0), "3*3+2", true, (20, "108/118", 1033, "0.8", "1m23s")),
    row("Quasi Queue", QUEUE, ("deq", 0), "3*4+1", true, (35, "149/198", 2260, "1.6", "5m8s")),
    row("Quasi Queue", QUEUE, ("deq", 0), "4*4+0", true, (70, "274/476", 8484, "2.6", "37m34s")),
    row("Quasi Queue b1", "neither/quasi_queue_b1", ("deq", 0), "2*2+4", true, (6, "91/91", 409, "0.3", "17.8")),
    row("Quasi Queue b2", "neither/quasi_queue_b2", ("deq", 0), "2*2+4", true, (6, "91/91", 409, "0.3", "18.1")),
    row("Quasi Queue b3", "neither/quasi_queue_b3", ("deq", 0), "2*2+4", true, (6, "141/141", 653, "0.3", "26.9")),
    row("Quasi Stack b1", "neither/quasi_stack_b1", ("pop", 0), "2*2+4", true, (6, "9/9", 34, "0.3", "1.6")),
    row("Quasi Stack b2", "neither/quasi_stack_b2", ("pop", 0), "2*2+4", true, (6, "16/16", 61, "0.3", "2.5")),
    row("Quasi Stack", "linearizable/quasi_stack", ("pop", 0), "2*2+4", false, (6, "0/16", 61, "0.3", "2.5")),
    row(
        "Quasi Priority Queue",
        "quasi/quasi_priority_queue",
        ("poll", 0),
        "2*2+4",
        true,
        (6, "16/16", 61, "0.5", "4.9"),
    ),
    row(
        "Quasi Priority Queue b2",
        "neither/quasi_priority_queue_b2",
        ("poll", 0),
        "2*2+4",
        true,
        (6, "125/125", 532, "0.5", "27.0"),
    ),
];

const TABLE_III: [Row; 18] = [
    row("Quasi Queue", QUEUE, ("deq", 2), "2*2+4", false, (6, "0/16", 1708, "0.2", "2.9")),
    row("Quasi Queue", QUEUE, ("deq", 2), "3*3+4", false, (20, "0/64", 73730, "1.1", "5m33s")),
    row("Quasi Queue", QUEUE, ("deq", 2), "2*3+3", false, (10, "0/32", 4732, "0.4", "9.6")),
    row("Quasi Queue", QUEUE, ("deq", 2), "3*3+2", false, (20, "0/118", 28924, "0.8", "1m34s")),
    row("Quasi Queue", QUEUE, ("deq", 2), "3*4+1", false, (35, "0/198", 63280, "1.6", "5m40s")),
    row("Quasi Queue", QUEUE, ("deq", 2), "4*4+0", false, (70, "0/476", 237_552, "2.6", "40m56s")),
    wide(row("Quasi Queue (qfactor=3)", QUEUE, ("deq", 3), "2*3+3", false, (10, "0/32", 8112, "0.4", "14.9"))),
    wide(row("Quasi Queue (qfactor=3)", QUEUE, ("deq", 3), "3*3+2", false, (20, "0/118", 49584, "0.8", "2m36s"))),
    wide(row("Quasi Queue (qfactor=3)", QUEUE, ("deq", 3), "3*4+1", false, (35, "0/198", 108_480, "1.6", "10m15s"))),
    wide(row("Quasi Queue (qfactor=3)", QUEUE, ("deq", 3), "4*4+0", false, (70, "0/476", 407_232, "2.6", "69m32s"))),
    row("Quasi Queue b1", "neither/quasi_queue_b1", ("deq", 2), "2*2+4", true, (6, "41/91", 11452, "0.3", "20.1")),
    row("Quasi Queue b2", "neither/quasi_queue_b2", ("deq", 2), "2*2+4", true, (6, "91/91", 11452, "0.3", "20.2")),
    row("Quasi Queue b3", "neither/quasi_queue_b3", ("deq", 2), "2*2+4", true, (6, "73/141", 18284, "0.3", "31.0")),
    row("Quasi Stack b1", "neither/quasi_stack_b1", ("pop", 2), "2*2+4", true, (6, "9/9", 2108, "0.3", "3.5")),
    row("Quasi Stack b2", "neither/quasi_stack_b2", ("pop", 2), "2*2+4", true, (6, "6/16", 1708, "0.3", "2.8")),
    row("Quasi Stack b3", "linearizable/quasi_stack", ("pop", 2), "2*2+4", false, (6, "0/16", 1708, "0.3", "2.8")),
    row(
        "Quasi Priority Queue",
        "quasi/quasi_priority_queue",
        ("poll", 2),
        "2*2+4",
        false,
        (6, "0/16", 1708, "0.5", "4.7"),
    ),
    row(
        "Quasi Priority Queue b2",
        "neither/quasi_priority_queue_b2",
        ("poll", 2),
        "2*2+4",
        true,
        (6, "54/125", 6384, "0.5", "20.0"),
    ),
];

const TABLE_V: [Row; 21] = [
    scal("sl-queue (enq+deq)", "neither/sl_queue", "deq", "enq*deq+12", false, (2, "0/2", 1032, "0.38", "1.61")),
    scal("sl-queue (enq+enq)", "neither/sl_queue", "deq", "enq*enq+12", true, (2, "1/2", 1032, "0.37", "1.78")),
    scal("sl-queue (deq+deq)", "neither/sl_queue", "deq", "deq*deq+12", true, (2, "4/8", 5160, "0.37", "7.21")),
    scal(
        "t-stack (push+pop)",
        "linearizable/treiber_stack",
        "pop",
        "push*pop+12",
        false,
        (2, "0/8", 5160, "0.58", "7.77"),
    ),
    scal(
        "t-stack (push+push)",
        "linearizable/treiber_stack",
        "pop",
        "push*push+12",
        false,
        (2, "0/8", 5160, "0.59", "7.78"),
    ),
    scal(
        "t-stack (pop+pop)",
        "linearizable/treiber_stack",
        "pop",
        "pop*pop+12",
        false,
        (2, "0/8", 5160, "0.56", "7.63"),
    ),
    scal("ms-queue (enq+deq)", "linearizable/ms_queue", "deq", "enq*deq+12", false, (2, "0/3", 1720, "0.76", "2.94")),
    scal(
        "ms-queue (enq+enq)",
        "linearizable/ms_queue",
        "deq",
        "enq*enq+12",
        false,
        (2, "0/31", 20984, "0.79", "32.47"),
    ),
    scal("ms-queue (deq+deq)", "linearizable/ms_queue", "deq", "deq*deq+12", false, (2, "0/12", 7912, "0.76", "12.33")),
    scal("rd-queue (enq+deq)", "quasi/rd_queue", "deq", "enq*deq+12", false, (2, "0/5", 3096, "0.90", "5.97")),
    scal("rd-queue (enq+enq)", "quasi/rd_queue", "deq", "enq*enq+12", false, (2, "0/31", 20984, "0.91", "37.83")),
    scal("rd-queue (deq+deq)", "quasi/rd_queue", "deq", "deq*deq+12", false, (2, "0/4", 2408, "0.87", "7.31")),
    scal("bk-queue (enq+deq)", "quasi/bounded_k_fifo", "deq", "enq*deq+12", false, (2, "0/29", 19608, "1.27", "34.45")),
    scal("bk-queue (enq+enq)", "quasi/bounded_k_fifo", "deq", "enq*enq+12", false, (2, "0/41", 27864, "1.30", "50.98")),
    scal("bk-queue (deq+deq)", "quasi/bounded_k_fifo", "deq", "deq*deq+12", false, (2, "0/24", 16168, "1.22", "28.11")),
    scal(
        "ubk-queue (enq+deq)",
        "quasi/unbounded_k_fifo",
        "deq",
        "enq*deq+12",
        false,
        (2, "0/21", 14104, "2.42", "35.71"),
    ),
    scal(
        "ubk-queue (enq+enq)",
        "quasi/unbounded_k_fifo",
        "deq",
        "enq*enq+12",
        false,
        (2, "0/41", 27864, "1.86", "61.94"),
    ),
    scal(
        "ubk-queue (deq+deq)",
        "quasi/unbounded_k_fifo",
        "deq",
        "deq*deq+12",
        false,
        (2, "0/52", 35432, "1.84", "68.21"),
    ),
    scal("k-stack (push+pop)", "neither/k_stack", "pop", PUSH_POP, true, (2, "11/69", 47128, "1.55", "1m29s")),
    scal("k-stack (push+push)", "neither/k_stack", "pop", PUSH_PUSH, false, (2, "0/12", 7192, "1.69", "15.13")),
    scal("k-stack (pop+pop)", "neither/k_stack", "pop", POP_POP, false, (2, "0/8", 5160, "1.62", "9.46")),
];

const HEAD: &str = "\
# Tables II, III and V of Round-Up

Written by `cargo run --release -p selvedge-cli --example quasi_tables > docs/quasi-tables.md`, which fails when a row gets another answer
than the paper's. The programs are those of `corpus/relaxed`, written for this project from the published algorithms: other code than the
paper's, so counts say how much was looked at, not whether the same was. The paper's times are from another machine.

What is taken here:

- *Calls* `a*b+c`: two threads with a and b calls, and c calls of the main thread, which puts values in before and drains the object after
  (`selvedge test FILE --shape 4*4+0`, for table V `--shape enq*deq+12` and so on). A thread inserts first and then removes.
  The k-stack's main thread also pops before the threads start, so that they find an empty segment on top, as section VI-D has it.
- *Specification*: the golden model in each program (`SELVEDGE_REFERENCE`), a sequential queue, stack or priority queue; the Herlihy-Wing queue, whose
  removals wait, is its own.
- *Criterion*: `--quasi deq=K --reading closed` (`pop`, `poll`), K = 0 for table II, K = 2 otherwise unless the row says 3. The tests are well-formed.
- *Search*: `--strategy dpor`, every schedule up to equivalence; `--every-matrix`, so that a search goes on after a violation and all histories
  are counted. *Partly* would say that a search was cut short after its violation.
- *Linearizations* is the number of orders that Round-Up would enumerate (its column *sequentialization* in table II); *states* is what the checker
  looked at instead, for linearizability and then for the factor. Tables III and V count permutations in the paper; nothing is permuted here.
- *Serial histories* differ where a reference answers the same in several orders: the paper removes equal ones, and so does phase 1.
- *Runs* are those of both phases, and serial ones that the criterion asks for when it needs to know what the specification does further on: how many depends
  on the factor, so the same program may take a few more or less.
- *Time* is processor time of both phases, without compiling.
";

/// Builds programs and runs them.
struct Bench {
    runtime: PathBuf,
    root: PathBuf,
    scratch: tempfile::TempDir,
}

impl Bench {
    fn new() -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let profile = own.parent().and_then(Path::parent).ok_or("no directory above the program")?;
        let places = [profile.join("libselvedge_runtime.so"), profile.join("deps/libselvedge_runtime.so")];
        let runtime = places.into_iter().find(|place| place.exists()).ok_or("the runtime was not built")?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Bench { runtime, root, scratch })
    }

    fn run(&self, row: &Row) -> Result<ObjectReport, String> {
        let include = self.root.join("crates/driver/include");
        let flags = row.flags.iter().map(|flag| flag.to_string()).collect();
        let compiler = Compiler { cc: "gcc".into(), flags, include, runtime: self.runtime.clone() };
        let path = self.scratch.path().join("program");
        let source = self.root.join("corpus/relaxed").join(row.program).with_extension("c");
        compile(&compiler, &[source], &path).map_err(|error| error.to_string())?;
        let mut settings = Settings { search: Search::Dpor, ..Settings::default() };
        let given = if row.shape.contains('|') { Given::Matrix } else { Given::Shape };
        settings.object = ObjectOptions {
            matrices: vec![given(row.shape.to_owned())],
            quasi: vec![format!("{}={}", row.quasi.0, row.quasi.1)],
            reading: Some(Reading::Closed),
            keep_going: true,
            as_it_is: true,
            ..ObjectOptions::default()
        };
        let program = Program::new(path, &self.runtime).map_err(|error| error.to_string())?;
        let session = run(&program, &settings, self.scratch.path());
        let report = session.map_err(|error| error.to_string())?.report;
        let object = report.objects.into_iter().next().ok_or("there is no object")?;
        match &object.error {
            Some(error) => Err(error.to_string()),
            None => Ok(object),
        }
    }
}

const COLUMNS: &str = "\
| class | calls | violation | serial histories (paper) | histories buggy/all (paper) | linearizations (paper) | states | runs | time (paper: phase 1, 2) |
|---|---|---|---|---|---|---|---|---|
";

fn line(row: &Row, report: &ObjectReport) -> Result<(String, bool), String> {
    let record = report.records.first().ok_or("there is no record of the matrix")?;
    let counts = record.quasi.ok_or("nothing was counted")?;
    let whole = matches!(record.coverage, CoverageRecord::Exhaustive);
    let fails = !report.findings.is_empty();
    if !(fails || whole && report.complete) {
        return Err(format!("not everything was covered: {:?}", report.limit));
    }
    let (serial, histories, orders, first, second) = row.paper;
    let answer = match (fails, whole) {
        (false, _) => "no",
        (true, true) => "yes",
        (true, false) => "yes (partly)",
    };
    let text = format!(
        "| {} | {} | {answer} | {} ({serial}) | {}/{} ({histories}) | {} ({orders}) | {} | {} | {:.2} s ({first}, {second}) |",
        row.name,
        row.calls,
        record.serial_full + record.serial_stuck,
        counts.histories_buggy,
        record.histories,
        counts.linearizations,
        counts.states,
        record.serial_runs + record.runs,
        record.serial_seconds + record.seconds,
    );
    Ok((text, fails == row.violation))
}

fn tables() -> Result<(String, Vec<String>), String> {
    let bench = Bench::new()?;
    let mut text = HEAD.to_owned();
    let mut others = Vec::new();
    let began = Instant::now();
    let all: [(&str, &[Row]); 3] = [
        ("Table II: linearizability", &TABLE_II),
        ("Table III: quasi linearizability", &TABLE_III),
        ("Table V: quasi linearizability of the Scal kinds", &TABLE_V),
    ];
    for (title, rows) in all {
        write!(text, "\n## {title}\n\n{COLUMNS}").map_err(|error| error.to_string())?;
        for row in rows {
            let report = bench.run(row).map_err(|error| format!("{} {}: {error}", row.name, row.calls))?;
            let (line, same) = line(row, &report).map_err(|error| format!("{} {}: {error}", row.name, row.calls))?;
            eprintln!("{line}");
            text += &format!("{line}\n");
            if !same {
                others.push(format!("{} {}", row.name, row.calls));
            }
        }
    }
    let _ = std::fs::remove_dir_all(&bench.scratch);
    let seconds = began.elapsed().as_secs_f64();
    let build = if cfg!(debug_assertions) { " This was an unoptimised build (without `--release`)." } else { "" };
    text += &format!("\nAll three tables took {seconds:.0} s, with compiling, one program after the other.{build}\n");
    Ok((text, others))
}

fn main() -> ExitCode {
    match tables() {
        Ok((text, others)) if others.is_empty() => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Ok((text, others)) => {
            print!("{text}");
            eprintln!("another answer than the paper's: {}", others.join(", "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
