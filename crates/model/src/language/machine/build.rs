//! From a move to the state after it; how a process is laid out when it begins.

use super::super::eval::{Evaluated, Reading, Words, fault};
use super::super::program::{ExId, Node, NodeId, Parts, Place, Program};
use super::{DEPTH_MAX, Env, Move, Scratch, Target, WORDS_MAX, env_of, too_large, unbounded};

/// What is left after termination: always the first node of a program.
pub(in super::super) const DONE: NodeId = NodeId(0);

/// How many parts an indexed process may have.
const PARTS_MAX: usize = 10_000;

/// Carries out a move.
pub(in super::super) fn apply(
    program: &Program,
    scratch: &Scratch,
    step: &Move,
    state: &[i32],
    start: usize,
) -> Evaluated<Words> {
    let mut out = Words::from_slice(&state[..start]);
    if let Some(effect) = step.effect {
        let effect = &scratch.effects[effect as usize];
        if let Some((segment, sent)) = effect.channel {
            let (at, len) = program.locate(segment, &out);
            match sent {
                Some(sent) => {
                    let values = sent.of(&scratch.words);
                    out.insert_from_slice(at + len, values);
                    out.insert(at + len, values.len() as i32);
                    out[at - 1] += values.len() as i32 + 1;
                }
                None => {
                    let size = out[at] + 1;
                    out.drain(at..at + size as usize);
                    out[at - 1] -= size;
                }
            }
        }
        for run in effect.blocks.iter().flatten() {
            let mut bound = Words::from_slice(run.bound.of(&scratch.words));
            program.run(&program.blocks[run.block as usize], &mut out, run.env.of(&scratch.words), &mut bound)?;
        }
    }
    let mut cursor = start;
    for splice in step.splices.of(&scratch.splices) {
        out.extend_from_slice(&state[cursor..splice.start as usize]);
        match splice.target {
            Target::Nothing => {}
            Target::Words(range) => out.extend_from_slice(range.of(&scratch.words)),
            Target::Node(node, env) => instantiate(program, node, env.of(&scratch.words), &mut out, 0)?,
        }
        cursor = splice.end as usize;
    }
    out.extend_from_slice(&state[cursor..]);
    if out.len() > WORDS_MAX { too_large() } else { Ok(out) }
}

/// Writes a process that begins: calls whose arguments are known are replaced by what they call.
pub(super) fn instantiate(program: &Program, node: NodeId, env: &[i32], out: &mut Words, depth: u32) -> Evaluated<()> {
    if depth >= DEPTH_MAX {
        return unbounded();
    }
    if out.len() > WORDS_MAX {
        return too_large();
    }
    let depth = depth + 1;
    let mut head = |node: NodeId, env: &[i32]| {
        out.push(node.0 as i32);
        out.extend_from_slice(env);
    };
    match program.node(node) {
        Node::Call { def, args, lazy: false } => {
            let from = Reading { data: &[], env, bound: &[] };
            let mut values = Env::new();
            for &arg in args {
                values.push(program.eval(arg, &from)?);
            }
            let body = &program.defs[*def as usize].body;
            instantiate(program, body.node, &env_of(body, &values, &[]), out, depth)
        }
        Node::Sequence { first, run } => {
            head(run.node, &env_of(run, env, &[]));
            instantiate(program, first.node, &env_of(first, env, &[]), out, depth)
        }
        Node::Hide { body, run } => {
            head(run.node, &env_of(run, env, &[]));
            instantiate(program, body.node, &env_of(body, env, &[]), out, depth)
        }
        Node::Atomic { body, run } => {
            head(*run, &[]);
            instantiate(program, body.node, &env_of(body, env, &[]), out, depth)
        }
        Node::Interrupt { first, second, run } => {
            head(*run, &[]);
            instantiate(program, first.node, &env_of(first, env, &[]), out, depth)?;
            instantiate(program, second.node, &env_of(second, env, &[]), out, depth)
        }
        Node::Interleave { parts, run } | Node::External { parts, run } => {
            several(program, parts, (*run, &[]), env, out, depth)
        }
        Node::Parallel { parts, run } => {
            let own = env_of(run, env, &[]);
            several(program, parts, (run.node, &own), env, out, depth)
        }
        _ => {
            head(node, env);
            Ok(())
        }
    }
}

/// Writes a node, the number of its parts, and the parts.
fn several(
    program: &Program,
    parts_of: &Parts,
    (run, own): (NodeId, &[i32]),
    env: &[i32],
    out: &mut Words,
    depth: u32,
) -> Evaluated<()> {
    let list = parts(program, parts_of, env)?;
    out.push(run.0 as i32);
    out.extend_from_slice(own);
    out.push(list.len() as i32);
    for (node, env) in list {
        instantiate(program, node, &env, out, depth)?;
    }
    Ok(())
}

/// The parts with their environments.
pub(in super::super) fn parts(program: &Program, parts: &Parts, env: &[i32]) -> Evaluated<Vec<(NodeId, Env)>> {
    match parts {
        Parts::Each(list) => Ok(list.iter().map(|closure| (closure.node, env_of(closure, env, &[]))).collect()),
        Parts::Indexed(indices, closure, place) => {
            let rows = rows(program, indices, env, *place)?;
            Ok(rows.iter().map(|row| (closure.node, env_of(closure, env, row))).collect())
        }
    }
}

/// Every combination of values of some indices.
pub(super) fn rows(
    program: &Program,
    indices: &[Box<[(ExId, ExId)]>],
    env: &[i32],
    place: Place,
) -> Evaluated<Vec<Env>> {
    let from = Reading { data: &[], env, bound: &[] };
    let mut rows = vec![Env::new()];
    for values in indices {
        let mut next = Vec::new();
        for &(low, high) in values {
            let (low, high) = (program.eval(low, &from)?, program.eval(high, &from)?);
            let count = (i64::from(high) - i64::from(low) + 1).max(0) as usize;
            if next.len() + count.saturating_mul(rows.len()) > PARTS_MAX {
                return fault(place, format!("the indices make more than {PARTS_MAX} parts"));
            }
            for row in &rows {
                next.extend((low..=high).map(|value| {
                    let mut row = row.clone();
                    row.push(value);
                    row
                }));
            }
        }
        rows = next;
    }
    Ok(rows)
}
