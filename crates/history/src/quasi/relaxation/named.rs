//! Classes and factors among methods that no built-in object has: those of code under test.
//!
//! Invariant as of [`Resolved`](super::Resolved): class 0 has factor 0 and holds every method that is not named, and each method is in
//! exactly one class.

use super::{Member, Relaxation, RelaxationError};
use crate::object::canonical;

/// Classes and factors of some methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// By class; class 0 holds what was not named.
    pub factors: Vec<u32>,
    /// By class, as written.
    pub names: Vec<String>,
    /// By method: its class, and the class of those of its operations that found nothing.
    pub classes: Vec<(u16, u16)>,
}

impl Relaxation {
    /// Finds the classes of these methods. One that stands there several times is one method.
    pub fn resolve_among(&self, methods: &[&str]) -> Result<Named, RelaxationError> {
        self.place(methods.len(), |i| methods[i], |member| member.find_among(methods))
    }

    /// Puts each of so many methods into a class: `name` says what a method is called, `find` which ones are meant.
    pub(super) fn place<'m>(
        &self,
        methods: usize,
        name: impl Fn(usize) -> &'m str,
        find: impl Fn(&Member) -> Result<Vec<usize>, RelaxationError>,
    ) -> Result<Named, RelaxationError> {
        let (mut of, mut empty) = (vec![None; methods], vec![None; methods]);
        let mut factors = vec![0];
        let mut names = vec!["the rest".to_owned()];
        for class in &self.classes {
            let number = factors.len() as u16;
            factors.push(class.factor.ok_or_else(|| RelaxationError::NoFactor(class.name()))?);
            names.push(class.name());
            for member in &class.members {
                let slots = if member.empty { &mut empty } else { &mut of };
                for i in find(member)? {
                    if slots[i].replace(number).is_some() {
                        return Err(RelaxationError::Overlap(name(i).to_owned()));
                    }
                }
            }
        }
        let class = |i: usize| (of[i].unwrap_or(0), empty[i].or(of[i]).unwrap_or(0));
        Ok(Named { factors, names, classes: (0..methods).map(class).collect() })
    }
}

impl Member {
    fn find_among(&self, methods: &[&str]) -> Result<Vec<usize>, RelaxationError> {
        let name = canonical(&self.method);
        let is = |method: &&str| self.method == "*" || canonical(method) == name;
        let found: Vec<usize> = methods.iter().enumerate().filter(|(_, method)| is(method)).map(|(i, _)| i).collect();
        if found.is_empty() {
            let mut known: Vec<String> = Vec::new();
            for method in methods.iter().filter(|method| !method.is_empty()) {
                if !known.iter().any(|other| other == method) {
                    known.push((*method).to_owned());
                }
            }
            return Err(RelaxationError::Unknown(self.method.chars().take(40).collect(), known));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHODS: [&str; 4] = ["enq", "enq", "deq", "lookAt"];

    #[test]
    fn methods_are_found_by_their_own_names() {
        let check = |text: &str, factors: &[u32], classes: [(u16, u16); 4]| {
            let named = Relaxation::parse(text).unwrap().resolve_among(&METHODS).unwrap();
            assert_eq!((&named.factors[..], &named.classes[..]), (factors, &classes[..]), "{text}");
        };
        check("deq=2", &[0, 2], [(0, 0), (0, 0), (1, 1), (0, 0)]);
        check("deq=2,deq:empty=0", &[0, 2, 0], [(0, 0), (0, 0), (1, 2), (0, 0)]);
        check("enq+deq=1,look_at=3", &[0, 1, 3], [(1, 1), (1, 1), (1, 1), (2, 2)]);
        check("*=2", &[0, 2], [(1, 1); 4]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |text: &str, expected: &str| {
            let error = Relaxation::parse(text).unwrap().resolve_among(&METHODS).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("pop=2", "the object has no method \"pop\"; it has enq, deq, lookAt");
        check("*=1,deq=2", "classes overlap: deq is in more than one");
        check("deq=1,Deq=2", "classes overlap");
        check("deq", "needs a factor");
    }
}
