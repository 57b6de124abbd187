//! Looks at a search from outside while it goes on, and asks it to stop.
//!
//! Invariant: the search never waits for whoever looks. What is exchanged lies in a file that the runtime maps into its memory; reading and writing
//! that file is all that happens here.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// One page: what the runtime maps.
const SIZE: u64 = 4096;
/// Where the word lies that asks to stop, and where the number of runs.
const STOP: u64 = 0;
const RUNS: u64 = 8;

/// A look at the search of one program.
#[derive(Debug)]
pub struct Watch {
    file: File,
    path: PathBuf,
    process: AtomicU32,
}

impl Watch {
    /// For a program that is about to run; the file lies in that directory.
    pub fn new(directory: &Path) -> std::io::Result<Self> {
        let path = directory.join("exchange");
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        file.set_len(SIZE)?;
        Ok(Watch { file, path, process: AtomicU32::new(0) })
    }

    /// The file, for the environment of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many runs were made so far, those of workers included.
    pub fn runs(&self) -> u64 {
        let mut word = [0; 8];
        self.file.read_exact_at(&mut word, RUNS).map_or(0, |()| u64::from_ne_bytes(word))
    }

    /// Asks the search to end after the runs that are under way, and to report what it has.
    pub fn stop(&self) {
        // A search that cannot be asked is ended by other means.
        let _ = self.file.write_all_at(&1u64.to_ne_bytes(), STOP);
    }

    /// The process of the program; `None` before it was started. It leads a group of its own.
    pub fn process(&self) -> Option<u32> {
        Some(self.process.load(Ordering::Acquire)).filter(|&process| process != 0)
    }

    pub(crate) fn started(&self, process: u32) {
        self.process.store(process, Ordering::Release);
    }
}
