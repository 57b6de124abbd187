//! Plain accesses that are steps.
//!
//! A plain access is no step: where it races the race is reported, and where it does not its order does not matter. Two cases are left. Where races are
//! allowed, accesses that race have an order that matters, so they become steps and the search starts over; and a loop that waits for plain memory
//! to change would keep every other thread from ever going. Such an access is one atomic access that orders nothing else: what it seems to order still
//! races, and becomes a step in turn.
//!
//! Invariant: an access is known by where it is made, which is the same in every run and every process of a program, and places are only added. So
//! there is a last search, which saw no race that it allows among accesses that are no steps.

use std::sync::atomic::{AtomicU32, Ordering};

use selvedge_protocol::{Place, PlainSteps as Record, wire};

use crate::control::{Control, with};
use crate::worker::{self, Line};
use crate::{finding, journal};

/// So many accesses of a loop are looked at, and at most so many different ones are those of a loop that only waits.
const LOOKS: u32 = 4096;
const DIFFERENT_MAX: usize = 64;

/// What to do with plain accesses besides looking at them.
pub static ATTENTION: AtomicU32 = AtomicU32::new(0);
/// Some are steps.
const STEPS: u32 = 1;
/// The watchdog wants to know what a thread looks at.
const ASKED: u32 = 2;
/// It does not only look, so the watchdog knows enough.
const ANSWERED: u32 = 4;

/// The bits for which a plain access may be more than that.
pub const ATTENDED: u32 = STEPS | ASKED;

/// Whether a plain access may be more than that.
#[inline(always)]
pub fn any_attention() -> bool {
    ATTENTION.load(Ordering::Relaxed) & ATTENDED != 0
}

/// Whether any plain access is a step. Stacks are then looked at in every run.
#[inline(always)]
pub fn any() -> bool {
    ATTENTION.load(Ordering::Relaxed) & STEPS != 0
}

/// The watchdog finds that a thread makes no steps; false when it has been asked before what it does.
pub fn ask() -> bool {
    ATTENTION.fetch_or(ASKED, Ordering::Relaxed) & (ASKED | ANSWERED) == 0
}

/// Nobody wants to know what the next run looks at.
#[inline(always)]
pub fn renew() {
    let attention = ATTENTION.load(Ordering::Relaxed);
    if attention > STEPS {
        ATTENTION.store(attention & STEPS, Ordering::Relaxed);
    }
}

/// The places of a search.
#[derive(Default)]
pub struct PlainSteps {
    /// As addresses, in order.
    sites: Vec<u64>,
    /// As files number them.
    places: Vec<Place>,
    /// What a thread that makes no steps looks at: from where, at which address.
    looks: Vec<(u64, u64)>,
    /// How often it has looked, and how many steps had been made then.
    looked: u32,
    since: u64,
}

impl PlainSteps {
    /// Those that a finding names, or none.
    pub fn of(places: &[Place]) -> Self {
        let mut own = PlainSteps::default();
        own.add(places.iter().filter_map(finding::site));
        own
    }

    /// Adds places; whether any of them is new.
    fn add(&mut self, sites: impl IntoIterator<Item = u64>) -> bool {
        let before = self.sites.len();
        for site in sites {
            if let Err(at) = self.sites.binary_search(&site) {
                self.sites.insert(at, site);
            }
        }
        self.places = self.sites.iter().filter_map(|&site| finding::place(site)).collect();
        ATTENTION.store(u32::from(!self.sites.is_empty()) * STEPS, Ordering::Relaxed);
        self.sites.len() > before
    }

    /// Whether accesses from there are steps.
    #[inline]
    pub fn has(&self, pc: u64) -> bool {
        self.sites.binary_search(&pc).is_ok()
    }

    /// For findings and reports.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// A thread that makes no steps makes this access; what it looks at, once that is known and is all that it does.
    fn looks(&mut self, pc: u64, address: u64, changes: bool) -> Option<Vec<u64>> {
        let now = journal::decisions();
        if self.looked == 0 {
            self.since = now;
            self.looks.clear();
        }
        if self.since != now {
            self.looked = 0;
            ATTENTION.fetch_and(!ASKED, Ordering::Relaxed);
            return None;
        }
        self.looked += 1;
        if !self.looks.contains(&(pc, address)) {
            self.looks.push((pc, address));
        }
        if changes || self.looks.len() > DIFFERENT_MAX {
            self.looked = 0;
            ATTENTION.fetch_xor(ASKED | ANSWERED, Ordering::Relaxed);
            return None;
        }
        if self.looked < LOOKS {
            return None;
        }
        self.looked = 0;
        let mut sites: Vec<u64> = self.looks.iter().map(|&(pc, _)| pc).collect();
        sites.sort_unstable();
        sites.dedup();
        Some(sites)
    }
}

/// The search begins with these.
pub fn begin(places: &[Place]) {
    with(|control| {
        control.search.plain_steps = PlainSteps::of(places);
        control.search.stacks_shared = any();
    });
}

/// What a search saw asks for more steps; whether there are any that it did not have, so that it has to start over.
pub fn grow<'a>(causes: impl IntoIterator<Item = &'a selvedge_protocol::Cause>) -> bool {
    with(|control| {
        let mut grown = false;
        for cause in causes {
            grown |= control.search.plain_steps.add(cause.plain_steps());
        }
        // Others race on stacks, or may.
        control.search.stacks_shared = any();
        if grown {
            worker::say(Line::PlainSteps, &wire::encode(&control.search.plain_steps.places));
        }
        grown
    })
}

/// For a report.
pub fn record(runs_before: u64) -> Record {
    with(|control| Record { places: control.search.plain_steps.places.clone(), runs_before })
}

/// A plain access by the thread that runs; the places of the loop that it only looks from, once they are known.
pub fn asks(control: &mut Control, pc: u64, address: u64, write: bool) -> Option<Vec<u64>> {
    if ATTENTION.load(Ordering::Relaxed) & ASKED == 0 || control.fiber().holds(address) {
        return None;
    }
    control.search.plain_steps.looks(pc, address, write)
}
