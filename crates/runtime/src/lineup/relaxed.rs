//! What quasi linearizability was asked for, of which object, held against what.
//!
//! Invariant: an error comes of everything that cannot be asked, before anything runs.

use selvedge_history::quasi::Reading;
use selvedge_lineup::{Matrix, Relaxed, Roles, Tally};
use selvedge_protocol::{Against, Note, ObjectTrouble, QuasiCounts, QuasiRecord};

use super::object::{Object, wrong};

/// What is allowed of the object.
pub struct Relaxing {
    /// Classes, factors and readings.
    pub relaxed: Relaxed,
    /// Which calls put something in and which take it out.
    pub roles: Roles,
    specification: Against,
}

/// Reads what the options say; nothing where plain linearizability is asked for.
pub fn relaxing(object: &Object) -> Result<Option<Relaxing>, ObjectTrouble> {
    let options = &object.options.said;
    let readings = object.options.readings();
    let usual = readings == Default::default();
    if options.quasi.is_empty() {
        return match usual {
            true => Ok(None),
            false => Err(ObjectTrouble::ReadingsAlone),
        };
    }
    if options.observations.is_some() && options.specification.is_some() {
        return Err(ObjectTrouble::FileAndSpecification);
    }
    let relaxed = Relaxed::new(&options.quasi.join(","), options.specification.as_deref(), readings, &object.calls);
    let relaxed = relaxed.map_err(wrong)?;
    let specification = match (relaxed.kind, &options.observations, &object.reference) {
        (Some(kind), ..) => Against::BuiltIn(kind.name().to_owned()),
        (None, Some(_), _) => Against::Observations,
        (None, None, Some(_)) => Against::Reference,
        (None, None, None) => Against::Itself,
    };
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
            let lacks = self.roles.well_formed(&matrix).err()?.to_string();
            Some(Note { matrix: matrix.to_text(&object.calls), lacks })
        });
        let said = &object.options.said;
        QuasiRecord {
            classes: self.relaxed.relaxation.to_string(),
            reading: said.reading.unwrap_or_default(),
            causality: said.causality.unwrap_or_default(),
            order: said.order.unwrap_or_default(),
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
