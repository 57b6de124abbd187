//! `selvedge doctor`: what this machine has, what it lacks, and how to get it.
//!
//! Invariant: nothing is called good that was not tried. A compiler is good when a test that it compiled, and that fails under one schedule
//! alone, was run and failed.

use std::fs;
use std::process::Command;

use clap::Args;
use selvedge_driver::rust::toolchain;
use selvedge_driver::{self as driver, supported};
use selvedge_protocol::{FindingKind, Search, Settings};
use serde::Serialize;

use crate::cache;
use crate::exit::Exit;
use crate::library::Places;
use crate::program::{Recipe, Scratch};
use crate::report::json;
use crate::report::print::say;
use crate::report::text::{FAIL, FAINT, PASS, UNKNOWN, clean, paint, paragraph};

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "\
Exit codes:
  0    tests of C code, C++ code or Rust code can be run
  2    none of them can")]
pub struct Flags {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// How it stands with one thing.
#[derive(Serialize)]
struct Finding {
    /// How to get what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
    /// What was seen.
    says: String,
    state: State,
    /// What it is for.
    what: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    Missing,
    /// Missing, and only some things need it.
    Optional,
}

const C: &str = "tests of C code";
const CXX: &str = "tests of C++ code";
const RUST: &str = "tests of Rust code";

/// Looks at everything and says what was seen.
pub fn run(flags: &Flags) -> Exit {
    let places = Places::from_environment();
    let mut findings = vec![platform(), runtime(&places)];
    if findings.iter().all(|finding| finding.state == State::Good) {
        findings.push(compiler(C, "gcc", "trial.c", C_TRIAL, &places));
        findings.push(compiler(CXX, "gcc", "trial.cc", CXX_TRIAL, &places));
        findings.push(State::Optional.unless_good(compiler(
            "tests with --cc clang",
            "clang",
            "trial.c",
            C_TRIAL,
            &places,
        )));
        findings.push(rust());
    }
    findings.push(debugger());
    let usable = findings.iter().any(|finding| [C, CXX, RUST].contains(&finding.what) && finding.state == State::Good);
    if flags.json {
        say(&json::doctor(usable, &findings));
    } else {
        let text: String = findings.iter().map(Finding::text).collect();
        let end =
            if usable { "Ready." } else { "Recorded histories and models can be checked; tests cannot be run here." };
        say(&format!("{text}\n{end}\n"));
    }
    if usable { Exit::Pass } else { Exit::Input }
}

impl State {
    fn unless_good(self, finding: Finding) -> Finding {
        if finding.state == State::Good { finding } else { Finding { state: self, ..finding } }
    }
}

impl Finding {
    fn good(what: &'static str, says: impl Into<String>) -> Self {
        Finding { what, state: State::Good, says: says.into(), advice: None }
    }

    fn missing(what: &'static str, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { what, state: State::Missing, says: says.into(), advice: Some(advice.into()) }
    }

    fn text(&self) -> String {
        let label = match self.state {
            State::Good => paint(PASS, "good   "),
            State::Missing => paint(FAIL, "missing"),
            State::Optional => paint(UNKNOWN, "lacking"),
        };
        let mut text = format!("{label}  {}\n", self.what);
        for line in self.says.lines().take(6) {
            text += &paragraph(&clean(line), 9);
        }
        if let Some(advice) = &self.advice {
            text += &paint(FAINT, paragraph(advice, 9));
        }
        text
    }
}

fn platform() -> Finding {
    let (architecture, system) = (std::env::consts::ARCH, std::env::consts::OS);
    match supported(architecture, system) {
        Ok(()) => Finding::good("platform", format!("{system} on {architecture}")),
        Err(error) => Finding::missing(
            "platform",
            format!("{system} on {architecture}: {error}"),
            "Recorded histories (check) and models (model) work everywhere.",
        ),
    }
}

fn runtime(places: &Places) -> Finding {
    match places.find() {
        Ok(path) => Finding::good("runtime", path.display().to_string()),
        Err(reason) => Finding::missing("runtime", reason, Places::advice()),
    }
}

const C_TRIAL: &str = "#include <assert.h>\n#include <pthread.h>\n#include <selvedge.h>\n#include <stdatomic.h>\n#include <stddef.h>\n\
    static atomic_int x;\n\
    static void *add(void *p) { (void)p; int seen = atomic_load(&x); atomic_store(&x, seen + 1); return NULL; }\n\
    SELVEDGE_TEST(trial) {\n\
    pthread_t t;\n pthread_create(&t, NULL, add, NULL);\n add(NULL);\n pthread_join(t, NULL);\n assert(atomic_load(&x) == 2);\n}\n";

const CXX_TRIAL: &str = "#include <atomic>\n#include <cassert>\n#include <selvedge.h>\n#include <thread>\n\
    static std::atomic<int> x;\n\
    static void add() { int seen = x.load(); x.store(seen + 1); }\n\
    SELVEDGE_TEST(trial) { std::thread t(add); add(); t.join(); assert(x.load() == 2); }\n";

/// Compiles a test that fails under some schedules, and lets it fail.
fn compiler(what: &'static str, cc: &str, file: &str, text: &str, places: &Places) -> Finding {
    let advice = match (what, cc) {
        (CXX, _) => "Debian and Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++",
        (_, "clang") => {
            "Only needed for --cc clang. Debian and Ubuntu: apt-get install clang; Fedora: dnf install clang"
        }
        _ => "Debian and Ubuntu: apt-get install gcc libc6-dev; Fedora: dnf install gcc",
    };
    match trial(cc, file, text, places) {
        Ok(runs) => Finding::good(what, format!("{}: a trial fails as it should, in run {runs}", version(cc))),
        Err(reason) => Finding::missing(what, reason, advice),
    }
}

fn trial(cc: &str, file: &str, text: &str, places: &Places) -> Result<u64, String> {
    let temporary = std::env::temp_dir();
    let scratch = Scratch::new(&temporary).map_err(|error| error.to_string())?;
    let source = scratch.path().join(file);
    fs::write(&source, text).map_err(|error| error.to_string())?;
    let directory = scratch.path().to_path_buf();
    let recipe = Recipe { directory, cc: cc.to_owned(), flags: vec![], sources: vec![source] };
    let built = recipe.build(places, &temporary).map_err(|trouble| trouble.reason)?;
    let settings = Settings { search: Search::Bounded, ..Settings::default() };
    let session = driver::run(&built.program, &settings, &built.directory).map_err(|error| error.to_string())?;
    let found = session.report.tests.iter().flat_map(|test| &test.findings).next();
    match found {
        Some(finding) if finding.kind == FindingKind::Assertion => Ok(finding.run),
        Some(finding) => Err(format!("a trial ended with {}: {}", finding.kind.name(), finding.cause)),
        None => Err("a trial that should fail under some schedules did not fail".to_owned()),
    }
}

/// The first line of what a program says of its version.
fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or(program).to_owned()
}

fn rust() -> Finding {
    const ADVICE: &str = "The toolchains that rustup installs have everything.";
    let Some(cache) = cache::from_environment() else {
        let says = format!(
            "no place for the instrumented standard library: expected {}, XDG_CACHE_HOME or HOME",
            cache::VARIABLE
        );
        return Finding::missing(RUST, says, format!("Set {} to a directory that can be written.", cache::VARIABLE));
    };
    match toolchain(&cache) {
        Ok(toolchain) => {
            let standing = if toolchain.prepared { "is prepared" } else { "will be prepared at the first test" };
            let at = toolchain.sysroot.display();
            Finding::good(
                RUST,
                format!("rustc {}; its instrumented standard library {standing}, in {at}", toolchain.release),
            )
        }
        Err(error) => Finding::missing(RUST, error.to_string(), ADVICE),
    }
}

fn debugger() -> Finding {
    let found = ["gdb", "lldb"].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    match found {
        Some(name) => Finding::good("replay --break", version(name)),
        None => Finding {
            state: State::Optional,
            ..Finding::missing(
                "replay --break",
                "neither gdb nor lldb is here",
                "Only needed to stop in a debugger. Debian and Ubuntu: apt-get install gdb; Fedora: dnf install gdb",
            )
        },
    }
}
