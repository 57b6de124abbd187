//! Which calls put something in and which take something out, and matrices in which everything comes out again.
//!
//! Round-Up calls a test *well-formed* when it has as many removals as insertions and drains the object at its end (section V):
//! under the closed reading a relaxed collection that is left with values inside would fail although nothing is wrong with it.
//! Invariant: in a matrix that [`Roles::complete`] answers, no order of the calls lets a removal come before as many insertions.

use std::fmt;

use crate::calls::{CallId, Calls};
use crate::matrix::Matrix;
use crate::values;

/// What a call does to a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Puts,
    Takes,
    /// Neither.
    Looks,
}

/// Methods that only look, and methods with an argument that take it out.
const LOOKS: [&str; 12] =
    ["peek", "front", "top", "len", "size", "count", "isempty", "contains", "get", "read", "first", "last"];
const TAKES: [&str; 5] = ["remove", "delete", "discard", "erase", "take"];

/// What each call does.
#[derive(Clone, Debug)]
pub struct Roles {
    of: Vec<Role>,
}

/// Why a matrix is not well-formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotWellFormed {
    /// Not as many removals as insertions.
    Unbalanced {
        /// How many insertions.
        insertions: usize,
        /// How many removals.
        removals: usize,
    },
    /// A removal may come before what it should find was put in.
    Early,
}

impl fmt::Display for NotWellFormed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotWellFormed::Unbalanced { insertions, removals } => write!(
                f,
                "it puts {insertions} in and takes {removals} out; under the closed reading the object has to be drained \
                 at the end, as often as something was put in"
            ),
            NotWellFormed::Early => f.write_str(
                "a removal may come before the insertion that it needs and find nothing, and then something stays inside \
                 at the end; under the closed reading the object has to be drained",
            ),
        }
    }
}

impl Roles {
    /// Reads the roles off the names: what has an argument puts it in, what has none takes something out, but for the usual
    /// names of methods that do otherwise.
    pub fn of(calls: &Calls) -> Self {
        let role = |name: &String| {
            let (method, argument) = values::call(name);
            let plain: String = method.chars().filter(char::is_ascii_alphanumeric).collect();
            let plain = plain.to_ascii_lowercase();
            match (LOOKS.contains(&&*plain), argument.is_nil()) {
                (true, _) => Role::Looks,
                (false, false) if !TAKES.contains(&&*plain) => Role::Puts,
                (false, _) => Role::Takes,
            }
        };
        Roles { of: calls.names().iter().map(role).collect() }
    }

    fn role(&self, call: CallId) -> Role {
        self.of.get(call.index()).copied().unwrap_or(Role::Looks)
    }

    /// Whether the object is a collection at all: something can be put in, and taken out.
    pub fn is_collection(&self) -> bool {
        self.of.contains(&Role::Puts) && self.of.contains(&Role::Takes)
    }

    /// The calls that put something in.
    pub fn insertions(&self) -> impl Iterator<Item = CallId> + '_ {
        self.with(Role::Puts)
    }

    /// The calls that take something out.
    pub fn removals(&self) -> impl Iterator<Item = CallId> + '_ {
        self.with(Role::Takes)
    }

    fn with(&self, role: Role) -> impl Iterator<Item = CallId> + '_ {
        let found = self.of.iter().enumerate().filter(move |(_, of)| **of == role);
        found.map(|(at, _)| CallId(at as u16))
    }

    fn count(&self, calls: &[CallId], role: Role) -> usize {
        calls.iter().filter(|&&call| self.role(call) == role).count()
    }

    /// By how much removals are ahead of insertions at most, on the way through these calls.
    fn deficit(&self, calls: &[CallId]) -> usize {
        let (mut ahead, mut most) = (0isize, 0isize);
        for &call in calls {
            ahead += match self.role(call) {
                Role::Puts => -1,
                Role::Takes => 1,
                Role::Looks => 0,
            };
            most = most.max(ahead);
        }
        most as usize
    }

    /// Whether the matrix drains the object, whatever the schedule.
    pub fn well_formed(&self, matrix: &Matrix) -> Result<(), NotWellFormed> {
        let parts = || matrix.columns.iter().chain([&matrix.initial, &matrix.last]);
        let sum = |role| parts().map(|part| self.count(part, role)).sum::<usize>();
        let (insertions, removals) = (sum(Role::Puts), sum(Role::Takes));
        if insertions != removals {
            return Err(NotWellFormed::Unbalanced { insertions, removals });
        }
        let inside = |part: &[CallId]| self.count(part, Role::Puts) as isize - self.count(part, Role::Takes) as isize;
        let before = inside(&matrix.initial);
        let after = before + matrix.columns.iter().map(|column| inside(column)).sum::<isize>();
        let needed: usize = matrix.columns.iter().map(|column| self.deficit(column)).sum();
        let enough = self.deficit(&matrix.initial) == 0
            && needed as isize <= before
            && self.deficit(&matrix.last) as isize <= after;
        if enough { Ok(()) } else { Err(NotWellFormed::Early) }
    }

    /// The same matrix with insertions before it and removals after it, as many as make it well-formed.
    pub fn complete(&self, mut matrix: Matrix) -> Matrix {
        let (Some(put), Some(take)) = (self.insertions().next(), self.removals().next()) else { return matrix };
        let needed: usize = matrix.columns.iter().map(|column| self.deficit(column)).sum();
        let have = self.count(&matrix.initial, Role::Puts).saturating_sub(self.count(&matrix.initial, Role::Takes));
        for _ in have..needed {
            let used =
                |call: &CallId| matrix.columns.iter().flatten().chain(&matrix.initial).any(|other| other == call);
            let fresh = self.insertions().find(|call| !used(call)).unwrap_or(put);
            matrix.initial.push(fresh);
        }
        let parts = || matrix.columns.iter().chain([&matrix.initial, &matrix.last]);
        let sum = |role| parts().map(|part| self.count(part, role)).sum::<usize>();
        let left = sum(Role::Puts).saturating_sub(sum(Role::Takes));
        matrix.last.extend(std::iter::repeat_n(take, left));
        matrix
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls() -> Calls {
        Calls::new(["enq(1)", "enq(2)", "enq(3)", "deq()", "peek()"].map(str::to_owned).to_vec()).unwrap()
    }

    fn matrix(text: &str) -> Matrix {
        Matrix::parse(text, &calls()).unwrap()
    }

    #[test]
    fn matrices_that_drain_and_others() {
        let roles = Roles::of(&calls());
        let check = |text: &str, expected: Result<(), NotWellFormed>| {
            assert_eq!(roles.well_formed(&matrix(text)), expected, "{text}");
        };
        let unbalanced = |insertions, removals| Err(NotWellFormed::Unbalanced { insertions, removals });
        check("enq(1), deq() | enq(2), deq()", Ok(()));
        check("enq(1); enq(2) | deq(), peek(); deq()", Ok(()));
        check("enq(1) | deq()", Err(NotWellFormed::Early));
        check("enq(1); enq(2) | deq(), deq();", Err(NotWellFormed::Early));
        check("enq(1), enq(2); deq() | deq();", Ok(()));
        check("enq(1); deq() | deq(); enq(2)", Err(NotWellFormed::Early));
        check("; enq(1); deq(), deq(), enq(2)", Err(NotWellFormed::Early));
        check("deq(); enq(1) | enq(2), deq();", Err(NotWellFormed::Early));
        check("enq(1), enq(2) | deq()", unbalanced(2, 1));
        check("deq() | deq()", unbalanced(0, 2));
        check("peek() | peek()", Ok(()));
    }

    #[test]
    fn what_is_missing_is_added() {
        let roles = Roles::of(&calls());
        for (text, expected) in [
            ("enq(1) | deq()", "enq(2); enq(1) | deq(); deq()"),
            ("deq() | deq()", "enq(1), enq(2); deq() | deq();"),
            ("enq(1) | enq(2)", "; enq(1) | enq(2); deq(), deq()"),
            ("enq(1), deq() | enq(2), deq()", "enq(1), deq() | enq(2), deq()"),
            ("enq(1), enq(2) | enq(3), deq(), deq()", "enq(1); enq(1), enq(2) | enq(3), deq(), deq(); deq(), deq()"),
        ] {
            let complete = roles.complete(matrix(text));
            assert_eq!(complete.to_text(&calls()).trim_end(), expected);
            assert_eq!(roles.well_formed(&complete), Ok(()), "{text}");
        }
    }

    #[test]
    fn sets_take_out_by_name() {
        let calls = Calls::new(["add(1)", "remove(1)", "contains(1)"].map(str::to_owned).to_vec()).unwrap();
        let roles = Roles::of(&calls);
        assert!(roles.is_collection());
        assert_eq!(roles.insertions().collect::<Vec<_>>(), [CallId(0)]);
        assert_eq!(roles.removals().collect::<Vec<_>>(), [CallId(1)]);
    }
}
