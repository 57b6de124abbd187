//! Finds the runtime, the shared library that tests are linked with.
//!
//! Invariant: nothing is guessed. The library is the one that was named, or the one inside this executable, or one that lies where cargo
//! puts it relative to this executable; else it is an error that says where it was looked for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cache;
use crate::program::hash;

/// The variable that names the library.
pub const VARIABLE: &str = "SELVEDGE_RUNTIME";
/// The library's file name.
const NAME: &str = "libselvedge_runtime.so";
/// The library, compressed, in a release build, so that `cargo install` gives all there is. Builds for development do without: there the library lies
/// beside the executable, and it is always the newest.
#[cfg(embedded)]
const INSIDE: &[u8] = selvedge_embed::shared_library!(selvedge_runtime);
#[cfg(not(embedded))]
const INSIDE: &[u8] = &[];

/// Where the library comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// From the file that the environment names.
    Named(PathBuf),
    /// From inside this executable; it is unpacked below this directory.
    Inside(Option<PathBuf>),
    /// From one of these files.
    Near(Vec<PathBuf>),
}

impl Places {
    /// What the environment says now.
    pub fn from_environment() -> Self {
        match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            Some(named) => Places::Named(PathBuf::from(named)),
            None if !INSIDE.is_empty() => Places::Inside(cache::from_environment()),
            None => std::env::current_exe().map_or(Places::Near(vec![]), |executable| Places::near(&executable)),
        }
    }

    /// In `deps/` beside the executable, where cargo always puts the newest one; beside it, where cargo puts a copy.
    fn near(executable: &Path) -> Self {
        let executable = executable.canonicalize().unwrap_or_else(|_| executable.to_path_buf());
        let directory = executable.parent().unwrap_or(Path::new("."));
        Places::Near(vec![directory.join("deps").join(NAME), directory.join(NAME)])
    }

    /// The library, with an absolute path: the programs that are linked with it remember where it lies.
    pub fn find(&self) -> Result<PathBuf, String> {
        let places: Vec<&PathBuf> = match self {
            Places::Named(place) => vec![place],
            Places::Near(places) => places.iter().collect(),
            Places::Inside(None) => {
                return Err(format!(
                    "there is no place for the runtime: expected {}, XDG_CACHE_HOME or HOME",
                    cache::VARIABLE
                ));
            }
            Places::Inside(Some(cache)) => {
                let place = cache.join(format!("runtime-{:016x}", hash(INSIDE))).join(NAME);
                let unpacked = lz4_flex::decompress_size_prepended(INSIDE).map_err(io::Error::other);
                return unpacked
                    .and_then(|bytes| unpack(&bytes, &place))
                    .map_err(|error| format!("the runtime could not be unpacked to `{}`: {error}", place.display()));
            }
        };
        let found = places.iter().find(|place| place.is_file());
        found.and_then(|place| place.canonicalize().ok()).ok_or_else(|| {
            let places: Vec<String> = places.iter().map(|place| format!("`{}`", place.display())).collect();
            format!("the runtime was not found; it was looked for at {}", places.join(", "))
        })
    }

    /// How to get it.
    pub fn advice() -> String {
        format!(
            "`cargo install --path crates/cli` in the workspace of selvedge makes executables that have it inside; {VARIABLE} names \
             another one"
        )
    }
}

/// Writes the library unless it is there. Whoever does the same at the same time disturbs nobody, and nobody sees half of it.
fn unpack(bytes: &[u8], place: &Path) -> io::Result<PathBuf> {
    let whole = |place: &Path| fs::read(place).is_ok_and(|there| there == bytes);
    if !whole(place) {
        fs::create_dir_all(place.parent().unwrap_or(Path::new(".")))?;
        let unfinished = place.with_extension(format!("unfinished-{}", std::process::id()));
        fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, place)).inspect_err(|_| {
            // What is left of it harms nobody.
            let _ = fs::remove_file(&unfinished);
        })?;
    }
    place.canonicalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Scratch;

    #[test]
    fn the_newest_one_comes_first() {
        let expected = ["bin/deps", "bin"].map(|part| Path::new("/nowhere").join(part).join(NAME));
        assert_eq!(Places::near(Path::new("/nowhere/bin/selvedge")), Places::Near(expected.to_vec()));
    }

    #[test]
    fn a_missing_one_is_told_with_the_places() {
        let error = Places::near(Path::new("/nowhere/bin/selvedge")).find().unwrap_err();
        assert!(error.contains("/nowhere/bin/deps/libselvedge_runtime.so"), "{error}");
        let error = Places::Inside(None).find().unwrap_err();
        assert!(error.contains("SELVEDGE_CACHE, XDG_CACHE_HOME or HOME"), "{error}");
    }

    #[test]
    fn what_is_unpacked_is_whole() {
        let scratch = Scratch::new(&std::env::temp_dir()).unwrap();
        let place = scratch.path().join("new").join(NAME);
        for spoilt in [None, Some(&b"half"[..]), Some(b"the wrong bytes")] {
            if let Some(spoilt) = spoilt {
                fs::write(&place, spoilt).unwrap();
            }
            let found = unpack(b"the right bytes", &place).unwrap();
            assert_eq!(fs::read(found).unwrap(), b"the right bytes");
        }
        assert_eq!(fs::read_dir(place.parent().unwrap()).unwrap().count(), 1, "nothing is left behind");
        assert!(unpack(b"bytes", Path::new("/dev/null/runtime.so")).is_err());
    }
}
