//! `selvedge cflags` and `selvedge header`: for those who compile and link tests with a build system of their own.
//!
//! What is printed is what `selvedge test` itself uses; `selvedge test PROGRAM` then runs what came of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use selvedge_driver::{ASSEMBLER, Compiler, assemble, supported};
use selvedge_driver::{HEADER, headers_hash, write_headers};

use super::convert::to_file_or_stdout;
use super::output;
use crate::cache;
use crate::exit::Exit;
use crate::library::Places;
use crate::program::hash;
use crate::report::print::{complain, say};
use crate::report::text::tested::quoted;
use crate::trouble::Trouble;

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "\
For example:
  gcc $(selvedge cflags) -c queue.c
  gcc queue.o $(selvedge cflags --link) -o queue
  selvedge test ./queue")]
pub struct CompilerFlags {
    /// The compiler: gcc, clang or a path
    #[arg(long, value_name = "NAME", default_value = "gcc")]
    cc: String,

    /// The flags of the link, to stand behind objects and libraries
    #[arg(long)]
    link: bool,
}

/// The flags as typed.
#[derive(Args)]
pub struct HeaderFlags {
    /// Where to write; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Prints flags for the compiler, as a shell takes them.
pub fn compiler(flags: &CompilerFlags) -> Exit {
    match found(flags) {
        Ok(words) => {
            let words: Vec<String> = words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
            say(&format!("{}\n", words.join(" ")))
        }
        Err(trouble) => {
            complain(&format!("{trouble}\n"));
            Exit::Input
        }
    }
}

fn found(flags: &CompilerFlags) -> Result<Vec<OsString>, Trouble> {
    supported(std::env::consts::ARCH, std::env::consts::OS).map_err(|error| Trouble::new("cflags", error))?;
    let runtime =
        Places::from_environment().find().map_err(|reason| Trouble::new("cflags", reason).advise(Places::advice()))?;
    let compiler = Compiler { cc: flags.cc.clone(), flags: vec![], include: PathBuf::new(), runtime };
    if flags.link {
        return Ok(compiler.link_flags());
    }
    let include = include()?;
    let assembler = assembler(&include)?;
    Ok(Compiler { include, ..compiler }.compile_flags_with(&assembler))
}

/// The directory that has this program under the name of the assembler: compilers that are told to look there call it.
fn assembler(include: &Path) -> Result<PathBuf, Trouble> {
    let this = std::env::current_exe().map_err(|error| Trouble::io("cflags", &error))?;
    // One for each place that this program lies in.
    let directory = include.join(format!("assembler-{:016x}", hash(this.as_os_str().as_encoded_bytes())));
    let made = || {
        std::fs::create_dir_all(&directory)?;
        match std::os::unix::fs::symlink(&this, directory.join(ASSEMBLER)) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    };
    made().map_err(|error| Trouble::io(&directory.display().to_string(), &error))?;
    Ok(directory)
}

/// What comes of it when a compiler calls this program as its assembler: an exit code.
pub fn stands_in_for_assembler() -> Option<i32> {
    let mut arguments = std::env::args_os();
    let called = PathBuf::from(arguments.next()?);
    if called.file_name()? != ASSEMBLER {
        return None;
    }
    let arguments: Vec<OsString> = arguments.collect();
    Some(assemble(&arguments).unwrap_or_else(|error| {
        complain(&format!("selvedge: the assembler could not be called: {error}\n"));
        Exit::Input.code()
    }))
}

/// The directory that has the header, and keeps it.
fn include() -> Result<PathBuf, Trouble> {
    let none = || {
        Trouble::new(
            "cflags",
            format!("there is no place for the header: expected {}, XDG_CACHE_HOME or HOME", cache::VARIABLE),
        )
    };
    let directory = cache::from_environment().ok_or_else(none)?.join(format!("include-{:016x}", headers_hash()));
    write_headers(&directory).map_err(|error| Trouble::io(&directory.display().to_string(), &error))?;
    Ok(directory)
}

/// Prints the header.
pub fn header(flags: &HeaderFlags) -> Exit {
    let written = to_file_or_stdout(output(flags.output.clone()).as_deref(), |out| out.write_all(HEADER.as_bytes()));
    match written {
        Ok(()) => Exit::Pass,
        Err(trouble) => {
            complain(&format!("{trouble}\n"));
            Exit::Input
        }
    }
}
