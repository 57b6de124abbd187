//! What is read of LiMo files, what is refused, and with which sentence.

use crate::format::tests::{accepts, read_text, refuses};
use crate::format::{Format, Reason};
use crate::{End, Log};

fn ok(text: &str, expect: &[&str]) -> Log {
    accepts(Format::Limo, text, expect)
}

fn bad(text: &str, expect: &str) {
    refuses(Format::Limo, text, expect);
}

#[test]
fn every_way_to_write_a_call_and_a_return() {
    let log = ok(
        "# A comment\n# @object atomic-stack\n\n[1] call push(7)\n\t [b]  call   push  x\n[1]\treturn\r\n[1] call pop\n\
         [b] return \n[b] call pop()\n[1] return x\n[b] return empty\n[1] call peek ( )\n[1] return true",
        &[
            "1: push(7) 0-2 = nil",
            "b: push(x) 1-4 = nil",
            "1: pop() 3-6 = x",
            "b: pop() 5-7 = nil",
            "1: peek() 8-9 = true",
        ],
    );
    assert_eq!(log.declared.as_deref(), Some("stack"));
    assert_eq!(log.history.end(), End::Complete);
    assert_eq!(log.call_line(crate::OpId(2)), 7);
}

#[test]
fn several_arguments_are_a_list() {
    ok(
        "[1] call cas(1, 2)\n[2] call cas 3 4\n[3] call put(?<1,2>, [a,b])\n",
        &["1: cas([1 2]) 0-", "2: cas([3 4]) 1-", "3: put([?<1,2> [a,b]]) 2-"],
    );
}

#[test]
fn a_removal_called_with_its_value_returns_it() {
    ok(
        "[0] call push(?<1,1>)\n[0] return\n[0] call pop(?<1,1>)\n[0] return\n[0] call pop(5)\n",
        &["0: push(?<1,1>) 0-1 = nil", "0: pop() 2-3 = ?<1,1>", "0: pop() 4-"],
    );
    ok("[0] call pop(3)\n[0] return 3\n", &["0: pop() 0-1 = 3"]);
    ok("# @object atomic-queue\n[0] call remove(3)\n[0] return\n", &["0: remove() 0-1 = 3"]);
    ok("# @object set\n[0] call remove(3)\n[0] return\n", &["0: remove(3) 0-1 = nil"]);
    bad(
        "[0] call pop(3)\n[0] return 4\n",
        "line 2, column 12: the call says that 3 will be removed, but the return says 4",
    );
    bad(
        "[0] call pop(3)\n[0] return empty\n",
        "line 2, column 12: the call says that 3 will be removed, but the return says nil",
    );
}

#[test]
fn a_call_line_that_stands_twice_in_a_row_is_pending_once() {
    ok("[1] call pop\n[1] call pop\n[1] return 0\n", &["1: pop() 0-", "1: pop() 1-2 = 0"]);
    let open = "thread 1 calls again although its call in line 1 has not returned";
    bad("[1] call pop\n[1] call peek\n", &format!("line 2: {open}"));
    bad("[1] call push(1)\n[1] call push(2)\n", &format!("line 2: {open}"));
    bad("[1] call pop(1)\n[1] call pop(2)\n", &format!("line 2: {open}"));
    bad("[1] call pop\n[2] call pop\n[1] call pop\n", &format!("line 3: {open}"));
    bad("[1] call pop\n[2] call pop\n[2] return\n[1] call pop\n", &format!("line 4: {open}"));
}

#[test]
fn malformed_lines() {
    let first = "[1] call enq(1)\n";
    let event = "`[thread] call method(argument)` or `[thread] return value`";
    bad(&format!("{first}hello\n"), &format!("line 2, column 1: expected {event}, found `hello`"));
    bad(&format!("{first}[2 call deq\n"), &format!("line 2, column 1: expected {event}, found `[2 call deq`"));
    bad(
        &format!("{first}[] call deq\n"),
        "line 2, column 1: expected a thread between `[` and `]`, found `[] call deq`",
    );
    bad(&format!("{first}[2] enq(1)\n"), "line 2, column 5: expected `call` or `return`, found `enq(1)`");
    bad(&format!("{first}[2]\n"), "line 2, column 4: expected `call` or `return`, found the end of the line");
    bad(&format!("{first}[2] call\n"), "line 2, column 9: expected a method after `call`, found the end of the line");
    bad(&format!("{first}[2] call (1)\n"), "line 2, column 10: expected a method after `call`, found `(1)`");
    bad(&format!("{first}[2] call enq(1\n"), "line 2, column 13: expected `)` at the end of the call, found `(1`");
    bad(
        &format!("{first}[2] call enq(1) 2\n"),
        "line 2, column 13: expected `)` at the end of the call, found `(1) 2`",
    );
    bad(
        &format!("{first}[2] call enq(1,,2)\n"),
        "line 2, column 13: expected a value before and after each comma, found `(1,,2)`",
    );
    bad(&format!("{first}[1] return 1 2\n"), "line 2, column 12: expected one value after `return`, found `1 2`");
    bad(
        "[1] call enq(99999999999999999999)\n",
        "line 1, column 13: the number 99999999999999999999 does not fit in a signed 64-bit integer; write it as a text",
    );
}

#[test]
fn returns_and_calls_that_do_not_match() {
    bad("[1] return 1\n", "line 1: thread 1 returns without having called");
    bad("[1] call a\n[1] return\n[1] return\n", "line 3: thread 1 returns without having called");
}

#[test]
fn the_object_is_declared_once_and_first() {
    bad(
        "# @object atomic-queue\n# @object atomic-stack\n[1] call enq(1)\n",
        "line 2: the file says that it is about a queue, and then about a stack",
    );
    bad("[1] call enq(1)\n# @object atomic-queue\n", "line 2: the header should stand before the first event");
}

#[test]
fn a_last_line_that_is_cut_off_is_a_truncated_file() {
    let text = "[1] call enq(1)\n[1] ret";
    let error = read_text(Format::Limo, text).unwrap_err();
    let expect = "line 2, column 5: the file seems truncated: it ends where an event such as `[1] call enq(5)` or \
                  `[1] return` should follow";
    assert_eq!(error.to_string(), expect);
    assert!(matches!(error, crate::format::ReadError::At { reason: Reason::Truncated { .. }, .. }));
}
