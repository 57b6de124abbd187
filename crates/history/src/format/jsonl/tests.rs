//! What is read of JSON Lines, what is refused, and with which sentence.

use super::*;
use crate::format::tests::{accepts, read_text, refuses};

fn ok(text: &str, expect: &[&str]) -> Log {
    accepts(Format::Jsonl, text, expect)
}

fn bad(text: &str, expect: &str) {
    refuses(Format::Jsonl, text, expect);
}

#[test]
fn calls_and_returns() {
    let log = ok(
        "{\"call\":\"enq\",\"thread\":0,\"value\":5}\n{\"call\":\"deq\",\"thread\":\"b\"}\n\n{\"return\":null,\"thread\":0}\n\
         {\"return\":5,\"thread\":\"b\"}\n",
        &["0: enq(5) 0-2 = nil", "b: deq() 1-3 = 5"],
    );
    assert_eq!(log.declared, None);
    assert_eq!(log.history.end(), End::Complete);
    assert_eq!((log.call_line(crate::OpId(1)), log.return_line(crate::OpId(1))), (2, 5));
}

#[test]
fn header_objects_keys_and_values_of_every_kind() {
    let log = ok(
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"map\",\"initial\":0}\n\
         {\"call\":\"put\",\"thread\":1,\"object\":\"m\",\"key\":\"k\",\"value\":[1,[true,null],\"x\\n\"]}\n\
         { \"thread\": 1, \"return\": false }\n",
        &["1: m.put[k]([1 [true nil] x\n]) 0-1 = false"],
    );
    assert_eq!(log.declared.as_deref(), Some("map"));
    assert_eq!(log.initial, Some(Value::Int(0)));
}

#[test]
fn an_initial_value_of_null_is_not_the_same_as_none() {
    let log = ok("{\"selvedge\":\"history\",\"version\":1,\"initial\":null}\n{\"end\":\"complete\"}", &[]);
    assert_eq!((log.initial, log.declared), (Some(Value::Nil), None));
}

#[test]
fn failed_operations_did_not_happen_and_unknown_ones_stay_pending() {
    let log = ok(
        "{\"call\":\"a\",\"thread\":0}\n{\"fail\":true,\"thread\":0}\n{\"call\":\"b\",\"thread\":0}\n\
         {\"unknown\":\"timed out\",\"thread\":0}\n{\"call\":\"c\",\"thread\":0}\n{\"return\":1,\"thread\":0}\n",
        &["0: b() 0-", "0: c() 1-2 = 1"],
    );
    assert_eq!(log.history.end(), End::Truncated);
    assert_eq!(log.call_line(crate::OpId(0)), 3);
}

#[test]
fn the_end_says_what_pending_calls_mean() {
    let log = ok("{\"call\":\"acquire\",\"thread\":0}\n{\"end\":\"stuck\"}\n", &["0: acquire() 0-"]);
    assert_eq!(log.history.end(), End::Stuck);
    bad(
        "{\"call\":\"b\",\"thread\":0}\n{\"fail\":true,\"thread\":0}\n{\"call\":\"a\",\"thread\":0}\n{\"end\":\"complete\"}\n",
        "line 4: the history is said to be complete, but the call in line 3 never returned",
    );
    bad("{\"end\":\"stuck\"}\n", "line 1: the history is said to be stuck, but every operation returned");
    bad(
        "{\"end\":\"complete\"}\n{\"call\":\"a\",\"thread\":0}\n",
        "line 2: text after the end of the history, expected nothing more",
    );
    bad(
        "{\"end\":\"never\"}\n",
        "line 1, column 15: unknown variant `never`, expected one of `complete`, `stuck`, `truncated`",
    );
}

#[test]
fn headers_are_first_and_of_a_known_version() {
    bad(
        "{\"selvedge\":\"history\",\"version\":2}\n",
        "line 1: version 2 of the format is not known, expected version 1; use a newer selvedge",
    );
    bad("{\"selvedge\":\"history\"}\n", "line 1: the field `version` is missing");
    bad(
        "{\"selvedge\":\"schedule\",\"version\":1}\n",
        "line 1: expected `history` as the kind of the file, found `schedule`",
    );
    bad(
        "{\"call\":\"a\",\"thread\":0}\n{\"selvedge\":\"history\",\"version\":1}\n",
        "line 2: the header should stand before the first event",
    );
    bad(
        "{\"selvedge\":\"history\",\"version\":1}\n",
        "line 1: no operation in the file, expected an event such as {\"call\":\"enq\",\"thread\":0,\"value\":5}",
    );
}

#[test]
fn fields_belong_to_their_events() {
    bad(
        "{\"thread\":0}\n",
        "line 1: expected one of the fields `call`, `return`, `fail`, `unknown`, `end` or `selvedge`",
    );
    bad("{\"call\":\"a\"}\n", "line 1: the field `thread` is missing");
    bad("{\"return\":1}\n", "line 1: the field `thread` is missing");
    bad("{\"call\":\"a\",\"return\":1,\"thread\":0}\n", "line 1: the field `return` does not belong to a call");
    bad("{\"return\":1,\"value\":1,\"thread\":0}\n", "line 1: the field `value` does not belong to a return");
    bad("{\"fail\":true,\"unknown\":true,\"thread\":0}\n", "line 1: the field `unknown` does not belong to a failure");
    bad("{\"end\":\"stuck\",\"thread\":0}\n", "line 1: the field `thread` does not belong to an end");
    bad("{\"call\":\"a\",\"thread\":0,\"version\":1}\n", "line 1: the field `version` does not belong to a call");
    let fields = "expected one of `call`, `return`, `fail`, `unknown`, `end`, `thread`, `value`, `object`, `key`, \
                  `selvedge`, `version`, `initial`, `time`";
    bad("{\"call\":\"a\",\"thred\":0}\n", &format!("line 1, column 19: unknown field `thred`, {fields}"));
    bad("{\"call\":\"a\",\"call\":\"b\",\"thread\":0}\n", "line 1, column 18: duplicate field `call`");
}

#[test]
fn values_have_the_type_of_their_field() {
    let value = "expected null, a truth value, a 64-bit integer, a text or a list of these";
    bad("{\"call\":1,\"thread\":0}\n", "line 1, column 9: invalid type: integer `1`, expected a text");
    bad("{\"call\":null,\"thread\":0}\n", "line 1, column 12: invalid type: null, expected a text");
    bad(
        "{\"call\":\"a\",\"thread\":true}\n",
        "line 1, column 25: invalid type: boolean `true`, expected an integer or a text as thread",
    );
    bad(
        "{\"call\":\"a\",\"thread\":1.5}\n",
        "line 1, column 24: invalid type: floating point `1.5`, expected an integer or a text as thread",
    );
    bad(
        "{\"call\":\"é\",\"thread\":0,\"value\":2.5}\n",
        &format!("line 1, column 34: invalid type: floating point `2.5`, {value}"),
    );
    bad("{\"return\":{\"a\":1},\"thread\":0}\n", &format!("line 1, column 11: invalid type: map, {value}"));
    bad(
        "{\"return\":9223372036854775808,\"thread\":0}\n",
        "line 1, column 29: the number does not fit in a signed 64-bit integer; write it as a text",
    );
    bad(
        "{\"return\":1,\"thread\":9223372036854775808}\n",
        "line 1, column 40: the thread does not fit in a signed 64-bit integer; write it as a text",
    );
    bad(
        "{\"fail\":false,\"thread\":0}\n",
        "line 1, column 13: invalid value: boolean `false`, expected true, or a text that says why",
    );
}

#[test]
fn a_line_is_an_object() {
    let event = "expected an event such as {\"call\":\"enq\",\"thread\":0,\"value\":5}";
    bad("[1]\n", &format!("line 1, column 1: {event}, found `[1]`"));
    bad(" null\n", &format!("line 1, column 2: {event}, found `null`"));
    bad(
        "[\"a\",1,true,true,\"stuck\",0,1,\"o\",1,\"history\",1,1]\n",
        &format!("line 1, column 1: {event}, found `[\"a\",1,true,true,\"stuck\",0,1,\"o\",1,\"hist…`"),
    );
    bad(
        "[{\"call\":\"a\",\"thread\":0}]\n",
        &format!("line 1, column 1: {event}, found `[{{\"call\":\"a\",\"thread\":0}}]`"),
    );
    bad("{\"call\":\"a\",\"thread\":0} {}\n", "line 1, column 25: trailing characters");
}

#[test]
fn a_last_line_that_is_cut_off_is_a_truncated_file() {
    let whole = "{\"call\":\"enq\",\"thread\":0,\"value\":\"é\"}";
    for (end, _) in whole.char_indices().skip(1) {
        let text = format!("{{\"call\":\"deq\",\"thread\":1}}\n{}", &whole[..end]);
        let error = read_text(Format::Jsonl, &text).unwrap_err().to_string();
        assert!(error.starts_with("line 2, column "), "{error}");
        assert!(
            error.ends_with("the file seems truncated: it ends where the rest of an event should follow"),
            "{error}"
        );
    }
    let text = format!("{{\"call\":\"deq\",\"thread\":1}}\n{whole}");
    assert_eq!(read_text(Format::Jsonl, &text).unwrap().history.len(), 2, "a whole line needs no line break");
    bad(
        "{\"call\":\"deq\",\n\"thread\":1}\n",
        "line 1, column 14: the line ends in an event, expected a whole event a line",
    );
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!("{{\"call\":\"a\",\"thread\":0,\"value\":{value}}}\n")
    };
    ok(&nested(100), &[&format!("0: a({}{}) 0-", "[".repeat(100), "]".repeat(100))]);
    let error = read_text(Format::Jsonl, &nested(100_000)).unwrap_err().to_string();
    assert!(error.ends_with("lists nested too deeply, expected a value of at most a few levels"), "{error}");
}

/// A log of random operations on random threads, some of them failed or crashed.
fn random_log(random: &mut impl FnMut(usize) -> usize) -> Log {
    fn value(random: &mut impl FnMut(usize) -> usize, depth: usize) -> Value {
        match random(if depth < 3 { 7 } else { 6 }) {
            0 => Value::Nil,
            1 => Value::Bool(random(2) == 0),
            2 => Value::Int([i64::MIN, -1, 0, 7, 1 << 53, i64::MAX][random(6)]),
            3 => Value::Int(random(100) as i64),
            4 | 5 => Value::text(["", "x", "é\"\\\n\u{0}\u{7f}", "𝄞 \u{2028}", "null", "5"][random(6)]),
            _ => Value::list((0..random(4)).map(|_| value(random, depth + 1)).collect::<Vec<_>>()),
        }
    }
    let threads = [Value::Int(-1), Value::Int(3), Value::text("3"), Value::text("a\tb")];
    let mut recorder = LogRecorder::new();
    recorder.declared = [None, Some("queue".to_owned()), Some("\"\n".to_owned())][random(3)].clone();
    recorder.initial = (random(3) == 0).then(|| value(random, 0));
    for line in 1..=random(30) as u32 {
        let thread = &threads[random(threads.len())];
        if recorder.open(thread).is_none() {
            let object = recorder.symbol(["", "q", "ü"][random(3)]);
            let method = recorder.symbol(["enq", "", "a b\\"][random(3)]);
            let (key, argument) = (value(random, 0), value(random, 0));
            recorder.call(line, thread, Call { object, method, key, argument }).unwrap();
        } else {
            let outcome = match random(6) {
                0 => Outcome::Fail,
                1 => Outcome::Unknown,
                _ => Outcome::Return(value(random, 0)),
            };
            recorder.outcome(line, thread, None, outcome).unwrap();
        }
    }
    recorder.finish([None, Some(End::Truncated)][random(2)]).unwrap()
}

#[test]
fn random_logs_survive_being_written_and_read() {
    let mut random = random();
    let mut operations = 0;
    for _ in 0..1000 {
        let log = random_log(&mut random);
        operations += log.history.len();
        crate::format::tests::survives(&log);
    }
    assert!(operations > 5000, "{operations} operations");
}

#[test]
fn the_canonical_form() {
    let text = "{\"call\":\"a\", \"value\":[1, null], \"key\":\"k\", \"object\":\"o\", \"thread\":\"t\"}\n{\"unknown\":\"why\",\"thread\":\"t\"}\n\
                {\"call\":\"b\",\"thread\":\"t\",\"value\":null}\n{\"thread\":\"t\",\"return\":2}\n{\"call\":\"c\",\"thread\":1}\n{\"fail\":true,\"thread\":1}\n";
    let expect = "{\"selvedge\":\"history\",\"version\":1}\n{\"call\":\"a\",\"thread\":\"t\",\"object\":\"o\",\"key\":\"k\",\"value\":[1,null]}\n\
                  {\"unknown\":true,\"thread\":\"t\"}\n{\"call\":\"b\",\"thread\":\"t\"}\n{\"return\":2,\"thread\":\"t\"}\n{\"end\":\"truncated\"}\n";
    let mut bytes = Vec::new();
    write_jsonl(&read_text(Format::Jsonl, text).unwrap(), &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), expect);
}

/// A fixed sequence of numbers below the bounds given.
fn random() -> impl FnMut(usize) -> usize {
    let mut state = 1u64;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    }
}

/// What the quick parser makes of a line, and the general one.
#[allow(clippy::type_complexity, reason = "two answers to one question")]
fn both(line: &str) -> (Option<(Event<'_>, Option<i64>)>, Result<(Event<'_>, Option<i64>), Fault>) {
    (plain::parse(line), general(&Line { number: 1, text: line, terminated: true }))
}

#[test]
fn the_quick_parser_takes_the_usual_lines() {
    for line in [
        r#"{"call":"enq","thread":0,"value":5}"#,
        r#"{"call": "cas", "thread": "client 1", "value": [1, 2], "key": "k", "object": "o"}"#,
        r#"{"return":null,"thread":-3}"#,
        r#"{"return":"é","thread":999999999999999999}"#,
        r#"{"return":[],"thread":0}"#,
        r#"{"thread":0,"return":[true,false,null,"x",-1]}"#,
        r#"{"time":17,"thread":0,"return":1}"#,
    ] {
        let (quick, general) = both(line);
        assert_eq!(quick.as_ref(), general.as_ref().ok(), "{line}");
        assert!(quick.is_some(), "{line}");
    }
}

#[test]
fn the_quick_parser_leaves_the_rest_alone() {
    for line in [
        "",
        "{",
        "{}",
        "[]",
        "{\"call\"",
        "{\"call\":",
        "{\"call\":\"",
        "{\"call\":\"a\"",
        "{\"call\":\"a\",",
        "{\"return\":-",
        "{\"call\":\"a\",\"thread\":0}x",
        "{\"call\":\"a\",\"thread\":0} ",
        "{\"call\":\"a\",\"call\":\"a\"}",
        "{\"return\":01,\"thread\":0}",
        "{\"return\":-0,\"thread\":0}",
        "{\"return\":1.0,\"thread\":0}",
        "{\"return\":1e3,\"thread\":0}",
        "{\"return\":nul,\"thread\":0}",
        "{\"return\":[1,],\"thread\":0}",
        "{\"return\":[[1]],\"thread\":0}",
        "{\"return\":\"\\n\",\"thread\":0}",
        "{\"return\":\"\u{1}\",\"thread\":0}",
        "{\"return\":1234567890123456789,\"thread\":0}",
        "{\"thread\":null,\"return\":1}",
        "{\"end\":\"stuck\"}",
        "{\"call\":\"a\",\"thread\":0,}",
        "{\"thread\":0}",
        "{\"call\":\"a\",\"return\":1,\"thread\":0}",
        "{\"return\":1,\"value\":1,\"thread\":0}",
        "{\"return\":1}",
        "{\"call\":\"a\"}",
        "{\"return\":truex,\"thread\":0}",
        "{\"return\":1,\"thread\":0,\"time\":\"x\"}",
        "{\"é\":1}",
    ] {
        assert_eq!(plain::parse(line), None, "{line}");
    }
}

#[test]
fn the_quick_parser_agrees_with_the_general_one() {
    let seeds = [
        r#"{"call":"enq","thread":0,"value":5}"#,
        r#"{"call":"cas", "thread":"é", "value":[1,-20,null], "key":true}"#,
        r#"{"return":-123456789012345678,"thread":12,"time":5}"#,
    ];
    let pieces = [
        "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "0", "-", "1", ".", "e", "é", "true", "null", "\t", "call", "x",
    ];
    let mut random = random();
    let (mut quick_count, mut all) = (0, 0);
    for _ in 0..20_000 {
        let mut line: Vec<char> = seeds[random(seeds.len())].chars().collect();
        for _ in 0..=random(2) {
            let at = random(line.len());
            let to = (at + random(3)).min(line.len());
            line.splice(at..to, pieces[random(pieces.len())].chars());
        }
        let line: String = line.into_iter().collect();
        let (quick, general) = both(&line);
        all += 1;
        if let Some(quick) = quick {
            quick_count += 1;
            assert_eq!(quick, general.unwrap_or_else(|fault| panic!("only the quick parser takes {line}: {fault:?}")));
        }
    }
    assert!(quick_count > all / 50, "{quick_count} of {all} lines were plain");
}
