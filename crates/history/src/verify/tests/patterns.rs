//! Each kind of violation by hand: the pattern accepted, and refused once one of its premises is gone.

use super::*;
use crate::evidence::{Forced, Stay};

fn op(op: u32) -> OpId {
    OpId(op)
}

fn stay(insert: u32, remove: u32) -> Stay {
    Stay { insert: OpId(insert), remove: Some(OpId(remove)) }
}

fn stays(insert: u32) -> Stay {
    Stay { insert: OpId(insert), remove: None }
}

#[track_caller]
fn shows(object: &str, text: &str, violation: Violation) {
    let log = log(text);
    accepted(&log, &certificate(object, &log, fail(violation)));
}

#[track_caller]
fn shows_not(object: &str, text: &str, violation: Violation, message: &str) {
    let log = log(text);
    refused(&log, &certificate(object, &log, fail(violation)), message);
}

#[test]
fn thin_air() {
    let claim = Violation::ThinAir { operation: op(1) };
    for object in ["queue", "bag"] {
        shows(object, "0 enq 1; 0 = nil; 0 deq; 0 = 2", claim.clone());
        let source = "2 may have been put in 1 times, not 0";
        shows_not(object, "0 enq 2; 0 = nil; 0 deq; 0 = 2", claim.clone(), source);
        shows_not(object, "0 enq 2; 0 ?; 1 deq; 1 = 2", claim.clone(), source);
        shows_not(
            object,
            "0 enq 2; 0 = nil; 0 deq; 0 = nil",
            claim.clone(),
            "operation 1 does not show that any value was there",
        );
    }
    shows("register", "0 write 1; 0 = nil; 0 read; 0 = 2", claim.clone());
    shows_not("register", "0 write 2; 0 ?; 1 read; 1 = 2", claim.clone(), "2 may have been put in 1 times, not 0");
    shows_not(
        "register",
        "0 write 2; 0 = nil; 1 read; 1 = nil",
        claim.clone(),
        "nil may have been put in 1 times, not 0",
    );
    shows("cas-register", "0 cas [1, 2]; 0 = false; 0 read; 0 = 2", claim.clone());
    shows_not(
        "cas-register",
        "0 cas [1, 2]; 0 = nil; 0 read; 0 = 2",
        claim.clone(),
        "2 may have been put in 1 times, not 0",
    );
    shows("set", "0 add 1; 0 = true; 0 contains 2; 0 = true", claim.clone());
    shows_not(
        "set",
        "0 add 2; 0 = nil; 0 contains 2; 0 = true",
        claim.clone(),
        "2 may have been put in 1 times, not 0",
    );
    shows_not(
        "counter",
        "0 inc; 0 = nil; 0 get; 0 = 7",
        claim,
        "a violation of the kind \"thin-air\" says nothing about a counter with these calls",
    );
}

#[test]
fn thin_air_of_one_key() {
    let log = log("0 @a put 1; 0 = nil; 0 @b get; 0 = 1");
    let claim = |key: &str| Claim::Fail {
        failure: Failure {
            part: Part { object: String::new(), key: value(key) },
            violation: Violation::ThinAir { operation: op(1) },
        },
    };
    accepted(&log, &certificate("map", &log, claim("b")));
    refused(&log, &certificate("map", &log, claim("a")), "operation 1 is not one on key a");
    refused(&log, &certificate("map", &log, claim("")), "operation 1 is not one on an object without name");
}

#[test]
fn what_an_append_writes_is_not_known() {
    let log = log("0 @a append x; 0 = nil; 0 @a append y; 0 = nil; 0 @a get; 0 = xy");
    let part = Part { object: String::new(), key: value("a") };
    let violation = Violation::ThinAir { operation: op(2) };
    refused(
        &log,
        &certificate("map", &log, Claim::Fail { failure: Failure { part, violation } }),
        "a violation of the kind \"thin-air\" says nothing about a map with these calls",
    );
}

#[test]
fn removed_twice() {
    let claim = Violation::RemovedTwice { insert: op(0), first: op(1), second: op(2) };
    let twice = "0 push 1; 0 = nil; 0 pop; 1 pop; 0 = 1; 1 = 1";
    shows("stack", twice, claim.clone());
    shows_not("stack", &format!("{twice}; 2 push 1"), claim.clone(), "1 may have been put in 2 times, not 1");
    let same = Violation::RemovedTwice { insert: op(0), first: op(1), second: op(1) };
    shows_not("stack", twice, same, "operations 1 and 1 are not about two different values");
    let peek = "0 push 1; 0 = nil; 0 top; 1 pop; 0 = 1; 1 = 1";
    shows_not("stack", peek, claim.clone(), "operation 1 does not take out 1");
    shows("set", "0 add 1; 0 = true; 0 remove 1; 1 remove 1; 0 = true; 1 = true", claim.clone());
    let unrecorded = "0 add 1; 0 = true; 0 remove 1; 1 remove 1; 0 = true; 1 = nil";
    shows_not("set", unrecorded, claim, "operation 2 does not take out 1");
}

#[test]
fn too_early() {
    let claim = Violation::TooEarly { operation: op(0), insert: op(1) };
    shows("queue", "0 deq; 0 = 1; 1 enq 1; 1 = nil", claim.clone());
    shows("queue", "0 deq; 0 = 1; 1 enq 1", claim.clone());
    let overlap = "operation 0 did not end before operation 1 was called";
    shows_not("queue", "0 deq; 1 enq 1; 0 = 1; 1 = nil", claim.clone(), overlap);
    shows_not("queue", "0 deq; 1 enq 1; 1 = nil", claim.clone(), "operation 0 does not show that 1 was there");
    shows("register", "0 read; 0 = 1; 1 write 1; 1 = nil", claim.clone());
    let twice = "0 read; 0 = 1; 1 write 1; 1 = nil; 2 write 1";
    shows_not("register", twice, claim.clone(), "1 may have been put in 2 times, not 1");
    shows("cas-register", "0 cas [1, 5]; 0 = true; 1 cas [5, 1]; 1 = true", claim);
}

#[test]
fn the_initial_value_is_a_source() {
    let text = "0 read; 0 = 1; 1 write 1; 1 = nil";
    let mut claim = certificate("register", &log(text), fail(Violation::TooEarly { operation: op(0), insert: op(1) }));
    accepted(&log(text), &claim);
    claim.initial = Some(Value::Int(1));
    refused(&log(text), &claim, "1 may have been put in 2 times, not 1");
}

#[test]
fn too_late() {
    let claim = Violation::TooLate { operation: op(2), remove: op(1) };
    shows("queue", "0 enq 1; 0 = nil; 0 deq; 0 = 1; 0 peek; 0 = 1", claim.clone());
    let overlap = "operation 1 did not end before operation 2 was called";
    shows_not("queue", "0 enq 1; 0 = nil; 0 deq; 1 peek; 0 = 1; 1 = 1", claim.clone(), overlap);
    shows("set", "0 add 1; 0 = true; 0 remove 1; 0 = true; 0 contains 1; 0 = true", claim.clone());
    shows("set", "0 add 1; 0 = true; 0 remove 1; 0 = true; 0 add 1; 0 = false", claim.clone());
    let again = "0 add 1; 0 = true; 0 remove 1; 0 = true; 0 contains 1; 1 add 1; 0 = true; 1 = true";
    shows_not("set", again, claim, "1 may have been put in 2 times, not 1");
}

#[test]
fn removed_too_often() {
    let text = "0 push 1; 0 = nil; 0 push 1; 0 = nil; 0 pop; 0 = 1; 0 pop; 0 = 1; 0 pop; 0 = 1";
    let claim = |inserts: &[u32], removes: &[u32]| {
        let ops = |ids: &[u32]| ids.iter().map(|&id| op(id)).collect();
        Violation::RemovedTooOften { inserts: ops(inserts), removes: ops(removes) }
    };
    shows("stack", text, claim(&[0, 1], &[2, 3, 4]));
    shows_not("stack", text, claim(&[0, 1], &[2, 3]), "1 was not taken out more often than it was put in");
    shows_not("stack", text, claim(&[0, 1], &[2, 3, 3]), "operation 3 stands twice in the order");
    shows_not("stack", text, claim(&[0], &[2, 3]), "1 may have been put in 2 times, not 1");
    shows_not(
        "stack",
        &format!("9 push 1; {text}"),
        claim(&[1, 2], &[3, 4, 5]),
        "1 may have been put in 3 times, not 2",
    );
}

#[test]
fn overtaken() {
    let queue = "0 enq 1; 0 = nil; 0 enq 2; 0 = nil; 0 deq; 0 = 2; 0 deq; 0 = 1";
    let claim = Violation::Overtaken { first: stay(0, 3), second: stay(1, 2) };
    shows("queue", queue, claim.clone());
    shows(
        "queue",
        &format!("1 deq; {}", queue.replace('0', "5")),
        Violation::Overtaken { first: stay(1, 4), second: stay(2, 3) },
    );
    shows_not(
        "queue",
        queue,
        Violation::Overtaken { first: stay(1, 2), second: stay(0, 3) },
        "operation 1 did not end before operation 0 was called",
    );
    shows_not(
        "queue",
        "0 enq 1; 0 = nil; 0 enq 2; 0 = nil; 0 deq; 1 deq; 0 = 2; 1 = 1",
        claim.clone(),
        "operation 2 did not end before operation 3 was called",
    );
    shows_not(
        "queue",
        "0 enq 1; 1 enq 2; 0 = nil; 1 = nil; 0 deq; 0 = 2; 0 deq; 0 = 1",
        claim.clone(),
        "operation 0 did not end before operation 1 was called",
    );
    shows("queue", &format!("{queue}; 0 enq 1"), claim.clone());
    let shifted = Violation::Overtaken { first: stay(1, 4), second: stay(2, 3) };
    shows_not("queue", &format!("9 enq 1; {queue}"), shifted, "1 may have been put in 2 times, not 1");
    let twice = "0 enq 1; 0 = nil; 0 enq 1; 0 = nil; 0 enq 2; 0 = nil; 0 deq; 0 = 2; 0 deq; 0 = 1; 0 deq; 0 = 1";
    shows("queue", twice, Violation::Overtaken { first: stay(1, 5), second: stay(2, 3) });
    let pair = "operation 5 need not have taken out what operation 0 put in";
    shows_not("queue", twice, Violation::Overtaken { first: stay(0, 5), second: stay(2, 3) }, pair);
    let name = "a violation of the kind \"overtaken\" says nothing about a bag with these calls";
    shows_not("bag", queue, claim, name);
    let second = Violation::Overtaken { first: stay(0, 3), second: stays(1) };
    shows_not("queue", queue, second, "2 is said never to be removed, and an operation took it out");
}

#[test]
fn overtaken_by_what_never_leaves() {
    let queue = "0 enq 1; 0 = nil; 0 enq 2; 0 = nil; 0 deq; 0 = 2";
    let claim = Violation::Overtaken { first: stays(0), second: stay(1, 2) };
    shows("queue", queue, claim.clone());
    let gone = "a pending removal may have taken out 1 before the end of operation 2";
    let pending = "0 enq 1; 0 = nil; 0 enq 2; 0 = nil; 0 deq; 1 deq; 0 = 2";
    shows_not("queue", pending, claim.clone(), gone);
    // In a stuck history it took no effect; called later, it comes too late.
    shows("queue", &format!("{pending}; stuck"), claim.clone());
    shows("queue", &format!("{queue}; 1 deq"), claim.clone());
    let removed = "1 is said never to be removed, and an operation took it out";
    shows_not("queue", &format!("{queue}; 0 deq; 0 = 1"), claim, removed);
    let unremoved = Violation::Overtaken { first: stays(0), second: stays(1) };
    shows_not(
        "queue",
        "0 enq 1; 0 = nil; 0 enq 2; 0 = nil; 0 peek; 0 = 2",
        unremoved,
        "operation 1 does not take a value out",
    );
}

#[test]
fn not_empty() {
    for object in ["queue", "bag", "priority-queue", "stack"] {
        let claim = Violation::NotEmpty { operation: op(1), inside: vec![stays(0)] };
        shows(object, "0 add 1; 0 = nil; 0 remove; 0 = nil", claim.clone());
        let gone = "after event 3, during operation 1, none of the values named was certainly inside";
        shows_not(object, "0 add 1; 0 = nil; 0 remove; 1 remove; 0 = nil", claim.clone(), gone);
        let pending = "after event 1, during operation 1, none of the values named was certainly inside";
        shows_not(object, "0 add 1; 1 remove; 1 = nil", claim.clone(), pending);
        let removed = "1 is said never to be removed, and an operation took it out";
        shows_not(object, "0 add 1; 0 = nil; 0 remove; 1 remove; 0 = nil; 1 = 1", claim, removed);
    }
    let claim = Violation::NotEmpty { operation: op(1), inside: vec![stays(0)] };
    shows("deque", "0 push_back 1; 0 = nil; 0 pop_front; 0 = nil", claim.clone());
    let name = "a violation of the kind \"not-empty\" says nothing about a set with these calls";
    shows_not("set", "0 add 1; 0 = true; 0 contains 1; 0 = false", claim, name);
}

#[test]
fn not_empty_by_several() {
    // 1 is inside until 2 is, and 2 until 3 is.
    let text = "0 push 1; 0 = nil; 9 pop; 0 push 2; 0 = nil; 0 pop; 0 = 1; 0 push 3; 0 = nil; 0 pop; 0 = 2; 9 = nil";
    let claim = |inside: &[Stay]| Violation::NotEmpty { operation: op(1), inside: inside.to_vec() };
    shows("stack", text, claim(&[stay(0, 3), stay(2, 5), stays(4)]));
    shows("stack", text, claim(&[stays(4), stay(0, 3), stay(2, 5)]));
    let gap = |event| format!("after event {event}, during operation 1, none of the values named was certainly inside");
    shows_not("stack", text, claim(&[stay(0, 3), stays(4)]), &gap(5));
    shows_not("stack", text, claim(&[stay(2, 5), stays(4)]), &gap(2));
    shows_not("stack", text, claim(&[stay(0, 3), stay(2, 5)]), &gap(9));
    shows_not("stack", text, claim(&[]), &gap(2));
    shows_not("stack", text, claim(&[stay(0, 5)]), "operation 5 does not take out 1");
    let other = Violation::NotEmpty { operation: op(3), inside: vec![stay(0, 3)] };
    shows_not("stack", text, other, "operation 3 does not answer that the value is absent");
    let pending = Violation::NotEmpty { operation: op(1), inside: vec![stays(0)] };
    shows_not("stack", "0 push 1; 0 = nil; 9 pop", pending, "operation 1 has not returned");
}

#[test]
fn outranked() {
    let text = "0 add 5; 0 = nil; 0 add 3; 0 = nil; 0 poll; 0 = 3; 0 poll; 0 = 5";
    let claim = Violation::Outranked { operation: op(2), insert: op(1), inside: vec![stay(0, 3)] };
    shows("priority-queue", text, claim.clone());
    shows_not("priority-queue-min", text, claim.clone(), "5 is not of higher priority than 3");
    let lower = Violation::Outranked { operation: op(3), insert: op(0), inside: vec![stay(1, 2)] };
    shows_not("priority-queue", text, lower, "3 is not of higher priority than 5");
    let overlapping = "0 add 5; 0 = nil; 0 add 3; 0 = nil; 0 poll; 1 poll; 0 = 3; 1 = 5";
    let gap = "after event 5, during operation 2, none of the values named was certainly inside";
    shows_not("priority-queue", overlapping, claim.clone(), gap);
    // The removal is called before anything is inside, but it cannot take effect before what it removes is put in.
    let clipped = "1 poll; 0 add 5; 0 = nil; 0 add 3; 0 = nil; 1 = 3; 0 poll; 0 = 5";
    shows(
        "priority-queue",
        clipped,
        Violation::Outranked { operation: op(0), insert: op(2), inside: vec![stay(1, 3)] },
    );
    let claim = Violation::Outranked { operation: op(0), insert: op(2), inside: vec![stay(1, 3)] };
    shows("priority-queue", &format!("{clipped}; 0 add 3"), claim.clone());
    let pending = format!("{clipped}; 7 poll; 0 add 3");
    shows_not("priority-queue", &pending, claim, "3 may have been put in 2 times, not 1");
}

#[test]
fn not_empty_though_removals_are_pending() {
    let claim = |inside: &[Stay]| Violation::NotEmpty { operation: op(3), inside: inside.to_vec() };
    let text = "0 add 1; 0 = nil; 0 add 2; 0 = nil; 8 remove; 0 remove; 0 = nil";
    for object in ["bag", "queue", "stack", "priority-queue"] {
        shows(object, text, claim(&[stays(0), stays(1)]));
        shows_not(
            object,
            text,
            claim(&[stays(0), stays(0)]),
            "after event 5, during operation 3, none of the values named was certainly inside",
        );
        let two = format!("9 remove; {text}").replace("operation 3", "operation 4");
        let claim = Violation::NotEmpty { operation: op(4), inside: vec![stays(1), stays(2)] };
        shows_not(
            object,
            &two,
            claim,
            "after event 6, during operation 4, none of the values named was certainly inside",
        );
    }
}

#[test]
fn too_few_removals() {
    let claim = |values: &[(u32, u32)]| Violation::TooFewRemovals {
        values: values.iter().map(|&(insert, because)| Forced { insert: op(insert), because: op(because) }).collect(),
    };
    let both = claim(&[(0, 4), (1, 4)]);
    let queue = "0 enq 1; 0 = nil; 0 enq 2; 0 = nil; 0 enq 3; 0 = nil; 8 deq; 0 deq; 0 = 3";
    shows("queue", queue, both.clone());
    shows_not(
        "queue",
        &format!("{queue}; 9 deq"),
        claim(&[(0, 4)]),
        "1 pending removals may have taken out the 1 values named",
    );
    shows_not("queue", queue, claim(&[(0, 4), (0, 4)]), "operation 0 stands twice in the order");
    shows_not("queue", queue, claim(&[(0, 4), (2, 4)]), "3 is said never to be removed, and an operation took it out");
    shows_not("queue", &format!("{queue}; 0 enq 1"), both.clone(), "1 may have been put in 2 times, not 1");
    shows_not(
        "queue",
        &format!("{queue}; 0 deq; 0 = 1"),
        both.clone(),
        "1 is said never to be removed, and an operation took it out",
    );
    let late = "0 enq 1; 0 = nil; 1 enq 2; 0 enq 3; 1 = nil; 0 = nil; 8 deq; 0 deq; 0 = 3";
    shows_not("queue", late, both.clone(), "operation 1 did not end before operation 2 was called");
    let stack = "0 push 3; 0 = nil; 0 push 1; 0 = nil; 0 push 2; 0 = nil; 8 pop; 0 pop; 0 = 3";
    shows("stack", stack, claim(&[(1, 4), (2, 4)]));
    shows_not(
        "stack",
        &queue.replace("enq", "push").replace("deq", "pop"),
        both.clone(),
        "operation 2 did not end before operation 0 was called",
    );
    let heap = "0 insert 5; 0 = nil; 0 insert 6; 0 = nil; 0 insert 3; 0 = nil; 8 poll; 0 poll; 0 = 3";
    shows("priority-queue", heap, both.clone());
    shows_not("priority-queue-min", heap, both.clone(), "5 is not of higher priority than 3");
    shows("priority-queue-min", &heap.replace("3", "9"), both.clone());
    shows_not(
        "bag",
        &queue.replace("enq", "add").replace("deq", "remove"),
        both.clone(),
        "operation 4 does not answer that the value is absent",
    );
    let empty = "0 add 1; 0 = nil; 0 add 2; 0 = nil; 0 add 3; 8 remove; 0 = nil; 0 remove; 0 = nil";
    shows("bag", empty, both.clone());
    shows_not("bag", &empty.replace("0 remove; 0 = nil", "0 remove"), both, "operation 4 has not returned");
}

#[test]
fn conflict() {
    let claim = |operations: &[u32]| Violation::Conflict { operations: operations.iter().map(|&i| OpId(i)).collect() };
    let text = "0 push 3; 0 = nil; 0 push 1; 0 = nil; 0 push 2; 0 = nil; 8 pop; 0 pop; 0 = 3; 9 pop; 0 push 7; 0 = nil";
    shows("stack", text, claim(&[0, 1, 2, 3, 4, 5]));
    shows("stack", text, claim(&[4, 5, 0, 2, 3, 1]));
    shows_not("stack", text, claim(&[0, 1, 3, 4]), "an order explains the part");
    shows_not(
        "stack",
        text,
        claim(&[0, 1, 2, 3, 4]),
        "of the pending removals the first 2 must be named, and no other before one that is not",
    );
    shows_not(
        "stack",
        text,
        claim(&[0, 1, 2, 4, 5]),
        "of the pending removals the first 2 must be named, and no other before one that is not",
    );
    shows_not("stack", text, claim(&[1, 2, 3, 4, 5]), "operation 0 is on one of the values, and is not named");
    shows_not("stack", text, claim(&[0, 1, 2, 3, 4, 5, 5]), "operation 5 stands twice in the order");
    shows_not(
        "stack",
        &text.replacen("9 pop", "9 top", 1),
        claim(&[0, 1, 2, 3, 4, 5]),
        "operation 5 does not put a value in",
    );
    let name = "a violation of the kind \"conflict\" says nothing about a register with these calls";
    shows_not("register", "0 write 1; 0 = nil; 0 read; 0 = nil", claim(&[0, 1]), name);
}

#[test]
fn entangled() {
    let text = "0 push 1; 0 = nil; 0 push 2; 0 = nil; 0 pop; 0 = 1; 0 pop; 0 = 2";
    let claim = |stays: &[Stay]| Violation::Entangled { stays: stays.to_vec() };
    shows("stack", text, claim(&[stay(0, 2), stay(1, 3)]));
    let gap = |event, op| {
        format!("after event {event}, during operation {op}, none of the values named was certainly inside")
    };
    shows_not("stack", text, claim(&[stay(1, 3)]), &gap(6, 3));
    shows_not("stack", text, claim(&[]), "no value is named");
    let fine = "0 push 1; 0 = nil; 0 push 2; 0 = nil; 0 pop; 0 = 2; 0 pop; 0 = 1";
    shows_not("stack", fine, claim(&[stay(0, 3), stay(1, 2)]), &gap(6, 3));
    let overlapping = "0 push 1; 1 push 2; 0 = nil; 1 = nil; 0 pop; 0 = 1; 0 pop; 0 = 2";
    shows_not("stack", overlapping, claim(&[stay(0, 2), stay(1, 3)]), &gap(6, 3));
    let never = "0 push 1; 0 = nil; 0 push 2; 0 = nil; 0 pop; 0 = 1";
    shows("stack", never, claim(&[stay(0, 2), stays(1)]));
    shows_not("stack", &format!("9 pop; {}", never.replace('0', "5")), claim(&[stay(1, 3), stays(2)]), &gap(5, 3));
    let name = "a violation of the kind \"entangled\" says nothing about a deque with these calls";
    shows_not("deque", "0 push_back 1; 0 = nil", claim(&[stays(0)]), name);
}

#[test]
fn missed() {
    let claim = |before, after: Option<u32>| Violation::Missed {
        operation: op(1),
        insert: op(0),
        before: op(before),
        after: after.map(OpId),
    };
    let text = "0 add 1; 0 = true; 0 contains 1; 0 = false";
    shows("set", text, claim(0, None));
    shows("set", &format!("{text}; 0 remove 1; 0 = true"), claim(0, Some(2)));
    shows("set", &format!("{text}; 0 contains 1; 0 = true"), claim(0, Some(2)));
    shows_not(
        "set",
        &format!("{text}; 0 contains 1; 0 = false"),
        claim(0, Some(2)),
        "operation 2 does not show that 1 was there",
    );
    let removed = "1 is said never to be removed, and an operation took it out";
    shows_not("set", &format!("{text}; 0 remove 1; 0 = true"), claim(0, None), removed);
    let gone = "a pending removal may have taken out 1 before the end of operation 1";
    shows_not("set", "0 add 1; 0 = true; 0 contains 1; 1 remove 1; 0 = false", claim(0, None), gone);
    shows_not("set", "0 add 1; 0 = true; 0 contains 1; 1 remove 1; 1 = nil; 0 = false", claim(0, None), gone);
    shows("set", "0 add 1; 0 = true; 0 contains 1; 1 remove 2; 0 = false", claim(0, None));
    let late = "operation 0 did not end before operation 1 was called";
    shows_not("set", "0 add 1; 1 contains 1; 0 = true; 1 = false", claim(0, None), late);
    let again = "0 add 1; 0 = true; 0 contains 1; 0 = false; 0 add 1; 0 = true";
    shows_not("set", again, claim(0, None), "1 may have been put in 2 times, not 1");
}

#[test]
fn missed_after_it_was_seen() {
    let text = "0 add 1; 1 contains 1; 1 = true; 1 remove 1; 1 = false; 0 = true; 1 contains 1; 1 = true";
    let claim =
        |operation| Violation::Missed { operation: op(operation), insert: op(0), before: op(1), after: Some(op(3)) };
    shows("set", text, claim(2));
    shows_not("set", text, claim(3), "operation 3 does not answer that the value is absent");
    // A queue that looks empty between two looks at the same value.
    let queue = "0 enq 1; 1 peek; 1 = 1; 1 deq; 1 = nil; 0 = nil; 1 peek; 1 = 1";
    shows("queue", queue, claim(2));
}

#[test]
fn crossed() {
    let claim = |first: Option<u32>, last, other_first: Option<u32>, other_last| Violation::Crossed {
        first: first.map(OpId),
        last: op(last),
        other_first: other_first.map(OpId),
        other_last: op(other_last),
    };
    let stale = "0 write 1; 0 = nil; 0 write 2; 0 = nil; 0 read; 0 = 1";
    shows("register", stale, claim(Some(0), 2, Some(1), 1));
    let overlapping = "0 write 1; 0 = nil; 0 write 2; 1 read; 0 = nil; 1 = 1";
    let late = "operation 1 did not end before operation 2 was called";
    shows_not("register", overlapping, claim(Some(0), 2, Some(1), 1), late);
    let twice = "operation 2 does not show that any value was there";
    shows_not("register", &format!("{stale}; 0 write 1"), claim(Some(0), 2, Some(1), 1), twice);
    shows_not(
        "register",
        stale,
        claim(Some(0), 2, Some(0), 2),
        "operations 2 and 2 are not about two different values",
    );
    // The initial value was still seen after another had been.
    let initial = "0 write 1; 1 read; 1 = 1; 1 read; 1 = nil; 0 = nil";
    shows("register", initial, claim(None, 2, Some(1), 1));
    let late = "operation 1 did not end before operation 1 was called";
    shows_not("register", initial, claim(Some(1), 1, None, 2), late);
    let ended = "0 write 1; 0 = nil; 0 read; 0 = 1; 0 read; 0 = nil";
    shows("register", ended, claim(Some(0), 1, None, 2));
    // A pending write that was seen has taken effect.
    let pending = "0 write 1; 0 = nil; 1 write 2; 0 read; 0 = 2; 0 read; 0 = 1";
    shows("register", pending, claim(Some(0), 3, Some(2), 1));
    // A compare-and-set sees one value and writes the other.
    let cas = "0 write 1; 0 = nil; 0 cas [1, 2]; 0 = true; 0 read; 0 = 1";
    shows("cas-register", cas, claim(Some(0), 2, Some(1), 1));
    let cas = "0 write 1; 0 = nil; 0 write 2; 0 = nil; 0 cas [1, 3]; 0 = true";
    shows("cas-register", cas, claim(Some(0), 2, Some(1), 1));
    let cas = "0 write 1; 0 = nil; 0 write 2; 0 = nil; 0 cas [1, 3]; 0 = false";
    shows_not("cas-register", cas, claim(Some(0), 2, Some(1), 1), twice);
}

#[test]
fn unplaced() {
    let text = "0 inc; 1 inc; 0 = nil; 2 get; 1 = nil; 2 = 5; 0 get; 0 = 2";
    let claim = |operation, events, partial: &[u32]| Violation::Unplaced {
        operation: op(operation),
        events,
        partial: ids(partial),
    };
    shows("counter", text, claim(2, 6, &[0, 1]));
    shows("counter", text, claim(2, 6, &[1, 0, 2]));
    shows_not("counter", text, claim(2, 5, &[0, 1]), "there are 6 events up to the return, not 5");
    shows_not(
        "counter",
        text,
        claim(3, 8, &[0, 1, 2]),
        "operation 2 returned 5, and at its place in the order the object cannot answer",
    );
    shows_not("counter", text, claim(1, 5, &[0]), "an order explains the history up to the return of operation 1");
    shows_not("counter", text, claim(2, 6, &[0]), "operation 1 returned, and is missing from the order of its object");
    shows_not("counter", text, claim(2, 6, &[0, 1, 1]), "operation 1 stands twice in the order");
    shows_not(
        "counter",
        text,
        claim(2, 6, &[2, 0, 1]),
        "operation 2 stands before operation 0, which had returned before it was called",
    );
    shows_not("counter", text, claim(2, 6, &[0, 1, 3]), "the history has no operation 3");
    shows_not("counter", &text.replace("2 = 5", "2 ?"), claim(2, 6, &[0, 1]), "operation 2 has not returned");
}

#[test]
fn unplaced_lets_the_pending_do_anything() {
    let claim = |events| Violation::Unplaced { operation: op(2), events, partial: ids(&[1]) };
    let text = "0 add 1; 0 ?; 1 add 2; 1 = nil; 1 remove; 1 = 1";
    shows_not("bag", text, claim(5), "an order explains the history up to the return of operation 2");
    // What blocks for good cannot have put it in.
    let stuck = "0 @k append x; 1 @k put 2; 1 = nil; 1 @k get; 1 = x; stuck";
    let log = log(stuck);
    let part = Part { object: String::new(), key: value("k") };
    let violation = claim(5);
    accepted(&log, &certificate("map", &log, Claim::Fail { failure: Failure { part, violation } }));
}

#[test]
fn unordered() {
    let claim = |operation| Violation::Unordered { operation: op(operation) };
    let text = "0 inc; 1 inc; 0 = nil; 2 get; 1 = nil; 2 = 5";
    shows("counter", text, claim(2));
    shows_not("counter", &text.replace("2 = 5", "2 = 1"), claim(2), "an order explains the part");
    shows_not("counter", &format!("9 add 3; {text}"), claim(3), "an order explains the part");
    shows("counter", &format!("9 add 3; {text}; stuck"), claim(3));
}

#[test]
fn need_not_block() {
    let claim = |operation| Violation::NeedNotBlock { operation: op(operation) };
    shows("mutex", "0 acquire; 0 = nil; 0 release; 0 = nil; 1 acquire; stuck", claim(2));
    shows_not("mutex", "0 acquire; 0 = nil; 1 acquire; stuck", claim(1), "some order leaves operation 1 blocked");
    shows_not("mutex", "0 acquire; 0 = nil; 0 release; 0 = nil; 1 acquire", claim(2), "the history is not stuck");
    shows_not("mutex", "0 acquire; 0 = nil; 1 acquire; stuck", claim(0), "operation 0 has returned");
    shows("queue", "0 deq; stuck", claim(0));
    // The other one that waits does not count: it took no effect.
    shows("mutex", "0 acquire; 1 acquire; stuck", claim(1));
}

#[test]
fn operations_that_do_not_exist() {
    let text = "0 enq 1; 0 = nil; 0 deq; 0 = 2";
    shows_not("queue", text, Violation::ThinAir { operation: op(2) }, "the history has no operation 2");
    let claim = Violation::TooEarly { operation: op(1), insert: op(u32::MAX) };
    shows_not("queue", text, claim, "the history has no operation 4294967295");
}
