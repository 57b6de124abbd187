//! Wrappers whose operations are taken step by step in random order: called, then done, then returned, with panics before and after. What they report
//! is held against the exact checker, which knows calls and returns only.
//!
//! `SELVEDGE_STEPS` histories are drawn for each wrapper (default 600).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use selvedge_history::check::check;
use selvedge_history::format::{Format, read};
use selvedge_history::generate::Random;
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Value, Verdict as Decided};
use selvedge_monitor::{CountedQueue, PushPop, Queue, ReadWrite, Register, Report, Stack, Stamped, Verdict};

const THREADS: usize = 3;

/// What an operation does when it takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// What it should.
    Right,
    /// Takes the value at the other end.
    OtherEnd,
    /// Finds nothing.
    Nothing,
    /// Takes what came out last once more.
    Again,
    /// Takes what should come out, and drops it first.
    Lose,
}

enum Command {
    Insert(Arc<dyn Watched>, u64),
    Remove(Arc<dyn Watched>),
    Effect(Effect),
    /// Whether it panics.
    Return(bool),
}

enum Answer {
    /// It is inside the object, or has done what it does.
    Step,
    /// It is over, with this result; or it panicked.
    Over(Option<Option<u64>>),
}

thread_local! {
    static ORDERS: RefCell<Option<(Receiver<Command>, Sender<Answer>)>> = const { RefCell::new(None) };
}

fn next() -> Command {
    ORDERS.with_borrow(|orders| orders.as_ref().expect("it takes orders").0.recv().expect("somebody is there"))
}

fn answer(answer: Answer) {
    ORDERS.with_borrow(|orders| orders.as_ref().expect("it takes orders").1.send(answer).expect("somebody is there"));
}

/// What an operation does between its call and its return. Outside of orders it does what it should.
fn taken<T>(effect: impl FnOnce(Effect) -> T) -> T {
    if ORDERS.with_borrow(Option::is_none) {
        return effect(Effect::Right);
    }
    answer(Answer::Step);
    let done = match next() {
        Command::Effect(what) => {
            let done = effect(what);
            answer(Answer::Step);
            match next() {
                Command::Return(false) => Some(done),
                _ => None,
            }
        }
        _ => None,
    };
    done.unwrap_or_else(|| resume_unwind(Box::new("it panics")))
}

/// A queue or a stack.
struct Raw<T> {
    inside: Mutex<(VecDeque<T>, Option<T>)>,
    is_stack: bool,
}

impl<T> Raw<T> {
    fn new(is_stack: bool) -> Self {
        Raw { inside: Mutex::new((VecDeque::new(), None)), is_stack }
    }

    fn take(&self, effect: Effect) -> Option<T>
    where
        T: Clone,
    {
        let (inside, last) = &mut *self.inside.lock().unwrap();
        // A stack gives what was put in last.
        let mut take = |first: bool| if first == self.is_stack { inside.pop_back() } else { inside.pop_front() };
        let taken = match effect {
            Effect::Right => take(true),
            Effect::OtherEnd => take(false),
            Effect::Nothing => return None,
            Effect::Again => return last.clone(),
            Effect::Lose => {
                take(true);
                take(true)
            }
        };
        last.clone_from(&taken);
        taken
    }
}

impl<T: Clone> PushPop<T> for Raw<T> {
    fn push(&self, value: T) {
        taken(|_| self.inside.lock().unwrap().0.push_back(value));
    }

    fn pop(&self) -> Option<T> {
        taken(|effect| self.take(effect))
    }
}

/// A register that sometimes reads what was there before.
struct Cell(Mutex<(u64, u64)>);

impl ReadWrite for Cell {
    fn read(&self) -> u64 {
        taken(|effect| {
            let (now, before) = *self.0.lock().unwrap();
            if effect == Effect::Right { now } else { before }
        })
    }

    fn write(&self, value: u64) {
        taken(|_| {
            let cell = &mut *self.0.lock().unwrap();
            *cell = (value, cell.0);
        });
    }
}

/// An object that is watched, whichever.
trait Watched: Send + Sync {
    fn insert(&self, value: u64);
    fn remove(&self) -> Option<u64>;
    fn report(&self) -> Report;
}

impl Watched for Queue<u64, Raw<Stamped<u64>>> {
    fn insert(&self, value: u64) {
        self.push(value);
    }
    fn remove(&self) -> Option<u64> {
        self.pop()
    }
    fn report(&self) -> Report {
        self.examine();
        self.report()
    }
}

impl Watched for CountedQueue<u64, Raw<(u64, u64)>> {
    fn insert(&self, value: u64) {
        self.push(value);
    }
    fn remove(&self) -> Option<u64> {
        self.pop()
    }
    fn report(&self) -> Report {
        self.report()
    }
}

impl Watched for Stack<u64, Raw<(u64, u64)>> {
    fn insert(&self, value: u64) {
        self.push(value);
    }
    fn remove(&self) -> Option<u64> {
        self.pop()
    }
    fn report(&self) -> Report {
        self.report()
    }
}

impl Watched for Register<Cell> {
    fn insert(&self, value: u64) {
        self.write(value);
    }
    fn remove(&self) -> Option<u64> {
        Some(self.read())
    }
    fn report(&self) -> Report {
        self.report()
    }
}

/// A thread that does what it is told.
struct Worker {
    orders: Sender<Command>,
    answers: Receiver<Answer>,
}

impl Worker {
    fn new() -> Self {
        let ((orders, taken), (answer, answers)) = (channel(), channel());
        std::thread::spawn(move || {
            let given = answer.clone();
            ORDERS.set(Some((taken, answer)));
            loop {
                let order = ORDERS.with_borrow(|orders| orders.as_ref().and_then(|orders| orders.0.recv().ok()));
                let done = match order {
                    Some(Command::Insert(object, value)) => catch_unwind(AssertUnwindSafe(|| {
                        object.insert(value);
                        None
                    })),
                    Some(Command::Remove(object)) => catch_unwind(AssertUnwindSafe(|| object.remove())),
                    _ => return,
                };
                if given.send(Answer::Over(done.ok())).is_err() {
                    return;
                }
            }
        });
        Worker { orders, answers }
    }

    fn tell(&self, command: Command) -> Answer {
        self.orders.send(command).expect("it is there");
        self.answers.recv().expect("it is there")
    }
}

/// Where the operation of a thread is.
#[derive(Clone, Copy)]
enum Stage {
    Idle,
    Called { inserts: bool },
    Done,
}

/// A kind of object, with the names that its operations have in a history.
#[derive(Clone, Copy)]
struct Names {
    kind: Kind,
    insert: &'static str,
    remove: &'static str,
}

/// How the history is drawn.
struct Chances {
    /// Of how many operations one does something wrong; none for 0.
    wrong: u64,
    /// Of how many operations one panics; none for 0.
    panics: u64,
}

/// One history: its text, what was reported and whether an operation panicked.
fn history(
    workers: &[Worker],
    object: &Arc<dyn Watched>,
    names: Names,
    chances: &Chances,
    draw: &mut Random,
) -> (String, Report, bool) {
    let (mut text, mut panicked, mut values) = (String::new(), false, 0);
    let mut stages = [Stage::Idle; THREADS];
    let mut left = 4 + draw.below(8);
    while left > 0 || stages.iter().any(|stage| !matches!(stage, Stage::Idle)) {
        let thread = draw.below(THREADS as u64) as usize;
        let (worker, mut chance) = (&workers[thread], |of: u64| of > 0 && draw.below(of) == 0);
        stages[thread] = match stages[thread] {
            Stage::Idle if left == 0 => continue,
            Stage::Idle => {
                left -= 1;
                let inserts = chance(2);
                if inserts {
                    values += 1;
                    let _ = writeln!(text, r#"{{"call":"{}","thread":{thread},"value":{values}}}"#, names.insert);
                    worker.tell(Command::Insert(Arc::clone(object), values));
                } else {
                    let _ = writeln!(text, r#"{{"call":"{}","thread":{thread}}}"#, names.remove);
                    worker.tell(Command::Remove(Arc::clone(object)));
                }
                Stage::Called { inserts }
            }
            Stage::Called { inserts } => {
                if chance(2 * chances.panics) {
                    panicked = true;
                    let _ = writeln!(text, r#"{{"unknown":true,"thread":{thread}}}"#);
                    worker.tell(Command::Return(true));
                    Stage::Idle
                } else {
                    let wrong = [Effect::OtherEnd, Effect::Nothing, Effect::Again, Effect::Lose];
                    let is_wrong = !inserts && chance(chances.wrong);
                    worker.tell(Command::Effect(if is_wrong { wrong[draw.below(4) as usize] } else { Effect::Right }));
                    Stage::Done
                }
            }
            Stage::Done => {
                let panics = chance(2 * chances.panics);
                panicked |= panics;
                let Answer::Over(result) = worker.tell(Command::Return(panics)) else { unreachable!("it returns") };
                let _ = match result {
                    None => writeln!(text, r#"{{"unknown":true,"thread":{thread}}}"#),
                    Some(None) => writeln!(text, r#"{{"return":null,"thread":{thread}}}"#),
                    Some(Some(value)) => writeln!(text, r#"{{"return":{value},"thread":{thread}}}"#),
                };
                Stage::Idle
            }
        };
    }
    // What is left comes out in the end, by this thread.
    for _ in 0..=values {
        let result = object.remove();
        let result = result.map_or("null".to_owned(), |value| value.to_string());
        let _ = writeln!(text, r#"{{"call":"{}","thread":9}}"#, names.remove);
        let _ = writeln!(text, r#"{{"return":{result},"thread":9}}"#);
    }
    (text, object.report(), panicked)
}

fn is_right(text: &str, kind: Kind) -> bool {
    let (_, log) = read(&mut text.as_bytes(), Some(Format::Jsonl), &Budget::new()).expect("it can be read");
    let initial = (kind == Kind::Register).then_some(Value::Int(0));
    match check(&log, kind, initial.as_ref(), &Budget::new()).expect("it fits").verdict {
        Decided::Pass(_) => true,
        Decided::Fail(_) => false,
        Decided::Unknown(limit) => panic!("{limit:?}"),
    }
}

/// Draws histories of the object that `make` makes. What is reported is wrong; what is said to be right is.
fn compare(names: Names, make: impl Fn() -> Arc<dyn Watched>) {
    let histories = std::env::var("SELVEDGE_STEPS").map_or(600, |number| number.parse().expect("it is a number"));
    let workers: Vec<Worker> = (0..THREADS).map(|_| Worker::new()).collect();
    let (mut sure, mut seen, mut wrong, mut panics) = (0, 0, 0, 0);
    for seed in 0..histories {
        let mut draw = Random::new(seed << 20);
        let chances =
            Chances { wrong: [0, 4, 8][draw.below(3) as usize], panics: [0, 0, 4, 8][draw.below(4) as usize] };
        let object = make();
        let (text, report, panicked) = history(&workers, &object, names, &chances, &mut draw);
        let right = is_right(&text, names.kind);
        assert!(!right || report.total() == 0, "seed {seed}: {:?} in\n{text}", report.violations());
        assert!(right || report.verdict() != Verdict::NothingWrong, "seed {seed}: nothing wrong in\n{text}");
        assert!(!panicked || report.verdict() != Verdict::NothingWrong, "seed {seed}: a panic in\n{text}");
        sure += u64::from(report.verdict() == Verdict::NothingWrong);
        (seen, wrong) = (seen + u64::from(report.total() > 0), wrong + u64::from(!right));
        panics += u64::from(panicked);
    }
    println!(
        "{}: {histories} histories, {sure} right for sure, {seen} of {wrong} wrong ones seen, {panics} with panics",
        names.kind
    );
    assert!(seen > 0 && panics > 0, "{}", names.kind);
}

#[test]
fn queues() {
    let names = Names { kind: Kind::Queue, insert: "enq", remove: "deq" };
    compare(names, || Arc::new(Queue::wrap(Raw::new(false))));
}

#[test]
fn counted_queues() {
    let names = Names { kind: Kind::Queue, insert: "enq", remove: "deq" };
    for k in [1, 2, 4, 100] {
        compare(names, || Arc::new(CountedQueue::wrap(Raw::new(false), k)));
    }
}

#[test]
fn stacks() {
    let names = Names { kind: Kind::Stack, insert: "push", remove: "pop" };
    compare(names, || Arc::new(Stack::wrap(Raw::new(true))));
}

#[test]
fn registers() {
    let names = Names { kind: Kind::Register, insert: "write", remove: "read" };
    compare(names, || Arc::new(Register::wrap(Cell(Mutex::new((0, 0))))));
}
