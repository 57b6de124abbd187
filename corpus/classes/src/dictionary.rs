//! A dictionary with a lock for each stripe of its keys. What concerns all of them takes all locks, in order.

use std::sync::{Mutex, MutexGuard};

const STRIPES: usize = 2;

type Stripe = Vec<(u32, u32)>;

/// The dictionary.
#[derive(Default)]
pub struct Dictionary {
    stripes: [Mutex<Stripe>; STRIPES],
}

impl Dictionary {
    fn stripe(&self, key: u32) -> MutexGuard<'_, Stripe> {
        self.stripes[key as usize / 10 % STRIPES].lock().unwrap()
    }

    fn all(&self) -> Vec<MutexGuard<'_, Stripe>> {
        self.stripes.iter().map(|stripe| stripe.lock().unwrap()).collect()
    }

    /// How many keys it has.
    pub fn count(&self) -> usize {
        self.all().iter().map(|stripe| stripe.len()).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.all().iter().all(|stripe| stripe.is_empty())
    }

    /// Takes everything out.
    pub fn clear(&self) {
        for stripe in &mut self.all() {
            stripe.clear();
        }
    }

    /// Adds a key that is not there.
    pub fn try_add(&self, key: u32, value: u32) -> bool {
        let mut stripe = self.stripe(key);
        let absent = stripe.iter().all(|pair| pair.0 != key);
        if absent {
            stripe.push((key, value));
        }
        absent
    }

    /// Takes a key out.
    pub fn try_remove(&self, key: u32) -> Option<u32> {
        let mut stripe = self.stripe(key);
        let at = stripe.iter().position(|pair| pair.0 == key)?;
        Some(stripe.remove(at).1)
    }

    /// The value of a key.
    pub fn try_get(&self, key: u32) -> Option<u32> {
        self.stripe(key).iter().find(|pair| pair.0 == key).map(|pair| pair.1)
    }

    /// The value of a key that should be there.
    pub fn get(&self, key: u32) -> Result<u32, &'static str> {
        self.try_get(key).ok_or("no such key")
    }

    /// Sets a key.
    pub fn set(&self, key: u32, value: u32) {
        let mut stripe = self.stripe(key);
        match stripe.iter_mut().find(|pair| pair.0 == key) {
            Some(pair) => pair.1 = value,
            None => stripe.push((key, value)),
        }
    }

    /// Sets a key that has this value.
    pub fn try_update(&self, key: u32, new: u32, old: u32) -> bool {
        let mut stripe = self.stripe(key);
        let pair = stripe.iter_mut().find(|pair| **pair == (key, old));
        pair.map(|pair| pair.1 = new).is_some()
    }

    /// Whether it has the key.
    pub fn contains_key(&self, key: u32) -> bool {
        self.try_get(key).is_some()
    }
}
