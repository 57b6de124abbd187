//! One test for each row of the paper's table 2: random matrices of three threads with three calls each, and what must come
//! of them. `SELVEDGE_SAMPLES` says how many (the paper: 100); with `SELVEDGE_TABLE`, a directory, each row leaves its
//! report there.

use corpus_classes::Flaw;
use corpus_classes::bag::Bag;
use corpus_classes::barrier::Barrier;
use corpus_classes::blocking_collection::{BlockingCollection, Early, Exact, Late};
use corpus_classes::cancellation::Cancellation;
use corpus_classes::completion::{Completion, Outcome};
use corpus_classes::countdown::Countdown;
use corpus_classes::dictionary::Dictionary;
use corpus_classes::event::ManualResetEvent;
use corpus_classes::lazy::Lazy;
use corpus_classes::linked_list::LinkedList;
use corpus_classes::queue::Queue;
use corpus_classes::semaphore::Semaphore;
use corpus_classes::stack::Stack;
use selvedge::{Object, object};

/// Tests random matrices, and leaves the report for the table.
fn examine<T: 'static>(row: &str, object: Object<T>, preemptions: u32) -> String {
    let samples = std::env::var("SELVEDGE_SAMPLES").map_or(3, |text| text.parse().expect("a number of samples"));
    let object = object.threads(3).ops(3).samples(samples).seed(1).preemptions(preemptions).keep_going();
    let report = object.report();
    assert!(report.contains("\"error\":null"), "{row}: {report}");
    if let Some(directory) = std::env::var_os("SELVEDGE_TABLE") {
        std::fs::write(std::path::Path::new(&directory).join(format!("{row}.json")), &report).expect("a directory");
    }
    report
}

/// Nothing is found in any matrix.
fn passes<T: 'static>(row: &str, object: Object<T>, preemptions: u32) {
    let report = examine(row, object, preemptions);
    assert!(report.contains("\"matrices_failed\":0,"), "{row}: {report}");
}

/// The row, and for each root cause a matrix that shows it, with the kind of what is found.
fn fails<T: 'static>(row: &str, preemptions: u32, object: impl Fn() -> Object<T>, causes: &[(&str, &str, &str)]) {
    examine(row, object(), preemptions);
    for (cause, matrix, kind) in causes {
        // Some need more preemptions with two threads than with three, where a thread that ends gives way.
        let report = object().matrix(matrix).preemptions(preemptions + 2).report();
        assert!(report.contains(&format!("\"kind\":\"{kind}\"")), "{row}, {cause}, {matrix}: {report}");
        if let Some(directory) = std::env::var_os("SELVEDGE_TABLE") {
            std::fs::write(std::path::Path::new(&directory).join(format!("{row}.{cause}.json")), &report)
                .expect("a directory");
        }
    }
}

fn event(flaw: Flaw) -> Object<ManualResetEvent> {
    object(move || ManualResetEvent::new(flaw))
        .call("Set()", |event| event.set())
        .call("Wait()", |event| event.wait())
        .call("Reset()", |event| event.reset())
        .call("IsSet()", |event| event.is_set())
        .call("WaitOne(0)", |event| event.wait_one())
}

fn queue(flaw: Flaw) -> Object<Queue> {
    object(move || Queue::new(flaw))
        .call("Count()", |queue| queue.count())
        .call("IsEmpty()", |queue| queue.is_empty())
        .call("Enqueue(10)", |queue| queue.enqueue(10))
        .call("Enqueue(20)", |queue| queue.enqueue(20))
        .call("ToArray()", |queue| queue.to_array())
        .call("TryDequeue()", |queue| queue.try_dequeue())
        .call("TryPeek()", |queue| queue.try_peek())
}

fn linked_list(flaw: Flaw) -> Object<LinkedList> {
    object(move || LinkedList::new(flaw))
        .call("Count()", |list| list.count())
        .call("AddFirst(10)", |list| list.add_first(10))
        .call("AddLast(20)", |list| list.add_last(20))
        .call("RemoveFirst()", |list| list.remove_first())
        .call("RemoveLast()", |list| list.remove_last())
        .call("RemoveList()", |list| list.remove_list())
}

fn blocking_collection<T: BlockingCollection + Sync + 'static>() -> Object<T> {
    object(T::new)
        .call("Count()", |collection: &T| collection.count())
        .call("ToArray()", |collection| collection.to_array())
        .call("Add(10)", |collection| collection.add(10))
        .call("Add(20)", |collection| collection.add(20))
        .call("IsCompleted()", |collection| collection.is_completed())
        .call("IsAddingCompleted()", |collection| collection.is_adding_completed())
        .call("CompleteAdding()", |collection| collection.complete_adding())
        .call("Take()", |collection| collection.take())
        .call("TryTake()", |collection| collection.try_take())
        .call("TryTake(1)", |collection| collection.try_take_timed())
        .call("Cancel()", |collection| collection.cancel())
}

fn bag(flaw: Flaw) -> Object<Bag> {
    object(move || Bag::new(flaw))
        .call("Count()", |bag| bag.count())
        .call("Add(10)", |bag| bag.add(10))
        .call("Add(20)", |bag| bag.add(20))
        .call("TryTake()", |bag| bag.try_take())
        .call("IsEmpty()", |bag| bag.is_empty())
        .call("TryPeek()", |bag| bag.try_peek())
        .call("ToArray()", |bag| bag.to_array())
}

fn completion(flaw: Flaw) -> Object<Completion> {
    object(move || Completion::new(flaw))
        .call("Exception()", |source| source.get(Outcome::Failed))
        .call("TrySetCanceled()", |source| source.try_set(Outcome::Cancelled, 0))
        .call("TrySetException(1)", |source| source.try_set(Outcome::Failed, 1))
        .call("TrySetResult(2)", |source| source.try_set(Outcome::Result, 2))
        .call("SetCanceled()", |source| source.set(Outcome::Cancelled, 0))
        .call("SetException(3)", |source| source.set(Outcome::Failed, 3))
        .call("SetResult(4)", |source| source.set(Outcome::Result, 4))
        .call("Wait()", |source| source.wait())
        .call("TryResult()", |source| source.get(Outcome::Result))
}

#[test]
fn lazy_initialization() {
    let lazy = object(Lazy::default)
        .call("Value()", |lazy| lazy.value())
        .call("ToString()", |lazy| lazy.to_text())
        .call("IsValueCreated()", |lazy| lazy.is_value_created());
    passes("Lazy Initialization", lazy, 2);
}

#[test]
fn manual_reset_event_pre() {
    fails("ManualResetEvent(Pre)", 2, || event(Flaw::A), &[("A", "Wait() | Set(), Reset(), Set()", "stuck")]);
}

#[test]
fn manual_reset_event() {
    passes("ManualResetEvent", event(Flaw::None), 2);
}

#[test]
fn semaphore_slim() {
    let semaphore = object(|| Semaphore::new(1))
        .call("CurrentCount()", |semaphore| semaphore.current_count())
        .call("Release()", |semaphore| semaphore.release(1))
        .call("Release(2)", |semaphore| semaphore.release(2))
        .call("Wait()", |semaphore| semaphore.wait())
        .call("Wait(0)", |semaphore| semaphore.try_wait());
    passes("SemaphoreSlim", semaphore, 1);
}

#[test]
fn countdown_event() {
    let countdown = object(|| Countdown::new(2))
        .call("IsSet()", |countdown| countdown.is_set())
        .call("Wait()", |countdown| countdown.wait())
        .call("Wait(0)", |countdown| countdown.is_set())
        .call("CurrentCount()", |countdown| countdown.current_count())
        .call("Signal()", |countdown| countdown.signal(1))
        .call("Signal(2)", |countdown| countdown.signal(2))
        .call("AddCount()", |countdown| countdown.add_count(1))
        .call("AddCount(2)", |countdown| countdown.add_count(2))
        .call("TryAddCount()", |countdown| countdown.try_add_count(1))
        .call("TryAddCount(2)", |countdown| countdown.try_add_count(2));
    passes("CountdownEvent", countdown, 2);
}

#[test]
fn concurrent_dictionary() {
    let mut dictionary = object(Dictionary::default)
        .call("Count()", |dictionary| dictionary.count())
        .call("IsEmpty()", |dictionary| dictionary.is_empty())
        .call("Clear()", |dictionary| dictionary.clear());
    for key in [10, 20] {
        dictionary = dictionary
            .call(&format!("TryAdd({key})"), move |dictionary| dictionary.try_add(key, 1))
            .call(&format!("TryRemove({key})"), move |dictionary| dictionary.try_remove(key))
            .call(&format!("TryGet({key})"), move |dictionary| dictionary.try_get(key))
            .call(&format!("get[{key}]"), move |dictionary| dictionary.get(key))
            .call(&format!("set[{key}]"), move |dictionary| dictionary.set(key, 2))
            .call(&format!("TryUpdate({key})"), move |dictionary| dictionary.try_update(key, 3, 2))
            .call(&format!("ContainsKey({key})"), move |dictionary| dictionary.contains_key(key));
    }
    passes("ConcurrentDictionary", dictionary, 1);
}

#[test]
fn concurrent_queue_pre() {
    let causes = [("B", "Enqueue(10) | Enqueue(20), TryDequeue()", "not-linearizable")];
    fails("ConcurrentQueue(Pre)", 2, || queue(Flaw::B), &causes);
}

#[test]
fn concurrent_queue() {
    passes("ConcurrentQueue", queue(Flaw::None), 2);
}

#[test]
fn concurrent_linked_list_pre() {
    let causes = [("C", "AddFirst(10), RemoveFirst() | RemoveFirst()", "panic")];
    fails("ConcurrentLinkedList(Pre)", 1, || linked_list(Flaw::C), &causes);
}

#[test]
fn concurrent_linked_list_repaired() {
    passes("ConcurrentLinkedList", linked_list(Flaw::None), 1);
}

#[test]
fn concurrent_stack() {
    const TEN: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    let stack = object(Stack::default)
        .call("Clear()", |stack| stack.clear())
        .call("Count()", |stack| stack.count())
        .call("Push(10)", |stack| stack.push(10))
        .call("Push(20)", |stack| stack.push(20))
        .call("PushRangeTen()", |stack| stack.push_range(&TEN))
        .call("TryPop()", |stack| stack.try_pop())
        .call("TryPopRangeOne()", |stack| stack.try_pop_range(1))
        .call("TryPopRangeTwo()", |stack| stack.try_pop_range(2))
        .call("TryPopRangeFour()", |stack| stack.try_pop_range(4))
        .call("TryPeek()", |stack| stack.try_peek())
        .call("ToArray()", |stack| stack.to_array());
    passes("ConcurrentStack", stack, 2);
}

#[test]
fn blocking_collection_pre() {
    let causes = [
        ("D", "Add(10) | CompleteAdding(), IsCompleted()", "not-linearizable"),
        ("K", "Cancel(), Add(10) | Take()", "not-linearizable"),
    ];
    fails("BlockingCollection(Pre)", 2, blocking_collection::<Early>, &causes);
}

#[test]
fn blocking_collection_late() {
    let causes = [
        ("H", "Add(10) | ToArray(), Count()", "not-linearizable"),
        ("I", "Add(10) | ToArray(), TryTake()", "not-linearizable"),
        ("K", "Cancel(), Add(10) | Take()", "not-linearizable"),
    ];
    fails("BlockingCollection", 2, blocking_collection::<Late>, &causes);
}

#[test]
fn blocking_collection_repaired() {
    passes("BlockingCollection(one lock)", blocking_collection::<Exact>(), 2);
}

#[test]
fn concurrent_bag_pre() {
    let causes = [
        ("E", "Add(10), TryTake() | TryTake()", "not-linearizable"),
        ("J", "Add(10), ToArray() | Add(20), ToArray()", "not-linearizable"),
    ];
    fails("ConcurrentBag(Pre)", 1, || bag(Flaw::E), &causes);
}

#[test]
fn concurrent_bag() {
    let causes = [("J", "Add(10), ToArray() | Add(20), ToArray()", "not-linearizable")];
    fails("ConcurrentBag", 2, || bag(Flaw::None), &causes);
}

#[test]
fn task_completion_source_pre() {
    let causes = [("F", "TrySetResult(2) | TrySetCanceled()", "not-linearizable")];
    fails("TaskCompletionSource(Pre)", 2, || completion(Flaw::F), &causes);
}

#[test]
fn task_completion_source() {
    let causes = [("G", "TrySetResult(2) | TrySetCanceled(), TryResult()", "not-linearizable")];
    fails("TaskCompletionSource", 2, || completion(Flaw::G), &causes);
}

#[test]
fn task_completion_source_repaired() {
    passes("TaskCompletionSource(repaired)", completion(Flaw::None), 2);
}

#[test]
fn cancellation_token_source() {
    let source = object(Cancellation::default)
        .call("Increment()", |source| source.increment())
        .call("Cancel()", |source| source.cancel());
    passes("CancellationTokenSource", source, 2);
}

#[test]
fn barrier() {
    let barrier = || {
        object(|| Barrier::new(2))
            .call("SignalAndWait()", |barrier| barrier.signal_and_wait())
            .call("ParticipantsRemaining()", |barrier| barrier.participants_remaining())
            .call("RemoveParticipant()", |barrier| barrier.remove_participant())
            .call("CancelToken()", |barrier| barrier.cancel())
            .call("CurrentPhaseNumber()", |barrier| barrier.current_phase_number())
            .call("ParticipantCount()", |barrier| barrier.participant_count())
            .call("AddParticipant()", |barrier| barrier.add_participant())
    };
    fails("Barrier", 2, barrier, &[("L", "SignalAndWait() | SignalAndWait()", "not-linearizable")]);
}
