//! What quasi linearizability was asked for, of which object, held against what.
//!
//! Invariant: a sentence and exit code 2 come of everything that cannot be asked, before anything runs.

use selvedge_driver::{QuasiCounts, QuasiRecord};
use selvedge_history::quasi::{Causality, Order, Reading};
use selvedge_lineup::{Matrix, Relaxed, Roles, Tally};

use super::object::Object;

/// What is allowed of the object.
pub struct Relaxing {
    /// Classes, factors and readings.
    pub relaxed: Relaxed,
    /// Which calls put something in and which take it out.
    pub roles: Roles,
    specification: String,
}

/// Reads what the options say; nothing where plain linearizability is asked for.
pub fn relaxing(object: &Object) -> Result<Option<Relaxing>, String> {
    let options = &object.options;
    let usual = (options.reading, options.causality, options.order) == Default::default();
    if options.quasi.is_empty() {
        return match usual {
            true => Ok(None),
            false => Err("readings go with --quasi, such as --quasi deq=2".into()),
        };
    }
    if options.observations.is_some() && options.specification.is_some() {
        return Err(
            "serial histories of a file and a built-in specification cannot both be what it is held against".into()
        );
    }
    let (text, readings) = (options.quasi.join(","), (options.reading, options.causality, options.order));
    let relaxed = Relaxed::new(&text, options.specification.as_deref(), readings, &object.calls);
    let relaxed = relaxed.map_err(|error| error.to_string())?;
    let specification = match (relaxed.kind, &options.observations, &object.reference) {
        (Some(kind), ..) => kind.name(),
        (None, Some(_), _) => "observations",
        (None, None, Some(_)) => "reference",
        (None, None, None) => "itself",
    };
    let specification = specification.to_owned();
    Ok(Some(Relaxing { relaxed, roles: Roles::of(&object.calls), specification }))
}

impl Relaxing {
    /// What a report says of it.
    pub fn record(&self, object: &Object) -> QuasiRecord {
        let drained = object.options.tests.iter().filter(|_| self.drains());
        let notes = drained.filter_map(|matrix| {
            // As the plan has it.
            let mut matrix = matrix.clone();
            if matrix.initial.is_empty() && matrix.last.is_empty() {
                matrix.initial.clone_from(&object.options.initial);
                matrix.last.clone_from(&object.options.last);
            }
            let why = self.roles.well_formed(&matrix).err()?;
            Some(format!("the matrix {} is not well-formed: {why}", matrix.to_text(&object.calls)))
        });
        let rules = &self.relaxed.rules;
        let name = |is: bool, one: &str, other: &str| if is { one } else { other }.to_owned();
        QuasiRecord {
            classes: self.relaxed.relaxation.to_string(),
            reading: name(rules.reading == Reading::Closed, "closed", "prefix"),
            causality: name(rules.causality == Causality::Free, "free", "causal"),
            order: name(rules.order == Order::Strict, "strict", "distance"),
            specification: self.specification.clone(),
            counts: QuasiCounts::default(),
            notes: notes.collect(),
        }
    }

    /// Whether tests have to drain the object.
    pub fn drains(&self) -> bool {
        self.relaxed.rules.reading == Reading::Closed && self.roles.is_collection()
    }

    /// Whether a smaller matrix may stand for a larger one: it drains the object if that one does.
    pub fn keeps(&self, matrix: &Matrix, smaller: &Matrix) -> bool {
        !self.drains() || self.roles.well_formed(matrix).is_err() || self.roles.well_formed(smaller).is_ok()
    }
}

/// What a criterion counted, as reports have it.
pub fn counts(tally: Tally) -> QuasiCounts {
    let mut counts = QuasiCounts::default();
    add(&mut counts, tally);
    counts
}

/// Adds what a criterion counted.
pub fn add(counts: &mut QuasiCounts, tally: Tally) {
    counts.histories_linearizable += tally.linearizable;
    counts.histories_buggy += tally.buggy;
    counts.linearizations = counts.linearizations.saturating_add(tally.linearizations);
    counts.states += tally.states;
}
