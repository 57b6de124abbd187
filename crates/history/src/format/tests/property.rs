//! What must hold for any bytes: reading them gives a log or an error, and a log that was read survives being written
//! and read again. The fuzz targets include this file too.

use super::{Budget, Format, Log, read, recognise, write_jsonl};

/// Reads the bytes in one format, or in the one that they look like; answers whether they are a history.
pub fn holds(format: Option<Format>, bytes: &[u8]) -> bool {
    let mut input = bytes;
    match read(&mut input, format, &Budget::new()) {
        Ok((found, log)) => {
            assert_eq!(found, format.unwrap_or(found));
            survives(&log);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// Checks that the log survives being written and read.
pub fn survives(log: &Log) {
    let mut bytes = Vec::new();
    write_jsonl(log, &mut bytes).expect("a vector takes all bytes");
    assert_eq!(recognise(&bytes), Some(Format::Jsonl));
    let (_, again) = read(&mut bytes.as_slice(), None, &Budget::new()).unwrap_or_else(|error| {
        panic!("what was written is refused: {error}\n{}", String::from_utf8_lossy(&bytes));
    });
    assert_same(log, &again);
    let mut twice = Vec::new();
    write_jsonl(&again, &mut twice).expect("a vector takes all bytes");
    assert_eq!(bytes, twice, "written twice");
}

/// Checks that two logs differ at most in their lines and in the numbers of their names.
fn assert_same(one: &Log, other: &Log) {
    assert_eq!(one.declared, other.declared);
    assert_eq!(one.initial, other.initial);
    assert_eq!(one.history.end(), other.history.end());
    assert_eq!(one.history.marks(), other.history.marks());
    assert_eq!(one.history.len(), other.history.len());
    for (a, b) in one.history.operations().iter().zip(other.history.operations()) {
        assert_eq!(one.thread(a.thread), other.thread(b.thread));
        assert_eq!(one.name(a.input.method), other.name(b.input.method));
        assert_eq!(one.name(a.input.object), other.name(b.input.object));
        assert_eq!((&a.input.key, &a.input.argument), (&b.input.key, &b.input.argument));
        assert_eq!((a.call, &a.ret), (b.call, &b.ret));
    }
}
