//! Builds C and C++ tests: the ordinary compiler with its thread-sanitizer pass, linked with our runtime instead of the
//! sanitizer's.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file to compile.
pub type Source = PathBuf;

/// The compilers and what they are given.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The C compiler: `gcc`, `clang` or a path.
    pub cc: String,
    /// More flags, passed on as they are.
    pub flags: Vec<String>,
    /// The directory of `selvedge.h`.
    pub include: PathBuf,
    /// The runtime, `libselvedge_runtime.so`.
    pub runtime: PathBuf,
}

/// Why nothing was built.
#[non_exhaustive]
#[derive(Debug)]
pub enum CompileError {
    /// No source files.
    NoSources,
    /// The compiler could not be started.
    NoCompiler(String, std::io::Error),
    /// The compiler refused; what it printed.
    Refused(String),
    /// A name that says neither C nor C++.
    Language(PathBuf),
    /// The runtime is not where it should be.
    NoRuntime(PathBuf),
    /// Only x86-64 Linux is supported.
    Architecture,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::NoSources => f.write_str("expected at least one C or C++ file"),
            CompileError::NoCompiler(name, error) => {
                write!(f, "the compiler `{name}` could not be started ({error}): install it or name another with --cc")
            }
            CompileError::Refused(text) => write!(f, "the compiler refused the test:\n{text}"),
            CompileError::Language(path) => {
                write!(f, "expected a file that ends in .c, .cc, .cpp or .cxx, found `{}`", path.display())
            }
            CompileError::NoRuntime(path) => {
                write!(f, "the runtime was not found at `{}`: build the whole workspace", path.display())
            }
            CompileError::Architecture => f.write_str("controlled testing needs Linux on x86-64"),
        }
    }
}

impl std::error::Error for CompileError {}

/// Whether the file is C++.
fn is_cpp(path: &Path) -> Result<bool, CompileError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("c") => Ok(false),
        Some("cc" | "cpp" | "cxx" | "C") => Ok(true),
        _ => Err(CompileError::Language(path.to_path_buf())),
    }
}

impl Compiler {
    fn is_clang(&self) -> bool {
        Path::new(&self.cc).file_name().is_some_and(|name| name.to_string_lossy().contains("clang"))
    }

    /// The C++ compiler that belongs to the C compiler.
    fn cxx(&self) -> String {
        let (directory, name) = match self.cc.rsplit_once('/') {
            Some((directory, name)) => (format!("{directory}/"), name),
            None => (String::new(), self.cc.as_str()),
        };
        let name =
            if name.contains("clang") { name.replacen("clang", "clang++", 1) } else { name.replacen("gcc", "g++", 1) };
        directory + &name
    }

    fn instrument(&self) -> Vec<&'static str> {
        let mut flags = vec!["-O1", "-g", "-fsanitize=thread", "-fno-omit-frame-pointer", "-mcx16"];
        if self.is_clang() {
            flags.extend(["-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", crate::rust::WITHOUT_ENTRIES]);
        } else {
            flags.extend([
                "--param=tsan-distinguish-volatile=1",
                "--param=tsan-instrument-func-entry-exit=0",
                "-Wno-tsan",
            ]);
        }
        flags
    }

    fn invoke(&self, program: &str, arguments: Vec<std::ffi::OsString>) -> Result<(), CompileError> {
        let output = Command::new(program).args(arguments).output();
        let output = output.map_err(|error| CompileError::NoCompiler(program.to_string(), error))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(CompileError::Refused(text))
    }
}

/// Compiles and links the sources to the program at `output`. Objects are put beside it.
pub fn compile(compiler: &Compiler, sources: &[Source], output: &Path) -> Result<(), CompileError> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err(CompileError::Architecture);
    }
    if sources.is_empty() {
        return Err(CompileError::NoSources);
    }
    if !compiler.runtime.is_file() {
        return Err(CompileError::NoRuntime(compiler.runtime.clone()));
    }
    let mut objects = Vec::new();
    let mut any_cpp = false;
    for (number, source) in sources.iter().enumerate() {
        let cpp = is_cpp(source)?;
        any_cpp |= cpp;
        let object = output.with_extension(format!("{number}.o"));
        let mut arguments: Vec<std::ffi::OsString> = compiler.instrument().into_iter().map(Into::into).collect();
        arguments.extend(["-I".into(), compiler.include.clone().into_os_string()]);
        arguments.extend(compiler.flags.iter().map(Into::into));
        arguments.extend(["-c".into(), source.into(), "-o".into(), object.clone().into_os_string()]);
        compiler.invoke(&if cpp { compiler.cxx() } else { compiler.cc.clone() }, arguments)?;
        objects.push(object);
    }
    let directory = compiler.runtime.parent().unwrap_or(Path::new("."));
    let mut arguments: Vec<std::ffi::OsString> = objects.into_iter().map(Into::into).collect();
    arguments.push(compiler.runtime.clone().into_os_string());
    arguments.push(format!("-Wl,-rpath,{}", directory.display()).into());
    // Calls are bound at the start: what the linker notes about them lies in variables that are put back after every run.
    arguments.push("-Wl,-z,now".into());
    arguments.extend(["-pthread".into(), "-o".into(), output.as_os_str().to_owned()]);
    compiler.invoke(&if any_cpp { compiler.cxx() } else { compiler.cc.clone() }, arguments)
}
