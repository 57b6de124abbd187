//! Each object alone, one call after the other.

use super::super::read;
use super::super::simulate::{Kind, Object};
use super::value;
use crate::Value;

/// Runs calls such as `enq 1 = nil`; `= block` expects the call to block, `!= 3` that 3 is not an answer.
#[track_caller]
fn check(object: &str, initial: Option<Value>, script: &str) {
    let kind = Kind::named(object).expect("an object");
    let mut state = Object::new(kind, initial.as_ref()).expect("an initial value that fits");
    for line in script.split(';').map(str::trim).filter(|line| !line.is_empty()) {
        let (call, expected) = line.split_once(" = ").or(line.split_once(" != ")).expect("a result");
        let (method, argument) = call.split_once(' ').unwrap_or((call, ""));
        let action = read::action(kind, method, &value("k"), &value(argument))
            .unwrap_or_else(|reason| panic!("{line}: {reason}"));
        if expected == "block" {
            assert!(state.blocks(&action), "{line}");
            assert_eq!(state.after(&action, None), [], "{line}");
            continue;
        }
        let seen = value(expected);
        assert!(read::fits(kind, &action, &seen), "{line}");
        let mut next = state.clone();
        let agrees = next.accepts(&action, &seen);
        assert_eq!(agrees.is_ok(), line.contains(" = "), "{line}: {agrees:?} in {state:?}");
        if agrees.is_ok() {
            // A read tells what a register holds of which nothing was known; unseen, it tells nothing.
            let any = state.after(&action, None);
            assert!(any.contains(&next) || kind == Kind::MultiRegister, "{line}: with any result in {state:?}");
            state = next;
        }
    }
}

#[test]
fn rows() {
    check("queue", None, "deq = nil; enq 1 = true; enqueue 2 = nil; peek = 1; deq != 2; deq = 1; poll = 2; take = nil");
    check("stack", None, "push 1 = nil; push 2 = nil; top = 2; pop != 1; pop = 2; pop = 1; pop = nil; pop != 1");
    check(
        "deque",
        None,
        "push_back 1 = nil; pushFront 0 = nil; push-back 2 = nil; front = 0; back = 2; pop_back != 0; pop_back = 2; \
         pop_front = 0; pop_back = 1; pop_front = nil",
    );
}

#[test]
fn heaps() {
    check("priority-queue", None, "insert 1 = nil; insert 3 = nil; insert 3 = nil; peek = 3; poll != 1; poll = 3");
    check(
        "priority-queue",
        None,
        "add 1 = nil; add 5 = nil; delete_max = 5; delete_max != nil; max = 1; pop = 1; pop = nil",
    );
    check("priority-queue-min", None, "add 2 = nil; add 1 = nil; find_min = 1; extractMin = 1; pop = 2; poll = nil");
    check("bag", None, "remove = nil; add 1 = nil; add 2 = nil; add 2 = nil; contains 1 = true; contains 3 = false");
    check(
        "bag",
        None,
        "add 1 = nil; add 2 = nil; add 2 = nil; remove = 2; remove = 2; remove != 2; remove = 1; remove != 1",
    );
}

#[test]
fn sets() {
    check(
        "set",
        None,
        "contains 1 = false; add 1 = true; add 1 = false; add 1 != true; has 1 = true; contains 2 = false; \
         remove 2 = false; remove 1 != false; remove 1 = true; contains 1 = false; add 1 = nil; remove 1 = nil; \
         contains 1 = false",
    );
}

#[test]
fn maps() {
    check(
        "map",
        None,
        r#"get = nil; get = ""; contains = false; remove = nil; remove = false; take = nil; remove != true"#,
    );
    check(
        "map",
        None,
        r#"append a = nil; append b = nil; get = "ab"; get != "a"; get != nil; contains = true; take = "ab""#,
    );
    check("map", None, r#"put 5 = nil; get = 5; append x = block; remove = true; get = nil; put 6 = nil; remove = 6"#);
    check("map", None, r#"put "" = nil; get = ""; get != nil; exists = true; remove = nil; exists = false"#);
    check("map", Some(Value::Int(3)), "get = 3; get != nil; remove != false; remove = 3");
}

#[test]
fn registers() {
    check("register", None, "read = nil; write 1 = nil; read != nil; read = 1; store 2 = true; load = 2");
    check("register", Some(Value::Int(0)), "read != nil; read = 0");
    check(
        "cas-register",
        None,
        "cas [1, 2] = false; cas [null, 1] = true; cas [1, 2] = nil; read = 2; cas [1, 2] != nil; cas [1, 3] != true; \
         compareAndSet [2, 2] = true; read = 2",
    );
    check(
        "multi-register",
        None,
        r#"txn [["r", "x", null]] = [["r", "x", 4]]; txn [["read", "x"], ["read", "y"]] = [["read", "x", 4], ["read", "y", null]];
           txn [["r", "x"]] != [["r", "x", 5]]; txn [["r", "y"]] != [["r", "y", 5]];
           txn [["w", "x", 1], ["r", "x"]] = [["w", "x", 1], ["r", "x", 1]]; txn [["r", "x"]] = nil"#,
    );
    check("multi-register", None, r#"txn [["r", "x"], ["r", "x"]] != [["r", "x", 1], ["r", "x", 2]]"#);
    check(
        "multi-register",
        Some(Value::Int(0)),
        r#"txn [["r", "x"]] != [["r", "x", 1]]; txn [["r", "x"]] = [["r", "x", 0]]"#,
    );
}

#[test]
fn counters() {
    check(
        "counter",
        None,
        "get = 0; inc = nil; inc 2 = true; get = 3; dec = nil; add 5 = nil; sub 1 = nil; get = 6; get != 5; fetch_add 4 = 6; \
         add_and_get 1 = 11; getAndIncrement = 11; decrement_and_get = 11; fetch_dec = 11; inc_and_get = 11",
    );
    check("counter", Some(Value::Int(i64::MAX)), "inc = nil; get = -9223372036854775808");
}

#[test]
fn locks() {
    check(
        "mutex",
        None,
        "release = block; acquire = nil; lock = block; try_lock = false; unlock = nil; tryAcquire = true",
    );
    check(
        "rwlock",
        None,
        "read_acquire = nil; rdlock = nil; write_acquire = block; try_write = false; try_read = true; read_release = nil; \
         read_release = nil; write_acquire = block; read_unlock = nil; read_release = block; wrlock = nil; \
         read_acquire = block; try_read != true; write_release = nil; write_release = block",
    );
    check(
        "semaphore",
        Some(Value::Int(2)),
        "acquire = nil; p = nil; wait = block; try_acquire = false; v = nil; down = nil",
    );
    check("semaphore", None, "release = nil; acquire = nil; acquire = nil; acquire = block");
}

#[test]
fn what_a_bag_gives_out_is_open() {
    let mut bag = Object::new(Kind::Bag, None).expect("a bag");
    for n in [3, 1, 3] {
        let add = read::action(Kind::Bag, "add", &Value::Nil, &Value::Int(n)).expect("a call");
        assert_eq!(bag.accepts(&add, &Value::Nil), Ok(()));
    }
    let remove = read::action(Kind::Bag, "remove", &Value::Nil, &Value::Nil).expect("a call");
    assert_eq!(bag.after(&remove, None).len(), 2);
    assert_eq!(bag.after(&remove, Some(&Value::Int(2))), []);
}

#[test]
fn calls_that_do_not_fit() {
    let read = |object: &str, method: &str, argument: &str| {
        read::action(Kind::named(object).expect("an object"), method, &value("k"), &value(argument))
            .expect_err("a misuse")
    };
    assert_eq!(read("queue", "enq", ""), "it takes a value, and there is none");
    assert_eq!(read("queue", "deq", "1"), "it takes no argument");
    assert_eq!(read("queue", "push_front", "1"), "the object has no such method");
    assert_eq!(read("priority-queue", "delete_min", ""), "the object has no such method");
    assert_eq!(read("priority-queue-min", "max", ""), "the object has no such method");
    assert_eq!(read("priority-queue", "insert", "[1]"), "it takes an integer or a text");
    assert_eq!(read("register", "cas", "[1, 2]"), "the object has no such method");
    assert_eq!(read("cas-register", "cas", "[1]"), "it takes a list of the old and the new value");
    assert_eq!(read("multi-register", "txn", "[[1]]"), "it takes a list of steps, `[read key]` or `[write key value]`");
    assert_eq!(read("counter", "add", "x"), "it takes an integer");
    assert_eq!(read("map", "append", "1"), "it takes a text");
}

#[test]
fn objects_that_cannot_start_so() {
    assert_eq!(Object::new(Kind::Queue, Some(&Value::Int(1))), None);
    assert_eq!(Object::new(Kind::Semaphore, Some(&Value::Int(-1))), None);
    assert_eq!(Object::new(Kind::Counter, Some(&Value::Bool(true))), None);
    assert!(Object::new(Kind::Queue, Some(&Value::Nil)).is_some());
}

/// The names are written down twice, on purpose; they must be the same ones.
#[test]
fn the_methods_are_those_of_the_objects() {
    let names = |kind: crate::object::Kind| {
        kind.methods()
            .iter()
            .flat_map(|method| [&[method.name], method.aliases].concat().into_iter().map(|name| (name, method.name)))
    };
    let arguments = ["", "1", "[1, 2]", r#"[["r", "x"]]"#, "x"].map(value);
    let read =
        |kind, method| arguments.iter().find_map(|argument| read::action(kind, method, &value("k"), argument).ok());
    let mut known = 0;
    for object in crate::object::Kind::ALL {
        let kind = Kind::named(object.name()).expect("an object");
        for (name, method) in crate::object::Kind::ALL.into_iter().flat_map(names) {
            let expected = names(object).find(|(other, _)| *other == name);
            assert_eq!(read(kind, name).is_some(), expected.is_some(), "{object}: {name}");
            if expected == Some((name, method)) {
                assert_eq!(read(kind, name), read(kind, method), "{object}: {name}");
                known += 1;
            }
        }
    }
    assert!(known > 200, "{known}");
}
