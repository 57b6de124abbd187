//! Checks certificates of quasi linearizability, with code of its own.
//!
//! A pass is checked by looking: the linearization has every complete operation once and keeps the precedence, the run is
//! a permutation of it within the factors, and the simulator accepts the run. A fail says that no two orders exist, which
//! makes the verifier search ([`search`]). Invariant: classes, factors and readings are read here a second time.

mod orders;
mod search;

use std::collections::HashMap;

use super::simulate::{Action, Kind, Side};
use super::{Members, Reading, Refusal, Stop, read};
use crate::certificate::quasi::{QuasiCertificate, QuasiClaim, QuasiViolation, VERSION};
use crate::{Budget, Log, OpId, Value, Verdict};

/// Checks that a certificate shows what it claims about the log. `Pass`: it does. `Fail`: it is refused, which says
/// nothing about the log. `Unknown`: the budget was spent first.
pub fn verify_quasi(log: &Log, certificate: &QuasiCertificate, budget: &Budget) -> Verdict<(), Refusal> {
    super::answer(checked(log, certificate, budget))
}

fn checked(log: &Log, certificate: &QuasiCertificate, budget: &Budget) -> Result<(), Stop> {
    let head = (&*certificate.selvedge, certificate.version, &*certificate.criterion, certificate.operations);
    super::check_header(log, head, (VERSION, "quasi-linearizability"))?;
    let reading = Reading::of(log, &certificate.object, certificate.initial.as_ref(), budget)?;
    let rules = Rules::new(certificate, reading.kind)?;
    match &certificate.claim {
        QuasiClaim::Pass { orders } => orders::check_all(&reading, &rules, orders),
        QuasiClaim::Fail { part, violation } => {
            let example = violation.operation().or_else(|| first_of(&reading, part)).ok_or(Refusal::NoValues)?;
            let members = Members::new(&reading, part, example)?;
            check_violation(&members, &rules, violation)
        }
    }
}

/// Some operation of a part.
fn first_of(reading: &Reading<'_>, part: &crate::evidence::Part) -> Option<OpId> {
    (0..reading.log.history.len() as u32).map(OpId).find(|&op| reading.scope(part, op).is_some())
}

fn check_violation(members: &Members<'_>, rules: &Rules, violation: &QuasiViolation) -> Result<(), Stop> {
    let reading = members.reading;
    match violation {
        QuasiViolation::NeedNotBlock { operation } => {
            if !reading.is_stuck() {
                return Err(Refusal::NotStuck.into());
            }
            if members.operation(*operation)?.ret.is_some() {
                return Err(Refusal::NotPending(*operation).into());
            }
            // None of the objects that have factors ever makes a caller wait.
            Ok(())
        }
        QuasiViolation::QuasiUnplaced { operation, before, events, .. } => {
            let cut = members.operation(*operation)?.ret.as_ref().ok_or(Refusal::Pending(*operation))?.at;
            let found = events_until(members, cut)?;
            if *events != found {
                return Err(Refusal::OtherPrefix { claimed: *events, found }.into());
            }
            if let Some(before) = before {
                orders::check(members, &Rules { is_closed: false, ..rules.clone() }, before, cut)?;
            }
            let prefix = Rules { is_closed: false, ..rules.clone() };
            if search::exists(members, &prefix, cut.saturating_add(1))? {
                return Err(Refusal::Explained(*operation).into());
            }
            Ok(())
        }
        QuasiViolation::QuasiUnfinished { .. } => {
            if !rules.is_closed || search::exists(members, rules, u32::MAX)? {
                return Err(Refusal::Ordered.into());
            }
            Ok(())
        }
    }
}

/// How many events of the part there are up to the one at `cut`.
fn events_until(members: &Members<'_>, cut: u32) -> Result<u32, Refusal> {
    let mut found = 0;
    for &op in &members.ops {
        let operation = members.reading.operation(op)?;
        found += u32::from(operation.call <= cut) + u32::from(operation.end() <= cut);
    }
    Ok(found)
}

/// What a certificate allows.
#[derive(Clone)]
struct Rules {
    kind: Kind,
    is_closed: bool,
    is_free: bool,
    is_strict: bool,
    factors: Vec<u32>,
    /// Method, whether only when it finds nothing, class.
    named: Vec<(String, bool, usize)>,
}

/// The largest factor that anybody writes.
const FACTOR_MAX: u32 = 1000;

const SAMPLES: [Value; 4] = [Value::Nil, Value::Int(0), Value::Int(5), Value::Bool(true)];

impl Rules {
    fn new(certificate: &QuasiCertificate, kind: Kind) -> Result<Self, Refusal> {
        let wrong = |found: &str, reason| Refusal::Relaxation { found: found.to_owned(), reason };
        let one_of = |text: &str, usual: &str, other: &str| match text {
            text if text == usual => Ok(false),
            text if text == other => Ok(true),
            text => Err(wrong(text, "no such reading is known")),
        };
        let known = matches!(
            kind,
            Kind::Queue
                | Kind::Stack
                | Kind::Deque
                | Kind::PriorityQueue
                | Kind::PriorityQueueMin
                | Kind::Counter
                | Kind::Set
                | Kind::Register
        );
        if !known {
            return Err(wrong(kind.name(), "this object has no factors"));
        }
        let mut rules = Rules {
            kind,
            is_closed: one_of(&certificate.reading, "prefix", "closed")?,
            is_free: one_of(&certificate.causality, "causal", "free")?,
            is_strict: one_of(&certificate.order, "distance", "strict")?,
            factors: vec![0],
            named: Vec::new(),
        };
        for class in certificate.quasi.split(',') {
            let (names, factor) =
                class.split_once('=').ok_or_else(|| wrong(class, "a class needs a factor, such as deq=2"))?;
            let factor: u32 = factor
                .trim()
                .parse()
                .ok()
                .filter(|&factor| factor <= FACTOR_MAX)
                .ok_or_else(|| wrong(class, "a factor should be a number from 0 to 1000"))?;
            for name in names.split('+') {
                let (method, empty) = match name.trim().strip_suffix(":empty") {
                    Some(method) => (method, true),
                    None => (name.trim(), false),
                };
                if method != "*" && !rules.is_method(method) {
                    return Err(wrong(class, "the object has no such method"));
                }
                if rules.named.iter().any(|(other, also, _)| *also == empty && rules.is_shared(other, method)) {
                    return Err(wrong(class, "the method is in another class too"));
                }
                rules.named.push((method.to_owned(), empty, rules.factors.len()));
            }
            rules.factors.push(factor);
        }
        Ok(rules)
    }

    /// The class of an operation.
    fn class(&self, method: &str, action: &Action, result: Option<&Value>) -> usize {
        let found_nothing = matches!(action, Action::Remove(_) | Action::Peek(_)) && result.is_some_and(Value::is_nil);
        let find = |empty: bool| {
            let same = |name: &str| name == "*" || self.is_same_method(name, method);
            self.named.iter().find(|(name, only_empty, _)| *only_empty == empty && same(name)).map(|entry| entry.2)
        };
        let own = find(false).unwrap_or(0);
        if found_nothing { find(true).unwrap_or(own) } else { own }
    }

    fn reads(&self, method: &str, sample: &Value) -> Option<Action> {
        read::action(self.kind, method, &Value::Nil, sample).ok()
    }

    fn is_method(&self, name: &str) -> bool {
        SAMPLES.iter().any(|sample| self.reads(name, sample).is_some())
    }

    /// Two names are of one method when they do the same with every argument.
    fn is_same_method(&self, one: &str, other: &str) -> bool {
        let is_same = |sample: &Value| self.reads(one, sample) == self.reads(other, sample);
        SAMPLES.iter().all(is_same) && self.is_method(one)
    }

    /// Whether some operation would have both names.
    fn is_shared(&self, one: &str, other: &str) -> bool {
        one == "*" || other == "*" || self.is_same_method(one, other)
    }
}

/// The value that must have been put in before the operation, and whether it is taken out.
fn needs(action: &Action, result: &Value) -> Option<(Value, bool)> {
    match (action, result) {
        (Action::Remove(_), value) if !value.is_nil() => Some((value.clone(), true)),
        (Action::Peek(_), value) if !value.is_nil() => Some((value.clone(), false)),
        (Action::Discard(value), Value::Bool(true)) => Some((value.clone(), true)),
        (Action::Contains(value), Value::Bool(true)) | (Action::Add(value), Value::Bool(false)) => {
            Some((value.clone(), false))
        }
        _ => None,
    }
}

/// The value that an operation may put in.
fn brings<'a>(action: &'a Action, result: Option<&Value>) -> Option<&'a Value> {
    match action {
        Action::Insert(_, value) => Some(value),
        Action::Add(value) if result != Some(&Value::Bool(false)) => Some(value),
        _ => None,
    }
}

/// The values that may come in after the events before `cut`, where nothing ties a value to its insertion: those that the
/// history brings later, as often as it does, and those that it never brings, once.
struct ToCome {
    /// How often the history brings each value, and how often after the cut.
    brought: HashMap<Value, (usize, usize)>,
}

impl ToCome {
    fn new(members: &Members<'_>, cut: u32) -> Result<Self, Stop> {
        let mut brought: HashMap<Value, (usize, usize)> = HashMap::new();
        for &op in &members.ops {
            let operation = members.reading.operation(op)?;
            if let Some(value) = brings(members.reading.action(op), operation.output()) {
                let (all, later) = brought.entry(value.clone()).or_default();
                *all += 1;
                *later += usize::from(operation.call >= cut);
            }
        }
        Ok(ToCome { brought })
    }

    /// Whether the value may come in once more, when it did so often after the cut.
    fn allows(&self, value: &Value, times: usize) -> bool {
        times < self.brought.get(value).map_or(1, |&(_, later)| later)
    }
}

/// Calls without an argument that anybody may make.
fn bare_calls(kind: Kind) -> Vec<(&'static str, Action)> {
    let names: &[&'static str] = match kind {
        Kind::Queue => &["deq", "peek"],
        Kind::Stack => &["pop", "peek"],
        Kind::PriorityQueue | Kind::PriorityQueueMin => &["poll", "peek"],
        Kind::Deque => &["pop_front", "pop_back", "peek_front", "peek_back"],
        Kind::Counter => &["inc", "dec", "get", "fetch_inc", "fetch_dec", "inc_and_get", "dec_and_get"],
        Kind::Register => &["read"],
        _ => &[],
    };
    let read = |&name: &&'static str| Some((name, read::action(kind, name, &Value::Nil, &Value::Nil).ok()?));
    names.iter().filter_map(read).collect()
}

/// The call that puts in a value.
fn insertion(kind: Kind, value: &Value) -> Option<(&'static str, Action)> {
    let back = |name| Some((name, Action::Insert(Side::Back, value.clone())));
    match kind {
        Kind::Queue => back("enq"),
        Kind::Stack => back("push"),
        Kind::Deque => back("push_back"),
        Kind::PriorityQueue | Kind::PriorityQueueMin => back("insert"),
        Kind::Set => Some(("add", Action::Add(value.clone()))),
        _ => None,
    }
}
