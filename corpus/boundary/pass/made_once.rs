//! One lazy value is made before the search, another by whoever comes first in it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::thread;

static EARLY: LazyLock<HashMap<u32, String>> = LazyLock::new(|| (0..20).map(|n| (n, n.to_string())).collect());
static LATE: OnceLock<String> = OnceLock::new();
static MADE: AtomicU32 = AtomicU32::new(0);

#[test]
fn made_once() {
    assert_eq!(EARLY.len(), 20);
    selvedge::explore(|| {
        let look = || {
            let late = LATE.get_or_init(|| {
                MADE.fetch_add(1, Ordering::Relaxed);
                EARLY[&7].repeat(3)
            });
            assert_eq!(late, "777");
        };
        let other = thread::spawn(look);
        look();
        other.join().unwrap();
        assert_eq!(MADE.load(Ordering::Relaxed), 1);
    });
}
