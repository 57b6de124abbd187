//! A specification made deterministic on the fly: sets of its states that are closed under internal steps, each computed when
//! it is first needed and numbered.
//!
//! Invariant: a set is what the specification can be in after some sequence of visible steps; two sets with the same number are
//! equal. This is the subset construction that Quasi-PAT section 2.3 takes for granted.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use crate::store::{Map, Set as HashSet, Store, hash_bytes};
use crate::system::{Fault, Label, TransitionSystem};

/// The number of the set without states.
pub(crate) const EMPTY: u32 = u32::MAX;

/// What a set offers, for checks beyond traces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offers {
    /// For each stable state of the set that offers least: what it offers, in order.
    pub(crate) least: Vec<Box<[Label]>>,
    /// Every visible label that some state of the set offers.
    pub(crate) all: Vec<Label>,
    /// Whether some state of the set can go on internally for ever.
    pub(crate) diverges: bool,
}

/// Sets of states of a specification.
pub(crate) struct Normal<'a, B: TransitionSystem> {
    system: &'a B,
    states: Mutex<States>,
    sets: RwLock<Vec<Set>>,
    inner: Mutex<Inner>,
}

struct Set {
    members: Box<[u32]>,
    /// A bit for each member, so that most comparisons end early.
    sign: u64,
}

struct States {
    store: Store,
    /// The steps out of each state, once computed.
    steps: Vec<Option<Box<[(Label, u32)]>>>,
}

#[derive(Default)]
struct Inner {
    numbers: Map<Box<[u32]>, u32>,
    moves: Map<(u32, Label), u32>,
    bytes: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, B: TransitionSystem> Normal<'a, B> {
    pub(crate) fn new(system: &'a B) -> Self {
        Normal {
            system,
            states: Mutex::new(States { store: Store::new(false), steps: Vec::new() }),
            sets: RwLock::new(Vec::new()),
            inner: Mutex::default(),
        }
    }

    /// The set it begins in.
    pub(crate) fn initial(&self) -> Result<u32, Fault> {
        let mut initial = Vec::new();
        self.system.initial(&mut initial)?;
        let mut members = Vec::new();
        {
            let mut states = lock(&self.states);
            for state in &initial {
                members.push(states.number(self.system, state));
            }
        }
        self.close(&mut members)?;
        Ok(self.number(members))
    }

    /// How many sets there are.
    pub(crate) fn count(&self) -> u64 {
        self.sets.read().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        lock(&self.inner).bytes + lock(&self.states).store.bytes()
    }

    /// The set after a visible label, or `EMPTY`.
    pub(crate) fn after(&self, set: u32, label: Label) -> Result<u32, Fault> {
        if let Some(&known) = lock(&self.inner).moves.get(&(set, label)) {
            return Ok(known);
        }
        let mut members = Vec::new();
        for state in self.members(set) {
            let targets = self.steps(state)?;
            members.extend(targets.iter().filter(|step| step.0 == label).map(|step| step.1));
        }
        let after = if members.is_empty() {
            EMPTY
        } else {
            self.close(&mut members)?;
            self.number(members)
        };
        let mut inner = lock(&self.inner);
        inner.bytes += 16;
        inner.moves.insert((set, label), after);
        Ok(after)
    }

    /// Whether every state of `small` is one of `large`.
    pub(crate) fn is_subset(&self, small: u32, large: u32) -> bool {
        if small == large {
            return true;
        }
        let sets = self.sets.read().unwrap_or_else(PoisonError::into_inner);
        let (small, large) = (&sets[small as usize], &sets[large as usize]);
        if small.sign & !large.sign != 0 || small.members.len() > large.members.len() {
            return false;
        }
        let mut rest = large.members.iter();
        small.members.iter().all(|member| rest.by_ref().any(|other| other == member))
    }

    /// What the states of a set offer.
    pub(crate) fn offers(&self, set: u32) -> Result<Offers, Fault> {
        let members = self.members(set);
        let mut offers = Offers::default();
        let mut stable: Vec<Box<[Label]>> = Vec::new();
        for &state in &members {
            let steps = self.steps(state)?;
            let mut labels: Vec<Label> = steps.iter().map(|step| step.0).collect();
            labels.sort_unstable();
            labels.dedup();
            let internal = labels.first() == Some(&Label::TAU);
            offers.all.extend(labels.iter().filter(|&&label| label != Label::TAU));
            if !internal {
                stable.push(labels.into());
            }
        }
        offers.all.sort_unstable();
        offers.all.dedup();
        stable.sort_by_key(|labels| labels.len());
        for labels in stable {
            if !offers.least.iter().any(|least| least.iter().all(|label| labels.contains(label))) {
                offers.least.push(labels);
            }
        }
        offers.diverges = self.has_internal_cycle(&members)?;
        Ok(offers)
    }

    /// Whether internal steps among `members` make a cycle: taking away states without internal steps into the rest, again and
    /// again, leaves something. The set is closed, so no internal step leads out of it.
    fn has_internal_cycle(&self, members: &[u32]) -> Result<bool, Fault> {
        let mut left: Vec<u32> = members.to_vec();
        loop {
            let mut stay = Vec::new();
            for &state in &left {
                let steps = self.steps(state)?;
                if steps.iter().any(|(label, to)| *label == Label::TAU && left.binary_search(to).is_ok()) {
                    stay.push(state);
                }
            }
            if stay.len() == left.len() {
                return Ok(!left.is_empty());
            }
            left = stay;
        }
    }

    fn members(&self, set: u32) -> Vec<u32> {
        self.sets.read().unwrap_or_else(PoisonError::into_inner)[set as usize].members.to_vec()
    }

    fn close(&self, members: &mut Vec<u32>) -> Result<(), Fault> {
        members.sort_unstable();
        members.dedup();
        let mut seen: HashSet<u32> = members.iter().copied().collect();
        let mut at = 0;
        while at < members.len() {
            for (label, to) in self.steps(members[at])? {
                if label == Label::TAU && seen.insert(to) {
                    members.push(to);
                }
            }
            at += 1;
        }
        members.sort_unstable();
        Ok(())
    }

    fn steps(&self, state: u32) -> Result<Box<[(Label, u32)]>, Fault> {
        let mut states = lock(&self.states);
        if let Some(steps) = &states.steps[state as usize] {
            return Ok(steps.clone());
        }
        let unpacked = self.system.unpack(states.store.get(state));
        let mut next = Vec::new();
        self.system.successors(&unpacked, &mut next)?;
        let steps = next.iter().map(|(action, to)| (action.label, states.number(self.system, to)));
        let steps: Box<[(Label, u32)]> = steps.collect();
        states.steps[state as usize] = Some(steps.clone());
        Ok(steps)
    }

    fn number(&self, members: Vec<u32>) -> u32 {
        let members: Box<[u32]> = members.into();
        let mut inner = lock(&self.inner);
        if let Some(&known) = inner.numbers.get(&members) {
            return known;
        }
        let mut sets = self.sets.write().unwrap_or_else(PoisonError::into_inner);
        let number = sets.len() as u32;
        let sign = members.iter().fold(0, |sign, member| sign | 1u64 << (member % 64));
        inner.bytes += 64 + 8 * members.len() as u64;
        sets.push(Set { members: members.clone(), sign });
        inner.numbers.insert(members, number);
        number
    }
}

impl States {
    fn number<B: TransitionSystem>(&mut self, system: &B, state: &B::State) -> u32 {
        let mut bytes = Vec::new();
        system.pack(state, &mut bytes);
        // Numbers run out only after four thousand million states of one specification, past any memory.
        let (number, new) = self.store.insert(hash_bytes(&bytes), &bytes).unwrap_or((0, false));
        if new {
            self.steps.push(None);
        }
        number
    }
}
