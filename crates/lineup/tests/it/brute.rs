//! A second checker, written another way: every permutation of the operations is tried against the plain list of serial histories.

use selvedge_explore::Rng;
use selvedge_lineup::{Ending, Observation, Operation, Recorded, ResultId, SerialOp, Unexplained, closest, judge};

/// A history as a sequence of events: column, and whether it is a call; a return has its result.
type Events = Vec<(usize, Option<ResultId>, bool)>;

/// Whether `serial` is a serial witness for the operations, as section 2.1.4 defines it.
fn is_witness(serial: &[(usize, Option<ResultId>)], events: &Events, without: &[usize]) -> bool {
    // Operations with the places of their events; those of `without` that are pending are left out.
    type Operation = (usize, usize, Option<(usize, ResultId)>);
    let mut operations: Vec<Operation> = Vec::new();
    for (at, (column, result, call)) in events.iter().enumerate() {
        if *call {
            operations.push((*column, at, None));
        } else if let Some(open) = operations.iter_mut().rev().find(|operation| operation.0 == *column) {
            open.2 = result.map(|result| (at, result));
        }
    }
    operations.retain(|(column, _, done)| done.is_some() || !without.contains(column));
    if operations.len() != serial.len() {
        return false;
    }
    // The n-th operation of a thread in the one is the n-th in the other: find where each stands in the serial history.
    let mut place = Vec::new();
    for (number, (column, _, done)) in operations.iter().enumerate() {
        let nth = operations[..number].iter().filter(|other| other.0 == *column).count();
        let same = serial.iter().enumerate().filter(|(_, other)| other.0 == *column).nth(nth);
        match same {
            Some((at, (_, result))) if *result == done.map(|done| done.1) => place.push(at),
            _ => return false,
        }
    }
    operations.iter().enumerate().all(|(one, first)| {
        operations.iter().enumerate().all(|(other, second)| {
            let precedes = first.2.is_some_and(|(end, _)| end < second.1);
            !precedes || place[one] < place[other]
        })
    })
}

fn brute(serial: &[Vec<(usize, Option<ResultId>)>], events: &Events, stuck: bool, columns: usize) -> bool {
    if !stuck {
        return serial.iter().any(|history| is_witness(history, events, &[]));
    }
    let pending: Vec<usize> = (0..columns)
        .filter(|&column| events.iter().rev().find(|event| event.0 == column).is_some_and(|event| event.2))
        .collect();
    pending.iter().all(|&column| {
        let others: Vec<usize> = pending.iter().copied().filter(|&other| other != column).collect();
        serial.iter().any(|history| is_witness(history, events, &others))
    })
}

/// Calls of a made-up object: each column has so many; what they do is a function of a small state.
struct Machine {
    seed: u64,
    states: u64,
    blocking: u64,
}

impl Machine {
    /// What the call at a place of a column does in a state: the next state and the result, or nothing when it blocks.
    fn step(&self, state: u64, column: usize, place: usize) -> Option<(u64, ResultId)> {
        let mut rng = Rng::for_run(self.seed, state * 64 + column as u64 * 8 + place as u64);
        if rng.below(100) < self.blocking {
            return None;
        }
        Some((rng.below(self.states), ResultId(rng.below(2) as u32)))
    }

    /// Every serial history.
    fn serial(&self, sizes: &[usize]) -> Vec<Vec<(usize, Option<ResultId>)>> {
        let mut all = Vec::new();
        self.extend(sizes, 0, &mut vec![0; sizes.len()], &mut Vec::new(), &mut all);
        all
    }

    fn extend(
        &self,
        sizes: &[usize],
        state: u64,
        places: &mut Vec<usize>,
        path: &mut Vec<(usize, Option<ResultId>)>,
        all: &mut Vec<Vec<(usize, Option<ResultId>)>>,
    ) {
        if places == sizes {
            all.push(path.clone());
        }
        for column in 0..sizes.len() {
            if places[column] == sizes[column] {
                continue;
            }
            match self.step(state, column, places[column]) {
                Some((next, result)) => {
                    places[column] += 1;
                    path.push((column, Some(result)));
                    self.extend(sizes, next, places, path, all);
                    path.pop();
                    places[column] -= 1;
                }
                None => {
                    path.push((column, None));
                    all.push(path.clone());
                    path.pop();
                }
            }
        }
    }
}

/// A random history: columns call and return in any order, with results of the machine (run at the call, the return or between) or
/// made up.
fn history(machine: &Machine, sizes: &[usize], rng: &mut Rng) -> (Events, bool) {
    let mut events: Events = Vec::new();
    let mut state = 0;
    let mut places = vec![0; sizes.len()];
    // Nothing, called, took effect with a result, blocked.
    let mut open: Vec<Option<Option<ResultId>>> = vec![None; sizes.len()];
    let wrong = rng.below(3) == 0;
    for _ in 0..200 {
        let column = rng.below(sizes.len() as u64) as usize;
        match open[column] {
            None if places[column] < sizes[column] => {
                events.push((column, None, true));
                open[column] = Some(None);
            }
            None => {}
            Some(None) => {
                if let Some((next, result)) = machine.step(state, column, places[column]) {
                    state = next;
                    let result = if wrong && rng.below(6) == 0 { ResultId(rng.below(3) as u32) } else { result };
                    open[column] = Some(Some(result));
                }
            }
            Some(Some(result)) => {
                events.push((column, Some(result), false));
                open[column] = None;
                places[column] += 1;
            }
        }
    }
    let full = places == *sizes;
    (events, !full)
}

fn recorded(events: &Events, columns: usize, stuck: bool) -> Recorded {
    let mut returned = vec![0u8; columns];
    let mut all: Vec<Vec<Operation>> = vec![Vec::new(); columns];
    for (column, result, call) in events {
        if *call {
            all[*column].push(Operation { result: None, before: returned.clone() });
        } else {
            all[*column].last_mut().expect("a call").result = *result;
            returned[*column] += 1;
        }
    }
    Recorded { columns: all, ending: if stuck { Ending::Stuck } else { Ending::Full } }
}

#[test]
fn both_checkers_agree() {
    let (mut allowed, mut refused, mut stuck_allowed, mut stuck_refused) = (0, 0, 0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::for_run(7, seed);
        let columns = 1 + rng.below(3) as usize;
        let sizes: Vec<usize> = (0..columns).map(|_| 1 + rng.below(3) as usize).collect();
        let machine = Machine { seed, states: 1 + rng.below(4), blocking: [0, 15, 40][rng.below(3) as usize] };
        let serial = machine.serial(&sizes);
        let mut observation = Observation::new();
        for history in &serial {
            let history: Vec<SerialOp> = history
                .iter()
                .map(|&(column, result)| SerialOp { column: column as u8, choices: vec![], result })
                .collect();
            observation.insert(&history).expect("a machine is deterministic");
        }
        assert_eq!(observation.histories().len(), serial.len());
        for _ in 0..5 {
            let (events, stuck) = history(&machine, &sizes, &mut rng);
            let history = recorded(&events, columns, stuck);
            let answer = judge(&observation, &history);
            assert_eq!(answer.is_ok(), brute(&serial, &events, stuck, columns), "seed {seed}: {events:?}");
            match (answer, stuck) {
                (Ok(()), false) => allowed += 1,
                (Ok(()), true) => stuck_allowed += 1,
                (Err(unexplained), _) => {
                    let blocked = match unexplained {
                        Unexplained::Full => None,
                        Unexplained::Stuck { column } => Some(column),
                    };
                    for parting in closest(&observation, &history, blocked) {
                        assert_ne!(parting.serial, parting.found, "they part there");
                    }
                    *(if stuck { &mut stuck_refused } else { &mut refused }) += 1;
                }
            }
        }
    }
    println!("full: {allowed} allowed, {refused} refused; stuck: {stuck_allowed} allowed, {stuck_refused} refused");
    assert!(allowed > 400 && refused > 400 && stuck_allowed > 400 && stuck_refused > 400);
}

/// The same machine, with an end of each thread that changes nothing: it comes at every place after the thread's last call.
fn with_ends(machine: &Machine, sizes: &[usize]) -> Vec<Vec<SerialOp>> {
    struct Search<'a> {
        machine: &'a Machine,
        sizes: &'a [usize],
        all: Vec<Vec<SerialOp>>,
    }
    fn extend(search: &mut Search<'_>, state: u64, places: &mut Vec<usize>, path: &mut Vec<SerialOp>) {
        if places.iter().zip(search.sizes).all(|(place, size)| *place == size + 1) {
            search.all.push(path.clone());
        }
        for column in 0..places.len() {
            let step = match places[column].cmp(&search.sizes[column]) {
                std::cmp::Ordering::Less => search.machine.step(state, column, places[column]),
                std::cmp::Ordering::Equal => Some((state, ResultId(0))),
                std::cmp::Ordering::Greater => continue,
            };
            path.push(SerialOp { column: column as u8, choices: vec![], result: step.map(|(_, result)| result) });
            match step {
                Some((next, _)) => {
                    places[column] += 1;
                    extend(search, next, places, path);
                    places[column] -= 1;
                }
                None => search.all.push(path.clone()),
            }
            path.pop();
        }
    }
    let mut search = Search { machine, sizes, all: Vec::new() };
    extend(&mut search, 0, &mut vec![0; sizes.len()], &mut Vec::new());
    search.all
}

/// Where no result depends on when threads end, a history is explained with the ends exactly when it is explained without them.
#[test]
fn ends_that_change_nothing_can_be_left_out() {
    let (mut allowed, mut refused) = (0, 0);
    for seed in 0..1_500 {
        let mut rng = Rng::for_run(11, seed);
        let columns = 2 + rng.below(2) as usize;
        let sizes: Vec<usize> = (0..columns).map(|_| 1 + rng.below(2) as usize).collect();
        let machine = Machine { seed, states: 1 + rng.below(4), blocking: 0 };
        let mut full = Observation::new();
        with_ends(&machine, &sizes).iter().for_each(|history| full.insert(history).expect("deterministic"));
        let plain = full.without_exits(&sizes).expect("ends change nothing");
        assert_eq!(plain.histories().len(), machine.serial(&sizes).len());
        for _ in 0..5 {
            // Ends are called and return like any other operation, anywhere.
            let (events, stuck) = history(&machine, &sizes, &mut rng);
            if stuck {
                continue;
            }
            let mut with = events.clone();
            for column in 0..columns {
                let last = with.iter().rposition(|event| event.0 == column).expect("it made a call") as u64;
                let call = last + 1 + rng.below(with.len() as u64 - last);
                with.insert(call as usize, (column, None, true));
                let ret = call + 1 + rng.below(with.len() as u64 - call);
                with.insert(ret as usize, (column, Some(ResultId(0)), false));
            }
            let answer = judge(&full, &recorded(&with, columns, false)).is_ok();
            assert_eq!(answer, judge(&plain, &recorded(&events, columns, false)).is_ok(), "seed {seed}: {with:?}");
            *(if answer { &mut allowed } else { &mut refused }) += 1;
        }
    }
    assert!(allowed > 400 && refused > 400, "{allowed} {refused}");
}

/// An end that changes a result, or that blocks, cannot be left out.
#[test]
fn ends_that_change_something_stay() {
    let op = |column: u8, result: u32| SerialOp { column, choices: vec![], result: Some(ResultId(result)) };
    let blocks = |column: u8| SerialOp { column, choices: vec![], result: None };
    // Column 0 enters, column 1 counts; each has one call.
    let mut counted = Observation::new();
    for history in [vec![op(0, 0), op(0, 0), op(1, 0), op(1, 0)], vec![op(0, 0), op(1, 1), op(0, 0), op(1, 0)]] {
        counted.insert(&history).unwrap();
    }
    assert!(counted.without_exits(&[1, 1]).is_none());
    let mut waits = Observation::new();
    waits.insert(&[op(0, 0), op(1, 0), op(1, 0), blocks(0)]).unwrap();
    assert!(waits.without_exits(&[1, 1]).is_none());
    assert!(waits.without_exits(&[2, 2]).is_some(), "there it is a call");
}

/// Section 2.2.1 and figure 4, by hand.
#[test]
fn the_counters_of_the_paper() {
    let (ok, one, two) = (ResultId(0), ResultId(1), ResultId(2));
    let op = |column: u8, result: ResultId| SerialOp { column, choices: vec![], result: Some(result) };
    let mut observation = Observation::new();
    // Thread A: inc, get. Thread B: inc.
    for history in
        [[op(0, ok), op(0, one), op(1, ok)], [op(0, ok), op(1, ok), op(0, two)], [op(1, ok), op(0, ok), op(0, two)]]
    {
        observation.insert(&history).unwrap();
    }
    let lost = vec![
        (0, None, true),
        (1, None, true),
        (0, Some(ok), false),
        (1, Some(ok), false),
        (0, None, true),
        (0, Some(one), false),
    ];
    assert_eq!(judge(&observation, &recorded(&lost, 2, false)), Err(Unexplained::Full));
    let waits = vec![(0, None, true), (0, Some(ok), false), (0, None, true), (0, Some(one), false), (1, None, true)];
    assert_eq!(judge(&observation, &recorded(&waits, 2, true)), Err(Unexplained::Stuck { column: 1 }));
    let overlapping = vec![
        (0, None, true),
        (1, None, true),
        (0, Some(ok), false),
        (0, None, true),
        (0, Some(one), false),
        (1, Some(ok), false),
    ];
    assert_eq!(judge(&observation, &recorded(&overlapping, 2, false)), Ok(()));
}
