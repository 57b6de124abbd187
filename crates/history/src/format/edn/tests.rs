//! What is read of EDN, what is refused, and with which sentence.

use super::syntax::{DEPTH_MAX, Form, Parser, Stop};
use crate::format::tests::{accepts, read_text, refuses};
use crate::format::{Format, LINE_MAX, ReadError, Reason};
use crate::{Log, Value};

fn ok(text: &str, expect: &[&str]) -> Log {
    accepts(Format::Edn, text, expect)
}

fn bad(text: &str, expect: &str) {
    refuses(Format::Edn, text, expect);
}

/// A history of one call with this value.
fn with_value(value: &str) -> String {
    format!("{{:process 0 :type :invoke :f :write :value {value}}}")
}

#[test]
fn enclosed_or_not_on_one_line_or_many() {
    let events = [
        "{:process 0, :type :invoke, :f :read, :value nil}",
        "{:type :invoke,\n :f :write,\n :value 3,\n :process 1}",
        "{:process 0, :type :ok, :f :read, :value 3, :time 1.5, :error [:x {:y #{1}}]}",
    ];
    let expect = ["0: read() 0-2 = 3", "1: write(3) 1-"];
    for (open, close) in [("", ""), ("[", "]"), ("(", ")"), ("; a comment\n[ ", " ] ; bye")] {
        for separator in [" ", "\n", ",\r\n", "", "\n#_ {:process 0 :type :ok} ; no\n"] {
            let text = format!("{open}{}{close}", events.join(separator));
            ok(&text, &expect);
        }
    }
    let log = ok(&events.join("\n"), &expect);
    assert_eq!((log.call_line(crate::OpId(1)), log.return_line(crate::OpId(0))), (2, 6));
}

#[test]
fn echoes_are_no_results() {
    ok(
        "{:process 0 :type :invoke :f :cas :value [1 2]} {:process 0 :type :ok :f :cas :value [1 2]}\n\
         {:process 0 :type :invoke :f :acquire} {:process 0 :type :ok :f :acquire}\n\
         {:process 0 :type :invoke :f :deq :value nil} {:process 0 :type :ok :f :deq :value 1}\n\
         {:process 0 :type :invoke :f :txn :value [[:w :x 1]]} {:process 0 :type :ok :f :txn :value [[:w :x 1]]}",
        &["0: cas([1 2]) 0-1 = nil", "0: acquire() 2-3 = nil", "0: deq() 4-5 = 1", "0: txn([[w x 1]]) 6-7 = [[w x 1]]"],
    );
}

/// A call and its return.
fn both(process: u32, f: &str, called: &str, returned: &str) -> String {
    format!(
        "{{:process {process} :type :invoke :f :{f} :value {called}}} {{:process {process} :type :ok :f :{f} :value {returned}}}\n"
    )
}

#[test]
fn pairs_of_independent_keys_are_taken_apart() {
    for tag in ["", "#jepsen.independent/tuple ", "#jepsen.independent.Tuple"] {
        let text = [
            both(0, "write", &format!("{tag}[7 3]"), &format!("{tag}[7 3]")),
            both(0, "read", &format!("{tag}[7 nil]"), &format!("{tag}[7 3]")),
            both(1, "read", &format!("{tag}[8 nil]"), &format!("{tag}[8 nil]")),
            both(1, "cas", &format!("{tag}[8 [0 1]]"), &format!("{tag}[8 [0 1]]")),
            format!("{{:process 2 :type :invoke :f :write :value {tag}[8 1]}} {{:process 2 :type :info :f :write}}"),
        ];
        let expect = [
            "0: write[7](3) 0-1 = nil",
            "0: read[7]() 2-3 = 3",
            "1: read[8]() 4-5 = nil",
            "1: cas[8]([0 1]) 6-7 = nil",
            "2: write[8](1) 8-",
        ];
        ok(&text.concat(), &expect);
    }
}

#[test]
fn other_pairs_are_values() {
    // Another key in the return, a value that is no pair, a return that fills nothing in, and pairs that are the keys' own.
    ok(
        &[both(0, "get", "[7 nil]", "[8 3]"), both(0, "put", "[7 3]", "[7 3]")].concat(),
        &["0: get([7 nil]) 0-1 = [8 3]", "0: put([7 3]) 2-3 = nil"],
    );
    ok(
        &[both(0, "get", "[7 nil]", "[7 3]"), both(0, "put", "3", "3")].concat(),
        &["0: get([7 nil]) 0-1 = [7 3]", "0: put(3) 2-3 = nil"],
    );
    ok(
        &[both(0, "cas", "[1 nil]", "[1 nil]"), both(0, "cas", "[1 2]", "[1 2]")].concat(),
        &["0: cas([1 nil]) 0-1 = nil", "0: cas([1 2]) 2-3 = nil"],
    );
    ok(
        &both(0, "txn", "[[:r :x nil] [:w :x 1]]", "[[:r :x 2] [:w :x 1]]"),
        &["0: txn([[r x nil] [w x 1]]) 0-1 = [[r x 2] [w x 1]]"],
    );
}

#[test]
fn completed_reads_have_their_result_in_the_call() {
    let text = [both(0, "write", "3", "3"), both(1, "read", "3", "3"), both(0, "read", "nil", "nil")];
    ok(&text.concat(), &["0: write(3) 0-1 = nil", "1: read() 2-3 = 3", "0: read() 4-5 = nil"]);
    // One that answers something else says that the value is an argument.
    let text = [both(0, "read", "3", "3"), both(0, "read", "3", "4")];
    ok(&text.concat(), &["0: read(3) 0-1 = nil", "0: read(3) 2-3 = 4"]);
    let pairs = [both(0, "read", "[7 3]", "[7 3]"), both(0, "read", "[7 nil]", "[7 4]")];
    ok(&pairs.concat(), &["0: read[7]() 0-1 = 3", "0: read[7]() 2-3 = 4"]);
    let pending = "{:process 1 :type :invoke :f :read :value 9} {:process 1 :type :info :f :read :value 9}";
    ok(&format!("{}{pending}", both(0, "read", "3", "3")), &["0: read() 0-1 = 3", "1: read() 2-"]);
}

#[test]
fn transactions_need_no_method() {
    ok(
        "{:process 0 :type :invoke :value [[:r :x nil]]} {:process 0 :type :ok :value [[:r :x 3]]}\n\
         {:process 1 :type :invoke :value [[:w :x 3]]} {:process 1 :type :fail}\n\
         {:process 2 :type :invoke :value [[:w :x 3]]} {:process 2 :type :info :value :timeout}",
        &["0: txn([[r x nil]]) 0-1 = [[r x 3]]", "2: txn([[w x 3]]) 2-"],
    );
    bad("{:process 0 :type :invoke :value [3]}", "line 1, column 1: the field `:f` is missing");
    bad("{:process 0 :type :invoke}", "line 1, column 1: the field `:f` is missing");
}

#[test]
fn keys_are_kept_and_checked() {
    ok(
        "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x\"}\n\
         {:process 0, :type :ok, :f :append, :key \"0\", :value \"x\"}\n\
         {:process 0, :type :invoke, :f :get, :key \"0\", :value nil}\n{:process 0, :type :ok, :f :get, :value \"\"}\n",
        &["0: append[0](x) 0-1 = nil", "0: get[0]() 2-3 = "],
    );
    bad(
        "{:process 0 :type :invoke :f :get :key 1}\n{:process 0 :type :ok :f :get :key 2}\n",
        "line 2, column 1: a completion with the key 2 for a call with the key 1",
    );
}

#[test]
fn failures_crashes_and_the_nemesis() {
    ok(
        "[{:process :nemesis :type :info :f :start :value {:a 1.5}}\n#jepsen.history.Op{:process 0 :type :invoke :f :a}\n\
         {:process 0 :type :fail :f :a :value {:any 1/2}}\n{:process 0 :type :invoke :f :b}\n\
         {:process 0 :type :info :f :b :error \"timeout\"}\n{:process 0 :type :invoke :f :c :value true}]",
        &["0: b() 0-", "0: c(true) 1-"],
    );
    ok("[{:process :nemesis, :type :info, :f :kill, :value nil}]", &[]);
}

#[test]
fn values_of_every_kind() {
    let check = |text: &str, expect: Value| {
        let log = read_text(Format::Edn, &with_value(text)).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(log.history.operations()[0].input.argument, expect, "{text}");
    };
    check("nil", Value::Nil);
    check("true", Value::Bool(true));
    check("-12", Value::Int(-12));
    check("+12N", Value::Int(12));
    check("-9223372036854775808", Value::Int(i64::MIN));
    check(":timed-out", Value::text("timed-out"));
    check("some/symbol", Value::text("some/symbol"));
    check("-", Value::text("-"));
    check("\"a \\\"b\\\" \\n\\t\\\\ \\u00e9 \\uD834\\uDD1E é\"", Value::text("a \"b\" \n\t\\ é 𝄞 é"));
    check("\\a", Value::text("a"));
    check("\\newline", Value::text("\n"));
    check("\\u0041", Value::text("A"));
    check("\\{", Value::text("{"));
    check("[1 (2, :x) []]", Value::list([Value::Int(1), Value::list([Value::Int(2), "x".into()]), Value::list([])]));
    check("#{3 1 2 1}", Value::list([Value::Int(1), Value::Int(2), Value::Int(3)]));
    check("#inst \"2020\"", Value::text("2020"));
    check("#_ 1 #_ [2 {3 4}] 5", Value::Int(5));
}

#[test]
fn what_is_no_value_of_a_history() {
    let integer = "is not an integer; values are integers, texts, truth values or lists: write it as a text";
    let check =
        |value: &str, column: u32, expect: &str| bad(&with_value(value), &format!("line 1, column {column}: {expect}"));
    for float in ["1.5", "1e3", "-0.5M", "1/2", "##Inf", "0x1F"] {
        check(float, 44, &format!("`{float}` {integer}"));
    }
    check("[1 [2.5]]", 48, &format!("`2.5` {integer}"));
    check(
        "9223372036854775808",
        44,
        "the number 9223372036854775808 does not fit in a signed 64-bit integer; write it as a text",
    );
    check("{:a 1}", 44, "a map cannot be a value, expected an integer, a text, a truth value or a list");
    check("@x", 44, "expected a value, found `@x}`");
    check("#\"x\"", 44, "expected a value, found `#\"x\"}`");
    check("[1 2)", 48, "expected a value or the end of a list, found `)}`");
    check("\"\\x\"", 45, "expected an escape (\\n \\t \\r \\b \\f \\\\ \\\" \\uXXXX), found `\\\\x`");
    check("\"\\uD834\"", 51, "expected an escape (\\n \\t \\r \\b \\f \\\\ \\\" \\uXXXX), found the end of the line");
    check("\\nothing", 44, "expected a character such as \\a or \\newline, found `nothing`");
    check(": 1", 44, "expected a keyword, found `:`");
}

#[test]
fn fields_are_there_once_and_of_their_type() {
    bad("{:type :invoke :f :a}", "line 1, column 1: the field `:process` is missing");
    bad("{:process 0 :f :a}", "line 1, column 1: the field `:type` is missing");
    bad("{:process 0 :type :invoke}", "line 1, column 1: the field `:f` is missing");
    bad("{:process 0 :process 1 :type :invoke :f :a}", "line 1, column 13: the field `:process` occurs twice");
    bad(
        "{:process [0] :type :invoke :f :a}",
        "line 1, column 1: expected an integer or a keyword as :process, found `[0]`",
    );
    bad(
        "{:process 0 :type :begin :f :a}",
        "line 1, column 1: expected :invoke, :ok, :fail or :info as :type, found `begin`",
    );
    bad("{:process 0 :type :invoke :f 1}", "line 1, column 1: expected a keyword as :f, such as :read, found `1`");
    let map = "expected an operation such as {:process 0, :type :invoke, :f :read, :value nil}";
    bad("[1 2]", &format!("line 1, column 2: {map}, found `1 2]`"));
    bad("[{:process 0 :type :invoke :f :a}\n [1]]", &format!("line 2, column 2: {map}, found `[1]]`"));
    bad("[{:process 0 :type :invoke :f :a)]", "line 1, column 33: expected a field or the end of a map, found `)]`");
}

#[test]
fn completions_that_do_not_match() {
    bad("{:process 0 :type :ok :f :a}", "line 1, column 1: thread 0 returns without having called");
    bad(
        "{:process 0 :type :invoke :f :a}\n{:process 0 :type :ok :f :b}",
        "line 2, column 1: a return of `b` for a call of `a`",
    );
    bad(
        "{:process 0 :type :invoke :f :a}\n  {:process 0 :type :invoke :f :a}",
        "line 2, column 3: thread 0 calls again although its call in line 1 has not returned",
    );
}

#[test]
fn truncated_files_and_text_after_the_end() {
    let event = "{:process 0 :type :invoke :f :a :value \"x\"}";
    let truncated = |text: &str| match read_text(Format::Edn, text) {
        Err(ReadError::At { reason: Reason::Truncated { .. }, line, .. }) => line,
        other => panic!("{text}: {:?}", other.map(|log| log.history)),
    };
    for end in 1..event.len() {
        assert_eq!(truncated(&format!("{event}\n{}", &event[..end])), 2);
    }
    bad(
        &format!("[{event}\n"),
        "line 2, column 1: the file seems truncated: it ends where the closing `]` should follow",
    );
    bad(
        &format!("({event}\n]"),
        "line 2, column 1: expected an operation such as {:process 0, :type :invoke, :f :read, :value nil}, found `]`",
    );
    bad(&format!("[{event}]\n{event}"), "line 2, column 1: text after the end of the history, expected nothing more");
}

#[test]
fn empty_files() {
    bad("", "line 1: the file is empty, expected a history");
    bad(" \n,\n", "line 3: the file is empty, expected a history");
    bad(
        "[]",
        "line 1: no operation in the file, expected an operation such as {:process 0, :type :invoke, :f :read, :value nil}",
    );
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| with_value(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    let depth = DEPTH_MAX as usize - 1;
    assert_eq!(read_text(Format::Edn, &nested(depth)).unwrap().history.len(), 1);
    let too_deep = |text: &str| {
        let error = read_text(Format::Edn, text).unwrap_err();
        assert!(matches!(error, ReadError::At { reason: Reason::Nesting, .. }), "{error}");
    };
    too_deep(&nested(depth + 1));
    too_deep(&nested(1_000_000));
    too_deep(&with_value(&"#_".repeat(1_000_000)));
    too_deep(&with_value(&"#a ".repeat(1_000_000)));
    too_deep(&with_value(&"{:a ".repeat(1_000_000)));
    too_deep(&"#_".repeat(1_000_000));
}

#[test]
fn a_form_may_be_long_but_not_endless() {
    let long = |length: usize| with_value(&format!("\"{}\"", "x".repeat(length)));
    assert_eq!(read_text(Format::Edn, &long(1 << 20)).unwrap().history.len(), 1);
    bad(&long(2 * LINE_MAX), "line 1: a form longer than 16 MiB, expected one map an event");
}

#[test]
fn many_events_may_share_one_line() {
    let mut text = String::from("[");
    for _ in 0..20_000 {
        text.push_str("{:process 0 :type :invoke :f :a} {:process 0 :type :ok :f :a :value \"é\"}, ");
    }
    text.push_str("{:process 0 :type :ok :f :a}]");
    bad(&text, "line 1, column 1480002: thread 0 returns without having called");
}

#[test]
fn a_window_that_ends_anywhere_asks_for_more() {
    let text = "#tag [1 \\a \"x\\\"\" #{:k} #_ 2 -3 ; c\n nil {:a 1}] ";
    for end in 0..text.len() - 1 {
        assert_eq!(Parser::new(&text.as_bytes()[..end], false).form(0), Err(Stop::More), "{}", &text[..end]);
    }
    assert!(
        matches!(Parser::new(text.as_bytes(), false).form(0), Ok(Form::Unfit(flaw)) if flaw.reason == Reason::MapValue)
    );
}
