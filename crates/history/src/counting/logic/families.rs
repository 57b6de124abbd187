//! The violations of collections and registers as formulas (section 7.1): remove, empty, FIFO, LIFO, and what belongs to them.
//!
//! Each is true of a history only when it is a violation: pending operations and repeated values included. Where figure 4 asks for a
//! partner that the history may lack (a value removed that nobody inserted, a value never removed), the case without is a formula too.
//! The empty violation of figure 4 is covered by one value; here each slot of the operation may be covered by another one, so that
//! example 7.1 shows for every n.

use crate::object::Kind;

/// A formula that is true of violations only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its name in reports.
    pub name: &'static str,
    /// What is wrong when it is true.
    pub what: &'static str,
    /// The formula.
    pub text: &'static str,
}

/// In slot s the value of insertion x is certainly inside: it was inserted before, and taken out after or not at all. What has been
/// inserted again, or may have been, counts only where nothing can have taken it out.
macro_rules! inside {
    () => {
        "insert(x) and not open(x) and
            ((sole(x) and total(x, 0, s-1) = total(x, 0, k)
                and (exists z: remove(z) and same(z, x) and total(z, s+1, k) = total(z, 0, k)))
             or (total(x, 0, s-1) > 0
                and (forall z: ((remove(z) and same(z, x)) or removing(z)) implies total(z, s+1, k) = total(z, 0, k))))"
    };
}

const REMOVE: Family = Family {
    name: "remove",
    what: "a value came out although nobody had begun to put it in",
    text: "exists y: remove(y) and some j in 0..k: total(y, 0, j) > 0
           and (forall x: (insert(x) and same(x, y)) implies total(x, j+1, k) = total(x, 0, k))",
};

const TWICE: Family = Family {
    name: "twice",
    what: "a value came out more often than it was put in",
    text: "(exists x, y: remove(y) and insert(x) and same(x, y) and sole(x) and total(x, 0, k) < total(y, 0, k))
        or (exists x, w, y: remove(y) and insert(x) and same(x, y) and insert(w) and same(w, y) and x != w
            and total(x, 0, k) + total(w, 0, k) < total(y, 0, k))",
};

const EMPTY: Family = Family {
    name: "empty",
    what: "it answered empty although some value was inside all the time",
    text: concat!(
        "exists e: empty(e) and some i in 0..k: some j in i..k: #(e, i, j) > 0
         and every s in i..j: exists x: ",
        inside!()
    ),
};

const FIFO: Family = Family {
    name: "fifo",
    what: "a value came out before one that was put in earlier",
    text: "(exists x1, x2, y1, y2: insert(x1) and insert(x2) and remove(y1) and remove(y2) and same(x1, y1) and same(x2, y2)
            and sole(x1) and sole(x2) and before(x1, x2) and before(y2, y1))
        or (exists x1, x2, y2: insert(x1) and insert(x2) and remove(y2) and same(x2, y2) and sole(x2) and before(x1, x2)
            and (forall z: ((remove(z) and same(z, x1)) or removing(z)) implies before(y2, z)))",
};

const LIFO: Family = Family {
    name: "lifo",
    what: "a value came out from below one that was put in later",
    text: "(exists x1, x2, y1, y2: insert(x1) and insert(x2) and remove(y1) and remove(y2) and same(x1, y1) and same(x2, y2)
            and sole(x1) and sole(x2) and before(x1, x2) and before(x2, y1) and before(y1, y2))
        or (exists x1, x2, y1: insert(x1) and insert(x2) and remove(y1) and same(x1, y1) and sole(x1)
            and before(x1, x2) and before(x2, y1)
            and (forall z: ((remove(z) and same(z, x2)) or removing(z)) implies before(y1, z)))",
};

const PRIORITY: Family = Family {
    name: "priority",
    what: "a value came out although one of higher priority was inside all the time",
    text: concat!(
        "exists y: remove(y) and some i in 0..k: some j in i..k: #(y, i, j) > 0
         and every s in i..j: exists x: higher(x, y) and ",
        inside!()
    ),
};

const READ: Family = Family {
    name: "read",
    what: "a value was read although nobody had begun to write it",
    text: "exists y: observe(y) and not initial(y) and some j in 0..k: total(y, 0, j) > 0
           and (forall x: (insert(x) and same(x, y)) implies total(x, j+1, k) = total(x, 0, k))",
};

const STALE: Family = Family {
    name: "stale",
    what: "a value was read although it had been overwritten",
    text:
        "(exists x1, x2, y: insert(x1) and sole(x1) and observe(y) and same(x1, y) and insert(x2) and not same(x1, x2)
            and some a in 0..k: some b in a..k: #(x2, a, b) > 0 and total(x1, 0, a-1) = total(x1, 0, k)
            and total(y, b+1, k) > 0)
        or (exists x2, y: observe(y) and initial(y) and insert(x2) and (forall x: insert(x) implies not same(x, y))
            and some b in 0..k: total(x2, 0, b) > 0 and total(y, b+1, k) > 0)",
};

/// The formulas of an object; none where it has no formula of this kind.
pub fn families(kind: Kind) -> &'static [Family] {
    match kind {
        Kind::Queue => &[REMOVE, TWICE, EMPTY, FIFO],
        Kind::Stack => &[REMOVE, TWICE, EMPTY, LIFO],
        Kind::PriorityQueue | Kind::PriorityQueueMin => &[REMOVE, TWICE, EMPTY, PRIORITY],
        Kind::Bag => &[REMOVE, TWICE, EMPTY],
        Kind::Register => &[READ, STALE],
        _ => &[],
    }
}
