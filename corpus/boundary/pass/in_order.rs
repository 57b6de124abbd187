//! What one thread sends through a channel comes in its order, and the end of all senders ends the loop.

use std::sync::mpsc;
use std::thread;

#[test]
fn in_order() {
    selvedge::explore(|| {
        let (send, receive) = mpsc::channel();
        let sender = thread::spawn(move || {
            for number in 0..2 {
                send.send(number).unwrap();
            }
        });
        assert_eq!(receive.iter().collect::<Vec<i32>>(), [0, 1]);
        sender.join().unwrap();
    });
}
