//! What holds for every format: the real files, the documentation's examples, bad input, and the fuzzed property.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use selvedge_needs::{Need, skip};

use super::{Format, ReadError, Reason, read, recognise, write_jsonl};
use crate::{Budget, End, Log, Symbol};

mod bad_input;
mod mutation;
mod property;

pub(super) use property::survives;

/// The log, one operation a piece: "0: enq(5) 0-1 = nil" is thread 0, events 0 to 1.
pub(super) fn shown(log: &Log) -> Vec<String> {
    log.history
        .operations()
        .iter()
        .map(|op| {
            let object = match op.input.object {
                Symbol::NONE => String::new(),
                object => format!("{}.", log.name(object)),
            };
            let key = if op.input.key.is_nil() { String::new() } else { format!("[{}]", op.input.key) };
            let argument = if op.input.argument.is_nil() { String::new() } else { op.input.argument.to_string() };
            let end = op.ret.as_ref().map_or(String::new(), |ret| format!("{} = {}", ret.at, ret.output));
            let (thread, method) = (log.thread(op.thread), log.name(op.input.method));
            format!("{thread}: {object}{method}{key}({argument}) {}-{end}", op.call)
        })
        .collect()
}

/// Reads a text in the format given.
pub(super) fn read_text(format: Format, text: &str) -> Result<Log, ReadError> {
    read(&mut text.as_bytes(), Some(format), &Budget::new()).map(|(_, log)| log)
}

/// Checks the operations that a text has, and that its format is recognised.
#[track_caller]
pub(super) fn accepts(format: Format, text: &str, expect: &[&str]) -> Log {
    assert_eq!(recognise(text.as_bytes()), Some(format));
    let log = read_text(format, text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shown(&log), expect);
    property::survives(&log);
    log
}

/// Checks the error that a text gives.
#[track_caller]
pub(super) fn refuses(format: Format, text: &str, expect: &str) {
    match read_text(format, text) {
        Ok(log) => panic!("accepted: {:?}", shown(&log)),
        Err(error) => assert_eq!(error.to_string(), expect),
    }
}

/// The folder of real histories; where nobody says which it is, the calling test is skipped.
#[track_caller]
fn histories() -> Option<PathBuf> {
    let folder = std::env::var_os("SELVEDGE_REAL_HISTORIES").map(PathBuf::from);
    if folder.is_none() {
        skip(Need::Histories, "SELVEDGE_REAL_HISTORIES names no directory");
    }
    folder
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// The format that a real file has by its name, `None` where it is no history.
fn named_format(path: &Path) -> Option<Format> {
    let name = path.to_str().unwrap();
    let ends = |end: &str| name.ends_with(end);
    if ends(".tex") || ends(".html") || ends(".tsv") || ends(".md") {
        None
    } else if name.contains("/etcd/") {
        Some(Format::JepsenLog)
    } else if name.contains("/kv/") || ends(".edn") {
        Some(Format::Edn)
    } else if ends(".fl") {
        Some(Format::Fastlin)
    } else {
        Some(Format::Limo)
    }
}

#[test]
fn every_real_file_is_read_or_refused() {
    let Some(folder) = histories() else { return };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let mut operations = 0;
    for path in &paths {
        let mut input = BufReader::new(fs::File::open(path).unwrap());
        let answer = read(&mut input, None, &Budget::new());
        match (named_format(path), answer) {
            (Some(expect), Ok((format, log))) => {
                assert_eq!(format, expect, "{}", path.display());
                property::survives(&log);
                operations += log.history.len();
            }
            (Some(_), Err(error)) => panic!("{}: {error}", path.display()),
            (None, Ok(_)) => panic!("{} is no history, but was read", path.display()),
            (None, Err(error)) => {
                assert!(matches!(error, ReadError::At { line: 1, reason: Reason::Unrecognised, .. }), "{error}");
            }
        }
    }
    assert!(operations > paths.len(), "{operations} operations in {} files", paths.len());
}

/// The numbers of operations and of pending ones, counted once by other means (grep over the files).
#[test]
fn real_files_have_the_operations_that_they_should() {
    let Some(folder) = histories() else { return };
    let check = |file: &str, operations: usize, pending: usize, threads: usize| {
        let bytes = fs::read(folder.join(file)).unwrap();
        let (_, log) = read(&mut bytes.as_slice(), None, &Budget::new()).unwrap();
        let found = (log.history.len(), log.history.pending(), log.threads());
        assert_eq!(found, (operations, pending, threads), "{file}");
    };
    check("kv/c50-ok.txt", 1712, 0, 50);
    check("kv/c50-bad.txt", 2024, 0, 50);
    check("disputed/dis1.queue.fl", 16, 0, 3);
}

#[test]
fn the_examples_of_the_documentation_are_read() {
    let page = include_str!("../../docs/formats.md");
    let mut examples = 0;
    let mut blocks = page.split("\n```");
    blocks.next();
    while let (Some(block), Some(_)) = (blocks.next(), blocks.next()) {
        let (info, text) = block.split_once('\n').unwrap();
        let mut info = info.split(' ');
        let Some(format) = info.next().and_then(Format::from_name) else { continue };
        let mut number = || info.next().unwrap().split_once('=').unwrap().1.parse::<usize>().unwrap();
        let (operations, pending) = (number(), number());
        let (recognised, log) = read(&mut text.as_bytes(), None, &Budget::new())
            .unwrap_or_else(|error| panic!("{format} example: {error}\n{text}"));
        assert_eq!(recognised, format, "{text}");
        assert_eq!((log.history.len(), log.history.pending()), (operations, pending), "{text}");
        property::survives(&log);
        examples += 1;
    }
    assert!(examples >= Format::ALL.len(), "an example a format, found {examples}");
}

#[test]
fn every_format_has_a_name_of_its_own() {
    for &format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    assert_eq!(Format::from_name("JSONL"), None);
}

#[test]
fn small_reads_give_the_same_log() {
    let texts = [
        (Format::Jsonl, "{\"call\":\"enq\",\"thread\":0,\"value\":5}\n{\"return\":null,\"thread\":0}\n"),
        (
            Format::Edn,
            "[{:process 0, :type :invoke, :f :read, :value nil} ; c\n {:process 0 :type :ok :f :read :value \"é\"}]",
        ),
        (Format::Limo, "# @object atomic-queue\n[1] call enq(5)\n[1] return\n"),
    ];
    for (format, text) in texts {
        let expect = shown(&read_text(format, text).unwrap());
        for step in [1, 2, 3, 5] {
            let mut input = BufReader::with_capacity(step, text.as_bytes());
            let (found, log) = read(&mut input, None, &Budget::new()).unwrap();
            assert_eq!((found, shown(&log)), (format, expect.clone()));
        }
    }
}

#[test]
fn a_spent_budget_is_not_an_answer() {
    let budget = Budget::new();
    budget.spend(crate::Limit::Memory);
    let answer = read(&mut &b"[1] call enq(5)\n"[..], None, &budget);
    assert!(matches!(answer, Err(ReadError::Limit(crate::Limit::Memory))));
}

#[test]
fn a_reader_that_fails_gives_its_error() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let answer = read(&mut BufReader::new(Broken), None, &Budget::new());
    assert_eq!(answer.unwrap_err().to_string(), "the disk is gone");
}

#[test]
fn an_explicit_end_survives() {
    for (name, end) in [("stuck", End::Stuck), ("truncated", End::Truncated)] {
        let text = format!("{{\"call\":\"deq\",\"thread\":0}}\n{{\"end\":\"{name}\"}}\n");
        let log = read_text(Format::Jsonl, &text).unwrap();
        assert_eq!(log.history.end(), end);
        property::survives(&log);
    }
}
