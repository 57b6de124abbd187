//! Runs the tests of one test program, each in a process of its own, and prints what the harness of Rust would print.
//!
//! Cargo starts this in place of the program (its *runner*). Invariant: what a test does depends neither on the tests before it nor on those
//! beside it: what the standard library keeps for the whole process, numbers of threads for example, is new for each, and so
//! a replay of one test alone meets what the search met. A program that is no harness runs as it is.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use selvedge_protocol::channel::{self, DIRECTORY_VARIABLE, SETTINGS_VARIABLE};
use selvedge_protocol::{ObjectFinding, ObjectKind, Report, Settings, wire};

use super::reports::{EXPECTED, LOST, Marked, only_panics};

/// The variable that names the runtime that the tests are to be loaded with.
pub const PRELOAD_VARIABLE: &str = "SELVEDGE_PRELOAD";

/// The variable that makes searches panic at once.
const PROBE_VARIABLE: &str = "SELVEDGE_PROBE";

/// The flags of the harness that concern one test; the others choose tests, or say how they are printed.
const OF_ONE_TEST: [&str; 6] =
    ["--nocapture", "--no-capture", "--show-output", "--ignored", "--include-ignored", "--force-run-in-process"];

/// The flags that the process of one test gets, of all that the program was given.
pub fn flags(arguments: &[OsString]) -> Vec<String> {
    let words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
    words.filter(|word| OF_ONE_TEST.contains(&word.as_str())).collect()
}

/// Runs the tests of a program; the code that it would have ended with.
pub fn run(words: Vec<OsString>) -> i32 {
    let [program, arguments @ ..] = words.as_slice() else { return 2 };
    let harness = Harness { program, arguments };
    let direct = ["--list", "--help", "-h", "--bench"].iter().any(|flag| arguments.iter().any(|word| word == flag));
    let names = if direct || !is_harness(program.as_ref()) { None } else { harness.list() };
    match names {
        Some(names) => harness.run_each(&names),
        None => {
            let status = harness.command().args(arguments).status();
            status.map_or(2, code)
        }
    }
}

/// Whether the program takes the flags of Rust's harness: the words of its help are in it. Another one would run its tests when it is asked
/// to list them.
fn is_harness(program: &Path) -> bool {
    std::fs::read(program).is_ok_and(|bytes| memchr::memmem::find(&bytes, b"include-ignored").is_some())
}

/// As a shell tells it.
fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

struct Harness<'a> {
    program: &'a OsString,
    arguments: &'a [OsString],
}

/// What came of a test.
struct Done {
    number: usize,
    output: Option<Output>,
}

impl Harness<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        if let Some(runtime) = std::env::var_os(PRELOAD_VARIABLE) {
            command.env("LD_PRELOAD", runtime);
        }
        command.env("RUST_TEST_THREADS", "1");
        command
    }

    /// The tests that the program would run; `None` when it does not say, as one without the harness.
    fn list(&self) -> Option<Vec<String>> {
        let output = self.command().args(self.arguments).args(["--list", "--format", "terse"]).output().ok()?;
        if !output.status.success() {
            return None;
        }
        let text = String::from_utf8(output.stdout).ok()?;
        let name = |line: &str| line.strip_suffix(": test").or(line.strip_suffix(": benchmark")).map(str::to_owned);
        text.lines().filter(|line| !line.is_empty()).map(name).collect()
    }

    fn run_each(&self, names: &[String]) -> i32 {
        let began = Instant::now();
        let settings = std::env::var(SETTINGS_VARIABLE).ok();
        let settings: Settings = settings.and_then(|text| wire::decode(&text).ok()).unwrap_or_default();
        let jobs = settings.jobs.max(1) as usize;
        let at_once = jobs.clamp(1, names.len().max(1));
        println!("\nrunning {} test{}", names.len(), if names.len() == 1 { "" } else { "s" });
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let mut tally = Tally { harness: Some(self), names, ..Tally::default() };
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                let (sender, next, settings) = (sender.clone(), &next, &settings);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(name) = names.get(number) else { return };
                        // Workers that no test needs any more are for those that are left.
                        let jobs = (jobs / (names.len() - number).min(at_once)).max(1) as u32;
                        let output = self.run_one(name, &Settings { jobs, ..settings.clone() });
                        // The other end is gone only when everything is.
                        let _ = sender.send(Done { number, output });
                    }
                });
            }
            drop(sender);
            let mut waiting: Vec<Done> = Vec::new();
            for done in receiver {
                waiting.push(done);
                // In the order of the list, whoever was first.
                while let Some(at) = waiting.iter().position(|done| done.number == tally.shown) {
                    tally.show(waiting.swap_remove(at).output);
                }
            }
        });
        tally.finish(began)
    }

    fn run_one(&self, name: &str, settings: &Settings) -> Option<Output> {
        self.command_for(name, settings).output().ok()
    }

    fn command_for(&self, name: &str, settings: &Settings) -> Command {
        let mut command = self.command();
        command.args(flags(self.arguments)).args(["--exact", name]).stdin(Stdio::null());
        command.env(SETTINGS_VARIABLE, wire::encode(settings));
        command
    }

    /// Whether the test takes any panic for the one that it expects: it is run once more, and panics instead of searching.
    fn takes_any_panic(&self, name: &str) -> bool {
        let mut command = self.command_for(name, &Settings::default());
        command.env(PROBE_VARIABLE, "1").env_remove(DIRECTORY_VARIABLE);
        command.output().is_ok_and(|output| output.status.success())
    }

    /// Says of a test that should panic, and did, whether what its searches found is what it expects: a panic, or what its
    /// `expected` names. Where it is not, what was found.
    fn expects(&self, name: &str) -> Result<(), String> {
        let Some(directory) = std::env::var_os(DIRECTORY_VARIABLE) else { return Ok(()) };
        let directory = Path::new(&directory);
        let executable = std::fs::canonicalize(self.program).unwrap_or_else(|_| self.program.into());
        let (mut found, mut others) = (false, Vec::new());
        for report in reports_of(directory, &executable, name) {
            for test in &report.tests {
                found |= !test.findings.is_empty();
                others.extend(
                    test.findings.iter().filter(|_| !only_panics(test, None)).map(|other| other.cause.to_string()),
                );
            }
            for object in &report.objects {
                found |= !object.findings.is_empty();
                let other = |found: &&ObjectFinding| found.kind != ObjectKind::Panic;
                others.extend(object.findings.iter().filter(other).map(|other| other.finding.cause.to_string()));
            }
        }
        if !others.is_empty() && self.takes_any_panic(name) {
            return Err(others.join("\n"));
        }
        if found {
            mark(directory, EXPECTED, executable, name);
        }
        Ok(())
    }
}

/// What the searches of one test reported.
fn reports_of(directory: &Path, executable: &Path, name: &str) -> Vec<Report> {
    let told = channel::read(directory).into_iter();
    let reports = told.filter_map(|told| if let channel::Told::Report(report) = told { Some(*report) } else { None });
    let of_test = |report: &Report| {
        report.host.as_ref().is_some_and(|host| host.executable == executable && host.function.as_deref() == Some(name))
    };
    reports.filter(of_test).collect()
}

/// Leaves word of a test for whoever reads the reports.
fn mark(directory: &Path, end: &str, executable: PathBuf, function: &str) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!("{}-{number}.{end}", std::process::id()));
    let marked = Marked { executable, function: function.to_owned() };
    // Without it the test counts as one that failed, or whose report is missing.
    let _ = std::fs::write(path, wire::encode(&marked));
}

/// What was shown so far.
#[derive(Default)]
struct Tally<'a> {
    harness: Option<&'a Harness<'a>>,
    names: &'a [String],
    shown: usize,
    passed: usize,
    ignored: usize,
    unknown: usize,
    failed: Vec<(&'a str, String)>,
    outputs: Vec<(&'a str, String)>,
}

impl Tally<'_> {
    fn show(&mut self, output: Option<Output>) {
        let name = &self.names[self.shown];
        self.shown += 1;
        let Some(output) = output else {
            println!("test {name} ... FAILED");
            self.failed.push((name, "the test program could not be started\n".to_owned()));
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let mut told = Told::read(name, &text);
        let refused =
            told.refuse(output.status.success(), || self.harness.map_or(Ok(()), |harness| harness.expects(name)));
        let lost = output.status.success() && !told.complete;
        if lost && let (Some(harness), Some(directory)) = (self.harness, std::env::var_os(DIRECTORY_VARIABLE)) {
            mark(Path::new(&directory), LOST, harness.program.into(), name);
        }
        let line = told.line.clone().unwrap_or_else(|| {
            let verdict = if lost { "UNKNOWN" } else { "FAILED" };
            format!("test {name} ... {verdict}")
        });
        println!("{line}");
        // What the test printed past the harness.
        let _ = std::io::stderr().write_all(stderr.as_bytes());
        if let Some(found) = refused {
            self.failed.push((name, found));
        } else if lost {
            self.unknown += 1;
            print!("{text}");
        } else if output.status.success() {
            match line.contains(" ... ignored") {
                true => self.ignored += 1,
                false => self.passed += 1,
            }
            self.outputs.extend(told.printed.map(|printed| (name.as_str(), printed)));
        } else {
            let ended = || format!("{text}the test program ended with {}\n", output.status);
            self.failed
                .push((name, told.printed.unwrap_or_else(|| if told.complete { String::new() } else { ended() })));
        }
    }

    fn finish(self, began: Instant) -> i32 {
        for (title, list) in [("successes", &self.outputs), ("failures", &self.failed)] {
            if list.is_empty() {
                continue;
            }
            println!("\n{title}:\n");
            for (name, printed) in list.iter().filter(|(_, printed)| !printed.is_empty()) {
                println!("---- {name} stdout ----\n{}\n", printed.trim_end());
            }
            println!("\n{title}:");
            list.iter().for_each(|(name, _)| println!("    {name}"));
        }
        let verdict = match (self.failed.is_empty(), self.unknown) {
            (true, 0) => "ok",
            (true, _) => "UNKNOWN",
            (false, _) => "FAILED",
        };
        let unknown = if self.unknown > 0 { format!("{} unknown; ", self.unknown) } else { String::new() };
        println!(
            "\ntest result: {verdict}. {} passed; {} failed; {unknown}{} ignored; 0 measured; finished in {:.2}s\n",
            self.passed,
            self.failed.len(),
            self.ignored,
            began.elapsed().as_secs_f64()
        );
        // What the harness answers.
        if self.failed.is_empty() { 0 } else { 101 }
    }
}

/// What the harness said of its one test.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    /// `test name ... ok`
    line: Option<String>,
    /// What the test printed.
    printed: Option<String>,
    /// Whether the harness came to its end.
    complete: bool,
}

impl Told {
    /// Makes a test that panicked as it should one that failed, when what was found is not what it expects; what that is.
    fn refuse(&mut self, success: bool, expects: impl FnOnce() -> Result<(), String>) -> Option<String> {
        let line = self.line.as_mut().filter(|line| success && line.contains(" - should panic ... ok"))?;
        let found = expects().err()?;
        *line = line.replace(" ... ok", " ... FAILED");
        Some(format!(
            "the test should panic, and what a schedule shows is no panic:\n{found}\nnote: `#[should_panic(expected = \"...\")]` can \
             name it\n"
        ))
    }

    fn read(name: &str, text: &str) -> Told {
        let is_verdict = |line: &&str| {
            let verdict = line.strip_prefix("test ").and_then(|rest| rest.strip_prefix(name));
            verdict.and_then(|rest| rest.split_once(" ... ")).is_some_and(|(_, said)| !said.is_empty())
        };
        let line = text.lines().find(is_verdict).map(str::to_owned);
        let heading = format!("---- {name} stdout ----\n");
        let printed = text.split_once(&heading).map(|(_, rest)| {
            let end = rest.rfind("\nfailures:\n").or_else(|| rest.rfind("\nsuccesses:\n")).unwrap_or(rest.len());
            rest[..end].trim_end().to_owned() + "\n"
        });
        Told { line, printed, complete: text.contains("\ntest result: ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_harness_says_is_read() {
        let passed = "\nrunning 1 test\ntest a::b ... ok\n\ntest result: ok. 1 passed;\n";
        let told = Told { line: Some("test a::b ... ok".into()), printed: None, complete: true };
        assert_eq!(Told::read("a::b", passed), told);
        let failed = "\nrunning 1 test\ntest t - should panic ... FAILED\n\nfailures:\n\n---- t stdout ----\nx\n\nfailures:\ny\n\n\
                      failures:\n    t\n\ntest result: FAILED. 0 passed\n";
        let told = Told::read("t", failed);
        assert_eq!(told.line.as_deref(), Some("test t - should panic ... FAILED"));
        assert_eq!(told.printed.as_deref(), Some("x\n\nfailures:\ny\n"));
        assert_eq!(Told::read("t", "test other ... ok\n"), Told::default());
        assert_eq!(Told::read("t", "test t ... \n"), Told::default());
    }

    #[test]
    fn flags_of_one_test_are_kept() {
        let words = ["filter", "--nocapture", "--skip", "x", "--ignored", "--test-threads=1"].map(OsString::from);
        assert_eq!(flags(&words), ["--nocapture", "--ignored"]);
    }
}
