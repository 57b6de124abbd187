//! Finding files: a finding, and how the program was built that it was found in.
//!
//! Invariant: a file is read whole or refused; what it says of the build is enough to build the program again, or to see that
//! it is another one now.

use std::path::{Path, PathBuf};

use selvedge_protocol::{Finding, FindingFile, Step, schedule_from_text};
use serde::{Deserialize, Serialize};

use crate::program::{Recipe, hash};
use crate::report::json;
use crate::report::names::Names;
use crate::report::text::clean;
use crate::trouble::Trouble;

/// How the program of a finding was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Build {
    /// By a C compiler.
    C(Recipe),
    /// By cargo.
    Cargo(CargoBuild),
}

/// How cargo built a test program, and which test of it it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CargoBuild {
    /// Where cargo ran.
    pub directory: PathBuf,
    /// The project, when it was named.
    pub manifest_path: Option<PathBuf>,
    /// Arguments of `cargo test`.
    pub cargo: Vec<String>,
    /// The test program.
    pub executable: PathBuf,
    /// Where it ran.
    pub ran_in: PathBuf,
    /// Flags of the test program.
    pub harness: Vec<String>,
    /// The test function, when it is known.
    pub function: Option<String>,
}

/// Where a finding was written, or was to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The file.
    pub path: String,
    /// Why it is not there: a violation is one, whether it can be kept or not.
    pub error: Option<String>,
}

impl Saved {
    /// A finding in a file.
    pub fn at(path: &str) -> Self {
        Saved { path: path.to_owned(), error: None }
    }
}

/// Writes a finding with what is needed to build its program again. The names are those of that program.
pub fn write(finding: &Finding, build: &Build, directory: &Path, names: &mut Names) -> Saved {
    let identity = format!("{} {}", finding.program, finding.schedule);
    let plain: String = finding.test.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).take(100).collect();
    let name = format!("{plain}-{}-{:08x}.json", finding.kind, hash(identity.as_bytes()) >> 32);
    let path = directory.join(name);
    let shown = path.display().to_string();
    let mut line = |step: &Step| names.site(finding, step.place.as_ref(), &step.callers).line;
    let lines = finding.steps.iter().map(&mut line).collect();
    let file = FindingFile { finding: finding.clone(), build: build.clone(), lines };
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, file.to_json() + "\n"));
    if written.is_err() {
        // Half a finding is none; one of an earlier search stays only if it could not be touched.
        let _ = std::fs::remove_file(&path);
    }
    Saved { path: shown, error: written.err().map(|error| error.to_string()) }
}

/// Reads a finding that this version can replay.
pub fn read(path: &Path) -> Result<(Finding, Build), Trouble> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| Trouble::io(&name, &error))?;
    let text = String::from_utf8(text).map_err(|_| Trouble::new(&name, "expected a finding: this is not text"))?;
    let FindingFile { finding, build, .. } =
        FindingFile::<Build>::from_json(&text).map_err(|error| Trouble::new(&name, error))?;
    if finding.tool != json::VERSION {
        let reason = format!("the finding was made by selvedge {}, this is {}", clean(&finding.tool), json::VERSION);
        return Err(Trouble::new(&name, reason).advise("run the test again with this version"));
    }
    schedule_from_text(&finding.schedule).map_err(|error| Trouble::new(&name, error))?;
    Ok((finding, build))
}
