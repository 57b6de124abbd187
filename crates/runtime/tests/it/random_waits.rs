//! Random programs whose threads wait for atomic variables in loops, against the full graph of their states.
//!
//! The twin knows nothing of the runtime: a state is where each thread is, what it has read and what each variable is; a livelock is a set of states that are all reached from one another, in
//! which every thread that can go goes. What a program can end with is compared whole, loops among it that must not be taken for one access: those that look at two variables, count, or
//! keep what they saw. `SELVEDGE_CAMPAIGN=n` draws n files of programs instead of one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use selvedge_explore::Rng;
use selvedge_protocol::{CoverageRecord, FindingKind, Search, Settings};

use crate::build::{build_with, compilers, scratch, session, settings};
use crate::random_polls::has_fair_cycle;

const PROGRAMS: u64 = 150;

/// What a thread does. Variables first.
#[derive(Clone, Copy, Debug)]
enum Item {
    Store(usize, u8),
    /// Adds one, modulo four, in one step.
    Flip(usize, u8),
    /// Keeps what it reads.
    Read(usize),
    /// Looks until it has the value, and whether it yields in between.
    UntilIs(usize, u8, bool),
    /// Looks until it has another value, which is kept.
    UntilIsNot(usize, u8),
    /// Exchanges until it finds another value than the one that it stores.
    Take(usize, u8),
    /// Exchanges one value for another until it can.
    Exchange(usize, u8, u8),
    /// Looks until both have the same value.
    UntilSame,
    /// Looks until both are set.
    UntilBoth,
    /// Looks until it has the value, so often at most, and keeps how often it did.
    Times(usize, u8, u8),
    /// Looks until it has the value, and keeps all that it saw, modulo seven.
    Sum(usize, u8),
}

type Program = Vec<Vec<Item>>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// The item that each thread is at, and where in it.
    places: Vec<(usize, u8)>,
    /// What it has read in the item.
    seen: Vec<u8>,
    kept: Vec<u32>,
    values: [u8; 2],
}

fn draw(rng: &mut Rng) -> Program {
    let mut below = |count: u64| (rng.next() >> 33) % count;
    let threads = 2 + below(2);
    let mut item = || {
        let (variable, value) = (below(2) as usize, below(3) as u8);
        match below(16) {
            0..=3 => Item::Store(variable, value),
            4 => Item::Flip(variable, 1 + below(3) as u8),
            5 => Item::Read(variable),
            6..=7 => Item::UntilIs(variable, value, below(3) == 0),
            8 => Item::UntilIsNot(variable, value),
            9 => Item::Take(variable, value),
            10 => Item::Exchange(variable, value, below(3) as u8),
            11 => Item::UntilSame,
            12 => Item::UntilBoth,
            13..=14 => Item::Times(variable, value, 1 + below(2) as u8),
            _ => Item::Sum(variable, value),
        }
    };
    let count = if threads == 2 { 3 } else { 2 };
    (0..threads).map(|_| (0..count).map(|_| item()).collect()).collect()
}

/// The next state when a thread makes its step; `None` when it has ended.
fn step(program: &Program, state: &State, thread: usize) -> Option<State> {
    let (at, phase) = state.places[thread];
    let item = *program[thread].get(at)?;
    let mut next = state.clone();
    let mut keep = None;
    let stays = (at, phase);
    let done = (at + 1, 0);
    next.places[thread] = match item {
        Item::Store(variable, value) => {
            next.values[variable] = value;
            done
        }
        Item::Flip(variable, mask) => {
            next.values[variable] ^= mask;
            done
        }
        Item::Read(variable) => {
            keep = Some(u32::from(state.values[variable]));
            done
        }
        Item::UntilIs(variable, value, _) => {
            if state.values[variable] == value {
                done
            } else {
                stays
            }
        }
        Item::UntilIsNot(variable, value) => {
            keep = Some(u32::from(state.values[variable])).filter(|&found| found != u32::from(value));
            if keep.is_some() { done } else { stays }
        }
        Item::Take(variable, value) => {
            next.values[variable] = value;
            if state.values[variable] != value { done } else { stays }
        }
        Item::Exchange(variable, from, to) => {
            if state.values[variable] == from {
                next.values[variable] = to;
                done
            } else {
                stays
            }
        }
        Item::UntilSame | Item::UntilBoth => of_two(item, state, &mut next, thread),
        Item::Times(variable, value, times) => {
            let found = state.values[variable] == value;
            let ends = found || phase + 1 == times;
            keep = ends.then(|| u32::from(phase) + u32::from(!found));
            if ends { done } else { (at, phase + 1) }
        }
        Item::Sum(variable, value) => {
            let sum = (state.seen[thread] + state.values[variable]) % 7;
            let ends = state.values[variable] == value;
            next.seen[thread] = if ends { 0 } else { sum };
            keep = ends.then(|| u32::from(sum));
            if ends { done } else { stays }
        }
    };
    if let Some(keep) = keep {
        next.kept[thread] = 8 * next.kept[thread] + keep;
    }
    Some(next)
}

/// The same for loops that look at two variables: where the thread is then.
fn of_two(item: Item, state: &State, next: &mut State, thread: usize) -> (usize, u8) {
    let (at, phase) = state.places[thread];
    match (item, phase, state.values) {
        (Item::UntilSame, 0, [first, _]) => {
            next.seen[thread] = first;
            (at, 1)
        }
        (Item::UntilSame, _, [_, second]) => {
            next.seen[thread] = 0;
            if state.seen[thread] == second { (at + 1, 0) } else { (at, 0) }
        }
        (_, 0, [0, _]) | (_, 1, [_, 0]) => (at, 0),
        (_, 0, _) => (at, 1),
        _ => (at + 1, 0),
    }
}

/// What a program can do.
#[derive(Default)]
struct Graph {
    ends: BTreeSet<i64>,
    livelock: bool,
}

fn explore(program: &Program) -> Option<Graph> {
    const STATES_MAX: usize = 3_000;
    let threads = program.len();
    let first = State { places: vec![(0, 0); threads], seen: vec![0; threads], kept: vec![0; threads], values: [0; 2] };
    let mut numbers = BTreeMap::from([(first.clone(), 0usize)]);
    let (mut states, mut edges, mut at) = (vec![first], Vec::<Vec<(usize, usize)>>::new(), 0);
    let mut graph = Graph::default();
    while at < states.len() {
        if states.len() > STATES_MAX {
            return None;
        }
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
        if out.is_empty() {
            let values = state.kept.iter().copied().chain(state.values.map(u32::from));
            graph.ends.insert(values.fold(0, |all, value| 1000 * all + i64::from(value)));
        }
        edges.push(out);
        at += 1;
    }
    graph.livelock = has_fair_cycle(&edges, (0..states.len()).collect());
    Some(graph)
}

fn code(item: &Item) -> String {
    let keep = |value: &str| format!("kept = 8 * kept + {value};");
    match *item {
        Item::Store(variable, value) => format!("atomic_store(&v[{variable}], {value});"),
        Item::Flip(variable, mask) => format!("atomic_fetch_xor(&v[{variable}], {mask});"),
        Item::Read(variable) => keep(&format!("atomic_load(&v[{variable}])")),
        Item::UntilIs(variable, value, yields) => {
            format!(
                "while (atomic_load(&v[{variable}]) != {value}) {{ {} }}",
                if yields { "sched_yield();" } else { "" }
            )
        }
        Item::UntilIsNot(variable, value) => {
            format!("do s = atomic_load(&v[{variable}]); while (s == {value}); {}", keep("s"))
        }
        Item::Take(variable, value) => format!("while (atomic_exchange(&v[{variable}], {value}) == {value}) {{ }}"),
        Item::Exchange(variable, from, to) => {
            format!("for (e = {from}; !atomic_compare_exchange_strong(&v[{variable}], &e, {to}); e = {from}) {{ }}")
        }
        Item::UntilSame => "do s = atomic_load(&v[0]); while (s != atomic_load(&v[1]));".into(),
        Item::UntilBoth => "while (!(atomic_load(&v[0]) && atomic_load(&v[1]))) { }".into(),
        Item::Times(variable, value, times) => {
            format!("for (n = 0; n < {times} && atomic_load(&v[{variable}]) != {value}; n++) {{ }} {}", keep("n"))
        }
        Item::Sum(variable, value) => format!(
            "n = 0; do {{ s = atomic_load(&v[{variable}]); n = (n + s) % 7; }} while (s != {value}); {}",
            keep("n")
        ),
    }
}

/// Every other program calls functions that access, so that one place in the code is part of all of its loops.
const FUNCTIONS: [(&str, &str); 3] =
    [("atomic_load(", "look("), ("atomic_exchange(", "take("), ("atomic_compare_exchange_strong(", "swap(")];

const DEFINED: &str = "#define APART static __attribute__((noinline))
APART int look(atomic_int *v) { return atomic_load(v); }
APART int take(atomic_int *v, int to) { return atomic_exchange(v, to); }
APART _Bool swap(atomic_int *v, int *e, int to) { return atomic_compare_exchange_strong(v, e, to); }
";

/// The program as a test in C whose one operation answers how it ended.
fn write(text: &mut String, number: u64, program: &Program) {
    let count = program.len();
    for (thread, items) in program.iter().enumerate() {
        let mut body: String = items.iter().map(|item| format!("    {}\n", code(item))).collect();
        if number % 2 == 1 {
            for (plain, by_function) in FUNCTIONS {
                body = body.replace(plain, by_function);
            }
        }
        let _ = write!(
            text,
            "static void *work_{number}_{thread}(void *a) {{\n    int s, e, n; long kept = 0; (void)s; (void)e; (void)n;\n{body}    \
             *(long *)a = kept;\n    return a;\n}}\n"
        );
    }
    let create: String = (0..count)
        .map(|thread| format!("    pthread_create(&t[{thread}], NULL, work_{number}_{thread}, &kept[{thread}]);\n"))
        .collect();
    let _ = write!(
        text,
        "SELVEDGE_TEST(random_{number}) {{\n    pthread_t t[{count}]; long kept[{count}], all = 0;\n{create}\
         \x20   for (int i = 0; i < {count}; i++) {{ pthread_join(t[i], NULL); all = 1000 * all + kept[i]; }}\n\
         \x20   for (int i = 0; i < 2; i++) all = 1000 * all + v[i];\n\
         \x20   selvedge_call(\"end\", 0);\n    selvedge_return(all);\n}}\n"
    );
}

/// What a history says that the program ended with.
fn end_of(history: &str) -> i64 {
    let (_, rest) = history.split_once("end(0)=").expect("the operation");
    rest.split_whitespace().next().and_then(|number| number.parse().ok()).expect("what it answered")
}

#[test]
fn waiting_loops_agree_with_the_graph_of_states() {
    let asked: Option<u64> = std::env::var("SELVEDGE_CAMPAIGN").ok().and_then(|text| text.parse().ok());
    let searches = [Search::Dpor, Search::Dfs, Search::Bounded];
    let searches = if asked.is_some() { &searches[..] } else { &searches[..1] };
    let directory = scratch("random-waits");
    let mut tally = [0u64; 3];
    let (mut redundant, mut made) = (0, 0);
    for file in 0..asked.unwrap_or(1) {
        let mut text = String::from(
            "#include <pthread.h>\n#include <sched.h>\n#include <selvedge.h>\n#include <stdatomic.h>\n#include <stddef.h>\n\
             static atomic_int v[2];\n",
        );
        text.push_str(DEFINED);
        let mut programs = Vec::new();
        for number in 0..PROGRAMS {
            let mut rng = Rng::for_run(21, PROGRAMS * file + number);
            let drawn =
                std::iter::repeat_with(|| draw(&mut rng)).find_map(|program| Some((explore(&program)?, program)));
            let (graph, program) = drawn.expect("one that is small");
            write(&mut text, number, &program);
            programs.push((graph, program));
        }
        let source = directory.join("waits.c");
        std::fs::write(&source, &text).expect("the programs are written");
        let all = compilers();
        let cc = &all[file as usize % all.len()];
        let level = ["-O1", "-O0", "-O2"][(file as usize / all.len()) % 3];
        let built = build_with(cc, &source, &[level], &directory);
        for &search in searches {
            let settings = Settings {
                keep_going: true,
                histories: true,
                runs_max: 5_000,
                time_max: Some(2.0),
                ..settings(search)
            };
            let report = session(&built, &settings, &directory).report;
            assert_eq!(report.tests.len() as u64, PROGRAMS);
            for (test, (graph, program)) in report.tests.iter().zip(&programs) {
                let name = format!("{} of file {file} with {cc} {level} under {search:?}: {program:?}", test.test);
                let found: BTreeSet<i64> = test.history_texts.iter().map(|history| end_of(history)).collect();
                assert!(found.is_subset(&graph.ends), "{name}: {found:?}, and the graph has {:?}", graph.ends);
                let kinds: Vec<FindingKind> = test.findings.iter().map(|finding| finding.kind).collect();
                let may = |kind: &FindingKind| graph.livelock && *kind == FindingKind::Livelock;
                assert!(kinds.iter().all(may), "{name}: {kinds:?}");
                let done = test.coverage == CoverageRecord::Exhaustive && test.runs < settings.runs_max;
                if done {
                    assert_eq!((&found, kinds.is_empty()), (&graph.ends, !graph.livelock), "{name}");
                    tally[0] += 1;
                }
                if search == Search::Dpor && test.runs < settings.runs_max {
                    assert_eq!(test.coverage, CoverageRecord::Exhaustive, "{name}");
                    redundant += test.redundant;
                    made += test.runs;
                }
                tally[1] += u64::from(graph.livelock);
                tally[2] += test.runs;
            }
        }
    }
    println!("{} searched to the end, {} can go on for ever, {} runs", tally[0], tally[1], tally[2]);
    assert!(redundant * 100 <= made, "{redundant} of {made} runs of the reduction only repeated others");
    assert!(tally[0] > PROGRAMS / 2 && tally[1] > PROGRAMS / 20, "{tally:?}");
}
