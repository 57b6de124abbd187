//! `selvedge verify`: checks a certificate against its history.
//!
//! Invariant: the exit code is about the certificate, not about the history: 0 when it is right (also when what it rightly
//! claims is a violation), 1 when it is refused.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use clap::Args;
use selvedge_history::certificate::quasi::{self, QuasiCertificate, QuasiClaim};
use selvedge_history::certificate::{self, Certificate, Claim};
use selvedge_history::check::assumed::{Assumed, assumed};
use selvedge_history::format::Format;
use selvedge_history::object::Kind;
use selvedge_history::verify::{Refusal, verify, verify_quasi};
use selvedge_history::{Budget, Log, Value, Verdict};
use serde::Deserialize;

use super::{Unread, formats, read, usage};
use crate::exit::Exit;
use crate::limits::{LimitFlags, Limits};
use crate::progress::{Phase, Progress};
use crate::quantity::counted;
use crate::report::ci::OutputFlags;
use crate::report::json::{self, Verified};
use crate::report::nothing::Nothing;
use crate::report::operation::show;
use crate::report::print::Printer;
use crate::report::text::{FAIL, PASS, clean, paint, paragraph};
use crate::report::{self, Entry, sentence};
use crate::source::{self, Source};
use crate::trouble::Trouble;
use crate::watch::{self, Ended};

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "\
Exit codes:
  0    the certificate is right, whatever it claims
  1    the certificate is refused
  2    wrong input or usage
  3    unknown: a limit was reached, nothing was tested, or Ctrl-C
  101  a bug in selvedge")]
pub struct Flags {
    /// The history; - is standard input
    history: PathBuf,

    /// The certificate that `selvedge check --certificate` wrote
    certificate: PathBuf,

    /// How the history is written; recognised by content if not given
    #[arg(long, value_name = "NAME", value_parser = formats())]
    format: Option<Format>,

    /// Print one JSON document on standard output, and the report on standard error
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    limits: LimitFlags,
}

/// The flags as resolved.
pub struct Settings {
    history: PathBuf,
    certificate: PathBuf,
    format: Option<Format>,
    json: bool,
    output: OutputFlags,
    limits: Limits,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self, started: Instant) -> Result<Settings, clap::Error> {
        if source::is_stdin(&self.history) && source::is_stdin(&self.certificate) {
            return Err(usage("standard input can be read only once: give - for the history or for the certificate"));
        }
        Ok(Settings {
            history: self.history,
            certificate: self.certificate,
            format: self.format,
            json: self.json,
            output: self.output,
            limits: self.limits.resolve(started),
        })
    }
}

/// Verifies and reports.
pub fn run(settings: Settings) -> Exit {
    let name = source::name(&settings.history);
    let limits = settings.limits.clone();
    let progress = Arc::new(Progress::new(1));
    let mut printer = Printer::new(settings.json, settings.output.clone(), 1);
    progress.quiet(settings.output.quiet);
    let worker = move |budget: &Budget, progress: &Progress, results: &Sender<Entry>| {
        // The other end is gone only when the process is about to end.
        let _ = results.send(examine(&settings, budget, progress));
    };
    let ended = watch::run(&limits, &progress, worker, |entry| printer.print(entry));
    match ended {
        Ended::Cut(limit) if printer.printed() == 0 => printer.print(report::cut(&name, limit, &limits, &progress)),
        Ended::Panicked => printer.print(report::bug(&name)),
        Ended::Done | Ended::Cut(_) => {}
    }
    printer.finish()
}

fn examine(settings: &Settings, budget: &Budget, progress: &Progress) -> Entry {
    let begun = Instant::now();
    let file = source::name(&settings.history);
    let unread = |unread: Unread| match unread {
        Unread::Limit(limit) => report::cut(&file, limit, &settings.limits, progress),
        Unread::Trouble(trouble) => report::troubled(&trouble, begun.elapsed().as_secs_f64()),
    };
    let certificate = match read_certificate(&settings.certificate, progress) {
        Ok(certificate) => certificate,
        Err(trouble) => return unread(Unread::Trouble(trouble)),
    };
    progress.begin(1, &file);
    let (format, log) = match read(&settings.history, settings.format, budget, progress) {
        Ok(read) => read,
        Err(error) => return unread(error),
    };
    progress.enter(Phase::Verifying);
    let verified = match &certificate {
        Either::Plain(certificate) => verify(&log, certificate, budget),
        Either::Quasi(certificate) => verify_quasi(&log, certificate, budget),
    };
    match verified {
        Verdict::Unknown(limit) => unread(Unread::Limit(limit)),
        // Every order of nothing is right, and says nothing.
        Verdict::Pass(()) if certificate.claim().0 == "pass" && log.history.says_nothing() => {
            let nothing = Nothing {
                file: &file,
                format: format.name(),
                log: &log,
                object: Kind::from_name(certificate.object()).map(Kind::name),
                criterion: certificate.criterion(),
                seconds: begun.elapsed().as_secs_f64(),
                limits: &settings.limits,
            };
            nothing.entry()
        }
        Verdict::Pass(()) => entry(settings, format, &log, &certificate, None, begun),
        // It claims nothing that could be looked at.
        Verdict::Fail(refusal @ Refusal::Relaxation { .. }) => {
            let trouble = Trouble::new(&source::name(&settings.certificate), refusal.to_string());
            unread(Unread::Trouble(trouble))
        }
        Verdict::Fail(refusal) => entry(settings, format, &log, &certificate, Some(&refusal), begun),
    }
}

/// A certificate of either version.
enum Either {
    Plain(Box<Certificate>),
    Quasi(Box<QuasiCertificate>),
}

impl Either {
    fn object(&self) -> &str {
        match self {
            Either::Plain(certificate) => &certificate.object,
            Either::Quasi(certificate) => &certificate.object,
        }
    }

    fn initial(&self) -> Option<&Value> {
        match self {
            Either::Plain(certificate) => certificate.initial.as_ref(),
            Either::Quasi(certificate) => certificate.initial.as_ref(),
        }
    }

    fn criterion(&self) -> &'static str {
        match self {
            Either::Plain(_) => json::CRITERION,
            Either::Quasi(_) => report::quasi::CRITERION,
        }
    }

    /// The verdict claimed, and what it says.
    fn claim(&self) -> (&'static str, &'static str) {
        match self {
            Either::Plain(certificate) => match certificate.claim {
                Claim::Pass { .. } => ("pass", "linearizable"),
                Claim::Fail { .. } => ("fail", "not linearizable"),
            },
            Either::Quasi(certificate) => match certificate.claim {
                QuasiClaim::Pass { .. } => ("pass", "quasi linearizable"),
                QuasiClaim::Fail { .. } => ("fail", "not quasi linearizable"),
            },
        }
    }

    /// The initial values that it rests on, where none was stated.
    fn assumed(&self, log: &Log, initial: Option<&Value>) -> Vec<Assumed> {
        match self {
            Either::Plain(certificate) => match (&certificate.claim, Kind::from_name(&certificate.object)) {
                (Claim::Pass { linearizations }, Some(kind)) => assumed(log, kind, initial, linearizations),
                _ => Vec::new(),
            },
            Either::Quasi(_) => Vec::new(),
        }
    }

    /// What was allowed, where something was.
    fn relaxed(&self) -> String {
        match self {
            Either::Plain(_) => String::new(),
            Either::Quasi(c) => {
                let [classes, reading, causality, order] =
                    [&c.quasi, &c.reading, &c.causality, &c.order].map(|word| clean(word));
                format!(" with {classes} ({reading}, {causality}, {order})")
            }
        }
    }
}

/// What every version of a certificate says first.
#[derive(Deserialize)]
struct Header {
    selvedge: String,
    version: u32,
}

fn read_certificate(path: &Path, progress: &Progress) -> Result<Either, Trouble> {
    let file = source::name(path);
    progress.begin(1, &file);
    let mut text = Vec::new();
    Source::open(path, progress)
        .and_then(|mut source| source.read_to_end(&mut text))
        .map_err(|error| Trouble::io(&file, &error))?;
    let misread = |error: serde_json::Error| {
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or(&reason);
        Trouble::new(&file, format!("not a certificate: {reason}"))
            .at(error.line().max(1) as u32, Some(error.column().max(1) as u32))
            .advise("certificates are written by `selvedge check --certificate`; give the history first")
    };
    let header: Header = serde_json::from_slice(&text).map_err(misread)?;
    if header.selvedge != "certificate" {
        let reason = format!("expected a certificate, found \"{}\"", header.selvedge);
        return Err(Trouble::new(&file, reason).at(1, None).advise("the history comes first, then the certificate"));
    }
    match header.version {
        certificate::VERSION => {
            serde_json::from_slice(&text).map(|certificate| Either::Plain(Box::new(certificate))).map_err(misread)
        }
        quasi::VERSION => {
            serde_json::from_slice(&text).map(|certificate| Either::Quasi(Box::new(certificate))).map_err(misread)
        }
        found => {
            let (plain, quasi) = (certificate::VERSION, quasi::VERSION);
            let reason = format!("version {found} of the certificate format is not known; expected {plain} or {quasi}");
            Err(Trouble::new(&file, reason).at(1, None).advise("use the selvedge that wrote it, or check again"))
        }
    }
}

fn entry(
    settings: &Settings,
    format: Format,
    log: &Log,
    certificate: &Either,
    refusal: Option<&Refusal>,
    begun: Instant,
) -> Entry {
    let (file, certificate_file) = (source::name(&settings.history), source::name(&settings.certificate));
    let (claim, says) = certificate.claim();
    let seconds = json::round(begun.elapsed().as_secs_f64());
    let operations = log.history.len() as u64;
    let initial = certificate.initial().or(log.initial.as_ref());
    let numbers = format!("{}, {seconds:.3} s", counted(operations, "operation"));
    let line = match refusal {
        None => {
            let object = object(certificate, initial);
            format!("{}  {certificate_file}: {file} is {says} as a {object}", paint(PASS, "RIGHT"))
        }
        Some(_) => format!("{}  {certificate_file}: it does not show that {file} is {says}", paint(FAIL, "REFUSED")),
    };
    let refusal = refusal.map(ToString::to_string);
    // What is refused may name operations that do not exist.
    let assumed = if refusal.is_none() { certificate.assumed(log, initial) } else { Vec::new() };
    let rests = sentence::assumption(&assumed).map_or(String::new(), |text| paragraph(&text, 2));
    let why = refusal.as_ref().map_or(String::new(), |refusal| paragraph(&clean(refusal), 2));
    let other = other_object(log, certificate).map_or(String::new(), |note| paragraph(&note, 2));
    let json = json::write(&Verified {
        file: &file,
        certificate: &certificate_file,
        verdict: if refusal.is_none() { "pass" } else { "fail" },
        criterion: certificate.criterion(),
        coverage: "exhaustive",
        seconds,
        version: json::VERSION,
        format: format.name(),
        object: certificate.object(),
        initial,
        operations,
        claim,
        assumed: json::assumed_values(&assumed),
        refusal: refusal.clone(),
    });
    let exit = if refusal.is_none() { Exit::Pass } else { Exit::Violation };
    let relaxed = certificate.relaxed();
    let relaxed = relaxed.strip_prefix(' ').map_or(String::new(), |relaxed| format!("{relaxed}; "));
    let numbers = paragraph(&format!("{relaxed}{numbers}"), 2);
    Entry { exit, full: format!("{line}\n{why}{rests}{other}{numbers}"), line, json, certificate: None, html: None }
}

/// What the claim is about: the object, and what it starts with where that was stated.
fn object(certificate: &Either, initial: Option<&Value>) -> String {
    let object = clean(certificate.object());
    initial.map_or(object.clone(), |initial| format!("{object} that starts with {}", show(initial)))
}

/// A certificate may be right about another object than the one that the history says it is of.
fn other_object(log: &Log, certificate: &Either) -> Option<String> {
    let declared = log.declared.as_deref()?;
    let kind = Kind::from_name(declared)?;
    (Kind::from_name(certificate.object()) != Some(kind)).then(|| {
        format!(
            "Note: the history says that it is of a {}, the certificate is about a {}.",
            kind.name(),
            clean(certificate.object())
        )
    })
}
