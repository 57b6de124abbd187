//! The serial histories that come closest to one that is not explained, and where they part from it.

use crate::observation::Observation;
use crate::recorded::Recorded;
use crate::results::ResultId;
use crate::witness::allowed;

/// A serial history that goes along with the one under judgement for as long as any does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The operations on the way: column and place.
    pub order: Vec<(u8, u8)>,
    /// The operation that then does something else.
    pub column: u8,
    /// What it does serially; nothing when it blocks.
    pub serial: Option<ResultId>,
    /// What it did; nothing when it had not returned.
    pub found: Option<ResultId>,
}

/// How many are kept.
const KEPT: usize = 3;

/// The closest serial histories, for the operation that blocks in `blocked`, or for the results.
pub fn closest(observation: &Observation, history: &Recorded, blocked: Option<usize>) -> Vec<Parting> {
    let all = history.returned();
    let mut best: Vec<Parting> = Vec::new();
    let mut stack = vec![(observation.root(), vec![0u8; all.len()], Vec::new())];
    while let Some((node, done, order)) = stack.pop() {
        if done == all {
            let Some(column) = blocked else { continue };
            for (serial, _) in observation.next(node, column as u8).filter(|(serial, _)| serial.is_some()) {
                keep(&mut best, Parting { order: order.clone(), column: column as u8, serial, found: None });
            }
            continue;
        }
        for column in (0..all.len()).rev() {
            let Some(wanted) = allowed(history, &done, column) else { continue };
            for (serial, to) in observation.next(node, column as u8) {
                if serial != Some(wanted) {
                    let found = Some(wanted);
                    keep(&mut best, Parting { order: order.clone(), column: column as u8, serial, found });
                    continue;
                }
                let (mut done, mut order) = (done.clone(), order.clone());
                order.push((column as u8, done[column]));
                done[column] += 1;
                stack.push((to, done, order));
            }
        }
    }
    best
}

/// Keeps the longest, each way to part once.
fn keep(best: &mut Vec<Parting>, parting: Parting) {
    let longest = best.first().map_or(0, |other| other.order.len());
    if parting.order.len() < longest {
        return;
    }
    if parting.order.len() > longest {
        best.clear();
    }
    let like = |other: &Parting| (other.column, other.serial) == (parting.column, parting.serial);
    if best.len() < KEPT && !best.iter().any(like) {
        best.push(parting);
    }
}
