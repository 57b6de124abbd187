//! Names for the columns of a counterexample: the processes that run side by side.
//!
//! An actor is a path through nested compositions, as the machine counts it. Its name is what is written at that place of
//! the text: `P(0)` for the first part of `||| i:{0..1}@P(i)`.

use super::eval::Reading;
use super::machine::{Env, env_of, is_together, members, parts};
use super::program::{Node, NodeId, Program, Source};

/// How far the text is followed to the composition that an actor is part of.
const FAR: usize = 60;

/// The name of an actor of a process.
pub(crate) fn name(program: &Program, node: NodeId, env: &[i32], actor: u32) -> String {
    if actor == 0 {
        return "system".to_owned();
    }
    if is_together(actor) {
        // Parts of one outermost process that do something together bear the name of that process.
        let names: Vec<String> = members(actor).iter().map(|part| name(program, node, env, part + 1)).collect();
        return names.join(" + ");
    }
    let mut here = (node, Env::from_slice(env));
    let mut digits = actor;
    let mut text = String::new();
    while digits != 0 {
        let index = (digits & 0xff) as usize - 1;
        digits >>= 8;
        let Some(list) = composition(program, here.0, &here.1) else { break };
        let Some(part) = list.get(index) else { break };
        let shown: Vec<String> = list.iter().map(|(node, env)| written(program, *node, env)).collect();
        let same = shown.iter().filter(|other| **other == shown[index]).count();
        text = shown[index].clone();
        if text.is_empty() {
            // What is written there has no name.
            text = format!("part {}", index + 1);
        } else if same > 1 {
            let before = shown[..index].iter().filter(|other| **other == shown[index]).count();
            text.push_str(&format!(" #{}", before + 1));
        }
        here = part.clone();
    }
    if text.is_empty() { format!("process {}", actor & 0xff) } else { text }
}

/// A part as it is written, if it is a call.
fn written(program: &Program, node: NodeId, env: &[i32]) -> String {
    let Node::Call { def, args, .. } = program.node(node) else { return String::new() };
    let from = Reading { data: &program.data, env, bound: &[] };
    let values: Option<Vec<String>> =
        args.iter().map(|&arg| program.eval(arg, &from).ok().map(|value| value.to_string())).collect();
    let name = &program.defs[*def as usize].name;
    match values {
        Some(values) if !values.is_empty() => format!("{name}({})", values.join(",")),
        _ => name.clone(),
    }
}

/// The parts of the first composition that a process comes to.
fn composition(program: &Program, node: NodeId, env: &[i32]) -> Option<Vec<(NodeId, Env)>> {
    let mut pending = vec![(node, Env::from_slice(env))];
    for _ in 0..FAR {
        let (node, env) = pending.pop()?;
        let mut go = |closure: &super::program::Closure| {
            if !closure.env.iter().any(|source| matches!(source, Source::Bound(_))) {
                pending.push((closure.node, env_of(closure, &env, &[])));
            }
        };
        match program.node(node) {
            Node::Interleave { parts: list, .. } | Node::Parallel { parts: list, .. } => {
                return parts(program, list, &env).ok();
            }
            Node::Call { def, args, .. } => {
                let from = Reading { data: &program.data, env: &env, bound: &[] };
                let values: Option<Env> = args.iter().map(|&arg| program.eval(arg, &from).ok()).collect();
                let body = &program.defs[*def as usize].body;
                pending.push((body.node, env_of(body, &values?, &[])));
            }
            Node::Sequence { first, run } => {
                if let Node::SequenceRun(second) = program.node(run.node) {
                    let env = env_of(run, &env, &[]);
                    pending.push((second.node, env_of(second, &env, &[])));
                }
                pending.push((first.node, env_of(first, &env, &[])));
            }
            Node::Hide { body, .. } | Node::Atomic { body, .. } => go(body),
            Node::Event { next, .. } => go(next),
            Node::General(list) => pending.extend(parts(program, list, &env).ok()?.into_iter().take(1)),
            _ => {}
        }
    }
    None
}
