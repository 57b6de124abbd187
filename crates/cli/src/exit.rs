//! Exit codes: part of the interface, like the flags.
//!
//! Invariant: what a script can conclude from a code never depends on the order of the files. Over several files the
//! worst one counts: a bug of ours, then wrong input (the answer is incomplete, as with `diff` and `grep`), then a
//! violation (which no limit can take back), then unknown, then pass.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The property holds, or the command did what was asked.
    Pass,
    /// A limit was reached before an answer was found, or there was nothing to test.
    Unknown,
    /// The property does not hold.
    Violation,
    /// The user's input or usage is wrong.
    Input,
    /// Our bug.
    Bug,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> i32 {
        match self {
            Exit::Pass => 0,
            Exit::Violation => 1,
            Exit::Input => 2,
            Exit::Unknown => 3,
            Exit::Bug => 101,
        }
    }

    /// The worse of two.
    #[must_use]
    pub fn worst(self, other: Exit) -> Exit {
        self.max(other)
    }
}

/// The part of `--help` about exit codes.
pub const HELP: &str = "\
Exit codes:
  0    pass
  1    violation found
  2    wrong input or usage
  3    unknown: a limit was reached, nothing was tested, or Ctrl-C
  101  a bug in selvedge
With several files the worst one counts: 101, then 2, 1, 3, 0.";

#[cfg(test)]
mod tests {
    use super::Exit::*;

    #[test]
    fn the_worst_exit_counts() {
        for (one, other, expected) in [
            (Pass, Unknown, 3),
            (Unknown, Violation, 1),
            (Violation, Input, 2),
            (Input, Unknown, 2),
            (Input, Bug, 101),
            (Pass, Pass, 0),
        ] {
            assert_eq!(one.worst(other).code(), expected);
            assert_eq!(other.worst(one).code(), expected);
        }
    }
}
