//! Locks and semaphores by four numbers: however many threads wait, O(1) an event.
//!
//! Invariant: an alarm is a violation. Refused acquisitions are not looked at.

/// A lock or semaphore that is watched.
#[derive(Clone, Copy, Debug)]
pub struct Permits {
    permits: u64,
    /// Whether more may be released than was acquired.
    generous: bool,
    acquire_called: u64,
    acquired: u64,
    release_called: u64,
    released: u64,
}

impl Permits {
    /// A mutex: one permit, and only what was taken is given back.
    pub fn mutex() -> Self {
        Permits { permits: 1, generous: false, acquire_called: 0, acquired: 0, release_called: 0, released: 0 }
    }

    /// A semaphore with that many permits, to which more may be given back than were taken.
    pub fn semaphore(permits: u64) -> Self {
        Permits { permits, generous: true, ..Self::mutex() }
    }

    /// Records that an acquisition is called.
    pub fn call_acquire(&mut self) {
        self.acquire_called += 1;
    }

    /// Records that a release is called.
    pub fn call_release(&mut self) {
        self.release_called += 1;
    }

    /// Records that an acquisition succeeded. The answer is whether there was a permit.
    pub fn ret_acquire(&mut self) -> bool {
        let right = self.acquired < self.permits.saturating_add(self.release_called);
        // What should not have been there is not missed for ever after.
        self.acquired += u64::from(right);
        right
    }

    /// Records that an acquisition returned without a permit, or did not happen.
    pub fn drop_acquire(&mut self) {
        self.acquire_called = self.acquire_called.saturating_sub(1);
    }

    /// Records that a release did not happen.
    pub fn drop_release(&mut self) {
        self.release_called = self.release_called.saturating_sub(1);
    }

    /// Records that a release returns. The answer is whether there was something to release.
    pub fn ret_release(&mut self) -> bool {
        let right = self.generous || self.released < self.acquire_called;
        self.released += u64::from(right);
        right
    }
}
