//! What cannot be decided in the operation that shows it: losses, and empty answers that were false.
//!
//! - *Lost*: a value is still inside though one that was inserted after it was inside has come out, and every removal that was open then is over. A look is
//!   made every 1,024 removals of a thread, and by `examine`; a loss is certain two looks after it happened, 10 ms apart or more.
//! - *False empty*: a value was inside before the removal was called, and comes out by a removal that is called after it returned. That is certain when the value
//!   comes out, or is lost, and told at the next look. Of the values inside the newest of each thread is remembered: it comes out last.
//!
//! Invariant: both are violations. A removal marks its thread before it takes anything, which others see within [`SETTLES`] at the
//! latest (at once where taking is an atomic exchange, as on x86-64).

use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::queue::Watch;
use super::ring::{INSIDE, LOST, OPEN, SLOTS};

/// How long after a store by one thread every other thread sees it.
pub const SETTLES: Duration = Duration::from_millis(10);

/// How many empty answers may wait.
const WAITING_MAX: usize = 1 << 12;

/// How many values of a thread are looked at for one empty answer.
const LOOKED_AT_MAX: u64 = 64;

#[derive(Debug, Default)]
pub struct Examiner {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By thread: values up to here are out or lost.
    cleared: Vec<u64>,
    looking: Option<Look>,
    waiting: Vec<Empty>,
}

#[derive(Debug)]
struct Look {
    latest: u64,
    at: Instant,
    /// The threads that were in a removal when the marks had settled.
    open: Option<Vec<(usize, u64)>>,
}

#[derive(Clone, Copy, Debug)]
struct Empty {
    called: u64,
    returned: u64,
    thread: usize,
    number: u64,
}

impl Examiner {
    /// Looks unless somebody else does.
    #[cold]
    pub fn try_examine(&self, watch: &Watch) {
        match self.state.try_lock() {
            Ok(mut state) => state.examine(watch),
            Err(TryLockError::Poisoned(state)) => state.into_inner().examine(watch),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Looks.
    pub fn examine(&self, watch: &Watch) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).examine(watch);
    }

    /// A removal found nothing. Takes a lock only if something was inside.
    #[inline]
    pub fn found_empty(&self, watch: &Watch, called: u64, returned: u64) {
        for thread in 0..watch.used() {
            let Some(ring) = watch.rings[thread].get() else { continue };
            let put = ring.put.load(Ordering::Acquire);
            for number in (put.saturating_sub(LOOKED_AT_MAX) + 1..=put).rev() {
                let slot = ring.slot(number);
                if slot.number.load(Ordering::Relaxed) != number {
                    break;
                }
                let inside_at = slot.returned.load(Ordering::Acquire);
                if inside_at == OPEN || inside_at >= called {
                    continue;
                }
                if slot.removed.load(Ordering::Acquire) == INSIDE {
                    self.wait(watch, Empty { called, returned, thread, number });
                }
                // Older ones came out earlier, or were reported.
                break;
            }
        }
    }

    #[cold]
    fn wait(&self, watch: &Watch, empty: Empty) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.len() >= WAITING_MAX {
            state.settle(watch);
        }
        if state.waiting.len() < WAITING_MAX {
            state.waiting.push(empty);
        } else {
            watch.findings.unchecked(1);
        }
    }
}

impl State {
    fn examine(&mut self, watch: &Watch) {
        self.settle(watch);
        let Some(look) = &mut self.looking else {
            self.looking = Some(Look { latest: watch.clock.latest(), at: Instant::now(), open: None });
            return;
        };
        if look.at.elapsed() < SETTLES {
            return;
        }
        let removing =
            |thread: usize| watch.rings[thread].get().map_or(0, |ring| ring.removing.load(Ordering::Acquire));
        let open = look.open.get_or_insert_with(|| {
            (0..watch.used()).map(|thread| (thread, removing(thread))).filter(|(_, count)| count % 2 == 1).collect()
        });
        open.retain(|&(thread, count)| removing(thread) == count);
        if open.is_empty() {
            let latest = look.latest;
            self.looking = None;
            if !watch.blind() {
                self.find_lost(watch, latest);
            }
        }
    }

    fn find_lost(&mut self, watch: &Watch, latest: u64) {
        self.cleared.resize(watch.used().max(self.cleared.len()), 0);
        for (thread, cleared) in self.cleared.iter_mut().enumerate() {
            let Some(ring) = watch.rings.get(thread).and_then(OnceLock::get) else { continue };
            let put = ring.put.load(Ordering::Acquire);
            *cleared = (*cleared).max(put.saturating_sub(SLOTS as u64));
            while *cleared < put {
                let number = *cleared + 1;
                let slot = ring.slot(number);
                let returned = slot.returned.load(Ordering::Acquire);
                let inside = slot.removed.load(Ordering::Acquire) == INSIDE;
                if inside && slot.number.load(Ordering::Relaxed) == number {
                    if returned >= latest {
                        break;
                    }
                    let lost = slot.removed.compare_exchange(INSIDE, LOST, Ordering::AcqRel, Ordering::Acquire);
                    if lost.is_ok() && slot.number.load(Ordering::Relaxed) != number {
                        // It came out just now, and the slot is that of another value.
                        let _ = slot.removed.compare_exchange(LOST, INSIDE, Ordering::AcqRel, Ordering::Acquire);
                    } else if lost.is_ok() {
                        let text = format!(
                            "value {number} of thread {thread} was inside at {returned} and has not come out, though a value has whose insertion was called \
                             at {latest}: it is lost, or comes out of order"
                        );
                        watch.findings.found("overtaken", text);
                    }
                }
                *cleared = number;
            }
        }
    }

    /// Decides the empty answers whose values are out. Several values may speak against one answer: it is told once.
    fn settle(&mut self, watch: &Watch) {
        let mut told: Vec<(u64, u64)> = Vec::new();
        self.waiting.retain(|empty| {
            if told.contains(&(empty.called, empty.returned)) {
                return false;
            }
            let Some(ring) = watch.rings[empty.thread].get() else { return false };
            let slot = ring.slot(empty.number);
            let removed = slot.removed.load(Ordering::Acquire);
            if slot.number.load(Ordering::Acquire) != empty.number {
                // The slot was used again before anybody looked.
                watch.findings.unchecked(1);
                return false;
            }
            if removed != INSIDE && removed != LOST && removed > empty.returned {
                let text = format!(
                    "a removal called at {} answered at {} that the queue is empty, but value {} of thread {} was inside before and came out by a \
                     removal called at {removed}",
                    empty.called, empty.returned, empty.number, empty.thread
                );
                watch.findings.found("not-empty", text);
                told.push((empty.called, empty.returned));
            }
            removed == INSIDE
        });
        self.waiting.retain(|empty| !told.contains(&(empty.called, empty.returned)));
    }
}
