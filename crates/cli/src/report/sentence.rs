//! Why a history is not linearizable, in a sentence or two, without theory.
//!
//! Invariant: a sentence says no more than the violation proves; each names the operations and lines that a reader
//! needs to check it by hand.

use selvedge_history::check::assumed::Assumed;
use selvedge_history::evidence::{Failure, Forced, Stay, Violation};
use selvedge_history::object::Kind;
use selvedge_history::{OpId, Value};

use super::operation::{Family, Reading, show};
use crate::quantity::{count, counted};

/// How many members of a long list are spelled out.
const SPELLED_OUT: usize = 3;

/// The reason.
pub fn reason(reading: Reading<'_>, failure: &Failure) -> String {
    let part = reading.part(&failure.part);
    let body = violation(reading, &failure.violation);
    if part.is_empty() { body } else { format!("In {part}: {body}") }
}

/// What to try when the violation may come from a setting that was not given.
pub fn hint(reading: Reading<'_>, failure: &Failure, initial: Option<&Value>) -> Option<String> {
    match reading.kind {
        Kind::Semaphore if initial.is_none() => {
            return Some(
                "It is taken to have one permit at first. If it had more, say so: --initial NUMBER".to_owned(),
            );
        }
        Kind::Counter if initial.is_none() => {
            return Some("It is taken to start with 0. If it did not, say so: --initial NUMBER".to_owned());
        }
        _ => {}
    }
    let (Violation::ThinAir { operation } | Violation::Unplaced { operation, .. } | Violation::Unordered { operation }) =
        &failure.violation
    else {
        return None;
    };
    let value = reading.log.history.operation(*operation).output()?;
    // A key of a map that was never put is known to be absent.
    let may_start_otherwise = reading.family() == Family::Register && reading.kind != Kind::Map;
    if initial.is_some() || !may_start_otherwise || !is_common_initial(value) {
        return None;
    }
    let history = &reading.log.history;
    let written = history.operations().iter().any(|op| match &op.input.argument {
        Value::List(items) => items.contains(value),
        argument => argument == value,
    });
    let (shown, flag) = match value {
        Value::Text(text) if text.is_empty() => ("an empty text".to_owned(), "'\"\"'".to_owned()),
        Value::Text(text) => (text.to_string(), format!("'\"{text}\"'")),
        value => (value.to_string(), value.to_string()),
    };
    (!written).then(|| format!("Nothing wrote {shown}. If it was there from the start, say so: --initial {flag}"))
}

/// What registers hold before anybody writes, in most programs.
fn is_common_initial(value: &Value) -> bool {
    match value {
        Value::Int(int) => matches!(int, -1..=1),
        Value::Bool(bool) => !bool,
        Value::Text(text) => text.is_empty() || text.as_str() == "0",
        Value::Nil | Value::List(_) => false,
    }
}

fn violation(reading: Reading<'_>, violation: &Violation) -> String {
    match violation {
        Violation::ThinAir { operation } => thin_air(reading, *operation),
        Violation::RemovedTwice { insert, first, second } => removed_twice(reading, *insert, *first, *second),
        Violation::RemovedTooOften { inserts, removes } => removed_too_often(reading, inserts, removes),
        Violation::TooEarly { operation, insert } => too_early(reading, *operation, *insert),
        Violation::TooLate { operation, remove } => too_late(reading, *operation, *remove),
        Violation::Overtaken { first, second } => overtaken(reading, *first, *second),
        Violation::NotEmpty { operation, inside } => not_empty(reading, *operation, inside),
        Violation::Outranked { operation, insert, inside } => outranked(reading, *operation, *insert, inside),
        Violation::Entangled { stays } => entangled(reading, stays),
        Violation::TooFewRemovals { values } => too_few_removals(reading, values),
        Violation::Conflict { operations } => conflict(reading, operations),
        Violation::Missed { operation, insert, before, after } => missed(reading, *operation, *insert, *before, *after),
        Violation::Crossed { first, last, other_first, other_last } => {
            crossed(reading, *first, *last, *other_first, *other_last)
        }
        Violation::Unplaced { operation, .. } => unplaced(reading, *operation),
        Violation::Unordered { operation } => unordered(reading, *operation),
        Violation::NeedNotBlock { operation } => need_not_block(reading, *operation),
        // The list of kinds may grow; a kind that has no sentence yet is still named.
        other => format!("The history shows a violation of kind {}.", other.kind()),
    }
}

/// The verbs of an object: what brings a value, what ends its stay.
struct Verbs {
    /// "put 7 in"
    brought: fn(&str) -> String,
    /// "took 7 out"
    ended: fn(&str) -> String,
}

fn verbs(reading: Reading<'_>) -> Verbs {
    match reading.family() {
        Family::Register => Verbs { brought: |v| format!("wrote {v}"), ended: |v| format!("replaced {v}") },
        Family::Set => Verbs { brought: |v| format!("added {v}"), ended: |v| format!("removed {v}") },
        Family::Collection | Family::Other => {
            Verbs { brought: |v| format!("put {v} in"), ended: |v| format!("took {v} out") }
        }
    }
}

fn thin_air(reading: Reading<'_>, operation: OpId) -> String {
    let (label, lines, value) = (reading.label(operation), reading.lines(operation), reading.value(operation));
    let brought = (verbs(reading).brought)(&value);
    let initial = if reading.family() == Family::Register { ", and it was not there from the start" } else { "" };
    format!("{label} ({lines}) came up with {value}, but no operation {brought}{initial}.")
}

fn removed_twice(reading: Reading<'_>, insert: OpId, first: OpId, second: OpId) -> String {
    let value = reading.value(insert);
    format!(
        "{value} went in once, by {} ({}), but came out twice: by {} ({}) and by {} ({}).",
        reading.label(insert),
        reading.lines(insert),
        reading.label(first),
        reading.lines(first),
        reading.label(second),
        reading.lines(second),
    )
}

fn removed_too_often(reading: Reading<'_>, inserts: &[OpId], removes: &[OpId]) -> String {
    let last = removes[removes.len() - 1];
    format!(
        "{} came out {}, the last time by {} ({}), but went in only {}.",
        reading.value(inserts[0]),
        counted(removes.len() as u64, "time"),
        reading.label(last),
        reading.lines(last),
        counted(inserts.len() as u64, "time"),
    )
}

fn too_early(reading: Reading<'_>, operation: OpId, insert: OpId) -> String {
    let brought = (verbs(reading).brought)(&reading.value(insert));
    let input = &reading.log.history.operation(insert).input;
    let same =
        (0..reading.log.history.len() as u32).map(OpId).filter(|&op| reading.log.history.operation(op).input == *input);
    let same: Vec<OpId> = same.collect();
    if same.len() > 1 {
        let turn = same.iter().take_while(|&&op| op <= insert).count() as u64;
        return format!(
            "{} returned ({}), so {} had come out {} by then; but {}, the operation that put it in that many times, was \
             called ({}) only later.",
            reading.label(operation),
            reading.returned(operation),
            reading.value(insert),
            counted(turn, "time"),
            reading.label(insert),
            reading.called(insert),
        );
    }
    format!(
        "{} returned ({}) before {}, the only operation that {brought}, was called ({}).",
        reading.label(operation),
        reading.returned(operation),
        reading.label(insert),
        reading.called(insert),
    )
}

fn too_late(reading: Reading<'_>, operation: OpId, remove: OpId) -> String {
    let ended = (verbs(reading).ended)(&reading.value(remove));
    format!(
        "{} was called ({}) after {}, the only operation that {ended}, had returned ({}).",
        reading.label(operation),
        reading.called(operation),
        reading.label(remove),
        reading.returned(remove),
    )
}

fn overtaken(reading: Reading<'_>, first: Stay, second: Stay) -> String {
    let (one, two) = (reading.value(first.insert), reading.value(second.insert));
    let mut text = format!(
        "{two} overtook {one}: {} had returned ({}) before {} was called ({}), ",
        reading.label(first.insert),
        reading.returned(first.insert),
        reading.label(second.insert),
        reading.called(second.insert),
    );
    match (first.remove, second.remove) {
        (Some(late), Some(early)) => text.push_str(&format!(
            "yet {} returned ({}) before {} was called ({}).",
            reading.label(early),
            reading.returned(early),
            reading.label(late),
            reading.called(late),
        )),
        (None, Some(early)) => text.push_str(&format!(
            "yet {} took {two} out ({}) and nothing ever took {one} out.",
            reading.label(early),
            reading.lines(early),
        )),
        (_, None) => text.push_str(&format!("yet {two} left first.")),
    }
    text
}

/// "1 (from line 2 to line 8)", for the first few.
fn stays(reading: Reading<'_>, inside: &[Stay]) -> String {
    let spell = |stay: &Stay| {
        let from = reading.returned(stay.insert);
        let until = stay.remove.map_or("the end".to_owned(), |remove| reading.called(remove));
        format!("{} (from {from} to {until})", reading.value(stay.insert))
    };
    let spelled: Vec<String> = inside.iter().take(SPELLED_OUT).map(spell).collect();
    let more = if inside.len() > SPELLED_OUT {
        format!(", and so on, {} in all", counted(inside.len() as u64, "value"))
    } else {
        String::new()
    };
    format!("{}{more}", spelled.join(", then "))
}

/// "1, 2, 3 and 7 more"
fn named(reading: Reading<'_>, inserts: &[OpId]) -> String {
    let mut names: Vec<String> = inserts.iter().take(SPELLED_OUT).map(|&op| reading.value(op)).collect();
    if inserts.len() > SPELLED_OUT {
        names.push(format!("{} more", count((inserts.len() - SPELLED_OUT) as u64)));
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}

/// The removals that are pending and were called before an operation ended.
fn pending_removals(reading: Reading<'_>, operation: OpId) -> Vec<OpId> {
    let history = &reading.log.history;
    let this = history.operation(operation);
    let same = |op: &OpId| {
        let op = history.operation(*op);
        let here = op.input.object == this.input.object && op.input.key == this.input.key;
        here && op.ret.is_none() && op.call < this.end() && op.input.argument.is_nil()
    };
    (0..history.len() as u32).map(OpId).filter(same).collect()
}

/// The operation that shows last that values had been taken out.
fn last_reason(reading: Reading<'_>, values: &[Forced]) -> OpId {
    let end = |op: &OpId| reading.log.history.operation(*op).end();
    values.iter().map(|forced| forced.because).max_by_key(end).expect("a value")
}

/// The pending removals that a violation is about.
pub fn removals_of(reading: Reading<'_>, violation: &Violation) -> Vec<OpId> {
    match violation {
        Violation::TooFewRemovals { values } => pending_removals(reading, last_reason(reading, values)),
        Violation::NotEmpty { operation, inside } if inside.iter().any(|stay| stay.remove.is_none()) => {
            pending_removals(reading, *operation)
        }
        _ => Vec::new(),
    }
}

/// Values that only pending removals can have taken out are too many for those.
fn crowded(reading: Reading<'_>, operation: OpId, inside: &[Stay]) -> Option<String> {
    let (open, fixed): (Vec<Stay>, Vec<Stay>) = inside.iter().partition(|stay| stay.remove.is_none());
    if open.is_empty() || pending_removals(reading, operation).is_empty() {
        return None;
    }
    let inserts: Vec<OpId> = open.iter().map(|stay| stay.insert).collect();
    let or = if fixed.is_empty() {
        String::new()
    } else {
        format!(", or a value was certainly inside: {}", stays(reading, &fixed))
    };
    Some(format!(
        "{} ({}) found nothing, but all that time something was inside: nothing is known to have taken out {}, and at each moment \
         fewer removals were pending than of these values had been put in{or}.",
        reading.label(operation),
        reading.lines(operation),
        named(reading, &inserts),
    ))
}

fn too_few_removals(reading: Reading<'_>, values: &[Forced]) -> String {
    let last = last_reason(reading, values);
    let inserts: Vec<OpId> = values.iter().map(|forced| forced.insert).collect();
    let (removals, what) = match pending_removals(reading, last).len() {
        0 => ("no removal was".to_owned(), "Nothing"),
        1 => ("only 1 removal was".to_owned(), "Only a pending removal"),
        many => (format!("only {} removals were", count(many as u64)), "Only pending removals"),
    };
    let gone = if values.iter().all(|forced| forced.because == last) {
        format!(
            "{} ({}) shows that {} had been taken out",
            reading.label(last),
            reading.lines(last),
            named(reading, &inserts)
        )
    } else {
        format!(
            "By the return of {} ({}) {} had been taken out",
            reading.label(last),
            reading.returned(last),
            named(reading, &inserts)
        )
    };
    let them = if values.len() == 1 { "it" } else { "them" };
    format!("{gone}. {what} can have taken {them} out, but when it returned {removals} pending.")
}

fn conflict(reading: Reading<'_>, operations: &[OpId]) -> String {
    let pending = operations.iter().filter(|&&op| {
        let operation = reading.log.history.operation(op);
        operation.ret.is_none() && operation.input.argument.is_nil()
    });
    let whatever = match pending.count() as u64 {
        0 => String::new(),
        1 => ", whichever value the pending removal among them took out".to_owned(),
        many => format!(", whichever values the {} pending removals among them took out", count(many)),
    };
    format!(
        "These {} have no order by themselves{whatever}. The last of them to return is {} ({}).",
        counted(operations.len() as u64, "operation"),
        reading.label(operations[0]),
        reading.lines(operations[0]),
    )
}

fn not_empty(reading: Reading<'_>, operation: OpId, inside: &[Stay]) -> String {
    if let Some(text) = crowded(reading, operation, inside) {
        return text;
    }
    format!(
        "{} ({}) found nothing, but all that time something was certainly inside: {}.",
        reading.label(operation),
        reading.lines(operation),
        stays(reading, inside),
    )
}

fn outranked(reading: Reading<'_>, operation: OpId, insert: OpId, inside: &[Stay]) -> String {
    format!(
        "Whenever {} ({}) could have taken effect, something that goes before {} was certainly inside: {}.",
        reading.label(operation),
        reading.lines(operation),
        reading.value(insert),
        stays(reading, inside),
    )
}

/// The common case of a stack: a value was popped although another lay on top of it.
fn buried(reading: Reading<'_>, below: Stay, above: Stay) -> Option<String> {
    let history = &reading.log.history;
    let precedes = |first: OpId, second: OpId| history.operation(first).precedes(history.operation(second));
    let pop = below.remove?;
    let order = precedes(below.insert, above.insert) && precedes(above.insert, pop);
    if !order || above.remove.is_some_and(|later| !precedes(pop, later)) {
        return None;
    }
    let later = match above.remove {
        Some(later) => format!(
            "{} was called ({}) only after {} had returned ({})",
            reading.label(later),
            reading.called(later),
            reading.label(pop),
            reading.returned(pop),
        ),
        None => format!("nothing ever popped {}", reading.value(above.insert)),
    };
    Some(format!(
        "{} popped {} from below {}: {} came on top, called ({}) after {} had returned ({}) and returned ({}) before {} was \
         called ({}), and {later}.",
        reading.label(pop),
        reading.value(below.insert),
        reading.value(above.insert),
        reading.label(above.insert),
        reading.called(above.insert),
        reading.label(below.insert),
        reading.returned(below.insert),
        reading.returned(above.insert),
        reading.label(pop),
        reading.called(pop),
    ))
}

fn entangled(reading: Reading<'_>, stays: &[Stay]) -> String {
    if let [one, two] = *stays
        && let Some(text) = buried(reading, one, two).or_else(|| buried(reading, two, one))
    {
        return text;
    }
    let mut values: Vec<String> = stays.iter().take(SPELLED_OUT).map(|stay| reading.value(stay.insert)).collect();
    if stays.len() > SPELLED_OUT {
        values.push(format!("... ({} in all)", counted(stays.len() as u64, "value")));
    }
    format!(
        "No order of pushing works for the values {}: whichever of them was pushed first lay below the others, so it had to \
         be pushed, and popped if it was, while none of them was inside. But for each of them, all through its push or all \
         through its pop, another one certainly was.",
        values.join(", "),
    )
}

fn missed(reading: Reading<'_>, operation: OpId, insert: OpId, before: OpId, after: Option<OpId>) -> String {
    let value = reading.value(insert);
    let since = format!(
        "{} had returned ({}) before it was called ({})",
        reading.label(before),
        reading.returned(before),
        reading.called(operation),
    );
    let until = match after {
        Some(after) => format!(
            "and {}, which still found it, was called ({}) only after it had returned ({})",
            reading.label(after),
            reading.called(after),
            reading.returned(operation),
        ),
        None => "and nothing ever removed it".to_owned(),
    };
    format!("{} did not find {value}, which was certainly there: {since}, {until}.", reading.label(operation))
}

fn crossed(
    reading: Reading<'_>,
    first: Option<OpId>,
    last: OpId,
    other_first: Option<OpId>,
    other_last: OpId,
) -> String {
    if other_first == Some(other_last) {
        return stale(reading, first, last, other_last);
    }
    let (one, two) = (reading.value(last), reading.value(other_last));
    let (last_label, last_called) = (reading.label(last), reading.called(last));
    let held = match first {
        Some(first) => format!(
            "{one} was there when {} returned ({}) and still there when {last_label} was called ({last_called})",
            reading.label(first),
            reading.returned(first),
        ),
        None => format!("{one} was there from the start and still there when {last_label} was called ({last_called})"),
    };
    let not_before = first.map_or(String::new(), |first| {
        format!(
            " It did not leave before, since {} was called ({}) after {} had returned ({}).",
            reading.label(other_last),
            reading.called(other_last),
            reading.label(first),
            reading.returned(first),
        )
    });
    let not_after = match other_first {
        Some(other) => format!(
            " It did not come after, since {} had returned ({}) before {last_label} was called ({last_called}).",
            reading.label(other),
            reading.returned(other),
        ),
        None => " It did not come after, since it was there from the start.".to_owned(),
    };
    format!("{held}, so nothing else was there in between. But {two} was there too.{not_before}{not_after}")
}

/// The common case: one operation of the other value lies wholly in between.
fn stale(reading: Reading<'_>, first: Option<OpId>, last: OpId, between: OpId) -> String {
    let after = match first {
        Some(first) => format!(
            " was called ({}) after {} had returned ({}), and",
            reading.called(between),
            reading.label(first),
            reading.returned(first),
        ),
        None => String::new(),
    };
    format!(
        "{} ({}) is stale: {}{after} had returned ({}) before it was called.",
        reading.label(last),
        reading.lines(last),
        reading.label(between),
        reading.returned(between),
    )
}

fn unplaced(reading: Reading<'_>, operation: OpId) -> String {
    let (label, lines) = (reading.label(operation), reading.lines(operation));
    format!(
        "{label} ({lines}) fits nowhere: some order explains everything that returned before it did, but none explains \
         its result as well."
    )
}

fn unordered(reading: Reading<'_>, operation: OpId) -> String {
    let (label, lines) = (reading.label(operation), reading.lines(operation));
    format!(
        "No order explains this history. None gets past the return of {label} ({lines}); a limit was reached before it \
         was known whether an earlier operation is to blame."
    )
}

fn need_not_block(reading: Reading<'_>, operation: OpId) -> String {
    format!(
        "{} ({}) waits for ever, but need not: whatever the order of the operations that returned, it could go on after \
         them.",
        reading.label(operation),
        reading.called(operation),
    )
}

/// How many registers are named.
const ASSUMED_MAX: usize = 4;

/// What a pass takes for granted, if it does.
pub fn assumption(assumed: &[Assumed]) -> Option<String> {
    let mut named: Vec<String> = assumed
        .iter()
        .take(ASSUMED_MAX)
        .map(|assumed| format!("{} with {}", show(&assumed.register), show(&assumed.value)))
        .collect();
    if assumed.len() > ASSUMED_MAX {
        named.push(format!("{} more", assumed.len() - ASSUMED_MAX));
    }
    let last = named.pop()?;
    let named = if named.is_empty() { last } else { format!("{} and {last}", named.join(", ")) };
    Some(format!(
        "Assumed, since no initial value is stated: a register starts with what it was first seen with, {named}. --initial VALUE \
         says what all of them start with."
    ))
}
