//! Where things are kept that are made once and used often: instrumented standard libraries, the runtime.

use std::ffi::OsString;
use std::path::PathBuf;

/// The variable that names the directory.
pub const VARIABLE: &str = "SELVEDGE_CACHE";

/// The directory that the environment says. It need not exist.
pub fn from_environment() -> Option<PathBuf> {
    directory(|name| std::env::var_os(name))
}

/// Empty variables are as good as none, and so are relative paths from the environment's own conventions.
fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = set(VARIABLE) {
        return std::path::absolute(named).ok();
    }
    let shared = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let shared = shared.or_else(|| set("HOME").map(|home| home.join(".cache")));
    shared.map(|shared| shared.join("selvedge"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_environment_says() {
        let check = |set: &[(&str, &str)], expected: Option<&str>| {
            let variable = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(directory(variable), expected.map(PathBuf::from), "{set:?}");
        };
        check(&[], None);
        check(&[("HOME", "/h")], Some("/h/.cache/selvedge"));
        check(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")], Some("/x/selvedge"));
        check(&[("HOME", "/h"), ("XDG_CACHE_HOME", "x")], Some("/h/.cache/selvedge"));
        check(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x"), (VARIABLE, "/c")], Some("/c"));
        check(&[("HOME", "/h"), (VARIABLE, "")], Some("/h/.cache/selvedge"));
    }
}
