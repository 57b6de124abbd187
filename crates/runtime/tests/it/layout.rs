//! Rules about the runtime's own source that the compiler does not hold.

use std::path::{Path, PathBuf};

use crate::build::root;

/// All source files of the runtime.
fn sources() -> Vec<PathBuf> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).expect("a directory of the source") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&root().join("crates/runtime/src"), &mut found);
    found
}

/// The lines of files that a rule is broken by.
fn broken(applies: impl Fn(&Path) -> bool, breaks: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for path in sources().into_iter().filter(|path| applies(path)) {
        let text = std::fs::read_to_string(&path).expect("a source file");
        let bad = text.lines().enumerate().filter(|(_, line)| breaks(line));
        lines.extend(bad.map(|(at, line)| format!("{}:{}: {}", path.display(), at + 1, line.trim())));
    }
    lines
}

/// A second kind of processor is one more directory beside `arch/x86_64`, and nothing else changes.
#[test]
fn machine_code_is_known_in_one_place() {
    const MACHINE: [&str; 5] = ["asm!", "(naked)", "iced_x86", "libc::REG_", "target_arch"];
    let arch = root().join("crates/runtime/src/arch");
    let inside = sources().iter().filter(|path| path.starts_with(&arch)).count();
    assert!(inside > 10, "{inside} files in {}", arch.display());
    let machine = |line: &str| MACHINE.iter().any(|word| line.contains(word));
    assert_eq!(broken(|path| !path.starts_with(&arch), machine), Vec::<String>::new());
    assert_ne!(broken(|path| path.starts_with(&arch), machine), Vec::<String>::new(), "the words are those in use");
}

/// A reason is given where it is needed.
#[test]
fn reasons_of_unsafe_blocks_say_why() {
    const EMPTY: [&str; 4] = ["as above", "as in ", "as the caller promises", "as promised"];
    let empty = |line: &str| {
        let reason = line.split_once("// SAFETY:").map(|(_, reason)| reason.trim());
        reason.is_some_and(|reason| EMPTY.iter().any(|words| reason.starts_with(words)))
    };
    assert_eq!(broken(|_| true, empty), Vec::<String>::new());
}
