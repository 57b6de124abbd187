//! Builds C and C++ tests: the ordinary compiler with its thread-sanitizer pass, linked with our runtime instead of the
//! sanitizer's.

mod announced;
mod assembler;
mod assembly;
mod barriers;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use assembler::{ASSEMBLER, assemble};
use assembly::{Author, with_calls};

use crate::headers::{BEFORE_LIBSTDCXX, UNDECLARED_NAME};

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
    /// A file could not be read or written.
    File(PathBuf, std::io::Error),
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
            CompileError::File(path, error) => write!(f, "`{}` could not be made: {error}", path.display()),
            CompileError::Architecture => f.write_str("controlled testing needs Linux on x86-64"),
        }
    }
}

impl std::error::Error for CompileError {}

/// What the objects of a test call in the runtime instead of libc, libatomic, libstdc++ and GoogleTest.
const WRAPPED: [&str; 93] = [
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
    "printf",
    "fprintf",
    "dprintf",
    "sprintf",
    "snprintf",
    "asprintf",
    "vprintf",
    "vfprintf",
    "vsprintf",
    "vsnprintf",
    "atoi",
    "atol",
    "atof",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "strtod",
    "strtof",
    "puts",
    "fputs",
    "perror",
    "strspn",
    "strcspn",
    "strpbrk",
    "strcoll",
    "strncasecmp",
    "strndup",
    "memmem",
    "memrchr",
    "strsep",
    "strtok_r",
    "stpncpy",
    "memccpy",
    "explicit_bzero",
    "fwrite",
    "wcslen",
    "wcscmp",
    "wcscpy",
    "wmemcpy",
    "wmemmove",
    "wmemset",
    "qsort",
    "qsort_r",
    "fread",
    "fgets",
    "strftime",
    "localtime_r",
    "gmtime_r",
    "sscanf",
    "fscanf",
    "scanf",
    "__isoc99_sscanf",
    "__isoc99_fscanf",
    "__isoc99_scanf",
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

/// What `__cplusplus` is from C++20 on, at least.
const CPP20: u64 = 202_002;

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
        // In one word each: build systems leave out words that come twice.
        for (flag, directory) in [("-I", self.include.clone()), ("-isystem", self.include.join(BEFORE_LIBSTDCXX))] {
            let mut word = OsString::from(flag);
            word.push(directory);
            flags.push(word);
        }
        flags
    }

    /// The same with a stand-in for the assembler, which lies in a directory.
    pub fn compile_flags_with(&self, assembler: &Path) -> Vec<OsString> {
        let mut flags = self.compile_flags();
        let mut directory = OsString::from("-B");
        directory.push(assembler.join(""));
        flags.push(directory);
        if self.is_clang() {
            flags.push("-fno-integrated-as".into());
        }
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
        // Functions that check sizes have names of their own.
        let mut flags = vec!["-g", "-fsanitize=thread", "-fno-omit-frame-pointer", "-mcx16", "-U_FORTIFY_SOURCE"];
        if self.is_clang() {
            // LLVM moves a static variable that one function uses, and writes before it reads it, to that function's stack, atomic or
            // not: Peterson's algorithm does not work any more. It makes variables of allocations and leaves out copies that nobody reads.
            flags.extend(["-O0", "-fno-builtin"]);
            // Its pass leaves out accesses to more than sixteen bytes, which it makes of loops where the processor has such.
            flags.extend(["-fno-vectorize", "-fno-slp-vectorize"]);
            flags.extend(["-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", crate::rust::WITHOUT_ENTRIES]);
            // Else it leaves out what is read before it is written, and nobody knows when that was.
            flags.extend(["-mllvm", "-tsan-instrument-read-before-write=1"]);
        } else {
            flags.extend([
                "-O1",
                "--param=tsan-distinguish-volatile=1",
                "--param=tsan-instrument-func-entry-exit=0",
                "-Wno-tsan",
            ]);
            // It leaves out what is written to a block that is freed, and blocks that nobody reads.
            flags.extend(["-fno-builtin-malloc", "-fno-builtin-calloc", "-fno-builtin-realloc", "-fno-builtin-free"]);
            flags.push("-fno-allocation-dce");
            // Of these it makes instructions behind its pass.
            flags.extend(["-fno-builtin-bzero", "-fno-builtin-mempcpy", "-fno-builtin-stpcpy", "-fno-builtin-strncat"]);
            flags.extend(["-fno-builtin-strspn", "-fno-builtin-strcspn", "-fno-builtin-strpbrk"]);
            flags.extend(["-fno-builtin-strchr", "-fno-builtin-strrchr", "-fno-builtin-strstr"]);
        }
        flags
    }

    /// Compiles one file to assembly, puts calls into it, and makes an object of it.
    fn compile_one(&self, source: &Path, cpp: bool, flags: &[&String], object: &Path) -> Result<(), CompileError> {
        let program = if cpp { self.cxx() } else { self.cc.clone() };
        let text = object.with_extension("s");
        let mut arguments = self.compile_flags();
        arguments.extend(flags.iter().map(Into::into));
        // What is optimised at the link is not compiled before. The tables say where functions begin and end.
        // Functions that check sizes have names of their own.
        arguments.extend(["-fno-lto", "-fasynchronous-unwind-tables", "-U_FORTIFY_SOURCE"].map(Into::into));
        self.compile_to_text(&program, arguments, source, cpp, &text)?;
        let sequences = !cpp || self.is_before_cpp20(&program, flags)?;
        let author = if self.is_clang() { Author::Clang } else { Author::Gcc };
        let file = |error: std::io::Error| CompileError::File(text.clone(), error);
        let written = std::fs::read(&text).map_err(file)?;
        let written = String::from_utf8_lossy(&written);
        std::fs::write(&text, with_calls(&written, author, sequences)).map_err(file)?;
        let mut arguments: Vec<OsString> = Vec::new();
        arguments.extend(flags.iter().filter(|flag| is_for_assembler(flag)).map(Into::into));
        arguments.extend(["-c".into(), text.clone().into_os_string(), "-o".into(), object.into()]);
        self.invoke(&program, arguments)
    }

    /// Compiles to assembly, and says with which flags: a C file with what compilers know of functions that it does not declare, unless it declares them in another way.
    fn declared(
        &self,
        program: &str,
        flags: Vec<OsString>,
        cpp: bool,
        to_assembly: &[&OsStr],
    ) -> Result<Vec<OsString>, CompileError> {
        let with = |flags: &[OsString]| {
            flags.iter().cloned().chain(to_assembly.iter().map(|&one| one.to_owned())).collect::<Vec<_>>()
        };
        let undeclared = ["-include".into(), self.include.join(UNDECLARED_NAME).into_os_string()];
        let all = [&flags[..], &undeclared].concat();
        if !cpp && self.invoke(program, with(&all)).is_ok() {
            return Ok(all);
        }
        self.invoke(program, with(&flags)).map(|()| flags)
    }

    /// Compiles to assembly: once more with marks in it if there are barriers that leave nothing there.
    fn compile_to_text(
        &self,
        program: &str,
        flags: Vec<OsString>,
        source: &Path,
        cpp: bool,
        text: &Path,
    ) -> Result<(), CompileError> {
        let (rule, preprocessed) = (text.with_extension("d"), text.with_extension("i"));
        let file = |error: std::io::Error| CompileError::File(text.to_path_buf(), error);
        let (to, rule_to) = (["-o".as_ref(), text.as_os_str()], ["-MD".as_ref(), "-MF".as_ref(), rule.as_os_str()]);
        let first = [&["-S".as_ref(), source.as_os_str()], &to[..], &rule_to].concat();
        let declared = self.declared(program, flags.clone(), cpp, &first)?;
        if !barriers::any(&barriers::files(&std::fs::read_to_string(&rule).map_err(file)?)) {
            return Ok(());
        }
        let with = |flags: &[OsString], more: &[&OsStr]| {
            flags.iter().cloned().chain(more.iter().map(|&one| one.to_owned())).collect::<Vec<_>>()
        };
        let expand = ["-E".as_ref(), source.as_os_str(), "-o".as_ref(), preprocessed.as_os_str()];
        self.invoke(program, with(&declared, &expand))?;
        let whole = std::fs::read(&preprocessed).map_err(file)?;
        std::fs::write(&preprocessed, barriers::marked(&String::from_utf8_lossy(&whole))).map_err(file)?;
        // What there is to warn of has been said. The text is in the language that it was in, without what is left to the preprocessor.
        let language = if cpp { "c++-cpp-output" } else { "cpp-output" };
        let again = ["-w".as_ref(), "-x".as_ref(), language.as_ref(), "-S".as_ref(), preprocessed.as_os_str()];
        self.invoke(program, with(&flags, &[&again[..], &to].concat()))
    }

    /// Whether the compiler takes C++ before C++20 for what it compiles. It asks the compiler, where the flags say nothing.
    fn is_before_cpp20(&self, program: &str, flags: &[&String]) -> Result<bool, CompileError> {
        let standard = flags.iter().rev().find_map(|flag| flag.strip_prefix("-std=").or(flag.strip_prefix("--std=")));
        if let Some(standard) = standard {
            let year = standard.trim_start_matches("gnu++").trim_start_matches("c++");
            return Ok(["98", "03", "0x", "11", "1y", "14", "1z", "17"].contains(&year));
        }
        let asked = ["-x", "c++", "-dM", "-E", "/dev/null"];
        let output = Command::new(program).args(asked).output();
        let output = output.map_err(|error| CompileError::NoCompiler(program.to_string(), error))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let defined = printed.lines().find_map(|line| line.strip_prefix("#define __cplusplus "));
        let year = defined.and_then(|number| number.trim_end_matches('L').parse::<u64>().ok());
        Ok(year.is_some_and(|year| year < CPP20))
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

/// Whether a flag of the user also matters where assembly becomes an object.
fn is_for_assembler(flag: &str) -> bool {
    ["-m", "-Wa,", "-fPIC", "-fpic", "-fno-integrated-as", "-B", "--target", "-target"]
        .iter()
        .any(|start| flag.starts_with(start))
        && flag != "-mllvm"
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
        compiler.compile_one(source, cpp, &compiling, &object)?;
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
