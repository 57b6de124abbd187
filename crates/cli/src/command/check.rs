//! `selvedge check`: decides whether recorded histories are linearizable.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use clap::Args;
use selvedge_history::certificate::{Certificate, Claim};
use selvedge_history::check::{self, Answer, Unfit};
use selvedge_history::counting::Unapproximated;
use selvedge_history::format::Format;
use selvedge_history::object::{Ambiguous, Kind, Misuse, Object, ObjectVisitor};
use selvedge_history::quasi::CheckError;
use selvedge_history::{Budget, Limit, Log, OpId, Value, Verdict};

use super::counted::{Counting, CountingFlags, Question};
use super::quasi::{QuasiFlags, QuasiSettings};
use super::{QuasiHistory, Unread, formats, objects, read, usage};
use crate::exit::Exit;
use crate::limits::{LimitFlags, Limits};
use crate::progress::{Phase, Progress};
use crate::report::ci::OutputFlags;
use crate::report::nothing::Nothing;
use crate::report::print::{Printer, keep, keep_page};
use crate::report::{self, Decided, Entry};
use crate::source;
use crate::trouble::Trouble;
use crate::watch::{self, Ended};

/// The flags as typed.
#[derive(Args)]
#[command(after_help = crate::exit::HELP)]
pub struct Flags {
    /// Histories to check; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What the histories are of; inferred from the methods if not given
    #[arg(long, value_name = "NAME", value_parser = objects())]
    object: Option<Kind>,

    /// How the files are written; recognised by content if not given
    #[arg(long, value_name = "NAME", value_parser = formats())]
    format: Option<Format>,

    /// What a register holds before the first write, such as 0, nil or a text
    #[arg(long, value_name = "VALUE", value_parser = initial, allow_hyphen_values = true)]
    initial: Option<Value>,

    /// Print one JSON document on standard output, and the report on standard error
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    output: OutputFlags,

    /// Write the evidence here, for `selvedge verify`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    /// Write the report as a page for a browser here
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    counting: CountingFlags,

    #[command(flatten)]
    quasi: QuasiFlags,

    #[command(flatten)]
    limits: LimitFlags,
}

/// An initial value: JSON, `nil`, or a bare text.
pub(super) fn initial(text: &str) -> Result<Value, String> {
    if text == "nil" {
        return Ok(Value::Nil);
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Err(_) => Ok(Value::text(text)),
        Ok(json) => serde_json::from_value(json).map_err(|error| error.to_string()),
    }
}

/// The flags as resolved.
#[derive(Clone)]
pub struct Settings {
    counting: Option<Counting>,
    files: Vec<PathBuf>,
    object: Option<Kind>,
    format: Option<Format>,
    initial: Option<Value>,
    json: bool,
    output: OutputFlags,
    certificate: Option<PathBuf>,
    html: Option<PathBuf>,
    quasi: Option<QuasiSettings>,
    limits: Limits,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self, started: Instant) -> Result<Settings, clap::Error> {
        if self.certificate.is_some() && self.files.len() > 1 {
            return Err(usage("--certificate holds the evidence for one history: give one file"));
        }
        if self.html.is_some() && self.files.len() > 1 {
            return Err(usage("--html holds the report on one history: give one file"));
        }
        if self.files.iter().filter(|path| source::is_stdin(path)).count() > 1 {
            return Err(usage("standard input can be read only once: give - at most once"));
        }
        let counting = self.counting.resolve();
        if counting.is_some() && self.certificate.is_some() {
            return Err(usage("--approximate and --kernel write no certificate"));
        }
        if counting.as_ref().is_some_and(Counting::is_by_kernel) && self.initial.is_some() {
            return Err(usage("--kernel says itself what executions begin with: leave --initial out"));
        }
        let quasi = self.quasi.resolve()?;
        if quasi.is_some() && counting.is_some() {
            return Err(usage("--approximate and --kernel are about linearizability: leave --quasi out"));
        }
        Ok(Settings {
            counting,
            quasi,
            files: self.files,
            object: self.object,
            format: self.format,
            initial: self.initial,
            json: self.json,
            output: self.output,
            certificate: self.certificate,
            html: self.html,
            limits: self.limits.resolve(started),
        })
    }
}

/// Checks every file and reports.
pub fn run(settings: Settings) -> Exit {
    let files = settings.files.clone();
    let limits = settings.limits.clone();
    let certificate = settings.certificate.clone();
    let html = settings.html.clone();
    let progress = Arc::new(Progress::new(files.len()));
    let mut printer = Printer::new(settings.json, settings.output.clone(), files.len());
    progress.quiet(settings.output.quiet);
    let mut unwritten = Exit::Pass;
    let worker = move |budget: &Budget, progress: &Progress, results: &Sender<Entry>| {
        for (number, file) in (1..).zip(&settings.files) {
            progress.begin(number, &source::name(file));
            let entry = examine(&settings, file, budget, progress);
            // The other end is gone only when the process is about to end.
            let _ = results.send(entry);
        }
    };
    let ended = watch::run(&limits, &progress, worker, |mut entry: Entry| {
        if let Some(path) = &certificate {
            unwritten = unwritten.worst(keep(path, "certificate", entry.certificate.take()));
        }
        unwritten = unwritten.worst(keep_page(html.as_deref(), &mut entry));
        printer.print(entry);
    });
    for (number, file) in (1..).zip(&files).skip(printer.printed()) {
        let name = source::name(file);
        match ended {
            Ended::Done => unreachable!("one entry a file"),
            Ended::Cut(limit) => {
                let mut entry = report::cut(&name, limit, &limits, &progress);
                unwritten = unwritten.worst(keep_page(html.as_deref(), &mut entry));
                printer.print(entry);
            }
            Ended::Panicked => printer.print(report::bug(&name)),
        }
        // Those after the one that was cut short were never begun.
        progress.begin(number + 1, &name);
    }
    printer.finish().worst(unwritten)
}

/// Reads and checks one file, and reports.
fn examine(settings: &Settings, path: &Path, budget: &Budget, progress: &Progress) -> Entry {
    let begun = Instant::now();
    let file = source::name(path);
    let cut = |limit: Limit| report::cut(&file, limit, &settings.limits, progress);
    let troubled = |trouble: &Trouble| report::troubled(trouble, begun.elapsed().as_secs_f64());
    if let Some(limit) = budget.reached() {
        return cut(limit);
    }
    let (format, log) = match read(path, settings.format, budget, progress) {
        Ok(read) => read,
        Err(Unread::Limit(limit)) => return cut(limit),
        Err(Unread::Trouble(trouble)) => return troubled(&trouble),
    };
    let read = Read { settings, file: &file, format: format.name(), log: &log, begun };
    let entry = read.answer(budget, progress).unwrap_or_else(|trouble| troubled(&trouble));
    // A violation and wrong input are what they are; a pass would be one of every object.
    if log.history.says_nothing() && matches!(entry.exit, Exit::Pass | Exit::Unknown) {
        return read.nothing();
    }
    entry
}

/// A file that was read.
struct Read<'a> {
    settings: &'a Settings,
    file: &'a str,
    format: &'static str,
    log: &'a Log,
    begun: Instant,
}

impl Read<'_> {
    /// Asks what was asked for, and reports.
    fn answer(&self, budget: &Budget, progress: &Progress) -> Result<Entry, Trouble> {
        if let Some(counting) = &self.settings.counting {
            return self.count(counting, budget, progress);
        }
        // Without operations and without a name nothing tells the object, and nothing depends on it.
        if self.log.history.is_empty() && self.kind().is_err() {
            return Ok(self.nothing());
        }
        match &self.settings.quasi {
            Some(quasi) => self.examine_quasi(quasi, budget, progress),
            None => self.decide(budget, progress),
        }
    }

    /// The initial value given, or else the one that the file states.
    fn initial(&self) -> Option<&Value> {
        self.settings.initial.as_ref().or(self.log.initial.as_ref())
    }

    /// The object given, or else the one that the history shows.
    fn kind(&self) -> Result<Kind, Trouble> {
        let kind = self.settings.object.map_or_else(|| Kind::infer(self.log), Ok);
        kind.map_err(|ambiguous| untold(self.file, self.log, &ambiguous))
    }

    /// The report on a history that says nothing.
    fn nothing(&self) -> Entry {
        let kernel = self.settings.counting.as_ref().is_some_and(Counting::is_by_kernel);
        let nothing = Nothing {
            file: self.file,
            format: self.format,
            log: self.log,
            object: self.kind().ok().filter(|_| !kernel).map(Kind::name),
            criterion: if self.settings.quasi.is_some() { report::quasi::CRITERION } else { report::json::CRITERION },
            seconds: self.begun.elapsed().as_secs_f64(),
            limits: &self.settings.limits,
        };
        nothing.entry()
    }

    /// Picks the object, or reads the kernel, and counts.
    fn count(&self, counting: &Counting, budget: &Budget, progress: &Progress) -> Result<Entry, Trouble> {
        let Read { settings, file, format, log, begun } = *self;
        let (initial, page) = (self.initial(), settings.html.is_some());
        let question = Question { file, format, log, counting, initial, limits: &settings.limits, begun, page };
        if let Some(formula) = counting.formula()? {
            progress.checking("kernel", budget);
            return question.by_kernel(&formula, budget).map_err(|unknown| {
                let line = if unknown.at_return { log.return_line(unknown.op) } else { log.call_line(unknown.op) };
                Trouble::new(file, &unknown)
                    .at(line, None)
                    .advise("`names METHOD: OTHER` in the kernel gives a method other names")
            });
        }
        if log.history.is_empty() && self.kind().is_err() {
            return Ok(self.nothing());
        }
        let kind = self.kind()?;
        progress.checking(kind.name(), budget);
        question.by_object(kind, budget).map_err(|error| match error {
            Unapproximated::Unfit(unfit) => misfit(file, log, kind, &unfit),
            other => Trouble::new(file, other).advise("without --approximate the history is decided"),
        })
    }

    /// Asks for quasi linearizability.
    fn examine_quasi(&self, quasi: &QuasiSettings, budget: &Budget, progress: &Progress) -> Result<Entry, Trouble> {
        let Read { settings, file, format, log, begun } = *self;
        let kind = self.kind()?;
        progress.checking(kind.name(), budget);
        let (initial, limits, page) = (self.initial(), &settings.limits, settings.html.is_some());
        let history = QuasiHistory { file, format, log, kind, initial, begun, limits, page };
        quasi.examine(&history, settings.certificate.is_some(), budget).map_err(|error| match error {
            CheckError::Unfit(unfit) => misfit(file, log, kind, &unfit),
            error => Trouble::new(file, error)
                .advise(format!("it was read as a history of a {kind}; --object NAME says what it is of")),
        })
    }

    /// Asks for linearizability.
    fn decide(&self, budget: &Budget, progress: &Progress) -> Result<Entry, Trouble> {
        let Read { settings, file, format, log, begun } = *self;
        let kind = self.kind()?;
        progress.checking(kind.name(), budget);
        let initial = self.initial();
        let answer = check::check(log, kind, initial, budget).map_err(|unfit| misfit(file, log, kind, &unfit))?;
        progress.enter(Phase::Writing);
        let decided = Decided {
            file,
            format,
            log,
            initial,
            answer: &answer,
            seconds: begun.elapsed().as_secs_f64(),
            limits: &settings.limits,
            evidence_kept: settings.json || settings.certificate.is_some(),
        };
        let mut entry = decided.entry();
        if settings.html.is_some() {
            entry.html = Some(decided.html());
        }
        if settings.certificate.is_some() {
            entry.certificate = certificate(answer, initial.cloned(), log);
        }
        Ok(entry)
    }
}

/// Trouble with a history that does not tell its object. Where no object is left, the call that ruled out the last one is
/// to blame.
fn untold(file: &str, log: &Log, ambiguous: &Ambiguous) -> Trouble {
    let trouble = Trouble::new(file, ambiguous);
    let mut left = Kind::ALL.to_vec();
    let mut seen = vec![false; log.names().len()];
    for (i, operation) in log.history.operations().iter().enumerate() {
        let method = operation.input.method;
        if !std::mem::replace(&mut seen[method.0 as usize], true) {
            left.retain(|kind| kind.with_object(None, HasMethod(log.name(method))).unwrap_or(false));
            if left.is_empty() {
                return trouble.at(log.call_line(OpId(i as u32)), None);
            }
        }
    }
    trouble
}

/// Whether an object has a method, whatever its argument.
struct HasMethod<'a>(&'a str);

impl ObjectVisitor for HasMethod<'_> {
    type Answer = bool;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> bool {
        !matches!(object.input(self.0, &Value::Nil), Err(Misuse::Method(_)))
    }
}

fn misfit(file: &str, log: &Log, kind: Kind, unfit: &Unfit) -> Trouble {
    let trouble = Trouble::new(file, unfit);
    match unfit.op {
        Some(op) => {
            let line = if unfit.at_return { log.return_line(op) } else { log.call_line(op) };
            let advice = format!("it was read as a history of a {}; --object NAME says what it is of", kind.name());
            trouble.at(line, None).advise(advice)
        }
        None => trouble.advise(format!("--initial VALUE says what a {} starts with", kind.name())),
    }
}

/// The certificate of a verdict, ready to be written.
fn certificate(answer: Answer, initial: Option<Value>, log: &Log) -> Option<Vec<u8>> {
    let claim = match answer.verdict {
        Verdict::Pass(linearizations) => Claim::Pass { linearizations },
        Verdict::Fail(failure) => Claim::Fail { failure },
        Verdict::Unknown(_) => return None,
    };
    let certificate = Certificate::new(answer.kind.name(), initial, log.history.len() as u64, claim);
    let mut text = report::json::write(&certificate);
    text.push('\n');
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_values_are_json_or_text() {
        for (text, expected) in [
            ("0", Value::Int(0)),
            ("-1", Value::Int(-1)),
            ("nil", Value::Nil),
            ("null", Value::Nil),
            ("true", Value::Bool(true)),
            ("x", Value::text("x")),
            ("\"0\"", Value::text("0")),
            ("\"\"", Value::text("")),
            ("[1,2]", Value::list([Value::Int(1), Value::Int(2)])),
        ] {
            assert_eq!(initial(text), Ok(expected), "{text}");
        }
        assert!(initial("1.5").is_err());
        assert!(initial("{\"a\":1}").is_err());
    }
}
