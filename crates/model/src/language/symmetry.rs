//! Which models have threads that run the same code, so that exchanging two of them changes nothing; and which steps of a thread touch
//! nothing but its own data.
//!
//! Such a model is `||| t:{0..N-1}@P(t)`, or `P(0) ||| P(1)`, in which `t` is only passed on, used as the first index of arrays with N rows, and named first in
//! the events of the object. These arrays are accessed in no other way: a row belongs to its thread.
//! Invariant: saying that threads are not alike is always right. Every place of the text that a part can come to is looked at, with
//! the *roles* of its values: which of them are `t`.

mod exchange;

use std::collections::HashMap;

use super::eval::Reading;
use super::labels::NameId;
use super::machine::{self, Env, env_of};
use super::program::{Closure, Ex, ExId, Node, NodeId, Parts, Program, Seen, Source, St};

/// What was found out about a model whose threads are alike.
pub(crate) struct Alike {
    threads: usize,
    /// For each node that a thread comes to: which values of its environment are the thread's number. Nothing for others.
    roles: Vec<Roles>,
    /// Arrays with a row for each thread: where they begin, and how long a row is.
    rows: Vec<(usize, usize)>,
    /// For each node and each way: whether all its steps are such, and touch nothing but the thread's own rows.
    own: [Vec<Option<bool>>; 3],
    /// The names of calls, and those of returns.
    names: [Vec<NameId>; 2],
    /// Whether threads come to atomic processes: then no step is a thread's own business. A silent step before one is not
    /// either, since after it the thread goes before all others.
    atomic: bool,
}

/// What a step may be that is a thread's own business; a place in `Alike::own`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Silent,
    Call,
    Return,
}

type Roles = Box<[bool]>;

/// Looks for it: the process, its arguments, how many threads there should be, and the names of calls and returns.
pub(crate) fn alike(
    program: &Program,
    body: &Closure,
    args: &[i32],
    threads: u32,
    names: [Vec<NameId>; 2],
) -> Option<Alike> {
    let (node, roles) = threads_of(program, body, args, threads as usize)?;
    let mut look = Look {
        program,
        names: &names,
        threads: threads as usize,
        roles: HashMap::new(),
        todo: Vec::new(),
        rows: Vec::new(),
        cells: Vec::new(),
        here: Box::default(),
    };
    look.come_to(node, roles)?;
    while let Some(node) = look.todo.pop() {
        look.here = look.roles.get(&node)?.clone();
        look.node(node)?;
    }
    let owned = |&(from, to): &(usize, usize)| {
        look.rows.iter().any(|&(base, stride)| from < base + stride * threads as usize && base < to)
    };
    if look.cells.iter().any(owned) {
        return None;
    }
    let Look { roles: found, rows, .. } = look;
    let atomic = found.keys().any(|&node| matches!(program.node(node), Node::AtomicRun));
    let mut roles = vec![Roles::default(); program.nodes.len()];
    let mut nodes: Vec<NodeId> = found.keys().copied().collect();
    nodes.sort_unstable_by_key(|node| node.0);
    found.into_iter().for_each(|(node, found)| roles[node.0 as usize] = found);
    let unknown = || vec![None; program.nodes.len()];
    let own = [unknown(), unknown(), unknown()];
    let mut alike = Alike { threads: threads as usize, roles, rows, own, names, atomic };
    for node in nodes.into_iter().filter(|_| !atomic) {
        for way in [Way::Silent, Way::Call, Way::Return] {
            alike.note_own(program, node, way, 0);
        }
    }
    Some(alike)
}

/// Follows calls to what they call, as far as that depends on no variable.
fn called(program: &Program, node: NodeId, env: Env) -> Option<(NodeId, Env)> {
    let (mut node, mut env) = (node, env);
    for _ in 0..100 {
        let Node::Call { def, args, lazy: false } = program.node(node) else { return Some((node, env)) };
        let from = Reading { data: &[], env: &env, bound: &[] };
        let values = args.iter().map(|&arg| program.eval(arg, &from).ok()).collect::<Option<Vec<i32>>>()?;
        let body = &program.defs[*def as usize].body;
        (node, env) = (body.node, env_of(body, &values, &[]));
    }
    None
}

/// Where each of so many threads begins, which is the same place, and which of its values are the thread's number.
fn threads_of(program: &Program, body: &Closure, args: &[i32], threads: usize) -> Option<(NodeId, Roles)> {
    let (node, env) = called(program, body.node, env_of(body, args, &[]))?;
    let Node::Interleave { parts, .. } = program.node(node) else { return None };
    let parts = machine::parts(program, parts, &env).ok()?;
    let parts = parts.into_iter().map(|(node, env)| called(program, node, env)).collect::<Option<Vec<_>>>()?;
    if parts.len() != threads || threads < 2 || parts.iter().any(|part| part.0 != parts[0].0) {
        return None;
    }
    let role = |slot: usize| {
        let is_thread = parts.iter().enumerate().all(|(thread, part)| part.1[slot] == thread as i32);
        let is_same = parts.iter().all(|part| part.1[slot] == parts[0].1[slot]);
        (is_thread || is_same).then_some(is_thread)
    };
    Some((parts[0].0, (0..parts[0].1.len()).map(role).collect::<Option<Roles>>()?))
}

/// A look at everything that a thread can come to.
struct Look<'a> {
    program: &'a Program,
    names: &'a [Vec<NameId>; 2],
    threads: usize,
    roles: HashMap<NodeId, Roles>,
    todo: Vec<NodeId>,
    rows: Vec<(usize, usize)>,
    /// Data that is accessed in other ways.
    cells: Vec<(usize, usize)>,
    /// The roles at the node that is looked at.
    here: Roles,
}

impl Look<'_> {
    fn come_to(&mut self, node: NodeId, roles: Roles) -> Option<()> {
        match self.roles.get(&node) {
            Some(known) => (*known == roles).then_some(()),
            None => {
                self.roles.insert(node, roles);
                self.todo.push(node);
                Some(())
            }
        }
    }

    fn closure(&mut self, closure: &Closure) -> Option<()> {
        let roles = self.roles_of(closure, &self.here);
        self.come_to(closure.node, roles)
    }

    fn roles_of(&self, closure: &Closure, from: &[bool]) -> Roles {
        let role = |source: &Source| matches!(*source, Source::Env(at) if from[at as usize]);
        closure.env.iter().map(role).collect()
    }

    fn parts(&mut self, parts: &Parts) -> Option<()> {
        match parts {
            Parts::Each(list) => list.iter().try_for_each(|closure| self.closure(closure)),
            Parts::Indexed(indices, closure, _) => {
                for &(low, high) in indices.iter().flatten() {
                    self.value(low)?;
                    self.value(high)?;
                }
                self.closure(closure)
            }
        }
    }

    fn node(&mut self, id: NodeId) -> Option<()> {
        let program = self.program;
        match program.node(id) {
            Node::Stop | Node::Skip | Node::Done | Node::ExternalRun | Node::InterruptRun | Node::AtomicRun => Some(()),
            Node::Event { seen, block, next } => {
                self.seen(seen)?;
                if let Some(block) = block {
                    self.statements(&program.blocks[*block as usize])?;
                }
                self.closure(next)
            }
            Node::General(parts) | Node::Internal(parts) => self.parts(parts),
            Node::Guard(condition, next) | Node::IfBlocking(condition, next) => {
                self.value(*condition)?;
                self.closure(next)
            }
            Node::If(condition, then, otherwise) | Node::IfAtomic(condition, then, otherwise) => {
                self.value(*condition)?;
                self.closure(then)?;
                self.closure(otherwise)
            }
            Node::Case(cases, default) => {
                for (condition, then) in cases {
                    self.value(*condition)?;
                    self.closure(then)?;
                }
                self.closure(default)
            }
            Node::Assert(condition, _) => self.value(*condition),
            Node::Call { def, args, .. } => {
                let roles = args.iter().map(|&arg| self.argument(arg)).collect::<Option<Vec<bool>>>()?;
                let body = &program.defs[*def as usize].body;
                let roles = self.roles_of(body, &roles);
                self.come_to(body.node, roles)
            }
            Node::Sequence { first, run } => {
                self.closure(first)?;
                self.closure(run)
            }
            Node::SequenceRun(second) => self.closure(second),
            Node::Atomic { body, run } => {
                self.come_to(*run, Box::default())?;
                self.closure(body)
            }
            Node::External { parts, run } => {
                self.come_to(*run, Box::default())?;
                self.parts(parts)
            }
            Node::Interrupt { first, second, run } => {
                self.come_to(*run, Box::default())?;
                self.closure(first)?;
                self.closure(second)
            }
            // Threads of threads, hidden events and messages: nothing is claimed.
            Node::Send { .. }
            | Node::Receive { .. }
            | Node::Interleave { .. }
            | Node::Parallel { .. }
            | Node::Hide { .. }
            | Node::InterleaveRun
            | Node::ParallelRun(_)
            | Node::HideRun(_) => None,
        }
    }

    /// A call or a return names its thread first; other events are not seen, whatever they name.
    fn seen(&mut self, seen: &Seen) -> Option<()> {
        let Seen::Event(name, args) = seen else { return Some(()) };
        let is_call = self.names.iter().flatten().any(|known| known == name);
        for (at, &(arg, _)) in args.iter().enumerate() {
            let thread = self.argument(arg)?;
            if is_call && thread != (at == 0) {
                return None;
            }
        }
        Some(())
    }

    /// Whether it is the thread's number itself; nothing when that is used in another way.
    fn argument(&mut self, id: ExId) -> Option<bool> {
        if self.is_thread(id) {
            return Some(true);
        }
        self.value(id)?;
        Some(false)
    }

    fn is_thread(&self, id: ExId) -> bool {
        matches!(self.program.exprs[id.0 as usize], Ex::Local(at) if self.here[at as usize])
    }

    /// An expression that does not tell threads apart.
    fn value(&mut self, id: ExId) -> Option<()> {
        let program = self.program;
        match &program.exprs[id.0 as usize] {
            Ex::Const(_) | Ex::Bound(_) => Some(()),
            Ex::Local(at) => (!self.here[*at as usize]).then_some(()),
            Ex::Global(at) => self.cells_at(*at as usize, 1),
            Ex::Element { base, len, index, .. } => self.element(*base, &[(*index, *len)]),
            Ex::Elements { base, at, .. } => self.element(*base, at),
            Ex::Not(inner) | Ex::Neg(inner, _) => self.value(*inner),
            Ex::And(a, b) | Ex::Or(a, b) | Ex::Bin(_, a, b, _) => {
                self.value(*a)?;
                self.value(*b)
            }
            Ex::Query { of, args, .. } => {
                of.index.iter().try_for_each(|&index| self.value(index))?;
                args.iter().try_for_each(|&arg| self.value(arg))
            }
            Ex::Messages { .. } => None,
        }
    }

    fn cells_at(&mut self, base: usize, count: usize) -> Option<()> {
        self.cells.push((base, base + count));
        Some(())
    }

    /// An element of an array: of the thread's own row, or any.
    fn element(&mut self, base: u32, at: &[(ExId, u32)]) -> Option<()> {
        let (base, count) = (base as usize, at.iter().map(|&(_, size)| size as usize).product::<usize>());
        let own = at.first().is_some_and(|&(index, size)| self.is_thread(index) && size as usize == self.threads);
        if own {
            let row = (base, count / self.threads);
            if !self.rows.contains(&row) {
                self.rows.push(row);
            }
        } else {
            self.cells_at(base, count)?;
        }
        at.iter().skip(usize::from(own)).try_for_each(|&(index, _)| self.value(index))
    }

    fn statements(&mut self, block: &[St]) -> Option<()> {
        block.iter().try_for_each(|statement| match statement {
            St::Set { at, value, .. } => {
                self.cells_at(*at as usize, 1)?;
                self.value(*value)
            }
            St::SetElement { base, at, value, .. } => {
                self.element(*base, at)?;
                self.value(*value)
            }
            St::SetLocal(_, value) | St::Return(value) => self.value(*value),
            St::If(condition, then, otherwise) => {
                self.value(*condition)?;
                self.statements(then)?;
                self.statements(otherwise)
            }
            St::While(condition, body, _) => {
                self.value(*condition)?;
                self.statements(body)
            }
            St::Change { of, args, .. } => {
                of.index.iter().try_for_each(|&index| self.value(index))?;
                args.iter().try_for_each(|&arg| self.value(arg))
            }
        })
    }
}
