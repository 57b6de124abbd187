//! Runs a test program under the runtime, in a process of its own.

use std::fmt;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selvedge_protocol::channel::{self, Lost, Told};
use selvedge_protocol::{Finding, Report, Settings, wire};

use crate::hash::hash_of_file;
use crate::rust::Hosted;
use crate::watch::Watch;

/// A program that was built with the runtime.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it consists of ([`identity`]).
    pub identity: String,
}

impl Program {
    /// The program at this path, which is linked with this runtime.
    pub fn new(path: PathBuf, runtime: &Path) -> std::io::Result<Self> {
        let identity = identity(&path, runtime)?;
        Ok(Program { path, arguments: vec![], identity })
    }
}

/// What a program consists of, in a few digits: its own bytes and those of the runtime, never its name or its age. A finding is of the program with
/// the same identity, and of no other.
pub fn identity(program: &Path, runtime: &Path) -> std::io::Result<String> {
    Ok(format!("{:016x}-{:016x}", hash_of_file(&std::fs::read(program)?), hash_of_file(&std::fs::read(runtime)?)))
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
                    "the finding is of the program {wanted}, and this one is {found}: build what it was made with"
                )
            }
        }
    }
}

impl std::error::Error for RunError {}

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
    let reports = fresh_reports(directory)?;
    let mut child = Command::new(&program.path)
        .args(&program.arguments)
        .envs(environment(settings, directory))
        .env(channel::EXCHANGE_VARIABLE, watch.path())
        // What a terminal sends at Ctrl-C is for whoever started this: it asks the search to stop.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| RunError::Start(program.path.clone(), error))?;
    watch.started(child.id());
    let [out, err] = [Output::of(child.stdout.take()), Output::of(child.stderr.take())];
    let status = child.wait().map_err(RunError::Exchange)?;
    let output = out.text() + &err.text();
    let mut report = gather(&reports, || (status.to_string(), output.clone()))?;
    report.name_program(&program.identity);
    Ok(Session { report, output, signal: status.signal() })
}

/// Where the program reports to, below the directory of a run.
const REPORTS: &str = "reports";

/// An empty directory for reports.
fn fresh_reports(directory: &Path) -> Result<PathBuf, RunError> {
    let reports = directory.join(REPORTS);
    // What an earlier run has left there is not of this one.
    let _ = std::fs::remove_dir_all(&reports);
    std::fs::create_dir_all(&reports).and_then(|()| channel::open(&reports)).map_err(RunError::Exchange)?;
    Ok(reports)
}

/// What all searches of a program reported, as one. Where one of them did not, nothing is known; `ended` tells how the program ended.
pub(crate) fn gather(reports: &Path, ended: impl Fn() -> (String, String)) -> Result<Report, RunError> {
    let mut all: Option<Report> = None;
    for told in channel::read(reports) {
        match told {
            Told::Report(report) => match &mut all {
                None => all = Some(*report),
                Some(all) => all.extend(*report),
            },
            Told::Taken => {}
            Told::Lost(Lost::Unreadable(_, why)) => return Err(RunError::Malformed(why)),
            Told::Lost(Lost::Directory | Lost::Unreported(_)) => {
                let (status, output) = ended();
                return Err(RunError::NoReport { status, output });
            }
        }
    }
    all.ok_or_else(|| {
        let (status, output) = ended();
        RunError::NoReport { status, output }
    })
}

/// What the environment of a program needs for a search with these settings, which is reported into that directory.
pub fn environment(settings: &Settings, directory: &Path) -> Vec<(String, String)> {
    vec![
        (channel::SETTINGS_VARIABLE.into(), wire::encode(settings)),
        (channel::DIRECTORY_VARIABLE.into(), directory.join(REPORTS).display().to_string()),
        (channel::TAKE_OVER_VARIABLE.into(), "1".into()),
        ("LD_BIND_NOW".into(), "1".into()),
    ]
}

/// A program that a finding is of, whichever language it is in.
#[derive(Clone, Debug)]
pub enum Subject {
    /// One whose tests the runtime runs.
    Program(Program),
    /// One that runs its tests itself.
    Hosted(Hosted),
}

impl Subject {
    /// What it consists of.
    pub fn identity(&self) -> &str {
        match self {
            Subject::Program(program) => &program.identity,
            Subject::Hosted(hosted) => &hosted.identity,
        }
    }

    /// Its file.
    pub fn executable(&self) -> &Path {
        match self {
            Subject::Program(program) => &program.path,
            Subject::Hosted(hosted) => &hosted.host.executable,
        }
    }

    /// What it is called with.
    pub fn arguments(&self) -> Vec<String> {
        match self {
            Subject::Program(program) => program.arguments.clone(),
            Subject::Hosted(hosted) => hosted.arguments(),
        }
    }

    /// Makes `directory` ready for a run with these settings; the environment that the run needs.
    pub fn prepare(&self, settings: &Settings, directory: &Path) -> Result<Vec<(String, String)>, RunError> {
        let reports = fresh_reports(directory)?;
        Ok(match self {
            Subject::Program(_) => environment(settings, directory),
            Subject::Hosted(hosted) => hosted.environment(settings, &reports),
        })
    }

    /// Runs the schedule of a finding again: on the program that it was found in, or not at all.
    pub fn replay(&self, finding: &Finding, directory: &Path) -> Result<Report, RunError> {
        if self.identity() != finding.program {
            let (wanted, found) = (finding.program.clone(), self.identity().to_owned());
            return Err(RunError::OtherProgram { wanted, found });
        }
        let settings = finding.again();
        match self {
            Subject::Program(program) => Ok(run(program, &settings, directory)?.report),
            Subject::Hosted(hosted) => {
                let reports = fresh_reports(directory)?;
                hosted.run(&settings, &reports)
            }
        }
    }
}

/// The beginning of what a pipe carries; the rest is read and dropped, so that the writer never waits.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl Output {
    /// Reads until the other end is closed.
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        const KEPT: usize = 1 << 20;
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = std::sync::mpsc::channel();
        let all = kept.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            let mut pipe = pipe;
            while let Some(Ok(count)) = pipe.as_mut().map(|pipe| pipe.read(&mut buffer))
                && count > 0
            {
                let mut kept = all.lock().unwrap_or_else(PoisonError::into_inner);
                let room = KEPT - kept.len().min(KEPT);
                kept.extend_from_slice(&buffer[..count.min(room)]);
            }
            // Nobody may wait for it any more.
            let _ = end.send(());
        });
        Output { kept, ended }
    }

    /// What was written. The program has ended; a process that it has left behind may keep the other end open for ever.
    fn text(self) -> String {
        const MOMENT: Duration = Duration::from_millis(300);
        let _ = self.ended.recv_timeout(MOMENT);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}
