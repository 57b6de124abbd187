//! How far orders go in a history that has none: the longest that a short search finds, and why nothing can come next.
//!
//! This is the search of Wing and Gong with Lowe's memory of what was seen, cut short. Invariant: it only explains. No verdict depends on it; each order
//! that it gives is one that the object accepts, and after it no operation that may come next fits.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use selvedge_history::{Budget, End, History, Limit, OpId, Value, Verdict, check};

use super::super::operation::Reading;
use super::super::replay::{self, Input, Player, States};

/// How many orders are kept.
const KEPT: usize = 3;
/// How many orders are tried, and for how long.
const TRIED_MAX: usize = 20_000;
const TIME_MAX: Duration = Duration::from_millis(400);
/// How long the longest beginning that is right is looked for.
const EXPLAINED_TIME_MAX: Duration = Duration::from_secs(10);
/// Larger histories are not searched.
const OPERATIONS_MAX: usize = 50_000;
/// States are kept at every so many places, and found again in between.
const KEPT_EVERY: usize = 64;
/// How many possible answers are told.
const ANSWERS_MAX: usize = 3;

/// An order that goes no further.
#[derive(Debug, PartialEq, Eq)]
pub struct Partial {
    /// The operations in their order.
    pub order: Vec<OpId>,
    /// What the object holds after it, where that can be said.
    pub holds: Option<String>,
    /// What may come next, and why it does not fit.
    pub stuck: Vec<(OpId, String)>,
}

/// The longest orders of these operations that begin with the given one, the longest first. Empty where there is an order of all, or none was found in
/// time.
pub fn longest(reading: Reading<'_>, initial: Option<&Value>, ops: &[OpId], beginning: &[OpId]) -> Vec<Partial> {
    if ops.len() > OPERATIONS_MAX {
        return Vec::new();
    }
    let mut ops = ops.to_vec();
    ops.sort_unstable_by_key(|op| reading.log.history.operation(*op).call);
    explain(reading, initial, ops, beginning).unwrap_or_default()
}

/// The search itself, of operations in the order of their calls; `None` where the object has no such calls.
fn explain(reading: Reading<'_>, initial: Option<&Value>, ops: Vec<OpId>, beginning: &[OpId]) -> Option<Vec<Partial>> {
    let mut player = replay::player(reading.kind, initial)?;
    let inputs: Option<Vec<Input>> = ops.iter().map(|&op| replay::read(player.as_mut(), reading, op)).collect();
    let search = Search {
        reading,
        player,
        inputs: inputs?,
        placed: vec![false; ops.len()],
        ops,
        begun: 0,
        first: 0,
        order: Vec::new(),
        frames: Vec::new(),
        seen: HashSet::new(),
        hasher: RandomState::new(),
        best: Vec::new(),
    };
    Some(search.run(beginning))
}

/// An order of a long beginning of a history whose first `wrong` events have none, found by going back in growing steps and then by halving. A beginning is
/// what was called so far, with the results that were returned later: it has few pending operations, so that the fast algorithms decide it. It may be a little shorter than need be.
/// For a log of one object. `None` when it was not found in time.
pub fn explained(reading: Reading<'_>, initial: Option<&Value>, wrong: usize) -> Option<Vec<OpId>> {
    let budget = Budget::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            std::thread::park_timeout(EXPLAINED_TIME_MAX);
            if !done.load(Ordering::Acquire) {
                budget.spend(Limit::Time);
            }
        });
        let found = halve(reading, initial, wrong, &budget);
        done.store(true, Ordering::Release);
        watch.thread().unpark();
        found
    })
}

fn halve(reading: Reading<'_>, initial: Option<&Value>, wrong: usize, budget: &Budget) -> Option<Vec<OpId>> {
    let mut short = reading.log.clone();
    let (mut right, mut wrong) = (0, wrong.min(reading.log.history.marks().len()));
    let (mut order, mut step) = (Vec::new(), 1);
    while right + 1 < wrong {
        // Nothing is known to be right yet: it is most likely near.
        let next = if right == 0 { wrong.saturating_sub(step).max(1) } else { right.midpoint(wrong) };
        step *= 2;
        short.history = called_before(&reading.log.history, next);
        match check::check(&short, reading.kind, initial, budget).ok()?.verdict {
            Verdict::Pass(parts) => {
                right = next;
                order = parts.into_iter().next().map(|part| part.order).unwrap_or_default();
            }
            Verdict::Fail(_) => wrong = next,
            Verdict::Unknown(_) => return None,
        }
    }
    Some(order)
}

/// The operations called in the first `events` events, with whatever they returned.
fn called_before<I: Clone, O: Clone>(history: &History<I, O>, events: usize) -> History<I, O> {
    let called = history.operations().iter().take_while(|operation| (operation.call as usize) < events);
    let ops: Vec<OpId> = called.zip(0..).map(|(_, number)| OpId(number)).collect();
    let pending = ops.iter().any(|&op| history.operation(op).output().is_none());
    let end = if pending { End::Truncated } else { End::Complete };
    history.project(&ops, end, |_, operation| (operation.input.clone(), operation.output().cloned()))
}

/// A place in the order that is tried.
struct Frame {
    /// What may come here, and how many of them were tried.
    candidates: Vec<usize>,
    tried: usize,
    /// Whether one of them fitted.
    fitted: bool,
    states: Option<States>,
}

struct Search<'a> {
    reading: Reading<'a>,
    player: Box<dyn Player>,
    ops: Vec<OpId>,
    inputs: Vec<Input>,
    /// How many are placed before the first frame.
    begun: usize,
    placed: Vec<bool>,
    /// The first that is not placed.
    first: usize,
    order: Vec<usize>,
    frames: Vec<Frame>,
    seen: HashSet<u64>,
    hasher: RandomState,
    best: Vec<Partial>,
}

impl Search<'_> {
    fn run(mut self, beginning: &[OpId]) -> Vec<Partial> {
        let begun = Instant::now();
        let states = self.begin(beginning);
        self.push(states);
        let mut tried = 0;
        while let Some(frame) = self.frames.last_mut() {
            let Some(&next) = frame.candidates.get(frame.tried) else {
                self.leave();
                continue;
            };
            frame.tried += 1;
            tried += 1;
            if tried > TRIED_MAX || tried.is_multiple_of(256) && begun.elapsed() > TIME_MAX {
                break;
            }
            let states = self.states();
            let states = self.player.after(&states, self.inputs[next], self.output(next));
            if states.is_empty {
                continue;
            }
            self.frames.last_mut().expect("it was there").fitted = true;
            self.place(next);
            if self.complete() {
                return Vec::new();
            }
            if self.is_new(&states) {
                self.push(states);
            } else {
                self.take_back();
            }
        }
        self.best
    }

    /// Places what the orders begin with, as far as the object accepts it with the results that were recorded.
    fn begin(&mut self, beginning: &[OpId]) -> States {
        let at: HashMap<OpId, usize> = self.ops.iter().copied().zip(0..).collect();
        let mut states = self.player.initial();
        for next in beginning.iter().filter_map(|op| at.get(op).copied()) {
            let after = self.player.after(&states, self.inputs[next], self.output(next));
            if after.is_empty {
                break;
            }
            states = after;
            self.place(next);
        }
        self.begun = self.order.len();
        states
    }

    fn place(&mut self, at: usize) {
        self.placed[at] = true;
        self.order.push(at);
        while self.placed.get(self.first) == Some(&true) {
            self.first += 1;
        }
    }

    fn output(&self, at: usize) -> Option<&Value> {
        self.reading.log.history.operation(self.ops[at]).output()
    }

    /// Whether everything that returned is in the order.
    fn complete(&self) -> bool {
        self.order.len() == self.ops.len()
            || (0..self.ops.len()).rev().all(|at| self.placed[at] || self.output(at).is_none())
    }

    fn push(&mut self, states: States) {
        // The frame below is found again from one further down.
        let depth = self.frames.len();
        if let Some(below) = self.frames.last_mut()
            && !(depth - 1).is_multiple_of(KEPT_EVERY)
        {
            below.states = None;
        }
        let candidates = self.candidates();
        self.frames.push(Frame { candidates, tried: 0, fitted: false, states: Some(states) });
    }

    /// The states at the place that is tried.
    fn states(&mut self) -> States {
        let depth = self.frames.len() - 1;
        let from = (0..=depth).rev().find(|&at| self.frames[at].states.is_some()).unwrap_or(0);
        let mut states = self.frames[from].states.clone().expect("the first place keeps its states");
        for &at in &self.order[self.begun + from..self.begun + depth] {
            states = self.player.after(&states, self.inputs[at], self.output(at));
        }
        if from < depth {
            self.frames[depth].states = Some(states.clone());
        }
        states
    }

    /// What may come next: nothing that is not in the order returned before it was called. What returned first is tried first.
    fn candidates(&self) -> Vec<usize> {
        let history = &self.reading.log.history;
        let mut limit = u32::MAX;
        let mut found = Vec::new();
        for at in (self.first..self.ops.len()).filter(|&at| !self.placed[at]) {
            let operation = history.operation(self.ops[at]);
            if operation.call > limit {
                break;
            }
            limit = limit.min(operation.end());
            found.push(at);
        }
        found.sort_by_key(|&at| history.operation(self.ops[at]).end());
        found
    }

    /// Whether nothing that leads to the same was tried. By a hash alone: what is missed is an explanation.
    fn is_new(&mut self, states: &States) -> bool {
        let first = self.first;
        // All before the first are in the order: so many of it are not before.
        let beyond = self.order.len() - first;
        let mut rest: Vec<usize> = self.order.iter().rev().copied().filter(|&at| at >= first).take(beyond).collect();
        rest.sort_unstable();
        self.seen.insert(self.hasher.hash_one((first, rest, self.player.hash(states, &self.hasher))))
    }

    fn take_back(&mut self) {
        if let Some(at) = self.order.pop() {
            self.placed[at] = false;
            self.first = self.first.min(at);
        }
    }

    /// Goes back; keeps the order if nothing fitted after it.
    fn leave(&mut self) {
        let full = self.best.len() == KEPT;
        let longer = self.best.last().is_none_or(|last| last.order.len() < self.order.len());
        if self.frames.last().is_some_and(|frame| !frame.fitted) && (!full || longer) {
            let partial = self.partial();
            let at = self.best.partition_point(|other| other.order.len() >= partial.order.len());
            self.best.insert(at, partial);
            self.best.truncate(KEPT);
        }
        self.frames.pop();
        if !self.frames.is_empty() {
            self.take_back();
        }
    }

    fn partial(&mut self) -> Partial {
        let states = self.states();
        let candidates = self.frames.last().map(|frame| frame.candidates.clone()).unwrap_or_default();
        let why = |&at: &usize| {
            let answers = self.player.answers(&states, self.inputs[at]);
            let method = self.reading.log.history.operation(self.ops[at]).input.method;
            let method = super::super::text::clean(self.reading.log.name(method));
            let told: Vec<String> = answers.iter().take(ANSWERS_MAX).filter_map(|a| self.reading.result(a)).collect();
            let why = match (answers.is_empty(), told.is_empty()) {
                (true, _) => format!("there {method} would have to wait"),
                (false, true) => "its result does not fit there".to_owned(),
                (false, false) => format!("there {method} would answer {}", told.join(" or ")),
            };
            (self.ops[at], why)
        };
        Partial {
            stuck: candidates.iter().map(why).collect(),
            order: self.order.iter().map(|&at| self.ops[at]).collect(),
            holds: self.player.first(&states).and_then(|state| replay::holds(self.reading.kind, state)),
        }
    }
}

#[cfg(test)]
mod tests {
    use selvedge_history::Budget;
    use selvedge_history::format;
    use selvedge_history::object::Kind;

    use super::*;

    fn of(kind: Kind, lines: &[&str]) -> (selvedge_history::Log, Kind) {
        let head = format!("{{\"selvedge\":\"history\",\"version\":1,\"object\":\"{}\"}}\n", kind.name());
        let text = head + &lines.join("\n");
        let (_, log) = format::read(&mut text.as_bytes(), None, &Budget::new()).unwrap();
        (log, kind)
    }

    /// The order, and what may come next with why it does not fit.
    type Told = (Vec<u32>, Vec<(u32, String)>);

    fn told(kind: Kind, lines: &[&str]) -> Vec<Told> {
        let (log, kind) = of(kind, lines);
        let ops: Vec<OpId> = (0..log.history.len() as u32).map(OpId).collect();
        let partials = longest(Reading { log: &log, kind }, None, &ops, &[]);
        let number = |op: &OpId| op.0;
        let plain = |partial: Partial| {
            let stuck = partial.stuck.iter().map(|(op, why)| (op.0, why.clone())).collect();
            (partial.order.iter().map(number).collect(), stuck)
        };
        partials.into_iter().map(plain).collect()
    }

    const OVERTAKEN: [&str; 6] = [
        r#"{"call":"enq","thread":1,"value":1}"#,
        r#"{"return":null,"thread":1}"#,
        r#"{"call":"enq","thread":1,"value":2}"#,
        r#"{"return":null,"thread":1}"#,
        r#"{"call":"deq","thread":1}"#,
        r#"{"return":2,"thread":1}"#,
    ];

    #[test]
    fn what_does_not_fit_is_told_with_what_would() {
        let expected = (vec![0, 1], vec![(2, "there deq would answer 1".to_owned())]);
        assert_eq!(told(Kind::Queue, &OVERTAKEN), [expected]);
    }

    #[test]
    fn what_has_an_order_has_no_longest_one() {
        assert_eq!(told(Kind::Stack, &OVERTAKEN), []);
    }

    #[test]
    fn orders_differ_by_what_they_chose() {
        // The two insertions overlap: either may be first, and neither explains both removals.
        let lines = [
            r#"{"call":"enq","thread":1,"value":1}"#,
            r#"{"call":"enq","thread":2,"value":2}"#,
            r#"{"return":null,"thread":1}"#,
            r#"{"return":null,"thread":2}"#,
            r#"{"call":"deq","thread":1}"#,
            r#"{"return":2,"thread":1}"#,
            r#"{"call":"deq","thread":1}"#,
            r#"{"return":3,"thread":1}"#,
        ];
        let found = told(Kind::Queue, &lines);
        let why = |op, answer: &str| vec![(op, format!("there deq would answer {answer}"))];
        assert_eq!(found, [(vec![1, 0, 2], why(3, "1")), (vec![0, 1], why(2, "1"))]);
    }

    #[test]
    fn a_beginning_is_kept() {
        let (log, kind) = of(Kind::Queue, &OVERTAKEN);
        let reading = Reading { log: &log, kind };
        let order = super::explained(reading, None, usize::MAX).unwrap();
        assert_eq!(order, [OpId(0), OpId(1)]);
        let all = [OpId(0), OpId(1), OpId(2)];
        assert_eq!(longest(reading, None, &all, &order), longest(reading, None, &all, &[]));
        // What the object does not accept is no beginning.
        assert_eq!(longest(reading, None, &all, &[OpId(0), OpId(2)]), longest(reading, None, &all, &[]));
    }

    #[test]
    fn a_long_history_is_searched_without_recursion() {
        let mut lines = Vec::new();
        for n in 0..3_000 {
            lines.push(format!(r#"{{"call":"enq","thread":1,"value":{n}}}"#));
            lines.push(r#"{"return":null,"thread":1}"#.to_owned());
            lines.push(r#"{"call":"deq","thread":1}"#.to_owned());
            lines.push(format!(r#"{{"return":{},"thread":1}}"#, if n == 2_999 { 7 } else { n }));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let found = told(Kind::Queue, &lines);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0.len(), &found[0].1[0].1[..]), (5_999, "there deq would answer 2999"));
    }
}
