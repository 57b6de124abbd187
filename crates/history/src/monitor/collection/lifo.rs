//! The order of a stack, exactly, one event at a time.
//!
//! A value is *certainly inside* from the return of its push to the call of its pop. It is *gone* when its pop has returned; it must be gone, too, when at each moment of its push
//! a value was certainly inside that is gone by now: it was put on top of one of them, whichever, and came out before that one. A value that must be gone and whose pop is not even
//! called is a violation. It may take two values (the one from below and the one on top) or any number.
//!
//! Invariant: nothing else can be wrong with the order. Let e(v) be the event by which v is gone; without an alarm its pop is called before e(v), and e(v) is at the latest
//! its return. By `check::stack` a history is wrong only if there are values none of which can be peeled. Of those take the one with the latest e, and among equal ones the one whose
//! push returned first. Those of the others that were certainly inside during its push have earlier ones, so at some moment of its push none of them was inside, or it would be gone
//! with them; and right before its own e none of them is certainly inside, or that one would be gone still later. Two such moments are all that peeling asks for.
//!
//! Whose pop is called when must be known to say so. Therefore events are kept until every pop that was called before them has returned ([`DELAYED_MAX`] of them; then the oldest
//! open pop counts as one whose outcome nobody knows, and what it takes is not followed: that is counted as unchecked). Of the moments of a push, the first
//! uncovered one is watched: while no pop is under way that was called later, whatever covers it covers all after it. Beyond it only moments right after a call
//! of a pop that is under way can matter. Dropping all operations of a value is always sound: what is left has fewer violations. O(log n) an event, and for what moves a watch.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::Span;

/// How many events are kept while a pop that was called before them is open.
pub const DELAYED_MAX: usize = 1 << 16;

/// How many values are shown from below which one did not come out.
const SHOWN_MAX: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    Pushed(u64),
    /// A pop that has not returned.
    OpenPop,
    Pop(u64),
    Popped(u64),
    /// Nothing that is followed.
    Nothing,
}

/// A value that came out.
#[derive(Clone, Debug)]
pub(super) struct Left<V> {
    pub value: V,
    pub insert: Span,
    pub remove: Span,
}

/// A value that is followed. 0 is no moment.
#[derive(Clone, Debug)]
struct Followed<V> {
    /// Where it is kept while it is inside.
    place: u32,
    /// The first moment of its push that nothing gone covers.
    watch: u64,
    /// The return of its push.
    pushed: u64,
    /// The call of its pop, once events up to there are worked off.
    pop: u64,
    left: Option<Box<Left<V>>>,
    /// What covers the moments of its push before the watched one.
    below: Vec<Left<V>>,
}

/// A value that did not come out in time.
#[derive(Clone, Debug)]
pub(super) struct Stuck<V> {
    /// Where it is kept, and the call of its push; of no use once it has left.
    pub place: u32,
    pub push: u64,
    pub left: Option<Box<Left<V>>>,
}

/// A violation: values that are not out, though all that they may have been put on top of is.
#[derive(Clone, Debug)]
pub(super) struct FromBelow<V> {
    pub below: Vec<Left<V>>,
    pub stuck: Vec<Stuck<V>>,
}

/// A value that is gone and was certainly inside until `pop`.
#[derive(Clone, Debug)]
struct Cover<V> {
    pop: u64,
    /// The value, and why it is gone if its pop has not returned.
    why: Vec<Left<V>>,
}

/// The call of a pop during some push, and what covers the moment after it.
#[derive(Clone, Debug)]
struct Drop<V> {
    at: u64,
    cover: Option<Arc<Cover<V>>>,
}

/// What a value that is gone does to others.
struct Closure<V> {
    gone: Vec<u64>,
    /// Who watched what, and had how many below.
    moved: Vec<(u64, u64, usize)>,
    /// Which drops are covered anew, and what covered them before.
    covered: Vec<(usize, Option<Arc<Cover<V>>>)>,
    stuck: Vec<u64>,
}

/// The order of one stack. Values are named by the calls of their pushes.
#[derive(Clone, Debug)]
pub(super) struct Lifo<V> {
    delayed: VecDeque<(u64, Step)>,
    followed: HashMap<u64, Followed<V>, RandomState>,
    /// The watched moments, with who watches.
    watch: BTreeSet<(u64, u64)>,
    /// How many pushes are open.
    entering: usize,
    /// The calls of pops of values that are not gone, in order.
    leaving: VecDeque<u64>,
    /// The calls of pops during pushes, from the first one in `leaving` on.
    drops: VecDeque<Drop<V>>,
    /// Pops whose outcome nobody will know, and those that have been open for too long.
    ghosts: usize,
    overdue: usize,
    /// Values that such a pop must have taken, or it is a violation.
    excused: HashMap<u64, FromBelow<V>, RandomState>,
    found: Vec<FromBelow<V>>,
    unchecked: u64,
}

impl<V: Clone> Lifo<V> {
    pub fn new() -> Self {
        Lifo {
            delayed: VecDeque::new(),
            followed: HashMap::default(),
            watch: BTreeSet::new(),
            entering: 0,
            leaving: VecDeque::new(),
            drops: VecDeque::new(),
            ghosts: 0,
            overdue: 0,
            excused: HashMap::default(),
            found: Vec::new(),
            unchecked: 0,
        }
    }

    pub fn push(&mut self, at: u64, place: u32) {
        let followed = Followed { place, watch: 0, pushed: 0, pop: 0, left: None, below: Vec::new() };
        self.followed.insert(at, followed);
        self.happens(at, Step::Push);
    }

    pub fn pushed(&mut self, at: u64, push: u64) {
        self.happens(at, Step::Pushed(push));
    }

    pub fn pop(&mut self, at: u64) {
        self.happens(at, Step::OpenPop);
    }

    /// A pop returns with a value that was inside, or with nothing that is known.
    pub fn popped(&mut self, remove: Span, took: Option<(&V, Span)>) {
        let push = took.map(|(_, insert)| insert.call);
        let excused = push.and_then(|push| self.excused.remove(&push));
        let certain = |(_, insert): &(&V, Span)| insert.ret != 0 && insert.ret < remove.call;
        let followed = took.filter(certain).and_then(|took| Some((took, self.followed.get_mut(&took.1.call)?)));
        // Pushed and popped at once, a value disturbs nobody.
        let Ok(open) = self.delayed.binary_search_by_key(&remove.call, |(at, _)| *at) else {
            self.overdue = self.overdue.saturating_sub(1);
            push.into_iter().for_each(|push| self.forget(push));
            return;
        };
        // A pop that was called after it should have been out took it, and no other.
        if let (Some(FromBelow { below, mut stuck }), Some((value, insert))) = (excused, took) {
            let left = Left { value: value.clone(), insert, remove };
            stuck.iter_mut().for_each(|stuck| stuck.left = Some(Box::new(left.clone())));
            self.found.push(FromBelow { below, stuck });
        }
        let Some(((value, insert), followed)) = followed else {
            self.delayed[open].1 = Step::Nothing;
            push.into_iter().for_each(|push| self.forget(push));
            return self.advance();
        };
        followed.left = Some(Box::new(Left { value: value.clone(), insert, remove }));
        self.delayed[open].1 = Step::Pop(insert.call);
        self.happens(remove.ret, Step::Popped(insert.call));
    }

    /// A pop did not happen.
    pub fn fail_pop(&mut self, call: u64) {
        match self.delayed.binary_search_by_key(&call, |(at, _)| *at) {
            Ok(open) => self.delayed[open].1 = Step::Nothing,
            Err(_) => self.overdue = self.overdue.saturating_sub(1),
        }
        self.advance();
    }

    /// Of so many pops nobody will know what they took.
    pub fn expect_ghosts(&mut self, ghosts: u64) {
        self.ghosts = usize::try_from(ghosts).unwrap_or(usize::MAX);
    }

    /// A value is not followed any more.
    pub fn forget(&mut self, push: u64) {
        let Some(followed) = self.followed.remove(&push) else { return };
        if followed.watch == 0 {
            return;
        }
        self.watch.remove(&(followed.watch, push));
        self.entering -= usize::from(followed.pushed == 0);
        if let Ok(place) = self.leaving.binary_search(&followed.pop) {
            self.leaving.remove(place);
        }
    }

    /// The violations found since the last time.
    pub fn found(&mut self) -> std::vec::Drain<'_, FromBelow<V>> {
        self.found.drain(..)
    }

    /// How many values and pops were not followed.
    pub fn unchecked(&self) -> u64 {
        self.unchecked
    }

    pub fn entries(&self) -> usize {
        self.delayed.len() + self.followed.len() + self.leaving.len() + self.drops.len() + self.excused.len()
    }

    /// Whether it is as at first.
    pub fn is_fresh(&self) -> bool {
        self.followed.is_empty() && self.delayed.is_empty() && self.excused.is_empty() && self.overdue == 0
    }

    fn happens(&mut self, at: u64, step: Step) {
        self.delayed.push_back((at, step));
        self.advance();
    }

    /// Works off the events before the call of the first open pop.
    fn advance(&mut self) {
        while let Some(&(at, step)) = self.delayed.front() {
            if matches!(step, Step::OpenPop) && self.delayed.len() <= DELAYED_MAX {
                return;
            }
            self.delayed.pop_front();
            match step {
                Step::Nothing => {}
                Step::OpenPop => {
                    self.overdue += 1;
                    self.unchecked += 1;
                }
                Step::Push => {
                    if let Some(followed) = self.followed.get_mut(&at) {
                        followed.watch = at;
                        self.watch.insert((at, at));
                        self.entering += 1;
                    }
                }
                Step::Pushed(push) => {
                    if let Some(followed) = self.followed.get_mut(&push) {
                        followed.pushed = at;
                        self.entering -= 1;
                    }
                }
                Step::Pop(push) => {
                    if let Some(followed) = self.followed.get_mut(&push) {
                        followed.pop = at;
                        self.leaving.push_back(at);
                        if self.entering > 0 {
                            self.drops.push_back(Drop { at, cover: None });
                        }
                    }
                }
                Step::Popped(push) => self.goes(push),
            }
        }
    }

    /// A value is gone, and what must have been gone before it.
    fn goes(&mut self, push: u64) {
        // It may have been gone before its pop returned.
        let Some(followed) = self.followed.get(&push) else { return };
        let watched = (followed.pushed, 0)..(followed.pop, 0);
        self.watch.remove(&(followed.watch, push));
        if self.drops.is_empty() && self.watch.range(watched).next().is_none() {
            self.forget(push);
            return;
        }
        let closure = self.close(push);
        if closure.stuck.is_empty() {
            closure.gone.into_iter().for_each(|gone| self.forget(gone));
        } else {
            self.judge(push, closure);
        }
        let oldest = self.leaving.front().copied().unwrap_or(u64::MAX);
        while self.drops.front().is_some_and(|drop| drop.at < oldest) {
            self.drops.pop_front();
        }
    }

    /// Covers what values cover that are gone: the one that was pushed at `push`, and those that must be gone with it.
    fn close(&mut self, push: u64) -> Closure<V> {
        let mut closure = Closure { gone: vec![push], moved: Vec::new(), covered: Vec::new(), stuck: Vec::new() };
        let mut next = 0;
        while let Some(gone) = closure.gone.get(next) {
            next += 1;
            let by = &self.followed[gone];
            let (pushed, pop) = (by.pushed, by.pop);
            let covered: Vec<(u64, u64)> = self.watch.range((pushed, 0)..(pop, 0)).copied().collect();
            let dropped =
                self.drops.partition_point(|drop| drop.at < pushed)..self.drops.partition_point(|drop| drop.at < pop);
            if covered.is_empty() && dropped.is_empty() {
                continue;
            }
            let mut why = vec![*by.left.clone().expect("it has left")];
            // The first one has returned; the others lie on top of something.
            why.extend(by.below.iter().filter(|_| next > 1).cloned());
            let cover = Arc::new(Cover { pop, why });
            for (at, drop) in dropped.clone().zip(self.drops.range_mut(dropped)) {
                if drop.cover.as_ref().is_none_or(|known| known.pop < pop) {
                    closure.covered.push((at, drop.cover.replace(Arc::clone(&cover))));
                }
            }
            for (watch, push) in covered {
                self.watch.remove(&(watch, push));
                let above = self.followed.get_mut(&push).expect("who watches is followed");
                closure.moved.push((push, watch, above.below.len()));
                match next_watch(above, &cover, &self.drops) {
                    Some(free) => {
                        above.watch = free;
                        self.watch.insert((free, push));
                    }
                    None if above.pop != 0 => closure.gone.push(push),
                    None => closure.stuck.push(push),
                }
            }
        }
        closure
    }

    /// Values are stuck: pops of unknown outcome took them, or it is a violation. Then the value from below and the one that is shown are not followed any more.
    fn judge(&mut self, push: u64, closure: Closure<V>) {
        let Closure { moved, covered, stuck, .. } = closure;
        let unknown = self.ghosts.saturating_add(self.overdue);
        let is_wrong = stuck.len() > unknown.saturating_sub(self.excused.len());
        let mut excused = Vec::new();
        if is_wrong {
            let shown = if unknown == 0 { 1 } else { SHOWN_MAX };
            let mut found = FromBelow { below: Vec::new(), stuck: Vec::new() };
            for push in stuck.iter().take(shown) {
                let Followed { place, left, below, .. } = &self.followed[push];
                let new = |left: &&Left<V>| found.below.iter().all(|known| known.insert.call != left.insert.call);
                let new: Vec<Left<V>> = below.iter().filter(new).cloned().collect();
                found.below.extend(new);
                found.stuck.push(Stuck { place: *place, push: *push, left: left.clone() });
            }
            self.found.push(found);
        } else {
            excused.extend(stuck.iter().map(|push| {
                let Followed { place, below, .. } = &self.followed[push];
                let stuck = vec![Stuck { place: *place, push: *push, left: None }];
                (*push, FromBelow { below: below.clone(), stuck })
            }));
        }
        for (push, watch, below) in moved.into_iter().rev() {
            let above = self.followed.get_mut(&push).expect("who watched is followed");
            self.watch.remove(&(above.watch, push));
            above.watch = watch;
            above.below.truncate(below);
            self.watch.insert((watch, push));
        }
        for (at, cover) in covered.into_iter().rev() {
            self.drops[at].cover = cover;
        }
        if is_wrong {
            self.forget(push);
            self.forget(stuck[0]);
            return;
        }
        self.unchecked += stuck.len() as u64;
        for (push, why) in excused {
            self.forget(push);
            self.excused.insert(push, why);
        }
        // Once more, without them.
        self.goes(push);
    }
}

/// The first moment of a push that nothing gone covers, after the one that `cover` covers. What covers those before lies below the value.
fn next_watch<V: Clone>(above: &mut Followed<V>, cover: &Arc<Cover<V>>, drops: &VecDeque<Drop<V>>) -> Option<u64> {
    let mut cover = cover;
    loop {
        for left in &cover.why {
            let known = above.below.iter().any(|known| known.insert.call == left.insert.call);
            if !known && above.below.len() < SHOWN_MAX {
                above.below.push(left.clone());
            }
        }
        // Its push was open when the pop was called, or is over.
        let after = cover.pop;
        if above.pushed != 0 && above.pushed < after {
            return None;
        }
        let drop = drops.binary_search_by_key(&after, |drop| drop.at).ok().map(|at| &drops[at]);
        match drop.and_then(|drop| drop.cover.as_ref()) {
            Some(next) => cover = next,
            None => return Some(after),
        }
    }
}
