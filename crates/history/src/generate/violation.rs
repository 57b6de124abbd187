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
    let none = || Forced::Result(Value::Nil);
    let yes = || Forced::Result(Value::Bool(true));
    let nil = Value::Nil;
    let call = |method, argument: &Value| Request { method, key: Value::Nil, argument: argument.clone() };
    let is = |value: &Value| Forced::Result(value.clone());
    match kind {
        Kind::Queue => {
            let (a, b) = (calls.fresh(), calls.fresh());
            let deq = || call("deq", &Value::Nil);
            vec![(call("enq", &a), none()), (call("enq", &b), none()), (deq(), is(&b)), (deq(), is(&a))]
        }
        Kind::Stack => {
            let (a, b) = (calls.fresh(), calls.fresh());
            let pop = || call("pop", &Value::Nil);
            vec![(call("push", &a), none()), (call("push", &b), none()), (pop(), is(&a)), (pop(), is(&b))]
        }
        Kind::Deque => {
            let (a, b) = (calls.fresh(), calls.fresh());
            let pop = || call("pop_back", &Value::Nil);
            vec![(call("push_back", &a), none()), (call("push_back", &b), none()), (pop(), is(&a)), (pop(), is(&b))]
        }
        Kind::PriorityQueue | Kind::PriorityQueueMin => {
            let mut values = [calls.fresh(), calls.fresh()];
            values.sort();
            if kind == Kind::PriorityQueueMin {
                values.reverse();
            }
            let [low, high] = values;
            let poll = || call("poll", &Value::Nil);
            vec![
                (call("insert", &low), none()),
                (call("insert", &high), none()),
                (poll(), is(&low)),
                (poll(), is(&high)),
            ]
        }
        Kind::Bag => {
            let a = calls.fresh();
            vec![(call("add", &a), none()), (call("remove", &nil), is(&a)), (call("remove", &nil), is(&a))]
        }
        Kind::Set => {
            let a = calls.fresh();
            let no = Forced::Result(Value::Bool(false));
            vec![(call("add", &a), yes()), (call("contains", &a), no), (call("remove", &a), yes())]
        }
        Kind::Map => {
            let (a, b) = (calls.fresh(), calls.fresh());
            let on_key = |method, argument: &Value| Request { key: key.clone(), ..call(method, argument) };
            vec![(on_key("put", &a), none()), (on_key("put", &b), none()), (on_key("get", &nil), is(&a))]
        }
        Kind::Register | Kind::CasRegister => {
            let (a, b) = (calls.fresh(), calls.fresh());
            let write = |value: &Value| (call("write", value), Forced::Truth);
            vec![write(&a), write(&b), (call("read", &nil), is(&a))]
        }
        Kind::MultiRegister => {
            let step =
                |word, value: &Value| Value::list([Value::list([Value::text(word), Value::text("x"), value.clone()])]);
            let (a, b) = (calls.fresh(), calls.fresh());
            let write = |value: &Value| (call("txn", &step("w", value)), Forced::Truth);
            vec![write(&a), write(&b), (call("txn", &step("r", &nil)), is(&step("r", &a)))]
        }
        Kind::Counter => {
            let get = || call("get", &Value::Nil);
            vec![(get(), Forced::Truth), (call("inc", &nil), Forced::Truth), (get(), Forced::Again)]
        }
        Kind::RwLock => ["write_acquire", "read_acquire", "read_release", "write_release"]
            .map(|method| (call(method, &nil), none()))
            .into(),
        Kind::Mutex => repeat(&call("acquire", &nil), 2).chain(repeat(&call("release", &nil), 2)).collect(),
        Kind::Semaphore => {
            let more = PERMITS as usize + 1;
            repeat(&call("acquire", &nil), more).chain(repeat(&call("release", &nil), more)).collect()
        }
    }
}

fn repeat(request: &Request, times: usize) -> impl Iterator<Item = (Request, Forced)> + use<> {
    std::iter::repeat_n(request.clone(), times).map(|request| (request, Forced::Result(Value::Nil)))
}
