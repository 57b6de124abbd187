//! Wakeup trees: what is left to explore from a point, without two branches that would meet again.
//!
//! Section 6 of Abdulla, Aronis, Jonsson and Sagonas, *Optimal dynamic partial order reduction*, POPL 2014. All trees lie in
//! one slab, so that handing a subtree to the next point is handing over a number, and no chain of events is ever
//! walked by recursion.

use super::event::{Event, Place, weak_initial};

/// No node.
const NONE: u32 = u32::MAX;

/// A node of a wakeup tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch(u32);

#[derive(Debug)]
struct Entry {
    /// `None` at a root and in the free list.
    event: Option<Event>,
    first: u32,
    next: u32,
}

/// All wakeup trees.
#[derive(Debug, Default)]
pub(super) struct Wakeup {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

impl Wakeup {
    /// An empty tree.
    pub(super) fn root(&mut self) -> Branch {
        Branch(self.add(None))
    }

    fn add(&mut self, event: Option<Event>) -> u32 {
        let entry = Entry { event, first: NONE, next: NONE };
        match self.free.pop() {
            Some(at) => {
                self.entries[at as usize] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        }
    }

    /// The branches right below a node, in the order in which they are to be explored.
    pub(super) fn children(&self, branch: Branch) -> impl Iterator<Item = Branch> {
        let mut at = self.entries[branch.0 as usize].first;
        std::iter::from_fn(move || {
            if at == NONE {
                return None;
            }
            let child = Branch(at);
            at = self.entries[at as usize].next;
            Some(child)
        })
    }

    /// The branch to explore first.
    pub(super) fn first(&self, branch: Branch) -> Option<Branch> {
        self.children(branch).next()
    }

    /// The first branch whose event is as wanted.
    pub(super) fn find(&self, branch: Branch, wanted: impl Fn(&Event) -> bool) -> Option<Branch> {
        self.children(branch).find(|&child| self.event(child).is_some_and(&wanted))
    }

    /// The event that leads to a node that is not a root.
    pub(super) fn event(&self, branch: Branch) -> Option<&Event> {
        self.entries[branch.0 as usize].event.as_ref()
    }

    /// Takes a branch away from its parent: it becomes the root of what comes after its event.
    pub(super) fn detach(&mut self, parent: Branch, child: Branch) -> Option<Event> {
        let next = self.entries[child.0 as usize].next;
        if self.entries[parent.0 as usize].first == child.0 {
            self.entries[parent.0 as usize].first = next;
        } else {
            let before = self.children(parent).find(|sibling| self.entries[sibling.0 as usize].next == child.0)?;
            self.entries[before.0 as usize].next = next;
        }
        self.entries[child.0 as usize].next = NONE;
        self.entries[child.0 as usize].event.take()
    }

    /// Gives a tree's memory back.
    pub(super) fn release(&mut self, branch: Branch) {
        let mut rest = vec![branch.0];
        while let Some(at) = rest.pop() {
            rest.extend(self.children(Branch(at)).map(|child| child.0));
            self.entries[at as usize].event = None;
            self.free.push(at);
        }
    }

    /// Adds a sequence to a tree, unless some branch already leads to it.
    pub(super) fn insert(&mut self, root: Branch, mut sequence: Vec<&Event>) {
        let mut node = root;
        while let Some((child, place)) = self.matching(node, &sequence) {
            if let Place::At(at) = place {
                sequence.remove(at);
            }
            if sequence.is_empty() || self.first(child).is_none() {
                return;
            }
            node = child;
        }
        let mut last = self.children(node).last();
        for event in sequence {
            let added = self.add(Some(event.clone()));
            match last.take() {
                Some(Branch(sibling)) => self.entries[sibling as usize].next = added,
                None => self.entries[node.0 as usize].first = added,
            }
            node = Branch(added);
        }
    }

    /// The first branch that some order of the sequence starts with.
    fn matching(&self, node: Branch, sequence: &[&Event]) -> Option<(Branch, Place)> {
        self.children(node).find_map(|child| {
            let event = self.event(child)?;
            let place = weak_initial(event, sequence)?;
            match place {
                Place::At(at) if sequence[at].picks != event.picks => None,
                _ => Some((child, place)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Accesses;
    use super::*;
    use crate::access::{Access, Kind, Thread};

    fn event(thread: u16, object: u64, kind: Kind) -> Event {
        let accesses = Accesses::One(Access::new(object, 1, kind));
        Event { thread: Thread(thread), created: None, picks: Box::new([]), accesses }
    }

    fn leaves(tree: &Wakeup, node: Branch, path: &mut Vec<u16>, out: &mut Vec<Vec<u16>>) {
        if tree.children(node).next().is_none() {
            out.push(path.clone());
        }
        for child in tree.children(node) {
            path.push(tree.event(child).unwrap().thread.0);
            leaves(tree, child, path, out);
            path.pop();
        }
    }

    fn check(sequences: &[&[&Event]], expect: &[&[u16]]) {
        let mut tree = Wakeup::default();
        let root = tree.root();
        for sequence in sequences {
            tree.insert(root, sequence.to_vec());
        }
        let mut out = Vec::new();
        leaves(&tree, root, &mut Vec::new(), &mut out);
        assert_eq!(out, expect);
    }

    #[test]
    fn an_equivalent_sequence_is_not_added_twice() {
        let (p, q) = (event(0, 1, Kind::Write), event(1, 2, Kind::Write));
        check(&[&[&p, &q], &[&q, &p]], &[&[0, 1]]);
    }

    #[test]
    fn a_conflicting_order_is_another_branch() {
        let (p, q) = (event(0, 1, Kind::Write), event(1, 1, Kind::Read));
        check(&[&[&p, &q], &[&q, &p]], &[&[0, 1], &[1, 0]]);
    }

    #[test]
    fn a_leaf_stands_for_everything_after_it() {
        let (p, q) = (event(0, 1, Kind::Write), event(1, 1, Kind::Read));
        check(&[&[&p], &[&p, &q]], &[&[0]]);
        check(&[&[&p, &q], &[&p]], &[&[0, 1]]);
    }

    #[test]
    fn independent_of_all_is_a_weak_initial() {
        let (p, q, r) = (event(0, 1, Kind::Read), event(1, 1, Kind::Read), event(2, 1, Kind::Write));
        check(&[&[&p, &r], &[&q, &r]], &[&[0, 2], &[1, 2]]);
        check(&[&[&p], &[&q]], &[&[0]]);
    }

    #[test]
    fn memory_is_used_again() {
        let mut tree = Wakeup::default();
        let p = event(0, 1, Kind::Write);
        for _ in 0..100 {
            let root = tree.root();
            tree.insert(root, vec![&p, &p, &p]);
            let child = tree.children(root).next().unwrap();
            assert!(tree.detach(root, child).is_some());
            tree.release(child);
            tree.release(root);
        }
        assert_eq!(tree.entries.len(), 4);
    }
}
