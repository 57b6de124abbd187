//! Partial-order reduction on internal steps: an actor whose steps nobody sees and nobody can disturb goes first, alone.
//!
//! Such steps commute with everything others do, so every visible sequence and every deadlock stays. What must not happen is
//! that the others are put off for ever around a cycle. Therefore an actor goes alone only when one of its steps leads to a
//! state with larger bytes: following such steps, one comes to a state where everybody goes.

use crate::system::{Action, Label, TransitionSystem};

/// Finds the actor that may go alone.
#[derive(Default)]
pub(crate) struct Ample {
    actors: Vec<u32>,
    bytes: Vec<u8>,
}

impl Ample {
    /// The actor whose steps suffice in this state.
    pub(crate) fn of<S: TransitionSystem>(
        &mut self,
        system: &S,
        state: &S::State,
        packed: &[u8],
        next: &[(Action, S::State)],
    ) -> Option<u32> {
        self.actors.clear();
        system.alone(state, &mut self.actors);
        for &actor in &self.actors {
            let mut forward = false;
            let mut internal = true;
            for (action, target) in next.iter().filter(|(action, _)| action.actor == actor) {
                internal &= action.label == Label::TAU;
                if !forward {
                    self.bytes.clear();
                    system.pack(target, &mut self.bytes);
                    forward = self.bytes.as_slice() > packed;
                }
            }
            if forward && internal {
                return Some(actor);
            }
        }
        None
    }
}
