//! A model as it is written: declarations, processes, expressions, statements, assertions.
//!
//! Invariant: expressions and processes lie in arenas and refer to parts that stand before them, so that no walk over an
//! arena recurses and nothing is freed recursively.

use super::diagnostic::Span;

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ExprId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ProcId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Unary {
    Not,
    Minus,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Binary {
    Or,
    Xor,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

/// `x:{0..3}`, `x:{1,4,7}`.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub name: Name,
    pub values: Vec<Values>,
}

/// One entry of a list of values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Values {
    One(ExprId),
    Range(ExprId, ExprId),
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Number(i32),
    Bool(bool),
    Name(String),
    /// `x[i][j]`
    Element(String, Vec<ExprId>),
    Unary(Unary, ExprId),
    Binary(Binary, ExprId, ExprId),
    /// `&& i:{0..2}@(x[i] == 0)`
    Indexed(Binary, Vec<Index>, ExprId),
    /// A macro, or `call(name, ...)`.
    Call(String, Vec<ExprId>),
    /// `q.Count()`
    Method(String, Vec<ExprId>, String, Vec<ExprId>),
}

/// An event without data: a name and values.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub name: Name,
    pub args: Vec<ExprId>,
}

/// An entry of an alphabet or of a hiding: an event, for every value of some indices.
#[derive(Clone, Debug)]
pub(crate) struct EventSet {
    pub indices: Vec<Index>,
    pub event: Event,
}

/// What stands before an arrow.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Tau,
    Event(Event),
    /// `c[i]!a.b`
    Send {
        channel: Name,
        at: Option<ExprId>,
        args: Vec<ExprId>,
    },
    /// `c[i]?[guard]x.y`
    Receive {
        channel: Name,
        at: Option<ExprId>,
        guard: Option<ExprId>,
        args: Vec<ExprId>,
    },
}

/// An action with what it does to the data.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub action: Action,
    pub block: Option<Block>,
    pub span: Span,
}

/// Operators that join processes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Join {
    Interleave,
    Parallel,
    /// `[]`: any event resolves it.
    General,
    /// `[*]`: visible events resolve it.
    External,
    /// `<>`
    Internal,
    Sequence,
    Interrupt,
}

/// The three conditionals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum If {
    /// The test is a step of its own.
    Step,
    /// The test and the first event are one step.
    Atomic,
    /// Waits until the test holds; the test is a step of its own.
    Blocking,
}

#[derive(Clone, Debug)]
pub(crate) enum Proc {
    Stop,
    Skip,
    Call(Name, Vec<ExprId>),
    Prefix(Vec<Step>, ProcId),
    Join(Join, Vec<ProcId>),
    Indexed(Join, Vec<Index>, ProcId),
    /// `|||{n}@P`
    Replicated(Join, ExprId, ProcId),
    Guard(ExprId, ProcId),
    If(If, ExprId, ProcId, Option<ProcId>),
    Case(Vec<(ExprId, ProcId)>, Option<ProcId>),
    Atomic(ProcId),
    Hide(ProcId, Vec<EventSet>),
    /// `assert(condition)`: a fault when it does not hold, `Skip` when it does.
    Assert(ExprId),
}

pub(crate) type Block = Vec<Statement>;

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    /// `x = e`, `x[i] = e`
    Assign(String, Vec<ExprId>, ExprId),
    /// `var x = e`
    Local(String, Option<ExprId>),
    If(ExprId, Block, Block),
    While(ExprId, Block),
    /// `q.Enqueue(e)`
    Method(String, Vec<ExprId>, String, Vec<ExprId>),
    /// A macro that is a block.
    Call(String, Vec<ExprId>),
    /// Only in operations of objects.
    Return(Option<ExprId>),
}

/// Values a variable may have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    pub low: Option<ExprId>,
    pub high: Option<ExprId>,
}

/// The collections that stand in for PAT's C# classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Collection {
    Queue,
    Stack,
    Set,
    List,
}

/// How a variable begins.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    None,
    One(ExprId),
    Many(Vec<Item>),
}

/// An entry of an array's initialiser.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    One(ExprId),
    /// `3(n)`
    Times(ExprId, ExprId),
    Range(ExprId, ExprId),
}

#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub name: Name,
    pub collection: Option<Collection>,
    pub sizes: Vec<ExprId>,
    pub bounds: Option<Bounds>,
    pub initial: Initial,
}

#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub name: Name,
    pub count: Option<ExprId>,
    pub size: ExprId,
}

/// `#define`: an expression or a block, maybe with parameters.
#[derive(Clone, Debug)]
pub(crate) struct Define {
    pub name: Name,
    pub params: Vec<Name>,
    pub body: DefineBody,
}

#[derive(Clone, Debug)]
pub(crate) enum DefineBody {
    Expr(ExprId),
    Block(Block),
}

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub name: Name,
    pub params: Vec<Name>,
    pub body: ProcId,
}

#[derive(Clone, Debug)]
pub(crate) struct Alphabet {
    pub process: Name,
    pub events: Vec<EventSet>,
}

/// An operation of an object: a name, parameters with their values, a body that returns.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub name: Name,
    pub params: Vec<Index>,
    /// When it does not hold, the operation blocks.
    pub guard: Option<ExprId>,
    pub body: Block,
}

/// `#object`: a sequential object from which a specification is made.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub name: Name,
    pub threads: ExprId,
    pub vars: Vec<Var>,
    pub operations: Vec<Operation>,
}

/// A formula of linear temporal logic.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    True,
    False,
    Event(Event),
    /// An event as it is printed, in quotes.
    Label(Name),
    Not(Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Iff(Box<Formula>, Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
}

/// A process that an assertion is about.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub name: Name,
    pub args: Vec<ExprId>,
}

/// How refinement compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refinement {
    Traces,
    Failures,
    FailuresDivergences,
}

/// `quasi {deq: 2} strict free`
#[derive(Clone, Debug)]
pub(crate) struct Quasi {
    pub classes: Vec<(Vec<Name>, ExprId)>,
    pub strict: bool,
    pub free: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Claim {
    DeadlockFree,
    DivergenceFree,
    Deterministic,
    Nonterminating,
    Reaches { condition: ExprId, best: Option<(Best, ExprId)> },
    Refines { mode: Refinement, spec: Subject, quasi: Option<Quasi> },
    Satisfies(Formula),
}

/// `with min(e)`, `with max(e)`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Best {
    Least,
    Greatest,
}

#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    pub subject: Subject,
    pub claim: Claim,
    pub span: Span,
}

/// A whole model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub exprs: Vec<(Expr, Span)>,
    pub procs: Vec<(Proc, Span)>,
    pub vars: Vec<Var>,
    pub channels: Vec<Channel>,
    pub defines: Vec<Define>,
    pub enums: Vec<Vec<Name>>,
    pub definitions: Vec<Definition>,
    pub alphabets: Vec<Alphabet>,
    pub objects: Vec<Object>,
    pub assertions: Vec<Assertion>,
}

impl Model {
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize].0
    }

    pub fn expr_span(&self, id: ExprId) -> Span {
        self.exprs[id.0 as usize].1
    }

    pub fn proc(&self, id: ProcId) -> &Proc {
        &self.procs[id.0 as usize].0
    }

    pub fn proc_span(&self, id: ProcId) -> Span {
        self.procs[id.0 as usize].1
    }
}
