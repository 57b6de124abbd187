//! What goes wrong, for each object: a few operations, one after the other, that no order explains.
//!
//! They run while nobody else is active and use values that nothing else uses, so they are wrong whatever the state of
//! the object is, and whatever comes before and after. They leave the object as the simulator has it.

use super::Request;
use super::calls::{Calls, PERMITS};
use crate::Value;
use crate::object::Kind;

/// Where the result of an operation comes from.
pub(super) enum Forced {
    /// The object.
    Truth,
    /// Here, and the object knows nothing of the operation.
    Result(Value),
    /// The first operation of the violation had it, and the object knows nothing of this one.
    Again,
}

/// How many operations a violation takes.
pub(super) fn length(kind: Kind) -> u64 {
    match kind {
        Kind::Queue | Kind::Stack | Kind::Deque | Kind::PriorityQueue | Kind::PriorityQueueMin => 4,
        Kind::Set | Kind::Bag | Kind::Map => 3,
        Kind::Register | Kind::CasRegister | Kind::MultiRegister | Kind::Counter => 3,
        Kind::Mutex | Kind::RwLock => 4,
        Kind::Semaphore => 2 * (PERMITS as u64 + 1),
    }
}

/// The operations. `key` is a key that a map has not used.
pub(super) fn script(kind: Kind, calls: &mut Calls, key: &Value) -> Vec<(Request, Forced)> {
    let (a, b) = (&calls.fresh(), &calls.fresh());
    let (low, high) = (a.min(b), a.max(b));
    let nil = &Value::Nil;
    let (no, yes) = (&Value::Bool(false), &Value::Bool(true));
    let on_key = |method, argument, result| {
        let (request, forced) = wrong(method, argument, result);
        (Request { key: key.clone(), ..request }, forced)
    };
    match kind {
        Kind::Queue => exchange("enq", "deq", [a, b], [b, a]),
        Kind::Stack => exchange("push", "pop", [a, b], [a, b]),
        Kind::Deque => exchange("push_back", "pop_back", [a, b], [a, b]),
        Kind::PriorityQueue => exchange("insert", "poll", [a, b], [low, high]),
        Kind::PriorityQueueMin => exchange("insert", "poll", [a, b], [high, low]),
        Kind::Bag => vec![wrong("add", a, nil), wrong("remove", nil, a), wrong("remove", nil, a)],
        Kind::Set => vec![wrong("add", a, yes), wrong("contains", a, no), wrong("remove", a, yes)],
        Kind::Map => vec![on_key("put", a, nil), on_key("put", b, nil), on_key("get", nil, a)],
        Kind::Register | Kind::CasRegister => vec![right("write", a), right("write", b), wrong("read", nil, a)],
        Kind::MultiRegister => {
            let [write_a, write_b] = [a, b].map(|value| right("txn", &step("w", value)));
            vec![write_a, write_b, wrong("txn", &step("r", nil), &step("r", a))]
        }
        Kind::Counter => vec![right("get", nil), right("inc", nil), (call("get", nil), Forced::Again)],
        Kind::RwLock => ["write_acquire", "read_acquire", "read_release", "write_release"]
            .map(|method| wrong(method, nil, nil))
            .into(),
        Kind::Mutex => too_many(2),
        Kind::Semaphore => too_many(PERMITS as usize + 1),
    }
}

fn call(method: &'static str, argument: &Value) -> Request {
    Request { method, key: Value::Nil, argument: argument.clone() }
}

fn right(method: &'static str, argument: &Value) -> (Request, Forced) {
    (call(method, argument), Forced::Truth)
}

fn wrong(method: &'static str, argument: &Value, result: &Value) -> (Request, Forced) {
    (call(method, argument), Forced::Result(result.clone()))
}

/// Two values go in, and come out in the wrong order.
fn exchange(
    insert: &'static str,
    remove: &'static str,
    puts: [&Value; 2],
    takes: [&Value; 2],
) -> Vec<(Request, Forced)> {
    let puts = puts.map(|value| wrong(insert, value, &Value::Nil));
    let takes = takes.map(|value| wrong(remove, &Value::Nil, value));
    puts.into_iter().chain(takes).collect()
}

/// One step of a transaction.
fn step(word: &str, value: &Value) -> Value {
    Value::list([Value::list([Value::text(word), Value::text("x"), value.clone()])])
}

/// More have it than may; all of them let go.
fn too_many(holders: usize) -> Vec<(Request, Forced)> {
    let all = |method| std::iter::repeat_with(move || wrong(method, &Value::Nil, &Value::Nil)).take(holders);
    all("acquire").chain(all("release")).collect()
}
