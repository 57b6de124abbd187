//! Which configurations a search has followed.
//!
//! Invariant: a configuration is dropped only where one that can do all that it can was followed before.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::{Configuration, Order};

/// Configurations seen, without the time left; with each, the times left that no other beats.
pub(super) struct Seen {
    order: Order,
    /// What open operations did counts too: results of pending ones that took out one of several equal values.
    with_labels: bool,
    known: HashMap<Box<[u32]>, Vec<TimesLeft>, RandomState>,
}

type TimesLeft = Box<[u32]>;

impl Seen {
    pub fn new(order: Order, with_labels: bool) -> Self {
        Seen { order, with_labels, known: HashMap::default() }
    }

    /// Notes the configuration; whether it can do something that those before could not.
    pub fn is_new(&mut self, configuration: &Configuration) -> bool {
        let mut key = vec![configuration.at, configuration.state.0, configuration.made_up];
        let mut left = Vec::new();
        key.push(configuration.put_later.len() as u32);
        key.extend(&configuration.put_later);
        key.push(configuration.lin.len() as u32);
        key.extend(configuration.lin.iter().map(|&(op, _)| op));
        if self.with_labels {
            key.extend(configuration.lin.iter().map(|&(_, label)| label.0));
        }
        for window in &configuration.windows {
            key.extend([window.owed.len() as u32, window.promised.len() as u32, window.late]);
            for &(label, time) in window.owed.iter().chain(&window.promised) {
                key.push(label.0);
                match self.order {
                    Order::Distance => left.push(time),
                    Order::Strict => key.push(time),
                }
            }
        }
        let best = self.known.entry(key.into_boxed_slice()).or_default();
        if best.iter().any(|other| other.iter().zip(&left).all(|(other, left)| other >= left)) {
            return false;
        }
        best.retain(|other| !other.iter().zip(&left).all(|(other, left)| other <= left));
        best.push(left.into_boxed_slice());
        true
    }
}
