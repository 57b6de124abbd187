//! Limits hold, whatever the worker does. No test here measures time closely: a machine may be busy.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::*;

/// Far more than any of these runs takes, far less than the work would.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn the_time_limit_ends_in_unknown() {
    let begun = Instant::now();
    let run = selvedge(&["check", &hard("time.jsonl"), "--time-max", "300ms"]).expect(3);
    assert!(begun.elapsed() < PATIENCE);
    assert!(run.stdout.starts_with("UNKNOWN"), "{}", run.stdout);
    assert!(run.stdout.contains("the time limit of 300 ms was reached"), "{}", run.stdout);
    assert!(!run.stdout.contains("linearizable") && !run.stdout.contains("PASS"), "{}", run.stdout);
}

#[test]
fn the_memory_limit_ends_in_unknown() {
    let run = selvedge(&["check", &hard("memory.jsonl"), "--memory-max", "24MiB", "--time-max", "none"]).expect(3);
    assert!(run.stdout.contains("the memory limit of 24 MiB was reached"), "{}", run.stdout);
}

#[test]
fn a_worker_that_does_not_look_is_cut_short() {
    // Nobody writes to the pipe and nobody closes it: the worker is stuck in a read.
    let child = waiting(&["check", "-", FAIL, "--time-max", "200ms"]);
    let run = finish(child).expect(3);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.stdout);
    assert!(lines[0].starts_with("UNKNOWN  standard input: "), "{}", run.stdout);
    assert!(lines[1].starts_with(&format!("UNKNOWN  {FAIL}: ")), "{}", run.stdout);
}

#[test]
fn what_was_decided_before_the_limit_counts() {
    let path = hard("counts.jsonl");
    let run = selvedge(&["check", "--json", FAIL, &path, PASS, "--time-max", "500ms"]).expect(1);
    let verdicts: Vec<String> =
        run.json().as_array().unwrap().iter().map(|one| one["verdict"].as_str().unwrap().to_owned()).collect();
    assert_eq!(verdicts, ["fail", "unknown", "unknown"]);
}

#[test]
fn no_certificate_without_a_verdict() {
    let certificate = scratch("unknown.cert");
    let _ = std::fs::remove_file(&certificate);
    let path = hard("certificate.jsonl");
    let run =
        selvedge(&["check", &path, "--certificate", certificate.to_str().unwrap(), "--time-max", "200ms"]).expect(3);
    assert!(!certificate.exists());
    assert!(run.stderr.contains("no certificate was written"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_in_unknown_with_what_is_known() {
    let path = hard("interrupt.jsonl");
    for (args, sent, expected) in [
        (vec!["check", "-", "--time-max", "none"], Signal::INT, "reading"),
        (vec!["check", &path, "--time-max", "none", "--memory-max", "64GiB"], Signal::INT, "52 operations"),
        (vec!["check", "-", "--time-max", "none"], Signal::TERM, "reading"),
    ] {
        let child = waiting(&args);
        std::thread::sleep(Duration::from_millis(500));
        signal(child.id(), sent);
        let run = finish(child).expect(3);
        assert!(run.stdout.contains("interrupted"), "{}", run.stdout);
        assert!(run.stdout.contains(expected), "{args:?}: {}", run.stdout);
    }
}

/// A run whose standard input stays open and silent.
fn waiting(args: &[&str]) -> Child {
    let mut command = command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

/// Waits for the end without closing standard input before it.
fn finish(mut child: Child) -> Run {
    let stdin = child.stdin.take();
    let run = Run::new(child.wait_with_output().expect("it ends"));
    drop(stdin);
    run
}
