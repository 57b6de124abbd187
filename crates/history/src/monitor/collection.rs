//! Rules for collections whose values are distinct, one event at a time.
//!
//! | rule | alarm when | certain |
//! |---|---|---|
//! | inside | a value comes out that is not inside: never inserted, or taken out before | at that return |
//! | fifo | a removal was called after the removal of another value had returned that was inserted after this one was inside | at that return |
//! | lost | the same for a value that is still inside, once no removal is open that might yet be in time | when the last such removal returns |
//! | lifo | a value is inside, and each that it may have been put on top of has come out | when the removals open at the return of the last of them have returned |
//! | priority | at every moment of a removal some higher value was certainly inside | the same |
//! | empty | at every moment of an empty answer some value was certainly inside | the same |
//!
//! Invariant: an alarm is a violation of linearizability, whatever happens later. The rules are exact: no alarm in a
//! finished run means linearizable, unless something went unchecked or nobody knows what some removal took ([`Collection::untold`]). A value that is inserted while it is inside already is only counted from then until all its copies are gone
//! ([`Collection::repeated`]). Memory: one entry for each value inside and each open operation; what waits for open removals is bounded by
//! [`WAITING_MAX`] and [`DELAYED_MAX`], beyond which answers go unchecked and are counted. O(1) or O(log n) an event.

mod decide;
mod lifo;

use std::collections::{BTreeMap, VecDeque};
use std::hash::Hash;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::alarm::{Alarm, Rule, Shown, Span};
pub use lifo::DELAYED_MAX;
use lifo::Lifo;

/// How many answers, and how many ended stays, are kept for later.
pub const WAITING_MAX: usize = 1 << 14;

/// How many values that were reported as lost are remembered, so that they are not reported again when they turn up.
const REPORTED_MAX: usize = 1 << 10;

/// How many values of higher priority are looked at for the one that came in first. Beyond that an answer goes unchecked.
const RANKED_MAX: usize = 1 << 12;

/// Which value comes out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one that came in first.
    Fifo,
    /// The one that came in last.
    Lifo,
    /// The largest.
    LargestFirst,
    /// The smallest.
    SmallestFirst,
    /// Any.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Its insertion is open.
    Entering,
    /// Certainly inside.
    Settled,
    /// Inserted while it was inside: only counted.
    Repeated,
    /// Reported as lost.
    Reported,
    /// Taken to be what a removal of unknown outcome took.
    Excused,
    /// Not in use.
    Gone,
}

#[derive(Clone, Debug)]
struct Stay<V> {
    value: V,
    insert: Span,
    standing: Standing,
    copies: u32,
}

/// The removal of the value that was inserted latest, over the removals that have returned.
#[derive(Clone, Debug)]
struct Latest<V> {
    value: V,
    insert: Span,
    remove: Span,
}

/// A value that was certainly inside from one moment to another and is gone.
#[derive(Clone, Debug)]
struct Presence<V> {
    from: u64,
    to: u64,
    value: V,
    insert: Span,
    remove: Span,
}

/// An empty answer, or a removal from a priority queue, that is decided when the removals open meanwhile have returned.
#[derive(Clone, Debug)]
struct Answer<V> {
    /// What came out; every value is above an empty answer.
    value: Option<V>,
    /// From where on it could take effect.
    from: u64,
    remove: Span,
}

/// A collection that is watched.
#[derive(Clone, Debug)]
pub struct Collection<V> {
    order: Order,
    stays: Vec<Stay<V>>,
    free: Vec<u32>,
    places: HashMap<V, u32, RandomState>,
    /// The values whose insertion has returned, in that order; some are gone.
    settled: VecDeque<(u64, u32)>,
    settled_now: usize,
    /// The settled values by priority.
    ranked: BTreeMap<V, u32>,
    /// Open removals by their calls, with what was latest then.
    removing: BTreeMap<u64, Option<Latest<V>>>,
    latest: Option<Latest<V>>,
    ended: Vec<Presence<V>>,
    prune_at: usize,
    waiting: VecDeque<Answer<V>>,
    /// The order of a stack.
    lifo: Option<Box<Lifo<V>>>,
    reported: VecDeque<u32>,
    /// Removals whose outcome nobody knows: each may have taken one value.
    ghosts: u64,
    /// Events that nobody saw: each may have been the call of a removal that is open still.
    missed: u64,
    /// Any number of removals may be open whose calls nobody saw.
    unseen: bool,
    excused: u64,
    /// Removals called before this lack presences that were forgotten.
    blind_before: u64,
    lenient: bool,
    inside_max: usize,
    /// Answers and values that were not checked.
    unchecked: u64,
    repeated: u64,
}

impl<V: Clone + Eq + Hash + Ord> Collection<V> {
    /// An empty collection.
    pub fn new(order: Order) -> Self {
        Collection {
            order,
            stays: Vec::new(),
            free: Vec::new(),
            places: HashMap::default(),
            settled: VecDeque::new(),
            settled_now: 0,
            ranked: BTreeMap::new(),
            removing: BTreeMap::new(),
            latest: None,
            ended: Vec::new(),
            prune_at: 64,
            waiting: VecDeque::new(),
            lifo: (order == Order::Lifo).then(|| Box::new(Lifo::new())),
            reported: VecDeque::new(),
            ghosts: 0,
            missed: 0,
            unseen: false,
            excused: 0,
            blind_before: 0,
            lenient: false,
            inside_max: usize::MAX,
            unchecked: 0,
            repeated: 0,
        }
    }

    /// A collection that was in use before: what comes out and was never seen to go in is no alarm, and removals may be open whose calls nobody saw.
    pub fn attach(&mut self) {
        self.lenient = true;
        self.unseen = true;
        self.expect_ghosts();
    }

    /// Records that so many events were missed, each of which may have put something in, or have been the call of a removal that is open still.
    pub fn miss(&mut self, events: u64) {
        self.lenient = true;
        self.missed += events;
        self.expect_ghosts();
    }

    /// Forgets what is inside, because events were missed. Removals that are open may take what comes in from now on, and so may those that nobody knows the outcome of.
    pub fn start_over(&mut self) {
        let mut anew = Collection::new(self.order);
        anew.inside_max = self.inside_max;
        (anew.ghosts, anew.missed, anew.unseen) = (self.ghosts, self.missed, self.unseen);
        anew.lenient = true;
        anew.expect_ghosts();
        std::mem::take(&mut self.removing).into_keys().for_each(|open| anew.call_remove(open));
        *self = anew;
    }

    /// How many removals may take a value without anybody being told.
    fn unknown(&self) -> u64 {
        if self.unseen { u64::MAX } else { self.ghosts + self.missed }
    }

    fn expect_ghosts(&mut self) {
        let unknown = self.unknown();
        if let Some(lifo) = &mut self.lifo {
            lifo.expect_ghosts(unknown);
        }
    }

    /// Remembers at most that many values; a value that comes out and is not remembered is then no alarm.
    pub fn limit(&mut self, inside_max: usize) {
        self.inside_max = inside_max;
    }

    fn is_ranked(&self) -> bool {
        matches!(self.order, Order::LargestFirst | Order::SmallestFirst)
    }

    /// Records that an insertion is called. Moments only ever grow, from 1.
    pub fn call_insert(&mut self, at: u64, thread: u32, value: &V) {
        if let Some(&place) = self.places.get(value) {
            self.repeat(place);
            return;
        }
        if self.places.len() >= self.inside_max {
            self.lenient = true;
            self.unchecked += 1;
            return;
        }
        let insert = Span { thread, call: at, ret: 0 };
        let stay = Stay { value: value.clone(), insert, standing: Standing::Entering, copies: 1 };
        let place = match self.free.pop() {
            Some(place) => {
                self.stays[place as usize] = stay;
                place
            }
            None => {
                self.stays.push(stay);
                u32::try_from(self.stays.len() - 1).expect("fewer values than memory has room for")
            }
        };
        self.places.insert(value.clone(), place);
        if let Some(lifo) = &mut self.lifo {
            lifo.push(at, place);
        }
    }

    /// Records that an insertion that was called at `call` returns.
    pub fn ret_insert(&mut self, at: u64, call: u64, value: &V) {
        // It may have come out before its insertion returned.
        let Some(&place) = self.places.get(value) else { return };
        let stay = &mut self.stays[place as usize];
        if stay.standing == Standing::Entering && stay.insert.call == call {
            stay.standing = Standing::Settled;
            stay.insert.ret = at;
            self.settled_now += 1;
            self.settled.push_back((at, place));
            if self.is_ranked() {
                self.ranked.insert(value.clone(), place);
            }
            if let Some(lifo) = &mut self.lifo {
                lifo.pushed(at, call);
            }
        }
    }

    /// Records that an insertion did not happen.
    pub fn fail_insert(&mut self, call: u64, thread: u32, value: &V, alarms: &mut Vec<Alarm<V>>) {
        let Some(&place) = self.places.get(value) else {
            if !self.lenient {
                let insert = Shown::insert(value.clone(), Span { thread, call, ret: 0 });
                alarms.push(Alarm { rule: Rule::NotInside, operations: vec![insert] });
            }
            return;
        };
        let stay = &mut self.stays[place as usize];
        match stay.standing {
            Standing::Repeated => self.take_copy(place),
            Standing::Entering if stay.insert.call == call => {
                self.drop_stay(place);
                self.unfollow(call);
            }
            _ => {}
        }
    }

    /// A value that is named by the call of its insertion has no part in the order of a stack any more.
    fn unfollow(&mut self, insert: u64) {
        if let Some(lifo) = &mut self.lifo {
            lifo.forget(insert);
        }
    }

    /// Records that a removal is called.
    pub fn call_remove(&mut self, at: u64) {
        let latest = if self.order == Order::Fifo { self.latest.clone() } else { None };
        self.removing.insert(at, latest);
        if let Some(lifo) = &mut self.lifo {
            lifo.pop(at);
        }
    }

    /// Records that a removal that was called at `call` did not happen.
    pub fn fail_remove(&mut self, call: u64, alarms: &mut Vec<Alarm<V>>) {
        self.removing.remove(&call);
        if let Some(lifo) = &mut self.lifo {
            lifo.fail_pop(call);
        }
        self.decide(alarms);
    }

    /// Records that the outcome of a removal that was called at `call` will never be known: it may take out one value at any time from then on.
    pub fn forget_remove(&mut self, call: u64, alarms: &mut Vec<Alarm<V>>) {
        self.ghosts += 1;
        self.expect_ghosts();
        self.fail_remove(call, alarms);
    }

    /// Records that a removal returns with a value, or with none.
    pub fn ret_remove(&mut self, remove: Span, value: Option<&V>, alarms: &mut Vec<Alarm<V>>) {
        let latest = self.removing.remove(&remove.call).flatten();
        self.popped(remove, value);
        match value {
            None => {
                let answer = Answer { value: None, from: remove.call, remove };
                self.answered(answer);
            }
            Some(value) => match self.places.get(value).copied() {
                None if self.lenient => self.unchecked += 1,
                None => {
                    let operations = vec![Shown::remove(value.clone(), remove)];
                    alarms.push(Alarm { rule: Rule::NotInside, operations });
                }
                Some(place) => self.leaves(place, remove, latest, alarms),
            },
        }
        self.decide(alarms);
    }

    fn popped(&mut self, remove: Span, value: Option<&V>) {
        let Some(lifo) = &mut self.lifo else { return };
        let place = value.and_then(|value| self.places.get(value));
        let stay = place.map(|place| &self.stays[*place as usize]).filter(|stay| stay.standing != Standing::Repeated);
        lifo.popped(remove, stay.map(|stay| (&stay.value, stay.insert)));
    }

    fn leaves(&mut self, place: u32, remove: Span, latest: Option<Latest<V>>, alarms: &mut Vec<Alarm<V>>) {
        let Stay { value, insert, standing, .. } = self.stays[place as usize].clone();
        if standing == Standing::Repeated {
            return self.take_copy(place);
        }
        if matches!(standing, Standing::Reported | Standing::Excused) {
            self.reported.retain(|&reported| reported != place);
        }
        // Nobody else took it, then.
        self.excused -= u64::from(standing == Standing::Excused);
        self.unsettle(place);
        self.drop_stay(place);
        match self.order {
            Order::Fifo => {
                let counts = matches!(standing, Standing::Settled | Standing::Excused);
                let by = latest.filter(|by| counts && insert.ret < by.insert.call);
                alarms.extend(by.map(|by| overtaken(value.clone(), insert, Some(remove), by)));
                if self.latest.as_ref().is_none_or(|latest| latest.insert.call < insert.call) {
                    self.latest = Some(Latest { value: value.clone(), insert, remove });
                }
            }
            Order::LargestFirst | Order::SmallestFirst => {
                let from = remove.call.max(insert.call);
                self.answered(Answer { value: Some(value.clone()), from, remove });
            }
            Order::Lifo | Order::Any => {}
        }
        // Nothing needs to know of it unless some removal that is open, or an answer that waits, may have seen it.
        if insert.ret != 0 && insert.ret < remove.call && !(self.removing.is_empty() && self.waiting.is_empty()) {
            self.ended.push(Presence { from: insert.ret, to: remove.call, value, insert, remove });
            self.prune();
        }
    }

    fn answered(&mut self, answer: Answer<V>) {
        let nothing_above = match &answer.value {
            None => self.settled_now == 0,
            Some(value) => self.above(value).next().is_none(),
        };
        // Just before its return nothing was certainly inside that should have come out.
        if nothing_above {
            return;
        }
        if self.waiting.len() >= WAITING_MAX || answer.remove.call < self.blind_before {
            self.unchecked += 1;
            return;
        }
        self.waiting.push_back(answer);
    }

    /// The settled values that come out before `value`.
    fn above(&self, value: &V) -> impl Iterator<Item = &Stay<V>> {
        use std::ops::Bound::{Excluded, Unbounded};
        let bounds = match self.order {
            Order::SmallestFirst => (Unbounded, Excluded(value)),
            _ => (Excluded(value), Unbounded),
        };
        self.ranked.range::<V, _>(bounds).take(RANKED_MAX).map(|(_, &place)| &self.stays[place as usize])
    }

    fn comes_before(&self, value: &V, than: Option<&V>) -> bool {
        than.is_none_or(|than| if self.order == Order::SmallestFirst { value < than } else { value > than })
    }

    /// A value is inserted that is inside: which copy comes out when cannot be told.
    fn repeat(&mut self, place: u32) {
        self.unsettle(place);
        self.unfollow(self.stays[place as usize].insert.call);
        self.reported.retain(|&reported| reported != place);
        let stay = &mut self.stays[place as usize];
        stay.standing = Standing::Repeated;
        stay.copies += 1;
        self.repeated += 1;
    }

    fn take_copy(&mut self, place: u32) {
        self.unchecked += 1;
        let stay = &mut self.stays[place as usize];
        stay.copies -= 1;
        if stay.copies == 0 {
            self.drop_stay(place);
        }
    }

    fn unsettle(&mut self, place: u32) {
        let stay = &mut self.stays[place as usize];
        if stay.standing == Standing::Settled {
            stay.standing = Standing::Entering;
            self.settled_now -= 1;
            if matches!(self.order, Order::LargestFirst | Order::SmallestFirst) {
                self.ranked.remove(&stay.value);
            }
            if self.settled.len() > 2 * self.settled_now + 64 {
                let stays = &self.stays;
                self.settled.retain(|&(ret, place)| is_settled(&stays[place as usize], ret));
            }
        }
    }

    fn drop_stay(&mut self, place: u32) {
        let stay = &mut self.stays[place as usize];
        stay.standing = Standing::Gone;
        self.places.remove(&stay.value);
        self.free.push(place);
    }

    /// Forgets presences that no removal which is open, and no answer that waits, can have met.
    fn prune(&mut self) {
        if self.ended.len() < self.prune_at {
            return;
        }
        let oldest = self.oldest_needed();
        self.ended.retain(|presence| presence.to > oldest);
        if self.ended.len() > WAITING_MAX {
            // A removal stays open for long: what is open now or waits cannot be decided any more.
            self.unchecked += self.waiting.len() as u64;
            self.waiting.clear();
            self.ended.clear();
            self.blind_before = self.removing.keys().next_back().map_or(0, |newest| newest + 1);
        }
        self.prune_at = (2 * self.ended.len()).max(64);
    }

    fn oldest_needed(&self) -> u64 {
        let open = self.removing.keys().next().copied().unwrap_or(u64::MAX);
        self.waiting.iter().map(|answer| answer.from).fold(open, u64::min)
    }

    /// How many values are inside.
    pub fn present(&self) -> usize {
        self.places.len()
    }

    /// How many answers and values could not be checked in full.
    pub fn unchecked(&self) -> u64 {
        self.unchecked + self.lifo.as_ref().map_or(0, |lifo| lifo.unchecked())
    }

    /// How many removals have an outcome that nobody knows.
    pub fn untold(&self) -> u64 {
        self.ghosts
    }

    /// How many insertions were of a value that was inside already.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// How many entries the rule holds in memory.
    pub fn entries(&self) -> usize {
        self.stays.len()
            + self.settled.len()
            + self.removing.len()
            + self.ended.len()
            + self.waiting.len()
            + self.lifo.as_ref().map_or(0, |lifo| lifo.entries())
    }

    /// Whether the collection is as it was at first: nothing inside, nothing open, nothing that waits.
    pub fn is_fresh(&self) -> bool {
        self.places.is_empty()
            && self.removing.is_empty()
            && self.waiting.is_empty()
            && self.lifo.as_ref().is_none_or(|lifo| lifo.is_fresh())
            && self.ghosts == 0
            && self.excused == 0
    }
}

fn is_settled<V>(stay: &Stay<V>, ret: u64) -> bool {
    stay.standing == Standing::Settled && stay.insert.ret == ret
}

fn overtaken<V>(value: V, insert: Span, remove: Option<Span>, by: Latest<V>) -> Alarm<V>
where
    V: Clone,
{
    let mut operations = vec![Shown::insert(value.clone(), insert)];
    operations.push(Shown::insert(by.value.clone(), by.insert));
    operations.push(Shown::remove(by.value, by.remove));
    operations.extend(remove.map(|remove| Shown::remove(value, remove)));
    Alarm { rule: Rule::Overtaken, operations }
}
