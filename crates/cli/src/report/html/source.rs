//! Source files shown beside what happened in them.
//!
//! Invariant: a line that is cited is one of the file as it lies on disk when the page is made; a file that is not there, or is not a file, is not cited at all.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use super::super::text::clean;

/// Larger files are nobody's source code.
const BYTES_MAX: u64 = 4 << 20;
/// Of longer files only a part is shown: what is cited, and some lines around it.
const LINES_MAX: usize = 4_000;
/// How many lines around it.
const AROUND: usize = 200;

/// One file, or the part of it that is shown.
#[derive(Debug, Serialize)]
pub struct Source {
    /// The path, as the compiler was given it.
    path: String,
    /// The number of the first line.
    first: usize,
    lines: Vec<String>,
    #[serde(skip)]
    full: PathBuf,
    #[serde(skip)]
    cited: BTreeSet<usize>,
}

/// The files, each once.
#[derive(Debug, Default)]
pub struct Sources {
    known: HashMap<String, Option<usize>>,
    files: Vec<Source>,
}

impl Sources {
    /// Cites a line, counted from 1: the number of the file in the list, if the file has such a line.
    pub fn cite(&mut self, path: &str, line: u32) -> Option<usize> {
        let number = match self.known.get(path) {
            Some(known) => (*known)?,
            None => {
                let number = self.find(path);
                self.known.insert(path.to_owned(), number);
                number?
            }
        };
        let source = &mut self.files[number];
        let line = line as usize;
        let there = (1..=source.lines.len()).contains(&line);
        there.then(|| source.cited.insert(line));
        there.then_some(number)
    }

    /// The file at a path. The same file may be named in several ways, and by a part of its path where that is all that a message told.
    fn find(&mut self, path: &str) -> Option<usize> {
        let Ok(full) = fs::canonicalize(path) else {
            let end = format!("/{path}");
            return self.files.iter().position(|source| source.path.ends_with(&end));
        };
        if let Some(number) = self.files.iter().position(|source| source.full == full) {
            return Some(number);
        }
        self.files.push(read(path, full)?);
        Some(self.files.len() - 1)
    }

    /// The list, with no more of each file than a page should hold.
    pub fn into_list(self) -> Vec<Source> {
        self.files.into_iter().map(Source::cut).collect()
    }
}

fn read(path: &str, full: PathBuf) -> Option<Source> {
    let about = fs::metadata(&full).ok().filter(|about| about.is_file() && about.len() <= BYTES_MAX);
    about?;
    let text = String::from_utf8_lossy(&fs::read(&full).ok()?).into_owned();
    let lines = text.lines().map(|line| clean(&line.replace('\t', "    "))).collect();
    Some(Source { path: clean(path), full, first: 1, lines, cited: BTreeSet::new() })
}

impl Source {
    fn cut(mut self) -> Self {
        if self.lines.len() > LINES_MAX {
            let from = self.cited.first().map_or(1, |first| first.saturating_sub(AROUND).max(1));
            let to = self.cited.last().map_or(from, |last| last + AROUND).min(self.lines.len()).min(from + LINES_MAX);
            self.lines = self.lines.drain(from - 1..to).collect();
            self.first = from;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, text: &[u8], check: impl FnOnce(&str)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        check(path.to_str().unwrap());
    }

    #[test]
    fn only_lines_that_are_there_are_cited() {
        with("a.c", b"one\n\ttwo \x1b\xff\nthree", |path| {
            let mut sources = Sources::default();
            assert_eq!(sources.cite(path, 0), None);
            assert_eq!(sources.cite(path, 4), None);
            assert_eq!(sources.cite(path, 3), Some(0));
            assert_eq!(sources.cite("no/such/file.c", 1), None);
            assert_eq!(sources.cite("/", 1), None);
            // By another name, and by the end of its path.
            let (folder, name) = path.rsplit_once('/').unwrap();
            assert_eq!(sources.cite(&format!("{folder}/./{name}"), 2), Some(0));
            assert_eq!(sources.cite(name, 1), Some(0));
            assert_eq!(sources.cite("c", 1), None);
            let list = sources.into_list();
            assert_eq!(list.len(), 1);
            assert_eq!(list[0].lines, ["one", "    two \\u{1b}\u{fffd}", "three"]);
        });
    }

    #[test]
    fn of_long_files_a_part_is_shown() {
        with("b.c", "x\n".repeat(20_000).as_bytes(), |path| {
            let mut sources = Sources::default();
            assert_eq!((sources.cite(path, 9_000), sources.cite(path, 9_050)), (Some(0), Some(0)));
            let list = sources.into_list();
            assert_eq!((list[0].first, list[0].lines.len()), (9_000 - AROUND, 2 * AROUND + 51));
        });
    }
}
