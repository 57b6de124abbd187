//! One step in words.

use selvedge_protocol::{Access, Class, Step, StepKind, Verb, words};

use super::super::names::{Names, Site};
use super::super::text::clean;
use crate::quantity::counted;

/// A call into a library in words.
pub fn call_words(site: &Site, object: u64, names: &mut Names, steps: usize) -> String {
    let call = site.call.as_deref().unwrap_or_default();
    format!("{call} {} ({})", names.address(object), counted(steps as u64, "step"))
}

/// What a step touches: something in memory, or a thread that is woken.
fn object(access: &Access, names: &mut Names) -> String {
    if access.on == Class::WakeUp { format!("T{}", access.object) } else { names.address(access.object) }
}

/// A step in words, with what the run made of it where that has no reason.
pub fn words(step: &Step, site: &Site, names: &mut Names) -> String {
    let words = deed_words(step, site, names);
    if step.spurious { format!("{words}, wakes up without a reason") } else { words }
}

/// `read head → 0`, `write head 0 → 1`, `lock a`, `Mutex::lock a: 0 → 1`, `call push(1)`.
fn deed_words(step: &Step, site: &Site, names: &mut Names) -> String {
    let access = match &step.kind {
        // A finding of an older version does not say what was called.
        StepKind::Call { operation } => return clean(&format!("call {}", operation.as_deref().unwrap_or("object"))),
        StepKind::Return { result } => return clean(&format!("return {}", result.as_deref().unwrap_or("object"))),
        StepKind::Create => return "create".to_owned(),
        StepKind::Yield => return "yield".to_owned(),
        StepKind::Choose { chosen, options } => return format!("chooses {chosen} of {options}"),
        StepKind::Access(access) => access,
    };
    if let Some(told) = words::on_descriptor(access) {
        return told;
    }
    let object = object(access, names);
    let memory = access.on == Class::Memory;
    let value = |names: &mut Names, value| names.value(value, access.size);
    if let Some(call) = &site.call {
        return match (access.verb, access.new) {
            (Verb::Update | Verb::Write, Some(new)) if memory && access.changes() => {
                format!("{call} {object}: {} → {}", value(names, access.old), value(names, new))
            }
            (Verb::Read, _) if memory && access.size > 0 => format!("{call} {object}: {}", value(names, access.old)),
            _ => format!("{call} {object}"),
        };
    }
    match (access.verb, access.new) {
        (Verb::Read, _) if memory => format!("read {object} → {}", value(names, access.old)),
        (Verb::Write, Some(new)) if memory => format!("write {object} = {}", value(names, new)),
        (Verb::Update, Some(new)) if memory && new == access.old => format!("update {object} = {}", value(names, new)),
        (Verb::Update, Some(new)) if memory => {
            format!("update {object} {} → {}", value(names, access.old), value(names, new))
        }
        _ => format!("{} {object}", deed(access)),
    }
}

/// What is done, and to what kind of thing where the word for it does not say that: "lock lock" is a lock.
fn deed(access: &Access) -> String {
    match (access.verb, words::class(access.on)) {
        (Verb::Lock | Verb::LockShared, Some(_)) => words::verb(Verb::Lock).to_owned(),
        (Verb::Unlock | Verb::UnlockShared, Some(_)) => words::verb(Verb::Unlock).to_owned(),
        (Verb::Update, _) if access.on == Class::Condition => "wake".to_owned(),
        (verb, Some(class)) => format!("{} {class}", words::verb(verb)),
        (verb, None) => words::verb(verb).to_owned(),
    }
}
