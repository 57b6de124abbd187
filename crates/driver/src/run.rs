//! Runs a test program under the runtime, in a process of its own.

use std::fmt;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::finding::Finding;
use crate::report::Report;
use crate::settings::Settings;
use crate::watch::Watch;

/// A program that was built with the runtime.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// What came of running a program.
#[derive(Clone, Debug)]
pub struct Session {
    /// What the runtime saw.
    pub report: Report,
    /// What the program wrote to standard output and standard error.
    pub output: String,
    /// The signal that killed it, after the runtime had written its report.
    pub signal: Option<i32>,
}

/// Why there is no report.
#[non_exhaustive]
#[derive(Debug)]
pub enum RunError {
    /// The program could not be started.
    Start(PathBuf, std::io::Error),
    /// Files for the exchange could not be made.
    Exchange(std::io::Error),
    /// It ended without a report: not built with the runtime, or killed.
    NoReport {
        /// How it ended.
        status: String,
        /// What it wrote.
        output: String,
    },
    /// The report is not one.
    Malformed(String),
    /// The finding was made by another build of the program.
    OtherProgram {
        /// The program that the finding is of.
        wanted: String,
        /// The program that is there.
        found: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Start(path, error) => {
                write!(f, "the test program `{}` could not be started: {error}", path.display())
            }
            RunError::Exchange(error) => write!(f, "a temporary file could not be made: {error}"),
            RunError::NoReport { status, output } => {
                write!(f, "the test program ended without a report ({status})")?;
                if output.is_empty() { Ok(()) } else { write!(f, "; it wrote:\n{output}") }
            }
            RunError::Malformed(why) => write!(f, "the runtime's report could not be read: {why}"),
            RunError::OtherProgram { wanted, found } => {
                write!(
                    f,
                    "the finding is of the program with fingerprint {wanted}, and this one has {found}: build what it was made with"
                )
            }
        }
    }
}

impl std::error::Error for RunError {}

/// The environment variable that carries the settings.
pub const SETTINGS_VARIABLE: &str = "SELVEDGE_SETTINGS";
/// The environment variable that carries the path of the report.
pub const REPORT_VARIABLE: &str = "SELVEDGE_REPORT";

/// The environment variable that tells a program which runs its tests itself that it is under control.
pub const DIRECTORY_VARIABLE: &str = "SELVEDGE_REPORT_DIRECTORY";

/// The environment variable that carries the path of the page that is shared while a search goes on ([`crate::Watch`]).
pub const EXCHANGE_VARIABLE: &str = "SELVEDGE_EXCHANGE";

/// Runs the program with these settings; `directory` takes the report.
pub fn run(program: &Program, settings: &Settings, directory: &Path) -> Result<Session, RunError> {
    let watch = Watch::new(directory).map_err(RunError::Exchange)?;
    run_watched(program, settings, directory, &watch)
}

/// The same, with somebody who looks at it meanwhile.
pub fn run_watched(
    program: &Program,
    settings: &Settings,
    directory: &Path,
    watch: &Watch,
) -> Result<Session, RunError> {
    let report_path = directory.join(REPORT);
    let _ = std::fs::remove_file(&report_path);
    let mut child = Command::new(&program.path)
        .args(&program.arguments)
        .envs(environment(settings, directory)?)
        .env(EXCHANGE_VARIABLE, watch.path())
        // What a terminal sends at Ctrl-C is for whoever started this: it asks the search to stop.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| RunError::Start(program.path.clone(), error))?;
    watch.started(child.id());
    let stderr = child.stderr.take();
    let reader = std::thread::spawn(move || read_some(stderr));
    let mut output = read_some(child.stdout.take());
    output.push_str(&reader.join().unwrap_or_default());
    let status = child.wait().map_err(RunError::Exchange)?;
    let Ok(text) = std::fs::read_to_string(&report_path) else {
        return Err(RunError::NoReport { status: status.to_string(), output });
    };
    let mut report: Report = serde_json::from_str(&text).map_err(|error| RunError::Malformed(error.to_string()))?;
    let print = fingerprint(&program.path)?;
    for finding in report.tests.iter_mut().flat_map(|test| &mut test.findings) {
        finding.program.clone_from(&print);
    }
    Ok(Session { report, output, signal: status.signal() })
}

/// The file of the report in the directory that takes it.
const REPORT: &str = "report.json";

/// What the environment of a program needs for a search with these settings, which is reported into that directory.
pub fn environment(settings: &Settings, directory: &Path) -> Result<Vec<(String, String)>, RunError> {
    let settings = serde_json::to_string(settings).map_err(|error| RunError::Malformed(error.to_string()))?;
    Ok(vec![
        (SETTINGS_VARIABLE.into(), settings),
        (REPORT_VARIABLE.into(), directory.join(REPORT).display().to_string()),
        ("LD_BIND_NOW".into(), "1".into()),
    ])
}

/// Runs the schedule of a finding again.
pub fn replay(program: &Program, finding: &Finding, directory: &Path) -> Result<Session, RunError> {
    let found = fingerprint(&program.path)?;
    if found != finding.program {
        return Err(RunError::OtherProgram { wanted: finding.program.clone(), found });
    }
    let (schedule, test) = (Some(finding.schedule.clone()), Some(finding.test.clone()));
    let settings = Settings { replay: schedule, test, ..finding.settings.clone() };
    run(program, &settings, directory)
}

/// A number that tells builds of a program apart: FNV-1a over its file.
pub fn fingerprint(path: &Path) -> Result<String, RunError> {
    let bytes = std::fs::read(path).map_err(|error| RunError::Start(path.into(), error))?;
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    Ok(format!("{hash:016x}"))
}

/// The beginning of what a pipe carries; the rest is read and dropped, so that the writer never waits.
fn read_some(pipe: Option<impl Read>) -> String {
    const KEPT: usize = 1 << 20;
    let Some(mut pipe) = pipe else { return String::new() };
    let mut kept = Vec::new();
    let mut buffer = [0; 8192];
    while let Ok(count) = pipe.read(&mut buffer) {
        if count == 0 {
            break;
        }
        let room = KEPT - kept.len().min(KEPT);
        kept.extend_from_slice(&buffer[..count.min(room)]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
