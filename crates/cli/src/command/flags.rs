//! `selvedge cflags` and `selvedge header`: for those who compile and link tests with a build system of their own.
//!
//! What is printed is what `selvedge test` itself uses; `selvedge test PROGRAM` then runs what came of it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use selvedge_driver::{Compiler, supported};

use super::convert::to_file_or_stdout;
use super::output;
use crate::cache;
use crate::exit::Exit;
use crate::library::Places;
use crate::program::{HEADER, headers_hash, write_headers};
use crate::report::print::{complain, say};
use crate::report::tested::quoted;
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
    Ok(Compiler { include: include()?, ..compiler }.compile_flags())
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
