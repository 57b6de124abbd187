//! What the fuzz targets check: any bytes are read or refused, and what was read survives being written and read.
//!
//! The property is the one that the test suite of the history crate runs on a fixed set of mutations. With cargo-fuzz and a
//! nightly toolchain: `cargo fuzz run limo`. Without: `cargo build --manifest-path fuzz/Cargo.toml`, then run a
//! target on files, `fuzz/target/debug/limo FILE...`.

use selvedge_history::format::{Format, read, recognise, write_jsonl};
use selvedge_history::{Budget, Log};

#[path = "../../crates/history/src/format/tests/property.rs"]
mod property;

#[path = "../../crates/lineup/tests/it/observation_property.rs"]
mod observation_property;

/// Reads the bytes in one format.
pub fn importer(format: Format, bytes: &[u8]) {
    property::holds(Some(format), bytes);
}

/// Reads the bytes in the format that they look like, if any.
pub fn recognised(bytes: &[u8]) {
    let accepted = property::holds(None, bytes);
    assert!(!accepted || recognise(bytes).is_some(), "read without being recognised");
}

/// Compiles the bytes as a model and takes some steps of every process that it asserts something of.
pub fn model(bytes: &[u8]) {
    use selvedge_model::TransitionSystem;
    use selvedge_model::language::Model;
    const STATES: usize = 50;
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let model = match Model::new(text) {
        Ok(model) => model,
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            errors.iter().for_each(|error| assert!(error.show("fuzz.csp", text).contains('^')));
            return;
        }
    };
    for assertion in 0..model.assertions().len() {
        let system = model.subject(assertion);
        let mut states = Vec::new();
        if system.initial(&mut states).is_err() {
            continue;
        }
        let mut at = 0;
        while at < states.len() && at < STATES {
            let mut bytes = Vec::new();
            system.pack(&states[at], &mut bytes);
            assert!(system.unpack(&bytes) == states[at], "packing loses something");
            let mut next = Vec::new();
            if system.successors(&states[at], &mut next).is_err() {
                break;
            }
            states.extend(next.into_iter().map(|(_, state)| state).take(STATES));
            at += 1;
        }
        agree(&model, assertion);
    }
}

/// What is claimed has one answer, with and without reductions, as far as that is found out soon.
fn agree(model: &selvedge_model::language::Model, assertion: usize) {
    use selvedge_model::{Reductions, Settings, Verdict};
    let answer = |reductions| {
        let time_max = Some(std::time::Duration::from_millis(200));
        let settings = Settings { reductions, states_max: Some(300), time_max, ..Settings::default() };
        let answer = model.check(assertion, &settings).ok()?;
        let steps = answer.trace.filter(|trace| trace.shortest).map(|trace| trace.steps.len());
        (!matches!(answer.verdict, Verdict::Unknown(_))).then_some((answer.verdict, steps))
    };
    if let (Some(reduced), Some(whole)) = (answer(Reductions::ALL), answer(Reductions::NONE)) {
        assert_eq!(reduced.0, whole.0, "reductions change the answer");
        if let (Some(reduced), Some(whole)) = (reduced.1, whole.1) {
            assert_eq!(reduced, whole, "reductions change the length of a shortest run");
        }
    }
}

/// Reads the bytes as an observation file, and writes what was read.
pub fn observations(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    observation_property::holds(text);
}
