//! Algorithm 1, one event at a time, against the definition of A_k.

use std::collections::HashMap;

use selvedge_history::counting::{Counting, Representation};
use selvedge_history::{Event, History, OpId, ThreadId};

use crate::random::Rng;

/// Algorithm 1 has after every event what the definition of A_k has.
#[test]
fn algorithm_1_counts_what_the_definition_counts() {
    let mut rng = Rng::new(11);
    for _ in 0..super::histories(400) {
        let k = rng.below(5);
        let mut counting: Counting<(u32, bool)> = Counting::new(k);
        let mut events: Vec<Event<u32, ()>> = Vec::new();
        let mut open: HashMap<u32, u32> = HashMap::new();
        for op in 0..30u64 {
            let thread = rng.below(4) as u32;
            match open.remove(&thread) {
                Some(label) => {
                    events.push(Event::Return { thread: ThreadId(thread), output: () });
                    counting.ret(u64::from(thread), (label, false)).unwrap();
                }
                None => {
                    let label = rng.below(3) as u32;
                    open.insert(thread, label);
                    events.push(Event::Call { thread: ThreadId(thread), input: label });
                    counting.call(u64::from(thread), (label, true)).unwrap();
                }
            }
            let end = if open.is_empty() { selvedge_history::End::Complete } else { selvedge_history::End::Truncated };
            let history = History::new(events.iter().cloned(), end).unwrap();
            let label =
                |_: OpId, operation: &selvedge_history::Operation<u32, ()>| (operation.input, operation.ret.is_none());
            assert!(*counting.representation() == Representation::of(&history, k, label), "k={k} after event {op}");
        }
    }
}
