//! Descriptors that a run opens are closed when the run is over: what it leaves open would else be missing in later runs, until there are none left.
//!
//! Invariant: no descriptor that was open before the run's first call that opens one is closed here.

use std::sync::Mutex;

use crate::control::{active, set_active};
use crate::sys;

/// The descriptors from before this run's first call that opens one, if it made such a call.
static BEFORE: Mutex<Option<Vec<usize>>> = Mutex::new(None);

/// The run is about to open a descriptor.
pub fn opening() {
    let Ok(mut before) = BEFORE.try_lock() else { return };
    if before.is_none() {
        let was = active();
        set_active(false);
        *before = Some(open());
        set_active(was);
    }
}

/// Closes what the run that has ended left open.
pub fn close_left_open() {
    let Some(before) = BEFORE.try_lock().ok().and_then(|mut before| before.take()) else { return };
    for descriptor in open().into_iter().filter(|descriptor| !before.contains(descriptor)) {
        // SAFETY: the run opened it, and nothing of the run is left.
        unsafe { sys::call(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0]) };
    }
}

/// All open descriptors. The one that the directory is read by is closed by the time that anybody looks.
fn open() -> Vec<usize> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
