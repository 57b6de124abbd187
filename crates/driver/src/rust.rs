//! Rust tests: the flags that make stable `cargo test` compile for the runtime, and a standard library that is instrumented
//! as well.
//!
//! The prebuilt standard library is not instrumented: a wake-up that is lost between two accesses inside `Condvar::wait` would
//! be missed although the search says that it is complete. Its bitcode is in the toolchain, so it is compiled once more
//! with the sanitizer's pass and put into a copy of the sysroot (mostly symbolic links), once for each toolchain. The same
//! for the test harness, because it holds copies of generic functions that the linker may take for those of the test.
//!
//! Invariant: a copy is used only when every file in it is the one that was made ([`is_whole`]). The compiler does not complain about one
//! that is damaged: it would take the library of the toolchain, which is not instrumented.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use selvedge_protocol::channel::{DIRECTORY_VARIABLE, SETTINGS_VARIABLE, TAKE_OVER_VARIABLE};
use selvedge_protocol::{Host, Report, Settings, wire};

use crate::hash::hash_of_file;
use crate::run::{RunError, gather};

/// The only target that the runtime is made for.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Why Rust tests cannot be built.
#[non_exhaustive]
#[derive(Debug)]
pub enum RustError {
    /// `rustc`, the linker or `ar` could not be started, or failed.
    Tool {
        /// Which.
        name: String,
        /// What it said.
        why: String,
    },
    /// The toolchain has no such file.
    Missing(String),
    /// A file could not be made.
    File(PathBuf, std::io::Error),
}

impl fmt::Display for RustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RustError::Tool { name, why } => write!(f, "`{name}` failed: {why}"),
            RustError::Missing(what) => write!(f, "the Rust toolchain lacks {what}"),
            RustError::File(path, error) => write!(f, "`{}` could not be made: {error}", path.display()),
        }
    }
}

impl std::error::Error for RustError {}

fn tool(program: impl AsRef<OsStr>, arguments: &[&OsStr]) -> Result<Vec<u8>, RustError> {
    let name = program.as_ref().to_string_lossy().into_owned();
    let failed = |why: String| RustError::Tool { name: name.clone(), why };
    let output = Command::new(&program).args(arguments).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_string()))
}

/// Keeps LLVM's pass from telling where functions begin and end.
pub(crate) const WITHOUT_ENTRIES: &str = "-tsan-instrument-func-entry-exit=0";

/// The environment that makes `cargo test --target x86_64-unknown-linux-gnu` build and run tests under control. `reports` is the directory
/// that takes one report for each call of `selvedge::explore`.
pub fn cargo_environment(runtime: &Path, sysroot: Option<&Path>, reports: &Path) -> Vec<(String, String)> {
    let directory = runtime.parent().unwrap_or(Path::new("."));
    let mut flags = vec![
        // Without optimisation nothing else gives functions the attribute, and plain accesses would not be seen at all.
        "-Cpasses=forceattrs,tsan-module,tsan".to_string(),
        "-Cllvm-args=-force-attribute=sanitize_thread".to_string(),
        // LLVM's pass leaves out accesses to more than sixteen bytes, which it makes of loops where the processor has such.
        "-Cno-vectorize-loops".to_string(),
        "-Cno-vectorize-slp".to_string(),
        // The runtime has no use for them.
        format!("-Cllvm-args={WITHOUT_ENTRIES}"),
        // So that a step inside a library can be traced back to the line that called it.
        "-Cforce-frame-pointers=yes".to_string(),
        format!("-Clink-arg={}", runtime.display()),
        format!("-Clink-arg=-Wl,-rpath,{}", directory.display()),
        // Comparisons of bytes, of which LLVM's pass says nothing.
        "-Clink-arg=-Wl,--wrap=memcmp,--wrap=bcmp".to_string(),
    ];
    if let Some(sysroot) = sysroot {
        flags.push(format!("--sysroot={}", sysroot.display()));
    }
    let flags = flags.join("\u{1f}");
    let runner = format!("env LD_PRELOAD={} RUST_TEST_THREADS=1", runtime.display());
    vec![
        // The separator that cargo splits at, so that paths may have spaces.
        ("CARGO_ENCODED_RUSTFLAGS".into(), flags.clone()),
        // Tests in documentation are linked with the same crates, which need the runtime.
        ("CARGO_ENCODED_RUSTDOCFLAGS".into(), flags),
        ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER".into(), runner),
        (DIRECTORY_VARIABLE.into(), reports.display().to_string()),
    ]
}

/// A test program that cargo built, to be run again by itself.
#[derive(Clone, Debug)]
pub struct Hosted {
    /// The program and where it runs.
    pub host: Host,
    /// Flags of its harness.
    pub flags: Vec<String>,
    /// The runtime.
    pub runtime: PathBuf,
    /// What it consists of ([`crate::identity`]).
    pub identity: String,
}

impl Hosted {
    /// What it is called with: as in the search, and with its one test, if that is known.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = self.flags.clone();
        if let Some(function) = &self.host.function {
            arguments.extend(["--exact".to_owned(), function.clone()]);
        }
        arguments
    }

    /// What its environment needs for a search with these settings, which is reported into that directory.
    pub fn environment(&self, settings: &Settings, reports: &Path) -> Vec<(String, String)> {
        vec![
            ("LD_PRELOAD".into(), self.runtime.display().to_string()),
            ("RUST_TEST_THREADS".into(), "1".into()),
            (DIRECTORY_VARIABLE.into(), reports.display().to_string()),
            (SETTINGS_VARIABLE.into(), wire::encode(settings)),
        ]
    }

    /// Runs it; what the search with these settings reported.
    pub fn run(&self, settings: &Settings, reports: &Path) -> Result<Report, RunError> {
        let mut command = Command::new(&self.host.executable);
        command.args(self.arguments()).envs(self.environment(settings, reports)).current_dir(&self.host.directory);
        command.env_remove(TAKE_OVER_VARIABLE).stdin(std::process::Stdio::null());
        let output = command.output().map_err(|error| RunError::Start(self.host.executable.clone(), error))?;
        let ended = || {
            let text = [output.stdout.clone(), output.stderr.clone()].concat();
            (output.status.to_string(), String::from_utf8_lossy(&text).into_owned())
        };
        let mut report = gather(reports, ended)?;
        report.name_program(&self.identity);
        Ok(report)
    }
}

/// The directory of the current toolchain.
fn sysroot() -> Result<PathBuf, RustError> {
    let printed = tool("rustc", &["--print".as_ref(), "sysroot".as_ref()])?;
    Ok(PathBuf::from(String::from_utf8_lossy(&printed).trim()))
}

/// What there is of a Rust toolchain.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// What `rustc -vV` calls its release.
    pub release: String,
    /// Where its instrumented standard library is, or will be.
    pub sysroot: PathBuf,
    /// Whether it is there already.
    pub prepared: bool,
    commit: String,
}

/// The toolchain that runs here now; `cache` has or takes its instrumented standard library.
pub fn toolchain(cache: &Path) -> Result<Toolchain, RustError> {
    let version = tool("rustc", &["-vV".as_ref()])?;
    let version = String::from_utf8_lossy(&version).into_owned();
    let field = |name: &str| version.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").to_owned();
    let commit = field("commit-hash: ");
    // The number changes when what is made here does.
    let sysroot = cache.join(format!("sysroot-8-{commit}"));
    let prepared = is_whole(&sysroot, &commit);
    let libraries = crate::rust::sysroot()?.join("lib/rustlib").join(TARGET).join("lib");
    if !prepared && !libraries.is_dir() {
        return Err(RustError::Missing(format!("the standard library for {TARGET}")));
    }
    Ok(Toolchain { release: field("release: "), sysroot, prepared, commit })
}

/// Makes a sysroot whose standard library is instrumented, below `cache`, unless it is there already and whole; where it is.
pub fn prepare_sysroot(cache: &Path) -> Result<PathBuf, RustError> {
    let Toolchain { sysroot: made, prepared, commit, .. } = toolchain(cache)?;
    remove_unfinished(cache);
    if prepared {
        return Ok(made);
    }
    // Made under another name first: whoever prepares the same one at the same time, or is interrupted, disturbs nobody.
    let unfinished = cache.join(format!("unfinished-{commit}-{}", std::process::id()));
    let done = make_sysroot(&unfinished, &commit).and_then(|()| replace(&unfinished, &made, &commit));
    let _ = std::fs::remove_dir_all(&unfinished);
    done.map(|()| made)
}

/// Puts a finished sysroot in the place of one that is damaged, or of none; unless somebody else has done so meanwhile.
fn replace(finished: &Path, made: &Path, commit: &str) -> Result<(), RustError> {
    if is_whole(made, commit) {
        return Ok(());
    }
    let damaged = finished.with_file_name(format!("unfinished-damaged-{commit}-{}", std::process::id()));
    let _ = std::fs::rename(made, &damaged);
    let renamed = std::fs::rename(finished, made);
    let _ = std::fs::remove_dir_all(&damaged);
    match renamed {
        Err(error) if !is_whole(made, commit) => Err(RustError::File(made.into(), error)),
        _ => Ok(()),
    }
}

/// Removes what preparations left that were interrupted: their process is gone.
fn remove_unfinished(cache: &Path) {
    for entry in std::fs::read_dir(cache).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix("unfinished-").and_then(|rest| rest.rsplit('-').next()?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// What a sysroot consists of, a line for each file below it: how long and which bytes, or where a link leads.
fn contents(directory: &Path, below: &Path, lines: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            contents(directory, &path, lines)?;
        } else if kind.is_symlink() {
            // A link that leads nowhere is an error, too.
            std::fs::metadata(entry.path())?;
            lines.push(format!("link {} {}", path.display(), std::fs::read_link(entry.path())?.display()));
        } else if path != Path::new(DONE) {
            let bytes = std::fs::read(entry.path())?;
            lines.push(format!("file {} {} {:016x}", path.display(), bytes.len(), hash_of_file(&bytes)));
        }
    }
    Ok(())
}

/// The file that says what a sysroot consists of, and that it is finished.
const DONE: &str = "done";

/// What that file says of a sysroot as it is now.
fn inventory(sysroot: &Path, commit: &str) -> std::io::Result<String> {
    let mut lines = Vec::new();
    contents(sysroot, Path::new(""), &mut lines)?;
    lines.sort();
    Ok(format!("{commit}\n{}\n", lines.join("\n")))
}

/// Whether a sysroot is there, finished, and consists of what it was made of.
fn is_whole(sysroot: &Path, commit: &str) -> bool {
    let told = std::fs::read_to_string(sysroot.join(DONE));
    told.is_ok_and(|told| inventory(sysroot, commit).is_ok_and(|found| found == told))
}

fn make_sysroot(made: &Path, commit: &str) -> Result<(), RustError> {
    let original = sysroot()?;
    let _ = std::fs::remove_dir_all(made);
    let libraries = Path::new("lib/rustlib").join(TARGET).join("lib");
    let create = |path: PathBuf| std::fs::create_dir_all(&path).map_err(|error| RustError::File(path, error));
    create(made.join(&libraries))?;
    link_all(&original.join(&libraries), &made.join(&libraries), &INSTRUMENTED.map(|name| format!("lib{name}-")))?;
    for part in ["lib/rustlib", "lib"] {
        link_all(&original.join(part), &made.join(part), &["rustlib".to_string()])?;
    }
    for name in INSTRUMENTED {
        instrument(&original, made, &libraries, name)?;
    }
    let done = made.join(DONE);
    let written = inventory(made, commit).and_then(|text| std::fs::write(&done, text));
    written.map_err(|error| RustError::File(done, error))
}

/// Links every entry of a directory into another, but for those whose name starts so, and those that are there.
fn link_all(from: &Path, to: &Path, without: &[String]) -> Result<(), RustError> {
    let entries = std::fs::read_dir(from).map_err(|error| RustError::File(from.into(), error))?;
    for entry in entries.flatten() {
        let target = to.join(entry.file_name());
        let name = entry.file_name().to_string_lossy().into_owned();
        if without.iter().any(|start| name.starts_with(start)) || target.exists() {
            continue;
        }
        std::os::unix::fs::symlink(entry.path(), &target).map_err(|error| RustError::File(target, error))?;
    }
    Ok(())
}

/// The crates of the toolchain that are compiled once more.
const INSTRUMENTED: [&str; 3] = ["std", "alloc", "test"];

/// Puts an instrumented copy of a crate into the new sysroot.
fn instrument(original: &Path, made: &Path, libraries: &Path, library: &str) -> Result<(), RustError> {
    let find = |extension: &str| {
        let entries = std::fs::read_dir(original.join(libraries)).ok()?;
        let mut names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.find(|name| name.starts_with(&format!("lib{library}-")) && name.ends_with(extension))
    };
    let missing = || RustError::Missing(format!("the crate `{library}` for {TARGET}"));
    let name = find(".rlib").ok_or_else(missing)?;
    for extension in [".rmeta", ".so"] {
        if let Some(other) = find(extension) {
            let target = made.join(libraries).join(&other);
            let linked = std::os::unix::fs::symlink(original.join(libraries).join(&other), &target);
            linked.map_err(|error| RustError::File(target, error))?;
        }
    }
    let work = made.join("work");
    std::fs::create_dir_all(&work).map_err(|error| RustError::File(work.clone(), error))?;
    let archive = made.join(libraries).join(&name);
    std::fs::copy(original.join(libraries).join(&name), &archive)
        .map_err(|error| RustError::File(archive.clone(), error))?;
    let listed = tool("ar", &["t".as_ref(), archive.as_os_str()])?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let members: Vec<&str> = listed.lines().filter(|member| member.ends_with(".rcgu.o")).collect();
    if members.is_empty() {
        return Err(RustError::Missing(format!("the bitcode of `{library}`")));
    }
    for member in members {
        instrument_member(original, &work, &archive, member)?;
    }
    let _ = std::fs::remove_dir_all(&work);
    Ok(())
}

/// Part of the name of functions of the standard library that are not instrumented. What it notes about the stacks of threads, in order to tell
/// an overflow from another fault, is seen by nobody; each thread would make fifteen steps for it.
const NOT_INSTRUMENTED: &str = "14stack_overflow";

/// Flags that keep functions from being instrumented. Their names are those of sections and symbols
/// in the object file; a name that is none does no harm.
fn exempt(object: &[u8]) -> Vec<String> {
    const NAME_MAX: usize = 1000;
    let words = object.split(|&byte| byte == 0).filter(|word| word.len() < NAME_MAX);
    let words = words.filter_map(|word| std::str::from_utf8(word).ok()).filter(|word| word.contains(NOT_INSTRUMENTED));
    let names: BTreeSet<&str> = words.filter_map(|word| word.find("_R").map(|at| &word[at..])).collect();
    let flag = |name| ["-mllvm".to_string(), format!("-force-attribute={name}:disable_sanitizer_instrumentation")];
    names.into_iter().flat_map(flag).collect()
}

/// Compiles one member of the library once more, from its bitcode.
fn instrument_member(original: &Path, work: &Path, archive: &Path, member: &str) -> Result<(), RustError> {
    let bytes = tool("ar", &["p".as_ref(), archive.as_os_str(), member.as_ref()])?;
    let (object, bitcode) = (work.join(member), work.join("std.bc"));
    std::fs::write(&object, &bytes).map_err(|error| RustError::File(object.clone(), error))?;
    let arguments = ["-O", "binary", "--only-section=.llvmbc", "--set-section-flags", ".llvmbc=alloc"];
    let mut arguments: Vec<&OsStr> = arguments.iter().map(|argument| argument.as_ref()).collect();
    arguments.extend([object.as_os_str(), bitcode.as_os_str()]);
    tool("objcopy", &arguments)?;
    if std::fs::metadata(&bitcode).map_or(0, |file| file.len()) == 0 {
        return Err(RustError::Missing("the standard library's bitcode".into()));
    }
    let linker = original.join("lib/rustlib").join(TARGET).join("bin/rust-lld");
    let passes = "--lto-newpm-passes=forceattrs,tsan-module,function(tsan)";
    let without = ["-mllvm", WITHOUT_ENTRIES];
    let arguments = ["-flavor", "gnu", "-r", passes, "-mllvm", "-force-attribute=sanitize_thread", "-o"];
    let mut arguments: Vec<&OsStr> = arguments.iter().map(|argument| argument.as_ref()).collect();
    let exempt = exempt(&bytes);
    arguments.extend([object.as_os_str(), bitcode.as_os_str()]);
    arguments.extend(without.map(AsRef::<OsStr>::as_ref));
    arguments.extend(exempt.iter().map(AsRef::<OsStr>::as_ref));
    tool(linker, &arguments)?;
    tool("ar", &["r".as_ref(), archive.as_os_str(), object.as_os_str()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of the test's own.
    fn scratch() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("lib")).unwrap();
        directory
    }

    #[test]
    fn a_copy_that_was_damaged_is_not_whole() {
        let scratch = scratch();
        let directory = scratch.path();
        let (library, link, done) = (directory.join("lib/a.rlib"), directory.join("lib/b.so"), directory.join(DONE));
        let make = || {
            let _ = std::fs::remove_file(&link);
            std::fs::write(&library, "the bytes of a library").unwrap();
            std::os::unix::fs::symlink(&library, &link).unwrap();
            std::fs::write(&done, inventory(directory, "c").unwrap()).unwrap();
            assert!(is_whole(directory, "c"));
        };
        make();
        assert!(!is_whole(directory, "another toolchain"));
        let damages: [&dyn Fn(); 6] = [
            &|| std::fs::write(&library, "the bytes of a").unwrap(),
            &|| std::fs::write(&library, "the bytes of a Library").unwrap(),
            &|| std::fs::remove_file(&library).unwrap(),
            &|| std::fs::remove_file(&link).unwrap(),
            &|| std::fs::write(&done, "c").unwrap(),
            &|| std::fs::remove_file(&done).unwrap(),
        ];
        for (number, damage) in damages.iter().enumerate() {
            make();
            damage();
            assert!(!is_whole(directory, "c"), "damage {number}");
        }
    }

    #[test]
    fn what_was_interrupted_is_removed() {
        let scratch = scratch();
        let directory = scratch.path();
        // No process has a number as large as that.
        let (dead, alive) = ("unfinished-c-4000000000".to_owned(), format!("unfinished-c-{}", std::process::id()));
        for name in [&dead, &alive] {
            std::fs::create_dir(directory.join(name)).unwrap();
        }
        remove_unfinished(directory);
        assert!(!directory.join(dead).exists() && directory.join(alive).exists() && directory.join("lib").exists());
    }
}
