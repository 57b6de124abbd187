//! A compiled model: processes as nodes of a table, expressions and statements as nodes of others.
//!
//! Where a process stands is written as the number of a node and the values of the variables that are still needed there
//! (its *environment*), so that two ways to the same place make the same state. Nodes that join running processes are
//! followed by those processes. Equal nodes have one number.
//!
//! Invariant: no node depends on the state; everything here is shared by all systems of a model and never changes.

use super::labels::{Frozen, NameId};
use crate::system::Label;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ExId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct NodeId(pub u32);

/// Line and column.
pub(crate) type Place = (u32, u32);

/// Arithmetic that may leave the range of integers, and comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Xor,
    BitOr,
    BitXor,
    BitAnd,
}

/// A collection or a channel: one of `count` segments from `base` on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Segment {
    pub base: u32,
    pub count: u32,
    pub index: Option<ExId>,
}

/// Questions about collections and channels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Query {
    Count,
    IsEmpty,
    First,
    Last,
    Get,
    Contains,
    IndexOf,
}

/// Changes of collections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Change {
    PushBack,
    PopFront,
    PopBack,
    /// Into its place among the sorted, once.
    Insert,
    InsertAt,
    SetAt,
    RemoveAt,
    /// The first that is equal, if any.
    Remove,
    Clear,
}

impl Change {
    /// Whether it adds an element.
    pub fn puts(&self) -> bool {
        matches!(self, Change::PushBack | Change::Insert | Change::InsertAt)
    }

    /// Whether it removes one.
    pub fn takes(&self) -> bool {
        matches!(self, Change::PopFront | Change::PopBack | Change::RemoveAt | Change::Remove)
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Ex {
    Const(i32),
    /// A value of the environment.
    Local(u16),
    /// A value that the step itself binds, or a local variable of a block.
    Bound(u16),
    Global(u32),
    Element {
        base: u32,
        len: u32,
        index: ExId,
        place: Place,
    },
    /// Several dimensions.
    Elements {
        base: u32,
        at: Box<[(ExId, u32)]>,
        place: Place,
    },
    Not(ExId),
    Neg(ExId, Place),
    And(ExId, ExId),
    Or(ExId, ExId),
    Bin(Op, ExId, ExId, Place),
    Query {
        of: Segment,
        query: Query,
        args: Box<[ExId]>,
        place: Place,
    },
    /// How many messages a channel holds.
    Messages {
        of: Segment,
        place: Place,
    },
}

/// Where a value of an environment comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    Env(u16),
    Bound(u16),
    Const(i32),
}

/// A node with its environment, out of the environment of another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Closure {
    pub node: NodeId,
    pub env: Box<[Source]>,
}

/// What is seen of a step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Seen {
    Tau,
    /// The values with whether they are truth values.
    Event(NameId, Box<[(ExId, bool)]>),
}

/// What a value received must be.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pattern {
    Equal(ExId),
    /// Binds the next variable.
    Bind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ChannelRef {
    /// The first of its channels.
    pub base: u32,
    pub count: u32,
    pub index: Option<ExId>,
    pub place: Place,
}

/// The values of some indices: for each index its ranges, each with its ends.
pub(crate) type Ranges = Box<[Box<[(ExId, ExId)]>]>;

/// Alternatives or components: each written, or one for every value of some indices.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Parts {
    Each(Box<[Closure]>),
    /// The indices bind variables in their order.
    Indexed(Ranges, Closure, Place),
}

/// Events of an alphabet or of a hiding: indices, then the event.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Events {
    pub indices: Ranges,
    pub name: NameId,
    pub args: Box<[(ExId, bool)]>,
    pub place: Place,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    Stop,
    Skip,
    /// After termination.
    Done,
    Event {
        seen: Seen,
        block: Option<u32>,
        next: Closure,
    },
    Send {
        channel: ChannelRef,
        args: Box<[(ExId, bool)]>,
        block: Option<u32>,
        next: Closure,
    },
    Receive {
        channel: ChannelRef,
        patterns: Box<[Pattern]>,
        guard: Option<ExId>,
        block: Option<u32>,
        next: Closure,
    },
    General(Parts),
    Internal(Parts),
    Guard(ExId, Closure),
    If(ExId, Closure, Closure),
    IfAtomic(ExId, Closure, Closure),
    IfBlocking(ExId, Closure),
    Case(Box<[(ExId, Closure)]>, Closure),
    Assert(ExId, Place),
    /// `lazy` when arguments depend on variables: they are read with the first step.
    Call {
        def: u32,
        args: Box<[ExId]>,
        lazy: bool,
    },

    // Not yet running; `run` is what stands before the running parts.
    Sequence {
        first: Closure,
        run: Closure,
    },
    Interleave {
        parts: Parts,
        run: NodeId,
    },
    Parallel {
        parts: Parts,
        run: Closure,
    },
    External {
        parts: Parts,
        run: NodeId,
    },
    Interrupt {
        first: Closure,
        second: Closure,
        run: NodeId,
    },
    Hide {
        body: Closure,
        run: Closure,
    },
    Atomic {
        body: Closure,
        run: NodeId,
    },

    // Running: followed by their parts.
    SequenceRun(Closure),
    /// One more word: how many.
    InterleaveRun,
    /// One more word: how many. The parts are kept for their alphabets.
    ParallelRun(Parts),
    ExternalRun,
    InterruptRun,
    HideRun(Box<[Events]>),
    /// One more word: whether it has begun.
    AtomicRun,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum St {
    Set { at: u32, bounds: Option<(i32, i32)>, value: ExId, place: Place },
    SetElement { base: u32, at: Box<[(ExId, u32)]>, bounds: Option<(i32, i32)>, value: ExId, place: Place },
    SetLocal(u16, ExId),
    If(ExId, Box<[St]>, Box<[St]>),
    While(ExId, Box<[St]>, Place),
    Change { of: Segment, change: Change, args: Box<[ExId]>, place: Place },
    Return(ExId),
}

#[derive(Clone, Debug)]
pub(crate) struct Def {
    pub name: String,
    pub params: usize,
    pub body: Closure,
    /// What `#alphabet` says, over the parameters.
    pub alphabet: Option<Box<[Events]>>,
}

/// One variable, for people.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub name: String,
    pub at: u32,
    pub len: u32,
    pub boolean: bool,
    pub array: bool,
}

/// One channel of those that a declaration makes.
#[derive(Clone, Debug)]
pub(crate) struct ChannelInfo {
    /// Nothing for channels without a buffer.
    pub segment: Option<u32>,
    pub size: usize,
    pub sent: NameId,
    pub received: NameId,
    pub both: NameId,
}

pub(crate) struct Program {
    pub exprs: Vec<Ex>,
    pub nodes: Vec<Node>,
    pub env_lens: Vec<u16>,
    pub blocks: Vec<Box<[St]>>,
    pub defs: Vec<Def>,
    pub globals: Vec<Global>,
    pub channels: Vec<ChannelInfo>,
    /// Names of variables of collections, by their first segment.
    pub segments: Vec<String>,
    /// The data to begin with: fixed words, then a length and nothing more for every segment.
    pub data: Vec<i32>,
    pub fixed: usize,
    pub labels: Frozen,
}

impl Program {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub fn env_len(&self, id: NodeId) -> usize {
        self.env_lens[id.0 as usize] as usize
    }

    /// Variables, collections and channels with what they hold.
    pub fn describe(&self, data: &[i32]) -> String {
        let value = |value: i32, boolean: bool| match (boolean, value) {
            (true, 0) => "false".to_owned(),
            (true, _) => "true".to_owned(),
            (false, value) => value.to_string(),
        };
        let mut parts = Vec::new();
        for global in &self.globals {
            let words = &data[global.at as usize..(global.at + global.len) as usize];
            let shown: Vec<String> = words.iter().map(|&word| value(word, global.boolean)).collect();
            let shown = if global.array { format!("[{}]", shown.join(",")) } else { shown.join("") };
            parts.push(format!("{}={shown}", global.name));
        }
        for (segment, name) in self.segments.iter().enumerate() {
            let (start, len) = self.locate(segment as u32, data);
            let words = &data[start..start + len];
            let is_channel = self.channels.iter().any(|channel| channel.segment == Some(segment as u32));
            let shown = if is_channel { messages_shown(words) } else { joined(words, ",") };
            parts.push(format!("{name}=<{shown}>"));
        }
        parts.join(" ")
    }

    /// The label of an event without values or with given ones.
    pub fn label(&self, name: NameId, values: &[i32]) -> Label {
        self.labels.label(name, values)
    }
}

fn joined(words: &[i32], between: &str) -> String {
    words.iter().map(i32::to_string).collect::<Vec<_>>().join(between)
}

/// The messages of a channel, each stored behind the number of its values, as they are written when they are sent.
fn messages_shown(mut words: &[i32]) -> String {
    let mut shown = Vec::new();
    while let Some((&count, rest)) = words.split_first() {
        let (message, others) = rest.split_at((count.max(0) as usize).min(rest.len()));
        shown.push(joined(message, "."));
        words = others;
    }
    shown.join(",")
}

#[test]
fn messages_are_shown_as_they_are_sent() {
    assert_eq!(messages_shown(&[]), "");
    assert_eq!(messages_shown(&[1, 7]), "7");
    assert_eq!(messages_shown(&[1, 1, 2, 5, -6, 1, 3]), "1,5.-6,3");
}
