//! Puts reports where they belong: standard output or standard error, one document or lines.
//!
//! Invariant: with `--json` standard output gets exactly one document, and only when everything is known. A reader who
//! went away (a closed pipe) is no error: the exit code still tells.

use std::io::{self, Write};
use std::path::Path;

use super::ci::{Case, OutputFlags};
use super::{Rendered, json};
use crate::exit::Exit;
use crate::source;
use crate::trouble::Trouble;

/// Prints the outcomes of one command.
pub struct Printer {
    json: bool,
    output: OutputFlags,
    several: bool,
    documents: Vec<String>,
    cases: Vec<Case>,
    exits: Vec<Exit>,
    /// Not a pass once something could not be written.
    unwritten: Exit,
}

impl Printer {
    /// A printer for so many files.
    pub fn new(json: bool, output: OutputFlags, files: usize) -> Self {
        let (documents, cases, exits) = (Vec::new(), Vec::new(), Vec::new());
        Printer { json, output, several: files > 1, documents, cases, exits, unwritten: Exit::Pass }
    }

    /// How many outcomes were printed.
    pub fn printed(&self) -> usize {
        self.exits.len()
    }

    /// Prints what came of one file. What is wrong with the input goes to standard error in any case.
    pub fn print(&mut self, rendered: Rendered) {
        let Rendered { exit, text, line, json, cases, .. } = rendered;
        let text = if self.several { format!("{line}\n") } else { text };
        if exit >= Exit::Input || self.json && !(self.output.quiet && exit == Exit::Pass) {
            complain(&text);
        } else if !self.output.quiet || exit != Exit::Pass {
            self.unwritten = self.unwritten.worst(say(&text));
        }
        self.documents.push(json);
        self.cases.extend(cases);
        self.exits.push(exit);
    }

    /// Prints the document, if one was asked for, and the summary of several files.
    pub fn finish(mut self) -> Exit {
        for trouble in self.output.write(&self.cases) {
            complain(&format!("{trouble}\n"));
            self.unwritten = self.unwritten.worst(Exit::Input);
        }
        if self.json {
            let document = if self.several { json::list(&self.documents) } else { self.documents.concat() } + "\n";
            self.unwritten = self.unwritten.worst(written(io::stdout().lock().write_all(document.as_bytes())));
        }
        if self.several && !self.output.quiet {
            let counts: Vec<String> = [
                (Exit::Pass, "pass"),
                (Exit::Violation, "fail"),
                (Exit::Unknown, "unknown"),
                (Exit::Input, "wrong input"),
                (Exit::Bug, "bug"),
            ]
            .into_iter()
            .map(|(exit, name)| (self.exits.iter().filter(|&&other| other == exit).count(), name))
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
            complain(&format!("{} files: {}\n", self.exits.len(), counts.join(", ")));
        }
        self.exits.into_iter().fold(self.unwritten, Exit::worst)
    }
}

/// Prints to standard output, in colours where it is a terminal.
pub fn say(text: &str) -> Exit {
    written(anstream::AutoStream::auto(io::stdout()).write_all(text.as_bytes()))
}

/// Prints to standard error, in colours where it is a terminal. Nobody is left to tell when that fails.
pub fn complain(text: &str) {
    let _ = anstream::AutoStream::auto(io::stderr()).write_all(text.as_bytes());
}

/// Writes what was asked for besides the report, if there is something to write.
pub fn keep(path: &Path, what: &str, bytes: Option<Vec<u8>>) -> Exit {
    let name = source::name(path);
    let Some(bytes) = bytes else {
        complain(&format!("warning: {name}: no {what} was written, since there is no verdict\n"));
        return Exit::Pass;
    };
    match std::fs::write(path, bytes) {
        Ok(()) => Exit::Pass,
        Err(error) => {
            let trouble = Trouble::new(&name, format!("cannot write the {what}: {error}"));
            complain(&format!("{trouble}\n"));
            Exit::Input
        }
    }
}

/// Writes the page of an outcome, if one was asked for.
pub fn keep_page(path: Option<&Path>, rendered: &mut Rendered) -> Exit {
    path.map_or(Exit::Pass, |path| keep(path, "page", rendered.page.take().map(String::into_bytes)))
}

/// Whether it was written. Whoever closed a pipe did not want more.
pub fn written(result: io::Result<()>) -> Exit {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("error: cannot write to standard output: {error}\n"));
            Exit::Input
        }
        _ => Exit::Pass,
    }
}
