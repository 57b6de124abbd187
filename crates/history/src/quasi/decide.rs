//! Decides one history, and says why it fails.
//!
//! Under the prefix reading a history that fails has a shortest prefix that does, since every prefix of a quasi
//! linearizable history is one too; it is found by doubling and halving from where the search got to. A history that
//! fails under the closed reading either fails under the prefix reading, or lacks operations at its end.

use super::search::{Found, search};
use super::sequential::Sequential;
use super::witness::{Orders, Placed, orders};
use super::{Classing, Reading, Rules};
use crate::{Budget, End, History, Limit, OpId, Verdict};

/// How much further than asked a factor is looked for that would do.
const FACTOR_MORE: u32 = 4;
/// How many configurations each of those factors is worth: it is an explanation only.
const EXCESS_MAX: u64 = 50_000;

/// Why a history is not quasi linearizable.
#[derive(Clone, Debug)]
pub enum Reason<I, O> {
    /// The first `events` events have no orders, whatever may come after them; without the last of them, the return of
    /// `operation`, they have.
    Unplaced {
        /// The operation.
        operation: OpId,
        /// The length of the prefix.
        events: u32,
        /// Orders for the events before, where they were found in time.
        before: Option<Orders<I, O>>,
        /// The least factor that would do, where one was found, and what stands too far off under it.
        excess: Option<Excess>,
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
pub struct Question<'a, S: Sequential> {
    /// What the object may do.
    pub spec: &'a S,
    /// What it did.
    pub history: &'a History<S::Input, S::Output>,
    /// Which operation is in which class.
    pub classing: &'a Classing<S>,
    /// What is allowed.
    pub rules: &'a Rules,
    /// How long to go on.
    pub budget: &'a Budget,
}

impl<S: Sequential> Question<'_, S> {
    /// Decides it. Counts configurations in `states`.
    pub fn decide(&self, states: &mut u64) -> Decided<S> {
        let decided = if self.history.end() == End::Stuck { self.stuck(states) } else { self.whole(states) };
        decided.unwrap_or_else(Verdict::Unknown)
    }

    /// Whether it passes, and how far the search got.
    #[expect(clippy::type_complexity, reason = "named once")]
    fn orders(
        &self,
        history: &History<S::Input, S::Output>,
        rules: &Rules,
        most: u64,
        states: &mut u64,
    ) -> Result<Result<Orders<S::Input, S::Output>, u32>, Limit> {
        let searched = search(self.spec, history, self.classing, rules, None, (self.budget, most))?;
        *states += searched.states;
        Ok(match searched.found {
            Found::Nothing(furthest) => Err(furthest),
            Found::Orders(_) => Ok(orders(&searched).expect("orders were found")),
        })
    }

    fn whole(&self, states: &mut u64) -> Result<Decided<S>, Limit> {
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
        Ok(Verdict::Fail(self.explain(&rules, furthest, states)))
    }

    fn stuck(&self, states: &mut u64) -> Result<Decided<S>, Limit> {
        let rules = Rules { reading: Reading::Closed, ..self.rules.clone() };
        let complete: Vec<OpId> = self.ids().filter(|&op| self.history.operation(op).ret.is_some()).collect();
        let history = self.history.project(&complete, End::Complete, |_, op| (op.input.clone(), op.output().cloned()));
        let of = complete.iter().map(|op| self.classing.of[op.0 as usize]).collect();
        let classing = Classing { of, probes: Vec::new(), insertion: self.classing.insertion };
        let mut witness = Vec::new();
        for op in self.ids().filter(|&op| self.history.operation(op).ret.is_none()) {
            let input = &self.history.operation(op).input;
            let searched = search(self.spec, &history, &classing, &rules, Some(input), (self.budget, u64::MAX))?;
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

    fn ids(&self) -> impl Iterator<Item = OpId> + use<'_, S> {
        (0..self.history.len() as u32).map(OpId)
    }

    /// The shortest prefix that fails, as far as time allows: without it the whole history is named.
    fn explain(&self, rules: &Rules, furthest: u32, states: &mut u64) -> Reason<S::Input, S::Output> {
        let all = self.history.marks().len() as u32;
        let (events, before) = self.shortest(rules, furthest, all, states).unwrap_or((all, None));
        let operation = self.history.marks()[events as usize - 1].op();
        let excess = self.excess(rules, events, operation, states).unwrap_or(None);
        Reason::Unplaced { operation, events, before, excess }
    }

    #[expect(clippy::type_complexity, reason = "named once")]
    fn shortest(
        &self,
        rules: &Rules,
        furthest: u32,
        all: u32,
        states: &mut u64,
    ) -> Result<(u32, Option<Orders<S::Input, S::Output>>), Limit> {
        let (mut good, mut bad, mut before) = (0, all, None);
        let mut probe = furthest.max(1).min(all);
        let mut leap = 1;
        while good + 1 < bad {
            probe = probe.clamp(good + 1, bad - 1);
            match self.orders(&self.history.prefix(probe as usize), rules, u64::MAX, states)? {
                Ok(orders) => {
                    good = probe;
                    before = Some(orders);
                    probe = if bad == all { good.saturating_add(leap) } else { good.midpoint(bad) };
                    leap *= 2;
                }
                Err(_) => {
                    bad = probe;
                    probe = good.midpoint(bad);
                }
            }
        }
        if before.is_none() {
            before = self.orders(&self.history.prefix(good as usize), rules, u64::MAX, states)?.ok();
        }
        Ok((bad, before))
    }

    /// The least factor of one class that would do for the prefix.
    fn excess(&self, rules: &Rules, events: u32, operation: OpId, states: &mut u64) -> Result<Option<Excess>, Limit> {
        let prefix = self.history.prefix(events as usize);
        let failing = &self.history.operation(operation);
        let own =
            self.classing.pick(self.spec, &failing.input, failing.output(), self.classing.of[operation.0 as usize]);
        let relaxed =
            (0..rules.factors.len() as u16).filter(|&class| rules.factors[class as usize] > 0 && class != own);
        let classes = [own].into_iter().filter(|&class| class > 0).chain(relaxed);
        let most = rules.factors.iter().max().map_or(0, |most| most + FACTOR_MORE);
        for class in classes {
            let mut rules = rules.clone();
            let asked = rules.factors[class as usize];
            for factor in asked + 1..=most {
                rules.factors[class as usize] = factor;
                if let Ok(orders) = self.orders(&prefix, &rules, EXCESS_MAX, states)? {
                    return Ok(Some(furthest_off(&orders, class, factor)));
                }
            }
        }
        Ok(None)
    }
}

/// The operation of the class that stands furthest from its place.
fn furthest_off<I, O>(orders: &Orders<I, O>, class: u16, factor: u32) -> Excess {
    let places = orders.places();
    let members = (0..places.len()).filter(|&i| orders.classes[i] == class);
    // Of those that are equally far off, one that was made.
    let made = |i: usize| matches!(orders.linearization[i], Placed::Operation(_));
    let worst = members.max_by_key(|&i| (places[i].0.abs_diff(places[i].1), made(i))).unwrap_or(0);
    let operation = match orders.linearization[worst] {
        Placed::Operation(op) => Some(op),
        Placed::Later(..) => None,
    };
    Excess { factor, class, operation, place: places[worst].0, legal: places[worst].1 }
}
