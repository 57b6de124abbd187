//! Figures 6 and 7 of "Tractable Refinement Checking for Concurrent Objects" for queues of our own: how many violations A_k shows for k up to 4, and what
//! counting costs beside enumerating linearizations.
//!
//! ```text
//! cargo run --release -p selvedge-driver --example figures -- docs [6|7] [preemptions]
//! ```
//!
//! writes `counting-figure-6.svg` and `counting-figure-7.svg` into the directory and prints the tables of docs/counting-figures.md. The queues are those of `queues.c`, compiled and run under
//! the controlled runtime; what they did comes back as histories.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use selvedge_driver::{Compiler, Program, compile, run};
use selvedge_protocol::{CoverageRecord, Search, Settings, TestReport};

mod cost;
mod coverage;
mod events;

/// What every figure needs of the machine.
struct Places {
    compiler: Compiler,
    source: PathBuf,
    scratch: PathBuf,
}

impl Places {
    fn prepare() -> Result<Self, Box<dyn Error>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
        let arguments = ["build", "--release", "-p", "selvedge-runtime", "--target-dir", "target"];
        if !Command::new(env!("CARGO")).args(arguments).current_dir(&root).status()?.success() {
            return Err("the runtime could not be built".into());
        }
        let runtime = root.join("target/release/libselvedge_runtime.so");
        let include = root.join("crates/driver/include");
        let compiler = Compiler { cc: "gcc".into(), flags: Vec::new(), include, runtime };
        let scratch = root.join("target/figures");
        std::fs::create_dir_all(&scratch)?;
        Ok(Places { compiler, source: root.join("crates/driver/examples/figures/queues.c"), scratch })
    }

    /// Runs a queue: each thread does what its letters say, enqueue or dequeue.
    fn test(
        &self,
        queue: &str,
        threads: &[String],
        marked: bool,
        settings: &Settings,
    ) -> Result<TestReport, Box<dyn Error>> {
        let threads: Vec<String> = threads.iter().map(|letters| format!("\"{letters}\"")).collect();
        let mut flags = vec![format!("-DQUEUE={queue}"), format!("-DTHREADS={}", threads.join(","))];
        if !marked {
            flags.push("-DUNMARKED".into());
        }
        let compiler = Compiler { flags, ..self.compiler.clone() };
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let scratch = self.scratch.join(NUMBER.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir_all(&scratch)?;
        let path = scratch.join("queue");
        compile(&compiler, std::slice::from_ref(&self.source), &path)?;
        let report = run(&Program::new(path, &self.compiler.runtime)?, settings, &scratch)?.report;
        std::fs::remove_dir_all(&scratch)?;
        match <[TestReport; 1]>::try_from(report.tests) {
            Ok([test]) if test.findings.is_empty() => Ok(test),
            other => Err(format!("{queue} {threads:?}: expected one test without a finding: {other:?}").into()),
        }
    }

    /// All executions with up to so many preemptions.
    fn all(&self, queue: &str, threads: &[String], preemptions: u32) -> Result<TestReport, Box<dyn Error>> {
        let settings =
            Settings { search: Search::Bounded, preemptions, races: false, histories: true, ..Settings::default() };
        let test = self.test(queue, threads, true, &settings)?;
        let whole = match test.coverage {
            CoverageRecord::Exhaustive => true,
            CoverageRecord::Preemptions(reached) => reached == preemptions,
            _ => false,
        };
        if whole {
            Ok(test)
        } else {
            Err(format!("{queue} {threads:?}: not all executions: {:?}", test.coverage).into())
        }
    }
}

/// Does something for each of a list, on as many processors as there are; what came out, in the order of the list.
fn for_each<T: Sync, R: Send>(list: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((number, item)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    list.get(number).map(|item| (number, item))
                } {
                    let result = work(item);
                    done.lock().expect("no thread panics").push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A line of a picture.
struct Line<'a> {
    name: &'a str,
    points: Vec<(f64, f64)>,
}

/// Lines through points.
fn plot(title: &str, x: &str, y: &str, top: f64, lines: &[Line]) -> String {
    let right = lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).fold(1.0, f64::max);
    let place = |(px, py): (f64, f64)| (60.0 + 420.0 * px / right, 260.0 - 210.0 * (py / top).min(1.0));
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 320\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"720\" height=\"320\" fill=\"white\"/>\n",
    );
    let _ = writeln!(svg, "<text x=\"60\" y=\"24\" font-size=\"14\">{title}</text>");
    let _ = writeln!(svg, "<path d=\"M60 50V260H480\" fill=\"none\" stroke=\"black\"/>");
    let _ =
        writeln!(svg, "<text x=\"270\" y=\"300\" text-anchor=\"middle\">{x}</text><text x=\"60\" y=\"42\">{y}</text>");
    for tick in 0..=4 {
        let share = f64::from(tick) / 4.0;
        let (_, at) = place((0.0, top * share));
        let _ = writeln!(svg, "<text x=\"54\" y=\"{:.0}\" text-anchor=\"end\">{}</text>", at + 4.0, top * share);
        let (at, _) = place((right * share, 0.0));
        let _ = writeln!(svg, "<text x=\"{at:.0}\" y=\"278\" text-anchor=\"middle\">{}</text>", right * share);
    }
    for (number, Line { name, points }) in lines.iter().enumerate() {
        let colour = ["#1b6ca8", "#c0392b", "#2e7d32", "#7b1fa2", "#b26a00", "#455a64"][number % 6];
        let path: Vec<String> =
            points.iter().map(|&point| place(point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        let _ = writeln!(svg, "<text x=\"490\" y=\"{}\" fill=\"{colour}\">{name}</text>", 70 + 20 * number);
    }
    svg + "</svg>\n"
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let only = arguments.next();
    let preemptions = arguments.next().map_or(Ok(5), |number| number.parse())?;
    let wanted = |figure: &str| only.as_deref().is_none_or(|only| only == figure);
    let places = Places::prepare()?;
    if wanted("6") {
        std::fs::write(format!("{directory}/counting-figure-6.svg"), coverage::figure(&places, preemptions)?)?;
    }
    if wanted("7") {
        std::fs::write(format!("{directory}/counting-figure-7.svg"), cost::figure(&places)?)?;
    }
    Ok(())
}
