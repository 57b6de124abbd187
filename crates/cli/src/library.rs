//! Finds the runtime, the shared library that tests are linked with.
//!
//! Invariant: nothing is guessed. The library is the one that was named, or one that lies where cargo or an installation puts it
//! relative to this executable; else it is an error that says where it was looked for.

use std::path::{Path, PathBuf};

/// The variable that names the library.
pub const VARIABLE: &str = "SELVEDGE_RUNTIME";
/// The library's file name.
const NAME: &str = "libselvedge_runtime.so";

/// Where the library is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places(Vec<PathBuf>);

impl Places {
    /// What the environment says now: the variable if it is set, else places near this executable.
    pub fn from_environment() -> Self {
        match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            Some(named) => Places(vec![PathBuf::from(named)]),
            None => std::env::current_exe().map_or(Places(vec![]), |executable| Places::near(&executable)),
        }
    }

    /// In `deps/` beside the executable, where cargo always puts the newest one; beside it, where cargo puts a copy; in
    /// `../lib/selvedge/`, where an installation has it.
    fn near(executable: &Path) -> Self {
        let executable = executable.canonicalize().unwrap_or_else(|_| executable.to_path_buf());
        let directory = executable.parent().unwrap_or(Path::new("."));
        let mut places = vec![directory.join("deps").join(NAME), directory.join(NAME)];
        places.extend(directory.parent().map(|parent| parent.join("lib/selvedge").join(NAME)));
        Places(places)
    }

    /// The library, with an absolute path: the programs that are linked with it remember where it lies.
    pub fn find(&self) -> Result<PathBuf, String> {
        let found = self.0.iter().find(|place| place.is_file());
        found.and_then(|place| place.canonicalize().ok()).ok_or_else(|| {
            let places: Vec<String> = self.0.iter().map(|place| format!("`{}`", place.display())).collect();
            format!("the runtime was not found; it was looked for at {}", places.join(", "))
        })
    }

    /// How to get it.
    pub fn advice() -> String {
        format!(
            "`cargo build --release` in the workspace of selvedge makes {NAME}; put it into ../lib/selvedge/ as seen from the \
             executable, or name it with {VARIABLE}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_one_comes_first() {
        let Places(places) = Places::near(Path::new("/nowhere/bin/selvedge"));
        let expected = ["bin/deps", "bin", "lib/selvedge"].map(|part| Path::new("/nowhere").join(part).join(NAME));
        assert_eq!(places, expected);
    }

    #[test]
    fn a_missing_one_is_told_with_the_places() {
        let error = Places::near(Path::new("/nowhere/bin/selvedge")).find().unwrap_err();
        assert!(error.contains("/nowhere/lib/selvedge/libselvedge_runtime.so"), "{error}");
    }
}
