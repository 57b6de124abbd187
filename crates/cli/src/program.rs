//! Builds the program that holds the tests, the same way each time, and knows it again.
//!
//! Invariant: a program is recognised by what it consists of, its own bytes and those of the runtime, never by its name or age.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use selvedge_driver::hash::hash;
use selvedge_driver::{CompileError, Compiler, Program, compile, supported, write_headers};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::library::Places;
use crate::trouble::Trouble;

/// How a program is built: what a finding needs to build it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// Where the compiler runs; sources may be relative to it.
    pub directory: PathBuf,
    /// The C compiler.
    pub cc: String,
    /// More flags for it.
    pub flags: Vec<String>,
    /// What it compiles.
    pub sources: Vec<PathBuf>,
}

/// A program that was built, in a directory of its own that goes away with it.
#[derive(Debug)]
pub struct Built {
    /// What to run.
    pub program: Program,
    /// Where reports may be written.
    pub directory: PathBuf,
    _scratch: Scratch,
}

/// A directory that goes away. What is left behind in a directory for temporary files harms nobody.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// A new one under `temporary`; never one that somebody else made.
    pub fn new(temporary: &Path) -> io::Result<Self> {
        // The process is part of the name, so that a program under test can be told from others.
        let prefix = format!("selvedge-{}-", std::process::id());
        tempfile::Builder::new().prefix(&prefix).tempdir_in(temporary.canonicalize()?).map(Scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Recipe {
    /// The name in messages: the files.
    pub fn name(&self) -> String {
        let names: Vec<String> = self.sources.iter().map(|source| source.display().to_string()).collect();
        names.join(" ")
    }

    /// Compiles and links in a new directory under `temporary`. Runs in the current directory.
    pub fn build(&self, places: &Places, temporary: &Path) -> Result<Built, Trouble> {
        let name = self.name();
        // Before the runtime is missed: there is none to be had.
        supported(std::env::consts::ARCH, std::env::consts::OS).map_err(|error| Trouble::new(&name, error))?;
        for source in &self.sources {
            let file = source.display().to_string();
            let read = fs::File::open(source).and_then(|file| file.metadata());
            let metadata = read.map_err(|error| Trouble::io(&file, &error))?;
            if metadata.is_dir() {
                return Err(Trouble::io(&file, &io::ErrorKind::IsADirectory.into()));
            }
        }
        let runtime = places.find().map_err(|reason| Trouble::new(&name, reason).advise(Places::advice()))?;
        if let [program] = self.sources.as_slice()
            && let Ok(bytes) = fs::read(program)
            && bytes.starts_with(b"\x7fELF")
        {
            return self.built_elsewhere(&bytes, &runtime, temporary);
        }
        let scratch = Scratch::new(temporary).map_err(|error| Trouble::io(&temporary.display().to_string(), &error))?;
        let program = self.build_in(&runtime, scratch.path())?;
        Ok(Built { program, directory: scratch.path().to_path_buf(), _scratch: scratch })
    }

    /// A program that somebody else has built.
    fn built_elsewhere(&self, bytes: &[u8], runtime: &Path, temporary: &Path) -> Result<Built, Trouble> {
        let name = self.name();
        if !self.flags.is_empty() {
            return Err(Trouble::new(&name, "this is a program already: flags for the compiler are of no use"));
        }
        // What a program is linked with stands in it, with a zero byte behind it.
        if memchr::memmem::find(bytes, b"libselvedge_runtime.so\0").is_none() {
            return Err(Trouble::new(&name, "this program was not linked with the runtime")
                .advise("`selvedge cflags` prints what to compile with, `selvedge cflags --link` what to link with"));
        }
        let failed = |error: io::Error| Trouble::io(&name, &error);
        let path = self.sources[0].canonicalize().map_err(failed)?;
        let program = Program::new(path, runtime).map_err(failed)?;
        let scratch = Scratch::new(temporary).map_err(|error| Trouble::io(&temporary.display().to_string(), &error))?;
        Ok(Built { program, directory: scratch.path().to_path_buf(), _scratch: scratch })
    }

    fn build_in(&self, runtime: &Path, directory: &Path) -> Result<Program, Trouble> {
        let failed = |error: io::Error| Trouble::io(&directory.display().to_string(), &error);
        let include = directory.join("include");
        write_headers(&include).map_err(failed)?;
        let (cc, flags) = (self.cc.clone(), self.flags.clone());
        // Debug information names the directory of the header: without this a second build would be another program.
        let flags = [vec![format!("-ffile-prefix-map={}=selvedge", directory.display())], flags].concat();
        let compiler = Compiler { cc, flags, include, runtime: runtime.to_path_buf() };
        let path = directory.join("program");
        compile(&compiler, &self.sources, &path).map_err(|error| match error {
            CompileError::Language(path) => Trouble::new(
                &path.display().to_string(),
                "the name says neither C nor C++: expected .c, .cc, .cpp or .cxx at its end",
            ),
            error => Trouble::new(&self.name(), error),
        })?;
        Program::new(path, runtime).map_err(failed)
    }
}
