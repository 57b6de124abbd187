//! Observation files: figure 7 as it is printed, there and back, and what is refused.

use selvedge_explore::Rng;
use selvedge_lineup::{Calls, FileError, Matrix, Observation, ObservationSet, Results, SerialOp};
use selvedge_lineup::{read_json, read_xml, write_json, write_xml};

use crate::observation_property::holds;

/// Figure 7 of the paper, with the blanks that the print added left as they are.
const FIGURE_7: &str = r##"<observationset>
  <observation>
    <thread id="A">1 2</thread>
    <thread id="B">3 4</thread>
    <op id="1" name="Add">value="200"</op>
    <op id="2" name="Add">value="400"</op>
    <op id="3" name="Take">result="200"</op>
    <op id="4" name="TryTake">result="Fail"</op>
    <history>1[ ]1 3[ ]3 4[ ]4 2[ ]2</history>
  </observation>
  <observation>
    <thread id="A">1 2</thread>
    <thread id="B">3 4</thread>
    <op id="1" name="Add">value="200"</op>
    <op id="2" name="Add">value="400"</op>
    <op id="3" name="Take">result="200"</op>
    <op id="4" name="TryTake">result="400"</op>
    <history>1[ ]1 2[ ]2 3[ ]3 4[ ]4</history>
    <history>1[ ]1 3[ ]3 2[ ]2 4[ ]4</history>
  </observation>
  <observation>
    <thread id="A"></thread>
    <thread id="B">1B</thread>
    <op id="1" name="Take" />
    <history>1[ #</history>
  </observation>
</observationset>
"##;

fn calls() -> Calls {
    Calls::new(["Add(200)", "Add(400)", "Take()", "TryTake()", "size"].map(str::to_owned).to_vec()).unwrap()
}

fn figure() -> Matrix {
    Matrix::parse("Add(200), Add(400) | Take(), TryTake()", &calls()).unwrap()
}

fn texts(observation: &Observation, results: &Results) -> Vec<Vec<(u8, Option<String>)>> {
    let text = |operation: &SerialOp| (operation.column, operation.result.map(|id| results.text(id).to_owned()));
    let mut all: Vec<_> = observation.histories().iter().map(|history| history.iter().map(text).collect()).collect();
    all.sort();
    all
}

#[test]
fn figure_7_is_read_as_it_is_printed() {
    let mut results = Results::new("void");
    let sets = read_xml(FIGURE_7, &calls(), &mut results, Some(&figure())).unwrap();
    let some = |text: &str| Some(text.to_owned());
    let expected = vec![
        vec![(1, some("void")), (1, some("void")), (2, some("200")), (2, some("400"))],
        vec![(1, some("void")), (2, some("200")), (1, some("void")), (2, some("400"))],
        vec![(1, some("void")), (2, some("200")), (2, some("Fail")), (1, some("void"))],
        vec![(2, None)],
    ];
    assert_eq!(texts(&sets[0].observation, &results), expected);
    assert_eq!((sets[0].observation.full(), sets[0].observation.stuck()), (3, 1));
}

#[test]
fn there_and_back() {
    let mut results = Results::new("void");
    let mut sets = read_xml(FIGURE_7, &calls(), &mut results, Some(&figure())).unwrap();
    // Names and results that need care, and calls before and after.
    let matrix = Matrix::parse("Add(200); size | Take(); size", &calls()).unwrap();
    let mut observation = Observation::new();
    let odd = results.intern("Some(\"a<b>&'\\n\u{7}\")");
    let op = |column, result| SerialOp { column, choices: vec![], result };
    let void = Some(Results::VOID);
    observation.insert(&[op(0, void), op(1, Some(odd)), op(2, void), op(0, Some(odd))]).unwrap();
    observation.insert(&[op(0, void), op(2, None)]).unwrap();
    sets.push(ObservationSet { object: "a \"queue\"".into(), matrix, observation });
    for number in 1..=2 {
        let sets = &sets[..number];
        for again in [
            read_xml(&write_xml(sets, &calls(), &results), &calls(), &mut results.clone(), None).unwrap(),
            read_json(&write_json(sets, &calls(), &results), &calls(), &mut results.clone()).unwrap(),
        ] {
            for (one, other) in sets.iter().zip(&again) {
                assert_eq!((&one.object, &one.matrix), (&other.object, &other.matrix));
                assert_eq!(texts(&one.observation, &results), texts(&other.observation, &results));
            }
            assert_eq!(again.len(), number);
        }
    }
}

#[test]
fn wrong_files() {
    let xml = |text: &str| read_xml(text, &calls(), &mut Results::new("void"), Some(&figure())).unwrap_err();
    assert_eq!(xml("<observationset version=\"2\"/>"), FileError::Version("2".into()));
    for (from, to, expect) in [
        ("1[ ]1 3[ ]3", "1[ ]2 3[ ]3", "line 9: expected a serial history"),
        ("1[ ]1 3[ ]3", "7[ ]7 3[ ]3", "line 9: expected an operation of the threads above"),
        ("1[ ]1 2[ ]2", "2[ ]2 1[ ]1", "in their order"),
        ("<thread id=\"B\">3 4<", "<thread id=\"B\">3 9<", "an op with the id 9"),
        ("<thread id=\"B\">3 4<", "<thread id=\"C\">3 4<", "thread C"),
        ("name=\"Take\"", "name=\"Steal\"", "Steal() of thread B"),
        ("</observation>\n</observationset>", "", "the end of an observation"),
        ("<op id=\"1\"", "<op id=1", "a value in quotation marks"),
        ("name=\"Add\">value=\"200\"", "name=\"Add&x;\">value=\"200\"", "an entity"),
        ("<observationset>", "<set>", "line 1: expected observationset"),
        ("<observation>", "é<observation>", "expected an element"),
    ] {
        let text = FIGURE_7.replacen(from, to, 1);
        assert_ne!(text, FIGURE_7, "{from}");
        let error = xml(&text).to_string();
        assert!(error.contains(expect), "{to}: {error}");
    }
    for text in ["", "<", "<observationset", "<!-- x", "<?x", "&", "<a b=\"", "</observation>", "<observationset><op>"]
    {
        assert!(read_xml(text, &calls(), &mut Results::new("void"), Some(&figure())).is_err(), "{text}");
    }
    let missing = read_xml(FIGURE_7, &calls(), &mut Results::new("void"), None).unwrap_err().to_string();
    assert!(missing.contains("says its matrix"), "{missing}");
    let json = |text: &str| read_json(text, &calls(), &mut Results::new("void")).unwrap_err().to_string();
    assert!(json("{}").contains("a file of format selvedge-observations"));
    assert!(json("[").contains("line 1"));
    assert!(json(r#"{"format": "selvedge-observations", "version": 3, "sets": []}"#).contains("found version 3"));
    let set = |observations: &str| {
        format!(
            r#"{{"format": "selvedge-observations", "version": 1, "sets": [{{"object": "q", "matrix": "Take()", "observations": [{observations}]}}]}}"#
        )
    };
    assert!(
        json(&set(r#"{"threads": [[], [["Add(200)", null]]], "histories": [[1]]}"#)).contains("Add(200) of thread A")
    );
    assert!(
        json(&set(r#"{"threads": [[], [["Take()", "1"]]], "histories": [[1, 1]]}"#)).contains("one more of thread A")
    );
    assert!(json(&set(r#"{"threads": [[], [], [], []], "histories": []}"#)).contains("more threads"));
    assert!(json(&set(r#"{"threads": [[]], "histories": [[9]]}"#)).contains("one more of thread"));
}

/// Pieces taken out, doubled and put elsewhere: nothing panics, and what is still read is the same when it is written.
#[test]
fn files_that_were_damaged() {
    let mut results = Results::new("void");
    let sets = read_xml(FIGURE_7, &calls(), &mut results, Some(&figure())).unwrap();
    let texts = [FIGURE_7.to_owned(), write_xml(&sets, &calls(), &results), write_json(&sets, &calls(), &results)];
    let mut read = 0;
    for number in 0..6_000 {
        let mut rng = Rng::for_run(5, number);
        let mut text: Vec<char> = texts[number as usize % 3].chars().collect();
        for _ in 0..1 + rng.below(3) {
            let at = |rng: &mut Rng, text: &[char]| rng.below(text.len() as u64 + 1) as usize;
            let (one, other) = (at(&mut rng, &text), at(&mut rng, &text));
            let piece = one.min(other)..one.max(other).min(one.min(other) + 40);
            let taken: Vec<char> = text[piece.clone()].to_vec();
            if rng.below(3) == 0 {
                text.drain(piece);
            }
            let to = at(&mut rng, &text);
            match rng.below(3) {
                0 => text.splice(to..to, taken).for_each(drop),
                1 => text.truncate(to),
                _ => text.insert(to, ['<', '"', '&', '7', 'é', ' '][rng.below(6) as usize]),
            }
        }
        read += u32::from(holds(&text.into_iter().collect::<String>()));
    }
    assert!(texts.iter().all(|text| holds(text)));
    assert!(read > 50, "some are still files: {read}");
}
