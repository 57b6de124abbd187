//! cargo selvedge test --manifest-path examples/rust/Cargo.toml --test oneshot

use std::sync::Arc;
use std::thread;

use selvedge_examples::oneshot::Channel;

#[test]
fn what_is_sent_arrives() {
    selvedge::explore(|| {
        let channel = Arc::new(Channel::default());
        let sender = channel.clone();
        let thread = thread::spawn(move || sender.send(7));
        assert_eq!(channel.receive(), 7);
        thread.join().unwrap();
    });
}
