//! That an hour is enough is an assumption, and no schedule need keep it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[test]
fn too_late_for_message() {
    selvedge::explore(|| {
        let (send, receive) = mpsc::channel();
        let sender = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1));
            let _ = send.send(7);
        });
        assert_eq!(receive.recv_timeout(Duration::from_secs(3600)), Ok(7));
        sender.join().unwrap();
    });
}
