//! A wait with a deadline ends with the message or at the deadline, and the clock agrees.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn deadline_of_channel() {
    selvedge::explore(|| {
        let (send, receive) = mpsc::channel();
        let sender = thread::spawn(move || {
            let _ = send.send(7);
        });
        let began = Instant::now();
        match receive.recv_timeout(Duration::from_secs(3600)) {
            Ok(number) => assert_eq!(number, 7),
            Err(RecvTimeoutError::Timeout) => assert!(began.elapsed() >= Duration::from_secs(3600)),
            Err(RecvTimeoutError::Disconnected) => panic!("the message was sent before the sender was dropped"),
        }
        sender.join().unwrap();
    });
}
