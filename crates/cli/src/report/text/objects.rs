//! Reports on objects: the matrix with its results, why no serial history explains them, and how much was tested.

use selvedge_protocol::{
    Against, BuiltInRecord, Causality, CoverageRecord, ObjectFinding, ObjectReport, Order, QuasiRecord, Reading, words,
};
use unicode_width::UnicodeWidthStr;

use super::{FAINT, WIDTH, clean, paint, paragraph};
use crate::quantity::{count, counted};
use crate::report::names::Names;

/// What is wrong, in front of the interleaving. Tables keep their lines; a sentence is broken where the terminal ends.
pub fn explanation(found: &ObjectFinding) -> String {
    let words::Told { table, sentences, list } = words::told(&found.explanation);
    let lines = table.before.iter().map(String::as_str).chain(table.grid.lines()).chain(table.after.as_deref());
    let mut text: String = lines.map(|line| format!("  {}\n", clean(line))).collect();
    if !sentences.is_empty() {
        text += "\n";
    }
    text.extend(sentences.iter().map(|sentence| broken(sentence, 2)));
    text.extend(list.iter().map(|line| broken(line, 4)));
    if found.first_matrix != found.matrix {
        text += &format!("  (first seen in: {})\n", clean(&found.first_matrix));
    }
    text + &format!("  matrix: --matrix \"{}\"\n", clean(&found.matrix))
}

/// A line that is broken only where it has to be.
fn broken(line: &str, indent: usize) -> String {
    let line = clean(line);
    if indent + line.width() > WIDTH { paragraph(&line, indent) } else { format!("{:indent$}{line}\n", "") }
}

/// How much was tested.
pub fn numbers(report: &ObjectReport, names: &mut Names) -> String {
    let mut text = String::new();
    if report.findings.is_empty() {
        let schedules = match report.coverage {
            CoverageRecord::Exhaustive => "each under every schedule".to_owned(),
            CoverageRecord::Preemptions(bound) => format!(
                "{} of them under every schedule, all under every schedule with at most {}",
                count(report.matrices_exhaustive),
                counted(u64::from(bound), "preemption")
            ),
            CoverageRecord::Sampled(runs) => format!("each under {} at random", counted(runs, "schedule")),
            CoverageRecord::Replayed => "one schedule, replayed".to_owned(),
            CoverageRecord::Partial => "nothing is covered completely".to_owned(),
        };
        let plan = words::plan(&report.plan);
        text += &paragraph(&format!("matrices tested: {} ({plan}), {schedules}", count(report.matrices)), 2);
        if report.random_optional > 0 {
            text += &paragraph(&sample(report), 2);
        }
        if let Some(limit) = &report.limit {
            let limit = clean(&words::shortfall(limit, names));
            text += &paragraph(&format!("not everything that was planned: {limit}"), 2);
        }
    }
    text += &report.built_in.as_ref().map_or(String::new(), |built_in| specified(report, built_in));
    if let Some(quasi) = &report.quasi {
        text += &relaxed(report, quasi);
    }
    let searched = report.quasi.as_ref().map_or(String::new(), |quasi| {
        let counts = &quasi.counts;
        format!(", {}, {}", counted(counts.linearizations, "linearization"), counted(counts.states, "state"))
    });
    let line = format!(
        "{}, {}, {} ({} of them stuck with reason){searched}, {}, {:.3} cpu s",
        count_of(report.matrices, "matrix", "matrices"),
        count_of(report.serial_histories, "serial history", "serial histories"),
        count_of(report.histories, "history", "histories"),
        count(report.stuck),
        counted(report.runs, "run"),
        report.cpu_seconds
    );
    text + &format!("{}\n", paint(FAINT, paragraph(&line, 2).trim_end()))
}

/// What a built-in object has to say: what it was held against, and what that leaves open.
fn specified(report: &ObjectReport, built_in: &BuiltInRecord) -> String {
    let held = format!("held against the built-in {}", clean(&built_in.specification));
    let text = match words::doubt(report).filter(|_| report.findings.is_empty()) {
        Some(doubt) => format!("{held}: {doubt}"),
        None => held,
    };
    paragraph(&text, 2)
}

/// What came of quasi linearizability: which of the two holds, and of how many histories.
fn relaxed(report: &ObjectReport, quasi: &QuasiRecord) -> String {
    let QuasiRecord { classes, reading, causality, order, specification, counts, notes } = quasi;
    let unusual = [
        (*reading != Reading::default(), reading.name(), "reading"),
        (*causality != Causality::default(), causality.name(), "causality"),
        (*order != Order::default(), order.name(), "order"),
    ];
    let unusual = unusual.iter().filter(|(unusual, ..)| *unusual).map(|(_, is, what)| format!(", {is} {what}"));
    let readings: String = unusual.collect();
    let against = match specification {
        Against::Itself => "its own serial behaviour".to_owned(),
        Against::Reference => "its reference".to_owned(),
        Against::Observations => "the serial histories of the file".to_owned(),
        Against::BuiltIn(kind) => format!("the built-in {kind}"),
    };
    let (all, plain, bad) = (report.histories, counts.histories_linearizable, counts.histories_buggy);
    let loose = all.saturating_sub(plain + bad);
    let classes = clean(classes);
    let mut text = match (report.complete && report.findings.is_empty(), all - plain.min(all)) {
        (true, 0) => format!("Linearizable, so no factor was needed: all {}", count_of(all, "history", "histories")),
        (true, _) => format!(
            "Not linearizable, but quasi linearizable with {classes}{readings}: of {}, {} are linearizable and {} only with that",
            count_of(all, "history", "histories"),
            count(plain),
            count(loose)
        ),
        (false, _) => format!(
            "Of {} seen, {} are linearizable, {} only quasi linearizable with {classes}{readings}, and {} neither",
            count_of(all, "history", "histories"),
            count(plain),
            count(loose),
            count(bad)
        ),
    };
    text += &format!("; held against {against}.");
    let mut text = paragraph(&text, 2);
    for note in notes {
        text += &paragraph(&format!("Note: {}.", clean(&words::note(note))), 2);
    }
    text
}

/// How far the random matrices came that only fill up the time.
fn sample(report: &ObjectReport) -> String {
    let (tested, planned) = (report.random_tested, report.random_optional);
    let fitted = match tested {
        0 => format!("none of the {} random matrices fitted into the time", count(planned)),
        _ if tested == planned => format!("all {} random matrices are among them", count(planned)),
        _ => format!("{} of the {} random matrices fitted into the time", count(tested), count(planned)),
    };
    format!("{fitted}; larger matrices are sampled, not covered")
}

fn count_of(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}
