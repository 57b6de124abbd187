//! What is written before a byte is sent through a pair of sockets is there when the byte has come.

use std::cell::UnsafeCell;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

struct Shared(UnsafeCell<u64>);

// Whoever has the byte may touch it.
unsafe impl Sync for Shared {}

#[test]
fn through_a_socket() {
    selvedge::explore(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let theirs = shared.clone();
        let sender = thread::spawn(move || {
            unsafe { *theirs.0.get() = 7 };
            there.write_all(b"x").unwrap();
        });
        let mut byte = [0];
        here.read_exact(&mut byte).unwrap();
        assert_eq!((byte, unsafe { *shared.0.get() }), (*b"x", 7));
        sender.join().unwrap();
    });
}
