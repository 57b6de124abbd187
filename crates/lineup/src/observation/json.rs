//! The same as JSON: `{"format": "selvedge-observations", "version": 1, "sets": [...]}`.

use serde::{Deserialize, Serialize};

use super::file::{FileError, Group, ObservationSet, VERSION, groups, of_groups};
use crate::calls::Calls;
use crate::matrix::Matrix;
use crate::results::Results;

const FORMAT: &str = "selvedge-observations";

#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: u32,
    sets: Vec<SetDocument>,
}

#[derive(Serialize, Deserialize)]
struct SetDocument {
    object: String,
    matrix: String,
    observations: Vec<GroupDocument>,
}

/// The operations of each column, the calls before and after first; a result of null blocks.
#[derive(Serialize, Deserialize)]
struct GroupDocument {
    threads: Vec<Vec<(String, Option<String>)>>,
    histories: Vec<Vec<u8>>,
}

/// Writes sets.
pub fn write_json(sets: &[ObservationSet], calls: &Calls, results: &Results) -> String {
    let set = |set: &ObservationSet| SetDocument {
        object: set.object.clone(),
        matrix: set.matrix.to_text(calls),
        observations: groups(set, calls, results)
            .into_iter()
            .map(|Group { threads, histories }| GroupDocument { threads, histories })
            .collect(),
    };
    let document = Document { format: FORMAT.into(), version: VERSION, sets: sets.iter().map(set).collect() };
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// Reads sets.
pub fn read_json(text: &str, calls: &Calls, results: &mut Results) -> Result<Vec<ObservationSet>, FileError> {
    let malformed = |error: serde_json::Error| FileError::Malformed {
        line: error.line(),
        expected: format!("a file of format {FORMAT}: {error}"),
    };
    let value: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(FileError::Malformed { line: 0, expected: format!("a file of format {FORMAT}") });
    }
    let version = value.get("version").map(|version| version.to_string()).unwrap_or_default();
    if version != VERSION.to_string() {
        return Err(FileError::Version(version.chars().take(40).collect()));
    }
    let document: Document = serde_json::from_value(value).map_err(malformed)?;
    let mut sets = Vec::new();
    for set in document.sets {
        let matrix = Matrix::parse(&set.matrix, calls).map_err(FileError::Matrix)?;
        let columns = matrix.columns.len() + 1;
        let mut groups = Vec::new();
        for GroupDocument { mut threads, histories } in set.observations {
            if threads.len() > columns {
                return Err(FileError::Operation("more threads than the matrix has".into()));
            }
            threads.resize(columns, Vec::new());
            groups.push(Group { threads, histories });
        }
        let observation = of_groups(&groups, &matrix, calls, results)?;
        sets.push(ObservationSet { object: set.object, matrix, observation });
    }
    Ok(sets)
}
