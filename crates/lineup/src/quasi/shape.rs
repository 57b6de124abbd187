//! Shapes of tests as Round-Up's tables write them: `4*4+0`, `1*1+12`, `enq*deq+12`.
//!
//! Each factor is a thread: how many calls it makes, or which (`enq.deq`). After `+` stands how many calls the first thread makes, before and
//! after the others. A number of calls is half insertions, then half removals; where it is odd the threads take turns in having one
//! more of the one or of the other. Insertions take different arguments, in the order in which the object names them.
//!
//! Invariant: the matrix has as many removals as insertions, and is the same whenever it is asked for.

use std::fmt;

use super::roles::Roles;
use crate::calls::{CallId, Calls};
use crate::matrix::{Matrix, MatrixError};
use crate::values;

/// Why a shape is none, or not one for this object.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// Not of that form.
    Form(String),
    /// No call of that name.
    Method(String),
    /// Nothing can be put in, or nothing taken out.
    NoCollection,
    /// There are fewer insertions with different arguments than the shape needs.
    Values {
        /// How many it needs.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// The first thread has too few calls to make up for the others, or one too many.
    Unbalanced {
        /// Insertions of the other threads.
        insertions: usize,
        /// Their removals.
        removals: usize,
        /// Calls of the first thread.
        calls: usize,
    },
    /// Too large.
    Matrix(MatrixError),
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::Form(found) => {
                write!(f, "expected a shape such as 2*2+4, 1*1+12 or enq*deq+12, found `{found}`")
            }
            ShapeError::Method(found) => {
                write!(f, "a shape names calls of the object, and it has none called `{found}`")
            }
            ShapeError::NoCollection => f.write_str(
                "a shape needs calls that put something in (with an argument) and calls that take it out (without)",
            ),
            ShapeError::Values { needed, found } => {
                write!(f, "the shape puts {needed} different values in, and the object has only {found} calls for that")
            }
            ShapeError::Unbalanced { insertions, removals, calls } => write!(
                f,
                "the threads put {insertions} in and take {removals} out: {calls} calls of the first thread cannot make that even"
            ),
            ShapeError::Matrix(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ShapeError {}

/// What a call of the shape is to be, before arguments are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Put,
    Take,
}

/// The matrix of a shape.
pub fn matrix(text: &str, calls: &Calls) -> Result<Matrix, ShapeError> {
    let wrong = || ShapeError::Form(text.chars().take(80).collect());
    let (threads, own) = match text.trim().rsplit_once('+') {
        Some((threads, own)) => (threads, own.trim().parse().map_err(|_| wrong())?),
        None => (text.trim(), 0usize),
    };
    let roles = Roles::of(calls);
    if !roles.is_collection() {
        return Err(ShapeError::NoCollection);
    }
    let mut more_puts = true;
    let mut columns = Vec::new();
    for thread in threads.split('*') {
        columns
            .push(column(thread.trim(), calls, &roles, &mut more_puts).map_err(|error| error.unwrap_or_else(wrong))?);
    }
    let total = columns.iter().map(Vec::len).sum::<usize>().saturating_add(own);
    if total > Matrix::CALLS_MAX {
        return Err(ShapeError::Matrix(MatrixError::TooManyCalls(total)));
    }
    let puts = columns.iter().flatten().filter(|wanted| **wanted == Wanted::Put).count();
    let takes = total - own - puts;
    let (before, after) = (total / 2, total / 2);
    if total % 2 == 1 || puts > before || takes > after {
        return Err(ShapeError::Unbalanced { insertions: puts, removals: takes, calls: own });
    }
    let give =
        Arguments { puts: roles.insertions().collect(), take: roles.removals().next().unwrap_or(CallId(0)), next: 0 };
    give.out(before - puts, columns, after - takes, before)?.checked(calls).map_err(ShapeError::Matrix)
}

/// The calls of one thread; an error without words means that the form is wrong.
fn column(text: &str, calls: &Calls, roles: &Roles, more_puts: &mut bool) -> Result<Vec<Wanted>, Option<ShapeError>> {
    if let Ok(count) = text.parse::<usize>() {
        if count == 0 || count > Matrix::CALLS_MAX {
            return Err(None);
        }
        let mut puts = count / 2;
        if count % 2 == 1 {
            puts += usize::from(*more_puts);
            *more_puts = !*more_puts;
        }
        return Ok((0..count).map(|at| if at < puts { Wanted::Put } else { Wanted::Take }).collect());
    }
    let named = |name: &str| {
        if name.is_empty() || name.chars().any(|letter| !letter.is_alphanumeric() && letter != '_') {
            return Err(None);
        }
        let is = |call: &CallId| values::call(calls.name(*call)).0 == name;
        match (roles.insertions().any(|call| is(&call)), roles.removals().any(|call| is(&call))) {
            (true, _) => Ok(Wanted::Put),
            (false, true) => Ok(Wanted::Take),
            (false, false) => Err(Some(ShapeError::Method(name.chars().take(40).collect()))),
        }
    };
    text.split('.').map(|name| named(name.trim())).collect()
}

/// Gives arguments out, each insertion another.
struct Arguments {
    puts: Vec<CallId>,
    take: CallId,
    next: usize,
}

impl Arguments {
    fn out(
        mut self,
        before: usize,
        columns: Vec<Vec<Wanted>>,
        after: usize,
        needed: usize,
    ) -> Result<Matrix, ShapeError> {
        if self.puts.len() < needed {
            return Err(ShapeError::Values { needed, found: self.puts.len() });
        }
        let initial = (0..before).map(|_| self.call(Wanted::Put)).collect();
        let columns =
            columns.into_iter().map(|column| column.into_iter().map(|wanted| self.call(wanted)).collect()).collect();
        let last = vec![self.take; after];
        Ok(Matrix { initial, columns, last })
    }

    fn call(&mut self, wanted: Wanted) -> CallId {
        match wanted {
            Wanted::Take => self.take,
            Wanted::Put => {
                self.next += 1;
                self.puts[self.next - 1]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls() -> Calls {
        let names = (1..=7).map(|value| format!("enq({value})")).chain(["deq()".to_owned(), "peek()".to_owned()]);
        Calls::new(names.collect()).unwrap()
    }

    #[test]
    fn shapes_of_the_tables() {
        for (text, expected) in [
            ("4*4+0", "enq(1), enq(2), deq(), deq() | enq(3), enq(4), deq(), deq()"),
            ("2*2", "enq(1), deq() | enq(2), deq()"),
            ("2*2+4", "enq(1), enq(2); enq(3), deq() | enq(4), deq(); deq(), deq()"),
            ("2*3+3", "enq(1); enq(2), deq() | enq(3), enq(4), deq(); deq(), deq()"),
            ("3*3+2", "enq(1); enq(2), enq(3), deq() | enq(4), deq(), deq(); deq()"),
            ("3*4+1", "; enq(1), enq(2), deq() | enq(3), enq(4), deq(), deq(); deq()"),
            ("1*1+4", "enq(1), enq(2); enq(3) | deq(); deq(), deq()"),
            ("enq*enq+2", "; enq(1) | enq(2); deq(), deq()"),
            (" deq * deq.enq + 3 ", "enq(1), enq(2); deq() | deq(), enq(3); deq()"),
        ] {
            let matrix = matrix(text, &calls()).unwrap();
            assert_eq!(matrix.to_text(&calls()), expected, "{text}");
            assert_eq!(Roles::of(&calls()).well_formed(&matrix), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_is_no_shape() {
        for (text, expected) in [
            ("", "expected a shape"),
            ("0*2+2", "expected a shape"),
            ("2*2+x", "expected a shape"),
            ("2**2", "expected a shape"),
            ("2*2+-1", "expected a shape"),
            ("999999999999*2", "expected a shape"),
            ("2*2+18446744073709551615", "at most 200 calls"),
            ("pop*deq", "none called `pop`"),
            ("8*8", "puts 8 different values in, and the object has only 7"),
            ("1*2", "cannot make that even"),
            ("enq*enq", "cannot make that even"),
        ] {
            let error = matrix(text, &calls()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let counter = Calls::new(vec!["inc()".into(), "get()".into()]).unwrap();
        assert_eq!(matrix("2*2", &counter), Err(ShapeError::NoCollection));
    }
}
