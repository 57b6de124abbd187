//! Random programs whose threads set and poll variables under locks, against the full graph of their states.
//!
//! The twin knows nothing of the runtime: a state is where each thread is, who holds each lock and what each variable is; a livelock is a set of states that are all
//! reached from one another, in which every thread that can go in some of them goes in some of them (strong fairness). `SELVEDGE_POLLS=2000` draws more programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use selvedge_explore::Rng;
use selvedge_protocol::{CoverageRecord, FindingKind, Search, Settings};

use crate::build::{build_with, compilers, scratch, session, settings, test_of_threads};

const VARIABLES: usize = 2;
const VALUES: u8 = 3;

/// What a thread does, under the lock of a variable; the last number is the lock.
#[derive(Clone, Copy, Debug)]
enum Item {
    /// Sets the variable.
    Set(usize, u8, usize),
    /// Adds one to it, modulo three.
    Add(usize, usize),
    /// Looks until it has the value.
    Poll(usize, u8, usize),
    /// Takes the lock of one variable and then that of the other, and gives both back, until the first has the value.
    PollBoth(usize, u8),
}

type Program = Vec<Vec<Item>>;

/// Where a thread is in an item: how many of its locks it holds on the way in, or is giving back.
type Place = (usize, u8);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    places: Vec<Place>,
    owners: [Option<usize>; VARIABLES],
    values: [u8; VARIABLES],
    seen: Vec<bool>,
}

fn draw(rng: &mut Rng) -> Program {
    let mut below = |count: u64| (rng.next() >> 33) % count;
    let threads = 2 + below(2);
    let mut item = || {
        let (variable, value) = (below(VARIABLES as u64) as usize, below(u64::from(VALUES)) as u8);
        // One lock for both variables, or one for each: always the same for a variable.
        match below(7) {
            0..=1 => Item::Set(variable, value, variable),
            2 => Item::Add(variable, variable),
            3..=5 => Item::Poll(variable, value, variable),
            _ => Item::PollBoth(variable, value),
        }
    };
    let mut program: Program = (0..threads).map(|_| (0..2).map(|_| item()).collect()).collect();
    // Most of what is waited for is set by somebody else, in the end: few loops would end otherwise.
    let polls: Vec<(usize, Item)> = (0..program.len()).map(|thread| (thread, program[thread][0])).collect();
    for (thread, item) in polls {
        let (Item::Poll(variable, value, _) | Item::PollBoth(variable, value)) = item else { continue };
        if below(4) > 0 {
            let other = (thread + 1 + below(threads - 1) as usize) % threads as usize;
            program[other][1] = Item::Set(variable, value, variable);
        }
    }
    program
}

/// The next state when a thread makes its step; `None` when it cannot, or has ended.
fn step(program: &Program, state: &State, thread: usize) -> Option<State> {
    let (at, phase) = state.places[thread];
    let item = *program[thread].get(at)?;
    let mut next = state.clone();
    let (variable, locks): (usize, Vec<usize>) = match item {
        Item::Set(variable, _, lock) | Item::Add(variable, lock) | Item::Poll(variable, _, lock) => {
            (variable, vec![lock])
        }
        Item::PollBoth(variable, _) => (variable, vec![variable, 1 - variable]),
    };
    let count = locks.len() as u8;
    if phase < count {
        let lock = locks[usize::from(phase)];
        if state.owners[lock].is_some() {
            return None;
        }
        next.owners[lock] = Some(thread);
        if phase + 1 == count {
            match item {
                Item::Set(_, value, _) => next.values[variable] = value,
                Item::Add(..) => next.values[variable] = (state.values[variable] + 1) % VALUES,
                Item::Poll(_, value, _) | Item::PollBoth(_, value) => {
                    next.seen[thread] = state.values[variable] == value
                }
            }
        }
        next.places[thread] = (at, phase + 1);
        return Some(next);
    }
    next.owners[locks[usize::from(2 * count - 1 - phase)]] = None;
    let polls = matches!(item, Item::Poll(..) | Item::PollBoth(..));
    next.places[thread] = match phase + 1 == 2 * count {
        false => (at, phase + 1),
        true if polls && !state.seen[thread] => (at, 0),
        true => (at + 1, 0),
    };
    if phase + 1 == 2 * count {
        next.seen[thread] = false;
    }
    Some(next)
}

/// What a program can do: end with these values, get stuck, go on for ever.
#[derive(Default)]
struct Graph {
    ends: BTreeSet<[u8; VARIABLES]>,
    deadlock: bool,
    livelock: bool,
}

fn explore(program: &Program) -> Graph {
    let threads = program.len();
    let first = State { places: vec![(0, 0); threads], owners: [None; 2], values: [0; 2], seen: vec![false; threads] };
    let mut numbers = BTreeMap::from([(first.clone(), 0usize)]);
    let (mut states, mut edges, mut at) = (vec![first], Vec::<Vec<(usize, usize)>>::new(), 0);
    let mut graph = Graph::default();
    while at < states.len() {
        let state = states[at].clone();
        let mut out = Vec::new();
        for thread in 0..threads {
            if let Some(next) = step(program, &state, thread) {
                let number = *numbers.entry(next.clone()).or_insert_with(|| {
                    states.push(next);
                    states.len() - 1
                });
                out.push((thread, number));
            }
        }
        let ended = (0..threads).all(|thread| state.places[thread].0 == program[thread].len());
        if ended {
            graph.ends.insert(state.values);
        } else if out.is_empty() {
            graph.deadlock = true;
        }
        edges.push(out);
        at += 1;
    }
    graph.livelock = has_fair_cycle(&edges, (0..states.len()).collect());
    graph
}

/// Whether some of these states have a fair cycle among them.
pub fn has_fair_cycle(edges: &[Vec<(usize, usize)>], states: BTreeSet<usize>) -> bool {
    let reach = |from: usize| {
        let (mut seen, mut rest) = (BTreeSet::new(), vec![from]);
        while let Some(at) = rest.pop() {
            for &(_, to) in edges[at].iter().filter(|(_, to)| states.contains(to)) {
                if seen.insert(to) {
                    rest.push(to);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<usize, BTreeSet<usize>> = states.iter().map(|&at| (at, reach(at))).collect();
    let mut left = states.clone();
    while let Some(&at) = left.iter().next() {
        let mut together: BTreeSet<usize> =
            reached[&at].iter().copied().filter(|other| reached[other].contains(&at)).collect();
        left.remove(&at);
        left.retain(|other| !together.contains(other));
        if together.is_empty() {
            continue;
        }
        let moved: BTreeSet<usize> = together
            .iter()
            .flat_map(|&one| edges[one].iter().filter(|(_, to)| together.contains(to)).map(|&(thread, _)| thread))
            .collect();
        let fair = |one: &usize| edges[*one].iter().all(|(thread, _)| moved.contains(thread));
        if together.iter().all(fair) {
            return true;
        }
        together.retain(fair);
        if has_fair_cycle(edges, together) {
            return true;
        }
    }
    false
}

/// The program as a test in C that fails when it ends with these values.
fn write(text: &mut String, number: u64, program: &Program, wrong: [u8; VARIABLES]) {
    let name = |item: &Item| match *item {
        Item::Set(variable, value, lock) => {
            format!("pthread_mutex_lock(&m[{lock}]); v[{variable}] = {value}; pthread_mutex_unlock(&m[{lock}]);")
        }
        Item::Add(variable, lock) => {
            format!(
                "pthread_mutex_lock(&m[{lock}]); v[{variable}] = (v[{variable}] + 1) % 3; pthread_mutex_unlock(&m[{lock}]);"
            )
        }
        Item::Poll(variable, value, lock) => format!(
            "for (int seen = 0; !seen;) {{ pthread_mutex_lock(&m[{lock}]); seen = v[{variable}] == {value}; \
             pthread_mutex_unlock(&m[{lock}]); }}"
        ),
        Item::PollBoth(variable, value) => {
            let other = 1 - variable;
            format!(
                "for (int seen = 0; !seen;) {{ pthread_mutex_lock(&m[{variable}]); pthread_mutex_lock(&m[{other}]); \
                 seen = v[{variable}] == {value}; pthread_mutex_unlock(&m[{other}]); pthread_mutex_unlock(&m[{variable}]); }}"
            )
        }
    };
    for (thread, items) in program.iter().enumerate() {
        let body: String = items.iter().map(|item| format!("    {}\n", name(item))).collect();
        writeln!(text, "static void *work_{number}_{thread}(void *a) {{\n{body}    return a;\n}}").expect("a string");
    }
    let test = test_of_threads(number, program.len());
    let end = test.rfind('}').expect("the end of the test");
    write!(text, "{}assert(v[0] != {} || v[1] != {});\n}}\n", &test[..end], wrong[0], wrong[1]).expect("a string");
}

#[test]
fn polling_loops_agree_with_the_graph_of_states() {
    let asked: Option<u64> = std::env::var("SELVEDGE_POLLS").ok().and_then(|text| text.parse().ok());
    // The tests have little time; who asks for more also gets plain search, and every compiler.
    let (count, searches) = match asked {
        None => (400, &[Search::Dpor][..]),
        Some(count) => (count, &[Search::Dpor, Search::Dfs, Search::Bounded][..]),
    };
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <selvedge.h>\n#include <stddef.h>\n\
         static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};\nstatic int v[2];\n",
    );
    let mut programs = Vec::new();
    for number in 0..count {
        let mut rng = Rng::for_run(18, number);
        let program = draw(&mut rng);
        let wrong = [(rng.next() >> 33) as u8 % VALUES, (rng.next() >> 33) as u8 % VALUES];
        write(&mut text, number, &program, wrong);
        programs.push((program, wrong));
    }
    let directory = scratch("random-polls");
    let source = directory.join("polls.c");
    std::fs::write(&source, text).expect("the programs are written");
    let mut tally = [0; 4];
    for cc in compilers().into_iter().take(if asked.is_some() { usize::MAX } else { 1 }) {
        let program = build_with(&cc, &source, &[], &directory);
        for &search in searches {
            let settings = Settings { keep_going: true, runs_max: 5_000, time_max: Some(1.0), ..settings(search) };
            let report = session(&program, &settings, &directory).report;
            assert_eq!(report.tests.len() as u64, count);
            for (test, (program, wrong)) in report.tests.iter().zip(&programs) {
                let graph = explore(program);
                let found: BTreeSet<&str> = test.findings.iter().map(|finding| finding.kind.name()).collect();
                let all = [
                    (graph.ends.contains(wrong), FindingKind::Assertion.name()),
                    (graph.deadlock, FindingKind::Deadlock.name()),
                    (graph.livelock, FindingKind::Livelock.name()),
                ];
                let expected: BTreeSet<&str> = all.iter().filter(|(can, _)| *can).map(|&(_, name)| name).collect();
                let name = format!("{} with {cc} under {search:?}: {program:?} {wrong:?}", test.test);
                assert!(found.is_subset(&expected), "{name}: {found:?}, and the graph has {expected:?}");
                if test.runs < settings.runs_max && test.coverage == CoverageRecord::Exhaustive {
                    assert_eq!(found, expected, "{name}");
                    tally[0] += 1;
                }
                if expected.is_empty() && search == Search::Dpor && test.runs < settings.runs_max {
                    assert_eq!(test.coverage, CoverageRecord::Exhaustive, "{name}");
                    tally[1] += 1;
                }
                tally[2] += u64::from(graph.livelock);
                tally[3] += u64::from(graph.deadlock);
            }
        }
    }
    println!(
        "{} searched to the end, {} pass, {} with livelocks, {} with deadlocks",
        tally[0], tally[1], tally[2], tally[3]
    );
    let drawn = count * searches.len() as u64;
    assert!(tally.iter().all(|&some| some > drawn / 100), "{tally:?} of {drawn}: too few of a kind");
}
