//! Whether linear constraints over numbers that are not negative can all hold: the first phase of the simplex method, exact.
//!
//! Invariant: the right-hand side of every row of the tableau stays non-negative, and the basis columns are unit columns. Artificial
//! variables have no column: once one has left the basis it never comes back. Exponential in the worst case, as the simplex method is;
//! in practice a few pivots a row.

use super::rational::Rational;
use super::{Constraint, Halt, Relation};
use crate::Budget;

/// The basis entry of a row whose variable is artificial.
const ARTIFICIAL: usize = usize::MAX;
/// After that many pivots the rule that cannot cycle takes over.
const GREEDY_PIVOTS: usize = 2_000;

struct Tableau {
    /// Coefficients; the last column is the right-hand side.
    rows: Vec<Vec<Rational>>,
    /// The sum of the rows whose basis variable is artificial: what is still wrong, and how each column changes that.
    wrong: Vec<Rational>,
    basis: Vec<usize>,
    columns: usize,
}

/// A solution of the constraints with every variable at least 0, or `None` when there is none.
pub fn solve(variables: usize, constraints: &[&Constraint], budget: &Budget) -> Result<Option<Vec<Rational>>, Halt> {
    let mut tableau = Tableau::new(variables, constraints)?;
    let mut pivots = 0;
    while tableau.wrong[tableau.columns].is_positive() {
        budget.check().map_err(Halt::Limit)?;
        let Some(column) = tableau.entering(pivots < GREEDY_PIVOTS).ok_or(Halt::Overflow)? else {
            return Ok(None);
        };
        let row = tableau.leaving(column).ok_or(Halt::Overflow)?.expect("what is wrong is bounded from below");
        tableau.pivot(row, column).ok_or(Halt::Overflow)?;
        pivots += 1;
    }
    let mut solution = vec![Rational::ZERO; variables];
    for (row, &variable) in tableau.rows.iter().zip(&tableau.basis) {
        if variable < variables {
            solution[variable] = row[tableau.columns];
        }
    }
    Ok(Some(solution))
}

impl Tableau {
    fn new(variables: usize, constraints: &[&Constraint]) -> Result<Self, Halt> {
        let slacks = constraints.iter().filter(|constraint| constraint.relation != Relation::Equal).count();
        let columns = variables + slacks;
        let mut tableau =
            Tableau { rows: Vec::new(), wrong: vec![Rational::ZERO; columns + 1], basis: Vec::new(), columns };
        let mut slack = variables;
        for constraint in constraints {
            // A row `≥ 0` turned round is one `≤ 0`, whose slack is a basis; so is a negative bound.
            let bound = i128::from(constraint.bound);
            let turned = bound < 0 || (bound == 0 && constraint.relation == Relation::AtLeast);
            let sign = if turned { -1 } else { 1 };
            let mut row = vec![Rational::ZERO; columns + 1];
            for &(variable, coefficient) in &constraint.terms {
                let term = Rational::whole(-sign * i128::from(coefficient));
                row[variable] = row[variable].minus(term).ok_or(Halt::Overflow)?;
            }
            row[columns] = Rational::whole(sign * bound);
            let slack_sign = match constraint.relation {
                Relation::Equal => 0,
                Relation::AtMost => sign,
                Relation::AtLeast => -sign,
            };
            let mut basic = ARTIFICIAL;
            if slack_sign != 0 {
                row[slack] = Rational::whole(slack_sign);
                if slack_sign == 1 {
                    basic = slack;
                }
                slack += 1;
            }
            if basic == ARTIFICIAL {
                for (total, &cell) in tableau.wrong.iter_mut().zip(&row) {
                    let negative = Rational::ZERO.minus(cell).ok_or(Halt::Overflow)?;
                    *total = total.minus(negative).ok_or(Halt::Overflow)?;
                }
            }
            tableau.rows.push(row);
            tableau.basis.push(basic);
        }
        Ok(tableau)
    }

    /// The column that makes less wrong: the one that does so fastest, or the first (Bland's rule, which cannot cycle).
    fn entering(&self, greedy: bool) -> Option<Option<usize>> {
        let mut best: Option<usize> = None;
        for column in (0..self.columns).filter(|&column| self.wrong[column].is_positive()) {
            if !greedy {
                return Some(Some(column));
            }
            if best.map_or(Some(true), |best| self.wrong[best].is_below(self.wrong[column]))? {
                best = Some(column);
            }
        }
        Some(best)
    }

    /// The row that bounds the column most tightly; artificial ones first, then by number, so that nothing cycles.
    fn leaving(&self, column: usize) -> Option<Option<usize>> {
        let mut best: Option<(usize, Rational)> = None;
        for (i, row) in self.rows.iter().enumerate().filter(|(_, row)| row[column].is_positive()) {
            let ratio = row[self.columns].over(row[column])?;
            let better = match best {
                None => true,
                Some((_, bound)) if ratio == bound => {
                    let rank = |row: usize| self.basis[row].wrapping_add(1);
                    rank(i) < rank(best.expect("just seen").0)
                }
                Some((_, bound)) => ratio.is_below(bound)?,
            };
            if better {
                best = Some((i, ratio));
            }
        }
        Some(best.map(|(row, _)| row))
    }

    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let by = self.rows[row][column];
        let mut pivot = std::mem::take(&mut self.rows[row]);
        let mut used = Vec::new();
        for (i, cell) in pivot.iter_mut().enumerate().filter(|(_, cell)| !cell.is_zero()) {
            *cell = cell.over(by)?;
            used.push(i);
        }
        for other in self.rows.iter_mut().filter(|other| !other.is_empty()).chain([&mut self.wrong]) {
            let factor = other[column];
            if factor.is_zero() {
                continue;
            }
            for &i in &used {
                other[i] = other[i].minus(factor.times(pivot[i])?)?;
            }
        }
        self.basis[row] = column;
        self.rows[row] = pivot;
        Some(())
    }
}
