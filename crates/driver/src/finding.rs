//! What was found: a file that another build of the tool can read, or refuses.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::settings::Settings;

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
    /// Results of operations that no serial order explains.
    NotLinearizable,
    /// Results further out of order than allowed.
    NotQuasiLinearizable,
    /// An operation that waits without a reason.
    Stuck,
    /// Serial runs of the same calls that differ.
    Nondeterministic,
}

/// What a message begins with when nobody can go on.
pub const STUCK: &str = "no thread can go on";
/// The same when the test itself has ended.
pub const RETURNED: &str = "the test has returned, and threads are left that cannot go on";
/// What a message ends with when there are threads that take no part in the search.
pub const HELD_STILL: &str = "had been started before the search and cannot run during it";

impl FindingKind {
    /// Whether the code under test is to blame. The other kinds end a run whose continuation is not known: nothing can be said of it.
    pub fn is_violation(self) -> bool {
        !matches!(self, FindingKind::Uncontrolled | FindingKind::Nondeterminism | FindingKind::StepLimit)
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

/// A place in the code: an offset into a file that was loaded. Source lines come from its debug information, later and outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file that it lies in.
    pub module: String,
    /// The address that the call returns to, as the file numbers its own addresses.
    pub offset: u64,
}

/// One step of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Who.
    pub thread: u8,
    /// What, in one word.
    pub what: String,
    /// On which address or object.
    pub object: u64,
    /// How many bytes.
    pub size: u32,
    /// The value read or found.
    pub old: u64,
    /// The value after it, when it is known.
    pub new: Option<u64>,
    /// From where.
    pub place: Option<Place>,
    /// Who called that, from the inside out, as numbers of [`Finding::frames`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<u32>,
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// `mutex`, `condition`, `join` and so on.
    pub what: String,
    /// Which one.
    pub object: u64,
    /// The thread that has it, where one does.
    pub held_by: Option<u8>,
}

/// A thread at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// Its number.
    pub thread: u8,
    /// Whether it had ended.
    pub ended: bool,
    /// What it was waiting for.
    pub waits: Option<Waits>,
    /// Where it was.
    pub place: Option<Place>,
    /// Who called that, from the inside out, as numbers of [`Finding::frames`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<u32>,
}

/// A plain access that lies between steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherAccess {
    /// How many steps had been made.
    pub made: u64,
    /// Who called it, from the inside out, as numbers of [`Finding::frames`].
    pub callers: Vec<u32>,
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
    /// In a sentence.
    pub message: String,
    /// Who ran when it went wrong.
    pub thread: u8,
    /// Where, if it is a place.
    pub place: Option<Place>,
    /// Which run of the search it was, from 1.
    pub run: u64,
    /// The decisions that lead there.
    pub schedule: String,
    /// What the runtime was asked to do.
    pub settings: Settings,
    /// What happened, step by step.
    pub steps: Vec<StepRecord>,
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
        }
    }
}

impl std::error::Error for FindingError {}

impl Finding {
    /// The name of the format.
    pub const FORMAT: &'static str = "selvedge-finding";
    /// The version of the format.
    pub const VERSION: u32 = 1;

    /// Reads a finding file.
    pub fn from_json(text: &str) -> Result<Finding, FindingError> {
        let malformed = |error: serde_json::Error| match error.is_eof() {
            true => FindingError::Malformed("the file ends too early".to_owned()),
            false => FindingError::Malformed(error.to_string()),
        };
        let value: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
        let format = value.get("format").and_then(|format| format.as_str()).unwrap_or("none");
        if format != Self::FORMAT {
            return Err(FindingError::OtherFormat(format.chars().take(40).collect()));
        }
        let version = value.get("version").and_then(|version| version.as_u64()).unwrap_or(0);
        if version != u64::from(Self::VERSION) {
            return Err(FindingError::OtherVersion(version));
        }
        serde_json::from_value(value).map_err(malformed)
    }

    /// The text of a finding file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
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
            message: "m".into(),
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
        assert_eq!(Finding::from_json(&finding().to_json()), Ok(finding()));
    }

    #[test]
    fn other_files_are_refused() {
        let text = finding().to_json();
        assert_eq!(
            Finding::from_json(&text.replace("\"version\": 1", "\"version\": 2")),
            Err(FindingError::OtherVersion(2))
        );
        assert_eq!(Finding::from_json("{}"), Err(FindingError::OtherFormat("none".into())));
        let cut = &text[..text.len() / 2];
        assert!(matches!(Finding::from_json(cut), Err(FindingError::Malformed(_))));
        let missing = text.replace("\"schedule\"", "\"plan\"");
        assert!(matches!(Finding::from_json(&missing), Err(FindingError::Malformed(_))));
    }
}
