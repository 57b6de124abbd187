//! Histories recorded from real systems, each with the verdict it must get. They are not part of this repository:
//! `SELVEDGE_REAL_HISTORIES` names the directory, and without it the test is skipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use selvedge_history::certificate::{Certificate, Claim};
use selvedge_history::check::check;
use selvedge_history::object::Kind;
use selvedge_history::verify::verify;
use selvedge_history::{Budget, Verdict, format};
use selvedge_needs::{Need, skip};

/// Every file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found.sort();
    found
}

/// The verdict that the folder states: in a table beside the file, in the name of a folder above, or in the file's own.
fn expected(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    if let Ok(table) = fs::read_to_string(path.with_file_name("EXPECTED.tsv")) {
        let mut rows = table.lines().filter_map(|line| line.split_once('\t'));
        let (_, verdict) = rows.find(|(file, _)| *file == name)?;
        return match verdict {
            "pass" => Some("pass"),
            "fail" => Some("fail"),
            other => panic!("{}: the verdict {other} is not one", path.display()),
        };
    }
    let words = path.to_str()?.split(['/', '-', '.']);
    words.rev().find_map(|word| match word {
        "safe" | "good" | "ok" => Some("pass"),
        "violation" | "bad" => Some("fail"),
        _ => None,
    })
}

/// What the library says: the verdict, once its evidence was verified.
fn decided(path: &Path) -> Option<&'static str> {
    let bytes = fs::read(path).expect("a readable file");
    let (_, log) = format::read(&mut &bytes[..], None, &Budget::new()).ok()?;
    let kind = match Kind::infer(&log) {
        Ok(kind) => kind,
        // All operations failed: nothing happened to any object.
        Err(_) if log.history.is_empty() => Kind::Register,
        Err(ambiguous) => panic!("{}: {ambiguous}", path.display()),
    };
    let answer = check(&log, kind, None, &Budget::new()).expect("the log fits the object");
    let name = answer.verdict.name();
    let claim = match answer.verdict {
        Verdict::Pass(linearizations) => Claim::Pass { linearizations },
        Verdict::Fail(failure) => Claim::Fail { failure },
        Verdict::Unknown(limit) => panic!("no limit was set, and yet {limit}"),
    };
    let certificate = Certificate::new(kind.name(), None, log.history.len() as u64, claim);
    assert_eq!(verify(&log, &certificate, &Budget::new()), Verdict::Pass(()), "{}", path.display());
    Some(name)
}

#[test]
fn histories_of_real_systems_get_their_verdicts() {
    let Some(folder) = std::env::var_os("SELVEDGE_REAL_HISTORIES").map(PathBuf::from) else {
        return skip(Need::Histories, "SELVEDGE_REAL_HISTORIES names no directory");
    };
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for path in files(&folder) {
        let is_history =
            !["tex", "html", "tsv", "md"].iter().any(|other| path.extension().is_some_and(|e| e == *other));
        let verdict = decided(&path);
        assert_eq!(verdict.is_some(), is_history, "{} is a history or not", path.display());
        if let (Some(verdict), Some(expected)) = (verdict, expected(&path)) {
            assert_eq!(verdict, expected, "{}", path.display());
            let set = path.strip_prefix(&folder).ok().and_then(|path| path.iter().next()).expect("a file in a folder");
            *counts.entry(format!("{} {verdict}", set.display())).or_default() += 1;
        }
    }
    println!("{counts:?}");
    for set in ["disputed", "etcd", "knossos", "kv", "limo"] {
        for verdict in ["pass", "fail"] {
            assert!(counts.contains_key(&format!("{set} {verdict}")), "none of {set} should {verdict}: {counts:?}");
        }
    }
}
