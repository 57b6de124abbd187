//! `--json`: what programs read.

use serde_json::Value;

use crate::*;

/// What every answer has.
#[track_caller]
fn common(document: &Value, file: &str, verdict: &str) {
    assert_eq!(document["file"], file);
    assert_eq!(document["verdict"], verdict);
    assert_eq!(document["criterion"], "linearizability");
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    assert!(document["seconds"].as_f64().unwrap() >= 0.0);
    assert!(document["coverage"].is_string());
    assert!(document["limits"]["memory_max"].as_u64().unwrap() > 0);
    assert_eq!(document["limits"]["time_max"], 60.0);
    assert!(document.get("error").is_none());
}

#[test]
fn a_pass_has_a_witness() {
    let run = selvedge(&["check", "--json", PASS]).expect(0);
    let document = run.json();
    common(&document, PASS, "pass");
    assert_eq!(document["coverage"], "exhaustive");
    assert_eq!(document["format"], "jsonl");
    assert_eq!(document["object"], "queue");
    assert_eq!(document["operations"], 5);
    assert_eq!(document["pending"], 0);
    assert_eq!(document["parts"], 1);
    assert_eq!(document["algorithm"], "queue-distinct");
    let mut order: Vec<u64> =
        document["witness"][0]["order"].as_array().unwrap().iter().map(|op| op.as_u64().unwrap()).collect();
    order.sort_unstable();
    assert_eq!(order, [0, 1, 2, 3, 4]);
    assert!(run.stderr.starts_with("PASS"), "the report goes to standard error: {}", run.stderr);
}

#[test]
fn a_violation_has_its_kind_operations_lines_and_a_sentence() {
    let document = selvedge(&["check", "--json", FAIL]).expect(1).json();
    common(&document, FAIL, "fail");
    let violation = &document["violation"];
    assert_eq!(violation["kind"], "overtaken");
    assert!(violation["reason"].as_str().unwrap().starts_with("milk overtook tea"));
    let operations = violation["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 4);
    for operation in operations {
        assert!(operation["call_line"].as_u64().unwrap() < operation["return_line"].as_u64().unwrap());
        assert_eq!(operation["pending"], false);
    }
    assert_eq!(operations[0]["method"], "enq");
    assert_eq!(operations[0]["argument"], "milk");
    assert_eq!(violation["evidence"]["kind"], "overtaken");
}

#[test]
fn the_part_that_fails_is_named() {
    let document = selvedge(&["check", "--json", "examples/histories/fail/map-lost-append.edn"]).expect(1).json();
    assert_eq!(document["violation"]["key"], "x");
    assert_eq!(document["parts"], 2);
}

#[test]
fn several_files_make_an_array() {
    let run = selvedge(&["check", "--json", PASS, FAIL, "none.jsonl"]).expect(2);
    let documents = run.json();
    let documents = documents.as_array().unwrap();
    assert_eq!(documents.len(), 3);
    common(&documents[0], PASS, "pass");
    common(&documents[1], FAIL, "fail");
    assert_eq!(documents[2]["error"]["file"], "none.jsonl");
    assert!(documents[2].get("verdict").is_none());
}

#[test]
fn wrong_input_has_an_error_and_no_verdict() {
    let path = file("wrong-input.jsonl", b"{\"call\":\"enq\",\"thread\":0,\"value\":1}\nnonsense\n");
    let document = selvedge(&["check", "--json", &path]).expect(2).json();
    assert!(document.get("verdict").is_none());
    assert_eq!(document["error"]["file"], path.as_str());
    assert_eq!(document["error"]["line"], 2);
    assert!(!document["error"]["reason"].as_str().unwrap().is_empty());
}

#[test]
fn an_unknown_says_which_limit_and_what_is_known() {
    let path = hard("unknown.jsonl");
    let document = selvedge(&["check", "--json", &path, "--time-max", "300ms"]).expect(3).json();
    assert_eq!(document["verdict"], "unknown");
    assert_eq!(document["coverage"], "partial");
    assert_eq!(document["limit"], "time");
    assert_eq!(document["limits"]["time_max"], 0.3);
    assert_eq!(document["progress"]["phase"], "checking");
    assert_eq!(document["operations"], 52);
    assert!(document.get("witness").is_none() && document.get("violation").is_none());
}

#[test]
fn verify_answers_about_the_certificate() {
    let certificate = scratch("document.cert");
    let certificate = certificate.to_str().unwrap();
    selvedge(&["check", FAIL, "--certificate", certificate]).expect(1);
    let document = selvedge(&["verify", "--json", FAIL, certificate]).expect(0).json();
    assert_eq!(document["verdict"], "pass");
    assert_eq!(document["claim"], "fail");
    assert_eq!(document["object"], "queue");
    assert_eq!(document["certificate"], certificate);
}
