//! The page of a quasi linearizable history: the linearization with the legal run beside it, and how far each operation stands from its place.

use selvedge_history::certificate::quasi::{QuasiOrders, QuasiPlaced, QuasiViolation};
use selvedge_history::quasi::Relaxation;
use selvedge_history::{OpId, Value, Verdict};

use super::super::operation::Reading;
use super::super::outcome::QuasiDecided;
use super::super::replay;
use super::super::verdict::VerdictName;
use super::history::{Order, Shown};

impl QuasiDecided<'_> {
    /// The page; `text` is the same report for a terminal.
    pub fn html(&self, text: &str) -> String {
        let reading = self.reading();
        let mut later = Vec::new();
        let mut violation: Vec<OpId> = Vec::new();
        let (badge, mut reasons, orders) = match &self.answer.verdict {
            Verdict::Pass(parts) => {
                let orders = parts.iter().map(|part| {
                    let name = match reading.part(&part.part) {
                        name if name.is_empty() => "A linearization, and a legal run beside it".to_owned(),
                        name => format!("A linearization of {name}, and a legal run beside it"),
                    };
                    self.order(name, part, &mut later)
                });
                let orders: Vec<Order> = orders.collect();
                (VerdictName::Pass, vec![self.shown(parts)], orders)
            }
            Verdict::Fail((_, failure)) => {
                violation.extend(self.blamed(failure));
                let orders = match failure {
                    QuasiViolation::QuasiUnplaced { before: Some(orders), operation, .. } => {
                        let name = "What happened before, and a legal run beside it".to_owned();
                        let after = Some(format!("{} does not fit after it.", reading.label(*operation)));
                        vec![Order { after, ..self.order(name, orders, &mut later) }]
                    }
                    QuasiViolation::QuasiUnfinished { orders } => {
                        let name = "It would be right with more operations after it".to_owned();
                        vec![self.order(name, orders, &mut later)]
                    }
                    _ => Vec::new(),
                };
                (VerdictName::Fail, vec![self.why(failure)], orders)
            }
            Verdict::Unknown(_) => {
                let known = "No violation so far, and that says nothing about the rest.".to_owned();
                (VerdictName::Unknown, vec![known], Vec::new())
            }
        };
        reasons.insert(0, self.says());
        reasons.extend(self.least());
        reasons.push(format!("{}.", self.numbers()));
        let (file, counting) = (self.of.file, None);
        Shown { reading, file, badge, reasons, violation, orders, later, counting, text }.render()
    }

    fn order(&self, name: String, orders: &QuasiOrders, later: &mut Vec<String>) -> Order {
        let known = self.of.log.history.len();
        let mut ops = Vec::new();
        for placed in &orders.linearization {
            ops.push(match placed {
                QuasiPlaced::Operation(op) => op.0,
                placed => {
                    later.push(self.label(placed));
                    (known + later.len() - 1) as u32
                }
            });
        }
        let reading = self.reading();
        let (initial, states) = held(reading, self.of.initial, orders).unwrap_or_default();
        Order { name, ops, initial, states, run: orders.run.clone(), moved: self.moved(orders), ..Order::default() }
    }

    /// How many places late each operation stands, among those of its class.
    fn moved(&self, orders: &QuasiOrders) -> Vec<i64> {
        let (log, kind) = (self.of.log, self.answer.kind);
        let resolved = Relaxation::parse(&self.relaxed.classes).and_then(|relaxation| relaxation.resolve(kind));
        let Ok(resolved) = resolved else { return Vec::new() };
        let class = |placed: &QuasiPlaced| {
            let (method, nothing) = match placed {
                QuasiPlaced::Operation(op) => {
                    let operation = log.history.operation(*op);
                    let given = orders.results.iter().find(|(pending, _)| pending == op).map(|(_, result)| result);
                    let result = operation.output().or(given);
                    (log.name(operation.input.method), result.is_none_or(Value::is_nil))
                }
                QuasiPlaced::Later { method, result, .. } => (method.as_str(), result.is_nil()),
            };
            let (class, empty) = resolved.of(method);
            if nothing { empty } else { class }
        };
        let classes: Vec<u16> = orders.linearization.iter().map(class).collect();
        displacement(&classes, &orders.run)
    }
}

/// For each place, by how much it is later among those of its class than in the run.
fn displacement(classes: &[u16], run: &[u32]) -> Vec<i64> {
    let most = classes.iter().max().map_or(0, |most| usize::from(*most) + 1);
    let ranks = |places: &mut dyn Iterator<Item = usize>| {
        let mut seen = vec![0; most];
        let mut ranks = vec![0; classes.len()];
        for place in places.filter(|&place| place < classes.len()) {
            let seen = &mut seen[usize::from(classes[place])];
            ranks[place] = *seen;
            *seen += 1;
        }
        ranks
    };
    let here: Vec<i64> = ranks(&mut (0..classes.len()));
    let legal: Vec<i64> = ranks(&mut run.iter().map(|&place| place as usize));
    here.iter().zip(legal).map(|(here, legal)| here - legal).collect()
}

/// What the object holds before and along the legal run.
fn held(reading: Reading<'_>, initial: Option<&Value>, orders: &QuasiOrders) -> Option<(String, Vec<String>)> {
    let mut player = replay::player(reading.kind, initial)?;
    let mut states = player.initial();
    let initial = replay::holds(reading.kind, player.first(&states)?)?;
    let mut after = Vec::new();
    for &place in &orders.run {
        let (input, output) = match orders.linearization.get(place as usize)? {
            QuasiPlaced::Operation(op) => {
                let given = orders.results.iter().find(|(pending, _)| pending == op).map(|(_, result)| result);
                let output = reading.log.history.operation(*op).output().or(given);
                (replay::read(player.as_mut(), reading, *op)?, output)
            }
            QuasiPlaced::Later { method, argument, result } => (player.read(method, argument)?, Some(result)),
        };
        states = player.after(&states, input, output);
        after.push(replay::holds(reading.kind, player.first(&states)?)?);
    }
    Some((initial, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacement_is_counted_class_by_class() {
        // The first two of class 1 change places; class 0 stays, whatever the others do.
        assert_eq!(displacement(&[0, 1, 0, 1], &[0, 3, 2, 1]), [0, -1, 0, 1]);
        assert_eq!(displacement(&[0, 0, 0], &[1, 2, 0]), [-2, 1, 1]);
        assert_eq!(displacement(&[], &[]), [0; 0]);
    }
}
