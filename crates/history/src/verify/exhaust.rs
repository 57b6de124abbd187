//! A plain search for an order, for the two claims that say there is none.
//!
//! It walks along the events and keeps every *configuration* that some order leads to: the state reached, and which of the
//! open operations have taken effect already. Operations take effect as late as possible, that is just before some
//! operation returns that needs it; a return leaves only configurations in which the operation has taken effect.
//! No configuration left: no order.
//!
//! Operations that do not return may take effect with any result, or never. Of two configurations that differ only in
//! the operations of this kind that were used, the one that used fewer can do whatever the other can; only it is kept. Of those
//! that do the same, the one called first is used first: it can stand for the others. Both are exact, and no other reduction is made.
//!
//! States are compared by content. Exponential in the number of operations open at once, in the worst case.

use hashbrown::HashMap;

use super::simulate::{Action, Object};
use crate::{Budget, Limit, Value};

/// An operation as the search sees it.
pub(super) struct Move<'a> {
    pub(super) action: &'a Action,
    /// The position of the call.
    pub(super) call: u32,
    /// The position of the return and the result; `None` when it may take effect with any result, or never.
    pub(super) ret: Option<(u32, &'a Value)>,
}

/// What the search found.
pub(super) enum Explored {
    /// The states that the object can be in after every order there is.
    Orders(Vec<Object>),
    /// No order explains the moves.
    NoOrder,
}

/// Follows every order of the moves, which are sorted by their calls.
pub(super) fn explore(start: &Object, moves: &[Move<'_>], budget: &Budget) -> Result<Explored, Limit> {
    let mut events: Vec<(u32, usize, bool)> = Vec::with_capacity(2 * moves.len());
    for (i, step) in moves.iter().enumerate() {
        events.push((step.call, i, false));
        events.extend(step.ret.map(|(at, _)| (at, i, true)));
    }
    events.sort_unstable();
    let mut open: Vec<usize> = Vec::new();
    let mut frontier = Frontier::default();
    frontier.add(Configuration { state: start.clone(), must: Vec::new(), may: Vec::new() });
    for (_, i, is_return) in events {
        if !is_return {
            open.push(i);
            continue;
        }
        frontier = place(frontier, moves, &open, i, budget)?;
        open.retain(|&other| other != i);
        if frontier.is_empty() {
            return Ok(Explored::NoOrder);
        }
    }
    Ok(Explored::Orders(frontier.configurations().map(|configuration| configuration.state).collect()))
}

/// Every configuration after the return of `target`.
fn place(
    frontier: Frontier,
    moves: &[Move<'_>],
    open: &[usize],
    target: usize,
    budget: &Budget,
) -> Result<Frontier, Limit> {
    let mut after = Frontier::default();
    let mut seen = Frontier::default();
    let mut todo: Vec<Configuration> = frontier.configurations().collect();
    while let Some(mut configuration) = todo.pop() {
        budget.check()?;
        if let Some(at) = configuration.must.iter().position(|&taken| taken == target) {
            configuration.must.remove(at);
            after.add(configuration);
            continue;
        }
        let mut tried: Vec<&Action> = Vec::new();
        for &i in open.iter().filter(|i| !configuration.must.contains(i) && !configuration.may.contains(i)) {
            let Move { action, ret, .. } = &moves[i];
            if ret.is_none() {
                if tried.contains(action) {
                    continue;
                }
                tried.push(action);
            }
            for state in configuration.state.after(action, ret.map(|(_, result)| result)) {
                let (mut must, mut may) = (configuration.must.clone(), configuration.may.clone());
                let taken = if ret.is_some() { &mut must } else { &mut may };
                taken.insert(taken.partition_point(|&other| other < i), i);
                let next = Configuration { state, must, may };
                if seen.add(next.clone()) {
                    todo.push(next);
                }
            }
        }
    }
    Ok(after)
}

/// A state, and the open operations that have taken effect: those that return, and those that do not. Both ascending.
#[derive(Clone)]
struct Configuration {
    state: Object,
    must: Vec<usize>,
    may: Vec<usize>,
}

/// Configurations, none of which used more than another needs.
#[derive(Default)]
struct Frontier {
    used: HashMap<(Object, Vec<usize>), Vec<Vec<usize>>, foldhash::fast::RandomState>,
}

impl Frontier {
    /// Adds a configuration, unless one that is as good is there. Answers whether it was added.
    fn add(&mut self, configuration: Configuration) -> bool {
        let Configuration { state, must, may } = configuration;
        let used = self.used.entry((state, must)).or_default();
        if used.iter().any(|less| is_subset(less, &may)) {
            return false;
        }
        used.retain(|more| !is_subset(&may, more));
        used.push(may);
        true
    }

    fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    fn configurations(self) -> impl Iterator<Item = Configuration> {
        self.used.into_iter().flat_map(|((state, must), used)| {
            used.into_iter().map(move |may| Configuration { state: state.clone(), must: must.clone(), may })
        })
    }
}

fn is_subset(small: &[usize], large: &[usize]) -> bool {
    small.len() <= large.len() && small.iter().all(|i| large.binary_search(i).is_ok())
}
