//! `cargo selvedge test`: `cargo test` with the flags, the standard library and the environment that put tests under control.
//!
//! Invariant: cargo decides whether a test passed, and its output is not touched. What it cannot know, how much of the schedules
//! was covered and what a failing one looks like, is added below.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use clap::Args;
use selvedge_driver::rust::{RustError, TARGET, cargo_environment, prepare_sysroot};
use selvedge_driver::{Watch, supported};
use selvedge_protocol::channel::{self, EXCHANGE_VARIABLE, SETTINGS_VARIABLE, TAKE_OVER_VARIABLE};
use selvedge_protocol::{ObjectOptions, Settings, wire};

use super::harness;
use super::reports::{self, Origin, Seen};
use crate::cache;
use crate::command::objects::ObjectFlags;
use crate::exit::Exit;
use crate::findings::CargoBuild;
use crate::guard::end_group;
use crate::library::{self, Places};
use crate::program::Scratch;
use crate::report::print::{Printer, complain, keep_page};
use crate::report::tested::Session;
use crate::report::text::tested::NOTHING;
use crate::report::{Outcome, Wanted};
use crate::search::{Asked, SearchFlags};

/// What cargo splits encoded flags at.
const SEPARATOR: &str = "\u{1f}";

/// The flags of the harness with which no test runs.
const LISTS: [&str; 3] = ["--list", "--help", "-h"];

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "\
The flags above come first; the first word that is none of them, and all after
it, are for `cargo test`.

Exit codes:
  0    pass: no test failed, in what was covered, which the report states
  1    a test failed
  2    wrong usage or environment: no runtime, no bitcode, a compile error
  3    unknown: no test failed, but a limit was reached
  101  a bug in selvedge

A test is #[test] fn name() { selvedge::explore(|| ...) }.
docs/testing-rust.md tells more, and docs/coverage.md what exactly a pass says.")]
pub struct Flags {
    /// The Cargo.toml of the project
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,

    #[command(flatten)]
    search: SearchFlags,

    #[command(flatten)]
    objects: ObjectFlags,

    /// Arguments of `cargo test`, such as -p NAME, --test NAME or a filter
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CARGO TEST ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Why nothing was tested.
pub enum Trouble {
    /// The runtime is for one architecture and system.
    Unsupported,
    /// The tests have a target already.
    Target,
    /// The tests shall run side by side.
    TestThreads,
    /// There is no runtime.
    NoRuntime(String),
    /// The loader cannot be told of a path with this character.
    Unloadable(PathBuf),
    /// Cargo cannot be told of the path of this program.
    Runner,
    /// There is no place for what is prepared once.
    NoCache,
    /// There is no instrumented standard library.
    StandardLibrary(RustError),
    /// A directory for reports could not be made.
    Reports(PathBuf, std::io::Error),
    /// The tests do not compile.
    Refused,
    /// Cargo could not be started.
    Cargo(OsString, std::io::Error),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("error: ")?;
        match self {
            Trouble::Unsupported => write!(f, "tests can be controlled on {TARGET} only"),
            Trouble::Target => write!(f, "--target cannot be given: tests can be controlled on {TARGET} only"),
            Trouble::TestThreads => {
                f.write_str("--test-threads can only be 1: one search at a time has control of the process")
            }
            Trouble::NoRuntime(why) => write!(f, "{why}\n  {}", Places::advice()),
            Trouble::Unloadable(path) => write!(
                f,
                "the runtime cannot be loaded from `{}`: expected a path without blanks and colons\n  \
                 put it elsewhere, and name it with {}",
                path.display(),
                library::VARIABLE
            ),
            Trouble::Runner => {
                f.write_str("cargo cannot start cargo-selvedge: expected a path to it without blanks and colons")
            }
            Trouble::NoCache => write!(
                f,
                "there is no place for the instrumented standard library: expected {}, XDG_CACHE_HOME or HOME",
                cache::VARIABLE
            ),
            Trouble::StandardLibrary(error) => {
                write!(f, "the standard library cannot be instrumented: {error}")?;
                match error {
                    RustError::Missing(_) => f.write_str("\n  the toolchains that rustup installs have it"),
                    _ => Ok(()),
                }
            }
            Trouble::Reports(path, error) => write!(f, "`{}` could not be made: {error}", path.display()),
            Trouble::Refused => f.write_str("the tests do not compile any more"),
            Trouble::Cargo(cargo, error) => {
                write!(f, "`{}` could not be started: {error}", cargo.to_string_lossy())
            }
        }
    }
}

/// What it takes to build tests.
struct Tools {
    runtime: PathBuf,
    sysroot: PathBuf,
    /// This program, which runs the tests.
    runner: PathBuf,
}

impl Tools {
    fn find() -> Result<Self, Trouble> {
        supported(std::env::consts::ARCH, std::env::consts::OS).map_err(|_| Trouble::Unsupported)?;
        let runtime = Places::from_environment().find().map_err(Trouble::NoRuntime)?;
        if !loadable(&runtime) {
            return Err(Trouble::Unloadable(runtime));
        }
        let runner = std::env::current_exe().ok().filter(|path| loadable(path)).ok_or(Trouble::Runner)?;
        let cache = cache::from_environment().ok_or(Trouble::NoCache)?;
        let sysroot = prepare_sysroot(&cache).map_err(Trouble::StandardLibrary)?;
        Ok(Tools { runtime, sysroot, runner })
    }
}

/// Builds the tests, runs them, and tells what was covered. `harness` starts with `--`, or is empty.
pub fn run(flags: Flags, harness: Vec<OsString>, started: Instant) -> Result<Exit, Trouble> {
    if flags.arguments.iter().any(|word| is_target(word)) {
        return Err(Trouble::Target);
    }
    if side_by_side(&harness) {
        return Err(Trouble::TestThreads);
    }
    let tools = Tools::find()?;
    let temporary = std::env::temp_dir();
    let made = Scratch::new(&temporary).and_then(|scratch| {
        channel::open(scratch.path())?;
        Ok((Watch::new(scratch.path())?, scratch))
    });
    let (watch, scratch) = made.map_err(|error| Trouble::Reports(temporary, error))?;
    let mut asked = flags.search.resolve();
    asked.search.object = ObjectOptions { races: asked.races, spurious: asked.spurious, ..flags.objects.resolve() };
    let mut environment = environment(&tools, scratch.path(), &asked.search);
    environment.extend(without_lto(&flags.arguments));
    environment.push((EXCHANGE_VARIABLE.into(), watch.path().display().to_string()));
    let cargo = Cargo {
        environment,
        manifest_path: flags.manifest_path,
        arguments: flags.arguments,
        harness,
        // With a document on standard output nothing else may be there.
        quiet: asked.json,
        interrupt: Interrupt::install(watch),
    };
    // First alone: cargo answers the same code for tests that fail and for tests that do not compile. It refuses to do so
    // for tests in documentation, where one that does not compile is a test that fails.
    let only_documentation = cargo.arguments.iter().any(|word| word == "--doc");
    if !only_documentation && !cargo.test(&["--no-run"])?.success() {
        return Ok(if cargo.interrupt.came() { Exit::Unknown } else { Exit::Input });
    }
    if !only_documentation && cargo.arguments.iter().any(|word| word == "--no-run") {
        return Ok(Exit::Pass);
    }
    cargo.interrupt.testing.store(true, Ordering::Release);
    let status = cargo.test(&[])?;
    let interrupted = cargo.interrupt.came();
    let build = cargo.build();
    let origin = Origin { build: &build, runtime: &tools.runtime, interrupted, passed: status.success() };
    let seen = reports::read(scratch.path(), &asked, &origin);
    let exit = cargo.verdict(status, &seen);
    Ok(tell(&cargo, &seen, exit, asked, started))
}

/// Prints and writes what was seen.
fn tell(cargo: &Cargo, seen: &Seen, exit: Exit, asked: Asked, started: Instant) -> Exit {
    let manifest = cargo.manifest_path.as_deref().unwrap_or(Path::new("Cargo.toml")).display().to_string();
    let seconds = started.elapsed().as_secs_f64();
    let outcome = if seen.nothing() && exit == Exit::Input {
        Outcome::wrong(crate::trouble::Trouble::new(&manifest, NOTHING), seconds)
    } else {
        Outcome::Tested(Session {
            file: &manifest,
            compiler: "rustc",
            tests: &seen.tests,
            time_max: asked.time_max,
            seconds,
            exit: Some(exit),
            missing: &seen.missing,
            taken: seen.taken,
        })
    };
    let mut rendered = outcome.render(Wanted::new(asked.html.is_some(), &asked.output));
    let unwritten = keep_page(asked.html.as_deref(), &mut rendered);
    let mut printer = Printer::new(asked.json, asked.output, 1);
    printer.print(rendered);
    printer.finish().worst(unwritten)
}

/// Builds the tests of a finding again, as they were built then; the runtime that they are to run with.
pub fn rebuild(build: &CargoBuild) -> Result<PathBuf, Trouble> {
    let tools = Tools::find()?;
    let arguments: Vec<OsString> = build.cargo.iter().map(OsString::from).collect();
    let nowhere = Path::new("");
    let mut environment = environment(&tools, nowhere, &Settings::default());
    environment.extend(without_lto(&arguments));
    let temporary = std::env::temp_dir();
    let watch = Scratch::new(&temporary).and_then(|scratch| Watch::new(scratch.path()));
    let cargo = Cargo {
        environment,
        manifest_path: build.manifest_path.clone(),
        arguments,
        harness: vec![],
        quiet: true,
        interrupt: Interrupt::without_handler(watch.map_err(|error| Trouble::Reports(temporary, error))?),
    };
    match cargo.test(&["--no-run"])?.success() {
        true => Ok(tools.runtime),
        false => Err(Trouble::Refused),
    }
}

/// What happens at Ctrl-C: the search that is under way ends, and so do those after it; a second one, or one while cargo
/// compiles, ends cargo.
#[derive(Clone)]
struct Interrupt {
    watch: Arc<Watch>,
    came: Arc<AtomicBool>,
    testing: Arc<AtomicBool>,
    group: Arc<AtomicU32>,
}

impl Interrupt {
    fn without_handler(watch: Watch) -> Self {
        let [came, testing] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        Interrupt { watch: Arc::new(watch), came, testing, group: Arc::new(AtomicU32::new(0)) }
    }

    fn install(watch: Watch) -> Self {
        let interrupt = Self::without_handler(watch);
        let handler = interrupt.clone();
        let on_signal = move || {
            let again = handler.came.swap(true, Ordering::AcqRel);
            handler.watch.stop();
            let group = handler.group.load(Ordering::Acquire);
            if group != 0 && (again || !handler.testing.load(Ordering::Acquire)) {
                end_group(group);
            }
        };
        if let Err(error) = ctrlc::set_handler(on_signal) {
            complain(&format!("warning: Ctrl-C will end selvedge without an answer: {error}\n"));
        }
        interrupt
    }

    fn came(&self) -> bool {
        self.came.load(Ordering::Acquire)
    }
}

fn is_target(word: &OsStr) -> bool {
    word == "--target" || word.to_string_lossy().starts_with("--target=")
}

/// Whether the test program is asked to use more than one thread.
fn side_by_side(harness: &[OsString]) -> bool {
    let words: Vec<_> = harness.iter().map(|word| word.to_string_lossy()).collect();
    let separate = words.windows(2).any(|pair| pair[0] == "--test-threads" && pair[1] != "1");
    separate || words.iter().any(|word| word.strip_prefix("--test-threads=").is_some_and(|number| number != "1"))
}

/// Cargo splits the runner at blanks, the loader splits what it loads at blanks and colons.
fn loadable(runtime: &Path) -> bool {
    runtime.to_str().is_some_and(|path| !path.contains(|letter: char| letter.is_whitespace() || letter == ':'))
}

/// Cargo's environment, with the flags that the user's environment asks for kept.
fn environment(tools: &Tools, reports: &Path, settings: &Settings) -> Vec<(String, String)> {
    let mut environment = cargo_environment(&tools.runtime, Some(&tools.sysroot), reports);
    for (name, value) in &mut environment {
        if name.ends_with("_RUNNER") {
            *value = format!("{} selvedge run", tools.runner.display());
        }
        if let Some(kind) = name.strip_prefix("CARGO_ENCODED_") {
            *value = with_flags(value, std::env::var(&name).ok(), std::env::var(kind).ok());
        }
    }
    environment.push((SETTINGS_VARIABLE.into(), wire::encode(settings)));
    environment.push((harness::PRELOAD_VARIABLE.into(), tools.runtime.display().to_string()));
    environment
}

/// What turns optimisation at link time off: the standard library has no bitcode any more, because its own is not instrumented.
fn without_lto(arguments: &[OsString]) -> Vec<(String, String)> {
    let mut profiles = vec!["dev".to_owned(), "test".to_owned(), "release".to_owned(), "bench".to_owned()];
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    for (number, word) in words.iter().enumerate() {
        let next = words.get(number + 1).filter(|_| word == "--profile").map(|next| &**next);
        profiles.extend(word.strip_prefix("--profile=").or(next).map(str::to_owned));
    }
    let variable = |name: String| format!("CARGO_PROFILE_{}_LTO", name.to_uppercase().replace('-', "_"));
    profiles.into_iter().map(|name| (variable(name), "off".to_owned())).collect()
}

/// Our flags after the user's, encoded. Cargo looks at its encoded variable first, then at the plain one.
fn with_flags(ours: &str, encoded: Option<String>, plain: Option<String>) -> String {
    let plain = || plain.map(|flags| flags.split_whitespace().collect::<Vec<_>>().join(SEPARATOR));
    match encoded.or_else(plain).filter(|flags| !flags.is_empty()) {
        Some(theirs) => format!("{theirs}{SEPARATOR}{ours}"),
        None => ours.to_owned(),
    }
}

/// How cargo is called.
struct Cargo {
    environment: Vec<(String, String)>,
    manifest_path: Option<PathBuf>,
    arguments: Vec<OsString>,
    harness: Vec<OsString>,
    quiet: bool,
    interrupt: Interrupt,
}

impl Cargo {
    /// What the tests and their searches come to.
    fn verdict(&self, status: ExitStatus, seen: &Seen) -> Exit {
        let lists = self.harness.iter().any(|word| LISTS.iter().any(|lists| word == lists));
        let exit = match status.code() {
            // Nothing tested is no pass, unless nothing was to be tested.
            Some(0) if seen.nothing() && !lists => Exit::Input,
            Some(0) => seen.covered,
            // An object that cannot be tested panics like one that fails.
            Some(_) if seen.covered == Exit::Input => Exit::Input,
            Some(_) => Exit::Violation,
            None => Exit::Unknown,
        };
        if self.interrupt.came() { exit.worst(Exit::Unknown) } else { exit }
    }

    /// What a finding needs to build its program again.
    fn build(&self) -> CargoBuild {
        CargoBuild {
            directory: std::env::current_dir().unwrap_or_default(),
            manifest_path: self.manifest_path.clone(),
            cargo: self.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            executable: PathBuf::new(),
            ran_in: PathBuf::new(),
            harness: harness::flags(&self.harness),
            function: None,
        }
    }

    /// Runs `cargo test`, with more flags before those of the user.
    fn test(&self, more: &[&str]) -> Result<ExitStatus, Trouble> {
        // Cargo says which one it is to those that it runs.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(&cargo);
        command.args(["test", "--target", TARGET]).args(more);
        if let Some(path) = &self.manifest_path {
            command.arg("--manifest-path").arg(path);
        }
        let missing = |word: &&OsString| !more.iter().any(|flag| *flag == word.as_os_str());
        command.args(self.arguments.iter().filter(missing)).args(&self.harness);
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).env_remove(TAKE_OVER_VARIABLE);
        // In a group of its own: Ctrl-C is answered here, and asks the search to stop. Standard input would stop it.
        command.process_group(0).stdin(Stdio::null());
        if self.quiet {
            use std::os::fd::AsFd;
            let stderr = std::io::stderr().as_fd().try_clone_to_owned();
            command.stdout(stderr.map_or_else(|_| Stdio::null(), Stdio::from));
        }
        let mut child = command.spawn().map_err(|error| Trouble::Cargo(cargo.clone(), error))?;
        self.interrupt.group.store(child.id(), Ordering::Release);
        let status = child.wait().map_err(|error| Trouble::Cargo(cargo, error));
        self.interrupt.group.store(0, Ordering::Release);
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_platform_is_supported() {
        let said = "error: tests can be controlled on x86_64-unknown-linux-gnu only";
        assert_eq!(Trouble::Unsupported.to_string(), said);
    }

    #[test]
    fn what_is_in_the_way_is_told() {
        let full = || std::io::Error::other("no space left");
        let missing = RustError::Missing("the crate `std`".into());
        for (trouble, said) in [
            (Trouble::Target, "--target cannot be given: tests can be controlled on x86_64-unknown-linux-gnu only"),
            (Trouble::TestThreads, "--test-threads can only be 1: one search at a time has control of the process"),
            (
                Trouble::Unloadable("a b/lib.so".into()),
                "the runtime cannot be loaded from `a b/lib.so`: expected a path without blanks and colons\n  \
                 put it elsewhere, and name it with SELVEDGE_RUNTIME",
            ),
            (Trouble::Runner, "cargo cannot start cargo-selvedge: expected a path to it without blanks and colons"),
            (
                Trouble::NoCache,
                "there is no place for the instrumented standard library: expected SELVEDGE_CACHE, XDG_CACHE_HOME or HOME",
            ),
            (
                Trouble::StandardLibrary(missing),
                "the standard library cannot be instrumented: the Rust toolchain lacks the crate `std`\n  \
                 the toolchains that rustup installs have it",
            ),
            (Trouble::Reports("/tmp".into(), full()), "`/tmp` could not be made: no space left"),
            (Trouble::Refused, "the tests do not compile any more"),
            (Trouble::Cargo("cargo".into(), full()), "`cargo` could not be started: no space left"),
        ] {
            assert_eq!(trouble.to_string(), format!("error: {said}"));
        }
    }

    #[test]
    fn the_flags_of_the_user_are_kept() {
        let check = |encoded: Option<&str>, plain: Option<&str>, expected: &str| {
            assert_eq!(with_flags("-Cx", encoded.map(str::to_owned), plain.map(str::to_owned)), expected);
        };
        check(None, None, "-Cx");
        check(None, Some(" --cfg  a "), "--cfg\u{1f}a\u{1f}-Cx");
        check(Some("--cfg\u{1f}b c"), Some("--cfg a"), "--cfg\u{1f}b c\u{1f}-Cx");
        check(Some(""), None, "-Cx");
    }

    #[test]
    fn profiles_of_the_user_are_without_lto_too() {
        let names = |words: &[&str]| -> Vec<String> {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            without_lto(&words).into_iter().skip(4).map(|(name, _)| name).collect()
        };
        assert_eq!(names(&["--release", "--profile"]), [""; 0]);
        assert_eq!(names(&["--profile", "my-own", "x"]), ["CARGO_PROFILE_MY_OWN_LTO"]);
        assert_eq!(names(&["--profile=thin"]), ["CARGO_PROFILE_THIN_LTO"]);
    }

    #[test]
    fn what_cannot_work_is_recognised() {
        for word in ["--target", "--target=x86_64-unknown-linux-musl"] {
            assert!(is_target(word.as_ref()), "{word}");
        }
        assert!(!is_target("--target-dir".as_ref()));
        let threads = |words: &[&str]| side_by_side(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(threads(&["--", "--test-threads", "4"]) && threads(&["--", "--test-threads=2"]));
        assert!(!threads(&["--", "--test-threads", "1"]) && !threads(&["--", "--test-threads=1", "x"]));
        assert!(loadable(Path::new("/opt/libselvedge_runtime.so")));
        assert!(!loadable(Path::new("/my files/x.so")) && !loadable(Path::new("/a:b/x.so")));
    }
}
