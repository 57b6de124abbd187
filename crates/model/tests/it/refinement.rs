//! Refinement, deadlock and reachability against brute force: all traces up to a bound, all states.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use selvedge_model::{
    Label, Model, Reductions, Settings, Trace, TransitionSystem, Verdict, deadlock_free, explore, reaches, refines,
};

use crate::programs::{Program, Random};

const BOUND: usize = 6;

type Word = Vec<u32>;

/// Every state with every word of at most `BOUND` visible labels that leads to it, and with how many steps at least.
fn words(program: &Program) -> BTreeMap<(Vec<u8>, Word), usize> {
    let mut seen = BTreeMap::new();
    let mut queue = VecDeque::new();
    let mut initial = Vec::new();
    program.initial(&mut initial).unwrap();
    for state in initial {
        seen.insert((state.clone(), Vec::new()), 0);
        queue.push_back((state, Vec::new(), 0));
    }
    while let Some((state, word, steps)) = queue.pop_front() {
        let mut next = Vec::new();
        program.successors(&state, &mut next).unwrap();
        for (action, to) in next {
            let mut longer = word.clone();
            if action.label != Label::TAU {
                longer.push(action.label.0);
            }
            if longer.len() <= BOUND && !seen.contains_key(&(to.clone(), longer.clone())) {
                seen.insert((to.clone(), longer.clone()), steps + 1);
                queue.push_back((to, longer, steps + 1));
            }
        }
    }
    seen
}

/// The fewest steps to a word that the specification does not have.
fn brute_refines(implementation: &Program, specification: &Program) -> Option<usize> {
    let allowed: BTreeSet<Word> = words(specification).into_keys().map(|(_, word)| word).collect();
    words(implementation).into_iter().filter(|((_, word), _)| !allowed.contains(word)).map(|(_, steps)| steps).min()
}

/// Whether the trace is a run of the program.
fn runs(program: &Program, trace: &Trace) -> bool {
    let mut initial = Vec::new();
    program.initial(&mut initial).unwrap();
    let mut state = initial.remove(0);
    trace.steps.iter().all(|step| {
        let mut next = Vec::new();
        program.successors(&state, &mut next).unwrap();
        state = step.packed.clone();
        next.contains(&(step.action, state.clone()))
    })
}

fn every_setting() -> Vec<Settings> {
    let mut all = Vec::new();
    for jobs in [1, 2] {
        for antichain in [false, true] {
            for partial_order in [false, true] {
                let reductions = Reductions { antichain, partial_order, ..Reductions::NONE };
                all.push(Settings { jobs, reductions, ..Settings::default() });
            }
        }
    }
    all
}

#[test]
fn traces_agree_with_brute_force() {
    let (mut passed, mut failed) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let processes = 1 + (seed % 2) as usize;
        let specification = Program::random(&mut random, processes, 4, 7);
        let implementation = specification.changed(&mut random, 4);
        let expect = brute_refines(&implementation, &specification);
        let mut switches = None;
        for settings in every_setting() {
            let answer = refines(&implementation, &specification, Model::Traces, &settings).unwrap();
            match answer.verdict {
                Verdict::Pass => {
                    assert_eq!(expect, None, "seed {seed} {settings:?}");
                    passed += 1;
                }
                Verdict::Fail => {
                    let trace = answer.trace.unwrap();
                    assert!(trace.shortest && trace.fewest_switches && runs(&implementation, &trace));
                    let word: Word = trace.steps.iter().map(|step| step.action.label.0).filter(|&l| l != 0).collect();
                    match expect {
                        Some(steps) => assert_eq!(trace.steps.len(), steps, "seed {seed} {settings:?}"),
                        None => assert!(word.len() > BOUND, "seed {seed}: {word:?}"),
                    }
                    assert_eq!(*switches.get_or_insert(trace.switches()), trace.switches(), "seed {seed}");
                    failed += 1;
                }
                Verdict::Unknown(limit) => panic!("{limit}"),
            }
        }
    }
    assert!(passed > 500 && failed > 500, "{passed} passed, {failed} failed: too one-sided to mean much");
}

/// The fewest switches among all shortest runs to a state without steps, by trying them all.
fn brute_deadlock(program: &Program) -> Option<(usize, usize)> {
    let mut level = vec![(vec![0u8; program.processes.len() + 2], None::<u32>, 0usize)];
    for depth in 0..60 {
        let mut best = None;
        let mut next_level: BTreeMap<(Vec<u8>, Option<u32>), usize> = BTreeMap::new();
        for (state, last, switches) in &level {
            let mut next = Vec::new();
            program.successors(state, &mut next).unwrap();
            if next.is_empty() {
                best = Some(best.map_or(*switches, |best: usize| best.min(*switches)));
            }
            for (action, to) in next {
                let cost = switches + usize::from(last.is_some_and(|last| last != action.actor));
                let known = next_level.entry((to, Some(action.actor))).or_insert(cost);
                *known = cost.min(*known);
            }
        }
        if let Some(switches) = best {
            return Some((depth, switches));
        }
        level = next_level.into_iter().map(|((state, last), switches)| (state, last, switches)).collect();
    }
    None
}

#[test]
fn deadlock_and_reachability_agree_with_brute_force() {
    let (mut dead, mut live, mut reached) = (0, 0, 0);
    for seed in 1000..1300 {
        let mut random = Random::new(seed);
        let program = Program::random(&mut random, 2 + (seed % 2) as usize, 4, 8);
        let states: BTreeSet<Vec<u8>> = states(&program);
        let expect = brute_deadlock(&program);
        let goal = (random.below(3) as u8, random.below(4) as u8);
        let wanted = |state: &Vec<u8>| state[0] == goal.0 && state[2] == goal.1;
        for settings in every_setting() {
            let all = explore(&program, &settings).unwrap();
            assert_eq!(all.statistics.states, states.len() as u64);
            let answer = deadlock_free(&program, &settings).unwrap();
            let got = answer.trace.as_ref().map(|trace| (trace.steps.len(), trace.switches()));
            assert_eq!(got, expect, "seed {seed} {settings:?}");
            assert_eq!(answer.verdict == Verdict::Fail, expect.is_some());
            let answer = reaches(&program, |state| Ok(wanted(state)), &settings).unwrap();
            assert_eq!(answer.verdict == Verdict::Pass, states.iter().any(wanted));
            if let Some(trace) = &answer.trace {
                assert!(runs(&program, trace));
                assert!(trace.steps.last().is_none_or(|step| wanted(&step.packed)));
                reached += 1;
            }
        }
        *(if expect.is_some() { &mut dead } else { &mut live }) += 1;
    }
    assert!(dead > 50 && live > 50 && reached > 400, "{dead} {live} {reached}");
}

fn states(program: &Program) -> BTreeSet<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let mut stack = Vec::new();
    program.initial(&mut stack).unwrap();
    while let Some(state) = stack.pop() {
        if seen.insert(state.clone()) {
            let mut next = Vec::new();
            program.successors(&state, &mut next).unwrap();
            stack.extend(next.into_iter().map(|(_, to)| to));
        }
    }
    seen
}

#[test]
fn a_limit_is_unknown_and_a_hash_is_said() {
    let programs = (0..).map(|seed| Program::random(&mut Random::new(seed), 3, 4, 8));
    let program = programs.into_iter().find(|program| states(program).len() > 300).unwrap();
    let limited = Settings { states_max: Some(3), ..Settings::default() };
    let answer = explore(&program, &limited).unwrap();
    let all = explore(&program, &Settings::default()).unwrap();
    assert!(matches!(answer.verdict, Verdict::Unknown(_)) && all.statistics.states > 300 && all.statistics.exact);
    let hashed = explore(&program, &Settings { hash_only: true, ..Settings::default() }).unwrap();
    assert_eq!(hashed.statistics.states, all.statistics.states);
    assert!(!hashed.statistics.exact);
}
