//! What is said of an object below cargo's own output: one line, and what it means for the whole.

use selvedge_cli::exit::Exit;
use selvedge_cli::quantity::{count, counted};
use selvedge_driver::{CoverageRecord, ObjectReport};

/// The line, and the exit code that it asks for. A finding is no violation here: cargo knows whether the test was meant to panic.
pub fn line(object: &ObjectReport) -> (String, Exit) {
    let place = &object.object;
    if let Some(error) = &object.error {
        return (format!("ERROR    {place}: the object cannot be tested: {error}"), Exit::Input);
    }
    let matrices = format!("{} {}", count(object.matrices), if object.matrices == 1 { "matrix" } else { "matrices" });
    let numbers = format!(
        "{matrices}, {} serial and {} concurrent histories, {}",
        count(object.serial_histories),
        count(object.histories),
        counted(object.runs, "run")
    );
    if let Some(found) = object.findings.first() {
        let line = format!("FAIL     {place}: {} in the matrix {} ({numbers})", found.kind.name(), found.matrix);
        return (line, Exit::Pass);
    }
    if !object.complete {
        let limit = object.limit.as_deref().unwrap_or("a limit was reached");
        return (format!("UNKNOWN  {place}: {numbers}; {limit}"), Exit::Unknown);
    }
    let schedules = match object.coverage {
        CoverageRecord::Exhaustive => "every schedule of each".to_owned(),
        CoverageRecord::Preemptions(bound) => {
            format!("every schedule of each with at most {}", counted(bound.into(), "preemption"))
        }
        _ => "schedules drawn at random".to_owned(),
    };
    (format!("PASS     {place}: {numbers}, {schedules}"), Exit::Pass)
}
