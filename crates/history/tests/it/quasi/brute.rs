//! Quasi linearizability by its definition: every linearization, every continuation, every legal run. Exponential.

use selvedge_history::quasi::{Causality, Order, Reading, Rules};

use super::small::{Did, Op, Relaxed, Shape, step};

/// A value that no history has.
const NEW: i64 = 99;

/// A question in progress.
struct Search<'a> {
    shape: Shape,
    ops: &'a [Op],
    relaxed: Relaxed,
    rules: &'a Rules,
    /// What may come after the end.
    alphabet: Vec<Did>,
    /// How much may come after the end.
    later_max: usize,
}

/// Whether some linearization and some legal run belong together.
pub fn holds(shape: Shape, ops: &[Op], relaxed: Relaxed, rules: &Rules) -> bool {
    let mut values: Vec<i64> = ops
        .iter()
        .filter_map(|op| match op.did {
            Did::Put(value) | Did::Take(Some(value)) => Some(value),
            Did::Take(None) => None,
        })
        .collect();
    values.sort_unstable();
    values.dedup();
    let mut alphabet: Vec<Did> = values.iter().map(|&value| Did::Take(Some(value))).collect();
    alphabet.push(Did::Take(None));
    // What comes in later is new.
    alphabet.extend([Did::Put(NEW), Did::Take(Some(NEW))]);
    if rules.causality == Causality::Causal {
        // What the history takes out came in before.
        alphabet.retain(|&did| relaxed.class(did).1 > 0);
    } else {
        // What the history takes out and never puts in may still come in.
        let puts = |value: i64| ops.iter().any(|op| op.did == Did::Put(value));
        alphabet.extend(values.iter().filter(|&&value| !puts(value)).map(|&value| Did::Put(value)));
    }
    let factor = relaxed.factors().into_iter().max().unwrap_or(0) as usize;
    let later_max = match (rules.reading, rules.causality) {
        (Reading::Closed, _) => 0,
        (Reading::Prefix, Causality::Causal) => factor,
        (Reading::Prefix, Causality::Free) => 2 * factor,
    };
    let search = Search { shape, ops, relaxed, rules, alphabet, later_max };
    search.linearize(&mut Vec::new(), 0)
}

impl Search<'_> {
    /// Tries every next operation of the linearization; `moment` is when the last one took effect, at the earliest.
    fn linearize(&self, order: &mut Vec<(Option<usize>, Did)>, moment: usize) -> bool {
        let placed: Vec<bool> = (0..self.ops.len()).map(|i| order.iter().any(|entry| entry.0 == Some(i))).collect();
        let all = (0..self.ops.len()).all(|i| placed[i] || self.ops[i].is_pending());
        if all && self.has_run(order) {
            return true;
        }
        for i in 0..self.ops.len() {
            if placed[i] || (0..self.ops.len()).any(|j| !placed[j] && self.ops[j].ret < self.ops[i].call) {
                continue;
            }
            let dids = match self.ops[i].did {
                Did::Take(_) if self.ops[i].is_pending() => self.results(),
                did => vec![did],
            };
            for did in dids {
                let Some(cause) = self.cause(order, did) else { continue };
                let moment = moment.max(self.ops[i].call).max(cause);
                // Between two events there is room for any number of operations.
                if moment < self.ops[i].ret {
                    order.push((Some(i), did));
                    let found = self.linearize(order, moment);
                    order.pop();
                    if found {
                        return true;
                    }
                }
            }
        }
        let later = order.iter().filter(|entry| entry.0.is_none()).count();
        if all && later < self.later_max {
            for &did in &self.alphabet {
                // Nothing is put in a second time.
                if matches!(did, Did::Put(_)) && order.contains(&(None, did)) {
                    continue;
                }
                if self.cause(order, did).is_some() || self.brought_later(order, did) {
                    order.push((None, did));
                    let found = self.linearize(order, usize::MAX - 1);
                    order.pop();
                    if found {
                        return true;
                    }
                }
            }
        }
        false
    }

    fn results(&self) -> Vec<Did> {
        let mut all: Vec<Did> = vec![Did::Take(None)];
        for op in self.ops {
            if let Did::Put(value) = op.did
                && !all.contains(&Did::Take(Some(value)))
            {
                all.push(Did::Take(Some(value)));
            }
        }
        all
    }

    /// When the insertion that allows this was called; `None` where there is none.
    fn cause(&self, order: &[(Option<usize>, Did)], did: Did) -> Option<usize> {
        let Did::Take(Some(_)) = did else { return Some(0) };
        if self.rules.causality == Causality::Free {
            return Some(0);
        }
        let before = order.iter().filter(|entry| entry.1 == did).count();
        let Did::Take(Some(value)) = did else { return Some(0) };
        let mut calls: Vec<usize> = self.ops.iter().filter(|op| op.did == Did::Put(value)).map(|op| op.call).collect();
        calls.sort_unstable();
        calls.get(before).copied()
    }

    fn brought_later(&self, order: &[(Option<usize>, Did)], did: Did) -> bool {
        let Did::Take(Some(value)) = did else { return false };
        let puts = self.ops.iter().filter(|op| op.did == Did::Put(value)).count()
            + order.iter().filter(|entry| entry.0.is_none() && entry.1 == Did::Put(value)).count();
        let takes = order.iter().filter(|entry| entry.1 == did).count();
        puts > takes
    }

    /// Whether some legal run belongs to this linearization.
    fn has_run(&self, order: &[(Option<usize>, Did)]) -> bool {
        let places = places(order, self.relaxed);
        self.execute(order, &places, &mut Vec::new(), &Vec::new())
    }

    fn execute(&self, order: &[(Option<usize>, Did)], places: &[usize], run: &mut Vec<u32>, inside: &[i64]) -> bool {
        let i = run.len();
        if i == order.len() {
            return self.rules.order == Order::Distance || is_strict(order, run, self.relaxed);
        }
        for j in 0..order.len() {
            let (class, factor) = self.relaxed.class(order[j].1);
            if run.contains(&(j as u32)) || class != self.relaxed.class(order[i].1).0 {
                continue;
            }
            let off = places[i].abs_diff(places[j]);
            if (self.rules.order == Order::Distance || factor == 0) && off > factor as usize {
                continue;
            }
            let mut inside = inside.to_vec();
            if step(self.shape, &mut inside, order[j].1) {
                run.push(j as u32);
                let found = self.execute(order, places, run, &inside);
                run.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }
}

/// The place of each operation in its class.
fn places(order: &[(Option<usize>, Did)], relaxed: Relaxed) -> Vec<usize> {
    let class = |entry: &(Option<usize>, Did)| relaxed.class(entry.1).0;
    (0..order.len()).map(|i| order[..i].iter().filter(|other| class(other) == class(&order[i])).count()).collect()
}

/// Whether the linearization takes the run strictly out of order, class by class.
fn is_strict(order: &[(Option<usize>, Did)], run: &[u32], relaxed: Relaxed) -> bool {
    (0..3).all(|class| {
        let member = |j: usize| relaxed.class(order[j].1).0 == class;
        let mut remaining: Vec<usize> = run.iter().map(|&j| j as usize).filter(|&j| member(j)).collect();
        let mut late = 0;
        (0..order.len()).filter(|&j| member(j)).all(|j| {
            let factor = relaxed.class(order[j].1).1 as usize;
            let place = remaining.iter().position(|&other| other == j).expect("a permutation");
            remaining.remove(place);
            late = if place == 0 { 0 } else { late + 1 };
            place <= factor && late <= factor
        })
    })
}

/// Checks a witness of the library by the definition; panics where it is wrong.
pub fn check(shape: Shape, ops: &[Op], order: &[(Option<usize>, Did)], run: &[u32], relaxed: Relaxed, rules: &Rules) {
    let context = || format!("{shape:?} {relaxed:?} {rules:?}\n{ops:?}\n{order:?}\n{run:?}");
    let search = Search { shape, ops, relaxed, rules, alphabet: Vec::new(), later_max: 0 };
    let mut moment = 0;
    for (i, &(op, did)) in order.iter().enumerate() {
        let cause = search.cause(&order[..i], did);
        let Some(op) = op else {
            assert!(rules.reading == Reading::Prefix, "a continuation: {}", context());
            let again = ops.iter().any(|op| op.did == did) || order[..i].contains(&(None, did));
            assert!(!(again && matches!(did, Did::Put(_))), "put in again: {}", context());
            let free = rules.causality == Causality::Free || relaxed.class(did).1 > 0;
            assert!(free && (cause.is_some() || search.brought_later(&order[..i], did)), "{}", context());
            moment = usize::MAX - 1;
            continue;
        };
        assert!(order[..i].iter().all(|entry| entry.0 != Some(op)), "twice: {}", context());
        assert!(ops[op].did == did || ops[op].is_pending(), "another result: {}", context());
        moment = moment.max(ops[op].call).max(cause.unwrap_or_else(|| panic!("no cause: {}", context())));
        assert!(moment < ops[op].ret, "too late: {}", context());
    }
    let missing = (0..ops.len()).find(|&i| !ops[i].is_pending() && order.iter().all(|entry| entry.0 != Some(i)));
    assert_eq!(missing, None, "{}", context());
    let mut sorted = run.to_vec();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..order.len() as u32), "not a permutation: {}", context());
    let places = places(order, relaxed);
    let mut inside = Vec::new();
    for (i, &j) in run.iter().enumerate() {
        let (class, factor) = relaxed.class(order[j as usize].1);
        assert_eq!(class, relaxed.class(order[i].1).0, "{}", context());
        let off = places[i].abs_diff(places[j as usize]);
        assert!(rules.order == Order::Strict || off <= factor as usize, "too far: {}", context());
        assert!(step(shape, &mut inside, order[j as usize].1), "not legal: {}", context());
    }
    assert!(rules.order == Order::Distance || is_strict(order, run, relaxed), "not strict: {}", context());
}
