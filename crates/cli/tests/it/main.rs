//! The binary as its users run it: flags in, text and exit codes out.

mod arguments;
mod bad_input;
mod browser;
mod cargo;
mod cargo_verdicts;
mod check;
mod choices;
mod commands;
mod counting;
mod documents;
mod errors;
mod frameworks;
mod house;
mod limits;
mod lost;
mod manual;
mod modelling;
mod monitoring;
mod objects;
mod page;
mod quasi;
mod races;
mod relaxed;
mod renderings;
mod reports;
mod sentences;
mod specified;
mod tables;
mod testing;
mod uncontrolled;
mod usage;
mod verdicts;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal};
use selvedge_needs::{Need, has, has_cpp, has_program, skip};

/// The root of the repository, where every run starts.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A command that nothing in the environment colours.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    command.args(args).current_dir(root());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command
}

/// What a run left behind.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    fn new(output: Output) -> Self {
        Run {
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).expect("reports are UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("errors are UTF-8"),
        }
    }

    /// The one document on standard output.
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }
}

fn selvedge(args: &[&str]) -> Run {
    Run::new(command(args).stdin(Stdio::null()).output().expect("the binary runs"))
}

/// Runs with text on standard input.
fn with_input(args: &[&str], input: &[u8]) -> Run {
    let mut command = command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    // The run may end before it has read everything.
    let _ = stdin.write_all(input);
    drop(stdin);
    Run::new(child.wait_with_output().expect("it ends"))
}

/// A file for one test alone.
fn file(name: &str, content: &[u8]) -> String {
    let path = scratch(name);
    std::fs::write(&path, content).expect("the scratch directory is writable");
    path.to_str().expect("the scratch directory has a plain name").to_owned()
}

/// Sends a signal to a process.
fn signal(process: u32, signal: Signal) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process");
    rustix::process::kill_process(process, signal).expect("it is there");
}

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
    std::fs::create_dir_all(&directory).expect("the scratch directory can be made");
    directory.join(name)
}

/// What is kept between runs of the tool: the standard library, instrumented. It is made once, for the tests of the runtime too, by whoever comes first.
fn cache() -> &'static Path {
    static CACHE: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    CACHE.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sysroot");
        // Where it cannot be made, the command that needs it says why.
        let _ = selvedge_driver::rust::prepare_sysroot(&cache);
        cache
    })
}

/// The sample histories that should get that verdict, as paths from the root.
fn examples(verdict: &str) -> Vec<String> {
    let directory = format!("examples/histories/{verdict}");
    let mut names: Vec<String> = std::fs::read_dir(root().join(&directory))
        .expect("there are examples")
        .map(|entry| format!("{directory}/{}", entry.expect("readable").file_name().to_str().expect("a plain name")))
        .collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?}");
    names
}

const PASS: &str = "examples/histories/pass/queue.jsonl";
const FAIL: &str = "examples/histories/fail/queue-overtaken.jsonl";

/// A deque with repeated values in which everything overlaps: hopeless for any search, and wrong in the end.
fn hard(name: &str) -> String {
    const THREADS: usize = 26;
    let mut text = "{\"selvedge\":\"history\",\"version\":1,\"object\":\"deque\"}\n".to_owned();
    for thread in 0..THREADS {
        text += &format!("{{\"call\":\"push_back\",\"thread\":{thread},\"value\":{}}}\n", thread % 7);
    }
    for thread in 0..THREADS {
        text += &format!("{{\"return\":null,\"thread\":{thread}}}\n");
    }
    for thread in 0..THREADS {
        text += &format!("{{\"call\":\"pop_front\",\"thread\":{thread}}}\n");
    }
    for thread in 0..THREADS {
        let value = if thread == THREADS - 1 { 6 } else { thread % 7 };
        text += &format!("{{\"return\":{value},\"thread\":{thread}}}\n");
    }
    file(name, text.as_bytes())
}
