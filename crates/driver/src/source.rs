//! Source lines of places in the code, from the debug information of the files that they lie in.
//!
//! A place is the address that a call returns to, so the line is that of the byte before it. Places without debug information
//! have no line, and that is no error.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use addr2line::{FunctionName, Loader};

use selvedge_protocol::Place;

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

/// Whether a name is one that a compiler of C++ or Rust made up. The demangler takes others for types: `x` would be `long long`.
pub fn is_mangled(name: &str) -> bool {
    ["_Z", "__Z", "_R"].iter().any(|start| name.starts_with(start))
}

/// The name of a function as a person reads it.
fn readable(name: &FunctionName<impl addr2line::gimli::Reader>) -> Option<String> {
    let raw = name.raw_name().ok()?;
    if is_mangled(&raw) { name.demangle().ok().map(Cow::into_owned) } else { Some(raw.into_owned()) }
}

impl Lines {
    /// Nothing is read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The line of a place, if its file says so.
    pub fn line(&mut self, place: &Place) -> Option<Line> {
        self.lines(place).into_iter().next()
    }

    /// The line of a place, and those of the calls around it that the compiler put into one function, from the inside out.
    pub fn lines(&mut self, place: &Place) -> Vec<Line> {
        let loader = self.modules.entry(place.module.clone()).or_insert_with(|| Loader::new(&place.module).ok());
        let (Some(loader), Some(address)) = (loader.as_ref(), place.offset.checked_sub(1)) else { return vec![] };
        let mut lines = Vec::new();
        if let Ok(mut frames) = loader.find_frames(address) {
            while let Ok(Some(frame)) = frames.next() {
                let function = frame.function.and_then(|name| readable(&name));
                if let Some((file, line)) = frame.location.and_then(|at| Some((at.file?.to_string(), at.line?))) {
                    lines.push(Line { file, line, function });
                }
            }
        }
        lines
    }
}
