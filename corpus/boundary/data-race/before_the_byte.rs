//! The value is written after the byte that announces it.

use std::cell::UnsafeCell;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

struct Shared(UnsafeCell<u64>);

unsafe impl Sync for Shared {}

#[test]
fn before_the_byte() {
    selvedge::explore(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let theirs = shared.clone();
        let sender = thread::spawn(move || {
            there.write_all(b"x").unwrap();
            unsafe { *theirs.0.get() = 7 };
        });
        let mut byte = [0];
        here.read_exact(&mut byte).unwrap();
        assert!(unsafe { *shared.0.get() } < 8);
        sender.join().unwrap();
    });
}
