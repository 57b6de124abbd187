//! Builds C and C++ tests: the ordinary compiler with its thread-sanitizer pass, linked with our runtime instead of the
//! sanitizer's.

use std::ffi::OsString;
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
                let why = match error.kind() {
                    std::io::ErrorKind::NotFound => "there is no such program".to_owned(),
                    _ => error.to_string(),
                };
                write!(f, "the compiler `{name}` could not be started ({why}): install it or name another with --cc")
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

/// What the objects of a test call in the runtime instead of libc, libatomic, libstdc++ and GoogleTest.
const WRAPPED: [&str; 38] = [
    "memcpy",
    "memmove",
    "memset",
    "strcpy",
    "memcmp",
    "bcmp",
    "strcmp",
    "strncmp",
    "strlen",
    "memchr",
    "strncpy",
    "strcat",
    "strchr",
    "strrchr",
    "strstr",
    "strnlen",
    "strcasecmp",
    "strdup",
    "strncat",
    "stpcpy",
    "mempcpy",
    "bzero",
    "__atomic_load",
    "__atomic_store",
    "__atomic_exchange",
    "__atomic_compare_exchange",
    "_ZNSt8__detail15_List_node_base7_M_hookEPS0_",
    "_ZNSt8__detail15_List_node_base9_M_unhookEv",
    "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_",
    "_ZNSt8__detail15_List_node_base10_M_reverseEv",
    "_ZNSt8__detail15_List_node_base4swapERS0_S1_",
    "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base",
    "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base",
    "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base",
    "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base",
    "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
    "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_",
    "_ZNK7testing8internal12AssertHelperaSERKNS_7MessageE",
];

/// The directory, beside `selvedge.h`, of headers that stand before those of libstdc++.
pub const BEFORE_LIBSTDCXX: &str = "before-libstdc++";

/// Whether tests can be controlled on that processor and system.
pub fn supported(architecture: &str, system: &str) -> Result<(), CompileError> {
    if (architecture, system) == ("x86_64", "linux") { Ok(()) } else { Err(CompileError::Architecture) }
}

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

    /// What a compilation is given: for those who compile by themselves.
    pub fn compile_flags(&self) -> Vec<OsString> {
        let mut flags: Vec<OsString> = self.instrument().into_iter().map(Into::into).collect();
        flags.extend(["-I".into(), self.include.clone().into_os_string()]);
        flags.extend(["-isystem".into(), self.include.join(BEFORE_LIBSTDCXX).into_os_string()]);
        flags
    }

    /// What a link is given, behind the user's objects and libraries.
    pub fn link_flags(&self) -> Vec<OsString> {
        let directory = self.runtime.parent().unwrap_or(Path::new("."));
        let mut flags = vec![self.runtime.clone().into_os_string()];
        flags.push(format!("-Wl,-rpath,{}", directory.display()).into());
        // Calls are bound at the start: what the linker notes about them lies in variables that are put back after every run.
        flags.push("-Wl,-z,now".into());
        // Compilers call these without announcing what they touch; the runtime has versions that do, for the objects linked here only.
        flags.extend(WRAPPED.map(|name| format!("-Wl,--wrap={name}").into()));
        flags.push("-pthread".into());
        flags
    }

    fn instrument(&self) -> Vec<&'static str> {
        let mut flags = vec!["-g", "-fsanitize=thread", "-fno-omit-frame-pointer", "-mcx16"];
        if self.is_clang() {
            // LLVM moves a static variable that one function uses, and writes before it reads it, to that function's stack, atomic or
            // not: Peterson's algorithm does not work any more. It makes variables of allocations and leaves out copies that nobody reads.
            flags.extend(["-O0", "-fno-builtin"]);
            // Its pass leaves out accesses to more than sixteen bytes, which it makes of loops where the processor has such.
            flags.extend(["-fno-vectorize", "-fno-slp-vectorize"]);
            flags.extend(["-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", crate::rust::WITHOUT_ENTRIES]);
        } else {
            flags.extend([
                "-O1",
                "--param=tsan-distinguish-volatile=1",
                "--param=tsan-instrument-func-entry-exit=0",
                "-Wno-tsan",
            ]);
            // Of these it makes instructions behind its pass.
            flags.extend(["-fno-builtin-bzero", "-fno-builtin-mempcpy", "-fno-builtin-stpcpy", "-fno-builtin-strncat"]);
            flags.extend(["-fno-builtin-strchr", "-fno-builtin-strrchr", "-fno-builtin-strstr"]);
        }
        flags
    }

    fn invoke(&self, program: &str, arguments: Vec<OsString>) -> Result<(), CompileError> {
        let output = Command::new(program).args(arguments).output();
        let output = output.map_err(|error| CompileError::NoCompiler(program.to_string(), error))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(CompileError::Refused(text))
    }
}

/// Whether a flag of the user is for the linker alone: the compiler would complain of it, or take an object for a second output.
fn is_for_linker(flag: &str) -> bool {
    let is_input = [".o", ".a", ".so", ".lo"].iter().any(|end| flag.ends_with(end)) || flag.contains(".so.");
    let is_option = flag.starts_with('-');
    is_input && !is_option
        || ["-l", "-L", "-Wl,", "-Xlinker", "-rdynamic", "-static-lib", "-u"]
            .iter()
            .any(|start| flag.starts_with(start))
}

/// The flags of the user for compilations, and those for the link: everything but what only a compilation understands, in their order,
/// because the order of libraries matters.
fn divide(flags: &[String]) -> (Vec<&String>, Vec<&String>) {
    let (mut compiling, mut linking) = (Vec::new(), Vec::new());
    let mut value_of: Option<bool> = None;
    for flag in flags {
        // The value of a flag that stands apart goes where its flag went.
        if let Some(links) = value_of.take() {
            if links {
                linking.push(flag)
            } else {
                compiling.push(flag)
            }
            continue;
        }
        // The runtime takes the place of functions of the shared library.
        if flag == "-static-libstdc++" {
            continue;
        }
        let links = is_for_linker(flag);
        match flag.as_str() {
            "-l" | "-L" | "-Xlinker" | "-u" => value_of = Some(true),
            "-I" | "-D" | "-U" | "-include" | "-isystem" | "-iquote" | "-x" | "-mllvm" => value_of = Some(false),
            _ => {}
        }
        if links {
            linking.push(flag);
        } else {
            compiling.push(flag);
            // Such as -flto, -m32 or -fuse-ld: the link must agree. What is only about sources is not repeated.
            if ["-f", "-m", "-O", "-g", "-pthread"].iter().any(|start| flag.starts_with(start)) && value_of.is_none() {
                linking.push(flag);
            }
        }
    }
    (compiling, linking)
}

/// Compiles and links the sources to the program at `output`. Objects are put beside it.
pub fn compile(compiler: &Compiler, sources: &[Source], output: &Path) -> Result<(), CompileError> {
    supported(std::env::consts::ARCH, std::env::consts::OS)?;
    if sources.is_empty() {
        return Err(CompileError::NoSources);
    }
    if !compiler.runtime.is_file() {
        return Err(CompileError::NoRuntime(compiler.runtime.clone()));
    }
    let (compiling, linking) = divide(&compiler.flags);
    let mut objects = Vec::new();
    let mut any_cpp = false;
    for (number, source) in sources.iter().enumerate() {
        let cpp = is_cpp(source)?;
        any_cpp |= cpp;
        let object = output.with_extension(format!("{number}.o"));
        let mut arguments = compiler.compile_flags();
        arguments.extend(compiling.iter().map(Into::into));
        arguments.extend(["-c".into(), source.into(), "-o".into(), object.clone().into_os_string()]);
        compiler.invoke(&if cpp { compiler.cxx() } else { compiler.cc.clone() }, arguments)?;
        objects.push(object);
    }
    let mut arguments: Vec<OsString> = objects.into_iter().map(Into::into).collect();
    // Objects and libraries of the user before the runtime, which has what both need.
    arguments.extend(linking.iter().map(Into::into));
    arguments.extend(compiler.link_flags());
    arguments.extend(["-o".into(), output.as_os_str().to_owned()]);
    compiler.invoke(&if any_cpp { compiler.cxx() } else { compiler.cc.clone() }, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_where_they_are_understood() {
        let check = |flags: &[&str], compiling: &[&str], linking: &[&str]| {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            let (compile, link) = divide(&flags);
            assert_eq!(compile.iter().map(|flag| flag.as_str()).collect::<Vec<_>>(), compiling, "{flags:?}");
            assert_eq!(link.iter().map(|flag| flag.as_str()).collect::<Vec<_>>(), linking, "{flags:?}");
        };
        check(&["-DN=3", "-Iinclude", "-std=c11"], &["-DN=3", "-Iinclude", "-std=c11"], &[]);
        check(&["-L", "dir", "-lm", "-l", "z"], &[], &["-L", "dir", "-lm", "-l", "z"]);
        check(&["-static-libstdc++", "-static-libgcc"], &[], &["-static-libgcc"]);
        check(&["x.o", "lib/y.a", "z.so", "w.so.1"], &[], &["x.o", "lib/y.a", "z.so", "w.so.1"]);
        check(&["-O2", "-fno-inline"], &["-O2", "-fno-inline"], &["-O2", "-fno-inline"]);
        check(&["-mllvm", "-tsan-x=1", "-m64"], &["-mllvm", "-tsan-x=1", "-m64"], &["-m64"]);
        check(&["-D", "lib.a", "-I", "a.o"], &["-D", "lib.a", "-I", "a.o"], &[]);
        check(
            &["-Wl,--as-needed", "-Wall", "-Xlinker", "-Map=x"],
            &["-Wall"],
            &["-Wl,--as-needed", "-Xlinker", "-Map=x"],
        );
    }

    #[test]
    fn one_platform_is_supported() {
        assert!(supported("x86_64", "linux").is_ok());
        for (architecture, system) in [("aarch64", "linux"), ("x86_64", "macos"), ("", "")] {
            let error = supported(architecture, system).unwrap_err();
            assert_eq!(error.to_string(), "controlled testing needs Linux on x86-64");
        }
    }

    #[test]
    fn languages_are_told_by_name() {
        assert!(!is_cpp(Path::new("a.c")).unwrap() && is_cpp(Path::new("a.cc")).unwrap());
        for wrong in ["a", "a.rs", "a.h", ".c"] {
            assert!(matches!(is_cpp(Path::new(wrong)), Err(CompileError::Language(_))), "{wrong}");
        }
    }
}
