//! What must hold of any text that is read as an observation file; the fuzz target `observations` checks the same.

use std::collections::BTreeSet;

use selvedge_lineup::{Calls, FileError, Matrix, Observation, ObservationSet, ResultId, Results, SerialOp};
use selvedge_lineup::{read_json, read_xml, write_json, write_xml};

/// It is read or refused with a reason, and what was read is the same after it was written and read. Whether any form was read.
pub fn holds(text: &str) -> bool {
    let calls = Calls::new(["Add(200)", "Add(400)", "Take()", "TryTake()", "size"].map(str::to_owned).to_vec());
    let calls = calls.expect("distinct names");
    let matrix = Matrix::parse("Add(200), Add(400) | Take(), TryTake()", &calls).expect("a matrix");
    let xml = |text: &str, results: &mut Results| read_xml(text, &calls, results, Some(&matrix));
    let json = |text: &str, results: &mut Results| read_json(text, &calls, results);
    type Read<'a> = &'a dyn Fn(&str, &mut Results) -> Result<Vec<ObservationSet>, FileError>;
    let forms: [Read; 2] = [&xml, &json];
    let mut any = false;
    for read in forms {
        let mut results = Results::new("void");
        let sets = match read(text, &mut results) {
            Ok(sets) => sets,
            Err(error) => {
                assert!(!error.to_string().is_empty(), "refused without a reason");
                continue;
            }
        };
        any = true;
        let again = [
            xml(&write_xml(&sets, &calls, &results), &mut results),
            json(&write_json(&sets, &calls, &results), &mut results),
        ];
        for again in again {
            let again = again.unwrap_or_else(|error| panic!("what was written is refused: {error}"));
            assert_eq!(again.len(), sets.len());
            for (one, other) in sets.iter().zip(&again) {
                assert_eq!((&one.object, &one.matrix), (&other.object, &other.matrix));
                assert_eq!(plain(&one.observation), plain(&other.observation));
            }
        }
    }
    any
}

/// The histories, each once, without the numbers that tell contradicting ones apart.
fn plain(observation: &Observation) -> BTreeSet<Vec<(u8, Option<ResultId>)>> {
    let histories = observation.histories();
    let operations = |history: &Vec<SerialOp>| history.iter().map(|one| (one.column, one.result)).collect();
    histories.iter().map(operations).collect()
}
