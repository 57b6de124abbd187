//! The ledger against one worker that makes all runs one after the other. A run is a number; a search of `n` runs is the parts
//! of `0..n`, and what a run does is read off its number.

use selvedge_explore::{Part, Rng};

use selvedge_protocol::{Cause, CoverageRecord, Finding, FindingKind, Search, Settings, TestReport};

use self::shared::*;

// The runtime cannot be linked with a test harness; this module of it is pure.
#[path = "../../src/share/ledger.rs"]
mod shared;

/// A search as numbers: how many runs, which of them fail, and from which on the bound cuts.
#[derive(Clone, Copy, Debug)]
struct World {
    runs: u64,
    fails: Option<u64>,
    runs_max: u64,
}

fn finding(run: u64) -> Finding {
    Finding {
        format: Finding::FORMAT.into(),
        version: Finding::VERSION,
        tool: String::new(),
        test: String::new(),
        program: String::new(),
        kind: FindingKind::Assertion,
        cause: Cause::Abort,
        thread: 0,
        place: None,
        run,
        schedule: String::new(),
        settings: Settings::default(),
        steps: vec![],
        threads: vec![],
        callers: vec![],
        other: None,
        frames: vec![],
    }
}

impl World {
    fn settings(&self) -> Settings {
        Settings { search: Search::Random, runs_max: self.runs_max.min(self.runs), ..Settings::default() }
    }

    /// Makes the runs of an errand, but not more than `slice`.
    fn work(&self, errand: &Errand, slice: u64) -> Answer {
        let Some(Part::Runs { first, count }) = errand.part else { panic!("runs were shared out") };
        let mut report = TestReport::new("t");
        let mut at = first;
        while at < first + count && report.runs < errand.runs_max.min(slice) {
            report.runs += 1;
            report.points += at * 7 + 1;
            report.history_texts.push((at % 10).to_string());
            at += 1;
            if self.fails == Some(at - 1) {
                report.findings.push(finding(report.runs));
                return Answer::new(report, vec![], false, Ended::Early);
            }
        }
        let left = first + count - at;
        let rest = if left == 0 { vec![] } else { vec![Part::Runs { first: at, count: left }] };
        let ended = if left == 0 { Ended::Complete } else { Ended::Early };
        Answer::new(report, rest, false, ended)
    }

    fn alone(&self) -> TestReport {
        let all = Errand {
            phase: Phase::Random,
            part: Some(Part::Runs { first: 0, count: self.runs }),
            runs_max: self.runs_max,
        };
        let mut report = self.work(&all, u64::MAX).report;
        report.coverage = CoverageRecord::Sampled(report.runs);
        report.history_texts.sort();
        report.history_texts.dedup();
        report.histories = report.history_texts.len() as u64;
        report.history_texts.clear();
        report
    }

    /// The same with workers that answer in any order.
    fn shared(&self, rng: &mut Rng) -> TestReport {
        let settings = Settings { runs_max: self.runs_max, ..self.settings() };
        let rest = Part::of_runs(0, self.runs);
        let mut ledger = Ledger::new(&settings, TestReport::new("t"), 0, rest, false);
        let workers = 1 + rng.below(5) as usize;
        let mut busy: Vec<(u64, Errand)> = Vec::new();
        loop {
            while busy.len() < workers
                && let Some(errand) = ledger.hand_out()
            {
                busy.push(errand);
            }
            busy.retain(|(id, _)| ledger.expects(*id));
            if busy.is_empty() {
                // Who was dismissed may have left something to do.
                match ledger.hand_out() {
                    Some(errand) => busy.push(errand),
                    None => return ledger.finish(),
                }
            }
            let (id, errand) = busy.swap_remove(rng.below(busy.len() as u64) as usize);
            ledger.answer(id, self.work(&errand, 1 + rng.below(9)));
        }
    }
}

#[test]
fn what_is_counted_does_not_depend_on_who_counts() {
    let rng = &mut Rng::for_run(3, 3);
    for _ in 0..2000 {
        let runs = 1 + rng.below(300);
        let fails = (rng.below(2) == 0).then(|| rng.below(runs * 2));
        let runs_max = if rng.below(2) == 0 { u64::MAX } else { 1 + rng.below(runs + 20) };
        let world = World { runs, fails, runs_max };
        assert_eq!(world.shared(rng), world.alone(), "{world:?}");
    }
}

fn answer(runs: u64, cut: bool, ended: Ended) -> Answer {
    Answer::new(TestReport { runs, ..TestReport::new("t") }, vec![], cut, ended)
}

/// The parts of bounds and of the reduction after them.
fn portfolio(answers: &[(Phase, Answer)], settings: &Settings) -> TestReport {
    let mut ledger = Ledger::new(settings, TestReport::new("t"), 0, vec![Part::whole_tree()], false);
    for (phase, answer) in answers {
        let (id, errand) = ledger.hand_out().expect("something is left to do");
        assert_eq!(errand.phase, *phase);
        ledger.answer(id, answer.clone());
    }
    assert!(ledger.hand_out().is_none());
    ledger.finish()
}

#[test]
fn bounds_come_one_after_the_other() {
    use Ended::Complete;
    let settings = Settings { preemptions: 1, ..Settings::default() };
    let cut = |runs| answer(runs, true, Complete);
    let whole = |runs| answer(runs, false, Complete);
    let [none, one, dpor] = [Phase::Bounded(0), Phase::Bounded(1), Phase::Dpor];
    let check = |answers: &[(Phase, Answer)], runs, coverage, bound| {
        let report = portfolio(answers, &settings);
        assert_eq!((report.runs, report.coverage, report.bound), (runs, coverage, bound));
    };
    check(&[(none, whole(3))], 3, CoverageRecord::Exhaustive, None);
    check(&[(none, cut(3)), (one, whole(5))], 8, CoverageRecord::Exhaustive, None);
    check(&[(none, cut(3)), (one, cut(5)), (dpor, whole(7))], 15, CoverageRecord::Exhaustive, Some(1));
    let early = answer(7, false, Ended::Early);
    check(&[(none, cut(3)), (one, cut(5)), (dpor, early)], 15, CoverageRecord::Preemptions(1), Some(1));
    let diverged = answer(2, false, Ended::Diverged);
    check(&[(none, cut(3)), (one, diverged)], 5, CoverageRecord::Partial, Some(0));
    // A run that was given up is missing from the bound, however far it was searched.
    let given_up = |cut| {
        let report = TestReport { runs: 2, unfair: 1, ..TestReport::new("t") };
        Answer::new(report, vec![], cut, Complete)
    };
    check(&[(none, given_up(false))], 2, CoverageRecord::Partial, None);
    check(&[(none, cut(3)), (one, given_up(true))], 5, CoverageRecord::Partial, None);
}

#[test]
fn what_came_before_its_turn_is_dropped() {
    // The reduction was done before the bounds turned out to keep nothing out.
    let settings = Settings { preemptions: 0, ..Settings::default() };
    let mut ledger = Ledger::new(&settings, TestReport::new("t"), 0, vec![Part::whole_tree()], false);
    let (bounded, _) = ledger.hand_out().expect("the bound");
    let (dpor, errand) = ledger.hand_out().expect("the reduction");
    assert_eq!(errand.phase, Phase::Dpor);
    ledger.answer(dpor, answer(100, false, Ended::Complete));
    ledger.answer(bounded, answer(4, false, Ended::Complete));
    let report = ledger.finish();
    assert_eq!((report.runs, report.coverage), (4, CoverageRecord::Exhaustive));
}

#[test]
fn a_search_that_is_stopped_tells_what_it_has() {
    let world = World { runs: 320, fails: Some(75), runs_max: u64::MAX };
    let mut ledger = Ledger::new(&world.settings(), TestReport::new("t"), 0, Part::of_runs(0, 320), false);
    let errands: Vec<(u64, Errand)> = std::iter::from_fn(|| ledger.hand_out()).take(10).collect();
    // The first part never comes back; a later one has the violation.
    for (id, errand) in &errands[1..] {
        ledger.answer(*id, world.work(errand, u64::MAX));
    }
    let report = ledger.finish();
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.runs, 66, "ten of each part between, six of the one that fails");
    assert_eq!(report.coverage, CoverageRecord::Sampled(66));
    let mut ledger = Ledger::new(&Settings::default(), TestReport::new("t"), 0, vec![Part::whole_tree()], false);
    ledger.hand_out();
    assert_eq!(ledger.finish().coverage, CoverageRecord::Partial);
}
