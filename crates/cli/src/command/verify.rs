//! `selvedge verify`: checks a certificate against its history.
//!
//! Invariant: the exit code is about the certificate, not about the history: 0 when it is right (also when what it rightly
//! claims is a violation), 1 when it is refused.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use selvedge_history::format::Format;
use selvedge_history::object::Kind;
use selvedge_history::verify::{Refusal, verify, verify_quasi};
use selvedge_history::{Budget, Verdict};

use super::test::under_watch;
use super::{Unread, formats, read, usage};
use crate::exit::Exit;
use crate::limits::{LimitFlags, Limits};
use crate::progress::{Phase, Progress};
use crate::report::ci::OutputFlags;
use crate::report::outcome::{AnyCertificate, Nothing, Recorded, Verified};
use crate::report::verdict::VerdictName;
use crate::report::{Outcome, Rendered, Wanted, json};
use crate::source::{self, Source};
use crate::trouble::Trouble;

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
    let (name, limits) = (source::name(&settings.history), settings.limits.clone());
    let (json, output) = (settings.json, settings.output.clone());
    under_watch(&name, json, (output, None), limits, move |budget, progress| examine(&settings, budget, progress))
}

/// Reads, verifies and reports.
fn examine(settings: &Settings, budget: &Budget, progress: &Progress) -> Rendered {
    let (begun, wanted) = (Instant::now(), Wanted::new(false, &settings.output));
    let (file, certificate_file) = (source::name(&settings.history), source::name(&settings.certificate));
    let unread = |unread: Unread| match unread {
        Unread::Limit(limit) => Outcome::cut(&file, limit, &settings.limits, progress).render(wanted),
        Unread::Trouble(trouble) => Outcome::wrong(trouble, begun.elapsed().as_secs_f64()).render(wanted),
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
        AnyCertificate::Plain(certificate) => verify(&log, certificate, budget),
        AnyCertificate::Quasi(certificate) => verify_quasi(&log, certificate, budget),
    };
    let of = Recorded {
        file: &file,
        format: format.name(),
        log: &log,
        initial: certificate.initial().or(log.initial.as_ref()),
        seconds: begun.elapsed().as_secs_f64(),
        limits: &settings.limits,
    };
    let refusal = match verified {
        Verdict::Unknown(limit) => return unread(Unread::Limit(limit)),
        // It claims nothing that could be looked at.
        Verdict::Fail(refusal @ Refusal::Relaxation { .. }) => {
            return unread(Unread::Trouble(Trouble::new(&certificate_file, refusal.to_string())));
        }
        Verdict::Pass(()) => None,
        Verdict::Fail(refusal) => Some(refusal),
    };
    // Every order of nothing is right, and says nothing.
    if refusal.is_none() && certificate.claim() == VerdictName::Pass && log.history.says_nothing() {
        let (object, criterion) = (Kind::from_name(certificate.object()), certificate.criterion());
        return Outcome::Nothing(Nothing { of, object, criterion }).render(wanted);
    }
    Outcome::Verified(Verified { of, file: &certificate_file, certificate: &certificate, refusal }).render(wanted)
}

fn read_certificate(path: &Path, progress: &Progress) -> Result<AnyCertificate, Trouble> {
    let file = source::name(path);
    progress.begin(1, &file);
    let mut text = Vec::new();
    Source::open(path, progress)
        .and_then(|mut source| source.read_to_end(&mut text))
        .map_err(|error| Trouble::io(&file, &error))?;
    json::any_certificate(&file, &text)
}
