//! One test for each row of the paper's table 2: random matrices of three threads with three calls each at preemption bound 2, and
//! what must come of them. `SELVEDGE_SAMPLES` says how many (the paper: 100); with `SELVEDGE_TABLE`, a directory, each row
//! leaves its report there. `corpus/classes/table` makes the page of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

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
use selvedge_protocol::{ObjectFinding, ObjectReport, Report, wire};

#[path = "../../../crates/runtime/tests/it/confirm.rs"]
mod confirm;

/// The bound of the paper, and of every row here.
const PREEMPTIONS: u32 = 2;

fn samples() -> u64 {
    std::env::var("SELVEDGE_SAMPLES").map_or(3, |text| text.parse().expect("a number of samples"))
}

fn report<T: 'static>(object: Object<T>) -> ObjectReport {
    let report: Report = wire::decode(&object.report()).expect("a report");
    let report = report.objects.into_iter().next().expect("one object");
    assert_eq!(report.error, None);
    report
}

/// Leaves something for the table.
fn leave(name: &str, text: &str) {
    if let Some(directory) = std::env::var_os("SELVEDGE_TABLE") {
        std::fs::write(PathBuf::from(directory).join(name), text).expect("a directory");
    }
}

/// What was found is looked at again: no serial history of the object explains it.
fn confirmed<T: 'static>(found: &ObjectFinding, object: Object<T>) {
    confirm::confirm(found, || {
        let file = std::env::temp_dir().join(format!("selvedge-classes-{}.json", std::process::id()));
        let _ = object.matrix(&found.matrix).write_observations(&file).report();
        let serial =
            confirm::serial_histories(&std::fs::read_to_string(&file).expect("serial histories"), &found.matrix);
        std::fs::remove_file(&file).expect("the file");
        serial
    });
}

/// Tests random matrices, and leaves the report for the table. Every one of them must get an answer.
fn examine<T: 'static>(row: &str, object: impl Fn() -> Object<T>) -> ObjectReport {
    let random = object().threads(3).ops(3).samples(samples()).seed(1).preemptions(PREEMPTIONS).keep_going();
    let report = report(random);
    leave(&format!("{row}.json"), &wire::encode(&report));
    assert_eq!(report.matrices, samples(), "{row}: {:?}", report.limit);
    report.findings.iter().for_each(|found| confirmed(found, object()));
    report
}

/// Nothing is found in any matrix.
fn passes<T: 'static>(row: &str, object: impl Fn() -> Object<T>) {
    let report = examine(row, object);
    let failed: Vec<_> = report.findings.iter().map(|found| &found.explanation).collect();
    assert_eq!(report.matrices_failed, 0, "{row}: {failed:?}");
}

/// A root cause: its letter, a matrix that shows it, and the kind of what is found.
type Cause = (&'static str, &'static str, &'static str);

/// Each root cause has its matrix, and every random matrix that fails does so for one of them: `cause` tells which, from the
/// smallest matrix. Among enough random matrices each cause shows.
fn fails<T: 'static>(
    row: &str,
    object: impl Fn() -> Object<T>,
    causes: &[Cause],
    cause: impl Fn(&str) -> &'static str,
) {
    let random = examine(row, &object);
    let mut lines = String::new();
    for (letter, matrix, kind) in causes {
        // Some need more preemptions with two threads than with three, where a thread that ends gives way.
        let report = report(object().matrix(matrix).preemptions(PREEMPTIONS + 2));
        let found = report.findings.first().unwrap_or_else(|| panic!("{row}, {letter}: nothing in {matrix}"));
        assert_eq!(found.kind.name(), *kind, "{row}, {letter}, {matrix}: {}", found.explanation);
        confirmed(found, object());
        lines += &format!("known {letter} {}\n", found.dimension);
    }
    let kinds: BTreeSet<&str> = causes.iter().map(|(_, _, kind)| *kind).collect();
    let mut seen = BTreeSet::new();
    let mut smallest: BTreeSet<&str> = BTreeSet::new();
    for record in &random.records {
        let Some(matrix) = &record.smallest else { continue };
        assert!(record.kind.is_some_and(|kind| kinds.contains(kind.name())), "{row}: {:?} in {matrix}", record.kind);
        smallest.insert(matrix);
    }
    for matrix in smallest {
        let letter = cause(matrix);
        assert!(causes.iter().any(|(known, _, _)| *known == letter), "{row}: {matrix} is no known cause");
        seen.insert(letter);
        lines += &format!("found {letter} {matrix}\n");
    }
    leave(&format!("{row}.causes"), &lines);
    if samples() >= 100 {
        let letters: BTreeSet<&str> = causes.iter().map(|(letter, _, _)| *letter).collect();
        assert_eq!(seen, letters, "{row}: root causes in random matrices");
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
    let lazy = || {
        object(Lazy::default)
            .call("Value()", |lazy| lazy.value())
            .call("ToString()", |lazy| lazy.to_text())
            .call("IsValueCreated()", |lazy| lazy.is_value_created())
    };
    passes("Lazy Initialization", lazy);
}

#[test]
fn manual_reset_event_pre() {
    let causes = [("A", "Wait() | Set(), Reset(), Set()", "stuck")];
    fails("ManualResetEvent(Pre)", || event(Flaw::A), &causes, |_| "A");
}

#[test]
fn manual_reset_event() {
    passes("ManualResetEvent", || event(Flaw::None));
}

#[test]
fn semaphore_slim() {
    let semaphore = || {
        object(|| Semaphore::new(1))
            .call("CurrentCount()", |semaphore| semaphore.current_count())
            .call("Release()", |semaphore| semaphore.release(1))
            .call("Release(2)", |semaphore| semaphore.release(2))
            .call("Wait()", |semaphore| semaphore.wait())
            .call("Wait(0)", |semaphore| semaphore.try_wait())
    };
    passes("SemaphoreSlim", semaphore);
}

#[test]
fn countdown_event() {
    let countdown = || {
        object(|| Countdown::new(2))
            .call("IsSet()", |countdown| countdown.is_set())
            .call("Wait()", |countdown| countdown.wait())
            .call("Wait(0)", |countdown| countdown.is_set())
            .call("CurrentCount()", |countdown| countdown.current_count())
            .call("Signal()", |countdown| countdown.signal(1))
            .call("Signal(2)", |countdown| countdown.signal(2))
            .call("AddCount()", |countdown| countdown.add_count(1))
            .call("AddCount(2)", |countdown| countdown.add_count(2))
            .call("TryAddCount()", |countdown| countdown.try_add_count(1))
            .call("TryAddCount(2)", |countdown| countdown.try_add_count(2))
    };
    passes("CountdownEvent", countdown);
}

#[test]
fn concurrent_dictionary() {
    let build = || {
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
        dictionary
    };
    passes("ConcurrentDictionary", build);
}

#[test]
fn concurrent_queue_pre() {
    let causes = [("B", "Enqueue(10) | Enqueue(20), TryDequeue()", "not-linearizable")];
    fails("ConcurrentQueue(Pre)", || queue(Flaw::B), &causes, |_| "B");
}

#[test]
fn concurrent_queue() {
    passes("ConcurrentQueue", || queue(Flaw::None));
}

#[test]
fn concurrent_linked_list_pre() {
    let causes = [("C", "AddFirst(10), RemoveFirst() | RemoveFirst()", "panic")];
    fails("ConcurrentLinkedList(Pre)", || linked_list(Flaw::C), &causes, |_| "C");
}

#[test]
fn concurrent_linked_list_repaired() {
    passes("ConcurrentLinkedList(repaired)", || linked_list(Flaw::None));
}

#[test]
fn concurrent_stack() {
    const TEN: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    let stack = || {
        object(Stack::default)
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
            .call("ToArray()", |stack| stack.to_array())
    };
    passes("ConcurrentStack", stack);
}

#[test]
fn blocking_collection_pre() {
    let causes = [
        ("D", "Add(10) | CompleteAdding(), IsCompleted()", "not-linearizable"),
        ("K", "Cancel(), Add(10) | Take()", "not-linearizable"),
    ];
    let cause = |matrix: &str| if matrix.contains("Cancel()") { "K" } else { "D" };
    fails("BlockingCollection(Pre)", blocking_collection::<Early>, &causes, cause);
}

#[test]
fn blocking_collection_late() {
    let causes = [
        ("H", "Add(10) | ToArray(), Count()", "not-linearizable"),
        ("I", "Add(10) | ToArray(), TryTake()", "not-linearizable"),
        ("K", "Cancel(), Add(10) | Take()", "not-linearizable"),
    ];
    let cause = |matrix: &str| match matrix {
        _ if matrix.contains("Cancel()") => "K",
        _ if matrix.contains("Take(") => "I",
        _ => "H",
    };
    fails("BlockingCollection", blocking_collection::<Late>, &causes, cause);
}

#[test]
fn blocking_collection_repaired() {
    passes("BlockingCollection(one lock)", blocking_collection::<Exact>);
}

#[test]
fn concurrent_bag_pre() {
    let causes = [
        ("E", "Add(10), TryTake() | TryTake()", "not-linearizable"),
        ("J", "Add(10), ToArray() | Add(20), ToArray()", "not-linearizable"),
    ];
    // What the repaired bag does too is intended.
    let intended = |matrix: &str| !report(bag(Flaw::None).matrix(matrix).preemptions(PREEMPTIONS)).findings.is_empty();
    fails("ConcurrentBag(Pre)", || bag(Flaw::E), &causes, |matrix| if intended(matrix) { "J" } else { "E" });
}

#[test]
fn concurrent_bag() {
    let causes = [("J", "Add(10), ToArray() | Add(20), ToArray()", "not-linearizable")];
    fails("ConcurrentBag", || bag(Flaw::None), &causes, |_| "J");
}

#[test]
fn task_completion_source_pre() {
    let causes = [("F", "TrySetResult(2) | TrySetCanceled()", "not-linearizable")];
    fails("TaskCompletionSource(Pre)", || completion(Flaw::F), &causes, |_| "F");
}

#[test]
fn task_completion_source() {
    let causes = [("G", "TrySetResult(2) | TrySetCanceled(), TryResult()", "not-linearizable")];
    fails("TaskCompletionSource", || completion(Flaw::G), &causes, |_| "G");
}

#[test]
fn task_completion_source_repaired() {
    passes("TaskCompletionSource(repaired)", || completion(Flaw::None));
}

#[test]
fn cancellation_token_source() {
    let source = || {
        object(Cancellation::default)
            .call("Increment()", |source| source.increment())
            .call("Cancel()", |source| source.cancel())
    };
    passes("CancellationTokenSource", source);
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
    // Who waits has arrived, and the others see that: none of its effects may come before it returns.
    let causes = [
        ("L", "SignalAndWait() | SignalAndWait()", "not-linearizable"),
        ("L", "SignalAndWait() | ParticipantsRemaining()", "stuck"),
    ];
    fails("Barrier", barrier, &causes, |_| "L");
}
