//! A search that several workers share: who does which part, and what all of them have seen together.
//!
//! The runs of a search come in one order, whoever makes them. A part is an interval of that order ([`Part`]); the ledger keeps the parts in
//! order, hands out the first that waits, and counts what comes back in order, up to the first violation or limit. Invariant: what was
//! counted does not depend on how many workers there are, on which of them was fast, or on where the search was cut into parts:
//! it is what one worker counts that makes all runs one after the other.

use std::collections::{BTreeSet, VecDeque};

use selvedge_explore::Part;
use selvedge_protocol::{CoverageRecord, Search, Settings, TestReport};
use serde::{Deserialize, Serialize};

/// A search in one way, which others may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Every schedule.
    Dfs,
    /// Every schedule with at most so many preemptions.
    Bounded(u32),
    /// One of each class. Its parts depend on one another, so it stays with one worker.
    Dpor,
    /// Drawn at random.
    Random,
    /// Random priorities.
    Pct,
}

impl Phase {
    /// What the settings ask for, in order.
    pub fn all(settings: &Settings) -> Vec<Phase> {
        let bounds = (0..=settings.preemptions).map(Phase::Bounded);
        match settings.search {
            Search::Dfs => vec![Phase::Dfs],
            Search::Dpor => vec![Phase::Dpor],
            Search::Random => vec![Phase::Random],
            Search::Pct => vec![Phase::Pct],
            Search::Bounded => bounds.collect(),
            Search::Portfolio => bounds.chain([Phase::Dpor]).collect(),
        }
    }

    /// All of it, as far as it can be taken apart.
    fn whole(self, settings: &Settings) -> Vec<Option<Part>> {
        match self {
            Phase::Dfs | Phase::Bounded(_) => vec![Some(Part::whole_tree())],
            Phase::Dpor => vec![None],
            Phase::Random | Phase::Pct => Part::of_runs(0, settings.runs_max).into_iter().map(Some).collect(),
        }
    }
}

/// What a worker is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
    /// In which way.
    pub phase: Phase,
    /// Which part; `None` for all of it.
    pub part: Option<Part>,
    /// Not more runs than this.
    pub runs_max: u64,
}

/// A part, written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum PartRecord {
    Tree(Vec<u32>, u32),
    Runs(u64, u64),
}

/// What a worker has done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was seen.
    pub report: TestReport,
    rest: Vec<PartRecord>,
    cut: bool,
    ended: Ended,
}

/// How a worker's search came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// Everything was done.
    Complete,
    /// The program did not repeat itself.
    Diverged,
    /// A violation, a limit or the end of its time.
    Early,
}

impl Answer {
    /// What was seen, what is left to do of the part, and whether a bound kept anything out.
    pub fn new(report: TestReport, rest: Vec<Part>, cut: bool, ended: Ended) -> Self {
        let record = |part| match part {
            Part::Tree { ranks, fixed } => PartRecord::Tree(ranks, fixed),
            Part::Runs { first, count } => PartRecord::Runs(first, count),
        };
        Answer { report, rest: rest.into_iter().map(record).collect(), cut, ended }
    }
}

impl From<PartRecord> for Part {
    fn from(record: PartRecord) -> Self {
        match record {
            PartRecord::Tree(ranks, fixed) => Part::Tree { ranks, fixed },
            PartRecord::Runs(first, count) => Part::Runs { first, count },
        }
    }
}

enum State {
    Waiting,
    Running,
    Done(Box<Answer>),
}

struct Node {
    id: u64,
    /// Which of the phases.
    phase: usize,
    part: Option<Part>,
    state: State,
}

/// The parts of a search in their order.
pub struct Ledger {
    phases: Vec<Phase>,
    settings: Settings,
    nodes: VecDeque<Node>,
    next_id: u64,
    total: TestReport,
    histories: BTreeSet<String>,
    /// The phase that is being counted, and whether its bound kept anything out so far.
    phase: usize,
    cut: bool,
    /// Set when nothing more is to be counted.
    coverage: Option<CoverageRecord>,
}

impl Ledger {
    /// A search of which `total` was seen already: all phases before `phase`, and all of that but for the parts in `rest`.
    pub fn new(settings: &Settings, total: TestReport, phase: usize, rest: Vec<Part>, cut: bool) -> Self {
        let phases = Phase::all(settings);
        let histories = total.history_texts.iter().cloned().collect();
        let mut ledger = Ledger {
            settings: settings.clone(),
            nodes: VecDeque::new(),
            next_id: 0,
            total: TestReport { history_texts: vec![], ..total },
            histories,
            phase,
            cut,
            coverage: None,
            phases,
        };
        let first = rest.into_iter().map(|part| (phase, Some(part)));
        let later = (phase + 1..ledger.phases.len())
            .flat_map(|phase| ledger.phases[phase].whole(settings).into_iter().map(move |part| (phase, part)));
        let all: Vec<(usize, Option<Part>)> = first.chain(later).collect();
        for (phase, part) in all {
            let node = ledger.node(phase, part);
            ledger.nodes.push_back(node);
        }
        ledger.settle();
        ledger
    }

    fn node(&mut self, phase: usize, part: Option<Part>) -> Node {
        self.next_id += 1;
        Node { id: self.next_id, phase, part, state: State::Waiting }
    }

    /// The next thing to do, with a number to answer under; `None` when everything is done or being done.
    pub fn hand_out(&mut self) -> Option<(u64, Errand)> {
        let left = self.settings.runs_max.saturating_sub(self.total.runs);
        let node = self.nodes.iter_mut().find(|node| matches!(node.state, State::Waiting))?;
        node.state = State::Running;
        Some((node.id, Errand { phase: self.phases[node.phase], part: node.part.clone(), runs_max: left }))
    }

    /// Whether somebody still has to answer under that number.
    pub fn expects(&self, id: u64) -> bool {
        self.nodes.iter().any(|node| node.id == id)
    }

    /// Takes an answer. One that nobody waits for any more is dropped.
    pub fn answer(&mut self, id: u64, mut answer: Answer) {
        let Some(at) = self.nodes.iter().position(|node| node.id == id) else { return };
        let phase = self.nodes[at].phase;
        let rest = std::mem::take(&mut answer.rest);
        let last = self.ends_all(&answer);
        self.nodes[at].state = State::Done(Box::new(answer));
        if last {
            // Whatever comes after the first violation is not counted, so nobody need do it.
            self.nodes.truncate(at + 1);
        } else {
            for (number, part) in rest.into_iter().enumerate() {
                let node = self.node(phase, Some(part.into()));
                self.nodes.insert(at + 1 + number, node);
            }
        }
        self.settle();
    }

    fn ends_all(&self, answer: &Answer) -> bool {
        let seen = &answer.report;
        answer.ended == Ended::Diverged || !self.settings.keep_going && seen.ends_search() || seen.asks_for_steps()
    }

    /// Counts what is done at the front.
    fn settle(&mut self) {
        while self.coverage.is_none() {
            let next = self.nodes.front().map(|node| node.phase);
            if next.is_none_or(|next| next > self.phase) {
                self.phase_done(next);
                continue;
            }
            let left = self.settings.runs_max.saturating_sub(self.total.runs);
            if left == 0 {
                self.end(self.so_far());
                return;
            }
            let Some(Node { state: State::Done(_), .. }) = self.nodes.front() else { return };
            let Some(Node { state: State::Done(answer), phase, part, .. }) = self.nodes.pop_front() else { return };
            if answer.report.runs > left {
                // One worker alone would have stopped within this part: once more, up to there.
                self.nodes.clear();
                let again = self.node(phase, part);
                self.nodes.push_front(again);
                return;
            }
            self.count(*answer);
        }
    }

    fn count(&mut self, answer: Answer) {
        let ends_all = self.ends_all(&answer);
        let Answer { report, cut, ended, .. } = answer;
        let before = self.total.runs;
        self.total.runs += report.runs;
        self.total.redundant += report.redundant;
        self.total.blocked += report.blocked;
        self.total.excluded += report.excluded;
        self.total.truncated += report.truncated;
        self.total.unfair += report.unfair;
        self.total.spared += report.spared;
        self.total.forgotten += report.forgotten;
        self.total.points += report.points;
        self.total.cpu_seconds += report.cpu_seconds;
        self.histories.extend(report.history_texts);
        self.cut |= cut;
        for mut found in report.findings.into_iter().chain(report.unknowns) {
            found.run += before;
            self.total.keep(found);
        }
        let phase = self.phases[self.phase];
        let unfinished = phase == Phase::Dpor && ended != Ended::Complete;
        // A run within the bound that was given up is missing from all that could be said of the bound.
        let given_up = matches!(phase, Phase::Bounded(_)) && report.unfair + report.truncated > 0;
        if given_up && self.total.findings.is_empty() {
            self.total.bound = None;
            self.end(CoverageRecord::Partial);
        } else if ended == Ended::Diverged && self.total.findings.is_empty() {
            self.end(CoverageRecord::Partial);
        } else if ends_all || unfinished {
            self.end(self.so_far());
        }
    }

    /// The phase is searched to its end; `next` is the one that comes now.
    fn phase_done(&mut self, next: Option<usize>) {
        let exhaustive = match self.phases[self.phase] {
            Phase::Dpor => true,
            Phase::Dfs => !self.cut,
            Phase::Random | Phase::Pct => return self.end(CoverageRecord::Sampled(self.total.runs)),
            Phase::Bounded(bound) => {
                if self.cut {
                    self.total.bound = Some(bound);
                }
                !self.cut
            }
        };
        self.cut = false;
        match next {
            _ if exhaustive => {
                if self.phases[self.phase] != Phase::Dpor {
                    self.total.bound = None;
                }
                self.end(CoverageRecord::Exhaustive);
            }
            None => self.end(self.so_far()),
            Some(next) => self.phase = next,
        }
    }

    /// What can be said when the search ends now.
    fn so_far(&self) -> CoverageRecord {
        match (self.phases[self.phase], self.total.bound) {
            (Phase::Random | Phase::Pct, _) => CoverageRecord::Sampled(self.total.runs),
            (Phase::Bounded(_) | Phase::Dpor, Some(bound)) => CoverageRecord::Preemptions(bound),
            _ => CoverageRecord::Partial,
        }
    }

    fn end(&mut self, coverage: CoverageRecord) {
        self.nodes.clear();
        self.coverage = Some(coverage);
    }

    /// What all have seen. When something is left to do, because time ran out, everything that was done is counted, and the
    /// violation is the first in order of those that were found.
    pub fn finish(mut self) -> TestReport {
        while self.coverage.is_none() {
            match self.nodes.pop_front() {
                // A part that is missing ends what can be claimed, not what is counted.
                Some(Node { state: State::Done(answer), .. }) => {
                    let ends_all = self.ends_all(&answer);
                    let (phase, cut) = (self.phase, self.cut);
                    self.count(*answer);
                    (self.phase, self.cut) = (phase, cut);
                    if ends_all {
                        break;
                    }
                }
                Some(_) => {}
                None => break,
            }
        }
        self.total.coverage = self.coverage.unwrap_or(self.so_far());
        self.total.histories = self.histories.len() as u64;
        if self.settings.histories {
            self.total.history_texts = self.histories.into_iter().collect();
        }
        self.total
    }
}
