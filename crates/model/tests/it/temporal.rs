//! Formulas, divergence, determinism and failures against brute force.

use std::collections::BTreeSet;

use selvedge_model::{
    Action, Formula, Label, Model, Moment, Reason, Settings, Trace, TransitionSystem, Verdict, deterministic,
    divergence_free, refines, satisfies,
};

use crate::programs::{LABELS, Program, Random};

/// An event, or a shared variable with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Atom {
    Event(u32),
    Variable(usize, u8),
}

fn random_formula(random: &mut Random, depth: u64) -> Formula<Atom> {
    let boxed = |random: &mut Random| Box::new(random_formula(random, depth - 1));
    if depth == 0 || random.below(4) == 0 {
        return Formula::Atom(match random.below(2) {
            0 => Atom::Event(2 + random.below(u64::from(LABELS)) as u32),
            _ => Atom::Variable(random.below(2) as usize, random.below(2) as u8),
        });
    }
    match random.below(8) {
        0 => Formula::Not(boxed(random)),
        1 => Formula::And(boxed(random), boxed(random)),
        2 => Formula::Or(boxed(random), boxed(random)),
        3 => Formula::Next(boxed(random)),
        4 => Formula::Until(boxed(random), boxed(random)),
        5 => Formula::Release(boxed(random), boxed(random)),
        6 => Formula::always(*boxed(random)),
        _ => Formula::eventually(*boxed(random)),
    }
}

/// A position of a run: the label of the step into it, none at the beginning and after the end, and the state.
type Position = (Option<Label>, Vec<u8>);

/// Whether the formula holds at each position of a run that goes on from its last position at `back`.
fn evaluate(formula: &Formula<Atom>, run: &[Position], back: usize) -> Vec<bool> {
    let next = |at: usize| if at + 1 < run.len() { at + 1 } else { back };
    let all = |value: bool| vec![value; run.len()];
    let both = |a: &Formula<Atom>, b: &Formula<Atom>| (evaluate(a, run, back), evaluate(b, run, back));
    // Least and greatest fixed points, by going round often enough.
    let fixed = |begin: bool, step: &dyn Fn(usize, bool) -> bool| {
        let mut holds = all(begin);
        for _ in 0..=run.len() {
            holds = (0..run.len()).map(|at| step(at, holds[next(at)])).collect();
        }
        holds
    };
    match formula {
        Formula::True => all(true),
        Formula::False => all(false),
        Formula::Atom(Atom::Event(label)) => run.iter().map(|p| p.0 == Some(Label(*label))).collect(),
        Formula::Atom(Atom::Variable(variable, value)) => run.iter().map(|p| p.1[*variable] == *value).collect(),
        Formula::Not(a) => evaluate(a, run, back).into_iter().map(|holds| !holds).collect(),
        Formula::And(a, b) => {
            let (a, b) = both(a, b);
            (0..run.len()).map(|at| a[at] && b[at]).collect()
        }
        Formula::Or(a, b) => {
            let (a, b) = both(a, b);
            (0..run.len()).map(|at| a[at] || b[at]).collect()
        }
        Formula::Next(a) => {
            let a = evaluate(a, run, back);
            (0..run.len()).map(|at| a[next(at)]).collect()
        }
        Formula::Until(a, b) => {
            let (a, b) = both(a, b);
            fixed(false, &|at, later| b[at] || (a[at] && later))
        }
        Formula::Release(a, b) => {
            let (a, b) = both(a, b);
            fixed(true, &|at, later| b[at] && (a[at] || later))
        }
    }
}

fn steps_of(program: &Program, state: &Vec<u8>) -> Vec<(Action, Vec<u8>)> {
    let mut next = Vec::new();
    program.successors(state, &mut next).unwrap();
    next
}

/// The fewest steps of a lasso of at most `bound` steps that contradicts the formula.
fn brute_lasso(program: &Program, formula: &Formula<Atom>, run: &mut Vec<Position>, bound: usize) -> Option<usize> {
    let here = run.last().unwrap().1.clone();
    let next = steps_of(program, &here);
    let mut best: Option<usize> = None;
    let mut note = |length: usize| best = Some(best.map_or(length, |best| best.min(length)));
    if next.is_empty() {
        let mut ended = run.clone();
        ended.push((None, here));
        if !evaluate(formula, &ended, ended.len() - 1)[0] {
            note(run.len() - 1);
        }
        return best;
    }
    if run.len() > bound {
        return None;
    }
    for (action, to) in next {
        let position = (Some(action.label), to);
        // The run may go back to an earlier position when its state is the same: the position after it repeats.
        for back in 0..run.len() {
            if run[back].1 == position.1 {
                let mut round = run.clone();
                round.push(position.clone());
                // Positions back+1 .. end repeat.
                if !evaluate(formula, &round, back + 1)[0] {
                    note(round.len() - 1);
                }
            }
        }
        run.push(position);
        if let Some(found) = brute_lasso(program, formula, run, bound) {
            note(found);
        }
        run.pop();
    }
    best
}

fn positions(trace: &Trace, program: &Program) -> Vec<Position> {
    let mut initial = Vec::new();
    program.initial(&mut initial).unwrap();
    let mut run = vec![(None, initial.remove(0))];
    for step in &trace.steps {
        let here = run.last().unwrap().1.clone();
        assert!(steps_of(program, &here).contains(&(step.action, step.packed.clone())));
        run.push((Some(step.action.label), step.packed.clone()));
    }
    run
}

#[test]
fn formulas_agree_with_every_short_run() {
    let (mut passed, mut failed, mut longer) = (0, 0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed * 31 + 7);
        let program = Program::random(&mut random, 1, 3, 5);
        let formula = random_formula(&mut random, 3);
        let holds = |atom: &Atom, moment: &Moment<'_, Vec<u8>>| {
            let (label, state) = match moment {
                Moment::Begin(state) | Moment::Ended(state) => (None, *state),
                Moment::Step(action, state) => (Some(action.label), *state),
            };
            Ok(match atom {
                Atom::Event(event) => label == Some(Label(*event)),
                Atom::Variable(variable, value) => state[*variable] == *value,
            })
        };
        let answer = satisfies(&program, &formula, holds, &Settings::default()).unwrap();
        let mut initial = Vec::new();
        program.initial(&mut initial).unwrap();
        let expect = brute_lasso(&program, &formula, &mut vec![(None, initial.remove(0))], 6);
        match answer.verdict {
            Verdict::Pass => {
                assert_eq!(expect, None, "seed {seed} {formula:?} {program:?}");
                passed += 1;
            }
            Verdict::Fail => {
                let trace = answer.trace.unwrap();
                let Some(Reason::Contradicts { repeats }) = answer.reason else { panic!("{:?}", answer.reason) };
                let mut run = positions(&trace, &program);
                if repeats == trace.steps.len() {
                    let last = run.last().unwrap().1.clone();
                    assert!(steps_of(&program, &last).is_empty(), "seed {seed}");
                    run.push((None, last));
                    let back = run.len() - 1;
                    assert!(!evaluate(&formula, &run, back)[0], "seed {seed} {formula:?}");
                } else {
                    assert_eq!(run[repeats].1, run.last().unwrap().1);
                    assert!(!evaluate(&formula, &run, repeats + 1)[0], "seed {seed} {formula:?}");
                }
                // The shortest that the automaton shows is nearly always the shortest there is.
                longer += usize::from(expect.is_some_and(|steps| trace.steps.len() > steps));
                failed += 1;
            }
            Verdict::Unknown(limit) => panic!("{limit}"),
        }
    }
    assert!(passed > 80 && failed > 80 && longer * 10 < failed, "{passed} {failed}, {longer} longer than need be");
}

fn reachable(program: &Program) -> BTreeSet<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let mut stack = Vec::new();
    program.initial(&mut stack).unwrap();
    while let Some(state) = stack.pop() {
        if seen.insert(state.clone()) {
            stack.extend(steps_of(program, &state).into_iter().map(|step| step.1));
        }
    }
    seen
}

/// Whether internal steps can go on from here for ever: longer than there are states.
fn goes_on(program: &Program, state: &[u8], count: usize) -> bool {
    let mut level = BTreeSet::from([state.to_vec()]);
    for _ in 0..=count {
        let internal = |state: &Vec<u8>| {
            steps_of(program, state).into_iter().filter(|step| step.0.label == Label::TAU).map(|step| step.1)
        };
        level = level.iter().flat_map(internal).collect();
    }
    !level.is_empty()
}

/// The pairs of states that can do what the other can for ever: all pairs, less those that show a difference, again and again.
fn bisimilar(program: &Program, states: &BTreeSet<Vec<u8>>) -> BTreeSet<(Vec<u8>, Vec<u8>)> {
    let mut pairs: BTreeSet<_> = states.iter().flat_map(|a| states.iter().map(|b| (a.clone(), b.clone()))).collect();
    loop {
        let follows = |a: &Vec<u8>, b: &Vec<u8>| {
            let theirs = steps_of(program, b);
            let matched = |step: &(Action, Vec<u8>)| {
                theirs.iter().any(|t| t.0.label == step.0.label && pairs.contains(&(step.1.clone(), t.1.clone())))
            };
            steps_of(program, a).iter().all(matched)
        };
        let left: BTreeSet<_> = pairs.iter().filter(|(a, b)| follows(a, b) && follows(b, a)).cloned().collect();
        if left.len() == pairs.len() {
            return pairs;
        }
        pairs = left;
    }
}

#[test]
fn divergence_and_determinism_agree_with_every_state() {
    let mut tally = [0; 5];
    for seed in 0..400 {
        let mut random = Random::new(seed * 17 + 3);
        let program = Program::random(&mut random, 1 + (seed % 2) as usize, 4, 4);
        let states = reachable(&program);
        let diverges = states.iter().any(|state| goes_on(&program, state, states.len()));
        let answer = divergence_free(&program, &Settings::default()).unwrap();
        assert_eq!(answer.verdict == Verdict::Fail, diverges, "seed {seed}");
        if let Some(trace) = &answer.trace {
            let run = positions(trace, &program);
            let last = run.last().unwrap();
            let internal = |at: usize| run[at + 1..].iter().all(|position| position.0 == Some(Label::TAU));
            assert!((0..run.len() - 1).any(|at| run[at].1 == last.1 && internal(at)), "seed {seed}");
        }
        let alike = bisimilar(&program, &states);
        let twice = |different: &dyn Fn(&Vec<u8>, &Vec<u8>) -> bool, state: &Vec<u8>| {
            let steps = steps_of(&program, state);
            steps.iter().any(|a| steps.iter().any(|b| a.0.label == b.0.label && different(&a.1, &b.1)))
        };
        let apart = |a: &Vec<u8>, b: &Vec<u8>| !alike.contains(&(a.clone(), b.clone()));
        let refuted = states.iter().any(|state| twice(&apart, state));
        let answer = deterministic(&program, &Settings::default()).unwrap();
        assert_eq!(answer.verdict == Verdict::Fail, refuted, "seed {seed}");
        if let Some(trace) = &answer.trace {
            let run = positions(trace, &program);
            assert!(twice(&apart, &run[run.len() - 2].1), "seed {seed}");
        }
        tally[usize::from(diverges)] += 1;
        tally[2 + usize::from(refuted)] += 1;
        tally[4] += usize::from(!refuted && states.iter().any(|state| twice(&|a, b| a != b, state)));
    }
    assert!(tally.iter().all(|&count| count > 10), "{tally:?}");
}

/// All states after a word, internal steps included.
fn after(program: &Program, word: &[Label]) -> BTreeSet<Vec<u8>> {
    let close = |states: BTreeSet<Vec<u8>>| {
        let mut all = states.clone();
        let mut stack: Vec<Vec<u8>> = states.into_iter().collect();
        while let Some(state) = stack.pop() {
            for (action, to) in steps_of(program, &state) {
                if action.label == Label::TAU && all.insert(to.clone()) {
                    stack.push(to);
                }
            }
        }
        all
    };
    let mut initial = Vec::new();
    program.initial(&mut initial).unwrap();
    let mut states = close(initial.into_iter().collect());
    for &label in word {
        let moved = states.iter().flat_map(|state| steps_of(program, state));
        states = close(moved.filter(|step| step.0.label == label).map(|step| step.1).collect());
    }
    states
}

/// The labels of a state that does nothing internally.
fn stable_offers(program: &Program, state: &Vec<u8>) -> Option<BTreeSet<Label>> {
    let labels: BTreeSet<Label> = steps_of(program, state).into_iter().map(|step| step.0.label).collect();
    (!labels.contains(&Label::TAU)).then_some(labels)
}

/// Whether some word of at most `length` labels shows a difference.
fn brute_failures(a: &Program, b: &Program, word: &mut Vec<Label>, length: usize, divergences: bool) -> bool {
    let (ours, theirs) = (after(a, word), after(b, word));
    if ours.is_empty() {
        return false;
    }
    if theirs.is_empty() {
        return true;
    }
    if divergences {
        if theirs.iter().any(|state| goes_on(b, state, 60)) {
            return false;
        }
        if ours.iter().any(|state| goes_on(a, state, 60)) {
            return true;
        }
    }
    let demands: Vec<BTreeSet<Label>> = theirs.iter().filter_map(|state| stable_offers(b, state)).collect();
    let refuses = |offers: BTreeSet<Label>| !demands.iter().any(|demand| demand.is_subset(&offers));
    if ours.iter().filter_map(|state| stable_offers(a, state)).any(refuses) {
        return true;
    }
    length > 0
        && (0..LABELS).any(|label| {
            word.push(Label(2 + label));
            let found = brute_failures(a, b, word, length - 1, divergences);
            word.pop();
            found
        })
}

#[test]
fn failures_and_divergences_agree_with_every_short_word() {
    let mut tally = [0; 2];
    for seed in 0..200 {
        let mut random = Random::new(seed * 101 + 1);
        let specification = Program::random(&mut random, 1, 4, 6);
        let implementation = specification.changed(&mut random, 4);
        for model in [Model::Failures, Model::FailuresDivergences] {
            let divergences = model == Model::FailuresDivergences;
            let expect = brute_failures(&implementation, &specification, &mut Vec::new(), 5, divergences);
            for jobs in [1, 2] {
                let settings = Settings { jobs, ..Settings::default() };
                let answer = refines(&implementation, &specification, model, &settings).unwrap();
                if expect || answer.trace.as_ref().is_none_or(|trace| trace.visible().len() <= 5) {
                    assert_eq!(answer.verdict == Verdict::Fail, expect, "seed {seed} {model:?}");
                }
                tally[usize::from(expect)] += 1;
            }
        }
    }
    assert!(tally.iter().all(|&count| count > 100), "{tally:?}");
}
