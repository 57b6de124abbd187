//! `selvedge check --approximate` and `--kernel`: violations that operation counting shows.
//!
//! Invariant: the answer is fail or unknown, never pass: that nothing is visible says nothing about the rest.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use selvedge_history::counting::kernel::{self, Formula};
use selvedge_history::counting::{Halt, Prefixes, Unapproximated, approximate};
use selvedge_history::evidence::Part;
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Log, OpId, Value};
use serde::Serialize;

use super::formula;
use crate::exit::Exit;
use crate::limits::Limits;
use crate::quantity::counted;
use crate::report::html::counting::{self, Counted, CountedViolation};
use crate::report::operation::Reading;
use crate::report::text::{FAIL, UNKNOWN, clean, paint, paragraph};
use crate::report::{Entry, json, limit_text};
use crate::trouble::Trouble;

/// How many operations are listed.
const SHOWN_MAX: usize = 12;

/// The flags as typed.
#[derive(Args)]
pub struct CountingFlags {
    /// Only look for violations that operation counting shows, such as k=2
    #[arg(long, value_name = "k=N", value_parser = approximation)]
    approximate: Option<u8>,

    /// Look for violations of this kernel: a grammar of the legal serial executions, or mutex, rwlock, semaphore(N), bounded-semaphore(N), nonnegative-counter
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["approximate", "object"])]
    kernel: Option<PathBuf>,

    /// With --kernel: how many of the last bounds between operations are kept apart
    #[arg(short, value_name = "K", default_value_t = 2, requires = "kernel", value_parser = clap::value_parser!(u8).range(0..=8))]
    k: u8,

    /// With --approximate or --kernel: look at up to so many beginnings of each object's history too, since counting forgets what is
    /// long past; 1000 for up to 2000 operations and none for more, if not given
    #[arg(long, value_name = "N")]
    prefixes: Option<usize>,
}

/// The k of `--approximate`.
pub(super) fn approximation(text: &str) -> Result<u8, String> {
    let number = text.strip_prefix("k=").unwrap_or(text);
    number.parse().ok().filter(|k| *k <= 8).ok_or_else(|| "expected k=N with N from 0 to 8".to_owned())
}

/// What to count, as resolved.
#[derive(Clone)]
pub struct Counting {
    kernel: Option<PathBuf>,
    k: usize,
    prefixes: Option<usize>,
}

impl CountingFlags {
    /// What was asked for, if anything.
    pub fn resolve(self) -> Option<Counting> {
        let k = match (&self.kernel, self.approximate) {
            (Some(_), _) => self.k,
            (None, Some(k)) => k,
            (None, None) => return None,
        };
        Some(Counting { kernel: self.kernel, k: usize::from(k), prefixes: self.prefixes })
    }
}

impl Counting {
    /// Whether a kernel is asked, and no object.
    pub fn is_by_kernel(&self) -> bool {
        self.kernel.is_some()
    }

    /// The kernel's formula, if one is to be used.
    pub fn formula(&self) -> Result<Option<Formula>, Trouble> {
        self.kernel.as_deref().map(|kernel: &Path| formula::read(kernel, self.k)).transpose()
    }
}

/// A history to be looked at.
pub struct Question<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The file's format.
    pub format: &'static str,
    /// The history.
    pub log: &'a Log,
    /// What to count.
    pub counting: &'a Counting,
    /// The initial value that holds, if one was stated.
    pub initial: Option<&'a Value>,
    /// The limits it runs under.
    pub limits: &'a Limits,
    /// When it was begun.
    pub begun: Instant,
    /// Whether a page is wanted.
    pub page: bool,
}

/// What was seen, whoever saw it.
struct Sight {
    violation: Option<Violation>,
    halt: Option<Halt>,
    length: usize,
    looked_at: u64,
}

struct Violation {
    part: Part,
    events: u32,
    formula: &'static str,
    what: String,
    numbers: Vec<String>,
    operations: Vec<OpId>,
}

impl Question<'_> {
    /// Looks by the formulas of a built-in object.
    pub fn by_object(&self, kind: Kind, budget: &Budget) -> Result<Entry, Unapproximated> {
        let Counting { k, .. } = *self.counting;
        let answer = approximate(self.log, kind, self.initial, k, self.prefixes(), budget)?;
        let violation = answer.violation.map(|violation| Violation {
            part: violation.part,
            events: violation.events,
            formula: violation.formula,
            what: violation.what.to_owned(),
            numbers: violation.demands.iter().map(ToString::to_string).collect(),
            operations: violation.operations,
        });
        let sight = Sight { violation, halt: answer.halt, length: answer.length, looked_at: answer.looked_at };
        Ok(self.entry(kind, Some(kind.name()), &sight))
    }

    /// Looks by the formula of a kernel.
    pub fn by_kernel(&self, formula: &Formula, budget: &Budget) -> Result<Entry, kernel::Unknown> {
        let answer = kernel::check(self.log, formula, self.prefixes(), budget)?;
        let violation = answer.violation.map(|violation| Violation {
            operations: violation.operations(),
            part: violation.part,
            events: violation.events,
            formula: "kernel",
            what: "no serial execution of the kernel has so many operations of each kind in these slots".to_owned(),
            numbers: violation.demands.iter().map(ToString::to_string).collect(),
        });
        let sight = Sight { violation, halt: answer.halt, length: answer.length, looked_at: answer.looked_at };
        // The kind only decides how results are shown.
        Ok(self.entry(Kind::Semaphore, None, &sight))
    }

    fn prefixes(&self) -> Prefixes {
        // Each beginning costs as much as the whole.
        let usual = if self.log.history.len() <= 2_000 { 1_000 } else { 0 };
        match self.counting.prefixes.unwrap_or(usual) {
            0 => Prefixes::Whole,
            most => Prefixes::AtMost(most),
        }
    }

    fn entry(&self, kind: Kind, object: Option<&str>, sight: &Sight) -> Entry {
        let reading = Reading { log: self.log, kind };
        let k = self.counting.k;
        let (exit, line, full) = match &sight.violation {
            Some(violation) => {
                let of = object.map_or(String::new(), |object| format!(" as a {object}"));
                let line = format!("{}  {}: not linearizable{of}", paint(FAIL, "FAIL"), self.file);
                (Exit::Violation, line, self.explain(reading, violation))
            }
            None => {
                let why = self.why_not(sight);
                let line = format!("{}  {}: {why}", paint(UNKNOWN, "UNKNOWN"), self.file);
                let about = "Counting shows violations only; that it shows none says nothing. Without --approximate and --kernel the \
                             history is decided.";
                (Exit::Unknown, line, paragraph(about, 2))
            }
        };
        let numbers = format!(
            "{}, {} pending; length {}; k={k}; {} looked at\n",
            counted(self.log.history.len() as u64, "operation"),
            self.log.history.pending(),
            sight.length,
            counted(sight.looked_at, "beginning"),
        );
        let full = format!("{line}\n{full}  {numbers}");
        let html = self.page.then(|| self.html(reading, object.is_none(), sight, &full));
        Entry { exit, full, line, json: self.json(reading, object, sight), certificate: None, html }
    }

    fn html(&self, reading: Reading<'_>, by_kernel: bool, sight: &Sight, text: &str) -> String {
        let violation = sight.violation.as_ref().map(|violation| CountedViolation {
            part: &violation.part,
            events: violation.events,
            what: &violation.what,
            demands: &violation.numbers,
            operations: &violation.operations,
        });
        let (history, k) = (&self.log.history, self.counting.k);
        let numbers = counting::numbers(history.len(), history.pending(), sight.length, k, sight.looked_at);
        let why = self.why_not(sight);
        let (file, numbers, why) = (self.file, &*numbers, &*why);
        Counted { reading, file, k, violation, by_kernel, why, numbers, text }.html()
    }

    /// Why nothing was seen.
    fn why_not(&self, sight: &Sight) -> String {
        match sight.halt {
            Some(Halt::Limit(limit)) => limit_text(limit, self.limits),
            Some(Halt::Overflow) => "the numbers became too large".to_owned(),
            Some(Halt::Branches) => "there were too many cases".to_owned(),
            None => format!("no violation visible at k={}", self.counting.k),
        }
    }

    fn explain(&self, reading: Reading<'_>, violation: &Violation) -> String {
        let part = reading.part(&violation.part);
        let place = if part.is_empty() { String::new() } else { format!("in {part}, ") };
        let mut out = format!("\n{}\n", paragraph(&sentence(&format!("{place}{}", violation.what)), 2));
        for number in &violation.numbers {
            out.push_str(&paragraph(&clean(number), 2));
        }
        for &op in violation.operations.iter().take(SHOWN_MAX) {
            out.push_str(&format!("    {} ({})\n", reading.label(op), reading.lines(op)));
        }
        if let Some(more) = violation.operations.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
            out.push_str(&format!("    and {more} more\n"));
        }
        out.push('\n');
        out
    }

    fn json(&self, reading: Reading<'_>, object: Option<&str>, sight: &Sight) -> String {
        let history = &self.log.history;
        let described = |&op: &OpId| Described {
            id: op,
            label: reading.label(op),
            call_line: self.log.call_line(op),
            return_line: Some(self.log.return_line(op)).filter(|&line| line != 0),
        };
        let violation = sight.violation.as_ref().map(|violation| Shown {
            kind: "counting",
            part: &violation.part,
            formula: violation.formula,
            reason: &violation.what,
            numbers: &violation.numbers,
            operations: violation.operations.iter().map(described).collect(),
        });
        let reason = match sight.halt {
            _ if violation.is_some() => None,
            Some(Halt::Limit(limit)) => Some(limit_text(limit, self.limits)),
            Some(_) => Some("the formula could not be decided".to_owned()),
            None => Some(format!("no violation visible at k={}", self.counting.k)),
        };
        json::write(&Document {
            file: self.file,
            verdict: if violation.is_some() { "fail" } else { "unknown" },
            criterion: json::CRITERION,
            coverage: "approximate",
            seconds: json::round(self.begun.elapsed().as_secs_f64()),
            version: json::VERSION,
            format: self.format,
            object,
            operations: history.len() as u64,
            pending: history.pending() as u64,
            k: self.counting.k,
            length: sight.length,
            looked_at: sight.looked_at,
            violation,
            reason,
        })
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

#[derive(Serialize)]
struct Document<'a> {
    file: &'a str,
    verdict: &'static str,
    criterion: &'static str,
    coverage: &'static str,
    seconds: f64,
    version: &'static str,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    operations: u64,
    pending: u64,
    k: usize,
    length: usize,
    looked_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Shown<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct Shown<'a> {
    kind: &'static str,
    #[serde(flatten)]
    part: &'a Part,
    formula: &'static str,
    reason: &'a str,
    numbers: &'a [String],
    operations: Vec<Described>,
}

#[derive(Serialize)]
struct Described {
    id: OpId,
    label: String,
    call_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_line: Option<u32>,
}
