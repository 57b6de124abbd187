//! The report on tests of code: what was found or not, and exactly what was covered.
//!
//! Invariant: coverage is stated with every verdict, relative to what was controlled. What was only sampled, or was cut short, never
//! reads as complete.

use std::time::Duration;

use selvedge_protocol::{Cause, CoverageRecord, Finding, FindingKind, Memory, Search, Settings, words};

use super::{FAIL, FAINT, PASS, UNKNOWN, clean, objects, paint, paragraph};
use crate::exit::Exit;
use crate::findings::Saved;
use crate::quantity::{count, counted, show_time};
use crate::report::interleaving;
use crate::report::names::Names;
use crate::report::tested::{Session, Tested};
use crate::report::verdict::Reached;

/// What is said where tests ran and none of them searched anything.
pub const NOTHING: &str = "nothing was tested: no test called selvedge::explore or selvedge::object";

impl Tested {
    /// What was covered, exactly.
    pub fn coverage(&self) -> String {
        let settings = &self.settings;
        let covered = match (self.report.coverage, settings.search) {
            (CoverageRecord::Exhaustive, Search::Dpor | Search::Portfolio) => {
                "exhaustive: one schedule of every class that differs only in the order of independent steps".to_owned()
            }
            (CoverageRecord::Exhaustive, Search::Dfs) => "exhaustive: every schedule".to_owned(),
            (CoverageRecord::Exhaustive, _) => {
                format!("exhaustive: every schedule; none has more than {}", preemptions(settings.preemptions))
            }
            (CoverageRecord::Preemptions(bound), _) => {
                format!("bounded: every schedule with at most {}, and no more than that", preemptions(bound))
            }
            (CoverageRecord::Sampled(runs), Search::Pct) => format!(
                "sampled: {} with random priorities (seed {}, depth {}), nothing is covered completely",
                counted(runs, "run"),
                settings.seed,
                settings.depth
            ),
            (CoverageRecord::Sampled(runs), _) => format!(
                "sampled: {} at random (seed {}), nothing is covered completely",
                counted(runs, "run"),
                settings.seed
            ),
            (CoverageRecord::Replayed, _) => "one schedule, replayed".to_owned(),
            (CoverageRecord::Partial, _) => "partial: nothing is covered completely".to_owned(),
        };
        format!("{covered}{} (strategy {})", self.left_out(), settings.search.name())
    }

    /// What is said of plain accesses that are steps.
    pub fn plain_steps(&self, names: &mut Names) -> String {
        let steps = &self.report.plain_steps;
        let lines = clean(&names.places(&steps.places).join(", "));
        words::plain_steps(&lines, &counted(steps.runs_before, "run"))
    }

    /// What the search did not look at because of loops that only try again.
    fn left_out(&self) -> &'static str {
        let reduced = matches!(self.settings.search, Search::Dpor | Search::Portfolio);
        if reduced && self.settings.retries && self.report.blocked > self.report.excluded {
            "; attempts that failed, left nothing behind and were only made again are left out"
        } else {
            ""
        }
    }

    /// How many runs count for nothing, because an assumption did not hold.
    fn excluded(&self) -> String {
        match self.report.excluded {
            0 => String::new(),
            excluded => format!(" ({} by an assumption)", count(excluded)),
        }
    }

    pub fn numbers(&self) -> String {
        let report = &self.report;
        let histories = match report.histories {
            0 => String::new(),
            1 => "1 distinct history, ".to_owned(),
            histories => format!("{} distinct histories, ", count(histories)),
        };
        // A finding says itself who waits.
        let blocked = match report.blocked {
            _ if !report.findings.is_empty() => String::new(),
            0 => String::new(),
            blocked => format!("{} blocked{}, ", count(blocked), self.excluded()),
        };
        format!(
            "{}, {} redundant, {blocked}{}, {histories}{:.3} cpu s",
            counted(report.runs, "run"),
            count(report.redundant),
            counted(report.points, "point"),
            report.cpu_seconds
        )
    }

    fn text(&self, time_max: Option<Duration>, names: &mut Names) -> String {
        let test = match &self.function {
            Some(function) => clean(&format!("{function} ({})", self.report.test)),
            None => clean(&self.report.test),
        };
        let (label, says) = match self.exit() {
            Exit::Pass if self.expected => {
                (paint(PASS, "PASS"), "fails under some schedule, as the test expects".to_owned())
            }
            Exit::Pass => (paint(PASS, "PASS"), "no violation in what was covered".to_owned()),
            Exit::Violation => {
                let kinds: Vec<&str> = match &self.object {
                    Some(object) => object.findings.iter().map(|found| found.kind.name()).collect(),
                    None => self.report.findings.iter().map(|finding| finding.kind.name()).collect(),
                };
                (paint(FAIL, "FAIL"), kinds.join(", "))
            }
            _ => (paint(UNKNOWN, "UNKNOWN"), self.open()),
        };
        let mut text = format!("{label}  {test}: {says}\n");
        for (number, (finding, path)) in self.report.findings.iter().zip(&self.paths).enumerate() {
            let object = self.object.as_ref().and_then(|object| object.findings.get(number));
            text += &object.map_or(String::new(), |object| format!("\n{}", objects::explanation(object)));
            text += &format!("\n{}\n", found(finding, path, names));
        }
        for unknown in &self.report.unknowns {
            text += &paragraph(&unfinished(unknown, names), 2);
        }
        if !self.report.plain_steps.is_empty() {
            text += &paragraph(&self.plain_steps(names), 2);
        }
        if let Some(object) = &self.object {
            return text + &objects::numbers(object, names);
        }
        if self.report.findings.is_empty() {
            text += &paragraph(&self.coverage(), 2);
            if let Some(limit) = self.limit() {
                text += &paragraph(&self.limit_text(limit, time_max), 2);
            }
        }
        text + &format!("  {}\n", paint(FAINT, self.numbers()))
    }

    /// What is said of a test whose verdict is unknown.
    pub fn open(&self) -> String {
        let mut kinds: Vec<&str> = self.report.unknowns.iter().map(|unknown| unknown.kind.name()).collect();
        kinds.dedup();
        match kinds.is_empty() {
            true => "no violation so far, and that says nothing about the rest".to_owned(),
            false => format!("{}, and nothing can be said of what comes after it", kinds.join(", ")),
        }
    }

    /// Whether the heap of a thread was used up, which has a size of its own.
    fn fills_heap(&self) -> bool {
        let heap = |found: &Finding| matches!(found.cause, Cause::Memory { of: Memory::Heap, .. });
        self.report.unknowns.first().is_some_and(heap)
    }

    pub fn limit_text(&self, limit: Reached, time_max: Option<Duration>) -> String {
        match (limit, time_max) {
            (Reached::Runs, _) => format!("stopped after {}: --runs N allows more", counted(self.settings.runs_max, "run")),
            (Reached::TIME, Some(time)) => format!(
                "stopped by the time limit, {} for each test: --time-max TIME allows more (none for no limit)",
                show_time(time)
            ),
            (Reached::Fairness, _) => format!(
                "{} given up as unfair: a loop went round again and again while others could go; it counts its rounds or \
                 looks at the clock, so that no two rounds are the same, or it takes locks and gives them back until it \
                 has them all",
                if self.report.unfair == 1 { "1 run was".into() } else { format!("{} runs were", count(self.report.unfair)) }
            ),
            (Reached::RaceMemory, _) => format!(
                "{} more memory than the 16 MiB that are remembered for data races, so that a race may have been missed: a smaller \
                 test of the same code can be looked at as a whole",
                if self.report.forgotten == 1 { "1 run touched".into() } else { format!("{} runs touched", count(self.report.forgotten)) }
            ),
            (Reached::Assumptions, _) => {
                "nothing was tested: in every run an assumption of the test did not hold".to_owned()
            }
            (Reached::Run(FindingKind::Uncontrolled | FindingKind::Nondeterminism), _) => {
                "stopped there: docs/coverage.md says what is controlled".to_owned()
            }
            (Reached::Run(FindingKind::MemoryLimit), _) if self.fills_heap() => {
                "stopped there: docs/coverage.md says how much there is".to_owned()
            }
            (Reached::Run(FindingKind::MemoryLimit), _) => "stopped there: --memory-max SIZE allows more".to_owned(),
            (Reached::Run(FindingKind::StepLimit), _) => "runs that are longer than that: --steps-max N allows more".to_owned(),
            (Reached::INTERRUPTED, _) => "interrupted".to_owned(),
            (Reached::NoReport, _) => clean(self.lost.as_deref().unwrap_or_default()),
            (Reached::Worker, _) => {
                "stopped because a worker process ended without an answer, for want of memory most likely: --jobs N allows fewer of them"
                    .to_owned()
            }
            _ => "stopped before the end".to_owned(),
        }
    }
}

fn preemptions(bound: u32) -> String {
    counted(u64::from(bound), "preemption")
}

/// What happened, in a sentence without its full stop, and whether it happened to one thread alone.
pub fn sentence(finding: &Finding, names: &mut Names) -> (String, bool) {
    let mut sentence = interleaving::explained(finding, names);
    let waits = interleaving::waits(finding, names);
    let stuck = match &finding.cause {
        Cause::Stuck { returned, bystanders, .. } if !waits.is_empty() => Some((*returned, *bystanders)),
        _ => None,
    };
    if let Some((returned, bystanders)) = stuck {
        // The same with the lines at which the threads wait.
        let begins = if returned { words::RETURNED } else { words::STUCK };
        sentence = format!("{begins}: {}{}", waits.join("; "), words::bystanders(bystanders));
    } else if matches!(finding.kind, FindingKind::Livelock | FindingKind::StepLimit) {
        let loops = interleaving::loops(finding, names);
        sentence = [vec![sentence], loops].concat().join("; ");
    } else {
        let site = names.site(finding, finding.place.as_ref(), &finding.callers);
        if !site.line.is_empty() && !sentence.contains(&site.line) {
            sentence = format!("{sentence} ({})", site.lines());
        } else if site.line.is_empty() && finding.kind == FindingKind::Uncontrolled {
            sentence += &after_step(finding, names);
        }
    }
    let operations = matches!(
        finding.kind,
        FindingKind::NotLinearizable
            | FindingKind::NotQuasiLinearizable
            | FindingKind::Stuck
            | FindingKind::Nondeterministic
    );
    (sentence, stuck.is_none() && !operations)
}

/// The last step of the thread that went wrong, where code without lines did.
fn after_step(finding: &Finding, names: &mut Names) -> String {
    let thread = finding.threads.iter().find(|record| record.thread == finding.thread);
    let site = thread.map(|record| names.site(finding, record.place.as_ref(), &record.callers)).unwrap_or_default();
    if site.line.is_empty() { String::new() } else { format!(", after {}", site.lines()) }
}

/// Why nothing can be said of a run: what is not controlled and where, in a sentence.
pub fn unfinished(unknown: &Finding, names: &mut Names) -> String {
    let (sentence, _) = sentence(unknown, names);
    format!("Run {}, thread T{}: {sentence}.", count(unknown.run), unknown.thread)
}

/// A finding: what happened in a sentence, the interleaving, who waits for what, and how to see it again.
pub fn found(finding: &Finding, saved: &Saved, names: &mut Names) -> String {
    let (sentence, alone) = sentence(finding, names);
    let who = if alone { format!(", thread T{}", finding.thread) } else { String::new() };
    let mut text = paragraph(&format!("Run {}{who}: {sentence}.", count(finding.run)), 2);
    let table = interleaving::draw(finding, names);
    if !table.is_empty() {
        text += &format!("\n{table}");
    }
    match &saved.error {
        None => text + &format!("\n  replay: {}\n", replay_command(&saved.path)),
        Some(_) => text + "\n" + &paragraph(&unsaved(saved), 2),
    }
}

/// What is said of a finding that could not be written.
pub fn unsaved(saved: &Saved) -> String {
    let why = saved.error.as_deref().unwrap_or_default();
    format!("not saved, so that it cannot be replayed: {}: {}", clean(&saved.path), clean(why))
}

/// How to see a finding again.
pub fn replay_command(path: &str) -> String {
    format!("selvedge replay {}", quoted(path))
}

/// A path or another word as a shell takes it.
pub fn quoted(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-+,:@%=".contains(c));
    let path = clean(path);
    if plain { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// What "complete" is relative to.
pub fn relative(settings: &Settings, compiler: &str) -> String {
    let spins = if settings.spins {
        "a loop that only waits goes on when what it reads changes"
    } else {
        "loops that wait are treated like any other"
    };
    // What standards allow is explored unless somebody says otherwise.
    let spurious = if settings.spurious { "" } else { " waits that end only for a reason;" };
    format!(
        "Relative to: fair schedules of at most {} steps; sequentially consistent memory; {spins};{spurious} {} reuse of \
         freed memory; {}. docs/coverage.md says what that leaves out.",
        count(settings.steps_max),
        format!("{:?}", settings.reuse).to_lowercase(),
        if compiler == "rustc" {
            "Rust code, the standard library included (libraries in other languages are not instrumented)"
        } else {
            "code that was compiled here (libraries are not instrumented)"
        }
    )
}

/// Searches of which nothing is shown here.
fn taken_by_tests(taken: usize) -> String {
    match taken {
        1 => "selvedge: 1 search is judged by its test, which took the report (`report()`)\n".to_owned(),
        _ => format!("selvedge: {taken} searches are judged by their tests, which took the reports\n(`report()`)\n"),
    }
}

impl Session<'_> {
    /// The report.
    pub fn text(&self) -> String {
        let mut texts: Vec<String> = self.each(|test, names| test.text(self.time_max, names));
        if self.tests.iter().any(|test| test.report.findings.is_empty())
            && let Some(test) = self.tests.first()
        {
            texts.push(paint(FAINT, paragraph(&relative(&test.settings, self.compiler), 0).trim_end()) + "\n");
        }
        texts.extend(self.missing.iter().map(|missing| format!("{}\n", clean(&missing.line()))));
        texts.extend((self.taken > 0).then(|| taken_by_tests(self.taken)));
        if texts.is_empty() {
            return format!("selvedge: {NOTHING}\n");
        }
        texts.join("\n")
    }

    /// The same in one line.
    pub fn line(&self) -> String {
        format!("{}: {}", clean(self.file), counted(self.tests.len() as u64, "test"))
    }
}

#[cfg(test)]
mod tests {
    use selvedge_protocol::TestReport;

    use super::*;

    fn tested(search: Search, coverage: CoverageRecord, runs: u64, runs_max: u64) -> Tested {
        let report = TestReport { runs, coverage, ..TestReport::new("t") };
        let settings = Settings { search, runs_max, ..Settings::default() };
        let (object, program) = (None, String::new());
        Tested {
            report,
            object,
            settings,
            interrupted: false,
            paths: vec![],
            program,
            function: None,
            expected: false,
            lost: None,
        }
    }

    #[test]
    fn a_pass_is_what_was_asked_for_and_nothing_less() {
        use CoverageRecord::{Exhaustive, Partial, Preemptions, Replayed, Sampled};
        let all = u64::MAX;
        for (search, coverage, runs, runs_max, exit, limit) in [
            (Search::Dpor, Exhaustive, 9, all, Exit::Pass, None),
            (Search::Dpor, Partial, 9, all, Exit::Unknown, Some(Reached::TIME)),
            (Search::Dpor, Partial, 9, 9, Exit::Unknown, Some(Reached::Runs)),
            (Search::Bounded, Preemptions(2), 9, all, Exit::Pass, None),
            (Search::Bounded, Preemptions(1), 9, all, Exit::Unknown, Some(Reached::TIME)),
            (Search::Portfolio, Preemptions(2), 9, all, Exit::Pass, Some(Reached::TIME)),
            (Search::Portfolio, Preemptions(1), 9, all, Exit::Unknown, Some(Reached::TIME)),
            (Search::Random, Sampled(9), 9, 9, Exit::Pass, None),
            (Search::Random, Sampled(8), 8, 9, Exit::Unknown, Some(Reached::TIME)),
            (Search::Dfs, Replayed, 1, all, Exit::Unknown, Some(Reached::TIME)),
        ] {
            let tested = tested(search, coverage, runs, runs_max);
            assert_eq!((tested.exit(), tested.limit()), (exit, limit), "{search:?} {coverage:?}");
            let text = tested.text(None, &mut Names::new("no/such/program"));
            assert_eq!(text.contains("exhaustive"), coverage == Exhaustive, "{text}");
            assert!(!text.contains("verified"), "{text}");
        }
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b-c.json"), "a/b-c.json");
        assert_eq!(quoted("a b/it's.json"), "'a b/it'\\''s.json'");
    }
}
