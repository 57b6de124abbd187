//! Source lines of places in the code, from the debug information of the files that they lie in.
//!
//! A place is the address that a call returns to, so the line is that of the byte before it. Places without debug information
//! have no line, and that is no error.

use std::collections::HashMap;
use std::fmt;

use addr2line::Loader;

use crate::finding::Place;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function, without its arguments.
    pub function: Option<String>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Looks lines up, and keeps the files that it has read.
#[derive(Default)]
pub struct Lines {
    modules: HashMap<String, Option<Loader>>,
}

impl Lines {
    /// Nothing is read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The line of a place, if its file says so.
    pub fn line(&mut self, place: &Place) -> Option<Line> {
        let loader = self.modules.entry(place.module.clone()).or_insert_with(|| Loader::new(&place.module).ok());
        let loader = loader.as_ref()?;
        let address = place.offset.checked_sub(1)?;
        let location = loader.find_location(address).ok()??;
        let mut function = None;
        if let Ok(mut frames) = loader.find_frames(address)
            && let Ok(Some(frame)) = frames.next()
            && let Some(name) = frame.function
        {
            function = name.demangle().ok().map(|name| name.into_owned());
        }
        Some(Line { file: location.file?.to_string(), line: location.line?, function })
    }
}
