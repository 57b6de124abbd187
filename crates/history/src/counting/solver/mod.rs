//! A small exact solver for linear constraints over whole numbers that are not negative.
//!
//! The constraints that theorem 6 gives are nearly those of a flow, whose corners are whole: the [`simplex`] method alone decides
//! most of them. What is left fractional is branched on. Constraints that are too many to state (connectivity) come as an
//! *objection* to a solution: two sets of constraints of which every true solution satisfies one.
//!
//! Invariant: an answer is exact. Numbers that do not fit, too many branches and a spent budget are a [`Halt`], never an answer.

mod rational;
mod simplex;

use rational::Rational;

use crate::{Budget, Limit};

/// How the two sides of a constraint compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The sum is the bound.
    Equal,
    /// The sum is the bound or less.
    AtMost,
    /// The sum is the bound or more.
    AtLeast,
}

/// A sum of variables times numbers, compared with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Variables and their coefficients.
    pub terms: Vec<(usize, i64)>,
    /// How the sum compares.
    pub relation: Relation,
    /// With what.
    pub bound: i64,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The budget was spent.
    Limit(Limit),
    /// A number did not fit in 128 bits.
    Overflow,
    /// More than [`BRANCHES_MAX`] cases had to be looked at.
    Branches,
}

/// How many cases are looked at before giving up.
pub const BRANCHES_MAX: usize = 20_000;

/// Two sets of constraints; every true solution satisfies all of one of them.
pub type Objection = [Vec<Constraint>; 2];

/// A solution in whole numbers from 0 up that meets no objection, or `None` when there is none.
pub fn solve(
    variables: usize,
    constraints: &[&Constraint],
    objection: impl Fn(&[i128]) -> Option<Objection>,
    budget: &Budget,
) -> Result<Option<Vec<i128>>, Halt> {
    let mut cases: Vec<Vec<Constraint>> = vec![Vec::new()];
    let mut looked_at = 0;
    while let Some(case) = cases.pop() {
        looked_at += 1;
        if looked_at > BRANCHES_MAX {
            return Err(Halt::Branches);
        }
        let all: Vec<&Constraint> = constraints.iter().copied().chain(&case).collect();
        let Some(solution) = simplex::solve(variables, &all, budget)? else { continue };
        let with = |more: Vec<Constraint>| case.iter().cloned().chain(more).collect();
        match whole(&solution) {
            Ok(solution) => match objection(&solution) {
                None => return Ok(Some(solution)),
                Some([first, second]) => {
                    cases.push(with(second));
                    cases.push(with(first));
                }
            },
            Err((variable, value)) => {
                let floor = i64::try_from(value.floor()).map_err(|_| Halt::Overflow)?;
                let above = floor.checked_add(1).ok_or(Halt::Overflow)?;
                let terms = vec![(variable, 1)];
                let below = Constraint { terms: terms.clone(), relation: Relation::AtMost, bound: floor };
                cases.push(with(vec![Constraint { terms, relation: Relation::AtLeast, bound: above }]));
                cases.push(with(vec![below]));
            }
        }
    }
    Ok(None)
}

/// The solution in whole numbers, or the first variable that is not one.
fn whole(solution: &[Rational]) -> Result<Vec<i128>, (usize, Rational)> {
    solution.iter().enumerate().map(|(i, value)| value.as_whole().ok_or((i, *value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(terms: &[(usize, i64)], relation: Relation, bound: i64) -> Constraint {
        Constraint { terms: terms.to_vec(), relation, bound }
    }

    fn answer(variables: usize, constraints: &[Constraint]) -> Option<Vec<i128>> {
        let constraints: Vec<&Constraint> = constraints.iter().collect();
        solve(variables, &constraints, |_| None, &Budget::new()).unwrap()
    }

    #[test]
    fn whole_solutions_are_found_and_fractions_refused() {
        use Relation::{AtLeast, AtMost, Equal};
        assert_eq!(answer(1, &[at(&[(0, 2)], Equal, 3)]), None);
        assert_eq!(answer(1, &[at(&[(0, 2)], Equal, 4)]), Some(vec![2]));
        let solution = answer(2, &[at(&[(0, 3), (1, 5)], Equal, 7_000_001), at(&[(1, 1)], AtLeast, 10)]).unwrap();
        assert_eq!(3 * solution[0] + 5 * solution[1], 7_000_001);
        assert_eq!(answer(2, &[at(&[(0, 1), (1, -1)], AtLeast, 1), at(&[(0, 1)], AtMost, 0)]), None);
        assert_eq!(answer(0, &[at(&[], Equal, 1)]), None);
        assert_eq!(answer(0, &[at(&[], AtMost, 0)]), Some(vec![]));
    }

    /// Every small system against trying every small solution.
    #[test]
    fn agrees_with_trying_everything() {
        let mut state = 7u64;
        let mut next = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut solvable, mut not) = (0, 0);
        for _ in 0..3_000 {
            // Bounded, so that trying everything tries everything.
            let mut constraints = vec![at(&[(0, 1), (1, 1), (2, 1)], Relation::AtMost, 5)];
            for _ in 0..1 + next(4) {
                let terms: Vec<_> = (0..3).map(|variable| (variable, next(7) as i64 - 3)).collect();
                let relation = [Relation::Equal, Relation::AtMost, Relation::AtLeast][next(3) as usize];
                constraints.push(at(&terms, relation, next(11) as i64 - 5));
            }
            let holds = |values: &[i64]| {
                constraints.iter().all(|constraint| {
                    let sum: i64 = constraint.terms.iter().map(|&(variable, by)| by * values[variable]).sum();
                    match constraint.relation {
                        Relation::Equal => sum == constraint.bound,
                        Relation::AtMost => sum <= constraint.bound,
                        Relation::AtLeast => sum >= constraint.bound,
                    }
                })
            };
            let tried = (0..216).any(|n: i64| holds(&[n % 6, n / 6 % 6, n / 36]));
            match answer(3, &constraints) {
                Some(found) => {
                    let found: Vec<i64> = found.iter().map(|&value| value as i64).collect();
                    assert!(holds(&found), "{constraints:?}: {found:?}");
                    solvable += 1;
                    assert!(tried);
                }
                None => {
                    assert!(!tried, "{constraints:?}");
                    not += 1;
                }
            }
        }
        assert!(solvable > 500 && not > 500, "{solvable} {not}");
    }
}
