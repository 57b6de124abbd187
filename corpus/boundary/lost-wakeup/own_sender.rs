//! A receiver that keeps a sender of its own waits for ever, for a wake-up that nobody is left to send.

use std::sync::mpsc;
use std::thread;

#[test]
fn own_sender() {
    selvedge::explore(|| {
        let (send, receive) = mpsc::channel();
        let theirs = send.clone();
        let sender = thread::spawn(move || theirs.send(7).unwrap());
        assert_eq!(receive.iter().sum::<i32>(), 7);
        drop(send);
        sender.join().unwrap();
    });
}
