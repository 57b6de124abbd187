//! What is read of fastlin files, what is refused, and with which sentence.

use crate::Log;
use crate::format::Format;
use crate::format::tests::{accepts, refuses};

fn ok(text: &str, expect: &[&str]) -> Log {
    accepts(Format::Fastlin, text, expect)
}

fn bad(text: &str, expect: &str) {
    refuses(Format::Fastlin, text, expect);
}

#[test]
fn insertions_take_and_removals_return_their_value() {
    let log = ok(
        "# priorityqueue\n# by hand\ninsert 4 2 7\n\n poll\t4 1 5\npoll -1 8 9\n",
        &["0: poll() 0-2 = 4", "1: insert(4) 1-3 = nil", "0: poll() 4-5 = nil"],
    );
    assert_eq!(log.declared.as_deref(), Some("priority-queue"));
    assert_eq!(log.call_line(crate::OpId(0)), 5);
    ok(
        "push 1 1 2\npeek -1 3 4\npop_back a 5 6\nread -1 7 8\n",
        &["0: push(1) 0-1 = nil", "0: peek() 2-3 = nil", "0: pop_back() 4-5 = a", "0: read() 6-7 = -1"],
    );
    ok("push -1 1 2\npop 3 3 4\n", &["0: push(-1) 0-1 = nil", "0: pop() 2-3 = 3"]);
    ok("write -1 1 2\nread -1 3 4\n", &["0: write(-1) 0-1 = nil", "0: read() 2-3 = -1"]);
    let both = "-1 stands for nothing where values are taken out, so it cannot be put in too; see line";
    bad("push -1 1 2\npop -1 3 4\n", &format!("line 2, column 5: {both} 1"));
    bad("# queue\ndeq -1 1 2\nenq 1 3 4\nenq -1 5 6\n", &format!("line 4, column 5: {both} 2"));
}

#[test]
fn an_operation_that_ends_when_another_starts_precedes_it() {
    ok("enq 1 1 3\ndeq 1 3 4\n", &["0: enq(1) 0-1 = nil", "0: deq() 2-3 = 1"]);
    ok("enq 1 1 3\ndeq 1 2 4\n", &["0: enq(1) 0-2 = nil", "1: deq() 1-3 = 1"]);
    ok("deq 1 3000000 4000000\nenq 1 1 3000000\n", &["0: enq(1) 0-1 = nil", "0: deq() 2-3 = 1"]);
}

#[test]
fn an_operation_without_length_stands_between_those_that_touch_it() {
    ok("enq 1 5 5\n", &["0: enq(1) 0-1 = nil"]);
    ok("enq 3 5 9\nenq 2 5 5\nenq 1 1 5\n", &["0: enq(1) 0-1 = nil", "0: enq(2) 2-3 = nil", "0: enq(3) 4-5 = nil"]);
    ok("enq 1 5 5\nenq 2 5 5\n", &["0: enq(1) 0-2 = nil", "1: enq(2) 1-3 = nil"]);
    ok("enq 1 1 9\nenq 2 5 5\n", &["0: enq(1) 0-3 = nil", "1: enq(2) 1-2 = nil"]);
}

#[test]
fn operations_of_a_set_take_their_value() {
    let log = ok(
        "# set\ninsert 4 1 2\nremove 4 3 4\ncontains_true 4 5 6\ncontains_false 4 7 8\n",
        &[
            "0: insert(4) 0-1 = true",
            "0: remove(4) 2-3 = true",
            "0: contains(4) 4-5 = true",
            "0: contains(4) 6-7 = false",
        ],
    );
    assert_eq!(log.declared.as_deref(), Some("set"));
    ok(
        "# set\ninsert 4 1 1 2\nadd 4 0 3 4\ncontains 4 1 5 6\ncontains 5 0 7 8\n",
        &[
            "0: insert(4) 0-1 = true",
            "0: add(4) 2-3 = false",
            "0: contains(4) 4-5 = true",
            "0: contains(5) 6-7 = false",
        ],
    );
    ok("insert 4 1 2\nremove 4 3 4\n", &["0: insert(4) 0-1 = nil", "0: remove() 2-3 = 4"]);
    bad("# set\ninsert 4 2 1 2\n", "line 2, column 10: expected 0 or 1, found `2 1 2`");
    bad(
        "# set\ncontains 4 1 2\n",
        "line 2, column 1: expected `contains_true`, `contains_false`, or `contains value result start end`, found \
         `contains 4 1 2`",
    );
    bad(
        "# set\ncontains_true 4 1 1 2\n",
        "line 2, column 21: expected the end of the line after the end time, found `2`",
    );
}

#[test]
fn malformed_lines() {
    let operation = "`method value start end`, such as `enq 5 1 3`";
    bad("enq 1 1\n", &format!("line 1, column 8: expected {operation}, found the end of the line"));
    bad("enq 1 1 2\nenq\n", &format!("line 2, column 4: expected {operation}, found the end of the line"));
    bad("enq 1 1 2 3\n", "line 1, column 11: expected the end of the line after the end time, found `3`");
    bad("# set\nadd 1 1 2 3 4\n", "line 2, column 13: expected the end of the line after the end time, found `4`");
    bad("enq 1 x 2\n", "line 1, column 7: expected an integer, found `x`");
    bad("enq 1 1 2.5\n", "line 1, column 9: expected an integer, found `2.5`");
    bad("enq 1 5 4\n", "line 1, column 9: the operation ends at 4, before it starts at 5");
    bad(
        "enq 1 1 18446744073709551615\n",
        "line 1, column 9: the number 18446744073709551615 does not fit in a signed 64-bit integer; write it as a text",
    );
    bad(
        "enq 1 1 2\nfrobnicate 1 1 2\n",
        "line 2, column 1: `frobnicate` is not a method whose value is known to be an argument (enq, push, insert, add, \
         write, ...) or a result (deq, pop, poll, remove, peek, read, ...)",
    );
}

#[test]
fn the_object_is_declared_once_and_first() {
    bad("# queue\n# stack\nenq 1 1 2\n", "line 2: the file says that it is about a queue, and then about a stack");
    bad("enq 1 1 2\n# queue\n", "line 2: the header should stand before the first event");
    ok("# queue\nenq 1 1 2\n# some comment\n# queue\n", &["0: enq(1) 0-1 = nil"]);
}

#[test]
fn extreme_times_are_times() {
    ok("enq 1 -9223372036854775808 9223372036854775807\ndeq 1 0 1\n", &["0: enq(1) 0-3 = nil", "1: deq() 1-2 = 1"]);
}
