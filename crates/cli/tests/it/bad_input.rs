//! Wrong input gets an error with file, line and reason, exit code 2, and nothing panics.

use crate::*;

const HEADER: &str = "{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\"}\n";
const CALL: &str = "{\"call\":\"enq\",\"thread\":0,\"value\":1}\n";

/// Checks the content as a file, and expects an error in that line (0 for none) with these words.
#[track_caller]
fn refused(name: &str, content: &[u8], line: u32, words: &str) {
    let path = file(name, content);
    let run = selvedge(&["check", &path]).expect(2);
    let place = if line == 0 { format!("error: {path}: ") } else { format!("error: {path}:{line}:") };
    assert!(run.stderr.starts_with(&place), "{name}: expected {place} in {}", run.stderr);
    assert!(run.stderr.contains(words), "{name}: expected `{words}` in {}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{name}: {}", run.stderr);
    assert_eq!(run.stdout, "", "{name}");
    let document = selvedge(&["check", "--json", &path]).expect(2).json();
    assert_eq!(document["error"]["line"].as_u64().unwrap_or(0), u64::from(line), "{name}: {document}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_truncated_file() {
    refused("truncated.jsonl", format!("{HEADER}{CALL}{{\"return\":nu").as_bytes(), 3, "truncated");
}

#[test]
fn a_return_without_a_call() {
    let text = format!("{HEADER}{{\"return\":null,\"thread\":0}}\n");
    refused("return.jsonl", text.as_bytes(), 2, "returns without having called");
}

#[test]
fn two_calls_open_on_one_thread() {
    refused("open.jsonl", format!("{HEADER}{CALL}{CALL}").as_bytes(), 3, "calls again");
}

#[test]
fn an_unknown_method() {
    let text = format!("{HEADER}{CALL}{{\"call\":\"explode\",\"thread\":1}}\n");
    refused("method.jsonl", text.as_bytes(), 3, "`explode`");
    let text = format!("{CALL}{{\"call\":\"explode\",\"thread\":1}}\n");
    refused("undeclared.jsonl", text.as_bytes(), 2, "`explode`");
}

#[test]
fn a_value_of_the_wrong_type() {
    let text = format!("{HEADER}{{\"call\":\"deq\",\"thread\":1,\"value\":5}}\n");
    refused("argument.jsonl", text.as_bytes(), 2, "the argument should be");
    let text = format!("{HEADER}{CALL}{{\"return\":\"yes\",\"thread\":0}}\n");
    refused("result.jsonl", text.as_bytes(), 3, "the result should be");
    let text = format!("{HEADER}{{\"call\":\"enq\",\"thread\":1,\"value\":1.5}}\n");
    refused("float.jsonl", text.as_bytes(), 2, "");
}

#[test]
fn mixed_formats() {
    refused("mixed.jsonl", format!("{HEADER}{CALL}[1] call enq(5)\n").as_bytes(), 3, "limo");
}

#[test]
fn binary_data() {
    refused("binary", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", 1, "");
    refused("binary-later.jsonl", &[HEADER.as_bytes(), CALL.as_bytes(), b"\xff\xfe\0\n"].concat(), 3, "");
}

#[test]
fn an_empty_file() {
    refused("empty", b"", 1, "empty");
    refused("blank", b"\n\n", 1, "");
}

#[test]
fn a_single_line_of_a_hundred_megabytes() {
    refused("long", &vec![b'x'; 100 << 20], 1, "");
    let mut text = b"{\"call\":\"".to_vec();
    text.resize(100 << 20, b'e');
    refused("long.jsonl", &text, 1, "");
}

#[test]
fn deeply_nested_values() {
    let text = format!("{HEADER}{{\"call\":\"enq\",\"thread\":1,\"value\":{}}}\n", "[".repeat(1 << 20));
    refused("nested.jsonl", text.as_bytes(), 2, "");
    refused(
        "nested.edn",
        format!("{{:process 0, :type :invoke, :f :read, :value {}", "[".repeat(1 << 20)).as_bytes(),
        1,
        "",
    );
}

#[test]
fn an_object_that_cannot_be_told() {
    refused("ambiguous.jsonl", b"{\"call\":\"peek\",\"thread\":0}\n{\"return\":null,\"thread\":0}\n", 0, "--object");
}

#[test]
fn files_that_are_no_files() {
    let run = selvedge(&["check", "no/such/file"]).expect(2);
    assert!(run.stderr.starts_with("error: no/such/file: no such file"), "{}", run.stderr);
    let run = selvedge(&["check", "examples"]).expect(2);
    assert!(run.stderr.starts_with("error: examples: this is a directory"), "{}", run.stderr);
}
