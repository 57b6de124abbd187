//! Which algorithm decides which part.
//!
//! The fast algorithms decide parts in which values are distinct or as good as that. Where something was left out of what
//! they looked at (observations), their "violation" still holds and their "none" does not count; where they looked at a
//! guess (repeated values), it is the other way round. The search decides then.

use super::collection::{Collected, Collection, collect};
use super::part::{PartView, Parts};
use super::pending::{self, Discipline};
use super::search::{Explained, Goal, Path, search, shortest_failing_prefix};
use super::{Algorithm, Answer, Unfit, read, register, set};
use crate::evidence::{Failure, Linearization, Violation};
use crate::object::priority_queue::{Direction, PriorityQueue};
use crate::object::{Kind, Misuse, Object, ObjectVisitor};
use crate::{Budget, End, History, Limit, Log, OpId, Value, Verdict};

/// What a part came to.
type PartVerdict = Verdict<Vec<Linearization>, Violation>;

pub(super) fn decide(log: &Log, kind: Kind, initial: Option<&Value>, budget: &Budget) -> Result<Answer, Unfit> {
    let parts = match kind {
        // The values of a set are split only where the fast algorithm does not apply.
        Kind::Set => Parts::split(log, |call| call.key.clone()),
        _ => Parts::split(log, |call| kind.part_key(call)),
    };
    // The fast algorithms start from an empty collection and do not ask the object, and there may be no part that would.
    kind.with_object(initial, Nothing).map_err(unfit_initial)?;
    budget.note_start(parts.len());
    let mut checker = Checker { kind, initial, budget, algorithms: Vec::new(), states: 0, longest: 0 };
    let mut order: Vec<usize> = (0..parts.len()).collect();
    // Small parts first: a violation in one of them is found before a large one uses up the time.
    order.sort_by_key(|&part| parts.view(log, part).ops.len());
    let mut linearizations = Vec::with_capacity(parts.len());
    let mut unknown = None;
    let mut failure = None;
    let mut parts_passed = 0;
    for part in order {
        let view = parts.view(log, part);
        match checker.part(&view)? {
            Verdict::Pass(witness) => {
                parts_passed += 1;
                budget.note_part();
                linearizations.extend(witness);
            }
            Verdict::Fail(violation) => {
                failure = Some(Failure { part: checker.name(&view, &violation), violation });
                break;
            }
            Verdict::Unknown(limit) => {
                unknown = Some(limit);
                break;
            }
        }
    }
    let verdict = match (failure, unknown) {
        (Some(failure), _) => Verdict::Fail(failure),
        (None, Some(limit)) => Verdict::Unknown(limit),
        (None, None) => Verdict::Pass(linearizations),
    };
    let Checker { algorithms, states, longest, .. } = checker;
    Ok(Answer { kind, verdict, algorithms, parts: parts.len(), parts_passed, states, longest })
}

struct Checker<'a> {
    kind: Kind,
    initial: Option<&'a Value>,
    budget: &'a Budget,
    algorithms: Vec<Algorithm>,
    states: u64,
    longest: usize,
}

impl Checker<'_> {
    /// The name of a part that failed. The fast set algorithm looks at all values at once: the failing one is the part.
    fn name(&self, part: &PartView<'_>, violation: &Violation) -> crate::evidence::Part {
        let mut name = part.name();
        if let (Kind::Set, Some(&op)) = (self.kind, violation.operations().first()) {
            name.key = self.kind.part_key(part.recorded(op));
        }
        name
    }

    fn part(&mut self, part: &PartView<'_>) -> Result<PartVerdict, Unfit> {
        if let Some(limit) = self.budget.reached() {
            return Ok(Verdict::Unknown(limit));
        }
        if part.log.history.end() == End::Stuck {
            return if self.kind == Kind::Set { self.set_by_value(part) } else { self.search(part) };
        }
        match self.kind {
            Kind::Queue => self.collection(part, &crate::object::queue::Queue, Discipline::Queue),
            Kind::Stack => self.collection(part, &crate::object::stack::Stack, Discipline::Stack),
            Kind::Bag => self.collection(part, &crate::object::bag::Bag, Discipline::Bag),
            Kind::PriorityQueue => self.priority_queue(part, PriorityQueue::largest_first()),
            Kind::PriorityQueueMin => self.priority_queue(part, PriorityQueue::smallest_first()),
            Kind::Set => self.set(part),
            Kind::Register => self.register(part),
            _ => self.search(part),
        }
    }

    fn ran(&mut self, algorithm: Algorithm) {
        if !self.algorithms.contains(&algorithm) {
            self.algorithms.push(algorithm);
        }
    }

    fn priority_queue(&mut self, part: &PartView<'_>, object: PriorityQueue) -> Result<PartVerdict, Unfit> {
        let smallest_first = object.direction == Direction::SmallestFirst;
        self.collection(part, &object, Discipline::PriorityQueue { smallest_first })
    }

    fn collection<O: Collected>(
        &mut self,
        part: &PartView<'_>,
        object: &O,
        discipline: Discipline,
    ) -> Result<PartVerdict, Unfit> {
        let mut collection = match collect(object, self.kind, part)? {
            Ok(collection) => collection,
            Err(violation) => {
                self.ran(discipline.algorithm());
                return Ok(Verdict::Fail(violation));
            }
        };
        if !collection.pending.is_empty() {
            return self.with_pending(part, collection, discipline);
        }
        let guessed = collection.certain < collection.spans.len();
        if !collection.observed && !collection.is_impossible() {
            match discipline.linearize(&collection) {
                Ok(order) => {
                    self.ran(discipline.algorithm());
                    return Ok(Verdict::Pass(vec![plain(part, order)]));
                }
                Err(violation) if !guessed => {
                    self.ran(discipline.algorithm());
                    return Ok(Verdict::Fail(violation));
                }
                Err(_) => {}
            }
        }
        collection.drop_guesses();
        match discipline.linearize(&collection) {
            Err(violation) => {
                self.ran(discipline.algorithm());
                Ok(Verdict::Fail(violation))
            }
            Ok(_) => self.search(part),
        }
    }

    /// The same where removals are pending.
    fn with_pending(
        &mut self,
        part: &PartView<'_>,
        mut collection: Collection<'_>,
        discipline: Discipline,
    ) -> Result<PartVerdict, Unfit> {
        let guessed = collection.certain < collection.spans.len();
        if guessed && !collection.observed && !collection.is_impossible() {
            match pending::order(&collection, discipline, self.budget) {
                Ok(Some((order, taken))) => {
                    self.ran(discipline.algorithm());
                    return Ok(Verdict::Pass(vec![returned(part, order, taken)]));
                }
                Ok(None) => {}
                Err(limit) => return Ok(Verdict::Unknown(limit)),
            }
        }
        collection.drop_guesses();
        Ok(match pending::decide(&collection, discipline, self.budget) {
            Ok(Ok((order, taken))) if !guessed && !collection.observed => {
                self.ran(discipline.algorithm());
                Verdict::Pass(vec![returned(part, order, taken)])
            }
            Ok(Ok(_)) => return self.search(part),
            Ok(Err(violation)) => {
                self.ran(discipline.algorithm());
                Verdict::Fail(violation)
            }
            Err(limit) => Verdict::Unknown(limit),
        })
    }

    fn set(&mut self, part: &PartView<'_>) -> Result<PartVerdict, Unfit> {
        match set::check(&crate::object::set::Set, self.kind, part)? {
            set::Answer::Order(order) => {
                self.ran(Algorithm::Set);
                Ok(Verdict::Pass(vec![plain(part, order)]))
            }
            set::Answer::Violation(violation) => {
                self.ran(Algorithm::Set);
                Ok(Verdict::Fail(violation))
            }
            set::Answer::Repeated => self.set_by_value(part),
        }
    }

    fn set_by_value(&mut self, part: &PartView<'_>) -> Result<PartVerdict, Unfit> {
        let values = part.split(|call| self.kind.part_key(call));
        let mut linearizations = Vec::with_capacity(values.len());
        for value in 0..values.len() {
            match self.search(&values.view(part.log, value))? {
                Verdict::Pass(witness) => linearizations.extend(witness),
                other => return Ok(other),
            }
        }
        Ok(Verdict::Pass(linearizations))
    }

    fn register(&mut self, part: &PartView<'_>) -> Result<PartVerdict, Unfit> {
        let initial = self.initial.cloned().unwrap_or_default();
        let object = crate::object::register::Register::new(initial.clone());
        match register::check(&object, self.kind, part, &initial)? {
            register::Answer::Order(order) => {
                self.ran(Algorithm::Register);
                Ok(Verdict::Pass(vec![plain(part, order)]))
            }
            register::Answer::Violation(violation) => {
                self.ran(Algorithm::Register);
                Ok(Verdict::Fail(violation))
            }
            register::Answer::Repeated => self.search(part),
        }
    }

    fn search(&mut self, part: &PartView<'_>) -> Result<PartVerdict, Unfit> {
        self.ran(Algorithm::Search);
        let (kind, initial) = (self.kind, self.initial);
        kind.with_object(initial, SearchPart { checker: self, part }).map_err(unfit_initial)?
    }
}

fn unfit_initial(misuse: Misuse) -> Unfit {
    Unfit { op: None, at_return: false, method: String::new(), misuse }
}

/// A linearization without pending operations whose results would have to be told: insertions have none.
fn plain(part: &PartView<'_>, order: Vec<OpId>) -> Linearization {
    returned(part, order, Vec::new())
}

/// A linearization in which these pending removals took these values, in the order of calls.
fn returned(part: &PartView<'_>, order: Vec<OpId>, taken: Vec<(OpId, Value)>) -> Linearization {
    let pending = order.iter().filter(|&&op| part.output(op).is_none());
    let result = |op: OpId| taken.binary_search_by_key(&op, |(taker, _)| *taker).map(|at| taken[at].1.clone());
    let results = pending.map(|&op| (op, result(op).unwrap_or(Value::Nil))).collect();
    Linearization { part: part.name(), order, results }
}

/// Makes an object and does nothing with it: that shows whether the initial value fits.
struct Nothing;

impl ObjectVisitor for Nothing {
    type Answer = ();

    fn visit<O: Object + Sync + 'static>(self, _: O) {}
}

struct SearchPart<'c, 'a, 'p> {
    checker: &'c mut Checker<'a>,
    part: &'c PartView<'p>,
}

impl ObjectVisitor for SearchPart<'_, '_, '_> {
    type Answer = Result<PartVerdict, Unfit>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer {
        let (part, kind) = (self.part, self.checker.kind);
        let history = part.history(|op, _| read(&object, kind, part.log, op))?;
        let verdict = match history.end() {
            End::Stuck => self.stuck(&object, &history),
            _ => self.linearize(&object, &history),
        };
        Ok(verdict.unwrap_or_else(Verdict::Unknown))
    }
}

impl SearchPart<'_, '_, '_> {
    fn linearize<O: Object>(self, object: &O, history: &History<O::Input, Value>) -> Result<PartVerdict, Limit> {
        let found = search(object, history, &Goal::Linearization, self.checker.budget);
        self.checker.states += found.states;
        let stuck = match found.verdict {
            Verdict::Pass(path) => return Ok(Verdict::Pass(vec![self.witness(object, history, path)])),
            Verdict::Fail(stuck) => stuck,
            Verdict::Unknown(limit) => {
                self.checker.longest = found.longest;
                return Err(limit);
            }
        };
        let global = |op: OpId| self.part.ops[op.0 as usize];
        let operation = global(stuck.0);
        Ok(Verdict::Fail(match shortest_failing_prefix(object, history, stuck, self.checker.budget) {
            Ok(Explained { operation, events, partial }) => Violation::Unplaced {
                operation: global(operation),
                events,
                partial: partial.into_iter().map(global).collect(),
            },
            Err(_) => Violation::Unordered { operation },
        }))
    }

    /// Line-Up, definition 2: each pending operation must be able to block after what returned.
    fn stuck<O: Object>(self, object: &O, history: &History<O::Input, Value>) -> Result<PartVerdict, Limit> {
        let mut linearizations = Vec::new();
        for (op, operation) in history.operations().iter().enumerate() {
            if operation.ret.is_some() {
                continue;
            }
            let found = search(object, history, &Goal::Blocked(&operation.input), self.checker.budget);
            self.checker.states += found.states;
            match found.verdict {
                Verdict::Pass(path) => {
                    let mut witness = self.witness(object, history, path);
                    witness.order.push(self.part.ops[op]);
                    linearizations.push(witness);
                }
                Verdict::Fail(_) => {
                    return Ok(Verdict::Fail(Violation::NeedNotBlock { operation: self.part.ops[op] }));
                }
                Verdict::Unknown(limit) => {
                    self.checker.longest = found.longest;
                    return Err(limit);
                }
            }
        }
        Ok(Verdict::Pass(linearizations))
    }

    /// The order found, with results for the pending operations in it. The states of the path are normal ones; the true
    /// ones are followed alongside.
    fn witness<O: Object>(&self, object: &O, history: &History<O::Input, Value>, path: Path<O>) -> Linearization {
        let normal = object.normal(history);
        let leads = |next: &O::State, after: &O::State| match &normal {
            Some(normal) => normal(next.clone()) == *after,
            None => next == after,
        };
        let mut order = Vec::with_capacity(path.len());
        let mut results = Vec::new();
        let mut state = object.initial();
        let (mut next, mut answers) = (Vec::new(), Vec::new());
        for (op, after) in path {
            let operation = history.operation(op);
            let op = self.part.ops[op.0 as usize];
            order.push(op);
            answers.clear();
            match operation.output() {
                Some(output) => answers.push(output.clone()),
                None => object.answers(&state, &operation.input, &mut answers),
            }
            let found = answers.iter().find_map(|answer| {
                next.clear();
                object.step(&state, &operation.input, Some(answer), &mut next);
                Some((answer, next.iter().position(|next| leads(next, &after))?))
            });
            let (answer, at) = found.expect("every step has an answer");
            if operation.ret.is_none() {
                results.push((op, answer.clone()));
            }
            state = next.swap_remove(at);
        }
        Linearization { part: self.part.name(), order, results }
    }
}
