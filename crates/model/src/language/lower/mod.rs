//! From a model as it is written to tables that run: names are resolved, types checked, definitions put in, constants
//! folded, equal parts shared.
//!
//! Every mistake is collected, so that a person sees them all at once.
//!
//! Invariant: a node's environment lists the variables it needs in the order of their first use; nothing else is in it.

mod claim;
mod declaration;
mod events;
mod expression;
mod object;
mod process;
mod statement;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::ast::{self, Collection, Model};
use super::check::Unchecked;
use super::diagnostic::{Code, Diagnostic, Places, Span};
use super::labels::Labels;
use super::object::Object;
use super::program::{ChannelInfo, Closure, Def, Ex, ExId, Global, Node, NodeId, Place, Program, Source, St};

type Lowered<T> = Result<T, Box<Diagnostic>>;
type Map<K, V> = HashMap<K, V, FixedState>;

/// How many expressions a model may come to once definitions are put in.
const WORK_MAX: usize = 4_000_000;
/// How deep definitions may be put into each other.
const EXPANSION_MAX: u16 = 40;

/// The type of a value, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ty {
    Int,
    Bool,
    Any,
}

/// A local variable, numbered once.
type Binder = u32;

#[derive(Clone, Debug)]
enum Binding {
    Local(Binder, Ty),
    /// An argument of a definition that is put in, or an index with its value.
    Known(ExId, Ty),
}

/// What a name of a variable stands for.
#[derive(Clone, Debug)]
enum Variable {
    Words { at: u32, sizes: Vec<u32>, bounds: Option<(i32, i32)>, ty: Ty },
    Segments { base: u32, count: u32, array: bool, kind: Collection },
}

/// The variables that a node needs.
#[derive(Default)]
struct Own {
    list: Vec<Binder>,
    bound: Vec<Binder>,
}

impl Own {
    fn position(&mut self, binder: Binder) -> u16 {
        match self.list.iter().position(|&other| other == binder) {
            Some(at) => at as u16,
            None => {
                self.list.push(binder);
                self.list.len() as u16 - 1
            }
        }
    }

    /// A closure of a part that was lowered before; indices with a known value are put in.
    fn closure(&mut self, part: &Part, known: &[(Binder, i32)]) -> Closure {
        let env = part
            .needs
            .iter()
            .map(|&binder| {
                if let Some(&(_, value)) = known.iter().find(|(other, _)| *other == binder) {
                    Source::Const(value)
                } else if let Some(at) = self.bound.iter().position(|&other| other == binder) {
                    Source::Bound(at as u16)
                } else {
                    Source::Env(self.position(binder))
                }
            })
            .collect();
        Closure { node: part.node, env }
    }
}

/// A node and the variables that it needs.
#[derive(Clone, Debug)]
struct Part {
    node: NodeId,
    needs: Vec<Binder>,
}

/// What comes out of a text.
pub(crate) struct Compiled {
    pub program: Program,
    pub objects: Vec<Object>,
    pub claims: Vec<Unchecked>,
}

struct Lowering<'a> {
    model: &'a Model,
    places: Places<'a>,
    errors: Vec<Diagnostic>,
    scope: Vec<(String, Binding)>,
    /// Names before this one are out of sight: those around a definition that is put in.
    barrier: usize,
    expansion: u16,
    work: usize,
    binders: Binder,

    variables: Map<&'a str, Variable>,
    channels: Map<&'a str, (u32, u32)>,
    constants: Map<&'a str, i32>,
    defines: Map<&'a str, usize>,
    definitions: Map<&'a str, usize>,
    alphabets: Map<&'a str, Vec<usize>>,

    exprs: Vec<Ex>,
    expr_ids: Map<Ex, ExId>,
    nodes: Vec<Node>,
    env_lens: Vec<u16>,
    node_ids: Map<Node, NodeId>,
    blocks: Vec<Box<[St]>>,
    block_ids: Map<Box<[St]>, u32>,
    globals: Vec<Global>,
    segments: Vec<String>,
    infos: Vec<ChannelInfo>,
    data: Vec<i32>,
    labels: Labels,
    /// What the processes do, by their text.
    doings: events::Doings<'a>,
}

/// Compiles a model, or says all that is wrong with it.
pub(crate) fn lower(model: &Model, text: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let mut lowering = Lowering::new(model, text);
    lowering.node(Node::Done, &Own::default());
    lowering.declare();
    lowering.doings = events::Doings::of_all(model);
    let defs = lowering.define_all();
    let objects = lowering.objects(text);
    let claims = lowering.claims();
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    let fixed = lowering.data.len();
    let mut data = lowering.data;
    data.extend(std::iter::repeat_n(0, lowering.segments.len()));
    let program = Program {
        exprs: lowering.exprs,
        nodes: lowering.nodes,
        env_lens: lowering.env_lens,
        blocks: lowering.blocks,
        defs,
        globals: lowering.globals,
        channels: lowering.infos,
        segments: lowering.segments,
        data,
        fixed,
        labels: lowering.labels.freeze(),
    };
    Ok(Compiled { program, objects, claims })
}

impl<'a> Lowering<'a> {
    fn new(model: &'a Model, text: &'a str) -> Self {
        Lowering {
            model,
            places: Places::new(text),
            errors: Vec::new(),
            scope: Vec::new(),
            barrier: 0,
            expansion: 0,
            work: 0,
            binders: 0,
            variables: Map::default(),
            channels: Map::default(),
            constants: Map::default(),
            defines: Map::default(),
            definitions: Map::default(),
            alphabets: Map::default(),
            exprs: Vec::new(),
            expr_ids: Map::default(),
            nodes: Vec::new(),
            env_lens: Vec::new(),
            node_ids: Map::default(),
            blocks: Vec::new(),
            block_ids: Map::default(),
            globals: Vec::new(),
            segments: Vec::new(),
            infos: Vec::new(),
            data: Vec::new(),
            labels: Labels::default(),
            doings: events::Doings::default(),
        }
    }

    fn place(&self, span: Span) -> Place {
        self.places.place(span.start)
    }

    fn error<T>(&self, code: Code, span: Span, message: impl Into<String>) -> Lowered<T> {
        Err(Box::new(Diagnostic::new(code, span, message)))
    }

    /// Keeps the mistake and goes on without the value.
    fn keep<T>(&mut self, result: Lowered<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if self.errors.len() < 50 && !self.errors.contains(&error) {
                    self.errors.push(*error);
                }
                None
            }
        }
    }

    fn node(&mut self, node: Node, own: &Own) -> NodeId {
        if let Some(&id) = self.node_ids.get(&node) {
            return id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.env_lens.push(own.list.len() as u16);
        self.node_ids.insert(node, id);
        id
    }

    /// A node as a part of others.
    fn part(&mut self, node: Node, own: Own) -> Part {
        Part { node: self.node(node, &own), needs: own.list }
    }

    fn binder(&mut self) -> Binder {
        self.binders += 1;
        self.binders
    }

    fn local(&self, name: &str) -> Option<&Binding> {
        self.scope[self.barrier..].iter().rev().find(|(other, _)| other == name).map(|(_, binding)| binding)
    }

    fn intern_block(&mut self, block: Box<[St]>) -> u32 {
        if let Some(&id) = self.block_ids.get(&block) {
            return id;
        }
        let id = self.blocks.len() as u32;
        self.blocks.push(block.clone());
        self.block_ids.insert(block, id);
        id
    }

    /// Lowers every definition of a process.
    fn define_all(&mut self) -> Vec<Def> {
        let mut defs = Vec::new();
        for definition in &self.model.definitions {
            let binders: Vec<Binder> = definition.params.iter().map(|_| self.binder()).collect();
            self.scope.clear();
            for (param, &binder) in definition.params.iter().zip(&binders) {
                self.scope.push((param.text.clone(), Binding::Local(binder, Ty::Any)));
            }
            let lowered = self.process(definition.body);
            let body = self.keep(lowered);
            let alphabet = self.alphabet_of(definition, &binders);
            let mut own = Own { list: binders, bound: Vec::new() };
            let body = body.map(|part| own.closure(&part, &[]));
            let nothing = || Closure { node: NodeId(0), env: Box::default() };
            defs.push(Def {
                name: definition.name.text.clone(),
                params: definition.params.len(),
                body: body.unwrap_or_else(nothing),
                alphabet,
            });
        }
        self.scope.clear();
        self.check_recursion();
        defs
    }

    /// What `#alphabet` says about a definition, over its parameters.
    fn alphabet_of(
        &mut self,
        definition: &ast::Definition,
        binders: &[Binder],
    ) -> Option<Box<[super::program::Events]>> {
        let declared = self.alphabets.get(definition.name.text.as_str())?.clone();
        let mut own = Own { list: binders.to_vec(), bound: Vec::new() };
        let mut events = Vec::new();
        for set in declared.iter().flat_map(|&at| &self.model.alphabets[at].events) {
            let lowered = self.events(set, &mut own);
            events.extend(self.keep(lowered));
        }
        Some(events.into())
    }
}
