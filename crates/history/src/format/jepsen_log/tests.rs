//! What is read of Jepsen logs, what is refused, and with which sentence.

use crate::format::Format;
use crate::format::tests::{accepts, refuses};
use crate::{End, Log};

fn ok(text: &str, expect: &[&str]) -> Log {
    accepts(Format::JepsenLog, text, expect)
}

fn bad(text: &str, expect: &str) {
    refuses(Format::JepsenLog, text, expect);
}

/// A call, so that a line after it is not the first operation.
const CALL: &str = "INFO  jepsen.util - 9\t:invoke\t:read\tnil\n";

#[test]
fn calls_and_completions() {
    let log = ok(
        "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 1   :invoke :cas    [1 2]\n\
         INFO  jepsen.util - 0\t:ok\t:read\tnil\nINFO  jepsen.util - 1   :ok     :cas    [1 2]\n\
         INFO  jepsen.util - 2\t:invoke\t:write\t3\nINFO  jepsen.util - 0\t:invoke\t:read\tnil\n\
         INFO  jepsen.util - 0\t:ok\t:read\t3\n",
        &["0: read() 0-2 = nil", "1: cas([1 2]) 1-3 = nil", "2: write(3) 4-", "0: read() 5-6 = 3"],
    );
    assert_eq!(log.history.end(), End::Truncated);
    assert_eq!((log.call_line(crate::OpId(1)), log.return_line(crate::OpId(1))), (2, 4));
}

#[test]
fn failed_operations_did_not_happen_and_timed_out_ones_stay_pending() {
    ok(
        "INFO  jepsen.util - 0\t:invoke\t:cas\t[1 2]\nINFO  jepsen.util - 0\t:fail\t:cas\t[1 2]\n\
         INFO  jepsen.util - 0\t:invoke\t:write\t4\nINFO  jepsen.util - 0\t:info\t:write\t:timed-out\n\
         INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:fail\t:read\t#<Exception at 0x1> {{\n",
        &["0: write(4) 0-"],
    );
}

#[test]
fn other_lines_and_other_processes_are_skipped() {
    ok(
        "INFO  jepsen.core - Worker 0 starting\nWARN  jepsen.db - {:valid? true\n\nException in thread\n\
         INFO  jepsen.util - :nemesis\t:info\t:start\t\"Cut off {:n1 #{:n2}}\"\nINFO  jepsen.util - 0\t:invoke\t:read\tnil\n\
         INFO  jepsen.util - all nodes are up\nINFO  jepsen.util - 5 nodes\n",
        &["0: read() 0-"],
    );
    ok("INFO  jepsen.util - :nemesis\t:info\t:start\tnil\n", &[]);
}

#[test]
fn later_versions_print_other_prefixes() {
    ok("0\t:invoke\t:read\tnil\n0\t:ok\t:read\t\"x y\"\n", &["0: read() 0-1 = x y"]);
    ok(
        "2020-05-01 12:00:00,123{GMT}\tINFO\t[jepsen worker 1] jepsen.util: 1\t:invoke\t:write\t:a\n\
         INFO [2016-01-01] jepsen worker 1 - jepsen.util 1\t:ok\t:write\t:a\n",
        &["1: write(a) 0-1 = nil"],
    );
}

#[test]
fn malformed_operations() {
    bad(
        &format!("{CALL}INFO  jepsen.util - 0\t:inv\t:read\tnil\n"),
        "line 2, column 23: expected `:invoke`, `:ok`, `:fail` or `:info` after the process, found `:inv\\t:read\\tnil`",
    );
    bad(
        &format!("{CALL}INFO  jepsen.util - 0\t:invoke\n"),
        "line 2, column 30: expected the method as a keyword, such as `:read`, after the type, found the end of the line",
    );
    bad(
        &format!("{CALL}INFO  jepsen.util - 0\t:invoke\tread\tnil\n"),
        "line 2, column 31: expected the method as a keyword, such as `:read`, after the type, found `read\\tnil`",
    );
    bad(
        &format!("{CALL}INFO  jepsen.util - 0\t:invoke\t:write\n"),
        "line 2, column 37: the file seems truncated: it ends where a value should follow",
    );
    bad(
        &format!("{CALL}INFO  jepsen.util - 0\t:invoke\t:write\t1 2\n"),
        "line 2, column 40: expected the end of the line after the value, found `2`",
    );
    bad(
        &format!("{CALL}INFO  jepsen.util - 0\t:invoke\t:write\t1.5\n"),
        "line 2, column 38: `1.5` is not an integer; values are integers, texts, truth values or lists: write it as a text",
    );
    bad(
        &format!("{CALL}INFO  jepsen.util - 99999999999999999999\t:invoke\t:write\t1\n"),
        "line 2, column 21: the number 99999999999999999999 does not fit in a signed 64-bit integer; write it as a text",
    );
}

#[test]
fn completions_that_do_not_match() {
    bad("0\t:ok\t:read\t1\n", "line 1: thread 0 returns without having called");
    bad("0\t:info\t:read\t1\n", "line 1: thread 0 returns without having called");
    bad("0\t:invoke\t:read\tnil\n0\t:ok\t:write\t1\n", "line 2: a return of `write` for a call of `read`");
    bad(
        "0\t:invoke\t:read\tnil\n0\t:invoke\t:read\tnil\n",
        "line 2: thread 0 calls again although its call in line 1 has not returned",
    );
}

#[test]
fn a_log_without_operations_is_no_history() {
    bad(
        "INFO  jepsen.core - hello\nINFO  jepsen.core - bye\n",
        "line 2: no operation in the file, expected an operation such as `INFO  jepsen.util - 0 :invoke :read nil`",
    );
}

#[test]
fn pairs_of_independent_keys_and_completed_reads() {
    let text = "0\t:invoke\t:write\t[7 3]\n0\t:ok\t:write\t[7 3]\n1\t:invoke\t:read\t[7 nil]\n1\t:ok\t:read\t[7 3]\n\
                1\t:invoke\t:read\t[8 nil]\n1\t:ok\t:read\t[8 nil]\n";
    ok(text, &["0: write[7](3) 0-1 = nil", "1: read[7]() 2-3 = 3", "1: read[8]() 4-5 = nil"]);
    ok("1\t:invoke\t:read\t3\n1\t:ok\t:read\t3\n", &["1: read() 0-1 = 3"]);
}
