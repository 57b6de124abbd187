//! The exact construction against the checker of recorded histories (`selvedge check --quasi`), which was written apart from it, on
//! histories drawn from models: what threads do to loose queues, segmented queues with and without bugs, and stacks.

use selvedge_history::object::priority_queue::{self, PriorityQueue};
use selvedge_history::object::queue::{self, Queue};
use selvedge_history::object::stack::{self, Stack};
use selvedge_history::quasi::{self, Causality, Classing, Question, Reading, Rules};
use selvedge_history::{Budget, Elements, Recorder, ThreadId};
use selvedge_model::language::Model;
use selvedge_model::models::{SegmentedBug, SegmentedQueue, TreiberStack};
use selvedge_model::objects::{Collection, Order, PUT, Room, TAKE};
use selvedge_model::{
    Criterion, Guard, Implementation, Label, Measure, ObjectEvent, Operation, Relaxation, TransitionSystem, Value,
    first_violation,
};

use crate::programs::Random;
use crate::queues::LooseQueue;

/// What is asked: how far operations may be from their places.
#[derive(Clone, Copy, Debug)]
struct Asked {
    order: Order,
    /// All operations in one class; otherwise removals that return something.
    all: bool,
    factor: u8,
    measure: Measure,
    guard: Guard,
}

impl Asked {
    fn random(random: &mut Random, order: Order) -> Asked {
        Asked {
            order,
            all: random.below(4) == 0,
            factor: random.below(3) as u8,
            measure: [Measure::Distance, Measure::Strict][random.below(2) as usize],
            guard: [Guard::Causal, Guard::Free][random.below(2) as usize],
        }
    }

    fn criterion(self) -> Criterion {
        let moves = move |op: &Operation| self.all || (op.method == TAKE && op.result != 0);
        let relaxation = Relaxation::new(vec![self.factor], move |op| moves(op).then_some(0));
        Criterion { relaxation, measure: self.measure, guard: self.guard }
    }

    /// The classes of insertions, removals, and removals that found nothing.
    fn classes(self) -> [u16; 3] {
        if self.all { [1, 1, 1] } else { [0, 1, 2] }
    }

    fn rules(self) -> Rules {
        Rules {
            factors: vec![0, u32::from(self.factor), 0],
            reading: Reading::Prefix,
            causality: if self.guard == Guard::Causal { Causality::Causal } else { Causality::Free },
            order: if self.measure == Measure::Strict { quasi::Order::Strict } else { quasi::Order::Distance },
        }
    }
}

/// What the checker of histories says.
fn recorded<S: Elements<Output = selvedge_history::Value>>(
    spec: &S,
    events: &[ObjectEvent],
    asked: Asked,
    put: impl Fn(i64) -> S::Input,
    take: S::Input,
) -> bool {
    let mut recorder = Recorder::new();
    let mut of = Vec::new();
    let mut putting = [false; 8];
    let [puts, takes, misses] = asked.classes();
    for event in events {
        match *event {
            ObjectEvent::Call { thread, method, argument } => {
                let input = if method == PUT { put(i64::from(argument)) } else { take.clone() };
                recorder.call(ThreadId(thread), input).expect("an idle thread");
                putting[thread as usize] = method == PUT;
                of.push(if method == PUT { (puts, puts) } else { (takes, misses) });
            }
            ObjectEvent::Return { thread, result } => {
                let nothing = putting[thread as usize] || result == 0;
                let output = if nothing { Default::default() } else { selvedge_history::Value::Int(i64::from(result)) };
                recorder.ret(ThreadId(thread), output).expect("an open call");
            }
        }
    }
    let history = recorder.finish(None).expect("a history");
    let classing = Classing { of, probes: vec![(take, (takes, misses))], insertion: (puts, puts) };
    let budget = Budget::new();
    let rules = asked.rules();
    let question =
        Question { spec, history: &history, classing: &classing, rules: &rules, goes_on: true, budget: &budget };
    match question.decide(&mut 0) {
        selvedge_history::Verdict::Pass(_) => true,
        selvedge_history::Verdict::Fail(_) => false,
        selvedge_history::Verdict::Unknown(limit) => panic!("{limit}"),
    }
}

/// A random run of a model, as far as anybody sees it. `offer` notes the value that insertions bring.
fn walk<S: TransitionSystem>(
    system: &S,
    event: impl Fn(Label) -> Option<ObjectEvent>,
    offer: impl Fn(&mut S::State, Value),
    random: &mut Random,
    puts_max: usize,
) -> Vec<ObjectEvent> {
    let mut initial = Vec::new();
    system.initial(&mut initial).unwrap();
    let mut state = initial.remove(0);
    let mut events: Vec<ObjectEvent> = Vec::new();
    let is_put = |event: Option<ObjectEvent>| matches!(event, Some(ObjectEvent::Call { method: PUT, .. }));
    for _ in 0..40 * LENGTH {
        let puts = events.iter().filter(|&&event| is_put(Some(event))).count();
        offer(&mut state, puts as Value + 1);
        let mut next = Vec::new();
        system.successors(&state, &mut next).unwrap();
        next.retain(|(action, _)| puts < puts_max || !is_put(event(action.label)));
        if next.is_empty() || events.len() == LENGTH {
            break;
        }
        let (action, to) = next.swap_remove(random.below(next.len() as u64) as usize);
        events.extend(event(action.label));
        state = to;
    }
    disturb(&mut events, random);
    events
}

/// Changes the result of a removal in every other run: models alone are wrong too rarely.
fn disturb(events: &mut [ObjectEvent], random: &mut Random) {
    let mut putting = [false; 8];
    let mut removals = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match *event {
            ObjectEvent::Call { thread, method, .. } => putting[thread as usize] = method == PUT,
            ObjectEvent::Return { thread, .. } if !putting[thread as usize] => removals.push(at),
            ObjectEvent::Return { .. } => {}
        }
    }
    if removals.is_empty() || random.below(2) == 0 {
        return;
    }
    let at = removals[random.below(removals.len() as u64) as usize];
    if let ObjectEvent::Return { result, .. } = &mut events[at] {
        *result = random.below(4) as Value;
    }
}

fn walk_model<I: Implementation>(system: &I, random: &mut Random) -> Vec<ObjectEvent> {
    walk(system, |label| system.event(label), |state, value| system.offer(state, value), random, 3)
}

/// How many events a run has.
const LENGTH: usize = 14;

#[derive(Default, Debug)]
struct Tally {
    pass: usize,
    fail: usize,
}

/// The events before an insertion is refused: recorded histories know no such thing.
fn accepted(events: &[ObjectEvent]) -> &[ObjectEvent] {
    let mut putting = [false; 8];
    let refused = events.iter().position(|event| match *event {
        ObjectEvent::Call { thread, method, .. } => {
            putting[thread as usize] = method == PUT;
            false
        }
        ObjectEvent::Return { thread, result } => putting[thread as usize] && result == 0,
    });
    &events[..refused.unwrap_or(events.len())]
}

/// Compares the two on every prefix that both decide.
fn compare(events: &[ObjectEvent], asked: Asked, values: Value, tally: &mut Tally) {
    let events = accepted(events);
    // Without guard the object must be finite, and insertions that move must be known; nothing here puts in more than it holds.
    let object = if asked.guard == Guard::Free || asked.all {
        Collection { order: asked.order, room: Room::Exactly(4), domain: Some((1..=values).collect()) }
    } else {
        Collection { order: asked.order, room: Room::Unlimited, domain: None }
    };
    let got = first_violation(&object, &asked.criterion(), 3, events).unwrap();
    let mut open = 0;
    for upto in 1..=events.len() {
        match events[upto - 1] {
            ObjectEvent::Call { .. } => open += 1,
            ObjectEvent::Return { .. } => open -= 1,
        }
        // The checker of histories refuses pending calls with the guard.
        if open > 0 && asked.guard == Guard::Causal {
            continue;
        }
        let int = selvedge_history::Value::Int;
        let prefix = &events[..upto];
        let expect = match asked.order {
            Order::Lifo => recorded(&Stack, prefix, asked, |v| stack::Input::Push(int(v)), stack::Input::Pop),
            Order::Priority => recorded(
                &PriorityQueue::largest_first(),
                prefix,
                asked,
                |v| priority_queue::Input::Insert(int(v)),
                priority_queue::Input::Poll,
            ),
            _ => recorded(&Queue, prefix, asked, |v| queue::Input::Enq(int(v)), queue::Input::Deq),
        };
        let accepted = got.is_none_or(|at| upto <= at);
        assert_eq!(accepted, expect, "{asked:?} the checker of histories says {expect}: {prefix:#?}");
        *(if expect { &mut tally.pass } else { &mut tally.fail }) += 1;
    }
}

fn rounds() -> u64 {
    std::env::var("SELVEDGE_MODEL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

#[test]
fn loose_queues_read_as_any_collection() {
    for order in [Order::Fifo, Order::Lifo, Order::Priority] {
        let mut tally = Tally::default();
        for seed in 0..rounds() {
            let mut random = Random::new(seed * 6_700_417 + 3);
            let queue = LooseQueue { threads: 2 + random.below(2) as u32, ..LooseQueue::random(&mut random) };
            let asked = Asked::random(&mut random, order);
            let events = walk_model(&queue, &mut random);
            compare(&events, asked, 3, &mut tally);
        }
        assert!(tally.pass > 100 && tally.fail > 60, "{order:?}: {tally:?} is too one-sided");
    }
}

#[test]
fn segmented_queues_and_stacks() {
    let mut tally = Tally::default();
    for seed in 0..rounds() {
        let mut random = Random::new(seed * 15_485_863 + 1);
        let bug = [SegmentedBug::None, SegmentedBug::EmptyMovesHead, SegmentedBug::WrongSegment][seed as usize % 3];
        let queue = SegmentedQueue::new(2, 1 + random.below(2) as usize, 2, bug).unwrap();
        compare(&walk_model(&queue, &mut random), Asked::random(&mut random, Order::Fifo), 3, &mut tally);
        let stack = TreiberStack { threads: 3, capacity: 4 };
        // A stack read as a queue is out of order, and the other way round.
        let order = if random.below(3) == 0 { Order::Lifo } else { Order::Fifo };
        compare(&walk_model(&stack, &mut random), Asked::random(&mut random, order), 3, &mut tally);
    }
    assert!(tally.pass > 100 && tally.fail > 60, "{tally:?} is too one-sided");
}

/// The events of a text model, by their names: `enq_inv.t.x`, `deq_res.t.r` and so on, whatever the methods are called.
fn named(name: &str) -> Option<ObjectEvent> {
    let mut parts = name.split('.');
    let (method, kind) = parts.next()?.split_once('_')?;
    let mut number = || parts.next().map_or(Some(0), |text| text.parse::<Value>().ok());
    let (thread, value) = (number()? as u32, number()?);
    match (kind, method) {
        ("inv", "enq" | "insert") => Some(ObjectEvent::Call { thread, method: PUT, argument: value }),
        ("inv", _) => Some(ObjectEvent::Call { thread, method: TAKE, argument: 0 }),
        ("res", _) => Some(ObjectEvent::Return { thread, result: value }),
        _ => None,
    }
}

#[test]
fn text_models_of_the_corpus() {
    let models = [
        ("proved/segmented_queue", Order::Fifo),
        ("proved/random_dequeue_window", Order::Fifo),
        ("proved/quasi_priority_queue", Order::Priority),
        ("refuted/random_dequeue", Order::Fifo),
        ("refuted/segmented_queue_buggy1", Order::Fifo),
        ("refuted/segmented_queue_buggy2", Order::Fifo),
        ("refuted/quasi_priority_queue_buggy", Order::Priority),
    ];
    let mut tally = Tally::default();
    for (name, order) in models {
        let path = format!("{}/../../corpus/models/{name}.csp", env!("CARGO_MANIFEST_DIR"));
        let model = Model::new(&std::fs::read_to_string(path).unwrap()).expect("a model");
        let system = model.process("System", &[]).unwrap();
        for seed in 0..rounds() / 4 {
            let mut random = Random::new(seed * 32_452_843 + 9);
            let event = |label| named(&system.label_name(label));
            let events = walk(&system, event, |_, _| {}, &mut random, 3);
            compare(&events, Asked::random(&mut random, order), 3, &mut tally);
        }
    }
    assert!(tally.pass > 100 && tally.fail > 60, "{tally:?} is too one-sided");
}

/// The guard asks whether the insertion was *called*, not whether it took effect: a queue may hand out what is being put in, and the insertion
/// may take effect after somebody found nothing.
#[test]
fn what_is_being_put_in_may_leave_and_what_nobody_has_called_may_not() {
    let call = |thread, method, argument| ObjectEvent::Call { thread, method, argument };
    let returns = |thread, result| ObjectEvent::Return { thread, result };
    let takes = |result| [call(0, TAKE, 0), returns(0, result)];
    let pending = [&[call(0, PUT, 1), returns(0, 1), call(1, PUT, 2)][..], &takes(2), &takes(0)].concat();
    let pending = [&pending[..], &[returns(1, 1)], &takes(1)].concat();
    let later =
        [&[call(0, PUT, 1), returns(0, 1)][..], &takes(2), &[call(1, PUT, 2), returns(1, 1)], &takes(1)].concat();
    let asked = |factor, guard| Asked { order: Order::Fifo, all: false, factor, measure: Measure::Distance, guard };
    let mut tally = Tally::default();
    compare(&pending, asked(1, Guard::Causal), 2, &mut tally);
    assert_eq!((tally.pass, tally.fail), (3, 0), "all of it is right with factor 1");
    compare(&pending, asked(0, Guard::Causal), 2, &mut tally);
    assert_eq!((tally.pass, tally.fail), (4, 2), "with factor 0 it is not");
    compare(&later, asked(1, Guard::Causal), 2, &mut tally);
    assert_eq!((tally.pass, tally.fail), (5, 5), "nobody had called enq(2)");
    compare(&later, asked(1, Guard::Free), 2, &mut tally);
    assert_eq!((tally.pass, tally.fail), (13, 5), "without guard that is no matter");
}
