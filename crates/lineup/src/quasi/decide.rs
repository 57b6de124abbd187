//! One history as the history crate sees it, with the specification that it is held against.
//!
//! Invariant: the order of events that is made up has exactly the precedence that was recorded. A run's calls see ever more returns, so
//! calls sorted by how many returns came before them, each as late as it may be, are one such order.

use selvedge_history::object::counter::Counter;
use selvedge_history::object::deque::Deque;
use selvedge_history::object::priority_queue::PriorityQueue;
use selvedge_history::object::queue::Queue;
use selvedge_history::object::register::Register;
use selvedge_history::object::set::Set;
use selvedge_history::object::stack::Stack;
use selvedge_history::object::{Kind, Object};
use selvedge_history::quasi::{Causality, Classing, Excess, Placed, Question, Reading, Reason, Rules};
use selvedge_history::{Budget, Elements, End, Event, History, OpId, ThreadId, Value, Verdict};

use super::model::Model;
use super::rules::Relaxed;
use crate::calls::CallId;
use crate::criterion::Case;
use crate::recorded::{Ending, Recorded};
use crate::results::ResultId;
use crate::values;
use selvedge_protocol::{RefusalWhy, TooFar};

/// What came of one question.
pub enum Decision {
    /// The history is allowed.
    Pass,
    /// It is not.
    Fail(RefusalWhy),
    /// A limit was reached.
    Unknown,
}

/// A decision with what it cost. The error says why the history does not fit the specification at all.
pub struct Decided {
    pub decision: Result<Decision, String>,
    pub states: u64,
}

/// A history to decide.
pub struct Task<'a> {
    pub case: &'a Case<'a>,
    pub relaxed: &'a Relaxed,
    pub kind: Option<Kind>,
    pub model: &'a Model,
}

impl Task<'_> {
    /// Decides it: as it is, or as far out of order as allowed.
    pub fn decide(&self, exact: bool) -> Decided {
        match self.kind {
            None => self.by_model(exact),
            Some(Kind::Stack) => self.by_object(&Stack, exact),
            Some(Kind::Deque) => self.by_object(&Deque, exact),
            Some(Kind::PriorityQueue) => self.by_object(&PriorityQueue::largest_first(), exact),
            Some(Kind::PriorityQueueMin) => self.by_object(&PriorityQueue::smallest_first(), exact),
            Some(Kind::Set) => self.by_object(&Set, exact),
            Some(Kind::Counter) => self.by_object(&Counter::default(), exact),
            Some(Kind::Register) => self.by_object(&Register::new(Value::Nil), exact),
            Some(_) => self.by_object(&Queue, exact),
        }
    }

    fn by_model(&self, exact: bool) -> Decided {
        let classes = |call: CallId| self.relaxed.class(call);
        let probes = self.case.calls.ids().map(|call| (call, classes(call)));
        // Nobody makes up a call that puts something in.
        let probes = probes.filter(|(call, _)| self.model.brings(call, None).is_none()).collect();
        let insertion = self.case.calls.ids().find(|call| self.model.brings(call, None).is_some());
        let asked = Asked {
            spec: self.model,
            input: &|call| Ok(call),
            output: &|_, result| Ok(result),
            probes,
            insertion: insertion.map_or((0, 0), classes),
        };
        self.ask(&asked, exact)
    }

    fn by_object<O: Object + Elements>(&self, object: &O, exact: bool) -> Decided {
        let calls = self.case.calls;
        let input = |call: CallId| {
            let name = calls.name(call);
            values::input(object, name, &values::call(name).1)
        };
        let output = |call: CallId, result: ResultId| {
            values::output(object, calls.name(call), &input(call)?, self.case.results.text(result))
        };
        let probes = calls.ids().filter_map(|call| Some((input(call).ok()?, self.relaxed.class(call))));
        let probes = probes.filter(|(input, _)| object.brings(input, None).is_none()).collect();
        let puts = |call: &CallId| input(*call).is_ok_and(|input| object.brings(&input, None).is_some());
        let insertion = calls.ids().find(puts).map_or((0, 0), |call| self.relaxed.class(call));
        self.ask(&Asked { spec: object, input: &input, output: &output, probes, insertion }, exact)
    }

    fn ask<S: Elements>(&self, asked: &Asked<'_, S>, exact: bool) -> Decided {
        let (order, events) = events(self.case.history);
        let mut states = 0;
        let decision = self.history(asked, &events).map(|history| {
            let of = order.iter().map(|&at| self.relaxed.class(self.call(at))).collect();
            let classing = Classing { of, probes: asked.probes.clone(), insertion: asked.insertion };
            let rules = self.rules(exact);
            let budget = Budget::new();
            let question = Question {
                spec: asked.spec,
                history: &history,
                classing: &classing,
                rules: &rules,
                goes_on: false,
                budget: &budget,
            };
            match question.decide(&mut states) {
                Verdict::Pass(_) => Decision::Pass,
                Verdict::Unknown(_) => Decision::Unknown,
                Verdict::Fail(reason) => Decision::Fail(self.why(asked, &order, reason)),
            }
        });
        Decided { decision, states }
    }

    fn rules(&self, exact: bool) -> Rules {
        let rules = &self.relaxed.rules;
        if exact {
            let (reading, causality) = (Reading::Closed, Causality::Free);
            return Rules { factors: vec![0; rules.factors.len()], reading, causality, order: rules.order };
        }
        rules.clone()
    }

    fn call(&self, (column, place): (usize, usize)) -> CallId {
        self.case.matrix.column(column).nth(place).unwrap_or(CallId(0))
    }

    fn history<S: Elements>(
        &self,
        asked: &Asked<'_, S>,
        events: &[Happened],
    ) -> Result<History<S::Input, S::Output>, String> {
        let mut made = Vec::with_capacity(events.len());
        for event in events {
            made.push(match *event {
                Happened::Called(at) => {
                    Event::Call { thread: ThreadId(at.0 as u32), input: (asked.input)(self.call(at))? }
                }
                Happened::Returned(at, result) => {
                    Event::Return { thread: ThreadId(at.0 as u32), output: (asked.output)(self.call(at), result)? }
                }
            });
        }
        let end = match self.case.history.ending {
            Ending::Full | Ending::Cut => End::Complete,
            Ending::Stuck => End::Stuck,
        };
        History::new(made, end).map_err(|error| error.to_string())
    }

    fn why<S: Elements>(
        &self,
        asked: &Asked<'_, S>,
        order: &[(usize, usize)],
        reason: Reason<S::Input, S::Output>,
    ) -> RefusalWhy {
        let at = |op: OpId| order[op.0 as usize];
        match reason {
            Reason::NeedNotBlock(op) => RefusalWhy::NeedNotBlock { operation: at(op) },
            Reason::Unplaced { operation, excess, .. } => RefusalWhy::Unplaced {
                operation: at(operation),
                too_far: excess.map(|excess| self.too_far(excess, order)),
            },
            Reason::Unfinished(orders) => {
                let later = orders.linearization.iter().filter_map(|placed| match placed {
                    Placed::Later(input, _) => Some(self.named(asked, input)),
                    Placed::Operation(_) => None,
                });
                RefusalWhy::Unfinished { later: later.collect() }
            }
        }
    }

    fn named<S: Elements>(&self, asked: &Asked<'_, S>, input: &S::Input) -> String {
        let calls = self.case.calls;
        let same = |call: &CallId| (asked.input)(*call).is_ok_and(|other| other == *input);
        calls.ids().find(same).map_or("another call".to_owned(), |call| calls.name(call).to_owned())
    }

    fn too_far(&self, excess: Excess, order: &[(usize, usize)]) -> TooFar {
        TooFar {
            factor: excess.factor,
            class: self.relaxed.names.get(usize::from(excess.class)).cloned().unwrap_or_default(),
            operation: excess.operation.map(|op| order[op.0 as usize]),
            place: excess.place + 1,
            legal_place: excess.legal + 1,
        }
    }
}

/// A specification with how calls and results are put to it.
struct Asked<'a, S: Elements> {
    spec: &'a S,
    input: &'a dyn Fn(CallId) -> Result<S::Input, String>,
    output: &'a dyn Fn(CallId, ResultId) -> Result<S::Output, String>,
    probes: Vec<(S::Input, (u16, u16))>,
    insertion: (u16, u16),
}

/// An event of a history, of the operation at a column and a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    Called((usize, usize)),
    Returned((usize, usize), ResultId),
}

/// Operations in the order of their calls, and an order of all events.
pub fn events(history: &Recorded) -> (Vec<(usize, usize)>, Vec<Happened>) {
    let places = |(column, all): (usize, &Vec<crate::Operation>)| (0..all.len()).map(move |place| (column, place));
    let mut order: Vec<(usize, usize)> = history.columns.iter().enumerate().flat_map(places).collect();
    let seen = |&(column, place): &(usize, usize)| {
        history.columns[column][place].before.iter().map(|&count| u32::from(count)).sum::<u32>()
    };
    order.sort_by_key(seen);
    let mut returned = vec![0u8; history.columns.len()];
    let mut events = Vec::with_capacity(order.len() * 2);
    let mut until = |events: &mut Vec<Happened>, column: usize, count: u8| {
        while returned[column] < count {
            let place = usize::from(returned[column]);
            returned[column] += 1;
            if let Some(result) = history.columns[column].get(place).and_then(|operation| operation.result) {
                events.push(Happened::Returned((column, place), result));
            }
        }
    };
    for &at in &order {
        for (column, &count) in history.columns[at.0][at.1].before.iter().enumerate() {
            until(&mut events, column, count);
        }
        events.push(Happened::Called(at));
    }
    for (column, count) in history.returned().into_iter().enumerate() {
        until(&mut events, column, count);
    }
    (order, events)
}
