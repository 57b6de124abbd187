//! Labels of steps, numbered once for all systems of a model, so that systems can be compared by number.
//!
//! Invariant: one number for one name with one list of values, and the other way round. Numbers of labels with few and
//! small values are found in a table of their own without a lock.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, Ordering};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::system::Label;

/// The name of a family of labels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct NameId(pub u32);

/// Truth values in labels, apart from all numbers that are likely.
pub(crate) const FALSE: i32 = i32::MIN;
pub(crate) const TRUE: i32 = i32::MIN + 1;

/// For how many values each the table has room, by the number of values.
const ROOM: [i32; 4] = [1, 64, 32, 16];
/// Numbers 0 and 1 are the silent step and termination.
const FIRST: u32 = 2;

#[derive(Default)]
pub(crate) struct Labels {
    names: RwLock<Vec<Family>>,
    known: RwLock<Known>,
}

struct Family {
    /// What is printed before the first value.
    name: String,
    /// What is printed between the name and the first value: `.` but for channels.
    joint: &'static str,
    small: [Box<[AtomicU32]>; 4],
}

#[derive(Default)]
struct Known {
    numbers: HashMap<Box<[i32]>, u32, FixedState>,
    keys: Vec<Box<[i32]>>,
}

/// What follows a name before its first value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Joint {
    Dot,
    Send,
    Receive,
}

impl Joint {
    fn text(self) -> &'static str {
        match self {
            Joint::Dot => ".",
            Joint::Send => "!",
            Joint::Receive => "?",
        }
    }
}

impl Labels {
    /// The family of a name; the same for the same name.
    pub fn name(&self, name: &str, joint: Joint) -> NameId {
        let mut names = self.names.write().expect("nobody panics with it");
        let joint = joint.text();
        if let Some(at) = names.iter().position(|family| family.name == name && family.joint == joint) {
            return NameId(at as u32);
        }
        names.push(Family { name: name.to_owned(), joint, small: std::array::from_fn(|_| Box::default()) });
        NameId(names.len() as u32 - 1)
    }
}

impl Labels {
    /// Whether some label has the name.
    pub fn has(&self, name: &str, joint: Joint) -> bool {
        let names = self.names.read().expect("nobody panics with it");
        names.iter().any(|family| family.name == name && family.joint == joint.text())
    }
}

/// The families as they are once a model is compiled: no lock stands before the tables.
pub(crate) struct Frozen {
    families: Vec<Family>,
    known: RwLock<Known>,
}

impl Labels {
    /// Ends the adding of names.
    pub fn freeze(self) -> Frozen {
        let mut families = self.names.into_inner().expect("nobody panics with it");
        for family in &mut families {
            for (values, table) in family.small.iter_mut().enumerate() {
                let size = (ROOM[values] as usize).pow(values as u32);
                *table = (0..size).map(|_| AtomicU32::new(0)).collect();
            }
        }
        Frozen { families, known: self.known }
    }
}

impl Frozen {
    /// The number of a label.
    pub fn label(&self, name: NameId, values: &[i32]) -> Label {
        let Some(slot) = self.slot(name, values) else { return Label(self.number(name, values)) };
        let number = slot.load(Ordering::Relaxed);
        if number != 0 {
            return Label(number);
        }
        let number = self.number(name, values);
        slot.store(number, Ordering::Relaxed);
        Label(number)
    }

    fn slot(&self, name: NameId, values: &[i32]) -> Option<&AtomicU32> {
        let room = *ROOM.get(values.len())?;
        let mut at = 0;
        for &value in values {
            if !(0..room).contains(&value) {
                return None;
            }
            at = at * room + value;
        }
        Some(&self.families[name.0 as usize].small[values.len()][at as usize])
    }

    fn number(&self, name: NameId, values: &[i32]) -> u32 {
        let mut key = Vec::with_capacity(values.len() + 1);
        key.push(name.0 as i32);
        key.extend_from_slice(values);
        if let Some(&number) = self.known.read().expect("nobody panics with it").numbers.get(key.as_slice()) {
            return number;
        }
        let mut known = self.known.write().expect("nobody panics with it");
        if let Some(&number) = known.numbers.get(key.as_slice()) {
            return number;
        }
        let number = FIRST + known.keys.len() as u32;
        let key: Box<[i32]> = key.into();
        known.keys.push(key.clone());
        known.numbers.insert(key, number);
        number
    }

    /// The label as a person reads it.
    pub fn show(&self, label: Label) -> String {
        match label {
            Label::TAU => return "τ".to_owned(),
            Label::TICK => return "✓".to_owned(),
            _ => {}
        }
        let known = self.known.read().expect("nobody panics with it");
        let Some(key) = known.keys.get((label.0 - FIRST) as usize) else { return format!("label {}", label.0) };
        let family = &self.families[key[0] as usize];
        let mut text = family.name.clone();
        for (at, &value) in key[1..].iter().enumerate() {
            text.push_str(if at == 0 { family.joint } else { "." });
            match value {
                FALSE => text.push_str("false"),
                TRUE => text.push_str("true"),
                _ => text.push_str(&value.to_string()),
            }
        }
        if key.len() == 1 && family.joint != "." {
            text.push_str(family.joint);
        }
        text
    }

    /// The name and the values of a label.
    pub fn key(&self, label: Label) -> Option<(NameId, SmallVec<[i32; 4]>)> {
        let known = self.known.read().expect("nobody panics with it");
        let key = known.keys.get(label.0.checked_sub(FIRST)? as usize)?;
        Some((NameId(key[0] as u32), key[1..].iter().copied().collect()))
    }
}
