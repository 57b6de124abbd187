//! Where histories come from: a file, or standard input for `-`.
//!
//! Invariant: what was read is counted as it is consumed, so that a check that is cut short can say how far it came.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::progress::Progress;
use crate::report::text::clean;

/// A big buffer: lines are found in it, not copied out of it.
const BUFFER: usize = 1 << 18;

/// A file opened for reading, counted.
pub struct Source<'a> {
    inner: BufReader<Box<dyn Read>>,
    progress: &'a Progress,
}

/// How a path is shown.
pub fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { clean(&path.to_string_lossy()) }
}

/// Whether the path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl<'a> Source<'a> {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path, progress: &'a Progress) -> io::Result<Self> {
        let (inner, bytes): (Box<dyn Read>, _) = if is_stdin(path) {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path)?;
            let about = file.metadata()?;
            if about.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            (Box::new(file), about.is_file().then_some(about.len()))
        };
        progress.reading(bytes);
        Ok(Source { inner: BufReader::with_capacity(BUFFER, inner), progress })
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let amount = self.inner.read(buffer)?;
        self.progress.consumed(&buffer[..amount]);
        Ok(amount)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        let buffer = self.inner.buffer();
        self.progress.consumed(&buffer[..amount.min(buffer.len())]);
        self.inner.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_counted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("source");
        std::fs::write(&path, "one\ntwo\nthree").unwrap();
        let progress = Progress::default();
        let mut source = Source::open(&path, &progress).unwrap();
        let mut line = String::new();
        source.read_line(&mut line).unwrap();
        assert_eq!((progress.lines(), progress.bytes()), (1, 4));
        source.read_to_string(&mut line).unwrap();
        assert_eq!((line.as_str(), progress.lines(), progress.bytes()), ("one\ntwo\nthree", 2, 13));
    }

    #[test]
    fn a_directory_is_no_file() {
        let error = Source::open(&std::env::temp_dir(), &Progress::default()).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }
}
