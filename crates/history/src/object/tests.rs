//! Names, arguments and results that the built-in objects take and refuse.

use super::*;
use crate::{Call, Log, LogRecorder, Outcome};

/// Reads a call and, where given, its result as an object of that kind would.
fn read(kind: Kind, method: &str, argument: &str, result: Option<&str>) -> Result<(), Misuse> {
    struct Read<'a>(&'a str, Value, Option<Value>);
    impl ObjectVisitor for Read<'_> {
        type Answer = Result<(), Misuse>;
        fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer {
            let input = object.input(self.0, &self.1)?;
            self.2.map_or(Ok(()), |output| object.admits(&input, &output))
        }
    }
    kind.with_object(None, Read(method, value(argument), result.map(value))).unwrap()
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// A log of calls that return one after the other; each is a method, a key, an argument and a result.
fn log(calls: &[(&str, &str, &str, &str)]) -> Log {
    let mut recorder = LogRecorder::new();
    let thread = Value::Int(0);
    for &(method, key, argument, result) in calls {
        let method = recorder.symbol(method);
        let object = crate::Symbol::NONE;
        recorder.call(1, &thread, Call { object, method, key: value(key), argument: value(argument) }).unwrap();
        recorder.outcome(1, &thread, None, Outcome::Return(value(result))).unwrap();
    }
    recorder.finish(None).unwrap()
}

#[test]
fn every_method_and_alias_is_canonical_and_belongs_to_one_method() {
    for kind in Kind::ALL {
        let mut names: Vec<&str> =
            kind.methods().iter().flat_map(|method| [&[method.name], method.aliases].concat()).collect();
        for name in &names {
            assert_eq!(method::canonical(name), *name, "{kind}");
            assert!(!matches!(read(kind, name, "null", None), Err(Misuse::Method(_))), "{kind} {name}");
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{kind}");
        assert!(matches!(read(kind, "frobnicate", "null", None), Err(Misuse::Method(_))), "{kind}");
    }
}

#[test]
fn case_and_hyphens_make_no_difference() {
    for name in ["pushFront", "push-front", ":push-front", "PushFront", "push_front"] {
        assert_eq!(method::canonical(name), "push_front");
    }
    assert_eq!(method::canonical("ENQ"), "enq");
    assert_eq!(method::canonical("größeÄ"), "größeÄ");
    assert_eq!(read(Kind::RwLock, "tryReadLock", "null", Some("true")), Ok(()));
}

#[test]
fn takes_what_fits() {
    let check = |kind, method, argument, result| assert_eq!(read(kind, method, argument, Some(result)), Ok(()));
    check(Kind::Queue, "offer", "[1,2]", "true");
    check(Kind::Queue, "deq", "null", "[1,2]");
    check(Kind::Deque, "takeLast", "null", "null");
    check(Kind::PriorityQueue, "insert", "\"a\"", "null");
    check(Kind::PriorityQueue, "delete_max", "null", "\"a\"");
    check(Kind::PriorityQueueMin, "delete_min", "null", "3");
    check(Kind::Set, "insert", "false", "null");
    check(Kind::Map, "delete", "null", "7");
    check(Kind::CasRegister, "cas", "[null,4]", "null");
    check(Kind::MultiRegister, "txn", r#"[["r","x"],["w","y",1]]"#, r#"[["r","x",3],["w","y",1]]"#);
    check(Kind::MultiRegister, "txn", "[]", "[]");
    check(Kind::Counter, "inc", "null", "null");
    check(Kind::Counter, "dec", "-9223372036854775808", "true");
    check(Kind::Semaphore, "post", "null", "null");
}

#[test]
fn refuses_an_argument_of_the_wrong_kind() {
    let check = |kind, method, argument, expect: &str| match read(kind, method, argument, None) {
        Err(Misuse::Argument { expected, .. }) => assert_eq!(expected, expect, "{kind} {method} {argument}"),
        other => panic!("{kind} {method} {argument}: {other:?}"),
    };
    check(Kind::Queue, "enq", "null", "a value");
    check(Kind::Queue, "deq", "1", "nothing");
    check(Kind::Stack, "top", "1", "nothing");
    check(Kind::PriorityQueue, "insert", "true", "an integer or a text");
    check(Kind::PriorityQueueMin, "insert", "null", "an integer or a text");
    check(Kind::Set, "contains", "null", "a value");
    check(Kind::Bag, "remove", "1", "nothing");
    check(Kind::Map, "append", "1", "a text");
    check(Kind::Map, "get", "1", "nothing");
    check(Kind::Register, "write", "null", "a value");
    check(Kind::CasRegister, "cas", "[1]", "a list of the old and the new value");
    check(Kind::CasRegister, "cas", "[1,2,3]", "a list of the old and the new value");
    check(Kind::Counter, "add", "null", "an integer");
    check(Kind::Counter, "inc", "\"1\"", "an integer or nothing");
    check(Kind::Mutex, "acquire", "1", "nothing");
    for argument in
        ["null", "3", r#"[["read"]]"#, r#"[["write","x",null]]"#, r#"[["write","x"]]"#, r#"[["cas","x",1]]"#]
    {
        check(Kind::MultiRegister, "txn", argument, "a list of [\"read\" key nil] and [\"write\" key value]");
    }
}

#[test]
fn refuses_a_result_of_the_wrong_kind() {
    let check = |kind, method, argument, result| {
        let refused = read(kind, method, argument, Some(result));
        assert!(matches!(refused, Err(Misuse::Result { .. })), "{kind} {method} {argument} {result}: {refused:?}");
    };
    check(Kind::Queue, "enq", "1", "1");
    check(Kind::Stack, "push", "1", "false");
    check(Kind::Deque, "push_back", "1", "0");
    check(Kind::PriorityQueue, "poll", "null", "[1]");
    check(Kind::Set, "contains", "1", "null");
    check(Kind::Set, "add", "1", "1");
    check(Kind::Bag, "contains", "1", "1");
    check(Kind::Map, "put", "1", "1");
    check(Kind::Map, "contains_key", "null", "null");
    check(Kind::Register, "write", "1", "1");
    check(Kind::CasRegister, "cas", "[1,2]", "[1,2]");
    check(Kind::Counter, "inc", "null", "1");
    check(Kind::Counter, "get", "null", "\"1\"");
    check(Kind::Mutex, "acquire", "null", "false");
    check(Kind::Mutex, "try_acquire", "null", "null");
    check(Kind::RwLock, "read_lock", "null", "false");
    check(Kind::RwLock, "try_write", "null", "null");
    check(Kind::Semaphore, "try_acquire", "null", "3");
    let txn = r#"[["r","x",null],["w","y",1]]"#;
    for result in ["3", "[]", r#"[["r","x",1]]"#, r#"[["r","z",1],["w","y",1]]"#, r#"[["r","x",1],["w","y",2]]"#] {
        check(Kind::MultiRegister, "txn", txn, result);
    }
}

#[test]
fn an_initial_value_must_fit() {
    struct Nothing;
    impl ObjectVisitor for Nothing {
        type Answer = ();
        fn visit<O: Object + Sync + 'static>(self, _: O) {}
    }
    let check = |kind: Kind, initial, fits: bool| {
        let made = kind.with_object(Some(&value(initial)), Nothing);
        assert_eq!(made.is_ok(), fits, "{kind} {initial}");
        assert!(matches!(made, Ok(()) | Err(Misuse::Initial { .. })));
    };
    for kind in Kind::ALL {
        check(kind, "null", true);
    }
    check(Kind::Queue, "1", false);
    check(Kind::Mutex, "true", false);
    check(Kind::Register, "[1]", true);
    check(Kind::MultiRegister, "0", true);
    check(Kind::Map, "\"\"", true);
    check(Kind::Counter, "-5", true);
    check(Kind::Counter, "\"5\"", false);
    check(Kind::Semaphore, "0", true);
    check(Kind::Semaphore, "-1", false);
}

#[test]
fn names_lead_back_to_their_kind() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
        assert_eq!(Kind::from_name(&kind.name().to_uppercase().replace('-', "_")), Some(kind));
    }
    assert_eq!(Kind::from_name("atomic-queue"), Some(Kind::Queue));
    assert_eq!(Kind::from_name("priorityqueue"), Some(Kind::PriorityQueue));
    assert_eq!(Kind::from_name("PriorityQueueMin"), Some(Kind::PriorityQueueMin));
    assert_eq!(Kind::from_name("lifo"), Some(Kind::Stack));
    assert_eq!(Kind::from_name("kv"), Some(Kind::Map));
    assert_eq!(Kind::from_name("atomic"), None);
    assert_eq!(Kind::from_name(""), None);
}

#[test]
fn methods_point_to_an_object() {
    let check = |calls: &[(&str, &str, &str, &str)], expect: Kind| {
        assert_eq!(Kind::infer(&log(calls)), Ok(expect), "{calls:?}");
    };
    check(&[("enq", "null", "1", "null"), ("deq", "null", "null", "1")], Kind::Queue);
    check(&[("add", "null", "1", "null"), ("deq", "null", "null", "1")], Kind::Queue);
    check(&[("push", "null", "1", "null"), ("pop", "null", "null", "1")], Kind::Stack);
    check(&[("pop", "null", "null", "null")], Kind::Stack);
    check(&[("push-front", "null", "1", "null"), ("popBack", "null", "null", "1")], Kind::Deque);
    check(&[("insert", "null", "1", "null"), ("pollMax", "null", "null", "1")], Kind::PriorityQueue);
    check(&[("insert", "null", "1", "null"), ("extractMin", "null", "null", "1")], Kind::PriorityQueueMin);
    check(&[("add", "null", "1", "true"), ("contains", "null", "1", "true")], Kind::Set);
    check(&[("add", "null", "1", "null"), ("remove", "null", "1", "null")], Kind::Set);
    check(&[("insert", "null", "1", "true"), ("delete", "null", "1", "false")], Kind::Set);
    check(&[("add", "null", "1", "null"), ("remove", "null", "null", "1"), ("has", "null", "1", "true")], Kind::Bag);
    check(&[("append", "\"k\"", "\"x\"", "null"), ("get", "\"k\"", "null", "\"x\"")], Kind::Map);
    check(&[("put", "null", "[1,2]", "null"), ("get", "null", "1", "2")], Kind::Map);
    check(&[("get", "\"k\"", "null", "null")], Kind::Map);
    check(&[("read", "null", "null", "1"), ("write", "null", "1", "null")], Kind::Register);
    check(&[("read", "\"k\"", "null", "1"), ("write", "\"k\"", "1", "null")], Kind::Register);
    check(&[("get", "null", "null", "1"), ("set", "null", "1", "null")], Kind::Register);
    check(&[("read", "null", "null", "1"), ("cas", "null", "[1,2]", "null")], Kind::CasRegister);
    check(&[("txn", "null", r#"[["r","x",null]]"#, "null")], Kind::MultiRegister);
    check(&[("inc", "null", "null", "null"), ("get", "null", "null", "1")], Kind::Counter);
    check(&[("fetch_add", "null", "2", "0"), ("read", "null", "null", "2")], Kind::Counter);
    check(&[("acquire", "null", "null", "null"), ("release", "null", "null", "null")], Kind::Mutex);
    check(&[("lock", "null", "null", "null")], Kind::Mutex);
    check(&[("readLock", "null", "null", "null"), ("write_lock", "null", "null", "null")], Kind::RwLock);
    check(&[("wait", "null", "null", "null"), ("signal", "null", "null", "null")], Kind::Semaphore);
}

#[test]
fn what_the_log_declares_comes_first() {
    let mut stack = log(&[("enq", "null", "1", "null")]);
    stack.declared = Some("atomic-stack".to_owned());
    assert_eq!(Kind::infer(&stack), Ok(Kind::Stack));
    stack.declared = Some("sculpture".to_owned());
    assert_eq!(Kind::infer(&stack), Ok(Kind::Queue));
    let mut permits = log(&[("acquire", "null", "null", "null")]);
    permits.initial = Some(Value::Int(3));
    assert_eq!(Kind::infer(&permits), Ok(Kind::Semaphore), "a mutex has no initial value");
}

#[test]
fn methods_that_point_nowhere_are_an_error_that_lists_the_choice() {
    let check = |calls: &[(&str, &str, &str, &str)], expect: &[Kind], text: &str| {
        let ambiguous = Kind::infer(&log(calls)).unwrap_err();
        assert_eq!(ambiguous.candidates, expect);
        assert_eq!(ambiguous.to_string(), text);
    };
    check(
        &[("remove", "null", "null", "1"), ("add", "null", "1", "null")],
        &[Kind::Queue, Kind::Stack, Kind::PriorityQueue, Kind::PriorityQueueMin, Kind::Bag],
        "the methods `add`, `remove` do not tell which object is meant; name it with --object \
         (queue, stack, priority-queue, priority-queue-min, bag)",
    );
    check(
        &[("offer", "null", "1", "null"), ("poll", "null", "null", "1")],
        &[Kind::Queue, Kind::PriorityQueue, Kind::PriorityQueueMin, Kind::Bag],
        "the methods `offer`, `poll` do not tell which object is meant; name it with --object \
         (queue, priority-queue, priority-queue-min, bag)",
    );
    check(
        &[("insert", "null", "1", "null"), ("poll", "null", "null", "1")],
        &[Kind::PriorityQueue, Kind::PriorityQueueMin, Kind::Bag],
        "the methods `insert`, `poll` do not tell which object is meant; name it with --object \
         (priority-queue, priority-queue-min, bag)",
    );
    check(
        &[("enq", "null", "1", "null"), ("txn", "null", "[]", "[]")],
        &[],
        "no object has all of the methods `enq`, `txn`; name the one that is meant with --object (queue, stack, deque, \
         priority-queue, priority-queue-min, set, bag, map, register, cas-register, multi-register, counter, mutex, \
         rwlock, semaphore)",
    );
    check(&[], &Kind::ALL, "the log has no calls that would tell which object it is about; name it with --object");
}

#[test]
fn a_log_is_split_by_key_and_a_set_by_element() {
    let check = |kind: Kind, key, argument, expect_key, expect_argument| {
        let method = crate::Symbol::NONE;
        let call = Call { object: crate::Symbol::NONE, method, key: value(key), argument: value(argument) };
        assert_eq!(kind.part_key(&call), value(expect_key), "{kind} {key} {argument}");
        assert_eq!(kind.argument(&call), value(expect_argument), "{kind} {key} {argument}");
    };
    check(Kind::Queue, "null", "1", "null", "1");
    check(Kind::Register, "\"x\"", "[1,2]", "\"x\"", "[1,2]");
    check(Kind::Set, "null", "1", "1", "1");
    check(Kind::Set, "\"x\"", "1", "[\"x\",1]", "1");
    check(Kind::Map, "\"x\"", "[1,2]", "\"x\"", "[1,2]");
    check(Kind::Map, "null", "[1,2]", "1", "2");
    check(Kind::Map, "null", "[1,2,3]", "1", "[2,3]");
    check(Kind::Map, "null", "[1]", "1", "null");
    check(Kind::Map, "null", "[]", "null", "null");
    check(Kind::Map, "null", "1", "1", "null");
}

#[test]
fn a_complaint_shows_only_the_beginning_of_a_long_value() {
    let long = Value::text("ä".repeat(1_000_000));
    let complaint = Misuse::Argument { expected: "nothing", found: long }.to_string();
    let shown = "ä".repeat(60);
    assert_eq!(complaint, format!("the argument should be nothing, not a text ({shown}...)"));
    let missing = Misuse::Argument { expected: "a value", found: Value::Nil };
    assert_eq!(missing.to_string(), "the argument should be a value, not nothing");
    let methods = read(Kind::Mutex, "grab", "null", None).unwrap_err().to_string();
    assert_eq!(
        methods,
        "the object has no such method; it has acquire (lock), release (unlock), try_acquire (try_lock)"
    );
}
