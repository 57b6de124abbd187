//! Collections with distinct values and removals that are pending, against trying everything.
//!
//! The brute force here knows nothing of the library: it tries every order and every effect of what is pending, and remembers the
//! sets of operations and the contents that it has been through. `SELVEDGE_PENDING` histories of each object are drawn (default
//! 3,000), half of them of 8 to 12 operations: a wrong choice in a stack has been seen to show in one of 200,000 of
//! these and in none of the smaller ones. A campaign:
//!
//! ```text
//! SELVEDGE_PENDING=1000000 cargo test --release -p selvedge-history --test it pending
//! ```

use std::collections::HashSet;
use std::time::Instant;

use selvedge_history::certificate::{Certificate, Claim};
use selvedge_history::check::{Algorithm, check};
use selvedge_history::format::read;
use selvedge_history::generate::{self, Settings};
use selvedge_history::object::Kind;
use selvedge_history::verify::verify;
use selvedge_history::{Budget, Call, Log, LogRecorder, Outcome, Value, Verdict};

use crate::random::Rng;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Insert(i64),
    Remove(i64),
    Empty,
    PendingInsert(i64),
    PendingRemove,
}

impl Op {
    fn is_pending(self) -> bool {
        matches!(self, Op::PendingInsert(_) | Op::PendingRemove)
    }
}

/// Operations with the places of their calls and returns.
#[derive(Clone, Debug)]
struct Ops {
    ops: Vec<(Op, usize, usize)>,
}

/// Whether some order of what returned, and of some of what is pending, is one of the object.
fn linearizable(history: &Ops, kind: Kind) -> bool {
    place(history, kind, 0, &[], &mut HashSet::new())
}

fn place(history: &Ops, kind: Kind, done: u32, inside: &[i64], seen: &mut HashSet<(u32, Vec<i64>)>) -> bool {
    let ops = &history.ops;
    let left = |i: usize| done >> i & 1 == 0;
    if !(0..ops.len()).any(|i| left(i) && !ops[i].0.is_pending()) {
        return true;
    }
    if !seen.insert((done, inside.to_vec())) {
        return false;
    }
    for i in (0..ops.len()).filter(|&i| left(i)) {
        let (op, call, _) = ops[i];
        if (0..ops.len()).any(|j| left(j) && !ops[j].0.is_pending() && ops[j].2 < call) {
            continue;
        }
        for after in outcomes(op, kind, inside) {
            if place(history, kind, done | 1 << i, &after, seen) {
                return true;
            }
        }
    }
    false
}

/// What may be inside after an operation. Where order does not matter to the object, the values are kept sorted.
fn outcomes(op: Op, kind: Kind, inside: &[i64]) -> Vec<Vec<i64>> {
    let removed = match op {
        Op::Insert(value) | Op::PendingInsert(value) => {
            let mut after = [inside, &[value]].concat();
            if !matches!(kind, Kind::Queue | Kind::Stack) {
                after.sort_unstable();
            }
            return vec![after];
        }
        Op::Empty if inside.is_empty() => return vec![Vec::new()],
        Op::Empty => return Vec::new(),
        Op::Remove(value) => Some(value),
        Op::PendingRemove => None,
    };
    let places: Vec<usize> = match kind {
        _ if inside.is_empty() => Vec::new(),
        Kind::Queue | Kind::PriorityQueueMin => vec![0],
        Kind::Stack | Kind::PriorityQueue => vec![inside.len() - 1],
        _ => (0..inside.len()).collect(),
    };
    let places = places.into_iter().filter(|&at| removed.is_none_or(|value| inside[at] == value));
    places.map(|at| [&inside[..at], &inside[at + 1..]].concat()).collect()
}

fn log(history: &Ops, kind: Kind) -> Log {
    let (insert, remove) = match kind {
        Kind::Queue => ("enq", "deq"),
        Kind::Stack => ("push", "pop"),
        Kind::Bag => ("add", "remove"),
        _ => ("insert", "poll"),
    };
    let mut events: Vec<(usize, usize, bool)> = Vec::new();
    for (i, &(op, call, ret)) in history.ops.iter().enumerate() {
        events.push((call, i, false));
        if !op.is_pending() {
            events.push((ret, i, true));
        }
    }
    events.sort_unstable();
    let mut recorder = LogRecorder::new();
    for (line, (_, i, is_return)) in events.into_iter().enumerate() {
        let (line, thread) = (line as u32 + 1, Value::Int(i as i64));
        let (op, _, _) = history.ops[i];
        if is_return {
            let result = if let Op::Remove(value) = op { Value::Int(value) } else { Value::Nil };
            recorder.outcome(line, &thread, None, Outcome::Return(result)).expect("a return");
            continue;
        }
        let (method, argument) = match op {
            Op::Insert(value) | Op::PendingInsert(value) => (insert, Value::Int(value)),
            _ => (remove, Value::Nil),
        };
        let method = recorder.symbol(method);
        let object = recorder.symbol("");
        recorder.call(line, &thread, Call { object, method, key: Value::Nil, argument }).expect("a call");
    }
    recorder.finish(None).expect("a log")
}

/// The answer for a log, its certificate verified; and how many operations a conflict has.
fn certified(log: &Log, kind: Kind) -> (bool, Vec<Algorithm>, usize) {
    let answer = check(log, kind, None, &Budget::new()).expect("the log fits the object");
    let mut conflict = 0;
    let claim = match answer.verdict {
        Verdict::Pass(linearizations) => Claim::Pass { linearizations },
        Verdict::Fail(failure) => {
            if failure.violation.kind() == "conflict" {
                conflict = failure.violation.operations().len();
            }
            Claim::Fail { failure }
        }
        Verdict::Unknown(limit) => panic!("no limit was set, and yet {limit}"),
    };
    let passes = matches!(claim, Claim::Pass { .. });
    let certificate = Certificate::new(kind.name(), None, log.history.len() as u64, claim);
    assert_eq!(verify(log, &certificate, &Budget::new()), Verdict::Pass(()), "{certificate:?}");
    (passes, answer.algorithms, conflict)
}

/// Operations that took effect one after the other and were stretched in time, or intervals and pairs at random. Then some
/// results are changed, and some returns lost.
fn draw(kind: Kind, rng: &mut Rng) -> Ops {
    loop {
        let operations = if rng.percent(50) { 8 + rng.below(5) } else { 3 + rng.below(6) };
        let drawn = if rng.percent(50) { wild(rng, operations) } else { stretched(kind, rng, operations) };
        if drawn.ops.iter().any(|op| op.0 == Op::PendingRemove) {
            return drawn;
        }
    }
}

fn values(rng: &mut Rng) -> Vec<i64> {
    let mut values: Vec<i64> = (1..=12).collect();
    for i in 0..values.len() {
        let other = i + rng.below(values.len() - i);
        values.swap(i, other);
    }
    values
}

fn stretched(kind: Kind, rng: &mut Rng, operations: usize) -> Ops {
    let stretch = *rng.pick(&[2, 8, 14, 24, 40, 60]);
    let mut values = values(rng);
    let mut inside: Vec<i64> = Vec::new();
    let mut drawn: Vec<(Op, i64, i64)> = Vec::new();
    let mut left = 1 + rng.below(5);
    let bias = 40 + 10 * rng.below(3);
    for i in 0..operations {
        let at = 200 + 16 * i as i64;
        let (mut call, mut ret) = (at - rng.below(stretch) as i64, at + 1 + rng.below(stretch) as i64);
        if rng.percent(17) {
            call -= rng.below(100) as i64;
        }
        if rng.percent(17) {
            ret += rng.below(100) as i64;
        }
        let op = if rng.percent(bias) {
            let value = values.pop().expect("enough values");
            inside = outcomes(Op::Insert(value), kind, &inside).remove(0);
            if rng.percent(8) { Op::PendingInsert(value) } else { Op::Insert(value) }
        } else {
            let after = outcomes(Op::PendingRemove, kind, &inside);
            let after = if after.is_empty() { inside.clone() } else { rng.pick(&after).clone() };
            let taken = inside.iter().copied().find(|value| !after.contains(value));
            if left > 0 && rng.below(operations - i) < 2 * left {
                left -= 1;
                if !rng.percent(20) {
                    inside = after;
                }
                Op::PendingRemove
            } else {
                inside = after;
                taken.map_or(Op::Empty, Op::Remove)
            }
        };
        drawn.push((op, call, ret));
    }
    spoil(rng, &mut drawn);
    settle(drawn, rng)
}

fn spoil(rng: &mut Rng, drawn: &mut [(Op, i64, i64)]) {
    for _ in 0..*rng.pick(&[0, 2, 4, 6, 12]) {
        let (i, j) = (rng.below(drawn.len()), rng.below(drawn.len()));
        match (drawn[i].0, drawn[j].0, rng.below(3)) {
            (one @ (Op::Remove(_) | Op::Empty), other @ (Op::Remove(_) | Op::Empty), _) => {
                (drawn[i].0, drawn[j].0) = (other, one);
            }
            (Op::Remove(_), _, 0) => drawn[i].0 = Op::Empty,
            (Op::Remove(_), Op::Insert(value), 1) if drawn.iter().all(|op| op.0 != Op::Remove(value)) => {
                drawn[i].0 = Op::Remove(value);
            }
            (Op::Remove(_), _, 2) => drawn[i].0 = Op::PendingRemove,
            _ => {}
        }
    }
}

fn wild(rng: &mut Rng, operations: usize) -> Ops {
    let operations = operations.max(5);
    let values = values(rng);
    let pending = 1 + rng.below(5).min(operations - 3);
    let empties = rng.below(3);
    let inserts = ((operations + 1).saturating_sub(pending + empties) + rng.below(2)).div_ceil(2).max(1);
    let length = *rng.pick(&[5, 12, 30, 60]);
    let mut drawn = Vec::new();
    for i in 0..operations {
        let others = (i.saturating_sub(inserts + pending + empties)).min(values.len() - 1);
        let op = match i {
            _ if i < inserts && rng.percent(7) => Op::PendingInsert(values[i]),
            _ if i < inserts => Op::Insert(values[i]),
            _ if i < inserts + pending => Op::PendingRemove,
            _ if i < inserts + pending + empties || others >= inserts => Op::Empty,
            _ => Op::Remove(values[others]),
        };
        // Insertions rather early, removals rather late.
        let call = match op {
            Op::Insert(_) | Op::PendingInsert(_) => rng.below(70),
            Op::PendingRemove => rng.below(100),
            _ => 20 + rng.below(80),
        } as i64;
        let more = if rng.percent(20) { rng.below(60) as i64 } else { 0 };
        drawn.push((op, call, call + 1 + rng.below(length) as i64 + more));
    }
    settle(drawn, rng)
}

/// Numbers the events in the order of their times, equal ones in any.
fn settle(drawn: Vec<(Op, i64, i64)>, rng: &mut Rng) -> Ops {
    let mut events = Vec::new();
    for (i, &(op, call, ret)) in drawn.iter().enumerate() {
        events.push((call, rng.below(1 << 30), i, false));
        if !op.is_pending() {
            events.push((ret, rng.below(1 << 30), i, true));
        }
    }
    events.sort_unstable();
    let end = events.len();
    let mut ops: Vec<(Op, usize, usize)> = drawn.into_iter().map(|(op, ..)| (op, 0, end)).collect();
    for (place, (_, _, i, is_return)) in events.into_iter().enumerate() {
        if is_return { ops[i].2 = place } else { ops[i].1 = place }
    }
    Ops { ops }
}

fn histories() -> u64 {
    let number = std::env::var("SELVEDGE_PENDING").ok();
    number.map_or(3_000, |number| number.parse().expect("SELVEDGE_PENDING is a number"))
}

fn agree(kind: Kind) {
    let (mut pass, mut fail, mut helped, mut conflicts, mut largest) = (0, 0, 0, 0, 0);
    let total = histories();
    for seed in 0..total {
        let mut rng = Rng::new(seed);
        let history = draw(kind, &mut rng);
        let expected = linearizable(&history, kind);
        let checked = std::panic::catch_unwind(|| certified(&log(&history, kind), kind));
        let (found, algorithms, conflict) = checked.unwrap_or_else(|panic| {
            eprintln!("{kind}, seed {seed}: {history:?}");
            std::panic::resume_unwind(panic)
        });
        assert_eq!(found, expected, "{kind}, seed {seed}: {history:?}");
        assert!(!algorithms.contains(&Algorithm::Search), "{kind}, seed {seed}: {history:?}");
        *if found { &mut pass } else { &mut fail } += 1;
        conflicts += u64::from(conflict > 0);
        largest = largest.max(conflict);
        if found && seed < 20_000 {
            let mut without = history.clone();
            without.ops.retain(|op| op.0 != Op::PendingRemove);
            helped += u64::from(!linearizable(&without, kind));
        }
    }
    println!(
        "{kind}: {pass} linearizable (of the first 20,000 {helped} only by pending removals), {fail} not; \
         {conflicts} conflicts of up to {largest} operations"
    );
    assert!(
        pass > total / 10 && fail > total / 20 && helped > total.min(20_000) / 20,
        "{kind}: {pass} {fail} {helped}"
    );
}

#[test]
fn pending_removals_of_queues() {
    agree(Kind::Queue);
}

#[test]
fn pending_removals_of_stacks() {
    agree(Kind::Stack);
}

#[test]
fn pending_removals_of_bags() {
    agree(Kind::Bag);
}

#[test]
fn pending_removals_of_priority_queues() {
    agree(Kind::PriorityQueue);
    agree(Kind::PriorityQueueMin);
}

/// What the generator makes, with the returns of one operation in a hundred lost.
fn with_lost_returns(kind: Kind, operations: u64, seed: u64, violation: bool) -> Vec<u8> {
    let settings = Settings { object: kind, operations, processes: 16, seed, violation };
    let mut written = Vec::new();
    generate::write(&settings, &mut written).expect("a vector takes all bytes");
    let mut rng = Rng::new(seed);
    let mut text = Vec::with_capacity(written.len());
    for line in written.split_inclusive(|&byte| byte == b'\n') {
        let thread = line.starts_with(b"{\"return\"").then(|| line.windows(9).position(|part| part == b"\"thread\":"));
        match thread.flatten() {
            Some(at) if rng.below(100) == 0 => {
                text.extend_from_slice(b"{\"unknown\":true,");
                text.extend_from_slice(&line[at..]);
            }
            _ if line.starts_with(b"{\"end\"") => {}
            _ => text.extend_from_slice(line),
        }
    }
    text
}

/// No search is made of long histories with many pending operations, whose values are distinct.
#[test]
fn long_histories_with_many_pending_operations() {
    let operations = if std::env::var_os("SELVEDGE_PENDING").is_some() { 100_000 } else { 5_000 };
    for kind in
        [Kind::Queue, Kind::Stack, Kind::Bag, Kind::PriorityQueue, Kind::PriorityQueueMin, Kind::Register, Kind::Set]
    {
        for violation in [false, true] {
            let text = with_lost_returns(kind, operations, 5, violation);
            let started = Instant::now();
            let (_, log) = read(&mut &text[..], None, &Budget::new()).expect("a history");
            let reading = started.elapsed();
            let started = Instant::now();
            let answer = check(&log, kind, None, &Budget::new()).expect("the log fits the object");
            let checking = started.elapsed();
            let (passes, _, conflict) = certified(&log, kind);
            let pending = log.history.pending();
            let ratio = checking.as_secs_f64() / reading.as_secs_f64();
            println!(
                "{kind}: {} operations, {pending} pending, pass {passes}: read in {reading:.1?}, checked in {checking:.1?} \
                 ({ratio:.1} times), {:?}, {} states, conflict of {conflict}",
                log.history.len(),
                answer.algorithms,
                answer.states
            );
            assert!(pending as u64 > operations / 200);
            assert!(passes || violation, "{kind}");
        }
    }
}

/// One operation after the other; a result that is missing is that of a pending one.
fn in_turn(kind: Kind, ops: &[Op]) -> Log {
    let mut drawn = Vec::new();
    let mut place = 0;
    for &op in ops {
        drawn.push((op, place, place + 1));
        place += if op.is_pending() { 1 } else { 2 };
    }
    log(&Ops { ops: drawn }, kind)
}

/// What lies deep, and what rises without end: neither recursion nor time may grow with it.
#[test]
fn pending_removals_of_long_chains() {
    const LONG: i64 = 20_000;
    // Each value of the stack holds the open one on top of it; each poll asks for the open one to be gone.
    let deep = (1..=LONG).map(Op::Insert).chain([Op::PendingRemove]).chain((1..LONG).rev().map(Op::Remove));
    let rising = [Op::Insert(LONG), Op::PendingRemove].into_iter();
    let rising = rising.chain((1..LONG).flat_map(|value| [Op::Insert(value), Op::Remove(value)]));
    for (kind, ops) in [(Kind::Stack, deep.collect::<Vec<_>>()), (Kind::PriorityQueue, rising.collect())] {
        let (passes, algorithms, _) = certified(&in_turn(kind, &ops), kind);
        assert!(passes && !algorithms.contains(&Algorithm::Search), "{kind}");
        let without: Vec<Op> = ops.iter().copied().filter(|&op| op != Op::PendingRemove).collect();
        assert!(!certified(&in_turn(kind, &without), kind).0, "{kind}");
        // A removal that is pending only from the end on comes too late for all of them.
        let late: Vec<Op> = without.into_iter().chain([Op::PendingRemove]).collect();
        assert!(!certified(&in_turn(kind, &late), kind).0, "{kind}");
    }
}
