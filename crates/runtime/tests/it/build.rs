//! Compiles and runs a program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use selvedge_driver::{Compiler, Program, Session, compile, run};
use selvedge_needs::{Need, has, has_cpp, has_program};
use selvedge_protocol::{ObjectFinding, ObjectOptions, Search, Settings, words};

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Where this test may write.
pub fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("a directory for the test");
    directory
}

/// The runtime that cargo built for this test.
pub fn runtime() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let beside = test.parent().expect("a directory").join("libselvedge_runtime.so");
    assert!(beside.is_file(), "cargo builds the runtime beside its tests: {}", beside.display());
    beside
}

/// Every program of `corpus/programs`, and the verdict that it must get.
#[track_caller]
pub fn programs() -> Vec<(PathBuf, String)> {
    programs_of("programs")
}

/// Every program of a part of the corpus and the verdict that it must get: its directory. Those in C++ need a compiler for it.
#[track_caller]
pub fn programs_of(part: &str) -> Vec<(PathBuf, String)> {
    let extensions: &[&str] = if has(has_cpp(), Need::Cpp, "the programs in C++") { &["c", "cc"] } else { &["c"] };
    sources_of(part, extensions)
}

/// The files that end so of a part of the corpus, each with the name of its directory.
pub fn sources_of(part: &str, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut programs = Vec::new();
    for directory in entries(&root().join("corpus").join(part)).into_iter().filter(|path| path.is_dir()) {
        let verdict = directory.file_name().expect("a name").to_string_lossy().into_owned();
        let sources = entries(&directory).into_iter().filter(|path| {
            path.extension().is_some_and(|extension| extensions.contains(&extension.to_string_lossy().as_ref()))
        });
        programs.extend(sources.map(|path| (path, verdict.clone())));
    }
    programs
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut entries: Vec<PathBuf> = read.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}

/// Whether the campaigns are wanted that take minutes: `SELVEDGE_CAMPAIGN=1`.
pub fn campaign() -> bool {
    std::env::var_os("SELVEDGE_CAMPAIGN").is_some()
}

pub fn build(source: &Path, flags: &[&str], directory: &Path) -> Program {
    build_with("gcc", source, flags, directory)
}

pub fn build_with(cc: &str, source: &Path, flags: &[&str], directory: &Path) -> Program {
    let compiler = Compiler {
        cc: cc.into(),
        flags: flags.iter().map(|flag| flag.to_string()).collect(),
        include: root().join("crates/driver/include"),
        runtime: runtime(),
    };
    let path = directory.join("program");
    compile(&compiler, &[source.to_path_buf()], &path).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    Program::new(path, &runtime()).expect("the program and the runtime")
}

/// What these lines say of an object.
pub fn options(lines: &[&str]) -> ObjectOptions {
    ObjectOptions::of_lines(lines.iter().copied()).unwrap_or_else(|error| panic!("{lines:?}: {error}"))
}

/// What is said of a violation, in lines.
pub fn told(found: &ObjectFinding) -> String {
    words::told(&found.explanation).lines().join("\n")
}

/// The source of a test `random_N` whose threads do what `work_N_0` and those after it say.
pub fn test_of_threads(number: u64, threads: usize) -> String {
    let create = |thread| format!("pthread_create(&threads[{thread}], NULL, work_{number}_{thread}, NULL);\n");
    let created: String = (0..threads).map(create).collect();
    format!(
        "SELVEDGE_TEST(random_{number}) {{\npthread_t threads[{threads}];\n{created}\
         for (int i = 0; i < {threads}; i++) pthread_join(threads[i], NULL);\n}}\n"
    )
}

/// A library that, loaded before the runtime, makes every thread of a program one operation.
pub fn marks() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let library = scratch("marks").join("libmarks.so");
        let source = root().join("crates/runtime/tests/programs/marks.c");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        assert!(built.is_ok_and(|status| status.success()), "marks.c compiles");
        library
    };
    BUILT.get_or_init(build).clone()
}

pub fn settings(search: Search) -> Settings {
    Settings { search, time_max: Some(60.0), ..Settings::default() }
}

pub fn session(program: &Program, settings: &Settings, directory: &Path) -> Session {
    let session =
        run(program, settings, directory).unwrap_or_else(|error| panic!("{}: {error}", program.path.display()));
    assert_eq!(session.report.error, None, "{}", program.path.display());
    session
}

/// gcc, and every clang that is installed.
pub fn compilers() -> Vec<String> {
    let clangs = (14..=19).rev().map(|version| format!("clang-{version}")).chain(["clang".to_string()]);
    std::iter::once("gcc".to_string()).chain(clangs.filter(|name| has_program(name))).collect()
}

/// The same for tests that are only whole with a clang. Where there is none, the calling test is skipped for that part.
#[track_caller]
pub fn compilers_with_clang() -> Vec<String> {
    let compilers = compilers();
    let _ = has(compilers.len() > 1, Need::Clang, "gcc is the only compiler");
    compilers
}
