//! `selvedge verify`, `convert` and `generate`.

use crate::*;

fn certificate_of(history: &str, name: &str) -> String {
    let certificate = scratch(name);
    let certificate = certificate.to_str().unwrap().to_owned();
    let run = selvedge(&["check", history, "--certificate", &certificate]);
    assert!(run.code <= 1, "{}", run.stderr);
    assert!(!run.stdout.contains("evidence:"), "{}", run.stdout);
    certificate
}

#[test]
fn every_certificate_is_right() {
    for (verdict, says) in [("pass", "is linearizable"), ("fail", "is not linearizable")] {
        for (i, history) in examples(verdict).iter().enumerate() {
            let certificate = certificate_of(history, &format!("{verdict}-{i}.cert"));
            let run = selvedge(&["verify", history, &certificate]).expect(0);
            assert!(run.stdout.starts_with("RIGHT"), "{}", run.stdout);
            assert!(run.stdout.contains(says), "{}", run.stdout);
        }
    }
}

#[test]
fn a_wrong_certificate_is_refused() {
    let certificate = certificate_of(PASS, "tampered.cert");
    let text = std::fs::read_to_string(&certificate).unwrap();
    let order = text.find("\"order\":[").unwrap() + "\"order\":[".len();
    let end = order + text[order..].find(']').unwrap();
    let mut operations: Vec<&str> = text[order..end].split(',').collect();
    operations.reverse();
    let tampered = format!("{}{}{}", &text[..order], operations.join(","), &text[end..]);
    std::fs::write(&certificate, tampered).unwrap();
    let run = selvedge(&["verify", PASS, &certificate]).expect(1);
    assert!(run.stdout.starts_with("REFUSED"), "{}", run.stdout);
    let document = selvedge(&["verify", "--json", PASS, &certificate]).expect(1).json();
    assert_eq!(document["verdict"], "fail");
    assert!(!document["refusal"].as_str().unwrap().is_empty());
}

#[test]
fn a_certificate_of_another_history_is_refused() {
    let certificate = certificate_of(PASS, "other.cert");
    selvedge(&["verify", "examples/histories/fail/priority-queue.fl", &certificate]).expect(1);
}

#[test]
fn a_certificate_about_another_object_says_so() {
    let certificate = scratch("bag.cert");
    let certificate = certificate.to_str().unwrap();
    selvedge(&["check", FAIL, "--object", "bag", "--certificate", certificate]).expect(0);
    let run = selvedge(&["verify", FAIL, certificate]).expect(0);
    assert!(run.stdout.contains("is linearizable as a bag"), "{}", run.stdout);
    assert!(run.stdout.contains("the history says that it is of a queue"), "{}", run.stdout);
}

#[test]
fn what_is_no_certificate_is_wrong_input() {
    let run = selvedge(&["verify", PASS, FAIL]).expect(2);
    assert!(run.stderr.starts_with(&format!("error: {FAIL}:")), "{}", run.stderr);
    let later = file("later.cert", b"{\"selvedge\":\"certificate\",\"version\":3}");
    let run = selvedge(&["verify", PASS, &later]).expect(2);
    assert!(run.stderr.contains("version 3 of the certificate format is not known"), "{}", run.stderr);
    let cut = file("cut.cert", b"{\"selvedge\":\"certificate\",\"version\":1,\n\"criterion\":");
    let run = selvedge(&["verify", PASS, &cut]).expect(2);
    assert!(run.stderr.starts_with(&format!("error: {cut}:2:")), "{}", run.stderr);
    selvedge(&["verify", PASS, "no/such.cert"]).expect(2);
    selvedge(&["verify", "no/such.jsonl", &certificate_of(PASS, "missing.cert")]).expect(2);
}

#[test]
fn a_certificate_that_cannot_be_written_is_an_error() {
    let run = selvedge(&["check", PASS, "--certificate", "no/such/directory/x.cert"]).expect(2);
    assert!(run.stderr.contains("cannot write the certificate"), "{}", run.stderr);
    assert!(run.stdout.starts_with("PASS"), "{}", run.stdout);
}

#[test]
fn a_converted_history_gets_the_same_verdict() {
    for (verdict, code) in [("pass", 0), ("fail", 1)] {
        for history in examples(verdict) {
            let run = selvedge(&["convert", &history, "--to", "jsonl"]).expect(0);
            assert!(run.stdout.starts_with("{\"selvedge\":\"history\",\"version\":1"), "{}", run.stdout);
            with_input(&["check", "-", "--format", "jsonl"], run.stdout.as_bytes()).expect(code);
            let again = with_input(&["convert", "-", "--to", "jsonl"], run.stdout.as_bytes()).expect(0);
            assert_eq!(again.stdout, run.stdout);
        }
    }
}

#[test]
fn convert_writes_to_a_file() {
    let out = scratch("converted.jsonl");
    let out = out.to_str().unwrap();
    let run = selvedge(&["convert", FAIL, "--to", "jsonl", "-o", out]).expect(0);
    assert_eq!(run.stdout, "");
    selvedge(&["check", out]).expect(1);
    let run = selvedge(&["convert", "no/such.edn", "--to", "jsonl"]).expect(2);
    assert!(run.stderr.starts_with("error: no/such.edn: no such file"), "{}", run.stderr);
    selvedge(&["convert", FAIL, "--to", "jsonl", "-o", "no/such/directory/x.jsonl"]).expect(2);
}

#[test]
fn generated_histories_have_the_verdict_asked_for() {
    for object in ["queue", "stack", "priority-queue", "set", "register"] {
        let args = ["generate", "--object", object, "--operations", "300", "--processes", "3", "--seed", "7"];
        let one = selvedge(&args).expect(0);
        let other = selvedge(&args).expect(0);
        assert_eq!(one.stdout, other.stdout, "{object}: the same seed gives the same history");
        let run = with_input(&["check", "-", "--json"], one.stdout.as_bytes()).expect(0);
        assert_eq!(run.json()["operations"], 300, "{object}");
        assert_eq!(run.json()["object"], object);
        let broken = selvedge(&[&args[..], &["--violation"]].concat()).expect(0);
        with_input(&["check", "-"], broken.stdout.as_bytes()).expect(1);
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let mut command = command(&["generate", "--object", "queue", "--operations", "200000"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let run = Run::new(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(run.stderr, "");
}
