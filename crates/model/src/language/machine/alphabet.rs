//! Which events a process may take part in, and so which events the parts of a parallel composition share.
//!
//! The alphabet of a process is what `#alphabet` says; else the events without data in its text and in the text of what it
//! calls, with its parameters put in. It does not depend on the state, so that it is worked out once.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, OnceLock, RwLock};

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::super::eval::{Evaluated, Reading, fault};
use super::super::labels::{FALSE, NameId, TRUE};
use super::super::program::{Closure, Ex, ExId, Node, NodeId, Parts, Program, Seen, Source};
use super::{Env, build};
use crate::system::{Fault, Label};

pub(super) type Set = HashSet<Label, FixedState>;
/// Labels that several parts share, with those parts.
pub(super) type Shared = HashMap<Label, SmallVec<[u16; 4]>, FixedState>;

/// Places of a text that are looked at before an alphabet is given up.
const PLACES_MAX: usize = 20_000;

/// Worked out once, kept for all states.
#[derive(Default)]
pub(in super::super) struct Memo {
    hidden: Table<Set>,
    shared: Table<Shared>,
}

/// By node when the environment is empty, else by node and environment.
struct Table<T> {
    plain: Vec<OnceLock<Arc<T>>>,
    rest: RwLock<HashMap<(NodeId, Env), Arc<T>, FixedState>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { plain: Vec::new(), rest: RwLock::default() }
    }
}

impl<T> Table<T> {
    fn get(&self, id: NodeId, env: &[i32], make: impl FnOnce() -> Evaluated<T>) -> Evaluated<Arc<T>> {
        if env.is_empty() {
            let cell = &self.plain[id.0 as usize];
            if let Some(found) = cell.get() {
                return Ok(Arc::clone(found));
            }
            let made = Arc::new(make()?);
            return Ok(Arc::clone(cell.get_or_init(|| made)));
        }
        let key = (id, Env::from_slice(env));
        if let Some(found) = self.rest.read().expect("nobody panics with it").get(&key) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(make()?);
        self.rest.write().expect("nobody panics with it").insert(key, Arc::clone(&made));
        Ok(made)
    }
}

impl Memo {
    pub fn new(program: &Program) -> Self {
        let mut memo = Memo::default();
        memo.hidden.plain.resize_with(program.nodes.len(), OnceLock::new);
        memo.shared.plain.resize_with(program.nodes.len(), OnceLock::new);
        memo
    }

    pub(super) fn hidden(
        &self,
        program: &Program,
        id: NodeId,
        events: &[super::super::program::Events],
        env: &[i32],
    ) -> Evaluated<Arc<Set>> {
        self.hidden.get(id, env, || {
            let mut set = Set::default();
            let env: Vec<Option<i32>> = env.iter().copied().map(Some).collect();
            add_events(program, events, &env, &mut set)?;
            Ok(set)
        })
    }

    pub(super) fn shared(&self, program: &Program, id: NodeId, parts: &Parts, env: &[i32]) -> Evaluated<Arc<Shared>> {
        self.shared.get(id, env, || {
            let mut shared = Shared::default();
            for (index, (node, env)) in build::parts(program, parts, env)?.into_iter().enumerate() {
                let env: Vec<Option<i32>> = env.into_iter().map(Some).collect();
                for label in alphabet(program, node, env)? {
                    shared.entry(label).or_default().push(index as u16);
                }
            }
            shared.retain(|_, who| who.len() > 1);
            Ok(shared)
        })
    }
}

/// Adds the labels of some events.
fn add_events(
    program: &Program,
    events: &[super::super::program::Events],
    env: &[Option<i32>],
    set: &mut Set,
) -> Evaluated<()> {
    for event in events {
        let known: Vec<i32> = env.iter().map(|value| value.unwrap_or(0)).collect();
        for row in build::rows(program, &event.indices, &known, event.place)? {
            let mut values = Env::new();
            for &(arg, boolean) in &event.args {
                let from = Reading { data: &[], env: &known, bound: &row };
                if !depends_only_on(program, arg, env, true) {
                    return fault(event.place, "an event of an alphabet must not depend on variables");
                }
                values.push(marked(program.eval(arg, &from)?, boolean));
            }
            set.insert(program.label(event.name, &values));
        }
    }
    Ok(())
}

fn marked(value: i32, boolean: bool) -> i32 {
    match (boolean, value) {
        (false, value) => value,
        (true, 0) => FALSE,
        (true, _) => TRUE,
    }
}

/// Whether an expression reads nothing but known values of the environment and indices.
fn depends_only_on(program: &Program, id: ExId, env: &[Option<i32>], indices: bool) -> bool {
    match &program.exprs[id.0 as usize] {
        Ex::Const(_) => true,
        Ex::Bound(_) => indices,
        Ex::Local(at) => env[*at as usize].is_some(),
        Ex::Not(a) | Ex::Neg(a, _) => depends_only_on(program, *a, env, indices),
        Ex::And(a, b) | Ex::Or(a, b) | Ex::Bin(_, a, b, _) => {
            depends_only_on(program, *a, env, indices) && depends_only_on(program, *b, env, indices)
        }
        Ex::Global(_) | Ex::Element { .. } | Ex::Elements { .. } | Ex::Query { .. } | Ex::Messages { .. } => false,
    }
}

/// The value of an expression, if it is known.
fn known(program: &Program, id: ExId, env: &[Option<i32>]) -> Option<i32> {
    if !depends_only_on(program, id, env, false) {
        return None;
    }
    let values: Vec<i32> = env.iter().map(|value| value.unwrap_or(0)).collect();
    program.eval(id, &Reading { data: &[], env: &values, bound: &[] }).ok()
}

/// A place of the text that is still to be looked at, with what is hidden around it.
type Pending = (NodeId, Vec<Option<i32>>, Rc<BTreeSet<Label>>);

/// The alphabet of a node.
fn alphabet(program: &Program, node: NodeId, env: Vec<Option<i32>>) -> Evaluated<Set> {
    let mut search = Search { program, pending: vec![(node, env, Rc::default())], set: Set::default() };
    let mut seen: HashSet<Pending, FixedState> = HashSet::default();
    while let Some(place) = search.pending.pop() {
        if !seen.insert(place.clone()) {
            continue;
        }
        if seen.len() > PLACES_MAX {
            return Err(Box::new(Fault {
                message: "the alphabet of a process in a parallel composition has no end: say it with #alphabet"
                    .to_owned(),
                place: None,
            }));
        }
        search.visit(place.0, &place.1, &place.2)?;
    }
    Ok(search.set)
}

struct Search<'a> {
    program: &'a Program,
    pending: Vec<Pending>,
    set: Set,
}

impl Search<'_> {
    fn visit(&mut self, node: NodeId, env: &[Option<i32>], hidden: &Rc<BTreeSet<Label>>) -> Evaluated<()> {
        let program = self.program;
        let pending = &mut self.pending;
        let mut go = |closure: &Closure| pending.push((closure.node, inner(closure, env), Rc::clone(hidden)));
        match program.node(node) {
            Node::Stop | Node::Skip | Node::Done | Node::Assert(..) => {}
            Node::Event { seen, block, next } => {
                go(next);
                if let (Seen::Event(name, args), None) = (seen, block) {
                    let label = seen_label(program, *name, args, env)?;
                    self.set.extend(Some(label).filter(|label| !hidden.contains(label)));
                }
            }
            Node::Send { next, .. } | Node::Receive { next, .. } => go(next),
            Node::Guard(_, next) | Node::IfBlocking(_, next) => go(next),
            Node::If(_, a, b) | Node::IfAtomic(_, a, b) => [a, b].into_iter().for_each(go),
            Node::Case(cases, default) => cases.iter().map(|(_, next)| next).chain([default]).for_each(go),
            Node::Sequence { first, run } => {
                go(first);
                if let Node::SequenceRun(second) = program.node(run.node) {
                    let env = inner(run, env);
                    pending.push((second.node, inner(second, &env), Rc::clone(hidden)));
                }
            }
            Node::Interrupt { first, second, .. } => [first, second].into_iter().for_each(go),
            Node::Atomic { body, .. } => go(body),
            Node::Hide { body, run } => {
                let Node::HideRun(events) = program.node(run.node) else { return Ok(()) };
                let mut more = Set::default();
                add_events(program, events, &inner(run, env), &mut more)?;
                let hidden: BTreeSet<Label> = hidden.iter().copied().chain(more).collect();
                pending.push((body.node, inner(body, env), Rc::new(hidden)));
            }
            Node::General(parts)
            | Node::Internal(parts)
            | Node::Interleave { parts, .. }
            | Node::Parallel { parts, .. }
            | Node::External { parts, .. } => {
                for (node, env) in parts_of(program, parts, env)? {
                    pending.push((node, env, Rc::clone(hidden)));
                }
            }
            Node::Call { def, args, .. } => {
                let def = &program.defs[*def as usize];
                let values: Vec<Option<i32>> = args.iter().map(|&arg| known(program, arg, env)).collect();
                match &def.alphabet {
                    Some(events) => {
                        let mut said = Set::default();
                        add_events(program, events, &values, &mut said)?;
                        self.set.extend(said.into_iter().filter(|label| !hidden.contains(label)));
                    }
                    None => pending.push((def.body.node, inner(&def.body, &values), Rc::clone(hidden))),
                }
            }
            Node::SequenceRun(_)
            | Node::InterleaveRun
            | Node::ParallelRun(_)
            | Node::ExternalRun
            | Node::InterruptRun
            | Node::HideRun(_)
            | Node::AtomicRun => {}
        }
        Ok(())
    }
}

/// The label of an event, whose values must be known.
fn seen_label(program: &Program, name: NameId, args: &[(ExId, bool)], env: &[Option<i32>]) -> Evaluated<Label> {
    let values: Option<Env> =
        args.iter().map(|&(arg, boolean)| Some(marked(known(program, arg, env)?, boolean))).collect();
    match values {
        Some(values) => Ok(program.label(name, &values)),
        None => Err(Box::new(Fault {
            message: format!(
                "the values of event {} depend on variables, so that it is not known who takes part: say it with #alphabet",
                program.labels.show(program.label(name, &[]))
            ),
            place: None,
        })),
    }
}

fn inner(closure: &Closure, env: &[Option<i32>]) -> Vec<Option<i32>> {
    let value = |source: &Source| match *source {
        Source::Env(at) => env[at as usize],
        Source::Bound(_) => None,
        Source::Const(value) => Some(value),
    };
    closure.env.iter().map(value).collect()
}

/// The parts of a composition, as far as their environments are known.
fn parts_of(program: &Program, parts: &Parts, env: &[Option<i32>]) -> Evaluated<Vec<(NodeId, Vec<Option<i32>>)>> {
    match parts {
        Parts::Each(list) => Ok(list.iter().map(|closure| (closure.node, inner(closure, env))).collect()),
        Parts::Indexed(indices, closure, place) => {
            let values: Vec<i32> = env.iter().map(|value| value.unwrap_or(0)).collect();
            let rows = build::rows(program, indices, &values, *place)?;
            let part = |row: &Env| {
                let value = |source: &Source| match *source {
                    Source::Env(at) => env[at as usize],
                    Source::Bound(at) => Some(row[at as usize]),
                    Source::Const(value) => Some(value),
                };
                (closure.node, closure.env.iter().map(value).collect())
            };
            Ok(rows.iter().map(part).collect())
        }
    }
}
