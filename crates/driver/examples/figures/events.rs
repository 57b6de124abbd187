//! Histories as the runtime gives them back, as events again.

use selvedge_history::{Call, Log, LogRecorder, Outcome, Symbol, Value};

/// What happened: calls with the value that is put in, if any, and returns with the one that came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Call { operation: usize, thread: usize, enqueued: Option<i64> },
    Return { operation: usize, thread: usize, dequeued: Option<i64> },
}

/// An operation as the text has it.
struct Operation {
    thread: usize,
    enqueued: Option<i64>,
    dequeued: Option<i64>,
    /// Which of its thread it is, and how many of each thread had returned at its call.
    number: usize,
    before: Vec<usize>,
}

impl Operation {
    /// `T1 enq(3)=0 after 0,1`.
    fn read(text: &str) -> Option<Self> {
        let (call, before) = text.split_once(" after")?;
        let (thread, call) = call.strip_prefix('T')?.split_once(' ')?;
        let (name, rest) = call.split_once('(')?;
        let (argument, result) = rest.split_once(")=")?;
        let number = |text: &str| text.parse::<i64>().ok();
        let before = before.trim().split(',').filter(|count| !count.is_empty()).map(|count| count.parse().ok());
        Some(Operation {
            thread: thread.parse().ok()?,
            enqueued: if name == "enq" { Some(number(argument)?) } else { None },
            dequeued: number(result).filter(|value| name == "deq" && *value != 0),
            number: 0,
            before: before.collect::<Option<_>>()?,
        })
    }
}

/// The events of a history: what had returned at a call is said to return right before it.
///
/// Every order of calls among themselves and of returns among themselves is the same history, so any will do.
pub fn events(text: &str) -> Option<Vec<Event>> {
    let texts = text.split(';').map(str::trim).filter(|text| !text.is_empty());
    let mut operations: Vec<Operation> = texts.map(Operation::read).collect::<Option<_>>()?;
    for i in 0..operations.len() {
        operations[i].number = operations[..i].iter().filter(|one| one.thread == operations[i].thread).count();
    }
    let mut order: Vec<usize> = (0..operations.len()).collect();
    order.sort_by_key(|&i| operations[i].before.iter().sum::<usize>());
    let mut returned = vec![false; operations.len()];
    let mut events = Vec::new();
    let end = |i: usize| {
        let Operation { thread, dequeued, .. } = operations[i];
        Event::Return { operation: i, thread, dequeued }
    };
    for &i in &order {
        let Operation { thread, enqueued, before, .. } = &operations[i];
        for (j, other) in operations.iter().enumerate() {
            if !returned[j] && before.get(other.thread).is_some_and(|count| *count > other.number) {
                returned[j] = true;
                events.push(end(j));
            }
        }
        events.push(Event::Call { operation: i, thread: *thread, enqueued: *enqueued });
    }
    events.extend((0..operations.len()).filter(|&i| !returned[i]).map(end));
    Some(events)
}

/// The same as a log, for the checkers.
pub fn log(events: &[Event]) -> Log {
    let mut recorder = LogRecorder::new();
    let (enq, deq) = (recorder.symbol("enq"), recorder.symbol("deq"));
    for (line, event) in (1..).zip(events) {
        match *event {
            Event::Call { thread, enqueued, .. } => {
                let method = if enqueued.is_some() { enq } else { deq };
                let argument = enqueued.map_or(Value::Nil, Value::Int);
                let call = Call { object: Symbol::NONE, method, key: Value::Nil, argument };
                recorder.call(line, &Value::Int(thread as i64), call).map(|_| ())
            }
            Event::Return { thread, dequeued, .. } => {
                let result = dequeued.map_or(Value::Nil, Value::Int);
                recorder.outcome(line, &Value::Int(thread as i64), None, Outcome::Return(result)).map(|_| ())
            }
        }
        .expect("it is well-formed");
    }
    recorder.finish(None).expect("it is well-formed")
}
