//! The thirteen kinds of classes that the Line-Up paper examines (its table 1), written afresh in the way such classes are
//! built: a fast path of atomics, a lock and a condition where somebody may have to wait.
//!
//! Each class that the paper reports a root cause for (A to L) has it here too, behind its [`Flaw`], beside a version that
//! does what one expects.

pub mod bag;
pub mod barrier;
pub mod blocking_collection;
pub mod cancellation;
pub mod completion;
pub mod countdown;
pub mod dictionary;
pub mod event;
pub mod lazy;
pub mod linked_list;
pub mod queue;
pub mod semaphore;
pub mod stack;

/// What is wrong with an object, by the paper's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    None,
    /// The manual-reset event computes its new state from a second read of the old one.
    A,
    /// The queue answers "empty" when the first slot is taken but not yet filled.
    B,
    /// The linked list looks whether it is empty before it takes the lock.
    C,
    /// The blocking collection accepts an element after `CompleteAdding` has returned.
    D,
    /// The bag steals without taking the lock of the list that it steals from.
    E,
    /// The completion source checks and sets in two steps.
    F,
    /// The completion source says "already completed" while the one that completes it is still at it.
    G,
    /// The blocking collection counts by a number that is updated late; its `TryTake` goes by the same (I).
    H,
    /// Cancelling takes effect after the call that cancels has returned.
    K,
}
