//! Checks that two orders show what they claim.

use std::collections::{HashMap, HashSet};

use super::{Rules, ToCome, brings, needs};
use crate::certificate::quasi::{QuasiOrders, QuasiPlaced};
use crate::verify::simulate::Action;
use crate::verify::{Members, Reading, Refusal, Stop, read};
use crate::{OpId, Value};

/// Checks that every object has orders.
pub(super) fn check_all(reading: &Reading<'_>, rules: &Rules, all: &[QuasiOrders]) -> Result<(), Stop> {
    let mut covered: HashSet<OpId> = HashSet::new();
    for orders in all {
        let first = orders.linearization.iter().find_map(|placed| match placed {
            QuasiPlaced::Operation(op) => Some(*op),
            QuasiPlaced::Later { .. } => None,
        });
        let Some(first) = first else { continue };
        let members = Members::new(reading, &orders.part, first)?;
        check(&members, rules, orders, u32::MAX)?;
        if reading.is_stuck() {
            covered.extend(members.ops.iter().filter(|&&op| reading.log.history.operation(op).ret.is_some()));
            covered.extend(orders.linearization.last().and_then(|placed| match placed {
                QuasiPlaced::Operation(op) => Some(*op),
                QuasiPlaced::Later { .. } => None,
            }));
        } else {
            covered.extend(&members.ops);
        }
    }
    let operations = reading.log.history.operations();
    // What is pending alone in its object has no orders to stand in.
    let left = (0..operations.len() as u32)
        .map(OpId)
        .find(|op| !covered.contains(op) && (operations[op.0 as usize].ret.is_some() || reading.is_stuck()));
    left.map_or(Ok(()), |op| Err(Refusal::Missing(op).into()))
}

/// One operation of the linearization.
struct Entry {
    action: Action,
    result: Value,
    class: usize,
}

/// Checks the orders of one object, in the events before `cut`: what returns at `cut` or later is pending.
pub(super) fn check(members: &Members<'_>, rules: &Rules, orders: &QuasiOrders, cut: u32) -> Result<(), Stop> {
    let reading = members.reading;
    let mut linearization = &orders.linearization[..];
    if reading.is_stuck() && cut == u32::MAX {
        // The last one blocks; what comes before is complete.
        let Some((QuasiPlaced::Operation(last), rest)) = linearization.split_last() else {
            return Err(Refusal::NoPermutation.into());
        };
        if members.operation(*last)?.ret.is_some() {
            return Err(Refusal::NotPending(*last).into());
        }
        let mut object = reading.start.clone();
        let entries = entries(members, rules, rest, orders, cut)?;
        run(&entries, rules, &orders.run, &mut object)?;
        if !object.blocks(reading.action(*last)) {
            return Err(Refusal::DoesNotBlock(*last).into());
        }
        linearization = rest;
    } else {
        let entries = entries(members, rules, linearization, orders, cut)?;
        run(&entries, rules, &orders.run, &mut reading.start.clone())?;
    }
    precedence(members, rules, linearization, orders, cut)
}

/// What each entry of the linearization does; every complete operation once.
fn entries(
    members: &Members<'_>,
    rules: &Rules,
    linearization: &[QuasiPlaced],
    orders: &QuasiOrders,
    cut: u32,
) -> Result<Vec<Entry>, Stop> {
    let reading = members.reading;
    let given: HashMap<OpId, &Value> = orders.results.iter().map(|(op, result)| (*op, result)).collect();
    let mut seen = HashSet::new();
    let mut entries = Vec::with_capacity(linearization.len());
    for (i, placed) in linearization.iter().enumerate() {
        if i % 4096 == 0 {
            reading.budget.check()?;
        }
        let (method, action, result) = match placed {
            QuasiPlaced::Operation(op) => {
                let operation = members.operation(*op)?;
                if !seen.insert(*op) {
                    return Err(Refusal::Repeated(*op).into());
                }
                if operation.call >= cut {
                    return Err(Refusal::NoSuchOperation(*op).into());
                }
                let result = match operation.ret.as_ref().filter(|ret| ret.at < cut) {
                    Some(ret) => &ret.output,
                    None => given.get(op).copied().ok_or(Refusal::NoResult(*op))?,
                };
                (reading.log.name(operation.input.method), reading.action(*op).clone(), result)
            }
            QuasiPlaced::Later { .. } if rules.is_closed || reading.is_stuck() => return Err(Refusal::Continued.into()),
            QuasiPlaced::Later { method, argument, result } => {
                let action = read::action(rules.kind, method, &Value::Nil, argument).map_err(|_| Refusal::Continued)?;
                (method.as_str(), action, result)
            }
        };
        let class = rules.class(method, &action, Some(result));
        if matches!(placed, QuasiPlaced::Later { .. }) && !rules.is_free && rules.factors[class] == 0 {
            return Err(Refusal::Continued.into());
        }
        entries.push(Entry { action, result: result.clone(), class });
    }
    let complete = |op: &&OpId| reading.log.history.operation(**op).ret.as_ref().is_some_and(|ret| ret.at < cut);
    match members.ops.iter().filter(complete).find(|op| !seen.contains(*op)) {
        Some(op) => Err(Refusal::Missing(*op).into()),
        None => Ok(entries),
    }
}

/// Checks that the run is a permutation within the factors, and that the object accepts it.
fn run(
    entries: &[Entry],
    rules: &Rules,
    run: &[u32],
    object: &mut crate::verify::simulate::Object,
) -> Result<(), Refusal> {
    let mut used = vec![false; entries.len()];
    if run.len() != entries.len() {
        return Err(Refusal::NoPermutation);
    }
    let mut count = vec![0u32; rules.factors.len()];
    let mut place = Vec::with_capacity(entries.len());
    for entry in entries {
        place.push(count[entry.class]);
        count[entry.class] += 1;
    }
    let mut lines: Vec<Vec<u32>> = vec![Vec::new(); rules.factors.len()];
    for (i, &of) in run.iter().enumerate() {
        let entry = entries.get(of as usize).ok_or(Refusal::NoPermutation)?;
        if std::mem::replace(&mut used[of as usize], true) {
            return Err(Refusal::NoPermutation);
        }
        if entry.class != entries[i].class {
            return Err(Refusal::OtherClass(i as u32));
        }
        let (factor, off) = (rules.factors[entry.class], place[i].abs_diff(place[of as usize]));
        if off > factor && (!rules.is_strict || factor == 0) {
            return Err(Refusal::TooFar { place: of, off, factor });
        }
        lines[entry.class].push(of);
        object.accepts(&entry.action, &entry.result).map_err(|_| Refusal::NotLegal(of))?;
    }
    if rules.is_strict {
        for (class, line) in lines.into_iter().enumerate() {
            strict(line, rules.factors[class])?;
        }
    }
    Ok(())
}

/// Checks that the linearization, which is in ascending order, takes one of the first K+1 that remain of the run each time,
/// and passes over the first at most K times in a row.
fn strict(mut line: Vec<u32>, factor: u32) -> Result<(), Refusal> {
    let mut order = line.clone();
    order.sort_unstable();
    let mut passed = 0;
    for next in order {
        let off = line.iter().position(|&other| other == next).unwrap_or_default();
        line.remove(off);
        passed = if off == 0 { 0 } else { passed + 1 };
        let off = off as u32;
        if off > factor || passed > factor {
            return Err(Refusal::TooFar { place: next, off: off.max(passed), factor });
        }
    }
    Ok(())
}

/// Checks that moments can be found for the linearization: each inside its operation, in this order, and none before the
/// insertion of the value was called.
fn precedence(
    members: &Members<'_>,
    rules: &Rules,
    linearization: &[QuasiPlaced],
    orders: &QuasiOrders,
    cut: u32,
) -> Result<(), Stop> {
    let reading = members.reading;
    let mut calls: HashMap<&Value, Vec<u32>> = HashMap::new();
    for &op in &members.ops {
        let operation = reading.operation(op)?;
        if let Some(value) = brings(reading.action(op), operation.output()).filter(|_| operation.call < cut) {
            calls.entry(value).or_default().push(operation.call);
        }
    }
    let to_come = ToCome::new(members, cut)?;
    let given: HashMap<OpId, &Value> = orders.results.iter().map(|(op, result)| (*op, result)).collect();
    let mut taken: HashMap<Value, usize> = HashMap::new();
    let mut later: HashMap<Value, usize> = HashMap::new();
    let mut moment = 0;
    let mut last = None;
    for (i, placed) in linearization.iter().enumerate() {
        let uncaused = Refusal::Uncaused(i as u32);
        let (action, result, is_later) = match placed {
            QuasiPlaced::Operation(op) => {
                let operation = members.operation(*op)?;
                let result = operation.output().filter(|_| operation.end() < cut).or(given.get(op).copied());
                moment = moment.max(operation.call);
                if operation.end().min(cut) <= moment && operation.end() < cut {
                    return Err(Refusal::Precedence { first: *op, second: last.unwrap_or(*op) }.into());
                }
                last = Some(*op);
                (reading.action(*op).clone(), result.cloned().unwrap_or_default(), false)
            }
            QuasiPlaced::Later { method, argument, result } => {
                let action = read::action(rules.kind, method, &Value::Nil, argument).map_err(|_| Refusal::Continued)?;
                (action, result.clone(), true)
            }
        };
        if is_later && let Some(value) = brings(&action, Some(&result)) {
            let times = later.entry(value.clone()).or_default();
            let again = if rules.is_free { !to_come.allows(value, *times) } else { calls.contains_key(value) };
            if again {
                return Err(Refusal::Continued.into());
            }
            *times += 1;
        }
        if rules.is_free {
            continue;
        }
        let Some((value, is_taken)) = needs(&action, &result) else { continue };
        let before = if is_taken { std::mem::replace(taken.entry(value.clone()).or_default(), 0) } else { 0 };
        if is_taken {
            taken.insert(value.clone(), before + 1);
        }
        let called = calls.get(&value).map_or(&[][..], |calls| calls);
        match called.get(before) {
            Some(&call) => moment = moment.max(call),
            None if is_later && called.len() + later.get(&value).copied().unwrap_or(0) > before => {}
            None => return Err(uncaused.into()),
        }
        if let QuasiPlaced::Operation(op) = placed {
            let end = members.operation(*op)?.end();
            if end < cut && end <= moment {
                return Err(uncaused.into());
            }
        }
    }
    Ok(())
}
