//! Operations in words: what was called with what, what came back, and in which lines.

use selvedge_history::object::Kind;
use selvedge_history::{Log, OpId, Value};

use super::text::{clean, truncate};

/// The most columns that one value takes.
const VALUE_MAX: usize = 24;

/// A log, read as an object's.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The history.
    pub log: &'a Log,
    /// What it is the history of.
    pub kind: Kind,
}

/// What the object is to a reader: decides the verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Values are put in and taken out.
    Collection,
    /// Values are added, removed and seen.
    Set,
    /// Values are written and read.
    Register,
    /// Anything else.
    Other,
}

/// A value as it is shown. A text that could be taken for something else has quotes.
pub fn show(value: &Value) -> String {
    let odd = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '"');
    match value {
        Value::Text(text) if text.is_empty() || text.contains(odd) => {
            format!("\"{}\"", truncate(&clean(text), VALUE_MAX - 2))
        }
        value => truncate(&clean(&value.to_string()), VALUE_MAX),
    }
}

impl Reading<'_> {
    /// What the object is to a reader.
    pub fn family(&self) -> Family {
        match self.kind {
            Kind::Queue | Kind::Stack | Kind::Deque | Kind::Bag | Kind::PriorityQueue | Kind::PriorityQueueMin => {
                Family::Collection
            }
            Kind::Set => Family::Set,
            Kind::Register | Kind::CasRegister | Kind::MultiRegister | Kind::Map => Family::Register,
            // Counters and locks; and what is not known here has no words of its own.
            _ => Family::Other,
        }
    }

    /// The operation: `enq(1)`, `deq→2`, `deq→empty`, `cas(1 2)→true`, `deq→?` while pending.
    pub fn label(&self, op: OpId) -> String {
        self.labelled(op, self.log.history.operation(op).output())
    }

    /// The operation as it was known before the event with that number: what returned later was pending.
    pub fn label_before(&self, op: OpId, event: u32) -> String {
        let ret = self.log.history.operation(op).ret.as_ref();
        self.labelled(op, ret.filter(|ret| ret.at < event).map(|ret| &ret.output))
    }

    fn labelled(&self, op: OpId, output: Option<&Value>) -> String {
        let operation = self.log.history.operation(op);
        let call = &operation.input;
        let arguments: Vec<String> = match &call.argument {
            Value::Nil => Vec::new(),
            Value::List(items) => items.iter().map(show).collect(),
            value => vec![show(value)],
        };
        let key = (!call.key.is_nil()).then(|| show(&call.key));
        let arguments: Vec<String> = key.into_iter().chain(arguments).collect();
        let method = truncate(&clean(self.log.name(call.method)), VALUE_MAX);
        let mut label = if arguments.is_empty() { method } else { format!("{method}({})", arguments.join(" ")) };
        // What takes an argument besides its key says nothing by answering nothing.
        let takes = !self.kind.argument(call).is_nil();
        match output {
            Some(Value::Nil) if takes => {}
            Some(output) => label.push_str(&self.result(output).map_or(String::new(), |result| format!("→{result}"))),
            None if takes || matches!(self.kind, Kind::Mutex | Kind::RwLock | Kind::Semaphore) => {}
            None => label.push_str("→?"),
        }
        label
    }

    /// A result, where it says something: nothing is "empty" for a collection, and not worth a word for a lock.
    pub fn result(&self, output: &Value) -> Option<String> {
        match (output, self.family()) {
            (Value::Nil, Family::Collection) => Some("empty".to_owned()),
            (Value::Nil, Family::Set | Family::Other) => None,
            (output, _) => Some(show(output)),
        }
    }

    /// The value that the operation is about: what it put in, or what it got.
    pub fn value(&self, op: OpId) -> String {
        show(self.raw_value(op))
    }

    /// The same, as it was recorded.
    pub fn raw_value(&self, op: OpId) -> &Value {
        let operation = self.log.history.operation(op);
        match &operation.input.argument {
            Value::Nil => operation.output().unwrap_or(&Value::Nil),
            argument => argument,
        }
    }

    /// The object with its key: "object q1, key 3"; empty where the log has only one.
    pub fn part(&self, part: &selvedge_history::evidence::Part) -> String {
        let object = (!part.object.is_empty()).then(|| format!("object {}", show(&Value::text(&*part.object))));
        let key = (!part.key.is_nil()).then(|| format!("key {}", show(&part.key)));
        object.into_iter().chain(key).collect::<Vec<_>>().join(", ")
    }

    /// The thread that called.
    pub fn thread(&self, op: OpId) -> String {
        truncate(&clean(&self.log.thread(self.log.history.operation(op).thread).to_string()), VALUE_MAX)
    }

    /// Where it was called: "line 3".
    pub fn called(&self, op: OpId) -> String {
        format!("line {}", self.log.call_line(op))
    }

    /// Where it returned: "line 5", or "never returned".
    pub fn returned(&self, op: OpId) -> String {
        match self.log.return_line(op) {
            0 => "never returned".to_owned(),
            line => format!("line {line}"),
        }
    }

    /// Its lines: "line 3", "lines 3-5", "line 3, pending".
    pub fn lines(&self, op: OpId) -> String {
        match (self.log.call_line(op), self.log.return_line(op)) {
            (call, 0) => format!("line {call}, pending"),
            (call, ret) if call == ret => format!("line {call}"),
            (call, ret) => format!("lines {call}-{ret}"),
        }
    }
}
