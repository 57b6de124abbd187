//! The front door for logs: splits a log into objects, finds the classes, decides each.
//!
//! Quasi linearizability is local like linearizability (Round-Up III-B), but not for the elements of a set: they share
//! the places of their classes, so a set is one part.

use super::relaxation::{Relaxation, RelaxationError, Resolved};
use super::{Classing, Excess, Orders, Placed, Question, Reason, Rules};
use crate::certificate::quasi::{QuasiExcess, QuasiOrders, QuasiPlaced, QuasiViolation};
use crate::check::part::{PartView, Parts};
use crate::check::{Unfit, read};
use crate::evidence::Part;
use crate::object::counter::Counter;
use crate::object::deque::Deque;
use crate::object::priority_queue::PriorityQueue;
use crate::object::queue::Queue;
use crate::object::register::Register;
use crate::object::set::Set;
use crate::object::stack::Stack;
use crate::object::{Kind, Misuse, Object, ObjectVisitor};
use crate::{Budget, Elements, End, Log, OpId, Value, Verdict};

/// The answer for a whole log.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The object that it was checked as.
    pub kind: Kind,
    /// Two orders for each part; or the part that has none, and why.
    pub verdict: Verdict<Vec<QuasiOrders>, (Part, QuasiViolation)>,
    /// How many independent objects there are.
    pub parts: usize,
    /// How many of them were found quasi linearizable.
    pub parts_passed: usize,
    /// How many configurations the search visited in all.
    pub states: u64,
    /// What stands furthest from its place in the orders of a pass.
    pub furthest: Option<Furthest>,
}

/// The operation of a linearization that stands furthest from its place in the legal run, counted in its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Furthest {
    /// The operation.
    pub placed: QuasiPlaced,
    /// Its class, as written.
    pub class: String,
    /// How many places.
    pub off: u32,
}

/// Why a log cannot be decided.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// An operation does not fit the object.
    Unfit(Unfit),
    /// The relaxation does not fit the object.
    Relaxation(RelaxationError),
}

impl std::fmt::Display for CheckError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CheckError::Unfit(unfit) => unfit.fmt(f),
            CheckError::Relaxation(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {}

/// Decides whether the log, read as an object of that kind, is quasi linearizable. The factors of `rules` are those of
/// the relaxation, whatever stands there.
pub fn check(
    log: &Log,
    kind: Kind,
    initial: Option<&Value>,
    relaxation: &Relaxation,
    rules: &Rules,
    budget: &Budget,
) -> Result<Answer, CheckError> {
    decide(log, kind, initial, relaxation, rules, true, budget)
}

/// Decides it, with a short reason for a failure where it is to be `explained`.
fn decide(
    log: &Log,
    kind: Kind,
    initial: Option<&Value>,
    relaxation: &Relaxation,
    rules: &Rules,
    explained: bool,
    budget: &Budget,
) -> Result<Answer, CheckError> {
    let resolved = relaxation.resolve(kind).map_err(CheckError::Relaxation)?;
    let rules = Rules { factors: resolved.factors.clone(), ..rules.clone() };
    let initial = initial.or(log.initial.as_ref());
    // Where there is no part, nobody else asks.
    kind.with_object(initial, Made).map_err(|misuse| CheckError::Unfit(unfit_initial(misuse)))?;
    let parts = Parts::split(log, |call| call.key.clone());
    budget.note_start(parts.len());
    let mut answer = Answer {
        kind,
        verdict: Verdict::Pass(Vec::new()),
        parts: parts.len(),
        parts_passed: 0,
        states: 0,
        furthest: None,
    };
    let mut all = Vec::new();
    for part in 0..parts.len() {
        let view = parts.view(log, part);
        let task = Task { kind, view: &view, resolved: &resolved, rules: &rules, explained, budget };
        match task.with_object(initial, &mut answer.states).map_err(CheckError::Unfit)? {
            Verdict::Pass(orders) => {
                answer.parts_passed += 1;
                budget.note_part();
                for (orders, furthest) in orders {
                    all.push(orders);
                    answer.furthest = answer.furthest.take().into_iter().chain(furthest).max_by_key(|one| one.off);
                }
            }
            Verdict::Fail(violation) => {
                answer.verdict = Verdict::Fail((view.name(), violation));
                return Ok(answer);
            }
            Verdict::Unknown(limit) => {
                answer.verdict = Verdict::Unknown(limit);
                return Ok(answer);
            }
        }
    }
    answer.verdict = Verdict::Pass(all);
    Ok(answer)
}

/// The least factor, up to `most`, for which the log passes: found by trying 0, 1, 2 and so on, since what passes with one
/// factor passes with every larger one. Answers that factor with its answer; without one, the answer for `most`.
pub fn least_factor(
    log: &Log,
    kind: Kind,
    initial: Option<&Value>,
    relaxation: &Relaxation,
    rules: &Rules,
    most: u32,
    budget: &Budget,
) -> Result<(Option<u32>, Answer), CheckError> {
    let (mut factor, mut states) = (0, 0);
    loop {
        let tried = relaxation.with_factor(factor);
        let mut answer = decide(log, kind, initial, &tried, rules, factor == most, budget)?;
        states += answer.states;
        answer.states = states;
        match answer.verdict {
            Verdict::Pass(_) => return Ok((Some(factor), answer)),
            Verdict::Fail(_) if factor < most => factor += 1,
            _ => return Ok((None, answer)),
        }
    }
}

type PartVerdict = Verdict<Vec<(QuasiOrders, Option<Furthest>)>, QuasiViolation>;

/// One part to decide.
struct Task<'a> {
    kind: Kind,
    view: &'a PartView<'a>,
    resolved: &'a Resolved,
    rules: &'a Rules,
    /// Whether to look for a short reason.
    explained: bool,
    budget: &'a Budget,
}

impl Task<'_> {
    /// Makes the object, with an initial value that fits it.
    fn with_object(&self, initial: Option<&Value>, states: &mut u64) -> Result<PartVerdict, Unfit> {
        let stated = initial.cloned().unwrap_or_default();
        match self.kind {
            Kind::Counter => self.decide(&Counter::new(stated.as_int().unwrap_or(0)), states),
            Kind::Register => self.decide(&Register::new(stated), states),
            Kind::Stack => self.decide(&Stack, states),
            Kind::Deque => self.decide(&Deque, states),
            Kind::PriorityQueue => self.decide(&PriorityQueue::largest_first(), states),
            Kind::PriorityQueueMin => self.decide(&PriorityQueue::smallest_first(), states),
            Kind::Set => self.decide(&Set, states),
            _ => self.decide(&Queue, states),
        }
    }

    fn decide<O>(&self, object: &O, states: &mut u64) -> Result<PartVerdict, Unfit>
    where
        O: Object + Elements<Element = Value>,
    {
        let view = self.view;
        let history = view.history(|op, _| read(object, self.kind, view.log, op))?;
        let class = |op: &OpId| self.resolved.of(view.log.name(view.recorded(*op).method));
        let named = |input: &O::Input| self.resolved.of(&object.method_name(input));
        let probes = object.calls().into_iter().map(|input| (input.clone(), named(&input))).collect();
        let insertion = object.insertion(&Value::Int(0)).map_or((0, 0), |input| named(&input));
        let classing = Classing { of: view.ops.iter().map(class).collect(), probes, insertion };
        let question = Question {
            spec: object,
            history: &history,
            classing: &classing,
            rules: self.rules,
            goes_on: false,
            budget: self.budget,
        };
        let told = Telling { task: self, object, stuck: history.end() == End::Stuck };
        let decided = if self.explained { question.decide(states) } else { question.decide_briefly(states) };
        Ok(match decided {
            Verdict::Pass(all) => {
                let telling = |orders: Orders<O::Input, Value>| {
                    let furthest = orders.furthest(|_| true).filter(|&(_, off)| off > 0);
                    let class = furthest.map(|(i, _)| self.resolved.names[orders.classes[i] as usize].clone());
                    let orders = told.orders(orders);
                    let placed = |i: usize| orders.linearization[i].clone();
                    let furthest =
                        furthest.zip(class).map(|((i, off), class)| Furthest { placed: placed(i), class, off });
                    (orders, furthest)
                };
                Verdict::Pass(all.into_iter().map(telling).collect())
            }
            Verdict::Fail(reason) => Verdict::Fail(told.reason(reason)),
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
        })
    }
}

/// Makes an object and does nothing with it: that shows whether the initial value fits.
struct Made;

impl ObjectVisitor for Made {
    type Answer = ();

    fn visit<O: Object + Sync + 'static>(self, _: O) {}
}

fn unfit_initial(misuse: Misuse) -> Unfit {
    Unfit { op: None, at_return: false, method: String::new(), misuse }
}

/// Puts evidence in terms of the log.
struct Telling<'t, O> {
    task: &'t Task<'t>,
    object: &'t O,
    stuck: bool,
}

impl<O: Object + Elements<Element = Value>> Telling<'_, O> {
    fn op(&self, op: OpId) -> OpId {
        self.task.view.ops[op.0 as usize]
    }

    fn orders(&self, orders: Orders<O::Input, Value>) -> QuasiOrders {
        let place = |placed| match placed {
            Placed::Operation(op) => QuasiPlaced::Operation(self.op(op)),
            Placed::Later(input, result) => {
                let (method, argument) = self.call(&input);
                QuasiPlaced::Later { method, argument, result }
            }
        };
        debug_assert!(self.stuck || orders.run.len() == orders.linearization.len());
        QuasiOrders {
            part: self.task.view.name(),
            linearization: orders.linearization.into_iter().map(place).collect(),
            run: orders.run,
            results: orders.results.into_iter().map(|(op, result)| (self.op(op), result)).collect(),
        }
    }

    /// The method and argument of a call: one that the log has, or one that the object could be asked.
    fn call(&self, input: &O::Input) -> (String, Value) {
        let view = self.task.view;
        let made = view
            .ops
            .iter()
            .find(|&&op| read(self.object, self.task.kind, view.log, op).is_ok_and(|made| made == *input));
        if let Some(&op) = made {
            let call = view.recorded(op);
            return (view.log.name(call.method).to_owned(), self.task.kind.argument(call));
        }
        (self.object.method_name(input), self.object.brings(input, None).unwrap_or_default())
    }

    fn reason(&self, reason: Reason<O::Input, Value>) -> QuasiViolation {
        match reason {
            Reason::Unplaced { operation, events, is_shortest, before, excess, not_enough } => {
                QuasiViolation::QuasiUnplaced {
                    operation: self.op(operation),
                    events,
                    shortest: is_shortest,
                    before: before.map(|orders| self.orders(orders)),
                    excess: excess.map(|excess| self.excess(excess)),
                    not_enough,
                }
            }
            Reason::Unfinished(orders) => QuasiViolation::QuasiUnfinished { orders: self.orders(orders) },
            Reason::NeedNotBlock(op) => QuasiViolation::NeedNotBlock { operation: self.op(op) },
        }
    }

    fn excess(&self, excess: Excess) -> QuasiExcess {
        QuasiExcess {
            factor: excess.factor,
            class: self.task.resolved.names[excess.class as usize].clone(),
            operation: excess.operation.map(|op| self.op(op)),
            place: excess.place + 1,
            legal_place: excess.legal + 1,
        }
    }
}
