//! Operations as the windows see them: a call with its result, numbered.
//!
//! Invariant: two operations have the same label exactly when they have the same input, output and class; operations of one
//! label are interchangeable, so nothing else of an operation is ever compared.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::numbered::{Element, Input, Object, Output};

/// A call with its result, numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Label(pub u32);

/// What a label stands for.
pub(super) struct Meaning {
    pub input: Input,
    /// `None`: a pending call whose result is left open until the legal run executes it.
    pub output: Option<Output>,
    pub class: u16,
    /// For a pending call whose result is left open: the event before which it was emitted.
    pub at: u32,
    /// The value that must have been put in, and whether it is taken out.
    pub needs: Option<(Element, bool)>,
}

type Key = (Input, Option<Output>, u16, u32);

/// All labels seen so far.
pub(super) struct Labels {
    meanings: Vec<Meaning>,
    index: HashMap<Key, Label, RandomState>,
}

impl Labels {
    pub fn new() -> Self {
        Labels { meanings: Vec::new(), index: HashMap::default() }
    }

    /// The label of an operation that returned.
    pub fn closed(&mut self, spec: &Object<'_>, input: &Input, output: &Output, class: u16) -> Label {
        let needs = match spec.takes(input, output) {
            Some(value) => Some((value, true)),
            None => spec.sees(input, output).map(|value| (value, false)),
        };
        self.intern((*input, Some(*output), class, 0), needs)
    }

    /// The label of a pending call that was emitted before event `at`, whatever its result will be.
    pub fn open(&mut self, input: &Input, class: u16, at: u32) -> Label {
        self.intern((*input, None, class, at), None)
    }

    fn intern(&mut self, key: Key, needs: Option<(Element, bool)>) -> Label {
        let next = Label(self.meanings.len() as u32);
        let label = *self.index.entry(key).or_insert(next);
        if label == next {
            let (input, output, class, at) = key;
            self.meanings.push(Meaning { input, output, class, at, needs });
        }
        label
    }

    pub fn get(&self, label: Label) -> &Meaning {
        &self.meanings[label.0 as usize]
    }

    /// Whether it puts in a value.
    pub fn brings(&self, spec: &Object<'_>, label: Label) -> bool {
        let meaning = self.get(label);
        spec.brings(&meaning.input, meaning.output.as_ref()).is_some()
    }

    /// Whether executing `y` keeps the promise.
    pub fn keeps(&self, promise: Label, y: Label) -> bool {
        if promise == y {
            return true;
        }
        let (promise, y) = (self.get(promise), self.get(y));
        promise.output.is_none() && promise.class == y.class && promise.input == y.input
    }
}
