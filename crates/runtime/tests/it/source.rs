//! Findings lead back to source lines.

use selvedge_driver::Lines;
use selvedge_protocol::{Place, Search};

use crate::build::{build, root, scratch, session, settings};

/// The line of a place in the source.
pub fn line_of(place: &Place) -> u32 {
    Lines::new().line(place).expect("a line").line
}

#[test]
fn every_step_has_its_line() {
    let directory = scratch("source");
    let path = root().join("corpus/programs/assertion/lost_update.c");
    let program = build(&path, &[], &directory);
    let session = session(&program, &settings(Search::Dpor), &directory);
    let finding = &session.report.tests[0].findings[0];
    let mut lines = Lines::new();
    let text = std::fs::read_to_string(&path).expect("the source");
    let source: Vec<&str> = text.lines().collect();
    let mut seen = Vec::new();
    for step in &finding.steps {
        let line = lines.line(step.place.as_ref().expect("a place")).expect("a line");
        assert!(line.file.ends_with("lost_update.c"), "{line}");
        seen.push((step.thread, source[line.line as usize - 1].trim()));
    }
    let load = "int seen = atomic_load(&counter);";
    let store = "atomic_store(&counter, seen + 1);";
    assert!(seen.contains(&(1, load)) && seen.contains(&(2, load)), "{seen:?}");
    assert!(seen.contains(&(1, store)) && seen.contains(&(2, store)), "{seen:?}");
    let at = lines.line(finding.place.as_ref().expect("a place")).expect("a line");
    assert_eq!(source[at.line as usize - 1].trim(), "assert(atomic_load(&counter) == 2);");
    assert_eq!(at.function.as_deref(), Some("selvedge_body_lost_update"));
}
