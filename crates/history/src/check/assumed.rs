//! What a pass took for granted: the values that several registers start with, where nobody stated one.
//!
//! Such a register starts with some value, and the first read that was recorded tells which. A value that nothing ever wrote
//! is then no violation, so whoever reads "pass" must be told.

use std::collections::HashSet;

use crate::evidence::{Linearization, Part};
use crate::object::Kind;
use crate::object::multi_register::steps;
use crate::{Log, Value};

/// A register that is taken to start with a value, because a read that comes before every write saw that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// Which of several objects it belongs to.
    pub part: Part,
    /// The register.
    pub register: Value,
    /// What it is taken to start with.
    pub value: Value,
}

/// The initial values that these linearizations rest on, in the order in which they are read; none where one was stated.
/// O(n) in the steps of all transactions.
pub fn assumed(log: &Log, kind: Kind, initial: Option<&Value>, linearizations: &[Linearization]) -> Vec<Assumed> {
    let mut found = Vec::new();
    if kind != Kind::MultiRegister || initial.or(log.initial.as_ref()).is_some() {
        return found;
    }
    for Linearization { part, order, .. } in linearizations {
        let mut known: HashSet<&Value> = HashSet::new();
        for &op in order {
            let operation = log.history.operation(op);
            let results = operation.output().and_then(Value::as_list);
            for (i, (register, written)) in steps(&operation.input.argument).enumerate() {
                let seen = results.and_then(|results| results.get(i)?.as_list()?.get(2));
                match (written, seen) {
                    (true, _) => drop(known.insert(register)),
                    (false, Some(value)) if known.insert(register) => {
                        let (part, register, value) = (part.clone(), register.clone(), value.clone());
                        found.push(Assumed { part, register, value });
                    }
                    _ => {}
                }
            }
        }
    }
    found
}
