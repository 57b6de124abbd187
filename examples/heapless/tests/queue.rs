use heapless::mpmc::Queue;

#[test]
fn queue_is_linearizable() {
    selvedge::object(Queue::<u8, 2>::new)
        .call("enqueue(1)", |queue| queue.enqueue(1))
        .call("enqueue(2)", |queue| queue.enqueue(2))
        .call("dequeue()", |queue| queue.dequeue())
        .check();
}
