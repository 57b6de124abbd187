//! A second opinion on what is reported of an object, from the paper's definitions alone: the history of the finding is read off its
//! steps, all serial histories off the observation file, and none of them may be a witness. Nothing of the checker under test is used.

use selvedge_protocol::{FindingKind, ObjectFinding, StepKind, Why};

/// An operation of a serial history: its column, and its result unless it blocks.
pub type SerialOp = (usize, Option<String>);

/// An operation as it was seen: its column, where its call and its return stand among the events, and its result.
#[derive(Clone, Debug)]
struct Seen {
    column: usize,
    called: usize,
    returned: Option<(usize, String)>,
}

/// The serial histories of a matrix, out of an observation file in JSON.
pub fn serial_histories(text: &str, matrix: &str) -> Vec<Vec<SerialOp>> {
    let document: serde_json::Value = serde_json::from_str(text).expect("an observation file");
    let sets = document["sets"].as_array().expect("sets");
    let set = sets.iter().find(|set| set["matrix"] == matrix).unwrap_or_else(|| panic!("{matrix} in {text}"));
    let mut all = Vec::new();
    for group in set["observations"].as_array().expect("observations") {
        for history in group["histories"].as_array().expect("histories") {
            let mut places = [0; 32];
            let operation = |column: &serde_json::Value| {
                let column = column.as_u64().expect("a column") as usize;
                let result = &group["threads"][column][places[column]][1];
                places[column] += 1;
                (column, result.as_str().map(str::to_owned))
            };
            all.push(history.as_array().expect("a history").iter().map(operation).collect());
        }
    }
    all
}

/// The operations of the run that a finding shows. Threads of the matrix are the last that the first thread created.
fn operations(found: &ObjectFinding, columns: usize) -> Vec<Seen> {
    let mut created = Vec::new();
    for (number, step) in found.finding.steps.iter().filter(|step| step.kind == StepKind::Create).enumerate() {
        if step.thread == 0 {
            created.push(number as u16 + 1);
        }
    }
    let threads = created.split_off(created.len() - columns);
    let mut seen: Vec<Seen> = Vec::new();
    for (at, step) in found.finding.steps.iter().enumerate() {
        let column = threads.iter().position(|&thread| thread == step.thread).map_or(0, |column| column + 1);
        if let StepKind::Call { .. } = &step.kind {
            seen.push(Seen { column, called: at, returned: None });
        } else if let StepKind::Return { result } = &step.kind {
            let open = seen.iter_mut().rev().find(|operation| operation.column == column).expect("it was called");
            open.returned = Some((at, result.clone().unwrap_or_default()));
        }
    }
    seen
}

/// Whether the serial history is a serial witness of these operations (section 2.1.4): the same operations with the same results in
/// each thread, and in the order of those that do not overlap.
fn is_witness(serial: &[SerialOp], seen: &[Seen]) -> bool {
    let of = |column: usize| serial.iter().enumerate().filter(move |(_, operation)| operation.0 == column);
    if serial.len() != seen.len() {
        return false;
    }
    let mut places = Vec::new();
    for (number, operation) in seen.iter().enumerate() {
        let nth = seen[..number].iter().filter(|other| other.column == operation.column).count();
        match of(operation.column).nth(nth) {
            Some((at, (_, result))) if result.as_ref() == operation.returned.as_ref().map(|(_, result)| result) => {
                places.push(at);
            }
            _ => return false,
        }
    }
    let precedes = |one: &Seen, other: &Seen| one.returned.as_ref().is_some_and(|(at, _)| *at < other.called);
    (0..seen.len())
        .all(|one| (0..seen.len()).all(|other| !precedes(&seen[one], &seen[other]) || places[one] < places[other]))
}

/// Whether the serial histories explain the operations (definitions 1 and 2).
fn explained(serial: &[Vec<SerialOp>], seen: &[Seen]) -> bool {
    let pending: Vec<usize> = (0..seen.len()).filter(|&at| seen[at].returned.is_none()).collect();
    if pending.is_empty() {
        return serial.iter().any(|history| is_witness(history, seen));
    }
    pending.iter().all(|&waits| {
        let chosen = seen.iter().enumerate().filter(|(at, operation)| *at == waits || operation.returned.is_some());
        let alone: Vec<Seen> = chosen.map(|(_, operation)| operation.clone()).collect();
        serial.iter().any(|history| is_witness(history, &alone))
    })
}

/// Panics unless what was found is so: no serial history explains it, or two serial histories differ in one result.
#[track_caller]
pub fn confirm(found: &ObjectFinding, serial: impl FnOnce() -> Vec<Vec<SerialOp>>) {
    match found.finding.kind {
        FindingKind::NotLinearizable | FindingKind::Stuck => {
            let columns = found.explanation.cells().len() - 1;
            let seen = operations(found, columns);
            assert!(!seen.is_empty(), "{}: no operations", found.matrix);
            let serial = serial();
            assert!(!serial.is_empty(), "{}: no serial histories", found.matrix);
            assert!(!explained(&serial, &seen), "{}: there is a witness for {seen:?}", found.matrix);
        }
        FindingKind::Nondeterministic => {
            let Some(Why::SerialRunsDiffer { one, other }) = &found.explanation.why else {
                panic!("expected two histories: {:?}", found.explanation)
            };
            assert_eq!(one.len(), other.len(), "{one:?} {other:?}");
            assert_eq!(one[..one.len() - 1], other[..other.len() - 1], "what comes before is the same");
            assert_ne!(one.last(), other.last(), "{one:?}");
        }
        // Races, memory errors and crashes do not rest on serial histories.
        _ => {}
    }
}
