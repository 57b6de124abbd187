//! Waits for a condition that end although there is no reason: standards allow it.
//!
//! A wait that ends before anybody has woken the thread never joins its queue here: it gives the lock up and takes it again. All that a thread can do which leaves
//! the queue at some moment before it is woken it can do so, too: until then it takes part in nothing but that others may pick it, and those who pick it wake it.
//!
//! Invariant: in one run each thread comes back without a reason at most once for each place in the code and object, so that loops come to their end. The
//! strategy is asked until then, and what it answers is in the trace whatever it is: a replay needs it.

use selvedge_explore::Pick;

use crate::control::Control;

impl Control {
    /// Whether the wait that the step under way begins, at that place and on that object, ends without a reason.
    pub fn is_spurious(&mut self, pc: u64, object: u64) -> bool {
        let once = (self.run.current, pc, object);
        if !self.search.settings.spurious || self.run.objects.spurious.contains(&once) {
            return false;
        }
        let spurious = self.pick_spurious();
        self.run.trace.pick(Pick::spurious(spurious));
        if spurious {
            self.run.objects.spurious.insert(once);
            self.run.spurious = true;
        }
        spurious
    }
}
