//! What holds for the repository as a whole: it refers to nothing outside of it, and its rules are kept.
//!
//! The rules stand in `ARCHITECTURE.md` and `CONTRIBUTING.md`, where people read them. The tests take them from there and hold the sources to them, so
//! a new crate or variable needs a line in a table there and none here.

mod border;
mod references;
mod rules;
mod source;
mod variables;

use crate::root;

/// A text of the repository, and where it is, seen from its root.
struct Text {
    path: String,
    text: String,
}

/// Every text file below these directories and files that ends in one of these words, in order. What was built, findings and links are left out.
fn texts(places: &[&str], ends: &[&str]) -> Vec<Text> {
    let mut paths: Vec<String> = places.iter().map(|place| (*place).to_owned()).collect();
    let mut found = Vec::new();
    while let Some(path) = paths.pop() {
        let whole = root().join(&path);
        // A link stands for a file that is looked at where it is.
        if whole.is_symlink() {
            continue;
        }
        if whole.is_dir() {
            let left_out = |name: &str| ["target", ".git", "selvedge-findings"].contains(&name);
            for entry in std::fs::read_dir(&whole).expect("a directory can be read").flatten() {
                let name = entry.file_name().into_string().expect("a plain name");
                // What is only a link, as packages have them, is looked at where it leads to.
                if !left_out(&name) && !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    paths.push(if path == "." { name } else { format!("{path}/{name}") });
                }
            }
        } else if ends.iter().any(|end| path.ends_with(end)) {
            let text = std::fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{path}: {error}"));
            found.push(Text { path, text });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The cells of the rows of the table whose first column is called that, in a page at the root; without the row of names.
fn table(page: &str, first: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
    let heading = format!("| {first} |");
    let rows = text.lines().skip_while(|line| !line.starts_with(&heading)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let cells = |row: &str| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    let rows: Vec<Vec<String>> = rows.map(cells).collect();
    assert!(!rows.is_empty(), "{page} has a table of which the first column is called {first}");
    rows
}

/// What stands between backticks in a cell.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn a_cell_has_what_is_between_backticks() {
    assert_eq!(quoted("`a`, and `b c`: no more"), ["a", "b c"]);
    assert_eq!(quoted("no"), [""; 0]);
}

/// The README is read on one screen or two.
#[test]
fn the_readme_is_short() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("the README");
    assert!(text.lines().count() <= 120, "README.md has {} lines", text.lines().count());
    let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("$ cargo test ")).collect();
    assert_eq!(commands.len(), 1, "`.ci/run` takes the one test command from there: {commands:?}");
    let summary = std::fs::read_to_string(root().join("CHANGELOG.md")).expect("the changelog");
    assert!(summary.contains("\n## [Unreleased]\n"), "changes that are in no release have their place");
}
