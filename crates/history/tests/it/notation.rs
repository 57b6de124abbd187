//! Small histories written down in one line.
//!
//! Events stand in their order, separated by `;`. `A enq 1` is a call of thread A, `A -> 1` its return (`A ->` without
//! a result), `A ?` says that nobody knows how it ended, `A x` that it failed. `enq@k` has the key k, `q.enq` the object
//! q. Values are JSON. A `#` at the end says that the history is stuck, `= 3` at the beginning states the initial value.

use std::fmt;

use selvedge_history::{Call, End, Log, LogRecorder, Outcome, Value};

/// A history before it becomes a log, easy to change.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub initial: Option<Value>,
    pub events: Vec<Event>,
    pub stuck: bool,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub thread: usize,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    Call(Called),
    End(Outcome),
}

/// A call in plain words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    pub object: String,
    pub key: Value,
    pub method: String,
    pub argument: Value,
}

impl Draft {
    pub fn parse(text: &str) -> Draft {
        let mut draft = Draft::default();
        for part in text.split(';').map(str::trim) {
            if part == "#" {
                draft.stuck = true;
            } else if let Some(initial) = part.strip_prefix("= ") {
                draft.initial = Some(json(initial));
            } else {
                draft.events.push(event(part));
            }
        }
        draft
    }

    /// How many operations never return.
    pub fn pending(&self) -> usize {
        let count = |test: fn(&What) -> bool| self.events.iter().filter(|event| test(&event.what)).count();
        count(|what| matches!(what, What::Call(_)))
            - count(|what| matches!(what, What::End(Outcome::Return(_) | Outcome::Fail)))
    }

    pub fn log(&self) -> Log {
        let mut recorder = LogRecorder::new();
        for (i, Event { thread, what }) in self.events.iter().enumerate() {
            let (line, thread) = (i as u32 + 1, Value::text(name(*thread)));
            let done = match what {
                What::Call(called) => {
                    let (object, method) = (recorder.symbol(&called.object), recorder.symbol(&called.method));
                    let (key, argument) = (called.key.clone(), called.argument.clone());
                    recorder.call(line, &thread, Call { object, method, key, argument })
                }
                What::End(outcome) => recorder.outcome(line, &thread, None, outcome.clone()),
            };
            done.unwrap_or_else(|error| panic!("{self}: {error}"));
        }
        recorder.initial = self.initial.clone();
        recorder.finish(self.stuck.then_some(End::Stuck)).unwrap_or_else(|error| panic!("{self}: {error}"))
    }
}

fn name(thread: usize) -> String {
    char::from(b'A' + thread as u8).to_string()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn event(text: &str) -> Event {
    let mut words = text.splitn(3, ' ');
    let thread = usize::from(words.next().unwrap().as_bytes()[0] - b'A');
    let verb = words.next().unwrap_or_else(|| panic!("{text}: no event"));
    let value = words.next().map_or(Value::Nil, json);
    let what = match verb {
        "->" => What::End(Outcome::Return(value)),
        "?" => What::End(Outcome::Unknown),
        "x" => What::End(Outcome::Fail),
        _ => {
            let (object, method) = verb.split_once('.').unwrap_or(("", verb));
            let (method, key) = method.split_once('@').map_or((method, Value::Nil), |(m, key)| (m, Value::text(key)));
            What::Call(Called { object: object.to_owned(), key, method: method.to_owned(), argument: value })
        }
    };
    Event { thread, what }
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Value| match value {
            Value::Nil => String::new(),
            value => format!(" {}", serde_json::to_string(value).unwrap()),
        };
        let mut parts = Vec::new();
        parts.extend(self.initial.as_ref().map(|initial| format!("= {}", serde_json::to_string(initial).unwrap())));
        for Event { thread, what } in &self.events {
            let thread = name(*thread);
            parts.push(match what {
                What::Call(Called { object, key, method, argument }) => {
                    let object = if object.is_empty() { String::new() } else { format!("{object}.") };
                    let key = if key.is_nil() { String::new() } else { format!("@{key}") };
                    format!("{thread} {object}{method}{key}{}", show(argument))
                }
                What::End(Outcome::Return(value)) => format!("{thread} ->{}", show(value)),
                What::End(Outcome::Unknown) => format!("{thread} ?"),
                What::End(Outcome::Fail) => format!("{thread} x"),
            });
        }
        parts.extend(self.stuck.then(|| "#".to_owned()));
        f.write_str(&parts.join("; "))
    }
}

#[test]
fn what_is_written_reads_back() {
    let text = r#"= 3; A q.enq@k [1,"x"]; B deq; A -> true; B ?; B deq; B x; C deq; C -> [1,"x"]; A deq; #"#;
    let draft = Draft::parse(text);
    assert_eq!(draft.to_string(), text);
    assert_eq!(draft.pending(), 2);
    let log = draft.log();
    assert_eq!((log.history.len(), log.history.pending(), log.history.end()), (4, 2, End::Stuck));
}
