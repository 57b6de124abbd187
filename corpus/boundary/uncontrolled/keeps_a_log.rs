//! Files that a run writes are not put back.

use std::fs;
use std::thread;

#[test]
fn keeps_a_log() {
    selvedge::explore(|| {
        let path = std::env::temp_dir().join("selvedge-boundary-log");
        let writer = thread::spawn(move || fs::write(path, "a line"));
        writer.join().unwrap().unwrap();
    });
}
