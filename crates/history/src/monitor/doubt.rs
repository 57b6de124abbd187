//! Why the absence of violations would not mean that there are none.
//!
//! Invariant: a finished run without an alarm and without a doubt is linearizable.

use std::fmt;

use super::stream::{Counts, Monitor};

/// Something that was not checked in full.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Operations are counted, of which only recent ones are told apart.
    Counting(usize),
    /// Operations that could not be checked in full.
    Unchecked(u64),
    /// Removals whose outcome nobody knows: which values they took is not followed.
    Untold(u64),
    /// Insertions of a value that was inside already.
    Repeated(u64),
    /// Events that did not fit.
    Refused(u64),
    /// How often checking started over.
    Restarts(u64),
    /// Operations that have not ended.
    Open(u64),
    /// The object was in use before it was watched.
    Before,
}

impl Doubt {
    /// How many operations or values it is about, where that is known.
    pub fn number(&self) -> Option<u64> {
        match *self {
            Doubt::Unchecked(number) | Doubt::Untold(number) | Doubt::Repeated(number) => Some(number),
            Doubt::Refused(number) | Doubt::Restarts(number) | Doubt::Open(number) => Some(number),
            Doubt::Counting(_) | Doubt::Before => None,
        }
    }

    /// What was not checked, in words, without the number.
    pub fn what(&self) -> String {
        let one = self.number() == Some(1);
        let say = |single: &str, many: &str| if one { single } else { many }.to_owned();
        match self {
            Doubt::Counting(k) => format!("counting at k={k} sees what is recent, not all"),
            Doubt::Unchecked(_) => say("operation went unchecked", "operations went unchecked"),
            Doubt::Untold(_) => say(
                "removal has an unknown outcome: what it took is not followed",
                "removals have an unknown outcome: what they took is not followed",
            ),
            Doubt::Repeated(_) => {
                say("insertion of a value that was inside already", "insertions of a value that was inside already")
            }
            Doubt::Refused(_) => say("event did not fit", "events did not fit"),
            Doubt::Restarts(_) => say("time checking started over", "times checking started over"),
            Doubt::Open(_) => say("operation is still open", "operations are still open"),
            Doubt::Before => "what happened before the monitor began".to_owned(),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.number() {
            write!(f, "{number} ")?;
        }
        f.write_str(&self.what())
    }
}

impl Monitor {
    /// What was not checked in full so far. With none of these, and no violation, what is over is linearizable.
    pub fn doubts(&self) -> Vec<Doubt> {
        let Counts { unchecked, untold, repeated, refused, restarts, open, .. } = self.counts();
        let mut doubts = Vec::new();
        doubts.extend(self.counting().map(Doubt::Counting));
        let numbers = [
            Doubt::Unchecked(unchecked),
            Doubt::Untold(untold),
            Doubt::Repeated(repeated),
            Doubt::Refused(refused),
            Doubt::Restarts(restarts),
            Doubt::Open(open),
        ];
        doubts.extend(numbers.into_iter().filter(|doubt| doubt.number() > Some(0)));
        doubts.extend(self.is_attached().then_some(Doubt::Before));
        doubts
    }
}
