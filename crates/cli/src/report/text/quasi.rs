//! Reports on quasi linearizability: the verdict, how far out of order, and which operation stands where it must not.

use selvedge_history::certificate::quasi::{QuasiExcess, QuasiOrders, QuasiPlaced, QuasiViolation};
use selvedge_history::quasi::Furthest;
use selvedge_history::{OpId, Verdict};

use super::{FAIL, FAINT, PASS, UNKNOWN, advice, clean, limit_text, paint, paragraph};
use crate::quantity::counted;
use crate::report::operation::{Reading, show};
use crate::report::outcome::QuasiDecided;

impl QuasiDecided<'_> {
    /// The verdict in a sentence.
    pub fn says(&self) -> String {
        let is = match self.answer.verdict {
            Verdict::Pass(_) => "Quasi linearizable",
            Verdict::Fail(_) => "Not quasi linearizable",
            Verdict::Unknown(limit) => return format!("No answer: {}.", limit_text(limit, self.of.limits)),
        };
        format!("{is} as a {} with {}{}.", self.answer.kind.name(), clean(&self.relaxed.classes), self.readings())
    }

    fn telling(&self) -> Telling<'_> {
        Telling { reading: self.reading(), classes: &self.relaxed.classes }
    }

    fn headline(&self) -> String {
        let (file, kind, classes) = (self.of.file, self.answer.kind.name(), &self.relaxed.classes);
        let (word, is) = match self.answer.verdict {
            Verdict::Pass(_) => (paint(PASS, "PASS"), "quasi linearizable"),
            Verdict::Fail(_) => (paint(FAIL, "FAIL"), "not quasi linearizable"),
            Verdict::Unknown(limit) => {
                let limit = limit_text(limit, self.of.limits);
                return format!("{}  {file}: {kind} ({classes}); {limit}", paint(UNKNOWN, "UNKNOWN"));
            }
        };
        format!("{word}  {file}: {is} as a {kind} with {}{}", clean(classes), self.readings())
    }

    /// The readings, where they are not the usual ones.
    fn readings(&self) -> String {
        let unusual = self.relaxed.words().into_iter().zip(["prefix", "causal", "distance"]);
        unusual.filter(|(is, usual)| is != usual).map(|(is, _)| format!(", {is}")).collect()
    }

    /// The verdict in one line.
    pub fn line(&self) -> String {
        match &self.answer.verdict {
            Verdict::Pass(_) => format!("{}; {}", self.headline(), self.numbers()),
            Verdict::Fail((_, violation)) => format!("{}; {}", self.headline(), self.why(violation)),
            Verdict::Unknown(_) => self.headline(),
        }
    }

    /// The report.
    pub fn text(&self) -> String {
        let numbers = paint(FAINT, paragraph(&self.numbers(), 2));
        let least = self.least().map_or(String::new(), |least| paragraph(&least, 2));
        match &self.answer.verdict {
            Verdict::Pass(orders) => {
                let shown = paragraph(&self.shown(orders), 2);
                format!("{}\n{least}{shown}{numbers}", self.headline())
            }
            Verdict::Fail((_, violation)) => {
                let why = paragraph(&self.why(violation), 2);
                format!("{}\n\n{least}{why}\n{numbers}", self.headline())
            }
            Verdict::Unknown(limit) => {
                let known = "No violation so far, and that says nothing about the rest.";
                format!("{}\n{}{}{numbers}", self.headline(), paragraph(known, 2), advice(*limit, self.of.limits))
            }
        }
    }

    /// What is said of the smallest factor, where it was asked for.
    pub fn least(&self) -> Option<String> {
        let (factor, most) = self.relaxed.least?;
        let undecided = matches!(self.answer.verdict, Verdict::Unknown(_));
        Some(match factor {
            Some(0) => "The smallest factor is 0: it is linearizable.".to_owned(),
            Some(factor) => format!("The smallest factor is {factor}."),
            None if undecided => "The smallest factor was not found.".to_owned(),
            None => format!("No factor up to {most} is enough."),
        })
    }

    /// The numbers of the run, in one line.
    pub fn numbers(&self) -> String {
        let history = &self.of.log.history;
        let seconds = self.of.seconds;
        let (operations, parts) = (counted(history.len() as u64, "operation"), self.answer.parts as u64);
        let (parts, states) = (counted(parts, "part"), counted(self.answer.states, "state"));
        format!("{operations}, {parts}, {states}, {seconds:.3} s")
    }

    /// How far out of order the history is in the orders found.
    pub fn shown(&self, orders: &[QuasiOrders]) -> String {
        let Some(Furthest { placed, class, off }) = &self.answer.furthest else {
            let legal = |orders: &QuasiOrders| orders.run.iter().enumerate().all(|(place, &of)| place == of as usize);
            let says = if orders.iter().all(legal) {
                "The linearization found is a legal run itself."
            } else {
                "In the orders found, every operation has its place among those of its class."
            };
            return says.to_owned();
        };
        let (entry, class, off) = (self.label(placed), clean(class), counted(u64::from(*off), "place"));
        format!(
            "In the orders found, {entry} is furthest from its place in the legal run: {off}, counted in the operations of \
             {class}."
        )
    }

    /// An operation, or one that would follow.
    pub fn label(&self, placed: &QuasiPlaced) -> String {
        self.telling().label(placed)
    }

    /// Why it fails, in words.
    pub fn why(&self, violation: &QuasiViolation) -> String {
        self.telling().why(violation)
    }

    /// The operations that show the violation, the one to blame first.
    pub fn blamed(&self, violation: &QuasiViolation) -> Vec<OpId> {
        let mut blamed: Vec<OpId> = violation.operation().into_iter().collect();
        if let QuasiViolation::QuasiUnplaced { excess: Some(excess), .. } = violation {
            blamed.extend(excess.operation.filter(|op| !blamed.contains(op)));
        }
        blamed
    }
}

/// Puts evidence in words.
struct Telling<'a> {
    reading: Reading<'a>,
    /// Classes and factors.
    classes: &'a str,
}

impl Telling<'_> {
    fn label(&self, placed: &QuasiPlaced) -> String {
        match placed {
            QuasiPlaced::Operation(op) => format!("{} ({})", self.reading.label(*op), self.reading.lines(*op)),
            QuasiPlaced::Later { method, argument, result } if argument.is_nil() => {
                format!("{}→{}", clean(method), show(result))
            }
            QuasiPlaced::Later { method, argument, .. } => format!("{}({})", clean(method), show(argument)),
        }
    }

    /// Why it fails.
    fn why(&self, violation: &QuasiViolation) -> String {
        let reading = self.reading;
        match violation {
            QuasiViolation::QuasiUnplaced { operation, events, shortest, excess, not_enough, .. } => {
                let (label, lines) = (reading.label(*operation), reading.lines(*operation));
                let classes = clean(self.classes);
                let start = if *shortest {
                    format!(
                        "{label} ({lines}) fits nowhere: with {classes}, what happened before its return can be explained, \
                         but not the first {events} events, whatever may follow them."
                    )
                } else {
                    format!(
                        "With {classes}, the first {events} events, up to the return of {label} ({lines}), cannot be \
                         explained, whatever may follow them. Whether fewer of them fail already is not known: that \
                         search was cut short."
                    )
                };
                format!("{start} {}", self.excess(excess.as_ref(), *not_enough))
            }
            QuasiViolation::QuasiUnfinished { orders } => {
                let later = orders.linearization.iter().filter(|entry| matches!(entry, QuasiPlaced::Later { .. }));
                let later: Vec<String> = later.map(|entry| self.label(entry)).collect();
                format!(
                    "The history is not right by itself. It would be with {} after it: {}. --reading prefix allows that.",
                    counted(later.len() as u64, "more operation"),
                    later.join(", ")
                )
            }
            QuasiViolation::NeedNotBlock { operation } => format!(
                "{} ({}) waits for ever, but need not: whatever the order of what returned, it could go on after it.",
                reading.label(*operation),
                reading.lines(*operation)
            ),
            other => format!("The history shows a violation of kind {}.", other.kind()),
        }
    }

    /// What a larger factor would do.
    fn excess(&self, excess: Option<&QuasiExcess>, not_enough: Option<u32>) -> String {
        let Some(excess) = excess else {
            return match not_enough {
                Some(factor) => format!(
                    "No factor up to {factor} for one of the classes, the others as they are, would do for these events."
                ),
                None => "Whether a larger factor would do is not known: that search was cut short.".to_owned(),
            };
        };
        let QuasiExcess { factor, class, operation, place, legal_place } = excess;
        let which = operation.map_or("an operation that would follow".to_owned(), |op| {
            format!("{} ({})", self.reading.label(op), self.reading.lines(op))
        });
        let off = counted(u64::from(place.abs_diff(*legal_place)), "place");
        let side = if place > legal_place { "late" } else { "early" };
        let class = clean(class);
        format!(
            "A factor of {factor} for {class} would do for these events: then {which} is number {place} of {class}, and \
             number {legal_place} in the legal run, {off} too {side}."
        )
    }
}

#[cfg(test)]
mod tests {
    use selvedge_history::format::{self, Format};
    use selvedge_history::object::Kind;
    use selvedge_history::{Budget, Log};

    use super::*;

    fn log() -> Log {
        let text = "{\"call\":\"deq\",\"thread\":0}\n{\"return\":7,\"thread\":0}\n";
        format::read(&mut text.as_bytes(), Some(Format::Jsonl), &Budget::new()).expect("a log").1
    }

    #[track_caller]
    fn check(shortest: bool, not_enough: Option<u32>, says: &[&str], never: &[&str]) {
        let log = log();
        let telling = Telling { reading: Reading { log: &log, kind: Kind::Queue }, classes: "deq=1" };
        let (operation, events, before, excess) = (OpId(0), 2, None, None);
        let violation = QuasiViolation::QuasiUnplaced { operation, events, shortest, before, excess, not_enough };
        let told = telling.why(&violation);
        for part in says {
            assert!(told.contains(part), "{part}: {told}");
        }
        for part in never {
            assert!(!told.contains(part), "{part}: {told}");
        }
    }

    #[test]
    fn what_was_cut_short_is_not_claimed() {
        check(true, Some(5), &["fits nowhere", "No factor up to 5"], &["cut short"]);
        check(true, None, &["fits nowhere", "Whether a larger factor would do is not known"], &["No factor"]);
        check(
            false,
            None,
            &["the first 2 events", "cannot be explained", "is not known"],
            &["fits nowhere", "No factor"],
        );
    }
}
