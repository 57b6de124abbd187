//! Serial histories out of a file in place of phase 1, and into one.
//!
//! Invariant: a matrix that the file lacks goes through phase 1 as always; one that the user gave must be in the file. What fails
//! against the file is only made smaller to matrices that are in the file, too.

use std::path::Path;
use std::rc::Rc;

use selvedge_lineup::{Matrix, Observation, ObservationSet, read_json, read_xml, write_json, write_xml};

use selvedge_protocol::ObjectTrouble;

use super::object::{Object, wrong};
use crate::control::with;

/// What was read, and what is to be written.
#[derive(Default)]
pub struct Files {
    known: Vec<(Matrix, Rc<Observation>)>,
    kept: Vec<ObservationSet>,
}

fn is_json(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "json")
}

/// What is wrong with a file.
fn of_file(path: &str, error: &dyn std::fmt::Display) -> ObjectTrouble {
    wrong(format_args!("{path}: {error}"))
}

impl Files {
    /// Reads the file that the options name.
    pub fn read(&mut self, object: &Object) -> Result<(), ObjectTrouble> {
        let Some(path) = &object.options.said.observations else { return Ok(()) };
        let text = std::fs::read_to_string(path).map_err(|error| of_file(path, &error))?;
        let sets = with(|control| {
            let results = &mut control.search.lineup.results;
            if is_json(path) {
                return read_json(&text, &object.calls, results);
            }
            read_xml(&text, &object.calls, results, object.options.tests.first())
        });
        let sets = sets.map_err(|error| of_file(path, &error))?;
        self.known = sets.into_iter().map(|set| (set.matrix, Rc::new(set.observation))).collect();
        Ok(())
    }

    /// Whether the file has the observation of a matrix.
    pub fn knows(&self, matrix: &Matrix) -> bool {
        self.known.iter().any(|(known, _)| known == matrix)
    }

    /// The observation of a matrix, if the file has it.
    pub fn find(&self, matrix: &Matrix, object: &Object) -> Result<Option<Rc<Observation>>, ObjectTrouble> {
        let found = self.known.iter().find(|(known, _)| known == matrix).map(|(_, observation)| observation.clone());
        let options = &object.options;
        let given = options.tests.iter().any(|test| test.columns == matrix.columns);
        match (&found, &options.said.observations) {
            (None, Some(path)) if given => {
                Err(ObjectTrouble::NotInFile { path: path.clone(), matrix: matrix.to_text(&object.calls) })
            }
            _ => Ok(found),
        }
    }

    /// Keeps an observation for the file that the options name.
    pub fn keep(&mut self, matrix: &Matrix, observation: &Rc<Observation>, object: &Object) {
        if object.options.said.write_observations.is_some() && !self.kept.iter().any(|set| set.matrix == *matrix) {
            let (object, observation) = (object.name.clone(), (**observation).clone());
            self.kept.push(ObservationSet { object, matrix: matrix.clone(), observation });
        }
    }

    /// Writes the file that the options name.
    pub fn write(&self, object: &Object) -> Result<(), ObjectTrouble> {
        let Some(path) = &object.options.said.write_observations else { return Ok(()) };
        let text = with(|control| {
            let write = if is_json(path) { write_json } else { write_xml };
            write(&self.kept, &object.calls, &control.search.lineup.results)
        });
        std::fs::write(path, text).map_err(|error| of_file(path, &error))
    }
}
