//! Decides one history, and says why it fails.
//!
//! Under the prefix reading a history that fails has a shortest prefix that does, since every prefix of a quasi
//! linearizable history is one too; it is found by doubling and halving from where the search got to. A history that
//! fails under the closed reading either fails under the prefix reading, or lacks operations at its end. Invariant: a search
//! for an explanation that was cut short is told apart from one that found nothing.

use super::numbered::{Input, Numbered, Object, Output};
use super::plan::Subject;
use super::search::{Found, search};
use super::witness::{Orders, Placed, orders};
use super::{Classing, Reading, Rules, pick};
use crate::{Budget, Elements, End, History, Limit, OpId, Verdict};

/// How much further than asked a factor is looked for that would do.
const FACTOR_MORE: u32 = 4;

/// How many configurations an explanation is worth; the verdict stands without it.
#[derive(Clone, Copy)]
struct Effort {
    /// Each prefix tried in looking for the shortest.
    prefix: u64,
    /// Each larger factor tried.
    factor: u64,
}

const EFFORT: Effort = Effort { prefix: 4_000_000, factor: 50_000 };
const NO_EFFORT: Effort = Effort { prefix: 0, factor: 0 };

/// Why a history is not quasi linearizable.
#[derive(Clone, Debug)]
pub enum Reason<I, O> {
    /// The first `events` events have no orders, whatever may come after them; the last of them is the return of
    /// `operation`.
    Unplaced {
        /// The operation.
        operation: OpId,
        /// The length of the prefix.
        events: u32,
        /// Without the last of them the events have orders. Otherwise the search for fewer was cut short.
        is_shortest: bool,
        /// Orders for the events before, where these are known.
        before: Option<Orders<I, O>>,
        /// The least factor of a class that was named that would do, the others as they are, where one was found, and what
        /// stands too far off under it.
        excess: Option<Excess>,
        /// No class that was named would do with a factor up to this one. Without this and `excess`, the search for one was
        /// cut short.
        not_enough: Option<u32>,
    },
    /// The history could be the beginning of one that is, but is not by itself: orders with what would have to follow.
    Unfinished(Orders<I, O>),
    /// The history is stuck, and the operation need not have blocked.
    NeedNotBlock(OpId),
}

/// An operation that stands too far from its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The factor that would do.
    pub factor: u32,
    /// The class whose factor it is.
    pub class: u16,
    /// The operation, `None` for one that is not in the history.
    pub operation: Option<OpId>,
    /// Its place in its class in the linearization found with that factor, from 0.
    pub place: u32,
    /// Its place in its class in the legal run.
    pub legal: u32,
}

/// What came of a history: for a stuck one, orders for each pending operation.
pub type Decided<S> = Verdict<
    Vec<Orders<<S as crate::Spec>::Input, <S as crate::Spec>::Output>>,
    Reason<<S as crate::Spec>::Input, <S as crate::Spec>::Output>,
>;

/// A history with its specification and its rules.
pub struct Question<'a, S: Elements> {
    /// What the object may do.
    pub spec: &'a S,
    /// What it did.
    pub history: &'a History<S::Input, S::Output>,
    /// Which operation is in which class.
    pub classing: &'a Classing<S::Input>,
    /// What is allowed.
    pub rules: &'a Rules,
    /// Without the causal guard: whether what follows the history may put in values that the history has, as often as need be. So
    /// it is for the traces of a model, whose threads go on with the same few values; of a recorded history it would explain
    /// every value that came out once too often.
    pub goes_on: bool,
    /// How long to go on.
    pub budget: &'a Budget,
}

impl<S: Elements> Question<'_, S> {
    /// Decides whether the history is quasi linearizable. Counts the configurations of the search in `states`.
    pub fn decide(&self, states: &mut u64) -> Decided<S> {
        self.decide_with(EFFORT, states)
    }

    /// Decides it in the same way, and does not look for a short reason where it fails.
    pub fn decide_briefly(&self, states: &mut u64) -> Decided<S> {
        self.decide_with(NO_EFFORT, states)
    }

    fn decide_with(&self, effort: Effort, states: &mut u64) -> Decided<S> {
        let numbered = Numbered::new(self.spec, self.history);
        let (history, classing) = (numbered.history(self.history), numbered.classing(self.classing));
        let &Question { rules, goes_on, budget, .. } = self;
        let asked = Asked { spec: &numbered, history: &history, classing: &classing, rules, goes_on, budget };
        match asked.decide(effort, states) {
            Verdict::Pass(all) => Verdict::Pass(all.into_iter().map(|orders| numbered.orders(orders)).collect()),
            Verdict::Fail(reason) => Verdict::Fail(numbered.reason(reason)),
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
        }
    }
}

/// What came of it, in numbers.
type Answered = Verdict<Vec<Orders<Input, Output>>, Reason<Input, Output>>;

/// A [`Question`] in numbers.
struct Asked<'a> {
    spec: &'a Object<'a>,
    history: &'a History<Input, Output>,
    classing: &'a Classing<Input>,
    rules: &'a Rules,
    goes_on: bool,
    budget: &'a Budget,
}

impl Asked<'_> {
    fn decide(&self, effort: Effort, states: &mut u64) -> Answered {
        let decided = if self.history.end() == End::Stuck { self.stuck(states) } else { self.whole(effort, states) };
        decided.unwrap_or_else(Verdict::Unknown)
    }

    /// Whether it passes, and how far the search got.
    fn orders(
        &self,
        history: &History<Input, Output>,
        rules: &Rules,
        most: u64,
        states: &mut u64,
    ) -> Result<Result<Orders<Input, Output>, u32>, Limit> {
        let whole = (!self.goes_on).then_some(self.history);
        let subject = Subject { history, whole };
        let searched = search(self.spec, subject, self.classing, rules, None, (self.budget, most))?;
        *states += searched.states;
        Ok(match searched.found {
            Found::Nothing(furthest) => Err(furthest),
            Found::Orders(_) => Ok(orders(&searched).expect("orders were found")),
        })
    }

    fn whole(&self, effort: Effort, states: &mut u64) -> Result<Answered, Limit> {
        let furthest = match self.orders(self.history, self.rules, u64::MAX, states)? {
            Ok(orders) => return Ok(Verdict::Pass(vec![orders])),
            Err(furthest) => furthest,
        };
        let rules = Rules { reading: Reading::Prefix, ..self.rules.clone() };
        if self.rules.reading == Reading::Closed
            && let Ok(orders) = self.orders(self.history, &rules, u64::MAX, states)?
        {
            return Ok(Verdict::Fail(Reason::Unfinished(orders)));
        }
        Ok(Verdict::Fail(self.explain(&rules, furthest, effort, states)))
    }

    fn stuck(&self, states: &mut u64) -> Result<Answered, Limit> {
        let rules = Rules { reading: Reading::Closed, ..self.rules.clone() };
        let complete: Vec<OpId> = self.ids().filter(|&op| self.history.operation(op).ret.is_some()).collect();
        let history = self.history.project(&complete, End::Complete, |_, op| (op.input, op.output().cloned()));
        let of = complete.iter().map(|op| self.classing.of[op.0 as usize]).collect();
        let classing = Classing { of, probes: Vec::new(), insertion: self.classing.insertion };
        let mut witness = Vec::new();
        for op in self.ids().filter(|&op| self.history.operation(op).ret.is_none()) {
            let input = &self.history.operation(op).input;
            let subject = Subject { history: &history, whole: None };
            let searched = search(self.spec, subject, &classing, &rules, Some(input), (self.budget, u64::MAX))?;
            *states += searched.states;
            let Some(mut orders) = orders(&searched) else {
                return Ok(Verdict::Fail(Reason::NeedNotBlock(op)));
            };
            for placed in &mut orders.linearization {
                if let Placed::Operation(op) = placed {
                    *op = complete[op.0 as usize];
                }
            }
            orders.linearization.push(Placed::Operation(op));
            witness.push(orders);
        }
        Ok(Verdict::Pass(witness))
    }

    fn ids(&self) -> impl Iterator<Item = OpId> + use<'_> {
        (0..self.history.len() as u32).map(OpId)
    }

    /// Why it fails. Nothing here can change that it does.
    fn explain(&self, rules: &Rules, furthest: u32, effort: Effort, states: &mut u64) -> Reason<Input, Output> {
        let Prefix { events, is_shortest, before } = self.shortest(rules, furthest, effort.prefix, states);
        let operation = self.history.marks()[events as usize - 1].op();
        let (excess, not_enough) = match self.larger(rules, events, operation, effort.factor, states) {
            Larger::Enough(excess) => (Some(excess), None),
            Larger::NotUpTo(factor) => (None, Some(factor)),
            Larger::Unknown => (None, None),
        };
        Reason::Unplaced { operation, events, is_shortest, before, excess, not_enough }
    }

    /// The shortest prefix that fails, as far as the limits allow.
    fn shortest(&self, rules: &Rules, furthest: u32, most: u64, states: &mut u64) -> Prefix {
        let marks = self.history.marks();
        let all = marks.len() as u32;
        let (mut good, mut bad, mut before) = (0, all, None);
        let mut probe = furthest.max(1).min(all);
        let mut leap = 1;
        let mut is_shortest = true;
        while good + 1 < bad {
            probe = probe.clamp(good + 1, bad - 1);
            match self.orders(&self.history.prefix(probe as usize), rules, most, states) {
                Ok(Ok(orders)) => {
                    good = probe;
                    before = Some(orders);
                    probe = if bad == all { good.saturating_add(leap) } else { good.midpoint(bad) };
                    leap *= 2;
                }
                Ok(Err(_)) => {
                    bad = probe;
                    probe = good.midpoint(bad);
                }
                Err(_) => {
                    is_shortest = false;
                    break;
                }
            }
        }
        if !is_shortest {
            // A call alone changes nothing, since what is pending need not have taken effect.
            let last = marks[..bad as usize].iter().rposition(|mark| mark.is_return());
            return Prefix { events: last.map_or(bad, |last| last as u32 + 1), is_shortest, before: None };
        }
        if before.is_none() {
            let found = self.orders(&self.history.prefix(good as usize), rules, most, states);
            before = found.ok().and_then(Result::ok);
        }
        Prefix { events: bad, is_shortest, before }
    }

    /// What larger factors of one class would do for the prefix.
    fn larger(&self, rules: &Rules, events: u32, operation: OpId, most_states: u64, states: &mut u64) -> Larger {
        let prefix = self.history.prefix(events as usize);
        let failing = &self.history.operation(operation);
        let own = pick(self.spec, failing.input, failing.output().copied(), self.classing.of[operation.0 as usize]);
        let named = (1..rules.factors.len() as u16).filter(|&class| class != own);
        let classes = [own].into_iter().filter(|&class| class > 0).chain(named);
        let most = rules.factors.iter().max().map_or(0, |most| most + FACTOR_MORE);
        let mut is_cut = false;
        for class in classes {
            match self.least(&prefix, rules, class, most, most_states, states) {
                Ok(Some((factor, orders))) => return Larger::Enough(furthest_off(&orders, class, factor)),
                Ok(None) => {}
                Err(_) => is_cut = true,
            }
        }
        if is_cut { Larger::Unknown } else { Larger::NotUpTo(most) }
    }

    /// The least factor of a class that would do, up to `most`, with orders.
    #[expect(clippy::type_complexity, reason = "named once")]
    fn least(
        &self,
        prefix: &History<Input, Output>,
        rules: &Rules,
        class: u16,
        most: u32,
        most_states: u64,
        states: &mut u64,
    ) -> Result<Option<(u32, Orders<Input, Output>)>, Limit> {
        let mut rules = rules.clone();
        let asked = rules.factors[class as usize];
        // The largest first: where it does not do, no other does.
        rules.factors[class as usize] = most;
        let Ok(largest) = self.orders(prefix, &rules, most_states, states)? else { return Ok(None) };
        for factor in asked + 1..most {
            rules.factors[class as usize] = factor;
            if let Ok(orders) = self.orders(prefix, &rules, most_states, states)? {
                return Ok(Some((factor, orders)));
            }
        }
        Ok(Some((most, largest)))
    }
}

/// What larger factors of one class would do for a prefix that fails.
enum Larger {
    /// This one would do.
    Enough(Excess),
    /// None up to this one would do.
    NotUpTo(u32),
    /// The search was cut short.
    Unknown,
}

/// A prefix that fails.
struct Prefix {
    events: u32,
    /// Without its last event it passes.
    is_shortest: bool,
    before: Option<Orders<Input, Output>>,
}

/// The operation of the class that stands furthest from its place.
fn furthest_off<I, O>(orders: &Orders<I, O>, class: u16, factor: u32) -> Excess {
    let places = orders.places();
    let worst = orders.furthest(|other| other == class).map_or(0, |(worst, _)| worst);
    let operation = match orders.linearization[worst] {
        Placed::Operation(op) => Some(op),
        Placed::Later(..) => None,
    };
    Excess { factor, class, operation, place: places[worst].0, legal: places[worst].1 }
}

#[cfg(test)]
mod tests;
