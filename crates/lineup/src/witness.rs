//! Whether a history is explained by serial ones.
//!
//! A full history needs one serial history with the same operations and results per thread that keeps the order of operations
//! that do not overlap (Line-Up definition 1). A stuck one needs, for *every* operation e that has not returned, a serial history of
//! exactly the operations that returned, after which e blocks (definition 2). The search walks the tree of serial histories; each
//! node is visited at most once, so it costs no more than the tree is large.

use crate::observation::Observation;
use crate::recorded::{Ending, Recorded};

/// Why a history is not explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// No serial history has these results in an order that is allowed.
    Full,
    /// The operation of this column that has not returned has no reason to wait.
    Stuck {
        /// The column.
        column: usize,
    },
}

/// Looks for the serial histories that explain this one.
pub fn judge(observation: &Observation, history: &Recorded) -> Result<(), Unexplained> {
    match history.ending {
        Ending::Full | Ending::Cut if explains(observation, history, None) => Ok(()),
        Ending::Full | Ending::Cut => Err(Unexplained::Full),
        Ending::Stuck => {
            let stuck = history.pending().find(|&column| !explains(observation, history, Some(column)));
            stuck.map_or(Ok(()), |column| Err(Unexplained::Stuck { column }))
        }
    }
}

/// Whether some order of the operations that returned is a serial history, at whose end `blocked` blocks.
fn explains(observation: &Observation, history: &Recorded, blocked: Option<usize>) -> bool {
    let all = history.returned();
    let mut stack = vec![(observation.root(), vec![0u8; all.len()])];
    while let Some((node, done)) = stack.pop() {
        if done == all {
            let blocks = |column: usize| observation.next(node, column as u8).any(|(result, _)| result.is_none());
            if blocked.is_none_or(blocks) {
                return true;
            }
            continue;
        }
        for column in 0..all.len() {
            let Some(wanted) = allowed(history, &done, column) else { continue };
            for (result, to) in observation.next(node, column as u8) {
                if result == Some(wanted) {
                    let mut done = done.clone();
                    done[column] += 1;
                    stack.push((to, done));
                }
            }
        }
    }
    false
}

/// The result of a column's next operation, if it returned and everything that precedes it is done.
pub(crate) fn allowed(history: &Recorded, done: &[u8], column: usize) -> Option<crate::ResultId> {
    let operation = history.columns[column].get(usize::from(done[column]))?;
    let ready = operation.before.iter().zip(done).all(|(before, done)| before <= done);
    operation.result.filter(|_| ready)
}
