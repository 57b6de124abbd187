//! What was found: a file that another build of the tool can read, or refuses.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::settings::{Leaks, Settings};
use crate::step::{OtherAccess, Place, Step, ThreadRecord};

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// `assert` failed.
    Assertion,
    /// A Rust panic or a C++ exception reached the top.
    Panic,
    /// Threads wait for one another.
    Deadlock,
    /// A thread waits for a wake-up that nobody is left to send.
    LostWakeup,
    /// Threads go on for ever without getting anywhere, under a fair schedule too.
    Livelock,
    /// Memory was used after it was freed.
    UseAfterFree,
    /// Memory was freed twice, or never allocated.
    DoubleFree,
    /// Memory outside of any allocation was used.
    OutOfBounds,
    /// Two plain accesses, or a plain and an atomic one, that nothing orders.
    DataRace,
    /// A thread was still running when the test returned.
    LeakedThread,
    /// A signal, `abort` or `exit`.
    Crash,
    /// A lock was used wrongly: unlocked by another thread, destroyed while held.
    Misuse,
    /// The same schedule did something else the second time.
    Nondeterminism,
    /// A call whose effect is not controlled.
    Uncontrolled,
    /// The run went past the step limit, and nobody knows how it would have gone on.
    StepLimit,
    /// More memory was needed than there may be, and nobody knows how the run would have gone on.
    MemoryLimit,
    /// Results of operations that no serial order explains.
    NotLinearizable,
    /// Results further out of order than allowed.
    NotQuasiLinearizable,
    /// An operation that waits without a reason.
    Stuck,
    /// Serial runs of the same calls that differ.
    Nondeterministic,
}

impl FindingKind {
    /// Whether the code under test is to blame. The other kinds end a run whose continuation is not known: nothing can be said of it.
    pub fn is_violation(self) -> bool {
        use FindingKind::{MemoryLimit, Nondeterminism, StepLimit, Uncontrolled};
        !matches!(self, Uncontrolled | Nondeterminism | StepLimit | MemoryLimit)
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Assertion => "assertion",
            FindingKind::Panic => "panic",
            FindingKind::Deadlock => "deadlock",
            FindingKind::LostWakeup => "lost-wakeup",
            FindingKind::Livelock => "livelock",
            FindingKind::UseAfterFree => "use-after-free",
            FindingKind::DoubleFree => "double-free",
            FindingKind::OutOfBounds => "out-of-bounds",
            FindingKind::DataRace => "data-race",
            FindingKind::LeakedThread => "leaked-thread",
            FindingKind::Crash => "crash",
            FindingKind::Misuse => "misuse",
            FindingKind::Nondeterminism => "nondeterminism",
            FindingKind::Uncontrolled => "uncontrolled",
            FindingKind::StepLimit => "step-limit",
            FindingKind::MemoryLimit => "memory-limit",
            FindingKind::NotLinearizable => "not-linearizable",
            FindingKind::NotQuasiLinearizable => "not-quasi-linearizable",
            FindingKind::Stuck => "stuck",
            FindingKind::Nondeterministic => "nondeterministic",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A violation, with everything that is needed to see it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Always [`Finding::FORMAT`].
    pub format: String,
    /// [`Finding::VERSION`] of the build that wrote it.
    pub version: u32,
    /// The tool's version.
    pub tool: String,
    /// The test.
    pub test: String,
    /// The program: a fingerprint of its file. A replay with another program says so.
    pub program: String,
    /// What went wrong.
    pub kind: FindingKind,
    /// Why, as data: [`crate::words::cause`] says it in a sentence.
    pub cause: Cause,
    /// Who ran when it went wrong.
    pub thread: u16,
    /// Where, if it is a place.
    pub place: Option<Place>,
    /// Which run of the search it was, from 1.
    pub run: u64,
    /// The decisions that lead there.
    pub schedule: String,
    /// What the runtime was asked to do.
    pub settings: Settings,
    /// What happened, step by step.
    pub steps: Vec<Step>,
    /// The threads at the end.
    pub threads: Vec<ThreadRecord>,
    /// Who called what went wrong, from the inside out, as numbers of `frames`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<u32>,
    /// The other access of a data race, where it is no step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherAccess>,
    /// The places that calls were made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Place>,
}

/// Why a file is not a finding.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingError {
    /// It is not JSON, or lacks something.
    Malformed(String),
    /// It is JSON of another kind.
    OtherFormat(String),
    /// It was written by a build with another format.
    OtherVersion(u64),
    /// It does not say how its program was built.
    Build(String),
}

impl fmt::Display for FindingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindingError::Malformed(why) => write!(f, "expected a finding: {why}"),
            FindingError::OtherFormat(found) => {
                write!(f, "expected a file of format `{}`, found `{found}`", Finding::FORMAT)
            }
            FindingError::OtherVersion(found) => {
                write!(f, "expected a finding of version {}, found version {found}", Finding::VERSION)
            }
            FindingError::Build(why) => write!(f, "the finding does not say how its program was built: {why}"),
        }
    }
}

impl std::error::Error for FindingError {}

impl Finding {
    /// Whether it is told where nothing worse is found only, and does not end a search.
    pub fn is_last_resort(&self) -> bool {
        self.kind == FindingKind::LeakedThread && self.settings.leaks() == Leaks::Report
    }

    /// The name of the format.
    pub const FORMAT: &'static str = "selvedge-finding";
    /// The version of the format.
    pub const VERSION: u32 = 2;

    /// What the runtime is asked to do in order to repeat this run, and nothing else: the limits of the search are no limits of this one run.
    pub fn again(&self) -> Settings {
        Settings {
            replay: Some(self.schedule.clone()),
            test: Some(self.test.clone()),
            time_max: None,
            runs_max: u64::MAX,
            jobs: 1,
            ..self.settings.clone()
        }
    }

    /// Whether two findings are the same violation, reached by the same steps, wherever their programs lie on disk.
    pub fn is_like(&self, other: &Finding) -> bool {
        let steps = self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(|(one, other)| one.is_like(other));
        steps && (self.kind, &self.cause, &self.schedule) == (other.kind, &other.cause, &other.schedule)
    }
}

/// A finding file: a finding, and what its writer says of how to build the program again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingFile<B> {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// How its program was built.
    pub build: B,
    /// The source line of each step: for readers that do not have the program.
    #[serde(default)]
    pub lines: Vec<String>,
}

impl<B: Serialize + serde::de::DeserializeOwned> FindingFile<B> {
    /// Reads a finding file.
    pub fn from_json(text: &str) -> Result<Self, FindingError> {
        let malformed = |error: serde_json::Error| match error.is_eof() {
            true => FindingError::Malformed("the file ends too early".to_owned()),
            false => FindingError::Malformed(error.to_string()),
        };
        let value: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
        let format = value.get("format").and_then(|format| format.as_str()).unwrap_or("none");
        if format != Finding::FORMAT {
            return Err(FindingError::OtherFormat(format.chars().take(40).collect()));
        }
        let version = value.get("version").and_then(|version| version.as_u64()).unwrap_or(0);
        if version != u64::from(Finding::VERSION) {
            return Err(FindingError::OtherVersion(version));
        }
        let build = value.get("build").cloned().unwrap_or_default();
        let build = serde_json::from_value(build).map_err(|error| FindingError::Build(error.to_string()))?;
        let lines = value.get("lines").cloned().and_then(|lines| serde_json::from_value(lines).ok());
        let finding = serde_json::from_value(value).map_err(malformed)?;
        Ok(FindingFile { finding, build, lines: lines.unwrap_or_default() })
    }

    /// The text of a finding file.
    pub fn to_json(&self) -> String {
        crate::wire::encode(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding() -> Finding {
        Finding {
            format: Finding::FORMAT.into(),
            version: Finding::VERSION,
            tool: "0.1.0".into(),
            test: "t".into(),
            program: "0".into(),
            kind: FindingKind::LostWakeup,
            cause: Cause::Abort,
            thread: 1,
            place: Some(Place { module: String::new(), offset: 7 }),
            run: 3,
            schedule: "0*2 1".into(),
            settings: Settings::default(),
            steps: vec![],
            threads: vec![],
            callers: vec![],
            other: None,
            frames: vec![],
        }
    }

    #[test]
    fn there_and_back() {
        let file = FindingFile { finding: finding(), build: "cc".to_owned(), lines: vec![] };
        assert_eq!(FindingFile::from_json(&file.to_json()), Ok(file));
    }

    #[test]
    fn other_files_are_refused() {
        let read = FindingFile::<String>::from_json;
        let text = FindingFile { finding: finding(), build: String::new(), lines: vec![] }.to_json();
        assert_eq!(read(&text.replace("\"version\":2", "\"version\":1")), Err(FindingError::OtherVersion(1)));
        assert_eq!(read("{}"), Err(FindingError::OtherFormat("none".into())));
        let cut = &text[..text.len() / 2];
        assert!(matches!(read(cut), Err(FindingError::Malformed(_))));
        let missing = text.replace("\"schedule\"", "\"plan\"");
        assert!(matches!(read(&missing), Err(FindingError::Malformed(_))));
    }
}
