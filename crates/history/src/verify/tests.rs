//! Hand-written certificates, and attacks on the verifier with made-up ones.

use super::*;
use crate::evidence::{Failure, Linearization, Violation};
use crate::{LogRecorder, Outcome};

mod attack;
pub(crate) mod brute;
mod checkers;
mod pass;
mod patterns;
mod simulators;

/// A log from lines such as `0 enq 5` (thread 0 calls), `0 = nil` (it returns), `0 ?` (it will never return), `0 fail`
/// (it did not happen), and `stuck` at the end. `0 @k put 5` names a key, `0 #q enq 5` an object. Lines are separated by
/// `;` too.
pub(crate) fn log(text: &str) -> Log {
    let mut recorder = LogRecorder::new();
    let mut end = None;
    for line in text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty()) {
        if line == "stuck" {
            end = Some(End::Stuck);
            continue;
        }
        let (thread, rest) = line.split_once(' ').expect("a thread");
        let thread = value(thread);
        let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let done = match word {
            "=" => recorder.outcome(1, &thread, None, Outcome::Return(value(rest))).map(|_| ()),
            "?" => recorder.outcome(1, &thread, None, Outcome::Unknown).map(|_| ()),
            "fail" => recorder.outcome(1, &thread, None, Outcome::Fail).map(|_| ()),
            _ => {
                let mut call = Call {
                    object: crate::Symbol::NONE,
                    method: crate::Symbol::NONE,
                    key: Value::Nil,
                    argument: Value::Nil,
                };
                let (mut word, mut rest) = (word, rest);
                while let Some(name) = word.strip_prefix(['@', '#']) {
                    match word.as_bytes()[0] {
                        b'@' => call.key = value(name),
                        _ => call.object = recorder.symbol(name),
                    }
                    (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                }
                call.method = recorder.symbol(word);
                call.argument = value(rest);
                recorder.call(1, &thread, call).map(|_| ())
            }
        };
        done.expect("a well-formed log");
    }
    recorder.finish(end).expect("a well-formed log")
}

/// JSON, a bare word, or nothing.
fn value(text: &str) -> Value {
    match text {
        "" | "nil" => Value::Nil,
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::text(text)),
    }
}

fn ids(ids: &[u32]) -> Vec<OpId> {
    ids.iter().copied().map(OpId).collect()
}

fn certificate(object: &str, log: &Log, claim: Claim) -> Certificate {
    Certificate::new(object, None, log.history.len() as u64, claim)
}

fn order(order: &[u32]) -> Linearization {
    Linearization { order: ids(order), ..Linearization::default() }
}

fn pass(linearizations: Vec<Linearization>) -> Claim {
    Claim::Pass { linearizations }
}

fn fail(violation: Violation) -> Claim {
    Claim::Fail { failure: Failure { part: Part::default(), violation } }
}

#[track_caller]
fn accepted(log: &Log, certificate: &Certificate) {
    match verify(log, certificate, &Budget::new()) {
        Verdict::Pass(()) => {}
        Verdict::Fail(refusal) => panic!("refused: {refusal}"),
        Verdict::Unknown(limit) => panic!("{limit}"),
    }
}

#[track_caller]
fn refused(log: &Log, certificate: &Certificate, message: &str) {
    match verify(log, certificate, &Budget::new()) {
        Verdict::Fail(refusal) => assert_eq!(refusal.to_string(), message),
        other => panic!("not refused: {other:?}"),
    }
}

/// How many random histories an attack tries: a few by default, more where asked for.
fn cases(few: u64) -> u64 {
    std::env::var("SELVEDGE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}
