//! Queues and channels. `cargo selvedge test --manifest-path examples/crates/Cargo.toml`

use std::sync::{Mutex, mpsc};

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};
use heapless::mpmc::Queue;
use selvedge::object;

#[test]
fn crossbeam_seg_queue() {
    object(SegQueue::<u32>::new)
        .call("push(1)", |queue| queue.push(1))
        .call("push(2)", |queue| queue.push(2))
        .call("pop()", |queue| queue.pop())
        .call("is_empty()", |queue| queue.is_empty())
        .auto(2)
        .check();
}

#[test]
fn crossbeam_array_queue() {
    object(|| ArrayQueue::<u32>::new(1))
        .call("push(1)", |queue| queue.push(1))
        .call("push(2)", |queue| queue.push(2))
        .call("force_push(3)", |queue| queue.force_push(3))
        .call("pop()", |queue| queue.pop())
        .auto(2)
        .check();
}

#[test]
fn concurrent_queue_bounded() {
    object(|| ConcurrentQueue::<u32>::bounded(2))
        .call("push(1)", |queue| queue.push(1))
        .call("push(2)", |queue| queue.push(2))
        .call("pop()", |queue| queue.pop())
        .call("close()", |queue| queue.close())
        .auto(2)
        .check();
}

#[test]
fn concurrent_queue_unbounded() {
    object(ConcurrentQueue::<u32>::unbounded)
        .call("push(1)", |queue| queue.push(1))
        .call("push(2)", |queue| queue.push(2))
        .call("pop()", |queue| queue.pop())
        .auto(2)
        .check();
}

/// A receiver is used by one thread at a time: `exclusive` says so, and the lock is only there because `Sync` asks for it.
struct Channel {
    sender: mpsc::Sender<u32>,
    receiver: Mutex<mpsc::Receiver<u32>>,
}

#[test]
fn std_channel() {
    object(|| {
        let (sender, receiver) = mpsc::channel();
        Channel { sender, receiver: Mutex::new(receiver) }
    })
    .call("send(1)", |channel| channel.sender.send(1))
    .call("send(2)", |channel| channel.sender.send(2))
    .call("recv()", |channel| channel.receiver.lock().unwrap().recv())
    .call("try_recv()", |channel| channel.receiver.lock().unwrap().try_recv())
    .exclusive(["recv()", "try_recv()"])
    .auto(2)
    .check();
}

fn heapless() -> selvedge::Object<Queue<u8, 2>> {
    object(Queue::<u8, 2>::new)
        .call("enqueue(1)", |queue| queue.enqueue(1))
        .call("enqueue(2)", |queue| queue.enqueue(2))
        .call("dequeue()", |queue| queue.dequeue())
}

/// Says that it is full, or empty, when it is not: somebody else has claimed a place and has not filled or left it yet.
#[test]
#[should_panic(expected = "not-linearizable")]
fn heapless_queue_is_full_or_empty_when_it_is_not() {
    heapless().auto(2).check();
}

/// What is known can be said, and everything else is still tested.
#[test]
fn heapless_queue_may_refuse() {
    heapless()
        .nondeterministic("enqueue(1) -> 1")
        .nondeterministic("enqueue(2) -> 2")
        .nondeterministic("dequeue() -> None")
        .auto(2)
        .check();
}

/// The length is that of a moment between the call and the return only if nobody works on the other end meanwhile: here it is not
/// compared.
#[test]
fn lengths_are_approximate() {
    object(|| ArrayQueue::<u32>::new(2))
        .call("push(1)", |queue| queue.push(1))
        .call("pop()", |queue| queue.pop())
        .call("len()", |queue| queue.len())
        .ignore_result("len()")
        .auto(2)
        .check();
}

/// A block has room for 31. Between the two steps in which a push moves on to the next block, and a pop after it, both ends are where no
/// element is, and the length is 32 less than it should be: it underflows, and panics where overflow is checked. An
/// enumeration of small matrices on an empty queue does not get there, so this one has had 30 elements.
#[test]
#[should_panic(expected = "attempt to subtract with overflow")]
fn old_crossbeam_seg_queue_length_underflows() {
    object(|| {
        let queue = crossbeam_queue_old::SegQueue::<u32>::new();
        for _ in 0..30 {
            queue.push(0);
            let _ = queue.pop();
        }
        queue
    })
    .call("push(1)", |queue| queue.push(1))
    .call("pop()", |queue| queue.pop().ok())
    .call("len()", |queue| queue.len())
    .threads(3)
    .ops(1)
    .samples(10)
    .check();
}
