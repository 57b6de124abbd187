//! `selvedge check`: decides whether recorded histories are linearizable.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use clap::Args;
use selvedge_history::check::{self, Unfit};
use selvedge_history::counting::Unapproximated;
use selvedge_history::format::Format;
use selvedge_history::object::{Ambiguous, Kind, Misuse, Object, ObjectVisitor};
use selvedge_history::quasi::CheckError;
use selvedge_history::{Budget, Limit, Log, OpId, Value};

use super::counted::{Counting, CountingFlags};
use super::quasi::{QuasiFlags, QuasiSettings};
use super::{Unread, formats, objects, read, usage};
use crate::exit::Exit;
use crate::limits::{LimitFlags, Limits};
use crate::progress::{Phase, Progress};
use crate::report::ci::OutputFlags;
use crate::report::outcome::{Counted, Decided, Nothing, QuasiDecided, Recorded};
use crate::report::print::{Printer, keep, keep_page};
use crate::report::verdict::Criterion;
use crate::report::{Outcome, Rendered, Wanted, json};
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
    #[arg(long, value_name = "VALUE", value_parser = json::value, allow_hyphen_values = true)]
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
    let wanted = settings.wanted();
    let worker = move |budget: &Budget, progress: &Progress, results: &Sender<Rendered>| {
        for (number, file) in (1..).zip(&settings.files) {
            progress.begin(number, &source::name(file));
            let rendered = examine(&settings, file, budget, progress);
            // The other end is gone only when the process is about to end.
            let _ = results.send(rendered);
        }
    };
    let ended = watch::run(&limits, &progress, worker, |mut rendered: Rendered| {
        if let Some(path) = &certificate {
            unwritten = unwritten.worst(keep(path, "certificate", rendered.certificate.take()));
        }
        unwritten = unwritten.worst(keep_page(html.as_deref(), &mut rendered));
        printer.print(rendered);
    });
    for (number, file) in (1..).zip(&files).skip(printer.printed()) {
        let name = source::name(file);
        match ended {
            Ended::Done => unreachable!("one outcome a file"),
            Ended::Cut(limit) => {
                let mut rendered = Outcome::cut(&name, limit, &limits, &progress).render(wanted);
                unwritten = unwritten.worst(keep_page(html.as_deref(), &mut rendered));
                printer.print(rendered);
            }
            Ended::Panicked => printer.print(Outcome::bug(&name).render(wanted)),
        }
        // Those after the one that was cut short were never begun.
        progress.begin(number + 1, &name);
    }
    printer.finish().worst(unwritten)
}

impl Settings {
    fn wanted(&self) -> Wanted {
        let certificate = self.certificate.is_some();
        Wanted { certificate, ..Wanted::new(self.html.is_some(), &self.output) }
    }
}

/// Reads and checks one file, and reports.
fn examine(settings: &Settings, path: &Path, budget: &Budget, progress: &Progress) -> Rendered {
    let begun = Instant::now();
    let (file, wanted) = (source::name(path), settings.wanted());
    let cut = |limit: Limit| Outcome::cut(&file, limit, &settings.limits, progress);
    let wrong = |trouble: Trouble| Outcome::wrong(trouble, begun.elapsed().as_secs_f64());
    if let Some(limit) = budget.reached() {
        return cut(limit).render(wanted);
    }
    let (format, log) = match read(path, settings.format, budget, progress) {
        Ok(read) => read,
        Err(Unread::Limit(limit)) => return cut(limit).render(wanted),
        Err(Unread::Trouble(trouble)) => return wrong(trouble).render(wanted),
    };
    let read = Read { settings, file: &file, format: format.name(), log: &log, begun };
    let outcome = read.answer(budget, progress).unwrap_or_else(wrong);
    // A violation and wrong input are what they are; a pass would be one of every object.
    if log.history.says_nothing() && matches!(outcome.exit(), Exit::Pass | Exit::Unknown) {
        return read.nothing().render(wanted);
    }
    outcome.render(wanted)
}

/// A file that was read.
struct Read<'a> {
    settings: &'a Settings,
    file: &'a str,
    format: &'static str,
    log: &'a Log,
    begun: Instant,
}

impl<'a> Read<'a> {
    /// Asks what was asked for.
    fn answer(&self, budget: &Budget, progress: &Progress) -> Result<Outcome<'a>, Trouble> {
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

    /// The history, with how long it has taken so far.
    fn recorded(&self) -> Recorded<'a> {
        let Read { settings, file, format, log, begun } = *self;
        let (initial, limits) = (self.initial(), &settings.limits);
        Recorded { file, format, log, initial, seconds: begun.elapsed().as_secs_f64(), limits }
    }

    /// The initial value given, or else the one that the file states.
    fn initial(&self) -> Option<&'a Value> {
        self.settings.initial.as_ref().or(self.log.initial.as_ref())
    }

    /// The object given, or else the one that the history shows.
    fn kind(&self) -> Result<Kind, Trouble> {
        let kind = self.settings.object.map_or_else(|| Kind::infer(self.log), Ok);
        kind.map_err(|ambiguous| untold(self.file, self.log, &ambiguous))
    }

    /// A history that says nothing.
    fn nothing(&self) -> Outcome<'a> {
        let kernel = self.settings.counting.as_ref().is_some_and(Counting::is_by_kernel);
        let quasi = self.settings.quasi.is_some();
        Outcome::Nothing(Nothing {
            of: self.recorded(),
            object: self.kind().ok().filter(|_| !kernel),
            criterion: if quasi { Criterion::QuasiLinearizability } else { Criterion::Linearizability },
        })
    }

    /// Picks the object, or reads the kernel, and counts.
    fn count(&self, counting: &Counting, budget: &Budget, progress: &Progress) -> Result<Outcome<'a>, Trouble> {
        let Read { file, log, .. } = *self;
        if let Some(formula) = counting.formula()? {
            progress.checking("kernel", budget);
            let counted = counting.by_kernel(&self.recorded(), &formula, budget);
            return counted.map(|counted| self.counted(counted)).map_err(|unknown| {
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
        let counted = counting.by_object(&self.recorded(), kind, budget);
        counted.map(|counted| self.counted(counted)).map_err(|error| match error {
            Unapproximated::Unfit(unfit) => misfit(file, log, kind, &unfit),
            other => Trouble::new(file, other).advise("without --approximate the history is decided"),
        })
    }

    /// What counting saw, with how long it took.
    fn counted(&self, counted: Counted<'a>) -> Outcome<'a> {
        Outcome::Counted(Counted { of: self.recorded(), ..counted })
    }

    /// Asks for quasi linearizability.
    fn examine_quasi(
        &self,
        quasi: &QuasiSettings,
        budget: &Budget,
        progress: &Progress,
    ) -> Result<Outcome<'a>, Trouble> {
        let Read { file, log, .. } = *self;
        let kind = self.kind()?;
        progress.checking(kind.name(), budget);
        let answered = quasi.answer(log, kind, self.initial(), budget);
        let (relaxed, answer) = answered.map_err(|error| match error {
            CheckError::Unfit(unfit) => misfit(file, log, kind, &unfit),
            error => Trouble::new(file, error)
                .advise(format!("it was read as a history of a {kind}; --object NAME says what it is of")),
        })?;
        Ok(Outcome::Quasi(Box::new(QuasiDecided { of: self.recorded(), relaxed, answer })))
    }

    /// Asks for linearizability.
    fn decide(&self, budget: &Budget, progress: &Progress) -> Result<Outcome<'a>, Trouble> {
        let Read { settings, file, log, .. } = *self;
        let kind = self.kind()?;
        progress.checking(kind.name(), budget);
        let answered = check::check(log, kind, self.initial(), budget);
        let answer = answered.map_err(|unfit| misfit(file, log, kind, &unfit))?;
        progress.enter(Phase::Writing);
        let evidence_kept = settings.json || settings.certificate.is_some();
        Ok(Outcome::Decided(Decided { of: self.recorded(), answer, evidence_kept }))
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
